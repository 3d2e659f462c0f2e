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

    fn complement(&self, width: u16) -> Self {
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

    /// The values for which a condition holds, if it is a plain comparison of one size or number of
    /// arguments with a constant.
    pub(crate) fn of(pool: &Pool, condition: Expr) -> Option<(Variable, Self)> {
        let variable = pool.only_variable(condition)?;
        let name = pool.variable_expr(variable);
        let width = pool.width(name);
        let term = pool.term(condition);
        let negated = term.op == Op::Xor && pool.value(Expr(term.b)) == Some(1);
        let term = if negated {
            pool.term(Expr(term.a))
        } else {
            term
        };
        let set = comparison(pool, &term, name, width)?;
        let set = if negated { set.complement(width) } else { set };
        Some((variable, set))
    }
}

fn comparison(pool: &Pool, term: &Term, name: Expr, width: u16) -> Option<Ranges> {
    let (left, right) = (Expr(term.a), Expr(term.b));
    let sign = 1 << (width - 1);
    if term.op == Op::Extract && left == name && term.c == u32::from(width - 1) {
        return Some(Ranges::from(sign, sign, width));
    }
    if !matches!(term.op, Op::Eq | Op::Ult | Op::Slt) {
        return None;
    }
    if let Some(limit) = pool.value(right) {
        let offset = offset(pool, left, name)?;
        let limit = limit as u64;
        return Some(match term.op {
            Op::Eq => Ranges::from(limit.wrapping_sub(offset) & mask64(width), 1, width),
            Op::Ult => Ranges::from(offset.wrapping_neg() & mask64(width), limit, width),
            // From the least number on.
            _ if offset == 0 => Ranges::from(sign, limit ^ sign, width),
            _ => return None,
        });
    }
    let limit = pool.value(left)? as u64;
    let more = mask64(width);
    match term.op {
        _ if right != name => None,
        Op::Ult => {
            Some(Ranges::from(0, limit + 1, width).complement(width)).filter(|_| limit < more)
        }
        _ => None,
    }
}

/// What is added to the variable.
fn offset(pool: &Pool, expr: Expr, name: Expr) -> Option<u64> {
    if expr == name {
        return Some(0);
    }
    let term = pool.term(expr);
    let constant = pool.value(Expr(term.b));
    (term.op == Op::Add && Expr(term.a) == name).then_some(constant? as u64)
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
