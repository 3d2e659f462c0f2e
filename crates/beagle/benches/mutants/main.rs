//! How many mutants of the subjects Beagle finds, and how soon, against random inputs and AFL++:
//! `make bench-mutants`.
//!
//! `MUTANTS=400` of them, spread over the subjects; Beagle has 20 s for each. Those that it does not
//! find are given to its rivals: up to `RANDOM_RUNS=1000000` random inputs, and if these show nothing,
//! AFL++ for `AFL=60` seconds (0: not at all). A mutant that nobody finds counts as not
//! distinguishable. All start from one input, and everything that is reported is checked with builds
//! that no part of Beagle made. `SUBJECT=name` looks at one subject only, `JOBS=2` at two mutants at a
//! time, which makes both slower. `STRATEGY=shadow,reach` uses only these techniques.
//!
//! The rows, with a command for each search and what shows a mutant that was missed, are in
//! `rows.csv` in the directory that is printed. If it is interrupted, the next run goes on where
//! it was: rows are kept while mutants, limits and Beagle itself are the same. Remove the directory
//! to measure anew.
#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "the figures are what it is for"
)]

#[allow(dead_code, reason = "shared with the tests")]
#[path = "../../tests/hunt/mod.rs"]
mod hunt;
#[allow(dead_code, reason = "shared with the tests")]
#[path = "../../tests/hunt/mutants.rs"]
mod mutants;
#[allow(dead_code, reason = "shared with the race")]
#[path = "../rivals/mod.rs"]
mod rivals;
mod sheet;
mod table;

use std::path::{Path, PathBuf};

use beagle_report::diff::Report;
use beagle_subjects::{Input, Workshop, number};
use hunt::Hunt;
use mutants::Mutation;
use rivals::{Outcome, Rivals, paste};
use sheet::Sheet;
use table::{Beagle, Row};

/// How long Beagle looks for one mutant.
const SECONDS: u64 = 20;

fn main() {
    let limits = Limits {
        random: number("RANDOM_RUNS", 1_000_000),
        afl: number("AFL", 60),
    };
    let subjects = beagle_subjects::subjects(&beagle_subjects::root());
    let mut subjects = subjects.expect("the subjects load");
    if let Ok(only) = std::env::var("SUBJECT") {
        subjects.retain(|subject| subject.name == only);
    }
    let strategy = std::env::var("STRATEGY").ok();
    let dir = match &strategy {
        Some(strategy) => format!("mutants-{strategy}"),
        None => "mutants".to_owned(),
    };
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(dir);
    let sheet =
        Sheet::open(&dir, &limits.question()).expect("a directory for the rows can be made");
    let count = number("MUTANTS", 400) as usize;
    let mutations = mutants::spread(&subjects, count, &dir).expect("mutants can be made");
    let mutations = hunt::taking_turns(mutations, |mutation| mutation.subject.clone());
    let kept = mutations.iter().filter(|mutation| sheet.has(mutation));
    match kept.count() {
        0 => println!("rows: {}", sheet.path().display()),
        kept => println!("{kept} rows are kept from {}", sheet.path().display()),
    }
    hunt::in_turn(&mutations, |mutation| {
        if !sheet.has(mutation) {
            sheet.put(Bench::new(mutation, &dir).searched(strategy.as_deref()));
        }
    });
    // Only now, as what was not found takes most of the time.
    hunt::in_turn(&mutations, |mutation| {
        if let Some(row) = sheet.row(mutation).filter(Row::wants_rivals) {
            sheet.put(Bench::new(mutation, &dir).contested(row, &limits));
        }
    });
    let rows: Vec<Row> = mutations.iter().filter_map(|it| sheet.row(it)).collect();
    println!("\n{}", table::summary(&rows, SECONDS));
    println!("rows: {}", sheet.path().display());
    let wrong = rows.iter().any(|row| matches!(row.beagle, Beagle::Wrong));
    assert!(!wrong, "Beagle reported what is not so");
}

/// What the rivals may do.
struct Limits {
    /// Random inputs.
    random: u64,
    /// Seconds of AFL++.
    afl: u64,
}

impl Limits {
    /// What has to be the same for rows to stay as they are.
    fn question(&self) -> String {
        let program = fs_err::read(hunt::BEAGLE).expect("Beagle was built before its benchmark");
        let Self { random, afl } = self;
        let program = blake3::hash(&program);
        format!("Beagle {program}, {SECONDS} s, {random} random runs, {afl} s of AFL++\n")
    }
}

/// One mutant on the bench.
struct Bench<'a> {
    mutation: &'a Mutation,
    dir: PathBuf,
    cache: PathBuf,
    workshop: Workshop,
}

impl<'a> Bench<'a> {
    fn new(mutation: &'a Mutation, dir: &Path) -> Self {
        Self {
            mutation,
            dir: dir.join(&mutation.subject).join(&mutation.mutant.id),
            cache: dir.join("cache"),
            workshop: Workshop::new().expect("a temporary directory can be made"),
        }
    }

    /// What Beagle makes of it.
    fn searched(&self, strategy: Option<&str>) -> Row {
        let options: Vec<&str> = match strategy {
            Some(strategy) => vec!["--strategy", strategy],
            None => Vec::new(),
        };
        let Mutation {
            subject,
            mutant,
            old,
            new,
            seed,
        } = self.mutation;
        let hunt = Hunt {
            old,
            new,
            seed: Some(seed),
            seconds: SECONDS,
            options: &options,
            first: true,
            blame: false,
        };
        let start = self.dir.join("start");
        let command = fs_err::create_dir_all(&start).and_then(|()| hunt.command(&start));
        let mut command = command.expect("the seed can be written");
        let mut row = Row {
            subject: subject.clone(),
            mutant: mutant.clone(),
            beagle: Beagle::Missed,
            runs: 0,
            queries: 0,
            contested: false,
            random: None,
            afl: None,
            shown_by: String::new(),
            command: paste::command(&command, &start),
            note: String::new(),
        };
        match hunt::report(&mut command, &self.cache) {
            Ok(report) => {
                (row.runs, row.queries) = (report.runs, report.queries);
                row.beagle = self.verdict(&report, &mut row.note);
            }
            Err(error) => row.note = error,
        }
        row
    }

    /// The same row after the rivals had their turn, the quick one first.
    fn contested(&self, mut row: Row, limits: &Limits) -> Row {
        row.contested = true;
        let Mutation { old, new, seed, .. } = self.mutation;
        let dir = self.dir.join("rivals");
        let rivals = match Rivals::new(old, new, seed, &dir) {
            Ok(rivals) => rivals,
            Err(error) => {
                row.note.push_str(&error);
                return row;
            }
        };
        if limits.random > 0 {
            row.random = self.confirmed(rivals.random(limits.random), &mut row);
        }
        if limits.afl > 0 && row.random.is_none() {
            row.afl = self.confirmed(rivals.afl(limits.afl), &mut row);
        }
        row
    }

    /// What Beagle found, and whether it is so.
    fn verdict(&self, report: &Report, note: &mut String) -> Beagle {
        if report.differences.is_empty() {
            return match report.verdict {
                beagle_report::diff::Verdict::Equivalent => Beagle::Equivalent,
                _ => Beagle::Missed,
            };
        }
        let wrong = report.differences.iter().find(|difference| {
            let input = hunt::reported(&difference.input);
            !self.is_real(&input, note)
        });
        match wrong {
            Some(difference) => {
                note.push_str(&hunt::reported(&difference.input).to_string());
                Beagle::Wrong
            }
            None => Beagle::Found(report.seconds_to_first.unwrap_or(report.seconds)),
        }
    }

    /// How long a rival took for what is so; the row gets a command that shows it.
    fn confirmed(&self, outcome: Result<Outcome, String>, row: &mut Row) -> Option<f64> {
        match outcome {
            Ok(outcome) => {
                let caught = outcome.caught?;
                if !self.is_real(&caught.input, &mut row.note) {
                    return None;
                }
                let shown = paste::input(&caught.input, &self.dir.join("shown"));
                row.shown_by = shown.unwrap_or_else(|error| error.to_string());
                Some(caught.seconds)
            }
            Err(error) => {
                row.note.push_str(&error);
                None
            }
        }
    }

    fn is_real(&self, input: &Input, note: &mut String) -> bool {
        let Mutation { old, new, .. } = self.mutation;
        hunt::differ(&self.workshop, old, new, input).unwrap_or_else(|error| {
            note.push_str(&error);
            false
        })
    }
}
