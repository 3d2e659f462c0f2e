//! What this part remembers of a run: streams, descriptors, written input files, and room to work in.
//!
//! All of it belongs to the recorded thread and is used inside the recorder only.

use core::cell::UnsafeCell;
use core::ffi::CStr;

use beagle_trace::event::CHANNEL_FILES;
use beagle_trace::layout::Loss;

use super::channel::{Descriptor, MAX_DESCRIPTORS};
use super::format::Work;
use super::stream::{MAX_STREAMS, Stream};
use super::text::Text;
use crate::call::Call;
use crate::{input, log, sys};

/// See the module.
pub struct Own {
    /// The output that is being put together.
    pub text: Text,
    /// The format that is being worked on.
    pub work: Work,
    /// Streams that were read from.
    pub streams: [Stream; MAX_STREAMS],
    /// The next stream to forget if there are too many.
    pub victim: usize,
    /// By number.
    pub descriptors: [Descriptor; MAX_DESCRIPTORS],
    /// Sources whose file the program has written to, as bits: what is read from them is not input.
    pub written: [u64; 16],
    /// Channels of files to which something went that depends on the input: who reads it back gets it
    /// without its expressions.
    pub tainted: [u32; 16],
    /// Whether the following is known.
    pub ready: bool,
    /// Device and inode of standard output and standard error at the start.
    pub standard: [Option<(u64, u64)>; 2],
    /// The working directory at the start, and its length.
    pub directory: [u8; 1024],
    /// See there.
    pub directory_len: usize,
}

impl Own {
    const fn new() -> Self {
        Self {
            text: Text::new(),
            work: Work::new(),
            streams: [Stream::NONE; MAX_STREAMS],
            victim: 0,
            descriptors: [Descriptor::UNKNOWN; MAX_DESCRIPTORS],
            written: [0; 16],
            tainted: [0; 16],
            ready: false,
            standard: [None; 2],
            directory: [0; 1024],
            directory_len: 0,
        }
    }
}

struct Global(UnsafeCell<Own>);

// SAFETY: see the module.
unsafe impl Sync for Global {}

static OWN: Global = Global(UnsafeCell::new(Own::new()));

/// For use inside the recorder.
pub fn own() -> *mut Own {
    let own = OWN.0.get();
    // SAFETY: the recorded thread is alone here.
    unsafe {
        if !(*own).ready {
            (*own).ready = true;
            first_use(own);
        }
    }
    own
}

/// What must be known before the program changes its directory or its standard output.
pub fn prepare(call: &Call) {
    if call.recorded() {
        own();
    }
}

/// Everything as at the start of a run, for tests.
#[cfg(test)]
pub fn forget() {
    unsafe { *OWN.0.get() = Own::new() }
}

#[cold]
unsafe fn first_use(own: *mut Own) {
    let saved = sys::Errno::save();
    (*own).standard = [super::channel::identity(1), super::channel::identity(2)];
    let directory = &mut (*own).directory;
    if !super::real::getcwd(directory.as_mut_ptr().cast(), directory.len()).is_null() {
        (*own).directory_len = sys::strlen(directory.as_ptr().cast());
    }
    saved.restore();
}

/// Something that depends on the input goes to this channel.
pub unsafe fn taint(channel: u32) {
    if channel >= CHANNEL_FILES {
        let tainted = &mut (*own()).tainted;
        if !tainted.contains(&channel)
            && let Some(free) = tainted.iter_mut().find(|c| **c == 0)
        {
            *free = channel;
        }
    }
}

/// Counts what is lost by reading back from a file.
pub unsafe fn lose_if_tainted(channel: u32, function: &CStr) {
    if channel >= CHANNEL_FILES && (*own()).tainted.contains(&channel) {
        log::lose_in(Loss::Model, function);
    }
}

/// Whether the program has changed the file of this source.
pub unsafe fn is_written(source: u32) -> bool {
    let bits = (*own()).written.get(source as usize / 64);
    bits.is_none_or(|bits| bits >> (source % 64) & 1 == 1)
}

/// The program changes the file of this source, if it is one.
pub unsafe fn note_written(source: Option<u32>) {
    if let Some(source) = source
        && let Some(bits) = (*own()).written.get_mut(source as usize / 64)
    {
        *bits |= 1 << (source % 64);
    }
}

/// The source of the file with this identity and size now.
pub unsafe fn source_of(device: u64, inode: u64, size: u64) -> Option<u32> {
    let source = input::source_of(device, inode)?;
    if size != input::bytes(source).len() as u64 {
        // Someone else has written to it, or it is another file in the place of a deleted one.
        note_written(Some(source));
    }
    Some(source)
}
