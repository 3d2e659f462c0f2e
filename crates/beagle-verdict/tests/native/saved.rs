//! From a difference to a small input to a test on disk, and back.

use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use beagle_trace::Input;
use beagle_verdict::saved::{Kept, Saved, load, load_all, save};
use beagle_verdict::{Budget, Class, Error, minimise};

use crate::support::{Pair, compile, pair, pair_with, setting};

/// Prints everything it is given; the new version stumbles over an `x` after a `-`.
const ECHO: &str = r#"#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    for (int i = 0; i < argc; i++) {
        if (NEW && i && argv[i][0] == '-' && argv[i][1] == 'x') return 4;
        printf("[%s]", argv[i]);
    }
    printf(" %s", getenv("COLOUR") ? getenv("COLOUR") : "none");
    int c; while ((c = getchar()) != EOF) printf(" %02x", c);
    FILE *f = fopen("sub dir/it's", "r");
    if (f) { while ((c = getc(f)) != EOF) printf(" %02x", c); }
    puts("");
    f = fopen("made", "w"); if (f) { fputs("out", f); fclose(f); }
    return 3;
}"#;

fn echo() -> Pair {
    pair(&ECHO.replace("NEW", "0"), &ECHO.replace("NEW", "1"))
}

#[test]
fn an_input_is_minimised_to_what_shows_the_same_difference() {
    let mut pair = echo();
    let input = Input::from_args("prog", ["first", "-xyz", "last"])
        .with_stdin("some text")
        .with_env("COLOUR", "red");
    let found = pair.difference(&input);
    assert_eq!(found.signature, "output/exit+stdout+files/exit 3>exit 4");
    let budget = Budget::default();
    let small = minimise(&input, &[], &budget, |input| {
        pair.judge.still_shows(input, &found)
    })
    .unwrap();
    // It would be smaller with no difference in standard output, but that is another one.
    assert_eq!(small, Input::from_args("prog", ["-x"]).with_stdin(""));
    assert_eq!(pair.difference(&small).signature, found.signature);
}

/// An input with everything that is hard to write down.
fn awkward() -> Input {
    Input::from_args(
        "prog",
        [
            b"-x".to_vec(),
            b"it's \"$HOME\" \\n `id`\n".to_vec(),
            b"\xff\xfe".to_vec(),
            Vec::new(),
        ],
    )
    .with_env("COLOUR", *b"re\xffd 'x'")
    .with_stdin(*b"a\0b\xff\n")
    .with_file("sub dir/it's", *b"\0\x01\xff")
}

fn without_time(mut test: Saved) -> Saved {
    test.old.time = Duration::ZERO;
    test.new.time = Duration::ZERO;
    test
}

fn awkward_test(pair: &mut Pair) -> Saved {
    let input = awkward();
    let found = pair.difference(&input);
    Saved::of_difference(&input, &found, "echo.c:5")
}

#[test]
fn a_test_survives_whatever_its_bytes_are() {
    let mut pair = echo();
    let mut test = awkward_test(&mut pair);
    let value = std::ffi::OsString::from_vec(b"\xff=".to_vec());
    test.environment = vec![("OTHER".into(), value)];
    let dir = tempfile::TempDir::new().unwrap();
    let Kept::New(path) = save(dir.path(), &test).unwrap() else {
        panic!("not new");
    };
    assert_eq!(path, dir.path().join("0001-output"));
    let loaded = load(&path).unwrap();
    assert_eq!(loaded, without_time(test));
    assert_eq!(loaded.difference_class(), Some(Class::Output));
    let again = pair.quick(&loaded.input).new;
    assert!(!pair.judge.compare(&again, &loaded.new).any());
    assert!(pair.judge.compare(&again, &loaded.old).any());
}

fn repro(script: &Path, program: &Path) -> (Option<i32>, Vec<u8>, String) {
    let output = Command::new(script).arg(program).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), output.stdout, stderr)
}

#[test]
fn the_script_does_what_was_seen() {
    let mut pair = echo();
    let test = awkward_test(&mut pair);
    let dir = tempfile::TempDir::with_prefix("it's a test ").unwrap();
    let Kept::New(path) = save(dir.path(), &test).unwrap() else {
        panic!("not new");
    };
    let script = path.join("repro.sh");
    let (status, stdout, stderr) = repro(&script, &pair.dir.path().join("old"));
    assert_eq!(status, Some(3), "{stderr}");
    assert_eq!(stdout, test.old.stdout.bytes);
    assert_eq!(stderr, "exit status: 3\n");
    let (status, stdout, _) = repro(&script, &pair.dir.path().join("new"));
    assert_eq!((status, stdout), (Some(4), test.new.stdout.bytes));
    let usage = Command::new(&script)
        .env_remove("PROGRAM")
        .output()
        .unwrap();
    assert_eq!(usage.status.code(), Some(2));
}

#[test]
fn a_fixture_goes_with_its_test() {
    let fixture = tempfile::TempDir::new().unwrap();
    std::fs::create_dir(fixture.path().join("data")).unwrap();
    std::fs::write(fixture.path().join("data/file"), "content").unwrap();
    std::os::unix::fs::symlink("data", fixture.path().join("link")).unwrap();
    let source = |number| {
        format!(
            "#include <stdio.h>\nint main(void) {{ char b[9] = {{0}}; FILE *f = fopen(\"link/file\", \"r\"); fread(b, 1, 8, f); printf(\"%s{number}\", b); }}"
        )
    };
    let mut setting = setting();
    setting.fixture = Some(fixture.path().to_owned());
    let mut pair = pair_with(&source(1), &source(2), setting);
    let input = Input::from_args("prog", [""; 0]);
    let found = pair.difference(&input);
    let mut test = Saved::of_difference(&input, &found, "");
    test.fixture = Some(fixture.path().to_owned());
    let dir = tempfile::TempDir::new().unwrap();
    let Kept::New(path) = save(dir.path(), &test).unwrap() else {
        panic!("not new");
    };
    let (_, stdout, stderr) = repro(&path.join("repro.sh"), &pair.dir.path().join("new"));
    assert_eq!(stdout, b"content2", "{stderr}");
    assert_eq!(load(&path).unwrap().fixture, Some(path.join("fixture")));
}

#[test]
fn nothing_is_overwritten_and_nothing_saved_twice() {
    let mut pair = echo();
    let dir = tempfile::TempDir::new().unwrap();
    std::fs::create_dir(dir.path().join("0007-mine")).unwrap();
    std::fs::write(dir.path().join("notes"), "").unwrap();
    let test = awkward_test(&mut pair);
    let first = save(dir.path(), &test).unwrap();
    let path = dir.path().join("0008-output");
    assert_eq!(first, Kept::New(path.clone()));
    assert_eq!(save(dir.path(), &test).unwrap(), Kept::Known(path.clone()));
    let input = Input::from_args("prog", ["-x"]);
    let found = pair.difference(&input);
    let other = Saved::of_difference(&input, &found, "");
    let second = dir.path().join("0009-output");
    assert_eq!(save(dir.path(), &other).unwrap(), Kept::New(second.clone()));
    let all: Vec<_> = load_all(dir.path())
        .unwrap()
        .into_iter()
        .map(|(path, _)| path)
        .collect();
    assert_eq!(all, [path, second]);
    // Nothing else is left behind.
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 4);
}

#[test]
fn what_is_no_test_is_said_to_be_none() {
    let dir = tempfile::TempDir::new().unwrap();
    std::fs::write(dir.path().join("test.json"), "{}").unwrap();
    let error = load(dir.path()).unwrap_err();
    assert!(matches!(error, Error::NotATest { .. }), "{error}");
    assert!(error.to_string().ends_with("test.json is not a saved test"));
}

#[test]
fn an_input_on_which_both_agree_is_a_test_too() {
    let mut pair = echo();
    let input = Input::from_args("prog", ["a"]);
    let seen = pair.quick(&input);
    let test = Saved::of_same(&input, &seen.old, &seen.new, "new branch");
    let dir = tempfile::TempDir::new().unwrap();
    let path = dir.path().join("0001-same");
    assert_eq!(save(dir.path(), &test).unwrap(), Kept::New(path.clone()));
    assert_eq!(load(&path).unwrap().difference_class(), None);
    // A version that does something else is seen to.
    let third = compile(
        pair.dir.path(),
        "third",
        "int main(void) { return 9; }",
        &[],
    );
    let (status, _, _) = repro(&path.join("repro.sh"), &third);
    assert_eq!(status, Some(9));
}
