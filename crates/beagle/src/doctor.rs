//! `beagle doctor`: whether everything is there that Beagle needs.
//!
//! The list is the one that `scripts/setup` installs from.

use std::env;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};

use crate::failure::Failure;
use crate::output;

const NEEDS: &str = include_str!("../../../scripts/needs.txt");

const GOOD: Style = AnsiColor::Green.on_default().bold();
const BAD: Style = AnsiColor::Red.on_default().bold();
const OPTIONAL: Style = AnsiColor::Yellow.on_default().bold();

/// One line of the list.
struct Need<'t> {
    package: &'t str,
    probe: &'t str,
    who: &'t str,
    purpose: &'t str,
}

/// Runs the command; exit status 1 if something is missing without which Beagle does not work.
pub fn run() -> Result<i32, Failure> {
    let (mut needed, mut optional) = (Vec::new(), Vec::new());
    let mut text = String::new();
    for need in needs() {
        let (style, state, note) = match find(need.probe) {
            Some(path) => (GOOD, "ok", format!(" ({})", path.display())),
            None if need.who == "users" => {
                needed.push(need.package);
                (BAD, "missing", String::new())
            }
            None => {
                optional.push(need.package);
                let note = " (only to build or test Beagle itself)";
                (OPTIONAL, "missing", note.to_owned())
            }
        };
        let Need {
            package, purpose, ..
        } = need;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{style}{state:>7}{style:#}  {package:<20} {purpose}{note}"
        );
    }
    text.push_str(&advice(&needed, &optional));
    output::print(&text)?;
    Ok(i32::from(!needed.is_empty()))
}

/// What to do about what is missing.
fn advice(needed: &[&str], optional: &[&str]) -> String {
    let install = |packages: &[&str]| format!("apt-get install {}", packages.join(" "));
    match (needed, optional) {
        ([], []) => "Everything is there.\n".to_owned(),
        ([], optional) => format!(
            "Everything is there to use Beagle. To work on Beagle itself, on Debian: {}\n",
            install(optional)
        ),
        (needed, _) => format!(
            "Beagle needs what is missing. On Debian or Ubuntu: {}\n",
            install(needed)
        ),
    }
}

fn needs() -> impl Iterator<Item = Need<'static>> {
    let lines = NEEDS.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| {
        let mut parts = line.split('|').map(str::trim);
        Some(Need {
            package: parts.next()?,
            probe: parts.next()?,
            who: parts.next()?,
            purpose: parts.next()?,
        })
    })
}

/// The command in the search path, or the file; the last part of a path may hold one `*`.
fn find(probe: &str) -> Option<PathBuf> {
    let path = Path::new(probe);
    if !path.is_absolute() {
        let directories = env::var_os("PATH")?;
        return env::split_paths(&directories)
            .map(|directory| directory.join(probe))
            .find(|candidate| candidate.is_file());
    }
    let name = path.file_name()?.to_str()?;
    let Some((start, end)) = name.split_once('*') else {
        return path.exists().then(|| path.to_owned());
    };
    let entries = std::fs::read_dir(path.parent()?).ok()?;
    entries
        .flatten()
        .map(|entry| entry.path())
        .find(|candidate| {
            let name = candidate.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with(start) && name.ends_with(end))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_list_is_complete() {
        let lines = NEEDS.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(needs().count(), lines);
        for need in needs() {
            assert!(
                ["users", "builders", "testers"].contains(&need.who),
                "{}",
                need.package
            );
        }
    }

    #[test]
    fn commands_and_files_are_found_and_missing_ones_are_not() {
        assert!(find("sh").is_some());
        assert!(find("no-such-command-anywhere").is_none());
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("lib-x86.a"), "").unwrap();
        let probe = |name: &str| find(directory.path().join(name).to_str().unwrap());
        assert!(probe("lib-*.a").is_some());
        assert!(probe("lib-*.so").is_none());
    }
}
