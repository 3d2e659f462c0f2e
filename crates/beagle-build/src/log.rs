//! What the log of a failed build says.

use std::path::{Path, PathBuf};

use crate::BuildError;
use crate::error::{Doing, FailedBuild};
use crate::lenient;

/// How many lines of a log are shown.
const SHOWN: usize = 20;

/// A build that failed, as its log tells it.
#[derive(Debug)]
pub(crate) struct Failure {
    command: String,
    message: String,
    excerpt: Vec<String>,
    log: PathBuf,
    /// Whether all errors are about dialects that clang no longer accepts.
    pub old_dialect: bool,
}

impl Failure {
    /// Reads the log of a command that failed.
    pub fn read(log: &Path, command: &str) -> Result<Self, BuildError> {
        let bytes = fs_err::read(log).doing(|| "read the log of the build".into())?;
        let text = String::from_utf8_lossy(&bytes);
        // The first line is the command itself.
        let lines: Vec<&str> = text
            .lines()
            .skip(1)
            .filter(|line| !line.trim().is_empty())
            .collect();
        let (message, excerpt) = relevant(&lines);
        Ok(Self {
            command: command.into(),
            message,
            excerpt,
            log: log.to_owned(),
            old_dialect: lenient::has_only_old_dialect_errors(&bytes),
        })
    }

    /// The error to show, with a likely cause if one is known.
    pub fn into_error(self, label: &str, note: Option<String>) -> BuildError {
        BuildError::Failed(Box::new(FailedBuild {
            label: label.into(),
            command: self.command,
            message: self.message,
            excerpt: self.excerpt,
            log: self.log,
            note,
        }))
    }
}

/// The line that says most, and the lines around it: from the first error on, or the last ones.
fn relevant(lines: &[&str]) -> (String, Vec<String>) {
    const SIGNS: [&str; 5] = [
        "error: ",
        "undefined reference",
        "Error: ",
        "not found",
        "*** ",
    ];
    // What the linker said comes before this, and says more.
    let says = |line: &str, sign| line.contains(sign) && !line.contains("linker command failed");
    let position = |sign| lines.iter().position(|line| says(line, sign));
    let mut first = SIGNS.into_iter().find_map(position);
    // CMake names the place first and says what is wrong in the next line.
    let cmake = lines
        .iter()
        .position(|line| line.starts_with("CMake Error"));
    if let (None, Some(at)) = (first, cmake) {
        first = Some((at + 1).min(lines.len() - 1));
    }
    // `make` only says that a command failed; the line before may say why.
    if let Some(at) = first.filter(|&at| at > 0 && lines[at].contains("] Error ")) {
        first = Some(at - 1);
    }
    let message = first.or(lines.len().checked_sub(1));
    let message = message.map_or("it printed nothing", |at| lines[at].trim());
    let start = first.unwrap_or(lines.len().saturating_sub(SHOWN));
    let excerpt = lines[start..]
        .iter()
        .take(SHOWN)
        .map(|line| (*line).to_owned())
        .collect();
    (message.to_owned(), excerpt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_of_the_compiler_is_the_message() {
        let lines = [
            "cc -c a.c",
            "a.c:1:2: error: no",
            "1 error generated.",
            "make: *** [a.o] Error 1",
        ];
        let (message, excerpt) = relevant(&lines);
        assert_eq!(message, "a.c:1:2: error: no");
        assert_eq!(excerpt, lines[1..]);
    }

    #[test]
    fn what_cmake_misses_is_the_message() {
        let lines = [
            "-- Detecting C compile features",
            "CMake Error at FindPackageHandleStandardArgs.cmake:230 (message):",
            "  Could NOT find ZLIB (missing: ZLIB_LIBRARY ZLIB_INCLUDE_DIR)",
            "Call Stack (most recent call first):",
            "See also \"CMakeOutput.log\".",
        ];
        assert_eq!(
            relevant(&lines).0,
            "Could NOT find ZLIB (missing: ZLIB_LIBRARY ZLIB_INCLUDE_DIR)"
        );
    }

    #[test]
    fn without_an_error_the_end_is_shown() {
        assert_eq!(relevant(&["a", "b"]).0, "b");
        assert_eq!(relevant(&[]).0, "it printed nothing");
        assert_eq!(
            relevant(&["cc", "x: killed", "make: *** [a] Error 1"]).0,
            "x: killed"
        );
        assert_eq!(
            relevant(&["x", "ld: a.o: undefined reference to `f'", "y"]).0,
            "ld: a.o: undefined reference to `f'"
        );
    }
}
