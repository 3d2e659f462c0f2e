//! How far it is from each block and each way on from a branch to the targets.
//!
//! The distance is the number of branches that must still go the right way: a shortest path in the
//! interprocedural control-dependence graph, in which a call weighs nothing.

use std::collections::VecDeque;

use beagle_program::{BlockId, Control, FunctionId, Op, StmtId};
use rustc_hash::FxHashMap;

use crate::twin::{Half, Side, Twin};

/// What decides whether the blocks of one version run.
pub struct ControlGraph {
    /// What decides about each block.
    by: FxHashMap<BlockId, Vec<Control>>,
    /// Whether a block runs whenever its function does.
    always: Vec<bool>,
    /// The blocks from which a function returns.
    returns: Vec<Vec<BlockId>>,
}

impl ControlGraph {
    /// Of a version.
    pub fn of(half: &Half<'_>) -> Self {
        let program = half.program;
        let mut graph = Self {
            by: FxHashMap::default(),
            always: vec![false; program.blocks.len()],
            returns: vec![Vec::new(); program.functions.len()],
        };
        for (id, function) in program.functions() {
            let Some(entry) = function.entry() else {
                continue;
            };
            let flow = half.flow(id);
            for control in flow.control(program, &half.calls) {
                graph.by.entry(control.block).or_default().push(control);
            }
            for block in function.blocks() {
                graph.always[block.index()] = block == entry || flow.post_dominates(block, entry);
                let last = program.block(block).terminator();
                if program.stmt(last).op == Op::Return {
                    graph.returns[id.index()].push(block);
                }
            }
        }
        graph
    }
}

/// Distances to a set of targets.
#[derive(Debug, Default)]
pub struct Distances {
    blocks: Vec<u32>,
    edges: FxHashMap<(StmtId, u32), u32>,
}

impl Distances {
    /// To these blocks.
    pub fn to(half: &Half<'_>, graph: &ControlGraph, targets: &[BlockId]) -> Self {
        let mut distances = Self {
            blocks: vec![u32::MAX; half.program.blocks.len()],
            edges: FxHashMap::default(),
        };
        let mut queue = VecDeque::new();
        for &target in targets {
            distances.relax(&mut queue, target, 0, false);
        }
        while let Some((block, distance)) = queue.pop_front() {
            if distances.blocks[block.index()] < distance {
                continue;
            }
            distances.expand(half, graph, &mut queue, block, distance);
        }
        distances
    }

    fn expand(
        &mut self,
        half: &Half<'_>,
        graph: &ControlGraph,
        queue: &mut VecDeque<(BlockId, u32)>,
        block: BlockId,
        distance: u32,
    ) {
        for control in graph.by.get(&block).into_iter().flatten() {
            let decider = half.block(control.by);
            match control.side {
                Some(side) => {
                    let edge = self.edges.entry((control.by, side)).or_insert(u32::MAX);
                    *edge = distance.min(*edge);
                    self.relax(queue, decider, distance + 1, true);
                }
                // A call must come back.
                None => {
                    self.relax(queue, decider, distance, false);
                    for callee in half.calls.callees(control.by) {
                        for &end in &graph.returns[callee.index()] {
                            self.relax(queue, end, distance, false);
                        }
                    }
                }
            }
        }
        if graph.always[block.index()] {
            let function: FunctionId = half.program.block(block).function;
            for &call in half.calls.callers(function) {
                self.relax(queue, half.block(call), distance, false);
            }
        }
    }

    fn relax(
        &mut self,
        queue: &mut VecDeque<(BlockId, u32)>,
        block: BlockId,
        distance: u32,
        later: bool,
    ) {
        let known = &mut self.blocks[block.index()];
        if distance >= *known {
            return;
        }
        *known = distance;
        match later {
            true => queue.push_back((block, distance)),
            false => queue.push_front((block, distance)),
        }
    }

    /// From a block that runs; `None` if no target can be reached.
    pub fn block(&self, block: BlockId) -> Option<u32> {
        self.blocks
            .get(block.index())
            .copied()
            .filter(|&distance| distance != u32::MAX)
    }

    /// From a way on from a branch.
    pub fn edge(&self, branch: StmtId, to: u32) -> Option<u32> {
        self.edges.get(&(branch, to)).copied()
    }
}

/// How far each block of a version is from a change, by `BlockId`; `None` if none can be reached.
pub fn to_changes(twin: &Twin<'_>, side: Side) -> Vec<Option<u32>> {
    let half = twin.half(side);
    let targets: Vec<BlockId> = half.changed().map(|(stmt, _)| half.block(stmt)).collect();
    let distances = Distances::to(half, &ControlGraph::of(half), &targets);
    let blocks = (0..half.program.blocks.len() as u32).map(BlockId);
    blocks.map(|block| distances.block(block)).collect()
}
