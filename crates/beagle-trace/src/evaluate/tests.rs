//! The evaluator against definitions that are written another way: bit by bit, by counting, by
//! searching. Small widths are tried with all values, large ones with chosen ones.

use super::*;
use crate::Recording;
use crate::wire::cell;

/// The value of one operator on constants.
fn apply(op: Op, width: u16, operands: &[(u16, u128)], fields: [u32; 3]) -> Option<u128> {
    let mut recording = Recording::new();
    let mut fields = fields;
    for (index, &(width, value)) in operands.iter().enumerate() {
        fields[index] = recording.constant(width, value);
    }
    let id = recording.node(op, width, fields, 0);
    let trace = recording.trace().expect("well typed");
    evaluate(&trace, &Input::default()).get(id)
}

fn unary(op: Op, width: u16, a: u128) -> Option<u128> {
    apply(op, width, &[(width, a)], [0; 3])
}

fn binary(op: Op, width: u16, a: u128, b: u128) -> Option<u128> {
    let result = if op.is_comparison() { 1 } else { width };
    apply(op, result, &[(width, a), (width, b)], [0; 3])
}

/// The number with sign, by its definition: the highest bit counts negative.
fn signed(width: u16, value: u128) -> i128 {
    let bit = |index: u16| (value >> index & 1) as i128;
    let low: i128 = (0..width - 1).map(|index| bit(index) << index).sum();
    low - (bit(width - 1) << (width - 1))
}

/// What has this remainder modulo 2^width.
fn wrap(width: u16, value: i128) -> u128 {
    value.rem_euclid(1 << width) as u128
}

/// The result of an operator for widths up to 8, written differently from the evaluator.
fn oracle(op: Op, width: u16, a: u128, b: u128) -> u128 {
    let (x, y) = (a as i128, b as i128);
    let (sx, sy) = (signed(width, a), signed(width, b));
    let bits = |f: &dyn Fn(u128, u128) -> bool| -> u128 {
        let bit = |index: u16| u128::from(f(a >> index & 1, b >> index & 1)) << index;
        (0..width).map(bit).sum()
    };
    let all = (1u128 << width) - 1;
    let magnitude = |x: i128, y: i128| {
        // The quotient by repeated subtraction of magnitudes.
        let (mut rest, step) = (x.abs(), y.abs());
        let mut count = 0;
        while rest >= step {
            rest -= step;
            count += 1;
        }
        (count, rest)
    };
    let shifted = |f: &dyn Fn(u128) -> u128| (0..b.min(200)).fold(a, |value, _| f(value));
    match op {
        Op::Add => wrap(width, x + y),
        Op::Sub => wrap(width, x - y),
        Op::Mul => wrap(width, x * y),
        Op::UDiv if b == 0 => all,
        Op::UDiv => magnitude(x, y).0 as u128,
        Op::URem if b == 0 => a,
        Op::URem => magnitude(x, y).1 as u128,
        Op::SDiv if b == 0 => {
            if sx < 0 {
                1
            } else {
                all
            }
        }
        Op::SDiv => {
            let (quotient, _) = magnitude(sx, sy);
            wrap(
                width,
                if (sx < 0) == (sy < 0) {
                    quotient
                } else {
                    -quotient
                },
            )
        }
        Op::SRem if b == 0 => a,
        Op::SRem => {
            let (_, rest) = magnitude(sx, sy);
            wrap(width, if sx < 0 { -rest } else { rest })
        }
        Op::And => bits(&|p, q| p + q == 2),
        Op::Or => bits(&|p, q| p + q > 0),
        Op::Xor => bits(&|p, q| p + q == 1),
        Op::Shl => shifted(&|value| (value * 2) & all),
        Op::LShr => shifted(&|value| value / 2),
        Op::AShr => shifted(&|value| wrap(width, signed(width, value).div_euclid(2))),
        Op::Eq => u128::from(x - y == 0),
        Op::Ne => u128::from(x - y != 0),
        Op::Ult => u128::from(x - y < 0),
        Op::Ule => u128::from(y - x >= 0),
        Op::Slt => u128::from(sx - sy < 0),
        Op::Sle => u128::from(sy - sx >= 0),
        other => panic!("no oracle for {other:?}"),
    }
}

#[test]
fn all_small_values_agree_with_the_definitions() {
    for width in 1..=6 {
        for a in 0..1u128 << width {
            for b in 0..1u128 << width {
                let mut recording = Recording::new();
                let (x, y) = (recording.constant(width, a), recording.constant(width, b));
                let ids = Op::BINARY.map(|op| {
                    let result = if op.is_comparison() { 1 } else { width };
                    recording.node(op, result, [x, y, 0], 0)
                });
                let trace = recording.trace().expect("well typed");
                let values = evaluate(&trace, &Input::default());
                for (op, id) in Op::BINARY.into_iter().zip(ids) {
                    let expected = oracle(op, width, a, b);
                    assert_eq!(values.get(id), Some(expected), "{op:?} {width} {a} {b}");
                }
            }
        }
    }
}

#[test]
fn bytes_agree_with_the_definitions() {
    for a in (0..256).step_by(3).chain([127, 128, 254, 255]) {
        for b in (0..256).step_by(5).chain([1, 7, 8, 9, 127, 128, 255]) {
            for op in Op::BINARY {
                let expected = oracle(op, 8, a, b);
                assert_eq!(binary(op, 8, a, b), Some(expected), "{op:?} {a} {b}");
            }
        }
    }
}

#[test]
fn wide_arithmetic_has_its_corners() {
    let min = |width: u16| 1u128 << (width - 1);
    for width in [32, 63, 64, 65, 127, 128] {
        let (min, all) = (min(width), mask(width));
        let eval = |op, a, b| binary(op, width, a, b).expect("defined");
        assert_eq!(eval(Op::Add, all, 1), 0);
        assert_eq!(eval(Op::Sub, 0, 1), all);
        assert_eq!(eval(Op::Mul, all, all), 1);
        assert_eq!(eval(Op::SDiv, min, all), min);
        assert_eq!(eval(Op::SRem, min, all), 0);
        assert_eq!(eval(Op::SDiv, all, 2), 0);
        assert_eq!(eval(Op::SDiv, min, 0), 1);
        assert_eq!(eval(Op::SDiv, 5, 0), all);
        assert_eq!(eval(Op::UDiv, 5, 0), all);
        assert_eq!(eval(Op::URem, 5, 0), 5);
        assert_eq!(eval(Op::SRem, min, 0), min);
        assert_eq!(eval(Op::SRem, all, 7), all);
        assert_eq!(eval(Op::Shl, 1, u128::from(width) - 1), min);
        assert_eq!(eval(Op::Shl, all, u128::from(width)), 0);
        assert_eq!(eval(Op::LShr, all, u128::from(width)), 0);
        assert_eq!(eval(Op::LShr, min, u128::from(width) - 1), 1);
        assert_eq!(eval(Op::AShr, min, u128::from(width)), all);
        assert_eq!(eval(Op::AShr, min, all), all);
        assert_eq!(eval(Op::AShr, min - 1, all), 0);
        assert_eq!(eval(Op::Slt, min, 0), 1);
        assert_eq!(eval(Op::Ult, min, 0), 0);
        assert_eq!(eval(Op::Sle, all, 0), 1);
        assert_eq!(eval(Op::Ule, all, all), 1);
    }
}

#[test]
fn conversions_of_width() {
    assert_eq!(apply(Op::ZExt, 128, &[(8, 0x80)], [0; 3]), Some(0x80));
    assert_eq!(
        apply(Op::SExt, 128, &[(8, 0x80)], [0; 3]),
        Some(u128::MAX << 7)
    );
    assert_eq!(apply(Op::SExt, 128, &[(1, 1)], [0; 3]), Some(u128::MAX));
    assert_eq!(apply(Op::SExt, 16, &[(8, 0x7f)], [0; 3]), Some(0x7f));
    let value = 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10;
    assert_eq!(apply(Op::Extract, 8, &[(128, value)], [0, 0, 120]), Some(1));
    assert_eq!(
        apply(Op::Extract, 12, &[(128, value)], [0, 0, 4]),
        Some(0x0f1)
    );
    assert_eq!(apply(Op::Extract, 1, &[(8, 0x80)], [0, 0, 7]), Some(1));
    assert_eq!(
        apply(Op::Concat, 128, &[(64, u64::MAX.into()), (64, 5)], [0; 3]),
        Some(u128::MAX << 64 | 5)
    );
    assert_eq!(apply(Op::Concat, 9, &[(1, 1), (8, 0)], [0; 3]), Some(256));
    assert_eq!(
        apply(Op::Concat, 128, &[(1, 1), (127, 3)], [0; 3]),
        Some(1 << 127 | 3)
    );
}

#[test]
fn counting_and_turning_agree_with_the_definitions() {
    let string = |width: u16, value: u128| -> Vec<u8> {
        (0..width).rev().map(|i| (value >> i & 1) as u8).collect()
    };
    let number = |bits: &[u8]| bits.iter().fold(0u128, |n, &bit| n << 1 | u128::from(bit));
    for width in [1u16, 7, 8, 16, 32, 48, 64, 112, 128] {
        for value in [
            0,
            1,
            2,
            0x80,
            0xff,
            0x1234_5678,
            u128::MAX,
            u128::MAX << 77 | 0x50,
        ] {
            let value = value & mask(width);
            let bits = string(width, value);
            let zeros = |bits: &mut dyn Iterator<Item = &u8>| {
                bits.take_while(|&&bit| bit == 0).count() as u128
            };
            let ones = bits.iter().filter(|&&bit| bit == 1).count() as u128;
            // A one-bit count of a one-bit value and the like are modulo 2^w.
            assert_eq!(unary(Op::Ctpop, width, value), Some(ones & mask(width)));
            let leading = zeros(&mut bits.iter());
            assert_eq!(unary(Op::Ctlz, width, value), Some(leading & mask(width)));
            let trailing = zeros(&mut bits.iter().rev());
            assert_eq!(unary(Op::Cttz, width, value), Some(trailing & mask(width)));
            let reversed: Vec<u8> = bits.iter().rev().copied().collect();
            assert_eq!(unary(Op::Bitreverse, width, value), Some(number(&reversed)));
            if width.is_multiple_of(16) {
                let swapped: Vec<u8> = bits.rchunks(8).flatten().copied().collect();
                assert_eq!(unary(Op::Bswap, width, value), Some(number(&swapped)));
            }
        }
    }
}

const DOUBLES: [f64; 18] = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.0,
    1.5,
    2.5,
    -2.5,
    3.7,
    -3.7,
    1e300,
    -1e-310,
    f64::MAX,
    f64::MIN_POSITIVE,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    4503599627370497.5,
];

fn same(op: Op, width: u16, got: Option<u128>, expected: u128) -> bool {
    let node = Node {
        op: op as u8,
        flags: 0,
        width,
        a: 0,
        b: 0,
        c: 0,
        value: [0; 2],
    };
    got.is_some_and(|got| same_value(&node, got, expected))
}

#[test]
fn floats_agree_with_the_machine() {
    type Function = fn(f64, f64) -> f64;
    let functions: [(Op, Function); 8] = [
        (Op::FAdd, |x, y| x + y),
        (Op::FSub, |x, y| x - y),
        (Op::FMul, |x, y| x * y),
        (Op::FDiv, |x, y| x / y),
        (Op::FRem, |x, y| x % y),
        (Op::FMin, |x, y| if x < y || y.is_nan() { x } else { y }),
        (Op::FMax, |x, y| if x > y || y.is_nan() { x } else { y }),
        (Op::FCopysign, |x, y| x.copysign(y)),
    ];
    for x in DOUBLES {
        for y in DOUBLES {
            for (op, function) in functions {
                let got = binary(op, 64, x.to_bits().into(), y.to_bits().into());
                let expected = function(x, y).to_bits().into();
                assert!(same(op, 64, got, expected), "{op:?} {x:?} {y:?} {got:?}");
                // Of two singles the result in double, rounded, is the one in single for these.
                if matches!(op, Op::FAdd | Op::FSub | Op::FMul | Op::FDiv) {
                    let (x, y) = (x as f32, y as f32);
                    let got = binary(op, 32, x.to_bits().into(), y.to_bits().into());
                    let expected = (function(x.into(), y.into()) as f32).to_bits().into();
                    assert!(same(op, 32, got, expected), "{op:?} {x:?} {y:?} {got:?}");
                }
            }
        }
    }
}

#[test]
fn float_comparisons_follow_the_predicate() {
    for x in DOUBLES {
        for y in DOUBLES {
            let operands = [(64, x.to_bits().into()), (64, y.to_bits().into())];
            for predicate in 0..16u32 {
                let unordered = x.is_nan() || y.is_nan();
                let expected = predicate & 1 != 0 && x == y
                    || predicate & 2 != 0 && x > y
                    || predicate & 4 != 0 && x < y
                    || predicate & 8 != 0 && unordered;
                let got = apply(Op::FCmp, 1, &operands, [0, 0, predicate]);
                assert_eq!(got, Some(expected.into()), "{predicate} {x} {y}");
            }
        }
    }
}

#[test]
fn floats_are_rounded_as_c_does() {
    let round = |op, x: f64| {
        let bits = unary(op, 64, x.to_bits().into()).expect("defined") as u64;
        f64::from_bits(bits)
    };
    assert_eq!(round(Op::FRint, 2.5), 2.0);
    assert_eq!(round(Op::FRint, -3.5), -4.0);
    assert_eq!(round(Op::FRound, 2.5), 3.0);
    assert_eq!(round(Op::FRound, -2.5), -3.0);
    assert_eq!(round(Op::FRound, 0.49999999999999994), 0.0);
    assert_eq!(round(Op::FFloor, -0.5), -1.0);
    assert!(round(Op::FCeil, -0.5).is_sign_negative());
    assert_eq!(round(Op::FTrunc, -7.9), -7.0);
    assert_eq!(round(Op::FSqrt, 2.0), std::f64::consts::SQRT_2);
    assert!(round(Op::FSqrt, -1.0).is_nan());
    assert_eq!(round(Op::FAbs, -0.0).to_bits(), 0);
    assert_eq!(unary(Op::FNeg, 32, 0x7fc0_0001), Some(0xffc0_0001));
}

#[test]
fn floats_become_integers_only_where_they_fit() {
    let convert = |op, width, x: f64| apply(op, width, &[(64, x.to_bits().into())], [0; 3]);
    assert_eq!(convert(Op::FpToSi, 32, -1.9), Some(0xffff_ffff));
    assert_eq!(convert(Op::FpToSi, 32, 2147483647.9), Some(0x7fff_ffff));
    assert_eq!(convert(Op::FpToSi, 32, 2147483648.0), None);
    assert_eq!(convert(Op::FpToSi, 32, -2147483648.9), Some(0x8000_0000));
    assert_eq!(convert(Op::FpToSi, 32, -2147483649.0), None);
    assert_eq!(convert(Op::FpToSi, 64, f64::NAN), None);
    assert_eq!(convert(Op::FpToUi, 8, 255.9), Some(255));
    assert_eq!(convert(Op::FpToUi, 8, 256.0), None);
    assert_eq!(convert(Op::FpToUi, 8, -0.9), Some(0));
    assert_eq!(convert(Op::FpToUi, 8, -1.0), None);
    assert_eq!(convert(Op::FpToUi, 128, 2f64.powi(127)), Some(1 << 127));
    assert_eq!(convert(Op::FpToUi, 128, f64::INFINITY), None);
}

#[test]
fn integers_become_floats_by_rounding_to_even() {
    let convert =
        |op, width, from, a| apply(op, width, &[(from, a)], [0; 3]).expect("defined") as u64;
    let double = |bits: u64| f64::from_bits(bits);
    assert_eq!(double(convert(Op::SiToFp, 64, 8, 0xff)), -1.0);
    assert_eq!(double(convert(Op::UiToFp, 64, 8, 0xff)), 255.0);
    assert_eq!(
        double(convert(Op::UiToFp, 64, 64, (1 << 53) + 1)),
        9007199254740992.0
    );
    assert_eq!(
        f32::from_bits(convert(Op::UiToFp, 32, 32, (1 << 24) + 3) as u32),
        16777220.0
    );
    assert_eq!(
        double(convert(Op::SiToFp, 64, 128, u128::MAX << 100)),
        -(2f64.powi(100))
    );
    let half = 0.1f64;
    assert_eq!(
        apply(Op::FpCast, 32, &[(64, half.to_bits().into())], [0; 3]),
        Some(0.1f32.to_bits().into())
    );
    assert_eq!(
        apply(Op::FpCast, 64, &[(32, 0.1f32.to_bits().into())], [0; 3]),
        Some(f64::from(0.1f32).to_bits().into())
    );
}

#[test]
fn leaves_come_from_the_input() {
    let mut recording = Recording::new();
    let inside = recording.node(Op::Var, 8, [1, 1, 0], 0);
    let outside = recording.node(Op::Var, 8, [1, 9, 0], 0);
    let size = recording.node(Op::Size, 64, [2, 0, 0], 0);
    let count = recording.node(Op::ArgCount, 32, [0; 3], 0);
    let trace = recording.trace().expect("well typed");
    let input = Input::from_args("p", ["ab"]).with_stdin("xyz");
    let values = evaluate(&trace, &input);
    assert_eq!(values.get(inside), Some(b'b'.into()));
    assert_eq!(values.get(outside), Some(0));
    assert_eq!(values.get(size), Some(3));
    assert_eq!(values.get(count), Some(2));
    assert_eq!(values.get(0), None);
    assert_eq!(values.get(99), None);
}

#[test]
fn a_choice_needs_only_what_it_chooses() {
    let mut recording = Recording::new();
    let nan = recording.constant(64, f64::NAN.to_bits().into());
    let undefined = recording.node(Op::FpToSi, 32, [nan, 0, 0], 0);
    let (yes, no) = (recording.constant(1, 1), recording.constant(1, 0));
    let seven = recording.constant(32, 7);
    let first = recording.node(Op::Ite, 32, [yes, seven, undefined], 0);
    let second = recording.node(Op::Ite, 32, [no, seven, undefined], 0);
    let sum = recording.node(Op::Add, 32, [second, seven, 0], 0);
    let trace = recording.trace().expect("well typed");
    let values = evaluate(&trace, &Input::default());
    assert_eq!(values.get(first), Some(7));
    assert_eq!(values.get(second), None);
    assert_eq!(values.get(sum), None);
}

#[test]
fn tables_are_looked_up_with_the_bytes_that_depend_on_the_input() {
    let mut recording = Recording::new();
    let byte = recording.node(Op::Var, 8, [0, 0, 0], 0);
    let wide = recording.node(Op::ZExt, 32, [byte, 0, 0], 0);
    let five = recording.constant(32, 0x0500);
    let sum = recording.node(Op::Add, 32, [wide, five, 0], 0);
    let cells = [0, cell(sum, 1), 0, cell(byte, 0)];
    let table = recording.push_table(0x1000, &[1, 2, 3, 4], &cells);
    let ids: Vec<_> = [0, 1, 2, 3, u64::MAX.into()]
        .into_iter()
        .map(|offset| {
            let offset = recording.constant(64, offset);
            recording.node(Op::Lookup, 16, [offset, table, 0], 0)
        })
        .collect();
    let trace = recording.trace().expect("well typed");
    let values = evaluate(&trace, &Input::from_args("A", [""; 0]));
    let got: Vec<_> = ids.iter().map(|&id| values.get(id)).collect();
    assert_eq!(got, [Some(0x0501), Some(0x0305), Some(0x4103), None, None]);
}

#[test]
fn numbers_are_rendered_as_printf_does() {
    let mut recording = Recording::new();
    let byte = recording.node(Op::Var, 8, [0, 0, 0], 0);
    let wide = recording.node(Op::SExt, 32, [byte, 0, 0], 0);
    let conversion = recording.push_conversion("%4lld|");
    assert_eq!(
        {
            recording.node(Op::RenderLen, 32, [wide, conversion, 0], 0);
            recording.trace().expect_err("not a conversion").to_string()
        },
        "the trace is damaged: node 3: its conversion cannot be understood"
    );
    recording.nodes.pop();
    let conversion = recording.push_conversion("%4lld");
    let length = recording.node(Op::RenderLen, 32, [wide, conversion, 0], 0);
    let third = recording.node(Op::RenderByte, 8, [wide, conversion, 2], 0);
    let past = recording.node(Op::RenderByte, 8, [wide, conversion, 9], 0);
    let trace = recording.trace().expect("well typed");
    let values = evaluate(&trace, &Input::from_args([200], [""; 0]));
    // 200 is -56.
    assert_eq!(values.get(length), Some(4));
    assert_eq!(values.get(third), Some(b'5'.into()));
    assert_eq!(values.get(past), Some(0));
}
