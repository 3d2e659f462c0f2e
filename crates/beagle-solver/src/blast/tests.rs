//! Circuits against the evaluator.

use std::time::Duration;

use crate::clock::Moment;

use beagle_trace::node::mask;
use beagle_trace::op::{Arity, Op};

use super::*;
use crate::pool::Table;
use crate::random::Random;
use crate::tape::{Tape, Values};
use crate::variable::{SourceKey, VariableKind};

/// Often small, near a power of two or all ones.
fn value(random: &mut Random, width: u16) -> u128 {
    let any = random.wide();
    let shift = random.next() % u64::from(width);
    let value = match random.next() % 6 {
        0 => any >> (127 - shift),
        1 => (1 << shift) - u128::from(random.next() & 1),
        2 => !(any >> (127 - shift)),
        3 => u128::from(random.next() % 3),
        _ => any,
    };
    value & mask(width)
}

fn later() -> Moment {
    Moment::now() + Duration::from_secs(600)
}

/// Bytes of standard input from `first` on as a number of this width.
fn number(pool: &mut Pool, first: u32, width: u16) -> Expr {
    let source = pool.source(&SourceKey::Stdin);
    let bytes = u32::from(width.div_ceil(8));
    let mut all = pool.variable(VariableKind::Byte(source, first));
    for index in 1..bytes {
        let byte = pool.variable(VariableKind::Byte(source, first + index));
        all = pool.op(Op::Concat, index as u16 * 8 + 8, &[byte, all]);
    }
    if bytes as u16 * 8 == width {
        all
    } else {
        pool.extract(all, 0, width)
    }
}

/// Compares circuits with the evaluator for many inputs.
struct Check {
    circuit: Circuit,
    tape: Tape,
    values: Values,
    roots: usize,
    widths: Vec<u16>,
}

impl Check {
    fn new(pool: &Pool, exprs: &[Expr]) -> Self {
        let mut blaster = Blaster::new();
        let mut bits = Vec::new();
        for &expr in exprs {
            let word = blaster.encode(pool, expr, later());
            bits.extend_from_slice(word.unwrap_or_else(|why| panic!("{expr:?}: {why:?}")));
        }
        Self {
            circuit: Circuit::new(blaster.gates(), &mut Marks::default(), &bits),
            tape: Tape::new(pool, exprs),
            values: Values::default(),
            roots: exprs.len(),
            widths: exprs.iter().map(|&expr| pool.width(expr)).collect(),
        }
    }

    /// Up to 256 inputs at once, each a value for every variable.
    fn inputs(&mut self, pool: &Pool, count: usize, input: impl Fn(usize, Variable) -> u128) {
        let mut lanes = Vec::new();
        let variables: Vec<Variable> = self.circuit.variables().collect();
        for (at, &variable) in variables.iter().enumerate() {
            let of_lane = |lane: usize| input(lane.min(count - 1), variable);
            self.circuit.set_lanes(&mut lanes, at, of_lane);
        }
        self.circuit.run(&mut lanes);
        for lane in 0..count {
            self.tape
                .run(&mut self.values, |variable| input(lane, variable));
            let mut root = 0;
            for index in 0..self.roots {
                let mut found = 0;
                for at in 0..self.widths[index] {
                    let bit = self.circuit.root(&lanes, root)[lane / 64] >> (lane % 64) & 1;
                    found |= u128::from(bit) << at;
                    root += 1;
                }
                let expected = self.tape.root(&self.values, index).unwrap_or(0);
                assert_eq!(
                    found,
                    expected,
                    "expression {index}, variables {:x?}, {pool_len} expressions",
                    variables
                        .iter()
                        .map(|&variable| input(lane, variable))
                        .collect::<Vec<_>>(),
                    pool_len = pool.len(),
                );
            }
        }
    }
}

/// The other operators that circuits know, of numbers of equal width.
const OTHERS: [Op; 7] = [
    Op::Ctpop,
    Op::Ctlz,
    Op::Cttz,
    Op::Bitreverse,
    Op::FNeg,
    Op::FAbs,
    Op::FCopysign,
];

/// All operators on two numbers.
fn all_of(pool: &mut Pool, a: Expr, b: Expr) -> Vec<Expr> {
    let width = pool.width(a);
    let mut exprs = Vec::new();
    for op in Op::BINARY.into_iter().chain(OTHERS) {
        let result = if op.is_comparison() { 1 } else { width };
        let operands = if op.arity() == Arity::One {
            &[a][..]
        } else {
            &[a, b]
        };
        exprs.push(pool.op(op, result, operands));
    }
    if width.is_multiple_of(16) {
        exprs.push(pool.op(Op::Bswap, width, &[a]));
    }
    if width < 128 {
        for op in [Op::ZExt, Op::SExt] {
            exprs.push(pool.op(op, width + 1, &[a]));
            exprs.push(pool.op(op, 128, &[a]));
        }
    }
    if width <= 64 {
        exprs.push(pool.op(Op::Concat, width * 2, &[a, b]));
    }
    exprs.push(pool.extract(a, width / 2, width - width / 2));
    let choice = pool.extract(b, 0, 1);
    exprs.push(pool.op(Op::Ite, width, &[choice, a, b]));
    exprs
}

#[test]
fn operators_of_narrow_numbers_agree_with_the_evaluator() {
    for width in 1..=5 {
        let mut pool = Pool::new();
        let (a, b) = (number(&mut pool, 0, width), number(&mut pool, 1, width));
        let exprs = all_of(&mut pool, a, b);
        let mut check = Check::new(&pool, &exprs);
        for value in 0..1u128 << width {
            check.inputs(&pool, 1 << width, |lane, variable| match variable.0 {
                0 => value,
                _ => lane as u128,
            });
        }
    }
}

#[test]
fn operators_with_a_constant_agree_with_the_evaluator() {
    for width in 1..=5 {
        for value in 0..1u128 << width {
            let mut pool = Pool::new();
            let a = number(&mut pool, 0, width);
            let constant = pool.constant(width, value);
            let mut exprs = all_of(&mut pool, a, constant);
            exprs.extend(all_of(&mut pool, constant, a));
            let mut check = Check::new(&pool, &exprs);
            check.inputs(&pool, 1 << width, |lane, _| lane as u128);
        }
    }
}

#[test]
fn operators_of_wide_numbers_agree_with_the_evaluator() {
    let mut random = Random::new(1);
    for width in [7, 8, 16, 31, 32, 33, 63, 64, 65, 100, 128] {
        let mut pool = Pool::new();
        let (a, b) = (number(&mut pool, 0, width), number(&mut pool, 16, width));
        let exprs = all_of(&mut pool, a, b);
        let mut check = Check::new(&pool, &exprs);
        let bytes = usize::from(width.div_ceil(8));
        let inputs: Vec<[u128; 2]> = (0..256)
            .map(|_| [value(&mut random, width), value(&mut random, width)])
            .collect();
        check.inputs(&pool, 256, |lane, variable| {
            let at = variable.0 as usize;
            inputs[lane][at / bytes] >> (at % bytes * 8) & 0xff
        });
    }
}

#[test]
fn operators_with_a_wide_constant_agree_with_the_evaluator() {
    let mut random = Random::new(2);
    for width in [7, 8, 16, 31, 32, 33, 63, 64, 65, 100, 128] {
        for _ in 0..6 {
            let mut pool = Pool::new();
            let a = number(&mut pool, 0, width);
            let constant = pool.constant(width, value(&mut random, width));
            let mut exprs = all_of(&mut pool, a, constant);
            exprs.extend(all_of(&mut pool, constant, a));
            let mut check = Check::new(&pool, &exprs);
            let inputs: Vec<u128> = (0..64).map(|_| value(&mut random, width)).collect();
            check.inputs(&pool, 64, |lane, variable| {
                inputs[lane] >> (variable.0 * 8) & 0xff
            });
        }
    }
}

#[test]
fn operators_of_widened_bytes_agree_with_the_evaluator() {
    // Constant and equal bits at the top of the operands.
    let mut random = Random::new(3);
    let mut pool = Pool::new();
    let (a, b) = (number(&mut pool, 0, 8), number(&mut pool, 1, 8));
    let mut exprs = Vec::new();
    for first in [Op::ZExt, Op::SExt] {
        for second in [Op::ZExt, Op::SExt] {
            let (a, b) = (pool.op(first, 20, &[a]), pool.op(second, 20, &[b]));
            exprs.extend(all_of(&mut pool, a, b));
        }
    }
    let mut check = Check::new(&pool, &exprs);
    for _ in 0..8 {
        let inputs: Vec<u128> = (0..512).map(|_| value(&mut random, 8)).collect();
        check.inputs(&pool, 256, |lane, variable| {
            inputs[lane * 2 + variable.0 as usize]
        });
    }
}

#[test]
fn comparisons_of_floats_agree_with_the_evaluator() {
    let single = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        f32::MIN_POSITIVE / 2.0,
        -f32::MIN_POSITIVE / 2.0,
        f32::MAX,
        f32::MIN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        -f32::NAN,
        1.5,
        -1.5,
    ];
    for width in [32, 64] {
        let bits = |value: f32| -> u128 {
            if width == 32 {
                value.to_bits().into()
            } else {
                f64::from(value).to_bits().into()
            }
        };
        let mut pool = Pool::new();
        let (a, b) = (number(&mut pool, 0, width), number(&mut pool, 8, width));
        let exprs: Vec<Expr> = (0..16)
            .map(|relations| {
                pool.make(Term {
                    op: Op::FCmp,
                    width: 1,
                    a: a.0,
                    b: b.0,
                    c: relations,
                })
            })
            .collect();
        let mut check = Check::new(&pool, &exprs);
        let bytes = u32::from(width / 8);
        let pairs = single
            .iter()
            .flat_map(|&a| single.map(|b| [bits(a), bits(b)]));
        let pairs: Vec<[u128; 2]> = pairs.collect();
        check.inputs(&pool, pairs.len(), |lane, variable| {
            pairs[lane][(variable.0 / bytes) as usize] >> (variable.0 % bytes * 8) & 0xff
        });
    }
}

fn lookup(pool: &mut Pool, offset: Expr, table: Table, width: u16) -> Expr {
    let table = pool.add_table(table);
    pool.make(Term {
        op: Op::Lookup,
        width,
        a: offset.0,
        b: table,
        c: 0,
    })
}

#[test]
fn tables_agree_with_the_evaluator() {
    let mut random = Random::new(4);
    for length in [0, 1, 3, 4, 7, 8, 100, 200, 300] {
        for width in [8, 16, 32, 128] {
            for (scale, first) in [(1, 0), (1, 3), (2, 0), (4, 1)] {
                let mut pool = Pool::new();
                let byte = number(&mut pool, 0, 8);
                let other = number(&mut pool, 1, 8);
                let wide = pool.op(Op::ZExt, 64, &[byte]);
                let factor = pool.constant(64, scale);
                let scaled = pool.op(Op::Mul, 64, &[wide, factor]);
                let start = pool.constant(64, first);
                let offset = pool.op(Op::Add, 64, &[scaled, start]);
                let bytes: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
                let cells = (0..length).filter(|at| at % 5 == 2);
                let cells = cells.map(|at| (at as u32, if at % 2 == 0 { other } else { byte }));
                let constant = Table {
                    bytes: bytes.clone(),
                    cells: Vec::new(),
                };
                let mut table = Table {
                    bytes,
                    cells: cells.collect(),
                };
                for &(at, _) in &table.cells {
                    table.bytes[at as usize] = 0;
                }
                let exprs = [
                    lookup(&mut pool, offset, table, width),
                    lookup(&mut pool, offset, constant, width),
                ];
                if length != 1 {
                    // What is known of a table without cells holds only inside of it.
                    let mut check = Check::new(&pool, &exprs[..1]);
                    check.inputs(&pool, 256, |lane, variable| match variable.0 {
                        0 => lane as u128,
                        _ => 0xa5,
                    });
                }
                let inside = (length as usize)
                    .saturating_sub(usize::from(width / 8) + first as usize)
                    .div_ceil(scale as usize)
                    .min(256);
                if inside > 0 {
                    let mut check = Check::new(&pool, &exprs[1..]);
                    check.inputs(&pool, inside, |lane, _| lane as u128);
                }
            }
        }
    }
}

#[test]
fn what_has_no_circuit_is_refused() {
    let mut pool = Pool::new();
    let (a, b) = (number(&mut pool, 0, 32), number(&mut pool, 4, 32));
    let sum = pool.op(Op::FAdd, 32, &[a, b]);
    let same = pool.eq(sum, a);
    let mut blaster = Blaster::new();
    let refused = blaster.encode(&pool, same, later());
    assert_eq!(refused.err(), Some(Why::Unsupported));
    let offset = number(&mut pool, 0, 64);
    let table = Table {
        bytes: vec![1; 1 << 20],
        cells: Vec::new(),
    };
    let read = lookup(&mut pool, offset, table, 8);
    let refused = blaster.encode(&pool, read, later());
    assert_eq!(refused.err(), Some(Why::Unsupported));
}

#[test]
fn deep_expressions_are_encoded() {
    let mut pool = Pool::new();
    let byte = number(&mut pool, 0, 8);
    let mut sum = byte;
    for _ in 0..50_000 {
        sum = pool.op(Op::Xor, 8, &[sum, byte]);
        sum = pool.op(Op::Or, 8, &[sum, byte]);
    }
    let mut blaster = Blaster::new();
    let bits = blaster.encode(&pool, sum, later()).map(<[Bit]>::to_vec);
    let expected = blaster.encode(&pool, byte, later()).map(<[Bit]>::to_vec);
    assert_eq!(bits, expected);
}

#[test]
fn circuits_that_are_too_large_or_late_are_refused() {
    let mut pool = Pool::new();
    let (a, b) = (number(&mut pool, 0, 128), number(&mut pool, 16, 128));
    let mut product = a;
    for _ in 0..100 {
        product = pool.op(Op::Mul, 128, &[product, b]);
        product = pool.op(Op::Xor, 128, &[product, a]);
    }
    let mut blaster = Blaster::new();
    let refused = blaster.encode(&pool, product, later());
    assert_eq!(refused.err(), Some(Why::Size));
    let mut blaster = Blaster::new();
    let refused = blaster.encode(&pool, product, Moment::now());
    assert_eq!(refused.err(), Some(Why::Budget));
}
