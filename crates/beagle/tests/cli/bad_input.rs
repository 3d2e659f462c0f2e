//! Bad input: each has a cause of one line, a hint, nothing on stdout, and exit code 2 or 3.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use insta::assert_snapshot;

use crate::git::repository;
use crate::support::{BEAGLE, Scratch};

const MAIN: &str = "int main(int argc, char **argv) { return argc; }\n";

#[test]
fn not_a_repository() {
    let ran = Scratch::new().beagle("changes v1 v2");
    assert_snapshot!(ran.fails(2));
}

#[test]
fn an_unknown_revision() {
    let ran = repository().beagle_in("repo", "changes v1 v3");
    assert_snapshot!(ran.fails(2));
}

#[test]
fn a_repository_without_commits() {
    let scratch = Scratch::with(&[("main.c", MAIN)]);
    scratch.sh("git init -q");
    assert_snapshot!(scratch.beagle("changes HEAD .").fails(2));
}

#[test]
fn no_git() {
    let scratch = repository();
    let mut command = scratch.command(BEAGLE);
    let ran = scratch.ran(
        command
            .args(["changes", "v1", "v2", "-q"])
            .current_dir(scratch.path("repo"))
            .env("PATH", scratch.path("nowhere")),
    );
    assert_snapshot!(ran.fails(2));
}

#[test]
fn words_that_are_not_text() {
    let scratch = Scratch::with(&[("a.c", MAIN)]);
    let mut command = scratch.command(BEAGLE);
    let ran = scratch.ran(
        command
            .args(["changes", "a.c"])
            .arg(OsStr::from_bytes(b"\xff.c")),
    );
    assert_snapshot!(ran.fails(2));
}

#[test]
fn a_file_that_is_not_there() {
    let scratch = Scratch::with(&[("new.c", MAIN)]);
    assert_snapshot!(scratch.beagle("changes old.c new.c").fails(2));
    assert_snapshot!(scratch.beagle("changes '' new.c").fails(2));
}

#[test]
fn missing_and_surplus_arguments() {
    let scratch = Scratch::new();
    assert_snapshot!(scratch.beagle("changes").fails(2));
    assert_snapshot!(scratch.beagle("changes old.c").fails(2));
    assert_snapshot!(scratch.beagle("changes a.c b.c c.c").fails(2));
}

#[test]
fn unknown_commands_options_and_values() {
    let scratch = Scratch::new();
    assert_snapshot!(scratch.beagle("change a.c b.c").fails(2));
    assert_snapshot!(scratch.beagle("changes a.c b.c --cflag=-O2").fails(2));
    assert_snapshot!(scratch.beagle("changes a.c b.c --format xml").fails(2));
    assert_snapshot!(scratch.beagle("changes a.c b.c --program").fails(2));
}

#[test]
fn flags_with_unbalanced_quotes() {
    let scratch = Scratch::with(&[("a.c", MAIN)]);
    assert_snapshot!(
        scratch
            .beagle(r#"changes a.c a.c --cflags "-DX='""#)
            .fails(2)
    );
}

#[test]
fn a_file_that_does_not_compile() {
    let scratch = Scratch::with(&[
        ("old.c", MAIN),
        (
            "new.c",
            "int main(int argc, char **argv)\n{\n    return arg + 1;\n}\n",
        ),
    ]);
    let ran = scratch.beagle("changes old.c new.c -q").fails(3);
    assert_snapshot!(ran);
    assert_log_has(&ran.stderr, &scratch, "return arg + 1;");
}

/// The log that the hint names exists and has this text.
#[track_caller]
fn assert_log_has(stderr: &str, scratch: &Scratch, text: &str) {
    assert!(
        stderr.contains("log is in [TMP]/cache/logs/[KEY].log"),
        "{stderr}"
    );
    let found = scratch.sh(&format!("grep -lr '{text}' \"$BEAGLE_CACHE/logs\""));
    assert!(!found.is_empty());
}

#[test]
fn a_build_that_fails() {
    let scratch = Scratch::with(&[
        ("old/Makefile", "tool: main.c\n\t$(CC) -o $@ main.c\n"),
        ("old/main.c", MAIN),
        (
            "new/Makefile",
            "tool: main.c\n\t$(CC) -o $@ main.c helper.c\n",
        ),
        ("new/main.c", MAIN),
        ("new/helper.c", "#include \"helper.h\"\n"),
    ]);
    let ran = scratch.beagle("changes old new -q").fails(3);
    assert_snapshot!(ran);
    assert_log_has(&ran.stderr, &scratch, "helper.h");
}

#[test]
fn a_build_command_that_does_not_exist() {
    let scratch = Scratch::with(&[("d/main.c", MAIN)]);
    let ran = scratch.beagle("changes d d -q --build no-such-command --program x");
    assert_snapshot!(ran.fails(3));
}

#[test]
fn a_revision_that_does_not_build_is_named() {
    let scratch = repository();
    scratch.write("repo/lib/area.c", "int area(int a, int b) { return a }\n");
    scratch.sh("cd repo && git commit -q -a -m broken && git tag v3");
    let ran = scratch.beagle_in("repo", "changes v2 v3 -q").fails(3);
    assert!(ran.stderr.starts_with("error: v3 ("), "{ran}");
    assert!(
        ran.stderr
            .contains("does not build: lib/area.c:1:34: error: expected ';'"),
        "{ran}"
    );
}

#[test]
fn a_program_that_is_missing_after_the_build() {
    let scratch = Scratch::with(&[("d/main.c", MAIN)]);
    let build = "--build '$CC main.c -o one && cp one two'";
    assert_snapshot!(
        scratch
            .beagle(&format!("changes d d -q {build} --program three"))
            .fails(3)
    );
    assert_snapshot!(scratch.beagle(&format!("changes d d -q {build}")).fails(2));
    assert_snapshot!(
        scratch
            .beagle("changes d d -q --build true --program three")
            .fails(3)
    );
}

#[test]
fn a_program_that_another_compiler_made() {
    let scratch = Scratch::with(&[("d/main.c", MAIN)]);
    let ran = scratch.beagle("changes d d -q --build 'cc main.c -o p' --program p");
    assert_snapshot!(ran.fails(3));
}

#[test]
fn a_directory_without_a_program() {
    let scratch = Scratch::with(&[("d/notes.txt", "x"), ("e/a.c", MAIN), ("e/b.c", MAIN)]);
    assert_snapshot!(scratch.beagle("changes d d -q").fails(2));
    assert_snapshot!(scratch.beagle("changes e e -q").fails(2));
}

#[test]
fn not_a_c_program() {
    let scratch = Scratch::with(&[("a.c", MAIN), ("notes.txt", "Some notes.\n")]);
    assert_snapshot!(scratch.beagle("changes a.c notes.txt -q").fails(2));
    scratch.sh("cp /bin/true tool && cp /bin/true tool.c");
    scratch.beagle("changes a.c tool").fails(2);
    assert_snapshot!(scratch.beagle("changes a.c tool.c -q").fails(2));
    scratch.write("prose.c", "This is not a program.\n");
    assert_snapshot!(scratch.beagle("changes a.c prose.c -q").fails(3));
}

#[test]
fn an_empty_file() {
    let scratch = Scratch::with(&[("old.c", MAIN), ("new.c", "")]);
    assert_snapshot!(scratch.beagle("changes old.c new.c -q").fails(3));
}

#[test]
fn a_file_without_main() {
    let scratch = Scratch::with(&[
        ("old.c", MAIN),
        ("new.c", "int helper(void) { return 1; }\n"),
    ]);
    assert_snapshot!(scratch.beagle("changes old.c new.c -q").fails(3));
}

#[test]
fn a_file_that_is_only_a_part_of_a_program() {
    let scratch = Scratch::with(&[
        (
            "part.c",
            "int other(void); int main(void) { return other(); }\n",
        ),
        ("other.c", "int other(void) { return 3; }\n"),
    ]);
    let ran = scratch.beagle("changes part.c part.c -q").fails(3);
    let first = ran.stderr.lines().next().unwrap();
    assert!(first.ends_with("undefined reference to `other'"), "{ran}");
    let last = ran.stderr.lines().last().unwrap();
    assert!(
        last.starts_with("hint: a .c file is compiled by itself; "),
        "{ran}"
    );
    // As the hint says.
    scratch
        .beagle("changes part.c part.c --ldflags other.c")
        .exits(0);
}

#[test]
fn a_file_that_cannot_be_read() {
    let scratch = Scratch::with(&[("old.c", MAIN)]);
    // Not even root can read this one.
    scratch.sh("ln -s /proc/self/mem new.c");
    assert_snapshot!(scratch.beagle("changes old.c new.c -q").fails(3));
}

#[test]
fn a_cache_that_cannot_be_written() {
    let scratch = Scratch::with(&[("a.c", MAIN), ("file", "")]);
    let mut command = scratch.command(BEAGLE);
    let ran = scratch.ran(
        command
            .args(["changes", "a.c", "a.c", "-q"])
            .env("BEAGLE_CACHE", scratch.path("file/cache")),
    );
    assert_snapshot!(ran.fails(2));
}

#[test]
fn a_configuration_that_cannot_be_used() {
    let scratch = Scratch::with(&[("a.c", MAIN)]);
    scratch.write("beagle.toml", "build = 'make'\nprogramm = 'x'\n");
    assert_snapshot!(scratch.beagle("changes a.c a.c -q").fails(2));
    scratch.write("beagle.toml", "build = 'make\n");
    assert_snapshot!(scratch.beagle("changes a.c a.c -q").fails(2));
    scratch.write("beagle.toml", "build = 3\n");
    assert_snapshot!(scratch.beagle("changes a.c a.c -q").fails(2));
    scratch.write("beagle.toml", b"build = '\xff'\n");
    assert_snapshot!(scratch.beagle("changes a.c a.c -q").fails(2));
}

#[test]
fn bitcode_of_another_llvm() {
    // The Rust compiler brings a newer LLVM of its own, whichever that is.
    let scratch = Scratch::with(&[("d/main.c", MAIN), ("x.rs", "")]);
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = scratch.command(rustc);
    // As it is found by those who run the tests.
    if let Some(home) = std::env::var_os("HOME") {
        command.env("HOME", home);
    }
    let args = ["--crate-type=lib", "--emit=llvm-bc", "x.rs", "-o", "d/x.bc"];
    scratch.ran(command.args(args)).exits(0);
    let build = "--build '$CC main.c -o p && objcopy --update-section .beagle.bc=x.bc p'";
    let ran = scratch
        .beagle(&format!("changes d d -q {build} --program p"))
        .fails(3);
    let version = |text: &str| {
        let at = text.find("LLVM2").unwrap();
        let length = text[at..].find(',').unwrap();
        text.replace(&text[at..at + length], "[LLVM]")
    };
    assert_snapshot!(version(&ran.to_string()));
}
