//! How far it is from each block and each way on from a branch to the targets.
//!
//! The distance is the number of branches that must still go the right way: a shortest path in the
//! interprocedural control-dependence graph, in which a call weighs nothing. Where it is known what depends on
//! what, a way also leads from an assignment to the branches that it can make go the right way.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use beagle_program::{BlockId, Control, Dependence, FunctionId, Op, StmtId, Turn};
use rustc_hash::FxHashMap;

use crate::passed::{Fixed, Passed, Way};
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

/// How much farther it is by way of an assignment than by the branch that it makes go the right way.
const DETOUR: u32 = 1;

/// How much farther it is by way of what a run has passed.
const AGAIN: u32 = 8;

/// The assignments of one version that can make its branches go a way.
pub struct Turning<'a> {
    dependence: Dependence<'a>,
    known: RefCell<FxHashMap<Way, Rc<[Turn]>>>,
}

impl<'a> Turning<'a> {
    /// Of a version.
    pub fn of(half: &Half<'a>) -> Self {
        Self {
            dependence: Dependence::of(half.program),
            known: RefCell::default(),
        }
    }

    /// What depends on what.
    pub fn dependence(&self) -> &Dependence<'a> {
        &self.dependence
    }

    fn for_way(&self, way: Way) -> Rc<[Turn]> {
        let mut known = self.known.borrow_mut();
        let turns = known.entry(way);
        let turns = turns.or_insert_with(|| self.dependence.turning(way.0, way.1).into());
        Rc::clone(turns)
    }
}

/// Assignments, and what a run has done: branches that never depended on the input are no way on from a run that
/// changed nothing about that.
pub type By<'a> = (&'a Turning<'a>, Option<(&'a Fixed, &'a Passed)>);

/// Distances to a set of targets.
#[derive(Debug, Default)]
pub struct Distances {
    blocks: Vec<u32>,
    edges: FxHashMap<(StmtId, u32), u32>,
}

impl Distances {
    /// To these blocks; by way of assignments, too, if these are given.
    pub fn to(
        half: &Half<'_>,
        graph: &ControlGraph,
        by: Option<By<'_>>,
        targets: impl IntoIterator<Item = BlockId>,
    ) -> Self {
        let mut search = Search {
            half,
            graph,
            by,
            found: Self {
                blocks: vec![u32::MAX; half.program.blocks.len()],
                edges: FxHashMap::default(),
            },
            queue: BinaryHeap::new(),
        };
        for target in targets {
            search.relax(target, 0);
        }
        while let Some((Reverse(distance), block)) = search.queue.pop() {
            if search.found.blocks[block.index()] == distance {
                search.expand(block, distance);
            }
        }
        search.found
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

struct Search<'a, 'p> {
    half: &'a Half<'p>,
    graph: &'a ControlGraph,
    by: Option<By<'a>>,
    found: Distances,
    /// The nearest first.
    queue: BinaryHeap<(Reverse<u32>, BlockId)>,
}

impl Search<'_, '_> {
    fn expand(&mut self, block: BlockId, distance: u32) {
        for control in self.graph.by.get(&block).into_iter().flatten() {
            let decider = self.half.block(control.by);
            match control.side {
                Some(side) => self.decided(control.by, side, distance),
                // A call must come back.
                None => {
                    self.relax(decider, distance);
                    for callee in self.half.calls.callees(control.by) {
                        for &end in &self.graph.returns[callee.index()] {
                            self.relax(end, distance);
                        }
                    }
                }
            }
        }
        if self.graph.always[block.index()] {
            let function: FunctionId = self.half.program.block(block).function;
            for &call in self.half.calls.callers(function) {
                self.relax(self.half.block(call), distance);
            }
        }
    }

    /// It is this far from where a branch goes this way.
    fn decided(&mut self, branch: StmtId, side: u32, distance: u32) {
        let edge = self.found.edges.entry((branch, side)).or_insert(u32::MAX);
        if distance >= *edge {
            return;
        }
        *edge = distance;
        let block = self.half.block(branch);
        let Some((turning, past)) = self.by else {
            self.relax(block, distance + 1);
            return;
        };
        let way = (branch, side);
        let turns = turning.for_way(way);
        let again = |is_again: bool| if is_again { AGAIN } else { 0 };
        let is_again = past.is_some_and(|(fixed, passed)| fixed.is_again(way, &turns, passed));
        self.relax(block, distance + 1 + again(is_again));
        for turn in turns.iter() {
            let is_vain = past.is_some_and(|(fixed, _)| fixed.is_vain(way, turn));
            let detour = 1 + DETOUR * turn.steps + again(is_vain);
            self.relax(turn.block, distance + detour);
        }
    }

    fn relax(&mut self, block: BlockId, distance: u32) {
        let known = &mut self.found.blocks[block.index()];
        if distance < *known {
            *known = distance;
            self.queue.push((Reverse(distance), block));
        }
    }
}

/// How far each block of a version is from a change, by `BlockId`; `None` if none can be reached.
pub fn to_changes(twin: &Twin<'_>, side: Side) -> Vec<Option<u32>> {
    let half = twin.half(side);
    let targets = half.changed().map(|(stmt, _)| half.block(stmt));
    let distances = Distances::to(half, &ControlGraph::of(half), None, targets);
    let blocks = (0..half.program.blocks.len() as u32).map(BlockId);
    blocks.map(|block| distances.block(block)).collect()
}
