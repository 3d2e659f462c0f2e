//! Slices: all that may depend on some facts, or on which some facts may depend.
//!
//! After Horwitz, Reps and Binkley: a slice never enters a function from one call and leaves it to
//! another. It first goes up to callers and then down into callees; that a call's result depends on
//! its argument is known from a summary of the callee. Dependence through memory may lead anywhere,
//! so behind it everything is allowed again.

use rustc_hash::FxHashSet;

use crate::dependence::{Crossing, Dependence, Fact};
use crate::model::*;

/// The statements of a slice.
#[derive(Debug)]
pub struct Slice {
    stmts: Vec<bool>,
    blocks: Vec<bool>,
}

impl Slice {
    /// Whether a statement is part of it.
    pub fn contains(&self, stmt: StmtId) -> bool {
        self.stmts[stmt.index()]
    }

    /// Whether it is part of the slice that a block runs.
    pub fn contains_block(&self, block: BlockId) -> bool {
        self.blocks[block.index()]
    }

    /// Its statements.
    pub fn stmts(&self) -> impl Iterator<Item = StmtId> + '_ {
        let all = (0..).map(StmtId).zip(&self.stmts);
        all.filter(|(_, part)| **part).map(|(stmt, _)| stmt)
    }

    /// The functions that have statements in it.
    pub fn functions(&self, program: &Program) -> Vec<FunctionId> {
        let mut functions: Vec<_> = self.stmts().map(|stmt| program.function_of(stmt)).collect();
        functions.dedup();
        functions.sort();
        functions.dedup();
        functions
    }
}

/// Where a slice may go from a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// Into callees only.
    Down,
    /// To callers, too.
    Up,
}

impl Dependence<'_> {
    /// All that may depend on some facts.
    pub fn forward(&self, from: &[Fact]) -> Slice {
        self.slice(from, |node, phase, visit| {
            for edge in self.forward.of(node) {
                match edge.crossing {
                    Crossing::Inside => visit(edge.to, phase),
                    Crossing::Memory => visit(edge.to, Phase::Up),
                    Crossing::Return if phase == Phase::Up => visit(edge.to, Phase::Up),
                    Crossing::Return => {}
                    Crossing::Call(call) => {
                        visit(edge.to, Phase::Down);
                        for after in self.after_call(call, edge.to) {
                            visit(after, phase);
                        }
                    }
                }
            }
        })
    }

    /// All on which some facts may depend.
    pub fn backward(&self, from: &[Fact]) -> Slice {
        self.slice(from, |node, phase, visit| {
            for edge in self.backward.of(node) {
                match edge.crossing {
                    Crossing::Inside => visit(edge.to, phase),
                    Crossing::Memory => visit(edge.to, Phase::Up),
                    Crossing::Return => visit(edge.to, Phase::Down),
                    Crossing::Call(_) if phase == Phase::Up => visit(edge.to, Phase::Up),
                    Crossing::Call(_) => {}
                }
            }
            for before in self.before_call(node) {
                visit(before, phase);
            }
        })
    }

    /// The nodes that say whether the functions that a call may enter run.
    pub(crate) fn entered(&self, call: StmtId) -> impl Iterator<Item = u32> + '_ {
        let callees = self.calls().callees(call).iter();
        let entries = callees.filter_map(|&callee| self.program.function(callee).entry());
        entries.map(|entry| self.nodes.fact(Fact::Block(entry)))
    }

    /// The facts with which a slice from a changed statement starts: what may be different if the
    /// statement were another one, or not there.
    pub fn changed(&self, stmt: StmtId) -> Vec<Fact> {
        let mut facts = vec![Fact::Run(stmt)];
        let data = self.program.stmt(stmt);
        if data.op == Op::Jump {
            // Other blocks may run, or the same ones in another order.
            facts.extend(self.blocks_after(data.block).into_iter().map(Fact::Block));
        }
        if self.calls().call_may_exit(stmt) {
            // Without it control may go on to where it never went on from here. That place is
            // known by what decides whether this one is reached.
            facts.extend([Fact::ComesBack(stmt), Fact::Block(data.block)]);
            let deciding = self.backward.of(self.nodes.fact(Fact::Block(data.block)));
            let deciding = deciding.iter().filter(|edge| edge.to < self.nodes.blocks);
            facts.extend(deciding.map(|edge| Fact::Stmt(StmtId(edge.to))));
        }
        facts
    }

    fn blocks_after(&self, block: BlockId) -> FxHashSet<BlockId> {
        let mut found = FxHashSet::default();
        let mut work = vec![block];
        while let Some(block) = work.pop() {
            let successors = self.program.block(block).successors.iter();
            work.extend(successors.filter(|&&next| found.insert(next)));
        }
        found
    }

    fn slice(
        &self,
        from: &[Fact],
        neighbours: impl Fn(u32, Phase, &mut dyn FnMut(u32, Phase)),
    ) -> Slice {
        let mut reached: Vec<Option<Phase>> = vec![None; self.nodes.count as usize];
        let mut work: Vec<(u32, Phase)> = Vec::new();
        for &fact in from {
            work.push((self.nodes.fact(fact), Phase::Up));
            if let Fact::Run(stmt) = fact {
                work.extend(self.entered(stmt).map(|entry| (entry, Phase::Down)));
            }
        }
        while let Some((node, phase)) = work.pop() {
            // What was reached with more freedom covers what is reached with less.
            if reached[node as usize] >= Some(phase) {
                continue;
            }
            reached[node as usize] = Some(phase);
            neighbours(node, phase, &mut |to, phase| {
                if reached[to as usize] < Some(phase) {
                    work.push((to, phase));
                }
            });
        }
        let stmts = self.program.stmts.len();
        let blocks =
            self.nodes.blocks as usize..self.nodes.blocks as usize + self.program.blocks.len();
        Slice {
            blocks: reached[blocks].iter().map(Option::is_some).collect(),
            stmts: reached[..stmts].iter().map(Option::is_some).collect(),
        }
    }
}
