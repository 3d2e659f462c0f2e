//! `read` and its kin: bytes of a source become variables; how many there were is an expression.

use core::ffi::{CStr, c_int, c_void};

use beagle_trace::event::{ASSUME_SIZE, ASSUME_VALUE};
use beagle_trace::layout::Loss;

use super::channel::{self, descriptor};
use super::own::{is_written, lose_if_tainted};
use super::pin_address;
use super::position::Position;
use super::real::{self, Part};
use crate::call::Call;
use crate::expr::Val;
use crate::{input, log, shadow, sys};

/// The result of a read of `n` bytes, if that is what was got.
fn agreed(call: &Call, value: Val, got: isize, name: &CStr) {
    if value.value as isize == got {
        call.result(value);
    } else {
        log::lose_in(Loss::Mismatch, name);
        call.result_id(0);
    }
}

/// `read`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_read(fd: c_int, to: *mut c_void, n: usize) -> isize {
    let mut call = Call::take(bg_x_read as *const c_void);
    if !call.recorded() {
        call.result_id(0);
        return sys::read(fd, to, n);
    }
    log::pin(call.site, ASSUME_VALUE, call.int(0, fd));
    let known = descriptor(fd);
    let position = if known.source.is_some() {
        known.position(fd)
    } else {
        None
    };
    let Some(position) = position else {
        let got = call.outside(|| sys::read(fd, to, n));
        if got > 0 {
            lose_if_tainted(descriptor(fd).channel, c"read");
            shadow::clear(to.cast(), got as usize);
        }
        call.result_id(0);
        return got;
    };
    let got = sys::read(fd, to, n);
    if got < 0 {
        call.result_id(0);
        return got;
    }
    if got > 0 {
        pin_address(&call, 1, to as usize);
    }
    position.settle(call.site);
    let source = position.source;
    channel::mark(
        call.site,
        to.cast(),
        got as usize,
        source,
        position.offset(),
        n,
    );
    let wanted = call.word(2, n);
    let value = position.gets(wanted);
    position.advance(wanted);
    known.moved(fd);
    agreed(&call, value, got, c"read");
    got
}

/// `__read_chk`. That the buffer is large enough is for the real one to check.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___read_chk(
    fd: c_int,
    to: *mut c_void,
    n: usize,
    room: usize,
) -> isize {
    if n > room {
        return real::__read_chk(fd, to, n, room);
    }
    // The first three arguments are those of `read`.
    let slots = crate::slots::slots();
    if (*slots).callee == bg_x___read_chk as *const c_void {
        (*slots).callee = bg_x_read as *const c_void;
    }
    let got = bg_x_read(fd, to, n);
    (*slots).returner = bg_x___read_chk as *const c_void;
    got
}

/// `pread`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_pread(fd: c_int, to: *mut c_void, n: usize, offset: i64) -> isize {
    let mut call = Call::take(bg_x_pread as *const c_void);
    if !call.recorded() {
        call.result_id(0);
        return real::pread(fd, to, n, offset);
    }
    log::pin(call.site, ASSUME_VALUE, call.int(0, fd));
    let got = call.outside(|| real::pread(fd, to, n, offset));
    let source = descriptor(fd).source.filter(|s| !is_written(*s));
    let Some(source) = source.filter(|_| got >= 0) else {
        if got > 0 {
            lose_if_tainted(descriptor(fd).channel, c"pread");
            shadow::clear(to.cast(), got as usize);
        }
        call.result_id(0);
        return got;
    };
    if got > 0 {
        pin_address(&call, 1, to as usize);
    }
    log::pin(call.site, ASSUME_VALUE, call.word(3, offset as usize));
    channel::mark(call.site, to.cast(), got as usize, source, offset as u64, n);
    let value = Position::at(source, offset as u64).gets(call.word(2, n));
    agreed(&call, value, got, c"pread");
    got
}

/// `readv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_readv(fd: c_int, parts: *const Part, count: c_int) -> isize {
    let mut call = Call::take(bg_x_readv as *const c_void);
    if !call.recorded() {
        call.result_id(0);
        return real::readv(fd, parts, count);
    }
    log::pin(call.site, ASSUME_VALUE, call.int(0, fd));
    log::pin(call.site, ASSUME_SIZE, call.int(2, count));
    pin_address(&call, 1, parts as usize);
    let known = descriptor(fd);
    let mut position = if known.source.is_some() {
        known.position(fd)
    } else {
        None
    };
    let got = call.outside(|| real::readv(fd, parts, count));
    if got < 0 {
        call.result_id(0);
        return got;
    }
    let mut left = got as usize;
    let mut total = 0usize;
    let mut offset = 0;
    if let Some(position) = &mut position {
        position.settle(call.site);
        offset = position.offset();
    }
    for i in 0..count.max(0) as usize {
        let part = parts.add(i);
        log::pin(
            call.site,
            ASSUME_SIZE,
            shadow::load(part.cast::<u8>().add(8), 8),
        );
        let Part { base, len } = *part;
        let n = len.min(left);
        if let Some(position) = &position {
            input::mark(
                base,
                n,
                position.source,
                offset + (got as usize - left) as u64,
            );
        } else {
            shadow::clear(base, n);
        }
        left -= n;
        total = total.saturating_add(len);
    }
    let Some(position) = position else {
        call.result_id(0);
        return got;
    };
    log::read(
        call.site,
        position.source,
        offset,
        got as u32,
        total.min(u32::MAX as usize) as u32,
    );
    let wanted = Val::concrete(total as u128, 64);
    let value = position.gets(wanted);
    position.advance(wanted);
    known.moved(fd);
    agreed(&call, value, got, c"readv");
    got
}

/// `recv`: never the input.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_recv(fd: c_int, to: *mut c_void, n: usize, flags: c_int) -> isize {
    let mut call = Call::take(bg_x_recv as *const c_void);
    let got = call.outside(|| real::recv(fd, to, n, flags));
    if call.recorded() && got > 0 {
        shadow::clear(to.cast(), n.min(got as usize));
    }
    call.result_id(0);
    got
}

/// `recvfrom`: never the input.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_recvfrom(
    fd: c_int,
    to: *mut c_void,
    n: usize,
    flags: c_int,
    from: *mut c_void,
    len: *mut u32,
) -> isize {
    let mut call = Call::take(bg_x_recvfrom as *const c_void);
    let room = if from.is_null() || len.is_null() {
        0
    } else {
        *len as usize
    };
    let got = call.outside(|| real::recvfrom(fd, to, n, flags, from, len));
    if call.recorded() && got >= 0 {
        shadow::clear(to.cast(), n.min(got as usize));
        if room != 0 {
            shadow::clear(from.cast(), room);
            shadow::clear(len.cast(), 4);
        }
    }
    call.result_id(0);
    got
}
