//! Sets of byte values, and the set for which a condition over one byte holds.

use beagle_trace::op::Op;

use crate::pool::{Expr, Pool};
use crate::search::lanes::{IDENTITY, Lanes};
use crate::tape::{Tape, Values};
use crate::variable::Variable;

/// A set of values of a byte.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct ByteSet([u64; 4]);

impl ByteSet {
    /// No value.
    pub(crate) const NONE: Self = Self([0; 4]);
    /// All values.
    pub(crate) const ALL: Self = Self([u64::MAX; 4]);
    /// Printable ASCII.
    pub(crate) const PRINTABLE: Self = Self([!0 << 32, !0 >> 1, 0, 0]);

    /// The set of one value.
    #[cfg(test)]
    pub(crate) fn only(value: u8) -> Self {
        let mut set = Self::NONE;
        set.insert(value);
        set
    }

    /// The values for which a row of 256 values says so.
    pub(crate) fn of_row(row: &[u64; 256], holds: impl Fn(u64) -> bool) -> Self {
        let mut words = [0; 4];
        for (word, lanes) in words.iter_mut().zip(row.chunks_exact(64)) {
            for (bit, &value) in lanes.iter().enumerate() {
                *word |= u64::from(holds(value)) << bit;
            }
        }
        Self(words)
    }

    /// Adds a value.
    pub(crate) fn insert(&mut self, value: u8) {
        self.0[usize::from(value >> 6)] |= 1 << (value & 63);
    }

    /// Whether a value is in the set.
    pub(crate) fn contains(self, value: u8) -> bool {
        self.0[usize::from(value >> 6)] >> (value & 63) & 1 == 1
    }

    /// Whether there is no value.
    pub(crate) fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// How many values there are.
    pub(crate) fn count(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// What is in both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] & other.0[at]))
    }

    /// What is in either.
    pub(crate) fn or(self, other: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] | other.0[at]))
    }

    /// What is not in it.
    pub(crate) fn complement(self) -> Self {
        Self(self.0.map(|word| !word))
    }

    /// The values in ascending order.
    pub(crate) fn iter(self) -> impl Iterator<Item = u8> {
        (0u8..4).flat_map(move |at| {
            let mut word = self.0[usize::from(at)];
            std::iter::from_fn(move || {
                let bit = (word != 0).then(|| word.trailing_zeros() as u8)?;
                word &= word - 1;
                Some(at << 6 | bit)
            })
        })
    }

    /// The least value.
    pub(crate) fn least(self) -> Option<u8> {
        self.iter().next()
    }

    /// The greatest value.
    pub(crate) fn greatest(self) -> Option<u8> {
        let word = self.0.iter().rposition(|&word| word != 0)?;
        Some((word as u32 * 64 + 63 - self.0[word].leading_zeros()) as u8)
    }

    /// The value that a person would put in place of this one: the same, else a printable one of
    /// the same kind, else a printable one, else any; the nearest of them.
    pub(crate) fn best(self, hint: u8) -> Option<u8> {
        if self.contains(hint) {
            return Some(hint);
        }
        self.iter().min_by_key(|&value| reluctance(value, hint))
    }
}

impl std::fmt::Debug for ByteSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// How little one likes a value in place of another: the less the better.
pub(crate) fn reluctance(value: u8, hint: u8) -> u32 {
    let (kind, same) = (Kind::of(value), Kind::of(hint));
    let group = if value == hint {
        0
    } else if kind == Kind::Other {
        3
    } else if kind == same {
        1
    } else {
        2
    };
    group << 8 | u32::from(value.abs_diff(hint))
}

/// Kinds of characters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Digit,
    Lower,
    Upper,
    Punctuation,
    Other,
}

impl Kind {
    fn of(byte: u8) -> Self {
        match byte {
            b'0'..=b'9' => Kind::Digit,
            b'a'..=b'z' => Kind::Lower,
            b'A'..=b'Z' => Kind::Upper,
            b' '..=b'~' => Kind::Punctuation,
            _ => Kind::Other,
        }
    }
}

/// For which values of its only byte a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Truth {
    /// The byte.
    pub variable: Variable,
    /// The values for which the condition is defined and 1.
    pub holds: ByteSet,
    /// The values for which it is not defined.
    pub undefined: ByteSet,
}

/// The values for which a condition over exactly one byte is defined and 1.
pub(crate) fn truth(pool: &Pool, expr: Expr) -> Option<(Variable, ByteSet)> {
    let truth = Truth::of(pool, expr, &mut Lanes::default())?;
    Some((truth.variable, truth.holds))
}

impl Truth {
    /// For which values a condition holds; `None` unless it is one bit over exactly one byte.
    pub(crate) fn of(pool: &Pool, expr: Expr, lanes: &mut Lanes) -> Option<Self> {
        let variable = pool.only_variable(expr)?;
        let byte = pool.term(pool.variable_expr(variable)).op == Op::Var;
        if !byte || pool.width(expr) != 1 {
            return None;
        }
        let tape = Tape::new(pool, &[expr]);
        let mut values = Values::default();
        tape.prepare(&mut values, |_| 0);
        let &[(_, at)] = tape.variables() else {
            return None;
        };
        let mut varies = vec![false; tape.len()];
        varies[at as usize] = true;
        let mut steps = Vec::with_capacity(tape.len());
        for (number, step) in tape.steps.iter().enumerate() {
            let operands = step.term.operands().zip(step.from);
            let mut depends = operands.into_iter().any(|(_, from)| varies[from as usize]);
            if step.term.op == Op::Lookup {
                let cells = tape
                    .table(step.term.b)
                    .map_or(&[][..], |table| &table.cells);
                depends |= cells.iter().any(|&(_, cell)| varies[cell as usize]);
            }
            if depends {
                varies[number] = true;
                steps.push(number as u32);
            } else {
                // Only constants are left, which rewriting may not have put together.
                tape.step(&mut values, number);
            }
        }
        lanes.bind(&tape, at, &IDENTITY, &steps);
        lanes.compute(&tape, &values, &steps);
        let root = tape.roots()[0];
        Some(Self {
            variable,
            holds: lanes.holds(root),
            undefined: lanes.undefined(root),
        })
    }
}

#[cfg(test)]
mod tests;
