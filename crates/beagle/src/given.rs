//! The one input that a command is about: a saved test, or what stands on the command line.

use std::ffi::OsStr;
use std::path::Path;

use beagle_trace::Input;
use beagle_verdict::saved::{self, Saved};
use beagle_verdict::{KeeperCommand, Limits, Rules, Setting};

use crate::arguments::{InvocationOptions, JudgingOptions};
use crate::failure::Failure;
use crate::invocation::Invocation;
use crate::versions::Order;

/// What the user said about the input and about runs.
pub struct Given<'a> {
    /// The versions.
    pub order: &'a Order,
    /// The input, if there is no saved test.
    pub invocation: &'a InvocationOptions,
    /// How programs are run and compared.
    pub judging: &'a JudgingOptions,
}

/// Reads a saved test.
pub fn load(dir: &Path) -> Result<Saved, Failure> {
    let hint = match saved::load_all(dir).is_ok_and(|tests| !tests.is_empty()) {
        true => format!("name one of the tests in {}", dir.display()),
        false => {
            "name a test that `beagle diff --out` saved; words for the program stand after `--`"
                .into()
        }
    };
    saved::load(dir).map_err(|error| Failure::usage(error.to_string(), hint))
}

impl Given<'_> {
    /// The input, and how programs of this name are run on it.
    pub fn input(&self, test: Option<Saved>, name: &OsStr) -> Result<(Input, Setting), Failure> {
        match test {
            Some(test) => {
                let setting = Setting {
                    fixture: test.fixture,
                    environment: test.environment,
                    ..self.setting(name)?
                };
                Ok((test.input, setting))
            }
            None => self.of_words(name),
        }
    }

    fn of_words(&self, name: &OsStr) -> Result<(Input, Setting), Failure> {
        let Order { config, here, .. } = self.order;
        let bytes = name.as_encoded_bytes();
        let invocation = Invocation::new(self.invocation, config, here, bytes, None)?;
        let input = invocation.seeds.first().filter(|_| !invocation.auto);
        let Some(input) = input.cloned() else {
            return Err(Failure::usage(
                "no input is given",
                "name a saved test, or give words after `--` or --stdin",
            ));
        };
        let setting = Setting {
            fixture: invocation.fixture,
            ..self.setting(name)?
        };
        Ok((input, setting))
    }

    fn setting(&self, name: &OsStr) -> Result<Setting, Failure> {
        let mut normalise = Rules::default();
        for rule in self.judging.normalised(&self.order.config)? {
            normalise
                .replace(&rule.pattern, &rule.replacement)
                .map_err(|error| Failure::usage(error.to_string(), "see --help"))?;
        }
        let keeper = KeeperCommand::of_this_executable().map_err(Failure::run)?;
        Ok(Setting {
            limits: Limits {
                time: self.judging.run_timeout,
                memory: self.judging.memory,
                ..Limits::default()
            },
            normalise,
            ..Setting::new(keeper, name.to_owned())
        })
    }
}
