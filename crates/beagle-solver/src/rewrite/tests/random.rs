//! Random terms of all widths and many levels, for random inputs.

use beagle_trace::op::Op;

use super::{BINARY, COMPARISONS, Checker, Dice, byte, long, term};
use crate::pool::{Expr, Pool, Term};
use crate::tape::{Tape, Values};

/// How many inputs each term is tried on.
const INPUTS: usize = 24;
/// How many unknowns there are of each kind.
const UNKNOWNS: u32 = 4;

/// A pool with some unknowns and values for them.
pub(super) fn checker(dice: &mut Dice) -> Checker {
    let mut pool = Pool::new();
    let mut inputs = Vec::new();
    for index in 0..UNKNOWNS {
        byte(&mut pool, index);
        inputs.push((0..INPUTS).map(|_| dice.constant(8)).collect());
        long(&mut pool, index);
        inputs.push((0..INPUTS).map(|_| dice.constant(64)).collect());
    }
    Checker::new(pool, inputs)
}

/// Expressions by width, to take operands from.
pub(super) struct Stock {
    by_width: Vec<Vec<Expr>>,
    widths: &'static [u16],
    /// Operands are among the last so many.
    window: usize,
}

impl Stock {
    pub(super) fn new(checker: &mut Checker, widths: &'static [u16], window: usize) -> Self {
        let mut stock = Self {
            by_width: vec![Vec::new(); 129],
            widths,
            window,
        };
        stock.refill(checker);
        stock
    }

    /// Forgets all but the unknowns.
    pub(super) fn refill(&mut self, checker: &mut Checker) {
        self.by_width.iter_mut().for_each(Vec::clear);
        for index in 0..UNKNOWNS {
            let whole = byte(&mut checker.pool, index);
            self.add(checker, whole);
            let whole = long(&mut checker.pool, index);
            self.add(checker, whole);
            for &width in self.widths {
                if width < 64 {
                    let part = checker.pool.extract(whole, 0, width);
                    self.add(checker, part);
                } else if width > 64 {
                    let extended = checker.pool.op(Op::SExt, width, &[whole]);
                    self.add(checker, extended);
                }
            }
        }
    }

    fn add(&mut self, checker: &Checker, expr: Expr) {
        self.by_width[usize::from(checker.pool.width(expr))].push(expr);
    }

    /// An expression of this width.
    fn take(&mut self, checker: &mut Checker, dice: &mut Dice, width: u16) -> Expr {
        let all = &self.by_width[usize::from(width)];
        if all.is_empty() || dice.below(5) == 0 {
            return checker.pool.constant(width, dice.constant(width));
        }
        let last = all.len().saturating_sub(self.window);
        all[last + dice.below(all.len() - last)]
    }

    /// Makes a random term.
    pub(super) fn make(&mut self, checker: &mut Checker, dice: &mut Dice) -> Expr {
        let width = dice.pick(self.widths);
        let a = self.take(checker, dice, width);
        let made = match dice.below(16) {
            0..=5 => {
                let b = self.take(checker, dice, width);
                term(dice.pick(BINARY), width, &[a, b])
            }
            6..=8 => {
                let b = self.take(checker, dice, width);
                term(dice.pick(COMPARISONS), 1, &[a, b])
            }
            9 | 10 => {
                let bit = self.take(checker, dice, 1);
                let b = self.take(checker, dice, width);
                term(Op::Ite, width, &[bit, a, b])
            }
            11 => {
                let wide: Vec<u16> = self.widths.iter().copied().filter(|&w| w > width).collect();
                if wide.is_empty() {
                    return a;
                }
                term(dice.pick(&[Op::ZExt, Op::SExt]), dice.pick(&wide), &[a])
            }
            12 => {
                let part = dice.pick(self.widths).min(width);
                Term {
                    c: dice.below(usize::from(width - part) + 1) as u32,
                    ..term(Op::Extract, part, &[a])
                }
            }
            13 => {
                let other = dice.pick(self.widths);
                if width + other > 128 {
                    return a;
                }
                let b = self.take(checker, dice, other);
                term(Op::Concat, width + other, &[a, b])
            }
            14 => {
                let op = dice.pick(&[Op::Ctpop, Op::Ctlz, Op::Cttz, Op::Bitreverse, Op::Bswap]);
                if op == Op::Bswap && !width.is_multiple_of(16) {
                    return a;
                }
                term(op, width, &[a])
            }
            _ => {
                let (bit, other) = (self.take(checker, dice, 1), self.take(checker, dice, 1));
                let op = dice.pick(&[Op::And, Op::Or, Op::Xor, Op::Eq]);
                term(op, 1, &[bit, other])
            }
        };
        let expr = checker.make(made);
        self.add(checker, expr);
        expr
    }
}

const WIDTHS: &[u16] = &[
    1, 2, 3, 4, 5, 7, 8, 8, 8, 9, 12, 16, 16, 24, 31, 32, 32, 32, 33, 48, 63, 64, 64, 65, 100, 127,
    128,
];

fn check(seed: u64, widths: &'static [u16], window: usize) {
    let mut dice = Dice::new(seed);
    let mut checker = checker(&mut dice);
    let mut stock = Stock::new(&mut checker, widths, window);
    for round in 0..100_000 {
        if round % 200 == 0 {
            stock.refill(&mut checker);
        }
        stock.make(&mut checker, &mut dice);
    }
}

#[test]
fn random_terms_of_all_widths() {
    check(11, WIDTHS, 1000);
    check(12, WIDTHS, 12);
}

#[test]
fn random_terms_of_common_widths() {
    check(13, &[1, 8, 16, 32, 64], 1000);
    check(14, &[1, 8, 32], 10);
}

#[test]
fn random_terms_as_the_tape_sees_them() {
    let mut dice = Dice::new(5);
    let mut checker = checker(&mut dice);
    let mut stock = Stock::new(&mut checker, &[1, 8, 32, 64], 20);
    let mut values = Values::default();
    for _ in 0..3000 {
        let (_, rules) = super::logged(|| stock.make(&mut checker, &mut dice));
        for (_, before, after) in rules {
            let before = checker.pool.intern(before);
            let tape = Tape::new(&checker.pool, &[before, after]);
            let seed = dice.roll();
            tape.run(&mut values, |variable| {
                let mut dice = Dice::new(seed ^ u64::from(variable.0) << 32 | 1);
                dice.roll();
                dice.constant(64)
            });
            assert_eq!(tape.root(&values, 0), tape.root(&values, 1));
        }
    }
}

#[test]
fn floats_of_all_kinds() {
    let kinds = [
        0.0,
        -0.0,
        1.5,
        -1.5,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        1e300,
    ];
    let mut pool = Pool::new();
    let (x, y) = (long(&mut pool, 0), long(&mut pool, 1));
    let b = byte(&mut pool, 0);
    let pairs = kinds.iter().flat_map(|a| kinds.iter().map(move |b| (a, b)));
    let (first, second) = pairs
        .map(|(a, b)| (u128::from(a.to_bits()), u128::from(b.to_bits())))
        .unzip();
    let bytes = (0..64u128).map(|at| (at * 37) & 255).collect();
    let mut checker = Checker::new(pool, vec![first, second, bytes]);
    for (a, b) in [(x, y), (y, x), (x, x)] {
        for predicate in 0..16 {
            let compared = checker.make(Term {
                c: predicate,
                ..term(Op::FCmp, 1, &[a, b])
            });
            let one = checker.pool.truth(true);
            checker.make(term(Op::Xor, 1, &[compared, one]));
        }
    }
    for first in [Op::FNeg, Op::FAbs] {
        let once = checker.make(term(first, 64, &[x]));
        for second in [Op::FNeg, Op::FAbs] {
            checker.make(term(second, 64, &[once]));
        }
        let zero = checker.pool.constant(64, 0);
        checker.make(term(Op::Eq, 1, &[once, zero]));
    }
    for extension in [Op::ZExt, Op::SExt] {
        let int = checker.make(term(extension, 16, &[b]));
        for to in [Op::SiToFp, Op::UiToFp] {
            for float in [32, 64] {
                let float = checker.make(term(to, float, &[int]));
                for back in [Op::FpToSi, Op::FpToUi] {
                    for width in [8, 9, 16, 32, 64] {
                        checker.make(term(back, width, &[float]));
                    }
                }
            }
        }
    }
}
