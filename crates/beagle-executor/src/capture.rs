//! The files that take standard output and standard error of each run.
//!
//! They are files without a name, and the server's runs write into them through the same open file:
//! position and length are put back before each run.

use std::fs::File;
use std::io::{self, Seek};
use std::ops::Deref;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use rustix::fs::MemfdFlags;

/// What a run wrote to one of its streams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Whether there were more than are kept.
    pub truncated: bool,
}

impl Deref for Captured {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// One such file.
#[derive(Debug)]
pub(crate) struct Capture {
    file: File,
}

impl Capture {
    pub(crate) fn new(name: &str) -> io::Result<Self> {
        let fd = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)?;
        Ok(Self { file: fd.into() })
    }

    /// Another descriptor of the same open file.
    pub(crate) fn descriptor(&self) -> io::Result<OwnedFd> {
        Ok(self.file.try_clone()?.into())
    }

    pub(crate) fn clear(&mut self) -> io::Result<()> {
        self.file.rewind()?;
        self.file.set_len(0)
    }

    /// What was written so far, without moving the position at which the program writes.
    pub(crate) fn read(&self, cap: u64) -> io::Result<Captured> {
        let size = self.file.metadata()?.len();
        let mut bytes = vec![0; size.min(cap) as usize];
        let mut done = 0;
        while done < bytes.len() {
            match self.file.read_at(&mut bytes[done..], done as u64) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        bytes.truncate(done);
        let truncated = size > cap;
        Ok(Captured { bytes, truncated })
    }

    /// The start of it as text, for messages.
    pub(crate) fn text(&self) -> String {
        let captured = self.read(4096).unwrap_or_default();
        String::from_utf8_lossy(&captured.bytes).into_owned()
    }
}
