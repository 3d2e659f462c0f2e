//! The conditions that keep look-ups inside their tables.
//!
//! What a look-up gives outside of its table is not defined, so rewriting and the layers take it to be
//! inside: the recorder logs that as a condition of its own, before what uses the value. A conflict of
//! conditions with look-ups is one only together with these conditions.

use beagle_trace::op::Op;
use rustc_hash::FxHashSet;

use crate::path::Path;
use crate::pool::{Expr, Pool, Term};

/// The conditions among the first of a path that these expressions need to have a value, by index.
pub(crate) fn needed(pool: &mut Pool, path: &mut Path, prefix: u32, roots: &[Expr]) -> Vec<u32> {
    let mut todo = roots.to_vec();
    let mut seen = FxHashSet::default();
    let mut needed = FxHashSet::default();
    while let Some(expr) = todo.pop() {
        if !pool.may_be_undefined(expr) || !seen.insert(expr) {
            continue;
        }
        let term = pool.term(expr);
        todo.extend(term.operands());
        if term.op != Op::Lookup {
            continue;
        }
        let cells = &pool.table(term.b).cells;
        todo.extend(cells.iter().map(|&(_, cell)| cell));
        let inside = inside(pool, &term);
        if pool.value(inside) == Some(1) {
            continue;
        }
        for number in path.because(pool, inside, prefix) {
            if needed.insert(number) {
                // The condition can have look-ups itself.
                todo.push(path.conditions()[number as usize]);
            }
        }
    }
    let mut needed: Vec<u32> = needed.into_iter().collect();
    needed.sort_unstable();
    needed
}

/// That a look-up is inside of its table, as the recorder says it.
fn inside(pool: &mut Pool, lookup: &Term) -> Expr {
    let bytes = usize::from(lookup.width / 8);
    let places = (pool.table(lookup.b).bytes.len() + 1).saturating_sub(bytes);
    let offset = Expr(lookup.a);
    let places = pool.constant(pool.width(offset), places as u128);
    pool.op(Op::Ult, 1, &[offset, places])
}

#[cfg(test)]
mod tests {
    use beagle_trace::Input;

    use super::*;
    use crate::pool::Table;
    use crate::solver::{Answer, Budget, Core, Solver};
    use crate::variable::{SourceKey, VariableKind};
    use crate::z3_layer::PlainZ3;

    fn lookup(pool: &mut Pool, byte: Expr, table: Table) -> Expr {
        let table = pool.add_table(table);
        let offset = pool.op(Op::ZExt, 64, &[byte]);
        pool.make(Term {
            op: Op::Lookup,
            width: 8,
            a: offset.0,
            b: table,
            c: 0,
        })
    }

    /// That a byte is less.
    fn below(pool: &mut Pool, byte: Expr, limit: u128) -> Expr {
        let limit = pool.constant(8, limit);
        pool.op(Op::Ult, 1, &[byte, limit])
    }

    /// The core of a question that has no answer; Z3 must say so, too.
    fn core(pool: &mut Pool, conditions: &[Expr], asked: Expr) -> Core {
        let none: [&str; 0] = [];
        let input = Input::from_args("p", none).with_stdin(*b"\x01\x00\x00");
        let mut path = Path::new(pool, input);
        for &condition in conditions {
            path.push(pool, condition);
        }
        let mut solver = Solver::new(Budget::default());
        let answer = solver.ask(pool, &mut path, conditions.len(), &[asked]);
        let Answer::Unsatisfiable(core) = answer else {
            panic!("{answer:?}");
        };
        let mut all: Vec<Expr> = core.path.iter().map(|&at| conditions[at]).collect();
        all.push(asked);
        let mut z3 = PlainZ3::new(std::time::Duration::from_secs(60));
        assert!(z3.prepare(pool, &all));
        assert_eq!(z3.check_alone(&all), Some(false), "{core:?}");
        core
    }

    /// Two bytes of standard input, and a look-up by the first that is 1 only where that is 0.
    fn world(pool: &mut Pool) -> (Expr, Expr, Expr) {
        let stdin = pool.source(&SourceKey::Stdin);
        let [first, second] = [0, 1].map(|at| pool.variable(VariableKind::Byte(stdin, at)));
        let table = Table {
            bytes: vec![1, 2, 3],
            cells: Vec::new(),
        };
        let inner = lookup(pool, first, table);
        (first, second, inner)
    }

    #[test]
    fn a_conflict_of_a_look_up_has_its_bounds() {
        let mut pool = Pool::new();
        let (first, _, inner) = world(&mut pool);
        let [zero, one] = [0, 1].map(|value| pool.constant(8, value));
        let conditions = [below(&mut pool, first, 3), pool.ne(first, zero)];
        let asked = pool.eq(inner, one);
        assert_eq!(core(&mut pool, &conditions, asked).path, [0, 1]);
    }

    #[test]
    fn so_has_that_of_a_look_up_in_a_table() {
        let mut pool = Pool::new();
        let (first, second, inner) = world(&mut pool);
        let [zero, one] = [0, 1].map(|value| pool.constant(8, value));
        let table = Table {
            bytes: vec![0, 7],
            cells: vec![(0, inner)],
        };
        let outer = lookup(&mut pool, second, table);
        let conditions = [
            below(&mut pool, first, 3),
            below(&mut pool, second, 2),
            pool.ne(first, zero),
        ];
        let asked = pool.eq(outer, one);
        assert_eq!(core(&mut pool, &conditions, asked).path, [0, 1, 2]);
    }

    #[test]
    fn bounds_that_are_said_in_other_words_are_found() {
        let mut pool = Pool::new();
        let (first, _, inner) = world(&mut pool);
        let [zero, one, four] = [0, 1, 4].map(|value| pool.constant(8, value));
        // Below 4 and neither 3 nor 0.
        let three = pool.constant(8, 3);
        let conditions = [
            pool.op(Op::Ult, 1, &[first, four]),
            pool.ne(first, three),
            pool.ne(first, zero),
        ];
        let asked = pool.eq(inner, one);
        assert_eq!(core(&mut pool, &conditions, asked).path, [0, 1, 2]);
    }
}
