//! Programs that csmith makes up.

use std::process::Command;

use super::{Case, lift_with};

/// Stands in for csmith's own headers, which Debian does not install: enough to compile and run.
const HEADER: &str = "
#include <stdint.h>
#include <stdio.h>
#include <string.h>
static uint32_t crc32_context = 0xFFFFFFFFu;
static void platform_main_begin(void) {}
static void platform_main_end(uint32_t crc, int flag) { printf(\"checksum %x\\n\", crc); }
static void crc32_gentab(void) {}
static void transparent_crc(uint64_t value, const char *name, int flag) {
    crc32_context = crc32_context * 31 + (uint32_t)value + (uint32_t)(value >> 32);
}
static void transparent_crc_bytes(const void *bytes, int count, const char *name, int flag) {
    for (int i = 0; i < count; i++)
        transparent_crc(((const unsigned char *)bytes)[i], name, flag);
}
";

/// The text of the program for a seed, with all that it needs in one file.
pub fn text(seed: u32) -> String {
    let mut command = Command::new("csmith");
    command.args(["--seed", &seed.to_string(), "--max-funcs", "5"]);
    command.args(["--max-block-depth", "4", "--no-safe-math", "--concise"]);
    // The more unusual parts of C, now and then.
    if seed.is_multiple_of(3) {
        command.arg("--float");
    }
    // It leaves a file where it runs.
    let dir = tempfile::tempdir().expect("a temporary directory");
    let output = command.current_dir(dir.path()).output();
    let output = output.expect("csmith is installed");
    assert!(output.status.success(), "csmith --seed {seed}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let text = text.replace("#include \"csmith.h\"", HEADER);
    assert!(text.contains("crc32_context"), "{text}");
    text
}

/// The program for a seed.
pub fn program(seed: u32) -> Case {
    lift_with("clang-19", "main.c", &[], &text(seed))
}
