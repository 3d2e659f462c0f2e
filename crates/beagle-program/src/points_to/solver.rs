//! The constraints and their solution.
//!
//! Solved in waves: collapse cycles, propagate in topological order, let loads and stores add
//! edges, until nothing changes.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;
use roaring::RoaringBitmap;
use rustc_hash::{FxHashMap, FxHashSet};

use super::copies::Copies;
use super::memory::{Cell, Memory};
use super::{Nodes, Object, PointsTo};
use crate::calls::CallGraph;
use crate::model::*;

/// Memory of unknown size with so many fields in use is treated as having one: it is then mostly
/// memory for everything, behind a function that allocates for all callers.
const MANY_FIELDS: usize = 128;

/// A copy to an object adds no cells to it if it has so many already, or half as many as above, or
/// one for so many of its bytes. Copies between places that are off by some bytes would otherwise
/// cut it up in all possible ways. What is copied goes to all of the object instead.
const FEW_FIELDS: usize = 16;
const FIELD: u64 = 8;

/// A constraint that depends on what a node points to.
#[derive(Clone, Copy)]
pub(super) enum Complex {
    /// `to ⊇ *node`, for so many bytes.
    Load { to: u32, size: u64 },
    /// `*node ⊇ from`, for so many bytes.
    Store { from: u32, size: u64 },
    /// `to ⊇ node` moved, see [`Step`].
    Move { to: u32, step: Step },
}

/// How address arithmetic moves a pointer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Step {
    /// To the field at this offset.
    pub(super) offset: u64,
    /// And then into an array of so many bytes.
    pub(super) array: Option<u64>,
    /// And then between elements.
    pub(super) along: Along,
}

/// How address arithmetic goes from element to element.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Along {
    /// Not at all, or between structures, which all share their fields.
    No,
    /// Between scalars of so many bytes: stays in an array, if it is in one.
    Array(u64),
    /// Back by a number of bytes (`container_of`): to anywhere in the object.
    Object,
}

pub(super) struct Solver<'a> {
    pub(super) program: &'a Program,
    pub(super) calls: &'a CallGraph,
    pub(super) points: PointsTo,
    successors: Vec<Vec<u32>>,
    edges: FxHashSet<(u32, u32)>,
    complex: Vec<Vec<Complex>>,
    /// What has been passed on to successors, and what complex constraints have seen.
    propagated: Vec<RoaringBitmap>,
    seen: Vec<RoaringBitmap>,
    pub(super) copies: Copies,
    pub(super) constant_nodes: FxHashMap<Operand, u32>,
    /// For cells that are loaded from: the node of all that a load there may see.
    views: FxHashMap<u32, u32>,
    /// Cells that another stands for, and how many of them no set holds any more.
    replaced: FxHashMap<u32, u32>,
    cleaned: usize,
    changed: bool,
}

impl<'a> Solver<'a> {
    pub(super) fn new(program: &'a Program, calls: &'a CallGraph) -> Self {
        let layout = Nodes::new(program);
        let count = layout.cells as usize;
        let mut solver = Self {
            program,
            calls,
            points: PointsTo {
                memory: Memory::default(),
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
            copies: Copies::default(),
            constant_nodes: FxHashMap::default(),
            views: FxHashMap::default(),
            replaced: FxHashMap::default(),
            cleaned: 0,
            changed: false,
        };
        let outside = solver.object(Object::Outside);
        let node = solver.cell_node(outside);
        solver.add_target(node, outside);
        // What is outside may be read from and written to from outside.
        solver.add_complex(node, Complex::Load { to: node, size: 8 });
        let from = node;
        solver.add_complex(node, Complex::Store { from, size: 8 });
        solver
    }

    // ---- nodes and cells ----

    /// The first cell of an object.
    pub(super) fn object(&mut self, object: Object) -> u32 {
        if let Some(&number) = self.points.memory.numbers.get(&object) {
            return self.points.memory.first(number);
        }
        if self.is_outside(object) {
            let outside = self.points.memory.numbers[&Object::Outside];
            self.points.memory.numbers.insert(object, outside);
            return 0;
        }
        let (size, is_array) = self.extent(object);
        let number = self.points.memory.add_object(object, size);
        self.new_cell(number, 0, if is_array { size } else { 0 })
    }

    /// Variables that are defined elsewhere are outside; those for the standard streams hold
    /// something that is known.
    fn is_outside(&self, object: Object) -> bool {
        match object {
            Object::Global(id) => {
                let global = self.program.global(id);
                global.initial.is_none() && super::collect::stream(&global.symbol).is_none()
            }
            _ => false,
        }
    }

    /// The size of an object, and whether all of it is one array.
    fn extent(&self, object: Object) -> (u64, bool) {
        let ty = match object {
            Object::Global(id) => self.program.global(id).ty,
            Object::Local(alloca) => match (self.program.stmt(alloca).op, self.count(alloca)) {
                (Op::Alloca(ty), Some(1)) => ty,
                _ => return (u64::MAX, false),
            },
            Object::Outside => return (u64::MAX, true),
            _ => return (u64::MAX, false),
        };
        match self.program.size_of(ty) {
            0 => (u64::MAX, false),
            size => (size, self.is_scalar_array(ty)),
        }
    }

    fn count(&self, alloca: StmtId) -> Option<u128> {
        match self.program.operands(alloca).first()? {
            Operand::Const(id) => match self.program.constant(*id) {
                Const::Int { bits, .. } => Some(*bits),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a type is an array, of arrays of …, of something without fields.
    pub(super) fn is_scalar_array(&self, ty: TypeId) -> bool {
        let mut ty = self.program.ty(ty);
        let mut is_array = false;
        while let Type::Array(_, element) | Type::Vector(_, element) = ty {
            is_array = true;
            ty = self.program.ty(*element);
        }
        is_array && !matches!(ty, Type::Struct(_) | Type::Tuple(_))
    }

    fn new_cell(&mut self, object: u32, start: u64, end: u64) -> u32 {
        let cell = self.points.memory.add_cell(Cell { object, start, end });
        let node = self.new_node();
        // Loads that have looked at what lies there must see the new cell, too.
        let around = self
            .points
            .memory
            .overlapping(object, start, end.max(start + 1));
        let views: Vec<_> = around.filter_map(|c| self.views.get(&c).copied()).collect();
        for view in views {
            self.add_edge(node, view);
        }
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
    pub(super) fn extra_node(&mut self) -> u32 {
        let (object, start, end) = (0, u64::MAX, u64::MAX);
        let nowhere = Cell { object, start, end };
        self.points.memory.cells.push(nowhere);
        self.new_node()
    }

    pub(super) fn cell_node(&self, cell: u32) -> u32 {
        self.points.layout.cell(cell)
    }

    /// The cell with that start and end in an object; a field if they are the same.
    fn part(&mut self, object: u32, start: u64, end: u64) -> u32 {
        if let Some(found) = self.points.memory.find(object, start, end) {
            return found;
        }
        let data = &self.points.memory.objects[object as usize];
        if data.cells.len() >= MANY_FIELDS && data.size == u64::MAX {
            self.merge_cells(object);
            return self.points.memory.first(object);
        }
        self.new_cell(object, start, end)
    }

    /// The cell to which address arithmetic leads from a cell.
    pub(super) fn step(&mut self, cell: u32, step: Step) -> u32 {
        match self.destination(cell, step) {
            Ok(found) => found,
            Err((object, start, end)) => self.part(object, start, end),
        }
    }

    /// The cell to which a copy leads from a cell: none that is new, in an object that has many.
    pub(super) fn step_of_copy(&mut self, cell: u32, step: Step) -> u32 {
        match self.destination(cell, step) {
            Ok(found) => found,
            Err((object, start, end)) => {
                let data = &self.points.memory.objects[object as usize];
                let size = data.size;
                let many = (size / FIELD).clamp(FEW_FIELDS as u64, MANY_FIELDS as u64 / 2);
                match data.cells.len() as u64 >= many {
                    true => self.part(object, 0, size),
                    false => self.part(object, start, end),
                }
            }
        }
    }

    /// Where address arithmetic leads from a cell: to another one, or to one that is still to be
    /// made, in an object, from where to where.
    fn destination(&self, cell: u32, step: Step) -> Result<u32, (u32, u64, u64)> {
        let Cell { object, start, end } = self.points.memory.cells[cell as usize];
        let data = &self.points.memory.objects[object as usize];
        let size = data.size;
        if data.merged {
            return Ok(self.points.memory.first(object));
        }
        let part = |start, end| {
            let found = self.points.memory.find(object, start, end);
            found.ok_or((object, start, end))
        };
        let whole = start == 0 && end >= size;
        if step.along == Along::Object && !whole {
            return part(0, size);
        }
        // In an array everything is the array.
        if end > start {
            return Ok(cell);
        }
        let at = start.saturating_add(step.offset);
        if at >= size {
            // An object that is looked at as a larger type.
            return part(0, size);
        }
        match (step.array, step.along) {
            (Some(bytes), _) => part(at, at.saturating_add(bytes).min(size)),
            (None, Along::Array(element)) if size > element => part(0, size),
            _ => part(at, at),
        }
    }

    /// All of an object from a cell on, for so many bytes.
    fn wide(&mut self, cell: u32, size: u64) -> u32 {
        let array = Some(size);
        let (offset, along) = (0, Along::No);
        let step = Step {
            offset,
            array,
            along,
        };
        self.step(cell, step)
    }

    /// Makes all cells of an object one.
    pub(super) fn merge_cells(&mut self, object: u32) {
        let data = &mut self.points.memory.objects[object as usize];
        if std::mem::replace(&mut data.merged, true) {
            return;
        }
        let stale = data.cells.split_off(1).into_iter().collect();
        let first = data.cells[0];
        self.replace_cells(&stale, first);
    }

    /// What has escaped to unknown code is outside memory from then on: telling escaped objects
    /// apart would cost much and mean little.
    fn escape(&mut self, cells: &RoaringBitmap) {
        let mut stale = RoaringBitmap::new();
        for cell in cells {
            let object = self.points.memory.cells[cell as usize].object;
            let data = &mut self.points.memory.objects[object as usize];
            // Cell 0 is what escaped objects have become.
            if data.cells[0] != 0 {
                stale.extend(data.cells.drain(..));
                data.cells.push(0);
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
            self.points.memory.cells[cell as usize] = self.points.memory.cells[by as usize];
            self.replaced.insert(cell, by);
        }
        self.changed = true;
    }

    /// The cell that stands for a cell.
    pub(super) fn current(&self, mut cell: u32) -> u32 {
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
        let mut stale = vec![false; self.points.memory.cells.len()];
        for &cell in self.replaced.keys() {
            stale[cell as usize] = true;
        }
        for node in 0..self.points.sets.len() {
            let set = &self.points.sets[node];
            if set.iter().any(|cell| stale[cell as usize]) {
                let clean = set.iter().map(|cell| self.current(cell)).collect();
                self.points.sets[node] = clean;
            }
        }
    }

    pub(super) fn find(&self, mut node: u32) -> u32 {
        while self.points.representative[node as usize] != node {
            node = self.points.representative[node as usize];
        }
        node
    }

    // ---- constraints ----

    pub(super) fn add_target(&mut self, node: u32, cell: u32) {
        let node = self.find(node);
        self.changed |= self.points.sets[node as usize].insert(cell);
    }

    pub(super) fn add_edge(&mut self, from: u32, to: u32) {
        let (from, to) = (self.find(from), self.find(to));
        if from == to || !self.edges.insert((from, to)) {
            return;
        }
        self.successors[from as usize].push(to);
        if !self.is_subset(from, to) {
            let set = self.points.sets[from as usize].clone();
            self.absorb(to, &set);
        }
        self.changed = true;
    }

    fn is_subset(&self, a: u32, b: u32) -> bool {
        let sets = &self.points.sets;
        sets[a as usize].is_subset(&sets[b as usize])
    }

    fn absorb(&mut self, node: u32, set: &RoaringBitmap) {
        let target = &mut self.points.sets[node as usize];
        // Mostly nothing is new, and to see that is cheaper than to unite.
        if !set.is_subset(target) {
            *target |= set;
            self.changed = true;
            // At once: until then everything that may point outside would be linked to each of
            // the escaped objects.
            if node == self.find(self.cell_node(0)) {
                self.escape(set);
            }
        }
    }

    pub(super) fn add_complex(&mut self, node: u32, constraint: Complex) {
        let node = self.find(node);
        self.complex[node as usize].push(constraint);
        // It has not seen what the node points to already.
        let targets = self.points.sets[node as usize].clone();
        for cell in &targets {
            self.apply(constraint, cell);
        }
        self.changed = true;
    }

    // ---- solving ----

    pub(super) fn solve(&mut self) {
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
            // Not while sets still hold cells that another stands for: they would be copied one by
            // one.
            if self.replaced.len() == self.cleaned {
                self.copy_memory();
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

    /// Merges two nodes that are bound to hold the same.
    pub(super) fn merge_both(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find(a), self.find(b));
        if a != b {
            self.merge(a, b);
            self.changed = true;
        }
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
            match self.complex[n][i] {
                // All at once: these are many.
                Complex::Move { to, step } => {
                    let moved = new.iter().map(|cell| {
                        let cell = self.current(cell);
                        self.step(cell, step)
                    });
                    let moved = moved.collect();
                    self.absorb(self.find(to), &moved);
                }
                constraint => {
                    for cell in &new {
                        self.apply(constraint, cell);
                    }
                }
            }
        }
    }

    fn apply(&mut self, constraint: Complex, cell: u32) {
        let cell = self.current(cell);
        match constraint {
            Complex::Load { to, size } => {
                let cell = if size > 8 {
                    self.wide(cell, size)
                } else {
                    cell
                };
                let view = self.view(cell);
                self.add_edge(view, to);
            }
            Complex::Store { from, size } => {
                let cell = if size > 8 {
                    self.wide(cell, size)
                } else {
                    cell
                };
                self.add_edge(from, self.cell_node(cell));
            }
            Complex::Move { to, step } => {
                let cell = self.step(cell, step);
                self.add_target(to, cell);
            }
        }
    }

    /// The node of all that a load from a cell may see: the cell and those that overlap with it.
    fn view(&mut self, cell: u32) -> u32 {
        if self.points.memory.data(cell).merged {
            return self.cell_node(cell);
        }
        if let Some(&view) = self.views.get(&cell) {
            return view;
        }
        let view = self.extra_node();
        self.views.insert(cell, view);
        let (object, start, end) = self.points.memory.range(cell, Some(1));
        let around = self.points.memory.overlapping(object, start, end);
        for cell in around.collect::<Vec<_>>() {
            self.add_edge(self.cell_node(cell), view);
        }
        view
    }
}
