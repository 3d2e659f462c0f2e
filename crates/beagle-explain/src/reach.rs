//! Whether what differs can depend on a change.

use beagle_change::{Change, Subject};
use beagle_engine::{Side, Twin};
use beagle_program::{Dependence, Fact, StmtId};

/// Programs with more statements are not sliced: it would take longer than it is worth.
const MOST_SLICED: usize = 50_000;

/// What can depend on what in both versions, found out when it is first needed.
pub struct Reach<'a, 'p> {
    twin: &'a Twin<'p>,
    dependence: [Option<Dependence<'p>>; 2],
}

impl<'a, 'p> Reach<'a, 'p> {
    /// For two versions.
    pub fn new(twin: &'a Twin<'p>) -> Self {
        Self {
            twin,
            dependence: [None, None],
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
            let dependence = &mut self.dependence[side as usize];
            let dependence = dependence.get_or_insert_with(|| Dependence::of(half.program));
            let facts: Vec<Fact> = stmts
                .iter()
                .flat_map(|&it| dependence.changed(it))
                .collect();
            let slice = dependence.forward(&facts);
            let mut targets = targets.iter().filter(|(at, _)| *at == side);
            if targets.any(|&(_, stmt)| stmts.contains(&stmt) || slice.contains(stmt)) {
                return Some(true);
            }
        }
        Some(false)
    }
}
