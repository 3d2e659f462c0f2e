//! An input in JSON: readable where it is text, exact where it is not.
//!
//! Arguments, variables and names of files are strings in `args`, `env` and `files`. If one of
//! them is no UTF-8, all of them are base64 in `args_b64`, `env_b64` or `files_b64` instead.

use std::collections::BTreeMap;

use beagle_trace::{Input, SourceKind};
use serde::{Deserialize, Serialize};

use super::bytes::Bytes;

/// An input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub struct InputEntry {
    /// The arguments, without the name of the program.
    pub args: Vec<Bytes>,
    /// Standard input.
    pub stdin: Bytes,
    /// Environment variables.
    pub env: BTreeMap<Bytes, Bytes>,
    /// Files by path from where the program runs.
    pub files: BTreeMap<Bytes, Bytes>,
}

impl InputEntry {
    /// An input as programs get it.
    pub fn new(input: &Input) -> Self {
        let mut entry = Self::default();
        for source in &input.sources {
            let content = Bytes::from(source.content());
            let name = Bytes::from(&source.name[..]);
            match source.kind {
                SourceKind::Argument => entry.args.push(content),
                SourceKind::Environment => drop(entry.env.insert(name, content)),
                SourceKind::Stdin => entry.stdin = content,
                SourceKind::File => drop(entry.files.insert(name, content)),
            }
        }
        // The first is the name of the program.
        entry.args.drain(..1.min(entry.args.len()));
        entry
    }
}

#[derive(Serialize, Deserialize)]
struct Wire {
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args_b64: Option<Vec<Bytes>>,
    stdin_b64: Bytes,
    #[serde(skip_serializing_if = "Option::is_none")]
    env: Option<BTreeMap<String, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    env_b64: Option<BTreeMap<String, Bytes>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<BTreeMap<String, Bytes>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    files_b64: Option<BTreeMap<String, Bytes>>,
}

impl From<InputEntry> for Wire {
    fn from(entry: InputEntry) -> Self {
        let text = |bytes: &Bytes| String::from_utf8(bytes.0.clone()).ok();
        let args: Option<Vec<_>> = entry.args.iter().map(text).collect();
        let env = entry.env.iter();
        let env: Option<BTreeMap<_, _>> = env.map(|(k, v)| Some((text(k)?, text(v)?))).collect();
        let files = entry.files.iter();
        let files: Option<BTreeMap<_, _>> =
            files.map(|(k, v)| Some((text(k)?, v.clone()))).collect();
        let encoded = |map: BTreeMap<Bytes, Bytes>| {
            let pairs = map.into_iter();
            pairs.map(|(k, v)| (k.encoded(), v)).collect()
        };
        Self {
            args_b64: args.is_none().then_some(entry.args),
            args,
            stdin_b64: entry.stdin,
            env_b64: env.is_none().then(|| encoded(entry.env)),
            env,
            files_b64: files.is_none().then(|| encoded(entry.files)),
            files,
        }
    }
}

impl TryFrom<Wire> for InputEntry {
    type Error = base64::DecodeError;

    fn try_from(wire: Wire) -> Result<Self, Self::Error> {
        let decoded = |map: BTreeMap<String, Bytes>| -> Result<_, Self::Error> {
            let pairs = map.into_iter();
            pairs.map(|(k, v)| Ok((Bytes::decoded(&k)?, v))).collect()
        };
        let args = wire
            .args
            .map(|args| args.into_iter().map(Bytes::from).collect());
        let env = wire.env.map(|env| {
            let pairs = env.into_iter();
            pairs
                .map(|(k, v)| (Bytes::from(k), Bytes::from(v)))
                .collect()
        });
        let files = wire.files.map(|files| {
            let pairs = files.into_iter();
            pairs.map(|(k, v)| (Bytes::from(k), v)).collect()
        });
        Ok(Self {
            args: args.or(wire.args_b64).unwrap_or_default(),
            stdin: wire.stdin_b64,
            env: match (env, wire.env_b64) {
                (Some(env), _) => env,
                (None, env) => decoded(env.unwrap_or_default())?,
            },
            files: match (files, wire.files_b64) {
                (Some(files), _) => files,
                (None, files) => decoded(files.unwrap_or_default())?,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(entry: &InputEntry) -> String {
        let json = serde_json::to_string(entry).expect("can be written");
        let back: InputEntry = serde_json::from_str(&json).expect("can be read");
        assert_eq!(back, *entry);
        json
    }

    #[test]
    fn text_is_readable_and_the_rest_is_exact() {
        let input = Input::from_args("p", ["-f", "ü"]).with_stdin("a\0\n");
        let text = InputEntry::new(&input.with_env("A", "b").with_file("d/x", "c"));
        assert_eq!(
            json(&text),
            r#"{"args":["-f","ü"],"stdin_b64":"YQAK","env":{"A":"b"},"files":{"d/x":"Yw=="}}"#
        );
        let input = Input::from_args("p", [&b"-f"[..], b"\xff"]).with_stdin("");
        let other = InputEntry::new(&input.with_env("A", "\u{1}").with_file(*b"\xfe", "c"));
        assert_eq!(
            json(&other),
            r#"{"args_b64":["LWY=","/w=="],"stdin_b64":"","env":{"A":"\u0001"},"files_b64":{"/g==":"Yw=="}}"#
        );
    }

    #[test]
    fn an_argument_ends_where_it_does_for_the_program() {
        let input = Input::from_args("p", ["ab\0cd"]);
        assert_eq!(InputEntry::new(&input).args, [Bytes::from("ab")]);
        assert_eq!(InputEntry::new(&Input::default()), InputEntry::default());
    }
}
