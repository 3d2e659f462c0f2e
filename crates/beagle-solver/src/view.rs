//! The conditions of a path, simplified and cut into parts that hang together.

use crate::known::{Known, NEVER, Sharp, parts};
use crate::model::Hint;
use crate::partition::{Joined, Partition};
use crate::pool::{Expr, Pool};
use crate::support::{NONE, Support};
use crate::variable::{Variable, VariableKind};

/// Conditions that are each simplified by those before them.
#[derive(Debug, Default)]
pub(crate) struct View {
    /// What remains of each condition after simplification by the earlier ones.
    simplified: Vec<Expr>,
    /// The parts of the simplified conditions.
    atoms: Vec<Atom>,
    partition: Partition,
    joined: Joined,
    known: Known,
}

/// A part of a condition.
#[derive(Clone, Copy, Debug)]
struct Atom {
    expr: Expr,
    /// The time of its condition.
    time: u32,
    /// From when on later parts say the same and more.
    replaced: u32,
    /// The earlier conditions that it was simplified by or stands for, too. Kept, because what is learned
    /// later can make the same condition simple in another way.
    reasons: Support,
}

impl View {
    /// Adds a condition. Whether it is possible after the earlier ones.
    pub(crate) fn push(&mut self, pool: &mut Pool, hint: &Hint, condition: Expr) -> bool {
        let number = self.simplified.len() as u32;
        let (possible, open) = self.add(pool, hint, condition, number);
        let simple = match (possible, open) {
            (true, true) => self.known.simplify(pool, condition, number).expr,
            _ => pool.truth(possible),
        };
        self.simplified.push(simple);
        possible
    }

    /// Adds something that holds together with the condition that is added next.
    pub(crate) fn accompany(&mut self, pool: &mut Pool, hint: &Hint, condition: Expr) {
        let number = self.simplified.len() as u32;
        self.add(pool, hint, condition, number);
    }

    /// Adds the parts of a condition with this number. Whether it is possible, and whether it does
    /// not follow.
    fn add(&mut self, pool: &mut Pool, hint: &Hint, condition: Expr, number: u32) -> (bool, bool) {
        let time = number + 1;
        let found = self.known.simplify(pool, condition, number);
        if let Some(value) = pool.value(found.expr) {
            return (value == 1, false);
        }
        let before = self.atoms.len();
        for atom in parts(pool, found.expr) {
            if self.known.follows(pool, atom) {
                continue;
            }
            let number = self.atoms.len() as u32;
            let atoms = &mut self.atoms;
            let sharp = self
                .known
                .sharpen(pool, atom, found.reasons, time, number, |earlier| {
                    atoms[earlier as usize].replaced = time;
                });
            for Sharp { expr, reasons } in sharp {
                let because = if reasons == NONE {
                    found.reasons
                } else {
                    reasons
                };
                self.known.learn(pool, expr, because, time);
                self.keep(pool, hint, expr, because, time);
            }
        }
        (true, self.atoms.len() > before)
    }

    /// Keeps a part of a condition.
    fn keep(&mut self, pool: &mut Pool, hint: &Hint, expr: Expr, reasons: Support, time: u32) {
        let number = self.atoms.len() as u32;
        self.atoms.push(Atom {
            expr,
            time,
            replaced: NEVER,
            reasons,
        });
        let variables = self.joined.join(pool, expr);
        self.partition.join(time, &variables, Some(number));
        for &variable in &variables {
            let chain = chain(pool, hint, variable);
            self.partition.join(time, &chain, None);
        }
    }

    /// What remains of the condition at this index.
    pub(crate) fn simplified(&self, index: usize) -> Expr {
        self.simplified[index]
    }

    /// The variables and parts of conditions that hang together with these variables, when only the
    /// first conditions count.
    pub(crate) fn slice(&self, prefix: u32, variables: &[Variable]) -> (Vec<Variable>, Vec<u32>) {
        let (variables, mut atoms) = self.partition.slice(prefix, variables);
        atoms.retain(|&atom| self.atoms[atom as usize].replaced > prefix);
        (variables, atoms)
    }

    /// A part of a condition.
    pub(crate) fn atom(&self, number: u32) -> Expr {
        self.atoms[number as usize].expr
    }

    /// The index of the condition that a part belongs to.
    pub(crate) fn atom_condition(&self, number: u32) -> u32 {
        self.atoms[number as usize].time - 1
    }

    /// The earlier conditions that a part of a condition was made of.
    pub(crate) fn atom_reasons(&self, number: u32) -> Vec<u32> {
        let atom = &self.atoms[number as usize];
        self.members(atom.reasons, atom.time - 1)
    }

    /// The conditions of a set; all of the first ones if they are too many to keep.
    fn members(&self, set: Support, prefix: u32) -> Vec<u32> {
        match self.known.conditions(set) {
            Some(conditions) => conditions.to_vec(),
            None => (0..prefix).collect(),
        }
    }

    /// An expression as it is after the first conditions.
    pub(crate) fn simplify(&mut self, pool: &mut Pool, expr: Expr, prefix: u32) -> Expr {
        self.known.simplify(pool, expr, prefix).expr
    }

    /// The conditions among the first that were used to simplify an expression.
    pub(crate) fn reasons(&mut self, pool: &mut Pool, expr: Expr, prefix: u32) -> Vec<u32> {
        let set = self.known.simplify(pool, expr, prefix).reasons;
        self.members(set, prefix)
    }
}

/// The bytes that have to be there for a byte past the end of a string to be there, itself the last;
/// empty for other variables.
pub(crate) fn chain(pool: &mut Pool, hint: &Hint, variable: Variable) -> Vec<Variable> {
    let VariableKind::Byte(source, index) = pool.variable_kind(variable) else {
        return Vec::new();
    };
    let end = hint.size(source).min(u64::from(u32::MAX)) as u32;
    if !pool.source_key(source).is_string() || index <= end {
        return Vec::new();
    }
    let bytes = (end..=index).map(|index| {
        let expr = pool.variable(VariableKind::Byte(source, index));
        Variable(pool.term(expr).c)
    });
    bytes.collect()
}

#[cfg(test)]
mod tests {
    use beagle_trace::Input;
    use beagle_trace::op::Op;

    use super::*;
    use crate::variable::SourceKey;

    /// A word of two bytes of standard input, the higher first.
    fn word(pool: &mut Pool) -> Expr {
        let stdin = pool.source(&SourceKey::Stdin);
        // The order in which they are met must not matter.
        let low = pool.variable(VariableKind::Byte(stdin, 1));
        let high = pool.variable(VariableKind::Byte(stdin, 0));
        pool.op(Op::Concat, 16, &[high, low])
    }

    #[test]
    fn a_loop_over_a_length_leaves_one_condition() {
        let mut pool = Pool::new();
        let none: [&str; 0] = [];
        let input = Input::from_args("p", none).with_stdin(*b"\x7f\xff");
        let hint = Hint::new(&mut pool, input);
        let word = word(&mut pool);
        let mut view = View::default();
        for count in 3..1000 {
            let count = pool.constant(16, count);
            let other = pool.ne(word, count);
            assert!(view.push(&mut pool, &hint, other));
        }
        let variables = pool.variables_of(word);
        for (prefix, most) in [(10, 3), (500, 3), (997, 3)] {
            let (_, atoms) = view.slice(prefix, &variables);
            let shown = atoms.iter().map(|&atom| pool.show(view.atom(atom)));
            assert!(atoms.len() <= most, "{:?}", shown.collect::<Vec<_>>());
        }
    }

    #[test]
    fn two_digits_of_a_known_number_are_known() {
        let mut pool = Pool::new();
        let none: [&str; 0] = [];
        let input = Input::from_args("p", none).with_stdin(*b"64x");
        let hint = Hint::new(&mut pool, input);
        let stdin = pool.source(&SourceKey::Stdin);
        let mut view = View::default();
        let mut wide = Vec::new();
        for at in 0..2 {
            let byte = pool.variable(VariableKind::Byte(stdin, at));
            let zero = pool.constant(8, 0x30);
            let digit = pool.op(Op::Sub, 8, &[byte, zero]);
            let ten = pool.constant(8, 10);
            let is_digit = pool.op(Op::Ult, 1, &[digit, ten]);
            view.push(&mut pool, &hint, is_digit);
            wide.push(pool.op(Op::ZExt, 32, &[byte]));
        }
        let ten = pool.constant(32, 10);
        let tens = pool.op(Op::Mul, 32, &[wide[0], ten]);
        let number = pool.op(Op::Add, 32, &[tens, wide[1]]);
        let low = pool.extract(number, 0, 3);
        let before = view.simplify(&mut pool, low, 2);
        assert_eq!(pool.value(before), None);
        let most = pool.constant(32, 592);
        let equal = pool.op(Op::Eq, 1, &[number, most]);
        view.push(&mut pool, &hint, equal);
        let odd = pool.op(Op::Xor, 32, &[wide[0], number]);
        for (expr, value) in [
            (low, 592 & 7),
            (wide[0], 54),
            (wide[1], 52),
            (odd, 592 ^ 54),
        ] {
            let simple = view.simplify(&mut pool, expr, 3);
            assert_eq!(pool.value(simple), Some(value), "{}", pool.show(simple));
        }
    }

    #[test]
    fn a_word_is_not_what_its_bits_exclude() {
        let mut pool = Pool::new();
        let none: [&str; 0] = [];
        let input = Input::from_args("p", none).with_stdin(*b"\x10\x20");
        let hint = Hint::new(&mut pool, input);
        let word = word(&mut pool);
        let eleven = pool.constant(16, 11);
        // No single byte decides its lowest bit.
        let word = pool.op(Op::URem, 16, &[word, eleven]);
        let mut view = View::default();
        // 0x1020 % 11 is 3.
        let low = pool.extract(word, 0, 1);
        view.push(&mut pool, &hint, low);
        for (value, open) in [(8, false), (7, true)] {
            let value = pool.constant(16, value);
            let other = pool.ne(word, value);
            view.push(&mut pool, &hint, other);
            let last = view.simplified.len() - 1;
            let simple = view.simplified(last);
            assert_eq!(pool.value(simple).is_none(), open, "{}", pool.show(simple));
        }
    }

    #[test]
    fn a_number_in_hexadecimal_is_its_digits() {
        let mut pool = Pool::new();
        let none: [&str; 0] = [];
        let input = Input::from_args("p", none).with_stdin(*b"1f");
        let hint = Hint::new(&mut pool, input);
        let stdin = pool.source(&SourceKey::Stdin);
        let mut view = View::default();
        let mut number = pool.constant(32, 0);
        for at in 0..2 {
            let byte = pool.variable(VariableKind::Byte(stdin, at));
            let mut offset = |from: u8| {
                let from = pool.constant(8, from.into());
                pool.op(Op::Sub, 8, &[byte, from])
            };
            let (digit, letter) = (offset(b'0'), offset(b'a'));
            let (ten, six) = (pool.constant(8, 10), pool.constant(8, 6));
            let is_digit = pool.op(Op::Ult, 1, &[digit, ten]);
            let is_letter = pool.op(Op::Ult, 1, &[letter, six]);
            let either = pool.op(Op::Or, 1, &[is_digit, is_letter]);
            view.push(&mut pool, &hint, either);
            let of_letter = pool.op(Op::Add, 8, &[letter, ten]);
            let value = pool.op(Op::Ite, 8, &[is_digit, digit, of_letter]);
            let value = pool.op(Op::ZExt, 32, &[value]);
            let four = pool.constant(32, 4);
            number = pool.op(Op::Shl, 32, &[number, four]);
            number = pool.op(Op::Add, 32, &[number, value]);
        }
        let wanted = pool.constant(32, 0xa5);
        let equal = pool.eq(number, wanted);
        let simple = view.simplify(&mut pool, equal, 2);
        let all = parts(&mut pool, simple);
        let single = all.iter().all(|&part| pool.only_variable(part).is_some());
        assert!(all.len() == 2 && single, "{}", pool.show(simple));
    }
}
