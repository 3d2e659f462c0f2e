//! Every subject, every version of it, on every input that it knows.

use beagle_build::Config;
use beagle_subjects::{Input as Known, Source, Version, root, subjects};
use beagle_trace::Input;

use crate::support::{NAME, Traced};

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

fn traced(version: &Version) -> Traced {
    let mut config = Config {
        ldflags: version.ldflags.clone(),
        ..Config::default()
    };
    if let Source::Directory { program, .. } = &version.source {
        config.program = Some(program.clone());
    }
    Traced::path(version.path(), &config)
}

/// The known inputs of a subject; every version must cope with all of them.
#[test]
fn subjects_behave_as_natively_and_pass_the_self_check() {
    let mut runs = 0;
    let mut conditions = 0;
    for subject in subjects(&root()).expect("the subjects load") {
        let mut inputs = Vec::new();
        for pair in &subject.pairs {
            inputs.extend(pair.differs.iter().map(|d| &d.input));
            inputs.extend(&pair.agrees);
        }
        let mut seen = Vec::new();
        inputs.retain(|i| {
            let new = !seen.contains(i);
            seen.push(i);
            new
        });
        // Every version with ALL_VERSIONS=1, which takes minutes.
        let all = std::env::var_os("ALL_VERSIONS").is_some();
        let versions = subject.versions();
        let versions = versions.into_iter().filter(|v| all || **v == subject.base);
        for version in versions {
            let mut traced = traced(version);
            for known in &inputs {
                let (_, report) = traced.agree(&input(known));
                runs += 1;
                conditions += report.conditions;
            }
        }
    }
    eprintln!("{runs} runs, {conditions} conditions");
    assert!(runs > 200, "{runs} runs");
    assert!(conditions > 10_000, "{conditions} conditions");
}
