//! Comparisons.

use beagle_trace::node::mask;
use beagle_trace::op::Op;

use super::Rewriter;
use crate::pool::{Expr, Term};

impl Rewriter<'_> {
    /// `Ne`.
    pub(super) fn not_equal(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        let equal = self.eq(a, b);
        let result = self.not(equal);
        self.by("ne", result)
    }

    /// `Ule` and `Sle`.
    pub(super) fn less_or_equal(&mut self, op: Op, a: Expr, b: Expr) -> Option<Expr> {
        let less = if op == Op::Ule { Op::Ult } else { Op::Slt };
        let greater = self.binary(less, 1, b, a);
        let result = self.not(greater);
        self.by("less-or-equal", result)
    }

    /// `Eq`; a constant is on the right.
    pub(super) fn equal(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        if a == b {
            let result = self.truth(true);
            return self.by("eq-same", result);
        }
        if self.width(a) == 1 {
            let different = self.binary(Op::Xor, 1, a, b);
            let result = self.not(different);
            return self.by("eq-bit", result);
        }
        let (a_bounds, b_bounds) = (self.bounds(a), self.bounds(b));
        let apart = a_bounds.1 < b_bounds.0 || b_bounds.1 < a_bounds.0;
        if apart || self.zeros(a) & self.ones(b) != 0 || self.ones(a) & self.zeros(b) != 0 {
            let result = self.truth(false);
            return self.by("eq-apart", result);
        }
        match self.value(b) {
            Some(k) => self.equal_constant(a, k),
            None => self.equal_pair(a, b),
        }
    }

    fn equal_constant(&mut self, a: Expr, k: u128) -> Option<Expr> {
        let term = self.term(a);
        let width = term.width;
        let (x, y) = (Expr(term.a), Expr(term.b));
        let second = match term.op {
            Op::Add | Op::Sub | Op::Xor | Op::Mul | Op::Or | Op::UDiv => self.value(y),
            _ => None,
        };
        match (term.op, second) {
            (Op::Add, Some(c)) => {
                let result = self.binary_constant(Op::Eq, x, k.wrapping_sub(c));
                self.by("eq-add", result)
            }
            (Op::Xor, Some(c)) => {
                let result = self.binary_constant(Op::Eq, x, k ^ c);
                self.by("eq-xor", result)
            }
            (Op::Sub | Op::Xor, None) if k == 0 => {
                let result = self.eq(x, y);
                self.by("eq-difference", result)
            }
            (Op::Sub, None) => {
                let c = self.value(x)?;
                let result = self.binary_constant(Op::Eq, y, c.wrapping_sub(k));
                self.by("eq-sub", result)
            }
            (Op::Mul, Some(c)) if c != 0 => {
                let even = c.trailing_zeros() as u16;
                let result = if k & mask(even) != 0 {
                    self.truth(false)
                } else {
                    let part = self.extract(x, 0, width - even);
                    let value = (k >> even).wrapping_mul(inverse(c >> even));
                    self.binary_constant(Op::Eq, part, value)
                };
                self.by("eq-mul", result)
            }
            (Op::Or, Some(c)) if c & !k != 0 => {
                // Not told apart where it is wide.
                let result = self.truth(false);
                self.by("eq-or-never", result)
            }
            (Op::Or, Some(c)) => {
                let rest = self.binary_constant(Op::And, x, !c);
                let result = self.binary_constant(Op::Eq, rest, k & !c);
                self.by("eq-or", result)
            }
            (Op::UDiv, Some(c)) if c != 0 => {
                let result = self.range(a, k, k);
                self.by("eq-udiv", result)
            }
            (Op::ZExt, _) => {
                // What does not fit was told apart.
                let result = self.binary_constant(Op::Eq, x, k);
                self.by("eq-zext", result)
            }
            (Op::SExt, _) => {
                let narrow = self.width(x);
                let above = k >> (narrow - 1);
                let result = if above == 0 || above == mask(width - narrow + 1) {
                    self.binary_constant(Op::Eq, x, k)
                } else {
                    self.truth(false)
                };
                self.by("eq-sext", result)
            }
            (Op::Concat, _) => {
                let high = self.binary_constant(Op::Eq, x, k >> self.width(y));
                let low = self.binary_constant(Op::Eq, y, k);
                let result = self.and(high, low);
                self.by("eq-concat", result)
            }
            (Op::Ite, _) => {
                let (then, other) = (y, Expr(term.c));
                if !self.is_simple(then, k == 0) && !self.is_simple(other, k == 0) {
                    return None;
                }
                let then = self.binary_constant(Op::Eq, then, k);
                let other = self.binary_constant(Op::Eq, other, k);
                let result = self.ite(x, then, other);
                self.by("eq-ite", result)
            }
            (Op::Bitreverse, _) => {
                let reversed = k.reverse_bits() >> (128 - u32::from(width));
                let result = self.binary_constant(Op::Eq, x, reversed);
                self.by("eq-bitreverse", result)
            }
            (Op::FNeg, _) => {
                let result = self.binary_constant(Op::Eq, x, k ^ 1 << (width - 1));
                self.by("eq-fneg", result)
            }
            _ => None,
        }
    }

    /// `Eq` of two that are not constant.
    fn equal_pair(&mut self, a: Expr, b: Expr) -> Option<Expr> {
        let (p, q) = (self.term(a), self.term(b));
        let (x, y) = (Expr(p.a), Expr(q.a));
        match (p.op, q.op) {
            (Op::ZExt, Op::ZExt) | (Op::SExt, Op::SExt) => {
                let narrow = self.width(x).max(self.width(y));
                let x = self.extend(p.op, x, narrow);
                let y = self.extend(p.op, y, narrow);
                let result = self.eq(x, y);
                return self.by("eq-extensions", result);
            }
            (Op::Concat, Op::Concat) if self.width(x) == self.width(y) => {
                let high = self.eq(x, y);
                let low = self.eq(Expr(p.b), Expr(q.b));
                let result = self.and(high, low);
                return self.by("eq-concats", result);
            }
            (Op::Add | Op::Sub | Op::Xor, Op::Add | Op::Sub | Op::Xor) if p.op == q.op => {
                // One operand in common.
                let same = if p.b == q.b {
                    Some((x, y))
                } else if p.a == q.a {
                    Some((Expr(p.b), Expr(q.b)))
                } else if p.op != Op::Sub && p.a == q.b {
                    Some((Expr(p.b), y))
                } else if p.op != Op::Sub && p.b == q.a {
                    Some((x, Expr(q.b)))
                } else {
                    None
                };
                if let Some((x, y)) = same {
                    let result = self.eq(x, y);
                    return self.by("eq-common", result);
                }
                if let (Some(c), Some(d)) = (self.value(Expr(p.b)), self.value(Expr(q.b))) {
                    // The constant goes to the smaller expression.
                    let (x, c, y, d) = if x < y { (x, c, y, d) } else { (y, d, x, c) };
                    let difference = match p.op {
                        Op::Xor => c ^ d,
                        _ => c.wrapping_sub(d),
                    };
                    let x = self.binary_constant(p.op, x, difference);
                    let result = self.eq(x, y);
                    return self.by("eq-constants", result);
                }
            }
            _ => {}
        }
        let found = self.equal_part(a, b).or_else(|| self.equal_part(b, a));
        found
            .or_else(|| self.equal_arm(a, b))
            .or_else(|| self.equal_arm(b, a))
    }

    /// `Eq` of a sum and an addend of it.
    fn equal_part(&mut self, sum: Expr, part: Expr) -> Option<Expr> {
        let term = self.term(sum);
        let rest = match term.op {
            Op::Add | Op::Xor | Op::Sub if term.a == part.0 => Expr(term.b),
            Op::Add | Op::Xor if term.b == part.0 => Expr(term.a),
            _ => return None,
        };
        let result = self.binary_constant(Op::Eq, rest, 0);
        self.by("eq-addend", result)
    }

    /// `Eq` of a choice and an arm of it.
    fn equal_arm(&mut self, choice: Expr, arm: Expr) -> Option<Expr> {
        let term = self.term(choice);
        if term.op != Op::Ite {
            return None;
        }
        let (c, then, other) = (Expr(term.a), Expr(term.b), Expr(term.c));
        let result = if then == arm {
            let equal = self.eq(other, arm);
            self.or(c, equal)
        } else if other == arm {
            let equal = self.eq(then, arm);
            let not = self.not(c);
            self.or(not, equal)
        } else {
            return None;
        };
        self.by("eq-arm", result)
    }

    /// `Ult` and `Slt`.
    pub(super) fn less(&mut self, op: Op, a: Expr, b: Expr) -> Option<Expr> {
        let width = self.width(a);
        if a == b {
            let result = self.truth(false);
            return self.by("less-same", result);
        }
        if width == 1 {
            // Signed, 1 is -1.
            let (zero, one) = if op == Op::Ult { (a, b) } else { (b, a) };
            let zero = self.not(zero);
            let result = self.and(zero, one);
            return self.by("less-bit", result);
        }
        let least: u128 = match op {
            Op::Ult => 0,
            _ => 1 << (width - 1),
        };
        let greatest = least.wrapping_sub(1) & mask(width);
        let set = match (self.value(a), self.value(b)) {
            (_, Some(k)) if k == least => None,
            (_, Some(k)) => Some((a, least, k.wrapping_sub(1) & mask(width))),
            (Some(k), _) if k == greatest => None,
            (Some(k), _) => Some((b, k.wrapping_add(1) & mask(width), greatest)),
            (None, None) => return self.less_pair(op, a, b),
        };
        let result = match set {
            Some((x, lo, hi)) => self.range(x, lo, hi),
            None => self.truth(false),
        };
        self.by("less-constant", result)
    }

    /// `Ult` or `Slt` of two that are not constant.
    fn less_pair(&mut self, op: Op, a: Expr, b: Expr) -> Option<Expr> {
        if op == Op::Slt {
            if let (Some(negative), Some(other)) = (self.sign(a), self.sign(b)) {
                let result = match (negative, other) {
                    (true, false) => self.truth(true),
                    (false, true) => self.truth(false),
                    _ => self.binary(Op::Ult, 1, a, b),
                };
                return self.by("slt-signs", result);
            }
        } else {
            let ((a_min, a_max), (b_min, b_max)) = (self.bounds(a), self.bounds(b));
            if a_max < b_min || a_min >= b_max {
                let result = self.truth(a_max < b_min);
                return self.by("ult-bounds", result);
            }
        }
        let (p, q) = (self.term(a), self.term(b));
        let (x, y) = (Expr(p.a), Expr(q.a));
        let narrow = match (p.op, q.op) {
            (Op::ZExt, Op::ZExt) | (Op::SExt, Op::SExt) => self.width(x).max(self.width(y)),
            (Op::Concat, Op::Concat) => {
                let (low, other) = (Expr(p.b), Expr(q.b));
                let result = if x == y {
                    self.binary(Op::Ult, 1, low, other)
                } else if low == other {
                    self.binary(op, 1, x, y)
                } else {
                    return None;
                };
                return self.by("less-concats", result);
            }
            _ => return None,
        };
        let x = self.extend(p.op, x, narrow);
        let y = self.extend(p.op, y, narrow);
        let result = self.binary(op, 1, x, y);
        self.by("less-extensions", result)
    }

    /// The sign of a sum of which more is known.
    pub(super) fn sign_of_sum(&mut self, a: Expr) -> Option<Expr> {
        let term = self.term(a);
        let (x, y) = (Expr(term.a), Expr(term.b));
        let signs = 1 << (term.width - 1);
        let other = match (term.op, self.value(x), self.value(y)) {
            (Op::Add, _, Some(_)) => x,
            (Op::Sub, Some(_), _) => y,
            (Op::Sub, ..) => {
                let (result, _) = self.difference_signs(a)?;
                return self.by("sign-difference", result);
            }
            _ => return None,
        };
        let known = self.sign(other).is_some() || self.term(other).op == Op::SExt;
        if !known {
            return None;
        }
        let result = self.range(a, signs, mask(term.width));
        self.by("sign-sum", result)
    }

    /// Whether a difference is negative, and whether it is positive, if it cannot overflow.
    fn difference_signs(&mut self, expr: Expr) -> Option<(Expr, Expr)> {
        let (x, y) = self.pair(Op::Sub, expr)?;
        let (op, x, y) = if self.sign(x) == Some(false) && self.sign(y) == Some(false) {
            (Op::Ult, x, y)
        } else {
            let (p, q) = (self.term(x), self.term(y));
            if p.op != Op::SExt || q.op != Op::SExt {
                return None;
            }
            (Op::Slt, x, y)
        };
        let less = self.binary(op, 1, x, y);
        let greater = self.binary(op, 1, y, x);
        Some((less, greater))
    }

    /// Whether the value of an expression is in `lo..=hi`; if `hi` is less, in what is not between.
    pub(super) fn range(&mut self, expr: Expr, lo: u128, hi: u128) -> Expr {
        let (mut x, mut lo, mut hi) = (expr, lo, hi);
        let mut negate = false;
        loop {
            let most = mask(self.width(x));
            if lo > hi {
                if hi + 1 == lo {
                    return self.truth(!negate);
                }
                (lo, hi, negate) = (hi + 1, lo - 1, !negate);
            }
            let (min, max) = self.bounds(x);
            if lo <= min && hi >= max {
                return self.truth(!negate);
            }
            if lo > max || hi < min {
                return self.truth(negate);
            }
            // Only the bounds that matter.
            if lo <= min {
                lo = 0;
            }
            if hi >= max {
                hi = most;
            }
            let single = match (lo, hi) {
                // `Eq` of a quotient asks here.
                _ if self.with_constant(Op::UDiv, x).is_some() => None,
                _ if lo == hi => Some((lo, false)),
                _ if lo == max => Some((max, false)),
                _ if hi == min => Some((min, false)),
                _ if hi == most && lo == min + 1 => Some((min, true)),
                _ if lo == 0 && hi + 1 == max => Some((max, true)),
                _ => None,
            };
            if let Some((value, other)) = single {
                let equal = self.binary_constant(Op::Eq, x, value);
                return self.negate_if(negate != other, equal);
            }
            match self.peel(x, lo, hi) {
                Peeled::Inner(inner, low, high) => (x, lo, hi) = (inner, low, high),
                Peeled::Never => return self.truth(negate),
                Peeled::Result(result) => return self.negate_if(negate, result),
                Peeled::Nothing => break,
            }
        }
        let result = self.comparison(x, lo, hi);
        self.negate_if(negate, result)
    }

    /// The operand whose value decides whether an expression is in `lo..=hi`.
    fn peel(&mut self, x: Expr, lo: u128, hi: u128) -> Peeled {
        let term = self.term(x);
        let most = mask(term.width);
        let sign = 1u128 << (term.width - 1);
        let (a, b) = (Expr(term.a), Expr(term.b));
        match term.op {
            Op::Add | Op::Xor | Op::UDiv | Op::Mul => {
                let Some(c) = self.value(b) else {
                    return Peeled::Nothing;
                };
                match term.op {
                    Op::Add => {
                        let (lo, hi) = (lo.wrapping_sub(c) & most, hi.wrapping_sub(c) & most);
                        Peeled::Inner(a, lo, hi)
                    }
                    Op::Xor if c == most => Peeled::Inner(a, most - hi, most - lo),
                    Op::Xor if c == sign => Peeled::Inner(a, lo ^ sign, hi ^ sign),
                    Op::UDiv if c != 0 => match lo.checked_mul(c) {
                        Some(lo) if lo <= most => {
                            let end = hi.checked_mul(c).and_then(|end| end.checked_add(c - 1));
                            Peeled::Inner(a, lo, end.unwrap_or(most).min(most))
                        }
                        _ => Peeled::Never,
                    },
                    Op::Mul if c != 0 => match self.bounds(a).1.checked_mul(c) {
                        Some(greatest) if greatest <= most => {
                            let (lo, hi) = (lo.div_ceil(c), hi / c);
                            inner_or_never(a, lo, hi)
                        }
                        _ => Peeled::Nothing,
                    },
                    _ => Peeled::Nothing,
                }
            }
            Op::Sub => {
                if let Some(c) = self.value(a) {
                    let (lo, hi) = (c.wrapping_sub(hi) & most, c.wrapping_sub(lo) & most);
                    return Peeled::Inner(b, lo, hi);
                }
                if !is_sign_test(lo, hi, term.width) {
                    return Peeled::Nothing;
                }
                match self.difference_signs(x) {
                    Some((less, _)) if lo != 1 => Peeled::Result(self.negate_if(lo == 0, less)),
                    Some((_, greater)) => Peeled::Result(greater),
                    None => Peeled::Nothing,
                }
            }
            Op::ZExt => inner_or_never(a, lo, hi.min(mask(self.width(a)))),
            Op::SExt => {
                // Between the numbers that are extended with 0 and those with 1 there are none.
                let narrow = self.width(a);
                let half = 1u128 << (narrow - 1);
                let negative = most - (half - 1);
                let lo = if lo >= half {
                    half.max(lo.max(negative) & mask(narrow))
                } else {
                    lo
                };
                let hi = if hi >= negative {
                    hi & mask(narrow)
                } else {
                    hi.min(half - 1)
                };
                inner_or_never(a, lo, hi)
            }
            Op::Concat => {
                let split = self.width(b);
                let (min, max) = self.bounds(b);
                let (low, high) = (lo & mask(split), hi & mask(split));
                let first = match low {
                    _ if low <= min => lo >> split,
                    _ if low > max => (lo >> split) + 1,
                    _ => return Peeled::Nothing,
                };
                let end = match high {
                    _ if high >= max => (hi >> split) + 1,
                    _ if high < min => hi >> split,
                    _ => return Peeled::Nothing,
                };
                if end == 0 {
                    return Peeled::Never;
                }
                inner_or_never(a, first, end - 1)
            }
            Op::Ite if self.budget > 0 => {
                let other = Expr(term.c);
                let signs = is_sign_test(lo, hi, term.width);
                if !self.is_simple(b, signs) && !self.is_simple(other, signs) {
                    return Peeled::Nothing;
                }
                self.budget -= 1;
                let then = self.range(b, lo, hi);
                let other = self.range(other, lo, hi);
                Peeled::Result(self.ite(a, then, other))
            }
            _ => Peeled::Nothing,
        }
    }

    /// Whether the comparison of an arm of a choice with a constant is simpler than the arm.
    fn is_simple(&self, arm: Expr, with_difference: bool) -> bool {
        let term = self.term(arm);
        match term.op {
            Op::Const => true,
            Op::Add => self.value(Expr(term.b)).is_some(),
            Op::Sub => with_difference || self.value(Expr(term.a)).is_some(),
            _ => false,
        }
    }

    /// Whether a value that nothing more is known of is in `lo..=hi`.
    fn comparison(&mut self, x: Expr, lo: u128, hi: u128) -> Expr {
        let width = self.width(x);
        let most = mask(width);
        let sign = 1u128 << (width - 1);
        if (lo, hi) == (0, sign - 1) || (lo, hi) == (sign, most) {
            let bit = self.extract(x, width - 1, 1);
            return self.negate_if(lo == 0, bit);
        }
        let (op, k, negate) = if lo == 0 {
            (Op::Ult, hi + 1, false)
        } else if hi == most {
            (Op::Ult, lo, true)
        } else if hi == sign - 1 {
            (Op::Slt, lo, true)
        } else if lo == sign {
            (Op::Slt, hi + 1, false)
        } else {
            return self.in_between(x, lo, hi);
        };
        let result = self.put_less(op, x, k);
        self.negate_if(negate, result)
    }

    fn in_between(&mut self, x: Expr, lo: u128, hi: u128) -> Expr {
        let most = mask(self.width(x));
        let half = 1u128 << (self.width(x) - 1);
        let (mut lo, mut count, mut negate) = (lo, hi - lo + 1, false);
        if count > half {
            // What is not in it is less.
            (lo, count, negate) = (hi + 1, most - count + 1, true);
        }
        let from_lo = self.binary_constant(Op::Add, x, lo.wrapping_neg());
        if self.with_constant(Op::Add, from_lo).map(|(x, _)| x) != Some(x) {
            let result = self.range(from_lo, 0, count - 1);
            return self.negate_if(negate, result);
        }
        let result = if count == half {
            let bit = self.finish(Term {
                op: Op::Extract,
                width: 1,
                a: from_lo.0,
                b: 0,
                c: u32::from(self.width(x)) - 1,
            });
            self.not(bit)
        } else {
            self.put_less(Op::Ult, from_lo, count)
        };
        self.negate_if(negate, result)
    }

    fn put_less(&mut self, op: Op, x: Expr, k: u128) -> Expr {
        let k = self.constant(self.width(x), k);
        self.finish(Term {
            op,
            width: 1,
            a: x.0,
            b: k.0,
            c: 0,
        })
    }

    /// `And` or `Or` of two sets of neighbouring values of one expression, if it is one again.
    pub(super) fn both_ranges(&mut self, op: Op, a: Expr, b: Expr) -> Option<Expr> {
        let (x, first) = self.set(a)?;
        let (y, second) = self.set(b)?;
        if x != y {
            return None;
        }
        let most = mask(self.width(x));
        let outside =
            |(lo, hi): (u128, u128)| (hi.wrapping_add(1) & most, lo.wrapping_sub(1) & most);
        let set = match op {
            Op::And => common(first, second, most)?,
            _ => common(outside(first), outside(second), most)?,
        };
        let result = match (set, op) {
            (Some((lo, hi)), Op::And) => self.range(x, lo, hi),
            (Some((lo, hi)), _) => {
                let result = self.range(x, lo, hi);
                self.not(result)
            }
            (None, _) => self.truth(op != Op::And),
        };
        self.by("both-ranges", result)
    }

    /// `Ite` of one bit where the condition and both arms are sets of neighbouring values of one
    /// expression, and so are their intersections.
    pub(super) fn choice_of_ranges(&mut self, c: Expr, then: Expr, other: Expr) -> Option<Expr> {
        let ((x, set), (y, first), (z, second)) = (self.set(c)?, self.set(then)?, self.set(other)?);
        if x != y || x != z {
            return None;
        }
        let most = mask(self.width(x));
        let outside = (set.1.wrapping_add(1) & most, set.0.wrapping_sub(1) & most);
        common(set, first, most)?;
        common(outside, second, most)?;
        let not = self.not(c);
        let (then, other) = (self.and(c, then), self.and(not, other));
        let result = self.or(then, other);
        self.by("ite-ranges", result)
    }

    /// The values of which expression a bit tests for, from the first to the last, maybe past 0.
    fn set(&self, bit: Expr) -> Option<(Expr, (u128, u128))> {
        let (bit, negate) = match self.negated(bit) {
            Some(bit) => (bit, true),
            None => (bit, false),
        };
        let term = self.term(bit);
        let x = Expr(term.a);
        let most = match term.op {
            Op::Eq | Op::Ult | Op::Slt | Op::Extract => mask(self.width(x)),
            _ => return None,
        };
        let sign = most - (most >> 1);
        let (lo, hi) = match term.op {
            Op::Extract if u32::from(self.width(x)) == term.c + 1 => (sign, most),
            Op::Extract => return None,
            op => {
                let k = self.value(Expr(term.b))?;
                match op {
                    Op::Eq => (k, k),
                    Op::Ult => (0, k.wrapping_sub(1) & most),
                    _ => (sign, k.wrapping_sub(1) & most),
                }
            }
        };
        let (x, lo, hi) = match self.with_constant(Op::Add, x) {
            Some((x, c)) => (x, lo.wrapping_sub(c) & most, hi.wrapping_sub(c) & most),
            None => (x, lo, hi),
        };
        if negate {
            return Some((x, (hi.wrapping_add(1) & most, lo.wrapping_sub(1) & most)));
        }
        Some((x, (lo, hi)))
    }
}

/// What decides whether an expression is in a range.
enum Peeled {
    /// Whether this one is in that range.
    Inner(Expr, u128, u128),
    /// It never is.
    Never,
    /// This bit.
    Result(Expr),
    /// Itself.
    Nothing,
}

/// Whether a range is that of the negative numbers, of the others, or of the positive ones.
fn is_sign_test(lo: u128, hi: u128, width: u16) -> bool {
    let sign = 1u128 << (width - 1);
    lo == sign && hi == mask(width) || lo <= 1 && hi == sign - 1
}

fn inner_or_never(x: Expr, lo: u128, hi: u128) -> Peeled {
    if lo > hi {
        Peeled::Never
    } else {
        Peeled::Inner(x, lo, hi)
    }
}

/// What two sets, each from a first value to a last and maybe past 0, have in common: nothing, or
/// one such set. `None` if it is two.
fn common(a: (u128, u128), b: (u128, u128), most: u128) -> Option<Option<(u128, u128)>> {
    // Counted from the first value of a.
    let from = |value: u128| value.wrapping_sub(a.0) & most;
    let (end, lo, hi) = (from(a.1), from(b.0), from(b.1));
    let back = |value: u128| value.wrapping_add(a.0) & most;
    let (first, last) = if lo <= hi {
        (lo, hi.min(end))
    } else if lo > end {
        (0, hi.min(end))
    } else {
        return None;
    };
    Some((first <= last).then(|| (back(first), back(last))))
}

/// The inverse of an odd number, modulo 2^128.
fn inverse(odd: u128) -> u128 {
    // Each step doubles the number of right bits; 3 are right at first.
    let mut inverse = odd;
    for _ in 0..6 {
        inverse = inverse.wrapping_mul(2u128.wrapping_sub(odd.wrapping_mul(inverse)));
    }
    inverse
}
