//! Dates: what depends on the input is not followed through them, but never wrong.
//!
//! Time itself is pinned (see [`super::pinned`]), so a date that depends on the input is one that the
//! program has read. Then the fields and texts made of it count as concrete, and the loss is counted.

use core::ffi::{CStr, c_char, c_void};

use beagle_trace::layout::Loss;
use beagle_trace::op::Op;

use crate::call::Call;
use crate::expr::{self, Val};
use crate::log;
use crate::shadow;
use crate::sys;

/// `struct tm`, as far as anyone here needs to know.
pub type Fields = [u64; 7];
const FIELDS: usize = size_of::<Fields>();
/// At most so much of a text is looked at.
const TEXT: usize = 4096;

unsafe extern "C" {
    fn gmtime(time: *const i64) -> *mut Fields;
    fn localtime(time: *const i64) -> *mut Fields;
    fn gmtime_r(time: *const i64, to: *mut Fields) -> *mut Fields;
    fn localtime_r(time: *const i64, to: *mut Fields) -> *mut Fields;
    fn ctime(time: *const i64) -> *mut c_char;
    fn ctime_r(time: *const i64, to: *mut c_char) -> *mut c_char;
    fn asctime(fields: *const Fields) -> *mut c_char;
    fn asctime_r(fields: *const Fields, to: *mut c_char) -> *mut c_char;
    fn mktime(fields: *mut Fields) -> i64;
    fn timegm(fields: *mut Fields) -> i64;
    fn strftime(to: *mut c_char, max: usize, format: *const c_char, fields: *const Fields)
    -> usize;
    fn strptime(text: *const c_char, format: *const c_char, fields: *mut Fields) -> *mut c_char;
    fn difftime(end: i64, start: i64) -> f64;
}

/// Counts a loss if any of the bytes depends on the input.
unsafe fn lose(call: &Call, p: *const c_void, n: usize, name: &CStr) {
    if call.recorded() && !p.is_null() && shadow::any(p.cast(), n) {
        log::lose_in(Loss::Model, name);
    }
}

/// The length of a text with its end, as far as we look.
unsafe fn extent(text: *const c_char) -> usize {
    if text.is_null() {
        0
    } else {
        (sys::strlen(text) + 1).min(TEXT)
    }
}

macro_rules! converts {
    ($($name:ident => $real:ident($from:ident: $source:ty $(, $argument:ident: $type:ty)*) -> $result:ty, $text:literal, $in:expr, $out:ident;)*) => {$(
        #[doc = concat!("`", stringify!($real), "`.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($from: $source $(, $argument: $type)*) -> *mut $result {
            let call = Call::take($name as *const c_void);
            lose(&call, $from.cast(), $in, $text);
            let result = $real($from $(, $argument)*);
            if !result.is_null() {
                shadow::clear(result.cast(), $out(result));
            }
            call.result_id(0);
            result
        }
    )*};
}

unsafe fn whole(_: *mut Fields) -> usize {
    FIELDS
}

unsafe fn text(result: *mut c_char) -> usize {
    extent(result)
}

converts! {
    bg_x_gmtime => gmtime(from: *const i64) -> Fields, c"gmtime", 8, whole;
    bg_x_localtime => localtime(from: *const i64) -> Fields, c"localtime", 8, whole;
    bg_x_gmtime_r => gmtime_r(from: *const i64, to: *mut Fields) -> Fields, c"gmtime_r", 8, whole;
    bg_x_localtime_r => localtime_r(from: *const i64, to: *mut Fields) -> Fields, c"localtime_r", 8, whole;
    bg_x_ctime => ctime(from: *const i64) -> c_char, c"ctime", 8, text;
    bg_x_ctime_r => ctime_r(from: *const i64, to: *mut c_char) -> c_char, c"ctime_r", 8, text;
    bg_x_asctime => asctime(from: *const Fields) -> c_char, c"asctime", FIELDS, text;
    bg_x_asctime_r => asctime_r(from: *const Fields, to: *mut c_char) -> c_char, c"asctime_r", FIELDS, text;
}

macro_rules! counts {
    ($($name:ident => $real:ident, $text:literal;)*) => {$(
        #[doc = concat!("`", stringify!($real), "`.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(fields: *mut Fields) -> i64 {
            let call = Call::take($name as *const c_void);
            lose(&call, fields.cast(), FIELDS, $text);
            let result = $real(fields);
            // It brings the fields into their ranges, so they are no longer what the program put there.
            shadow::clear(fields.cast(), FIELDS);
            call.result_id(0);
            result
        }
    )*};
}

counts! {
    bg_x_mktime => mktime, c"mktime";
    bg_x_timegm => timegm, c"timegm";
}

/// `strftime`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strftime(
    to: *mut c_char,
    max: usize,
    format: *const c_char,
    fields: *const Fields,
) -> usize {
    let call = Call::take(bg_x_strftime as *const c_void);
    lose(&call, fields.cast(), FIELDS, c"strftime");
    lose(&call, format.cast(), extent(format), c"strftime");
    let len = strftime(to, max, format, fields);
    if !to.is_null() {
        // What is there when it did not fit is anyone's guess.
        shadow::clear(to.cast(), if len == 0 { max.min(1 << 20) } else { len + 1 });
    }
    call.result_id(0);
    len
}

/// `strptime`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strptime(
    text: *const c_char,
    format: *const c_char,
    fields: *mut Fields,
) -> *mut c_char {
    let call = Call::take(bg_x_strptime as *const c_void);
    lose(&call, text.cast(), extent(text), c"strptime");
    lose(&call, format.cast(), extent(format), c"strptime");
    let result = strptime(text, format, fields);
    shadow::clear(fields.cast(), FIELDS);
    call.result_id(0);
    result
}

/// `difftime`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_difftime(end: i64, start: i64) -> f64 {
    let call = Call::take(bg_x_difftime as *const c_void);
    let result = difftime(end, start);
    let (a, b) = (call.word(0, end as usize), call.word(1, start as usize));
    if a.id | b.id == 0 {
        call.result_id(0);
        return result;
    }
    // Wide enough for every difference.
    let difference = expr::sub(expr::sext(a, 128), expr::sext(b, 128));
    let value = difference.signed() as f64;
    if value.to_bits() == result.to_bits() && difference.id != 0 {
        let bits = u128::from(value.to_bits());
        call.result(expr::make(Op::SiToFp, 64, difference, None, 0, bits));
    } else {
        if difference.id != 0 {
            log::lose_in(Loss::Mismatch, c"difftime");
        }
        call.result(Val::concrete(0, 64));
    }
    result
}
