//! Whole reports, as people read them.

use insta::assert_snapshot;

use crate::diff::{
    Aspect, Bytes, ChangeEntry, Class, DifferenceEntry, FaultEntry, FileEntry, GroupEntry,
    InputEntry, LineEntry, LossEntry, ObservedEntry, Reason, Report, StopEntry, StrategyEntry,
    UnstableEntry, Verdict,
};

fn input(args: &[&str], stdin: &str) -> InputEntry {
    InputEntry {
        args: args.iter().map(|arg| Bytes::from(*arg)).collect(),
        stdin: stdin.into(),
        ..InputEntry::default()
    }
}

fn exits(status: i32, stdout: impl Into<Bytes>, stderr: &str) -> ObservedEntry {
    ObservedEntry {
        exit: Some(status),
        stdout: stdout.into(),
        stderr: stderr.into(),
        ..ObservedEntry::default()
    }
}

fn change(id: usize, function: &str, line: u32, old: &str, new: &str) -> ChangeEntry {
    let lines = |text: &str| match text {
        "" => Vec::new(),
        text => vec![LineEntry {
            file: "src/fields.c".into(),
            line,
            text: format!("    {text}"),
        }],
    };
    ChangeEntry {
        id,
        file: "src/fields.c".into(),
        line,
        function: Some(function.into()),
        kind: "modified".into(),
        old_lines: lines(old),
        new_lines: lines(new),
        reached: true,
        infected: true,
        propagated: true,
        stopped_at: None,
    }
}

/// A report without differences.
fn empty() -> Report {
    Report {
        runs: 311,
        queries: 40,
        seconds: 1.53,
        seeds: 6,
        tests: None,
        changes: vec![change(
            1,
            "print_selected",
            118,
            "for (long i = lo; i <= hi; i++)",
            "for (long i = lo; i < hi; i++)",
        )],
        isolation: "no network, writing only in their own directory (landlock)".into(),
        ..Report::new("v1.4.0", "HEAD", "cut")
    }
}

/// Adds a difference that is a group of its own.
fn add(
    report: &mut Report,
    class: Class,
    title: &str,
    input: InputEntry,
    old: ObservedEntry,
    new: ObservedEntry,
) {
    let id = report.differences.len() + 1;
    report.verdict = Verdict::Different;
    report.seconds_to_first = Some(0.31);
    report.groups.push(GroupEntry {
        id,
        class,
        count: id as u64,
        title: title.into(),
        changes: vec![1],
        culprits: None,
        critical: None,
        explanation: None,
    });
    report.differences.push(DifferenceEntry {
        id,
        class,
        regression: class.regression(),
        aspects: vec![Aspect::Stdout],
        input,
        old,
        new,
        golden: None,
        changes: vec![1],
        group: id,
        saved: None,
        confirmed: 3,
    });
}

fn one(class: Class, title: &str, stdin: &str, old: ObservedEntry, new: ObservedEntry) -> Report {
    let mut report = empty();
    add(&mut report, class, title, input(&["-f1"], stdin), old, new);
    report
}

fn text(report: &Report) -> String {
    let text = report.text(100, "Exit status 1: differences");
    let plain = plain(&text);
    for line in plain.lines() {
        assert!(line.chars().count() <= 100, "too long: {line}");
        assert_eq!(line.trim_end(), line, "ends in spaces");
    }
    plain
}

/// The text without colours.
fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

#[test]
fn a_crash() {
    let crashed = ObservedEntry {
        signal: Some(11),
        stdout: "a\n".into(),
        fault: Some(FaultEntry {
            kind: "heap-buffer-overflow".into(),
            place: Some("src/fields.c:120".into()),
            function: Some("print_selected".into()),
            text: "==1==ERROR: AddressSanitizer".into(),
        }),
        ..ObservedEntry::default()
    };
    let old = exits(0, "a\n", "");
    let title = "new crashes in print_selected() with heap-buffer-overflow";
    let mut report = one(Class::Crash, title, "a\tb\n", old, crashed);
    report.saved = Some("tests".into());
    report.differences[0].saved = Some("tests/1".into());
    report.groups[0].count = 12;
    assert_snapshot!(text(&report));
}

#[test]
fn a_different_output_and_what_was_not_reached() {
    let old = exits(0, "1 one\n2 two\n3 three\n", "");
    let new = exits(1, "1 one\n3 three\n4 four\n", "");
    let mut report = one(Class::Output, "a line is missing", "x\n", old, new);
    report.reason = Reason::Timeout;
    report.changes.push(ChangeEntry {
        propagated: false,
        stopped_at: Some(StopEntry {
            file: "src/fields.c".into(),
            line: 64,
            why: "overwritten before it is used".into(),
        }),
        ..change(
            2,
            "parse",
            58,
            "",
            "if (*lo == 0) die(\"fields are numbered from 1\");",
        )
    });
    report.changes.push(ChangeEntry {
        infected: false,
        propagated: false,
        ..change(3, "usage", 20, "", "")
    });
    report.changes.push(ChangeEntry {
        reached: false,
        infected: false,
        propagated: false,
        ..change(4, "join", 97, "", "")
    });
    report.losses = vec![
        LossEntry {
            cause: "inline assembly".into(),
            count: 12,
        },
        LossEntry {
            cause: "long double".into(),
            count: 1,
        },
    ];
    report.notes = vec!["v1.4.0 could not be built with sanitizers; it runs without".into()];
    assert_snapshot!(text(&report));
}

#[test]
fn several_groups_with_only_a_message_and_a_fix() {
    let mut report = one(
        Class::Message,
        "another text on stderr",
        "",
        exits(1, "", "cut: invalid field\n"),
        exits(1, "", "cut: fields are numbered from 1\n"),
    );
    let old = ObservedEntry {
        signal: Some(6),
        ..ObservedEntry::default()
    };
    let files = [(Bytes::from("d/in put"), Bytes::from("it's\n"))].into();
    let input = InputEntry {
        env: [("LANG".into(), "C".into())].into(),
        files,
        ..input(&["-d", "'", "d/in put"], "")
    };
    add(
        &mut report,
        Class::Fix,
        "old crashes",
        input,
        old,
        exits(0, "x\n", ""),
    );
    assert_snapshot!(text(&report));
}

#[test]
fn a_program_that_does_not_end() {
    let hangs = ObservedEntry {
        timed_out: true,
        stdout: "y\ny\n".into(),
        stdout_cut: true,
        ..ObservedEntry::default()
    };
    let old = exits(0, "y\n", "");
    let mut report = one(Class::Hang, "new does not end", "y\n", old, hangs);
    report.reason = Reason::First;
    assert_snapshot!(text(&report));
}

#[test]
fn nothing_found() {
    let mut report = empty();
    report.reason = Reason::Timeout;
    report.changes[0].propagated = false;
    report.divergences = 4;
    report.missing = vec![
        "31 questions were not asked".into(),
        "12 values were not followed".into(),
    ];
    report.seconds = 60.2;
    assert_snapshot!(text(&report));
    report.reason = Reason::Interrupted;
    report.missing.clear();
    assert!(text(&report).contains("it was interrupted"));
}

#[test]
fn equivalent() {
    let mut report = empty();
    report.verdict = Verdict::Equivalent;
    report.changes[0].propagated = false;
    assert_snapshot!(text(&report));
    let report = Report {
        verdict: Verdict::Equivalent,
        reason: Reason::Unchanged,
        ..Report::new("a.c", "b.c", "a")
    };
    assert_snapshot!("unchanged", plain(&report.text(100, "")));
}

#[test]
fn binary_outputs() {
    let mut bytes: Vec<u8> = (0..=255).collect();
    let old = exits(0, bytes.clone(), "same\n");
    bytes[100] = b'!';
    bytes.truncate(120);
    let new = exits(0, bytes, "same\n");
    let mut report = one(Class::Output, "other bytes", "\u{1}\0\u{7f}-\n", old, new);
    report.differences[0].input.args = vec![Bytes(vec![0xff, b'\'']), "a\nb".into()];
    assert_snapshot!(text(&report));
}

#[test]
fn very_long_inputs_and_outputs() {
    let lines = |number: usize| -> String { (0..number).map(|n| format!("line {n}\n")).collect() };
    let long = "x".repeat(3000);
    let old = exits(0, lines(1000) + &long + "1\n" + &lines(50), "");
    let new = exits(0, lines(1000) + &long + "2\n" + &lines(40), "");
    let mut report = one(Class::Output, &long, &long, old, new);
    let lines = &mut report.changes[0].old_lines;
    *lines = vec![lines[0].clone(); 9];
    assert_snapshot!(text(&report));
}

#[test]
fn outputs_that_differ_after_what_is_kept_are_not_called_the_same() {
    let cut = |content: &str| ObservedEntry {
        stdout_cut: true,
        stderr_cut: true,
        files: [(
            "log".into(),
            FileEntry::Written {
                content: content.into(),
                cut: true,
                mode: 0o644,
            },
        )]
        .into(),
        ..exits(0, content, content)
    };
    let long = "line\n".repeat(20);
    let mut report = one(Class::Output, "stdout differs", "", cut(&long), cut(&long));
    report.differences[0].aspects = vec![Aspect::Stdout, Aspect::Files];
    let said = text(&report);
    let later = "the first 100 bytes are the same; the versions differ after them";
    assert!(said.contains(&format!("   stdout   {later}\n")), "{said}");
    assert!(
        said.contains(&format!("   file     log: {later}\n")),
        "{said}"
    );
    assert!(said.contains("   stderr   the same: \"line"), "{said}");
}

#[test]
fn classes_by_a_version_that_is_right() {
    let mut report = empty();
    report.golden = Some("v1.0".into());
    for (class, old, new, golden) in [
        (Class::Regression, "1\n", "2\n", "1\n"),
        (Class::IncompleteFix, "1\n", "2\n", "3\n"),
        (Class::Progression, "1\n", "2\n", "2\n"),
    ] {
        let (old, new) = (exits(0, old, ""), exits(0, new, ""));
        add(
            &mut report,
            class,
            "another number",
            input(&["-f1"], ""),
            old,
            new,
        );
        let last = report.differences.last_mut().expect("just added");
        last.golden = Some(exits(0, golden, ""));
    }
    assert_snapshot!(text(&report));
}

#[test]
fn runs_that_differ_from_each_other() {
    let mut report = empty();
    let entry = UnstableEntry {
        input: input(&["-t"], ""),
        version: "HEAD".into(),
        aspects: vec![Aspect::Stdout, Aspect::Exit],
        count: 7,
    };
    report.unstable = vec![entry; 4];
    assert_snapshot!(text(&report));
}

#[test]
fn files() {
    let written = |text: &str| FileEntry::Written {
        content: text.into(),
        cut: false,
        mode: 0o644,
    };
    let mut old = exits(0, "", "");
    old.files = [
        ("log".into(), written("one\ntwo\n")),
        ("same".into(), written("x")),
        ("tmp".into(), FileEntry::Directory { mode: 0o755 }),
    ]
    .into();
    let mut new = exits(0, "", "");
    new.files = [
        ("log".into(), written("one\n2\n")),
        ("same".into(), written("x")),
        (
            "link".into(),
            FileEntry::Link {
                target: "log".into(),
            },
        ),
        ("gone".into(), FileEntry::Deleted),
    ]
    .into();
    assert_snapshot!(text(&one(Class::Output, "other files", "", old, new)));
}

#[test]
fn many_groups_and_changes_are_listed_short() {
    let mut report = empty();
    for n in 2..=30 {
        report
            .changes
            .push(change(n, "function_with_a_long_name", n as u32, "", ""));
    }
    // What was reached is not hidden behind what was not.
    for (at, change) in report.changes.iter_mut().enumerate() {
        change.reached = at > 5;
    }
    for n in 0..12 {
        let (old, new) = (exits(0, "", ""), exits(n, "", ""));
        add(
            &mut report,
            Class::Output,
            "another status",
            input(&[], ""),
            old,
            new,
        );
    }
    let text = text(&report);
    assert_eq!(text.matches("exit status 0").count(), 11, "{text}");
    assert!(
        text.contains("11 different output: another status  (11 inputs)\n12 different"),
        "{text}"
    );
    let more = "… and 10 more changes, 6 of them not reached";
    assert!(text.contains(more), "{text}");
}

#[test]
fn what_machines_read_can_be_read_back() {
    let mut report = one(
        Class::Output,
        "t",
        "x",
        exits(0, "a", ""),
        exits(1, "b", "c"),
    );
    report.unstable.push(UnstableEntry {
        input: input(&["\u{1}"], ""),
        version: "HEAD".into(),
        aspects: vec![Aspect::Time],
        count: 1,
    });
    report.differences[0].new.files = [("gone".into(), FileEntry::Deleted)].into();
    assert_snapshot!(report.json());
    let back: Report = serde_json::from_str(&report.json()).expect("can be read");
    assert_eq!(back, report);
}

/// The names of all fields in a JSON value. Names of files and variables are no fields.
fn fields(value: &serde_json::Value, names: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(object) => {
            for (name, value) in object {
                names.push(name.clone());
                if !matches!(&name[..], "env" | "files") {
                    fields(value, names);
                }
            }
        }
        serde_json::Value::Array(values) => values.iter().for_each(|v| fields(v, names)),
        _ => {}
    }
}

#[test]
fn every_field_is_in_the_manual() {
    let manual = include_str!("../../../../docs/diff-json.md");
    let mut report = one(Class::Output, "t", "", exits(0, "", ""), exits(1, "", ""));
    report.unstable.push(UnstableEntry {
        input: input(&[], ""),
        version: "HEAD".into(),
        aspects: vec![],
        count: 1,
    });
    report.losses.push(LossEntry {
        cause: "inline assembly".into(),
        count: 1,
    });
    report.strategies.push(StrategyEntry {
        name: "reach".into(),
        queries: 1,
        answered: 1,
        runs: 1,
        differences: 1,
        pruned: 1,
    });
    report.changes[0].stopped_at = Some(StopEntry {
        file: "a.c".into(),
        line: 1,
        why: "overwritten".into(),
    });
    report.differences[0].golden = Some(exits(0, "", ""));
    let value = serde_json::to_value(&report).expect("can be written");
    let mut names = Vec::new();
    fields(&value, &mut names);
    for name in names {
        assert!(manual.contains(&format!("`{name}`")), "{name}");
    }
}
