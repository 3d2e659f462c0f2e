//! What each technique saves: `make bench-ablation`.
//!
//! Every search starts from one input: unguided, which is new alone as if nothing were known of the change;
//! by coverage of both versions as one; by this with each technique added; with all; and with the fast lane alone and
//! besides. What a test-suite saves is told by two searches with all techniques of which none is told how the program is
//! run: `suite` starts from the inputs of the subject's test-suite, `naught` from nothing. The subjects' pairs that differ, and
//! `MUTANTS=150` mutants; `PAIRS=n` takes only so many pairs, `CASES=calc/,m0101` only what has one of these in its name,
//! `MODES=unguided,all` only these searches,
//! `SECONDS=10` and `RUNS=2000` bound one search; `JOBS=2` looks at two cases at a time, and `MINUTES=60` begins
//! none after an hour. Single searches are a matter of chance: with `TRIALS=3` there are three of each, in which
//! chance decides otherwise (`--chance`), and each of them counts as a case.
//!
//! As in table 2 of eXpress, a search in vain counts with the runs that it made, if the one that it is
//! compared with was not in vain; what neither found does not count. Runs of the fast lane do not count, nor
//! does running each input of a test-suite once before the search.
//!
//! What is found without pruning but not with it is looked for again, as long and then eight times as
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
const MODES: [(&str, &str); 13] = [
    ("unguided", "unguided"),
    ("cover", "cover"),
    ("reach", "cover,reach"),
    ("infect", "cover,infect"),
    ("propagate", "cover,propagate"),
    ("shadow", "cover,shadow"),
    ("sequences", "cover,sequences"),
    ("prune", "cover,prune"),
    ("all", ALL),
    ("suite", ALL),
    ("naught", ALL),
    ("fuzz", "fuzz"),
    (
        "all+fuzz",
        "reach,infect,propagate,shadow,cover,sequences,prune,fuzz",
    ),
];

/// Which of them is which.
const UNGUIDED: usize = 0;
const COVER: usize = 1;
const PRUNED: usize = 7;
const TOGETHER: usize = 8;
const SUITE: usize = 9;
const NAUGHT: usize = 10;

/// What each search of a case came to; nothing of those that are not wanted.
type Row = [Option<Outcome>; MODES.len()];

/// Two versions and where to start.
#[derive(Clone)]
struct Case {
    /// Of which those of other groups take turns with it.
    group: String,
    name: String,
    old: Version,
    new: Version,
    seed: Input,
    /// The inputs of the test-suite.
    suite: PathBuf,
    /// What chance decides by.
    chance: String,
}

/// What one search came to: the number of the run at which it did, and what it took in all.
#[derive(Clone, Copy, Default)]
struct Outcome {
    reached: Option<u64>,
    infected: Option<u64>,
    shown: Option<u64>,
    runs: u64,
    seconds_to_show: Option<f64>,
    seconds: f64,
}

impl Outcome {
    fn of(report: &Report) -> Self {
        Self {
            reached: report.runs_to_reach,
            infected: report.runs_to_infect,
            shown: report.runs_to_first,
            runs: report.runs,
            seconds_to_show: report.seconds_to_first,
            seconds: report.seconds,
        }
    }

    fn is_shown(&self) -> bool {
        self.shown.is_some()
    }

    /// What it took to come somewhere, and what it took in all.
    fn to(&self, goal: Goal) -> (Option<f64>, f64) {
        let runs = |runs: Option<u64>| (runs.map(|runs| runs as f64), self.runs as f64);
        match goal {
            Goal::Reach => runs(self.reached),
            Goal::Infect => runs(self.infected),
            Goal::Show => runs(self.shown),
            Goal::Seconds => (self.seconds_to_show, self.seconds),
        }
    }
}

/// What is compared.
#[derive(Clone, Copy)]
enum Goal {
    Reach,
    Infect,
    Show,
    Seconds,
}

fn main() {
    let [pairs, mutants, seconds, runs, minutes, trials] = [
        ("PAIRS", u64::MAX),
        ("MUTANTS", 150),
        ("SECONDS", 10),
        ("RUNS", 2000),
        ("MINUTES", 60 * 24),
        ("TRIALS", 1),
    ]
    .map(|(name, usual)| number(name, usual));
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ablation");
    let _ = fs_err::remove_dir_all(&dir);
    fs_err::create_dir_all(&dir).expect("a directory can be made");
    let mut cases = cases(&dir, pairs as usize, mutants as usize, trials);
    if let Ok(names) = std::env::var("CASES") {
        cases.retain(|case| names.split(',').any(|name| case.name.contains(name)));
    }
    let bounds = Bounds {
        seconds,
        runs: &runs.to_string(),
        cache: &dir.join("cache"),
    };
    let wanted = std::env::var("MODES").ok();
    let is_wanted = |mode: usize| {
        let wanted = wanted.as_deref();
        wanted.is_none_or(|wanted| wanted.split(',').any(|name| name == MODES[mode].0))
    };
    let names = (0..MODES.len()).filter(|&mode| is_wanted(mode));
    let names = names.map(|mode| format!("{:>6.6}", MODES[mode].0));
    println!("runs to a difference; (in vain)");
    println!("{:44} {}", "", names.collect::<Vec<_>>().join(" "));
    let start = Instant::now();
    let rows = hunt::in_turn(&cases, |case| {
        if start.elapsed() > Duration::from_secs(60 * minutes) {
            return None;
        }
        let row: Row =
            std::array::from_fn(|mode| is_wanted(mode).then(|| case.search(mode, &bounds)));
        let shown = row.iter().flatten().map(|outcome| match outcome.shown {
            Some(runs) => format!("{runs:>6}"),
            None => format!("{:>6}", format!("({})", outcome.runs)),
        });
        println!("{:44} {}", case.name, shown.collect::<Vec<_>>().join(" "));
        let found = |mode: usize| row[mode].map(|outcome| outcome.is_shown());
        let is_lost =
            found(PRUNED) == Some(false) && [UNGUIDED, COVER].map(found).contains(&Some(true));
        let lost = is_lost.then(|| {
            let again = [1, 8].into_iter().any(|factor| {
                let bounds = Bounds {
                    seconds: seconds * factor,
                    runs: "1000000",
                    ..bounds
                };
                case.search(PRUNED, &bounds).is_shown()
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
        let mut options = vec!["--max-runs", bounds.runs, "--strategy", MODES[mode].1];
        options.extend(["--chance", &self.chance]);
        if mode == SUITE {
            options.extend(["--seeds", &suite]);
        }
        let hunt = Hunt {
            old: &self.old,
            new: &self.new,
            seed: match mode {
                SUITE | NAUGHT => None,
                _ => Some(&self.seed),
            },
            seconds: bounds.seconds,
            options: &options,
            first: true,
            blame: false,
        };
        match hunt.run(bounds.cache) {
            Ok(report) => Outcome::of(&report),
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

/// The pairs and the mutants, each kind spread over the subjects, so many times.
fn cases(dir: &Path, pairs: usize, mutants: usize, trials: u64) -> Vec<Case> {
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
                    chance: "0".to_owned(),
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
        chance: "0".to_owned(),
    }));
    let more = (1..trials).flat_map(|trial| {
        let again = all.iter().map(move |case| Case {
            name: format!("{} ({trial})", case.name),
            chance: trial.to_string(),
            ..case.clone()
        });
        again.collect::<Vec<_>>()
    });
    let more: Vec<Case> = more.collect();
    all.extend(more);
    hunt::taking_turns(all, |case| format!("{} {}", case.chance, case.group))
}

/// A line for each mode, then what is compared with what.
fn summary(table: &[Row]) -> String {
    let mut text = format!(
        "{:10} {:>6} {:>8} {:>8} {:>6}  mean, and fewer than unguided\n{:41}  {:>14} {:>14} {:>14} {:>14}\n",
        "",
        "cases",
        "reached",
        "infected",
        "shown",
        "",
        "to reach",
        "to infect",
        "to show",
        "seconds"
    );
    for (mode, (name, _)) in MODES.iter().enumerate() {
        let outcomes: Vec<Outcome> = table.iter().filter_map(|row| row[mode]).collect();
        if outcomes.is_empty() {
            continue;
        }
        let came = |goal| {
            outcomes
                .iter()
                .filter(|one| one.to(goal).0.is_some())
                .count()
        };
        let goals = [Goal::Reach, Goal::Infect, Goal::Show, Goal::Seconds];
        let saved = goals.map(|goal| Saved::of(table, (UNGUIDED, mode), goal));
        text += &format!(
            "{name:10} {:>6} {:>8} {:>8} {:>6}  {}\n",
            outcomes.len(),
            came(Goal::Reach),
            came(Goal::Infect),
            came(Goal::Show),
            saved.map(|saved| saved.short()).join(" ")
        );
    }
    text += "\nruns to show, fewer\n";
    for (base, mode) in [
        (UNGUIDED, COVER),
        (UNGUIDED, TOGETHER),
        (COVER, TOGETHER),
        (TOGETHER, SUITE),
        (NAUGHT, SUITE),
    ] {
        let saved = Saved::of(table, (base, mode), Goal::Show);
        let names = format!("{} than {}", MODES[mode].0, MODES[base].0);
        text += &format!("{names:24} {}\n", saved.long());
    }
    text
}

/// By how much one search takes less than another, over cases.
struct Saved {
    /// What both took, where one of them came there.
    either: Vec<(f64, f64)>,
    /// What both took, where both came there.
    both: Vec<(f64, f64)>,
}

impl Saved {
    fn of(table: &[Row], (base, mode): (usize, usize), goal: Goal) -> Self {
        let (mut either, mut both) = (Vec::new(), Vec::new());
        for row in table {
            let (Some(base), Some(here)) = (row[base], row[mode]) else {
                continue;
            };
            let ((x, most_x), (y, most_y)) = (base.to(goal), here.to(goal));
            both.extend(x.zip(y));
            if x.or(y).is_some() {
                either.push((x.unwrap_or(most_x), y.unwrap_or(most_y)));
            }
        }
        Self { either, both }
    }

    fn short(&self) -> String {
        if self.either.is_empty() {
            return format!("{:>14}", "-");
        }
        let here: f64 = self.either.iter().map(|(_, here)| here).sum();
        let mean = here / self.either.len() as f64;
        format!("{mean:>8.1} {:>4.0}%", fewer(&self.either))
    }

    fn long(&self) -> String {
        if self.both.is_empty() {
            return "-".to_owned();
        }
        let ratios = self.both.iter().map(|(base, here)| (here / base).ln());
        let geometric = ratios.sum::<f64>() / self.both.len() as f64;
        let mut each: Vec<f64> = (self.either.iter())
            .map(|(base, here)| 100.0 * (1.0 - here / base))
            .collect();
        each.sort_by(f64::total_cmp);
        format!(
            "{:.0}% in the sum over {} cases, {:.0}% in the median; over {} that both found {:.0}% in the sum, {:.0}% in the geometric mean",
            fewer(&self.either),
            self.either.len(),
            each[each.len() / 2],
            self.both.len(),
            fewer(&self.both),
            100.0 * (1.0 - geometric.exp())
        )
    }
}

/// By how much the second of these are less in the sum, in percent.
fn fewer(all: &[(f64, f64)]) -> f64 {
    let base: f64 = all.iter().map(|(base, _)| base).sum();
    let here: f64 = all.iter().map(|(_, here)| here).sum();
    100.0 * (1.0 - here / base)
}
