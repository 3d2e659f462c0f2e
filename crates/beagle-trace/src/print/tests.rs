//! Exact texts of expressions.

use crate::node::NodeId;
use crate::op::Op;
use crate::wire::cell;
use crate::{Input, Printer, Recording};

/// Builds expressions over one input.
struct Expressions {
    recording: Recording,
}

impl Expressions {
    fn new() -> Self {
        Self {
            recording: Recording::new(),
        }
    }

    fn op(&mut self, op: Op, width: u16, a: NodeId, b: NodeId, c: u32) -> NodeId {
        self.recording.node(op, width, [a, b, c], 0)
    }

    fn number(&mut self, width: u16, value: i128) -> NodeId {
        self.recording.constant(width, value as u128)
    }

    fn byte(&mut self, source: u32, index: u32) -> NodeId {
        self.op(Op::Var, 8, source, index, 0)
    }

    /// A character as C computes with it.
    fn int(&mut self, source: u32, index: u32) -> NodeId {
        let byte = self.byte(source, index);
        self.op(Op::SExt, 32, byte, 0, 0)
    }

    /// An operator with a constant at the right.
    fn with(&mut self, op: Op, width: u16, a: NodeId, number: i128) -> NodeId {
        let operand = self.recording.nodes[a as usize].width;
        let b = self.number(operand, number);
        self.op(op, width, a, b, 0)
    }

    fn print(&self, id: NodeId) -> String {
        self.print_short(id, 160)
    }

    fn print_short(&self, id: NodeId, length: usize) -> String {
        let input = input();
        let trace = self.recording.trace().expect("well typed");
        Printer::new(&trace, &input).max_len(length).print(id)
    }

    fn opposite(&self, id: NodeId) -> String {
        let input = input();
        let trace = self.recording.trace().expect("well typed");
        Printer::new(&trace, &input).condition(id, false)
    }
}

fn input() -> Input {
    Input::from_args("prog", ["12", "x"])
        .with_stdin("hello")
        .with_file("data/x.txt", "abc")
        .with_env("HOME", "/")
        .with_file("my file", "")
}

#[test]
fn arithmetic_on_digits_reads_like_c() {
    let mut e = Expressions::new();
    let (first, second) = (e.int(1, 0), e.int(1, 1));
    let a = e.with(Op::Sub, 32, first, 48);
    let b = e.with(Op::Add, 32, second, -48);
    let tens = e.with(Op::Mul, 32, a, 10);
    let sum = e.op(Op::Add, 32, tens, b, 0);
    let limit = e.number(32, 600);
    let greater = e.op(Op::Slt, 1, limit, sum, 0);
    assert_eq!(
        e.print(greater),
        "(arg1[0] - '0') * 10 + (arg1[1] - '0') > 600"
    );
    assert_eq!(
        e.opposite(greater),
        "(arg1[0] - '0') * 10 + (arg1[1] - '0') <= 600"
    );
}

#[test]
fn sources_have_names() {
    let mut e = Expressions::new();
    let names: Vec<_> = (0..8).map(|source| e.byte(source, 3)).collect();
    let texts: Vec<_> = names.iter().map(|&id| e.print(id)).collect();
    assert_eq!(
        texts,
        [
            "arg0[3]",
            "arg1[3]",
            "arg2[3]",
            "stdin[3]",
            "data/x.txt[3]",
            "$HOME[3]",
            "\"my file\"[3]",
            "source7[3]"
        ]
    );
    let size = e.op(Op::Size, 64, 3, 0, 0);
    let count = e.op(Op::ArgCount, 32, 0, 0, 0);
    let empty = e.with(Op::Eq, 1, size, 0);
    let few = e.with(Op::Slt, 1, count, 2);
    assert_eq!(e.print(empty), "size(stdin) == 0");
    assert_eq!(e.print(few), "argc < 2");
    assert_eq!(e.opposite(few), "argc >= 2");
}

#[test]
fn characters_are_compared_with_characters() {
    let mut e = Expressions::new();
    let (byte, int) = (e.byte(3, 0), e.int(3, 0));
    for (value, text) in [
        (97, "stdin[0] == 'a'"),
        (10, "stdin[0] == '\\n'"),
        (0, "stdin[0] == '\\0'"),
        (39, "stdin[0] == '\\''"),
        (34, "stdin[0] == '\"'"),
        (92, "stdin[0] == '\\\\'"),
        (1, "stdin[0] == 1"),
        (-1, "stdin[0] == -1"),
    ] {
        let equal = e.with(Op::Eq, 1, byte, value);
        assert_eq!(e.print(equal), text);
        let equal = e.with(Op::Eq, 1, int, value);
        assert_eq!(e.print(equal), text);
    }
    let less = e.with(Op::Slt, 1, int, 32);
    assert_eq!(e.print(less), "stdin[0] < ' '");
    let less = e.with(Op::Slt, 1, int, 10);
    assert_eq!(e.print(less), "stdin[0] < 10");
    let (other, ne) = (e.byte(3, 1), Op::Ne);
    let differ = e.op(ne, 1, byte, other, 0);
    assert_eq!(e.print(differ), "stdin[0] != stdin[1]");
    assert_eq!(e.opposite(differ), "stdin[0] == stdin[1]");
}

#[test]
fn signs_are_shown_where_they_matter() {
    let mut e = Expressions::new();
    let int = e.int(1, 0);
    let sum = e.with(Op::Add, 32, int, -48);
    let digit = e.with(Op::Ult, 1, sum, 10);
    assert_eq!(e.print(digit), "u32(arg1[0] - '0') < 10");
    let wide = e.op(Op::ZExt, 64, sum, 0, 0);
    assert_eq!(e.print(wide), "u32(arg1[0] - '0')");
    let wide = e.op(Op::SExt, 64, sum, 0, 0);
    assert_eq!(e.print(wide), "arg1[0] - '0'");
    let twice = e.with(Op::Mul, 32, int, 2);
    let large = e.with(Op::Slt, 1, twice, -5);
    assert_eq!(e.print(large), "arg1[0] * 2 < -5");
    let large = e.with(Op::Ult, 1, twice, -5);
    assert_eq!(e.print(large), "u32(arg1[0] * 2) < 4294967291");
    let byte = e.byte(1, 0);
    let zext = e.op(Op::ZExt, 32, byte, 0, 0);
    let less = e.with(Op::Ult, 1, zext, 200);
    assert_eq!(e.print(less), "arg1[0] < 200");
    let half = e.with(Op::UDiv, 32, zext, 2);
    assert_eq!(e.print(half), "arg1[0] / 2");
    let half = e.with(Op::UDiv, 32, twice, 2);
    assert_eq!(e.print(half), "u32(arg1[0] * 2) / 2");
    let narrow = e.op(Op::Extract, 8, twice, 0, 0);
    assert_eq!(e.print(narrow), "u8(arg1[0] * 2)");
    let back = e.op(Op::Extract, 8, int, 0, 0);
    assert_eq!(e.print(back), "arg1[0]");
    let high = e.op(Op::Extract, 8, twice, 0, 16);
    assert_eq!(e.print(high), "bits(arg1[0] * 2, 16..24)");
}

#[test]
fn conditions_lose_their_detours() {
    let mut e = Expressions::new();
    let byte = e.byte(1, 0);
    let equal = e.with(Op::Eq, 1, byte, 120);
    let number = e.op(Op::ZExt, 32, equal, 0, 0);
    let holds = e.with(Op::Ne, 1, number, 0);
    assert_eq!(e.print(holds), "arg1[0] == 'x'");
    assert_eq!(e.opposite(holds), "arg1[0] != 'x'");
    let fails = e.with(Op::Eq, 1, number, 0);
    assert_eq!(e.print(fails), "arg1[0] != 'x'");
    let not = e.with(Op::Xor, 1, holds, 1);
    assert_eq!(e.print(not), "arg1[0] != 'x'");
    assert_eq!(e.opposite(not), "arg1[0] == 'x'");
    let second = e.byte(1, 1);
    let other = e.with(Op::Ult, 1, second, 97);
    let both = e.op(Op::And, 1, equal, other, 0);
    let either = e.op(Op::Or, 1, both, not, 0);
    assert_eq!(
        e.print(either),
        "arg1[0] == 'x' && arg1[1] < 'a' || arg1[0] != 'x'"
    );
    assert_eq!(e.opposite(both), "!(arg1[0] == 'x' && arg1[1] < 'a')");
    let (one, zero) = (e.number(32, 1), e.number(32, 0));
    let chosen = e.op(Op::Ite, 32, equal, zero, one);
    assert_eq!(e.print(chosen), "arg1[0] != 'x'");
    assert_eq!(e.print(one), "1");
    assert_eq!(e.opposite(holds), "arg1[0] != 'x'");
}

#[test]
fn parentheses_are_where_they_are_needed() {
    let mut e = Expressions::new();
    let (a, b, c) = (e.int(1, 0), e.int(1, 1), e.int(1, 2));
    let text = |e: &Expressions, id| e.print(id).replace("arg1", "").replace(['[', ']'], "");
    let sum = e.op(Op::Add, 32, a, b, 0);
    let difference = e.op(Op::Sub, 32, a, b, 0);
    let product = e.op(Op::Mul, 32, a, b, 0);
    let cases = [
        (e.op(Op::Add, 32, sum, c, 0), "0 + 1 + 2"),
        (e.op(Op::Add, 32, c, sum, 0), "2 + 0 + 1"),
        (e.op(Op::Sub, 32, c, sum, 0), "2 - (0 + 1)"),
        (e.op(Op::Sub, 32, difference, c, 0), "0 - 1 - 2"),
        (e.op(Op::Add, 32, c, difference, 0), "2 + (0 - 1)"),
        (e.op(Op::Mul, 32, sum, c, 0), "(0 + 1) * 2"),
        (e.op(Op::Add, 32, product, c, 0), "0 * 1 + 2"),
        (e.op(Op::SRem, 32, product, c, 0), "0 * 1 % 2"),
        (e.op(Op::SDiv, 32, c, product, 0), "2 / (0 * 1)"),
        (e.op(Op::Shl, 32, sum, c, 0), "(0 + 1) << 2"),
        (e.op(Op::And, 32, sum, c, 0), "(0 + 1) & 2"),
        (e.with(Op::And, 32, a, 255), "0 & 0xff"),
        (e.with(Op::Xor, 32, sum, -1), "~(0 + 1)"),
    ];
    for (id, expected) in cases {
        assert_eq!(text(&e, id), expected);
    }
    let zero = e.number(32, 0);
    let minus = e.op(Op::Sub, 32, zero, a, 0);
    assert_eq!(text(&e, minus), "-0");
    let twice = e.op(Op::Sub, 32, zero, minus, 0);
    assert_eq!(text(&e, twice), "-(-0)");
    let minus = e.op(Op::Sub, 32, zero, sum, 0);
    assert_eq!(text(&e, minus), "-(0 + 1)");
    let masked = e.with(Op::And, 32, a, 12);
    let equal = e.with(Op::Eq, 1, masked, 4);
    assert_eq!(text(&e, equal), "(0 & 0xc) == 4");
    let shifted = e.with(Op::Shl, 32, b, 8);
    let joined = e.op(Op::Or, 32, a, shifted, 0);
    assert_eq!(text(&e, joined), "0 | (1 << 8)");
    let more = e.op(Op::Or, 32, joined, c, 0);
    assert_eq!(text(&e, more), "0 | (1 << 8) | 2");
}

#[test]
fn sums_with_constants_are_put_together() {
    let mut e = Expressions::new();
    let size = e.op(Op::Size, 64, 3, 0, 0);
    let address = e.with(Op::Add, 64, size, 0x7fff_0000_1000);
    let offset = e.with(Op::Sub, 64, address, 0x7fff_0000_0ff0);
    assert_eq!(e.print(offset), "size(stdin) + 16");
    let back = e.with(Op::Sub, 64, address, 0x7fff_0000_1000);
    assert_eq!(e.print(back), "size(stdin)");
    let ten = e.with(Op::URem, 64, size, 10);
    let digit = e.with(Op::Add, 64, ten, 48);
    assert_eq!(e.print(digit), "size(stdin) % 10 + '0'");
}

#[test]
fn choices_and_calls() {
    let mut e = Expressions::new();
    let int = e.int(1, 0);
    let upper = e.with(Op::Slt, 1, int, 91);
    let lower = e.with(Op::Add, 32, int, 32);
    let folded = e.op(Op::Ite, 32, upper, lower, int);
    assert_eq!(e.print(folded), "arg1[0] < '[' ? arg1[0] + 32 : arg1[0]");
    let equal = e.with(Op::Eq, 1, folded, 120);
    assert_eq!(
        e.print(equal),
        "(arg1[0] < '[' ? arg1[0] + 32 : arg1[0]) == 'x'"
    );
    let ones = e.op(Op::Ctpop, 32, folded, 0, 0);
    assert_eq!(
        e.print(ones),
        "popcount(u32(arg1[0] < '[' ? arg1[0] + 32 : arg1[0]))"
    );
}

#[test]
fn bytes_that_belong_together_are_a_range() {
    let mut e = Expressions::new();
    let bytes: Vec<_> = (0..4).map(|index| e.byte(3, index)).collect();
    let high = e.op(Op::Concat, 16, bytes[3], bytes[2], 0);
    let low = e.op(Op::Concat, 16, bytes[1], bytes[0], 0);
    let little = e.op(Op::Concat, 32, high, low, 0);
    let large = e.with(Op::Ult, 1, little, 1000);
    assert_eq!(e.print(large), "stdin[0..4] < 1000");
    let big = e.op(Op::Concat, 16, bytes[0], bytes[1], 0);
    assert_eq!(e.print(big), "be(stdin[0..2])");
    let mixed = e.op(Op::Concat, 16, bytes[0], bytes[2], 0);
    assert_eq!(e.print(mixed), "concat(stdin[0], stdin[2])");
}

#[test]
fn tables_and_texts() {
    let mut e = Expressions::new();
    let int = e.int(1, 0);
    let digit = e.with(Op::And, 32, int, 15);
    let index = e.op(Op::ZExt, 64, digit, 0, 0);
    let digits = e.recording.push_table(1, b"0123456789abcdef\0", &[]);
    let letter = e.op(Op::Lookup, 8, index, digits, 0);
    assert_eq!(e.print(letter), "\"0123456789abcdef\"[arg1[0] & 0xf]");
    let equal = e.with(Op::Eq, 1, letter, 102);
    assert_eq!(e.print(equal), "\"0123456789abcdef\"[arg1[0] & 0xf] == 'f'");
    let table = e.recording.push_table(1, &[1; 64], &[]);
    let scaled = e.with(Op::Mul, 64, index, 4);
    let word = e.op(Op::Lookup, 32, scaled, table, 0);
    assert_eq!(e.print(word), "table[arg1[0] & 0xf]");
    let shifted = e.with(Op::Shl, 64, index, 2);
    let word = e.op(Op::Lookup, 32, shifted, table, 0);
    assert_eq!(e.print(word), "table[arg1[0] & 0xf]");
    let word = e.op(Op::Lookup, 32, index, table, 0);
    assert_eq!(e.print(word), "load32(table, arg1[0] & 0xf)");
    let shadowed = e.recording.push_table(1, b"ab", &[cell(int, 0), 0]);
    let byte = e.op(Op::Lookup, 8, index, shadowed, 0);
    assert_eq!(e.print(byte), "table[arg1[0] & 0xf]");
    let conversion = e.recording.push_conversion("%5lld");
    let rendered = e.op(Op::RenderByte, 8, int, conversion, 3);
    let dash = e.with(Op::Eq, 1, rendered, 45);
    assert_eq!(e.print(dash), "format(\"%5d\", arg1[0])[3] == '-'");
    let length = e.op(Op::RenderLen, 32, int, conversion, 0);
    assert_eq!(e.print(length), "length(format(\"%5d\", arg1[0]))");
}

#[test]
fn an_offset_into_a_table_counts_elements() {
    let mut e = Expressions::new();
    let byte = e.byte(1, 0);
    let wide = e.op(Op::SExt, 64, byte, 0, 0);
    let scaled = e.with(Op::Mul, 64, wide, 2);
    let moved = e.with(Op::Add, 64, scaled, 256);
    let table = e.recording.push_table(1, &[1; 768], &[]);
    let entry = e.op(Op::Lookup, 16, moved, table, 0);
    let class = e.with(Op::And, 16, entry, 0x800);
    let digit = e.with(Op::Ne, 1, class, 0);
    assert_eq!(e.print(digit), "(table[arg1[0] + 128] & 0x800) != 0");
    let odd = e.with(Op::Add, 64, scaled, 3);
    let entry = e.op(Op::Lookup, 16, odd, table, 0);
    assert_eq!(e.print(entry), "load16(table, arg1[0] * 2 + 3)");
}

/// What `strcmp` makes of a source and a string.
fn string_difference(e: &mut Expressions, source: u32, start: u32, text: &[u8]) -> NodeId {
    let mut rest = e.number(32, 0);
    for (index, &byte) in text.iter().enumerate().rev() {
        let var = e.byte(source, start + index as u32);
        let wide = e.op(Op::ZExt, 32, var, 0, 0);
        let difference = match byte {
            0 => wide,
            _ => e.with(Op::Sub, 32, wide, byte.into()),
        };
        rest = if index + 1 == text.len() {
            difference
        } else {
            let differ = e.with(Op::Ne, 1, var, byte.into());
            e.op(Op::Ite, 32, differ, difference, rest)
        };
    }
    rest
}

#[test]
fn strings_are_compared_with_strings() {
    let mut e = Expressions::new();
    for (source, start, text, expected) in [
        (1, 0, &b"--help\0"[..], "arg1 == \"--help\""),
        (5, 0, b"C\0", "$HOME == \"C\""),
        (1, 2, b"it's\0", "arg1[2..] == \"it's\""),
        (3, 0, b"GIF8", "stdin[0..4] == \"GIF8\""),
        (3, 0, b"\n\0", "stdin[0..] == \"\\n\""),
    ] {
        let difference = string_difference(&mut e, source, start, text);
        let equal = e.with(Op::Eq, 1, difference, 0);
        assert_eq!(e.print(equal), expected);
        assert_eq!(e.opposite(equal), expected.replace("==", "!="));
        let differ = e.with(Op::Ne, 1, difference, 0);
        assert_eq!(e.print(differ), expected.replace("==", "!="));
        // That one is greater is another matter.
        let greater = e.with(Op::Slt, 1, difference, 0);
        assert!(!e.print(greater).contains('"'));
    }
    let difference = string_difference(&mut e, 1, 0, b"ab");
    assert_eq!(
        e.print(difference),
        "arg1[0] != 'a' ? arg1[0] - 'a' : arg1[1] - 'b'"
    );
}

#[test]
fn the_end_of_a_file_is_a_condition_on_its_size() {
    let mut e = Expressions::new();
    let size = e.op(Op::Size, 64, 3, 0, 0);
    let three = e.number(64, 3);
    let inside = e.op(Op::Ult, 1, three, size, 0);
    let byte = e.byte(3, 3);
    let wide = e.op(Op::ZExt, 32, byte, 0, 0);
    let eof = e.number(32, -1);
    let got = e.op(Op::Ite, 32, inside, wide, eof);
    let end = e.with(Op::Eq, 1, got, -1);
    assert_eq!(e.print(end), "size(stdin) <= 3");
    assert_eq!(e.opposite(end), "size(stdin) > 3");
    let line = e.with(Op::Eq, 1, got, 10);
    assert_eq!(e.print(line), "(size(stdin) > 3 ? stdin[3] : -1) == '\\n'");
}

#[test]
fn floats_are_numbers() {
    let mut e = Expressions::new();
    let int = e.int(1, 0);
    let real = e.op(Op::SiToFp, 64, int, 0, 0);
    let half = e.number(64, 0.5f64.to_bits().into());
    let product = e.op(Op::FMul, 64, real, half, 0);
    let limit = e.number(64, 1e100f64.to_bits().into());
    let root = e.op(Op::FSqrt, 64, product, 0, 0);
    let less = e.op(Op::FCmp, 1, root, limit, 4);
    assert_eq!(e.print(less), "sqrt(double(arg1[0]) * 0.5) < 1e100");
    assert_eq!(
        e.opposite(less),
        "!isless(sqrt(double(arg1[0]) * 0.5), 1e100)"
    );
    let equal = e.op(Op::FCmp, 1, real, half, 1);
    assert_eq!(e.print(equal), "double(arg1[0]) == 0.5");
    assert_eq!(e.opposite(equal), "double(arg1[0]) != 0.5");
    let back = e.op(Op::FpToSi, 32, product, 0, 0);
    assert_eq!(e.print(back), "i32(double(arg1[0]) * 0.5)");
    let narrow = e.op(Op::FpCast, 32, product, 0, 0);
    assert_eq!(e.print(narrow), "float(double(arg1[0]) * 0.5)");
}

#[test]
fn long_texts_are_cut_below_not_above() {
    let mut e = Expressions::new();
    let mut hash = e.number(32, 5381);
    for index in 0..20 {
        let byte = e.int(3, index);
        let product = e.with(Op::Mul, 32, hash, 33);
        hash = e.op(Op::Add, 32, product, byte, 0);
    }
    let equal = e.with(Op::Eq, 1, hash, 0x1234_5678);
    assert_eq!(
        e.print_short(equal, 80),
        "((… * 33 + stdin[17]) * 33 + stdin[18]) * 33 + stdin[19] == 305419896"
    );
    for length in 0..400 {
        let text = e.print_short(equal, length);
        assert!(text.chars().count() <= length.max(1), "{length}: {text}");
        if length > 40 {
            assert!(
                text.chars().count() * 2 > length.min(300),
                "{length}: {text}"
            );
        }
    }
    assert!(!e.print_short(equal, 1000).contains('…'));
}

#[test]
fn deep_and_shared_expressions_take_no_time() {
    let mut e = Expressions::new();
    let mut deep = e.int(1, 0);
    for _ in 0..1_000_000 {
        deep = e.op(Op::Xor, 32, deep, deep, 0);
    }
    let mut casts = e.byte(1, 0);
    for _ in 0..100_000 {
        casts = e.op(Op::ZExt, 16, casts, 0, 0);
        casts = e.op(Op::Extract, 8, casts, 0, 0);
    }
    let mut chain = e.int(1, 0);
    for _ in 0..100_000 {
        let product = e.with(Op::Mul, 32, chain, 31);
        chain = e.with(Op::Add, 32, product, 7);
    }
    assert_eq!(e.print_short(chain, 25), "(… * 31 + 7) * 31 + 7");
    let trace = e.recording.trace().expect("well typed");
    let input = input();
    let start = std::time::Instant::now();
    for _ in 0..100 {
        let printer = Printer::new(&trace, &input);
        assert!(printer.print(deep).chars().count() <= 160);
        assert!(printer.print(casts).chars().count() <= 160);
    }
    let printer = Printer::new(&trace, &input).max_len(usize::MAX);
    // Nothing that could be named is near enough to the top.
    assert_eq!(printer.print(deep), "… ^ …");
    assert!(start.elapsed().as_secs() < 5);
}
