//! What the keeper and its client say to each other: frames of a length and a value.
//!
//! The client sends one [`Setup`] and gets a [`Hello`]; then for each [`Request`] an [`Answer`].

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::isolation::Isolation;
use crate::observation::{End, Stream};

/// More than this is not a frame, but nonsense.
const MAX_FRAME: u32 = 1 << 31;

/// What stays the same for all runs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Setup {
    /// The directories into which programs may write, as bytes.
    pub writable: Vec<Vec<u8>>,
    pub processes: u64,
    /// Do without new namespaces even if the system has them.
    pub without_namespaces: bool,
}

/// The keeper is ready.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub isolation: Isolation,
}

/// One run.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    pub program: Vec<u8>,
    /// The name of the program first.
    pub arguments: Vec<Vec<u8>>,
    pub environment: Vec<(Vec<u8>, Vec<u8>)>,
    pub directory: Vec<u8>,
    /// The content of standard input.
    pub stdin: Vec<u8>,
    pub milliseconds: u64,
    /// The largest address space.
    pub memory: Option<u64>,
    /// The largest file.
    pub file_size: u64,
    /// How many bytes of each stream are sent back.
    pub keep: u64,
}

/// What became of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// The error number of the system, and what was tried.
    NotStarted(i32, String),
    Ended(Ran),
}

/// A run that took place.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ran {
    /// As the program sees it.
    pub pid: u32,
    pub end: End,
    pub stdout: Stream,
    pub stderr: Stream,
    pub microseconds: u64,
}

pub(crate) fn send<T: Serialize>(mut out: impl Write, value: &T) -> io::Result<()> {
    let mut frame = postcard::to_extend(value, vec![0; 4]).map_err(io::Error::other)?;
    let length = u32::try_from(frame.len() - 4).map_err(io::Error::other)?;
    frame[..4].copy_from_slice(&length.to_le_bytes());
    out.write_all(&frame)
}

pub(crate) fn receive<T: DeserializeOwned>(mut from: impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > MAX_FRAME {
        return Err(io::Error::other("a frame is too large"));
    }
    let mut frame = vec![0; length as usize];
    from.read_exact(&mut frame)?;
    postcard::from_bytes(&frame).map_err(io::Error::other)
}
