//! What common C code becomes.

use beagle_trace::op::Op;

use super::{byte, long, show, term};
use crate::pool::{Expr, Pool, Table, Term};

/// A pool in which terms are written quickly; operands of 32 bits unless said otherwise.
struct Writer(Pool);

impl Writer {
    fn new() -> Self {
        Self(Pool::new())
    }

    /// A byte as an `unsigned char` that is promoted.
    fn byte(&mut self, index: u32) -> Expr {
        let byte = byte(&mut self.0, index);
        self.0.op(Op::ZExt, 32, &[byte])
    }

    /// A byte as a `char` that is promoted.
    fn character(&mut self, index: u32) -> Expr {
        let byte = byte(&mut self.0, index);
        self.0.op(Op::SExt, 32, &[byte])
    }

    fn op(&mut self, op: Op, a: Expr, b: Expr) -> Expr {
        let width = match op.is_comparison() {
            true => 1,
            false => self.0.width(a),
        };
        self.0.op(op, width, &[a, b])
    }

    fn with(&mut self, op: Op, a: Expr, value: i64) -> Expr {
        let constant = self.0.constant(self.0.width(a), value as u128);
        self.op(op, a, constant)
    }

    fn ite(&mut self, c: Expr, a: Expr, b: Expr) -> Expr {
        self.0.op(Op::Ite, self.0.width(a), &[c, a, b])
    }

    fn show(&self, expr: Expr) -> String {
        show(&self.0, expr, 20)
    }
}

#[test]
fn bytes_are_put_together() {
    for op in [Op::Or, Op::Add, Op::Xor] {
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [1, 3, 0, 2]] {
            let mut w = Writer::new();
            let mut all = None;
            for index in order {
                let byte = w.byte(index);
                let part = w.with(Op::Shl, byte, 8 * i64::from(index));
                all = Some(match all {
                    Some(all) => w.op(op, all, part),
                    None => part,
                });
            }
            let all = all.expect("four bytes");
            let expected = "Concat32(b3, Concat24(b2, Concat16(b1, b0)))";
            assert_eq!(w.show(all), expected, "{op:?} {order:?}");
        }
    }
}

#[test]
fn bytes_are_taken_apart_again() {
    let mut w = Writer::new();
    let [a, b] = [0, 1].map(|index| byte(&mut w.0, index));
    let word = w.0.op(Op::Concat, 16, &[a, b]);
    let swapped = w.0.op(Op::Bswap, 16, &[word]);
    assert_eq!(w.show(swapped), "Concat16(b1, b0)");
    let wide = w.0.op(Op::ZExt, 32, &[word]);
    let high = w.with(Op::LShr, wide, 8);
    let high = w.with(Op::And, high, 255);
    assert_eq!(w.show(high), "ZExt32(b0)");
    let whole = long(&mut w.0, 0);
    let once = w.0.op(Op::Bswap, 64, &[whole]);
    assert_eq!(w.0.op(Op::Bswap, 64, &[once]), whole);
    // A constant is compared with each.
    let magic = w.with(Op::Eq, word, 0x4142);
    assert_eq!(w.show(magic), "And1(Eq1(b0, 0x41:8), Eq1(b1, 0x42:8))");
}

#[test]
fn digits_are_one_range() {
    let digit = "Ult1(Add8(b0, 0xd0:8), 0xa:8)";
    for signed in [false, true] {
        let mut w = Writer::new();
        let c = if signed { w.character(0) } else { w.byte(0) };
        // (unsigned)(c - '0') <= 9
        let value = w.with(Op::Sub, c, 48);
        let small = w.with(Op::Ule, value, 9);
        assert_eq!(w.show(small), digit);
        // c >= '0' && c <= '9'
        let zero = w.0.constant(32, 48);
        let (low, high) = (w.op(Op::Sle, zero, c), w.with(Op::Sle, c, 57));
        let both = w.op(Op::And, low, high);
        assert_eq!(w.show(both), digit);
        let (low, high) = (w.with(Op::Slt, c, 48), w.op(Op::Slt, c, zero));
        assert_eq!(low, high);
        let above = w.with(Op::Sle, c, 57);
        let above = w.0.not(above);
        let outside = w.op(Op::Or, low, above);
        let inside = w.0.not(outside);
        assert_eq!(w.show(inside), digit);
        // (unsigned char)(c - '0') < 10
        let narrow = w.0.extract(value, 0, 8);
        let small = w.with(Op::Ult, narrow, 10);
        assert_eq!(w.show(small), digit);
    }
}

#[test]
fn case_is_folded() {
    let mut w = Writer::new();
    let c = w.byte(0);
    let upper = w.with(Op::Add, c, -65);
    let upper = w.with(Op::Ult, upper, 26);
    let lower = w.with(Op::Add, c, 32);
    let lower = w.ite(upper, lower, c);
    let is_a = w.with(Op::Eq, lower, 97);
    assert_eq!(w.show(is_a), "Or1(Eq1(b0, 0x41:8), Eq1(b0, 0x61:8))");
    let lower = w.with(Op::Or, c, 32);
    let is_a = w.with(Op::Eq, lower, 97);
    assert_eq!(w.show(is_a), "Eq1(And8(b0, 0xdf:8), 0x41:8)");
    let upper = w.with(Op::And, c, 0xdf);
    let is_a_again = w.with(Op::Eq, upper, 65);
    assert_eq!(is_a_again, is_a);
}

#[test]
fn conditions_of_clang_without_optimization() {
    let mut w = Writer::new();
    let (a, b) = (w.byte(0), w.byte(1));
    let less = w.op(Op::Slt, a, b);
    assert_eq!(w.show(less), "Ult1(b0, b1)");
    // int t = a < b; if (t != 0)
    let int = w.0.op(Op::ZExt, 32, &[less]);
    assert_eq!(w.with(Op::Ne, int, 0), less);
    assert_eq!(w.with(Op::Eq, int, 1), less);
    let not = w.0.not(less);
    assert_eq!(w.with(Op::Eq, int, 0), not);
    // !!t, and through a bool in memory
    let one = w.with(Op::Xor, int, 1);
    assert_eq!(w.with(Op::Eq, one, 0), less);
    let byte = w.0.op(Op::ZExt, 8, &[less]);
    let bit = w.0.extract(byte, 0, 1);
    assert_eq!(bit, less);
    let masked = w.with(Op::And, byte, 1);
    assert_eq!(w.with(Op::Ne, masked, 0), less);
    // t ? 1 : 0
    let (yes, no) = (w.0.constant(32, 1), w.0.constant(32, 0));
    assert_eq!(w.ite(less, yes, no), int);
    // t ? 5 : 7
    let (five, seven) = (w.0.constant(32, 5), w.0.constant(32, 7));
    let choice = w.ite(less, five, seven);
    assert_eq!(w.with(Op::Eq, choice, 5), less);
    assert_eq!(w.with(Op::Slt, choice, 6), less);
    let never = w.with(Op::Slt, choice, 5);
    assert_eq!(w.0.value(never), Some(0));
}

#[test]
fn results_of_strcmp_are_compared() {
    let mut w = Writer::new();
    // Two bytes of a string against "ab".
    let mut result = w.0.constant(32, 0);
    for (index, letter) in [(1, 98), (0, 97)] {
        let byte = w.byte(index);
        let difference = w.with(Op::Sub, byte, letter);
        let other = w.with(Op::Ne, byte, letter);
        result = w.ite(other, difference, result);
    }
    let equal = w.with(Op::Eq, result, 0);
    assert_eq!(w.show(equal), "And1(Eq1(b1, 0x62:8), Eq1(b0, 0x61:8))");
    // Against another string.
    let (a, b) = (w.byte(2), w.byte(3));
    let difference = w.op(Op::Sub, a, b);
    let less = w.with(Op::Slt, difference, 0);
    assert_eq!(w.show(less), "Ult1(b2, b3)");
    let greater = w.with(Op::Sle, difference, 0);
    let greater = w.0.not(greater);
    assert_eq!(w.show(greater), "Ult1(b3, b2)");
    let equal = w.with(Op::Eq, difference, 0);
    assert_eq!(w.show(equal), "Eq1(b2, b3)");
    // -1, 0, 1
    let (minus, zero, one) = (
        w.0.constant(32, u128::MAX),
        w.0.constant(32, 0),
        w.0.constant(32, 1),
    );
    let sign = w.ite(greater, one, zero);
    let sign = w.ite(less, minus, sign);
    assert_eq!(w.with(Op::Slt, sign, 0), less);
    let not_equal = w.with(Op::Ne, sign, 0);
    let either = w.op(Op::Or, less, greater);
    assert_eq!(not_equal, either);
}

#[test]
fn numbers_are_linear() {
    let mut w = Writer::new();
    let (c, d) = (w.byte(0), w.byte(1));
    let (high, low) = (w.with(Op::Sub, c, 48), w.with(Op::Sub, d, 48));
    let ten = w.with(Op::Mul, high, 10);
    let number = w.op(Op::Add, ten, low);
    let sum = "Add32(Add32(Mul32(ZExt32(b0), 0xa:32), ZExt32(b1)), 0xfffffdf0:32)";
    assert_eq!(w.show(number), sum);
    let high_again = w.op(Op::Sub, number, low);
    assert_eq!(high_again, ten);
    // x * 10 > 600 where that cannot overflow
    let product = w.with(Op::Mul, c, 10);
    let limit = w.0.constant(32, 600);
    let large = w.op(Op::Slt, limit, product);
    assert_eq!(w.show(large), "Xor1(Ult1(b0, 0x3d:8), 0x1:1)");
    let quotient = w.with(Op::SDiv, c, 10);
    let fifties = w.with(Op::Eq, quotient, 5);
    assert_eq!(w.show(fifties), "Ult1(Add8(b0, 0xce:8), 0xa:8)");
    // x + x + 2 * x - 4 * x
    let twice = w.op(Op::Add, c, c);
    let shifted = w.with(Op::Shl, c, 1);
    assert_eq!(twice, shifted);
    let four = w.op(Op::Add, twice, shifted);
    let product = w.with(Op::Mul, c, 4);
    let nothing = w.op(Op::Sub, four, product);
    assert_eq!(w.0.value(nothing), Some(0));
}

#[test]
fn long_sums_do_not_grow() {
    let mut w = Writer::new();
    let mut sum = w.0.constant(32, 0);
    let mut last = 0;
    for index in 0..1000 {
        let byte = w.byte(index % 50);
        let byte = w.with(Op::Mul, byte, 31 + i64::from(index));
        sum = w.op(Op::Add, sum, byte);
        sum = w.with(Op::Xor, sum, 0x5a5a);
        let grown = w.0.len() - last;
        last = w.0.len();
        assert!(grown <= 16, "{grown}");
    }
    // A chain of choices that is longer than anyone follows.
    let mut chain = w.0.constant(32, 3);
    for index in 0..1000 {
        let byte = w.byte(index);
        let zero = w.with(Op::Eq, byte, i64::from(index % 200));
        let constant = w.0.constant(32, u128::from(index));
        chain = w.ite(zero, constant, chain);
    }
    let before = w.0.len();
    let equal = w.with(Op::Eq, chain, 12345);
    let less = w.with(Op::Ult, chain, 77);
    assert_ne!(equal, less);
    assert!(w.0.len() - before < 1000);
}

#[test]
fn tables_are_read_at_constant_offsets() {
    let mut w = Writer::new();
    let b = byte(&mut w.0, 0);
    let table = w.0.add_table(Table {
        bytes: vec![1, 0, 3, 4],
        cells: vec![(1, b)],
    });
    let mut read = |offset: u128, width| {
        let offset = w.0.constant(64, offset);
        let made = Term {
            b: table,
            ..term(Op::Lookup, width, &[offset])
        };
        let expr = w.0.make(made);
        w.show(expr)
    };
    assert_eq!(read(2, 16), "0x403:16");
    assert_eq!(read(0, 16), "Concat16(b0, 0x1:8)");
    // Out of bounds it stays.
    assert!(read(3, 16).starts_with("Lookup16("));
    let offset = w.0.op(Op::ZExt, 64, &[b]);
    let bytes = vec![7; 256];
    let cells = Vec::new();
    let table = w.0.add_table(Table { bytes, cells });
    let same = w.0.make(Term {
        b: table,
        ..term(Op::Lookup, 8, &[offset])
    });
    assert_eq!(w.0.value(same), Some(7));
}

#[test]
fn text_of_constants_is_constant() {
    let mut w = Writer::new();
    let conversion = w.0.add_conversion("%lld");
    let value = w.0.constant(32, 42);
    let length = w.0.make(Term {
        b: conversion,
        ..term(Op::RenderLen, 32, &[value])
    });
    assert_eq!(w.0.value(length), Some(2));
    let digit = w.0.make(Term {
        b: conversion,
        c: 1,
        ..term(Op::RenderByte, 8, &[value])
    });
    assert_eq!(w.0.value(digit), Some(b'2'.into()));
}

#[test]
fn floats_of_integers_come_back() {
    let mut w = Writer::new();
    let int = w.character(0);
    let double = w.0.op(Op::SiToFp, 64, &[int]);
    assert_eq!(w.0.op(Op::FpToSi, 32, &[double]), int);
    // Not all of these fit.
    let long = long(&mut w.0, 0);
    let double = w.0.op(Op::SiToFp, 64, &[long]);
    let back = w.0.op(Op::FpToSi, 64, &[double]);
    assert_ne!(back, long);
    let not_a_number = w.0.op(Op::FAdd, 64, &[double, back]);
    let ordered = w.0.make(Term {
        c: 7,
        ..term(Op::FCmp, 1, &[not_a_number, double])
    });
    let unordered = w.0.not(ordered);
    assert_eq!(w.0.term(unordered).c, 8);
}
