//! Control flow the slow way: by definition, on plain lists of edges.

use beagle_program::{BlockId, CallGraph, FunctionId, Program};

/// The blocks of a function, numbered from 0, and its end as the last number.
pub struct Graph {
    pub first: u32,
    pub successors: Vec<Vec<usize>>,
}

impl Graph {
    /// The graph that `Flow` promises: calls may end the function, or never come back.
    pub fn of(program: &Program, calls: &CallGraph, id: FunctionId) -> Graph {
        let function = program.function(id);
        let first = function.blocks.start;
        let end = function.blocks.len();
        let mut successors = vec![Vec::new(); end + 1];
        for block in function.blocks() {
            let data = program.block(block);
            let out = &mut successors[(block.0 - first) as usize];
            let may_exit = data.stmts().any(|stmt| calls.call_may_exit(stmt));
            let stops = data.stmts().any(|stmt| calls.call_never_returns(stmt));
            if !stops {
                out.extend(data.successors.iter().map(|to| (to.0 - first) as usize));
            }
            if may_exit || out.is_empty() {
                out.push(end);
            }
            out.sort();
            out.dedup();
        }
        Graph { first, successors }
    }

    pub fn end(&self) -> usize {
        self.successors.len() - 1
    }

    pub fn block(&self, node: usize) -> BlockId {
        BlockId(self.first + node as u32)
    }

    /// What can be reached from a node without going through another.
    pub fn reached(&self, from: usize, without: Option<usize>) -> Vec<bool> {
        let mut seen = vec![false; self.successors.len()];
        let mut work = vec![from];
        while let Some(node) = work.pop() {
            if Some(node) != without && !std::mem::replace(&mut seen[node], true) {
                work.extend(&self.successors[node]);
            }
        }
        seen
    }

    /// Whether every block can get to the end: there is no endless loop.
    pub fn always_ends(&self) -> bool {
        (0..self.end()).all(|node| self.reached(node, None)[self.end()])
    }

    /// For all nodes `a`, `b`: whether every path from the entry to `b` leads through `a`.
    pub fn dominates(&self) -> Vec<Vec<bool>> {
        let reachable = self.reached(0, None);
        let without = |a| self.reached(0, Some(a));
        let column = |a: usize| -> Vec<bool> {
            let rest = without(a);
            (0..=self.end()).map(|b| reachable[b] && !rest[b]).collect()
        };
        (0..=self.end()).map(column).collect()
    }

    /// For all nodes `a`, `b`: whether every path from `b` to the end leads through `a`.
    pub fn post_dominates(&self) -> Vec<Vec<bool>> {
        let row = |a: usize| -> Vec<bool> {
            let misses = |b| self.reached(b, Some(a))[self.end()];
            (0..=self.end()).map(|b| !misses(b)).collect()
        };
        (0..=self.end()).map(row).collect()
    }
}
