//! Where in new something acts that only old has.

use beagle_change::Comparison;
use beagle_program::{Program, StmtId};
use rustc_hash::FxHashSet;

/// How statements of old are found in new.
pub struct Correspondence {
    /// By number that both versions share, the statement of new.
    new: Vec<Option<StmtId>>,
    /// By statement of old, its number if both versions share it.
    old: Vec<Option<u32>>,
}

impl Correspondence {
    /// Of two versions.
    pub fn of(comparison: &Comparison) -> Self {
        let shared = comparison.stmts.shared;
        let mut new = vec![None; shared as usize];
        for (index, &number) in comparison.stmts.new.iter().enumerate() {
            if number < shared {
                new[number as usize] = Some(StmtId(index as u32));
            }
        }
        let old = comparison.stmts.old.iter();
        let old = old.map(|&number| (number < shared).then_some(number));
        Self {
            new,
            old: old.collect(),
        }
    }

    /// What a statement of old is in new, if it is there.
    pub fn new_of(&self, old: StmtId) -> Option<StmtId> {
        let number = self.old.get(old.index()).copied().flatten()?;
        self.new[number as usize]
    }
}

/// The statements of new that come where some of old were: on every way from these on, the first
/// that new has, too.
pub fn anchors(
    program: &Program,
    correspondence: &Correspondence,
    deleted: &[StmtId],
) -> Vec<StmtId> {
    let deleted_ones: FxHashSet<StmtId> = deleted.iter().copied().collect();
    let mut found = Vec::new();
    let mut seen = FxHashSet::default();
    let mut work: Vec<StmtId> = deleted.to_vec();
    while let Some(stmt) = work.pop() {
        if !seen.insert(stmt) {
            continue;
        }
        let there = correspondence
            .new_of(stmt)
            .filter(|_| !deleted_ones.contains(&stmt));
        if let Some(new) = there {
            found.push(new);
            continue;
        }
        let block = program.block(program.stmt(stmt).block);
        match stmt.0 + 1 < block.stmts.end {
            true => work.push(StmtId(stmt.0 + 1)),
            false => {
                let next = block.successors.iter();
                work.extend(next.filter_map(|&next| program.block(next).stmts().next()));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
