//! Reading and printing under one input must explain what happens under every other.
#![allow(clippy::indexing_slicing, clippy::unwrap_used, clippy::type_complexity)]

use std::ffi::CString;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use beagle_trace::wire::SOURCE_FILE;

use super::own;
use crate::harness::{Recording, Source, start};
use crate::input;

mod printing;
mod reading;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let x = self.0 ^ self.0 >> 33;
        x.wrapping_mul(0xff51_afd7_ed55_8ccd) ^ x >> 29
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn bytes(&mut self, most: u64) -> Vec<u8> {
        let n = self.below(most + 1);
        (0..n).map(|_| self.next() as u8).collect()
    }
}

/// A path of its own for each file of a test.
fn fresh_path() -> &'static str {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Relaxed);
    let dir = std::env::temp_dir();
    let name = format!("beagle-stdio-{}-{number}", std::process::id());
    String::leak(dir.join(name).to_str().unwrap().to_owned())
}

/// Records with one file as the input.
fn record(path: &'static str, bytes: &[u8]) -> Recording {
    let recording = start(&[Source {
        kind: SOURCE_FILE,
        name: path,
        bytes: bytes.to_vec(),
        pad: 0,
    }]);
    own::forget();
    input::forget_files();
    unsafe { input::materialise_files() };
    recording
}

fn c(text: &str) -> CString {
    CString::new(text).unwrap()
}
