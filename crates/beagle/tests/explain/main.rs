//! `beagle explain`: which line it names first, on small programs whose fault is known.

// A test that cannot go on should panic.
#![allow(clippy::unwrap_used)]

mod cases;
mod papers;
#[allow(dead_code, reason = "shared with the tests of the command line")]
#[path = "../cli/support.rs"]
mod support;

use serde_json::Value;
use support::Scratch;

/// A line that a report names: version, line, and the kinds of evidence for it.
#[derive(Debug, PartialEq, Eq)]
pub struct Named {
    /// `old` or `new`.
    pub version: String,
    /// From 1.
    pub line: u64,
    /// In order.
    pub kinds: Vec<String>,
}

/// The lines of a report, the first first.
pub fn named(report: &Value) -> Vec<Named> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let causes = report["causes"].as_array().unwrap().iter();
    let causes = causes.map(|cause| Named {
        version: text(&cause["version"]),
        line: cause["line"].as_u64().unwrap(),
        kinds: {
            let evidence = cause["evidence"].as_array().unwrap().iter();
            evidence.map(|it| text(&it["kind"])).collect()
        },
    });
    causes.collect()
}

/// The number of the first line of a text that has this in it.
pub fn line_of(text: &str, wanted: &str) -> u64 {
    let mut lines = (1..).zip(text.lines());
    lines.find(|(_, line)| line.contains(wanted)).unwrap().0
}

/// Explains two files with `rest` of the command line; there must be a difference.
pub fn explained(old: &str, new: &str, rest: &str) -> Value {
    let scratch = Scratch::with(&[("old.c", old), ("new.c", new)]);
    let command = format!("-q explain old.c new.c --timeout 5m --format json {rest}");
    let ran = scratch.beagle(&command).exits(1);
    ran.json()
}
