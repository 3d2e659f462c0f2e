//! The texts of the subjects, and a runner for tests that are made from them.

use std::process::ExitCode;

use beagle_subjects::{Pair, Source, Subject, Version};
use libtest_mimic::{Arguments, Failed, Trial};

use super::Texts;

/// All subjects, or an explanation of why there are none.
pub fn all() -> Vec<Subject> {
    let subjects = beagle_subjects::subjects(&beagle_subjects::root());
    let subjects = subjects.unwrap_or_else(|cause| panic!("cannot load the subjects: {cause}"));
    assert!(!subjects.is_empty(), "there are no subjects");
    subjects
}

/// The files of a version.
pub fn texts(version: &Version) -> Texts {
    let texts = beagle_subjects::hunks::texts(version);
    let texts = texts.unwrap_or_else(|cause| panic!("cannot read a version: {cause}"));
    let single = match &version.source {
        Source::File(path) => path.file_name().map(|name| name.to_string_lossy()),
        Source::Directory { .. } => None,
    };
    let named = texts.into_iter().map(|(path, text)| {
        let name = single.clone().unwrap_or(path.to_string_lossy());
        (name.into_owned(), text)
    });
    named
        .filter(|(name, _)| name.ends_with(".c") || name.ends_with(".h"))
        .collect()
}

/// `subject/version`, for the name of a test.
pub fn title(version: &Version) -> String {
    let root = beagle_subjects::root().canonicalize().unwrap_or_default();
    let path = version.path();
    path.strip_prefix(root)
        .unwrap_or(path)
        .display()
        .to_string()
}

/// Runs tests that were made at run time.
pub fn run(trials: Vec<Trial>) -> ExitCode {
    let mut arguments = Arguments::from_args();
    // The compiler is most of the work, and a test waits for it.
    arguments.test_threads = arguments.test_threads.or(Some(2));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Runs a check on every pair of every subject, as a test each.
pub fn run_on_pairs(check: fn(&Pair) -> Result<(), Failed>) -> ExitCode {
    let mut trials = Vec::new();
    for subject in all() {
        for pair in subject.pairs {
            let name = format!("{}/{}", subject.name, pair.name);
            trials.push(Trial::test(name, move || check(&pair)));
        }
    }
    run(trials)
}
