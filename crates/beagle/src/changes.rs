//! `beagle changes`: what changed in meaning between two versions.

use std::ops::Range;

use beagle_change::{Analysed, Comparison, Counts, Influence, Irrelevance, SourceTree, compare};
use beagle_program::{CallGraph, Dependence};
use beagle_report::changes::{Facts, Report, Version as Described};

use crate::arguments::{ChangesOptions, Format};
use crate::failure::Failure;
use crate::output::{self, tell};
use crate::timings::Timings;
use crate::versions::{self, Order, Version};

/// With more changes than this only their influence together is looked at: one slice through a
/// large program takes milliseconds, and nobody reads thousands of them.
const EACH: usize = 200;

/// Runs the command; the result is the exit status.
pub fn run(options: &ChangesOptions, quiet: bool) -> Result<i32, Failure> {
    let mut timings = Timings::start();
    let (old, new) = Order::new(&options.pair)?.load(quiet, &mut timings)?;
    let comparison = compare(&old.program, &old.sources, &new.program, &new.sources);
    timings.end("compare");
    let (each, together) = influences(&old, &new, &comparison);
    timings.end("influence");
    let hunk_texts = hunk_texts(&old, &new, &comparison);
    let facts = Facts {
        programs: (&old.program, &new.program),
        comparison: &comparison,
        hunk_texts: &hunk_texts,
        influences: &each,
        influence: &together,
    };
    let report = Report::new(described(&old), described(&new), &facts);
    let text = match options.format {
        Format::Human => report.text(),
        Format::Json => report.json() + "\n",
    };
    output::print(&text)?;
    if options.timings {
        timings.end("report");
        // Not shown here, but what a search would add to the time.
        let counts = irrelevant(&old, &new, &comparison);
        timings.end("irrelevant");
        timings.print();
        tell(format_args!(
            "{} of {} ways on from branches cannot lead to a change, {} nor come from one",
            counts.before_infection, counts.ways, counts.after_infection
        ));
    }
    Ok(i32::from(!comparison.changes.is_empty()))
}

/// How many ways on from branches cannot matter.
fn irrelevant(old: &Version, new: &Version, comparison: &Comparison) -> Counts {
    let (old, new) = (&old.program, &new.program);
    let calls = versions::both(|| CallGraph::of(old), || CallGraph::of(new));
    Irrelevance::of((old, &calls.0), (new, &calls.1), comparison).counts(comparison)
}

/// The influence of each change, and of all together.
fn influences(
    old: &Version,
    new: &Version,
    comparison: &Comparison,
) -> (Vec<Influence>, Influence) {
    if comparison.changes.is_empty() {
        return Default::default();
    }
    let programs = (&old.program, &new.program);
    let dependence = versions::both(|| Dependence::of(programs.0), || Dependence::of(programs.1));
    let old = Analysed::new(&dependence.0, &old.sources);
    let new = Analysed::new(&dependence.1, &new.sources);
    let changes = &comparison.changes;
    let each = match changes.len() {
        0..=EACH => changes
            .iter()
            .map(|change| Influence::of(&old, &new, comparison, [change]))
            .collect(),
        _ => Vec::new(),
    };
    (each, Influence::of(&old, &new, comparison, changes))
}

/// The lines of each hunk, old and new.
fn hunk_texts(
    old: &Version,
    new: &Version,
    comparison: &Comparison,
) -> Vec<(Vec<String>, Vec<String>)> {
    let texts = |sources: &SourceTree, file: &str, lines: &Range<u32>| {
        let lines = lines.clone();
        lines
            .map(|line| sources.line(file, line).unwrap_or_default())
            .collect()
    };
    let hunks = comparison.hunks.iter();
    hunks
        .map(|hunk| {
            (
                texts(&old.sources, &hunk.old_file, &hunk.old),
                texts(&new.sources, &hunk.new_file, &hunk.new),
            )
        })
        .collect()
}

fn described(version: &Version) -> Described {
    Described {
        label: version.built.label.clone(),
        missing: version
            .built
            .missing
            .iter()
            .map(ToString::to_string)
            .collect(),
    }
}
