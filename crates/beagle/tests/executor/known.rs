//! The subjects and the inputs that are known for them.

use std::os::unix::ffi::OsStrExt;

use beagle_build::Config;
use beagle_subjects::{Input as Known, Source, Subject, Version};
use beagle_trace::Input;

use crate::support::{NAME, Traced};

/// A known input as the executor takes it.
fn input(known: &Known) -> Input {
    let args = known.args.iter().map(|a| a.as_bytes().to_vec());
    let mut input = Input::from_args(NAME, args).with_stdin(known.stdin.clone());
    for (name, bytes) in &known.files {
        input = input.with_file(name.as_bytes(), bytes.clone());
    }
    for (name, value) in &known.env {
        input = input.with_env(name.as_bytes(), value.as_bytes());
    }
    input
}

/// A version of a subject, instrumented.
pub fn traced(version: &Version) -> Traced {
    let mut config = Config {
        ldflags: version.ldflags.clone(),
        ..Config::default()
    };
    if let Source::Directory { program, .. } = &version.source {
        config.program = Some(program.clone());
    }
    Traced::path(version.path(), &config)
}

/// The known inputs of a subject, each once; every version must cope with all of them.
pub fn inputs(subject: &Subject) -> Vec<Input> {
    let mut seen: Vec<&Known> = Vec::new();
    for pair in &subject.pairs {
        let differs = pair.differs.iter().map(|d| &d.input);
        for known in differs.chain(&pair.agrees) {
            if !seen.contains(&known) {
                seen.push(known);
            }
        }
    }
    seen.into_iter().map(input).collect()
}
