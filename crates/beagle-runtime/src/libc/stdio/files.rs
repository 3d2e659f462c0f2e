//! Opening and closing: which file is meant is taken for granted; what is known of descriptors and
//! streams is forgotten when they change.

use core::ffi::{CStr, c_char, c_int, c_void};

use beagle_trace::event::{ASSUME_ADDRESS, ASSUME_VALUE};
use beagle_trace::layout::Loss;

use super::own::{note_written, own, source_of};
use super::real::{self, File};
use super::{assume_bytes, assume_path, channel, pin_address, stream};
use crate::call::Call;
use crate::libc::pinned;
use crate::{log, shadow, sys};

const TRUNCATE: c_int = 0o1000;
const WRITE_ONLY: c_int = 1;
const CREATE: c_int = 0o100;

/// What to open: the path, or what stands in for a device that gives something else each time.
unsafe fn path_of(path: *const c_char) -> *const c_char {
    if path.is_null() {
        return path;
    }
    pinned::device(CStr::from_ptr(path)).map_or(path, CStr::as_ptr)
}

/// If the file at the path is a source of the input, it is not one after this.
unsafe fn cut(at: c_int, path: *const c_char) {
    let mut found = [0; 18];
    let saved = sys::Errno::save();
    let failed = real::fstatat(at, path, &mut found, 0) != 0;
    saved.restore();
    let [device, inode, _, _, _, _, size, ..] = found;
    if !failed {
        note_written(source_of(device, inode, size));
    }
}

/// A file could not be opened for reading. If it is missing where the program runs, what it does with such a file is
/// not seen; where others are is no part of the input.
unsafe fn note_absent(call: &Call, path: *const c_char) {
    if !call.recorded() || path.is_null() || !sys::Errno::save().is_absence() {
        return;
    }
    let mut name = path;
    while *name as u8 == b'.' && *name.add(1) as u8 == b'/' {
        name = name.add(2);
    }
    if matches!(*name as u8, 0 | b'/') {
        return;
    }
    match shadow::any(path.cast(), sys::strlen(path)) {
        true => log::lose_at(Loss::AbsentByName, name),
        false => log::lose_at(Loss::Absent, name),
    }
}

/// A descriptor was opened.
unsafe fn opened(call: &Call, fd: c_int) -> c_int {
    if call.recorded() && fd >= 0 {
        channel::forget(fd);
    }
    call.result_id(0);
    fd
}

const AT_CWD: c_int = -100;

/// `open`: the mode may be missing, then it is not looked at.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_open(path: *const c_char, flags: c_int, mode: u32) -> c_int {
    let mut call = Call::take(bg_x_open as *const c_void);
    open_at(&mut call, 0, AT_CWD, path, flags, mode)
}

/// `openat`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_openat(
    at: c_int,
    path: *const c_char,
    flags: c_int,
    mode: u32,
) -> c_int {
    let mut call = Call::take(bg_x_openat as *const c_void);
    open_at(&mut call, 1, at, path, flags, mode)
}

/// `creat`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_creat(path: *const c_char, mode: u32) -> c_int {
    let mut call = Call::take(bg_x_creat as *const c_void);
    // O_CREAT | O_WRONLY | O_TRUNC
    open_at(&mut call, 0, AT_CWD, path, 0o1101, mode)
}

unsafe fn open_at(
    call: &mut Call,
    index: usize,
    at: c_int,
    path: *const c_char,
    flags: c_int,
    mode: u32,
) -> c_int {
    if call.recorded() {
        own();
        assume_path(call, index, path);
        log::pin(call.site, ASSUME_VALUE, call.int(index + 1, flags));
        if flags & TRUNCATE != 0 && !path.is_null() {
            cut(at, path);
        }
    }
    let fd = call.outside(|| real::openat(at, path_of(path), flags, mode));
    if fd < 0 && at == AT_CWD && flags & (WRITE_ONLY | CREATE) == 0 {
        note_absent(call, path);
    }
    opened(call, fd)
}

/// `close`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_close(fd: c_int) -> c_int {
    let mut call = Call::take(bg_x_close as *const c_void);
    if call.recorded() {
        log::pin(call.site, ASSUME_VALUE, call.int(0, fd));
        channel::forget(fd);
    }
    let result = call.outside(|| sys::close(fd));
    call.result_id(0);
    result
}

/// `dup`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_dup(fd: c_int) -> c_int {
    let call = Call::take(bg_x_dup as *const c_void);
    if call.recorded() {
        own();
        log::pin(call.site, ASSUME_VALUE, call.int(0, fd));
    }
    opened(&call, real::dup(fd))
}

unsafe fn onto(call: &Call, from: c_int, to: c_int, result: c_int) -> c_int {
    if call.recorded() {
        log::pin(call.site, ASSUME_VALUE, call.int(0, from));
        log::pin(call.site, ASSUME_VALUE, call.int(1, to));
        if result >= 0 && from != to {
            stream::forget_descriptor(call.site, to);
        }
    }
    opened(call, result)
}

/// `dup2`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_dup2(from: c_int, to: c_int) -> c_int {
    let call = Call::take(bg_x_dup2 as *const c_void);
    if call.recorded() {
        // What standard output is must be known before it is another file.
        own();
    }
    let result = sys::dup2(from, to);
    onto(&call, from, to, result)
}

/// `dup3`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_dup3(from: c_int, to: c_int, flags: c_int) -> c_int {
    let call = Call::take(bg_x_dup3 as *const c_void);
    if call.recorded() {
        own();
    }
    let result = real::dup3(from, to, flags);
    onto(&call, from, to, result)
}

/// `ftruncate`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_ftruncate(fd: c_int, len: i64) -> c_int {
    let call = Call::take(bg_x_ftruncate as *const c_void);
    if call.recorded() {
        log::pin(call.site, ASSUME_VALUE, call.int(0, fd));
        log::pin(call.site, ASSUME_VALUE, call.word(1, len as usize));
        channel::descriptor(fd).written();
    }
    call.result_id(0);
    real::ftruncate(fd, len)
}

/// `truncate`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_truncate(path: *const c_char, len: i64) -> c_int {
    let call = Call::take(bg_x_truncate as *const c_void);
    if call.recorded() {
        assume_path(&call, 0, path);
        log::pin(call.site, ASSUME_VALUE, call.word(1, len as usize));
        cut(AT_CWD, path);
    }
    call.result_id(0);
    real::truncate(path, len)
}

/// The mode of a stream decides too; `w` empties the file.
unsafe fn assume_mode(call: &Call, index: usize, mode: *const c_char) -> bool {
    if mode.is_null() {
        return false;
    }
    log::pin(call.site, ASSUME_ADDRESS, call.word(index, mode as usize));
    assume_bytes(call.site, mode.cast(), sys::strlen(mode) + 1);
    *mode as u8 == b'w'
}

/// `fopen`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_fopen(path: *const c_char, mode: *const c_char) -> *mut File {
    let mut call = Call::take(bg_x_fopen as *const c_void);
    if call.recorded() {
        own();
        assume_path(&call, 0, path);
        if assume_mode(&call, 1, mode) && !path.is_null() {
            cut(AT_CWD, path);
        }
    }
    let file = call.outside(|| real::fopen(path_of(path), mode));
    if file.is_null() && !mode.is_null() && *mode as u8 == b'r' {
        note_absent(&call, path);
    }
    fresh(&call, file)
}

/// A stream was opened.
unsafe fn fresh(call: &Call, file: *mut File) -> *mut File {
    if call.recorded() && !file.is_null() {
        stream::forget(call.site, file);
        channel::forget(stream::descriptor(file));
    }
    call.result_id(0);
    file
}

/// `fdopen`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_fdopen(fd: c_int, mode: *const c_char) -> *mut File {
    let call = Call::take(bg_x_fdopen as *const c_void);
    if call.recorded() {
        log::pin(call.site, ASSUME_VALUE, call.int(0, fd));
        assume_mode(&call, 1, mode);
    }
    let file = real::fdopen(fd, mode);
    if call.recorded() && !file.is_null() {
        stream::forget(call.site, file);
    }
    call.result_id(0);
    file
}

/// `freopen`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_freopen(
    path: *const c_char,
    mode: *const c_char,
    file: *mut File,
) -> *mut File {
    let mut call = Call::take(bg_x_freopen as *const c_void);
    if call.recorded() {
        pin_address(&call, 2, file as usize);
        stream::forget(call.site, file);
        channel::forget(stream::descriptor(file));
        assume_path(&call, 0, path);
        if assume_mode(&call, 1, mode) && !path.is_null() {
            cut(AT_CWD, path);
        }
    }
    let file = call.outside(|| real::freopen(path_of(path), mode, file));
    if file.is_null() && !mode.is_null() && *mode as u8 == b'r' {
        note_absent(&call, path);
    }
    fresh(&call, file)
}

/// `fclose`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_fclose(file: *mut File) -> c_int {
    let mut call = Call::take(bg_x_fclose as *const c_void);
    if call.recorded() {
        pin_address(&call, 0, file as usize);
        stream::forget(call.site, file);
        channel::forget(stream::descriptor(file));
    }
    let result = call.outside(|| real::fclose(file));
    call.result_id(0);
    result
}

/// `pipe`: two new descriptors.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_pipe(fds: *mut [c_int; 2]) -> c_int {
    pipe_with(Call::take(bg_x_pipe as *const c_void), fds, 0)
}

/// `pipe2`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_pipe2(fds: *mut [c_int; 2], flags: c_int) -> c_int {
    pipe_with(Call::take(bg_x_pipe2 as *const c_void), fds, flags)
}

unsafe fn pipe_with(call: Call, fds: *mut [c_int; 2], flags: c_int) -> c_int {
    let result = real::pipe2(fds, flags);
    if call.recorded() && result == 0 {
        shadow::clear(fds.cast(), 8);
        for fd in *fds {
            channel::forget(fd);
        }
    }
    call.result_id(0);
    result
}
