//! What pointers may point to.
//!
//! Inclusion-based (Andersen), insensitive to the order of statements and to callers, sensitive to
//! objects and fields. An object is a variable, or all memory that one allocation makes; a *cell*
//! is a part of an object, see [`memory`]. Elements of an array share a cell. Pointer arithmetic
//! stays in its array, as C demands; where no array is known, it may lead anywhere in the object.
//! Memory outside of the program is one cell that points to itself, and what escapes to unknown
//! code becomes part of it. Which functions a pointer may hold is not tracked: the call graph goes
//! by types. Not seen are pointers that are taken apart: copied byte by byte, or kept in less than
//! 64 bits.
//!
//! `collect` turns a program into constraints, `solver` solves them.

mod collect;
mod copies;
mod memory;
mod solver;

use roaring::RoaringBitmap;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::calls::CallGraph;
use crate::model::*;
use memory::Memory;
use solver::Solver;

/// A part of an object, as number.
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
    /// State that the C library keeps, by its name in the table of external functions.
    Library(&'static str),
}

/// What pointers may point to, in one program.
pub struct PointsTo {
    memory: Memory,
    /// What the values of statements point to, by [`Solver`] node.
    sets: Vec<RoaringBitmap>,
    representative: Vec<u32>,
    layout: Nodes,
    constants: FxHashMap<Operand, RoaringBitmap>,
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
        self.memory.data(cell.0).object
    }

    /// How many cells there are.
    pub fn cell_count(&self) -> usize {
        self.memory.cells.len()
    }

    /// The cells of an object.
    pub fn cells_of(&self, object: Object) -> Vec<CellId> {
        let number = self.memory.numbers.get(&object);
        let cells = number.map_or(&[][..], |&n| &self.memory.objects[n as usize].cells);
        cells.iter().map(|&cell| CellId(cell)).collect()
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

    /// The cells that a read of `size` bytes through an operand may see; `None` as size for one
    /// that may go on to the end of the object. An address of which nothing is known may lie
    /// outside.
    pub fn read(&self, function: FunctionId, operand: Operand, size: Option<u64>) -> Vec<CellId> {
        self.touched(function, operand, |cell, cells| {
            let (object, start, end) = self.memory.range(cell, size);
            cells.extend(self.memory.overlapping(object, start, end));
        })
    }

    /// The cells to which a write of `size` bytes through an operand may go. Fewer than a read
    /// there would see: whoever reads a field looks into the spans around it, too.
    pub fn written(
        &self,
        function: FunctionId,
        operand: Operand,
        size: Option<u64>,
    ) -> Vec<CellId> {
        self.touched(function, operand, |cell, cells| {
            cells.push(cell);
            let (object, start, end) = self.memory.range(cell, size);
            if !self.memory.cells[cell as usize].is_span() || size.is_none() {
                let inside = |&other: &u32| {
                    let other = self.memory.cells[other as usize];
                    other.start >= start && !other.is_span()
                };
                let overlapping = self.memory.overlapping(object, start, end);
                cells.extend(overlapping.filter(inside));
            }
        })
    }

    fn touched(
        &self,
        function: FunctionId,
        operand: Operand,
        touch: impl Fn(u32, &mut Vec<u32>),
    ) -> Vec<CellId> {
        let targets = self.targets(function, operand);
        if targets.is_empty() {
            return vec![self.outside()];
        }
        let mut cells = Vec::new();
        for target in &targets {
            touch(target, &mut cells);
        }
        cells.sort_unstable();
        cells.dedup();
        cells.into_iter().map(CellId).collect()
    }

    /// All cells that can be got at through an operand, over any number of pointers.
    pub fn reachable(&self, function: FunctionId, operand: Operand) -> Vec<CellId> {
        self.reachable_from(self.read(function, operand, None))
    }

    /// All cells that can be got at from others, these included.
    pub fn reachable_from(&self, from: Vec<CellId>) -> Vec<CellId> {
        let mut seen: FxHashSet<CellId> = FxHashSet::default();
        let mut work = from;
        while let Some(cell) = work.pop() {
            if !seen.insert(cell) {
                continue;
            }
            let node = self.representative[self.layout.cell(cell.0) as usize];
            for target in &self.sets[node as usize] {
                let (object, start, end) = self.memory.range(target, None);
                let cells = self.memory.overlapping(object, start, end);
                work.extend(cells.map(CellId));
            }
        }
        let mut cells: Vec<_> = seen.into_iter().collect();
        cells.sort();
        cells
    }
}
