//! What pointers may point to.
//!
//! Inclusion-based (Andersen), insensitive to the order of statements and to callers, sensitive to
//! objects and fields. An object is a variable, or all memory that one allocation makes; a *cell*
//! is a field of an object. Elements of an array share a cell, and pointer arithmetic stays in its
//! array, as C demands; going backwards by a number of bytes (`container_of`) merges the object's
//! fields. Memory outside of the program is one cell that points to itself, and what escapes to
//! unknown code becomes part of it. Which functions a pointer may hold is not tracked: the call graph
//! goes by types.
//!
//! Solved in waves: collapse cycles, propagate in topological order, let loads and stores add
//! edges, until nothing changes.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;
use roaring::RoaringBitmap;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::calls::CallGraph;
use crate::externals::{Effects, Points};
use crate::model::*;

/// A field of an object, as number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellId(pub u32);

/// Where memory comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Object {
    /// Outside of the program.
    Outside,
    /// A local variable.
    Local(StmtId),
    /// A global variable.
    Global(GlobalId),
    /// All memory allocated by one call.
    Heap(StmtId),
    /// The arguments of a function beyond its parameters.
    Variadic(FunctionId),
}

/// Allocated memory with so many fields in use is treated as having one: it is then mostly memory
/// for everything, behind a function that allocates for all callers.
const MANY_FIELDS: usize = 128;

/// What pointers may point to, in one program.
pub struct PointsTo {
    cells: Vec<(u32, u64)>,
    objects: Vec<ObjectData>,
    numbers: FxHashMap<Object, u32>,
    /// What the values of statements point to, by [`Solver`] node.
    sets: Vec<RoaringBitmap>,
    representative: Vec<u32>,
    layout: Nodes,
    constants: FxHashMap<Operand, RoaringBitmap>,
}

struct ObjectData {
    object: Object,
    /// Offset and cell, by offset.
    cells: Vec<(u64, u32)>,
    /// All fields are one.
    merged: bool,
    /// In bytes, as far as it is known.
    size: u64,
}

/// How nodes of the constraint graph are numbered: statements, then parameters, then results of
/// functions, then cells.
#[derive(Clone)]
struct Nodes {
    /// For each function the node of its first parameter.
    params: Vec<u32>,
    results: u32,
    cells: u32,
}

impl Nodes {
    fn new(program: &Program) -> Self {
        let mut next = program.stmts.len() as u32;
        let mut params = Vec::with_capacity(program.functions.len());
        for function in &program.functions {
            params.push(next);
            if let Type::Function { params, .. } = program.ty(function.ty) {
                next += params.len() as u32;
            }
        }
        Self {
            params,
            results: next,
            cells: next + program.functions.len() as u32,
        }
    }

    fn cell(&self, cell: u32) -> u32 {
        self.cells + cell
    }
}

impl PointsTo {
    /// Analyses a program.
    pub fn of(program: &Program, calls: &CallGraph) -> PointsTo {
        let mut solver = Solver::new(program, calls);
        solver.collect();
        solver.solve();
        solver.points
    }

    /// The object that a cell is part of.
    pub fn object(&self, cell: CellId) -> Object {
        self.objects[self.cells[cell.0 as usize].0 as usize].object
    }

    /// How many cells there are.
    pub fn cell_count(&self) -> usize {
        self.cells.len()
    }

    /// The cells of an object.
    pub fn cells_of(&self, object: Object) -> Vec<CellId> {
        let number = self.numbers.get(&object);
        let cells = number.map_or(&[][..], |&n| &self.objects[n as usize].cells);
        cells.iter().map(|&(_, cell)| CellId(cell)).collect()
    }

    /// The cell outside of the program.
    pub fn outside(&self) -> CellId {
        CellId(0)
    }

    /// What an operand of a statement in `function` may point to; empty for what is no pointer.
    pub fn targets(&self, function: FunctionId, operand: Operand) -> RoaringBitmap {
        let node = match operand {
            Operand::Stmt(stmt) => stmt.0,
            Operand::Param(i) => self.layout.params[function.index()] + i,
            constant => return self.constants.get(&constant).cloned().unwrap_or_default(),
        };
        self.sets[self.representative[node as usize] as usize].clone()
    }

    /// The cells that an access of `size` bytes through an operand may touch; `None` as size for
    /// one that may go on to the end of the object. An address of which nothing is known may lie
    /// outside.
    pub fn accessed(
        &self,
        function: FunctionId,
        operand: Operand,
        size: Option<u64>,
    ) -> Vec<CellId> {
        let targets = self.targets(function, operand);
        if targets.is_empty() {
            return vec![self.outside()];
        }
        let mut cells = Vec::new();
        for target in &targets {
            let (object, offset) = self.cells[target as usize];
            let end = size.map_or(u64::MAX, |size| offset.saturating_add(size.max(1)));
            for &(at, cell) in &self.objects[object as usize].cells {
                if at >= offset && at < end {
                    cells.push(CellId(cell));
                }
            }
        }
        cells.sort();
        cells.dedup();
        cells
    }
}

/// A constraint that depends on what a node points to.
#[derive(Clone, Copy)]
enum Complex {
    /// `to ⊇ *node`, for so many bytes.
    Load { to: u32, size: u64 },
    /// `*node ⊇ from`, for so many bytes.
    Store { from: u32, size: u64 },
    /// `to ⊇ node + offset`.
    Field { to: u32, offset: u64 },
    /// `to ⊇ node`, with all fields of the objects made one.
    Backwards { to: u32 },
}

struct Solver<'a> {
    program: &'a Program,
    calls: &'a CallGraph,
    points: PointsTo,
    successors: Vec<Vec<u32>>,
    edges: FxHashSet<(u32, u32)>,
    complex: Vec<Vec<Complex>>,
    /// What has been passed on to successors, and what complex constraints have seen.
    propagated: Vec<RoaringBitmap>,
    seen: Vec<RoaringBitmap>,
    /// Copies of memory: (to, from) nodes.
    copies: Vec<(u32, u32)>,
    constant_nodes: FxHashMap<Operand, u32>,
    /// Cells that another stands for, and how many of them no set holds any more.
    replaced: FxHashMap<u32, u32>,
    cleaned: usize,
    changed: bool,
}

impl<'a> Solver<'a> {
    fn new(program: &'a Program, calls: &'a CallGraph) -> Self {
        let layout = Nodes::new(program);
        let count = layout.cells as usize;
        let mut solver = Self {
            program,
            calls,
            points: PointsTo {
                cells: Vec::new(),
                objects: Vec::new(),
                numbers: FxHashMap::default(),
                sets: vec![RoaringBitmap::new(); count],
                representative: (0..count as u32).collect(),
                layout,
                constants: FxHashMap::default(),
            },
            successors: vec![Vec::new(); count],
            edges: FxHashSet::default(),
            complex: vec![Vec::new(); count],
            propagated: vec![RoaringBitmap::new(); count],
            seen: vec![RoaringBitmap::new(); count],
            copies: Vec::new(),
            constant_nodes: FxHashMap::default(),
            replaced: FxHashMap::default(),
            cleaned: 0,
            changed: false,
        };
        let outside = solver.object(Object::Outside);
        let node = solver.cell_node(outside);
        solver.add_target(node, outside);
        // What is outside may be read from and written to from outside.
        solver.add_complex(node, Complex::Load { to: node, size: 8 });
        solver.add_complex(
            node,
            Complex::Store {
                from: node,
                size: 8,
            },
        );
        solver
    }

    // ---- nodes and cells ----

    /// The first cell of an object.
    fn object(&mut self, object: Object) -> u32 {
        if let Some(&number) = self.points.numbers.get(&object) {
            return self.points.objects[number as usize].cells[0].1;
        }
        let number = self.points.objects.len() as u32;
        self.points.numbers.insert(object, number);
        self.points.objects.push(ObjectData {
            object,
            cells: Vec::new(),
            merged: object == Object::Outside,
            size: self.object_size(object),
        });
        self.new_cell(number, 0)
    }

    fn object_size(&self, object: Object) -> u64 {
        let ty = match object {
            Object::Global(id) => self.program.global(id).ty,
            Object::Local(alloca) => match self.program.stmt(alloca).op {
                Op::Alloca(ty) => ty,
                _ => return u64::MAX,
            },
            _ => return u64::MAX,
        };
        match self.program.size_of(ty) {
            0 => u64::MAX,
            size => size,
        }
    }

    fn new_cell(&mut self, object: u32, offset: u64) -> u32 {
        let cell = self.points.cells.len() as u32;
        self.points.cells.push((object, offset));
        let cells = &mut self.points.objects[object as usize].cells;
        let at = cells.partition_point(|&(other, _)| other < offset);
        cells.insert(at, (offset, cell));
        self.new_node();
        cell
    }

    fn new_node(&mut self) -> u32 {
        let node = self.points.sets.len() as u32;
        self.points.sets.push(RoaringBitmap::new());
        self.points.representative.push(node);
        self.successors.push(Vec::new());
        self.complex.push(Vec::new());
        self.propagated.push(RoaringBitmap::new());
        self.seen.push(RoaringBitmap::new());
        node
    }

    /// A node that is no cell. It takes a cell's number all the same, one of no object, so that the
    /// numbers of cells and nodes keep their distance.
    fn extra_node(&mut self) -> u32 {
        self.points.cells.push((0, u64::MAX));
        self.new_node()
    }

    fn cell_node(&self, cell: u32) -> u32 {
        self.points.layout.cell(cell)
    }

    /// The cell that lies `offset` bytes behind another.
    fn field(&mut self, cell: u32, offset: u64) -> u32 {
        let (object, base) = self.points.cells[cell as usize];
        let at = base.wrapping_add(offset);
        let data = &self.points.objects[object as usize];
        // Beyond its end an object is looked at as another type; that is not told apart.
        if data.merged || at >= data.size {
            return data.cells[0].1;
        }
        match data.cells.binary_search_by_key(&at, |&(offset, _)| offset) {
            Ok(found) => data.cells[found].1,
            Err(_) if data.cells.len() >= MANY_FIELDS && matches!(data.object, Object::Heap(_)) => {
                self.merge_fields(object);
                self.points.objects[object as usize].cells[0].1
            }
            Err(_) => self.new_cell(object, at),
        }
    }

    /// Makes all fields of an object one.
    fn merge_fields(&mut self, object: u32) {
        let data = &mut self.points.objects[object as usize];
        if std::mem::replace(&mut data.merged, true) {
            return;
        }
        let cells = data.cells.split_off(1);
        let first = data.cells[0].1;
        let stale = cells.into_iter().map(|(_, cell)| cell).collect();
        self.replace_cells(&stale, first);
    }

    /// What has escaped to unknown code is outside memory from then on: telling escaped objects
    /// apart would cost much and mean little.
    fn escape(&mut self, cells: &RoaringBitmap) {
        let mut stale = RoaringBitmap::new();
        for cell in cells {
            let (object, _) = self.points.cells[cell as usize];
            let data = &mut self.points.objects[object as usize];
            // Cell 0 is what escaped objects have become.
            if data.cells[0].1 != 0 {
                stale.extend(data.cells.drain(..).map(|(_, cell)| cell));
                data.cells.push((0, 0));
                data.merged = true;
            }
        }
        if !stale.is_empty() {
            self.replace_cells(&stale, 0);
        }
    }

    /// Makes one cell stand for others. The sets that hold them are put right at the start of the
    /// next round, all at once.
    fn replace_cells(&mut self, stale: &RoaringBitmap, by: u32) {
        let into = self.find(self.cell_node(by));
        for cell in stale {
            let node = self.find(self.cell_node(cell));
            if node != into {
                self.merge(into, node);
            }
            self.points.cells[cell as usize] = self.points.cells[by as usize];
            self.replaced.insert(cell, by);
        }
        self.changed = true;
    }

    /// The cell that stands for a cell.
    fn current(&self, mut cell: u32) -> u32 {
        while let Some(&by) = self.replaced.get(&cell) {
            cell = by;
        }
        cell
    }

    fn clean_sets(&mut self) {
        if self.replaced.len() == self.cleaned {
            return;
        }
        self.cleaned = self.replaced.len();
        for node in 0..self.points.sets.len() {
            let set = &self.points.sets[node];
            if set.iter().any(|cell| self.replaced.contains_key(&cell)) {
                let clean = set.iter().map(|cell| self.current(cell)).collect();
                self.points.sets[node] = clean;
            }
        }
    }

    fn find(&self, mut node: u32) -> u32 {
        while self.points.representative[node as usize] != node {
            node = self.points.representative[node as usize];
        }
        node
    }

    fn operand(&mut self, function: FunctionId, operand: Operand) -> Option<u32> {
        match operand {
            Operand::Stmt(stmt) => Some(stmt.0),
            Operand::Param(i) => Some(self.points.layout.params[function.index()] + i),
            constant => self.constant_node(constant),
        }
    }

    fn constant_node(&mut self, constant: Operand) -> Option<u32> {
        if let Some(&node) = self.constant_nodes.get(&constant) {
            return Some(node);
        }
        let targets = self.constant_targets(constant);
        if targets.is_empty() {
            return None;
        }
        let node = self.extra_node();
        for &target in &targets {
            self.add_target(node, target);
        }
        self.constant_nodes.insert(constant, node);
        Some(node)
    }

    fn constant_targets(&mut self, constant: Operand) -> Vec<u32> {
        let id = match constant {
            Operand::Global(id) => return vec![self.object(Object::Global(id))],
            Operand::Const(id) => id,
            _ => return Vec::new(),
        };
        match self.program.constant(id).clone() {
            Const::Address(ty, operands) => {
                let base = self.constant_targets(operands[0]);
                let offset = self.offset(ty, &operands[1..]);
                base.into_iter()
                    .map(|cell| match offset {
                        Some(offset) => self.field(cell, offset),
                        None => cell,
                    })
                    .collect()
            }
            Const::Expression(_, operands) => {
                let all = operands.into_iter();
                all.flat_map(|operand| self.constant_targets(operand))
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// How far address arithmetic moves between fields; `None` if backwards by bytes.
    fn offset(&self, ty: TypeId, indices: &[Operand]) -> Option<u64> {
        let number = |operand: &Operand| match operand {
            Operand::Const(id) => match self.program.constant(*id) {
                Const::Int { width, bits } => {
                    let shift = 128 - (*width).min(128);
                    Some((((*bits << shift) as i128) >> shift) as i64)
                }
                _ => None,
            },
            _ => None,
        };
        let backwards = indices.first().and_then(number).is_some_and(|n| n < 0);
        if backwards && *self.program.ty(ty) == Type::Int(8) {
            return None;
        }
        let mut current = ty;
        let mut offset = 0;
        for index in indices.iter().skip(1) {
            match self.program.ty(current) {
                Type::Struct(id) => {
                    let field = number(index).and_then(|n| usize::try_from(n).ok());
                    let fields = &self.program.structure(*id).fields;
                    let Some(field) = field.and_then(|n| fields.get(n)) else {
                        break;
                    };
                    offset += field.offset;
                    current = field.ty;
                }
                Type::Array(_, element) | Type::Vector(_, element) => current = *element,
                _ => break,
            }
        }
        Some(offset)
    }

    // ---- constraints ----

    fn add_target(&mut self, node: u32, cell: u32) {
        let node = self.find(node);
        self.changed |= self.points.sets[node as usize].insert(cell);
    }

    fn add_edge(&mut self, from: u32, to: u32) {
        let (from, to) = (self.find(from), self.find(to));
        if from == to || !self.edges.insert((from, to)) {
            return;
        }
        self.successors[from as usize].push(to);
        if !self.points.sets[from as usize].is_empty() {
            let set = self.points.sets[from as usize].clone();
            self.absorb(to, &set);
        }
        self.changed = true;
    }

    fn absorb(&mut self, node: u32, set: &RoaringBitmap) {
        let target = &mut self.points.sets[node as usize];
        let before = target.len();
        *target |= set;
        if target.len() != before {
            self.changed = true;
            // At once: until then everything that may point outside would be linked to each of
            // the escaped objects.
            if node == self.find(self.cell_node(0)) {
                self.escape(set);
            }
        }
    }

    fn add_complex(&mut self, node: u32, constraint: Complex) {
        let node = self.find(node);
        self.complex[node as usize].push(constraint);
        // It has not seen what the node points to already.
        let targets = self.points.sets[node as usize].clone();
        for cell in &targets {
            self.apply(constraint, cell);
        }
        self.changed = true;
    }

    fn copy(&mut self, function: FunctionId, from: Operand, to: u32) {
        if let Some(from) = self.operand(function, from) {
            self.add_edge(from, to);
        }
    }

    fn is_tracked(&self, ty: TypeId) -> bool {
        !matches!(
            self.program.ty(ty),
            Type::Int(0..=63) | Type::Float(_) | Type::Void
        )
    }

    /// Turns the program into constraints.
    fn collect(&mut self) {
        for (id, global) in self.program.globals() {
            let cell = self.object(Object::Global(id));
            match global.initial {
                Some(initial) => self.initial(cell, global.ty, initial),
                None => {
                    // Defined elsewhere (`stdin`): it may hold anything from there.
                    let node = self.cell_node(cell);
                    self.add_target(node, 0);
                }
            }
        }
        let live = self.calls.reachable(self.program);
        for (id, _) in self.program.functions() {
            if !live[id.index()] {
                continue;
            }
            if self.calls.callers(id).is_empty() {
                // Called from outside, if at all; that is how `main` gets its arguments.
                let first = self.points.layout.params[id.index()];
                let next = self.points.layout.params.get(id.index() + 1);
                let end = next.copied().unwrap_or(self.points.layout.results);
                for node in first..end {
                    self.add_target(node, 0);
                }
            }
            for stmt in self.program.function_stmts(id) {
                self.statement(id, stmt);
            }
        }
    }

    fn initial(&mut self, cell: u32, ty: TypeId, value: Operand) {
        let targets = self.constant_targets(value);
        let node = self.cell_node(cell);
        for target in targets {
            self.add_target(node, target);
        }
        let Operand::Const(id) = value else {
            return;
        };
        let Const::Aggregate(values) = self.program.constant(id).clone() else {
            return;
        };
        for (i, &value) in values.iter().enumerate() {
            match self.program.ty(ty).clone() {
                Type::Struct(id) => {
                    let field = self.program.structure(id).fields.get(i);
                    if let Some((offset, ty)) = field.map(|field| (field.offset, field.ty)) {
                        let cell = self.field(cell, offset);
                        self.initial(cell, ty, value);
                    }
                }
                Type::Array(_, element) => self.initial(cell, element, value),
                // The layout of unnamed structures is not known here: all in one cell.
                Type::Tuple(fields) => match fields.get(i) {
                    Some(&field) => {
                        let (object, _) = self.points.cells[cell as usize];
                        self.merge_fields(object);
                        self.initial(cell, field, value);
                    }
                    None => return,
                },
                _ => return,
            }
        }
    }

    fn statement(&mut self, function: FunctionId, stmt: StmtId) {
        let data = *self.program.stmt(stmt);
        let operands = self.program.operands(stmt);
        match data.op {
            Op::Alloca(_) => {
                let cell = self.object(Object::Local(stmt));
                self.add_target(stmt.0, cell);
            }
            Op::Load { .. } if self.is_tracked(data.ty) => {
                let size = self.program.size_of(data.ty);
                self.load(function, operands[0], stmt.0, size);
            }
            Op::Store { .. } => {
                if let Some(from) = self.operand(function, operands[0]) {
                    let size = match operands[0] {
                        Operand::Stmt(value) => {
                            let ty = self.program.stmt(value).ty;
                            if !self.is_tracked(ty) {
                                return;
                            }
                            self.program.size_of(ty)
                        }
                        _ => 8,
                    };
                    self.store(function, operands[1], from, size);
                }
            }
            Op::Address(ty) => self.address(function, stmt, ty, operands),
            Op::Call(_) | Op::Invoke(_) => self.call(function, stmt),
            Op::Return => {
                let to = self.points.layout.results + function.0;
                for &value in operands {
                    self.copy(function, value, to);
                }
            }
            Op::AtomicUpdate(_) | Op::CompareExchange => {
                self.load(function, operands[0], stmt.0, 8);
                for &value in &operands[1..] {
                    if let Some(from) = self.operand(function, value) {
                        self.store(function, operands[0], from, 8);
                    }
                }
            }
            Op::Compare(_) | Op::CompareFloat(_) => {}
            // Everything else may pass its operands on, if the result can hold a pointer.
            _ if self.is_tracked(data.ty) => {
                for &operand in operands {
                    self.copy(function, operand, stmt.0);
                }
            }
            _ => {}
        }
    }

    fn address(&mut self, function: FunctionId, stmt: StmtId, ty: TypeId, operands: &[Operand]) {
        let Some(base) = self.operand(function, operands[0]) else {
            return;
        };
        let constraint = match self.offset(ty, &operands[1..]) {
            Some(0) => return self.add_edge(base, stmt.0),
            Some(offset) => Complex::Field { to: stmt.0, offset },
            None => Complex::Backwards { to: stmt.0 },
        };
        self.add_complex(base, constraint);
    }

    fn load(&mut self, function: FunctionId, address: Operand, to: u32, size: u64) {
        if let Some(node) = self.operand(function, address) {
            self.add_complex(node, Complex::Load { to, size });
        }
    }

    fn store(&mut self, function: FunctionId, address: Operand, from: u32, size: u64) {
        if let Some(node) = self.operand(function, address) {
            self.add_complex(node, Complex::Store { from, size });
        }
    }

    fn call(&mut self, function: FunctionId, call: StmtId) {
        for &callee in self.calls.callees(call) {
            match self.calls.effects(callee) {
                Some(effects) => self.external(function, call, effects.clone()),
                None => self.internal(function, call, callee),
            }
        }
        if let Some(Operand::Const(id)) = self.program.callee(call)
            && matches!(self.program.constant(id), Const::Assembler(..))
        {
            self.external(function, call, Effects::of("inline assembler"));
        }
    }

    fn internal(&mut self, function: FunctionId, call: StmtId, callee: FunctionId) {
        let first = self.points.layout.params[callee.index()];
        let count = match self.program.ty(self.program.function(callee).ty) {
            Type::Function { params, .. } => params.len() as u32,
            _ => 0,
        };
        // A callback of an external function gets its arguments from there.
        if self
            .program
            .called_function(call)
            .is_some_and(|direct| direct != callee)
        {
            for i in 0..count {
                self.add_target(first + i, 0);
                for &argument in self.program.arguments(call) {
                    self.copy(function, argument, first + i);
                }
            }
            return;
        }
        for (i, &argument) in (0..).zip(self.program.arguments(call)) {
            let to = if i < count {
                first + i
            } else {
                let cell = self.object(Object::Variadic(callee));
                self.cell_node(cell)
            };
            self.copy(function, argument, to);
        }
        let result = self.points.layout.results + callee.0;
        self.add_edge(result, call.0);
    }

    fn external(&mut self, function: FunctionId, call: StmtId, effects: Effects) {
        let arguments = self.program.arguments(call).to_vec();
        let node = |solver: &mut Self, i: u32| {
            let argument = *arguments.get(i as usize)?;
            solver.operand(function, argument)
        };
        let outside = self.cell_node(0);
        if effects.is_unknown {
            for i in 0..arguments.len() as u32 {
                if let Some(node) = node(self, i) {
                    self.add_edge(node, outside);
                }
            }
        }
        for &(to, from) in &effects.copies {
            if let (Some(to), Some(from)) = (node(self, to), node(self, from)) {
                // `realloc` moves what its argument holds to the new memory.
                let to = if effects.result == Points::Fresh {
                    call.0
                } else {
                    to
                };
                self.copies.push((to, from));
            }
        }
        for &(to, from) in &effects.stores {
            if let (Some(to), Some(from)) = (node(self, to), node(self, from)) {
                self.add_complex(to, Complex::Store { from, size: 8 });
            }
        }
        match effects.result {
            Points::Nowhere => {}
            Points::Argument(i) => {
                if let Some(from) = node(self, i) {
                    self.add_edge(from, call.0);
                }
            }
            Points::Fresh => {
                let cell = self.object(Object::Heap(call));
                self.add_target(call.0, cell);
            }
            Points::Outside => self.add_edge(outside, call.0),
        }
        let name = self.program.called_function(call);
        let name = name.map_or("", |id| &self.program.function(id).symbol);
        if name.starts_with("llvm.va_start")
            && let Some(list) = node(self, 0)
        {
            let arguments = self.object(Object::Variadic(function));
            let from = self.extra_node();
            self.add_target(from, arguments);
            // The whole structure behind a `va_list`.
            self.add_complex(list, Complex::Store { from, size: 24 });
            for offset in [8, 16] {
                let field = self.extra_node();
                self.add_complex(list, Complex::Field { to: field, offset });
                self.add_complex(field, Complex::Store { from, size: 8 });
            }
        }
    }

    // ---- solving ----

    fn solve(&mut self) {
        loop {
            self.changed = false;
            // Merging nodes may have given the outside more than `absorb` has seen.
            let outside = self.find(self.cell_node(0));
            let escaped = self.points.sets[outside as usize].clone();
            self.escape(&escaped);
            self.clean_sets();
            let order = self.collapse_cycles();
            for node in order {
                self.propagate(node);
            }
            for node in 0..self.complex.len() as u32 {
                self.apply_complex(node);
            }
            for i in 0..self.copies.len() {
                self.copy_memory(self.copies[i].0, self.copies[i].1);
            }
            if !self.changed {
                break;
            }
        }
        for node in 0..self.points.representative.len() as u32 {
            self.points.representative[node as usize] = self.find(node);
        }
        for (&constant, &node) in &self.constant_nodes {
            let set = self.points.sets[self.find(node) as usize].clone();
            self.points.constants.insert(constant, set);
        }
    }

    /// Merges nodes that pass to each other all that they have, and returns the others in an order
    /// in which each comes before those it passes on to.
    fn collapse_cycles(&mut self) -> Vec<u32> {
        let mut edges: Vec<(u32, u32)> = Vec::with_capacity(self.edges.len());
        for from in 0..self.successors.len() as u32 {
            if self.find(from) == from {
                let all = self.successors[from as usize].iter();
                edges.extend(all.map(|&to| (from, self.find(to))).filter(|(a, b)| a != b));
            }
        }
        let mut graph = DiGraph::<(), ()>::from_edges(edges);
        while graph.node_count() < self.successors.len() {
            graph.add_node(());
        }
        let mut order = Vec::new();
        for component in kosaraju_scc(&graph).into_iter().rev() {
            let first = component[0].index() as u32;
            for other in &component[1..] {
                self.merge(first, other.index() as u32);
            }
            if self.find(first) == first {
                order.push(first);
            }
        }
        order
    }

    fn merge(&mut self, into: u32, node: u32) {
        self.points.representative[node as usize] = into;
        let (a, b) = (into as usize, node as usize);
        let set = std::mem::take(&mut self.points.sets[b]);
        // What only one of them has passed on must be passed on to the other's successors.
        let propagated = std::mem::take(&mut self.propagated[b]);
        self.propagated[a] &= &propagated;
        let seen = std::mem::take(&mut self.seen[b]);
        self.seen[a] &= &seen;
        self.points.sets[a] |= set;
        let successors = std::mem::take(&mut self.successors[b]);
        self.successors[a].extend(successors);
        let complex = std::mem::take(&mut self.complex[b]);
        self.complex[a].extend(complex);
    }

    fn propagate(&mut self, node: u32) {
        let n = node as usize;
        let new = &self.points.sets[n] - &self.propagated[n];
        if new.is_empty() {
            return;
        }
        self.propagated[n] = self.points.sets[n].clone();
        let mut successors = std::mem::take(&mut self.successors[n]);
        for to in &mut successors {
            *to = self.find(*to);
        }
        successors.sort_unstable();
        successors.dedup();
        successors.retain(|&to| to != node);
        for &to in &successors {
            self.absorb(to, &new);
        }
        self.successors[n] = successors;
    }

    fn apply_complex(&mut self, node: u32) {
        let n = node as usize;
        if self.complex[n].is_empty() || self.find(node) != node {
            return;
        }
        let new = &self.points.sets[n] - &self.seen[n];
        if new.is_empty() {
            return;
        }
        self.seen[n] = self.points.sets[n].clone();
        for i in 0..self.complex[n].len() {
            let constraint = self.complex[n][i];
            for cell in &new {
                self.apply(constraint, cell);
            }
        }
    }

    fn apply(&mut self, constraint: Complex, cell: u32) {
        let cell = self.current(cell);
        match constraint {
            Complex::Load { to, size } => {
                for cell in self.covered(cell, size) {
                    self.add_edge(self.cell_node(cell), to);
                }
            }
            Complex::Store { from, size } => {
                for cell in self.covered(cell, size) {
                    self.add_edge(from, self.cell_node(cell));
                }
            }
            Complex::Field { to, offset } => {
                let field = self.field(cell, offset);
                self.add_target(to, field);
            }
            Complex::Backwards { to } => {
                let (object, _) = self.points.cells[cell as usize];
                self.merge_fields(object);
                self.add_target(to, cell);
            }
        }
    }

    /// The cells in so many bytes from a cell on. Larger accesses than a pointer are rare.
    fn covered(&self, cell: u32, size: u64) -> Vec<u32> {
        if size <= 8 {
            return vec![cell];
        }
        let (object, offset) = self.points.cells[cell as usize];
        let cells = self.points.objects[object as usize].cells.iter();
        let mut covered: Vec<_> = cells
            .filter(|&&(at, _)| at >= offset && at - offset < size)
            .map(|&(_, cell)| cell)
            .collect();
        covered.push(cell);
        covered
    }

    /// Copies of whole structures, field by field. Fields that come up later are copied in the next
    /// round.
    fn copy_memory(&mut self, to: u32, from: u32) {
        let (to, from) = (self.find(to), self.find(from));
        let sources = self.points.sets[from as usize].clone();
        let targets = self.points.sets[to as usize].clone();
        for source in &sources {
            let (object, start) = self.points.cells[source as usize];
            let data = &self.points.objects[object as usize];
            // Only fields that hold pointers matter.
            let fields: Vec<_> = data
                .cells
                .iter()
                .filter(|&&(at, cell)| {
                    let node = self.find(self.cell_node(cell));
                    at >= start && !self.points.sets[node as usize].is_empty()
                })
                .copied()
                .collect();
            for (at, cell) in fields {
                for target in &targets {
                    let field = self.field(target, at - start);
                    self.add_edge(self.cell_node(cell), self.cell_node(field));
                }
            }
        }
    }
}
