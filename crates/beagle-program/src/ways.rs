//! Where in the source control goes on after a branch.
//!
//! The condition of a branch need not be the one in the source: `if (!x)` is compiled as a branch on `x`, with its sides
//! swapped. Which line comes next is the same in both.

use crate::{Op, Place, Program, StmtId};

/// Through so many blocks without any place a way is followed.
const MOST: usize = 16;

impl Program {
    /// The place of what is executed next when a branch or switch goes to one of its successors, by number; `None` if
    /// that is not known.
    pub fn next_place(&self, branch: StmtId, successor: usize) -> Option<Place> {
        let from = self.block(self.stmt(branch).block);
        let mut block = *from.successors.get(successor)?;
        for _ in 0..MOST {
            let data = self.block(block);
            let stmts = data.stmts().map(|stmt| self.stmt(stmt));
            // What is put together where ways meet stands where they came from.
            let mut real = stmts.filter(|stmt| stmt.op != Op::Phi);
            if let Some(place) = real.find_map(|stmt| stmt.place) {
                return Some(place);
            }
            match data.successors[..] {
                [next] => block = next,
                _ => return None,
            }
        }
        None
    }
}
