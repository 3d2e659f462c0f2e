//! `beagle diff` from one input of a subject, as a user would start it, and whether what it
//! reports is so. Shared by tests and benchmarks.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use beagle_report::diff::{InputEntry, Report};
use beagle_subjects::{Flavour, Input, Observation, Pair, Source, Version, Workshop};

/// The program under test.
pub const BEAGLE: &str = env!("CARGO_BIN_EXE_beagle");

/// What the programs are called when they are run to check a report.
const NAME: &str = "program";

/// The file with standard input; not among the names that subjects use.
const STDIN: &str = "standard-input";

/// A search for one difference between two versions.
pub struct Hunt<'a> {
    /// The version before the change.
    pub old: &'a Version,
    /// The version after it.
    pub new: &'a Version,
    /// The input to start from; all of it may vary. Without one Beagle is told nothing of how the program is run.
    pub seed: Option<&'a Input>,
    /// How long to look.
    pub seconds: u64,
    /// Further options.
    pub options: &'a [&'a str],
    /// Whether one difference is enough.
    pub first: bool,
    /// Whether to look for the culprits of what is found.
    pub blame: bool,
}

impl Hunt<'_> {
    /// The command line, with the files of the seed in `dir`, where it is to be run.
    pub fn command(&self, dir: &Path) -> std::io::Result<Command> {
        let mut command = Command::new(BEAGLE);
        command.current_dir(dir).args(["diff", "--quiet"]);
        command.args([self.old.path(), self.new.path()]);
        command.args(["--format", "json", "--timeout"]);
        command.arg(self.seconds.to_string());
        if self.first {
            command.arg("--first");
        }
        if !self.blame {
            command.arg("--no-blame");
        }
        command.args(self.options);
        match &self.new.source {
            Source::Directory { program, .. } => {
                command.arg("--program").arg(program);
            }
            Source::File(_) if !self.new.ldflags.is_empty() => {
                command.arg(format!("--ldflags={}", self.new.ldflags.join(" ")));
            }
            Source::File(_) => {}
        }
        let Some(seed) = self.seed else {
            return Ok(command);
        };
        for (name, content) in &seed.files {
            let path = dir.join(name);
            if let Some(parent) = path.parent() {
                fs_err::create_dir_all(parent)?;
            }
            fs_err::write(path, content)?;
        }
        for (name, _) in beside(seed) {
            command.arg("--file").arg(name);
        }
        match seed.stdin.is_empty() {
            true => {
                command.args(["--stdin-text", ""]);
            }
            false => {
                fs_err::write(dir.join(STDIN), &seed.stdin)?;
                command.args(["--stdin", STDIN]);
            }
        }
        for (name, value) in &seed.env {
            command.arg("--env").arg(format!("{name}={{{value}}}"));
        }
        let is_file = |word: &OsStr| {
            let name = word.to_str();
            name.is_some_and(|name| seed.files.contains_key(name))
        };
        if !seed.args.is_empty() {
            command.arg("--");
            command.args(seed.args.iter().map(|word| match is_file(word) {
                true => file(word),
                false => varying(word),
            }));
        }
        Ok(command)
    }

    /// Runs it; an error is what Beagle said instead of a report.
    pub fn run(&self, cache: &Path) -> Result<Report, String> {
        let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
        let command = self.command(dir.path());
        report(&mut command.map_err(|error| error.to_string())?, cache)
    }
}

/// Does the work for each of these, `JOBS` at a time, and gives what it comes to in the same order.
pub fn in_turn<T: Sync, R: Send>(all: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = all.get(at) else {
                return done;
            };
            done.push((at, work(one)));
        }
    };
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let jobs = beagle_subjects::number("JOBS", 1).max(1);
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(worker)).collect();
        let done = workers.into_iter().map(|worker| worker.join());
        done.flat_map(|done| done.expect("work does not panic"))
            .collect()
    });
    done.sort_by_key(|&(at, _)| at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// The first case of each group, then the second of each, and so on: at any time, what was measured is
/// spread as well as the whole.
pub fn taking_turns<T>(mut cases: Vec<T>, group: impl Fn(&T) -> String) -> Vec<T> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    cases.sort_by_cached_key(|case| {
        let turn = seen.entry(group(case)).or_default();
        *turn += 1;
        *turn
    });
    cases
}

/// An input on which the versions agree: the first, or rather the first that is of the shape of one
/// on which they do not, as the number of words and of files beside them does not vary.
pub fn seed(pair: &Pair) -> Option<&Input> {
    let likeness = |input: &Input| {
        let differs = pair.differs.iter().map(|difference| &difference.input);
        let likeness = differs.map(|other| {
            let names = |input| beside(input).map(|(name, _)| name);
            let same = names(input).eq(names(other));
            2 * u8::from(same) + u8::from(input.args.len() == other.args.len())
        });
        likeness.max()
    };
    // The last of equals is the first one from behind.
    pair.agrees
        .iter()
        .rev()
        .max_by_key(|&input| likeness(input))
}

/// What a search reports; an error is what Beagle said instead.
pub fn report(command: &mut Command, cache: &Path) -> Result<Report, String> {
    let output = command.env("BEAGLE_CACHE", cache).output();
    let output = output.map_err(|error| error.to_string())?;
    serde_json::from_slice(&output.stdout).map_err(|error| {
        let said = String::from_utf8_lossy(&output.stderr);
        format!("no report ({error}), {}: {said}", output.status)
    })
}

/// The files that are there but are not named on the command line.
pub fn beside(input: &Input) -> impl Iterator<Item = (&String, &Vec<u8>)> {
    let is_word = |name: &str| input.args.iter().any(|word| word == name);
    input.files.iter().filter(move |(name, _)| !is_word(name))
}

/// A word that varies, as the command line has it.
fn varying(word: &OsStr) -> OsString {
    let mut text = vec![b'{'];
    for &byte in word.as_bytes() {
        if matches!(byte, b'{' | b'}' | b'\\') {
            text.push(b'\\');
        }
        text.push(byte);
    }
    text.push(b'}');
    OsString::from_vec(text)
}

/// A file whose content varies.
fn file(name: &OsStr) -> OsString {
    OsString::from_vec([b"@{", name.as_bytes(), b"}"].concat())
}

/// An input of a report as the subjects' own runner takes it.
pub fn reported(entry: &InputEntry) -> Input {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let args = entry.args.iter();
    Input {
        args: args.map(|arg| OsString::from_vec(arg.0.clone())).collect(),
        stdin: entry.stdin.0.clone(),
        files: (entry.files.iter())
            .map(|(name, content)| (text(&name.0), content.0.clone()))
            .collect(),
        env: (entry.env.iter())
            .map(|(name, value)| (text(&name.0), text(&value.0)))
            .collect(),
    }
}

/// Whether two versions really differ on an input, by builds in which no part of Beagle is
/// involved: as a user builds them, with flags or without, or else with sanitizers.
pub fn differ(
    workshop: &Workshop,
    old: &Version,
    new: &Version,
    input: &Input,
) -> Result<bool, String> {
    for flavour in [Flavour::Plain, Flavour::Bare, Flavour::Sanitized] {
        let seen = |version: &Version| -> Result<Observation, String> {
            let program = workshop.program(version, flavour);
            let program = program.map_err(|error| error.to_string())?;
            beagle_subjects::run(&program, NAME, input).map_err(|error| error.to_string())
        };
        let (old, new) = (seen(old)?, seen(new)?);
        let differs = match flavour {
            Flavour::Plain | Flavour::Bare => old != new,
            // Reports hold addresses and line numbers.
            Flavour::Sanitized => {
                (old.outcome, &old.stdout, faults(&old)) != (new.outcome, &new.stdout, faults(&new))
            }
        };
        if differs {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What a sanitizer calls the errors that it saw.
fn faults(seen: &Observation) -> Vec<String> {
    let text = String::from_utf8_lossy(&seen.stderr);
    let faults = text.lines().filter_map(|line| {
        if let Some((_, what)) = line.split_once("AddressSanitizer: ") {
            return what.split_whitespace().next().map(str::to_owned);
        }
        let (_, what) = line.split_once("runtime error: ")?;
        // Without the values.
        Some(what.split(|c: char| c.is_ascii_digit()).next()?.to_owned())
    });
    faults.collect()
}
