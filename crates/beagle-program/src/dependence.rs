//! What depends on what: one graph for data, memory and control, across functions.
//!
//! The nodes are facts about a run: the value that a statement computes (or what it does), whether
//! a block runs, what a memory cell or a parameter holds, whether a function comes back. An edge
//! says that the second fact may depend on the first. Over-approximate throughout: memory goes by
//! [`PointsTo`], calls by the [`CallGraph`], and a local variable whose address goes nowhere by the
//! order of its assignments. Slices over this graph are in `slice`.

use crate::calls::CallGraph;
use crate::externals::Effects;
use crate::flow::Flow;
use crate::locals::LocalFlow;
use crate::model::*;
use crate::points_to::{CellId, Object, PointsTo};

/// A fact about a run, as start of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fact {
    /// The value that a statement computes, or what it does.
    Stmt(StmtId),
    /// Whether a block runs.
    Block(BlockId),
    /// What a memory cell holds.
    Cell(CellId),
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
    /// For each parameter, from the first on: whether the function's result depends on it.
    pub(crate) reaches_result: Vec<bool>,
}

/// How facts are numbered.
pub(crate) struct Nodes {
    pub(crate) blocks: u32,
    cells: u32,
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
            Fact::Stmt(stmt) => stmt.0,
            Fact::Block(block) => self.blocks + block.0,
            Fact::Cell(cell) => self.cells + cell.0,
        }
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
    fn new(count: u32, mut edges: Vec<(u32, Edge)>) -> Self {
        edges.sort_by_key(|(from, edge)| (*from, edge.to));
        let mut starts = vec![0; count as usize + 1];
        for (from, _) in &edges {
            starts[*from as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let edges = edges.into_iter().map(|(_, edge)| edge).collect();
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
        let backward = Adjacency::new(nodes.count, turned.collect());
        let forward = Adjacency::new(nodes.count, edges);
        let mut dependence = Dependence {
            program,
            calls,
            points_to,
            reaches_result: vec![false; (nodes.comes_back - nodes.first_param) as usize],
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
            let Type::Function { params, .. } = self.program.ty(self.program.function(id).ty)
            else {
                continue;
            };
            let mut found = false;
            for i in 0..params.len() as u32 {
                let node = self.nodes.params[id.index()] + i;
                let param = (node - self.nodes.first_param) as usize;
                if !self.reaches_result[param] && self.reaches_return(node) {
                    self.reaches_result[param] = true;
                    found = true;
                }
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

    /// Whether a return of the same function depends on a node, other than through memory.
    fn reaches_return(&self, node: u32) -> bool {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut work = vec![node];
        while let Some(node) = work.pop() {
            if !seen.insert(node) {
                continue;
            }
            if node < self.nodes.blocks && self.program.stmt(StmtId(node)).op == Op::Return {
                return true;
            }
            for edge in self.forward.of(node) {
                match edge.crossing {
                    Crossing::Inside => work.push(edge.to),
                    Crossing::Call(call) => {
                        let param = self.nodes.param(edge.to);
                        if param.is_some_and(|param| self.reaches_result[param]) {
                            work.push(call.0);
                        }
                    }
                    Crossing::Memory | Crossing::Return => {}
                }
            }
        }
        false
    }
}

struct Builder<'a> {
    program: &'a Program,
    calls: &'a CallGraph,
    points_to: &'a PointsTo,
    nodes: Nodes,
    edges: Vec<(u32, Edge)>,
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
                let size = match operands[0] {
                    Operand::Stmt(value) => self.program.size_of(self.program.stmt(value).ty),
                    _ => 8,
                };
                self.writes(function, stmt, operands[1], Some(size));
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
        for cell in self.points_to.accessed(function, address, size) {
            let cell = self.nodes.fact(Fact::Cell(cell));
            self.edge(cell, stmt.0, Crossing::Memory);
        }
    }

    fn writes(&mut self, function: FunctionId, stmt: StmtId, address: Operand, size: Option<u64>) {
        for cell in self.points_to.accessed(function, address, size) {
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
        let block = self.program.stmt(call).block;
        let callees = self.calls.callees(call).to_vec();
        for &callee in &callees {
            match self.calls.effects(callee) {
                Some(effects) => self.external(function, call, &effects.clone()),
                None => self.internal(function, call, callee),
            }
        }
        if callees.is_empty() {
            // Assembler, or a pointer that no function fits.
            self.external(function, call, &Effects::of("nothing is known"));
        }
        if self.calls.call_may_exit(call) {
            let come_back = self.nodes.call_comes_back + call.0;
            let caller = self.nodes.comes_back + function.0;
            self.inside(self.block(block), caller);
            self.inside(come_back, caller);
            for &callee in &callees {
                let callee = self.nodes.comes_back + callee.0;
                self.edge(callee, come_back, Crossing::Return);
            }
            for later in call.0 + 1..self.program.block(block).stmts.end {
                if has_effect(self.program.stmt(StmtId(later)).op) {
                    self.inside(come_back, later);
                }
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
            if effects.reads.contains(i) {
                self.reads(function, call, argument, size);
            }
            if effects.writes.contains(i) {
                self.writes(function, call, argument, size);
            }
        }
        if effects.is_unknown {
            let outside = self.nodes.fact(Fact::Cell(self.points_to.outside()));
            self.edge(outside, call.0, Crossing::Memory);
            self.edge(call.0, outside, Crossing::Memory);
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
fn copied_size(program: &Program, call: StmtId) -> Option<u64> {
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
