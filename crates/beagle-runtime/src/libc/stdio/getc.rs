//! Reading from streams: characters, what is put back, and blocks.
//!
//! `getc` gives `size > offset ? byte : -1`, also at the end, so that the test for the end of file is a
//! condition on the size of the source. `fgets`, `getline` and `scanf` are models on top of it.

use core::ffi::{c_int, c_void};

use beagle_trace::event::{ASSUME_SIZE, ASSUME_VALUE};
use beagle_trace::layout::Loss;
use beagle_trace::op::Op;

use super::real::{self, File};
use super::stream::stream;
use super::{channel, pin_address};
use crate::call::Call;
use crate::expr::{self, Val};
use crate::{input, log, shadow};

const EOF: Val = Val::concrete(u32::MAX as u128, 32);

/// The result of one `getc`.
unsafe fn one(
    own: *const c_void,
    file: *mut File,
    index: Option<usize>,
    get: unsafe extern "C" fn(*mut File) -> c_int,
) -> c_int {
    let mut call = Call::take(own);
    if !call.recorded() {
        call.result_id(0);
        return get(file);
    }
    if let Some(index) = index {
        pin_address(&call, index, file as usize);
    }
    let Some(stream) = stream(file) else {
        let c = call.outside(|| get(file));
        call.result_id(0);
        return c;
    };
    let c = get(file);
    let value = if let Some(back) = stream.take_back() {
        stream.last = 0;
        expr::zext(back, 32)
    } else {
        stream.position.settle(call.site);
        let offset = stream.position.offset();
        let source = stream.position.source;
        let known = input::bytes(source).get(offset as usize).copied();
        if c >= 0 {
            stream.ran(call.site, offset);
        } else {
            stream.ran_to_end(call.site, offset);
        }
        let byte = input::var(source, offset);
        let fits = known.map_or(-1, c_int::from) == c;
        let value = if fits {
            expr::ite(stream.position.more(), expr::zext(byte, 32), EOF)
        } else {
            Val::concrete(c as u32 as u128, 32)
        };
        stream.position.advance(Val::concrete(1, 64));
        stream.last = value.id;
        value
    };
    stream.moved();
    if value.value as u32 == c as u32 {
        call.result(value);
    } else {
        log::lose_in(Loss::Mismatch, c"getc");
        call.result_id(0);
    }
    c
}

/// `fgetc`, `getc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_getc(file: *mut File) -> c_int {
    one(bg_x_getc as *const c_void, file, Some(0), real::getc)
}

/// `getc_unlocked`, `fgetc_unlocked`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_getc_unlocked(file: *mut File) -> c_int {
    one(
        bg_x_getc_unlocked as *const c_void,
        file,
        Some(0),
        real::getc_unlocked,
    )
}

/// `getchar`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_getchar() -> c_int {
    one(bg_x_getchar as *const c_void, real::stdin, None, real::getc)
}

/// `getchar_unlocked`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_getchar_unlocked() -> c_int {
    one(
        bg_x_getchar_unlocked as *const c_void,
        real::stdin,
        None,
        real::getc_unlocked,
    )
}

/// `ungetc`: the character keeps its expression.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_ungetc(c: c_int, file: *mut File) -> c_int {
    let call = Call::take(bg_x_ungetc as *const c_void);
    if !call.recorded() {
        call.result_id(0);
        return real::ungetc(c, file);
    }
    pin_address(&call, 1, file as usize);
    let v = call.int(0, c);
    let Some(stream) = stream(file) else {
        // Without a position there is nothing to keep; the character comes back without expression.
        let result = real::ungetc(c, file);
        if v.is_symbolic() {
            log::lose_in(Loss::Model, c"ungetc");
        }
        call.result_id(0);
        return result;
    };
    let result = real::ungetc(c, file);
    if v.is_symbolic() && v.id == stream.last && (result == c) {
        // What was just read, end of file included: as if it had not been read.
        stream.position.back();
        stream.last = 0;
        stream.moved();
        call.result(v);
        return result;
    }
    stream.last = 0;
    if v.is_symbolic() {
        let is_end = expr::eq(v, EOF);
        let so = if c == -1 { is_end } else { expr::not(is_end) };
        super::assume_once(call.site, ASSUME_VALUE, so);
    }
    if result < 0 {
        call.result_id(0);
        return result;
    }
    let byte = expr::extract(v, 0, 8);
    stream.position.clear_end();
    if stream.push_back(byte) {
        stream.moved();
    } else {
        log::lose_in(Loss::Model, c"ungetc");
    }
    call.result(expr::zext(byte, 32));
    result
}

/// `feof`: whether the size is less than what was asked for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_feof(file: *mut File) -> c_int {
    let call = Call::take(bg_x_feof as *const c_void);
    let result = real::feof(file);
    let mut shadow = 0;
    if call.recorded()
        && let Some(stream) = stream(file)
    {
        let met = stream.position.met_end();
        if met.value == u128::from(result != 0) && (result == 0 || result == 1) {
            shadow = expr::zext(met, 32).id;
        } else if input::size(stream.position.source).is_symbolic() {
            log::lose_in(Loss::Mismatch, c"feof");
        }
    }
    call.result_id(shadow);
    result
}

/// `clearerr`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_clearerr(file: *mut File) {
    let call = Call::take(bg_x_clearerr as *const c_void);
    real::clearerr(file);
    if call.recorded()
        && let Some(stream) = stream(file)
    {
        stream.position.clear_end();
    }
    call.result_id(0);
}

type Fread = unsafe extern "C" fn(*mut c_void, usize, usize, *mut File) -> usize;

/// A block; the arguments are numbers 0 to 3 or, for checked variants, 0, 2, 3, 4.
unsafe fn block(
    mut call: Call,
    shift: usize,
    to: *mut c_void,
    size: usize,
    n: usize,
    file: *mut File,
    get: Fread,
) -> usize {
    if !call.recorded() {
        call.result_id(0);
        return get(to, size, n, file);
    }
    let items = call.word(2 + shift, n);
    log::pin(call.site, ASSUME_SIZE, call.word(1 + shift, size));
    pin_address(&call, 3 + shift, file as usize);
    let bytes = to.cast::<u8>();
    let Some(stream) = stream(file) else {
        let got = call.outside(|| get(to, size, n, file));
        // A part of an item may have been stored too.
        if got != 0 || size > 1 {
            shadow::clear(bytes, n.min(got.saturating_add(1)).saturating_mul(size));
        }
        call.result_id(0);
        return got;
    };
    let got = get(to, size, n, file);
    let total = size.saturating_mul(n);
    if total == 0 {
        call.result_id(0);
        return got;
    }
    stream.end_run(call.site);
    stream.last = 0;
    let back = stream.put_back().min(total);
    let mut first = 0;
    while first < back {
        if let Some(c) = stream.take_back() {
            shadow::store(bytes.add(first), 1, c);
        }
        first += 1;
    }
    stream.position.settle(call.site);
    let (source, offset) = (stream.position.source, stream.position.offset());
    let left = (input::bytes(source).len() as u64).saturating_sub(offset);
    let read = left.min((total - first) as u64) as usize;
    if read + first != 0 {
        pin_address(&call, 0, to as usize);
    }
    channel::mark(
        call.site,
        bytes.add(first),
        read,
        source,
        offset,
        total - first,
    );
    let width = Val::concrete(size as u128, 64);
    let wanted = expr::bin(Op::Mul, items, width);
    let mut value = if first == 0 {
        let bytes = stream.position.gets(wanted);
        let value = if size == 1 {
            bytes
        } else {
            expr::bin(Op::UDiv, bytes, width)
        };
        stream.position.advance(wanted);
        value
    } else {
        log::pin(call.site, ASSUME_SIZE, items);
        let rest = Val::concrete((total - first) as u128, 64);
        let bytes = expr::add(stream.position.gets(rest), Val::concrete(first as u128, 64));
        stream.position.advance(rest);
        if size == 1 {
            bytes
        } else {
            expr::bin(Op::UDiv, bytes, width)
        }
    };
    stream.moved();
    if value.value as usize != got {
        // Someone writes to the file, or reading failed.
        shadow::clear(bytes, got.saturating_mul(size));
        log::lose_in(Loss::Mismatch, c"fread");
        value = Val::concrete(got as u128, 64);
    }
    call.result(value);
    got
}

/// `fread`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_fread(
    to: *mut c_void,
    size: usize,
    n: usize,
    file: *mut File,
) -> usize {
    let call = Call::take(bg_x_fread as *const c_void);
    block(call, 0, to, size, n, file, real::fread)
}

/// `fread_unlocked`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_fread_unlocked(
    to: *mut c_void,
    size: usize,
    n: usize,
    file: *mut File,
) -> usize {
    let call = Call::take(bg_x_fread_unlocked as *const c_void);
    block(call, 0, to, size, n, file, real::fread_unlocked)
}

/// `__fread_chk`. That the buffer is large enough is for the real one to check.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___fread_chk(
    to: *mut c_void,
    room: usize,
    size: usize,
    n: usize,
    file: *mut File,
) -> usize {
    let call = Call::take(bg_x___fread_chk as *const c_void);
    if size.saturating_mul(n) > room {
        return real::__fread_chk(to, room, size, n, file);
    }
    block(call, 1, to, size, n, file, real::fread)
}

/// `getw`: four bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_getw(file: *mut File) -> c_int {
    let call = Call::take(bg_x_getw as *const c_void);
    let found = if call.recorded() { stream(file) } else { None };
    let result = real::getw(file);
    let mut shadow = 0;
    if let Some(stream) = found {
        stream.last = 0;
        stream.end_run(call.site);
        stream.position.settle(call.site);
        let (source, offset) = (stream.position.source, stream.position.offset());
        // Put back characters, a short end: only the plain case is followed.
        let plain =
            stream.put_back() == 0 && input::bytes(source).len() as u64 >= offset.saturating_add(4);
        if plain {
            let byte = |i| input::var(source, offset + i);
            let low = expr::concat(byte(1), byte(0));
            let value = expr::concat(expr::concat(byte(3), byte(2)), low);
            if value.value as u32 == result as u32 {
                let four = Val::concrete(4, 64);
                let all = expr::eq(stream.position.gets(four), four);
                super::assume_once(call.site, ASSUME_SIZE, all);
                log::read(call.site, source, offset, 4, 4);
                stream.position.advance(four);
                stream.moved();
                shadow = value.id;
            }
        } else {
            log::lose_in(Loss::Model, c"getw");
        }
    }
    call.result_id(shadow);
    result
}
