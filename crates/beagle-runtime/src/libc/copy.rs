//! Copying strings: their lengths are taken to be what they are, then shadows go where the bytes go.
//!
//! The byte that ends a copy is concrete, whatever it was in the source: that it is 0 was assumed.

use core::ffi::{CStr, c_char, c_void};

use beagle_trace::layout::Loss;

use super::view::{assume_length, pin_pointer, pin_size, word};
use crate::call::Call;
use crate::expr;
use crate::log;
use crate::shadow;
use crate::sys;

mod real {
    use core::ffi::c_char;
    unsafe extern "C" {
        pub fn strlen(s: *const c_char) -> usize;
        pub fn strnlen(s: *const c_char, n: usize) -> usize;
        pub fn strncpy(d: *mut c_char, s: *const c_char, n: usize) -> *mut c_char;
        pub fn __strcpy_chk(d: *mut c_char, s: *const c_char, room: usize) -> *mut c_char;
        pub fn __stpcpy_chk(d: *mut c_char, s: *const c_char, room: usize) -> *mut c_char;
        pub fn __strcat_chk(d: *mut c_char, s: *const c_char, room: usize) -> *mut c_char;
        pub fn __strncpy_chk(
            d: *mut c_char,
            s: *const c_char,
            n: usize,
            room: usize,
        ) -> *mut c_char;
        pub fn __stpncpy_chk(
            d: *mut c_char,
            s: *const c_char,
            n: usize,
            room: usize,
        ) -> *mut c_char;
        pub fn __strncat_chk(
            d: *mut c_char,
            s: *const c_char,
            n: usize,
            room: usize,
        ) -> *mut c_char;
    }
}

/// Assumes that the string has the length it has, of at most `bound`.
unsafe fn settle(call: &Call, s: *const c_char, len: usize, bound: usize, name: &CStr) {
    if call.recorded() && !assume_length(call.site, s.cast(), len, bound) {
        // Too long: its bytes stay as they are, but are not followed.
        log::lose_in(Loss::Model, name);
        shadow::clear(s.cast(), len);
    }
}

/// Copies `len` bytes and, if `ended`, a 0 behind them, with the shadows.
unsafe fn place(d: *mut c_char, s: *const c_char, len: usize, ended: bool) {
    sys::memmove(d.cast(), s.cast(), len);
    shadow::copy(d.cast(), s.cast(), len);
    if ended {
        *d.add(len) = 0;
        shadow::clear(d.cast::<u8>().add(len), 1);
    }
}

/// What `strcpy` does; gives the length.
unsafe fn copy(call: &Call, d: *mut c_char, s: *const c_char, name: &CStr) -> usize {
    pin_pointer(call, 0, d);
    pin_pointer(call, 1, s);
    let len = real::strlen(s);
    settle(call, s, len, usize::MAX, name);
    place(d, s, len, true);
    len
}

/// What `strncpy` does; gives the length of what was copied.
unsafe fn copy_bounded(
    call: &Call,
    d: *mut c_char,
    s: *const c_char,
    n: usize,
    name: &CStr,
) -> usize {
    pin_pointer(call, 0, d);
    pin_pointer(call, 1, s);
    pin_size(call, 2, n);
    let len = real::strnlen(s, n);
    settle(call, s, len, n, name);
    real::strncpy(d, s, n);
    shadow::copy(d.cast(), s.cast(), len);
    shadow::clear(d.cast::<u8>().add(len), n - len);
    len
}

/// What `strncat` does, `strcat` with the largest `n`.
unsafe fn append(call: &Call, d: *mut c_char, s: *const c_char, n: usize, name: &CStr) {
    pin_pointer(call, 0, d);
    pin_pointer(call, 1, s);
    let start = real::strlen(d);
    settle(call, d, start, usize::MAX, name);
    let len = real::strnlen(s, n);
    settle(call, s, len, n, name);
    place(d.add(start), s, len, true);
}

/// `strcpy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strcpy(d: *mut c_char, s: *const c_char) -> *mut c_char {
    let call = Call::take(bg_x_strcpy as *const c_void);
    copy(&call, d, s, c"strcpy");
    call.result(call.word(0, d as usize));
    d
}

/// `stpcpy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_stpcpy(d: *mut c_char, s: *const c_char) -> *mut c_char {
    let call = Call::take(bg_x_stpcpy as *const c_void);
    let len = copy(&call, d, s, c"stpcpy");
    call.result(expr::add(call.word(0, d as usize), word(len)));
    d.add(len)
}

/// `strncpy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strncpy(d: *mut c_char, s: *const c_char, n: usize) -> *mut c_char {
    let call = Call::take(bg_x_strncpy as *const c_void);
    copy_bounded(&call, d, s, n, c"strncpy");
    call.result(call.word(0, d as usize));
    d
}

/// `stpncpy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_stpncpy(d: *mut c_char, s: *const c_char, n: usize) -> *mut c_char {
    let call = Call::take(bg_x_stpncpy as *const c_void);
    let len = copy_bounded(&call, d, s, n, c"stpncpy");
    call.result(expr::add(call.word(0, d as usize), word(len)));
    d.add(len)
}

/// `strcat`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strcat(d: *mut c_char, s: *const c_char) -> *mut c_char {
    let call = Call::take(bg_x_strcat as *const c_void);
    append(&call, d, s, usize::MAX, c"strcat");
    call.result(call.word(0, d as usize));
    d
}

/// `strncat`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strncat(d: *mut c_char, s: *const c_char, n: usize) -> *mut c_char {
    let call = Call::take(bg_x_strncat as *const c_void);
    pin_size(&call, 2, n);
    append(&call, d, s, n, c"strncat");
    call.result(call.word(0, d as usize));
    d
}

/// `strlcpy`, done here: not every libc has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strlcpy(d: *mut c_char, s: *const c_char, n: usize) -> usize {
    let call = Call::take(bg_x_strlcpy as *const c_void);
    pin_pointer(&call, 0, d);
    pin_pointer(&call, 1, s);
    pin_size(&call, 2, n);
    let len = real::strlen(s);
    settle(&call, s, len, usize::MAX, c"strlcpy");
    if n > 0 {
        place(d, s, len.min(n - 1), true);
    }
    call.result_id(0);
    len
}

/// `strlcat`, done here: not every libc has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strlcat(d: *mut c_char, s: *const c_char, n: usize) -> usize {
    let call = Call::take(bg_x_strlcat as *const c_void);
    pin_pointer(&call, 0, d);
    pin_pointer(&call, 1, s);
    pin_size(&call, 2, n);
    let start = real::strnlen(d, n);
    settle(&call, d, start, n, c"strlcat");
    let len = real::strlen(s);
    settle(&call, s, len, usize::MAX, c"strlcat");
    if start < n {
        place(d.add(start), s, len.min(n - 1 - start), true);
    }
    call.result_id(0);
    start.wrapping_add(len)
}

/// `__strcpy_chk`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___strcpy_chk(
    d: *mut c_char,
    s: *const c_char,
    room: usize,
) -> *mut c_char {
    let mut call = Call::take(bg_x___strcpy_chk as *const c_void);
    pin_size(&call, 2, room);
    if real::strlen(s) >= room {
        return call.outside(|| real::__strcpy_chk(d, s, room));
    }
    copy(&call, d, s, c"strcpy");
    call.result(call.word(0, d as usize));
    d
}

/// `__stpcpy_chk`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___stpcpy_chk(
    d: *mut c_char,
    s: *const c_char,
    room: usize,
) -> *mut c_char {
    let mut call = Call::take(bg_x___stpcpy_chk as *const c_void);
    pin_size(&call, 2, room);
    if real::strlen(s) >= room {
        return call.outside(|| real::__stpcpy_chk(d, s, room));
    }
    let len = copy(&call, d, s, c"stpcpy");
    call.result(expr::add(call.word(0, d as usize), word(len)));
    d.add(len)
}

/// `__strncpy_chk`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___strncpy_chk(
    d: *mut c_char,
    s: *const c_char,
    n: usize,
    room: usize,
) -> *mut c_char {
    let mut call = Call::take(bg_x___strncpy_chk as *const c_void);
    pin_size(&call, 3, room);
    if n > room {
        return call.outside(|| real::__strncpy_chk(d, s, n, room));
    }
    copy_bounded(&call, d, s, n, c"strncpy");
    call.result(call.word(0, d as usize));
    d
}

/// `__stpncpy_chk`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___stpncpy_chk(
    d: *mut c_char,
    s: *const c_char,
    n: usize,
    room: usize,
) -> *mut c_char {
    let mut call = Call::take(bg_x___stpncpy_chk as *const c_void);
    pin_size(&call, 3, room);
    if n > room {
        return call.outside(|| real::__stpncpy_chk(d, s, n, room));
    }
    let len = copy_bounded(&call, d, s, n, c"stpncpy");
    call.result(expr::add(call.word(0, d as usize), word(len)));
    d.add(len)
}

/// `__strcat_chk`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___strcat_chk(
    d: *mut c_char,
    s: *const c_char,
    room: usize,
) -> *mut c_char {
    let mut call = Call::take(bg_x___strcat_chk as *const c_void);
    pin_size(&call, 2, room);
    if real::strlen(d).saturating_add(real::strlen(s)) >= room {
        return call.outside(|| real::__strcat_chk(d, s, room));
    }
    append(&call, d, s, usize::MAX, c"strcat");
    call.result(call.word(0, d as usize));
    d
}

/// `__strncat_chk`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___strncat_chk(
    d: *mut c_char,
    s: *const c_char,
    n: usize,
    room: usize,
) -> *mut c_char {
    let mut call = Call::take(bg_x___strncat_chk as *const c_void);
    pin_size(&call, 2, n);
    pin_size(&call, 3, room);
    if real::strlen(d).saturating_add(real::strnlen(s, n)) >= room {
        return call.outside(|| real::__strncat_chk(d, s, n, room));
    }
    append(&call, d, s, n, c"strncat");
    call.result(call.word(0, d as usize));
    d
}
