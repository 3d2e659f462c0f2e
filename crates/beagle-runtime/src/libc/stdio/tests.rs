//! Reading and printing under one input must explain what happens under every other.
#![allow(clippy::indexing_slicing, clippy::unwrap_used, clippy::type_complexity)]

use std::ffi::CString;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use beagle_trace::wire::SOURCE_FILE;

use super::own;
use crate::harness::{Random, Recording, Source, start};
use crate::input;

mod printing;
mod reading;

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
