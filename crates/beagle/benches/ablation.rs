//! What each technique saves: `make bench-ablation`.
//!
//! Every search starts from one input, once unguided (as if nothing were known of the change), once
//! with each technique added to that, once with all, once with all from the inputs of the subject's
//! test-suite, and with the fast lane alone and besides. The subjects' pairs that differ, and
//! `MUTANTS=150` mutants; `PAIRS=n` takes only so many pairs, `SECONDS=10` and `RUNS=2000` bound one
//! search; `JOBS=2` looks at two cases at a time, and `MINUTES=60` begins none after an hour. Runs are
//! compared over those searches in which both found a difference. Those of the fast lane do not count,
//! nor does running each input of a test-suite once before the search.
//!
//! What is found unguided but not with pruning is looked for again, as long and then eight times as
//! long: the order of the search is another, so that it may only come later.
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

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use beagle_report::diff::Report;
use beagle_subjects::{Input, Kind, Source, Subject, Version, number};
use hunt::Hunt;

/// All techniques that ask questions.
const ALL: &str = "reach,infect,propagate,shadow,cover,sequences,prune";

/// What is compared, and the techniques it uses.
const MODES: [(&str, &str); 12] = [
    ("unguided", "unguided"),
    ("+ reach", "unguided,reach"),
    ("+ infect", "unguided,infect"),
    ("+ propagate", "unguided,propagate"),
    ("+ shadow", "unguided,shadow"),
    ("+ cover", "unguided,cover"),
    ("+ sequences", "unguided,sequences"),
    ("+ prune", "unguided,prune"),
    ("all", ALL),
    ("all, suite", ALL),
    ("fuzz", "fuzz"),
    (
        "all, fuzz",
        "reach,infect,propagate,shadow,cover,sequences,prune,fuzz",
    ),
];

/// Which of them is which.
const UNGUIDED: usize = 0;
const PRUNED: usize = 7;
const TOGETHER: usize = 8;
const SUITE: usize = 9;

/// Two versions and where to start.
struct Case {
    /// Of which those of other groups take turns with it.
    group: String,
    name: String,
    old: Version,
    new: Version,
    seed: Input,
    /// The inputs of the test-suite.
    suite: PathBuf,
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
    let [pairs, mutants, seconds, runs, minutes] = [
        ("PAIRS", u64::MAX),
        ("MUTANTS", 150),
        ("SECONDS", 10),
        ("RUNS", 2000),
        ("MINUTES", 60 * 24),
    ]
    .map(|(name, usual)| number(name, usual));
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ablation");
    let _ = fs_err::remove_dir_all(&dir);
    fs_err::create_dir_all(&dir).expect("a directory can be made");
    let cases = cases(&dir, pairs as usize, mutants as usize);
    let bounds = Bounds {
        seconds,
        runs: &runs.to_string(),
        cache: &dir.join("cache"),
    };
    let start = Instant::now();
    let rows = hunt::in_turn(&cases, |case| {
        if start.elapsed() > Duration::from_secs(60 * minutes) {
            return None;
        }
        let row: [Outcome; MODES.len()] = std::array::from_fn(|mode| case.search(mode, &bounds));
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
        let is_lost = row[UNGUIDED].shown.is_some() && row[PRUNED].shown.is_none();
        let lost = is_lost.then(|| {
            let again = [1, 8].into_iter().any(|factor| {
                let bounds = Bounds {
                    seconds: seconds * factor,
                    runs: "1000000",
                    ..bounds
                };
                case.search(PRUNED, &bounds).shown.is_some()
            });
            let when = if again { "later" } else { "NOT AT ALL" };
            format!("with pruning {when}: {}", case.name)
        });
        Some((row, lost))
    });
    let (table, lost): (Vec<_>, Vec<_>) = rows.into_iter().flatten().unzip();
    println!("\n{}", summary(&table));
    println!(
        "{}",
        lost.into_iter().flatten().collect::<Vec<_>>().join("\n")
    );
}

/// What bounds one search.
#[derive(Clone, Copy)]
struct Bounds<'a> {
    seconds: u64,
    runs: &'a str,
    cache: &'a Path,
}

impl Case {
    fn search(&self, mode: usize, bounds: &Bounds<'_>) -> Outcome {
        let suite = self.suite.to_string_lossy();
        let nothing = Input::default();
        let mut options = vec!["--max-runs", bounds.runs, "--strategy", MODES[mode].1];
        if mode == SUITE {
            options.extend(["--seeds", &suite]);
        }
        let hunt = Hunt {
            old: &self.old,
            new: &self.new,
            seed: match mode {
                SUITE => &nothing,
                _ => &self.seed,
            },
            seconds: bounds.seconds,
            options: &options,
            first: true,
            blame: false,
        };
        match hunt.run(bounds.cache) {
            Ok(report) => outcome(&report),
            Err(error) => {
                println!("{}: {error}", self.name);
                Outcome::default()
            }
        }
    }
}

/// Records the test-suite of a subject.
fn record(subject: &Subject, dir: &Path) -> PathBuf {
    let tree = dir.join("suites").join(&subject.name);
    let out = dir.join("seeds").join(&subject.name);
    fs_err::create_dir_all(&tree).expect("a directory can be made");
    let (sources, build) = match &subject.base.source {
        Source::File(path) => {
            let libraries = subject.base.ldflags.join(" ");
            let build = format!("$CC -g -o {} *.c {libraries}", subject.name);
            (vec![path.clone()], build)
        }
        Source::Directory { path, .. } => {
            let entries = fs_err::read_dir(path).expect("the subject can be read");
            let entries = entries.filter_map(|entry| Some(entry.ok()?.path()));
            (entries.collect(), "make".to_owned())
        }
    };
    for path in sources.iter().chain([&subject.check]) {
        let name = path.file_name().expect("files have names");
        fs_err::copy(path, tree.join(name)).expect("the subject can be copied");
    }
    let program = match &subject.base.source {
        Source::File(_) => subject.name.clone(),
        Source::Directory { program, .. } => program.display().to_string(),
    };
    let settings = format!("build = {build:?}\nprogram = {program:?}\n");
    fs_err::write(tree.join("beagle.toml"), settings).expect("the settings can be written");
    let mut command = Command::new(hunt::BEAGLE);
    command.arg("record").arg(&tree).arg("--out").arg(&out);
    command.current_dir(&tree).args(["--quiet", "--"]);
    command.arg(format!("sh check.sh ./{program}"));
    let output = command.env("BEAGLE_CACHE", dir.join("cache")).output();
    let output = output.expect("beagle can be run");
    assert!(output.status.success(), "{}: {output:?}", subject.name);
    out
}

/// The pairs and the mutants, each kind spread over the subjects.
fn cases(dir: &Path, pairs: usize, mutants: usize) -> Vec<Case> {
    let subjects = beagle_subjects::subjects(&beagle_subjects::root());
    let subjects = subjects.expect("the subjects load");
    let mut all: Vec<Case> = Vec::new();
    let mut suites = BTreeMap::new();
    for subject in &subjects {
        let suite = record(subject, dir);
        suites.insert(&subject.name, suite.clone());
        let differing = subject
            .pairs
            .iter()
            .filter(|pair| pair.kind != Kind::Refactoring);
        for pair in differing {
            if let Some(seed) = pair.agrees.first() {
                all.push(Case {
                    group: format!("pairs of {}", subject.name),
                    name: format!("{}/{}", subject.name, pair.name),
                    old: pair.old.clone(),
                    new: pair.new.clone(),
                    seed: seed.clone(),
                    suite: suite.clone(),
                });
            }
        }
    }
    let step = all.len().div_ceil(pairs.clamp(1, all.len().max(1)));
    let mut all: Vec<Case> = all.into_iter().step_by(step).take(pairs).collect();
    let mutations = mutants::spread(&subjects, mutants, dir).expect("mutants can be made");
    all.extend(mutations.into_iter().map(|mutation| Case {
        suite: suites[&mutation.subject].clone(),
        name: format!("{} mutant {}", mutation.subject, mutation.mutant.id),
        group: format!("mutants of {}", mutation.subject),
        old: mutation.old,
        new: mutation.new,
        seed: mutation.seed,
    }));
    hunt::taking_turns(all, |case| case.group.clone())
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
            saved(table, (UNGUIDED, mode), |outcome| outcome
                .reached
                .map(|runs| runs as f64)),
            saved(table, (UNGUIDED, mode), |outcome| outcome
                .infected
                .map(|runs| runs as f64)),
            saved(table, (UNGUIDED, mode), |outcome| outcome
                .shown
                .map(|runs| runs as f64)),
            saved(table, (UNGUIDED, mode), |outcome| outcome.seconds),
        );
    }
    let lost = table
        .iter()
        .filter(|row| row[UNGUIDED].shown.is_some() && row[TOGETHER].shown.is_none());
    text += &format!("found unguided but not with all: {}\n", lost.count());
    let from_suite = saved(table, (TOGETHER, SUITE), |outcome| {
        outcome.shown.map(|runs| runs as f64)
    });
    text +=
        &format!("all from the suite, runs to show and fewer than from one input: {from_suite}\n");
    text
}

/// The mean over the cases in which both came there, and by how much it is less than with the first.
fn saved(
    table: &[[Outcome; MODES.len()]],
    (base, mode): (usize, usize),
    what: fn(&Outcome) -> Option<f64>,
) -> String {
    let both = table
        .iter()
        .filter_map(|row| Some((what(&row[base])?, what(&row[mode])?)));
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
