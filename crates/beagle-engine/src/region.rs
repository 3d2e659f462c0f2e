//! What can run between a branch and where all its ways meet again.

use beagle_program::BlockId;
use rustc_hash::FxHashSet;

use crate::steps::{Step, What};
use crate::twin::Half;

/// The code between a branch and where all its ways meet.
#[derive(Default)]
pub struct Region {
    blocks: FxHashSet<BlockId>,
    /// The functions that these blocks call, by their numbers plus 1.
    calls: FxHashSet<u32>,
}

impl Region {
    /// Of the branch at the end of a block.
    pub fn of(half: &Half<'_>, block: BlockId) -> Self {
        let function = half.program.block(block).function;
        let meeting = half.flow(function).immediate_post_dominator(block);
        let mut region = Self::default();
        let mut work = half.program.block(block).successors.clone();
        while let Some(next) = work.pop() {
            if Some(next) == meeting || !region.blocks.insert(next) {
                continue;
            }
            let data = half.program.block(next);
            work.extend(&data.successors);
            let callees = data.stmts().flat_map(|stmt| half.calls.callees(stmt));
            region
                .calls
                .extend(callees.map(|&f| half.function_number(f)));
        }
        region
    }

    /// Whether a step after the branch, which was `depth` calls deep, is still in it.
    pub fn includes(&self, half: &Half<'_>, depth: u32, step: &Step) -> bool {
        match step.what {
            _ if step.depth != depth => step.depth > depth,
            What::Enter | What::Leave => self.calls.contains(&step.site),
            _ => {
                let block = half.block_of(step);
                block.is_some_and(|block| self.blocks.contains(&block))
            }
        }
    }
}
