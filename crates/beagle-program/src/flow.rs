//! Control flow inside a function: dominators, post-dominators, control dependence.

use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Dfs, Reversed};

use crate::calls::CallGraph;
use crate::model::*;

/// The control flow of one function.
pub struct Flow {
    first: u32,
    /// The blocks, and one more node for the end of the function.
    graph: DiGraph<(), ()>,
    dominators: Dominators<NodeIndex>,
    post_dominators: Dominators<NodeIndex>,
}

/// That one statement decides whether a block runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Control {
    /// The block that runs or not.
    pub block: BlockId,
    /// The branch, or the call that may not come back.
    pub by: StmtId,
    /// Which successor of the branch leads here; `None` for calls.
    pub side: Option<u32>,
}

impl Flow {
    /// The flow of a function that is defined.
    pub fn of(program: &Program, calls: &CallGraph, id: FunctionId) -> Flow {
        let function = program.function(id);
        let first = function.blocks.start;
        let count = function.blocks.len();
        let mut graph = DiGraph::with_capacity(count + 1, 2 * count);
        for _ in 0..=count {
            graph.add_node(());
        }
        let exit = NodeIndex::new(count);
        for block in function.blocks() {
            let node = NodeIndex::new((block.0 - first) as usize);
            let data = program.block(block);
            let mut goes_on = true;
            for stmt in data.stmts() {
                if calls.call_may_exit(stmt) {
                    graph.update_edge(node, exit, ());
                    goes_on &= !calls.call_never_returns(stmt);
                }
            }
            if !goes_on {
                continue;
            }
            for successor in &data.successors {
                graph.update_edge(node, NodeIndex::new((successor.0 - first) as usize), ());
            }
            if data.successors.is_empty() {
                graph.update_edge(node, exit, ());
            }
        }
        connect_endless_loops(&mut graph, exit);
        Flow {
            first,
            dominators: simple_fast(&graph, NodeIndex::new(0)),
            post_dominators: simple_fast(Reversed(&graph), exit),
            graph,
        }
    }

    fn node(&self, block: BlockId) -> NodeIndex {
        NodeIndex::new((block.0 - self.first) as usize)
    }

    fn block(&self, node: NodeIndex) -> Option<BlockId> {
        let is_exit = node.index() + 1 == self.graph.node_count();
        (!is_exit).then(|| BlockId(self.first + node.index() as u32))
    }

    /// The closest other block through which every path to this one leads.
    pub fn immediate_dominator(&self, block: BlockId) -> Option<BlockId> {
        let node = self.dominators.immediate_dominator(self.node(block))?;
        self.block(node)
    }

    /// The closest other block through which every path from this one leads; `None` if that is the
    /// end of the function.
    pub fn immediate_post_dominator(&self, block: BlockId) -> Option<BlockId> {
        let node = self.post_dominators.immediate_dominator(self.node(block))?;
        self.block(node)
    }

    /// Whether every path to `b` leads through `a`.
    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        let mut above = self
            .dominators
            .dominators(self.node(b))
            .into_iter()
            .flatten();
        above.any(|node| node == self.node(a))
    }

    /// Whether every path from `b` to the end leads through `a`.
    pub fn post_dominates(&self, a: BlockId, b: BlockId) -> bool {
        let above = self.post_dominators.dominators(self.node(b));
        above.into_iter().flatten().any(|node| node == self.node(a))
    }

    /// What decides whether each block runs.
    ///
    /// After Ferrante, Ottenstein and Warren: an edge from `a` to `b` decides about `b` and the
    /// blocks that always follow it, up to where all ways on from `a` meet.
    pub fn control(&self, program: &Program, calls: &CallGraph) -> Vec<Control> {
        let mut found = Vec::new();
        for node in self.graph.node_indices() {
            let Some(block) = self.block(node) else {
                continue;
            };
            let data = program.block(block);
            let join = self.post_dominators.immediate_dominator(node);
            let exits = data.stmts().rev().find(|&stmt| calls.call_may_exit(stmt));
            let mut seen = vec![0u32; 0];
            for (side, successor) in (0..).zip(&data.successors) {
                let mut current = self.node(*successor);
                // Not past a call that never comes back.
                if !self.graph.contains_edge(node, current) {
                    continue;
                }
                while Some(current) != join {
                    if let Some(controlled) = self.block(current) {
                        let by = data.terminator();
                        if data.successors.len() > 1 {
                            let side = Some(side);
                            found.push(Control {
                                block: controlled,
                                by,
                                side,
                            });
                        }
                        seen.push(controlled.0);
                    }
                    match self.post_dominators.immediate_dominator(current) {
                        Some(next) => current = next,
                        None => break,
                    }
                }
            }
            // What follows whichever way the branch goes, but only if the call comes back.
            if let Some(by) = exits {
                seen.sort();
                let ways = data.successors.len();
                for same in seen
                    .chunk_by(|a, b| a == b)
                    .filter(|same| same.len() >= ways)
                {
                    let block = BlockId(same[0]);
                    found.push(Control {
                        block,
                        by,
                        side: None,
                    });
                }
            }
        }
        found.sort();
        found.dedup();
        found
    }
}

/// Blocks from which no path leads to the end would have no post-dominators. Each such loop is
/// given a way out, which no run takes.
fn connect_endless_loops(graph: &mut DiGraph<(), ()>, exit: NodeIndex) {
    let mut reaches_exit = vec![false; graph.node_count()];
    let mark = |graph: &DiGraph<(), ()>, from: NodeIndex, reached: &mut Vec<bool>| {
        let reversed = Reversed(graph);
        let mut search = Dfs::new(reversed, from);
        while let Some(node) = search.next(reversed) {
            reached[node.index()] = true;
        }
    };
    mark(graph, exit, &mut reaches_exit);
    // From the last block on: that is mostly the end of the loop.
    for index in (0..graph.node_count()).rev() {
        if !reaches_exit[index] {
            let node = NodeIndex::new(index);
            graph.update_edge(node, exit, ());
            mark(graph, node, &mut reaches_exit);
        }
    }
}
