//! `sprintf` and its kin: the bytes that they store keep their expressions.
//!
//! Byte k of a number is `RenderByte(number, conversion, k)`, under the assumption that the number has
//! as many digits as it had; so the bytes after it, and the result, are what they are.

use core::ffi::{CStr, c_char, c_int, c_void};

use beagle_trace::event::ASSUME_SIZE;
use beagle_trace::layout::Loss;
use beagle_trace::op::Op;
use beagle_trace::wire::cell;

use super::own::own;
use super::pin_address;
use super::printf::{Use, render};
use super::real;
use super::text::Text;
use crate::call::Call;
use crate::expr;
use crate::variadic::VaList;
use crate::{log, object, shadow, sys};

/// The text was stored at `to`, of it the first `n` bytes and a 0.
unsafe fn store(text: &Text, to: *mut u8, n: usize, name: &CStr) {
    shadow::clear(to, n + 1);
    let stored = core::slice::from_raw_parts(to, n);
    if text.failed || text.bytes().get(..n) != Some(stored) {
        if !text.pieces().is_empty() {
            log::lose_in(Loss::Mismatch, name);
        }
        return;
    }
    for piece in text.pieces() {
        let at = piece.position as usize;
        for k in 0..(piece.len as usize).min(n.saturating_sub(at)) {
            let cell_at = shadow::cell_of(to.add(at + k));
            if piece.conversion == 0 {
                *cell_at = cell(piece.node, k as u32);
                continue;
            }
            let number = expr::node(piece.node);
            let byte = u128::from(*to.add(at + k));
            let made = expr::indexed(Op::RenderByte, 8, number, piece.conversion, k as u32, byte);
            *cell_at = made.id;
        }
    }
}

/// What the program asked for beside format and arguments.
struct Wanted {
    /// The most bytes with the 0; none for `sprintf`.
    n: Option<usize>,
    /// Flag and size of the memory, for a checked variant.
    checked: Option<(c_int, usize)>,
    /// The number of the format among the arguments.
    index: usize,
}

unsafe fn print(
    mut call: Call,
    to: *mut c_char,
    wanted: Wanted,
    format: *const c_char,
    list: *mut VaList,
    name: &CStr,
) -> c_int {
    let Wanted { n, checked, index } = wanted;
    let recorded = call.recorded() && !format.is_null();
    if recorded {
        pin_address(&call, 0, to as usize);
        pin_address(&call, index, format as usize);
        if let Some(n) = n {
            log::pin(call.site, ASSUME_SIZE, call.word(1, n));
        }
        // Before the real one: it may write over its own arguments.
        let text = &mut (*own()).text;
        text.clear();
        render(text, call.site, format, &*list, name, Use::Stored);
    }
    let result = call.outside(|| match (n, checked) {
        (None, None) => real::vsprintf(to, format, list),
        (Some(n), None) => real::vsnprintf(to, n, format, list),
        (None, Some((flag, room))) => real::__vsprintf_chk(to, flag, room, format, list),
        (Some(n), Some((flag, room))) => real::__vsnprintf_chk(to, n, flag, room, format, list),
    });
    if recorded && call.recorded() && result >= 0 && !to.is_null() && n != Some(0) {
        let most = n.map_or(usize::MAX, |n| n - 1);
        store(&(*own()).text, to.cast(), most.min(result as usize), name);
    }
    call.result_id(0);
    result
}

/// For the variadic functions of `entry.c`: `sprintf` (`bounded` 0) and `snprintf`. `flag` is that of
/// a checked variant, or -1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bgr_vsnprintf(
    own: *const c_void,
    to: *mut c_char,
    bounded: u32,
    n: usize,
    flag: c_int,
    room: usize,
    format: *const c_char,
    list: *mut VaList,
) -> c_int {
    let wanted = Wanted {
        n: (bounded != 0).then_some(n),
        checked: (flag >= 0).then_some((flag, room)),
        index: if bounded != 0 { 2 } else { 1 } + if flag >= 0 { 2 } else { 0 },
    };
    print(Call::take(own), to, wanted, format, list, c"sprintf")
}

/// `vsprintf`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_vsprintf(
    to: *mut c_char,
    format: *const c_char,
    list: *mut VaList,
) -> c_int {
    let own = bg_x_vsprintf as *const c_void;
    bgr_vsnprintf(own, to, 0, 0, -1, 0, format, list)
}

/// `vsnprintf`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_vsnprintf(
    to: *mut c_char,
    n: usize,
    format: *const c_char,
    list: *mut VaList,
) -> c_int {
    let own = bg_x_vsnprintf as *const c_void;
    bgr_vsnprintf(own, to, 1, n, -1, 0, format, list)
}

/// `__vsprintf_chk`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___vsprintf_chk(
    to: *mut c_char,
    flag: c_int,
    room: usize,
    format: *const c_char,
    list: *mut VaList,
) -> c_int {
    let own = bg_x___vsprintf_chk as *const c_void;
    bgr_vsnprintf(own, to, 0, 0, flag.max(0), room, format, list)
}

/// `__vsnprintf_chk`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___vsnprintf_chk(
    to: *mut c_char,
    n: usize,
    flag: c_int,
    room: usize,
    format: *const c_char,
    list: *mut VaList,
) -> c_int {
    let own = bg_x___vsnprintf_chk as *const c_void;
    bgr_vsnprintf(own, to, 1, n, flag.max(0), room, format, list)
}

/// For the variadic functions of `entry.c`: `asprintf`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bgr_vasprintf(
    own_address: *const c_void,
    to: *mut *mut c_char,
    flag: c_int,
    format: *const c_char,
    list: *mut VaList,
) -> c_int {
    let mut call = Call::take(own_address);
    let recorded = call.recorded() && !format.is_null();
    let errno = *sys::__errno_location();
    if recorded {
        pin_address(&call, 0, to as usize);
        pin_address(&call, if flag >= 0 { 2 } else { 1 }, format as usize);
        let text = &mut (*own()).text;
        text.clear();
        render(text, call.site, format, &*list, c"asprintf", Use::Stored);
    }
    *sys::__errno_location() = errno;
    let result = call.outside(|| {
        if flag < 0 {
            real::vasprintf(to, format, list)
        } else {
            real::__vasprintf_chk(to, flag, format, list)
        }
    });
    if recorded && call.recorded() {
        shadow::clear(to.cast(), 8);
        if result >= 0 {
            let p = (*to).cast::<u8>();
            object::heap(p, result as usize + 1);
            store(&(*own()).text, p, result as usize, c"asprintf");
        }
    }
    call.result_id(0);
    result
}

/// `vasprintf`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_vasprintf(
    to: *mut *mut c_char,
    format: *const c_char,
    list: *mut VaList,
) -> c_int {
    bgr_vasprintf(bg_x_vasprintf as *const c_void, to, -1, format, list)
}

/// `__vasprintf_chk`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___vasprintf_chk(
    to: *mut *mut c_char,
    flag: c_int,
    format: *const c_char,
    list: *mut VaList,
) -> c_int {
    let own = bg_x___vasprintf_chk as *const c_void;
    bgr_vasprintf(own, to, flag.max(0), format, list)
}
