//! Who is first to tell two versions apart: Beagle, a differential harness for libFuzzer, or AFL++:
//! `make bench-race`.
//!
//! `PAIRS=16` regressions, fixes and features of the subjects, spread over them (`all` for all);
//! `SUBJECT=name` for those of one subject. All start from the same input, on which the versions agree,
//! and can vary its words, its files and its standard input. Left out are pairs that only show with
//! sanitizers, or with another number of words, as a harness does not vary that. Beagle has 60 s, once
//! with nothing built before and once with everything built; each rival has `RIVAL_SECONDS=60` once
//! it is built. One after the other, and everything that is found is checked with builds that no part of
//! Beagle made.
#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "the figures are what it is for"
)]

#[allow(dead_code, reason = "shared with the tests")]
#[path = "../../tests/hunt/mod.rs"]
mod hunt;
#[allow(dead_code, reason = "shared with the mutants")]
#[path = "../rivals/mod.rs"]
mod rivals;
mod table;

use std::path::Path;

use beagle_subjects::{Input, Kind, Pair, Subject, Workshop, number};
use hunt::Hunt;
use rivals::{Outcome, Rivals, paste};
use table::{Row, Time};

/// How long Beagle looks for one difference.
const SECONDS: u64 = 60;

/// Pairs whose difference hides behind 32-bit arithmetic; always among those that are picked.
const GUARDED: [&str; 2] = ["bitpack/remembered-by-hash", "mailmerge/names-by-hash"];

fn main() {
    let subjects = beagle_subjects::subjects(&beagle_subjects::root());
    let mut subjects = subjects.expect("the subjects load");
    if let Ok(only) = std::env::var("SUBJECT") {
        subjects.retain(|subject| subject.name == only);
    }
    let most = match std::env::var("PAIRS").as_deref() {
        Ok("all") => usize::MAX,
        _ => number("PAIRS", 16) as usize,
    };
    let seconds = number("RIVAL_SECONDS", 60);
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("race");
    let _ = fs_err::remove_dir_all(&dir);
    println!("{}", table::HEAD);
    let mut rows = Vec::new();
    for (name, pair) in picked(&subjects, most) {
        let race = Race {
            pair,
            seed: hunt::seed(pair).expect("only pairs with a seed are picked"),
            dir: &dir.join(&name),
            workshop: Workshop::new().expect("a temporary directory can be made"),
        };
        let row = race.row(name, seconds);
        println!("{}", row.line());
        rows.push(row);
    }
    println!("\n{}", table::summary(&rows, seconds));
    let wrong = rows.iter().any(|row| row.wrong);
    assert!(!wrong, "Beagle reported what is not so");
}

/// Pairs of a race: guarded ones, and then the first of each subject, the second of each, and so on.
fn picked(subjects: &[Subject], most: usize) -> Vec<(String, &Pair)> {
    let mut found = Vec::new();
    for (at, subject) in subjects.iter().enumerate() {
        let pairs = subject.pairs.iter().filter(|pair| is_fair(pair));
        for (turn, pair) in pairs.enumerate() {
            let name = format!("{}/{}", subject.name, pair.name);
            let guarded = GUARDED.contains(&name.as_str());
            found.push(((!guarded, turn, at), (name, pair)));
        }
    }
    found.sort_by_key(|(turn, _)| *turn);
    let mut found: Vec<_> = found.into_iter().map(|(_, pair)| pair).collect();
    found.truncate(most);
    found
}

/// Whether a rival can vary the seed into an input that is known to show the difference.
fn is_fair(pair: &Pair) -> bool {
    let kind = matches!(pair.kind, Kind::Regression | Kind::Fix | Kind::Feature);
    let like = |seed: &Input, other: &Input| {
        let names = |input: &Input| input.files.keys().cloned().collect::<Vec<_>>();
        seed.args.len() == other.args.len()
            && names(seed) == names(other)
            && hunt::beside(seed).eq(hunt::beside(other))
    };
    let seed = hunt::seed(pair);
    let shown = |seed: &Input| {
        let plain = pair.differs.iter().filter(|it| it.sanitizer.is_none());
        plain.into_iter().any(|it| like(seed, &it.input))
    };
    kind && seed.is_some_and(shown)
}

/// One pair, and where it is raced.
struct Race<'a> {
    pair: &'a Pair,
    seed: &'a Input,
    dir: &'a Path,
    workshop: Workshop,
}

impl Race<'_> {
    fn row(&self, name: String, seconds: u64) -> Row {
        let mut row = Row {
            name,
            cold: None,
            warm: None,
            libfuzzer: Time::default(),
            afl: Time::default(),
            wrong: false,
            command: String::new(),
            notes: Vec::new(),
        };
        row.cold = self.beagle(&mut row);
        row.warm = self.beagle(&mut row);
        let dir = self.dir.join("rivals");
        match Rivals::new(&self.pair.old, &self.pair.new, self.seed, &dir) {
            Ok(rivals) => {
                let outcome = rivals.libfuzzer(seconds, |input| self.is_real(input) == Ok(true));
                row.libfuzzer = self.confirmed("libFuzzer", outcome, &mut row.notes);
                let outcome = rivals.afl(seconds);
                row.afl = self.confirmed("AFL++", outcome, &mut row.notes);
            }
            Err(error) => row.notes.push(error),
        }
        row
    }

    /// How long Beagle takes, from the command on.
    fn beagle(&self, row: &mut Row) -> Option<f64> {
        let hunt = Hunt {
            old: &self.pair.old,
            new: &self.pair.new,
            seed: Some(self.seed),
            seconds: SECONDS,
            options: &[],
            first: true,
            blame: false,
        };
        let start = self.dir.join("start");
        let command = fs_err::create_dir_all(&start).and_then(|()| hunt.command(&start));
        let mut command = command.expect("the seed can be written");
        row.command = paste::command(&command, &start);
        let report = match hunt::report(&mut command, &self.dir.join("cache")) {
            Ok(report) => report,
            Err(error) => {
                row.notes.push(error);
                return None;
            }
        };
        for difference in &report.differences {
            let input = hunt::reported(&difference.input);
            match self.is_real(&input) {
                Ok(true) => {}
                Ok(false) => {
                    row.wrong = true;
                    row.notes.push(format!("wrong: {input}"));
                    return None;
                }
                Err(error) => row.notes.push(error),
            }
        }
        report.seconds_to_first
    }

    /// How long a rival took for what is so.
    fn confirmed(
        &self,
        who: &str,
        outcome: Result<Outcome, String>,
        notes: &mut Vec<String>,
    ) -> Time {
        let Outcome { build, caught } = match outcome {
            Ok(outcome) => outcome,
            Err(error) => {
                notes.push(error);
                return Time::default();
            }
        };
        let mut time = Time { build, found: None };
        let Some(caught) = caught else {
            return time;
        };
        match self.is_real(&caught.input) {
            Ok(true) => {
                time.found = Some(caught.seconds);
                let shown = paste::input(&caught.input, &self.dir.join(who));
                let shown = shown.unwrap_or_else(|error| error.to_string());
                notes.push(format!("{who}: {shown}"));
            }
            Ok(false) => notes.push(format!("{who} is wrong about {}", caught.input)),
            Err(error) => notes.push(error),
        }
        time
    }

    fn is_real(&self, input: &Input) -> Result<bool, String> {
        hunt::differ(&self.workshop, &self.pair.old, &self.pair.new, input)
    }
}
