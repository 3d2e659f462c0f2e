//! Sets of values of sizes: a few intervals.

use beagle_trace::op::Op;

use crate::facts::mask64;
use crate::pool::{Expr, Pool, Term};
use crate::variable::Variable;

/// Disjoint intervals in ascending order, ends included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// The values from `low` on, `count` of them, going on at 0 after the last.
    fn from(low: u64, count: u64, width: u16) -> Self {
        let most = mask64(width);
        let Some(last) = count.checked_sub(1) else {
            return Self(Vec::new());
        };
        let high = low.wrapping_add(last) & most;
        if low <= high {
            Self(vec![(low, high)])
        } else {
            Self(vec![(0, high), (low, most)])
        }
    }

    /// One value.
    pub(crate) fn only(value: u64) -> Self {
        Self(vec![(value, value)])
    }

    /// The values from one to the other, both included.
    pub(crate) fn between(low: u64, high: u64) -> Self {
        Self(vec![(low, high)])
    }

    /// The values of this width that are not among them.
    pub(crate) fn complement(&self, width: u16) -> Self {
        let (mut gaps, mut next) = (Vec::new(), Some(0));
        for &(low, high) in &self.0 {
            if let Some(start) = next.filter(|&start| start < low) {
                gaps.push((start, low - 1));
            }
            next = high.checked_add(1);
        }
        let most = mask64(width);
        if let Some(start) = next.filter(|&start| start <= most) {
            gaps.push((start, most));
        }
        Self(gaps)
    }

    /// What is in both.
    pub(crate) fn and(&self, other: &Self) -> Self {
        let mut both = Vec::new();
        for &(low, high) in &self.0 {
            for &(other_low, other_high) in &other.0 {
                let (low, high) = (low.max(other_low), high.min(other_high));
                if low <= high {
                    both.push((low, high));
                }
            }
        }
        Self(both)
    }

    /// Whether there are no values.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a value is among them.
    #[cfg(test)]
    fn contains(&self, value: u64) -> bool {
        let mut all = self.0.iter();
        all.any(|&(low, high)| (low..=high).contains(&value))
    }

    /// The value that is nearest to the hint.
    pub(crate) fn best(&self, hint: u64) -> Option<u64> {
        let near = self.0.iter().map(|&(low, high)| hint.clamp(low, high));
        near.min_by_key(|value| value.abs_diff(hint))
    }

    /// The intervals in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().copied()
    }

    /// How many intervals there are.
    pub(crate) fn parts(&self) -> usize {
        self.0.len()
    }

    /// The least and the greatest value.
    pub(crate) fn bounds(&self) -> Option<(u64, u64)> {
        let (&(low, _), &(_, high)) = (self.0.first()?, self.0.last()?);
        Some((low, high))
    }

    /// The values for which a condition holds, if it is a plain comparison of one size or number of
    /// arguments with a constant.
    pub(crate) fn of(pool: &Pool, condition: Expr) -> Option<(Variable, Self)> {
        let variable = pool.only_variable(condition)?;
        let (word, set) = Self::of_word(pool, condition)?;
        (word == pool.variable_expr(variable)).then_some((variable, set))
    }

    /// The values of an expression for which a condition holds, if it compares that expression with a
    /// constant. A constant that is added to it counts to the values.
    pub(crate) fn of_word(pool: &Pool, condition: Expr) -> Option<(Expr, Self)> {
        let term = pool.term(condition);
        let negated = term.op == Op::Xor && term.width == 1 && pool.value(Expr(term.b)) == Some(1);
        let term = if negated {
            pool.term(Expr(term.a))
        } else {
            term
        };
        let (word, set) = comparison(pool, &term)?;
        let width = pool.width(word);
        let set = if negated { set.complement(width) } else { set };
        Some((word, set))
    }
}

fn comparison(pool: &Pool, term: &Term) -> Option<(Expr, Ranges)> {
    let (left, right) = (Expr(term.a), Expr(term.b));
    if !matches!(term.op, Op::Extract | Op::Eq | Op::Ult | Op::Slt) {
        return None;
    }
    let width = pool.width(left);
    if width > 64 {
        return None;
    }
    let (most, sign) = (mask64(width), 1 << (width - 1));
    let set = |offset: u64, low: u64, count: u64| {
        Ranges::from(low.wrapping_sub(offset) & most, count & most, width)
    };
    if term.op == Op::Extract {
        let is_sign = term.width == 1 && term.c == u32::from(width - 1) && width > 1;
        let (word, offset) = offset(pool, left);
        return is_sign.then(|| (word, set(offset, sign, sign)));
    }
    if let Some(limit) = pool.value(right) {
        let limit = limit as u64;
        let (word, offset) = offset(pool, left);
        let set = match term.op {
            Op::Eq => set(offset, limit, 1),
            Op::Ult => set(offset, 0, limit),
            // From the least number on.
            _ => set(offset, sign, limit ^ sign),
        };
        return Some((word, set));
    }
    let limit = pool.value(left)? as u64;
    let (word, offset) = offset(pool, right);
    let set = match term.op {
        Op::Ult => set(offset, limit.wrapping_add(1), most - limit),
        Op::Slt => set(
            offset,
            limit.wrapping_add(1),
            (sign - 1).wrapping_sub(limit),
        ),
        _ => return None,
    };
    Some((word, set))
}

/// An expression as another one and a constant that is added to it.
fn offset(pool: &Pool, expr: Expr) -> (Expr, u64) {
    let term = pool.term(expr);
    match pool.value(Expr(term.b)) {
        Some(constant) if term.op == Op::Add => (Expr(term.a), constant as u64),
        _ => (expr, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tape::{Tape, Values};
    use crate::variable::{SourceKey, VariableKind};

    #[test]
    fn comparisons_hold_for_the_values_of_their_set() {
        let mut pool = Pool::new();
        let stdin = pool.source(&SourceKey::Stdin);
        let size = pool.variable(VariableKind::Size(stdin));
        let count = pool.variable(VariableKind::ArgCount);
        let corners = [
            0,
            1,
            2,
            5,
            1 << 31,
            (1 << 32) - 1,
            1 << 63,
            u64::MAX - 1,
            u64::MAX,
        ];
        let mut found = 0;
        for name in [size, count] {
            let width = pool.width(name);
            for (op, swapped) in [Op::Eq, Op::Ne, Op::Ult, Op::Ule, Op::Slt, Op::Sle]
                .into_iter()
                .flat_map(|op| [(op, false), (op, true)])
            {
                for (limit, by) in corners
                    .iter()
                    .flat_map(|&k| [(k, 0), (k, 3), (k, u64::MAX)])
                {
                    let by = pool.constant(width, by.into());
                    let sum = pool.op(Op::Add, width, &[name, by]);
                    let limit = pool.constant(width, limit.into());
                    let operands = if swapped { [limit, sum] } else { [sum, limit] };
                    let condition = pool.op(op, 1, &operands);
                    let Some((_, set)) = Ranges::of(&pool, condition) else {
                        continue;
                    };
                    found += 1;
                    let tape = Tape::new(&pool, &[condition]);
                    let mut values = Values::default();
                    let near = corners
                        .iter()
                        .flat_map(|&c| [c, c.wrapping_sub(3), c.wrapping_add(1)]);
                    for value in near.map(|value| value & mask64(width)) {
                        tape.run(&mut values, |_| value.into());
                        let holds = tape.all_hold(&values);
                        let shown = pool.show(condition);
                        assert_eq!(set.contains(value), holds, "{shown} for {value}: {set:?}");
                    }
                    if let Some(best) = set.best(4) {
                        assert!(set.contains(best));
                    } else {
                        assert!(set.is_empty());
                    }
                }
            }
        }
        assert!(found > 150, "{found} conditions were understood");
    }

    #[test]
    fn the_best_value_is_the_nearest() {
        let set = Ranges(vec![(0, 2), (10, 20)]);
        assert_eq!(set.best(4), Some(2));
        assert_eq!(set.best(8), Some(10));
        assert_eq!(set.best(15), Some(15));
        assert_eq!(
            set.and(&Ranges(vec![(2, 11)])),
            Ranges(vec![(2, 2), (10, 11)])
        );
        assert_eq!(set.complement(8), Ranges(vec![(3, 9), (21, 255)]));
    }
}
