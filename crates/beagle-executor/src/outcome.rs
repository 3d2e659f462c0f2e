//! How a run ended.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// How a run ended, as seen from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The program ended by itself, with this status.
    Exit(i32),
    /// A signal ended it.
    Signal(i32),
    /// It took too long and was killed.
    TimedOut,
}

impl Outcome {
    /// What a status of `waitpid` means.
    pub(crate) fn from_wait_status(status: i32) -> Self {
        let status = ExitStatus::from_raw(status);
        match (status.code(), status.signal()) {
            (Some(code), _) => Outcome::Exit(code),
            (_, Some(signal)) => Outcome::Signal(signal),
            // A process that is waited for has ended one way or the other.
            (None, None) => Outcome::Signal(0),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Exit(code) => write!(f, "exit status {code}"),
            Outcome::Signal(number) => match signal_name(*number) {
                Some(name) => f.write_str(name),
                None => write!(f, "signal {number}"),
            },
            Outcome::TimedOut => f.write_str("time-out"),
        }
    }
}

/// The name of a signal that ends programs.
fn signal_name(number: i32) -> Option<&'static str> {
    use rustix::process::Signal;
    let names = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::XFSZ, "SIGXFSZ"),
        (Signal::SYS, "SIGSYS"),
    ];
    names
        .iter()
        .find(|(signal, _)| signal.as_raw() == number)
        .map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_statuses_are_told_apart() {
        assert_eq!(Outcome::from_wait_status(3 << 8), Outcome::Exit(3));
        assert_eq!(Outcome::from_wait_status(11), Outcome::Signal(11));
        assert_eq!(Outcome::from_wait_status(6 | 0x80), Outcome::Signal(6));
        assert_eq!(Outcome::from_wait_status(11).to_string(), "SIGSEGV");
        assert_eq!(Outcome::Signal(50).to_string(), "signal 50");
    }
}
