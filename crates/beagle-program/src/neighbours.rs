//! Where statements get what they read from, and where what they assign is read: one step by memory,
//! however many by registers, arguments and results.

use rustc_hash::FxHashSet;

use crate::dependence::Dependence;
use crate::model::*;
use crate::points_to::{CellId, Object};

/// What a number in the dependence graph stands for, as far as it matters here.
pub(crate) enum Node {
    Stmt(StmtId),
    Block(BlockId),
    Memory,
    /// A parameter.
    Param,
    /// Whether something comes back.
    End,
}

impl Dependence<'_> {
    /// The blocks in which something is assigned that these statements read. What they make of it depends on
    /// which of these blocks ran before.
    pub fn assigning(&self, stmts: &[StmtId]) -> Vec<BlockId> {
        let mut found = FxHashSet::default();
        self.walk(stmts, |from, to, edges| {
            for edge in self.backward.of(from) {
                match self.node(edge.to) {
                    Node::Stmt(stmt) if self.is_store(stmt) || self.is_memory(from) => {
                        found.insert(self.program.stmt(stmt).block);
                    }
                    // Of several values the one that belongs to the way.
                    Node::Block(block) if to.is_some_and(|stmt| self.is_phi(stmt)) => {
                        found.insert(block);
                    }
                    Node::Stmt(_) | Node::Memory | Node::Param => edges.push(edge.to),
                    Node::Block(_) | Node::End => {}
                }
            }
        });
        sorted(found)
    }

    /// The statements that compute or assign what these read, by way of registers, arguments, results and
    /// local variables, and of other memory, if that counts.
    pub fn sources(&self, stmts: &[StmtId], memory: bool) -> FxHashSet<StmtId> {
        let mut found = FxHashSet::default();
        self.walk(stmts, |from, _, edges| {
            for edge in self.backward.of(from) {
                match self.node(edge.to) {
                    Node::Stmt(stmt) => {
                        let ends = self.is_store(stmt) || self.is_memory(from);
                        let ends = ends && !self.is_to_local(stmt);
                        if memory || !ends {
                            found.insert(stmt);
                        }
                        if !ends {
                            edges.push(edge.to);
                        }
                    }
                    Node::Memory | Node::Param => edges.push(edge.to),
                    Node::Block(_) | Node::End => {}
                }
            }
        });
        found
    }

    /// The blocks in which something is read that these statements assign, or decided by what they compute.
    pub fn reading(&self, stmts: &[StmtId]) -> Vec<BlockId> {
        let mut found = FxHashSet::default();
        self.walk(stmts, |from, by, edges| {
            for edge in self.forward.of(from) {
                let stored = self.is_memory(from) || by.is_some_and(|stmt| self.is_store(stmt));
                match self.node(edge.to) {
                    Node::Stmt(stmt) if stored || self.decides(stmt) => {
                        found.insert(self.program.stmt(stmt).block);
                    }
                    Node::Stmt(_) | Node::Memory | Node::Param => edges.push(edge.to),
                    Node::Block(_) | Node::End => {}
                }
            }
        });
        sorted(found)
    }

    /// Calls `step` for each node that it asks for, once.
    fn walk(&self, stmts: &[StmtId], mut step: impl FnMut(u32, Option<StmtId>, &mut Vec<u32>)) {
        let mut work: Vec<u32> = stmts.iter().map(|stmt| stmt.0).collect();
        let mut seen = FxHashSet::default();
        while let Some(node) = work.pop() {
            if !seen.insert(node) {
                continue;
            }
            let stmt = match self.node(node) {
                Node::Stmt(stmt) => Some(stmt),
                _ => None,
            };
            step(node, stmt, &mut work);
        }
    }

    pub(crate) fn node(&self, number: u32) -> Node {
        let nodes = &self.nodes;
        if number < nodes.blocks {
            Node::Stmt(StmtId(number))
        } else if number < nodes.cells {
            Node::Block(BlockId(number - nodes.blocks))
        } else if number < nodes.first_param {
            Node::Memory
        } else if nodes.param(number).is_some() {
            Node::Param
        } else {
            Node::End
        }
    }

    fn is_memory(&self, number: u32) -> bool {
        matches!(self.node(number), Node::Memory)
    }

    /// Whether a node is memory that is not the program's own.
    pub(crate) fn is_outside(&self, number: u32) -> bool {
        let object = || self.points_to().object(CellId(number - self.nodes.cells));
        self.is_memory(number) && matches!(object(), Object::Outside | Object::Library(_))
    }

    pub(crate) fn is_store(&self, stmt: StmtId) -> bool {
        matches!(self.program.stmt(stmt).op, Op::Store { .. })
    }

    fn is_to_local(&self, stmt: StmtId) -> bool {
        let target = self.program.operands(stmt).last();
        let is_local = |to: StmtId| matches!(self.program.stmt(to).op, Op::Alloca(_));
        self.is_store(stmt) && matches!(target, Some(&Operand::Stmt(to)) if is_local(to))
    }

    fn is_phi(&self, stmt: StmtId) -> bool {
        self.program.stmt(stmt).op == Op::Phi
    }

    fn decides(&self, stmt: StmtId) -> bool {
        matches!(
            self.program.stmt(stmt).op,
            Op::Branch | Op::Switch | Op::ComputedJump
        )
    }
}

fn sorted(blocks: FxHashSet<BlockId>) -> Vec<BlockId> {
    let mut blocks: Vec<BlockId> = blocks.into_iter().collect();
    blocks.sort_unstable();
    blocks
}
