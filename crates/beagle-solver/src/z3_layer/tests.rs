//! Tests of the answers of Z3, and measurements.

use std::time::Duration;

use crate::clock::Moment;

use beagle_trace::arithmetic;
use beagle_trace::node::mask;

use z3::ast::Ast;

use super::*;
use crate::agree::{Tried, agree, ask, holds, queries, reproduction, try_all};
use crate::pool::Term;
use crate::query::{Kind, Query};
use crate::random::Random;
use crate::tape::{Tape, Values};
use crate::variable::{SourceKey, VariableKind};

fn against_all_inputs(kind: Kind, mode: Mode, count: u64, seed: u64) -> (usize, usize, usize) {
    let (mut models, mut conflicts, mut others) = (0, 0, 0);
    for seed in seed..seed + count {
        let query = Query::new(kind, seed);
        let mut layer = Z3Layer::with_mode(mode);
        let found = ask(&query, &query.plain, |pool, question| {
            layer.solve(pool, question)
        });
        let fail =
            |why: &str| -> ! { panic!("{why}\n{}", reproduction(&query, kind, seed, &found)) };
        match &found {
            Found::Model(model) => match holds(&query, &query.plain, model) {
                Some(true) => models += 1,
                // Bits of what is not a number, or a conversion that is not defined.
                _ if kind.floats => others += 1,
                _ => fail("not a model"),
            },
            Found::Conflict(core) => {
                let core: Vec<Expr> = core.iter().map(|&at| query.plain[at]).collect();
                match try_all(&query.pool, &core) {
                    Tried::Satisfiable => fail("not a conflict"),
                    _ => conflicts += 1,
                }
            }
            Found::Nothing(_) => others += 1,
        }
    }
    (models, conflicts, others)
}

#[test]
fn integers_agree_with_all_inputs() {
    for mode in [Mode::Fresh, Mode::Incremental] {
        let count = queries(100);
        let (models, conflicts, others) = against_all_inputs(Kind::TINY, mode, count, 1);
        println!("{mode:?}: {models} models, {conflicts} conflicts, {others} others");
        assert!(
            others <= count as usize / 50,
            "{others} of {count} not answered"
        );
        assert!(models * 5 > count as usize, "{models} of {count}");
        assert!(conflicts * 5 > count as usize, "{conflicts} of {count}");
    }
}

#[test]
fn floats_agree_with_all_inputs() {
    let count = queries(40);
    let (models, conflicts, others) = against_all_inputs(Kind::FLOATS, Mode::Incremental, count, 1);
    println!("{models} models, {conflicts} conflicts, {others} others");
    assert!(
        others * 2 <= count as usize,
        "{others} of {count} not answered"
    );
    assert!(models * 5 > count as usize, "{models} of {count}");
    assert!(conflicts * 10 > count as usize, "{conflicts} of {count}");
}

#[test]
fn both_modes_agree_on_larger_questions() {
    // Each question has a pool of its own, so each has a layer of its own.
    let all = agree(
        Kind::INTEGERS,
        queries(60),
        1000,
        &mut [
            ("fresh", &mut |pool, question| {
                Z3Layer::with_mode(Mode::Fresh).solve(pool, question)
            }),
            ("incremental", &mut |pool, question| {
                Z3Layer::with_mode(Mode::Incremental).solve(pool, question)
            }),
        ],
    );
    println!("{all:#?}");
    assert!(
        all.iter()
            .all(|agreement| agreement.models > 0 && agreement.conflicts > 0)
    );
}

/// Stdin bytes from this index on as one value, the first lowest.
fn assembled(pool: &mut Pool, first: u32, count: u32) -> Expr {
    let source = pool.source(&SourceKey::Stdin);
    let byte = |pool: &mut Pool, index| pool.variable(VariableKind::Byte(source, index));
    let low = byte(pool, first);
    (first + 1..first + count).fold(low, |all, index| {
        let next = byte(pool, index);
        let width = pool.width(all) + 8;
        pool.op(Op::Concat, width, &[next, all])
    })
}

fn question_in(seconds: u64) -> impl Fn(&[Expr]) -> Question<'_> {
    move |conditions| Question {
        conditions,
        hint: &|_| 0,
        deadline: Moment::now() + Duration::from_secs(seconds),
    }
}

fn solve_for(mode: Mode, pool: &Pool, conditions: &[Expr], seconds: u64) -> Found {
    Z3Layer::with_mode(mode).solve(pool, &question_in(seconds)(conditions))
}

fn satisfies(pool: &Pool, conditions: &[Expr], model: &[(Variable, u128)]) -> bool {
    let tape = Tape::new(pool, conditions);
    let mut values = Values::default();
    tape.run(&mut values, |variable| {
        let given = model.iter().find(|(name, _)| *name == variable);
        given.map_or(0, |&(_, value)| value)
    });
    tape.all_hold(&values)
}

fn compare(pool: &mut Pool, a: Expr, b: Expr, predicate: u32) -> Expr {
    pool.make(Term {
        op: Op::FCmp,
        width: 1,
        a: a.0,
        b: b.0,
        c: predicate,
    })
}

#[test]
fn a_polynomial_of_floats_is_solved() {
    for (width, bits) in [
        (32, [2.5f32.to_bits().into(), 1.1f32.to_bits().into()]),
        (64, [2.5f64.to_bits().into(), 1.1f64.to_bits().into()]),
    ] {
        for mode in [Mode::Fresh, Mode::Incremental] {
            let mut pool = Pool::new();
            let bytes = u32::from(width / 8);
            let x = assembled(&mut pool, 0, bytes);
            let y = assembled(&mut pool, bytes, bytes);
            let square = pool.op(Op::FMul, width, &[x, x]);
            let sum = pool.op(Op::FAdd, width, &[square, y]);
            let [least, most] = bits.map(|bits: u128| pool.constant(width, bits));
            // x * x + y > 2.5 && x < 1.1
            let conditions = [
                compare(&mut pool, sum, least, 2),
                compare(&mut pool, x, most, 4),
            ];
            let start = std::time::Instant::now();
            let found = solve_for(mode, &pool, &conditions, 60);
            println!("{width} {mode:?}: {:?}", start.elapsed());
            let Found::Model(model) = found else {
                panic!("{found:?}")
            };
            assert!(satisfies(&pool, &conditions, &model), "{model:?}");
        }
    }
}

#[test]
fn hard_questions_end() {
    let mut pool = Pool::new();
    let [a, b, c, d] = [0, 8, 16, 24].map(|first| assembled(&mut pool, first, 8));
    let op = |pool: &mut Pool, op, x, y| pool.op(op, 64, &[x, y]);
    let prime = pool.constant(64, 18_446_744_073_709_551_557);
    // Products that are equal but for a constant.
    let product = op(&mut pool, Op::Mul, a, b);
    let other = op(&mut pool, Op::Mul, b, c);
    let other = op(&mut pool, Op::Mul, other, d);
    let other = op(&mut pool, Op::Add, other, prime);
    let products = pool.eq(product, other);
    // A chain of divisions.
    let chain = [b, c, d, b, c].into_iter().fold(a, |all, by| {
        let quotient = op(&mut pool, Op::UDiv, all, by);
        let rest = op(&mut pool, Op::SRem, all, by);
        op(&mut pool, Op::Add, quotient, rest)
    });
    let chained = pool.eq(chain, prime);
    // Sums of floats in either order.
    let sum = |pool: &mut Pool, order: [Expr; 4]| {
        let [first, rest @ ..] = order;
        rest.into_iter()
            .fold(first, |all, next| pool.op(Op::FAdd, 64, &[all, next]))
    };
    let (left, right) = (sum(&mut pool, [a, b, c, d]), sum(&mut pool, [d, c, b, a]));
    let ratio = pool.op(Op::FDiv, 64, &[left, right]);
    let root = pool.op(Op::FSqrt, 64, &[ratio]);
    let sums = compare(&mut pool, root, c, 1);
    // The square of a wide quotient.
    let wide = pool.op(Op::Concat, 128, &[a, b]);
    let wider = pool.op(Op::Concat, 128, &[c, d]);
    let quotient = pool.op(Op::SDiv, 128, &[wide, wider]);
    let square = pool.op(Op::Mul, 128, &[quotient, quotient]);
    let number = pool.constant(128, 0x1_0000_0000_0000_0000_0000_0000_0011);
    let squares = pool.eq(square, number);
    for condition in [products, chained, sums, squares] {
        for mode in [Mode::Fresh, Mode::Incremental] {
            let mut layer = Z3Layer::with_mode(mode);
            let start = std::time::Instant::now();
            let question = Question {
                conditions: &[condition],
                hint: &|_| 0,
                deadline: Moment::now() + Duration::from_millis(200),
            };
            let found = layer.solve(&pool, &question);
            println!("{mode:?}: {:?}", start.elapsed());
            match found {
                Found::Nothing(why) => assert_eq!(why, Why::Budget),
                Found::Model(model) => assert!(satisfies(&pool, &[condition], &model)),
                Found::Conflict(_) => panic!("all of them can be satisfied"),
            }
            // The next question is answered as if nothing had happened.
            let easy = pool.op(Op::Ult, 1, &[a, prime]);
            let next = Question {
                conditions: &[easy],
                hint: &|_| 255,
                deadline: Moment::now() + LONG,
            };
            let found = layer.solve(&pool, &next);
            assert!(matches!(found, Found::Model(_)), "{found:?}");
        }
    }
}

#[test]
fn deep_expressions_do_not_exhaust_the_stack() {
    let mut pool = Pool::new();
    let source = pool.source(&SourceKey::Stdin);
    let five = pool.constant(32, 5);
    let mut hash = five;
    for index in 0..40_000 {
        let byte = pool.variable(VariableKind::Byte(source, index % 64));
        let byte = pool.op(Op::ZExt, 32, &[byte]);
        let shifted = pool.op(Op::Shl, 32, &[hash, five]);
        let mixed = pool.op(Op::Xor, 32, &[shifted, byte]);
        hash = pool.op(Op::Add, 32, &[mixed, five]);
    }
    let wanted = pool.constant(32, 0x1234_5678);
    let conditions = [pool.eq(hash, wanted)];
    for mode in [Mode::Fresh, Mode::Incremental] {
        match solve_for(mode, &pool, &conditions, 2) {
            Found::Model(model) => assert!(satisfies(&pool, &conditions, &model)),
            found => assert_eq!(found, Found::Nothing(Why::Budget)),
        }
    }
}

/// The value of a term of constants; `None` if it is not determined.
fn value_of(terms: &mut Terms, pool: &Pool, expr: Expr) -> Option<u128> {
    let added = terms.add(pool, &[expr], usize::MAX, Moment::now() + LONG);
    assert_eq!(added, Ok(()), "{}", pool.show(expr));
    let bits = terms.bits(expr);
    let width = bits.get_size();
    let low = terms::resized(&bits, 64).simplify().as_u64()?;
    let high = match width > 64 {
        true => bits.extract(width - 1, 64).simplify().as_u64()?,
        false => 0,
    };
    Some(u128::from(high) << 64 | u128::from(low))
}

const LONG: Duration = Duration::from_secs(600);

/// A number that matters, of integers or floats.
fn operand(random: &mut Random, width: u16, float: bool) -> u128 {
    const FLOATS: &[f64] = &[
        0.0,
        1.0,
        0.5,
        1.5,
        2.5,
        0.49999999999999994,
        4503599627370497.5,
        1e-310,
        1e300,
        3e38,
        255.5,
        2147483648.0,
        f64::INFINITY,
        f64::NAN,
    ];
    let value = match random.below(3) {
        0 if float => {
            let value = random.pick(FLOATS) * random.pick(&[1.0, -1.0]);
            match width {
                32 => (value as f32).to_bits().into(),
                _ => value.to_bits().into(),
            }
        }
        1 if float => {
            // Of a size at which rounding does something.
            let value = (random.next() as i64 >> random.below(60)) as f64
                / random.pick(&[1.0, 2.0, 4.0, 1024.0]);
            match width {
                32 => (value as f32).to_bits().into(),
                _ => value.to_bits().into(),
            }
        }
        0 => random.pick(&[0, 1, u128::MAX, 1 << (width - 1), mask(width) >> 1, 10]),
        1 => (random.next() as i64 >> random.below(64)) as u128,
        _ => random.wide(),
    };
    value & mask(width)
}

/// Compares the term of an operator with the evaluation.
fn check_operator(random: &mut Random, terms: &mut Terms, pool: &mut Pool, op: Op) {
    use beagle_trace::op::Arity;
    let float = (Op::FAdd..=Op::FpCast).contains(&op);
    let to_float = matches!(op, Op::SiToFp | Op::UiToFp);
    let to_whole = matches!(op, Op::FpToSi | Op::FpToUi);
    let any = 1 + random.below(128) as u16;
    let width = match op {
        Op::Bswap => 16 * (1 + random.below(8) as u16),
        Op::ZExt | Op::SExt | Op::Concat => any.max(2),
        _ if float && !to_whole => random.pick(&[32, 64]),
        _ if to_whole => random.pick(&[1, 8, 16, 32, 64, 128]),
        _ => any,
    };
    let from = match op {
        Op::ZExt | Op::SExt | Op::Concat => 1 + random.below(usize::from(width) - 1) as u16,
        Op::Extract => width + random.below(129 - usize::from(width)) as u16,
        Op::FpCast => 96 - width,
        _ if to_float => random.pick(&[1, 8, 16, 32, 64, 128]),
        _ if to_whole => random.pick(&[32, 64]),
        _ => width,
    };
    let comparison = op.is_comparison();
    let second = if op == Op::Concat { width - from } else { from };
    let (a, b) = (
        operand(random, from, float && !to_float),
        operand(random, second, float && !to_float),
    );
    let c = match op {
        Op::Extract => random.below(usize::from(from - width) + 1) as u32,
        Op::FCmp => random.below(16) as u32,
        _ => 0,
    };
    let width = if comparison { 1 } else { width };
    let value = |bits, width| arithmetic::Value { bits, width };
    let unary = op.arity() == Arity::One;
    let expected = match unary {
        true => arithmetic::unary(op, width, value(a, from), c),
        false => arithmetic::binary(op, width, value(a, from), value(b, second), c),
    };
    let (x, y) = (pool.constant(from, a), pool.constant(second, b));
    let expr = pool.intern(Term {
        op,
        width,
        a: x.0,
        b: if unary { 0 } else { y.0 },
        c,
    });
    let got = value_of(terms, pool, expr);
    let not_a_number = |bits: u128| match width {
        32 => f32::from_bits(bits as u32).is_nan(),
        _ => f64::from_bits(bits as u64).is_nan(),
    };
    let right = match (expected, got) {
        // Not defined: any value.
        (None, _) => true,
        (Some(expected), Some(got)) => expected == got,
        (Some(expected), None) if matches!(op, Op::FMin | Op::FMax) => {
            not_a_number(expected) || expected & (mask(width) >> 1) == 0
        }
        (Some(expected), None) => float && not_a_number(expected),
    };
    assert!(right, "{}: {expected:x?} but {got:x?}", pool.show(expr));
}

#[test]
fn operators_agree_with_the_evaluation() {
    let mut random = Random::new(1);
    let (mut terms, mut pool) = (Terms::default(), Pool::new());
    let skipped = |op: Op| {
        use beagle_trace::op::Arity;
        let other = matches!(op, Op::Ite | Op::Lookup | Op::RenderByte | Op::RenderLen);
        op.arity() == Arity::Leaf || other || op == Op::FRem
    };
    for &op in Op::ALL.iter().filter(|&&op| !skipped(op)) {
        for _ in 0..queries(60) {
            check_operator(&mut random, &mut terms, &mut pool, op);
        }
    }
}

#[test]
fn texts_agree_with_printf() {
    let mut random = Random::new(2);
    for _ in 0..queries(400) {
        let width = random.pick(&[1, 7, 8, 16, 32, 33, 64]);
        let value = operand(&mut random, width, false);
        let conversion =
            random.pick(&["%lld", "%lli", "%llu", "%llx", "%llX", "%llo", "%llb", "%c"]);
        let expected = beagle_trace::render(conversion, value, width).expect("known");
        let mut pool = Pool::new();
        let number = pool.add_conversion(conversion);
        let constant = pool.constant(width, value);
        // What is known of a constant would make the text shorter than that of a variable.
        let unknown = pool.source(&SourceKey::Stdin);
        let unknown = pool.variable(VariableKind::Size(unknown));
        let operand = match random.chance(50) {
            true => constant,
            false => {
                let nothing = pool.constant(64, 0);
                let zero = pool.intern(Term {
                    op: Op::And,
                    width: 64,
                    a: unknown.0,
                    b: nothing.0,
                    c: 0,
                });
                let unknown = pool.extract(zero, 0, width);
                pool.intern(Term {
                    op: Op::Or,
                    width,
                    a: unknown.0,
                    b: constant.0,
                    c: 0,
                })
            }
        };
        let term = |op, width, c| Term {
            op,
            width,
            a: operand.0,
            b: number,
            c,
        };
        let length = pool.intern(term(Op::RenderLen, 32, 0));
        assert_eq!(
            value_of(&mut Terms::default(), &pool, length),
            Some(expected.len() as u128)
        );
        let index = random.below(expected.len() + 2);
        let byte = pool.intern(term(Op::RenderByte, 8, index as u32));
        let wanted = expected.get(index).map_or(0, |&byte| byte.into());
        assert_eq!(
            value_of(&mut Terms::default(), &pool, byte),
            Some(wanted),
            "{conversion} of {value} at {index}"
        );
    }
}

#[test]
fn numbers_that_are_none_compare_as_unordered() {
    let mut pool = Pool::new();
    let x = assembled(&mut pool, 0, 8);
    let zero = pool.constant(64, 0);
    // x != x, and the quotient of zeros is such a number.
    let differs = compare(&mut pool, x, x, 8 | 4 | 2);
    let Found::Model(model) = solve_for(Mode::Incremental, &pool, &[differs], 60) else {
        panic!("a model")
    };
    assert!(satisfies(&pool, &[differs], &model));
    let none = pool.op(Op::FDiv, 64, &[zero, zero]);
    let ordered = compare(&mut pool, x, none, 1 | 2 | 4);
    let found = solve_for(Mode::Incremental, &pool, &[differs, ordered], 60);
    assert_eq!(found, Found::Conflict(vec![1]));
}

#[test]
fn integers_become_floats_and_come_back() {
    let mut pool = Pool::new();
    let x = assembled(&mut pool, 0, 2);
    let float = pool.op(Op::SiToFp, 64, &[x]);
    let half = pool.constant(64, 0.5f64.to_bits().into());
    let scaled = pool.op(Op::FMul, 64, &[float, half]);
    let whole = pool.op(Op::FpToSi, 32, &[scaled]);
    let wanted = pool.constant(32, -1234i32 as u32 as u128);
    let conditions = [pool.eq(whole, wanted)];
    let found = solve_for(Mode::Incremental, &pool, &conditions, 60);
    let Found::Model(model) = found else {
        panic!("{found:?}")
    };
    assert!(satisfies(&pool, &conditions, &model), "{model:?}");
    let more = pool.constant(64, 20000f64.to_bits().into());
    let large = compare(&mut pool, scaled, more, 2);
    let found = solve_for(Mode::Incremental, &pool, &[conditions[0], large], 60);
    assert!(matches!(found, Found::Conflict(_)), "{found:?}");
}

#[test]
fn few_bytes_change_and_they_are_printable() {
    for mode in [Mode::Fresh, Mode::Incremental] {
        let mut pool = Pool::new();
        let source = pool.source(&SourceKey::Stdin);
        let bytes: Vec<Expr> = (0..8)
            .map(|index| pool.variable(VariableKind::Byte(source, index)))
            .collect();
        let sum = bytes[1..]
            .iter()
            .fold(bytes[0], |all, &byte| pool.op(Op::Xor, 8, &[all, byte]));
        let wanted = pool.constant(8, 0x15);
        let mut conditions = vec![pool.ne(sum, wanted)];
        let last = pool.constant(8, b'q'.into());
        conditions.push(pool.op(Op::Ule, 1, &[last, bytes[3]]));
        let question = Question {
            conditions: &conditions,
            hint: &|_| b'a'.into(),
            deadline: Moment::now() + LONG,
        };
        let found = Z3Layer::with_mode(mode).solve(&pool, &question);
        let Found::Model(model) = found else {
            panic!("{found:?}")
        };
        assert!(satisfies(&pool, &conditions, &model), "{model:?}");
        for (variable, value) in model {
            if pool.variable_expr(variable) == bytes[3] {
                assert!((0x71..=0x7e).contains(&value), "{value}");
            } else {
                assert_eq!(value, u128::from(b'a'));
            }
        }
    }
}

#[test]
fn a_core_leaves_out_what_does_not_matter() {
    for mode in [Mode::Fresh, Mode::Incremental] {
        let mut pool = Pool::new();
        let words: Vec<Expr> = (0..5).map(|at| assembled(&mut pool, 2 * at, 2)).collect();
        let ten = pool.constant(16, 10);
        let mut conditions: Vec<Expr> = words
            .iter()
            .map(|&word| pool.op(Op::Ult, 1, &[ten, word]))
            .collect();
        conditions.push(conditions[2]);
        conditions.push(pool.op(Op::Ult, 1, &[words[2], ten]));
        let found = solve_for(mode, &pool, &conditions, 60);
        assert_eq!(found, Found::Conflict(vec![2, 6]), "{mode:?}");
    }
}

#[test]
fn a_solver_that_was_stopped_is_asked_nothing_more() {
    let mut pool = Pool::new();
    let [a, b] = [0, 8].map(|first| assembled(&mut pool, first, 8));
    // A product of two large primes, and neither factor is 1.
    let wide = [a, b].map(|factor| pool.op(Op::ZExt, 128, &[factor]));
    let product = pool.op(Op::Mul, 128, &wide);
    let prime = 18_446_744_073_709_551_557_u128;
    let number = pool.constant(128, prime * 18_446_744_073_709_551_533);
    let hard = pool.eq(product, number);
    let easy = pool.eq(a, b);
    let mut terms = Terms::default();
    let deadline = Moment::now() + LONG;
    terms
        .add(&pool, &[hard, easy], usize::MAX, deadline)
        .expect("terms");
    let mut session = Session::new();
    let literals = [hard, easy].map(|condition| session.condition(&terms, condition));
    let soon = Moment::now() + Duration::from_millis(50);
    let outcome = session.check(&pool, &literals[..1], &[], soon);
    assert!(matches!(outcome, Outcome::Unknown));
    let outcome = session.check(&pool, &literals[1..], &[], deadline);
    assert!(matches!(outcome, Outcome::Unknown));
    // The layer begins with another one.
    let mut layer = Z3Layer::new();
    layer.session = Some(session);
    let found = layer.solve(&pool, &question_in(60)(&[easy]));
    assert!(matches!(found, Found::Model(_)), "{found:?}");
}

#[test]
fn a_model_is_accepted_only_if_every_condition_holds() {
    let mut pool = Pool::new();
    let word = assembled(&mut pool, 0, 2);
    let bound = pool.constant(16, 0x4142);
    let conditions = [
        pool.op(Op::Eq, 1, &[word, bound]),
        pool.op(Op::Ult, 1, &[word, bound]),
    ];
    let mut z3 = PlainZ3::new(Duration::from_secs(5));
    assert!(z3.prepare(&pool, &conditions));
    let mut accepts = |conditions: &[Expr], low: u128, high: u128| {
        let variables = pool.variables_of(word);
        let value = |variable| if variable == variables[0] { low } else { high };
        z3.accepts(&pool, conditions, value)
    };
    assert_eq!(accepts(&conditions[..1], 0x42, 0x41), Some(true));
    assert_eq!(accepts(&conditions[..1], 0x41, 0x42), Some(false));
    assert_eq!(accepts(&conditions[1..], 0x41, 0x41), Some(true));
    assert_eq!(accepts(&conditions, 0x42, 0x41), Some(false));
}
