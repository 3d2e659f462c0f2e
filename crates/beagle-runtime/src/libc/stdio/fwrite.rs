//! Output without formats: `write`, `fwrite`, `fputs`, `putc` and their kin.

use core::ffi::{CStr, c_char, c_int, c_void};

use beagle_trace::event::{ASSUME_SIZE, ASSUME_VALUE, CHANNEL_FILES};
use beagle_trace::layout::Loss;

use super::own::{own, taint};
use super::printf::pending;
use super::real::{self, File, Part};
use super::stream::channel_of;
use super::{assume_length, channel, pin_address};
use crate::call::Call;
use crate::expr::{self, Val};
use crate::log::{self, Piece};
use crate::{shadow, sys};

/// Bytes of the program's memory went to a channel; 0 is one that is not followed.
unsafe fn record(site: u32, channel: u32, p: *const u8, n: usize, name: &CStr) {
    if channel != 0 {
        log::output_memory(site, channel, p, n);
        if channel >= CHANNEL_FILES && shadow::any(p, n) {
            taint(channel);
        }
    } else if n != 0 && shadow::any(p, n) {
        log::lose_in(Loss::Stream, name);
    }
}

/// The channel of a descriptor that is written to directly.
unsafe fn direct(call: &Call, fd: c_int, name: &CStr) -> u32 {
    log::pin(call.site, ASSUME_VALUE, call.int(0, fd));
    let found = channel::descriptor(fd);
    found.written();
    if (found.channel == 1 || found.channel == 2) && pending(found.channel) {
        // What was printed before is still in the stream's buffer: it comes after this.
        log::lose_in(Loss::Stream, name);
    }
    found.channel
}

/// `write`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_write(fd: c_int, from: *const c_void, n: usize) -> isize {
    let mut call = Call::take(bg_x_write as *const c_void);
    let result = call.outside(|| sys::write(fd, from, n));
    if call.recorded() && result >= 0 {
        let channel = direct(&call, fd, c"write");
        log::pin(call.site, ASSUME_SIZE, call.word(2, n));
        pin_address(&call, 1, from as usize);
        record(call.site, channel, from.cast(), result as usize, c"write");
    }
    call.result_id(0);
    result
}

/// `pwrite`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_pwrite(
    fd: c_int,
    from: *const c_void,
    n: usize,
    offset: i64,
) -> isize {
    let mut call = Call::take(bg_x_pwrite as *const c_void);
    let result = call.outside(|| real::pwrite(fd, from, n, offset));
    if call.recorded() && result >= 0 {
        let channel = direct(&call, fd, c"pwrite");
        log::pin(call.site, ASSUME_SIZE, call.word(2, n));
        log::pin(call.site, ASSUME_VALUE, call.word(3, offset as usize));
        pin_address(&call, 1, from as usize);
        record(call.site, channel, from.cast(), result as usize, c"pwrite");
    }
    call.result_id(0);
    result
}

/// `writev`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_writev(fd: c_int, parts: *const Part, count: c_int) -> isize {
    let mut call = Call::take(bg_x_writev as *const c_void);
    let result = call.outside(|| real::writev(fd, parts, count));
    if call.recorded() && result >= 0 {
        let channel = direct(&call, fd, c"writev");
        pin_address(&call, 1, parts as usize);
        log::pin(call.site, ASSUME_SIZE, call.int(2, count));
        let mut left = result as usize;
        for i in 0..count.max(0) as usize {
            let part = parts.add(i);
            log::pin(
                call.site,
                ASSUME_SIZE,
                shadow::load(part.cast::<u8>().add(8), 8),
            );
            let n = (*part).len.min(left);
            record(call.site, channel, (*part).base, n, c"writev");
            left -= n;
        }
    }
    call.result_id(0);
    result
}

/// `send`: to where nothing is followed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_send(
    fd: c_int,
    from: *const c_void,
    n: usize,
    flags: c_int,
) -> isize {
    let mut call = Call::take(bg_x_send as *const c_void);
    let result = call.outside(|| real::send(fd, from, n, flags));
    if call.recorded() && result >= 0 {
        record(call.site, 0, from.cast(), result as usize, c"send");
    }
    call.result_id(0);
    result
}

type Fwrite = unsafe extern "C" fn(*const c_void, usize, usize, *mut File) -> usize;

unsafe fn block(
    mut call: Call,
    from: *const c_void,
    size: usize,
    n: usize,
    file: *mut File,
    put: Fwrite,
) -> usize {
    let result = call.outside(|| put(from, size, n, file));
    if call.recorded() {
        log::pin(call.site, ASSUME_SIZE, call.word(1, size));
        log::pin(call.site, ASSUME_SIZE, call.word(2, n));
        pin_address(&call, 0, from as usize);
        pin_address(&call, 3, file as usize);
        let bytes = result.saturating_mul(size);
        record(call.site, channel_of(file), from.cast(), bytes, c"fwrite");
    }
    call.result_id(0);
    result
}

/// `fwrite`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_fwrite(
    from: *const c_void,
    size: usize,
    n: usize,
    file: *mut File,
) -> usize {
    let call = Call::take(bg_x_fwrite as *const c_void);
    block(call, from, size, n, file, real::fwrite)
}

/// `fwrite_unlocked`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_fwrite_unlocked(
    from: *const c_void,
    size: usize,
    n: usize,
    file: *mut File,
) -> usize {
    let call = Call::take(bg_x_fwrite_unlocked as *const c_void);
    block(call, from, size, n, file, real::fwrite_unlocked)
}

unsafe fn string(
    mut call: Call,
    text: *const c_char,
    file: *mut File,
    put: unsafe extern "C" fn(*const c_char, *mut File) -> c_int,
) -> c_int {
    let result = call.outside(|| put(text, file));
    if call.recorded() && result >= 0 {
        pin_address(&call, 0, text as usize);
        pin_address(&call, 1, file as usize);
        let n = sys::strlen(text);
        assume_length(call.site, text.cast(), n, true);
        record(call.site, channel_of(file), text.cast(), n, c"fputs");
    }
    call.result_id(0);
    result
}

/// `fputs`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_fputs(text: *const c_char, file: *mut File) -> c_int {
    let call = Call::take(bg_x_fputs as *const c_void);
    string(call, text, file, real::fputs)
}

/// `fputs_unlocked`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_fputs_unlocked(text: *const c_char, file: *mut File) -> c_int {
    let call = Call::take(bg_x_fputs_unlocked as *const c_void);
    string(call, text, file, real::fputs_unlocked)
}

/// `puts`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_puts(text: *const c_char) -> c_int {
    let mut call = Call::take(bg_x_puts as *const c_void);
    let result = call.outside(|| real::puts(text));
    if call.recorded() && result >= 0 {
        pin_address(&call, 0, text as usize);
        let n = sys::strlen(text);
        assume_length(call.site, text.cast(), n, true);
        let line = &mut (*own()).text;
        line.clear();
        line.memory(text.cast(), n);
        line.plain(b"\n");
        line.record(call.site, channel_of(real::stdout), c"puts");
    }
    call.result_id(0);
    result
}

/// One character; `index` is the number of the stream among the arguments.
unsafe fn one(
    mut call: Call,
    c: c_int,
    file: *mut File,
    index: Option<usize>,
    put: unsafe extern "C" fn(c_int, *mut File) -> c_int,
) -> c_int {
    let result = call.outside(|| put(c, file));
    if !call.recorded() || result < 0 {
        call.result_id(0);
        return result;
    }
    if let Some(index) = index {
        pin_address(&call, index, file as usize);
    }
    let byte = expr::extract(call.int(0, c), 0, 8);
    let channel = channel_of(file);
    if channel != 0 {
        let piece = [Piece {
            position: 0,
            len: 1,
            node: byte.id,
            conversion: 0,
        }];
        let pieces = if byte.is_symbolic() {
            taint(channel);
            &piece[..]
        } else {
            &[]
        };
        log::output(call.site, channel, &(c as u8), 1, pieces);
    } else if byte.is_symbolic() {
        log::lose_in(Loss::Stream, c"putc");
    }
    call.result(expr::zext(byte, 32));
    result
}

/// `fputc`, `putc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_putc(c: c_int, file: *mut File) -> c_int {
    let call = Call::take(bg_x_putc as *const c_void);
    one(call, c, file, Some(1), real::putc)
}

/// `putc_unlocked`, `fputc_unlocked`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_putc_unlocked(c: c_int, file: *mut File) -> c_int {
    let call = Call::take(bg_x_putc_unlocked as *const c_void);
    one(call, c, file, Some(1), real::putc_unlocked)
}

/// `putchar`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_putchar(c: c_int) -> c_int {
    let call = Call::take(bg_x_putchar as *const c_void);
    one(call, c, real::stdout, None, real::putc)
}

/// `putchar_unlocked`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_putchar_unlocked(c: c_int) -> c_int {
    let call = Call::take(bg_x_putchar_unlocked as *const c_void);
    one(call, c, real::stdout, None, real::putc_unlocked)
}

/// `putw`: four bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_putw(word: c_int, file: *mut File) -> c_int {
    let mut call = Call::take(bg_x_putw as *const c_void);
    let result = call.outside(|| real::putw(word, file));
    if call.recorded() && result == 0 {
        pin_address(&call, 1, file as usize);
        let value: Val = call.int(0, word);
        let text = &mut (*own()).text;
        text.clear();
        text.plain(&word.to_le_bytes());
        text.piece(0, 4, value.id, 0);
        text.record(call.site, channel_of(file), c"putw");
    }
    call.result_id(0);
    result
}

/// `perror`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_perror(text: *const c_char) {
    let mut call = Call::take(bg_x_perror as *const c_void);
    let errno = *sys::__errno_location();
    call.outside(|| real::perror(text));
    if call.recorded() {
        let saved = sys::Errno::save();
        let line = &mut (*own()).text;
        line.clear();
        if !text.is_null() {
            pin_address(&call, 0, text as usize);
            let n = sys::strlen(text);
            assume_length(call.site, text.cast(), n, true);
            if n != 0 {
                line.memory(text.cast(), n);
                line.plain(b": ");
            }
        }
        line.error(errno);
        line.plain(b"\n");
        line.record(call.site, channel_of(real::stderr), c"perror");
        saved.restore();
    }
    call.result_id(0);
}
