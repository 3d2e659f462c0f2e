//! Every version of every subject does on every input what it does natively.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use beagle_subjects::{Input, Source, Subject, Version, root, run, subjects};

/// The C files of a version, and the flags they need.
fn sources(version: &Version) -> (Vec<PathBuf>, Vec<String>) {
    let directory = match &version.source {
        Source::File(file) => return (vec![file.clone()], vec!["-std=gnu11".to_owned()]),
        Source::Directory { path, .. } => path,
    };
    let mut files = Vec::new();
    let mut flags = vec!["-std=gnu11".to_owned()];
    let mut work = vec![directory.clone()];
    while let Some(dir) = work.pop() {
        flags.push(format!("-I{}", dir.display()));
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                work.push(path);
            } else if path.extension().is_some_and(|extension| extension == "c") {
                files.push(path);
            }
        }
    }
    files.sort();
    (files, flags)
}

fn inputs(subject: &Subject) -> Vec<&Input> {
    subject
        .pairs
        .iter()
        .flat_map(|pair| {
            let differs = pair.differs.iter().map(|difference| &difference.input);
            differs.chain(&pair.agrees)
        })
        .collect()
}

fn check(subject: &Subject, version: &Version) -> usize {
    let dir = tempfile::tempdir().unwrap();
    let (files, flags) = sources(version);
    let flags: Vec<_> = flags.iter().map(String::as_str).collect();
    let link: Vec<_> = version.ldflags.iter().map(String::as_str).collect();
    let native = dir.path().join("native");
    support::run(
        Command::new("clang-19")
            .args(["-O0", "-w"])
            .args(&flags)
            .args(&files)
            .arg("-o")
            .arg(&native)
            .args(&link),
    );
    let bitcode = support::bitcode(&files, &flags, dir.path());
    let instrumented: &Path = &dir.path().join("instrumented");
    support::instrumented(&bitcode, &link, instrumented, &|_| false).unwrap();
    let inputs = inputs(subject);
    for input in &inputs {
        let wanted = run(&native, &subject.name, input).unwrap();
        let got = run(instrumented, &subject.name, input).unwrap();
        assert_eq!(wanted, got, "{} on {input}", version.path().display());
    }
    inputs.len()
}

#[test]
fn subjects_do_what_they_do_natively() {
    let subjects = subjects(&root()).unwrap();
    let all = std::env::var_os("ALL_VERSIONS").is_some();
    let work: Vec<_> = subjects
        .iter()
        .flat_map(|subject| subject.versions().into_iter().map(move |v| (subject, v)))
        // Every version with ALL_VERSIONS=1, which takes minutes.
        .filter(|(subject, version)| all || **version == subject.base)
        .collect();
    let (next, runs) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((subject, version)) = work.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    runs.fetch_add(check(subject, version), Ordering::Relaxed);
                }
            });
        }
    });
    assert!(runs.into_inner() > 100, "hardly any input");
}
