//! `err.h` and `error.h`: messages to standard error, with the end of the program after some of them.

use core::ffi::{CStr, c_char, c_int, c_void};

use beagle_trace::layout::Loss;

use super::own::own;
use super::printf::{Use, render};
use super::real;
use super::stream::channel_of;
use super::text::Text;
use super::{assume_length, pin_address};
use crate::call::Call;
use crate::libc::process;
use crate::variadic::VaList;
use crate::{log, slots, sys};

unsafe fn word(text: &mut Text, site: u32, p: *const c_char) {
    if !p.is_null() {
        let n = sys::strlen(p);
        assume_length(site, p.cast(), n, true);
        text.memory(p.cast(), n);
    }
}

/// Ends the program as `exit` does; `status` is argument `index` of the call.
unsafe fn leave(call: Call, index: usize, status: c_int) -> ! {
    let (site, shadow) = (call.site, call.int(index, status).id);
    drop(call);
    let slots = slots::slots();
    (*slots).callee = process::bg_x_exit as *const c_void;
    (*slots).site = site;
    if let Some(first) = (*slots).args.first_mut() {
        *first = shadow;
    }
    process::bg_x_exit(status)
}

/// For the functions of `err.h`: with the words for `errno` or without, and then the end or not.
/// `status` is null where the program goes on.
unsafe fn warn(
    own_address: *const c_void,
    with_error: bool,
    status: Option<c_int>,
    format: *const c_char,
    list: *mut VaList,
) {
    let mut call = Call::take(own_address);
    let own_list = *list;
    let errno = *sys::__errno_location();
    call.outside(|| {
        if with_error {
            real::vwarn(format, list);
        } else {
            real::vwarnx(format, list);
        }
    });
    if call.recorded() {
        let saved = sys::Errno::save();
        let text = &mut (*own()).text;
        text.clear();
        word(text, call.site, real::program_invocation_short_name);
        text.plain(b": ");
        *sys::__errno_location() = errno;
        if !format.is_null() {
            pin_address(&call, usize::from(status.is_some()), format as usize);
            render(text, call.site, format, &own_list, c"warn", Use::Printed);
        }
        if with_error {
            if !format.is_null() {
                text.plain(b": ");
            }
            text.error(errno);
        }
        text.plain(b"\n");
        text.record(call.site, channel_of(real::stderr), c"warn");
        saved.restore();
    }
    if let Some(status) = status {
        leave(call, 0, status);
    }
    call.result_id(0);
}

/// For the variadic functions of `entry.c`: `warn` and `warnx`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bgr_vwarn(
    own: *const c_void,
    with_error: u32,
    format: *const c_char,
    list: *mut VaList,
) {
    warn(own, with_error != 0, None, format, list);
}

/// For the variadic functions of `entry.c`: `err` and `errx`. Does not return.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bgr_verr(
    own: *const c_void,
    with_error: u32,
    status: c_int,
    format: *const c_char,
    list: *mut VaList,
) {
    warn(own, with_error != 0, Some(status), format, list);
}

macro_rules! listed {
    ($($name:ident($($status:ident)?) = $with_error:literal;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($status: c_int,)? format: *const c_char, list: *mut VaList) {
            #[allow(unused_mut, unused_assignments)]
            let mut ends = None;
            $(ends = Some($status);)?
            warn($name as *const c_void, $with_error, ends, format, list);
        }
    )*};
}

listed! {
    bg_x_vwarn() = true;
    bg_x_vwarnx() = false;
    bg_x_verr(status) = true;
    bg_x_verrx(status) = false;
}

/// For the variadic functions of `entry.c`: `error`, and `error_at_line` if there is a `place`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bgr_verror(
    own_address: *const c_void,
    status: c_int,
    errnum: c_int,
    place: u32,
    file: *const c_char,
    line: u32,
    format: *const c_char,
    list: *mut VaList,
) {
    let mut call = Call::take(own_address);
    let index = if place != 0 { 4 } else { 2 };
    if !call.recorded() {
        // The recorder's room is not for everyone, the heap is the program's.
        let mut again = *list;
        let n = real::vsnprintf(core::ptr::null_mut(), 0, format, &mut again);
        let size = n.max(0) as usize + 1;
        if let Some(message) = sys::map(size) {
            real::vsnprintf(message.cast(), size, format, list);
            say(status, errnum, place, file, line, message.cast());
            let saved = sys::Errno::save();
            sys::munmap(message.cast(), size);
            saved.restore();
        }
        call.result_id(0);
        return;
    }
    pin_address(&call, index, format as usize);
    let text = &mut (*own()).text;
    text.clear();
    let named = real::error_print_progname.is_none();
    if named {
        word(text, call.site, real::program_invocation_name);
        text.plain(if place != 0 { b":" } else { b": " });
    }
    if place != 0 && !file.is_null() {
        word(text, call.site, file);
        text.plain(b":");
        let mut digits = [0; 10];
        let mut at = digits.len();
        let mut rest = line;
        loop {
            at -= 1;
            if let Some(digit) = digits.get_mut(at) {
                *digit = b'0' + (rest % 10) as u8;
            }
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        text.plain(digits.get(at..).unwrap_or(&[]));
        text.plain(b": ");
    } else if place != 0 {
        text.plain(b" ");
    }
    let from = text.len();
    render(text, call.site, format, &*list, c"error", Use::Printed);
    let message = text.bytes().get(from..).unwrap_or(&[]);
    // A copy: the program's own function for the name may print, too.
    let size = message.len() + 1;
    let Some(copy) = sys::map(size) else {
        log::lose_in(Loss::Stream, c"error");
        call.result_id(0);
        return;
    };
    core::ptr::copy_nonoverlapping(message.as_ptr(), copy, message.len());
    if errnum != 0 {
        text.plain(b": ");
        text.error(errnum);
    }
    text.plain(b"\n");
    let suppressed = place != 0 && real::error_one_per_line != 0;
    if named && !suppressed {
        text.record(call.site, channel_of(real::stderr), c"error");
    } else {
        log::lose_in(Loss::Stream, c"error");
    }
    call.outside(|| say(0, errnum, place, file, line, copy.cast()));
    let saved = sys::Errno::save();
    sys::munmap(copy.cast(), size);
    saved.restore();
    if status != 0 {
        leave(call, 0, status);
    }
    call.result_id(0);
}

unsafe fn say(
    status: c_int,
    errnum: c_int,
    place: u32,
    file: *const c_char,
    line: u32,
    message: *const c_char,
) {
    let format: &CStr = c"%s";
    if place != 0 {
        real::error_at_line(status, errnum, file, line, format.as_ptr(), message);
    } else {
        real::error(status, errnum, format.as_ptr(), message);
    }
}
