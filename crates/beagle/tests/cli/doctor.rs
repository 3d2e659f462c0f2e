//! `beagle doctor`.

use crate::support::{BEAGLE, Ran, Scratch};

/// Runs it where only these commands can be found.
fn doctor(commands: &[&str]) -> Ran {
    let scratch = Scratch::new();
    for command in commands {
        scratch.write(&format!("bin/{command}"), "");
    }
    let mut beagle = scratch.command(BEAGLE);
    scratch.ran(beagle.arg("doctor").env("PATH", scratch.path("bin")))
}

/// The line about a package.
fn line<'a>(ran: &'a Ran, package: &str) -> &'a str {
    let mut lines = ran.stdout.lines();
    let about = |line: &&str| line.split_whitespace().nth(1) == Some(package);
    lines.find(about).unwrap_or_else(|| panic!("{ran}"))
}

#[test]
fn a_missing_compiler_is_named_with_its_purpose_and_how_to_get_it() {
    let ran = doctor(&["ld.lld-19", "llvm-link-19", "git", "make"]).exits(1);
    assert_eq!(ran.stderr, "");
    assert_eq!(
        line(&ran, "clang-19").trim(),
        "missing  clang-19             compiles the programs under test, natively and to bitcode"
    );
    assert!(line(&ran, "git").starts_with("     ok  "), "{ran}");
    let last = ran.stdout.lines().last().unwrap();
    assert!(last.contains("apt-get install clang-19"), "{ran}");
    assert!(!last.contains("csmith"), "{ran}");
}

#[test]
fn what_only_developers_need_is_no_failure() {
    let ran = doctor(&["clang-19", "ld.lld-19", "llvm-link-19", "git", "make"]).exits(0);
    let about = line(&ran, "cmake");
    assert!(about.starts_with("missing  "), "{ran}");
    assert!(
        about.ends_with("(only to build or test Beagle itself)"),
        "{ran}"
    );
    let last = ran.stdout.lines().last().unwrap();
    assert!(
        last.starts_with("Everything is there to use Beagle."),
        "{ran}"
    );
}

#[test]
fn here_everything_is_there() {
    let ran = Scratch::new().beagle("doctor").exits(0);
    assert!(ran.stdout.contains("Everything is there"), "{ran}");
}
