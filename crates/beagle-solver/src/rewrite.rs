//! Rewriting to normal form, as expressions are made.
//!
//! | operators              | normal form                                                            |
//! |------------------------|------------------------------------------------------------------------|
//! | all                    | no constant result: operands are constants, or only one value is left  |
//! | commutative            | the constant last, else the smaller expression first                   |
//! | comparisons            | only `Eq`, `Ult`, `Slt`; a constant on the right; the rest by negation |
//! | negation of one bit    | `Xor(x, 1)`, outermost; of a float comparison its complement           |
//! | `Eq` with a constant   | solved through all that can be inverted; `Concat` split into parts     |
//! | order with a constant  | a set of neighbouring values `lo..=hi` of an innermost `x`:            |
//! |                        | `Eq(x, lo)`, `Ult(x, hi + 1)`, `Slt(x, k)`, the sign bit, their        |
//! |                        | negations, or `Ult(x - lo, n)` for the set or its complement, of       |
//! |                        | which the smaller is taken                                             |
//! | sign tests             | `Extract` of the sign bit                                              |
//! | sums                   | addends with a factor, sorted, those with factor -1 by `Sub` after the |
//! |                        | others, the constant outermost by `Add`; flat up to [`linear::MOST`]   |
//! |                        | addends                                                                |
//! | negation               | `Sub(0, x)`; of an extended bit `SExt`; `Sub(-1, x)` is `Xor(x, -1)`   |
//! | factor, shift by 2^n   | `Concat(Extract(x), 0)`; right shifts `ZExt` or `SExt` of `Extract`    |
//! | `UDiv`, `URem` by 2^n  | the same                                                               |
//! | `And` with a run of 1s | `ZExt`/`Concat` of `Extract`                                           |
//! | `And`, `Or`, `Xor`     | sorted, flat up to [`bitwise::MOST`] operands, inside extensions, split |
//! |                        | at the parts of `Concat`; `Xor` with a constant outside                |
//! | disjoint `Or`, `Add`   | `Concat` of the fields                                                 |
//! | `Concat`               | to the right; inside extensions; no neighbouring parts of one value or |
//! |                        | constants; `Concat(0, x)` is `ZExt(x)`                                 |
//! | `Extract`              | only of what is opaque to it                                           |
//! | extensions             | one, outermost; `SExt` only where the sign is not known                |
//! | `Ite`                  | never on a negation; on one bit `And` and `Or`, if an arm is known;    |
//! |                        | `Ite(c, 1, 0)` is `ZExt(c)`, `Ite(c, -1, 0)` is `SExt(c)`              |
//! | `Bswap`                | `Concat` of `Extract`                                                  |
//! | `SDiv`, `SRem`, `Slt`  | unsigned where the signs are known                                     |
//!
//! A rewrite never changes a value that is defined. It may give one to an expression that has none
//! for some input (`Lookup` out of bounds, a float that does not fit an integer): the recorder logs
//! bounds as conditions of their own.
//!
//! Each call looks at operands to a fixed depth and makes a bounded number of terms. Nothing here
//! walks along a chain of expressions further than the budget allows; what is left then stays as it
//! is, which is right but not normal.

mod bits;
mod bitwise;
mod compare;
mod fold;
mod linear;
mod parts;
mod select;

#[cfg(test)]
mod tests;

use beagle_trace::node::mask;
use beagle_trace::op::Op;

use crate::pool::{Expr, Pool, Term};

/// How many terms one call may normalise on its way. A comparison with 16 bytes takes about 50.
const BUDGET: u32 = 160;

impl Pool {
    /// The normal form of a term whose operands are in normal form.
    pub fn make(&mut self, term: Term) -> Expr {
        if let Some(&expr) = self.made.get(&term) {
            return expr;
        }
        let mut rewriter = Rewriter {
            pool: self,
            budget: BUDGET,
            #[cfg(test)]
            rule: "",
        };
        let expr = rewriter.make(term);
        self.made.insert(term, expr);
        expr
    }
}

/// A call of [`Pool::make`].
struct Rewriter<'a> {
    pool: &'a mut Pool,
    budget: u32,
    /// The rule that was applied last.
    #[cfg(test)]
    rule: &'static str,
}

impl Rewriter<'_> {
    /// The normal form of a term whose operands are in normal form.
    fn make(&mut self, mut term: Term) -> Expr {
        if let Some(value) = self.fold(&term) {
            return value;
        }
        if self.budget == 0 {
            return self.finish(term);
        }
        self.budget -= 1;
        if term.op.is_commutative() {
            self.order(&mut term);
        }
        let (a, b) = (Expr(term.a), Expr(term.b));
        let rewritten = match term.op {
            Op::Add | Op::Sub | Op::Mul | Op::UDiv | Op::URem | Op::SDiv | Op::SRem
                if term.width == 1 =>
            {
                self.bit_arithmetic(term.op, a, b)
            }
            Op::Add | Op::Sub => self.sum(term.op, a, b),
            Op::Mul => self.product(a, b),
            Op::UDiv | Op::URem => self.unsigned_division(term.op, a, b),
            Op::SDiv | Op::SRem => self.signed_division(term.op, a, b),
            Op::And | Op::Or | Op::Xor => self.bitwise(term.op, a, b),
            Op::Shl | Op::LShr | Op::AShr => self.shift(term.op, a, b),
            Op::Eq => self.equal(a, b),
            Op::Ne => self.not_equal(a, b),
            Op::Ult | Op::Slt => self.less(term.op, a, b),
            Op::Ule | Op::Sle => self.less_or_equal(term.op, a, b),
            Op::ZExt => self.zero_extension(a, term.width),
            Op::SExt => self.sign_extension(a, term.width),
            Op::Extract => self.extraction(a, term.c as u16, term.width),
            Op::Concat => self.concatenation(a, b),
            Op::Ite => self.choice(a, b, Expr(term.c)),
            Op::Ctpop | Op::Ctlz | Op::Cttz | Op::Bswap | Op::Bitreverse => {
                self.counting(term.op, a, term.width)
            }
            Op::Lookup => self.lookup(&term),
            _ => self.float(&term),
        };
        match rewritten {
            Some(expr) => {
                #[cfg(test)]
                tests::log(self.rule, term, expr);
                expr
            }
            None => self.finish(term),
        }
    }

    /// Puts the operands of a commutative operator in order.
    fn order(&self, term: &mut Term) {
        let constant = |field| self.term(Expr(field)).op == Op::Const;
        let swap = match (constant(term.a), constant(term.b)) {
            (true, false) => true,
            (false, true) => false,
            _ => term.a > term.b,
        };
        if swap {
            std::mem::swap(&mut term.a, &mut term.b);
        }
    }

    /// The expression of a term that no rule applies to.
    fn finish(&mut self, term: Term) -> Expr {
        let expr = self.pool.intern(term);
        if term.width <= 64
            && term.op != Op::Const
            && let Some(value) = self.pool.facts(expr).value()
        {
            return self.constant(term.width, value.into());
        }
        expr
    }

    /// The result of the rule with this name, which tests ask for.
    #[inline]
    fn by(&mut self, name: &'static str, expr: Expr) -> Option<Expr> {
        #[cfg(test)]
        {
            self.rule = name;
        }
        let _ = name;
        Some(expr)
    }

    fn term(&self, expr: Expr) -> Term {
        self.pool.term(expr)
    }

    fn width(&self, expr: Expr) -> u16 {
        self.pool.width(expr)
    }

    fn value(&self, expr: Expr) -> Option<u128> {
        self.pool.value(expr)
    }

    /// The operand of a unary operator.
    fn under(&self, op: Op, expr: Expr) -> Option<Expr> {
        let term = self.term(expr);
        (term.op == op).then_some(Expr(term.a))
    }

    /// The operands of a binary operator.
    fn pair(&self, op: Op, expr: Expr) -> Option<(Expr, Expr)> {
        let term = self.term(expr);
        (term.op == op).then_some((Expr(term.a), Expr(term.b)))
    }

    /// The first operand of a binary operator whose second one is constant, and that.
    fn with_constant(&self, op: Op, expr: Expr) -> Option<(Expr, u128)> {
        let (x, k) = self.pair(op, expr)?;
        Some((x, self.value(k)?))
    }

    /// What a negation of one bit negates.
    fn negated(&self, expr: Expr) -> Option<Expr> {
        let term = self.term(expr);
        let negation =
            term.op == Op::Xor && term.width == 1 && self.term(Expr(term.b)).op == Op::Const;
        negation.then_some(Expr(term.a))
    }

    /// Bits that are 0 for every input, among those of the width.
    fn zeros(&self, expr: Expr) -> u128 {
        let width = self.width(expr);
        if width <= 64 {
            return u128::from(self.pool.facts(expr).zeros) & mask(width);
        }
        let term = self.term(expr);
        match term.op {
            Op::Const => !self.pool.constant_value(&term) & mask(width),
            Op::ZExt => {
                self.part_zeros(Expr(term.a)) | mask(width) & !mask(self.width(Expr(term.a)))
            }
            Op::Concat => {
                let (high, low) = (Expr(term.a), Expr(term.b));
                self.part_zeros(high) << self.width(low) | self.part_zeros(low)
            }
            _ => 0,
        }
    }

    fn part_zeros(&self, part: Expr) -> u128 {
        match self.width(part) {
            width @ ..=64 => u128::from(self.pool.facts(part).zeros) & mask(width),
            _ => 0,
        }
    }

    /// Bits that are 1 for every input.
    fn ones(&self, expr: Expr) -> u128 {
        match self.width(expr) {
            ..=64 => self.pool.facts(expr).ones.into(),
            _ => self.value(expr).unwrap_or(0),
        }
    }

    /// The least and greatest value.
    fn bounds(&self, expr: Expr) -> (u128, u128) {
        let term = self.term(expr);
        if term.width <= 64 {
            let facts = self.pool.facts(expr);
            return (facts.min.into(), facts.max.into());
        }
        match term.op {
            Op::Const => (
                self.pool.constant_value(&term),
                self.pool.constant_value(&term),
            ),
            Op::ZExt if self.width(Expr(term.a)) <= 64 => self.bounds(Expr(term.a)),
            Op::ZExt => (0, mask(self.width(Expr(term.a)))),
            _ => (0, mask(term.width)),
        }
    }

    /// The sign, if it is known.
    fn sign(&self, expr: Expr) -> Option<bool> {
        let sign = 1 << (self.width(expr) - 1);
        if self.zeros(expr) & sign != 0 {
            Some(false)
        } else if self.ones(expr) & sign != 0 {
            Some(true)
        } else {
            None
        }
    }

    fn constant(&mut self, width: u16, value: u128) -> Expr {
        self.pool.constant(width, value)
    }

    fn truth(&mut self, value: bool) -> Expr {
        self.pool.truth(value)
    }

    fn binary(&mut self, op: Op, width: u16, a: Expr, b: Expr) -> Expr {
        self.make(Term {
            op,
            width,
            a: a.0,
            b: b.0,
            c: 0,
        })
    }

    fn unary(&mut self, op: Op, width: u16, a: Expr) -> Expr {
        self.binary(op, width, a, Expr(0))
    }

    /// A binary operator of an expression and a constant of the same width.
    fn binary_constant(&mut self, op: Op, a: Expr, value: u128) -> Expr {
        let width = self.width(a);
        let constant = self.constant(width, value);
        let result = if op.is_comparison() { 1 } else { width };
        self.binary(op, result, a, constant)
    }

    fn not(&mut self, a: Expr) -> Expr {
        self.binary_constant(Op::Xor, a, 1)
    }

    /// The negation of one bit, if asked for.
    fn negate_if(&mut self, negate: bool, a: Expr) -> Expr {
        if negate { self.not(a) } else { a }
    }

    fn and(&mut self, a: Expr, b: Expr) -> Expr {
        self.binary(Op::And, self.width(a), a, b)
    }

    fn or(&mut self, a: Expr, b: Expr) -> Expr {
        self.binary(Op::Or, self.width(a), a, b)
    }

    fn eq(&mut self, a: Expr, b: Expr) -> Expr {
        self.binary(Op::Eq, 1, a, b)
    }

    fn ite(&mut self, condition: Expr, then: Expr, other: Expr) -> Expr {
        self.make(Term {
            op: Op::Ite,
            width: self.width(then),
            a: condition.0,
            b: then.0,
            c: other.0,
        })
    }

    /// The bits from `low` on; all of them are the expression itself.
    fn extract(&mut self, a: Expr, low: u16, width: u16) -> Expr {
        if low == 0 && width == self.width(a) {
            return a;
        }
        self.make(Term {
            op: Op::Extract,
            width,
            a: a.0,
            b: 0,
            c: low.into(),
        })
    }

    fn concat(&mut self, high: Expr, low: Expr) -> Expr {
        self.binary(Op::Concat, self.width(high) + self.width(low), high, low)
    }

    /// Zeros or signs above, up to this width; the expression itself if it has it.
    fn extend(&mut self, op: Op, a: Expr, width: u16) -> Expr {
        if self.width(a) == width {
            return a;
        }
        self.unary(op, width, a)
    }

    fn zext(&mut self, a: Expr, width: u16) -> Expr {
        self.extend(Op::ZExt, a, width)
    }
}
