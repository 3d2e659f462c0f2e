//! What kind of difference it is, how bad, and by what others of its kind are known.

use std::fmt;

use crate::compare::Aspects;
use crate::observation::{End, Fault, Observation};

/// What kind of difference it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Only the new version crashes or has an error that a sanitizer sees.
    Crash,
    /// Only the new version does not end.
    Hang,
    /// Standard output, files, or how they end differ.
    Output,
    /// Only standard error differs.
    Message,
    /// Only the old version does not end.
    HangFix,
    /// Only the old version crashes or has an error that a sanitizer sees. Undefined behaviour that does
    /// no harm is not enough if what the versions do differs as well.
    Fix,
}

impl Class {
    const ALL: [Self; 6] = [
        Self::Crash,
        Self::Hang,
        Self::Output,
        Self::Message,
        Self::HangFix,
        Self::Fix,
    ];

    /// The class of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }

    /// The name in reports and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::Hang => "hang",
            Self::Output => "output",
            Self::Message => "message",
            Self::HangFix => "hang-fix",
            Self::Fix => "fix",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How the two versions stand to the one that is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Standing {
    /// The old version was right, the new one is not.
    Regression,
    /// Both are wrong, in different ways.
    IncompleteFix,
    /// The new version is right, the old one was not.
    Progression,
}

impl Standing {
    /// The name in reports and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Regression => "regression",
            Self::IncompleteFix => "incomplete-fix",
            Self::Progression => "progression",
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How bad a difference is, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The new version crashes.
    Crash,
    /// The new version does not end.
    Hang,
    /// The exit status differs, or the new version is known to be wrong.
    Status,
    /// The output differs.
    Output,
    /// Messages differ.
    Message,
    /// The new version is better.
    Better,
}

/// The kind of a difference between two observations.
pub(crate) fn classify(old: &Observation, new: &Observation, aspects: Aspects) -> Class {
    let hangs = |run: &Observation| run.end == End::TimedOut;
    if crashes(new) && !crashes(old) {
        Class::Crash
    } else if hangs(new) && !hangs(old) {
        Class::Hang
    } else if crashes(old) && !crashes(new) && !(survives(old) && aspects.beyond_sanitizers()) {
        Class::Fix
    } else if hangs(old) && !hangs(new) {
        Class::HangFix
    } else if aspects
        == (Aspects {
            stderr: true,
            ..Aspects::default()
        })
    {
        Class::Message
    } else {
        Class::Output
    }
}

fn crashes(run: &Observation) -> bool {
    matches!(run.end, End::Signal(_) | End::TooManyProcesses) || run.fault.is_some()
}

/// Undefined behaviour that does on the machine what was meant: a null pointer with a size of 0, a shift of a negative
/// number, a misaligned access.
const HARMLESS: [&str; 6] = [
    "function-type",
    "misaligned-access",
    "nonnull-argument",
    "nonnull-return",
    "pointer-overflow",
    "shift-base",
];

/// Whether all that is wrong with a run is such undefined behaviour.
fn survives(run: &Observation) -> bool {
    let harmless = |fault: &Fault| HARMLESS.contains(&&fault.kind[..]);
    matches!(run.end, End::Exit(_)) && run.fault.as_ref().is_some_and(harmless)
}

/// How bad it is.
pub(crate) fn severity(class: Class, aspects: Aspects, standing: Option<Standing>) -> Severity {
    match (standing, class) {
        (Some(Standing::Progression), _) => Severity::Better,
        (_, Class::Crash) => Severity::Crash,
        (_, Class::Hang) => Severity::Hang,
        (Some(Standing::Regression), _) => Severity::Status,
        (_, Class::Output) if aspects.exit || aspects.signal => Severity::Status,
        (_, Class::Output) => Severity::Output,
        (_, Class::Message) => Severity::Message,
        (_, Class::HangFix | Class::Fix) => Severity::Better,
    }
}

/// By what others of its kind are known: nothing of it depends on the very input.
pub(crate) fn signature(
    class: Class,
    aspects: Aspects,
    old: &Observation,
    new: &Observation,
) -> String {
    let aspects = aspects.names().join("+");
    format!("{class}/{aspects}/{}>{}", brief(old), brief(new))
}

fn brief(run: &Observation) -> String {
    match &run.fault {
        Some(fault) => format!("{} {}", run.end, fault.key()),
        None => run.end.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::observation::{Circumstances, Stream};

    fn run(kind: Option<&str>) -> Observation {
        Observation {
            end: End::Exit(0),
            stdout: Stream::default(),
            stderr: Stream::default(),
            files: Vec::new(),
            fault: kind.map(|kind| Fault {
                kind: kind.to_owned(),
                place: None,
                function: None,
                text: String::new(),
            }),
            time: Duration::ZERO,
            circumstances: Circumstances::default(),
        }
    }

    #[test]
    fn other_output_is_no_fix_because_old_had_harmless_undefined_behaviour() {
        let sanitizer = Aspects {
            sanitizer: true,
            ..Aspects::default()
        };
        let output = Aspects {
            stdout: true,
            ..sanitizer
        };
        let class = |kind, aspects| classify(&run(Some(kind)), &run(None), aspects);
        assert_eq!(class("nonnull-argument", sanitizer), Class::Fix);
        assert_eq!(class("nonnull-argument", output), Class::Output);
        assert_eq!(class("heap-buffer-overflow", output), Class::Fix);
    }
}
