//! Rules about the sources themselves, as ARCHITECTURE.md and CONTRIBUTING.md state them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Which crates of the workspace each crate may use. Data flows one way: a crate may only use those
/// above it.
const DIRECTION: &[(&str, &[&str])] = &[
    ("beagle-llvm", &[]),
    ("beagle-build", &[]),
    ("beagle-hunks", &[]),
    ("beagle-subjects", &["beagle-hunks"]),
    ("beagle-program", &["beagle-llvm"]),
    ("beagle-change", &["beagle-hunks", "beagle-program"]),
    ("beagle-sequence", &["beagle-change", "beagle-program"]),
    ("beagle-trace", &[]),
    ("beagle-runtime", &["beagle-trace"]),
    ("beagle-instrument", &["beagle-llvm", "beagle-trace"]),
    ("beagle-enclosure", &[]),
    ("beagle-executor", &["beagle-enclosure", "beagle-trace"]),
    ("beagle-lane", &["beagle-trace"]),
    ("beagle-solver", &["beagle-trace"]),
    ("beagle-verdict", &["beagle-enclosure", "beagle-trace"]),
    (
        "beagle-blame",
        &[
            "beagle-build",
            "beagle-hunks",
            "beagle-trace",
            "beagle-verdict",
        ],
    ),
    (
        "beagle-engine",
        &[
            "beagle-change",
            "beagle-executor",
            "beagle-program",
            "beagle-sequence",
            "beagle-solver",
            "beagle-trace",
        ],
    ),
    (
        "beagle-explain",
        &[
            "beagle-change",
            "beagle-engine",
            "beagle-executor",
            "beagle-program",
            "beagle-solver",
            "beagle-trace",
        ],
    ),
    (
        "beagle-report",
        &["beagle-change", "beagle-program", "beagle-trace"],
    ),
    (
        "beagle",
        &[
            "beagle-blame",
            "beagle-build",
            "beagle-change",
            "beagle-engine",
            "beagle-executor",
            "beagle-explain",
            "beagle-hunks",
            "beagle-instrument",
            "beagle-lane",
            "beagle-program",
            "beagle-report",
            "beagle-sequence",
            "beagle-solver",
            "beagle-trace",
            "beagle-verdict",
        ],
    ),
];

/// The crates that may hold unsafe code, which is their reason to exist.
const UNSAFE: &[&str] = &["beagle-llvm", "beagle-runtime", "beagle-trace"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn manifests() -> BTreeMap<String, toml::Table> {
    let mut manifests = BTreeMap::new();
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(path.join("Cargo.toml")).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        manifests.insert(name, text.parse().unwrap());
    }
    manifests
}

fn sources() -> Vec<PathBuf> {
    let mut sources = Vec::new();
    let mut directories = vec![root().join("crates")];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources.push(path);
            }
        }
    }
    sources
}

#[test]
fn crates_only_use_those_before_them() {
    let manifests = manifests();
    let listed: Vec<_> = DIRECTION.iter().map(|(name, _)| *name).collect();
    for name in manifests.keys() {
        assert!(listed.contains(&&name[..]), "{name} is not in the list");
    }
    for (name, allowed) in DIRECTION {
        let dependencies = manifests[*name]["dependencies"].as_table().unwrap();
        for dependency in dependencies
            .keys()
            .filter(|name| name.starts_with("beagle"))
        {
            assert!(
                allowed.contains(&&dependency[..]),
                "{name} must not use {dependency}"
            );
        }
    }
}

#[test]
fn unsafe_code_is_forbidden_but_where_it_is_the_reason_to_exist() {
    let workspace = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let workspace: toml::Table = workspace.parse().unwrap();
    let inherited = &workspace["workspace"]["lints"]["rust"]["unsafe_code"];
    assert_eq!(inherited.as_str(), Some("forbid"));
    for (name, manifest) in manifests() {
        let lints = &manifest["lints"];
        let inherits = lints.get("workspace").is_some();
        let own = lints.get("rust").and_then(|rust| rust.get("unsafe_code"));
        let forbids = inherits || own.and_then(|own| own.as_str()) == Some("forbid");
        assert_eq!(forbids, !UNSAFE.contains(&&name[..]), "{name}");
    }
}

#[test]
fn no_file_is_too_long_to_be_read() {
    let lines = |path: &PathBuf| std::fs::read_to_string(path).unwrap().lines().count();
    let long: Vec<_> = sources()
        .into_iter()
        .filter(|path| lines(path) > 800)
        .collect();
    assert!(long.is_empty(), "over 800 lines: {long:?}");
}

#[test]
fn every_file_says_what_it_is() {
    let header = |path: &PathBuf| std::fs::read_to_string(path).unwrap().starts_with("//!");
    let without: Vec<_> = sources().into_iter().filter(|path| !header(path)).collect();
    assert!(without.is_empty(), "no header: {without:?}");
}

#[test]
fn every_makefile_target_that_the_readme_names_exists() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    let makefile = std::fs::read_to_string(root().join("Makefile")).unwrap();
    for target in ["demo", "test"] {
        assert!(readme.contains(&format!("make {target}")));
        assert!(makefile.contains(&format!("\n{target}:")), "{target}");
    }
}

/// The kinds of libc functions, as users read of them.
const CLASSES: &[(&str, &str)] = &[
    ("expression", "The result is one expression over the input."),
    (
        "memory",
        "Memory is moved, made or given back; what depends on the input goes with it.",
    ),
    (
        "model",
        "Written in C and instrumented like the program: its decisions are recorded.",
    ),
    ("input", "What is read is input."),
    (
        "output",
        "What is written is recorded, with the expressions of what depends on the input.",
    ),
    ("pinned", "The same in every traced run."),
    ("process", "Processes, signals and the end of the program."),
    (
        "plain",
        "Called as it is; nothing that depends on the input goes in or out, or it goes along in memory.",
    ),
];

/// The table of libc functions for users, made from the one that the instrumentation reads.
fn libc_table() -> String {
    use std::fmt::Write;
    let table = root().join("crates/beagle-runtime/functions.txt");
    let table = std::fs::read_to_string(table).unwrap();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.splitn(4, '|').map(str::trim).collect())
        .collect();
    let mut text = String::from(
        "# libc functions in traced programs\n\n\
         Made from `crates/beagle-runtime/functions.txt` (`UPDATE_DOCS=1 cargo test -p beagle --test tidy`).\n\
         A function that is not listed, and that the program does not define itself, runs as it is; if a value\n\
         or memory that depends on the input goes into it, that is counted as not followed.\n",
    );
    for (class, words) in CLASSES {
        let of_class = rows.iter().filter(|row| row[2] == *class);
        write!(text, "\n## {class}\n\n{words}\n\n").unwrap();
        if *class == "plain" {
            let names: Vec<_> = of_class.map(|row| format!("`{}`", row[0])).collect();
            writeln!(text, "{}", names.join(", ")).unwrap();
            continue;
        }
        text.push_str("| function | what is followed |\n| --- | --- |\n");
        for row in of_class {
            writeln!(text, "| `{}` | {} |", row[0], row[3]).unwrap();
        }
    }
    text
}

#[test]
fn every_libc_function_has_a_class_and_a_replacement() {
    let table = root().join("crates/beagle-runtime/functions.txt");
    let table = std::fs::read_to_string(table).unwrap();
    let mut names = Vec::new();
    for line in table.lines() {
        let row: Vec<&str> = line.splitn(4, '|').map(str::trim).collect();
        assert_eq!(row.len(), 4, "{line}");
        assert!(CLASSES.iter().any(|(class, _)| *class == row[2]), "{line}");
        assert_eq!(row[1] == "-", row[2] == "plain", "{line}");
        names.push(row[0]);
    }
    let mut sorted = names.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(names, sorted, "by name, each once");
}

#[test]
fn the_table_of_libc_functions_is_up_to_date() {
    let path = root().join("docs/libc.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, libc_table()).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == libc_table(),
        "docs/libc.md differs from functions.txt; set UPDATE_DOCS=1 to write it again"
    );
}
