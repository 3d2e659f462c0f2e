//! Tests of the pairs of `subjects/`, one for each pair: of a sample, or with `PAIRS=all` of all.

use std::process::ExitCode;
use std::sync::Arc;

use beagle_subjects::{Pair, root, subjects};
use libtest_mimic::{Arguments, Trial};

/// Which pairs to test.
pub struct Sample {
    /// The names of those that are always tested, as `subject/pair`.
    pub names: &'static [&'static str],
    /// How many there are in all, at least.
    pub all: usize,
    /// What makes a pair one of them.
    pub is_wanted: fn(&Pair) -> bool,
    /// How many to test at a time.
    pub threads: usize,
}

/// Whether all pairs are wanted, not only the sample.
pub fn is_all() -> bool {
    std::env::var_os("PAIRS").is_some_and(|pairs| pairs == "all")
}

impl Sample {
    /// Tests them, each by its subject's name and itself.
    pub fn run(
        &self,
        check: impl Fn(&str, &Pair) -> Result<(), String> + Send + Sync + 'static,
    ) -> ExitCode {
        let mut arguments = Arguments::from_args();
        arguments.test_threads.get_or_insert(self.threads);
        let check = Arc::new(check);
        let mut trials = Vec::new();
        for subject in subjects(&root()).expect("the subjects load") {
            for pair in subject.pairs.into_iter().filter(self.is_wanted) {
                let name = format!("{}/{}", subject.name, pair.name);
                if is_all() || self.names.contains(&name.as_str()) {
                    let (subject, check) = (subject.name.clone(), check.clone());
                    trials.push(Trial::test(name, move || Ok(check(&subject, &pair)?)));
                }
            }
        }
        let found = trials.len();
        let least = if is_all() { self.all } else { self.names.len() };
        trials.push(Trial::test("the pairs are there", move || {
            match found >= least {
                true => Ok(()),
                false => Err(format!("{found} pairs of at least {least} are there").into()),
            }
        }));
        libtest_mimic::run(&arguments, trials).exit_code()
    }
}
