//! Streams that are read from: where each is in its source, and what was put back.
//!
//! Positions are counted along, so that reading a character costs no system call. That nobody else
//! has moved the stream is seen by its read pointer.

use core::ffi::c_int;

use beagle_trace::layout::Loss;

use super::channel;
use super::own::{is_written, lose_if_tainted, own};
use super::position::Position;
use super::real::{self, File};
use crate::expr::Val;
use crate::{log, sys};

/// So many streams are known at a time.
pub const MAX_STREAMS: usize = 32;
/// So many characters can be put back.
const MAX_BACK: usize = 8;
/// Characters that are read one by one make one event for so many.
const RUN: u64 = 4096;

/// A stream.
#[derive(Clone, Copy)]
pub struct Stream {
    file: *mut File,
    /// Whether it reads a source of the input.
    input: bool,
    /// Where the next byte comes from, apart from those put back.
    pub position: Position,
    read_ptr: *const u8,
    back: [Val; MAX_BACK],
    back_count: usize,
    /// The node that the last `getc` returned, while its byte can be put back.
    pub last: u32,
    run_start: u64,
    run_len: u64,
}

impl Stream {
    /// No stream.
    pub const NONE: Self = Self {
        file: core::ptr::null_mut(),
        input: false,
        position: Position::NONE,
        read_ptr: core::ptr::null(),
        back: [Val::concrete(0, 8); MAX_BACK],
        back_count: 0,
        last: 0,
        run_start: 0,
        run_len: 0,
    };

    /// Notes that the stream is where the position says.
    pub unsafe fn moved(&mut self) {
        self.read_ptr = (*self.file).read_ptr;
    }

    /// How many characters were put back that are not the source's own.
    pub fn put_back(&self) -> usize {
        self.back_count
    }

    /// Puts a character back; false if there is no room.
    pub fn push_back(&mut self, c: Val) -> bool {
        let Some(slot) = self.back.get_mut(self.back_count) else {
            return false;
        };
        *slot = c;
        self.back_count += 1;
        true
    }

    /// The character that was put back last.
    pub fn take_back(&mut self) -> Option<Val> {
        let last = self.back_count.checked_sub(1)?;
        self.back_count = last;
        self.back.get(last).copied()
    }

    /// The stream was moved to another place.
    pub fn sought(&mut self, site: u32, position: Position) {
        self.end_run(site);
        self.position = position;
        self.back_count = 0;
        self.last = 0;
    }

    /// One character was read at `offset`.
    pub fn ran(&mut self, site: u32, offset: u64) {
        if offset != self.run_start + self.run_len || self.run_len >= RUN {
            self.end_run(site);
            self.run_start = offset;
        }
        self.run_len += 1;
    }

    /// Logs the characters read one by one so far.
    pub fn end_run(&mut self, site: u32) {
        if self.run_len != 0 {
            let len = self.run_len as u32;
            log::read(site, self.position.source, self.run_start, len, len);
            self.run_len = 0;
        }
    }

    /// Logs them, and that there was no other.
    pub fn ran_to_end(&mut self, site: u32, offset: u64) {
        let (start, len) = if self.run_len != 0 && self.run_start + self.run_len == offset {
            (self.run_start, self.run_len as u32)
        } else {
            self.end_run(site);
            (offset, 0)
        };
        log::read(site, self.position.source, start, len, len + 1);
        self.run_len = 0;
    }
}

/// The stream, if it reads a source of the input.
pub unsafe fn stream(file: *mut File) -> Option<&'static mut Stream> {
    if file.is_null() {
        return None;
    }
    let own = own();
    let slots = (&raw mut (*own).streams).cast::<Stream>();
    let mut slot = None;
    for i in 0..MAX_STREAMS {
        let candidate = slots.add(i);
        if (*candidate).file == file {
            slot = Some(candidate);
            break;
        }
    }
    let found = match slot {
        Some(found) => &mut *found,
        None => {
            let free = (0..MAX_STREAMS).find(|i| (*slots.add(*i)).file.is_null());
            let index = free.unwrap_or_else(|| {
                (*own).victim = ((*own).victim + 1) % MAX_STREAMS;
                (*own).victim
            });
            let fresh = &mut *slots.add(index);
            *fresh = Stream {
                file,
                ..Stream::NONE
            };
            look(fresh);
            fresh
        }
    };
    if !found.input {
        return None;
    }
    if is_written(found.position.source) {
        log::lose_in(Loss::Model, c"fread");
        return None;
    }
    if found.read_ptr != (*file).read_ptr && !resync(found) {
        return None;
    }
    Some(found)
}

/// The source that the stream reads.
#[cold]
unsafe fn look(stream: &mut Stream) {
    let fd = descriptor(stream.file);
    if fd < 0 {
        return;
    }
    let found = channel::descriptor(fd);
    lose_if_tainted(found.channel, c"fread");
    if let Some(source) = found.source {
        stream.input = true;
        stream.position = Position::at(source, 0);
        stream.input = resync(stream);
    }
}

/// Asks the stream where it is.
#[cold]
unsafe fn resync(stream: &mut Stream) -> bool {
    let saved = sys::Errno::save();
    let offset = real::ftello(stream.file);
    saved.restore();
    stream.back_count = 0;
    stream.last = 0;
    if offset < 0 {
        return false;
    }
    stream.position = Position::at(stream.position.source, offset as u64);
    stream.moved();
    true
}

/// The descriptor of a stream, or -1.
pub unsafe fn descriptor(file: *mut File) -> c_int {
    if file.is_null() {
        return -1;
    }
    let saved = sys::Errno::save();
    let fd = real::fileno(file);
    saved.restore();
    fd
}

/// The stream is closed, or is another file now.
pub unsafe fn forget(site: u32, file: *mut File) {
    let own = own();
    for slot in &mut (*own).streams {
        if slot.file == file {
            slot.end_run(site);
            *slot = Stream::NONE;
        }
    }
}

/// The descriptor is another file now.
pub unsafe fn forget_descriptor(site: u32, fd: c_int) {
    let own = own();
    for slot in &mut (*own).streams {
        if !slot.file.is_null() && descriptor(slot.file) == fd {
            slot.end_run(site);
            *slot = Stream::NONE;
        }
    }
}

/// The channel to which a stream prints. Output to the file of a source of the input is noted.
pub unsafe fn channel_of(file: *mut File) -> u32 {
    let fd = descriptor(file);
    if fd < 0 {
        return 0;
    }
    let found = channel::descriptor(fd);
    found.written();
    found.channel
}
