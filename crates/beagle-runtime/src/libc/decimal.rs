//! Floating-point numbers from texts.
//!
//! A number of few digits is exact as an integer, small powers of ten are exact too, so that their
//! product or quotient is rounded once, as the real functions round.

use core::ffi::{CStr, c_char, c_void};

use beagle_trace::event::ASSUME_LENGTH;
use beagle_trace::op::Op;

use super::ctype::SPACE;
use super::number::{Terms, is_letter};
use super::view::{self, finish, give_up, is_digit, letter, pin_pointer};
use crate::call::Call;
use crate::expr::{self, Val};
use crate::shadow;

mod real {
    use core::ffi::c_char;
    unsafe extern "C" {
        pub fn strtod(s: *const c_char, end: *mut *mut c_char) -> f64;
        pub fn strtof(s: *const c_char, end: *mut *mut c_char) -> f32;
    }
}

/// What is exact in a format.
struct Format {
    width: u16,
    /// So many digits make an integer that is exact.
    digits: usize,
    /// So large a power of ten is exact.
    power: i64,
}

const DOUBLE: Format = Format {
    width: 64,
    digits: 15,
    power: 22,
};
const FLOAT: Format = Format {
    width: 32,
    digits: 7,
    power: 10,
};

/// How the number at the start of a text is written.
struct Shape {
    spaces: usize,
    sign: Option<u8>,
    /// Digits before the point.
    whole: (usize, usize),
    /// Whether there is a point, and the digits behind it.
    point: bool,
    part: (usize, usize),
    /// Where the exponent starts, with its letter.
    exponent: Option<usize>,
    power: i64,
    /// What is behind all of it.
    stop: usize,
}

unsafe fn digits(s: *const u8, from: usize) -> usize {
    let mut i = from;
    while (*s.add(i)).is_ascii_digit() {
        i += 1;
    }
    i
}

impl Shape {
    unsafe fn of(s: *const u8) -> Self {
        let mut i = 0;
        while SPACE.has(*s.add(i)) {
            i += 1;
        }
        let spaces = i;
        let sign = Some(*s.add(i)).filter(|c| matches!(c, b'-' | b'+'));
        if sign.is_some() {
            i += 1;
        }
        let whole = (i, digits(s, i));
        i = whole.1;
        let mut point = *s.add(i) == b'.';
        let mut part = (i, i);
        if point {
            part = (i + 1, digits(s, i + 1));
            point = whole.0 < whole.1 || part.0 < part.1;
        }
        if point {
            i = part.1;
        } else {
            part = (i, i);
        }
        let mut exponent = None;
        let mut power = 0i64;
        if (point || whole.0 < whole.1) && *s.add(i) | 0x20 == b'e' {
            let signed = matches!(*s.add(i + 1), b'-' | b'+');
            let from = i + 1 + usize::from(signed);
            let to = digits(s, from);
            if from < to {
                exponent = Some(i);
                for k in from..to {
                    power = power
                        .saturating_mul(10)
                        .saturating_add(i64::from(*s.add(k) - b'0'));
                }
                if *s.add(i + 1) == b'-' {
                    power = -power;
                }
                i = to;
            }
        }
        Self {
            spaces,
            sign,
            whole,
            point,
            part,
            exponent,
            power,
            stop: i,
        }
    }

    const fn is_number(&self) -> bool {
        self.whole.0 < self.whole.1 || self.point
    }

    /// That a text has this shape. `None` for what is not covered.
    unsafe fn terms(&self, s: *const u8) -> Option<Terms> {
        let mut terms = Terms::new();
        let at = |i: usize| shadow::byte(s.add(i));
        for i in 0..self.spaces {
            terms.add(SPACE.holds(at(i)));
        }
        if let Some(sign) = self.sign {
            terms.is(at(self.spaces), sign);
        }
        let next = at(self.stop);
        if !self.is_number() {
            if self.sign.is_none() {
                terms.deny(SPACE.holds(next));
                terms.deny(expr::eq(next, letter(b'-')));
                terms.deny(expr::eq(next, letter(b'+')));
            }
            terms.deny(is_digit(next));
            if next.value == u128::from(b'.') {
                terms.is(next, b'.');
                terms.deny(is_digit(at(self.stop + 1)));
            } else {
                terms.deny(expr::eq(next, letter(b'.')));
            }
            for word in [b"inf", b"nan"] {
                other_word(s.add(self.stop), word, &mut terms)?;
            }
            return Some(terms);
        }
        for i in (self.whole.0..self.whole.1).chain(self.part.0..self.part.1) {
            terms.add(is_digit(at(i)));
        }
        if self.point {
            terms.is(at(self.whole.1), b'.');
        }
        if let Some(from) = self.exponent {
            terms.add(is_letter(at(from), b'e'));
            for i in from + 1..self.stop {
                terms.is(at(i), *s.add(i));
            }
            terms.deny(is_digit(next));
            return Some(terms);
        }
        terms.deny(is_digit(next));
        if !self.point {
            terms.deny(expr::eq(next, letter(b'.')));
        }
        let exponent = is_letter(next, b'e');
        if exponent.value == 0 {
            terms.deny(exponent);
        } else {
            // The letter of an exponent, but no exponent.
            terms.add(exponent);
            let (one, two) = (at(self.stop + 1), *s.add(self.stop + 1));
            if matches!(two, b'-' | b'+') {
                terms.is(one, two);
                terms.deny(is_digit(at(self.stop + 2)));
            } else {
                terms.deny(is_digit(one));
                terms.deny(expr::eq(one, letter(b'-')));
                terms.deny(expr::eq(one, letter(b'+')));
            }
        }
        if !self.point && self.whole.1 - self.whole.0 == 1 {
            let hexadecimal = expr::and(
                expr::eq(at(self.whole.0), letter(b'0')),
                is_letter(next, b'x'),
            );
            if hexadecimal.value == 1 {
                return None;
            }
            terms.deny(hexadecimal);
        }
        Some(terms)
    }

    /// How many bytes were looked at to find it.
    unsafe fn seen(&self, s: *const u8) -> usize {
        let next = |k: usize| *s.add(self.stop + k) | 0x20;
        let more = match next(0) {
            b'.' => 1,
            b'x' if self.is_number() => 2,
            b'e' if self.is_number() => {
                1 + usize::from(matches!(*s.add(self.stop + 1), b'-' | b'+'))
            }
            b'i' | b'n' if !self.is_number() => 1 + usize::from(matches!(next(1), b'a' | b'n')),
            _ => 0,
        };
        self.stop + 1 + more
    }
}

/// The text at `s` does not start with the word, in either case, for the reason that it has now.
unsafe fn other_word(s: *const u8, word: &[u8], terms: &mut Terms) -> Option<()> {
    for (i, c) in word.iter().enumerate() {
        let b = shadow::byte(s.add(i));
        let same = is_letter(b, *c);
        if same.value == 0 {
            terms.deny(same);
            return Some(());
        }
        terms.add(same);
    }
    None
}

/// The integer of all digits, unless they are too many. Zeros that lead and are fixed do not count.
unsafe fn mantissa(s: *const u8, shape: &Shape, format: &Format) -> Option<Val> {
    let places = || (shape.whole.0..shape.whole.1).chain(shape.part.0..shape.part.1);
    let fixed_zero = |i: &usize| {
        let b = shadow::byte(s.add(*i));
        b.id == 0 && b.value == u128::from(b'0')
    };
    let count = places().skip_while(fixed_zero).count();
    if count > format.digits {
        return None;
    }
    let width = if count <= 9 { 32 } else { 64 };
    let mut sum = Val::concrete(0, width);
    for i in places().skip_while(fixed_zero) {
        let b = expr::sub(shadow::byte(s.add(i)), letter(b'0'));
        let scaled = expr::bin(Op::Mul, sum, Val::concrete(10, width));
        sum = expr::add(scaled, expr::zext(b, width));
    }
    Some(sum)
}

/// Ten to the power; exact up to 22, in `f32` up to 10.
fn ten(power: u64) -> f64 {
    let mut result = 1.0;
    for _ in 0..power.min(22) {
        result *= 10.0;
    }
    result
}

/// The expression of the number. `None` if it may not be exact.
unsafe fn expression(s: *const u8, shape: &Shape, format: &Format) -> Option<Val> {
    let sum = mantissa(s, shape, format)?;
    let power = shape
        .power
        .checked_sub((shape.part.1 - shape.part.0) as i64)?;
    if power.abs() > format.power {
        return None;
    }
    let scale = ten(power.unsigned_abs());
    let bits = |x: f64, y: f32| match format.width {
        32 => u128::from(y.to_bits()),
        _ => u128::from(x.to_bits()),
    };
    let (x, y) = (sum.value as f64, sum.value as f32);
    let (product, product_f) = if power < 0 {
        (x / scale, y / scale as f32)
    } else {
        (x * scale, y * scale as f32)
    };
    let negative = shape.sign == Some(b'-');
    if sum.id == 0 {
        let sign = if negative { 1 << (format.width - 1) } else { 0 };
        return Some(Val::concrete(bits(product, product_f) ^ sign, format.width));
    }
    let mut v = expr::make(Op::SiToFp, format.width, sum, None, 0, bits(x, y));
    if power != 0 {
        let op = if power < 0 { Op::FDiv } else { Op::FMul };
        let scale = Val::concrete(bits(scale, scale as f32), format.width);
        v = expr::bin_with(op, v, scale, bits(product, product_f));
    }
    if negative {
        v = expr::make(
            Op::FNeg,
            format.width,
            v,
            None,
            0,
            v.value ^ 1 << (format.width - 1),
        );
    }
    Some(v)
}

/// Gives the number at the start of the text, which really has the bits `real`; `end` is behind it.
unsafe fn follow(
    call: &Call,
    s: *const u8,
    end: *const u8,
    real: u128,
    format: &Format,
    name: &CStr,
) {
    if !call.recorded() {
        call.result_id(0);
        return;
    }
    let shape = Shape::of(s);
    let consumed = (end as usize).wrapping_sub(s as usize);
    let expected = if shape.is_number() { shape.stop } else { 0 };
    let seen = shape.seen(s).max(consumed + 1);
    if !shadow::any(s, seen) {
        call.result_id(0);
        return;
    }
    if consumed != expected || seen > view::MAX {
        give_up(call, name);
        return;
    }
    let Some(terms) = shape.terms(s) else {
        give_up(call, name);
        return;
    };
    if !shape.is_number() {
        view::assume(call.site, ASSUME_LENGTH, terms.0);
        call.result_id(0);
        return;
    }
    match expression(s, &shape, format) {
        Some(v) => {
            view::assume(call.site, ASSUME_LENGTH, terms.0);
            finish(call, v, real, name);
        }
        None => give_up(call, name),
    }
}

unsafe fn say_end(end: *mut *mut c_char, stop: *mut c_char) {
    if !end.is_null() {
        *end = stop;
        shadow::clear(end.cast(), size_of::<*mut c_char>());
    }
}

/// `strtod`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strtod(s: *const c_char, end: *mut *mut c_char) -> f64 {
    let call = Call::take(bg_x_strtod as *const c_void);
    pin_pointer(&call, 0, s);
    pin_pointer(&call, 1, end);
    let mut stop = core::ptr::null_mut();
    let result = real::strtod(s, &mut stop);
    say_end(end, stop);
    let bits = u128::from(result.to_bits());
    follow(&call, s.cast(), stop.cast(), bits, &DOUBLE, c"strtod");
    result
}

/// `atof`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_atof(s: *const c_char) -> f64 {
    let call = Call::take(bg_x_atof as *const c_void);
    pin_pointer(&call, 0, s);
    let mut stop = core::ptr::null_mut();
    let result = real::strtod(s, &mut stop);
    let bits = u128::from(result.to_bits());
    follow(&call, s.cast(), stop.cast(), bits, &DOUBLE, c"atof");
    result
}

/// `strtof`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strtof(s: *const c_char, end: *mut *mut c_char) -> f32 {
    let call = Call::take(bg_x_strtof as *const c_void);
    pin_pointer(&call, 0, s);
    pin_pointer(&call, 1, end);
    let mut stop = core::ptr::null_mut();
    let result = real::strtof(s, &mut stop);
    say_end(end, stop);
    let bits = u128::from(result.to_bits());
    follow(&call, s.cast(), stop.cast(), bits, &FLOAT, c"strtof");
    result
}
