//! Which blocks control can reach from some, across calls and returns. For all at once there is
//! [`Order`](crate::Order).
//!
//! As with slices, a path never enters a function from one call and returns to another: from its
//! starting point it may return to callers, and it may enter callees, but what it enters it leaves
//! only by going on after the call. Long jumps lead to all places where one was set, and handlers of
//! signals run at any time.

use rustc_hash::FxHashSet;

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
    let jumps = Jumps::of(program, calls);
    walk(program, from, |at, visit| {
        let data = program.block(at.block);
        for &successor in &data.successors {
            visit(Visit::whole(program, successor, at.up));
        }
        if jumps.from.contains(&at.block) {
            for &set in &jumps.to {
                visit(Visit::whole(program, set, true));
            }
        }
        if at.up {
            for &entry in &jumps.later {
                visit(Visit::whole(program, entry, false));
            }
        }
        for stmt in data.stmts().rev().take(at.stmts as usize) {
            for &callee in calls.callees(stmt) {
                if let Some(entry) = program.function(callee).entry() {
                    visit(Visit::whole(program, entry, false));
                }
            }
        }
        if at.up && program.stmt(data.terminator()).op == Op::Return {
            for &call in calls.callers(data.function) {
                let block = program.stmt(call).block;
                let stmts = program.block(block).stmts.end - call.0 - 1;
                let up = true;
                visit(Visit { block, stmts, up });
            }
        }
    })
}

/// That control gets to a block.
#[derive(Clone, Copy)]
struct Visit {
    block: BlockId,
    /// How many of its statements run: after a return only those behind the call.
    stmts: u32,
    /// Whether control may return from the function to any caller.
    up: bool,
}

impl Visit {
    fn whole(program: &Program, block: BlockId, up: bool) -> Self {
        let stmts = program.block(block).stmts.len() as u32;
        Self { block, stmts, up }
    }
}

/// Ways that are no calls, returns or edges.
struct Jumps {
    /// The blocks with long jumps, and those to which they lead.
    from: FxHashSet<BlockId>,
    to: FxHashSet<BlockId>,
    /// The first blocks of what may run at any time.
    later: Vec<BlockId>,
}

impl Jumps {
    fn of(program: &Program, calls: &CallGraph) -> Self {
        let mut jumps = Jumps {
            from: FxHashSet::default(),
            to: FxHashSet::default(),
            later: Vec::new(),
        };
        for (call, effects) in calls.external_calls() {
            let block = program.stmt(call).block;
            if effects.writes.states.contains(&"jump") {
                jumps.from.insert(block);
            }
            if effects.reads.states.contains(&"jump") {
                jumps.to.insert(block);
            }
        }
        let later = calls.run_later(program).into_iter();
        jumps.later = later
            .filter_map(|id| program.function(id).entry())
            .collect();
        jumps
    }
}

fn walk(
    program: &Program,
    from: &[BlockId],
    neighbours: impl Fn(Visit, &mut dyn FnMut(Visit)),
) -> Reached {
    // For each block how many statements run, without and with leave to go up.
    let mut reached: Vec<[Option<u32>; 2]> = vec![[None; 2]; program.blocks.len()];
    let whole = |&block: &BlockId| Visit::whole(program, block, true);
    let mut work: Vec<_> = from.iter().map(whole).collect();
    while let Some(visit) = work.pop() {
        let states = &mut reached[visit.block.index()];
        let state = usize::from(visit.up);
        // What was reached with more freedom covers what is reached with less.
        if states[state..]
            .iter()
            .any(|&most| most >= Some(visit.stmts))
        {
            continue;
        }
        states[state] = Some(visit.stmts);
        neighbours(visit, &mut |next| work.push(next));
    }
    let is_reached = |states: [Option<u32>; 2]| states.iter().any(Option::is_some);
    Reached {
        blocks: reached.into_iter().map(is_reached).collect(),
    }
}
