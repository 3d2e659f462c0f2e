//! The models of libc functions do what libc does: both run side by side, natively, on random cases.
//!
//! `BEAGLE_MODEL_CASES` sets how many cases each family gets, `BEAGLE_MODEL_SEED` which.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The test program, compiled once.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
        let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join("models");
        let mut sources = Vec::new();
        for dir in ["c/models", "tests/models"] {
            for entry in std::fs::read_dir(crate_dir.join(dir)).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|e| e == "c") {
                    sources.push(path);
                }
            }
        }
        sources.sort();
        let result = Command::new("clang-19")
            .args([
                "-D_GNU_SOURCE",
                "-O1",
                "-g",
                "-Wall",
                "-Wextra",
                "-Wno-gnu-folding-constant",
            ])
            .args(["-fsanitize=undefined", "-fno-sanitize-recover=undefined"])
            .args(&sources)
            .arg("-o")
            .arg(&output)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&result.stderr);
        assert!(result.status.success(), "{text}");
        assert!(
            !text.contains("warning:") || text.contains("dangerous"),
            "{text}"
        );
        output
    })
}

fn setting(name: &str, otherwise: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| otherwise.to_owned())
}

fn compare(family: &str) {
    let cases = setting("BEAGLE_MODEL_CASES", "100000");
    let seed = setting("BEAGLE_MODEL_SEED", "1");
    let result = Command::new(program())
        .args([family, &cases, &seed])
        .env("LC_ALL", "C")
        .output()
        .unwrap();
    assert!(
        result.status.success(),
        "{}: {}{}",
        result.status,
        String::from_utf8_lossy(&result.stdout),
        String::from_utf8_lossy(&result.stderr)
    );
}

#[test]
fn getopt_takes_options_apart_as_libc_does() {
    compare("getopt");
}

#[test]
fn strings_are_taken_apart_as_libc_does() {
    compare("strings");
}

#[test]
fn sorting_and_searching_give_what_libc_gives() {
    compare("sorting");
}

#[test]
fn lines_are_read_as_libc_reads_them() {
    compare("lines");
}

#[test]
fn scanf_takes_and_gives_what_libc_does() {
    compare("scanf");
}
