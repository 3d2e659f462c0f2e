//! What going through changes in order finds, against changes by themselves: `make bench-sequences`.
//!
//! As table 3 of Böhme, Oliveira and Roychoudhury (FSE 2013). Every search has one technique alone and the same
//! time: `SECONDS=30`; then all together, without the fast lane and with it, whose runs do not count. It starts
//! from one input on which the versions agree, and `STARTS=3` makes three searches of each pair, from three such
//! inputs: single results are a matter of luck. With `RUNS=300` a search has so many runs at most, which a busy
//! machine does not change. `SUBJECT=name` takes only pairs whose name has that in it; `JOBS=2` looks at two
//! cases at a time.
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
use beagle_subjects::{Input, Kind, Pair, root, subjects};
use hunt::Hunt;

/// What is compared, and the techniques it uses.
const MODES: [(&str, &str); 5] = [
    ("sequences", "sequences"),
    ("isolation", "isolation"),
    ("unguided", "unguided"),
    ("all", "reach,infect,propagate,shadow,cover,sequences,prune"),
    (
        "all+fuzz",
        "reach,infect,propagate,shadow,cover,sequences,prune,fuzz",
    ),
];

/// What one search came to.
#[derive(Clone, Copy, Default)]
struct Outcome {
    found: bool,
    sequences: u64,
    runs: u64,
    seconds: f64,
}

/// An interaction and where to start.
struct Case {
    name: String,
    pair: Pair,
    seed: Input,
}

/// So many runs are looked at besides all.
const WITHIN: [u64; 6] = [50, 100, 200, 300, 500, 1000];

fn main() {
    let seconds = beagle_subjects::number("SECONDS", 30);
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sequences");
    fs_err::create_dir_all(&dir).expect("a directory can be made");
    println!("found (+), sequences of changes exercised, runs, seconds to the first difference");
    let heads = MODES.map(|(name, _)| format!("{name:>26}"));
    println!("{:32} {}", "", heads.join(" "));
    let table = hunt::in_turn(&cases(), |case| {
        // Builds are not what is measured.
        search(case, "unguided", 1, &dir);
        let row = MODES.map(|(_, techniques)| search(case, techniques, seconds, &dir));
        let text = row.map(|outcome| outcome.text()).join(" ");
        println!("{:32} {text}", case.name);
        row
    });
    let sums = std::array::from_fn::<_, { MODES.len() }, _>(|mode| {
        let found = table.iter().filter(|row| row[mode].found).count();
        let runs: u64 = table.iter().map(|row| row[mode].runs).sum();
        let time: f64 = table.iter().map(|row| row[mode].seconds).sum();
        format!("{found}/{} {runs} {time:.1}", table.len())
    });
    print_line("found, runs, seconds", sums);
    for most in WITHIN {
        let found = std::array::from_fn(|mode| {
            let within = |row: &&[Outcome; MODES.len()]| row[mode].found && row[mode].runs <= most;
            table.iter().filter(within).count().to_string()
        });
        print_line(&format!("within {most} runs"), found);
    }
}

fn print_line(head: &str, values: [String; MODES.len()]) {
    let values = values.map(|value| format!("{value:>26}"));
    println!("{head:32} {}", values.join(" "));
}

fn cases() -> Vec<Case> {
    let starts = beagle_subjects::number("STARTS", 1) as usize;
    let wanted = std::env::var("SUBJECT").unwrap_or_default();
    let mut cases = Vec::new();
    for subject in subjects(&root()).expect("the subjects load") {
        let interactions = subject.pairs.iter();
        for pair in interactions.filter(|pair| pair.kind == Kind::Interaction) {
            let Some(best) = hunt::seed(pair) else {
                continue;
            };
            // The number of words and of files beside them does not vary.
            let is_alike = |input: &&Input| {
                let names = |input| hunt::beside(input).map(|(name, _)| name);
                input.args.len() == best.args.len() && names(input).eq(names(best))
            };
            let others = pair
                .agrees
                .iter()
                .filter(|&input| !std::ptr::eq(best, input));
            let others = others.filter(is_alike);
            for (number, seed) in (1..).zip(std::iter::once(best).chain(others).take(starts)) {
                let start = match number {
                    1 => String::new(),
                    number => format!(" ({number})"),
                };
                cases.push(Case {
                    name: format!("{}/{}{start}", subject.name, pair.name),
                    pair: pair.clone(),
                    seed: seed.clone(),
                });
            }
        }
    }
    cases.retain(|case| case.name.contains(&wanted));
    cases
}

fn search(case: &Case, techniques: &str, seconds: u64, dir: &Path) -> Outcome {
    let runs = beagle_subjects::number("RUNS", u64::MAX).to_string();
    let options = ["--max-runs", &runs, "--strategy", techniques];
    let hunt = Hunt {
        old: &case.pair.old,
        new: &case.pair.new,
        seed: Some(&case.seed),
        seconds,
        options: &options,
        first: true,
        blame: false,
    };
    match hunt.run(&dir.join("cache")) {
        Ok(report) => Outcome::of(&report),
        Err(error) => {
            println!("{}: {error}", case.name);
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
