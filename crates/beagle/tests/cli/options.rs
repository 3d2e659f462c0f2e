//! Options that change what is printed and where.

use std::process::Stdio;

use insta::assert_snapshot;

use crate::support::{BEAGLE, Scratch};

fn pair() -> Scratch {
    let old = "int main(int argc, char **argv) { return argc; }\n";
    Scratch::with(&[("old.c", old), ("new.c", &old.replace("argc;", "1;"))])
}

#[test]
fn timings_are_phases_on_stderr_and_nothing_else_changes() {
    let scratch = pair();
    let plain = scratch.beagle("changes old.c new.c").exits(1);
    let timed = scratch.beagle("changes old.c new.c --timings -q").exits(1);
    assert_eq!(plain.stdout, timed.stdout);
    let (phases, ways) = timed.stderr.trim_end().rsplit_once('\n').unwrap();
    assert_snapshot!(ways, @"0 of 0 ways on from branches cannot lead to a change, 0 nor come from one");
    // Numbers differ each time.
    let phases = phases.lines().map(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        assert!(words[1].parse::<f64>().is_ok(), "{line}");
        format!("{} {}\n", words[0], words[2])
    });
    assert_snapshot!(phases.collect::<String>(), @r"
    build s
    lift s
    compare s
    influence s
    report s
    irrelevant s
    total s
    memory MiB
    ");
}

#[test]
fn quiet_is_silent_on_stderr() {
    let scratch = pair();
    for pair in ["old.c new.c", "old.c old.c"] {
        let ran = scratch.beagle(&format!("changes {pair} --quiet"));
        assert_eq!(ran.stderr, "");
        assert_ne!(ran.stdout, "");
    }
    // Also in front of the command; and what fails is said all the same.
    scratch.beagle("-q changes old.c nowhere.c").fails(2);
}

#[test]
fn colours_are_used_only_when_asked_for() {
    let scratch = pair();
    for line in [
        "changes old.c new.c",
        "changes old.c new.c --color never",
        "changes x y",
    ] {
        let ran = scratch.beagle(line);
        assert!(
            !ran.stdout.contains('\x1b') && !ran.stderr.contains('\x1b'),
            "{ran}"
        );
    }
    let ran = scratch.beagle("changes old.c new.c --color always");
    assert!(ran.stdout.contains("\x1b[31m-\x1b[0m"), "{ran}");
    assert!(ran.stderr.contains("\x1b[1m\x1b[32m"), "{ran}");
    let ran = scratch.beagle("changes x y --color=always");
    assert!(
        ran.stderr.starts_with("\x1b[1m\x1b[31merror\x1b[0m: "),
        "{ran}"
    );
    let json = scratch.beagle("changes old.c new.c --color always --format json -q");
    assert_eq!(json.json()["summary"]["changes"], 1);
    assert!(!json.stdout.contains('\x1b'));
}

#[test]
fn a_closed_pipe_is_no_reason_to_panic() {
    let scratch = pair();
    for format in ["human", "json"] {
        let mut child = scratch
            .command(BEAGLE)
            .args(["changes", "old.c", "new.c", "-q", "--format", format])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Closed before anything is written.
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        assert_eq!(output.status.code(), Some(141));
    }
    let first = scratch.sh("$BEAGLE changes old.c new.c | head -1");
    assert!(first.starts_with("  1  main()"), "{first}");
    scratch.sh("$BEAGLE doctor | true; $BEAGLE --help | true; $BEAGLE changes x y 2>&1 | true");
}

#[test]
fn closed_and_full_outputs_are_no_reason_to_panic() {
    let scratch = pair();
    let ran = scratch.ran(
        scratch
            .command("bash")
            .args(["-c", "$BEAGLE changes old.c new.c -q > /dev/full"]),
    );
    assert_snapshot!(ran.fails(2), @r"
    exit 2
    --- stderr
    error: cannot write the output: No space left on device (os error 28)
    hint: is there room where the output goes?
    ");
    let script = "$BEAGLE changes old.c new.c >&- 2>&-; test $? -lt 4; \
                  $BEAGLE changes old.c new.c 2>/dev/full >/dev/null; test $? = 1";
    scratch.sh(&format!("set +e; {script}"));
}
