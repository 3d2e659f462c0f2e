//! Memory from the heap: where objects start and end, and whose shadows the bytes have.
//!
//! Fresh memory is cleared here although `free` clears too: libc itself frees memory that the program
//! filled, unseen.

use core::ffi::{c_char, c_int, c_void};

use beagle_trace::layout::Loss;

use super::view::{assume_length, pin_pointer, pin_size};
use crate::call::Call;
use crate::log;
use crate::object;
use crate::shadow;

mod real {
    use core::ffi::{c_char, c_int, c_void};
    unsafe extern "C" {
        pub fn malloc(n: usize) -> *mut c_void;
        pub fn calloc(count: usize, size: usize) -> *mut c_void;
        pub fn realloc(p: *mut c_void, n: usize) -> *mut c_void;
        pub fn reallocarray(p: *mut c_void, count: usize, size: usize) -> *mut c_void;
        pub fn free(p: *mut c_void);
        pub fn aligned_alloc(align: usize, n: usize) -> *mut c_void;
        pub fn memalign(align: usize, n: usize) -> *mut c_void;
        pub fn posix_memalign(to: *mut *mut c_void, align: usize, n: usize) -> c_int;
        pub fn valloc(n: usize) -> *mut c_void;
        pub fn malloc_usable_size(p: *mut c_void) -> usize;
        pub fn strdup(s: *const c_char) -> *mut c_char;
        pub fn strndup(s: *const c_char, n: usize) -> *mut c_char;
        pub fn strlen(s: *const c_char) -> usize;
        pub fn strnlen(s: *const c_char, n: usize) -> usize;
    }
}

/// A new object of `n` bytes lies at `p`, unless that is null.
unsafe fn fresh(p: *mut c_void, n: usize) -> *mut c_void {
    if !p.is_null() {
        shadow::clear(p.cast(), n);
        object::heap(p.cast(), n);
    }
    p
}

/// `malloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_malloc(n: usize) -> *mut c_void {
    let call = Call::take(bg_x_malloc as *const c_void);
    pin_size(&call, 0, n);
    let p = fresh(real::malloc(n), n);
    call.result_id(0);
    p
}

/// `calloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_calloc(count: usize, size: usize) -> *mut c_void {
    let call = Call::take(bg_x_calloc as *const c_void);
    pin_size(&call, 0, count);
    pin_size(&call, 1, size);
    let p = fresh(real::calloc(count, size), count.wrapping_mul(size));
    call.result_id(0);
    p
}

/// `valloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_valloc(n: usize) -> *mut c_void {
    let call = Call::take(bg_x_valloc as *const c_void);
    pin_size(&call, 0, n);
    let p = fresh(real::valloc(n), n);
    call.result_id(0);
    p
}

/// `aligned_alloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_aligned_alloc(align: usize, n: usize) -> *mut c_void {
    let call = Call::take(bg_x_aligned_alloc as *const c_void);
    pin_size(&call, 0, align);
    pin_size(&call, 1, n);
    let p = fresh(real::aligned_alloc(align, n), n);
    call.result_id(0);
    p
}

/// `memalign`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_memalign(align: usize, n: usize) -> *mut c_void {
    let call = Call::take(bg_x_memalign as *const c_void);
    pin_size(&call, 0, align);
    pin_size(&call, 1, n);
    let p = fresh(real::memalign(align, n), n);
    call.result_id(0);
    p
}

/// `posix_memalign`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_posix_memalign(
    to: *mut *mut c_void,
    align: usize,
    n: usize,
) -> c_int {
    let call = Call::take(bg_x_posix_memalign as *const c_void);
    pin_pointer(&call, 0, to);
    pin_size(&call, 1, align);
    pin_size(&call, 2, n);
    let failed = real::posix_memalign(to, align, n);
    if failed == 0 {
        shadow::clear(to.cast(), size_of::<*mut c_void>());
        fresh(*to, n);
    }
    call.result_id(0);
    failed
}

/// `free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_free(p: *mut c_void) {
    let call = Call::take(bg_x_free as *const c_void);
    pin_pointer(&call, 0, p);
    if let Some(size) = object::gone(p.cast()) {
        shadow::clear(p.cast(), size);
    }
    real::free(p);
    call.result_id(0);
}

/// What `realloc` did: the bytes of the object at `old` are at `new` now, or nothing happened.
struct Moving {
    old: *mut c_void,
    known: Option<usize>,
    size: usize,
}

impl Moving {
    /// Before `realloc`.
    unsafe fn start(old: *mut c_void) -> Self {
        let known = object::gone(old.cast());
        let size = match known {
            Some(size) => size,
            None if old.is_null() => 0,
            // Libc made the object itself, as `getline` does.
            None => real::malloc_usable_size(old),
        };
        Self { old, known, size }
    }

    /// After it.
    unsafe fn end(self, new: *mut c_void, n: usize) {
        let old = self.old.cast::<u8>();
        if new.is_null() {
            if n != 0 {
                // Failed: the object is still there.
                if let Some(size) = self.known {
                    object::heap(old, size);
                }
            } else {
                shadow::clear(old, self.size);
            }
            return;
        }
        let kept = self.size.min(n);
        let to = new.cast::<u8>();
        if to == old {
            shadow::clear(to.add(kept), self.size.max(n) - kept);
        } else {
            if !old.is_null() {
                shadow::copy(to, old, kept);
                shadow::clear(old, self.size);
            }
            shadow::clear(to.add(kept), n - kept);
        }
        object::heap(to, n);
    }
}

/// `realloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_realloc(p: *mut c_void, n: usize) -> *mut c_void {
    let call = Call::take(bg_x_realloc as *const c_void);
    pin_pointer(&call, 0, p);
    pin_size(&call, 1, n);
    let moving = Moving::start(p);
    let new = real::realloc(p, n);
    moving.end(new, n);
    call.result_id(0);
    new
}

/// `reallocarray`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_reallocarray(
    p: *mut c_void,
    count: usize,
    size: usize,
) -> *mut c_void {
    let call = Call::take(bg_x_reallocarray as *const c_void);
    pin_pointer(&call, 0, p);
    pin_size(&call, 1, count);
    pin_size(&call, 2, size);
    let moving = Moving::start(p);
    let new = real::reallocarray(p, count, size);
    // A product that overflows is a failure, not a size of 0.
    moving.end(new, count.saturating_mul(size));
    call.result_id(0);
    new
}

/// A copy of the string at `s`, whose first `len` bytes it has, was made at `p`.
unsafe fn copied(call: &Call, p: *mut c_char, s: *const c_char, len: usize, bound: usize) {
    if !p.is_null() {
        fresh(p.cast(), len + 1);
        if !call.recorded() || assume_length(call.site, s.cast(), len, bound) {
            shadow::copy(p.cast(), s.cast(), len);
        } else {
            log::lose_in(Loss::Model, c"strdup");
        }
    }
    call.result_id(0);
}

/// `strdup`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strdup(s: *const c_char) -> *mut c_char {
    let call = Call::take(bg_x_strdup as *const c_void);
    pin_pointer(&call, 0, s);
    let p = real::strdup(s);
    copied(&call, p, s, real::strlen(s), usize::MAX);
    p
}

/// `strndup`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_strndup(s: *const c_char, n: usize) -> *mut c_char {
    let call = Call::take(bg_x_strndup as *const c_void);
    pin_pointer(&call, 0, s);
    pin_size(&call, 1, n);
    let p = real::strndup(s, n);
    copied(&call, p, s, real::strnlen(s, n), n);
    p
}
