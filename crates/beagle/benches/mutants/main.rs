//! How many mutants of the subjects Beagle finds, and how soon, against random inputs and AFL++:
//! `make bench-mutants`.
//!
//! `MUTANTS=400` of them, spread over the subjects; Beagle has 20 s for each, AFL++ `AFL=60`
//! seconds (0: not at all), and there are up to `RANDOM_RUNS=1000000` random inputs. All start from one
//! input, and everything that is reported is checked with builds that no part of Beagle made.
//! `SUBJECT=name` looks at one subject only. The rows, with a command for each mutant that was
//! missed, are in `mutants/rows.csv` in the directory that is printed at the end.
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
mod rivals;
mod table;

use std::path::{Path, PathBuf};
use std::process::Command;

use beagle_report::diff::Report;
use beagle_subjects::{Input, Workshop, number};
use hunt::Hunt;
use mutants::Mutation;
use rivals::{Caught, Rivals};
use table::{Beagle, Row};

/// How long Beagle looks for one mutant.
const SECONDS: u64 = 20;

fn main() {
    let count = number("MUTANTS", 400) as usize;
    let (random, afl) = (number("RANDOM_RUNS", 1_000_000), number("AFL", 60));
    let subjects = beagle_subjects::subjects(&beagle_subjects::root());
    let mut subjects = subjects.expect("the subjects load");
    if let Ok(only) = std::env::var("SUBJECT") {
        subjects.retain(|subject| subject.name == only);
    }
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutants");
    let _ = fs_err::remove_dir_all(&dir);
    fs_err::create_dir_all(&dir).expect("a directory for the mutants can be made");
    let mutations = mutants::spread(&subjects, count, &dir).expect("mutants can be made");
    let mut rows = Vec::new();
    for mutation in &mutations {
        let bench = Bench {
            mutation,
            dir: dir.join(&mutation.subject).join(&mutation.mutant.id),
            cache: dir.join("cache"),
            workshop: Workshop::new().expect("a temporary directory can be made"),
        };
        let row = bench.row(random, afl);
        println!("{}", row.line());
        rows.push(row);
        // Also if the rest is interrupted.
        fs_err::write(dir.join("rows.csv"), table::csv(&rows)).expect("the rows can be written");
    }
    println!("\n{}", table::summary(&rows));
    println!("rows: {}", dir.join("rows.csv").display());
    let wrong = rows.iter().any(|row| matches!(row.beagle, Beagle::Wrong));
    assert!(!wrong, "Beagle reported what is not so");
}

/// One mutant on the bench.
struct Bench<'a> {
    mutation: &'a Mutation,
    dir: PathBuf,
    cache: PathBuf,
    workshop: Workshop,
}

impl Bench<'_> {
    fn row(&self, random: u64, afl: u64) -> Row {
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
            seed,
            seconds: SECONDS,
            options: &[],
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
            random: None,
            afl: None,
            command: shown(&command, &start),
            note: String::new(),
        };
        match hunt::report(&mut command, &self.cache) {
            Ok(report) => {
                (row.runs, row.queries) = (report.runs, report.queries);
                row.beagle = self.verdict(&report, &mut row.note);
            }
            Err(error) => row.note = error,
        }
        let rivals = Rivals::new(old, new, seed, &self.dir.join("rivals")).map(|rivals| {
            if random > 0 {
                row.random = self.confirmed(rivals.random(random), &mut row.note);
            }
            if afl > 0 {
                row.afl = self.confirmed(rivals.afl(afl), &mut row.note);
            }
        });
        if let Err(error) = rivals {
            row.note.push_str(&error);
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

    /// How long a rival took for what is so.
    fn confirmed(&self, caught: Result<Option<Caught>, String>, note: &mut String) -> Option<f64> {
        match caught {
            Ok(caught) => {
                let caught = caught?;
                self.is_real(&caught.input, note).then_some(caught.seconds)
            }
            Err(error) => {
                note.push_str(&error);
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

/// A command to paste into a shell.
fn shown(command: &Command, dir: &Path) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    let dir = shell_words::join([dir.to_string_lossy()]);
    format!("cd {dir} && {}", shell_words::join(words))
}
