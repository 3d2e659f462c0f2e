//! `Ite`.

use beagle_trace::node::mask;
use beagle_trace::op::Op;

use super::Rewriter;
use crate::pool::Expr;

impl Rewriter<'_> {
    /// `Ite`.
    pub(super) fn choice(&mut self, c: Expr, then: Expr, other: Expr) -> Option<Expr> {
        if let Some(value) = self.value(c) {
            return self.by("ite-constant", if value == 0 { other } else { then });
        }
        if then == other {
            return self.by("ite-same", then);
        }
        if let Some(condition) = self.negated(c) {
            let result = self.ite(condition, other, then);
            return self.by("ite-not", result);
        }
        // A choice inside on the same condition.
        if let (Op::Ite, inner) = (self.term(then).op, self.term(then))
            && inner.a == c.0
        {
            let result = self.ite(c, Expr(inner.b), other);
            return self.by("ite-then-same-condition", result);
        }
        if let (Op::Ite, inner) = (self.term(other).op, self.term(other))
            && inner.a == c.0
        {
            let result = self.ite(c, then, Expr(inner.c));
            return self.by("ite-else-same-condition", result);
        }
        if self.width(then) == 1 {
            return self.bit_choice(c, then, other);
        }
        if let Some(result) = self.constant_choice(c, then, other) {
            return Some(result);
        }
        // Equal ones may be taken for each other.
        if let Some((x, y)) = self.pair(Op::Eq, c)
            && ((x, y) == (then, other) || (y, x) == (then, other))
        {
            return self.by("ite-equal", other);
        }
        if let Some(result) = self.nested_choice(c, then, other) {
            return Some(result);
        }
        self.choice_of_extensions(c, then, other)
    }

    /// `Ite` of one bit.
    fn bit_choice(&mut self, c: Expr, then: Expr, other: Expr) -> Option<Expr> {
        // The arms, with what they are where they are taken.
        let then_value = self.known_under(c, true, then);
        let other_value = self.known_under(c, false, other);
        let result = match (then_value, other_value) {
            (Some(true), Some(true)) => self.truth(true),
            (Some(false), Some(false)) => self.truth(false),
            (Some(true), Some(false)) => c,
            (Some(false), Some(true)) => self.not(c),
            (Some(true), None) => self.or(c, other),
            (Some(false), None) => {
                let not = self.not(c);
                self.and(not, other)
            }
            (None, Some(true)) => {
                let not = self.not(c);
                self.or(not, then)
            }
            (None, Some(false)) => self.and(c, then),
            (None, None) => {
                let opposite =
                    self.negated(then) == Some(other) || self.negated(other) == Some(then);
                if !opposite {
                    return self.choice_of_ranges(c, then, other);
                }
                // c chooses between x and not x.
                self.binary(Op::Xor, 1, c, other)
            }
        };
        self.by("ite-bit", result)
    }

    /// What a bit is where a condition has this value.
    fn known_under(&self, c: Expr, holds: bool, bit: Expr) -> Option<bool> {
        if let Some(value) = self.value(bit) {
            return Some(value == 1);
        }
        if bit == c {
            return Some(holds);
        }
        (self.negated(bit) == Some(c)).then_some(!holds)
    }

    fn constant_choice(&mut self, c: Expr, then: Expr, other: Expr) -> Option<Expr> {
        let width = self.width(then);
        let result = match (self.value(then)?, self.value(other)?) {
            (1, 0) => self.zext(c, width),
            (0, 1) => {
                let not = self.not(c);
                self.zext(not, width)
            }
            (k, 0) if k == mask(width) => self.extend(Op::SExt, c, width),
            (0, k) if k == mask(width) => {
                let not = self.not(c);
                self.extend(Op::SExt, not, width)
            }
            _ => return None,
        };
        self.by("ite-constants", result)
    }

    /// A choice with another one in an arm, where they share an arm.
    fn nested_choice(&mut self, c: Expr, then: Expr, other: Expr) -> Option<Expr> {
        let inner = self.term(other);
        if inner.op == Op::Ite {
            let (d, x, y) = (Expr(inner.a), Expr(inner.b), Expr(inner.c));
            if x == then {
                let either = self.or(c, d);
                let result = self.ite(either, then, y);
                return self.by("ite-else-then", result);
            }
            if y == then {
                let not = self.not(c);
                let both = self.and(not, d);
                let result = self.ite(both, x, then);
                return self.by("ite-else-else", result);
            }
        }
        let inner = self.term(then);
        if inner.op == Op::Ite {
            let (d, x, y) = (Expr(inner.a), Expr(inner.b), Expr(inner.c));
            if y == other {
                let both = self.and(c, d);
                let result = self.ite(both, x, other);
                return self.by("ite-then-else", result);
            }
            if x == other {
                let not = self.not(d);
                let both = self.and(c, not);
                let result = self.ite(both, y, other);
                return self.by("ite-then-then", result);
            }
        }
        None
    }

    /// A choice of two extended values, or of one and a constant, is chosen before it is extended.
    fn choice_of_extensions(&mut self, c: Expr, then: Expr, other: Expr) -> Option<Expr> {
        let width = self.width(then);
        let (t, o) = (self.term(then), self.term(other));
        let (x, y) = (Expr(t.a), Expr(o.a));
        let extension = |op| matches!(op, Op::ZExt | Op::SExt);
        let (op, x, y) = match (t.op, o.op) {
            (Op::ZExt, Op::ZExt) => {
                let narrow = self.width(x).max(self.width(y));
                (Op::ZExt, self.zext(x, narrow), self.zext(y, narrow))
            }
            (Op::SExt, Op::SExt) => {
                let narrow = self.width(x).max(self.width(y));
                let x = self.extend(Op::SExt, x, narrow);
                (Op::SExt, x, self.extend(Op::SExt, y, narrow))
            }
            (op, Op::Const) if extension(op) => (op, x, self.narrowed(op, other, x)?),
            (Op::Const, op) if extension(op) => (op, self.narrowed(op, then, y)?, y),
            _ => return None,
        };
        let choice = self.ite(c, x, y);
        let result = self.extend(op, choice, width);
        self.by("ite-extensions", result)
    }

    /// The constant of the width of `like` that gives this one when it is extended.
    fn narrowed(&mut self, op: Op, constant: Expr, like: Expr) -> Option<Expr> {
        let (width, narrow) = (self.width(constant), self.width(like));
        let k = self.value(constant)?;
        let fits = match op {
            Op::ZExt => k <= mask(narrow),
            _ => {
                let above = k >> (narrow - 1);
                above == 0 || above == mask(width - narrow + 1)
            }
        };
        fits.then(|| self.constant(narrow, k))
    }
}
