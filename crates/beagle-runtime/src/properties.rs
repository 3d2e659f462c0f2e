//! Whatever is made of expressions must mean the same under every input.

use beagle_trace::node::mask;
use beagle_trace::op::Op;
use beagle_trace::wire::SOURCE_STDIN;

use crate::expr::{self, Val};
use crate::fold::{binary, signed};
use crate::harness::{Random, Source, eval, start};
use crate::{shadow, slots, table};

/// One step of a straight-line program over earlier values.
enum Step {
    Input(usize),
    Constant(u128, u16),
    Binary(Op, usize, usize),
    ZExt(usize, u16),
    SExt(usize, u16),
    Extract(usize, u32, u16),
    Concat(usize, usize),
    Ite(usize, usize, usize),
    Not(usize),
}

fn program(random: &mut Random, bytes: usize) -> Vec<(Step, u16)> {
    let mut steps: Vec<(Step, u16)> = (0..bytes).map(|i| (Step::Input(i), 8)).collect();
    for _ in 0..60 {
        let a = random.below(steps.len());
        let width = steps[a].1;
        let same: Vec<usize> = (0..steps.len()).filter(|i| steps[*i].1 == width).collect();
        let b = same[random.below(same.len())];
        let bits: Vec<usize> = (0..steps.len()).filter(|i| steps[*i].1 == 1).collect();
        let wider = [16, 32, 64, 128, 7, 33][random.below(6)];
        let step = match random.below(12) {
            0 => {
                let few = [0, 1, u128::MAX, 0x80, 0xff, u128::from(random.next())];
                (
                    Step::Constant(few[random.below(6)] & mask(width), width),
                    width,
                )
            }
            1 | 2 if wider > width => (Step::ZExt(a, wider), wider),
            3 if wider > width => (Step::SExt(a, wider), wider),
            4 if width > 1 => {
                let low = random.below(width as usize) as u32;
                let kept = 1 + random.below(width as usize - low as usize) as u16;
                (Step::Extract(a, low, kept), kept)
            }
            5 if width <= 64 => (Step::Concat(a, b), 2 * width),
            6 if !bits.is_empty() => (Step::Ite(bits[random.below(bits.len())], a, b), width),
            7 if width == 1 => (Step::Not(a), 1),
            _ => {
                let op = Op::BINARY[random.below(Op::BINARY.len())];
                (
                    Step::Binary(op, a, b),
                    if op.is_comparison() { 1 } else { width },
                )
            }
        };
        steps.push(step);
    }
    steps
}

/// The values under an input; `None` from where one is not defined.
fn concrete(steps: &[(Step, u16)], input: &[u8]) -> Vec<Option<u128>> {
    let mut values: Vec<Option<u128>> = Vec::new();
    for (step, width) in steps {
        let v = |i: &usize| values[*i];
        let of = |i: &usize| steps[*i].1;
        let value = (|| {
            Some(
                match step {
                    Step::Input(i) => u128::from(input[*i]),
                    Step::Constant(k, _) => *k,
                    Step::Binary(op, a, b) => binary(*op, of(a), v(a)?, v(b)?)?,
                    Step::ZExt(a, _) => v(a)?,
                    Step::SExt(a, _) => signed(v(a)?, of(a)) as u128,
                    Step::Extract(a, low, _) => v(a)? >> low,
                    Step::Concat(a, b) => v(a)? << of(b) | v(b)?,
                    Step::Ite(c, a, b) => v(if v(c)? == 1 { a } else { b })?,
                    Step::Not(a) => v(a)? ^ 1,
                } & mask(*width),
            )
        })();
        values.push(value);
    }
    values
}

#[test]
fn expressions_mean_the_same_under_every_input() {
    let mut random = Random(1);
    let mut checks = 0;
    for _ in 0..3000 {
        let bytes = 1 + random.below(4);
        let input: Vec<u8> = (0..bytes).map(|_| random.next() as u8).collect();
        let steps = program(&mut random, bytes);
        let now = concrete(&steps, &input);
        let recording = start(&[Source {
            kind: SOURCE_STDIN,
            name: "",
            bytes: input.clone(),
            pad: 0,
        }]);
        let _inside = slots::enter().unwrap();
        let mut made: Vec<Val> = Vec::new();
        for ((step, width), value) in steps.iter().zip(&now) {
            let v = |i: &usize| made[*i];
            // What is not defined now is a plain value in the program, too.
            let defined = value.is_some();
            let val = match step {
                Step::Input(i) => crate::input::var(0, *i as u64),
                Step::Constant(k, w) => Val::concrete(*k, *w),
                _ if !defined => Val::concrete(0, *width),
                Step::Binary(op, a, b) => expr::bin(*op, v(a), v(b)),
                Step::ZExt(a, w) => expr::zext(v(a), *w),
                Step::SExt(a, w) => expr::sext(v(a), *w),
                Step::Extract(a, low, w) => expr::extract(v(a), *low, *w),
                Step::Concat(a, b) => expr::concat(v(a), v(b)),
                Step::Ite(c, a, b) => expr::ite(v(c), v(a), v(b)),
                Step::Not(a) => expr::not(v(a)),
            };
            assert_eq!((val.width, Some(val.value)), (*width, value.or(Some(0))));
            made.push(val);
        }
        for _ in 0..4 {
            let other: Vec<u8> = match random.below(3) {
                0 => input.clone(),
                _ => (0..bytes).map(|_| random.next() as u8).collect(),
            };
            let then = concrete(&steps, &other);
            // Values that follow from an undefined one are not comparable.
            if now.iter().any(Option::is_none) && other != input {
                continue;
            }
            for (i, val) in made.iter().enumerate() {
                let Some(expected) = then[i] else { continue };
                let found = match val.id {
                    0 => Some(val.value),
                    id => eval(id, &[&other]),
                };
                assert_eq!(found, Some(expected), "step {i}, input {other:?}");
                checks += 1;
            }
        }
        drop(_inside);
        drop(recording);
    }
    assert!(checks > 100_000, "{checks} checks");
}

#[test]
fn memory_gives_back_what_was_stored() {
    let mut random = Random(2);
    for _ in 0..300 {
        let input: Vec<u8> = (0..8).map(|_| random.next() as u8).collect();
        let other: Vec<u8> = (0..8).map(|_| random.next() as u8).collect();
        let recording = start(&[Source {
            kind: SOURCE_STDIN,
            name: "",
            bytes: input.clone(),
            pad: 0,
        }]);
        let _inside = slots::enter().unwrap();
        let mut memory = [0u8; 48];
        // What memory would hold under the other input.
        let mut then = [0u8; 48];
        for _ in 0..40 {
            let n = [1, 2, 3, 4, 8, 16][random.below(6)];
            let at = random.below(48 - n);
            let to = unsafe { memory.as_mut_ptr().add(at) };
            match random.below(4) {
                0 => {
                    let k = random.below(8 - n.min(7));
                    let n = n.min(8 - k);
                    memory[at..at + n].copy_from_slice(&input[k..k + n]);
                    then[at..at + n].copy_from_slice(&other[k..k + n]);
                    unsafe { crate::input::mark(to, n, 0, k as u64) };
                }
                1 => {
                    let from = random.below(48 - n);
                    memory.copy_within(from..from + n, at);
                    then.copy_within(from..from + n, at);
                    unsafe { shadow::copy(to, memory.as_ptr().add(from), n) };
                }
                2 => {
                    // A sum of what is there.
                    let v = unsafe { shadow::load(to, n) };
                    let sum = expr::add(v, Val::concrete(0x0102_0304_0506, v.width));
                    let mut bytes = [0u8; 16];
                    bytes[..n].copy_from_slice(&then[at..at + n]);
                    let new =
                        u128::from_le_bytes(bytes).wrapping_add(0x0102_0304_0506 & mask(v.width));
                    then[at..at + n].copy_from_slice(&new.to_le_bytes()[..n]);
                    memory[at..at + n].copy_from_slice(&sum.value.to_le_bytes()[..n]);
                    unsafe { shadow::store(to, n, sum) };
                }
                _ => {
                    memory[at..at + n].fill(7);
                    then[at..at + n].fill(7);
                    unsafe { shadow::clear(to, n) };
                }
            }
        }
        for at in 0..47 {
            for n in [1, 2, 4, 8, 16] {
                if at + n > 48 {
                    continue;
                }
                let v = unsafe { shadow::load(memory.as_ptr().add(at), n) };
                let mut bytes = [0u8; 16];
                bytes[..n].copy_from_slice(&then[at..at + n]);
                let found = if v.id == 0 {
                    Some(v.value)
                } else {
                    eval(v.id, &[&other])
                };
                assert_eq!(found, Some(u128::from_le_bytes(bytes)));
            }
        }
        assert!(recording.losses().is_empty());
        drop(_inside);
    }
}

#[test]
fn bytes_written_behind_our_back_are_concrete_and_counted() {
    let recording = start(&[Source {
        kind: SOURCE_STDIN,
        name: "",
        bytes: b"abcd".to_vec(),
        pad: 0,
    }]);
    let _inside = slots::enter().unwrap();
    let mut memory = *b"abcd";
    unsafe { crate::input::mark(memory.as_mut_ptr(), 4, 0, 0) };
    memory[1] = b'X';
    let v = unsafe { shadow::load(memory.as_ptr(), 4) };
    assert_eq!(
        eval(v.id, &[b"1234"]),
        Some(u128::from(u32::from_le_bytes(*b"1X34")))
    );
    assert_eq!(recording.losses()[&1], 1);
}

#[test]
fn the_same_content_is_one_table() {
    let recording = start(&[Source {
        kind: SOURCE_STDIN,
        name: "",
        bytes: b"ab".to_vec(),
        pad: 0,
    }]);
    let _inside = slots::enter().unwrap();
    let mut memory = *b"0123456789";
    let object = crate::object::Object {
        base: memory.as_ptr() as usize,
        size: 10,
        kind: 1,
        constant: false,
    };
    let take = || unsafe { table::table(object) };
    let first = take();
    assert_eq!(take(), first);
    memory[3] = 0;
    std::hint::black_box(&memory);
    assert_ne!(take(), first);
    drop(_inside);
    drop(recording);
}
