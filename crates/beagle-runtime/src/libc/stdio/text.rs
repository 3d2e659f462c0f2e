//! An output that is being put together: its bytes, and which of them depend on the input.

use core::ffi::{CStr, c_int};

use beagle_trace::layout::Loss;
use beagle_trace::wire::{cell_index, cell_node};

use crate::expr;
use crate::log::{self, MAX_PIECES, Piece};
use crate::{shadow, sys};

/// A list that grows, in memory of its own.
pub struct Grow<T> {
    at: *mut T,
    room: usize,
    len: usize,
}

impl<T: Copy> Grow<T> {
    /// Empty.
    pub const fn new() -> Self {
        Self {
            at: core::ptr::null_mut(),
            room: 0,
            len: 0,
        }
    }

    /// Makes room for `more`; false if there is no memory.
    pub fn reserve(&mut self, more: usize) -> bool {
        let Some(need) = self.len.checked_add(more) else {
            return false;
        };
        if need <= self.room {
            return true;
        }
        let size = size_of::<T>().max(1);
        let Some(bytes) = need.checked_mul(2 * size).map(|n| n.max(1 << 16)) else {
            return false;
        };
        let bytes = bytes.next_multiple_of(4096);
        let Some(fresh) = sys::map(bytes) else {
            return false;
        };
        let fresh = fresh.cast::<T>();
        // SAFETY: the new memory is at least as large as the old.
        unsafe {
            if !self.at.is_null() {
                core::ptr::copy_nonoverlapping(self.at, fresh, self.len);
                let saved = sys::Errno::save();
                sys::munmap(self.at.cast(), self.room * size);
                saved.restore();
            }
        }
        self.at = fresh;
        // The room stays a whole number of pages in bytes for elements whose size divides them.
        self.room = bytes / size;
        true
    }

    /// All of it.
    pub fn get(&self) -> &[T] {
        if self.at.is_null() {
            return &[];
        }
        // SAFETY: so many were written.
        unsafe { core::slice::from_raw_parts(self.at, self.len) }
    }

    /// Adds one; false if there is no memory.
    pub fn push(&mut self, item: T) -> bool {
        if !self.reserve(1) {
            return false;
        }
        // SAFETY: there is room.
        unsafe { *self.at.add(self.len) = item }
        self.len += 1;
        true
    }
}

impl<T: Copy> Default for Grow<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// See the module.
pub struct Text {
    bytes: Grow<u8>,
    pieces: Grow<Piece>,
    /// There was no memory for all of it.
    pub failed: bool,
}

impl Text {
    /// Empty.
    pub const fn new() -> Self {
        Self {
            bytes: Grow::new(),
            pieces: Grow::new(),
            failed: false,
        }
    }

    /// Starts again.
    pub fn clear(&mut self) {
        self.bytes.len = 0;
        self.pieces.len = 0;
        self.failed = false;
    }

    /// Bytes so far.
    pub fn len(&self) -> usize {
        self.bytes.len
    }

    /// Whether there is nothing yet.
    pub fn is_empty(&self) -> bool {
        self.bytes.len == 0
    }

    /// The bytes so far.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get()
    }

    /// The pieces so far.
    pub fn pieces(&self) -> &[Piece] {
        self.pieces.get()
    }

    /// Drops the pieces from number `count` on, and the bytes from `len` on.
    pub fn cut(&mut self, len: usize, count: usize) {
        self.bytes.len = self.bytes.len.min(len);
        self.pieces.len = self.pieces.len.min(count);
    }

    /// Room for at least `more` bytes after the last, and how much there is; see [`Text::wrote`].
    pub fn room(&mut self, more: usize) -> Option<(*mut u8, usize)> {
        if !self.bytes.reserve(more) {
            self.failed = true;
            return None;
        }
        let bytes = &self.bytes;
        Some((bytes.at.wrapping_add(bytes.len), bytes.room - bytes.len))
    }

    /// So many bytes were written into the room.
    pub fn wrote(&mut self, n: usize) {
        self.bytes.len = (self.bytes.len + n).min(self.bytes.room);
    }

    /// Adds bytes that do not depend on the input.
    pub fn plain(&mut self, text: &[u8]) {
        if let Some((to, _)) = self.room(text.len()) {
            // SAFETY: there is room.
            unsafe { core::ptr::copy_nonoverlapping(text.as_ptr(), to, text.len()) }
            self.wrote(text.len());
        }
    }

    /// Adds the words for an error.
    pub unsafe fn error(&mut self, errno: c_int) {
        let mut room = [0; 128];
        let words = super::real::strerror_r(errno, room.as_mut_ptr(), room.len());
        self.plain(CStr::from_ptr(words).to_bytes());
    }

    /// Adds bytes of the program's memory.
    pub unsafe fn memory(&mut self, p: *const u8, n: usize) {
        let position = self.bytes.len;
        self.plain(core::slice::from_raw_parts(p, n));
        self.shadows(position, p, n);
    }

    /// The bytes at `position` are those of the program's memory at `p`.
    pub unsafe fn shadows(&mut self, position: usize, p: *const u8, n: usize) {
        if !shadow::any(p, n) {
            return;
        }
        let mut at = 0;
        while at < n {
            let cell = shadow::healed(p.add(at));
            let mut run = 1;
            if cell != 0 {
                let first = cell_index(cell);
                while at + run < n
                    && first + (run as u32) < 8
                    && shadow::healed(p.add(at + run)) == cell.wrapping_add((run as u32) << 29)
                {
                    run += 1;
                }
                let whole = expr::node(cell_node(cell));
                let part = expr::extract(whole, first * 8, run as u16 * 8);
                self.piece(position + at, run, part.id, 0);
            }
            at += run;
        }
    }

    /// The bytes at `position` are those of the node, or what the conversion makes of it.
    pub fn piece(&mut self, position: usize, len: usize, node: u32, conversion: u32) {
        if node != 0 {
            self.failed |= !self.pieces.push(Piece {
                position: position as u32,
                len: len as u32,
                node,
                conversion,
            });
        }
    }

    /// Records it as output of the function `name` to a channel; 0 is one that is not followed.
    pub unsafe fn record(&self, site: u32, channel: u32, name: &CStr) {
        let pieces = self.pieces();
        if channel == 0 {
            if !pieces.is_empty() {
                log::lose_in(Loss::Stream, name);
            }
            return;
        }
        if self.failed {
            log::lose_in(Loss::Stream, name);
            return;
        }
        if !pieces.is_empty() {
            super::own::taint(channel);
        }
        // An event has a most of pieces; the next one starts where the first piece too many does.
        let bytes = self.bytes();
        let mut from = 0;
        let mut done = 0;
        loop {
            let rest = pieces.get(done..).unwrap_or(&[]);
            let here = rest.len().min(MAX_PIECES);
            let to = rest.get(here).map_or(bytes.len(), |p| p.position as usize);
            let mut shifted = [Piece::default(); MAX_PIECES];
            for (to, piece) in shifted.iter_mut().zip(rest.iter().take(here)) {
                *to = Piece {
                    position: piece.position.wrapping_sub(from as u32),
                    ..*piece
                };
            }
            let part = bytes.get(from..to).unwrap_or(&[]);
            let shifted = shifted.get(..here).unwrap_or(&[]);
            log::output(site, channel, part.as_ptr(), part.len(), shifted);
            done += here;
            from = to;
            if done >= pieces.len() {
                return;
            }
        }
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::new()
    }
}
