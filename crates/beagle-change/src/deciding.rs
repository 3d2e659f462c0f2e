//! The state of affairs that changes are executed in: the variables that decide whether they are, and what they
//! make of it.
//!
//! These are the variables that changes read, those in the conditions that their execution depends on, and what
//! in turn decides about these: a branch on a number of lines depends on the input only through the branches
//! that count them.

use std::collections::VecDeque;

use beagle_program::{BlockId, CallGraph, Flow, FunctionId, Op, Operand, StmtId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::variable::{Key, Variables};

/// So often is asked what decides about what decides.
const DEEPEST: u32 = 4;

/// So many variables of one change are told, those nearest to it first.
const MOST: usize = 10;

/// So many statements that assign to the same variable are looked at.
const MOST_ASSIGNING: usize = 64;

/// Finds the variables that decide about changes of a version.
pub(crate) struct Deciding<'a> {
    variables: &'a Variables<'a>,
    calls: CallGraph,
    assigning: FxHashMap<Key, Vec<StmtId>>,
    /// By function and block: the branches that decide whether the block runs.
    controls: FxHashMap<FunctionId, FxHashMap<BlockId, Vec<StmtId>>>,
}

impl<'a> Deciding<'a> {
    /// For a version.
    pub fn new(variables: &'a Variables<'a>) -> Self {
        Self {
            variables,
            calls: CallGraph::of(variables.program),
            assigning: variables.assigning(),
            controls: FxHashMap::default(),
        }
    }

    /// The variables that decide whether statements are executed, the nearest first.
    pub fn whether(&mut self, stmts: &[StmtId]) -> Vec<Key> {
        let mut search = Search::default();
        for &stmt in stmts {
            self.controlled(&mut search, stmt, 0);
        }
        self.go(search)
    }

    /// The variables that decide what statements make, the nearest first.
    pub fn what(&mut self, stmts: &[StmtId]) -> Vec<Key> {
        let mut search = Search::default();
        for &stmt in stmts {
            search.push(stmt, 0);
        }
        self.go(search)
    }

    fn go(&mut self, mut search: Search) -> Vec<Key> {
        while let Some((stmt, depth)) = search.work.pop_front() {
            if search.found.len() >= MOST {
                break;
            }
            self.read(&mut search, stmt, depth);
            self.controlled(&mut search, stmt, depth + 1);
        }
        search.found.truncate(MOST);
        search.found
    }

    /// What a statement reads, and where that is assigned.
    fn read(&self, search: &mut Search, stmt: StmtId, depth: u32) {
        for key in self.variables.read_by(stmt) {
            if search.seen.insert(key.clone()) {
                let assigning = self.assigning.get(&key).into_iter().flatten();
                for &stmt in assigning.take(MOST_ASSIGNING) {
                    search.push(stmt, depth + 1);
                }
                search.found.push(key);
            }
        }
    }

    /// What decides whether a statement is executed.
    fn controlled(&mut self, search: &mut Search, stmt: StmtId, depth: u32) {
        let program = self.variables.program;
        let block = program.stmt(stmt).block;
        let function = program.block(block).function;
        let calls = &self.calls;
        let controls = self.controls.entry(function).or_insert_with(|| {
            let flow = Flow::of(program, calls, function);
            let mut by: FxHashMap<BlockId, Vec<StmtId>> = FxHashMap::default();
            for control in flow.control(program, calls) {
                let branches = by.entry(control.block).or_default();
                if matches!(program.stmt(control.by).op, Op::Branch | Op::Switch)
                    && !branches.contains(&control.by)
                {
                    branches.push(control.by);
                }
            }
            by
        });
        let branches = controls.get(&block);
        for &branch in branches.into_iter().flatten() {
            search.push(branch, depth);
        }
        if branches.is_none() {
            let callers = calls.callers(function).to_vec();
            for call in callers {
                if depth <= DEEPEST && search.called.insert(call) {
                    self.controlled(search, call, depth + 1);
                }
            }
        }
    }
}

#[derive(Default)]
struct Search {
    looked_at: FxHashSet<StmtId>,
    called: FxHashSet<StmtId>,
    seen: FxHashSet<Key>,
    found: Vec<Key>,
    work: VecDeque<(StmtId, u32)>,
}

impl Search {
    fn push(&mut self, stmt: StmtId, depth: u32) {
        if depth <= DEEPEST && self.looked_at.insert(stmt) {
            self.work.push_back((stmt, depth));
        }
    }
}

impl Variables<'_> {
    /// All statements that put values into variables, by variable.
    fn assigning(&self) -> FxHashMap<Key, Vec<StmtId>> {
        let mut all: FxHashMap<Key, Vec<StmtId>> = FxHashMap::default();
        for (id, _) in self.program.functions() {
            for stmt in self.program.function_stmts(id) {
                if let Some(key) = self.key(stmt) {
                    all.entry(key).or_default().push(stmt);
                }
            }
        }
        all
    }

    /// The variables that a statement computes with, also by way of others.
    fn read_by(&self, stmt: StmtId) -> Vec<Key> {
        let function = self.function(stmt);
        let mut found = Vec::new();
        let mut seen = FxHashSet::default();
        let mut work = vec![stmt];
        while let Some(at) = work.pop() {
            let operands = self.program.operands(at);
            match self.program.stmt(at).op {
                Op::Load { .. } => {
                    let address = operands.first();
                    let key = address.and_then(|&it| self.place(function, it));
                    found.extend(key.filter(|_| self.is_number(Operand::Stmt(at))));
                }
                // What is done with the arguments is another matter.
                Op::Call(_) | Op::Invoke(_) if at != stmt => {
                    if let Some(Operand::Function(callee)) = operands.last() {
                        found.extend(self.result(*callee));
                    }
                }
                Op::Alloca(_) => {}
                _ => {
                    let used = operands.iter().filter_map(|operand| match operand {
                        Operand::Stmt(used) => Some(*used),
                        _ => None,
                    });
                    work.extend(used.filter(|&used| seen.insert(used)));
                }
            }
        }
        found
    }
}
