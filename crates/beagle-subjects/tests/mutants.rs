//! The mutation tool on the subjects, and its command line.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::path::Path;
use std::process::{Command, Output};

use beagle_subjects::mutate::{Mutant, Operator, Options, Target, candidates, harvest};
use beagle_subjects::{Flavour, Source, Subject, build, hunks, root, subjects};
use tempfile::TempDir;

/// Subjects that are complete; others are the business of the truth test.
fn all() -> Vec<Subject> {
    subjects(&root()).expect("the truth test says what is wrong")
}

#[test]
fn a_mutant_differs_from_the_original_in_one_region() {
    for subject in all() {
        for (file, source) in hunks::texts(&subject.base).unwrap() {
            if file.extension().is_none_or(|extension| extension != "c") {
                continue;
            }
            for mutant in candidates(&file, &source).unwrap() {
                one_region(&subject.name, &mutant, &source);
            }
        }
    }
}

fn one_region(subject: &str, mutant: &Mutant, source: &str) {
    let text = mutant.apply(source);
    let Mutant {
        range,
        original,
        replacement,
        ..
    } = mutant;
    let place = || format!("{subject}: {mutant:?}");
    assert_ne!(text, source, "{}", place());
    assert_eq!(&source[range.clone()], original, "{}", place());
    assert_eq!(text[..range.start], source[..range.start], "{}", place());
    assert_eq!(
        text[range.start + replacement.len()..],
        source[range.end..],
        "{}",
        place()
    );
    let line = source.lines().nth(mutant.line - 1).unwrap();
    let first = original.lines().next().unwrap();
    assert!(line[mutant.column - 1..].starts_with(first), "{}", place());
}

#[test]
fn every_subject_gives_mutants_that_compile() {
    every_subject_gives(10);
}

fn every_subject_gives(count: usize) {
    let options = Options {
        count: Some(count),
        seed: 1,
        ..Options::default()
    };
    for subject in all() {
        let target = Target::version(&subject.base).unwrap();
        let harvest = harvest(&target, &options).unwrap();
        let left_out = harvest.not_compiling + harvest.equivalent;
        assert_eq!(harvest.mutants.len(), count, "{}", subject.name);
        // Most candidates are of use, and there are enough for thirty also if half are not.
        assert!(
            left_out < count && harvest.candidates >= 60,
            "{}: {left_out}",
            subject.name
        );
        // All were compiled to be harvested; a few are now built as a user would.
        for mutant in harvest.mutants.iter().step_by(7) {
            builds(&subject, &target, mutant);
        }
    }
}

fn builds(subject: &Subject, target: &Target, mutant: &Mutant) {
    let (out, built) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let dir = target.write(mutant, out.path()).unwrap();
    let version = match &subject.base.source {
        Source::File(_) => subject.base.with_path(dir.join(&mutant.file)),
        Source::Directory { .. } => subject.base.with_path(dir),
    };
    build(&version, Flavour::Plain, built.path()).unwrap();
}

const SOURCE: &str = "#include <stdio.h>
static int larger(int a, int b) { if (a > b && a != 7) return a; return b; }
int main(int argc, char **argv)
{
    int sum = 0, i;
    for (i = 1; i < argc; i++)
        sum += larger(argv[i][0], i * 2);
    printf(\"%d\\n\", sum);
    return 0;
}
";

fn mutate(dir: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mutate"));
    let output = command.args(arguments).current_dir(dir).output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

fn source_dir() -> TempDir {
    let dir = TempDir::new().unwrap();
    std::fs::write(dir.path().join("x.c"), SOURCE).unwrap();
    dir
}

#[test]
fn the_same_seed_gives_the_same_list() {
    let dir = source_dir();
    let list = |seed| mutate(dir.path(), &["x.c", "--count", "8", "--seed", seed]).stdout;
    assert_eq!(list("3"), list("3"));
    assert_ne!(list("3"), list("4"));
    assert_eq!(String::from_utf8(list("3")).unwrap().lines().count(), 8);
}

#[test]
fn json_has_the_facts_and_the_counts() {
    let dir = source_dir();
    let output = mutate(dir.path(), &["x.c", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let mutants = json["mutants"].as_array().unwrap();
    let count = |key: &str| json[key].as_u64().unwrap() as usize;
    let left_out = count("not_compiling") + count("equivalent");
    assert_eq!(count("candidates"), mutants.len() + left_out);
    let operators: std::collections::BTreeSet<_> = mutants
        .iter()
        .map(|mutant| mutant["operator"].as_str().unwrap())
        .collect();
    assert_eq!(operators.len(), Operator::ALL.len(), "{operators:?}");
    let larger = mutants
        .iter()
        .find(|mutant| mutant["original"] == ">")
        .unwrap();
    let facts = [
        &larger["function"],
        &larger["class"],
        &larger["line"],
        &larger["column"],
    ];
    assert_eq!(
        facts.map(ToString::to_string),
        ["\"larger\"", "\"branch\"", "2", "41"]
    );
}

#[test]
fn code_the_compiler_drops_gives_no_mutants() {
    let dir = TempDir::new().unwrap();
    let source = "int f(int a) { if (0) a = a + 5; return a; }\n";
    std::fs::write(dir.path().join("x.c"), source).unwrap();
    let target = Target::file(&dir.path().join("x.c")).unwrap();
    let harvest = harvest(&target, &Options::default()).unwrap();
    assert!(harvest.equivalent > 0);
    assert!(
        harvest.mutants.iter().all(|mutant| mutant.original != "5"),
        "{harvest:?}"
    );
}

#[test]
fn a_source_that_does_not_compile_is_an_error() {
    let dir = TempDir::new().unwrap();
    std::fs::write(dir.path().join("x.c"), "int f(void) { return y; }\n").unwrap();
    let target = Target::file(&dir.path().join("x.c")).unwrap();
    let said = harvest(&target, &Options::default())
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("x.c does not build") && said.contains("'y'"),
        "{said}"
    );
}

#[test]
fn each_mutant_of_a_directory_is_a_whole_version() {
    let dir = TempDir::new().unwrap();
    let base = dir.path().join("base");
    std::fs::create_dir_all(base.join("sub")).unwrap();
    std::fs::write(base.join("Makefile"), "all:\n").unwrap();
    std::fs::write(base.join("a.h"), "int f(int);\n").unwrap();
    std::fs::write(
        base.join("a.c"),
        "#include \"a.h\"\nint f(int a) { return a + 2; }\n",
    )
    .unwrap();
    std::fs::write(base.join("sub/b.c"), "int g(int a) { return a - 3; }\n").unwrap();
    mutate(dir.path(), &["base", "--file", "sub/b.c", "--out", "out"]);
    let mut dirs: Vec<_> = std::fs::read_dir(dir.path().join("out"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    dirs.sort();
    assert_eq!(dirs.len(), 5, "{dirs:?}");
    assert!(dirs[0].ends_with("m0001") && dirs[0].join("a.h").is_file());
    let changed = std::fs::read_to_string(dirs[0].join("sub/b.c")).unwrap();
    assert_eq!(changed, "int g(int a) { return a + 3; }\n");
    let facts: toml::Table = std::fs::read_to_string(dirs[0].join("mutant.toml"))
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(facts["file"].as_str(), Some("sub/b.c"));
    assert_eq!(facts["original"].as_str(), Some("-"));
}
