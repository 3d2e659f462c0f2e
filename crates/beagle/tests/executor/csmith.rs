//! Random programs by csmith behave as natively, and what is recorded of them is right.

use std::fmt::Write;
use std::process::Command;

use beagle_trace::Limits;
use tempfile::TempDir;

use crate::support::{Traced, args};

/// Stands in for csmith's own headers, which Debian does not install. Arithmetic is defined for all
/// operands, so that every compiler must agree on what a program does.
fn header() -> String {
    let mut text = String::from(
        r#"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
static uint32_t crc32_context = 0xFFFFFFFFu;
static void platform_main_begin(void) {}
static void platform_main_end(uint32_t crc, int flag) { (void)flag; printf("checksum %x\n", crc); }
static void crc32_gentab(void) {}
static void transparent_crc(uint64_t value, const char *name, int flag) {
    (void)name; (void)flag;
    crc32_context = crc32_context * 31 + (uint32_t)value + (uint32_t)(value >> 32);
}
static void transparent_crc_bytes(const void *bytes, int count, const char *name, int flag) {
    for (int i = 0; i < count; i++)
        transparent_crc(((const unsigned char *)bytes)[i], name, flag);
}
"#,
    );
    for bits in [8, 16, 32, 64] {
        for (ty, s) in [
            (format!("int{bits}_t"), "s"),
            (format!("uint{bits}_t"), "u"),
        ] {
            for (name, op) in [("add", '+'), ("sub", '-'), ("mul", '*')] {
                let _ = writeln!(
                    text,
                    "static {ty} safe_{name}_func_{ty}_{s}_{s}({ty} a, {ty} b) {{ return ({ty})((uint64_t)a {op} (uint64_t)b); }}"
                );
            }
            for (name, op) in [("div", '/'), ("mod", '%')] {
                let _ = writeln!(
                    text,
                    "static {ty} safe_{name}_func_{ty}_{s}_{s}({ty} a, {ty} b) {{ return b == 0 || (b == ({ty})-1 && ({ty})-1 < 0) ? a : ({ty})(a {op} b); }}"
                );
            }
            let _ = writeln!(
                text,
                "static {ty} safe_unary_minus_func_{ty}_{s}({ty} a) {{ return ({ty})-(uint64_t)a; }}"
            );
            for (r, right) in [("s", "int"), ("u", "unsigned")] {
                let _ = writeln!(
                    text,
                    "static {ty} safe_lshift_func_{ty}_{s}_{r}({ty} a, {right} b) {{ return (unsigned)b >= {bits} ? a : ({ty})((uint64_t)a << b); }}"
                );
                let _ = writeln!(
                    text,
                    "static {ty} safe_rshift_func_{ty}_{s}_{r}({ty} a, {right} b) {{ return (unsigned)b >= {bits} ? a : ({ty})(a >> b); }}"
                );
            }
        }
    }
    text
}

/// The program for a seed. Some of its global variables get their values from the first argument.
fn program(seed: u64) -> String {
    let dir = TempDir::new().expect("temporary directory");
    let output = Command::new("csmith")
        .args(["--seed", &seed.to_string(), "--no-argc", "--max-funcs", "5"])
        .args(["--max-block-depth", "3", "--concise"])
        .current_dir(dir.path())
        .output()
        .expect("csmith is installed");
    assert!(output.status.success(), "csmith --seed {seed}");
    let text = String::from_utf8_lossy(&output.stdout);
    let text = text.replace("#include \"csmith.h\"", &header());
    let text = text.replacen("int main (void)", "int main (int argc, char **argv)", 1);
    let start = "crc32_gentab();";
    let at = text
        .rfind(start)
        .expect("csmith's programs start with the checksum");
    format!(
        "{}if (argc > 1) {{ {} }} {}",
        &text[..at],
        symbolic(&text),
        &text[at..]
    )
}

/// Assignments of input bytes to the first plain global integers.
fn symbolic(text: &str) -> String {
    let mut made = String::new();
    for line in text.lines().filter(|l| l.starts_with("static ")) {
        let mut words = line.split_whitespace();
        let (_, ty, name) = (words.next(), words.next(), words.next());
        if let (Some(ty), Some(name)) = (ty, name)
            && (ty.starts_with("int") || ty.starts_with("uint"))
            && name.starts_with("g_")
            && words.next() == Some("=")
            && made.matches(';').count() < 4
        {
            made.push_str(&format!("{name} ^= argv[1][0];"));
        }
    }
    made
}

/// Runs the programs of these seeds; gives how many ran to their end natively and how many
/// conditions depended on the input.
pub fn run(seeds: impl Iterator<Item = u64>) -> (usize, usize) {
    let (mut ended, mut conditions) = (0, 0);
    for seed in seeds {
        let text = program(seed);
        let dir = TempDir::new().expect("temporary directory");
        let file = dir.path().join("program.c");
        std::fs::write(&file, &text).expect("source");
        // For a look at a program that fails.
        if let Some(kept) = std::env::var_os("CSMITH_KEEP") {
            std::fs::write(kept, &text).expect("source");
        }
        // Some of csmith's programs do not end, and some are no longer defined when globals that it
        // takes to be constant depend on the input: compilers differ on them, too.
        let quick = dir.path().join("quick");
        let built = Command::new("clang-19")
            .args(["-O1", "-w", "-fsanitize=address,undefined"])
            .args(["-fno-sanitize-recover=all", "-o"])
            .args([&quick, &file])
            .status()
            .expect("clang runs");
        assert!(built.success(), "csmith --seed {seed} compiles");
        let ends = Command::new("timeout")
            .arg("4")
            .arg(&quick)
            .arg("a")
            .output()
            .expect("runs");
        if !ends.status.success() {
            continue;
        }
        let config = beagle_build::Config {
            cflags: vec!["-w".into()],
            ..Default::default()
        };
        let mut traced = Traced::path(&file, &config);
        let native = crate::support::native(&traced.built.program, &args(&["a"]));
        let limits = Limits {
            time: std::time::Duration::from_secs(60),
            ..Limits::default()
        };
        let (done, _, report) = traced.run(&args(&["a"]), &limits);
        assert_eq!(done, native, "csmith --seed {seed}");
        assert!(report.is_ok(), "csmith --seed {seed}: {report}");
        ended += 1;
        conditions += report.conditions;
    }
    (ended, conditions)
}

#[test]
fn random_programs_behave_as_natively() {
    // More with CSMITH_SEEDS=300, from another seed on with CSMITH_FIRST.
    let count = std::env::var("CSMITH_SEEDS").ok();
    let count = count.and_then(|n| n.parse().ok()).unwrap_or(12);
    let first = std::env::var("CSMITH_FIRST").ok();
    let first = first.and_then(|n| n.parse().ok()).unwrap_or(1);
    let (ended, conditions) = run(first..first + count);
    eprintln!("{ended} of {count} programs, {conditions} conditions");
    assert!(ended as u64 * 3 > count, "{ended} of {count} programs end");
    assert!(
        conditions > 0,
        "{conditions} conditions depend on the input"
    );
}
