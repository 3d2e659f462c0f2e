//! Which marked statements control can come to from a place, and from which it can have come there.
//!
//! The answer errs on one side only: a mark is missing only where no run of a program without
//! undefined behaviour can execute it. Calls and returns match: what was entered is left only to
//! where it was called, and only the function that a path starts in may return to any caller.
//! What goes other ways (long jumps, handlers, callbacks, forks) is collected in [`irregular`].
//!
//! All places and all marks are dealt with at once. The ways control takes are a graph; strongly
//! connected parts of it have the same marks, which are propagated once, as sets of bits. Equal
//! sets are kept once, so both time and memory are about linear in the size of the program.

mod graph;
mod irregular;
mod stretches;

use crate::calls::CallGraph;
use crate::model::*;
use graph::{Graph, NodeId, Sets};
use irregular::Irregular;
use stretches::{StretchId, Stretches};

pub use graph::Marks;

/// What can run after what, for marked statements.
#[derive(Debug)]
pub struct Order {
    stretches: Stretches,
    after: Sets,
    before: Sets,
}

/// The parts that both directions share.
struct Ways<'a> {
    program: &'a Program,
    calls: &'a CallGraph,
    irregular: Irregular,
    stretches: &'a Stretches,
    /// The marks of each stretch.
    marked: Vec<Vec<u32>>,
    /// How many marks there are.
    count: usize,
}

impl Order {
    /// Of a program and its marks: statements, each with the number of a mark below `count`. One
    /// mark may stand at many statements, and one statement may have many.
    pub fn of(
        program: &Program,
        calls: &CallGraph,
        marks: impl IntoIterator<Item = (StmtId, usize)>,
        count: usize,
    ) -> Self {
        let irregular = Irregular::of(program, calls);
        let stretches = Stretches::of(program, |call| irregular.ends_stretch(program, calls, call));
        let mut marked = vec![Vec::new(); stretches.len()];
        for (stmt, mark) in marks {
            let all: &mut Vec<u32> = &mut marked[stretches.holding(program, stmt).index()];
            if !all.contains(&(mark as u32)) {
                all.push(mark as u32);
            }
        }
        let ways = Ways {
            program,
            calls,
            irregular,
            stretches: &stretches,
            marked,
            count,
        };
        let (after, any_time) = ways.forward();
        let before = ways.backward(&any_time);
        Self {
            after,
            before,
            stretches,
        }
    }

    /// The marks that can be executed once control is at a statement, its own included.
    pub fn after(&self, program: &Program, stmt: StmtId) -> &Marks {
        self.after.get(self.stretches.holding(program, stmt))
    }

    /// The marks that can be executed once a branch or switch has gone to one of its successors;
    /// `None` if it has no such successor.
    pub fn after_edge(&self, program: &Program, branch: StmtId, side: u32) -> Option<&Marks> {
        let block = program.block(program.stmt(branch).block);
        let next = block.successors.get(side as usize)?;
        Some(self.after.get(self.stretches.first(*next)))
    }

    /// The marks that can have been executed when control is at a statement, its own included.
    pub fn before(&self, program: &Program, stmt: StmtId) -> &Marks {
        self.before.get(self.stretches.holding(program, stmt))
    }
}

/// Node `s` is a stretch from which the function does not return, node `count + s` the same one with
/// leave to return to any caller.
#[derive(Clone, Copy)]
struct Copies(usize);

impl Copies {
    fn inside(self, stretch: StretchId) -> NodeId {
        NodeId::new(stretch.index())
    }

    fn free(self, stretch: StretchId) -> NodeId {
        NodeId::new(self.0 + stretch.index())
    }

    fn both(self, stretch: StretchId) -> [NodeId; 2] {
        [self.inside(stretch), self.free(stretch)]
    }
}

impl Ways<'_> {
    fn entry(&self, function: FunctionId) -> Option<StretchId> {
        let entry = self.program.function(function).entry()?;
        Some(self.stretches.first(entry))
    }

    fn entered(&self, call: StmtId) -> impl Iterator<Item = StretchId> + '_ {
        let callees = self.irregular.callees(self.calls, call);
        callees.filter_map(|callee| self.entry(callee))
    }

    /// The stretches that may follow one in the same function.
    fn next(&self, stretch: StretchId) -> Vec<StretchId> {
        match self.stretches.call(stretch) {
            Some(call) if self.calls.call_never_returns(call) => Vec::new(),
            _ => self.stretches.next(self.program, stretch),
        }
    }

    /// Adds the stretches, each twice, and their marks.
    fn copies(&self, graph: &mut Graph) -> Copies {
        let copies = Copies(self.stretches.len());
        graph.grow(2 * self.stretches.len());
        for stretch in self.stretches.all() {
            for node in copies.both(stretch) {
                graph.mark(node, &self.marked[stretch.index()]);
            }
        }
        copies
    }

    /// A node for each function, and one with all marks for what can be entered from or left to
    /// anywhere.
    fn functions(&self, graph: &mut Graph) -> impl Fn(FunctionId) -> NodeId + use<> {
        let first = graph.grow(self.program.functions.len());
        let anywhere = graph.grow(1);
        let all: Vec<u32> = (0..self.count as u32).collect();
        graph.mark(anywhere, &all);
        let hub = move |function: FunctionId| NodeId::new(first.index() + function.index());
        for (id, _) in self.program.functions() {
            if self.irregular.is_called_from_anywhere(id) {
                graph.edge(hub(id), anywhere);
            }
        }
        hub
    }

    /// What can be executed after each stretch, and what at any time.
    fn forward(&self) -> (Sets, Marks) {
        let mut graph = Graph::new(self.count);
        let copies = self.copies(&mut graph);
        // What follows when a function has returned.
        let returned = self.functions(&mut graph);
        let (jump, again, any_time) = (graph.grow(1), graph.grow(1), graph.grow(1));
        for stretch in self.stretches.all() {
            let next = self.next(stretch);
            let [inside, free] = copies.both(stretch);
            for &next in &next {
                graph.edge(inside, copies.inside(next));
                graph.edge(free, copies.free(next));
            }
            let Some(call) = self.stretches.call(stretch) else {
                if self.stretches.returns(self.program, stretch) {
                    let function = self.stretches.function(self.program, stretch);
                    graph.edge(free, returned(function));
                }
                continue;
            };
            // One node for what the call does, or does again if others call back.
            let does = graph.grow(1);
            graph.edge(inside, does);
            graph.edge(free, does);
            for entry in self.entered(call) {
                graph.edge(does, copies.inside(entry));
            }
            let kinds = self.irregular.kinds(call);
            if kinds.jumps {
                graph.edge(does, jump);
            }
            if kinds.runs_again {
                graph.edge(does, again);
            }
            if self
                .irregular
                .is_live(self.stretches.function(self.program, stretch))
            {
                for &next in &next {
                    let next = copies.free(next);
                    if kinds.is_landing {
                        graph.edge(jump, next);
                    }
                    if kinds.forks {
                        graph.edge(any_time, next);
                    }
                }
                for callee in self.irregular.callees(self.calls, call) {
                    for &next in &next {
                        graph.edge(returned(callee), copies.free(next));
                    }
                    if kinds.calls_back {
                        graph.edge(returned(callee), does);
                    }
                }
            }
        }
        for entry in self.irregular.any_time().filter_map(|id| self.entry(id)) {
            graph.edge(any_time, copies.inside(entry));
        }
        if let Some(entry) = self.irregular.main().and_then(|main| self.entry(main)) {
            graph.edge(again, copies.inside(entry));
        }
        let mut solved = graph.solve();
        let any_time = solved.get(any_time).clone();
        let frees = self.stretches.all().map(|stretch| copies.free(stretch));
        (solved.take(frees, &any_time), any_time)
    }

    /// What can have been executed before each stretch was left.
    fn backward(&self, any_time: &Marks) -> Sets {
        let mut graph = Graph::new(self.count);
        let copies = self.copies(&mut graph);
        // What came before a function was entered.
        let entering = self.functions(&mut graph);
        // What a function has done when it returns.
        let first = graph.grow(self.program.functions.len());
        let done = |function: FunctionId| NodeId::new(first.index() + function.index());
        let (jump, again) = (graph.grow(1), graph.grow(1));
        for stretch in self.stretches.all() {
            let function = self.stretches.function(self.program, stretch);
            let call = self.stretches.call(stretch);
            let came_back = call.map(|call| {
                let node = graph.grow(1);
                for callee in self.irregular.callees(self.calls, call) {
                    graph.edge(node, done(callee));
                }
                node
            });
            let kinds = call
                .map(|call| self.irregular.kinds(call))
                .unwrap_or_default();
            for next in self.next(stretch) {
                for (next, this) in copies.both(next).into_iter().zip(copies.both(stretch)) {
                    graph.edge(next, this);
                    if let Some(came_back) = came_back {
                        graph.edge(next, came_back);
                    }
                    if kinds.is_landing {
                        graph.edge(next, jump);
                    }
                }
            }
            if self.stretches.returns(self.program, stretch) {
                graph.edge(done(function), copies.inside(stretch));
            }
            if self.entry(function) == Some(stretch) {
                graph.edge(copies.free(stretch), entering(function));
            }
            if !self.irregular.is_live(function) {
                continue;
            }
            if kinds.jumps {
                graph.edge(jump, copies.free(stretch));
            }
            if kinds.runs_again {
                graph.edge(again, copies.free(stretch));
            }
            if let (Some(call), Some(came_back)) = (call, came_back) {
                for callee in self.irregular.callees(self.calls, call) {
                    graph.edge(entering(callee), copies.free(stretch));
                    if kinds.calls_back {
                        graph.edge(entering(callee), came_back);
                    }
                }
            }
        }
        if let Some(main) = self.irregular.main() {
            graph.edge(entering(main), again);
        }
        let mut solved = graph.solve();
        let frees = self.stretches.all().map(|stretch| copies.free(stretch));
        solved.take(frees, any_time)
    }
}
