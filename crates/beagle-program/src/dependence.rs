//! What depends on what: one graph for data, memory and control, across functions.
//!
//! The nodes are facts about a run: the value that a statement computes (or what it does), whether
//! a block runs, what a memory cell or a parameter holds, whether a function comes back. An edge
//! says that the second fact may depend on the first. Over-approximate throughout: memory goes by
//! [`PointsTo`], calls by the [`CallGraph`], and a local variable whose address goes nowhere by the
//! order of its assignments. Slices over this graph are in `slice`.

use rustc_hash::FxHashMap;

use crate::calls::CallGraph;
use crate::externals::Effects;
use crate::flow::Flow;
use crate::locals::LocalFlow;
use crate::model::*;
use crate::points_to::{CellId, Object, PointsTo};
use crate::reach::{Reached, reachable_from};

/// A fact about a run, as start of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fact {
    /// The value that a statement computes, or what it does.
    Stmt(StmtId),
    /// Whether a statement runs at all; for a call that is everything that the callee does.
    Run(StmtId),
    /// Whether a block runs.
    Block(BlockId),
    /// What a memory cell holds.
    Cell(CellId),
    /// Whether a call comes back.
    ComesBack(StmtId),
}

/// How a dependence crosses functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crossing {
    /// Not at all.
    Inside,
    /// Through memory, so to anywhere.
    Memory,
    /// Into the function that a call enters.
    Call(StmtId),
    /// Back to a caller.
    Return,
}

/// An edge, seen from one of its ends.
#[derive(Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) to: u32,
    pub(crate) crossing: Crossing,
}

/// The dependence graph of a program.
pub struct Dependence<'p> {
    pub(crate) program: &'p Program,
    calls: CallGraph,
    points_to: PointsTo,
    pub(crate) nodes: Nodes,
    pub(crate) forward: Adjacency,
    pub(crate) backward: Adjacency,
    /// For each parameter, from the first on: what depends on it when the function is left.
    pub(crate) summaries: Vec<Summary>,
}

/// What depends on a parameter when the function is left, other than through memory.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// The result.
    pub(crate) result: bool,
    /// Whether it is left at all.
    pub(crate) comes_back: bool,
}

/// How facts are numbered.
pub(crate) struct Nodes {
    pub(crate) blocks: u32,
    pub(crate) cells: u32,
    pub(crate) first_param: u32,
    /// For each function the node of its first parameter.
    params: Vec<u32>,
    /// For each function whether it comes back.
    comes_back: u32,
    /// For each statement that is a call whether it comes back.
    call_comes_back: u32,
    pub(crate) count: u32,
}

impl Nodes {
    fn new(program: &Program, cells: usize) -> Self {
        let blocks = program.stmts.len() as u32;
        let cells_at = blocks + program.blocks.len() as u32;
        let first_param = cells_at + cells as u32;
        let mut next = first_param;
        let mut params = Vec::new();
        for function in &program.functions {
            params.push(next);
            if let Type::Function { params, .. } = program.ty(function.ty) {
                next += params.len() as u32;
            }
        }
        let call_comes_back = next + program.functions.len() as u32;
        Self {
            blocks,
            cells: cells_at,
            first_param,
            params,
            comes_back: next,
            call_comes_back,
            count: call_comes_back + program.stmts.len() as u32,
        }
    }

    pub(crate) fn fact(&self, fact: Fact) -> u32 {
        match fact {
            Fact::Stmt(stmt) | Fact::Run(stmt) => stmt.0,
            Fact::Block(block) => self.blocks + block.0,
            Fact::Cell(cell) => self.cells + cell.0,
            Fact::ComesBack(call) => self.call_comes_back + call.0,
        }
    }

    /// The nodes of a function's parameters.
    fn params_of(&self, function: FunctionId) -> std::ops::Range<u32> {
        let next = self.params.get(function.index() + 1);
        self.params[function.index()]..next.copied().unwrap_or(self.comes_back)
    }

    /// The function and the index, if a node is a parameter.
    pub(crate) fn parameter(&self, node: u32) -> Option<(FunctionId, usize)> {
        self.param(node)?;
        let next = self.params.partition_point(|&first| first <= node);
        let function = next.checked_sub(1)?;
        let index = node - self.params[function];
        Some((FunctionId(function as u32), index as usize))
    }

    /// The parameter's number among all, if a node is one.
    pub(crate) fn param(&self, node: u32) -> Option<usize> {
        (self.first_param..self.comes_back)
            .contains(&node)
            .then(|| (node - self.first_param) as usize)
    }
}

/// Edges by the node at which they start, in one array.
pub(crate) struct Adjacency {
    starts: Vec<u32>,
    edges: Vec<Edge>,
}

impl Adjacency {
    fn new(count: u32, edges: &[(u32, Edge)]) -> Self {
        let mut starts = vec![0; count as usize + 1];
        for (from, _) in edges {
            starts[*from as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let (to, crossing) = (0, Crossing::Inside);
        let mut placed = vec![Edge { to, crossing }; edges.len()];
        let mut next = starts.clone();
        for &(from, edge) in edges {
            let at = &mut next[from as usize];
            placed[*at as usize] = edge;
            *at += 1;
        }
        for i in 1..starts.len() {
            let of_one = starts[i - 1] as usize..starts[i] as usize;
            placed[of_one].sort_by_key(|edge| edge.to);
        }
        let edges = placed;
        Self { starts, edges }
    }

    pub(crate) fn of(&self, node: u32) -> &[Edge] {
        let node = node as usize;
        &self.edges[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}

impl<'p> Dependence<'p> {
    /// Analyses a program.
    pub fn of(program: &'p Program) -> Dependence<'p> {
        let calls = CallGraph::of(program);
        let points_to = PointsTo::of(program, &calls);
        let mut builder = Builder {
            program,
            calls: &calls,
            points_to: &points_to,
            nodes: Nodes::new(program, points_to.cell_count()),
            edges: Vec::new(),
            after_write: after_writes(program, &calls),
        };
        for (id, function) in program.functions() {
            if function.is_defined() {
                builder.function(id);
            }
        }
        let Builder { nodes, edges, .. } = builder;
        let turned = edges.iter().map(|&(from, Edge { to, crossing })| {
            let edge = Edge { to: from, crossing };
            (to, edge)
        });
        let turned: Vec<_> = turned.collect();
        let backward = Adjacency::new(nodes.count, &turned);
        drop(turned);
        let forward = Adjacency::new(nodes.count, &edges);
        let mut dependence = Dependence {
            program,
            calls,
            points_to,
            summaries: vec![Summary::default(); (nodes.comes_back - nodes.first_param) as usize],
            nodes,
            forward,
            backward,
        };
        dependence.summarise();
        dependence
    }

    /// The program that this is about.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// Who may call whom.
    pub fn calls(&self) -> &CallGraph {
        &self.calls
    }

    /// What pointers may point to.
    pub fn points_to(&self) -> &PointsTo {
        &self.points_to
    }

    /// The memory of a global variable, as facts.
    pub fn global(&self, id: GlobalId) -> Vec<Fact> {
        let cells = self.points_to.cells_of(Object::Global(id));
        cells.into_iter().map(Fact::Cell).collect()
    }

    /// Finds the parameters on which results depend. What is found for one function helps its
    /// callers, so it goes on until nothing changes.
    fn summarise(&mut self) {
        let defined = |(id, function): (FunctionId, &Function)| function.is_defined().then_some(id);
        let mut work: Vec<_> = self.program.functions().filter_map(defined).collect();
        let mut waiting = vec![true; self.program.functions.len()];
        while let Some(id) = work.pop() {
            waiting[id.index()] = false;
            let mut found = false;
            for node in self.nodes.params_of(id) {
                let param = (node - self.nodes.first_param) as usize;
                let summary = self.summary(id, node, self.summaries[param]);
                found |= summary != self.summaries[param];
                self.summaries[param] = summary;
            }
            if !found {
                continue;
            }
            for &call in self.calls.callers(id) {
                let caller = self.program.function_of(call);
                if !std::mem::replace(&mut waiting[caller.index()], true) {
                    work.push(caller);
                }
            }
        }
    }

    /// What depends on a parameter when the function is left; `known` is part of it.
    fn summary(&self, function: FunctionId, param: u32, known: Summary) -> Summary {
        let all = Summary {
            result: true,
            comes_back: self.calls.may_exit(function),
        };
        let mut found = known;
        let mut seen = rustc_hash::FxHashSet::default();
        let mut work = vec![param];
        while let Some(node) = work.pop() {
            if found == all {
                break;
            }
            if !seen.insert(node) {
                continue;
            }
            if node < self.nodes.blocks && self.program.stmt(StmtId(node)).op == Op::Return {
                found.result = true;
            }
            found.comes_back |= node == self.nodes.comes_back + function.0;
            for edge in self.forward.of(node) {
                match edge.crossing {
                    Crossing::Inside => work.push(edge.to),
                    Crossing::Call(call) => work.extend(self.after_call(call, edge.to)),
                    Crossing::Memory | Crossing::Return => {}
                }
            }
        }
        found
    }

    /// The facts behind a call that depend on what enters a parameter there.
    pub(crate) fn after_call(&self, call: StmtId, param: u32) -> impl Iterator<Item = u32> + use<> {
        let summary = self.nodes.param(param).map(|param| self.summaries[param]);
        let summary = summary.unwrap_or_default();
        let result = summary.result.then_some(call.0);
        let comes_back = self.nodes.call_comes_back + call.0;
        let comes_back = summary.comes_back.then_some(comes_back);
        result.into_iter().chain(comes_back)
    }

    /// The facts that enter a call on which a fact behind it depends: the other way round.
    pub(crate) fn before_call(&self, node: u32) -> Vec<u32> {
        let is_end = node >= self.nodes.call_comes_back;
        if !is_end && node >= self.nodes.blocks {
            return Vec::new();
        }
        let call = StmtId(if is_end {
            node - self.nodes.call_comes_back
        } else {
            node
        });
        let mut facts = Vec::new();
        for &callee in self.calls.callees(call) {
            for param in self.nodes.params_of(callee) {
                let entering = self.backward.of(param).iter();
                let here = entering.filter(|edge| edge.crossing == Crossing::Call(call));
                for edge in here {
                    if self.after_call(call, param).any(|fact| fact == node) {
                        facts.push(edge.to);
                    }
                }
            }
        }
        facts
    }
}

struct Builder<'a> {
    program: &'a Program,
    calls: &'a CallGraph,
    points_to: &'a PointsTo,
    nodes: Nodes,
    edges: Vec<(u32, Edge)>,
    /// For each state of the library the blocks that can run after it was written.
    after_write: FxHashMap<&'static str, Reached>,
}

/// Unlike memory, the state of the library is followed in the order of a run: a program that reads
/// files and then writes some does not depend on what it has written.
fn after_writes(program: &Program, calls: &CallGraph) -> FxHashMap<&'static str, Reached> {
    let mut writers: FxHashMap<&str, Vec<BlockId>> = FxHashMap::default();
    for (call, effects) in calls.external_calls() {
        for &state in &effects.writes.states {
            let block = program.stmt(call).block;
            writers.entry(state).or_default().push(block);
        }
    }
    let reached = |blocks: Vec<BlockId>| reachable_from(program, calls, &blocks);
    writers
        .into_iter()
        .map(|(state, blocks)| (state, reached(blocks)))
        .collect()
}

impl Builder<'_> {
    fn edge(&mut self, from: u32, to: u32, crossing: Crossing) {
        self.edges.push((from, Edge { to, crossing }));
    }

    fn inside(&mut self, from: u32, to: u32) {
        self.edge(from, to, Crossing::Inside);
    }

    fn block(&self, block: BlockId) -> u32 {
        self.nodes.fact(Fact::Block(block))
    }

    /// The node of an operand; constants depend on nothing.
    fn operand(&self, function: FunctionId, operand: Operand) -> Option<u32> {
        match operand {
            Operand::Stmt(stmt) => Some(stmt.0),
            Operand::Param(i) => Some(self.nodes.params[function.index()] + i),
            _ => None,
        }
    }

    fn function(&mut self, id: FunctionId) {
        let locals = LocalFlow::of(self.program, id);
        for &(store, load) in &locals.reaches {
            self.inside(store.0, load.0);
        }
        for stmt in self.program.function_stmts(id) {
            self.statement(id, stmt, &locals);
        }
        let flow = Flow::of(self.program, self.calls, id);
        for control in flow.control(self.program, self.calls) {
            let by = match control.side {
                Some(_) => control.by.0,
                None => self.nodes.call_comes_back + control.by.0,
            };
            self.inside(by, self.block(control.block));
        }
        // What always runs, runs if the function does.
        if let Some(entry) = self.program.function(id).entry() {
            let mut block = flow.immediate_post_dominator(entry);
            while let Some(always) = block {
                self.inside(self.block(entry), self.block(always));
                block = flow.immediate_post_dominator(always);
            }
        }
    }

    fn statement(&mut self, function: FunctionId, stmt: StmtId, locals: &LocalFlow) {
        let data = *self.program.stmt(stmt);
        let operands = self.program.operands(stmt);
        let enters = matches!(data.op, Op::Call(_) | Op::Invoke(_)) && self.enters_program(stmt);
        if !enters {
            for &operand in operands {
                if let Some(from) = self.operand(function, operand) {
                    self.inside(from, stmt.0);
                }
            }
        }
        match data.op {
            Op::Phi => {
                for operand in operands {
                    if let Operand::Block(block) = operand {
                        self.inside(self.block(*block), stmt.0);
                    }
                }
            }
            Op::Load { .. } if locals.variable(self.program, stmt).is_none() => {
                let size = self.program.size_of(data.ty);
                self.reads(function, stmt, operands[0], Some(size));
            }
            Op::Store { .. } if locals.variable(self.program, stmt).is_none() => {
                let size = self.program.operand_size(function, operands[0]);
                self.writes(function, stmt, operands[1], size);
            }
            Op::AtomicUpdate(_) | Op::CompareExchange => {
                self.reads(function, stmt, operands[0], Some(8));
                self.writes(function, stmt, operands[0], Some(8));
            }
            Op::Call(_) | Op::Invoke(_) => self.call(function, stmt),
            _ => {}
        }
        if has_effect(data.op) {
            self.inside(self.block(data.block), stmt.0);
        }
    }

    fn reads(&mut self, function: FunctionId, stmt: StmtId, address: Operand, size: Option<u64>) {
        let cells = self.points_to.read(function, address, size);
        self.reads_cells(stmt, cells);
    }

    fn writes(&mut self, function: FunctionId, stmt: StmtId, address: Operand, size: Option<u64>) {
        let cells = self.points_to.written(function, address, size);
        self.writes_cells(stmt, cells);
    }

    fn reads_cells(&mut self, stmt: StmtId, cells: Vec<CellId>) {
        for cell in cells {
            let cell = self.nodes.fact(Fact::Cell(cell));
            self.edge(cell, stmt.0, Crossing::Memory);
        }
    }

    fn writes_cells(&mut self, stmt: StmtId, cells: Vec<CellId>) {
        for cell in cells {
            let cell = self.nodes.fact(Fact::Cell(cell));
            self.edge(stmt.0, cell, Crossing::Memory);
        }
    }

    /// Whether a call may enter a function of the program itself.
    fn enters_program(&self, call: StmtId) -> bool {
        let mut callees = self.calls.callees(call).iter();
        callees.any(|&callee| self.calls.effects(callee).is_none())
    }

    fn call(&mut self, function: FunctionId, call: StmtId) {
        let callees = self.calls.callees(call).to_vec();
        for &callee in &callees {
            match self.calls.effects(callee) {
                Some(effects) => self.external(function, call, &effects.clone()),
                None => self.internal(function, call, callee),
            }
        }
        if callees.is_empty() {
            // Assembler, or a pointer that no function fits.
            self.external(function, call, &Effects::unknown());
        }
        let pointer = self.program.callee(call);
        let pointer = pointer.and_then(|callee| self.operand(function, callee));
        if let Some(pointer) = pointer {
            self.inside(pointer, call.0);
        }
        if self.calls.call_may_exit(call) {
            self.may_exit(function, call, &callees);
            if let Some(pointer) = pointer {
                self.inside(pointer, self.nodes.call_comes_back + call.0);
            }
        }
    }

    /// That a call may not come back matters to all that follows it.
    fn may_exit(&mut self, function: FunctionId, call: StmtId, callees: &[FunctionId]) {
        let data = *self.program.stmt(call);
        let come_back = self.nodes.call_comes_back + call.0;
        let caller = self.nodes.comes_back + function.0;
        self.inside(self.block(data.block), caller);
        self.inside(come_back, caller);
        for &callee in callees {
            match self.calls.effects(callee) {
                // Outside it is decided by what the call is given.
                Some(effects) if effects.may_exit => self.inside(call.0, come_back),
                _ => {
                    let callee = self.nodes.comes_back + callee.0;
                    self.edge(callee, come_back, Crossing::Return);
                }
            }
        }
        if matches!(data.op, Op::Invoke(_)) {
            self.inside(come_back, call.0);
        }
        for later in call.0 + 1..self.program.block(data.block).stmts.end {
            let later = StmtId(later);
            if has_effect(self.program.stmt(later).op) {
                self.inside(come_back, later.0);
            }
            if self.calls.call_may_exit(later) {
                self.inside(come_back, self.nodes.call_comes_back + later.0);
            }
        }
    }

    fn internal(&mut self, function: FunctionId, call: StmtId, callee: FunctionId) {
        let Some(entry) = self.program.function(callee).entry() else {
            return;
        };
        let crossing = Crossing::Call(call);
        let from = self.block(self.program.stmt(call).block);
        self.edge(from, self.block(entry), crossing);
        let pointer = self.program.callee(call);
        if let Some(pointer) = pointer.and_then(|callee| self.operand(function, callee)) {
            self.edge(pointer, self.block(entry), crossing);
        }
        let count = match self.program.ty(self.program.function(callee).ty) {
            Type::Function { params, .. } => params.len() as u32,
            _ => 0,
        };
        // External functions choose themselves what they hand to a callback.
        let direct = self.program.called_function(call);
        let is_callback = direct.is_some_and(|direct| direct != callee);
        for (i, &argument) in (0..).zip(self.program.arguments(call)) {
            let Some(from) = self.operand(function, argument) else {
                continue;
            };
            let params = match is_callback {
                true => 0..count,
                false => i..(i + 1).min(count),
            };
            for param in params {
                let to = self.nodes.params[callee.index()] + param;
                self.edge(from, to, crossing);
            }
            if i >= count {
                for cell in self.points_to.cells_of(Object::Variadic(callee)) {
                    let cell = self.nodes.fact(Fact::Cell(cell));
                    self.edge(from, cell, Crossing::Memory);
                }
            }
        }
        for block in self.program.function(callee).blocks() {
            let last = self.program.block(block).terminator();
            if self.program.stmt(last).op == Op::Return {
                self.edge(last.0, call.0, Crossing::Return);
            }
        }
    }

    fn external(&mut self, function: FunctionId, call: StmtId, effects: &Effects) {
        let arguments = self.program.arguments(call);
        let size = copied_size(self.program, call);
        for (i, &argument) in (0..).zip(arguments) {
            if let Some(from) = self.operand(function, argument) {
                self.inside(from, call.0);
            }
            // Numbers have no memory; an unknown pointer may point outside.
            if !self.is_pointer(function, argument) {
                continue;
            }
            if effects.reads.contains_deep(i) {
                self.reads_cells(call, self.points_to.reachable(function, argument));
            } else if effects.reads.contains(i) {
                self.reads(function, call, argument, size);
            }
            if effects.writes.contains_deep(i) {
                self.writes_cells(call, self.points_to.reachable(function, argument));
            } else if effects.writes.contains(i) {
                self.writes(function, call, argument, size);
            }
        }
        if effects.touches_outside {
            let outside = vec![self.points_to.outside()];
            self.reads_cells(call, outside.clone());
            self.writes_cells(call, outside);
        }
        self.states(call, effects);
    }

    /// What a call does to the state of the library.
    fn states(&mut self, call: StmtId, effects: &Effects) {
        let block = self.program.stmt(call).block;
        let cells = |state| self.points_to.cells_of(Object::Library(state));
        let deep = |state| self.points_to.reachable_from(cells(state));
        let after_write = |state: &&&'static str| {
            // To these the program itself has a pointer.
            if matches!(**state, "errno" | "stdin") {
                return true;
            }
            let reached = self.after_write.get(**state);
            reached.is_some_and(|reached| reached.contains(block))
        };
        // A descriptor of standard output, which nobody reads.
        let shows = matches!(self.program.called_function(call), Some(id)
            if self.program.function(id).symbol == "write" && self.is_terminal(call));
        let mut read = Vec::new();
        let mut written = Vec::new();
        for state in effects.reads.states.iter().filter(after_write) {
            read.extend(cells(state));
        }
        for state in effects.writes.states.iter().filter(|_| !shows) {
            written.extend(cells(state));
        }
        for state in &effects.reads.deep_states {
            read.extend(deep(state));
        }
        for state in &effects.writes.deep_states {
            written.extend(deep(state));
        }
        self.reads_cells(call, read);
        self.writes_cells(call, written);
    }

    /// Whether the first argument of a call is the number of standard output or standard error.
    fn is_terminal(&self, call: StmtId) -> bool {
        match self.program.arguments(call).first() {
            Some(Operand::Const(id)) => {
                matches!(self.program.constant(*id), Const::Int { bits: 1 | 2, .. })
            }
            _ => false,
        }
    }

    fn is_pointer(&self, function: FunctionId, operand: Operand) -> bool {
        match operand {
            Operand::Stmt(stmt) => *self.program.ty(self.program.stmt(stmt).ty) == Type::Pointer,
            Operand::Param(i) => match self.program.ty(self.program.function(function).ty) {
                Type::Function { params, .. } => params
                    .get(i as usize)
                    .is_some_and(|&ty| *self.program.ty(ty) == Type::Pointer),
                _ => false,
            },
            Operand::Global(_) => true,
            Operand::Const(id) => matches!(self.program.constant(id), Const::Address(..)),
            Operand::Function(_) | Operand::Block(_) => false,
        }
    }
}

/// The size of a copy of fixed size, as clang makes for assignments of structures.
pub(crate) fn copied_size(program: &Program, call: StmtId) -> Option<u64> {
    let name = program.called_function(call)?;
    let name = &program.function(name).symbol;
    if !name.starts_with("llvm.mem") {
        return None;
    }
    match program.arguments(call).get(2)? {
        Operand::Const(id) => match program.constant(*id) {
            Const::Int { bits, .. } => u64::try_from(*bits).ok(),
            _ => None,
        },
        _ => None,
    }
}

/// Whether it matters that a statement runs at all; the others only compute, and matter through
/// those that use them.
fn has_effect(op: Op) -> bool {
    matches!(
        op,
        Op::Store { .. }
            | Op::Call(_)
            | Op::Invoke(_)
            | Op::Branch
            | Op::Switch
            | Op::ComputedJump
            | Op::Return
            | Op::AtomicUpdate(_)
            | Op::CompareExchange
            | Op::Other(_)
    )
}
