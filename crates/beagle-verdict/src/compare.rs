//! Compares what two runs did.

use std::fmt;

use crate::observation::{Circumstances, Effect, End, Entry, FileChange, Observation, Stream};
use crate::rules::Rules;

/// In what two runs differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Aspects {
    /// The exit status.
    pub exit: bool,
    /// The signal that ended one of them.
    pub signal: bool,
    /// Standard output.
    pub stdout: bool,
    /// Standard error.
    pub stderr: bool,
    /// What they did to their working directory.
    pub files: bool,
    /// What the sanitizers say.
    pub sanitizer: bool,
    /// Whether they end in time.
    pub time: bool,
}

impl Aspects {
    /// Whether there is any difference.
    pub fn any(self) -> bool {
        self != Self::default()
    }

    /// Whether there is a difference that is seen without sanitizers.
    pub fn beyond_sanitizers(self) -> bool {
        let plain = Self {
            sanitizer: false,
            ..self
        };
        plain.any()
    }

    /// The names of what differs.
    pub fn names(self) -> Vec<&'static str> {
        [
            (self.exit, "exit"),
            (self.signal, "signal"),
            (self.time, "time"),
            (self.stdout, "stdout"),
            (self.stderr, "stderr"),
            (self.files, "files"),
            (self.sanitizer, "sanitizer"),
        ]
        .into_iter()
        .filter_map(|(there, name)| there.then_some(name))
        .collect()
    }
}

impl fmt::Display for Aspects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().join(", "))
    }
}

/// In what two observations differ under the rules.
pub(crate) fn compare(a: &Observation, b: &Observation, rules: &Rules) -> Aspects {
    let mut aspects = Aspects::default();
    match (a.end, b.end) {
        (a, b) if a == b => {}
        (End::TimedOut, _) | (_, End::TimedOut) => aspects.time = true,
        (End::Exit(_), End::Exit(_)) => aspects.exit = true,
        _ => aspects.signal = true,
    }
    aspects.sanitizer = match (&a.fault, &b.fault) {
        (None, None) => false,
        (Some(a), Some(b)) => !a.is_like(b),
        _ => true,
    };
    let runs = (&a.circumstances, &b.circumstances);
    if a.end == End::TimedOut || b.end == End::TimedOut {
        // How far a program got before it was ended is chance: one goes on where the other stopped.
        aspects.stdout = !goes_on(&a.stdout, &b.stdout, runs, rules);
        aspects.stderr = !goes_on(&a.stderr, &b.stderr, runs, rules);
    } else {
        aspects.stdout = !same_stream(&a.stdout, &b.stdout, runs, rules);
        aspects.stderr = !same_stream(&a.stderr, &b.stderr, runs, rules);
        aspects.files = !same_files(&a.files, &b.files, runs, rules);
    }
    aspects
}

type Runs<'a> = (&'a Circumstances, &'a Circumstances);

fn same_stream(a: &Stream, b: &Stream, runs: Runs<'_>, rules: &Rules) -> bool {
    if a.hash == b.hash && a.length == b.length {
        return true;
    }
    if a.truncated() || b.truncated() {
        return false;
    }
    rules.apply(&a.bytes, runs.0) == rules.apply(&b.bytes, runs.1)
}

/// Whether one is the start of the other, as far as they are kept.
fn goes_on(a: &Stream, b: &Stream, runs: Runs<'_>, rules: &Rules) -> bool {
    if a.bytes.starts_with(&b.bytes) || b.bytes.starts_with(&a.bytes) {
        return true;
    }
    let (a, b) = (rules.apply(&a.bytes, runs.0), rules.apply(&b.bytes, runs.1));
    a.starts_with(&b) || b.starts_with(&a)
}

fn same_files(a: &[FileChange], b: &[FileChange], runs: Runs<'_>, rules: &Rules) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| {
            a.path == b.path
                && match (&a.effect, &b.effect) {
                    (Effect::Created(a), Effect::Created(b))
                    | (Effect::Changed(a), Effect::Changed(b)) => same_entry(a, b, runs, rules),
                    (a, b) => a == b,
                }
        })
}

fn same_entry(a: &Entry, b: &Entry, runs: Runs<'_>, rules: &Rules) -> bool {
    match (a, b) {
        (
            Entry::File { mode, content },
            Entry::File {
                mode: other_mode,
                content: other,
            },
        ) => mode == other_mode && same_stream(content, other, runs, rules),
        _ => a == b,
    }
}
