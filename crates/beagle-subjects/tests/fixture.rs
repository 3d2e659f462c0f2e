//! Whether the verification itself can be trusted: a small subject, told the truth about and lied
//! about.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

#[path = "truth/claims.rs"]
mod claims;

use std::path::Path;
use std::sync::Arc;

use beagle_subjects::{Input, Outcome, Subject, Workshop, run, subjects};
use tempfile::TempDir;

const BASE: &str = r#"#include <stdio.h>
static int limit(void) { return 10; }
static int between(void) { return 0; }
static int scale(void) { return 1; }
int main(int argc, char **argv)
{
    int c = getchar();
    (void)argv;
    printf("%d\n", c == 'x' ? limit() * scale() + between() : argc);
    return 0;
}
"#;

const SUBJECT: &str = r#"
kind = "fixture"
summary = "Prints a number."
sources = ["base.c"]
"#;

/// Hunks 1 and 3 make 40 of 10 together, 20 each alone; hunk 2 does nothing.
const PAIR: &str = r#"
kind = "interaction"
summary = "Scaled twice."
old = "../base.c"
new = "new.c"
changed_functions = ["limit", "scale"]
culprits = [1, 3]
sequence = [1, 3]
[[differs]]
stdin = "x"
regression = true
[differs.old]
exit = 0
stdout = "10\n"
[differs.new]
exit = 0
stdout = "40\n"
[[agrees]]
stdin = "y"
[[agrees]]
args = ["1"]
"#;

const CHECK: &str = "test \"$(echo | $1)\" = 1 || exit 1\necho '1 passed, 0 failed'\n";

/// The fixture, with the change that `edit` makes to each file by its name.
fn fixture(edit: impl Fn(&str, &str) -> String) -> TempDir {
    let new = BASE
        .replace("return 10", "return 20")
        .replace("return 1;", "return 2;");
    // Empty lines between them make three hunks of the three changes.
    let apart = |text: &str| text.replace("\nstatic", "\n\nstatic");
    let new = new.replace("return 0; }", "return 0 + 0; }");
    let dir = TempDir::new().unwrap();
    let pair = dir.path().join("tiny/scaled-twice");
    std::fs::create_dir_all(&pair).unwrap();
    for (path, text) in [
        ("tiny/subject.toml", SUBJECT.to_owned()),
        ("tiny/check.sh", CHECK.to_owned()),
        ("tiny/base.c", apart(BASE)),
        ("tiny/scaled-twice/new.c", apart(&new)),
        ("tiny/scaled-twice/pair.toml", PAIR.to_owned()),
    ] {
        let name = Path::new(path).file_name().unwrap().to_str().unwrap();
        std::fs::write(dir.path().join(path), edit(name, &text)).unwrap();
    }
    dir
}

/// What is wrong with the fixture, as `claim: reason`, but for the kinds of pairs it lacks.
fn lies(edit: impl Fn(&str, &str) -> String) -> Vec<String> {
    let dir = fixture(edit);
    let subject = Arc::new(Subject::load(&dir.path().join("tiny")).unwrap());
    let workshop = Arc::new(Workshop::new().unwrap());
    let claims = claims::of(&subject, &workshop).into_iter();
    claims
        .filter(|claim| claim.name != "tiny: all kinds of pairs are there")
        .filter_map(|claim| {
            (claim.verify)()
                .err()
                .map(|why| format!("{}: {why}", claim.name))
        })
        .collect()
}

/// The fixture with `from` replaced by `to` in one file.
fn with(file: &str, from: &str, to: &str) -> impl Fn(&str, &str) -> String {
    let (file, from, to) = (file.to_owned(), from.to_owned(), to.to_owned());
    move |name, text| {
        if name == file {
            text.replace(&from, &to)
        } else {
            text.to_owned()
        }
    }
}

#[test]
fn the_truth_is_verified() {
    assert_eq!(lies(|_, text| text.into()), Vec::<String>::new());
}

#[test]
fn a_wrong_output_is_found_on_the_version_it_is_claimed_of() {
    let found = lies(with("pair.toml", "40", "41"));
    assert!(
        found[0].starts_with("tiny/scaled-twice: differs on input 1: new\n"),
        "{found:?}"
    );
    assert!(
        found[1].contains("the culprits alone show no difference"),
        "{found:?}"
    );
}

#[test]
fn an_agreement_that_is_none_is_found() {
    let found = lies(with("pair.toml", "stdin = \"y\"", "stdin = \"x\""));
    assert_eq!(found.len(), 1);
    assert!(
        found[0].starts_with("tiny/scaled-twice: agrees on input 1"),
        "{found:?}"
    );
}

#[test]
fn a_culprit_that_does_it_alone_is_found() {
    // Now the first hunk alone makes 40.
    let found = lies(|name, text| match name {
        "new.c" => text
            .replace("return 20", "return 40")
            .replace("return 2;", "return 1 ;"),
        _ => text.to_owned(),
    });
    assert_eq!(found.len(), 1);
    assert!(
        found[0].contains("hunks {1} alone show the difference"),
        "{found:?}"
    );
}

#[test]
fn a_harmless_hunk_named_as_the_culprit_is_found() {
    let found = lies(with("pair.toml", "[1, 3]", "[1, 2]"));
    assert_eq!(found.len(), 1);
    assert!(
        found[0].contains("the culprits alone show no difference"),
        "{found:?}"
    );
}

#[test]
fn a_failing_suite_and_a_warning_are_found() {
    let found = lies(with("base.c", "(void)argv;", "int unused; (void)argv;"));
    assert!(
        found[0].starts_with("tiny: base has no warnings"),
        "{found:?}"
    );
    let found = lies(with("check.sh", "= 1", "= 2"));
    assert!(
        found[0].starts_with("tiny: base passes its own suite: exit 1"),
        "{found:?}"
    );
}

#[test]
fn what_a_kind_needs_is_asked_for() {
    let found = lies(with("pair.toml", "\"interaction\"", "\"refactoring\""));
    assert!(
        found[0].contains("a refactoring that differs is none"),
        "{found:?}"
    );
    let found = lies(with("pair.toml", "[[agrees]]\nargs = [\"1\"]", ""));
    assert!(
        found[0].contains("only 1 inputs on which the versions agree"),
        "{found:?}"
    );
}

#[test]
fn undefined_behaviour_of_the_base_is_found() {
    let found = lies(with(
        "base.c",
        "return 0;\n",
        "return c == 'x' && c << 30;\n",
    ));
    let clean = found
        .iter()
        .any(|lie| lie.contains("clean under sanitizers"));
    assert!(clean, "{found:?}");
}

#[test]
fn errors_name_the_file_and_the_cause() {
    let error = |file: &str, from: &str, to: &str| {
        let dir = fixture(with(file, from, to));
        subjects(dir.path()).unwrap_err().to_string()
    };
    let said = error("pair.toml", "summary", "sumary");
    assert!(
        said.contains("scaled-twice/pair.toml: ") && said.contains("`sumary`"),
        "{said}"
    );
    let said = error("pair.toml", "new.c", "knew.c");
    assert!(
        said.contains("pair.toml: version knew.c: No such file"),
        "{said}"
    );
    let said = error("pair.toml", "exit = 0\nstdout = \"40", "stdout = \"40");
    assert!(
        said.contains("[[differs]] number 1: new: either `exit` or `signal`"),
        "{said}"
    );
    let said = error("subject.toml", "[\"base.c\"]", "[]");
    assert!(
        said.contains("tiny/subject.toml: `sources` is not exactly one"),
        "{said}"
    );
    let said = error("subject.toml", "[\"base.c\"]", "[\"scaled-twice\"]");
    assert!(
        said.contains("is a directory, but `program` is not given"),
        "{said}"
    );
}

#[test]
fn a_version_that_does_not_build_says_why() {
    let found = lies(with("new.c", "return 0;\n", "return 0\n"));
    assert!(found[0].contains("new.c does not build"), "{found:?}");
    assert!(found[0].contains("expected ';'"), "{found:?}");
}

#[test]
fn a_directory_is_made_in_a_copy_and_runs_with_files_and_environment() {
    let dir = TempDir::new().unwrap();
    let write = |path: &str, text: &str| {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(
        "s/subject.toml",
        "kind = 'x'\nsummary = 'x'\nsources = ['base']\nprogram = 'out/prog'\n",
    );
    write("s/check.sh", "");
    write(
        "s/base/Makefile",
        "out/prog: main.c inc/a.h\n\tmkdir -p out\n\t$(CC) -Iinc -o $@ main.c\n",
    );
    write("s/base/inc/a.h", "#define FILE_NAME \"d/in.txt\"\n");
    write(
        "s/base/main.c",
        "#include <stdio.h>\n#include <stdlib.h>\n#include \"a.h\"\n\
         int main(int c, char **v) { FILE *f = fopen(FILE_NAME, \"r\"); if (!f) abort();\n\
         printf(\"%s %d %c %s %d\\n\", v[0], c, fgetc(f), getenv(\"WORD\"), !getenv(\"HOME\"));\n\
         return 7; }\n",
    );
    let all = subjects(dir.path()).unwrap();
    let workshop = Workshop::new().unwrap();
    let flavour = beagle_subjects::Flavour::Plain;
    let program = workshop.program(&all[0].base, flavour).unwrap();
    assert!(!dir.path().join("s/base/out").exists());
    let mut input = Input {
        env: [("WORD".into(), "w".into())].into(),
        ..Input::default()
    };
    let seen = run(&program, "name", &input).unwrap();
    assert_eq!(seen.outcome.to_string(), "signal ABRT");
    input.files.insert("d/in.txt".into(), b"q".to_vec());
    let seen = run(&program, "name", &input).unwrap();
    assert_eq!(
        (seen.outcome, &*seen.stdout),
        (Outcome::Exit(7), &b"name 1 q w 1\n"[..])
    );
}
