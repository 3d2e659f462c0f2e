//! `And`, `Or`, `Xor`, of one bit and of more.

use beagle_trace::node::mask;
use beagle_trace::op::Op;

use super::Rewriter;
use crate::pool::{Expr, Term};

/// With more operands they are not sorted.
pub(super) const MOST: usize = 4;

impl Rewriter<'_> {
    /// `And`, `Or`, `Xor`.
    pub(super) fn bitwise(&mut self, op: Op, a: Expr, b: Expr) -> Option<Expr> {
        if let Some(k) = self.value(b) {
            return match op {
                Op::And => self.and_constant(a, k),
                Op::Or => self.or_constant(a, k),
                _ => self.xor_constant(a, k),
            };
        }
        let width = self.width(a);
        if a == b {
            let result = match op {
                Op::Xor => self.constant(width, 0),
                _ => a,
            };
            return self.by("bitwise-same", result);
        }
        if self.complement(a) == Some(b) || self.complement(b) == Some(a) {
            let result = match op {
                Op::And => self.constant(width, 0),
                _ => self.constant(width, mask(width)),
            };
            return self.by("bitwise-complement", result);
        }
        if op == Op::Xor {
            for (x, y) in [(a, b), (b, a)] {
                if let Some((x, k)) = self.with_constant(Op::Xor, x) {
                    let inner = self.binary(op, width, x, y);
                    let result = self.binary_constant(op, inner, k);
                    return self.by("xor-constant-out", result);
                }
            }
        } else if let Some(result) = self.absorbed(op, a, b).or_else(|| self.absorbed(op, b, a)) {
            return Some(result);
        }
        if width == 1
            && let Some(result) = self.connective(op, a, b)
        {
            return Some(result);
        }
        if op != Op::And
            && let Some(joined) = self.join(op, a, b)
        {
            return self.by("join-fields", joined);
        }
        if let Some(result) = self.inside(op, a, b) {
            return Some(result);
        }
        self.sorted(op, a, b)
    }

    /// What an expression is the complement of.
    fn complement(&self, expr: Expr) -> Option<Expr> {
        let (x, k) = self.with_constant(Op::Xor, expr)?;
        (k == mask(self.width(expr))).then_some(x)
    }

    /// `And` or `Or` of `a` with something made of `a`.
    fn absorbed(&mut self, op: Op, a: Expr, b: Expr) -> Option<Expr> {
        let width = self.width(a);
        let dual = if op == Op::And { Op::Or } else { Op::And };
        let term = self.term(b);
        let has = |term: Term| term.a == a.0 || term.b == a.0;
        if term.op == op && has(term) {
            return self.by("absorb-same", b);
        }
        if term.op == dual && has(term) {
            return self.by("absorb-dual", a);
        }
        if term.op == op || term.op == dual {
            // With the complement of a in it.
            for (x, y) in [(term.a, term.b), (term.b, term.a)] {
                if self.complement(Expr(x)) == Some(a) || self.complement(a) == Some(Expr(x)) {
                    if term.op == dual {
                        let result = self.binary(op, width, a, Expr(y));
                        return self.by("absorb-dual-complement", result);
                    }
                    let value = if op == Op::And { 0 } else { mask(width) };
                    let result = self.constant(width, value);
                    return self.by("absorb-complement", result);
                }
            }
        }
        let inner = self.complement(b).map(|inner| self.term(inner))?;
        if inner.op == op && has(inner) {
            // a and not (a and x): a and not x.
            let x = if inner.a == a.0 { inner.b } else { inner.a };
            let x = self.binary_constant(Op::Xor, Expr(x), mask(width));
            let result = self.binary(op, width, a, x);
            return self.by("absorb-negated", result);
        }
        if inner.op == dual && has(inner) {
            let value = if op == Op::And { 0 } else { mask(width) };
            let result = self.constant(width, value);
            return self.by("absorb-negated-dual", result);
        }
        None
    }

    /// Operators of one bit.
    fn connective(&mut self, op: Op, a: Expr, b: Expr) -> Option<Expr> {
        if op == Op::Xor {
            return None;
        }
        if let (Some(x), Some(y)) = (self.negated(a), self.negated(b)) {
            let dual = if op == Op::And { Op::Or } else { Op::And };
            let inner = self.binary(dual, 1, x, y);
            let result = self.not(inner);
            return self.by("de-morgan", result);
        }
        self.both_ranges(op, a, b)
    }

    /// Operands that are extended or put together alike.
    fn inside(&mut self, op: Op, a: Expr, b: Expr) -> Option<Expr> {
        let width = self.width(a);
        let (p, q) = (self.term(a), self.term(b));
        let (x, y) = (Expr(p.a), Expr(q.a));
        match (p.op, q.op) {
            (Op::ZExt, Op::ZExt) => {
                let (m, n) = (self.width(x), self.width(y));
                let narrow = if op == Op::And { m.min(n) } else { m.max(n) };
                let x = self.cut_or_extend(x, narrow);
                let y = self.cut_or_extend(y, narrow);
                let inner = self.binary(op, narrow, x, y);
                let result = self.zext(inner, width);
                self.by("bitwise-zext", result)
            }
            (Op::SExt, Op::SExt) if self.width(x) == self.width(y) => {
                let inner = self.binary(op, self.width(x), x, y);
                let result = self.extend(Op::SExt, inner, width);
                self.by("bitwise-sext", result)
            }
            (Op::SExt, _) if op == Op::And && self.width(x) == 1 => {
                let zero = self.constant(width, 0);
                let result = self.ite(x, b, zero);
                self.by("and-signs", result)
            }
            (_, Op::SExt) if op == Op::And && self.width(y) == 1 => {
                let zero = self.constant(width, 0);
                let result = self.ite(y, a, zero);
                self.by("and-signs", result)
            }
            (Op::ZExt, _) if op == Op::And => {
                let y = self.extract(b, 0, self.width(x));
                let inner = self.and(x, y);
                let result = self.zext(inner, width);
                self.by("and-zext", result)
            }
            (_, Op::ZExt) if op == Op::And => {
                let x = self.extract(a, 0, self.width(y));
                let inner = self.and(x, y);
                let result = self.zext(inner, width);
                self.by("and-zext", result)
            }
            (Op::Concat, Op::Concat) if self.width(x) == self.width(y) => {
                let high = self.binary(op, self.width(x), x, y);
                let (x, y) = (Expr(p.b), Expr(q.b));
                let low = self.binary(op, self.width(x), x, y);
                let result = self.concat(high, low);
                self.by("bitwise-concat", result)
            }
            _ => None,
        }
    }

    fn cut_or_extend(&mut self, x: Expr, width: u16) -> Expr {
        if self.width(x) > width {
            self.extract(x, 0, width)
        } else {
            self.zext(x, width)
        }
    }

    /// `Or`, `Xor` or `Add` of fields that have no bits in common, as a `Concat`.
    pub(super) fn join(&mut self, op: Op, a: Expr, b: Expr) -> Option<Expr> {
        let fields = |op| matches!(op, Op::Concat | Op::ZExt);
        let (p, q) = (self.term(a), self.term(b));
        if !(fields(p.op) && (fields(q.op) || q.op == Op::Const)) {
            return None;
        }
        let all = mask(p.width);
        if self.zeros(a) | self.zeros(b) != all {
            return None;
        }
        let (high, low) = match p.op {
            Op::Concat => (Some(Expr(p.a)), Expr(p.b)),
            _ => (None, Expr(p.a)),
        };
        let split = self.width(low);
        let other = self.extract(b, split, p.width - split);
        let high = match high {
            Some(high) => self.binary(op, p.width - split, high, other),
            None => other,
        };
        let other = self.extract(b, 0, split);
        let low = self.binary(op, split, low, other);
        Some(self.concat(high, low))
    }

    /// Sorts the operands of up to [`MOST`] nested operators of the same kind.
    fn sorted(&mut self, op: Op, a: Expr, b: Expr) -> Option<Expr> {
        if self.term(a).op != op && self.term(b).op != op {
            return None;
        }
        let mut found = [a; MOST];
        let mut count = 0;
        let mut todo = [a; MOST + 2];
        todo[1] = b;
        let mut left = 2;
        while left > 0 {
            left -= 1;
            let expr = todo[left];
            let term = self.term(expr);
            if term.op == op && self.value(Expr(term.b)).is_none() {
                if left + 2 + count > MOST {
                    return None;
                }
                todo[left] = Expr(term.b);
                todo[left + 1] = Expr(term.a);
                left += 2;
            } else {
                *found.get_mut(count)? = expr;
                count += 1;
            }
        }
        found[..count].sort_unstable();
        let mut kept = 0;
        for at in 0..count {
            if kept == 0 || found[kept - 1] != found[at] {
                found[kept] = found[at];
                kept += 1;
            } else if op == Op::Xor {
                kept -= 1;
            }
        }
        let width = self.width(a);
        let Some((&last, init)) = found[..kept].split_last() else {
            let zero = self.constant(width, 0);
            return self.by("bitwise-sort", zero);
        };
        let mut all = None;
        for &next in init {
            all = Some(match all {
                Some(all) => self.binary(op, width, all, next),
                None => next,
            });
        }
        let Some(all) = all else {
            return self.by("bitwise-sort", last);
        };
        if (all, last) == (a, b) || (last, all) == (a, b) {
            return None;
        }
        let result = self.binary(op, width, all, last);
        self.by("bitwise-sort", result)
    }

    fn and_constant(&mut self, a: Expr, k: u128) -> Option<Expr> {
        let width = self.width(a);
        let zeros = self.zeros(a);
        if k | zeros == mask(width) {
            return self.by("and-all", a);
        }
        let full = k;
        let k = k & !zeros;
        if k == 0 {
            let zero = self.constant(width, 0);
            return self.by("and-none", zero);
        }
        if let Some((x, j)) = self.with_constant(Op::And, a) {
            let result = self.binary_constant(Op::And, x, j & k);
            return self.by("and-and", result);
        }
        if let Some(result) = self.per_part(Op::And, a, k) {
            return Some(result);
        }
        if let Some((x, j)) = self.with_constant(Op::Or, a) {
            let inner = self.binary_constant(Op::And, x, k & !j);
            let result = self.binary_constant(Op::Or, inner, k & j);
            return self.by("and-or", result);
        }
        if let Some((x, j)) = self.with_constant(Op::Xor, a) {
            let inner = self.binary_constant(Op::And, x, k);
            let result = self.binary_constant(Op::Xor, inner, k & j);
            return self.by("and-xor", result);
        }
        let low = k.trailing_zeros() as u16;
        let run = (k >> low).trailing_ones() as u16;
        if k >> low == mask(run) {
            let mut field = self.extract(a, low, run);
            if low > 0 {
                let zero = self.constant(low, 0);
                field = self.concat(field, zero);
            }
            let result = self.zext(field, width);
            return self.by("and-run", result);
        }
        if full != k {
            let result = self.binary_constant(Op::And, a, k);
            return self.by("and-trim", result);
        }
        None
    }

    fn or_constant(&mut self, a: Expr, k: u128) -> Option<Expr> {
        let width = self.width(a);
        if k & !self.ones(a) == 0 {
            return self.by("or-none", a);
        }
        if k == mask(width) {
            let ones = self.constant(width, k);
            return self.by("or-all", ones);
        }
        if let Some((x, j)) = self.with_constant(Op::Or, a) {
            let result = self.binary_constant(Op::Or, x, j | k);
            return self.by("or-or", result);
        }
        if let Some((x, j)) = self.with_constant(Op::And, a)
            && j & k != 0
        {
            let inner = self.binary_constant(Op::And, x, j & !k);
            let result = self.binary_constant(Op::Or, inner, k);
            return self.by("or-and", result);
        }
        if let Some((x, j)) = self.with_constant(Op::Xor, a) {
            let inner = self.binary_constant(Op::Or, x, k);
            let result = self.binary_constant(Op::Xor, inner, j & !k);
            return self.by("or-xor", result);
        }
        self.per_part(Op::Or, a, k)
    }

    fn xor_constant(&mut self, a: Expr, k: u128) -> Option<Expr> {
        let width = self.width(a);
        if k == 0 {
            return self.by("xor-none", a);
        }
        let term = self.term(a);
        if let Some((x, j)) = self.with_constant(Op::Xor, a) {
            let result = self.binary_constant(Op::Xor, x, j ^ k);
            return self.by("xor-xor", result);
        }
        if term.op == Op::FCmp {
            let result = self.make(Term {
                c: !term.c & 15,
                ..term
            });
            return self.by("not-fcmp", result);
        }
        if k == mask(width) && width > 1 && matches!(term.op, Op::Add | Op::Sub) {
            // The complement of x + c is -1 - c - x.
            let linear =
                self.with_constant(Op::Add, a).is_some() || self.value(Expr(term.a)).is_some();
            if linear {
                let ones = self.constant(width, k);
                let result = self.binary(Op::Sub, width, ones, a);
                return self.by("not-linear", result);
            }
        }
        if let Some(x) = self.under(Op::SExt, a) {
            let (inner, from) = (k & mask(self.width(x)), self.width(x));
            let above = k >> (from - 1);
            if above == 0 || above == mask(width - from + 1) {
                let inner = self.binary_constant(Op::Xor, x, inner);
                let result = self.extend(Op::SExt, inner, width);
                return self.by("xor-sext", result);
            }
        }
        self.per_part(Op::Xor, a, k)
    }

    /// An operator with a constant, on each part of what is put together, extended or chosen.
    fn per_part(&mut self, op: Op, a: Expr, k: u128) -> Option<Expr> {
        let term = self.term(a);
        let x = Expr(term.a);
        match term.op {
            Op::Concat => {
                let low = Expr(term.b);
                let split = self.width(low);
                let high = self.binary_constant(op, x, k >> split);
                let low = self.binary_constant(op, low, k & mask(split));
                let result = self.concat(high, low);
                self.by("constant-concat", result)
            }
            Op::ZExt => {
                let split = self.width(x);
                let low = self.binary_constant(op, x, k & mask(split));
                let above = match op {
                    Op::And => 0,
                    _ => k >> split,
                };
                let high = self.constant(term.width - split, above);
                let result = self.concat(high, low);
                self.by("constant-zext", result)
            }
            Op::SExt if op == Op::And && k <= mask(self.width(x)) => {
                let low = self.binary_constant(op, x, k);
                let result = self.zext(low, term.width);
                self.by("and-sext", result)
            }
            Op::Ite if term.width > 1 => {
                let (then, other) = (Expr(term.b), Expr(term.c));
                self.value(then).and(self.value(other))?;
                let then = self.binary_constant(op, then, k);
                let other = self.binary_constant(op, other, k);
                let result = self.ite(x, then, other);
                self.by("constant-ite", result)
            }
            _ => None,
        }
    }
}
