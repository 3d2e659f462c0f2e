//! How good explanations are: `make bench-explain`.
//!
//! `MUTANTS=200` mutants of the subjects with a known faulty line, spread over the subjects. For each, `beagle
//! diff` finds a failing test in up to `SECONDS=10`; mutants that it finds none for do not count. Each is explained
//! three times: by alternate inputs alone (*paper*), with everything (*all*), and with everything when the mutation hides
//! among four others that leave the behaviour on the test as it is (*among others*). `SUBJECT=name` looks at one
//! subject only. The rows are in `explain/rows.csv` in the directory that is printed at the end.
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
mod others;
mod table;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use beagle_report::explain::Report;
use beagle_subjects::{Source, Version, number};
use hunt::{BEAGLE, Hunt};
use mutants::Mutation;
use others::Hidden;
use table::{Mode, Row};

fn main() {
    let count = number("MUTANTS", 200);
    let seconds = number("SECONDS", 10);
    let subjects = beagle_subjects::subjects(&beagle_subjects::root());
    let mut subjects = subjects.expect("the subjects load");
    if let Ok(only) = std::env::var("SUBJECT") {
        subjects.retain(|subject| subject.name == only);
    }
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("explain");
    let _ = fs_err::remove_dir_all(&dir);
    fs_err::create_dir_all(&dir).expect("a directory for the mutants can be made");
    let mutations = mutants::spread(&subjects, count as usize, &dir).expect("mutants can be made");
    let (mut rows, mut without) = (Vec::new(), 0);
    for mutation in &mutations {
        let bench = Bench {
            mutation,
            dir: dir.join(&mutation.subject).join(&mutation.mutant.id),
            cache: dir.join("cache"),
        };
        match bench.rows(seconds) {
            Some(found) => {
                for row in &found {
                    println!("{}", row.line());
                }
                rows.extend(found);
            }
            None => without += 1,
        }
        // Also if the rest is interrupted.
        fs_err::write(dir.join("rows.csv"), table::csv(&rows)).expect("the rows can be written");
        // What was built for one mutant is of no use for the next.
        let _ = fs_err::remove_dir_all(&bench.cache);
    }
    println!("\n{}", table::summary(&rows));
    println!("{without} mutants for which no failing test was found do not count");
    println!("rows: {}", dir.join("rows.csv").display());
}

/// One mutant on the bench.
struct Bench<'a> {
    mutation: &'a Mutation,
    dir: PathBuf,
    cache: PathBuf,
}

impl Bench<'_> {
    /// What is said about the mutant; `None` if there is no failing test.
    fn rows(&self, seconds: u64) -> Option<Vec<Row>> {
        let Mutation { old, new, .. } = self.mutation;
        let tests = self.dir.join("tests");
        let out = tests.to_string_lossy().into_owned();
        let hunt = Hunt {
            old,
            new,
            seed: Some(&self.mutation.seed),
            seconds,
            options: &["--out", &out],
            first: true,
            blame: false,
        };
        let report = hunt.run(&self.cache).ok()?;
        let found = report.differences.first()?;
        let test = PathBuf::from(found.saved.as_ref()?);
        let input = hunt::reported(&found.input);
        let line = self.mutation.mutant.line as u32;
        let mut rows = vec![
            self.explained(Mode::All, new, line, &test),
            self.explained(Mode::Paper, new, line, &test),
        ];
        match Hidden::new(self.mutation, &input, &self.dir.join("others")) {
            Ok(Some(hidden)) => {
                rows.push(self.explained(Mode::Others, &hidden.version, hidden.line, &test));
            }
            Ok(None) => {}
            Err(error) => println!("    no others: {error}"),
        }
        Some(rows)
    }

    /// Explains a version; `line` is where the fault is there.
    fn explained(&self, mode: Mode, new: &Version, line: u32, test: &Path) -> Row {
        let mut command = Command::new(BEAGLE);
        command.args(["explain", "--quiet", "--format", "json"]);
        command.args([self.mutation.old.path(), new.path(), test]);
        match &new.source {
            Source::Directory { program, .. } => {
                command.arg("--program").arg(program);
            }
            Source::File(_) if !new.ldflags.is_empty() => {
                command.arg(format!("--ldflags={}", new.ldflags.join(" ")));
            }
            Source::File(_) => {}
        }
        if mode == Mode::Paper {
            command.arg("--alternates-only");
        }
        let start = Instant::now();
        let output = command.env("BEAGLE_CACHE", &self.cache).output();
        let seconds = start.elapsed().as_secs_f64();
        let output = output.expect("beagle can be started");
        let report: Result<Report, _> = serde_json::from_slice(&output.stdout);
        let said = String::from_utf8_lossy(&output.stderr);
        Row::new(
            self.mutation,
            mode,
            line,
            seconds,
            report.map_err(|_| said.into_owned()),
        )
    }
}
