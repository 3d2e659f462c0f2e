//! The formats of `subject.toml` and `pair.toml`, word for word, and their translation.
//!
//! Kept apart from the types that others use, so that those need not be able to say nonsense
//! (both `stdin` and `stdin_hex`, an exit code and a signal).

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::expectation::{Expected, Outcome, signal_number};
use crate::pair::{Difference, Input, Kind, Sanitizer};
use crate::subject::InputShape;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawSubject {
    pub kind: String,
    pub summary: String,
    pub sources: Vec<String>,
    #[serde(default)]
    pub ldflags: Vec<String>,
    pub program: Option<String>,
    #[serde(default)]
    pub input: InputShape,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawPair {
    pub kind: Kind,
    pub summary: String,
    pub old: String,
    pub new: String,
    pub golden: Option<String>,
    pub changed_functions: Vec<String>,
    #[serde(default)]
    pub changed_globals: Vec<String>,
    #[serde(default)]
    pub culprits: Vec<usize>,
    #[serde(default)]
    pub sequence: Vec<usize>,
    #[serde(default)]
    pub differs: Vec<RawDifference>,
    #[serde(default)]
    pub agrees: Vec<RawInput>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawInput {
    #[serde(default)]
    args: Vec<String>,
    stdin: Option<String>,
    stdin_hex: Option<String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    files_hex: BTreeMap<String, String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// The fields of [`RawInput`] are repeated, as serde's `flatten` would let unknown ones pass.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawDifference {
    #[serde(default)]
    args: Vec<String>,
    stdin: Option<String>,
    stdin_hex: Option<String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    files_hex: BTreeMap<String, String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    regression: bool,
    sanitizer: Option<Sanitizer>,
    old: RawExpected,
    new: RawExpected,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawExpected {
    exit: Option<i32>,
    signal: Option<String>,
    stdout: Option<String>,
    stdout_hex: Option<String>,
    stderr: Option<String>,
}

impl RawInput {
    /// The input that is meant, or what is wrong with it.
    pub(crate) fn input(self) -> Result<Input, String> {
        let mut files = BTreeMap::new();
        for (name, text) in self.files {
            files.insert(name, text.into_bytes());
        }
        for (name, digits) in self.files_hex {
            let bytes = from_hex(&digits)?;
            if files.insert(name.clone(), bytes).is_some() {
                return Err(format!("{name} is in both `files` and `files_hex`"));
            }
        }
        if let Some(name) = files.keys().find(|name| !stays_inside(name)) {
            return Err(format!("{name} is not a path inside the working directory"));
        }
        let stdin = text_or_hex("stdin", self.stdin, self.stdin_hex)?.unwrap_or_default();
        Ok(Input {
            args: self.args.into_iter().map(Into::into).collect(),
            stdin,
            files,
            env: self.env,
        })
    }
}

impl RawDifference {
    /// The difference that is meant, or what is wrong with it.
    pub(crate) fn difference(self) -> Result<Difference, String> {
        let Self {
            args,
            stdin,
            stdin_hex,
            files,
            files_hex,
            env,
            ..
        } = self;
        let input = RawInput {
            args,
            stdin,
            stdin_hex,
            files,
            files_hex,
            env,
        }
        .input()?;
        let old = self.old.expected().map_err(|what| format!("old: {what}"))?;
        let new = self.new.expected().map_err(|what| format!("new: {what}"))?;
        Ok(Difference {
            input,
            regression: self.regression,
            sanitizer: self.sanitizer,
            old,
            new,
        })
    }
}

impl RawExpected {
    fn expected(self) -> Result<Expected, String> {
        let outcome = match (self.exit, self.signal) {
            (Some(code), None) => Outcome::Exit(code),
            (None, Some(name)) => match signal_number(&name) {
                Some(number) => Outcome::Signal(number),
                None => return Err(format!("{name} is no known signal; write SEGV, ABRT, ...")),
            },
            _ => return Err("either `exit` or `signal` is needed".into()),
        };
        let stdout = text_or_hex("stdout", self.stdout, self.stdout_hex)?;
        Ok(Expected {
            outcome,
            stdout,
            stderr: self.stderr.map(String::into_bytes),
        })
    }
}

fn text_or_hex(
    name: &str,
    text: Option<String>,
    digits: Option<String>,
) -> Result<Option<Vec<u8>>, String> {
    match (text, digits) {
        (Some(_), Some(_)) => Err(format!("both `{name}` and `{name}_hex` are given")),
        (Some(text), None) => Ok(Some(text.into_bytes())),
        (None, Some(digits)) => from_hex(&digits).map(Some),
        (None, None) => Ok(None),
    }
}

/// The bytes that the digits stand for; white space between bytes is allowed.
fn from_hex(digits: &str) -> Result<Vec<u8>, String> {
    let wrong = || format!("{digits:?} is not pairs of hexadecimal digits");
    let values: Option<Vec<u32>> = digits
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16))
        .collect();
    let values = values.ok_or_else(wrong)?;
    if values.len() % 2 != 0 {
        return Err(wrong());
    }
    // Two digits are at most 255.
    Ok(values
        .chunks(2)
        .map(|pair| (pair[0] * 16 + pair[1]) as u8)
        .collect())
}

/// Whether a file of this name is created inside the directory it is put in.
fn stays_inside(name: &str) -> bool {
    let mut parts = std::path::Path::new(name).components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, std::path::Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(text: &str) -> Result<Difference, String> {
        toml::from_str::<RawDifference>(text)
            .map_err(|e| e.message().to_owned())?
            .difference()
    }

    #[test]
    fn hex_gives_bytes_that_text_cannot() {
        let input: RawInput =
            toml::from_str("stdin_hex = '00 ff'\nfiles_hex = { x = '0a' }").unwrap();
        let input = input.input().unwrap();
        assert_eq!(input.stdin, [0, 255]);
        assert_eq!(input.files["x"], [10]);
        assert!(from_hex("0").is_err() && from_hex("0g").is_err());
    }

    #[test]
    fn files_outside_the_working_directory_are_refused() {
        assert!(stays_inside("a/b.txt"));
        assert!(!stays_inside("../b") && !stays_inside("/b") && !stays_inside(""));
    }

    #[test]
    fn an_unknown_field_is_an_error() {
        let text = "stdinn = 'x'\nold = { exit = 0 }\nnew = { exit = 1 }";
        assert!(
            difference(text)
                .unwrap_err()
                .contains("unknown field `stdinn`")
        );
    }

    #[test]
    fn an_expectation_needs_an_exit_or_a_signal() {
        let both = "old = { exit = 0, signal = 'SEGV' }\nnew = { exit = 1 }";
        assert_eq!(
            difference(both).unwrap_err(),
            "old: either `exit` or `signal` is needed"
        );
        let unknown = "old = { exit = 0 }\nnew = { signal = 'SIGSEGV' }";
        assert!(difference(unknown).unwrap_err().contains("no known signal"));
    }
}
