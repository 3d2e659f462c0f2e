//! What runs of one version have passed: to come there again is no way on.
//!
//! A branch that runs came to, and that did not depend on the input in any of them, goes the same way when control
//! comes to it by another way. What makes it go the other way is an assignment that was not made.

use std::cell::RefCell;

use beagle_program::{BlockId, Op, StmtId, Turn};
use rustc_hash::FxHashSet;

use crate::product::Product;
use crate::twin::{Half, Side};

/// The branches that runs of one version came to.
#[derive(Debug, Default)]
pub struct Fixed {
    came_to: FxHashSet<StmtId>,
    /// Those of them that depended on the input.
    free: FxHashSet<StmtId>,
    /// Assignments after which a branch did not go a way all the same.
    vain: RefCell<FxHashSet<(Way, BlockId)>>,
}

/// A branch, and the index of its successor.
pub type Way = (StmtId, u32);

impl Fixed {
    /// Adds a run.
    pub fn add(&mut self, half: &Half<'_>, side: Side, product: &Product) {
        let edges = product.edges.iter().filter(|(of, _)| *of == side);
        self.came_to
            .extend(edges.filter_map(|(_, edge)| half.stmt(edge.site)));
        let free = product.free.iter().filter(|(of, _)| *of == side);
        self.free
            .extend(free.filter_map(|(_, site)| half.stmt(*site)));
    }

    /// Whether to come to a branch again does not make it go a way, for a run that has passed this: none of the
    /// assignments that can was made, or only such as were in vain.
    pub fn is_again(&self, way: Way, turns: &[Turn], passed: &Passed) -> bool {
        let (branch, _) = way;
        let is_fixed = self.came_to.contains(&branch) && !self.free.contains(&branch);
        if !is_fixed || passed.taken.contains(&way) {
            return false;
        }
        let is_made = |turn: &&Turn| passed.blocks.contains(&turn.block);
        let mut made = turns.iter().filter(is_made).map(|turn| (way, turn.block));
        let mut vain = self.vain.borrow_mut();
        if passed.branches.contains(&branch) {
            vain.extend(made);
            return true;
        }
        made.all(|made| vain.contains(&made))
    }

    /// Whether a branch did not go a way after an assignment.
    pub fn is_vain(&self, way: Way, turn: &Turn) -> bool {
        self.vain.borrow().contains(&(way, turn.block))
    }
}

/// What a run of one version has passed.
#[derive(Debug, Default)]
pub struct Passed {
    /// The blocks that it executed.
    blocks: FxHashSet<BlockId>,
    /// The branches that it came to.
    branches: FxHashSet<StmtId>,
    /// The ways that these went.
    taken: FxHashSet<Way>,
}

impl Passed {
    /// By a run.
    pub fn of(half: &Half<'_>, side: Side, product: &Product) -> Self {
        let mut passed = Self::default();
        let mut entered = FxHashSet::default();
        for (_, edge) in product.edges.iter().filter(|(of, _)| *of == side) {
            let (Some(branch), Some(to)) = (half.stmt(edge.site), edge.to) else {
                continue;
            };
            passed.branches.insert(branch);
            passed.taken.insert((branch, to));
            let block = half.program.block(half.block(branch));
            passed.go(half, block.successors.get(to as usize).copied());
            if entered.insert(block.function) {
                passed.go(half, half.program.function(block.function).entry());
            }
        }
        passed
    }

    /// Goes on, also into functions that are called, until something has to be decided.
    fn go(&mut self, half: &Half<'_>, next: Option<BlockId>) {
        let program = half.program;
        let mut work: Vec<BlockId> = next.into_iter().collect();
        while let Some(block) = work.pop() {
            if !self.blocks.insert(block) {
                continue;
            }
            let block = program.block(block);
            for stmt in (block.stmts.start..block.stmts.end).map(StmtId) {
                if let [callee] = half.calls.callees(stmt) {
                    work.extend(program.function(*callee).entry());
                }
            }
            if program.stmt(block.terminator()).op == Op::Jump {
                work.extend(block.successors.first());
            }
        }
    }
}
