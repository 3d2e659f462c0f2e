//! What local search finds, and what it must not claim.

use std::time::Duration;

use crate::clock::Moment;

use beagle_trace::op::Op;

use super::samples::{Samples, bytes};
use super::*;
use crate::pool::{Table, Term};
use crate::tape::{Tape, Values};
use crate::variable::{SourceKey, VariableKind};

fn later() -> Moment {
    Moment::now() + Duration::from_secs(60)
}

/// Whether the conditions hold for values; others are those of the hint.
fn holds(pool: &Pool, conditions: &[Expr], hint: &[u8], model: &[(Variable, u128)]) -> bool {
    let tape = Tape::new(pool, conditions);
    let mut values = Values::default();
    tape.run(&mut values, |variable| value(variable, hint, model));
    tape.all_hold(&values)
}

fn value(variable: Variable, hint: &[u8], model: &[(Variable, u128)]) -> u128 {
    let found = model.iter().find(|(known, _)| *known == variable);
    let hint = hint.get(variable.0 as usize).copied().unwrap_or(0);
    found.map_or(hint.into(), |&(_, value)| value)
}

fn ask(pool: &Pool, conditions: &[Expr], hint: &[u8]) -> Found {
    let question = Question {
        conditions,
        hint: &|variable| hint.get(variable.0 as usize).copied().unwrap_or(0).into(),
        deadline: later(),
    };
    Search::default().solve(pool, &question)
}

/// The input that the search finds, which is checked; and how many bytes of it are new.
fn solved(pool: &Pool, conditions: &[Expr], hint: &[u8]) -> (Vec<u8>, usize) {
    let found = ask(pool, conditions, hint);
    let Found::Model(model) = &found else {
        panic!("{found:?}");
    };
    assert!(holds(pool, conditions, hint, model), "{model:?}");
    let input = |at: usize| value(Variable(at as u32), hint, model) as u8;
    let input: Vec<u8> = (0..hint.len()).map(input).collect();
    let changed = input.iter().zip(hint).filter(|(a, b)| a != b).count();
    (input, changed)
}

/// A few ways to write expressions.
struct Writer {
    pool: Pool,
    bytes: Vec<Expr>,
}

impl Writer {
    fn new(count: u32) -> Self {
        let mut pool = Pool::new();
        let bytes = bytes(&mut pool, count);
        Self { pool, bytes }
    }

    fn number(&mut self, width: u16, value: u128) -> Expr {
        self.pool.constant(width, value)
    }

    fn two(&mut self, op: Op, a: Expr, b: Expr) -> Expr {
        let width = if op.is_comparison() {
            1
        } else {
            self.pool.width(a)
        };
        self.pool.op(op, width, &[a, b])
    }

    fn with(&mut self, op: Op, a: Expr, value: u128) -> Expr {
        let b = self.number(self.pool.width(a), value);
        self.two(op, a, b)
    }

    fn wide(&mut self, a: Expr, width: u16) -> Expr {
        self.pool.op(Op::ZExt, width, &[a])
    }

    /// Bytes from one on, the first lowest.
    fn word(&mut self, start: usize, count: usize) -> Expr {
        let mut word = self.bytes[start];
        for at in 1..count {
            let width = 8 * (at as u16 + 1);
            word = self
                .pool
                .op(Op::Concat, width, &[self.bytes[start + at], word]);
        }
        word
    }

    /// Bytes from one on as compilers put them together: shifted and joined.
    fn shifted_word(&mut self, start: usize, count: usize, width: u16) -> Expr {
        let mut word = self.wide(self.bytes[start], width);
        for at in 1..count {
            let byte = self.wide(self.bytes[start + at], width);
            let byte = self.with(Op::Shl, byte, 8 * at as u128);
            word = self.two(Op::Or, word, byte);
        }
        word
    }

    /// The decimal number in bytes, and the conditions that they are digits.
    fn decimal(&mut self, start: usize, count: usize, conditions: &mut Vec<Expr>) -> Expr {
        let mut number = self.number(32, 0);
        for at in start..start + count {
            let digit = self.wide(self.bytes[at], 32);
            let digit = self.with(Op::Sub, digit, b'0'.into());
            conditions.push(self.with(Op::Ult, digit, 10));
            let tenfold = self.with(Op::Mul, number, 10);
            number = self.two(Op::Add, tenfold, digit);
        }
        number
    }

    fn float_compare(&mut self, a: Expr, b: Expr, predicate: u32) -> Expr {
        self.pool.make(Term {
            op: Op::FCmp,
            width: 1,
            a: a.0,
            b: b.0,
            c: predicate,
        })
    }

    fn float(&mut self, value: f64) -> Expr {
        self.number(64, value.to_bits().into())
    }
}

#[test]
fn one_byte_is_changed_to_what_a_person_would_type() {
    let mut w = Writer::new(3);
    let digit = w.with(Op::Ult, w.bytes[1], b'5'.into());
    let digit_too = w.with(Op::Ule, w.bytes[1], b'9'.into());
    let (input, changed) = solved(&w.pool, &[digit, digit_too], b"a7c");
    assert_eq!((&input[..], changed), (&b"a4c"[..], 1));
    let is_zero = w.with(Op::Eq, w.bytes[2], 0);
    let (input, _) = solved(&w.pool, &[is_zero], b"a7c");
    assert_eq!(input, b"a7\0");
}

#[test]
fn what_holds_already_is_left_alone() {
    let mut w = Writer::new(2);
    let differ = w.two(Op::Ne, w.bytes[0], w.bytes[1]);
    assert_eq!(solved(&w.pool, &[differ], b"ab"), (b"ab".to_vec(), 0));
    assert_eq!(solved(&w.pool, &[], b"ab").1, 0);
}

#[test]
fn words_of_bytes_are_set() {
    let mut w = Writer::new(8);
    let word = w.word(0, 4);
    let magic = w.with(Op::Eq, word, 0xdead_beef);
    let expected = (vec![0xef, 0xbe, 0xad, 0xde, b'e'], 4);
    assert_eq!(solved(&w.pool, &[magic], b"abcde"), expected);
    // Two of the bytes are right already.
    let (_, changed) = solved(&w.pool, &[magic], b"\xefb\xadd");
    assert_eq!(changed, 2);
    let word = w.shifted_word(0, 4, 32);
    let magic = w.with(Op::Eq, word, 0xdead_beef);
    assert_eq!(solved(&w.pool, &[magic], b"abcde"), expected);
    let word = w.shifted_word(0, 8, 64);
    let large = w.with(Op::Ult, word, 0x0102_0304_0506_0708);
    let (_, changed) = solved(&w.pool, &[large], b"abcdefgh");
    assert_eq!(changed, 1);
}

#[test]
fn decimal_numbers_are_written() {
    let mut w = Writer::new(6);
    for (op, than, hint, most) in [
        (Op::Eq, 4711, b"0012", 4),
        (Op::Eq, 12, b"0012", 0),
        (Op::Eq, 13, b"0012", 1),
        (Op::Eq, 1012, b"0019", 2),
        (Op::Ult, 12, b"0012", 1),
        (Op::Slt, 12, b"0999", 2),
    ] {
        let mut conditions = Vec::new();
        let number = w.decimal(0, 4, &mut conditions);
        conditions.push(w.with(op, number, than));
        let (input, changed) = solved(&w.pool, &conditions, hint);
        assert!(input.iter().all(u8::is_ascii_digit), "{input:?}");
        assert!(changed <= most, "{op:?} {than} {input:?}");
    }
    let mut conditions = Vec::new();
    let (x, y) = (
        w.decimal(0, 3, &mut conditions),
        w.decimal(3, 3, &mut conditions),
    );
    let limit = w.number(32, 600);
    conditions.push(w.two(Op::Slt, limit, x));
    conditions.push(w.with(Op::Slt, x, 605));
    let sum = w.two(Op::Add, x, y);
    conditions.push(w.with(Op::Eq, sum, 777));
    solved(&w.pool, &conditions, b"012345");
}

#[test]
fn two_bytes_that_depend_on_each_other() {
    let mut w = Writer::new(2);
    let (a, b) = (w.bytes[0], w.bytes[1]);
    let (xor, sum) = (w.two(Op::Xor, a, b), w.two(Op::Add, a, b));
    let conditions = [w.with(Op::Eq, xor, 0x21), w.with(Op::Eq, sum, 0xb1)];
    solved(&w.pool, &conditions, b"xy");
    let (a, b) = (w.wide(a, 32), w.wide(b, 32));
    let ten = w.with(Op::Mul, a, 10);
    let number = w.two(Op::Add, ten, b);
    let limit = w.number(32, 2_500);
    let conditions = [w.two(Op::Ult, limit, number), w.with(Op::Ult, b, 0x7f)];
    let (input, changed) = solved(&w.pool, &conditions, b"00");
    assert_eq!(changed, 1, "{input:?}");
}

#[test]
fn tables_are_read_backwards() {
    let mut w = Writer::new(5);
    let bytes: Vec<u8> = (0..=255u8).map(|byte| byte.to_ascii_lowercase()).collect();
    let cells = Vec::new();
    let table = w.pool.add_table(Table { bytes, cells });
    let lower = |w: &mut Writer, at: Expr| {
        let offset = w.wide(at, 64);
        w.pool.make(Term {
            op: Op::Lookup,
            width: 8,
            a: offset.0,
            b: table,
            c: 0,
        })
    };
    let first = w.bytes[0];
    let first = lower(&mut w, first);
    let is_q = w.with(Op::Eq, first, b'q'.into());
    assert_eq!(solved(&w.pool, &[is_q], b"abc").0, b"qbc");
    assert_eq!(solved(&w.pool, &[is_q], b"ABC").0, b"QBC");
    // Of a sum of bytes, so that no one byte decides alone.
    let sum = (1..5).fold(first, |sum, at| w.two(Op::Xor, sum, w.bytes[at]));
    let mixed = lower(&mut w, sum);
    let is_z = w.with(Op::Eq, mixed, b'z'.into());
    assert!(solved(&w.pool, &[is_z], b"abcde").1 <= 1);
}

#[test]
fn strings_are_spelled() {
    let mut w = Writer::new(8);
    let word = b"password";
    // One condition after the other, as strcmp in a loop.
    let each: Vec<Expr> = (0..8)
        .map(|at| w.with(Op::Eq, w.bytes[at], word[at].into()))
        .collect();
    assert_eq!(solved(&w.pool, &each, b"pa55word"), (word.to_vec(), 2));
    // All in one.
    let all = each.iter().copied().reduce(|a, b| w.two(Op::And, a, b));
    let all = all.expect("eight");
    assert_eq!(solved(&w.pool, &[all], b"........").0, word);
    // The first difference, as strcmp gives it.
    let zero = w.number(32, 0);
    let difference = (0..8).rev().fold(zero, |rest, at| {
        let byte = w.wide(w.bytes[at], 32);
        let difference = w.with(Op::Sub, byte, word[at].into());
        w.pool.op(Op::Ite, 32, &[each[at], rest, difference])
    });
    let equal = w.with(Op::Eq, difference, 0);
    assert_eq!(solved(&w.pool, &[equal], b"........").0, word);
}

#[test]
fn hashes_of_two_bytes_are_broken() {
    let mut w = Writer::new(2);
    let mut hash = w.number(64, 0xcbf2_9ce4_8422_2325);
    let evaluate = |text: &[u8]| {
        text.iter()
            .fold(0xcbf2_9ce4_8422_2325u64, |mut hash, &byte| {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
                hash ^ hash >> 29
            })
    };
    for at in 0..2 {
        let byte = w.wide(w.bytes[at], 64);
        hash = w.two(Op::Xor, hash, byte);
        hash = w.with(Op::Mul, hash, 0x0000_0100_0000_01b3);
        let shifted = w.with(Op::LShr, hash, 29);
        hash = w.two(Op::Xor, hash, shifted);
    }
    let equal = w.with(Op::Eq, hash, evaluate(b"Hi").into());
    assert_eq!(solved(&w.pool, &[equal], b"..").0, b"Hi");
    let never = w.with(Op::Eq, hash, 12345);
    assert_eq!(ask(&w.pool, &[never], b".."), Found::Conflict(vec![0]));
}

#[test]
fn checksums_of_many_bytes_are_met() {
    let mut w = Writer::new(12);
    let start = w.number(32, 7);
    let sum = (0..12).fold(start, |sum, at| {
        let byte = w.wide(w.bytes[at], 32);
        let more = w.with(Op::Mul, sum, 31);
        w.two(Op::Add, more, byte)
    });
    let low = w.with(Op::And, sum, 0xfff);
    let equal = w.with(Op::Eq, low, 0x123);
    let (_, changed) = solved(&w.pool, &[equal], b"hello, world");
    assert!(changed <= 3, "{changed}");
}

#[test]
fn doubles_of_input_bytes() {
    let mut w = Writer::new(16);
    let (x, y) = (w.word(0, 8), w.word(8, 8));
    let square = w.two(Op::FMul, x, x);
    let sum = w.two(Op::FAdd, square, y);
    let (limit, most) = (w.float(2.5), w.float(1.1));
    let conditions = [w.float_compare(sum, limit, 2), w.float_compare(x, most, 4)];
    for hint in [[0; 16], [b'a'; 16], [0xff; 16], *b"0123456789abcdef"] {
        solved(&w.pool, &conditions, &hint);
    }
    // Between two values, and equal to one.
    let product = w.two(Op::FMul, x, y);
    let (low, high) = (w.float(10.0), w.float(10.5));
    let between = [
        w.float_compare(product, low, 2),
        w.float_compare(product, high, 4),
        w.float_compare(x, low, 2),
    ];
    solved(&w.pool, &between, &[b'1'; 16]);
    let quotient = w.two(Op::FDiv, x, y);
    let equal = [
        w.float_compare(quotient, low, 1),
        w.float_compare(y, most, 2),
    ];
    solved(&w.pool, &equal, &[b'7'; 16]);
    // Numbers that were integers.
    let whole = w.shifted_word(0, 4, 32);
    let double = w.pool.op(Op::SiToFp, 64, &[whole]);
    let half = w.float(0.5);
    let halved = w.two(Op::FMul, double, half);
    let goal = w.float(1234.5);
    let equal = w.float_compare(halved, goal, 1);
    assert_eq!(solved(&w.pool, &[equal], b"aaaa").0, 2469u32.to_le_bytes());
}

#[test]
fn texts_of_numbers_are_read_back() {
    let mut w = Writer::new(2);
    let number = w.word(0, 2);
    let b = w.pool.add_conversion("%llu");
    let mut byte = |c: u32, value: u8| {
        let (op, a) = (Op::RenderByte, number.0);
        let byte = w.pool.make(Term {
            op,
            width: 8,
            a,
            b,
            c,
        });
        w.with(Op::Eq, byte, value.into())
    };
    let conditions = [byte(0, b'4'), byte(2, b'9'), byte(3, 0)];
    let (input, _) = solved(&w.pool, &conditions, b"ab");
    let text = u16::from_le_bytes([input[0], input[1]]).to_string();
    assert!(
        text.len() == 3 && text.starts_with('4') && text.ends_with('9'),
        "{text}"
    );
}

#[test]
fn lengths_are_found() {
    let mut w = Writer::new(1);
    let source = w.pool.source(&SourceKey::Stdin);
    let size = w.pool.variable(VariableKind::Size(source));
    let limit = w.number(64, 1000);
    let longer = w.two(Op::Ult, limit, size);
    let Found::Model(model) = ask(&w.pool, &[longer], b"a") else {
        panic!("not found");
    };
    assert_eq!(model, [(Variable(1), 1001)]);
}

#[test]
fn conflicts_of_one_byte_are_small() {
    let mut w = Writer::new(2);
    let conditions = [
        w.with(Op::Ne, w.bytes[0], 9),
        w.with(Op::Ult, w.bytes[0], 20),
        w.with(Op::Eq, w.bytes[1], 20),
        w.with(Op::Ne, w.bytes[0], 10),
        w.with(Op::Eq, w.bytes[0], 40),
    ];
    assert_eq!(
        ask(&w.pool, &conditions, b"ab"),
        Found::Conflict(vec![1, 4])
    );
    let never = w.pool.truth(false);
    assert_eq!(
        ask(&w.pool, &[conditions[0], never], b"ab"),
        Found::Conflict(vec![1])
    );
}

#[test]
fn what_is_not_defined_is_no_conflict() {
    let mut w = Writer::new(2);
    // Values that have no bit in common, so that rewriting does not decide.
    let (bytes, cells) = ([1, 6].repeat(50), Vec::new());
    let table = w.pool.add_table(Table { bytes, cells });
    let sum = w.two(Op::Xor, w.bytes[0], w.bytes[1]);
    let read = |w: &mut Writer, of: Expr| {
        let a = w.wide(of, 64).0;
        let (op, b) = (Op::Lookup, table);
        w.pool.make(Term {
            op,
            width: 8,
            a,
            b,
            c: 0,
        })
    };
    for of in [w.bytes[0], sum] {
        let entry = read(&mut w, of);
        let two = w.with(Op::Eq, entry, 2);
        // Outside of the table anything may be read.
        assert_eq!(ask(&w.pool, &[two], b"ab"), Found::Nothing(Why::Budget));
        let inside = w.with(Op::Ult, of, 100);
        assert_eq!(
            ask(&w.pool, &[two, inside], b"ab"),
            Found::Conflict(vec![0, 1])
        );
        let one = w.with(Op::Eq, entry, 1);
        solved(&w.pool, &[one], b"\xf0\x0f");
    }
}

/// What trying all pairs says: whether some pair satisfies all, and whether some pair might.
fn brute_force(pool: &Pool, conditions: &[Expr]) -> (bool, bool) {
    let tape = Tape::new(pool, conditions);
    let mut values = Values::default();
    let (mut holds, mut open) = (false, false);
    for pair in 0..0x1_0000u32 {
        tape.run(&mut values, |variable| {
            (pair >> (8 * variable.0) & 0xff).into()
        });
        holds |= tape.all_hold(&values);
        open |= (0..conditions.len()).all(|at| tape.root(&values, at) != Some(0));
    }
    (holds, open)
}

#[test]
fn answers_on_two_bytes_are_those_of_brute_force() {
    for exotic in [false, true] {
        let mut pool = Pool::new();
        let leaves = bytes(&mut pool, 2);
        let mut samples = Samples {
            pool: &mut pool,
            leaves,
            random: Random::new(11),
            exotic,
        };
        let (mut models, mut conflicts) = (0, 0);
        for round in 0..70 {
            let count = 1 + round % 3;
            let conditions: Vec<Expr> = (0..count).map(|_| samples.condition(2)).collect();
            let hint = samples.random.next().to_le_bytes();
            match ask(samples.pool, &conditions, &hint[..2]) {
                Found::Model(model) => {
                    assert!(holds(samples.pool, &conditions, &hint[..2], &model));
                    models += 1;
                }
                Found::Conflict(core) => {
                    let core: Vec<Expr> = core.iter().map(|&at| conditions[at]).collect();
                    assert_eq!(brute_force(samples.pool, &core), (false, false));
                    conflicts += 1;
                }
                Found::Nothing(_) => {
                    let (holds, open) = brute_force(samples.pool, &conditions);
                    assert!(!holds, "{round}");
                    // Texts and floating point can be too much work.
                    assert!(open || exotic, "{round}");
                }
            }
        }
        assert!(models > 20 && conflicts > 8, "{models} {conflicts}");
    }
}

#[test]
fn domains_are_kept() {
    let mut w = Writer::new(4);
    let digits: ByteSet = {
        let mut set = ByteSet::NONE;
        (b'0'..=b'9').for_each(|digit| set.insert(digit));
        set
    };
    let domains: FxHashMap<Variable, ByteSet> = (0..4).map(|at| (Variable(at), digits)).collect();
    let (a, b, c) = (w.bytes[0], w.bytes[1], w.bytes[2]);
    let product = {
        let (a, b, c) = (w.wide(a, 32), w.wide(b, 32), w.wide(c, 32));
        let product = w.two(Op::Mul, a, b);
        w.two(Op::Mul, product, c)
    };
    let goal = 50 * 51 * 57;
    let sum = w.two(Op::Add, a, b);
    for conditions in [
        vec![w.with(Op::Eq, product, goal)],
        vec![w.with(Op::Eq, sum, 100)],
        vec![w.with(Op::Eq, product, goal), w.with(Op::Ult, sum, 103)],
    ] {
        let hint = |variable: Variable| if variable.0 == 3 { 0 } else { 0x30 };
        let question = Question {
            conditions: &conditions,
            hint: &hint,
            deadline: later(),
        };
        let found = Search::default().solve_within(&w.pool, &question, &domains, Patience::Much);
        let Found::Model(model) = found else {
            panic!("{found:?}");
        };
        assert!(holds(&w.pool, &conditions, b"000\0", &model));
        assert!(model.iter().all(|&(_, value)| digits.contains(value as u8)));
        // The hint of the last one is outside of its domain.
        assert_eq!(model.last().map(|last| last.0), Some(Variable(3)));
    }
    let conditions = [w.with(Op::Eq, sum, 2)];
    let question = Question {
        conditions: &conditions,
        hint: &|_| 1,
        deadline: later(),
    };
    let found = Search::default().solve_within(&w.pool, &question, &domains, Patience::Much);
    assert_eq!(found, Found::Conflict(vec![0]));
}

#[test]
fn nothing_is_begun_after_the_deadline() {
    let mut w = Writer::new(4);
    let word = w.word(0, 4);
    let magic = w.with(Op::Eq, word, 5);
    let question = Question {
        conditions: &[magic],
        hint: &|_| 0x61,
        deadline: Moment::now(),
    };
    let found = Search::default().solve(&w.pool, &question);
    assert_eq!(found, Found::Nothing(Why::Budget));
}

#[test]
fn deep_expressions_are_no_trouble() {
    let mut w = Writer::new(3);
    let mut deep = w.wide(w.bytes[0], 32);
    let others = [w.wide(w.bytes[1], 32), w.wide(w.bytes[2], 32)];
    for level in 0..100_000 {
        let op = [Op::Add, Op::Xor][level % 2];
        deep = w.two(op, deep, others[level % 2]);
    }
    let equal = w.with(Op::Ult, deep, 10);
    if let Found::Model(model) = ask(&w.pool, &[equal], b"abc") {
        assert!(holds(&w.pool, &[equal], b"abc", &model));
    }
}

#[test]
fn long_checksums_are_no_trouble() {
    let mut w = Writer::new(3000);
    let start = w.number(32, 1);
    let sum = (0..3000).fold(start, |sum, at| {
        let byte = w.wide(w.bytes[at], 32);
        let more = w.with(Op::Mul, sum, 31);
        w.two(Op::Add, more, byte)
    });
    let low = w.with(Op::Eq, sum, 0x1234);
    let hint = [b'x'; 3000];
    if let Found::Model(model) = ask(&w.pool, &[low], &hint) {
        assert!(holds(&w.pool, &[low], &hint, &model));
    }
}

#[test]
fn one_search_answers_many_questions_alike() {
    let mut pool = Pool::new();
    let leaves = bytes(&mut pool, 5);
    let mut samples = Samples {
        pool: &mut pool,
        leaves,
        random: Random::new(21),
        exotic: true,
    };
    let mut search = Search::default();
    let mut models = 0;
    for round in 0..60 {
        let conditions: Vec<Expr> = (0..1 + round % 4).map(|_| samples.condition(3)).collect();
        let hint = samples.random.next().to_le_bytes();
        let question = Question {
            conditions: &conditions,
            hint: &|variable| hint[variable.0 as usize].into(),
            deadline: later(),
        };
        let found = search.solve(samples.pool, &question);
        if let Found::Model(model) = &found {
            assert!(holds(samples.pool, &conditions, &hint, model), "{round}");
            models += 1;
        }
        let again = Search::default().solve(samples.pool, &question);
        assert_eq!(found, again);
    }
    assert!(models > 30, "{models}");
}
