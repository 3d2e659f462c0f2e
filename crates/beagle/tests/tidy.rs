//! Rules about the sources themselves, as ARCHITECTURE.md and CONTRIBUTING.md state them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Which crates of the workspace each crate may use. Data flows one way: a crate may only use those
/// above it.
const DIRECTION: &[(&str, &[&str])] = &[
    ("beagle-llvm", &[]),
    ("beagle-build", &[]),
    ("beagle-subjects", &[]),
    ("beagle-program", &["beagle-llvm"]),
    ("beagle-change", &["beagle-program"]),
    ("beagle-report", &["beagle-change", "beagle-program"]),
    (
        "beagle",
        &[
            "beagle-build",
            "beagle-change",
            "beagle-program",
            "beagle-report",
        ],
    ),
];

/// The crates that may hold unsafe code, which is their reason to exist.
const UNSAFE: &[&str] = &["beagle-llvm"];

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
