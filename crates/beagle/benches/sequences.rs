//! What going through changes in order finds, against changes by themselves: `make bench-sequences`.
//!
//! As table 3 of Böhme, Oliveira and Roychoudhury (FSE 2013). Every search starts from one input on
//! which the versions agree, with one technique alone, and has the same time: `SECONDS=30`. With `RUNS=300` it also
//! has so many runs at most, which a busy machine does not change. `SUBJECT=name` takes only pairs whose
//! name has that in it.
#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "the figures are what it is for"
)]

#[allow(dead_code, reason = "shared with the tests")]
#[path = "../tests/hunt/mod.rs"]
mod hunt;

use std::path::Path;

use beagle_report::diff::Report;
use beagle_subjects::{Kind, Pair, root, subjects};
use hunt::Hunt;

/// The techniques that are compared.
const MODES: [&str; 4] = ["sequences", "isolation", "unguided", "all"];

/// What one search came to.
#[derive(Clone, Copy, Default)]
struct Outcome {
    found: bool,
    sequences: u64,
    runs: u64,
    seconds: f64,
}

fn main() {
    let seconds = beagle_subjects::number("SECONDS", 30);
    let wanted = std::env::var("SUBJECT").unwrap_or_default();
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sequences");
    fs_err::create_dir_all(&dir).expect("a directory can be made");
    println!("found (+), sequences of changes exercised, runs, seconds to the first difference");
    let heads = MODES.map(|mode| format!("{mode:>26}"));
    println!("{:32} {}", "", heads.join(" "));
    let mut table: Vec<[Outcome; MODES.len()]> = Vec::new();
    for subject in subjects(&root()).expect("the subjects load") {
        let interactions = subject.pairs.iter();
        for pair in interactions.filter(|pair| pair.kind == Kind::Interaction) {
            let name = format!("{}/{}", subject.name, pair.name);
            if !name.contains(&wanted) {
                continue;
            }
            // Builds are not what is measured.
            search(pair, "unguided", 1, &dir);
            let row = MODES.map(|mode| search(pair, mode, seconds, &dir));
            println!("{name:32} {}", row.map(|outcome| outcome.text()).join(" "));
            table.push(row);
        }
    }
    let sums = std::array::from_fn::<_, { MODES.len() }, _>(|mode| {
        let found = table.iter().filter(|row| row[mode].found).count();
        let runs: u64 = table.iter().map(|row| row[mode].runs).sum();
        let time: f64 = table.iter().map(|row| row[mode].seconds).sum();
        format!(
            "{:>26}",
            format!("{found}/{} {runs} {time:.1}", table.len())
        )
    });
    println!("{:32} {}", "found, runs, seconds", sums.join(" "));
}

fn search(pair: &Pair, mode: &str, seconds: u64, dir: &Path) -> Outcome {
    let Some(seed) = hunt::seed(pair) else {
        return Outcome::default();
    };
    let runs = beagle_subjects::number("RUNS", u64::MAX).to_string();
    let only = ["--max-runs", &runs, "--strategy", mode];
    let hunt = Hunt {
        old: &pair.old,
        new: &pair.new,
        seed,
        seconds,
        options: if mode == "all" { &only[..2] } else { &only },
        first: true,
        blame: false,
    };
    match hunt.run(&dir.join("cache")) {
        Ok(report) => Outcome::of(&report),
        Err(error) => {
            println!("{}: {error}", pair.name);
            Outcome::default()
        }
    }
}

impl Outcome {
    fn of(report: &Report) -> Self {
        Self {
            found: !report.differences.is_empty(),
            sequences: report.sequences.as_ref().map_or(0, |all| all.exercised),
            runs: report.runs_to_first.unwrap_or(report.runs),
            seconds: report.seconds_to_first.unwrap_or(report.seconds),
        }
    }

    fn text(&self) -> String {
        let found = if self.found { '+' } else { '-' };
        format!(
            "{found} {:>8} {:>8} {:>6.1}",
            self.sequences, self.runs, self.seconds
        )
    }
}
