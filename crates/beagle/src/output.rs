//! Writing to standard output and standard error, whether or not anybody listens.

use std::fmt::Display;
use std::io::Write;

use crate::failure::Failure;

/// Writes to standard output, with colours where they are wanted.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(Failure::Output)
}

/// How many columns there are for what goes to standard output. A file has as many as people read
/// well.
pub fn width() -> usize {
    let size = terminal_size::terminal_size_of(std::io::stdout());
    size.map_or(100, |(width, _)| width.0.into())
}

/// Writes a line to standard error. If that is not possible, there is nobody to tell.
pub fn tell(line: impl Display) {
    // In one piece, since both versions are worked on at the same time.
    let line = format!("{line}\n");
    let _ = anstream::stderr().write_all(line.as_bytes());
}
