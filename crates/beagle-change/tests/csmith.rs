//! Programs that csmith makes up, which use C as nobody would: with new layouts, renamed locals
//! and reordered functions they are the same.

mod support;

use std::process::{Command, ExitCode};

use libtest_mimic::{Failed, Trial};
use support::reflow::{Style, reflow};
use support::{Texts, build, expect_same, locals, order, subjects};

/// Stands in for csmith's own header, which is not always installed with it: enough to compile.
const HEADER: &str = "
#include <stdint.h>
#include <stdio.h>
#include <string.h>
uint32_t crc32_context;
void platform_main_begin(void);
void platform_main_end(uint32_t crc, int flag);
void crc32_gentab(void);
void transparent_crc(uint64_t value, const char *name, int flag);
void transparent_crc_bytes(const void *bytes, int count, const char *name, int flag);
";

fn main() -> ExitCode {
    let trials = (1..=15).map(|seed| Trial::test(format!("seed {seed}"), move || check(seed)));
    subjects::run(trials.collect())
}

fn check(seed: u32) -> Result<(), Failed> {
    let seed_text = seed.to_string();
    // It leaves a file where it runs.
    let directory = tempfile::tempdir()?;
    let made = Command::new("csmith")
        .current_dir(directory.path())
        .args([
            "--seed",
            &seed_text,
            "--max-funcs",
            "6",
            "--max-block-depth",
            "4",
        ])
        .arg("--inline-function")
        .output()
        .map_err(|cause| format!("csmith: {cause}"))?;
    let text = String::from_utf8_lossy(&made.stdout).into_owned();
    let with = |text: String| -> Texts {
        vec![
            ("csmith.h".to_owned(), HEADER.to_owned()),
            (support::MAIN.to_owned(), text),
        ]
    };
    let style = Style::ALL[seed as usize % Style::ALL.len()];
    let renamed = locals::rename_locals(&text, std::iter::once(&text[..]));
    let changed = reflow(&order::reverse_functions(&renamed), style);
    let original = build(&with(text))?;
    Ok(expect_same(&original, &build(&with(changed))?)?)
}
