//! Saved tests, run again.

use std::path::{Path, PathBuf};

use beagle_trace::Input;
use beagle_verdict::saved::{self, Saved};
use beagle_verdict::{Judge, KeeperCommand, Setting, Verdict, Version};

use crate::support::{BEAGLE, Scratch};

const OLD: &str = "#include <stdio.h>\n\
    int main(int argc, char **argv) { return printf(\"%d\\n\", argc > 1 && argv[1][0] == 'x') < 0; }\n";

/// A directory with two versions and a saved test on which they differ.
fn saved() -> Scratch {
    let scratch = Scratch::with(&[
        ("old.c", OLD),
        ("new.c", &OLD.replace("%d", "[%d]")),
        ("other.c", &OLD.replace("%d", "<%d>")),
    ]);
    scratch.sh("clang-19 old.c -o old; clang-19 new.c -o new");
    let version = |name: &str| Version {
        label: name.to_owned(),
        plain: scratch.path(name),
        sanitized: None,
    };
    let keeper = KeeperCommand {
        program: PathBuf::from(BEAGLE),
        ..KeeperCommand::of_this_executable().unwrap()
    };
    let setting = Setting::new(keeper, "old");
    let mut judge = Judge::new(version("old"), version("new"), None, setting).unwrap();
    let input = Input::from_args("old", ["x"]).with_stdin("");
    let Verdict::Different(difference) = judge.judge(&input).unwrap() else {
        panic!("the versions differ");
    };
    let test = Saved::of_difference(&input, &difference, "");
    saved::save(Path::new(&scratch.path("tests")), &test).unwrap();
    scratch
}

#[test]
fn a_version_is_held_against_what_was_saved() {
    let scratch = saved();
    let ran = scratch.beagle("replay tests old.c").exits(0);
    assert!(ran.stdout.contains("does what old did"), "{ran}");
    let ran = scratch.beagle("replay tests new.c").exits(1);
    assert!(ran.stdout.contains("does what new did: stdout"), "{ran}");
    let ran = scratch.beagle("replay tests other.c").exits(1);
    assert!(ran.stdout.contains("does neither"), "{ran}");
}

#[test]
fn two_versions_are_held_against_each_other() {
    let scratch = saved();
    let ran = scratch.beagle("replay tests old.c other.c").exits(1);
    assert!(ran.stdout.contains("differs: stdout"), "{ran}");
    let test = scratch.sh("ls -d tests/*").trim().to_owned();
    let ran = scratch
        .beagle(&format!("replay {test} new.c new.c"))
        .exits(0);
    assert!(ran.stdout.contains("Exit status 0: no difference"), "{ran}");
    let ran = scratch
        .beagle("replay tests old.c new.c --format json")
        .exits(1);
    assert!(ran.stdout.contains("\"outcome\": \"different\""), "{ran}");
}

#[test]
fn what_is_no_test_is_refused() {
    let scratch = Scratch::with(&[("a.c", OLD), ("empty/x", "")]);
    for dir in ["empty", "none"] {
        let ran = scratch.beagle(&format!("replay {dir} a.c")).exits(2);
        assert!(ran.stderr.contains("hint: "), "{ran}");
    }
}
