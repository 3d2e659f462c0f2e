//! Classes of characters, upper and lower case.
//!
//! Ranges are what solvers like, and in the C locale the classes are ranges. Whether they are is
//! checked against libc's own table; where they are not, results are looked up in that table.

use core::ffi::{CStr, c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use beagle_trace::event::{ASSUME_VALUE, OBJECT_FOREIGN};
use beagle_trace::op::Op;

use super::view::{self, finish, give_up, narrow, within};
use crate::call::Call;
use crate::expr::{self, Val};
use crate::object::{self, Object};
use crate::table;

mod real {
    use core::ffi::c_int;
    unsafe extern "C" {
        pub fn __ctype_b_loc() -> *mut *const u16;
        pub fn __ctype_tolower_loc() -> *mut *const i32;
        pub fn __ctype_toupper_loc() -> *mut *const i32;
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
        pub fn tolower(c: c_int) -> c_int;
        pub fn toupper(c: c_int) -> c_int;
    }
}

/// A class: its bit in libc's table, and its characters in the C locale.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    bit: u16,
    ranges: &'static [(u8, u8)],
}

/// Upper case.
pub const UPPER: Class = Class {
    bit: 1 << 8,
    ranges: &[(b'A', b'Z')],
};
/// Lower case.
pub const LOWER: Class = Class {
    bit: 1 << 9,
    ranges: &[(b'a', b'z')],
};
/// Letters.
pub const ALPHA: Class = Class {
    bit: 1 << 10,
    ranges: &[(b'A', b'Z'), (b'a', b'z')],
};
/// Digits.
pub const DIGIT: Class = Class {
    bit: 1 << 11,
    ranges: &[(b'0', b'9')],
};
/// Digits to base 16.
pub const XDIGIT: Class = Class {
    bit: 1 << 12,
    ranges: &[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')],
};
/// White space.
pub const SPACE: Class = Class {
    bit: 1 << 13,
    ranges: &[(9, 13), (b' ', b' ')],
};
/// What can be printed.
pub const PRINT: Class = Class {
    bit: 1 << 14,
    ranges: &[(b' ', b'~')],
};
/// What can be seen.
pub const GRAPH: Class = Class {
    bit: 1 << 15,
    ranges: &[(b'!', b'~')],
};
/// Blank and tab.
pub const BLANK: Class = Class {
    bit: 1,
    ranges: &[(9, 9), (b' ', b' ')],
};
/// Control characters.
pub const CNTRL: Class = Class {
    bit: 2,
    ranges: &[(0, 31), (127, 127)],
};
/// Punctuation.
pub const PUNCT: Class = Class {
    bit: 4,
    ranges: &[(b'!', b'/'), (b':', b'@'), (b'[', b'`'), (b'{', b'~')],
};
/// Letters and digits.
pub const ALNUM: Class = Class {
    bit: 8,
    ranges: &[(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')],
};

const CLASSES: [Class; 12] = [
    UPPER, LOWER, ALPHA, DIGIT, XDIGIT, SPACE, PRINT, GRAPH, BLANK, CNTRL, PUNCT, ALNUM,
];

impl Class {
    /// Whether the value is a character of the class; 1 bit. For values of 8 or more bits.
    pub fn holds(self, v: Val) -> Val {
        let mut any = Val::concrete(0, 1);
        for (low, high) in self.ranges {
            any = expr::or(any, within(v, u128::from(*low), u128::from(*high)));
        }
        any
    }

    /// Whether the byte is a character of the class.
    pub fn has(self, b: u8) -> bool {
        self.ranges
            .iter()
            .any(|(low, high)| *low <= b && b <= *high)
    }
}

/// Libc's tables start so many entries before the address it gives.
const BEFORE: usize = 128;
/// And have so many.
const ENTRIES: usize = 384;

/// The tables in use when they were last found to be those of the C locale, combined.
static PLAIN: AtomicUsize = AtomicUsize::new(0);
/// The same, when they were found to be others.
static SPECIAL: AtomicUsize = AtomicUsize::new(0);

/// Whether characters have the classes and cases of the C locale.
pub fn is_plain() -> bool {
    // SAFETY: libc's tables have 384 entries each.
    unsafe {
        let (classes, low, up) = (
            *real::__ctype_b_loc(),
            *real::__ctype_tolower_loc(),
            *real::__ctype_toupper_loc(),
        );
        let key =
            (classes as usize) ^ (low as usize).rotate_left(17) ^ (up as usize).rotate_left(31);
        if key == PLAIN.load(Relaxed) {
            return true;
        }
        if key == SPECIAL.load(Relaxed) {
            return false;
        }
        let same = (-128..256i32).all(|c| {
            let ascii = u8::try_from(c).ok().filter(u8::is_ascii);
            let bits = CLASSES
                .iter()
                .filter(|class| ascii.is_some_and(|b| class.has(b)))
                .fold(0, |bits, class| bits | class.bit);
            // Negative characters become their unsigned twins, but for the end of a file.
            let twin = if c < -1 { c + 256 } else { c };
            *classes.offset(c as isize) == bits
                && *low.offset(c as isize)
                    == ascii.map_or(twin, |b| i32::from(b.to_ascii_lowercase()))
                && *up.offset(c as isize)
                    == ascii.map_or(twin, |b| i32::from(b.to_ascii_uppercase()))
        });
        if same { &PLAIN } else { &SPECIAL }.store(key, Relaxed);
        same
    }
}

/// The entry for the character `c` (32 bits) in one of libc's tables of `size`-byte entries.
unsafe fn look_up(p: *const u8, size: usize, c: Val) -> Option<Val> {
    let object = Object {
        base: (p as usize).wrapping_sub(BEFORE * size),
        size: ENTRIES * size,
        kind: OBJECT_FOREIGN,
        constant: true,
    };
    let blob = table::table(object)?;
    let index = expr::add(expr::sext(c, 64), Val::concrete(BEFORE as u128, 64));
    let offset = expr::bin(Op::Mul, index, Val::concrete(size as u128, 64));
    let at = (object.base as *const u8).add(offset.value as usize);
    let mut value = 0;
    for k in (0..size).rev() {
        value = value << 8 | u128::from(*at.add(k));
    }
    Some(expr::indexed(
        Op::Lookup,
        size as u16 * 8,
        offset,
        blob,
        0,
        value,
    ))
}

/// What libc's tables have no entry for is not defined: assumes that `c` (32 bits) is in range. False
/// if it is not.
fn in_range(site: u32, c: Val) -> bool {
    if narrow(c).is_some_and(|(_, inner)| inner.width <= 8) {
        return true;
    }
    let shifted = expr::add(c, Val::concrete(BEFORE as u128, 32));
    let fits = expr::bin(Op::Ult, shifted, Val::concrete(ENTRIES as u128, 32));
    if fits.value != 1 {
        return false;
    }
    view::assume(site, ASSUME_VALUE, fits);
    true
}

/// The character itself if it is one that was made wider.
pub fn inner(c: Val) -> Val {
    match narrow(c) {
        Some((_, b)) if b.width == 8 => b,
        _ => c,
    }
}

/// The result of the function of a class.
unsafe fn classify(call: &Call, class: Class, c: c_int, real: c_int, name: &CStr) -> c_int {
    let v = call.int(0, c);
    if !v.is_symbolic() {
        call.result_id(0);
        return real;
    }
    if !in_range(call.site, v) {
        give_up(call, name);
        return real;
    }
    let bit = Val::concrete(u128::from(class.bit), 32);
    let result = if is_plain() {
        Some(expr::ite(class.holds(inner(v)), bit, Val::concrete(0, 32)))
    } else {
        look_up((*real::__ctype_b_loc()).cast(), 2, v)
            .map(|entry| expr::bin(Op::And, expr::zext(entry, 32), bit))
    };
    match result {
        Some(result) => finish(call, result, u128::from(real as u32), name),
        None => give_up(call, name),
    }
    real
}

/// Declares the functions of the classes.
macro_rules! classes {
    ($($symbol:ident, $real:ident, $class:ident, $name:literal;)*) => {$(
        /// The function of a class of characters.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $symbol(c: c_int) -> c_int {
            let call = Call::take($symbol as *const c_void);
            // The compiler knows some of these functions, and gives 1 where libc gives a bit.
            let real: unsafe extern "C" fn(c_int) -> c_int = core::hint::black_box(real::$real);
            classify(&call, $class, c, real(c), $name)
        }
    )*};
}

classes! {
    bg_x_isalpha, isalpha, ALPHA, c"isalpha";
    bg_x_isdigit, isdigit, DIGIT, c"isdigit";
    bg_x_isalnum, isalnum, ALNUM, c"isalnum";
    bg_x_isspace, isspace, SPACE, c"isspace";
    bg_x_isupper, isupper, UPPER, c"isupper";
    bg_x_islower, islower, LOWER, c"islower";
    bg_x_ispunct, ispunct, PUNCT, c"ispunct";
    bg_x_isprint, isprint, PRINT, c"isprint";
    bg_x_isgraph, isgraph, GRAPH, c"isgraph";
    bg_x_iscntrl, iscntrl, CNTRL, c"iscntrl";
    bg_x_isxdigit, isxdigit, XDIGIT, c"isxdigit";
    bg_x_isblank, isblank, BLANK, c"isblank";
}

/// The other case of `c`, if it has it: letters from `from` on move by `by`.
fn recase(c: Val, from: u8, by: i32) -> Val {
    let b = inner(c);
    let other = within(b, u128::from(from), u128::from(from + 25));
    let moved = expr::add(b, Val::concrete(by as u128, b.width));
    // A letter is positive, so that it can be filled with zeros.
    expr::ite(other, expr::zext(moved, 32), twin(c))
}

/// The unsigned twin of a negative character other than the end of a file; others as they are.
fn twin(c: Val) -> Val {
    match narrow(c) {
        Some((Op::ZExt, b)) if b.width < 32 => c,
        Some((Op::SExt, b)) if b.width == 8 => {
            let end = expr::eq(b, Val::concrete(255, 8));
            expr::ite(
                end,
                Val::concrete(u128::from(u32::MAX), 32),
                expr::zext(b, 32),
            )
        }
        _ => {
            let shifted = expr::add(c, Val::concrete(128, 32));
            let negative = expr::bin(Op::Ult, shifted, Val::concrete(127, 32));
            expr::ite(negative, expr::add(c, Val::concrete(256, 32)), c)
        }
    }
}

/// The result of a function of case.
unsafe fn cased(
    call: &Call,
    c: c_int,
    real: c_int,
    table: *const i32,
    plain: impl Fn(Val) -> Val,
    name: &CStr,
) -> c_int {
    let v = call.int(0, c);
    if !v.is_symbolic() {
        call.result_id(0);
        return real;
    }
    let result = if is_plain() {
        Some(plain(v))
    } else if in_range(call.site, v) {
        look_up(table.cast(), 4, v)
    } else {
        None
    };
    match result {
        Some(result) => finish(call, result, u128::from(real as u32), name),
        None => give_up(call, name),
    }
    real
}

/// `tolower`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_tolower(c: c_int) -> c_int {
    let call = Call::take(bg_x_tolower as *const c_void);
    let table = *real::__ctype_tolower_loc();
    cased(
        &call,
        c,
        real::tolower(c),
        table,
        |v| recase(v, b'A', 32),
        c"tolower",
    )
}

/// `toupper`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_toupper(c: c_int) -> c_int {
    let call = Call::take(bg_x_toupper as *const c_void);
    let table = *real::__ctype_toupper_loc();
    cased(
        &call,
        c,
        real::toupper(c),
        table,
        |v| recase(v, b'a', -32),
        c"toupper",
    )
}

/// `isascii`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_isascii(c: c_int) -> c_int {
    let call = Call::take(bg_x_isascii as *const c_void);
    let real = c_int::from(c & !0x7f == 0);
    let v = call.int(0, c);
    let small = expr::bin(Op::Ult, v, Val::concrete(128, 32));
    finish(&call, expr::zext(small, 32), real as u128, c"isascii");
    real
}

/// `toascii`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_toascii(c: c_int) -> c_int {
    let call = Call::take(bg_x_toascii as *const c_void);
    let v = expr::bin(Op::And, call.int(0, c), Val::concrete(127, 32));
    finish(&call, v, (c & 127) as u128, c"toascii");
    c & 127
}

/// Tells of a table, so that its entries can be looked up by characters that depend on the input.
fn tell<T>(p: *const T) {
    if !p.is_null() {
        let first = p.wrapping_sub(BEFORE).cast();
        object::foreign(first, ENTRIES * size_of::<T>(), true);
    }
}

/// `__ctype_b_loc`: the table that the macros of the classes use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___ctype_b_loc() -> *mut *const u16 {
    let call = Call::take(bg_x___ctype_b_loc as *const c_void);
    let loc = real::__ctype_b_loc();
    if call.recorded() {
        tell(*loc);
    }
    call.result_id(0);
    loc
}

/// `__ctype_tolower_loc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___ctype_tolower_loc() -> *mut *const i32 {
    let call = Call::take(bg_x___ctype_tolower_loc as *const c_void);
    let loc = real::__ctype_tolower_loc();
    if call.recorded() {
        tell(*loc);
    }
    call.result_id(0);
    loc
}

/// `__ctype_toupper_loc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___ctype_toupper_loc() -> *mut *const i32 {
    let call = Call::take(bg_x___ctype_toupper_loc as *const c_void);
    let loc = real::__ctype_toupper_loc();
    if call.recorded() {
        tell(*loc);
    }
    call.result_id(0);
    loc
}
