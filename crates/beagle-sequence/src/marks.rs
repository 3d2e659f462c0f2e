//! Which nodes statements stand for.

use beagle_program::StmtId;
use rustc_hash::FxHashMap;

/// For statements that stand for nodes: which, in the order in which control meets them.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    nodes: FxHashMap<StmtId, Vec<u32>>,
}

impl Marks {
    /// Adds a node behind those that the statement stands for already.
    pub(crate) fn push(&mut self, stmt: StmtId, node: u32) {
        let nodes = self.nodes.entry(stmt).or_default();
        if !nodes.contains(&node) {
            nodes.push(node);
        }
    }

    /// Adds a node before those that the statement stands for already.
    pub(crate) fn push_front(&mut self, stmt: StmtId, node: u32) {
        let nodes = self.nodes.entry(stmt).or_default();
        if !nodes.contains(&node) {
            nodes.insert(0, node);
        }
    }

    /// The nodes that a statement stands for.
    pub(crate) fn of(&self, stmt: StmtId) -> &[u32] {
        self.nodes.get(&stmt).map_or(&[], Vec::as_slice)
    }

    /// The node that control meets after one of a statement, still at that statement.
    pub(crate) fn after(&self, stmt: StmtId, node: u32) -> Option<u32> {
        let nodes = self.of(stmt);
        let at = nodes.iter().position(|&other| other == node)?;
        nodes.get(at + 1).copied()
    }

    /// All statements with their nodes.
    pub(crate) fn all(&self) -> impl Iterator<Item = (StmtId, &[u32])> {
        let all = self.nodes.iter();
        all.map(|(&stmt, nodes)| (stmt, nodes.as_slice()))
    }
}
