//! `stat` and its kin: the size of a source's file is the source's size.

use core::ffi::{c_char, c_int, c_void};

use beagle_trace::event::ASSUME_VALUE;

use super::own::{is_written, source_of};
use super::real::{self, Stat};
use super::{assume_path, pin_address};
use crate::call::Call;
use crate::{input, log, shadow, sys};

const REGULAR: u64 = 0o100_000;
const KIND: u64 = 0o170_000;

/// `to` was filled.
unsafe fn filled(call: &Call, to: *mut Stat, result: c_int) -> c_int {
    if call.recorded() && result == 0 {
        shadow::clear(to.cast(), size_of::<Stat>());
        let [device, inode, _, mode, _, _, size, ..] = *to;
        if mode & KIND == REGULAR {
            mark_size(to.cast::<u8>().add(48), device, inode, size);
        }
    }
    call.result_id(0);
    result
}

unsafe fn mark_size(at: *mut u8, device: u64, inode: u64, size: u64) {
    if let Some(source) = source_of(device, inode, size)
        && !is_written(source)
    {
        shadow::store(at, 8, input::size(source));
    }
}

/// `fstat`, `fstat64`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_fstat(fd: c_int, to: *mut Stat) -> c_int {
    let call = Call::take(bg_x_fstat as *const c_void);
    log::pin(call.site, ASSUME_VALUE, call.int(0, fd));
    let result = real::fstat(fd, to);
    filled(&call, to, result)
}

/// `stat`, `stat64`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_stat(path: *const c_char, to: *mut Stat) -> c_int {
    let call = Call::take(bg_x_stat as *const c_void);
    assume_path(&call, 0, path);
    let result = real::stat(path, to);
    filled(&call, to, result)
}

/// `lstat`, `lstat64`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_lstat(path: *const c_char, to: *mut Stat) -> c_int {
    let call = Call::take(bg_x_lstat as *const c_void);
    assume_path(&call, 0, path);
    let result = real::lstat(path, to);
    filled(&call, to, result)
}

/// `fstatat`, `fstatat64`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_fstatat(
    at: c_int,
    path: *const c_char,
    to: *mut Stat,
    flags: c_int,
) -> c_int {
    let call = Call::take(bg_x_fstatat as *const c_void);
    assume_path(&call, 1, path);
    let result = real::fstatat(at, path, to, flags);
    filled(&call, to, result)
}

/// `__fxstat`, as old programs call `fstat`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___fxstat(_version: c_int, fd: c_int, to: *mut Stat) -> c_int {
    let call = Call::take(bg_x___fxstat as *const c_void);
    let result = real::fstat(fd, to);
    filled(&call, to, result)
}

/// `__xstat`, as old programs call `stat`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___xstat(
    _version: c_int,
    path: *const c_char,
    to: *mut Stat,
) -> c_int {
    let call = Call::take(bg_x___xstat as *const c_void);
    assume_path(&call, 1, path);
    let result = real::stat(path, to);
    filled(&call, to, result)
}

/// `__lxstat`, as old programs call `lstat`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___lxstat(
    _version: c_int,
    path: *const c_char,
    to: *mut Stat,
) -> c_int {
    let call = Call::take(bg_x___lxstat as *const c_void);
    assume_path(&call, 1, path);
    let result = real::lstat(path, to);
    filled(&call, to, result)
}

/// `statx`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_statx(
    at: c_int,
    path: *const c_char,
    flags: c_int,
    mask: u32,
    to: *mut c_void,
) -> c_int {
    let call = Call::take(bg_x_statx as *const c_void);
    assume_path(&call, 1, path);
    let result = real::statx(at, path, flags, mask, to);
    if call.recorded() && result == 0 {
        pin_address(&call, 4, to as usize);
        let bytes = to.cast::<u8>();
        shadow::clear(bytes, 256);
        // A plain `stat` of the same file tells whether it is a source.
        let mut found = [0; 18];
        let saved = sys::Errno::save();
        let failed = real::fstatat(at, path, &mut found, flags & 0x1100) != 0;
        saved.restore();
        let [device, inode, _, mode, _, _, size, ..] = found;
        let here = bytes.add(0x28).cast::<u64>().read_unaligned();
        if !failed && mode & KIND == REGULAR && here == size {
            mark_size(bytes.add(0x28), device, inode, size);
        }
    }
    call.result_id(0);
    result
}
