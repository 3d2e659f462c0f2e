//! File descriptors: which of them is a source of the input, and to which channel output goes.

use core::ffi::c_int;

use beagle_trace::event::CHANNEL_FILES;
use beagle_trace::layout::Loss;

use super::own::{note_written, own, source_of};
use super::position::Position;
use super::real;
use crate::{input, log, sys, table};

/// What is known of descriptors below this; the last place serves all others in turn.
pub const MAX_DESCRIPTORS: usize = 256;

/// An open file descriptor.
#[derive(Clone, Copy)]
pub struct Descriptor {
    known: bool,
    /// Where output goes; 0 if it is not followed.
    pub channel: u32,
    /// The source that it reads.
    pub source: Option<u32>,
    position: Position,
    /// The offset that the kernel has if `position` is right.
    expected: i64,
}

impl Descriptor {
    /// Not looked at yet.
    pub const UNKNOWN: Self = Self {
        known: false,
        channel: 0,
        source: None,
        position: Position::NONE,
        expected: -1,
    };
}

const REGULAR: u64 = 0o100_000;
const KIND: u64 = 0o170_000;

/// Device and inode of what is open.
pub unsafe fn identity(fd: c_int) -> Option<(u64, u64)> {
    let [device, inode, ..] = stat(fd)?;
    Some((device, inode))
}

unsafe fn stat(fd: c_int) -> Option<real::Stat> {
    let mut found = [0; 18];
    let saved = sys::Errno::save();
    let failed = fd < 0 || real::fstat(fd, &mut found) != 0;
    saved.restore();
    (!failed).then_some(found)
}

/// What is known of a descriptor.
pub unsafe fn descriptor(fd: c_int) -> &'static mut Descriptor {
    let own = own();
    let number = usize::try_from(fd).unwrap_or(MAX_DESCRIPTORS);
    let slots = (&raw mut (*own).descriptors).cast::<Descriptor>();
    if number >= MAX_DESCRIPTORS - 1 {
        let spare = &mut *slots.add(MAX_DESCRIPTORS - 1);
        *spare = look(fd);
        return spare;
    }
    let slot = &mut *slots.add(number);
    if !slot.known {
        *slot = look(fd);
    }
    slot
}

/// The descriptor was closed, or is another file now.
pub unsafe fn forget(fd: c_int) {
    let own = own();
    if let Ok(number) = usize::try_from(fd)
        && let Some(slot) = (*own).descriptors.get_mut(number)
    {
        *slot = Descriptor::UNKNOWN;
    }
}

/// All descriptors may be other files now, for tests.
#[cfg(test)]
pub fn forget_all() {
    unsafe { (*own()).descriptors = [Descriptor::UNKNOWN; MAX_DESCRIPTORS] }
}

#[cold]
unsafe fn look(fd: c_int) -> Descriptor {
    let mut found = Descriptor {
        known: true,
        ..Descriptor::UNKNOWN
    };
    let Some([device, inode, _, mode, _, _, size, ..]) = stat(fd) else {
        return found;
    };
    let identity = Some((device, inode));
    let regular = mode & KIND == REGULAR;
    let [out, err] = (*own()).standard;
    found.channel = if fd == 2 && identity == err {
        2
    } else if identity == out {
        1
    } else if identity == err {
        2
    } else if regular {
        path_channel(fd)
    } else {
        0
    };
    if regular {
        found.source = source_of(device, inode, size);
    }
    found
}

/// The channel of a file by its path, relative to the directory in which the run started.
unsafe fn path_channel(fd: c_int) -> u32 {
    let own = own();
    let mut link = [0u8; 32];
    let mut at = link.len() - 1;
    let mut number = fd.max(0);
    loop {
        at -= 1;
        if let Some(digit) = link.get_mut(at) {
            *digit = b'0' + (number % 10) as u8;
        }
        number /= 10;
        if number == 0 {
            break;
        }
    }
    for byte in b"/proc/self/fd/".iter().rev() {
        at -= 1;
        if let Some(to) = link.get_mut(at) {
            *to = *byte;
        }
    }
    let mut path = [0u8; 1024];
    let saved = sys::Errno::save();
    let n = real::readlink(
        link.as_ptr().wrapping_add(at).cast(),
        path.as_mut_ptr().cast(),
        path.len(),
    );
    saved.restore();
    let path = path.get(..n.max(0) as usize).unwrap_or(&[]);
    let directory: &[u8] = &(*own).directory;
    let directory = directory.get(..(*own).directory_len);
    let inside = directory
        .filter(|d| !d.is_empty())
        .and_then(|d| path.strip_prefix(d)?.strip_prefix(b"/"));
    let path = inside.unwrap_or(path);
    // What has no name is seen by nobody.
    if path.is_empty() || path.ends_with(b" (deleted)") {
        return 0;
    }
    table::path(path).map_or(0, |blob| CHANNEL_FILES + blob)
}

impl Descriptor {
    /// Where a read from `fd`, this descriptor, would start; `None` if it is no source of the input.
    pub unsafe fn position(&mut self, fd: c_int) -> Option<&mut Position> {
        let source = self.source?;
        if super::own::is_written(source) {
            log::lose_in(Loss::Model, c"read");
            return None;
        }
        let now = kernel_offset(fd)?;
        if now != self.expected {
            self.position = Position::at(source, now as u64);
            self.expected = now;
        }
        Some(&mut self.position)
    }

    /// The position was changed to agree with what the kernel has done.
    pub unsafe fn moved(&mut self, fd: c_int) {
        self.expected = kernel_offset(fd).unwrap_or(-1);
    }

    /// The program writes to it.
    pub unsafe fn written(&self) {
        note_written(self.source);
    }
}

unsafe fn kernel_offset(fd: c_int) -> Option<i64> {
    let saved = sys::Errno::save();
    let now = sys::lseek(fd, 0, 1);
    saved.restore();
    (now >= 0).then_some(now)
}

/// The bytes at `p` were read from offset `offset` of the source.
pub unsafe fn mark(site: u32, p: *mut u8, n: usize, source: u32, offset: u64, wanted: usize) {
    input::mark(p, n, source, offset);
    log::read(
        site,
        source,
        offset,
        n.min(u32::MAX as usize) as u32,
        wanted.min(u32::MAX as usize) as u32,
    );
}
