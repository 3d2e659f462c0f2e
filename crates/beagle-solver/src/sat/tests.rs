//! Answers of the SAT solver: models, cores, nearness, limits.

use std::time::Duration;

use crate::clock::Moment;

use beagle_trace::op::Op;

use super::*;
use crate::layer::Why;
use crate::pool::{Expr, Table, Term};
use crate::tape::{Tape, Values};
use crate::variable::{SourceKey, Variable, VariableKind};

fn byte(pool: &mut Pool, index: u32) -> Expr {
    let source = pool.source(&SourceKey::Stdin);
    pool.variable(VariableKind::Byte(source, index))
}

/// A byte as a number of this width.
fn wide(pool: &mut Pool, index: u32, width: u16) -> Expr {
    let byte = byte(pool, index);
    pool.op(Op::ZExt, width, &[byte])
}

/// `a OP constant`.
fn with(pool: &mut Pool, op: Op, a: Expr, constant: u128) -> Expr {
    let width = pool.width(a);
    let constant = pool.constant(width, constant);
    let result = if op.is_comparison() { 1 } else { width };
    pool.op(op, result, &[a, constant])
}

fn ask(sat: &mut Sat, pool: &Pool, conditions: &[Expr], hint: &[u8]) -> Found {
    let hint = |variable: Variable| hint.get(variable.0 as usize).copied().unwrap_or(0).into();
    sat.solve(
        pool,
        &Question {
            conditions,
            hint: &hint,
            deadline: Moment::now() + Duration::from_secs(600),
        },
    )
}

fn holds(pool: &Pool, conditions: &[Expr], value: impl Fn(Variable) -> u128) -> bool {
    let (tape, mut values) = (Tape::new(pool, conditions), Values::default());
    tape.run(&mut values, value);
    tape.all_hold(&values)
}

/// The bytes of the model; it must satisfy the conditions.
fn model(sat: &mut Sat, pool: &Pool, conditions: &[Expr], hint: &[u8]) -> Vec<u8> {
    let Found::Model(changes) = ask(sat, pool, conditions, hint) else {
        panic!("no model");
    };
    let mut bytes = hint.to_vec();
    for (variable, value) in changes {
        bytes[variable.0 as usize] = value as u8;
    }
    assert!(holds(pool, conditions, |variable| {
        bytes[variable.0 as usize].into()
    }));
    bytes
}

/// A number of decimal digits from these bytes, and that they are digits.
fn decimal(pool: &mut Pool, bytes: std::ops::Range<u32>) -> (Expr, Vec<Expr>) {
    let mut conditions = Vec::new();
    let mut sum = pool.constant(32, 0);
    for index in bytes {
        let byte = byte(pool, index);
        let low = with(pool, Op::Sub, byte, '0' as u128);
        conditions.push(with(pool, Op::Ult, low, 10));
        let digit = pool.op(Op::ZExt, 32, &[low]);
        let ten = with(pool, Op::Mul, sum, 10);
        sum = pool.op(Op::Add, 32, &[ten, digit]);
    }
    (sum, conditions)
}

fn concat(pool: &mut Pool, bytes: std::ops::Range<u32>) -> Expr {
    let mut all = byte(pool, bytes.start);
    for index in bytes.skip(1) {
        let (byte, width) = (byte(pool, index), pool.width(all) + 8);
        all = pool.op(Op::Concat, width, &[byte, all]);
    }
    all
}

fn crc(pool: &mut Pool, bytes: std::ops::Range<u32>) -> Expr {
    let mut crc = pool.constant(32, 0xffff_ffff);
    for index in bytes {
        let byte = wide(pool, index, 32);
        crc = pool.op(Op::Xor, 32, &[crc, byte]);
        for _ in 0..8 {
            let low = pool.extract(crc, 0, 1);
            let down = with(pool, Op::LShr, crc, 1);
            let flipped = with(pool, Op::Xor, down, 0xedb8_8320);
            crc = pool.op(Op::Ite, 32, &[low, flipped, down]);
        }
    }
    with(pool, Op::Xor, crc, 0xffff_ffff)
}

#[test]
fn a_byte_takes_the_nearest_printable_value() {
    let (mut pool, mut sat) = (Pool::new(), Sat::new());
    let a = byte(&mut pool, 0);
    let above = with(&mut pool, Op::Ult, a, 'a' as u128);
    let above = pool.not(above);
    assert_eq!(model(&mut sat, &pool, &[above], b"0"), b"a");
    assert_eq!(model(&mut sat, &pool, &[above], b"z"), b"z");
    let low = with(&mut pool, Op::Ult, a, '0' as u128);
    assert_eq!(model(&mut sat, &pool, &[low], b"5"), b"/");
}

#[test]
fn as_few_bytes_as_possible_change() {
    let (mut pool, mut sat) = (Pool::new(), Sat::new());
    let (value, mut conditions) = decimal(&mut pool, 0..3);
    let last = conditions.len();
    conditions.push(with(&mut pool, Op::Eq, value, 125));
    assert_eq!(model(&mut sat, &pool, &conditions, b"123"), b"125");
    assert_eq!(model(&mut sat, &pool, &conditions, b"923"), b"125");
    assert_eq!(model(&mut sat, &pool, &conditions, b"129"), b"125");
    let constant = pool.constant(32, 700);
    conditions[last] = pool.op(Op::Ult, 1, &[constant, value]);
    assert_eq!(model(&mut sat, &pool, &conditions, b"123"), b"723");
}

#[test]
fn bytes_that_only_depend_on_changed_ones_stay_if_they_can() {
    let (mut pool, mut sat) = (Pool::new(), Sat::new());
    let bytes: Vec<Expr> = (0..6).map(|index| byte(&mut pool, index)).collect();
    // The second must follow the first; the third need not.
    let conditions = [
        with(&mut pool, Op::Eq, bytes[0], 'x' as u128),
        pool.eq(bytes[0], bytes[1]),
        pool.op(Op::Ule, 1, &[bytes[2], bytes[1]]),
        pool.op(Op::Ne, 1, &[bytes[3], bytes[4]]),
        pool.op(Op::Ule, 1, &[bytes[4], bytes[5]]),
    ];
    assert_eq!(model(&mut sat, &pool, &conditions, b"aaabcd"), b"xxabcd");
}

#[test]
fn changed_bytes_are_printable_if_they_can_be() {
    let (mut pool, mut sat) = (Pool::new(), Sat::new());
    let (a, b) = (byte(&mut pool, 0), byte(&mut pool, 1));
    let product = {
        let (a, b) = (pool.op(Op::ZExt, 16, &[a]), pool.op(Op::ZExt, 16, &[b]));
        pool.op(Op::Mul, 16, &[a, b])
    };
    let conditions = [with(&mut pool, Op::Eq, product, 0x30 * 0x78)];
    let found = model(&mut sat, &pool, &conditions, &[0, 255]);
    assert!(
        found.iter().all(|byte| (0x20..0x7f).contains(byte)),
        "{found:?}"
    );
}

#[test]
fn sizes_stay_near() {
    let (mut pool, mut sat) = (Pool::new(), Sat::new());
    let source = pool.source(&SourceKey::Stdin);
    let size = pool.variable(VariableKind::Size(source));
    for least in [101, 1000, 123_456_789_123] {
        let constant = pool.constant(64, least);
        let conditions = [pool.op(Op::Ule, 1, &[constant, size])];
        let hint = |_: Variable| 100;
        let found = sat.solve(
            &pool,
            &Question {
                conditions: &conditions,
                hint: &hint,
                deadline: Moment::now() + Duration::from_secs(600),
            },
        );
        let Found::Model(changes) = found else {
            panic!("no model");
        };
        assert_eq!(changes.len(), 1);
        assert_eq!(changes[0].1, least);
    }
}

#[test]
fn little_endian_numbers_and_checksums_are_solved() {
    let (mut pool, mut sat) = (Pool::new(), Sat::new());
    let number = concat(&mut pool, 0..4);
    let magic = with(&mut pool, Op::Eq, number, 0x6461_6568);
    assert_eq!(model(&mut sat, &pool, &[magic], b"....xyz"), b"headxyz");
    let sum = crc(&mut pool, 0..4);
    // Of "head".
    let value = {
        let (tape, mut values) = (Tape::new(&pool, &[sum]), Values::default());
        tape.run(&mut values, |variable| b"head"[variable.0 as usize].into());
        tape.root(&values, 0).unwrap()
    };
    let equal = with(&mut pool, Op::Eq, sum, value);
    assert_eq!(model(&mut sat, &pool, &[equal], b"...."), b"head");
}

#[test]
fn conflicts_name_conditions_that_do_conflict() {
    let mut state = 7u64;
    let mut random = |below: u64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    let (mut conflicts, mut models) = (0, 0);
    let mut sat = Sat::new();
    let mut pool = Pool::new();
    let (a, b) = (byte(&mut pool, 0), byte(&mut pool, 1));
    let sum = pool.op(Op::Add, 8, &[a, b]);
    let product = pool.op(Op::Mul, 8, &[a, b]);
    let terms = [a, b, sum, product];
    for _ in 0..150 {
        let conditions: Vec<Expr> = (0..4)
            .map(|_| {
                let left = terms[random(4) as usize];
                let op = [Op::Eq, Op::Ult, Op::Ule, Op::Slt][random(4) as usize];
                with(&mut pool, op, left, random(64).into())
            })
            .collect();
        let hint = [random(256) as u8, random(256) as u8];
        match ask(&mut sat, &pool, &conditions, &hint) {
            Found::Conflict(core) => {
                conflicts += 1;
                assert!(core.windows(2).all(|pair| pair[0] < pair[1]));
                let core: Vec<Expr> = core.iter().map(|&index| conditions[index]).collect();
                let (tape, mut values) = (Tape::new(&pool, &core), Values::default());
                for input in 0..0x10000u128 {
                    tape.run(&mut values, |variable| input >> (variable.0 * 8) & 0xff);
                    assert!(!tape.all_hold(&values));
                }
            }
            Found::Model(_) => {
                models += 1;
                model(&mut sat, &pool, &conditions, &hint);
            }
            Found::Nothing(why) => panic!("{why:?}"),
        }
    }
    assert!(conflicts > 10 && models > 10, "{conflicts} {models}");
}

#[test]
fn cores_leave_out_what_is_not_needed() {
    let (mut pool, mut sat) = (Pool::new(), Sat::new());
    let bytes: Vec<Expr> = (0..8).map(|index| byte(&mut pool, index)).collect();
    let mut conditions: Vec<Expr> = Vec::new();
    for &byte in &bytes {
        conditions.push(with(&mut pool, Op::Ule, byte, 100));
    }
    for pair in bytes.windows(2) {
        conditions.push(pool.op(Op::Ule, 1, pair));
    }
    let (third, fourth) = (bytes[3], bytes[4]);
    let sum = pool.op(Op::Sub, 8, &[fourth, third]);
    conditions.push(with(&mut pool, Op::Eq, sum, 101));
    let found = ask(&mut sat, &pool, &conditions, b"abcdefgh");
    let Found::Conflict(core) = found else {
        panic!("{found:?}");
    };
    // The bound of the fourth, the order and the difference.
    assert_eq!(core, [4, 11, 15]);
}

#[test]
fn constant_and_opposite_conditions_conflict() {
    let (mut pool, mut sat) = (Pool::new(), Sat::new());
    let a = byte(&mut pool, 0);
    let less = with(&mut pool, Op::Ult, a, 7);
    let not_less = pool.not(less);
    let never = with(&mut pool, Op::Ult, a, 0);
    let found = ask(&mut sat, &pool, &[less, never], b"a");
    assert_eq!(found, Found::Conflict(vec![1]));
    let more = with(&mut pool, Op::Ne, a, 9);
    let found = ask(&mut sat, &pool, &[not_less, more, less], b"a");
    assert_eq!(found, Found::Conflict(vec![0, 2]));
}

#[test]
fn nothing_changes_if_the_hint_is_a_model() {
    let (mut pool, mut sat) = (Pool::new(), Sat::new());
    let a = byte(&mut pool, 0);
    let is_a = with(&mut pool, Op::Eq, a, 'a' as u128);
    assert_eq!(ask(&mut sat, &pool, &[is_a], b"a"), Found::Model(vec![]));
    assert_eq!(ask(&mut sat, &pool, &[], b"a"), Found::Model(vec![]));
}

#[test]
fn tables_are_searched() {
    let (mut pool, mut sat) = (Pool::new(), Sat::new());
    let bytes: Vec<u8> = (0..=255).map(|byte: u8| byte.wrapping_mul(167)).collect();
    let table = pool.add_table(Table {
        bytes,
        cells: Vec::new(),
    });
    let read = |pool: &mut Pool, index| {
        let offset = wide(pool, index, 64);
        pool.make(Term {
            op: Op::Lookup,
            width: 8,
            a: offset.0,
            b: table,
            c: 0,
        })
    };
    let (first, second) = (read(&mut pool, 0), read(&mut pool, 1));
    let both = pool.op(Op::Xor, 8, &[first, second]);
    let conditions = [
        with(&mut pool, Op::Eq, both, 0x5a),
        with(&mut pool, Op::Eq, first, b'q'.wrapping_mul(167).into()),
    ];
    let found = model(&mut sat, &pool, &conditions, b"aa");
    assert_eq!(found[0], b'q');
}

#[test]
fn the_deadline_holds_on_a_hard_product() {
    let (mut pool, mut sat) = (Pool::new(), Sat::new());
    let (a, b) = (concat(&mut pool, 0..8), concat(&mut pool, 8..16));
    let (a, b) = (pool.op(Op::ZExt, 128, &[a]), pool.op(Op::ZExt, 128, &[b]));
    let product = pool.op(Op::Mul, 128, &[a, b]);
    // The product of two primes of 62 bits.
    let primes = 4_611_686_018_427_387_847 * 4_611_686_018_427_387_817;
    let conditions = [
        with(&mut pool, Op::Eq, product, primes),
        with(&mut pool, Op::Ne, a, 1),
        with(&mut pool, Op::Ne, b, 1),
    ];
    let found = sat.solve(
        &pool,
        &Question {
            conditions: &conditions,
            hint: &|_| 0,
            deadline: Moment::now() + Duration::from_millis(300),
        },
    );
    assert_eq!(found, Found::Nothing(Why::Budget));
    // It still answers afterwards.
    let first = byte(&mut pool, 0);
    let is_a = with(&mut pool, Op::Eq, first, 'a' as u128);
    assert_eq!(model(&mut sat, &pool, &[is_a], b"0"), b"a");
}

#[test]
fn it_starts_again_and_still_answers() {
    let (mut pool, mut sat) = (Pool::new(), Sat::new());
    let (a, b) = (concat(&mut pool, 0..2), concat(&mut pool, 2..4));
    let product = pool.op(Op::Mul, 16, &[a, b]);
    let large = with(&mut pool, Op::Eq, product, 0x3939);
    model(&mut sat, &pool, &[large], &[0; 4]);
    let memory = sat.memory();
    sat.reset();
    assert!(sat.memory() < memory);
    model(&mut sat, &pool, &[large], &[0; 4]);
}

/// The clauses say the same as the gates: outputs follow from inputs, and nothing else is possible.
#[test]
fn outputs_follow_from_inputs() {
    let ops = [
        Op::Add,
        Op::Mul,
        Op::UDiv,
        Op::SRem,
        Op::Shl,
        Op::AShr,
        Op::Slt,
        Op::Ctpop,
        Op::Cttz,
    ];
    for op in ops {
        let (mut pool, mut sat) = (Pool::new(), Sat::new());
        let (a, b) = (byte(&mut pool, 0), byte(&mut pool, 1));
        let (a, b) = (pool.extract(a, 0, 3), pool.extract(b, 2, 3));
        let width = if op.is_comparison() { 1 } else { 3 };
        let operands = match op.arity() {
            beagle_trace::op::Arity::One => &[a][..],
            _ => &[a, b],
        };
        let out = pool.op(op, width, operands);
        let (tape, mut values) = (Tape::new(&pool, &[out]), Values::default());
        for input in 0..64 {
            let (x, y) = (input & 7, input >> 3);
            tape.run(&mut values, |variable| [x, y << 2][variable.0 as usize]);
            let result = tape.root(&values, 0).unwrap();
            let mut conditions = vec![
                with(&mut pool, Op::Eq, a, x),
                with(&mut pool, Op::Eq, b, y),
                with(&mut pool, Op::Eq, out, result),
            ];
            model(&mut sat, &pool, &conditions, &[!(x as u8), !(y as u8) << 2]);
            conditions[2] = with(&mut pool, Op::Ne, out, result);
            let found = ask(&mut sat, &pool, &conditions, &[x as u8, (y as u8) << 2]);
            assert!(matches!(found, Found::Conflict(_)), "{op:?} {x} {y}");
        }
    }
}
