//! `mmap`: a mapped source of the input is memory full of variables.

use core::ffi::{c_int, c_void};

use beagle_trace::event::{ASSUME_SIZE, ASSUME_VALUE};
use beagle_trace::op::Op;

use super::channel::{self, descriptor};
use super::own::is_written;
use super::real;
use super::{assume_once, pin_address};
use crate::call::Call;
use crate::expr::{self, Val};
use crate::{input, log, object, shadow, sys};

const PAGE: usize = 4096;
const ANONYMOUS: c_int = 0x20;
const SHARED: c_int = 1;
const SHARED_VALIDATE: c_int = 3;
const WRITE: c_int = 2;

/// How many pages: takes that for granted, not the length itself.
fn assume_pages(call: &Call, index: usize, len: usize) {
    let len = call.word(index, len);
    if len.is_symbolic() {
        let up = expr::add(len, Val::concrete(PAGE as u128 - 1, 64));
        let pages = expr::bin(Op::LShr, up, Val::concrete(12, 64));
        let same = expr::eq(pages, Val::concrete(pages.value, 64));
        assume_once(call.site, ASSUME_SIZE, same);
    }
}

/// `mmap`, `mmap64`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_mmap(
    at: *mut c_void,
    len: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    let call = Call::take(bg_x_mmap as *const c_void);
    let p = sys::mmap(at, len, protection, flags, fd, offset);
    if call.recorded() && p as isize != -1 {
        assume_pages(&call, 1, len);
        for (i, v) in [(2, protection), (3, flags), (4, fd)] {
            log::pin(call.site, ASSUME_VALUE, call.int(i, v));
        }
        pin_address(&call, 0, at as usize);
        log::pin(call.site, ASSUME_VALUE, call.word(5, offset as usize));
        let whole = len.next_multiple_of(PAGE);
        let bytes = p.cast::<u8>();
        shadow::clear(bytes, whole);
        object::heap(bytes, whole);
        if flags & ANONYMOUS == 0 {
            let known = descriptor(fd);
            let shared = flags & 3 == SHARED || flags & 3 == SHARED_VALIDATE;
            if let Some(source) = known.source.filter(|s| !is_written(*s)) {
                mark(&call, bytes, whole, source, offset as u64);
            }
            if shared && protection & WRITE != 0 {
                // What was marked stays right: instrumented stores change the shadows.
                known.written();
            }
        }
    }
    call.result_id(0);
    p
}

unsafe fn mark(call: &Call, p: *mut u8, whole: usize, source: u32, offset: u64) {
    let size = input::bytes(source).len() as u64;
    let here = size.saturating_sub(offset).min(whole as u64) as usize;
    channel::mark(call.site, p, here, source, offset, whole);
    if here == whole || !input::size(source).is_symbolic() {
        return;
    }
    // The rest of the last page is 0, as are variables past the end: the source can grow into it.
    // Pages after that cannot be touched.
    for i in here..here.next_multiple_of(PAGE).min(whole) {
        let v = input::var(source, offset + i as u64);
        if *p.add(i) == 0 && v.value == 0 && v.id != 0 {
            *shadow::cell_of(p.add(i)) = v.id;
        }
    }
}

/// `munmap`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_munmap(at: *mut c_void, len: usize) -> c_int {
    let call = Call::take(bg_x_munmap as *const c_void);
    let result = sys::munmap(at, len);
    if call.recorded() && result == 0 {
        pin_address(&call, 0, at as usize);
        assume_pages(&call, 1, len);
        object::gone(at.cast());
        shadow::clear(at.cast(), len.next_multiple_of(PAGE));
    }
    call.result_id(0);
    result
}

/// `mremap`: shadows move with the memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_mremap(
    at: *mut c_void,
    old: usize,
    new: usize,
    flags: c_int,
    to: *mut c_void,
) -> *mut c_void {
    let call = Call::take(bg_x_mremap as *const c_void);
    let p = real::mremap(at, old, new, flags, to);
    if call.recorded() && p as isize != -1 {
        pin_address(&call, 0, at as usize);
        log::pin(call.site, ASSUME_SIZE, call.word(1, old));
        log::pin(call.site, ASSUME_SIZE, call.word(2, new));
        let (from, to) = (at.cast::<u8>(), p.cast::<u8>());
        let (old, new) = (old.next_multiple_of(PAGE), new.next_multiple_of(PAGE));
        object::gone(from);
        if from == to {
            if new < old {
                shadow::clear(to.add(new), old - new);
            }
        } else {
            shadow::copy(to, from, old.min(new));
            shadow::clear(from, old);
        }
        if new > old {
            shadow::clear(to.add(old), new - old);
        }
        object::heap(to, new);
    }
    call.result_id(0);
    p
}
