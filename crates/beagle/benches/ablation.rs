//! What each technique saves: `make bench-ablation`.
//!
//! Every search starts from one input, once unguided (as if nothing were known of the change), once
//! with each technique added to that, and once with all. The subjects' pairs that differ, and
//! `MUTANTS=150` mutants; `PAIRS=n` takes only so many pairs, `SECONDS=10` and `RUNS=2000` bound one
//! search. Runs are compared over those searches in which both found a difference.
#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    reason = "the figures are what it is for"
)]

#[allow(dead_code, reason = "shared with the tests")]
#[path = "../tests/hunt/mod.rs"]
mod hunt;
#[allow(dead_code, reason = "shared with the tests")]
#[path = "../tests/hunt/mutants.rs"]
mod mutants;

use std::path::Path;

use beagle_report::diff::Report;
use beagle_subjects::{Input, Kind, Version, number};
use hunt::Hunt;

/// What is compared, and the techniques it uses; no list means all.
const MODES: [(&str, Option<&str>); 8] = [
    ("unguided", Some("unguided")),
    ("+ reach", Some("unguided,reach")),
    ("+ infect", Some("unguided,infect")),
    ("+ propagate", Some("unguided,propagate")),
    ("+ shadow", Some("unguided,shadow")),
    ("+ cover", Some("unguided,cover")),
    ("+ prune", Some("unguided,prune")),
    ("all", None),
];

/// Two versions and where to start.
struct Case {
    name: String,
    old: Version,
    new: Version,
    seed: Input,
}

/// What one search came to.
#[derive(Clone, Copy, Default)]
struct Outcome {
    reached: Option<u64>,
    infected: Option<u64>,
    shown: Option<u64>,
    seconds: Option<f64>,
}

fn main() {
    let [pairs, mutants, seconds, runs] = [
        ("PAIRS", u64::MAX),
        ("MUTANTS", 150),
        ("SECONDS", 10),
        ("RUNS", 2000),
    ]
    .map(|(name, usual)| number(name, usual));
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ablation");
    let _ = fs_err::remove_dir_all(&dir);
    fs_err::create_dir_all(&dir).expect("a directory can be made");
    let cases = cases(&dir, pairs as usize, mutants as usize);
    let runs = runs.to_string();
    let mut table: Vec<[Outcome; MODES.len()]> = Vec::new();
    for case in &cases {
        let row = MODES.map(|(_, strategies)| {
            let mut options = vec!["--max-runs", &runs];
            options.extend(strategies.iter().flat_map(|list| ["--strategy", list]));
            let hunt = Hunt {
                old: &case.old,
                new: &case.new,
                seed: &case.seed,
                seconds,
                options: &options,
                blame: false,
            };
            match hunt.run(&dir.join("cache")) {
                Ok(report) => outcome(&report),
                Err(error) => {
                    println!("{}: {error}", case.name);
                    Outcome::default()
                }
            }
        });
        let shown = row.map(|outcome| {
            outcome
                .shown
                .map_or("-".to_owned(), |runs| runs.to_string())
        });
        println!(
            "{:44} {}",
            case.name,
            shown.map(|runs| format!("{runs:>6}")).join(" ")
        );
        table.push(row);
    }
    println!("\n{}", summary(&table));
}

/// The pairs and the mutants, each kind spread over the subjects.
fn cases(dir: &Path, pairs: usize, mutants: usize) -> Vec<Case> {
    let subjects = beagle_subjects::subjects(&beagle_subjects::root());
    let subjects = subjects.expect("the subjects load");
    let mut all: Vec<Case> = Vec::new();
    for subject in &subjects {
        let differing = subject
            .pairs
            .iter()
            .filter(|pair| pair.kind != Kind::Refactoring);
        for pair in differing {
            if let Some(seed) = pair.agrees.first() {
                all.push(Case {
                    name: format!("{}/{}", subject.name, pair.name),
                    old: pair.old.clone(),
                    new: pair.new.clone(),
                    seed: seed.clone(),
                });
            }
        }
    }
    let step = all.len().div_ceil(pairs.clamp(1, all.len().max(1)));
    let mut all: Vec<Case> = all.into_iter().step_by(step).take(pairs).collect();
    let mutations = mutants::spread(&subjects, mutants, dir).expect("mutants can be made");
    all.extend(mutations.into_iter().map(|mutation| Case {
        name: format!("{} mutant {}", mutation.subject, mutation.mutant.id),
        old: mutation.old,
        new: mutation.new,
        seed: mutation.seed,
    }));
    all
}

fn outcome(report: &Report) -> Outcome {
    Outcome {
        reached: report.runs_to_reach,
        infected: report.runs_to_infect,
        shown: report.runs_to_first,
        seconds: report.seconds_to_first,
    }
}

/// A line for each mode.
fn summary(table: &[[Outcome; MODES.len()]]) -> String {
    let mut text = format!(
        "{:12} {:>6} {:>6} {:>6} {:>6}  runs, and fewer than unguided\n{:12} {:>6} {:>6} {:>6} {:>6}  {:>14} {:>14} {:>14} {:>14}\n",
        "",
        "cases",
        "reach",
        "infect",
        "show",
        "",
        "",
        "ed",
        "ed",
        "n",
        "to reach",
        "to infect",
        "to show",
        "seconds"
    );
    for (mode, (name, _)) in MODES.iter().enumerate() {
        let count =
            |what: fn(&Outcome) -> bool| table.iter().filter(|row| what(&row[mode])).count();
        text += &format!(
            "{name:12} {:>6} {:>6} {:>6} {:>6}  {} {} {} {}\n",
            table.len(),
            count(|outcome| outcome.reached.is_some()),
            count(|outcome| outcome.infected.is_some()),
            count(|outcome| outcome.shown.is_some()),
            saved(table, mode, |outcome| outcome
                .reached
                .map(|runs| runs as f64)),
            saved(table, mode, |outcome| outcome
                .infected
                .map(|runs| runs as f64)),
            saved(table, mode, |outcome| outcome.shown.map(|runs| runs as f64)),
            saved(table, mode, |outcome| outcome.seconds),
        );
    }
    let lost = table
        .iter()
        .filter(|row| row[0].shown.is_some() && row[MODES.len() - 1].shown.is_none());
    text += &format!("found unguided but not with all: {}\n", lost.count());
    text
}

/// The mean over the cases in which both came there, and by how much it is less than unguided.
fn saved(
    table: &[[Outcome; MODES.len()]],
    mode: usize,
    what: fn(&Outcome) -> Option<f64>,
) -> String {
    let both = table
        .iter()
        .filter_map(|row| Some((what(&row[0])?, what(&row[mode])?)));
    let (mut base, mut here, mut count) = (0.0, 0.0, 0);
    for (unguided, guided) in both {
        (base, here, count) = (base + unguided, here + guided, count + 1);
    }
    if count == 0 {
        return format!("{:>14}", "-");
    }
    let fewer = 100.0 * (1.0 - here / base);
    format!("{:>8.1} {fewer:>4.0}%", here / f64::from(count))
}
