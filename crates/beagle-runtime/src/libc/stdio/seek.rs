//! Positions: `lseek`, `fseek`, `ftell` and their kin. The end of a source is an expression.

use core::ffi::{CStr, c_int, c_long, c_void};

use beagle_trace::event::{ASSUME_SIZE, ASSUME_VALUE};
use beagle_trace::layout::Loss;
use beagle_trace::op::Op;

use super::channel::descriptor;
use super::position::Position;
use super::real::{self, File};
use super::stream::stream;
use super::{assume_once, pin_address};
use crate::call::Call;
use crate::expr::{self, Val};
use crate::{input, log, shadow, sys};

const FROM_START: c_int = 0;
const FROM_HERE: c_int = 1;
const FROM_END: c_int = 2;

/// The position after a seek that succeeded, and as an expression.
fn sought(call: &Call, old: &mut Position, offset: Val, whence: c_int) -> Option<(Position, Val)> {
    let distance = offset.signed() as i64;
    match whence {
        FROM_START => {
            log::pin(call.site, ASSUME_VALUE, offset);
            Some((Position::at(old.source, distance as u64), offset))
        }
        FROM_HERE => {
            let here = old.tell();
            if distance != 0 || offset.is_symbolic() {
                log::pin(call.site, ASSUME_VALUE, offset);
                old.fix(call.site);
                let now = (here.value as u64).wrapping_add_signed(distance);
                let there = expr::add(here, Val::concrete(offset.value, 64));
                return Some((Position::at(old.source, now), there));
            }
            Some((*old, here))
        }
        FROM_END => {
            log::pin(call.site, ASSUME_VALUE, offset);
            assume_reaches(call, old.source, distance);
            let there = Position::at_end(old.source, distance);
            Some((there, there.tell()))
        }
        _ => None,
    }
}

/// Whether there is a place so far from the end is taken for granted.
fn assume_reaches(call: &Call, source: u32, distance: i64) {
    if distance < 0 {
        let need = Val::concrete(u128::from(distance.unsigned_abs()), 64);
        let reaches = expr::bin(Op::Ule, need, input::size(source));
        let so = if reaches.value == 1 {
            reaches
        } else {
            expr::not(reaches)
        };
        assume_once(call.site, ASSUME_SIZE, so);
    }
}

/// As [`sought`], when it failed.
fn not_sought(call: &Call, position: Option<Position>, offset: Val, whence: c_int) {
    log::pin(call.site, ASSUME_VALUE, offset);
    if let Some(mut position) = position {
        let distance = offset.signed() as i64;
        match whence {
            FROM_HERE if distance < 0 => position.fix(call.site),
            FROM_END => assume_reaches(call, position.source, distance),
            _ => {}
        }
    }
}

fn agreed(call: &Call, value: Val, got: i64, name: &CStr) {
    if value.value as i64 == got {
        call.result(value);
    } else {
        if value.is_symbolic() {
            log::lose_in(Loss::Mismatch, name);
        }
        call.result_id(0);
    }
}

/// `lseek`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_lseek(fd: c_int, offset: i64, whence: c_int) -> i64 {
    let call = Call::take(bg_x_lseek as *const c_void);
    if !call.recorded() {
        call.result_id(0);
        return sys::lseek(fd, offset, whence);
    }
    log::pin(call.site, ASSUME_VALUE, call.int(0, fd));
    log::pin(call.site, ASSUME_VALUE, call.int(2, whence));
    let known = descriptor(fd);
    let position = if known.source.is_some() {
        known.position(fd)
    } else {
        None
    };
    let result = sys::lseek(fd, offset, whence);
    let distance = call.word(1, offset as usize);
    match position {
        Some(position) if result >= 0 => {
            if let Some((there, value)) = sought(&call, position, distance, whence) {
                *position = there;
                agreed(&call, value, result, c"lseek");
            } else {
                call.result_id(0);
            }
            known.moved(fd);
        }
        position => {
            not_sought(&call, position.copied(), distance, whence);
            call.result_id(0);
        }
    }
    result
}

unsafe fn tell(file: *mut File) -> u64 {
    let saved = sys::Errno::save();
    let offset = real::ftello(file).max(0) as u64;
    saved.restore();
    offset
}

/// `fseek`, `fseeko`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_fseek(file: *mut File, offset: c_long, whence: c_int) -> c_int {
    let call = Call::take(bg_x_fseek as *const c_void);
    if !call.recorded() {
        call.result_id(0);
        return real::fseeko(file, offset, whence);
    }
    pin_address(&call, 0, file as usize);
    log::pin(call.site, ASSUME_VALUE, call.int(2, whence));
    let distance = call.word(1, offset as usize);
    let stream = stream(file);
    let result = real::fseeko(file, offset, whence);
    match stream {
        Some(stream) if result == 0 => {
            if whence == FROM_HERE && stream.put_back() != 0 {
                // What was put back counts in ways that are libc's own.
                stream.position.fix(call.site);
                log::pin(call.site, ASSUME_VALUE, distance);
                let there = Position::at(stream.position.source, tell(file));
                stream.sought(call.site, there);
            } else if let Some((mut there, _)) =
                sought(&call, &mut stream.position, distance, whence)
            {
                there.clear_end();
                stream.sought(call.site, there);
            }
            stream.moved();
        }
        stream => not_sought(&call, stream.map(|s| s.position), distance, whence),
    }
    call.result_id(0);
    result
}

/// `rewind`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_rewind(file: *mut File) {
    let call = Call::take(bg_x_rewind as *const c_void);
    if call.recorded() {
        let found = stream(file);
        real::rewind(file);
        if let Some(stream) = found {
            stream.sought(call.site, Position::at(stream.position.source, 0));
            stream.moved();
        }
    } else {
        real::rewind(file);
    }
    call.result_id(0);
}

/// `ftell`, `ftello`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_ftell(file: *mut File) -> c_long {
    let call = Call::take(bg_x_ftell as *const c_void);
    if !call.recorded() {
        call.result_id(0);
        return real::ftell(file);
    }
    pin_address(&call, 0, file as usize);
    let found = stream(file);
    let result = real::ftell(file);
    if let Some(stream) = found {
        stream.moved();
        if stream.put_back() != 0 {
            // What was put back counts in ways that are libc's own.
            stream.position.fix(call.site);
            call.result_id(0);
            return result;
        }
        let value = stream.position.tell();
        agreed(&call, value, result, c"ftell");
    } else {
        call.result_id(0);
    }
    result
}

/// `fgetpos`: the position is kept where it has no expression.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_fgetpos(file: *mut File, to: *mut c_void) -> c_int {
    let call = Call::take(bg_x_fgetpos as *const c_void);
    if !call.recorded() {
        call.result_id(0);
        return real::fgetpos(file, to);
    }
    let found = stream(file);
    let result = real::fgetpos(file, to);
    if result == 0 {
        shadow::clear(to.cast(), 16);
        if let Some(stream) = found {
            stream.position.fix(call.site);
            stream.last = 0;
            stream.moved();
        }
    }
    call.result_id(0);
    result
}

/// `fsetpos`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_fsetpos(file: *mut File, from: *const c_void) -> c_int {
    let call = Call::take(bg_x_fsetpos as *const c_void);
    if !call.recorded() {
        call.result_id(0);
        return real::fsetpos(file, from);
    }
    let found = stream(file);
    let result = real::fsetpos(file, from);
    if result == 0
        && let Some(stream) = found
    {
        stream.sought(call.site, Position::at(stream.position.source, tell(file)));
        stream.moved();
    }
    call.result_id(0);
    result
}
