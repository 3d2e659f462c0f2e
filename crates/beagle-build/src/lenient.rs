//! Old dialects: implicit `int`, calls to undeclared functions, and the like.
//!
//! clang makes errors of them that the compilers of the time accepted. Turning the errors off
//! everywhere would change the answers of configure checks, and with them what is built; so
//!
//! * by default nothing is turned off: a build that works with clang works in the same way;
//! * with `BEAGLE_LENIENT=1`, a compilation is first tried exactly as asked. Only if it fails
//!   with these errors and no others is it repeated with them turned off;
//! * configure checks are never repeated, nor is a compilation whose user asked for errors
//!   (`-Werror`, `-Werror=implicit-int`, …).
//!
//! `build` sets the variable for single files, and for a tree when its build failed without.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::Output;

use crate::arguments::{Arg, Plan};
use crate::options::{OLD_DIALECT, accept_old_dialects};

/// The environment variable that allows old dialects.
pub(crate) const LENIENT: &str = "BEAGLE_LENIENT";

/// Whether this compilation may be repeated more leniently.
pub(crate) fn may_be_lenient(plan: &Plan) -> bool {
    std::env::var_os(LENIENT).is_some_and(|value| value == "1")
        && plan.sources().next().is_some()
        && !tries_out(plan)
        && !plan.args.iter().any(asks_for_errors)
}

/// Runs a compilation, leniently if it has to be, and shows what the one that counts printed.
/// `run` is given the additional options.
pub(crate) fn run(run: impl Fn(Vec<OsString>) -> io::Result<Output>) -> io::Result<Output> {
    let mut output = run(Vec::new())?;
    if !output.status.success() && has_only_old_dialect_errors(&output.stderr) {
        let second = run(accept_old_dialects().collect())?;
        if second.status.success() {
            output = second;
        }
    }
    io::stdout().write_all(&output.stdout)?;
    io::stderr().write_all(&output.stderr)?;
    Ok(output)
}

/// Whether these messages contain errors, all of which are about old dialects.
pub(crate) fn has_only_old_dialect_errors(messages: &[u8]) -> bool {
    let text = String::from_utf8_lossy(messages);
    let mut errors = text
        .lines()
        .filter(|line| line.contains("error: "))
        .peekable();
    errors.peek().is_some()
        && errors.all(|line| is_old_dialect(line) || line.contains("too many errors emitted"))
}

/// Whether a line of a build's log is an error about an old dialect.
pub(crate) fn is_old_dialect(line: &str) -> bool {
    line.contains("error: ")
        && OLD_DIALECT
            .iter()
            .any(|name| line.ends_with(&format!("[-W{name}]")))
}

/// Whether this command is a check of a configure script, CMake or Meson.
pub(crate) fn tries_out(plan: &Plan) -> bool {
    plan.inputs().any(|input| is_probe(&input.path))
        || std::env::current_dir().is_ok_and(|dir| is_probe(&dir))
}

/// Whether a source or directory belongs to a check of a configure script, CMake or Meson.
fn is_probe(path: &Path) -> bool {
    const PARTS: [&str; 4] = ["CMakeTmp", "CMakeScratch", "CompilerIdC", "meson-private"];
    path.components().any(|part| {
        let part = part.as_os_str().to_string_lossy();
        part.starts_with("conftest") || PARTS.contains(&part.as_ref())
    })
}

fn asks_for_errors(arg: &Arg) -> bool {
    let Arg::Option(words) = arg else {
        return false;
    };
    let word = words[0].to_string_lossy();
    let class = word.strip_prefix("-Werror=");
    word == "-Werror"
        || word == "-pedantic-errors"
        || class.is_some_and(|class| OLD_DIALECT.contains(&class))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_errors_about_old_dialects_are_forgiven() {
        let old = "a.c:1:1: error: type specifier missing [-Wimplicit-int]\n1 error generated.\n";
        assert!(has_only_old_dialect_errors(old.as_bytes()));
        assert!(!has_only_old_dialect_errors(
            b"a.c:1:1: warning: x [-Wimplicit-int]\n"
        ));
        let mixed = format!("{old}a.c:2:1: error: use of undeclared identifier 'x'\n");
        assert!(!has_only_old_dialect_errors(mixed.as_bytes()));
        let asked = "a.c:1:1: error: type specifier missing [-Werror,-Wimplicit-int]\n";
        assert!(!has_only_old_dialect_errors(asked.as_bytes()));
        let many =
            format!("{old}fatal error: too many errors emitted, stopping now [-ferror-limit=]\n");
        assert!(has_only_old_dialect_errors(many.as_bytes()));
    }

    #[test]
    fn configure_checks_are_recognised() {
        for probe in [
            "conftest.c",
            "/b/CMakeFiles/CMakeScratch/TryCompile-x/t.c",
            "b/meson-private/tmp/testfile.c",
        ] {
            assert!(is_probe(Path::new(probe)), "{probe}");
        }
        assert!(!is_probe(Path::new("src/test.c")));
    }
}
