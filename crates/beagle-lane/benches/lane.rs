//! How fast the fast lane is, and whether its runs do what fresh processes do: `make bench-lane`.
//!
//! `SUBJECT=name` for one program, `RUNS=n` for how many random runs are compared with fresh processes
//! (100000 unless told), `SECONDS=n` for how long speed is measured.
#![allow(clippy::print_stdout, reason = "the figures are what it is for")]
#![allow(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

#[path = "../tests/support/mod.rs"]
mod support;

use beagle_lane::{Batch, Chance, Fuzzer, Mode, Mutator, Parts, Space, Status, Tokens};
use beagle_subjects::{Subject, number};
use beagle_trace::Input;
use support::{batch, examples, fresh, make_version, run};

/// Random inputs, from those that the subject's pairs come with.
fn random(subject: &Subject, count: usize) -> Vec<Input> {
    let examples = examples(subject);
    let (space, tokens) = (Space::default(), Tokens::default());
    let mutator = Mutator {
        space: &space,
        tokens: &tokens,
        parts: &Parts::default(),
    };
    let mut chance = Chance::new(1);
    let mut all = Vec::new();
    while all.len() < count {
        let base = chance.pick(&examples).unwrap().clone();
        let other = chance.pick(&examples).unwrap();
        all.extend(mutator.vary(&base, other, &mut chance));
    }
    all
}

/// How many runs are equal to fresh ones, how many were refused or late, and which are not equal.
fn compare(subject: &Subject, count: usize) -> (usize, usize, Vec<Input>) {
    let made = make_version(&subject.base);
    let mut process = made.start();
    let (mut equal, mut left, mut unequal) = (0, 0, Vec::new());
    for chunk in random(subject, count).chunks(256) {
        for (input, (outcome, written)) in chunk.iter().zip(run(&mut process, chunk, false)) {
            if outcome.refused() || outcome.timed_out() {
                left += 1;
                continue;
            }
            match fresh(&made.lane.program, input) {
                Some((end, all)) if end == outcome.end && all == written => equal += 1,
                _ => unequal.push(input.clone()),
            }
        }
    }
    (equal, left, unequal)
}

/// Runs of one version in a second, for one process that has a core of its own.
fn speed(subject: &Subject, seconds: u64) -> f64 {
    let made = make_version(&subject.base);
    let mut process = made.start();
    let inputs = random(subject, 256);
    let full: Batch = batch(&inputs);
    let mut runs = 0;
    // Of the time that it has the processor.
    loop {
        for _ in 0..16 {
            runs += process.run(&full, Mode::default()).unwrap().len();
        }
        let used = process.processor_time().unwrap();
        if used.as_secs() >= seconds {
            return runs as f64 / used.as_secs_f64();
        }
    }
}

/// Runs of both versions in a second of processor time, with everything that the search does.
fn search(subject: &Subject, seconds: u64) -> (Status, f64) {
    let made = make_version(&subject.base);
    let (old, new) = (made.start(), made.start());
    let mut fuzzer = Fuzzer::new(old, new, Space::default(), Tokens::default(), 1);
    for input in examples(subject) {
        fuzzer.start_from(input);
    }
    let before = fuzzer.processor_time().unwrap();
    loop {
        for _ in 0..16 {
            fuzzer.step(&mut |_| ()).unwrap();
        }
        let used = fuzzer.processor_time().unwrap() - before;
        if used.as_secs() >= seconds {
            let status = fuzzer.status();
            return (status.clone(), status.runs as f64 / used.as_secs_f64());
        }
    }
}

fn main() {
    let only = std::env::var("SUBJECT").ok();
    let (runs, seconds) = (number("RUNS", 100_000), number("SECONDS", 2));
    println!(
        "per second of processor time: runs of one version; pairs of runs with the search around them"
    );
    for subject in beagle_subjects::subjects(&beagle_subjects::root()).unwrap() {
        if only.as_ref().is_some_and(|only| *only != subject.name) {
            continue;
        }
        let (status, pairs) = search(&subject, seconds);
        let (differing, late, forked) = (status.differing, status.late, status.forked);
        let single = speed(&subject, seconds);
        println!(
            "{:10} {single:>10.0} {pairs:>10.0}, {differing} differences of a program from itself, {late} late, forked {forked:?}",
            subject.name
        );
        if runs > 0 {
            let (equal, left, unequal) = compare(&subject, runs as usize);
            println!(
                "{:10} {equal} runs equal to fresh processes, {left} not for the lane or late, {} not equal",
                "",
                unequal.len()
            );
            for input in unequal.iter().take(3) {
                println!("  {input:?}");
            }
        }
    }
}
