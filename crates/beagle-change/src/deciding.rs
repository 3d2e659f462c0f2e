//! The state of affairs that changes are executed in: the variables that decide whether they are, and what they
//! make of it.
//!
//! These are the variables that changes read, those in the conditions that their execution depends on, and what
//! in turn decides about these: a branch on a number of lines depends on the input only through the branches
//! that count them.

use std::collections::VecDeque;

use beagle_program::{BlockId, CallGraph, Flow, FunctionId, Op, Operand, Program, StmtId};
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
    /// By function.
    controls: FxHashMap<FunctionId, Controls>,
}

/// What decides about the blocks of a function.
#[derive(Default)]
struct Controls {
    /// By block: the branches, and calls that may not come back, that decide whether it runs.
    by: FxHashMap<BlockId, Vec<StmtId>>,
    /// The blocks that run whenever the function is called.
    always: FxHashSet<BlockId>,
}

impl Controls {
    fn of(program: &Program, calls: &CallGraph, id: FunctionId) -> Self {
        let mut controls = Self::default();
        let flow = Flow::of(program, calls, id);
        for control in flow.control(program, calls) {
            let by = controls.by.entry(control.block).or_default();
            if !by.contains(&control.by) {
                by.push(control.by);
            }
        }
        let function = program.function(id);
        if let Some(entry) = function.entry() {
            // The condition of a loop decides about itself, but is always asked once.
            let always = |&block: &BlockId| block == entry || flow.post_dominates(block, entry);
            controls.always = function.blocks().filter(always).collect();
        }
        controls
    }
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
            // What nothing is put into would never be seen to change.
            let assigning = self.assigning.get(&key);
            if let Some(assigning) = assigning.filter(|_| search.seen.insert(key.clone())) {
                for &stmt in assigning.iter().take(MOST_ASSIGNING) {
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
        let controls = self.controls.entry(function);
        let controls = controls.or_insert_with(|| Controls::of(program, calls, function));
        let mut calling: Vec<StmtId> = Vec::new();
        for &by in controls.by.get(&block).into_iter().flatten() {
            match program.stmt(by).op {
                Op::Branch | Op::Switch => search.push(by, depth),
                // What decides about a call that may not come back decides about what comes after it.
                _ => calling.push(by),
            }
        }
        if controls.always.contains(&block) {
            calling.extend(calls.callers(function));
        }
        for call in calling {
            if depth <= DEEPEST && search.called.insert(call) {
                self.controlled(search, call, depth + 1);
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
