//! Numbers from texts: one expression for the whole number.
//!
//! How many characters there are of each kind (white space, sign, prefix, digits) is assumed, and that
//! the number fits or does not fit. What the digits are is not.

use core::ffi::{CStr, c_char, c_int, c_void};

use beagle_trace::event::{ASSUME_LENGTH, ASSUME_VALUE};
use beagle_trace::op::Op;

use super::ctype::SPACE;
use super::view::{self, finish, give_up, letter, pin_pointer, within};
use crate::call::Call;
use crate::expr::{self, Val};
use crate::log;
use crate::shadow;

mod real {
    use core::ffi::{c_char, c_int};
    unsafe extern "C" {
        pub fn strtol(s: *const c_char, end: *mut *mut c_char, base: c_int) -> i64;
        pub fn strtoul(s: *const c_char, end: *mut *mut c_char, base: c_int) -> u64;
    }
}

/// What was taken for granted about characters, as one condition.
pub struct Terms(pub Val);

impl Terms {
    /// Nothing.
    pub const fn new() -> Self {
        Self(Val::concrete(1, 1))
    }

    /// The condition holds.
    pub fn add(&mut self, condition: Val) {
        self.0 = expr::and(self.0, condition);
    }

    /// It does not.
    pub fn deny(&mut self, condition: Val) {
        self.add(expr::not(condition));
    }

    /// The byte is this character.
    pub fn is(&mut self, b: Val, c: u8) {
        self.add(expr::eq(b, letter(c)));
    }
}

impl Default for Terms {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether the byte is the letter (given in lower case) in either case; 1 bit.
pub fn is_letter(b: Val, c: u8) -> Val {
    expr::eq(expr::bin(Op::Or, b, letter(0x20)), letter(c))
}

/// The value of a digit, if the byte is one to this base.
pub fn digit(b: u8, base: u32) -> Option<u32> {
    char::from(b).to_digit(base.clamp(2, 36))
}

/// Whether the byte is a digit to this base; 1 bit.
fn is_digit(b: Val, base: u32) -> Val {
    let digits = within(
        b,
        u128::from(b'0'),
        u128::from(b'0') + u128::from(base.min(10)) - 1,
    );
    if base <= 10 {
        return digits;
    }
    let small = expr::bin(Op::Or, b, letter(0x20));
    let letters = within(
        small,
        u128::from(b'a'),
        u128::from(b'a') + u128::from(base) - 11,
    );
    expr::or(digits, letters)
}

/// The value of a digit to this base, as a number of `width` bits.
fn value(b: Val, base: u32, width: u16) -> Val {
    let small = expr::sub(b, letter(b'0'));
    if base <= 10 {
        return expr::zext(small, width);
    }
    let letter_value = expr::sub(expr::bin(Op::Or, b, letter(0x20)), letter(b'a' - 10));
    let is_small = expr::bin(Op::Ule, b, letter(b'9'));
    expr::zext(expr::ite(is_small, small, letter_value), width)
}

/// The number that the digits `s[from..to]` make, in as many bits as hold any such number: 32, 64 or
/// 128. There must not be too many.
unsafe fn gather(
    s: *const u8,
    places: impl Iterator<Item = usize>,
    count: usize,
    base: u32,
) -> Val {
    let most = u128::from(base).saturating_pow(count as u32);
    let width = if most <= 1 << 31 {
        32
    } else if most <= 1 << 63 {
        64
    } else {
        128
    };
    let mut sum = Val::concrete(0, width);
    for i in places {
        let scaled = expr::bin(Op::Mul, sum, Val::concrete(u128::from(base), width));
        sum = expr::add(scaled, value(shadow::byte(s.add(i)), base, width));
    }
    sum
}

/// How the integer at the start of a text is written.
#[derive(Clone, Copy, Debug)]
struct Shape {
    spaces: usize,
    sign: Option<u8>,
    /// The letter of the prefix behind its 0.
    prefix: Option<u8>,
    /// The base that counts.
    base: u32,
    /// The first digit behind prefix, or what is in its place.
    first: usize,
    /// What is behind the last digit.
    stop: usize,
}

impl Shape {
    /// Finds it; `asked` is the base as the caller gave it, `binary` whether `0b` is a prefix.
    unsafe fn of(s: *const u8, asked: u32, binary: bool) -> Self {
        let mut i = 0;
        while SPACE.has(*s.add(i)) {
            i += 1;
        }
        let spaces = i;
        let sign = Some(*s.add(i)).filter(|c| matches!(c, b'-' | b'+'));
        if sign.is_some() {
            i += 1;
        }
        let mut base = if asked == 0 { 10 } else { asked };
        let mut prefix = None;
        if *s.add(i) == b'0' {
            let next = *s.add(i + 1) | 0x20;
            if prefixes(asked, binary).contains(&Some(next)) {
                base = if next == b'x' { 16 } else { 2 };
                prefix = Some(next);
                i += 2;
            } else if asked == 0 {
                base = 8;
            }
        }
        let first = i;
        while digit(*s.add(i), base).is_some() {
            i += 1;
        }
        Self {
            spaces,
            sign,
            prefix,
            base,
            first,
            stop: i,
        }
    }

    /// That a text has this shape.
    unsafe fn terms(&self, s: *const u8, asked: u32, binary: bool) -> Terms {
        let mut terms = Terms::new();
        let at = |i: usize| shadow::byte(s.add(i));
        for i in 0..self.spaces {
            terms.add(SPACE.holds(at(i)));
        }
        if let Some(sign) = self.sign {
            terms.is(at(self.spaces), sign);
        }
        if let Some(letter) = self.prefix {
            terms.is(at(self.first - 2), b'0');
            terms.add(is_letter(at(self.first - 1), letter));
        }
        for i in self.first..self.stop {
            terms.add(is_digit(at(i), self.base));
        }
        let stop = at(self.stop);
        let digits = self.stop - self.first;
        if asked == 0 && self.prefix.is_none() && digits == 0 {
            // No base is chosen yet: any digit would be one.
            terms.deny(is_digit(stop, 10));
        } else {
            terms.deny(is_digit(stop, self.base));
        }
        if self.prefix.is_none() && digits == 0 {
            if self.sign.is_none() {
                terms.deny(SPACE.holds(stop));
                terms.deny(expr::eq(stop, letter(b'-')));
                terms.deny(expr::eq(stop, letter(b'+')));
            }
        } else if self.prefix.is_none() {
            let first = at(self.first);
            if asked == 0 {
                let zero = expr::eq(first, letter(b'0'));
                if self.base == 8 {
                    terms.add(zero)
                } else {
                    terms.deny(zero)
                }
            }
            if digits == 1 && !(asked == 0 && self.base == 10) {
                // With two digits, the second is none of the letters of prefixes.
                let other = expr::not(expr::eq(first, letter(b'0')));
                for c in prefixes(asked, binary).iter().flatten() {
                    terms.add(expr::or(other, expr::not(is_letter(stop, *c))));
                }
            }
        }
        terms
    }
}

/// Letters that make a prefix with a 0 before them.
const fn prefixes(asked: u32, binary: bool) -> [Option<u8>; 2] {
    [
        if asked == 0 || asked == 16 {
            Some(b'x')
        } else {
            None
        },
        if binary && (asked == 0 || asked == 2) {
            Some(b'b')
        } else {
            None
        },
    ]
}

/// What is wanted of a text.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    signed: bool,
    /// Of the result; narrower ones are cut off.
    width: u16,
    binary: bool,
    name: &'a CStr,
}

/// Any more digits than these (to this base) do not fit 64 bits, these fit 126.
fn most_digits(base: u32) -> usize {
    let mut count = 0;
    let mut power = u128::from(base);
    while power <= 1 << 126 {
        count += 1;
        power = power.saturating_mul(u128::from(base));
    }
    count
}

/// The expression of the number of this shape, in bits as wanted; adds what it takes for granted.
unsafe fn expression(
    s: *const u8,
    shape: &Shape,
    wanted: Wanted,
    terms: &mut Terms,
) -> Option<Val> {
    let mut from = shape.first;
    let fixed_zero = |i: usize| {
        let b = shadow::byte(s.add(i));
        b.id == 0 && b.value == u128::from(b'0')
    };
    while from < shape.stop && fixed_zero(from) {
        from += 1;
    }
    let most = most_digits(shape.base);
    while shape.stop - from > most {
        let b = shadow::byte(s.add(from));
        let zero = expr::eq(b, letter(b'0'));
        if zero.value == 0 {
            // Too large, whatever follows.
            terms.deny(zero);
            return None;
        }
        terms.add(zero);
        from += 1;
    }
    let count = shape.stop - from;
    let sum = gather(s, from..shape.stop, count, shape.base);
    let negative = shape.sign == Some(b'-');
    let limit = match (wanted.signed, negative) {
        (true, true) => 1 << 63,
        (true, false) => (1 << 63) - 1,
        (false, _) => u128::from(u64::MAX),
    };
    if u128::from(shape.base).saturating_pow(count as u32) > limit {
        let fits = expr::bin(Op::Ule, sum, Val::concrete(limit, sum.width));
        if fits.value == 0 {
            terms.deny(fits);
            return None;
        }
        terms.add(fits);
    }
    let number = expr::zext(sum, wanted.width);
    Some(if negative {
        expr::sub(Val::concrete(0, wanted.width), number)
    } else {
        number
    })
}

/// Gives the number at the start of the text, which was really `real`, and `end` is what is behind it.
unsafe fn follow(
    call: &Call,
    s: *const u8,
    base: c_int,
    end: *const u8,
    real: u64,
    wanted: Wanted,
) {
    if !call.recorded() {
        call.result_id(0);
        return;
    }
    let asked = base as u32;
    let shape = Shape::of(s, asked, wanted.binary);
    if !shadow::any(s, shape.stop + 1) {
        call.result_id(0);
        return;
    }
    let digits = shape.stop - shape.first;
    let expected = match (digits, shape.prefix) {
        (0, None) => 0,
        (0, Some(_)) => shape.first - 1,
        _ => shape.stop,
    };
    if (end as usize).wrapping_sub(s as usize) != expected || shape.stop > view::MAX {
        give_up(call, wanted.name);
        return;
    }
    let mut terms = shape.terms(s, asked, wanted.binary);
    let number = expression(s, &shape, wanted, &mut terms);
    view::assume(call.site, ASSUME_LENGTH, terms.0);
    match number {
        Some(number) => finish(call, number, u128::from(real), wanted.name),
        None => call.result_id(0),
    }
}

/// A conversion: the real function, what it means, and the end of the number for the caller.
unsafe fn convert(
    call: &Call,
    s: *const c_char,
    end: *mut *mut c_char,
    base: c_int,
    wanted: Wanted,
) -> u64 {
    pin_pointer(call, 0, s);
    pin_pointer(call, 1, end);
    log::pin(call.site, ASSUME_VALUE, call.int(2, base));
    let mut stop = core::ptr::null_mut();
    let shape =
        (wanted.binary && matches!(base, 0 | 2)).then(|| Shape::of(s.cast(), base as u32, true));
    let result = if let Some(shape) = shape.filter(|shape| shape.prefix == Some(b'b')) {
        binary(s, &shape, &mut stop, wanted.signed)
    } else if wanted.signed {
        real::strtol(s, &mut stop, base) as u64
    } else {
        real::strtoul(s, &mut stop, base)
    };
    if stop.is_null() {
        // No such base.
        call.result_id(0);
        return result;
    }
    if !end.is_null() {
        *end = stop;
        shadow::clear(end.cast(), size_of::<*mut c_char>());
    }
    follow(call, s.cast(), base, stop.cast(), result, wanted);
    result
}

/// A number with the prefix `0b`, which libc's older functions do not know.
unsafe fn binary(s: *const c_char, shape: &Shape, stop: &mut *mut c_char, signed: bool) -> u64 {
    if shape.first == shape.stop {
        *stop = s.add(shape.first - 1).cast_mut();
        return 0;
    }
    *stop = s.add(shape.stop).cast_mut();
    let negative = shape.sign == Some(b'-');
    let mut sum = 0u64;
    let mut fits = true;
    for i in shape.first..shape.stop {
        fits &= sum >> 63 == 0;
        sum = sum << 1 | u64::from(*s.add(i) as u8 == b'1');
    }
    let limit = match (signed, negative) {
        (true, true) => 1 << 63,
        (true, false) => (1 << 63) - 1,
        (false, _) => u64::MAX,
    };
    if !fits || sum > limit {
        // ERANGE
        *crate::sys::__errno_location() = 34;
        return limit;
    }
    if negative { sum.wrapping_neg() } else { sum }
}

const SIGNED: Wanted = Wanted {
    signed: true,
    width: 64,
    binary: false,
    name: c"strtol",
};
const UNSIGNED: Wanted = Wanted {
    signed: false,
    width: 64,
    binary: false,
    name: c"strtoul",
};

/// `strtol`, `strtoll`, `strtoimax`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strtol(s: *const c_char, end: *mut *mut c_char, base: c_int) -> i64 {
    let call = Call::take(bg_x_strtol as *const c_void);
    convert(&call, s, end, base, SIGNED) as i64
}

/// `strtoul`, `strtoull`, `strtoumax`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strtoul(s: *const c_char, end: *mut *mut c_char, base: c_int) -> u64 {
    let call = Call::take(bg_x_strtoul as *const c_void);
    convert(&call, s, end, base, UNSIGNED)
}

/// `strtol` and the like as of C23, with the prefix `0b`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___isoc23_strtol(
    s: *const c_char,
    end: *mut *mut c_char,
    base: c_int,
) -> i64 {
    let call = Call::take(bg_x___isoc23_strtol as *const c_void);
    let wanted = Wanted {
        binary: true,
        ..SIGNED
    };
    convert(&call, s, end, base, wanted) as i64
}

/// `strtoul` and the like as of C23, with the prefix `0b`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___isoc23_strtoul(
    s: *const c_char,
    end: *mut *mut c_char,
    base: c_int,
) -> u64 {
    let call = Call::take(bg_x___isoc23_strtoul as *const c_void);
    let wanted = Wanted {
        binary: true,
        ..UNSIGNED
    };
    convert(&call, s, end, base, wanted)
}

/// What `atoi` and the like do: as `strtol`, to base 10.
unsafe fn plain(call: &Call, s: *const c_char, width: u16, name: &CStr) -> i64 {
    pin_pointer(call, 0, s);
    let mut stop = core::ptr::null_mut();
    let result = real::strtol(s, &mut stop, 10);
    let wanted = Wanted {
        width,
        name,
        ..SIGNED
    };
    follow(call, s.cast(), 10, stop.cast(), result as u64, wanted);
    result
}

/// `atoi`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_atoi(s: *const c_char) -> c_int {
    let call = Call::take(bg_x_atoi as *const c_void);
    plain(&call, s, 32, c"atoi") as c_int
}

/// `atol`, `atoll`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_atol(s: *const c_char) -> i64 {
    let call = Call::take(bg_x_atol as *const c_void);
    plain(&call, s, 64, c"atol")
}
