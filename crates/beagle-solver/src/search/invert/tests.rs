//! Inverse values against the operators themselves.

use super::*;

fn operation(op: Op, width: u16, a: u128, b: u128) -> Operation {
    let value = |bits| Value { bits, width };
    Operation {
        op,
        width: if op.is_comparison() { 1 } else { width },
        field: 0,
        operands: [value(a), value(b)],
    }
}

/// Whether an inverse that is found is one.
fn check(operation: &Operation, which: usize, target: u128, random: &mut Random) -> bool {
    let found = operation.inverse(which, target, random);
    if let Some(value) = found {
        let width = operation.operands[which].width;
        assert_eq!(value & !mask(width), 0, "{operation:?} {which} {target}");
        let result = operation.with(which, value);
        assert_eq!(result, Some(target), "{operation:?} {which} {value}");
    }
    found.is_some()
}

#[test]
fn at_small_widths_an_inverse_is_found_where_there_is_one() {
    let mut random = Random::new(3);
    for width in 1..=4u16 {
        let all = 0..=mask(width);
        for op in Op::BINARY {
            for (current, other) in all.clone().flat_map(|a| all.clone().map(move |b| (a, b))) {
                for which in [0, 1] {
                    let (a, b) = if which == 0 {
                        (current, other)
                    } else {
                        (other, current)
                    };
                    let operation = operation(op, width, a, b);
                    for target in 0..=mask(operation.width) {
                        let exists = all
                            .clone()
                            .any(|v| operation.with(which, v) == Some(target));
                        // Chance may choose badly, but not always.
                        let found = (0..20).any(|_| check(&operation, which, target, &mut random));
                        assert_eq!(found, exists, "{operation:?} {which} {target}");
                    }
                }
            }
        }
    }
}

#[test]
fn operators_of_one_operand_are_inverted() {
    let mut random = Random::new(4);
    let ops = [Op::Ctpop, Op::Ctlz, Op::Cttz, Op::Bitreverse];
    for width in 1..=6 {
        for op in ops {
            for current in 0..=mask(width) {
                let operation = operation(op, width, current, 0);
                for target in 0..=mask(width) {
                    let exists = (0..=mask(width)).any(|v| operation.with(0, v) == Some(target));
                    let found = check(&operation, 0, target, &mut random);
                    // The counts of one bit are modulo 2.
                    assert!(found == exists || width == 1, "{operation:?} {target}");
                }
            }
        }
    }
    for (op, from, to, field) in [
        (Op::ZExt, 5, 9, 0),
        (Op::SExt, 5, 9, 0),
        (Op::SExt, 64, 128, 0),
        (Op::Extract, 12, 5, 3),
        (Op::Extract, 128, 64, 64),
        (Op::Bswap, 64, 64, 0),
        (Op::Bswap, 16, 16, 0),
    ] {
        for _ in 0..200 {
            let operand = |bits: u128| Value {
                bits: bits & mask(from),
                width: from,
            };
            let operation = Operation {
                op,
                width: to,
                field,
                operands: [operand(random.wide()); 2],
            };
            let wanted = operation
                .with(0, operand(random.wide()).bits)
                .expect("defined");
            assert!(check(&operation, 0, wanted, &mut random), "{operation:?}");
            let any = random.wide() & mask(to);
            check(&operation, 0, any, &mut random);
        }
    }
}

#[test]
fn at_large_widths_inverses_are_right() {
    let mut random = Random::new(5);
    for round in 0..60_000u32 {
        let width = 1 + random.below(128) as u16;
        let op = Op::BINARY[random.below(Op::BINARY.len())];
        let mut value = || match random.below(5) {
            0 => random.below(5) as u128,
            1 => u128::MAX - random.below(5) as u128,
            2 => 1 << random.below(128),
            _ => random.wide(),
        };
        let operation = operation(op, width, value() & mask(width), value() & mask(width));
        let which = round as usize % 2;
        // Half of the targets are possible.
        let target = if round % 4 < 2 {
            operation.with(which, value() & mask(width)).expect("total")
        } else {
            value() & mask(operation.width)
        };
        check(&operation, which, target, &mut random);
        let any = operation.consistent(which, target, &mut random);
        assert_eq!(any & !mask(width), 0);
    }
}

#[test]
fn inverses_of_floating_point_are_right_and_mostly_found() {
    let mut random = Random::new(6);
    let ops = [
        Op::FAdd,
        Op::FSub,
        Op::FMul,
        Op::FDiv,
        Op::FRem,
        Op::FMin,
        Op::FMax,
        Op::FCopysign,
        Op::FCmp,
        Op::FNeg,
        Op::FAbs,
        Op::FSqrt,
        Op::FFloor,
        Op::FCeil,
        Op::FTrunc,
        Op::FRound,
        Op::FRint,
    ];
    for op in ops {
        let mut found = 0;
        for round in 0..2000u32 {
            let width = [32, 64][round as usize % 2];
            let mut value = || {
                let number = (random.next() as i32 >> random.below(31)) as f64 / 16.0;
                let bits = if width == 32 {
                    (number as f32).to_bits().into()
                } else {
                    number.to_bits().into()
                };
                Value { bits, width }
            };
            let operation = Operation {
                op,
                width: if op == Op::FCmp { 1 } else { width },
                field: 1 + round % 14,
                operands: [value(), value()],
            };
            let wanted = operation.with(0, value().bits).expect("total");
            found += u32::from(check(&operation, 0, wanted, &mut random));
            if op.arity() == Arity::Two {
                check(&operation, 1, wanted, &mut random);
            }
            check(
                &operation,
                0,
                random.wide() & mask(operation.width),
                &mut random,
            );
        }
        assert!(found > 1200, "{op:?}: {found}");
    }
}

#[test]
fn conversions_of_floating_point_are_inverted() {
    let mut random = Random::new(8);
    for (op, from, to) in [
        (Op::FpToSi, 64, 32),
        (Op::FpToUi, 32, 8),
        (Op::SiToFp, 32, 64),
        (Op::UiToFp, 16, 32),
        (Op::FpCast, 32, 64),
        (Op::FpCast, 64, 32),
    ] {
        let mut found = 0;
        for round in 0..200u32 {
            let value = |number: u32| match (op, from) {
                (Op::SiToFp | Op::UiToFp, _) => u128::from(number),
                (_, 32) => (number as f32 + 0.5).to_bits().into(),
                _ => (f64::from(number) + 0.5).to_bits().into(),
            };
            let operand = Value {
                bits: value(77),
                width: from,
            };
            let operation = Operation {
                op,
                width: to,
                field: 0,
                operands: [operand; 2],
            };
            let wanted = operation.with(0, value(round)).expect("fits");
            found += u32::from(check(&operation, 0, wanted, &mut random));
        }
        assert!(found > 150, "{op:?}: {found}");
    }
}
