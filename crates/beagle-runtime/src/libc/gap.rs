//! What the models in `c/models` ask of the runtime.

use core::ffi::{c_char, c_int};

use beagle_trace::layout::Loss;

use crate::log;
use crate::slots::recording;

/// A model met a case that it does not cover: what it does then is right, but not followed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_model_gap(name: *const c_char) {
    if recording() {
        log::lose_at(Loss::Model, name);
    }
}

/// The public part of libc's `FILE`.
#[repr(C)]
struct File {
    flags: c_int,
    read: *const u8,
    read_end: *const u8,
}

/// How many bytes of the stream lie in its buffer, up to and with the first `delimiter`.
///
/// `getdelim` grows its memory by such pieces, so its model must know their size beforehand. It is no
/// reading: whoever wants a byte still has to ask for it, and then decides on what it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_model_buffered(
    stream: *const core::ffi::c_void,
    delimiter: c_int,
) -> usize {
    let file = &*stream.cast::<File>();
    let len = (file.read_end as usize).saturating_sub(file.read as usize);
    for i in 0..len {
        if *file.read.add(i) == delimiter as u8 {
            return i + 1;
        }
    }
    len
}
