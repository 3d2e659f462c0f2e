//! Takes what a program writes into a pipe: counts and hashes all of it, keeps the first bytes.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};

use crate::observation::Stream;

/// How much is read in one go, so that neither of two streams waits for the other for long.
const TURN: usize = 1 << 20;
/// A program that writes this much gets a larger pipe.
const MUCH: u64 = 1 << 18;

/// One end of a pipe, and what came out of it.
pub(crate) struct Intake {
    pipe: Option<OwnedFd>,
    bytes: Vec<u8>,
    keep: usize,
    length: u64,
    hasher: blake3::Hasher,
    widened: bool,
}

impl Intake {
    /// An intake, and the other end for the program.
    pub(crate) fn new(keep: u64) -> io::Result<(Self, OwnedFd)> {
        let (ours, theirs) = pipe_with(PipeFlags::CLOEXEC)?;
        // Only our end must not block; the program's is another open file.
        rustix::io::ioctl_fionbio(&ours, true)?;
        let intake = Self {
            pipe: Some(ours),
            bytes: Vec::new(),
            keep: usize::try_from(keep).unwrap_or(usize::MAX),
            length: 0,
            hasher: blake3::Hasher::new(),
            widened: false,
        };
        Ok((intake, theirs))
    }

    /// The pipe, unless all its writers have closed it.
    pub(crate) fn pipe(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// Reads what is there. Returns whether there may be more right now.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> bool {
        let mut turn = 0;
        while let Some(pipe) = &self.pipe {
            match rustix::io::read(pipe, &mut *buffer) {
                Ok(0) => self.pipe = None,
                Ok(count) => {
                    self.take(&buffer[..count]);
                    turn += count;
                    if turn >= TURN {
                        return true;
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return false,
                // Nothing more can be had.
                Err(_) => self.pipe = None,
            }
        }
        false
    }

    fn take(&mut self, bytes: &[u8]) {
        let room = self.keep.saturating_sub(self.bytes.len());
        self.bytes.extend(&bytes[..bytes.len().min(room)]);
        self.length += bytes.len() as u64;
        self.hasher.update(bytes);
        if self.length > MUCH && !std::mem::replace(&mut self.widened, true) {
            // It is only faster so.
            if let Some(pipe) = &self.pipe {
                let _ = rustix::pipe::fcntl_setpipe_size(pipe, TURN);
            }
        }
    }

    pub(crate) fn finish(self) -> Stream {
        Stream {
            bytes: self.bytes,
            length: self.length,
            hash: *self.hasher.finalize().as_bytes(),
        }
    }
}
