//! What a user reads first.

use insta::assert_snapshot;

use crate::support::Scratch;

#[test]
fn help_fits_and_has_examples() {
    let scratch = Scratch::new();
    assert_snapshot!("help", scratch.beagle("--help").exits(0).stdout);
    assert_snapshot!(
        "help_changes",
        scratch.beagle("changes --help").exits(0).stdout
    );
    for line in [
        "--help",
        "changes --help",
        "help changes",
        "help cc",
        "doctor -h",
    ] {
        let ran = scratch.beagle(line).exits(0);
        assert_eq!(ran.stderr, "");
        for line in ran.stdout.lines() {
            assert!(line.chars().count() <= 100, "too long: {line}");
        }
    }
}

#[test]
fn without_a_command_the_help_is_shown() {
    let ran = Scratch::new().beagle("").exits(2);
    assert!(
        ran.stderr.contains("Usage: beagle [OPTIONS] <COMMAND>"),
        "{ran}"
    );
}

#[test]
fn the_version_is_that_of_the_package() {
    let ran = Scratch::new().beagle("--version").exits(0);
    assert_eq!(
        ran.stdout,
        concat!("beagle ", env!("CARGO_PKG_VERSION"), "\n")
    );
}
