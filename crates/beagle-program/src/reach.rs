//! Which blocks control can reach from where, across calls and returns.
//!
//! As with slices, a path never enters a function from one call and returns to another: from its
//! starting point it may return to callers, and it may enter callees, but what it enters it leaves
//! only by going on after the call.

use crate::calls::CallGraph;
use crate::model::*;

/// A set of blocks.
#[derive(Debug)]
pub struct Reached {
    blocks: Vec<bool>,
}

impl Reached {
    /// Whether a block is in the set.
    pub fn contains(&self, block: BlockId) -> bool {
        self.blocks[block.index()]
    }
}

/// The blocks that can run once control is in one of `from`, these included.
pub fn reachable_from(program: &Program, calls: &CallGraph, from: &[BlockId]) -> Reached {
    walk(program, from, |block, up, visit| {
        let data = program.block(block);
        for &successor in &data.successors {
            visit(successor, up);
        }
        for stmt in data.stmts() {
            for &callee in calls.callees(stmt) {
                if let Some(entry) = program.function(callee).entry() {
                    visit(entry, false);
                }
            }
        }
        if up && program.stmt(data.terminator()).op == Op::Return {
            for &call in calls.callers(data.function) {
                visit(program.stmt(call).block, true);
            }
        }
    })
}

/// The blocks from which control can get to one of `to`, these included.
pub fn reaching(program: &Program, calls: &CallGraph, to: &[BlockId]) -> Reached {
    walk(program, to, |block, up, visit| {
        let data = program.block(block);
        for &predecessor in &data.predecessors {
            visit(predecessor, up);
        }
        for stmt in data.stmts() {
            for &callee in calls.callees(stmt) {
                for block in program.function(callee).blocks() {
                    if program.stmt(program.block(block).terminator()).op == Op::Return {
                        visit(block, false);
                    }
                }
            }
        }
        if up && program.function(data.function).entry() == Some(block) {
            for &call in calls.callers(data.function) {
                visit(program.stmt(call).block, true);
            }
        }
    })
}

fn walk(
    program: &Program,
    from: &[BlockId],
    neighbours: impl Fn(BlockId, bool, &mut dyn FnMut(BlockId, bool)),
) -> Reached {
    // For each block: reached at all, and reached with leave to go up.
    let mut reached = vec![(false, false); program.blocks.len()];
    let mut work: Vec<_> = from.iter().map(|&block| (block, true)).collect();
    while let Some((block, up)) = work.pop() {
        let state = &mut reached[block.index()];
        if state.1 || (state.0 && !up) {
            continue;
        }
        *state = (true, up);
        neighbours(block, up, &mut |to, up| work.push((to, up)));
    }
    Reached {
        blocks: reached.into_iter().map(|(reached, _)| reached).collect(),
    }
}
