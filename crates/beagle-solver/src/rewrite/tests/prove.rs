//! Every rule on integers is proved by Z3, on terms of 8, 16, 32 and 64 bits that it applies to.

use std::collections::{BTreeMap, BTreeSet};

use beagle_trace::op::{Arity, Op};
use rustc_hash::FxHashMap;
use z3::ast::{BV, Bool};
use z3::{Params, SatResult, Solver};

use super::random::{Stock, checker};
use super::{Applied, Checker, Dice, byte, logged, long, show, show_term, term};
use crate::pool::{Expr, Pool, Table, Term};

/// How many applications of a rule are proved for each width.
const PROOFS: usize = 2;

/// Where the rules are.
const SOURCES: &[&str] = &[
    include_str!("../bits.rs"),
    include_str!("../bitwise.rs"),
    include_str!("../compare.rs"),
    include_str!("../fold.rs"),
    include_str!("../linear.rs"),
    include_str!("../parts.rs"),
    include_str!("../select.rs"),
];

/// The names of all rules.
fn names() -> BTreeSet<&'static str> {
    let text = SOURCES
        .iter()
        .flat_map(|source| source.split("by(\"").skip(1));
    let mut names: BTreeSet<&str> = text.filter_map(|rest| rest.split('"').next()).collect();
    // Those of sums have a name that depends on what was done.
    names.extend(["sum-merge", "sum-order", "sum-large"]);
    names
}

/// Whether Z3 is asked: the others have values that are not integers.
fn is_provable(rule: &str) -> bool {
    !rule.contains("fcmp")
        && !rule.contains("float")
        && !rule.contains("fneg")
        && rule != "fabs-sign"
        && rule != "lookup-constant"
}

/// An application of a rule to a term of some size.
type Candidate = (usize, Term, Expr);

struct Translation<'a> {
    pool: &'a Pool,
    known: FxHashMap<Expr, BV>,
}

impl Translation<'_> {
    /// An expression, or `None` if it has an operator that is not translated.
    fn expr(&mut self, root: Expr) -> Option<BV> {
        let mut todo = vec![(root, false)];
        while let Some((expr, ready)) = todo.pop() {
            if self.known.contains_key(&expr) {
                continue;
            }
            let term = self.pool.term(expr);
            if ready {
                let translated = self.term(&term)?;
                self.known.insert(expr, translated);
            } else {
                todo.push((expr, true));
                todo.extend(term.operands().map(|operand| (operand, false)));
            }
        }
        self.known.get(&root).cloned()
    }

    /// A term of which the operands are translated.
    fn term(&self, term: &Term) -> Option<BV> {
        let width = u32::from(term.width);
        let operand = |field: u32| self.known[&Expr(field)].clone();
        let bit = |truth: Bool| truth.ite(&BV::from_u64(1, 1), &BV::from_u64(0, 1));
        if term.op.arity() == Arity::Leaf {
            return Some(match term.op {
                Op::Const => {
                    let value = self.pool.constant_value(term).to_string();
                    BV::from_str(width, &value)?
                }
                _ => BV::new_const(format!("v{}", term.c), width),
            });
        }
        let a = operand(term.a);
        if term.op.arity() == Arity::One {
            let bits = || (0..width).map(|at| a.extract(at, at));
            let count = |bits: &mut dyn Iterator<Item = BV>| {
                // How many ones come first.
                let zero = BV::from_u64(0, width);
                let all: Vec<BV> = bits.collect();
                all.iter().rev().fold(zero, |rest, bit| {
                    let more = rest.bvadd(BV::from_u64(1, width));
                    bit.eq(BV::from_u64(0, 1))
                        .ite(&more, &BV::from_u64(0, width))
                })
            };
            let more = width - a.get_size().min(width);
            return Some(match term.op {
                Op::ZExt => a.zero_ext(more),
                Op::SExt => a.sign_ext(more),
                Op::Extract => a.extract(term.c + width - 1, term.c),
                Op::Ctpop => bits().fold(BV::from_u64(0, width), |all, bit| {
                    let bit = if width > 1 {
                        bit.zero_ext(width - 1)
                    } else {
                        bit
                    };
                    all.bvadd(bit)
                }),
                Op::Cttz => count(&mut bits()),
                Op::Ctlz => count(&mut bits().collect::<Vec<_>>().into_iter().rev()),
                Op::Bitreverse => bits().reduce(|all, bit| all.concat(bit))?,
                Op::Bswap => {
                    let bytes = (0..width / 8).map(|at| a.extract(8 * at + 7, 8 * at));
                    bytes.reduce(|all, byte| all.concat(byte))?
                }
                _ => return None,
            });
        }
        let b = operand(term.b);
        Some(match term.op {
            Op::Add => a.bvadd(b),
            Op::Sub => a.bvsub(b),
            Op::Mul => a.bvmul(b),
            Op::UDiv => a.bvudiv(b),
            Op::SDiv => a.bvsdiv(b),
            Op::URem => a.bvurem(b),
            Op::SRem => a.bvsrem(b),
            Op::And => a.bvand(b),
            Op::Or => a.bvor(b),
            Op::Xor => a.bvxor(b),
            Op::Shl => a.bvshl(b),
            Op::LShr => a.bvlshr(b),
            Op::AShr => a.bvashr(b),
            Op::Eq => bit(a.eq(b)),
            Op::Ne => bit(a.eq(b).not()),
            Op::Ult => bit(a.bvult(b)),
            Op::Ule => bit(a.bvule(b)),
            Op::Slt => bit(a.bvslt(b)),
            Op::Sle => bit(a.bvsle(b)),
            Op::Concat => a.concat(b),
            Op::Ite => a.eq(BV::from_u64(1, 1)).ite(&b, &operand(term.c)),
            _ => return None,
        })
    }
}

/// How many operators a term is made of, up to a limit.
fn size(pool: &Pool, term: &Term) -> usize {
    let mut todo: Vec<Expr> = term.operands().collect();
    let mut count = 1;
    while let Some(expr) = todo.pop() {
        count += 1;
        if count > 40 {
            break;
        }
        todo.extend(pool.term(expr).operands());
    }
    count
}

/// Whether a term and an expression are equal for all inputs; `None` if that is not found out.
fn proved(pool: &Pool, term: &Term, expr: Expr) -> Option<bool> {
    let known = FxHashMap::default();
    let mut translation = Translation { pool, known };
    for operand in term.operands() {
        translation.expr(operand)?;
    }
    let before = translation.term(term)?;
    let after = translation.expr(expr)?;
    let solver = Solver::new();
    let mut params = Params::new();
    params.set_u32("rlimit", 1_000_000);
    solver.set_params(&params);
    solver.assert(before.eq(&after).not());
    match solver.check() {
        SatResult::Unsat => Some(true),
        SatResult::Sat => Some(false),
        SatResult::Unknown => None,
    }
}

/// Applications of rules at random.
fn applications(checker: &mut Checker, dice: &mut Dice) -> Vec<Applied> {
    let mut all = Vec::new();
    for widths in [&[1, 8][..], &[1, 8, 16], &[1, 8, 32], &[1, 8, 64]] {
        let widths: &'static [u16] = Vec::leak(widths.to_vec());
        let mut stock = Stock::new(checker, widths, 1000);
        for round in 0..40_000 {
            if round % 60 == 0 {
                stock.refill(checker);
            }
            let (_, applied) = logged(|| stock.make(checker, dice));
            all.extend(applied);
        }
    }
    all
}

/// Terms of this width that are rare at random.
fn rare_of_width(pool: &mut Pool, width: u16) {
    let [x, y, z, v] = [0, 1, 2, 3].map(|index| {
        let whole = long(pool, index);
        pool.extract(whole, 0, width)
    });
    let constant = |pool: &mut Pool, value| pool.constant(width, value);
    let (one, ten) = (constant(pool, 1), constant(pool, 10));
    let quotient = pool.op(Op::UDiv, width, &[x, ten]);
    pool.op(Op::UDiv, width, &[quotient, ten]);
    pool.eq(quotient, one);
    let (more, other) = (
        pool.op(Op::Add, width, &[x, one]),
        pool.op(Op::Add, width, &[y, ten]),
    );
    pool.eq(more, other);
    let ones = constant(pool, u128::MAX);
    pool.op(Op::Xor, width, &[more, ones]);
    let (even, low) = (constant(pool, 0x55), constant(pool, 0x0f));
    let masked = pool.op(Op::And, width, &[x, even]);
    pool.op(Op::Or, width, &[masked, low]);
    pool.op(Op::And, width, &[masked, low]);
    let is_ten = pool.eq(x, ten);
    let is_one = pool.eq(x, one);
    let small = pool.op(Op::Ult, 1, &[x, ten]);
    pool.op(Op::Ite, 1, &[small, is_one, is_ten]);
    // Of twice the width.
    let wide = 2 * width;
    let (x_y, z_v) = (
        pool.op(Op::Concat, wide, &[x, y]),
        pool.op(Op::Concat, wide, &[z, v]),
    );
    pool.op(Op::And, wide, &[x_y, z_v]);
    pool.eq(x_y, z_v);
    for (a, b) in [(x, v), (z, y)] {
        let near = pool.op(Op::Concat, wide, &[a, b]);
        pool.op(Op::Ult, 1, &[x_y, near]);
        pool.op(Op::Slt, 1, &[x_y, near]);
    }
    for op in [Op::ZExt, Op::SExt] {
        let (x, y) = (pool.op(op, wide, &[x]), pool.op(op, wide, &[y]));
        let difference = pool.op(Op::Sub, wide, &[x, y]);
        pool.extract(difference, wide - 1, 1);
    }
    let (high, low) = (pool.extract(x, 5, 2), pool.extract(x, 3, 2));
    let below = pool.op(Op::Concat, 2 + width, &[low, y]);
    pool.op(Op::Concat, 4 + width, &[high, below]);
    if width == 64 {
        // Facts end here.
        let (wide, bit) = (pool.op(Op::SExt, 128, &[x]), pool.constant(128, 1));
        let odd = pool.op(Op::Or, 128, &[wide, bit]);
        let zero = pool.constant(128, 0);
        pool.eq(odd, zero);
    }
}

/// Terms that are rare at random.
fn rare(pool: &mut Pool) {
    let (x, y) = (long(pool, 0), long(pool, 1));
    let b = byte(pool, 0);
    let bit = pool.extract(x, 3, 1);
    // Sums of many addends.
    let mut all = x;
    for index in 1..4 {
        let next = long(pool, index);
        all = pool.op(Op::Add, 64, &[all, next]);
    }
    let square = pool.op(Op::Mul, 64, &[x, y]);
    let all = pool.op(Op::Add, 64, &[all, square]);
    pool.op(Op::Sub, 64, &[all, square]);
    // Shifts that are too far for sure.
    let far = pool.constant(64, 64);
    let far = pool.op(Op::Or, 64, &[y, far]);
    pool.op(Op::Shl, 64, &[x, far]);
    // A table.
    let bytes = vec![1, 2, 3, 4];
    let cells = vec![(1, b)];
    let table = pool.add_table(Table { bytes, cells });
    let zero = pool.constant(64, 0);
    pool.make(Term {
        b: table,
        ..term(Op::Lookup, 32, &[zero])
    });
    // Floats.
    let double = pool.op(Op::SiToFp, 64, &[b]);
    pool.op(Op::FpToSi, 32, &[double]);
    let wide = pool.op(Op::ZExt, 32, &[b]);
    pool.op(Op::SiToFp, 64, &[wide]);
    for sign in [Op::FNeg, Op::FAbs] {
        let once = pool.op(Op::FNeg, 64, &[x]);
        pool.op(sign, 64, &[once]);
        let zero = pool.constant(64, 0);
        pool.eq(once, zero);
    }
    for (a, b) in [(x, y), (y, x), (x, x)] {
        for predicate in 0..16 {
            let compared = pool.make(Term {
                c: predicate,
                ..term(Op::FCmp, 1, &[a, b])
            });
            pool.not(compared);
        }
    }
    pool.op(Op::Ite, 64, &[bit, x, y]);
}

#[test]
fn every_rule_is_proved() {
    let mut dice = Dice::new(77);
    let mut checker = checker(&mut dice);
    let mut all = applications(&mut checker, &mut dice);
    let pool = &mut checker.pool;
    all.extend(logged(|| rare(pool)).1);
    for width in [8, 16, 32, 64] {
        all.extend(logged(|| rare_of_width(pool, width)).1);
    }

    // The smallest of each rule and width.
    let mut chosen: BTreeMap<(&str, u16), Vec<Candidate>> = BTreeMap::new();
    for (rule, term, expr) in all {
        let width = term.operands().map(|operand| pool.width(operand)).max();
        let size = size(pool, &term);
        let best = chosen.entry((rule, width.unwrap_or(0))).or_default();
        let at = best.partition_point(|&(other, ..)| other <= size);
        if at < PROOFS && !best.iter().any(|&(_, other, _)| other == term) {
            best.insert(at, (size, term, expr));
            best.truncate(PROOFS);
        }
    }
    let mut proofs: BTreeMap<&str, usize> = BTreeMap::new();
    for (&(rule, _), applications) in &chosen {
        for (_, term, expr) in applications {
            let result = match is_provable(rule) {
                true => proved(pool, term, *expr),
                false => Some(true),
            };
            assert!(
                result != Some(false),
                "{rule}: {} is not {}",
                show_term(pool, term, 6),
                show(pool, *expr, 6),
            );
            *proofs.entry(rule).or_default() += usize::from(result == Some(true));
        }
    }
    let missing: Vec<&str> = names()
        .into_iter()
        .filter(|name| proofs.get(name).is_none_or(|&count| count == 0))
        .collect();
    assert!(missing.is_empty(), "never proved: {missing:?}");
}
