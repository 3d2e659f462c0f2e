//! Every subject, every version of it, on every input that it knows.

use beagle_subjects::{root, subjects};

use crate::known::{inputs, traced};

#[test]
fn subjects_behave_as_natively_and_pass_the_self_check() {
    let mut runs = 0;
    let mut conditions = 0;
    for subject in subjects(&root()).expect("the subjects load") {
        let inputs = inputs(&subject);
        // Every version with ALL_VERSIONS=1, which takes minutes.
        let all = std::env::var_os("ALL_VERSIONS").is_some();
        let versions = subject.versions();
        let versions = versions.into_iter().filter(|v| all || **v == subject.base);
        for version in versions {
            let mut traced = traced(version);
            for input in &inputs {
                let (_, report) = traced.agree(input);
                runs += 1;
                conditions += report.conditions;
            }
        }
    }
    eprintln!("{runs} runs, {conditions} conditions");
    assert!(runs > 200, "{runs} runs");
    assert!(conditions > 10_000, "{conditions} conditions");
}
