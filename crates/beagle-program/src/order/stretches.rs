//! Blocks cut behind the calls that matter: within a stretch, all statements run or none.

use crate::model::*;

/// Number of a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct StretchId(u32);

impl StretchId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The stretches of all blocks, those of one block in a row.
#[derive(Debug)]
pub(super) struct Stretches {
    /// The first stretch of each block, and the number of stretches.
    first: Vec<u32>,
    /// By stretch.
    block: Vec<BlockId>,
    /// By stretch: the last statement.
    last: Vec<StmtId>,
    /// By stretch: whether the last statement is a call behind which blocks are cut.
    is_call: Vec<bool>,
}

impl Stretches {
    pub(super) fn of(program: &Program, ends_stretch: impl Fn(StmtId) -> bool) -> Self {
        let mut stretches = Self {
            first: Vec::with_capacity(program.blocks.len() + 1),
            block: Vec::new(),
            last: Vec::new(),
            is_call: Vec::new(),
        };
        for (id, block) in (0..).map(BlockId).zip(&program.blocks) {
            stretches.first.push(stretches.last.len() as u32);
            for stmt in block.stmts() {
                let is_call = program.callee(stmt).is_some() && ends_stretch(stmt);
                if is_call || stmt == block.terminator() {
                    stretches.block.push(id);
                    stretches.last.push(stmt);
                    stretches.is_call.push(is_call);
                }
            }
        }
        stretches.first.push(stretches.last.len() as u32);
        stretches
    }

    pub(super) fn len(&self) -> usize {
        self.last.len()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = StretchId> + use<> {
        (0..self.len() as u32).map(StretchId)
    }

    pub(super) fn first(&self, block: BlockId) -> StretchId {
        StretchId(self.first[block.index()])
    }

    /// The stretch that a statement is part of.
    pub(super) fn holding(&self, program: &Program, stmt: StmtId) -> StretchId {
        let block = program.stmt(stmt).block.index();
        let (start, end) = (self.first[block], self.first[block + 1]);
        let lasts = &self.last[start as usize..end as usize];
        let before = lasts.partition_point(|&last| last < stmt);
        StretchId(start + before as u32)
    }

    /// The call that a stretch ends with.
    pub(super) fn call(&self, stretch: StretchId) -> Option<StmtId> {
        self.is_call[stretch.index()].then(|| self.last[stretch.index()])
    }

    pub(super) fn function(&self, program: &Program, stretch: StretchId) -> FunctionId {
        program.block(self.block[stretch.index()]).function
    }

    /// Whether a stretch ends with a return.
    pub(super) fn returns(&self, program: &Program, stretch: StretchId) -> bool {
        program.stmt(self.last[stretch.index()]).op == Op::Return
    }

    /// The stretches that may follow one, if its call comes back.
    pub(super) fn next(&self, program: &Program, stretch: StretchId) -> Vec<StretchId> {
        let block = self.block[stretch.index()];
        if stretch.0 + 1 < self.first[block.index() + 1] {
            return vec![StretchId(stretch.0 + 1)];
        }
        let successors = program.block(block).successors.iter();
        successors.map(|&block| self.first(block)).collect()
    }
}
