//! Copying and filling memory: shadows go where the bytes go.

use core::ffi::{c_int, c_void};

use beagle_trace::event::{ASSUME_LENGTH, ASSUME_VALUE};
use beagle_trace::layout::Loss;

use super::view::{self, MAX, pin_pointer, pin_size, word};
use crate::call::Call;
use crate::expr::{self, Val};
use crate::log;
use crate::shadow;
use crate::sys;

mod real {
    use core::ffi::{c_int, c_void};
    unsafe extern "C" {
        pub fn memccpy(d: *mut c_void, s: *const c_void, c: c_int, n: usize) -> *mut c_void;
        pub fn explicit_bzero(d: *mut c_void, n: usize);
        pub fn __memcpy_chk(d: *mut c_void, s: *const c_void, n: usize, room: usize)
        -> *mut c_void;
        pub fn __memmove_chk(
            d: *mut c_void,
            s: *const c_void,
            n: usize,
            room: usize,
        ) -> *mut c_void;
        pub fn __mempcpy_chk(
            d: *mut c_void,
            s: *const c_void,
            n: usize,
            room: usize,
        ) -> *mut c_void;
        pub fn __memset_chk(d: *mut c_void, c: c_int, n: usize, room: usize) -> *mut c_void;
    }
}

/// Addresses and size of a copy, arguments 0 to 2, are taken to be what they are.
fn pin_copy(call: &Call, d: *mut c_void, s: *const c_void, n: usize) {
    pin_pointer(call, 0, d);
    pin_pointer(call, 1, s);
    pin_size(call, 2, n);
}

/// Copies bytes and shadows; the two places may overlap.
unsafe fn copy(d: *mut c_void, s: *const c_void, n: usize) {
    sys::memmove(d, s, n);
    shadow::copy(d.cast(), s.cast(), n);
}

/// Fills bytes, with the shadow of the byte.
unsafe fn fill(call: &Call, d: *mut c_void, c: c_int, n: usize) {
    pin_pointer(call, 0, d);
    pin_size(call, 2, n);
    sys::memset(d, c, n);
    let byte = expr::extract(call.int(1, c), 0, 8);
    if byte.is_symbolic() {
        for i in 0..n {
            *shadow::cell_of(d.cast::<u8>().add(i)) = byte.id;
        }
    } else {
        shadow::clear(d.cast(), n);
    }
}

/// `memcpy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_memcpy(d: *mut c_void, s: *const c_void, n: usize) -> *mut c_void {
    let call = Call::take(bg_x_memcpy as *const c_void);
    pin_copy(&call, d, s, n);
    copy(d, s, n);
    call.result(call.word(0, d as usize));
    d
}

/// `memmove`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_memmove(d: *mut c_void, s: *const c_void, n: usize) -> *mut c_void {
    let call = Call::take(bg_x_memmove as *const c_void);
    pin_copy(&call, d, s, n);
    copy(d, s, n);
    call.result(call.word(0, d as usize));
    d
}

/// `mempcpy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_mempcpy(d: *mut c_void, s: *const c_void, n: usize) -> *mut c_void {
    let call = Call::take(bg_x_mempcpy as *const c_void);
    pin_copy(&call, d, s, n);
    copy(d, s, n);
    call.result(expr::add(call.word(0, d as usize), word(n)));
    d.wrapping_byte_add(n)
}

/// `bcopy`: the source comes first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_bcopy(s: *const c_void, d: *mut c_void, n: usize) {
    let call = Call::take(bg_x_bcopy as *const c_void);
    pin_pointer(&call, 0, s);
    pin_pointer(&call, 1, d);
    pin_size(&call, 2, n);
    copy(d, s, n);
    call.result_id(0);
}

/// `memset`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_memset(d: *mut c_void, c: c_int, n: usize) -> *mut c_void {
    let call = Call::take(bg_x_memset as *const c_void);
    fill(&call, d, c, n);
    call.result(call.word(0, d as usize));
    d
}

/// `bzero`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_bzero(d: *mut c_void, n: usize) {
    let call = Call::take(bg_x_bzero as *const c_void);
    pin_pointer(&call, 0, d);
    pin_size(&call, 1, n);
    sys::memset(d, 0, n);
    shadow::clear(d.cast(), n);
    call.result_id(0);
}

/// `explicit_bzero`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_explicit_bzero(d: *mut c_void, n: usize) {
    let call = Call::take(bg_x_explicit_bzero as *const c_void);
    pin_pointer(&call, 0, d);
    pin_size(&call, 1, n);
    real::explicit_bzero(d, n);
    shadow::clear(d.cast(), n);
    call.result_id(0);
}

/// `memccpy`: the place of the byte that stops it is taken to be what it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_memccpy(
    d: *mut c_void,
    s: *const c_void,
    c: c_int,
    n: usize,
) -> *mut c_void {
    let call = Call::take(bg_x_memccpy as *const c_void);
    pin_pointer(&call, 0, d);
    pin_pointer(&call, 1, s);
    let stop = expr::extract(call.int(2, c), 0, 8);
    log::pin(call.site, ASSUME_VALUE, stop);
    pin_size(&call, 3, n);
    let end = real::memccpy(d, s, c, n);
    let copied = if end.is_null() {
        n
    } else {
        (end as usize).wrapping_sub(d as usize)
    };
    let mut followed = true;
    if call.recorded() && shadow::any(s.cast(), copied) {
        followed = copied <= MAX;
        let mut all = Val::concrete(1, 1);
        for i in 0..if followed { copied } else { 0 } {
            let b = shadow::byte(s.cast::<u8>().add(i));
            if b.is_symbolic() {
                let same = expr::eq(b, Val::concrete(stop.value, 8));
                let last = !end.is_null() && i + 1 == copied;
                all = expr::and(all, if last { same } else { expr::not(same) });
            }
        }
        view::assume(call.site, ASSUME_LENGTH, all);
    }
    if followed {
        shadow::copy(d.cast(), s.cast(), copied);
    } else {
        log::lose_in(Loss::Model, c"memccpy");
        shadow::clear(d.cast(), copied);
    }
    call.result_id(0);
    end
}

/// `__memcpy_chk`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___memcpy_chk(
    d: *mut c_void,
    s: *const c_void,
    n: usize,
    room: usize,
) -> *mut c_void {
    let mut call = Call::take(bg_x___memcpy_chk as *const c_void);
    pin_copy(&call, d, s, n);
    pin_size(&call, 3, room);
    if n > room {
        return call.outside(|| real::__memcpy_chk(d, s, n, room));
    }
    copy(d, s, n);
    call.result(call.word(0, d as usize));
    d
}

/// `__memmove_chk`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___memmove_chk(
    d: *mut c_void,
    s: *const c_void,
    n: usize,
    room: usize,
) -> *mut c_void {
    let mut call = Call::take(bg_x___memmove_chk as *const c_void);
    pin_copy(&call, d, s, n);
    pin_size(&call, 3, room);
    if n > room {
        return call.outside(|| real::__memmove_chk(d, s, n, room));
    }
    copy(d, s, n);
    call.result(call.word(0, d as usize));
    d
}

/// `__mempcpy_chk`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___mempcpy_chk(
    d: *mut c_void,
    s: *const c_void,
    n: usize,
    room: usize,
) -> *mut c_void {
    let mut call = Call::take(bg_x___mempcpy_chk as *const c_void);
    pin_copy(&call, d, s, n);
    pin_size(&call, 3, room);
    if n > room {
        return call.outside(|| real::__mempcpy_chk(d, s, n, room));
    }
    copy(d, s, n);
    call.result(expr::add(call.word(0, d as usize), word(n)));
    d.wrapping_byte_add(n)
}

/// `__memset_chk`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___memset_chk(
    d: *mut c_void,
    c: c_int,
    n: usize,
    room: usize,
) -> *mut c_void {
    let mut call = Call::take(bg_x___memset_chk as *const c_void);
    pin_size(&call, 3, room);
    if n > room {
        return call.outside(|| real::__memset_chk(d, c, n, room));
    }
    fill(&call, d, c, n);
    call.result(call.word(0, d as usize));
    d
}
