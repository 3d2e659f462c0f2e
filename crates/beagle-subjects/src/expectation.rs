//! What a run did, and what it is expected to do.

use std::fmt;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It exited with this code.
    Exit(i32),
    /// It was killed by this signal.
    Signal(i32),
    /// It was still running after [`crate::TIME_LIMIT`] and was killed.
    TimedOut,
}

/// The signals that a program can bring upon itself, by Linux number.
const SIGNALS: [(&str, i32); 13] = [
    ("HUP", 1),
    ("INT", 2),
    ("QUIT", 3),
    ("ILL", 4),
    ("TRAP", 5),
    ("ABRT", 6),
    ("BUS", 7),
    ("FPE", 8),
    ("KILL", 9),
    ("SEGV", 11),
    ("PIPE", 13),
    ("ALRM", 14),
    ("TERM", 15),
];

/// The number of the signal called `name` (without `SIG`).
pub(crate) fn signal_number(name: &str) -> Option<i32> {
    SIGNALS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|&(_, number)| number)
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Exit(code) => write!(f, "exit {code}"),
            Self::Signal(number) => match SIGNALS.iter().find(|(_, known)| *known == number) {
                Some((name, _)) => write!(f, "signal {name}"),
                None => write!(f, "signal {number}"),
            },
            Self::TimedOut => write!(f, "no end within {:?}", crate::TIME_LIMIT),
        }
    }
}

/// Everything observed of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// How it ended.
    pub outcome: Outcome,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it complained about.
    pub stderr: Vec<u8>,
}

impl fmt::Display for Observation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            outcome,
            stdout,
            stderr,
        } = self;
        write!(
            f,
            "{outcome}, stdout {}, stderr {}",
            quoted(stdout),
            quoted(stderr)
        )
    }
}

/// What is stated about one run; what is not stated is not compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// How it ends.
    pub outcome: Outcome,
    /// What it prints, if stated.
    pub stdout: Option<Vec<u8>>,
    /// What it complains about, if stated.
    pub stderr: Option<Vec<u8>>,
}

impl Expected {
    /// Whether the observation is what was expected.
    pub fn matches(&self, seen: &Observation) -> bool {
        let same = |stated: &Option<Vec<u8>>, seen: &[u8]| {
            stated.as_deref().is_none_or(|stated| stated == seen)
        };
        self.outcome == seen.outcome
            && same(&self.stdout, &seen.stdout)
            && same(&self.stderr, &seen.stderr)
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.outcome)?;
        for (name, stated) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if let Some(text) = stated {
                write!(f, ", {name} {}", quoted(text))?;
            }
        }
        Ok(())
    }
}

/// The bytes as a literal on one line, cut to a length that still fits a terminal.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    const SHOWN: usize = 300;
    let shown = bytes.get(..SHOWN).unwrap_or(bytes).escape_ascii();
    let rest = bytes.len().saturating_sub(SHOWN);
    if rest == 0 {
        format!("\"{shown}\"")
    } else {
        format!("\"{shown}\" and {rest} bytes more")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(outcome: Outcome, stdout: &str) -> Observation {
        Observation {
            outcome,
            stdout: stdout.into(),
            stderr: b"?".to_vec(),
        }
    }

    #[test]
    fn what_is_not_stated_is_not_compared() {
        let expected = Expected {
            outcome: Outcome::Exit(0),
            stdout: None,
            stderr: None,
        };
        assert!(expected.matches(&seen(Outcome::Exit(0), "anything")));
        assert!(!expected.matches(&seen(Outcome::Exit(1), "anything")));
    }

    #[test]
    fn stated_output_is_compared_byte_by_byte() {
        let stdout = Some(b"a\n".to_vec());
        let expected = Expected {
            outcome: Outcome::Signal(11),
            stdout,
            stderr: None,
        };
        assert!(expected.matches(&seen(Outcome::Signal(11), "a\n")));
        assert!(!expected.matches(&seen(Outcome::Signal(11), "a")));
        assert_eq!(expected.to_string(), r#"signal SEGV, stdout "a\n""#);
    }
}
