//! One numbering for two programs: what corresponds has the same number in both.
//!
//! Traces of the two versions can then be walked side by side. Numbers below
//! [`Numbering::shared`] stand for something that both versions have; the others belong to one
//! version only.

use beagle_program::{BlockId, FunctionId, StmtId};

use crate::align::{Alignment, Match};
use crate::shape::Shape;
use crate::token::Side;

/// Numbers for the things of one kind (statements or blocks), by their index in each version.
#[derive(Debug, Default)]
pub struct Numbering {
    /// By index in old.
    pub old: Vec<u32>,
    /// By index in new.
    pub new: Vec<u32>,
    /// How many numbers both versions have; these are the lowest.
    pub shared: u32,
    /// How many numbers there are.
    pub count: u32,
}

impl Numbering {
    fn from_pairs(old_len: usize, new_len: usize, pairs: &Pairs) -> Self {
        let mut numbering = Numbering {
            old: vec![u32::MAX; old_len],
            new: vec![u32::MAX; new_len],
            ..Numbering::default()
        };
        // By new, so that the numbers follow the order of the program that people look at.
        for (new, old) in pairs.old_of.iter().enumerate() {
            if let Some(old) = old {
                numbering.old[*old as usize] = numbering.shared;
                numbering.new[new] = numbering.shared;
                numbering.shared += 1;
            }
        }
        numbering.count = numbering.shared;
        for number in numbering.new.iter_mut().chain(&mut numbering.old) {
            if *number == u32::MAX {
                *number = numbering.count;
                numbering.count += 1;
            }
        }
        numbering
    }
}

/// A one-to-one correspondence that grows; who comes first stays.
struct Pairs {
    new_of: Vec<Option<u32>>,
    old_of: Vec<Option<u32>>,
}

impl Pairs {
    fn new(old_len: usize, new_len: usize) -> Self {
        Self {
            new_of: vec![None; old_len],
            old_of: vec![None; new_len],
        }
    }

    fn add(&mut self, old: u32, new: u32) {
        let (a, b) = (old as usize, new as usize);
        if self.new_of[a].is_none() && self.old_of[b].is_none() {
            self.new_of[a] = Some(new);
            self.old_of[b] = Some(old);
        }
    }
}

/// Collects what corresponds, function by function.
pub(crate) struct Numberer<'s, 'a> {
    old: &'s Side<'a>,
    new: &'s Side<'a>,
    stmts: Pairs,
    blocks: Pairs,
}

impl<'s, 'a> Numberer<'s, 'a> {
    pub(crate) fn new(old: &'s Side<'a>, new: &'s Side<'a>) -> Self {
        let stmts = Pairs::new(old.program.stmts.len(), new.program.stmts.len());
        let blocks = Pairs::new(old.program.blocks.len(), new.program.blocks.len());
        Self {
            old,
            new,
            stmts,
            blocks,
        }
    }

    /// Takes over how two versions of a function correspond.
    pub(crate) fn add(&mut self, old: &Shape, new: &Shape, alignment: &Alignment) {
        if alignment.is_identical() && self.add_identical(old.function, new.function) {
            return;
        }
        for (root, matched) in old.roots.iter().zip(&alignment.old) {
            let Some(j) = matched.other() else {
                continue;
            };
            let other = &new.roots[j];
            self.stmt(root.stmt, other.stmt);
            // Equal tokens come from equal expressions, so their parts correspond one by one. In an
            // edited root only the beginning is sure to.
            let parts = root.parts.iter().zip(&other.parts);
            let same = matches!(matched, Match::Same(_));
            for (&a, &b) in parts {
                if !same && !self.same_op(a, b) {
                    break;
                }
                self.stmt(a, b);
            }
        }
        let old_locals = &self.old.program.function(old.function).locals;
        let new_locals = &self.new.program.function(new.function).locals;
        for (local, matched) in old_locals.iter().zip(&alignment.locals) {
            if let Some(b) = matched {
                self.stmt(local.alloca, new_locals[*b as usize].alloca);
            }
        }
        self.blocks(old, new, alignment);
    }

    /// Versions that mean the same mostly also have the same statements in the same order.
    fn add_identical(&mut self, old: FunctionId, new: FunctionId) -> bool {
        let a: Vec<_> = self.old.program.function_stmts(old).collect();
        let b: Vec<_> = self.new.program.function_stmts(new).collect();
        if a.len() != b.len() || a.iter().zip(&b).any(|(&a, &b)| !self.same_op(a, b)) {
            return false;
        }
        for (a, b) in a.into_iter().zip(b) {
            let blocks = (
                self.old.program.stmt(a).block,
                self.new.program.stmt(b).block,
            );
            self.stmt(a, b);
            self.blocks.add(blocks.0.0, blocks.1.0);
        }
        true
    }

    fn stmt(&mut self, a: StmtId, b: StmtId) {
        self.stmts.add(a.0, b.0);
    }

    fn same_op(&self, a: StmtId, b: StmtId) -> bool {
        let (a, b) = (self.old.program.stmt(a), self.new.program.stmt(b));
        std::mem::discriminant(&a.op) == std::mem::discriminant(&b.op)
    }

    /// Blocks correspond if their terminators do, if they hold roots that do, or if the same way
    /// leads through them.
    fn blocks(&mut self, old: &Shape, new: &Shape, alignment: &Alignment) {
        let pairs = || {
            let matched = alignment.old.iter().enumerate();
            matched.filter_map(|(i, m)| Some((&old.roots[i], &new.roots[m.other()?])))
        };
        let old_block = |stmt| self.old.program.stmt(stmt).block;
        let new_block = |stmt| self.new.program.stmt(stmt).block;
        let mut found: Vec<(BlockId, BlockId)> = Vec::new();
        let entries = (
            self.old.program.function(old.function).entry(),
            self.new.program.function(new.function).entry(),
        );
        if let (Some(a), Some(b)) = entries {
            found.push((a, b));
        }
        let terminates = |block: &beagle_program::Block, stmt| block.terminator() == stmt;
        for (a, b) in pairs() {
            let blocks = (old_block(a.stmt), new_block(b.stmt));
            if terminates(self.old.program.block(blocks.0), a.stmt)
                && terminates(self.new.program.block(blocks.1), b.stmt)
            {
                found.push(blocks);
            }
        }
        for (a, b) in pairs() {
            found.push((old_block(a.stmt), new_block(b.stmt)));
        }
        for (a, b) in pairs() {
            for (x, y) in a.ways.iter().zip(&b.ways) {
                let jumps = x.jumps.iter().zip(&y.jumps);
                found.extend(jumps.map(|(&x, &y)| (old_block(x), new_block(y))));
            }
        }
        for (a, b) in found {
            self.blocks.add(a.0, b.0);
            if self.blocks.new_of[a.index()] == Some(b.0) {
                let a = self.old.program.block(a).terminator();
                let b = self.new.program.block(b).terminator();
                // Jumps are no roots; they correspond if their blocks do.
                if self.same_op(a, b) {
                    self.stmt(a, b);
                }
            }
        }
    }

    /// The numberings of statements and of blocks.
    pub(crate) fn finish(self) -> (Numbering, Numbering) {
        let (old, new) = (self.old.program, self.new.program);
        (
            Numbering::from_pairs(old.stmts.len(), new.stmts.len(), &self.stmts),
            Numbering::from_pairs(old.blocks.len(), new.blocks.len(), &self.blocks),
        )
    }
}
