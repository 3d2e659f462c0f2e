//! What can stop a command, with the exit code that tells it apart.

use std::fmt;
use std::io::{self, ErrorKind};

use beagle_build::{BuildError, FailedBuild};
use beagle_program::LoadError;

/// Why a command could not be carried out.
#[derive(Debug)]
pub enum Failure {
    /// A version could not be found or built.
    Build(BuildError),
    /// The bitcode of a version could not be read.
    Load {
        /// The version.
        label: String,
        /// What LLVM says.
        error: LoadError,
    },
    /// Something on the command line does not make sense.
    Usage {
        /// What is wrong.
        cause: String,
        /// What to do about it.
        hint: String,
    },
    /// A program could not be instrumented or run.
    Run(String),
    /// The output could not be written.
    Output(io::Error),
    /// A mistake in Beagle. What went wrong has been said already.
    Internal,
}

impl Failure {
    /// Something on the command line that does not make sense.
    pub fn usage(cause: impl Into<String>, hint: impl Into<String>) -> Self {
        Failure::Usage {
            cause: cause.into(),
            hint: hint.into(),
        }
    }

    /// A program that could not be instrumented or run.
    pub fn run(error: impl fmt::Display) -> Self {
        Failure::Run(error.to_string())
    }

    /// 2 for what the user wrote, 3 for a version that cannot be built, 70 for what is not the
    /// user's fault.
    pub fn exit_code(&self) -> i32 {
        match self {
            Failure::Build(error) => error.exit_code(),
            Failure::Load { .. } | Failure::Run(_) => 3,
            Failure::Usage { .. } => 2,
            // As if killed by the closed pipe.
            Failure::Output(error) if error.kind() == ErrorKind::BrokenPipe => 141,
            Failure::Output(_) => 2,
            Failure::Internal => 70,
        }
    }

    /// Whether there is nobody left who would want to know.
    pub fn is_silent(&self) -> bool {
        matches!(self, Failure::Output(error) if error.kind() == ErrorKind::BrokenPipe)
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Failure::Build(error) => build_hint(error),
            Failure::Load { .. } => "build all parts with `beagle cc`, which uses clang 19".into(),
            Failure::Usage { hint, .. } => hint.clone(),
            Failure::Run(_) => "`beagle doctor` checks that nothing is missing".into(),
            Failure::Output(_) => "is there room where the output goes?".into(),
            Failure::Internal => "please report it, with what stands above and the command".into(),
        }
    }

    /// The lines of a build's log that say more about it.
    pub fn excerpt(&self) -> &[String] {
        match self {
            Failure::Build(BuildError::Failed(failed)) => match &failed.excerpt[..] {
                // That line has been shown as the cause.
                [first, rest @ ..] if first.trim() == failed.message => rest,
                all => all,
            },
            _ => &[],
        }
    }
}

/// What the build has to say about an error, or what only the command line knows about it.
fn build_hint(error: &BuildError) -> String {
    let known = match error {
        BuildError::NoBuildCommand { .. } => Some(
            "give --build 'make CC=\"$CC\"' and --program PATH, \
             or put both into beagle.toml; `beagle changes --help` shows how"
                .into(),
        ),
        BuildError::Config { message, .. } if !message.starts_with("unknown field") => Some(
            "a line looks like this: build = 'make CC=\"$CC\"'; \
             `beagle changes --help` shows more"
                .into(),
        ),
        BuildError::Failed(failed) => failed_hint(failed).or_else(|| error.hint()),
        _ => error.hint(),
    };
    known.unwrap_or_else(|| match error {
        BuildError::Git { .. } => "the same git command, by hand, may say more".into(),
        BuildError::Io { .. } => "check that the sources can be read, \
             and that there is room in the cache ($BEAGLE_CACHE or ~/.cache/beagle)"
            .into(),
        _ => "`beagle doctor` checks that nothing is missing".into(),
    })
}

/// Failures of the compiler that have a cause known beforehand.
fn failed_hint(failed: &FailedBuild) -> Option<String> {
    let FailedBuild {
        label,
        message,
        log,
        ..
    } = failed;
    let hint = if message.contains("undefined reference to `main'") {
        "a version has to be a whole program with a `main`; a library needs one that uses it"
    } else if message.contains("undefined reference") && label.ends_with(".c") {
        "a .c file is compiled by itself; name libraries and other files with --ldflags, \
         or compare directories"
    } else if message.contains("Segmentation fault") && message.contains("clang") {
        "clang itself crashed; with deeply nested code, try again after `ulimit -s unlimited`"
    } else {
        return None;
    };
    Some(format!("{hint} (log: {})", log.display()))
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Failure::Build(error) => error.fmt(f),
            Failure::Load { label, error } => write!(f, "{label}: {error}"),
            Failure::Usage { cause, .. } => f.write_str(cause),
            Failure::Run(cause) => f.write_str(cause),
            Failure::Output(error) => write!(f, "cannot write the output: {error}"),
            Failure::Internal => f.write_str("a mistake in Beagle itself"),
        }
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Self {
        Failure::Build(error)
    }
}
