//! Whether what differs can depend on a change.

use beagle_change::{Change, Subject};
use beagle_engine::{Side, Twin};
use beagle_program::{Dependence, Fact, Slice, StmtId};
use rustc_hash::FxHashMap;

/// Programs with more statements are not sliced: it would take longer than it is worth.
const MOST_SLICED: usize = 50_000;

/// What can depend on what in both versions, found out when it is first needed.
pub struct Reach<'a, 'p> {
    twin: &'a Twin<'p>,
    dependence: [Option<Dependence<'p>>; 2],
    /// What can depend on statements that were asked for.
    slices: FxHashMap<(Side, Vec<StmtId>), Slice>,
}

impl<'a, 'p> Reach<'a, 'p> {
    /// For two versions.
    pub fn new(twin: &'a Twin<'p>) -> Self {
        Self {
            twin,
            dependence: [None, None],
            slices: FxHashMap::default(),
        }
    }

    /// Whether one of the statements can depend on a change; `None` if that is not known.
    pub fn reaches(&mut self, change: &Change, targets: &[(Side, StmtId)]) -> Option<bool> {
        if targets.is_empty() || !matches!(change.subject, Subject::Function(_)) {
            return None;
        }
        for (side, stmts) in [(Side::Old, &change.old), (Side::New, &change.new)] {
            let half = self.twin.half(side);
            if half.program.stmts.len() > MOST_SLICED {
                return None;
            }
            if stmts.is_empty() {
                continue;
            }
            if !targets.iter().any(|(at, _)| *at == side) {
                return None;
            }
            let slice = self.slice(side, stmts.clone());
            let mut targets = targets.iter().filter(|(at, _)| *at == side);
            if targets.any(|&(_, stmt)| stmts.contains(&stmt) || slice.contains(stmt)) {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Whether one of the statements can depend on one of others of the same version; `None` if the program is too
    /// large to tell.
    pub fn depends(&mut self, on: &[(Side, StmtId)], stmts: &[(Side, StmtId)]) -> Option<bool> {
        for side in Side::BOTH {
            let half = self.twin.half(side);
            if half.program.stmts.len() > MOST_SLICED {
                return None;
            }
            let of = |all: &[(Side, StmtId)]| -> Vec<StmtId> {
                let of_side = all.iter().filter(|(at, _)| *at == side);
                of_side.map(|&(_, stmt)| stmt).collect()
            };
            let (on, stmts) = (of(on), of(stmts));
            if on.is_empty() || stmts.is_empty() {
                continue;
            }
            let slice = self.slice(side, on);
            if stmts.iter().any(|&stmt| slice.contains(stmt)) {
                return Some(true);
            }
        }
        Some(false)
    }

    /// All that can depend on some statements.
    fn slice(&mut self, side: Side, stmts: Vec<StmtId>) -> &Slice {
        let program = self.twin.half(side).program;
        let dependence = &mut self.dependence[side as usize];
        let dependence = dependence.get_or_insert_with(|| Dependence::of(program));
        let known = self.slices.entry((side, stmts));
        known.or_insert_with_key(|(_, stmts)| {
            let facts = stmts.iter().flat_map(|&it| dependence.changed(it));
            dependence.forward(&facts.collect::<Vec<Fact>>())
        })
    }
}
