//! The numbering is one-to-one in each version, and what has one number in both corresponds: the
//! same kind of operation in functions that correspond. On all pairs of all subjects.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use beagle_change::{Comparison, Numbering, Subject};
use beagle_program::{BlockId, FunctionId, Op, Program, StmtId};
use beagle_subjects::Pair;
use libtest_mimic::Failed;
use support::{build, comparison, subjects};

fn main() -> ExitCode {
    subjects::run_on_pairs(check)
}

fn check(pair: &Pair) -> Result<(), Failed> {
    let old = build(&subjects::texts(&pair.old))?;
    let new = build(&subjects::texts(&pair.new))?;
    let comparison = comparison(&old, &new);
    let (old, new) = (&old.program, &new.program);
    everything_is_listed(old, new, &comparison)?;
    one_to_one(&comparison.stmts, (old.stmts.len(), new.stmts.len()))?;
    one_to_one(&comparison.blocks, (old.blocks.len(), new.blocks.len()))?;
    let partners = Partners::of(&comparison);
    for (a, b) in shared(&comparison.stmts) {
        let (a, b) = (StmtId(a), StmtId(b));
        partners.check(old.function_of(a), new.function_of(b))?;
        same_operation(old.stmt(a).op, new.stmt(b).op)?;
    }
    for (a, b) in shared(&comparison.blocks) {
        let (a, b) = (old.block(BlockId(a)), new.block(BlockId(b)));
        partners.check(a.function, b.function)?;
    }
    traces_carry_the_numbers(old, new, &comparison)?;
    changes_are_where_they_say(old, new, &comparison)
}

/// Functions that correspond have one number, others none in common; what is changed is marked.
fn traces_carry_the_numbers(
    old: &Program,
    new: &Program,
    found: &Comparison,
) -> Result<(), Failed> {
    let (a, b) = found.numbers(old, new);
    if a.stmts != found.stmts.old || b.stmts != found.stmts.new {
        return Err("statements have other numbers in traces".into());
    }
    for pair in &found.functions {
        let number = |numbers: &[u32], id: Option<FunctionId>| id.map(|id| numbers[id.index()]);
        let numbers = (
            number(&a.functions, pair.old),
            number(&b.functions, pair.new),
        );
        if let (Some(a), Some(b)) = numbers
            && a != b
        {
            return Err(format!("{pair:?} has the numbers {a} and {b}").into());
        }
    }
    let functions = a.functions.iter().chain(&b.functions);
    let different = functions.collect::<BTreeSet<_>>().len();
    if different != found.functions.len() {
        return Err(format!(
            "{different} numbers for {} functions",
            found.functions.len()
        )
        .into());
    }
    let marked = |changed: &[bool]| changed.iter().filter(|&&it| it).count();
    let changed = found.changes.iter();
    let old_stmts: BTreeSet<_> = changed.clone().flat_map(|change| &change.old).collect();
    let new_stmts: BTreeSet<_> = changed.flat_map(|change| &change.new).collect();
    let all = |changed: &[bool], stmts: &BTreeSet<&StmtId>| {
        stmts.iter().all(|stmt| changed[stmt.index()])
    };
    let by_variable = found
        .changes
        .iter()
        .any(|c| matches!(c.subject, Subject::Global(_)));
    let exact = marked(&a.changed) == old_stmts.len() && marked(&b.changed) == new_stmts.len();
    if !all(&a.changed, &old_stmts) || !all(&b.changed, &new_stmts) || !(exact || by_variable) {
        return Err("the changed statements are not those that are marked".into());
    }
    Ok(())
}

/// Each function, and each variable other than literals, is in exactly one pair.
fn everything_is_listed(old: &Program, new: &Program, found: &Comparison) -> Result<(), Failed> {
    let functions = |program: &Program| program.functions.len();
    let variables = |program: &Program| program.globals.iter().filter(|g| !g.is_literal).count();
    let listed = [
        (
            functions(old),
            count(found.functions.iter().filter_map(|p| p.old)),
        ),
        (
            functions(new),
            count(found.functions.iter().filter_map(|p| p.new)),
        ),
        (
            variables(old),
            count(found.globals.iter().filter_map(|p| p.old)),
        ),
        (
            variables(new),
            count(found.globals.iter().filter_map(|p| p.new)),
        ),
    ];
    for (expected, (all, different)) in listed {
        if (expected, expected) != (all, different) {
            return Err(format!("of {expected}, {all} listed, {different} different").into());
        }
    }
    Ok(())
}

fn count<T: Ord>(items: impl Iterator<Item = T>) -> (usize, usize) {
    let items: Vec<_> = items.collect();
    let all = items.len();
    (all, items.into_iter().collect::<BTreeSet<_>>().len())
}

fn one_to_one(numbering: &Numbering, lens: (usize, usize)) -> Result<(), Failed> {
    if (numbering.old.len(), numbering.new.len()) != lens {
        return Err("not everything has a number".into());
    }
    let set = |numbers: &[u32]| -> BTreeSet<u32> { numbers.iter().copied().collect() };
    let (old, new) = (set(&numbering.old), set(&numbering.new));
    if (old.len(), new.len()) != lens {
        return Err("a number is given twice".into());
    }
    let both: BTreeSet<_> = old.intersection(&new).copied().collect();
    if both != (0..numbering.shared).collect() {
        return Err("the shared numbers are not the lowest".into());
    }
    let all: BTreeSet<_> = old.union(&new).copied().collect();
    if all != (0..numbering.count).collect() {
        return Err("the count is wrong".into());
    }
    Ok(())
}

/// Indices (old, new) of what has one number in both versions.
fn shared(numbering: &Numbering) -> Vec<(u32, u32)> {
    let mut by_number = BTreeMap::new();
    for (index, &number) in (0..).zip(&numbering.old) {
        by_number.insert(number, index);
    }
    let new = (0..).zip(&numbering.new);
    new.filter_map(|(index, number)| Some((*by_number.get(number)?, index)))
        .collect()
}

/// Which functions correspond.
struct Partners(BTreeSet<(FunctionId, FunctionId)>);

impl Partners {
    fn of(comparison: &Comparison) -> Self {
        let pairs = comparison.functions.iter();
        Self(pairs.filter_map(|p| Some((p.old?, p.new?))).collect())
    }

    fn check(&self, old: FunctionId, new: FunctionId) -> Result<(), Failed> {
        match self.0.contains(&(old, new)) {
            true => Ok(()),
            false => Err(format!("a number leads from function {old:?} to {new:?}").into()),
        }
    }
}

fn same_operation(old: Op, new: Op) -> Result<(), Failed> {
    let is_return = |op| matches!(op, Op::Return | Op::Store { .. });
    let same = std::mem::discriminant(&old) == std::mem::discriminant(&new);
    // Where there are several returns, each is a store to a hidden variable.
    if same || (is_return(old) && is_return(new)) {
        return Ok(());
    }
    Err(format!("one number for {old:?} and {new:?}").into())
}

/// The statements of a change belong to its function, and its hunks exist.
fn changes_are_where_they_say(
    old: &Program,
    new: &Program,
    comparison: &Comparison,
) -> Result<(), Failed> {
    for change in &comparison.changes {
        let strange = match change.subject {
            Subject::Function(pair) => {
                let elsewhere = |program: &Program, id: Option<FunctionId>, stmts: &[StmtId]| {
                    stmts
                        .iter()
                        .any(|&stmt| Some(program.function_of(stmt)) != id)
                };
                let nothing = change.old.is_empty() && change.new.is_empty();
                nothing
                    || elsewhere(old, pair.old, &change.old)
                    || elsewhere(new, pair.new, &change.new)
            }
            _ => !change.old.is_empty() || !change.new.is_empty(),
        };
        let hunks_exist = change.hunks.iter().all(|&i| i < comparison.hunks.len());
        if strange || !hunks_exist || change.hunks.is_empty() {
            return Err(format!("strange: {change:?}").into());
        }
    }
    Ok(())
}
