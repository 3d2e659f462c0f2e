//! Names of temporary files: libc makes them by chance, a traced run by the pinned chance.

use core::ffi::{c_char, c_int, c_void};

use crate::call::Call;
use crate::shadow;
use crate::sys;

use super::pinned;

unsafe extern "C" {
    fn mkostemps(template: *mut c_char, suffix: c_int, flags: c_int) -> c_int;
    fn mkdtemp(template: *mut c_char) -> *mut c_char;
    fn mktemp(template: *mut c_char) -> *mut c_char;
    fn access(path: *const c_char, mode: c_int) -> c_int;
}

const EINVAL: c_int = 22;
const EEXIST: c_int = 17;
/// `O_RDWR | O_CREAT | O_EXCL`.
const CREATE: c_int = 0o302;
/// What of the caller's flags does not say how to open.
const NOT_MODE: c_int = !3;
/// Tries until we give up.
const TRIES: u32 = 1000;

/// Puts names into the template, until `take` is satisfied with one or fails otherwise than by `EEXIST`.
unsafe fn name(template: *mut c_char, suffix: c_int, mut take: impl FnMut() -> c_int) -> c_int {
    let error = sys::__errno_location();
    let len = sys::strlen(template);
    let place = len.checked_sub(6 + suffix.max(0) as usize);
    let (Some(place), true) = (place, suffix >= 0) else {
        *error = EINVAL;
        return -1;
    };
    let at = template.add(place);
    if (0..6).any(|i| *at.add(i) as u8 != b'X') {
        *error = EINVAL;
        return -1;
    }
    let before = *error;
    for _ in 0..TRIES {
        let mut chance = pinned::chance();
        for i in 0..6 {
            let digit = (chance % 36) as u8;
            *at.add(i) = if digit < 10 {
                b'0' + digit
            } else {
                b'a' + digit - 10
            } as c_char;
            chance /= 36;
        }
        shadow::clear(at.cast(), 6);
        *error = before;
        let result = take();
        if result >= 0 || *error != EEXIST {
            return result;
        }
    }
    *error = EEXIST;
    -1
}

unsafe fn file(own: *const c_void, template: *mut c_char, suffix: c_int, flags: c_int) -> c_int {
    let call = Call::take(own);
    call.result_id(0);
    if !pinned::pinned() {
        return mkostemps(template, suffix, flags);
    }
    name(template, suffix, || {
        sys::open(template, flags & NOT_MODE | CREATE, 0o600)
    })
}

/// `mkstemp`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_mkstemp(template: *mut c_char) -> c_int {
    file(bg_x_mkstemp as *const c_void, template, 0, 0)
}

/// `mkostemp`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_mkostemp(template: *mut c_char, flags: c_int) -> c_int {
    file(bg_x_mkostemp as *const c_void, template, 0, flags)
}

/// `mkstemps`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_mkstemps(template: *mut c_char, suffix: c_int) -> c_int {
    file(bg_x_mkstemps as *const c_void, template, suffix, 0)
}

/// `mkostemps`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_mkostemps(
    template: *mut c_char,
    suffix: c_int,
    flags: c_int,
) -> c_int {
    file(bg_x_mkostemps as *const c_void, template, suffix, flags)
}

/// `mkdtemp`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_mkdtemp(template: *mut c_char) -> *mut c_char {
    let call = Call::take(bg_x_mkdtemp as *const c_void);
    call.result_id(0);
    if !pinned::pinned() {
        return mkdtemp(template);
    }
    let made = name(template, 0, || sys::mkdir(template, 0o700));
    if made == 0 {
        template
    } else {
        core::ptr::null_mut()
    }
}

/// `mktemp`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_mktemp(template: *mut c_char) -> *mut c_char {
    let call = Call::take(bg_x_mktemp as *const c_void);
    call.result_id(0);
    if !pinned::pinned() {
        return mktemp(template);
    }
    let error = sys::__errno_location();
    let found = name(template, 0, || {
        if access(template, 0) == 0 {
            *error = EEXIST;
            return -1;
        }
        0
    });
    if found != 0 {
        *template = 0;
        shadow::clear(template.cast(), 1);
    }
    template
}
