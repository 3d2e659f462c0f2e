//! How Beagle and a program of the fast lane share memory; `beagle-runtime/c/lane/lane.h` has the same.
//!
//! The memory is a file without a name. The program maps it; this side reads and writes it as a file, once
//! for a batch, so that it needs no unsafe code and a program that cuts the file hurts only itself.

use crate::outcome::{Flags, Outcome};

/// The descriptor over which both sides take turns.
pub const CONTROL_FD: i32 = 198;
/// The descriptor of the memory.
pub const MEMORY_FD: i32 = 199;
/// The environment variable that has the size of the memory.
pub const VARIABLE: &str = "BEAGLE_LANE";

const MAGIC: u64 = 0x656e_616c_6761_6562;
const PAGE: u64 = 4096;

/// How many runs a batch can have.
pub const MOST_RUNS: usize = 512;

/// Each run in a process of its own.
pub const MODE_FORK: u32 = 1;
/// Keep what runs write.
pub const MODE_KEEP: u32 = 2;
/// Note what runs compare.
pub const MODE_COMPARES: u32 = 4;
/// What is new is told apart from what is new without this.
pub const MODE_OTHER: u32 = 8;
/// What was seen is new again.
pub const MODE_FORGET: u32 = 16;

/// The size of a `struct result`.
pub const RESULT_SIZE: usize = 80;
/// The size of the header.
pub const HEADER_SIZE: usize = 104;
/// Where the program says how many counters it has.
pub const COUNTERS_AT: u64 = 8;

/// Where the parts lie.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    pub results: u64,
    pub base: u64,
    pub base_size: u64,
    pub marks: u64,
    pub compares: u64,
    pub compares_size: u64,
    pub outputs: u64,
    pub outputs_size: u64,
    pub inputs: u64,
    pub total: u64,
}

impl Layout {
    /// For a base of so many bytes, and so many counters.
    pub fn new(base: usize, counters: usize) -> Self {
        let mut total = PAGE;
        let mut part = |size: u64| {
            let at = total;
            total += size.max(1).next_multiple_of(PAGE);
            at
        };
        let (base_size, marks_size) = (base as u64, 8 * counters as u64);
        let (compares_size, outputs_size, inputs_size) = (1 << 20, 16 << 20, 8 << 20);
        Self {
            results: part((MOST_RUNS * RESULT_SIZE) as u64),
            base: part(base_size),
            base_size,
            marks: part(marks_size),
            compares: part(compares_size),
            compares_size,
            outputs: part(outputs_size),
            outputs_size,
            inputs: part(inputs_size),
            total,
        }
    }
}

/// What the header says for one batch.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    pub count: u32,
    pub mode: u32,
    /// How many ticks a run may take.
    pub ticks: u32,
    pub tick_us: u32,
    /// How many bytes of each stream and file are looked at.
    pub most_output: u32,
}

impl Header {
    /// The bytes of the header. The program's own field comes out as 0.
    pub fn encode(&self, layout: &Layout) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER_SIZE);
        let long = |out: &mut Vec<u8>, value: u64| out.extend(value.to_le_bytes());
        long(&mut out, MAGIC);
        for word in [
            0,
            0,
            self.count,
            self.mode,
            self.ticks,
            self.tick_us,
            self.most_output,
            0,
        ] {
            out.extend(word.to_le_bytes());
        }
        let base = if layout.base_size == 0 {
            0
        } else {
            layout.base
        };
        for value in [
            base,
            layout.inputs,
            layout.results,
            layout.marks,
            layout.outputs,
            layout.outputs_size,
            layout.compares,
            layout.compares_size,
        ] {
            long(&mut out, value);
        }
        out
    }
}

/// What is known of a counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// The same for what corresponds in both versions.
    pub key: u32,
    /// How many branches lie between it and a change.
    pub near: u16,
    /// It is part of a change.
    pub changed: bool,
    /// It is in a function with a change.
    pub close: bool,
}

/// The bytes of marks.
pub fn encode_marks(marks: &[Mark]) -> Vec<u8> {
    let mut out = Vec::with_capacity(8 * marks.len());
    for mark in marks {
        out.extend(mark.key.to_le_bytes());
        out.extend(mark.near.to_le_bytes());
        let flags = u16::from(mark.changed) | u16::from(mark.close) << 1;
        out.extend(flags.to_le_bytes());
    }
    out
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk())
        .map_or(0, |word| u32::from_le_bytes(*word))
}

fn long(bytes: &[u8], at: usize) -> u64 {
    bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk())
        .map_or(0, |word| u64::from_le_bytes(*word))
}

/// The result of a run from its bytes.
pub fn decode_result(bytes: &[u8]) -> Outcome {
    Outcome {
        end: word(bytes, 0),
        flags: Flags(word(bytes, 4)),
        reason: word(bytes, 8),
        near: u16::try_from(word(bytes, 12)).unwrap_or(u16::MAX),
        out: long(bytes, 16),
        err: long(bytes, 24),
        files: long(bytes, 32),
        path: long(bytes, 40),
        whole: long(bytes, 48),
        outputs: long(bytes, 56),
        compares: word(bytes, 64),
        work: long(bytes, 72),
    }
}

/// What a run wrote: streams have no name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
    /// Files that were made, changed or, without mode and content, removed; by name.
    pub files: Vec<(Vec<u8>, u32, Vec<u8>)>,
}

/// What a run wrote, from the bytes at its `outputs`.
pub fn decode_outputs(mut bytes: &[u8]) -> Written {
    let mut all = Vec::new();
    while word(bytes, 0) != u32::MAX && bytes.len() >= 16 {
        let (name, size) = (word(bytes, 0) as usize, word(bytes, 4) as usize);
        let mode = word(bytes, 8);
        let Some(record) = bytes.get(16..16 + name + size) else {
            break;
        };
        all.push((record[..name].to_vec(), mode, record[name..].to_vec()));
        bytes = &bytes[16 + name + size..];
    }
    let mut all = all.into_iter();
    let mut stream = || all.next().map(|(_, _, bytes)| bytes).unwrap_or_default();
    let (stdout, stderr) = (stream(), stream());
    let mut files: Vec<_> = all.collect();
    files.sort();
    Written {
        stdout,
        stderr,
        files,
    }
}

/// A comparison that a run made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Compared {
    /// Texts, not numbers.
    pub is_text: bool,
    /// Both sides; numbers with the lowest byte first.
    pub sides: [Vec<u8>; 2],
}

/// What a run compared.
pub fn decode_compares(mut bytes: &[u8]) -> Vec<Compared> {
    let mut all = Vec::new();
    while let [text, a, b, rest @ ..] = bytes {
        let (a, b) = (usize::from(*a), usize::from(*b));
        let Some(sides) = rest.get(..a + b) else {
            break;
        };
        all.push(Compared {
            is_text: *text != 0,
            sides: [sides[..a].to_vec(), sides[a..].to_vec()],
        });
        bytes = &rest[a + b..];
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_lies_as_the_runtime_reads_it() {
        let layout = Layout::new(10, 3);
        let header = Header {
            count: 7,
            mode: MODE_KEEP,
            ticks: 5,
            tick_us: 1000,
            most_output: 99,
        };
        let bytes = header.encode(&layout);
        assert_eq!(bytes.len(), HEADER_SIZE);
        assert_eq!(long(&bytes, 0), MAGIC);
        assert_eq!((word(&bytes, 16), word(&bytes, 20)), (7, MODE_KEEP));
        assert_eq!(long(&bytes, 40), layout.base);
        assert_eq!(long(&bytes, 96), layout.compares_size);
    }

    #[test]
    fn what_was_written_is_read_in_order() {
        let mut bytes = Vec::new();
        for (name, mode, text) in [("", 0x1180u32, "out"), ("", 0x1180, ""), ("f", 0x81a4, "x")] {
            for word in [name.len() as u32, text.len() as u32, mode, 0] {
                bytes.extend(word.to_le_bytes());
            }
            bytes.extend(name.bytes().chain(text.bytes()));
        }
        bytes.extend([0xff; 16]);
        let written = decode_outputs(&bytes);
        assert_eq!(written.stdout, b"out");
        assert_eq!(written.stderr, b"");
        assert_eq!(written.files, [(b"f".to_vec(), 0x81a4, b"x".to_vec())]);
    }

    #[test]
    fn comparisons_that_are_cut_off_are_left_out() {
        let bytes = [1, 2, 1, b'a', b'b', b'c', 0, 9, 9, 1];
        let expected = Compared {
            is_text: true,
            sides: [b"ab".to_vec(), b"c".to_vec()],
        };
        assert_eq!(decode_compares(&bytes), [expected]);
    }
}
