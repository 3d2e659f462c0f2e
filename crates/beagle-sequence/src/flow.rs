//! Which nodes control may meet next, across calls and returns.
//!
//! For each block, the nodes that are met first from its start, and whether the function can be
//! left without meeting any. A call is looked through by what is known of the callee. All of it
//! grows until nothing changes, function by function: the depth of calls and loops does not matter. Long jumps and signal handlers are not followed.

use std::collections::VecDeque;

use beagle_program::{BlockId, CallGraph, FunctionId, Op, Program, StmtId};
use roaring::RoaringBitmap;

use crate::marks::Marks;

/// What control meets from some place on.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Met {
    /// The nodes that may be first.
    pub(crate) nodes: RoaringBitmap,
    /// Whether the function may be left before any.
    pub(crate) leaves: bool,
}

/// The ways between nodes.
pub(crate) struct Ways<'a> {
    program: &'a Program,
    calls: &'a CallGraph,
    marks: &'a Marks,
    /// From the start of each block.
    blocks: Vec<Met>,
    /// After each function was left, in whichever caller.
    after: Vec<RoaringBitmap>,
}

impl<'a> Ways<'a> {
    pub(crate) fn of(program: &'a Program, calls: &'a CallGraph, marks: &'a Marks) -> Self {
        let mut ways = Self {
            program,
            calls,
            marks,
            blocks: vec![Met::default(); program.blocks.len()],
            after: vec![RoaringBitmap::new(); program.functions.len()],
        };
        ways.fill_blocks();
        ways.fill_after();
        ways
    }

    fn fill_blocks(&mut self) {
        let program = self.program;
        // Callees come before their callers, so that most functions are looked at once.
        let mut work: VecDeque<FunctionId> = self.bottom_up().into();
        let mut waits = vec![true; program.functions.len()];
        while let Some(id) = work.pop_front() {
            waits[id.index()] = false;
            if !self.fill_function(id) {
                continue;
            }
            for &call in self.calls.callers(id) {
                let caller = program.function_of(call);
                if !std::mem::replace(&mut waits[caller.index()], true) {
                    work.push_back(caller);
                }
            }
        }
    }

    /// Brings the blocks of a function up to date; whether more can be met from its start.
    fn fill_function(&mut self, id: FunctionId) -> bool {
        let function = self.program.function(id);
        let Some(entry) = function.entry() else {
            return false;
        };
        let before = self.blocks[entry.index()].clone();
        let mut blocks: Vec<BlockId> = function.blocks().collect();
        // Ends come before beginnings.
        blocks.reverse();
        loop {
            let mut changed = false;
            for &block in &blocks {
                let met = self.scan(block, self.program.block(block).stmts.start);
                if met != self.blocks[block.index()] {
                    self.blocks[block.index()] = met;
                    changed = true;
                }
            }
            if !changed {
                return self.blocks[entry.index()] != before;
            }
        }
    }

    /// All functions, callees before callers as far as they do not call each other in circles.
    fn bottom_up(&self) -> Vec<FunctionId> {
        let program = self.program;
        let mut order = Vec::new();
        let mut seen = vec![false; program.functions.len()];
        for (root, _) in program.functions() {
            let mut work = vec![(root, false)];
            while let Some((id, is_done)) = work.pop() {
                if is_done {
                    order.push(id);
                } else if !std::mem::replace(&mut seen[id.index()], true) {
                    work.push((id, true));
                    let stmts = program.function_stmts(id);
                    let callees = stmts.flat_map(|stmt| self.calls.callees(stmt));
                    work.extend(callees.map(|&callee| (callee, false)));
                }
            }
        }
        order
    }

    fn fill_after(&mut self) {
        let program = self.program;
        // Which functions are left when a function is, at the end of the caller.
        let mut on: Vec<Vec<FunctionId>> = vec![Vec::new(); program.functions.len()];
        let mut work = Vec::new();
        for (id, _) in program.functions() {
            for &call in self.calls.callers(id) {
                let met = self.scan(program.stmt(call).block, call.0 + 1);
                self.after[id.index()] |= met.nodes;
                if met.leaves {
                    on[program.function_of(call).index()].push(id);
                }
            }
            work.push(id);
        }
        while let Some(caller) = work.pop() {
            for &callee in &on[caller.index()] {
                let more = &self.after[caller.index()] - &self.after[callee.index()];
                if !more.is_empty() {
                    self.after[callee.index()] |= more;
                    work.push(callee);
                }
            }
        }
    }

    /// What is met in a block from a statement on, and after it.
    fn scan(&self, id: BlockId, from: u32) -> Met {
        let block = self.program.block(id);
        let mut met = Met::default();
        for stmt in (from..block.stmts.end).map(StmtId) {
            if let Some(&node) = self.marks.of(stmt).first() {
                met.nodes.insert(node);
                return met;
            }
            if !self.call(stmt, &mut met) {
                return met;
            }
        }
        for next in &block.successors {
            let next = &self.blocks[next.index()];
            met.nodes |= &next.nodes;
            met.leaves |= next.leaves;
        }
        let last = self.program.stmt(block.terminator()).op;
        met.leaves |= last == Op::Return;
        met
    }

    /// Adds what is met in the functions that a statement calls; whether control may come back
    /// without having met any.
    fn call(&self, stmt: StmtId, met: &mut Met) -> bool {
        let callees = self.calls.callees(stmt);
        let mut comes_back = callees.is_empty();
        for &callee in callees {
            match self.program.function(callee).entry() {
                Some(entry) => {
                    let inside = &self.blocks[entry.index()];
                    met.nodes |= &inside.nodes;
                    comes_back |= inside.leaves;
                }
                None => comes_back = true,
            }
        }
        comes_back && !self.calls.call_never_returns(stmt)
    }

    /// The nodes that may be met first when the program starts.
    pub(crate) fn first(&self) -> RoaringBitmap {
        let program = self.program;
        let main = program.functions();
        let main = main.filter(|(_, function)| function.symbol == "main");
        let mut starts: Vec<BlockId> = main.filter_map(|(_, f)| f.entry()).collect();
        if starts.is_empty() {
            // A library: whatever nobody in it calls.
            let free = program.functions();
            let free = free.filter(|(id, _)| self.calls.callers(*id).is_empty());
            starts.extend(free.filter_map(|(_, function)| function.entry()));
        }
        let mut first = RoaringBitmap::new();
        for entry in starts {
            first |= &self.blocks[entry.index()].nodes;
        }
        first
    }

    /// The nodes that may be met next after a node at one of its statements.
    pub(crate) fn next(&self, stmt: StmtId, node: u32) -> RoaringBitmap {
        if let Some(next) = self.marks.after(stmt, node) {
            return RoaringBitmap::from_iter([next]);
        }
        let mut met = Met::default();
        if self.call(stmt, &mut met) {
            let on = self.scan(self.program.stmt(stmt).block, stmt.0 + 1);
            met.nodes |= on.nodes;
            met.leaves |= on.leaves;
        }
        if met.leaves {
            met.nodes |= &self.after[self.program.function_of(stmt).index()];
        }
        met.nodes
    }
}
