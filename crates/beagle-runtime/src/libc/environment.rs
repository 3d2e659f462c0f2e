//! The environment: `setenv` copies its value, and what the value depends on must go with it.
//!
//! What the program finds by `getenv` lies where it was put, with its shadows; that function is plain.

use core::ffi::{c_char, c_int, c_void};

use crate::call::Call;
use crate::shadow;
use crate::sys;

unsafe extern "C" {
    fn setenv(name: *const c_char, value: *const c_char, replace: c_int) -> c_int;
    /// Where the value lies.
    pub fn getenv(name: *const c_char) -> *mut c_char;
}

/// `setenv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_setenv(
    name: *const c_char,
    value: *const c_char,
    replace: c_int,
) -> c_int {
    let call = Call::take(bg_x_setenv as *const c_void);
    call.result_id(0);
    let old = if name.is_null() {
        core::ptr::null_mut()
    } else {
        getenv(name)
    };
    let result = setenv(name, value, replace);
    if call.recorded() && result == 0 && !value.is_null() && (replace != 0 || old.is_null()) {
        let copy = getenv(name);
        let len = sys::strlen(value);
        if !copy.is_null() && copy.cast_const() != value && sys::strlen(copy) == len {
            shadow::copy(copy.cast(), value.cast(), len + 1);
        }
    }
    result
}
