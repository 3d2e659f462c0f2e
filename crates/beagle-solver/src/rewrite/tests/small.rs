//! All terms of two levels over two unknowns of a few bits, and as many of three as there is time
//! for, for all inputs.

use beagle_trace::node::mask;
use beagle_trace::op::Op;

use super::{BINARY, COMPARISONS, Checker, Dice, byte, term};
use crate::pool::{Expr, Pool, Term};

/// Two unknowns, of which only the low bits are used, with all their values.
fn checker(width: u16) -> Checker {
    let mut pool = Pool::new();
    byte(&mut pool, 0);
    byte(&mut pool, 1);
    let all = 0..1u128 << (2 * width);
    let inputs = vec![
        all.clone().map(|both| both & mask(width)).collect(),
        all.map(|both| both >> width).collect(),
    ];
    Checker::new(pool, inputs)
}

/// The terms over two expressions of one width.
fn over_two(a: Expr, b: Expr, width: u16) -> impl Iterator<Item = Term> {
    let binary = BINARY.iter().map(move |&op| term(op, width, &[a, b]));
    let comparisons = COMPARISONS.iter().map(move |&op| term(op, 1, &[a, b]));
    let concat = term(Op::Concat, 2 * width, &[a, b]);
    binary.chain(comparisons).chain([concat])
}

/// The terms over one expression.
fn over_one(a: Expr, width: u16) -> impl Iterator<Item = Term> {
    let counts = [Op::Ctpop, Op::Ctlz, Op::Cttz, Op::Bitreverse];
    let counts = counts.into_iter().map(move |op| term(op, width, &[a]));
    let extensions = [1, 2]
        .into_iter()
        .flat_map(move |more| [Op::ZExt, Op::SExt].map(|op| term(op, width + more, &[a])));
    let parts = (0..width).flat_map(move |low| {
        (1..=width - low).map(move |part| Term {
            c: low.into(),
            ..term(Op::Extract, part, &[a])
        })
    });
    counts.chain(extensions).chain(parts)
}

/// Expressions by width.
struct Level(Vec<Vec<Expr>>);

impl Level {
    fn new() -> Self {
        Self(vec![Vec::new(); 129])
    }

    fn add(&mut self, checker: &Checker, expr: Expr) {
        let all = &mut self.0[usize::from(checker.pool.width(expr))];
        if !all.contains(&expr) {
            all.push(expr);
        }
    }
}

fn check(width: u16, samples: usize) {
    let mut checker = checker(width);
    let mut atoms = Level::new();
    for index in 0..2 {
        let whole = byte(&mut checker.pool, index);
        let part = checker.pool.extract(whole, 0, width);
        atoms.add(&checker, part);
    }
    for value in 0..1 << width.min(3) {
        // For 4 bits those at both ends.
        let value = if width == 4 && value > 3 {
            value + 8
        } else {
            value
        };
        let constant = checker.pool.constant(width, value);
        atoms.add(&checker, constant);
    }
    let mut first = Level::new();
    let all = atoms.0[usize::from(width)].clone();
    for &a in &all {
        first.add(&checker, a);
        for made in over_one(a, width) {
            let expr = checker.make(made);
            first.add(&checker, expr);
        }
        for &b in &all {
            for made in over_two(a, b, width) {
                let expr = checker.make(made);
                first.add(&checker, expr);
            }
        }
    }
    for &bit in &first.0[1].clone() {
        for &a in &all {
            for &b in &all {
                let expr = checker.make(term(Op::Ite, width, &[bit, a, b]));
                first.add(&checker, expr);
            }
        }
    }
    deeper(&mut checker, &first, &all, width, samples);
}

fn deeper(checker: &mut Checker, first: &Level, atoms: &[Expr], width: u16, samples: usize) {
    let same = &first.0[usize::from(width)];
    for &a in same {
        for made in over_one(a, width) {
            checker.make(made);
        }
    }
    let mut dice = Dice::new(u64::from(width) + 1);
    for round in 0..samples {
        let all = &first.0[dice.pick(&[1, width, width, width, width + 1, 2 * width]) as usize];
        if all.is_empty() {
            continue;
        }
        let a = dice.pick(all);
        let own = checker.pool.width(a);
        let b = if round % 2 == 0 && own == width {
            dice.pick(atoms)
        } else {
            dice.pick(all)
        };
        let bit = dice.pick(&first.0[1]);
        checker.make(term(Op::Ite, own, &[bit, a, b]));
        for made in over_two(a, b, own) {
            let expr = checker.make(made);
            if made.op.is_comparison() {
                // A level more, for negations and connectives.
                let op = dice.pick(&[Op::And, Op::Or, Op::Xor, Op::Eq]);
                checker.make(term(op, 1, &[expr, bit]));
            }
        }
    }
}

#[test]
fn all_terms_of_one_bit() {
    check(1, 2000);
}

#[test]
fn all_terms_of_two_bits() {
    check(2, 4000);
}

#[test]
fn all_terms_of_three_bits() {
    check(3, 4000);
}

#[test]
fn all_terms_of_four_bits() {
    check(4, 1000);
}
