//! Input and output: `read`, `stdio.h`, the `printf` family, files.
//!
//! What comes from a source of the input is marked as variables, together with the expressions for how
//! much there was to read; what goes to standard output, standard error and files is recorded, with
//! the expressions of what depends on the input. The real libc does the work in all cases.

use core::ffi::c_char;

use beagle_trace::event::{ASSUME_ADDRESS, ASSUME_LENGTH, ASSUME_VALUE};
use beagle_trace::op::Op;

use crate::call::Call;
use crate::expr::{self, Val};
use crate::{log, shadow, sys};

pub mod channel;
pub mod files;
pub mod format;
pub mod fwrite;
pub mod getc;
pub mod memory;
pub mod own;
pub mod paths;
pub mod position;
pub mod printf;
pub mod read;
pub mod real;
pub mod seek;
pub mod sprintf;
pub mod stat;
pub mod stream;
pub mod text;
pub mod warn;

#[cfg(test)]
mod tests;

/// Conditions over so many bytes go into one assumption; longer strings take several.
const MANY: usize = 4096;

/// As [`log::assume`], but only once for the same condition.
pub fn assume_once(site: u32, reason: u32, condition: Val) {
    if condition.id != 0 && condition.value == 1 && expr::mark_pinned(condition.id) {
        log::assume(site, reason, condition);
    }
}

/// Takes for granted that the `n` bytes at `p` are not 0, and that the byte after them is, if it is
/// what ended the string.
pub unsafe fn assume_length(site: u32, p: *const u8, n: usize, ended: bool) {
    if !shadow::any(p, n + usize::from(ended)) {
        return;
    }
    let zero = Val::concrete(0, 8);
    let mut all = Val::concrete(1, 1);
    for i in 0..n {
        let byte = shadow::byte(p.add(i));
        if byte.is_symbolic() {
            all = expr::and(all, expr::bin(Op::Ne, byte, zero));
        }
        if i % MANY == MANY - 1 {
            assume_once(site, ASSUME_LENGTH, all);
            all = Val::concrete(1, 1);
        }
    }
    if ended {
        all = expr::and(all, expr::eq(shadow::byte(p.add(n)), zero));
    }
    assume_once(site, ASSUME_LENGTH, all);
}

/// Takes for granted that the `n` bytes at `p` are what they are.
pub unsafe fn assume_bytes(site: u32, p: *const u8, n: usize) {
    if !shadow::any(p, n) {
        return;
    }
    let mut all = Val::concrete(1, 1);
    for i in 0..n {
        let byte = shadow::byte(p.add(i));
        if byte.is_symbolic() {
            all = expr::and(all, expr::eq(byte, Val::concrete(byte.value, 8)));
        }
        if i % MANY == MANY - 1 {
            assume_once(site, ASSUME_VALUE, all);
            all = Val::concrete(1, 1);
        }
    }
    assume_once(site, ASSUME_VALUE, all);
}

/// A path decides which file is meant: takes for granted that it is what it is.
pub unsafe fn assume_path(call: &Call, index: usize, path: *const c_char) {
    if call.recorded() && !path.is_null() {
        log::pin(call.site, ASSUME_ADDRESS, call.word(index, path as usize));
        assume_bytes(call.site, path.cast(), sys::strlen(path) + 1);
    }
}

/// Pins a pointer argument whose target the function works on.
pub fn pin_address(call: &Call, index: usize, p: usize) {
    log::pin(call.site, ASSUME_ADDRESS, call.word(index, p));
}
