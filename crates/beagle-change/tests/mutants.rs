//! Single small changes, made by machine: each is found, in its function and on its line, and
//! nothing else is reported.

mod support;

use std::ops::RangeInclusive;
use std::process::ExitCode;

use beagle_change::{Change, Kind, Line};
use beagle_subjects::Subject;
use beagle_subjects::mutate::{Mutant, Options, Target, harvest};
use libtest_mimic::{Failed, Trial};
use support::{Built, Texts, build, comparison, order, shown, subjects};
use tree_sitter::Node;

/// How many mutants of each subject.
const COUNT: usize = 15;

fn main() -> ExitCode {
    let trial = |subject: Subject| Trial::test(subject.name.clone(), move || check(&subject));
    subjects::run(subjects::all().into_iter().map(trial).collect())
}

fn check(subject: &Subject) -> Result<(), Failed> {
    let options = Options {
        count: Some(count()),
        seed: 7,
        // The tests run side by side already.
        threads: 1,
        ..Options::default()
    };
    let target = Target::version(&subject.base)?;
    let texts = subjects::texts(&subject.base);
    let original = build(&texts)?;
    let mut wrong = String::new();
    for mutant in harvest(&target, &options)?.mutants {
        let (changed, lines) = mutated(&texts, &mutant)?;
        if let Err(why) = expect_change(&original, &build(&changed)?, &mutant, &lines) {
            let Mutant {
                id, operator, file, ..
            } = &mutant;
            let place = format!("{}:{}", file.display(), mutant.line);
            wrong += &format!(
                "{id} {operator} {place} in {}: {:?} -> {:?}: {why}\n",
                mutant.function, mutant.original, mutant.replacement
            );
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.into()),
    }
}

/// More can be asked for by hand.
fn count() -> usize {
    let wanted = std::env::var("BEAGLE_MUTANTS").ok();
    wanted.and_then(|n| n.parse().ok()).unwrap_or(COUNT)
}

/// The texts with the change, and the lines of the statement that was changed.
fn mutated(texts: &Texts, mutant: &Mutant) -> Result<(Texts, RangeInclusive<u32>), Failed> {
    let name = mutant.file.to_string_lossy();
    let mut changed = texts.clone();
    let file = changed.iter_mut().find(|(file, _)| *file == name);
    let (_, text) = file.ok_or_else(|| format!("no file {name}"))?;
    let tree = order::parse(text);
    let (start, end) = (mutant.range.start, mutant.range.end);
    let node = tree.root_node().descendant_for_byte_range(start, end);
    let lines = node.map_or(0..=0, statement_lines);
    *text = mutant.apply(text);
    Ok((changed, lines))
}

/// The lines of the statement around a node, without those of the statements inside.
fn statement_lines(node: Node) -> RangeInclusive<u32> {
    let mut statement = node;
    while !(statement.kind().ends_with("statement") || statement.kind() == "declaration") {
        match statement.parent() {
            Some(parent) => statement = parent,
            None => break,
        }
    }
    // The labels of a `switch` are part of it.
    let label = |case: &Node| {
        case.child_by_field_name("value")
            .is_some_and(|v| contains(v, node))
    };
    if statement.kind() == "case_statement" && label(&statement) {
        let mut switch = statement;
        while let Some(parent) = switch
            .parent()
            .filter(|_| switch.kind() != "switch_statement")
        {
            switch = parent;
        }
        let (first, last) = (switch.start_position().row, node.end_position().row);
        return first as u32 + 1..=last as u32 + 1;
    }
    let inner = ["body", "consequence"];
    let inner = inner
        .iter()
        .find_map(|field| statement.child_by_field_name(field))
        .filter(|inner| inner.start_byte() > node.start_byte());
    let first = statement.start_position().row;
    let last = match inner {
        Some(inner) => inner.start_position().row,
        None => statement.end_position().row,
    };
    first as u32 + 1..=last as u32 + 1
}

fn contains(outer: Node, inner: Node) -> bool {
    outer.start_byte() <= inner.start_byte() && inner.end_byte() <= outer.end_byte()
}

fn expect_change(
    old: &Built,
    new: &Built,
    mutant: &Mutant,
    lines: &RangeInclusive<u32>,
) -> Result<(), String> {
    let comparison = comparison(old, new);
    if comparison.changes.is_empty() {
        return Err("not found".to_owned());
    }
    let changes = || shown(old, new, &comparison).replace('\n', "; ");
    // A static function that is called no more, or such a variable, is no longer compiled.
    let kept = |change: &&Change| change.kind() != Kind::Deleted;
    let mut kept = comparison.changes.iter().filter(kept);
    let name = |change: &Change| support::name(&old.program, &new.program, change);
    // A static variable inside of the function counts as its own.
    let own = |change: &Change| {
        let inside = |line: &Line| lines.contains(&line.line);
        let variable = matches!(change.subject, beagle_change::Subject::Global(_));
        name(change) == mutant.function || (variable && change.new_lines.iter().any(inside))
    };
    if kept.any(|change| !own(change)) {
        return Err(format!("other things changed: {}", changes()));
    }
    let all = comparison.changes.iter();
    let mut changed = all.flat_map(|change| change.old_lines.iter().chain(&change.new_lines));
    match changed.any(|line| lines.contains(&line.line)) {
        true => Ok(()),
        false => Err(format!("found elsewhere ({lines:?}): {}", changes())),
    }
}
