//! Characters and numbers, against the real libc.

use std::ffi::{c_char, c_int, c_void};

use super::explore::{Case, Random, Tally, Text};
use super::{arith, ctype, decimal, number, wide};

mod real {
    use std::ffi::{c_char, c_int};
    unsafe extern "C" {
        pub fn strtol(s: *const c_char, end: *mut *mut c_char, base: c_int) -> i64;
        pub fn strtoul(s: *const c_char, end: *mut *mut c_char, base: c_int) -> u64;
        pub fn atoi(s: *const c_char) -> c_int;
        pub fn atol(s: *const c_char) -> i64;
        pub fn strtod(s: *const c_char, end: *mut *mut c_char) -> f64;
        pub fn strtof(s: *const c_char, end: *mut *mut c_char) -> f32;
        pub fn isalpha(c: c_int) -> c_int;
        pub fn isdigit(c: c_int) -> c_int;
        pub fn isalnum(c: c_int) -> c_int;
        pub fn isspace(c: c_int) -> c_int;
        pub fn isupper(c: c_int) -> c_int;
        pub fn islower(c: c_int) -> c_int;
        pub fn ispunct(c: c_int) -> c_int;
        pub fn isprint(c: c_int) -> c_int;
        pub fn isgraph(c: c_int) -> c_int;
        pub fn iscntrl(c: c_int) -> c_int;
        pub fn isxdigit(c: c_int) -> c_int;
        pub fn isblank(c: c_int) -> c_int;
        pub fn isascii(c: c_int) -> c_int;
        pub fn toascii(c: c_int) -> c_int;
        pub fn tolower(c: c_int) -> c_int;
        pub fn toupper(c: c_int) -> c_int;
        pub fn iswalpha(c: u32) -> c_int;
        pub fn iswspace(c: u32) -> c_int;
        pub fn towupper(c: u32) -> u32;
        pub fn wcslen(s: *const i32) -> usize;
        pub fn wcscmp(a: *const i32, b: *const i32) -> c_int;
        pub fn wcschr(a: *const i32, c: i32) -> *mut i32;
    }
}

const CASES: usize = 400;
const TRIES: usize = 30;

/// Runs cases of a function of one text; `make` makes the text.
fn run(
    seed: u64,
    symbol: *const c_void,
    make: impl Fn(&mut Random) -> Vec<u8>,
    alphabet: &[u8],
    call: impl Fn(*mut u8) -> u64,
    real: impl Fn(*mut u8) -> u64,
) -> Tally {
    let mut random = Random(seed);
    let mut tally = Tally::default();
    for _ in 0..CASES {
        let pad = [0, 1, 4][random.below(3)];
        let mut text = Text::new(make(&mut random), pad);
        if random.below(3) == 0 {
            text = text.some(&mut random);
        }
        Case {
            texts: vec![text],
            alphabet,
            symbol,
            call: &|p| call(p[0]),
            real: &|p| real(p[0]),
            output: None,
            args: Vec::new(),
            tries: TRIES,
        }
        .check(&mut random, &mut tally);
    }
    println!("{seed}: {tally:?}");
    assert!(tally.followed > CASES / 4, "{tally:?}");
    assert!(tally.agreed > CASES * TRIES / 12, "{tally:?}");
    tally
}

/// Texts like integers.
fn integer(random: &mut Random) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..random.below(3).saturating_sub(1) {
        text.push(b" \t\n"[random.below(3)]);
    }
    match random.below(6) {
        0 => text.push(b'-'),
        1 => text.push(b'+'),
        _ => {}
    }
    match random.below(6) {
        0 => text.extend(b"0x"),
        1 => text.push(b'0'),
        2 => text.extend(b"0b"),
        _ => {}
    }
    let digits: &[u8] = [
        &b"0123456789"[..],
        b"01",
        b"9",
        b"0123456789abcdefXF",
        b"89f",
    ][random.below(5)];
    let most = [4, 12, 22, 40][random.below(4)];
    let len = random.below(most);
    text.extend(random.text(digits, len));
    match random.below(4) {
        0 => text.push(b'x'),
        1 => text.push(b' '),
        _ => {}
    }
    text
}

const INTEGER: &[u8] = b"0123456789 -+xXaAfFgz\0\0b";

#[test]
fn atoi_and_atol() {
    let tally = run(
        1,
        number::bg_x_atoi as *const c_void,
        integer,
        INTEGER,
        |p| unsafe { u64::from(number::bg_x_atoi(p.cast()) as u32) },
        |p| unsafe { u64::from(real::atoi(p.cast()) as u32) },
    );
    assert_eq!(tally.lost, 0);
    let tally = run(
        2,
        number::bg_x_atol as *const c_void,
        integer,
        INTEGER,
        |p| unsafe { number::bg_x_atol(p.cast()) as u64 },
        |p| unsafe { real::atol(p.cast()) as u64 },
    );
    assert_eq!(tally.lost, 0);
}

#[test]
fn strtol_to_every_base() {
    for base in [0, 2, 3, 8, 10, 11, 16, 36] {
        let tally = run(
            100 + base as u64,
            number::bg_x_strtol as *const c_void,
            integer,
            INTEGER,
            |p| unsafe { number::bg_x_strtol(p.cast(), std::ptr::null_mut(), base) as u64 },
            |p| unsafe { real::strtol(p.cast(), std::ptr::null_mut(), base) as u64 },
        );
        assert_eq!(tally.lost, 0);
    }
}

#[test]
fn strtoul_to_some_bases() {
    for base in [0, 10, 16, 36] {
        let tally = run(
            200 + base as u64,
            number::bg_x_strtoul as *const c_void,
            integer,
            INTEGER,
            |p| unsafe { number::bg_x_strtoul(p.cast(), std::ptr::null_mut(), base) },
            |p| unsafe { real::strtoul(p.cast(), std::ptr::null_mut(), base) },
        );
        assert_eq!(tally.lost, 0);
    }
}

/// The end of the number stays where it is under all inputs that satisfy the assumptions.
#[test]
fn ends_of_numbers() {
    for base in [0, 10, 16] {
        let end_of = |p: *mut u8, run: &dyn Fn(*const c_char, *mut *mut c_char)| {
            let mut end = std::ptr::null_mut();
            run(p.cast(), &mut end);
            (end as usize - p as usize) as u64
        };
        let symbol = number::bg_x_strtol as *const c_void;
        let mut random = Random(300 + base as u64);
        let mut tally = Tally::default();
        for _ in 0..CASES {
            Case {
                texts: vec![Text::new(integer(&mut random), 2)],
                alphabet: INTEGER,
                symbol,
                call: &|p| {
                    let end = end_of(p[0], &|s, e| unsafe {
                        number::bg_x_strtol(s, e, base);
                    });
                    // Look at the end, not at the number.
                    unsafe { (&mut (*crate::slots::slots()).rets)[0] = 0 };
                    end
                },
                real: &|p| {
                    end_of(p[0], &|s, e| unsafe {
                        real::strtol(s, e, base);
                    })
                },
                output: None,
                args: Vec::new(),
                tries: TRIES,
            }
            .check(&mut random, &mut tally);
        }
        assert!(tally.agreed > CASES && tally.lost == 0, "{tally:?}");
    }
}

/// What C23 makes of a text: `0b` is a prefix.
unsafe fn c23(p: *const u8, base: c_int) -> i64 {
    unsafe {
        let mut i = 0;
        while (*p.add(i)).is_ascii_whitespace() || *p.add(i) == 11 {
            i += 1;
        }
        let negative = *p.add(i) == b'-';
        if matches!(*p.add(i), b'-' | b'+') {
            i += 1;
        }
        if matches!(base, 0 | 2) && *p.add(i) == b'0' && *p.add(i + 1) | 0x20 == b'b' {
            let mut sum = 0i128;
            i += 2;
            while matches!(*p.add(i), b'0' | b'1') {
                sum = (sum * 2 + i128::from(*p.add(i) - b'0')).min(1 << 100);
                i += 1;
            }
            let sum = if negative { -sum } else { sum };
            return sum.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        }
        real::strtol(p.cast(), std::ptr::null_mut(), base)
    }
}

#[test]
fn binary_prefixes() {
    for base in [0, 2, 10, 16] {
        let tally = run(
            400 + base as u64,
            number::bg_x___isoc23_strtol as *const c_void,
            integer,
            INTEGER,
            |p| unsafe {
                number::bg_x___isoc23_strtol(p.cast(), std::ptr::null_mut(), base) as u64
            },
            |p| unsafe { c23(p, base) as u64 },
        );
        assert_eq!(tally.lost, 0);
    }
}

/// Texts like decimal fractions.
fn decimal(random: &mut Random) -> Vec<u8> {
    let mut text = Vec::new();
    if random.below(5) == 0 {
        text.push(b' ');
    }
    match random.below(6) {
        0 => text.push(b'-'),
        1 => text.push(b'+'),
        _ => {}
    }
    let digits: &[u8] = [&b"0123456789"[..], b"0", b"9"][random.below(3)];
    let len = random.below(8);
    text.extend(random.text(digits, len));
    if random.below(2) == 0 {
        text.push(b'.');
        let len = random.below(7);
        text.extend(random.text(digits, len));
    }
    match random.below(5) {
        0 => {
            text.push(b"eE"[random.below(2)]);
            let len = random.below(2);
            text.extend(random.text(b"+-", len));
            let len = random.below(3);
            text.extend(random.text(b"012", len));
        }
        1 => text.extend([&b"x1"[..], b"inf", b"na", b" ", b"e", b"e-"][random.below(6)]),
        _ => {}
    }
    text
}

const DECIMAL: &[u8] = b"0123456789 -+.eExinfa\0\0";

#[test]
fn strtod_and_strtof() {
    let tally = run(
        500,
        decimal::bg_x_strtod as *const c_void,
        decimal,
        DECIMAL,
        |p| unsafe { decimal::bg_x_strtod(p.cast(), std::ptr::null_mut()).to_bits() },
        |p| unsafe { real::strtod(p.cast(), std::ptr::null_mut()).to_bits() },
    );
    assert!(tally.lost < CASES / 10, "{tally:?}");
    run(
        501,
        decimal::bg_x_atof as *const c_void,
        decimal,
        DECIMAL,
        |p| unsafe { decimal::bg_x_atof(p.cast()).to_bits() },
        |p| unsafe { real::strtod(p.cast(), std::ptr::null_mut()).to_bits() },
    );
    run(
        502,
        decimal::bg_x_strtof as *const c_void,
        decimal,
        DECIMAL,
        |p| unsafe { u64::from(decimal::bg_x_strtof(p.cast(), std::ptr::null_mut()).to_bits()) },
        |p| unsafe { u64::from(real::strtof(p.cast(), std::ptr::null_mut()).to_bits()) },
    );
}

/// A function of one character, for all characters, and how the argument came to be 32 bits wide.
fn character(
    symbol: *const c_void,
    call: impl Fn(c_int) -> c_int,
    real: impl Fn(c_int) -> c_int,
    lossless: bool,
) {
    use crate::expr::{self, Val};
    use crate::harness::{Source, eval, start};
    for how in 0..4 {
        for first in [b'a', b'Z', b'0', b' ', 0, 127, 128, 255] {
            let recording = start(&[Source {
                kind: beagle_trace::wire::SOURCE_STDIN,
                name: "",
                bytes: vec![first],
                pad: 0,
            }]);
            let inside = crate::slots::enter().unwrap();
            let b = crate::input::var(0, 0);
            let v = match how {
                0 => expr::zext(b, 32),
                1 => expr::sext(b, 32),
                2 => expr::add(expr::zext(b, 32), Val::concrete(3, 32)),
                _ => expr::sub(expr::zext(b, 32), Val::concrete(128, 32)),
            };
            drop(inside);
            recording.calling(symbol, &[v.id]);
            let result = call(v.value as u32 as c_int);
            let id = recording.returned(symbol);
            if lossless && (-128..256).contains(&(v.value as u32 as i32)) {
                assert!(recording.losses().is_empty());
            }
            for other in 0..=255u8 {
                if !recording.holds(&[&[other]]) {
                    continue;
                }
                let c = eval(v.id, &[&[other]]).unwrap() as u32 as c_int;
                let expected = real(c);
                if id != 0 {
                    let said = eval(id, &[&[other]]);
                    assert_eq!(
                        said,
                        Some(u128::from(expected as u32)),
                        "{how} {first} {other}"
                    );
                } else if recording.losses().is_empty() {
                    assert_eq!(expected, result);
                }
            }
        }
    }
}

/// Tests functions of one character.
macro_rules! characters {
    ($test:ident, $lossless:literal, $($module:ident::$symbol:ident, $real:ident;)*) => {
        #[test]
        fn $test() {
            $(character(
                $module::$symbol as *const c_void,
                |c| unsafe { $module::$symbol(c as _) as c_int },
                // The compiler knows some of these functions, and gives 1 where libc gives a bit.
                |c| unsafe { std::hint::black_box(real::$real as unsafe extern "C" fn(_) -> _)(c as _) as c_int },
                $lossless,
            );)*
        }
    };
}

characters! { classes, true,
    ctype::bg_x_isalpha, isalpha;
    ctype::bg_x_isdigit, isdigit;
    ctype::bg_x_isalnum, isalnum;
    ctype::bg_x_isspace, isspace;
    ctype::bg_x_isupper, isupper;
    ctype::bg_x_islower, islower;
    ctype::bg_x_ispunct, ispunct;
    ctype::bg_x_isprint, isprint;
    ctype::bg_x_isgraph, isgraph;
    ctype::bg_x_iscntrl, iscntrl;
    ctype::bg_x_isxdigit, isxdigit;
    ctype::bg_x_isblank, isblank;
    ctype::bg_x_isascii, isascii;
    ctype::bg_x_toascii, toascii;
    ctype::bg_x_tolower, tolower;
    ctype::bg_x_toupper, toupper;
}

characters! { wide_classes, false,
    wide::bg_x_iswalpha, iswalpha;
    wide::bg_x_iswspace, iswspace;
    wide::bg_x_towupper, towupper;
}

#[test]
fn the_c_locale_is_plain() {
    assert!(ctype::is_plain());
}

/// Texts of elements of 4 bytes.
fn elements(random: &mut Random) -> Vec<u8> {
    let len = random.below(5);
    let mut text = Vec::new();
    for _ in 0..len {
        text.extend([b"ab"[random.below(2)], 0, 0, b"\0\0\x80"[random.below(3)]]);
    }
    text
}

#[test]
fn wide_strings() {
    run(
        600,
        wide::bg_x_wcslen as *const c_void,
        elements,
        b"ab\0\0",
        |p| unsafe { wide::bg_x_wcslen(p.cast()) as u64 },
        |p| unsafe { real::wcslen(p.cast()) as u64 },
    );
    run(
        601,
        wide::bg_x_wcschr as *const c_void,
        elements,
        b"ab\0\0",
        |p| unsafe { wide::bg_x_wcschr(p.cast(), 97) as u64 },
        |p| unsafe { real::wcschr(p.cast(), 97) as u64 },
    );
    let other = [97, 98, 97, 0];
    run(
        602,
        wide::bg_x_wcscmp as *const c_void,
        elements,
        b"ab\0\0\x80",
        |p| unsafe { u64::from(wide::bg_x_wcscmp(p.cast(), other.as_ptr()) as u32) },
        |p| unsafe { u64::from(real::wcscmp(p.cast(), other.as_ptr()) as u32) },
    );
}

#[test]
fn absolute_values_and_divisions() {
    let word = |p: *mut u8| unsafe { p.cast::<i32>().read_unaligned() };
    for (seed, divisor) in [(700, 7), (701, -3), (702, 1)] {
        let symbol = arith::bg_x_div as *const c_void;
        let mut random = Random(seed);
        for _ in 0..100 {
            let bytes = random.text(&[0, 1, 2, 127, 128, 255], 4);
            let recording = crate::harness::start(&[crate::harness::Source {
                kind: beagle_trace::wire::SOURCE_STDIN,
                name: "",
                bytes,
                pad: 0,
            }]);
            let p = recording.buffer(0).as_mut_ptr();
            let inside = crate::slots::enter().unwrap();
            let id = unsafe { crate::shadow::load(p, 4).id };
            drop(inside);
            recording.calling(symbol, &[id]);
            unsafe { arith::bg_x_div(word(p), divisor) };
            let result = recording.returned(symbol);
            recording.calling(arith::bg_x_abs as *const c_void, &[id]);
            unsafe { arith::bg_x_abs(word(p)) };
            let absolute = recording.returned(arith::bg_x_abs as *const c_void);
            for _ in 0..50 {
                let other = random.text(&[0, 1, 2, 127, 128, 255], 4);
                let x = i32::from_le_bytes([other[0], other[1], other[2], other[3]]);
                let expected = u64::from((x.wrapping_rem(divisor)) as u32) << 32
                    | u64::from(x.wrapping_div(divisor) as u32);
                let said = crate::harness::eval(result, &[&other]);
                assert_eq!(said, Some(u128::from(expected)), "{x}");
                let said = crate::harness::eval(absolute, &[&other]);
                assert_eq!(said, Some(u128::from(x.wrapping_abs() as u32)));
            }
        }
    }
}
