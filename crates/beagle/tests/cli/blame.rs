//! `beagle blame`: which hunks it takes.

use crate::support::Scratch;

/// Two guards, either of which is enough, and a line that is only written differently.
const OLD: &str = "#include <stdio.h>\n\
    static int guarded(int x) {\n\
    if (x < 0) return 0;\n\
    return x;\n\
    }\n\
    int main(int argc, char **argv) {\n\
    int x = argc > 1 ? -1 : 1;\n\
    int y = 0;\n\
    x = guarded(x);\n\
    y++;\n\
    if (x < 0) x = 0;\n\
    printf(\"%d\\n\", x + y);\n\
    return 0;\n\
    }\n";

fn unguarded() -> String {
    OLD.replace("if (x < 0) return 0;\n", "")
        .replace("if (x < 0) x = 0;\n", "")
        .replace("int y = 0;", "int y; y = 0;")
}

#[test]
fn hunks_that_are_wrong_only_together_are_an_interaction() {
    let scratch = Scratch::with(&[("old.c", OLD), ("new.c", &unguarded())]);
    let ran = scratch.beagle("-q blame old.c new.c -- x").exits(1);
    insta::assert_snapshot!(ran.stdout);
    let ran = scratch
        .beagle("-q blame old.c new.c --format json -- x")
        .exits(1);
    let culprits = &ran.json()["culprits"];
    assert_eq!(culprits["interaction"], true);
    assert_eq!(culprits["sets"][0]["hunks"], serde_json::json!([1, 3]));
    assert_eq!(culprits["undo"], serde_json::json!([[1], [3]]));
}

#[test]
fn hunks_are_not_said_to_act_together_when_there_was_no_time_to_try_parts_of_them() {
    let old: String = (0..6)
        .map(|n| format!("int v{n} = {n};\nint fill{n};\n"))
        .collect();
    let main = "#include <stdio.h>\nint main(void) { printf(\"%d\\n\", v3); return 0; }\n";
    let new = (0..6).fold(old.clone(), |text, n| {
        text.replace(&format!("v{n} = {n}"), &format!("v{n} = 1{n}"))
    });
    let scratch = Scratch::with(&[("old.c", &(old + main)), ("new.c", &(new + main))]);
    // There is time for some of the builds, or for all, or for none; whatever is said must be true.
    for timeout in ["1ms", "300ms", "600ms", "900ms", "1200ms", "1m"] {
        let command = format!("-q blame old.c new.c --timeout {timeout} --format json -- x");
        let ran = scratch.beagle(&command);
        let report = ran.json();
        for set in report["culprits"]["sets"].as_array().unwrap() {
            let is_it = set["hunks"] == serde_json::json!([4]);
            assert_eq!(set["minimal"], is_it, "{timeout}: {ran}");
            let said = report["culprits"]["said"].as_str().unwrap();
            assert_eq!(said.starts_with("among "), !is_it, "{timeout}: {ran}");
            assert!(!said.contains("together"), "{timeout}: {ran}");
        }
        if timeout == "1m" {
            assert_eq!(report["culprits"]["sets"][0]["minimal"], true, "{ran}");
        }
    }
}

#[test]
fn one_hunk_alone_is_no_interaction() {
    let new = OLD
        .replace("x + y", "x - y")
        .replace("int y = 0;", "int y; y = 0;");
    let scratch = Scratch::with(&[("old.c", OLD), ("new.c", &new)]);
    let ran = scratch.beagle("-q blame old.c new.c -- x").exits(1);
    assert!(ran.stdout.contains("hunk 2 alone\n"), "{ran}");
    // The only hunk needs no build at all.
    let scratch = Scratch::with(&[("old.c", OLD), ("new.c", &OLD.replace("x + y", "x - y"))]);
    let ran = scratch.beagle("-q blame old.c new.c -- x").exits(1);
    assert!(ran.stdout.contains("hunk 1, the only one\n"), "{ran}");
    assert!(ran.stdout.contains("1 hunk, 0 mixed versions"), "{ran}");
}

#[test]
fn hunks_that_do_not_build_alone_are_no_interaction() {
    let new = OLD
        .replace(
            "static int guarded",
            "static int more(int x) { return x + 7; }\nstatic int guarded",
        )
        .replace("x + y", "more(x) + y");
    let scratch = Scratch::with(&[("old.c", OLD), ("new.c", &new)]);
    let ran = scratch.beagle("-q blame old.c new.c -- x").exits(1);
    assert!(
        ran.stdout
            .contains("hunks 1 and 2 together; they do not build apart"),
        "{ran}"
    );
}

#[test]
fn places_in_messages_are_no_behaviour() {
    let old = "#include <assert.h>\n#include <stdio.h>\n\
        int main(int argc, char **argv) {\nint x = 1;\nputs(\"start\");\nassert(argc > 0);\nreturn x - 1;\n}\n";
    let new = old
        .replace(
            "#include <stdio.h>",
            "/* one\n   two */\n#include <stdio.h>",
        )
        .replace("argc > 0", "argc > 1");
    let scratch = Scratch::with(&[("old.c", old), ("new.c", &new)]);
    let ran = scratch
        .beagle("-q blame old.c new.c --stdin-text x")
        .exits(1);
    assert!(ran.stdout.contains("hunk 2 alone\n"), "{ran}");
}

#[test]
fn one_of_many_is_found_among_them() {
    let mut old =
        String::from("#include <stdio.h>\nint main(int argc, char **argv) {\nint x = 0;\n");
    for n in 0..20 {
        old.push_str(&format!("x += {n};\nputs(\"\");\n"));
    }
    old.push_str("printf(\"%d\\n\", x);\nreturn 0;\n}\n");
    let mut new = old.clone();
    for n in 0..20 {
        let other = if n == 13 {
            "14".to_owned()
        } else {
            format!("({n})")
        };
        new = new.replace(&format!("+= {n};"), &format!("+= {other};"));
    }
    let scratch = Scratch::with(&[("old.c", &old), ("new.c", &new)]);
    let ran = scratch
        .beagle("-q blame old.c new.c --stdin-text x")
        .exits(1);
    assert!(ran.stdout.contains("hunk 14 alone\n"), "{ran}");
    assert!(ran.stdout.contains("20 hunks, "), "{ran}");
}

#[test]
fn what_cannot_be_blamed_is_told() {
    let scratch = Scratch::with(&[("old.c", OLD), ("new.c", &unguarded()), ("dir/main.c", OLD)]);
    let ran = scratch
        .beagle("-q blame old.c new.c --stdin-text x")
        .exits(0);
    assert!(ran.stdout.contains("do the same"), "{ran}");
    scratch.beagle("-q blame old.c new.c").fails(2);
    scratch.beagle("-q blame old.c new.c none").fails(2);
    scratch
        .beagle("-q blame old.c new.c --until HEAD -- x")
        .fails(2);
    scratch.beagle("-q blame dir new.c -- x").fails(2);
}

/// Files that come and go, a header, a Makefile, and when it was fixed.
#[test]
fn revisions_are_mixed_and_later_ones_are_tried() {
    let scratch = Scratch::with(&[
        (
            "Makefile",
            "prog: main.c lib.h\n\t$(CC) -o prog main.c $(EXTRA)\n",
        ),
        ("lib.h", "#define STEP 1\n"),
        (
            "main.c",
            "#include <stdio.h>\n#include \"lib.h\"\nint main(int argc, char **argv) {\n\
             int x = argc;\nputs(\"-\");\nprintf(\"%d\\n\", x * STEP);\nreturn 0;\n}\n",
        ),
    ]);
    let commit = |message: &str| {
        scratch.sh(&format!("git add -A; git commit -qm '{message}'"));
    };
    scratch.sh("git init -q -b main .");
    commit("first");
    scratch.write("lib.h", "#define STEP 2\n");
    scratch.write("unused.c", "int unused;\n");
    scratch.sh("sed -i 's/int x = argc;/int x = (argc);/' main.c");
    commit("Step further");
    scratch.sh("git tag new");
    scratch.write("notes.txt", "x\n");
    commit("Write notes");
    scratch.write("lib.h", "#define STEP\n");
    commit("Break the build");
    scratch.write("lib.h", "#define STEP 1\n");
    commit("Step back");
    scratch.write("notes.txt", "y\n");
    commit("More notes");
    let ran = scratch
        .beagle("-q blame main~5 new --until main -- a")
        .exits(1);
    assert!(ran.stdout.contains("hunk 1 alone\n"), "{ran}");
    assert!(ran.stdout.contains("hunk 1  lib.h:1"), "{ran}");
    assert!(ran.stdout.contains(" Step back\n"), "{ran}");
    let ran = scratch.beagle("-q blame main~5 new --until new~0 -- a");
    assert_eq!(ran.code, 2, "{ran}");
    let ran = scratch.beagle("-q blame main~5 new --until new~0 -- a");
    assert!(ran.stderr.contains("hint: "), "{ran}");
}

/// What `beagle diff` finds and saves.
#[test]
fn each_group_of_differences_has_its_culprits() {
    let scratch = Scratch::with(&[("old.c", OLD), ("new.c", &unguarded())]);
    let search = "-q diff old.c new.c --timeout 20 --max-runs 40 --out tests --format json -- x";
    let ran = scratch.beagle(search).exits(1);
    let group = &ran.json()["groups"][0];
    let said = "hunks 1 and 3 together; either alone is fine";
    assert_eq!(group["culprits"]["said"], said, "{ran}");
    let test = scratch.sh("ls -d tests/*").trim().to_owned();
    let ran = scratch
        .beagle(&format!("-q blame old.c new.c {test}"))
        .exits(1);
    assert!(ran.stdout.contains(said), "{ran}");
    scratch.beagle("-q blame old.c new.c tests").fails(2);
    let ran = scratch
        .beagle(&format!("{search} --no-blame").replace(" -- x --no-blame", " --no-blame -- x"));
    assert!(ran.json()["groups"][0].get("culprits").is_none(), "{ran}");
}
