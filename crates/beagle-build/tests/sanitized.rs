//! `build_sanitized`: the same build, with sanitizers.

// A test that cannot go on should panic.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use beagle_build::{BuildError, Config, Progress, VersionSpec, build_sanitized, carried};
use common::Scratch;

/// Reads one past a buffer, or overflows, or goes well.
const FAULTY: &str = r#"
#include <limits.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    char *text = malloc(4);
    text[0] = 1;
    if (argc == 2) return text[3 + argc - 1] == 77;
    if (argc == 3) return (INT_MAX - 2 + argc) == 5;
    free(text);
    return 0;
}
"#;

fn config(text: &str) -> Config {
    Config::parse(text, Path::new("beagle.toml")).unwrap()
}

fn sanitized(dir: &Scratch, text: &str, config: &Config) -> Result<(PathBuf, bool), BuildError> {
    let spec = VersionSpec::parse(text, &dir.path("."))?;
    let mut cached = false;
    let program = build_sanitized(&spec, config, &dir.cache(), &mut |step| {
        cached |= matches!(step, Progress::Cached { .. });
    })?;
    Ok((program, cached))
}

fn run(program: &Path, args: &[&str]) -> Output {
    let options = "detect_leaks=0";
    let mut command = Command::new(program);
    let command = command.args(args).env("ASAN_OPTIONS", options);
    command.output().unwrap()
}

fn assert_finds_faults(program: &Path) {
    assert!(run(program, &[]).status.success());
    let overflow = run(program, &["x"]);
    let text = String::from_utf8_lossy(&overflow.stderr).into_owned();
    assert!(text.contains("heap-buffer-overflow"), "{text}");
    // The report names the line, so there is debug information.
    assert!(text.contains("main.c:7"), "{text}");
    let undefined = run(program, &["x", "y"]);
    let text = String::from_utf8_lossy(&undefined.stderr).into_owned();
    assert!(text.contains("signed integer overflow"), "{text}");
    assert!(!undefined.status.success());
}

#[test]
fn a_single_file_gets_both_sanitizers_and_is_built_once() {
    let dir = Scratch::with(&[("main.c", FAULTY)]);
    let config = config("cflags = '-O1'");
    let (program, cached) = sanitized(&dir, "main.c", &config).unwrap();
    assert!(!cached);
    assert_finds_faults(&program);
    // Nobody pays for bitcode that nobody reads.
    assert!(carried(&program, None).unwrap().bitcode.is_none());
    let plain = dir.build("main.c", &config).unwrap();
    assert!(!plain.from_cache);
    assert_ne!(plain.program, program);
    assert!(carried(&plain.program, None).unwrap().bitcode.is_some());
    assert_eq!(sanitized(&dir, "main.c", &config).unwrap(), (program, true));
    assert!(dir.build("main.c", &config).unwrap().from_cache);
}

#[test]
fn a_build_compiles_and_links_with_sanitizers() {
    let makefile = "prog: main.o other.o\n\t$(CC) -o $@ $^\n%.o: %.c\n\t$(CC) -O2 -c -o $@ $<\n";
    let dir = Scratch::with(&[
        ("p/main.c", FAULTY),
        ("p/other.c", "int other;\n"),
        ("p/Makefile", makefile),
    ]);
    let (program, _) = sanitized(&dir, "p", &Config::default()).unwrap();
    assert!(program.ends_with("tree/prog"), "{}", program.display());
    assert_finds_faults(&program);
}

#[test]
fn a_stripped_program_is_found_too() {
    let makefile = "prog: main.c\n\t$(CC) main.c -o prog\n\tstrip prog\n";
    let dir = Scratch::with(&[("p/main.c", FAULTY), ("p/Makefile", makefile)]);
    let (program, _) = sanitized(&dir, "p", &Config::default()).unwrap();
    assert!(program.ends_with("tree/prog"), "{}", program.display());
}

#[test]
fn programs_that_run_during_the_build_may_leak_and_checks_find_what_they_always_find() {
    // The check overflows on purpose, as configure scripts do to see what happens.
    let check = "#include <limits.h>\nint main(int c, char **v) { return INT_MAX + c > 0; }\n";
    let generator = "#include <stdio.h>\n#include <stdlib.h>\n\
        int main(void) { char *volatile p = malloc(9); p = 0; puts(\"#define OK 1\"); return 0; }\n";
    let makefile = "prog: main.c gen.c\n\
        \t$(CC) -fwrapv conftest.c -o conftest && ./conftest\n\
        \trm conftest\n\
        \t$(CC) gen.c -o gen && ./gen > gen.h\n\
        \trm gen\n\
        \t$(CC) -include gen.h main.c -o prog\n";
    let dir = Scratch::with(&[
        ("p/main.c", FAULTY),
        ("p/conftest.c", check),
        ("p/gen.c", generator),
        ("p/Makefile", makefile),
    ]);
    let (program, _) = sanitized(&dir, "p", &Config::default()).unwrap();
    assert_finds_faults(&program);
}

#[test]
fn what_cannot_be_sanitized_is_an_error_and_leaves_the_plain_build_alone() {
    let dir = Scratch::with(&[("main.c", FAULTY)]);
    let config = config("ldflags = '-static'");
    let error = sanitized(&dir, "main.c", &config).unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with("main.c with sanitizers does not build: "),
        "{text}"
    );
    assert!(dir.build("main.c", &config).is_ok());
}
