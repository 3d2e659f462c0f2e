//! Copies of memory: what a structure holds goes to where it is copied, field by field.
//!
//! From each of many structures to each of many others would be more edges than can be handled, so
//! they meet on the way: for each place in what is copied there is one node that gathers what the
//! sources hold there, and one that hands it to the targets. That loses nothing. What grows without
//! end even so is made coarser, see [`MANY_PLACES`] and [`Solver::step_of_copy`].

use roaring::RoaringBitmap;
use rustc_hash::{FxHashMap, FxHashSet};

use super::solver::{Along, Solver, Step};

/// If what is copied from where a node points holds pointers at more places than this, they are not
/// told apart, and go to all of the objects they are copied to: sources that start at many places in
/// many objects make ever more of them.
const MANY_PLACES: usize = 64;

/// A copy of memory between what two nodes point to, of so many bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Copied {
    pub(super) to: u32,
    pub(super) from: u32,
    pub(super) size: Option<u64>,
}

/// All copies of a program, and how far they have been followed.
#[derive(Default)]
pub(super) struct Copies {
    all: FxHashSet<Copied>,
    /// For what is copied from where a node points, how much, and which place in it: the node that
    /// gathers what is there.
    gathered: FxHashMap<(u32, Option<u64>, Step), u32>,
    /// Where places in what is copied are not told apart any more.
    blurred: FxHashSet<(u32, Option<u64>)>,
    /// For where a node points and which place behind that: what is handed there.
    handed: FxHashMap<(u32, Step), Handed>,
}

struct Handed {
    node: u32,
    /// The targets that get it already.
    seen: RoaringBitmap,
}

impl Solver<'_> {
    pub(super) fn add_copy(&mut self, copied: Copied) {
        self.copies.all.insert(copied);
    }

    /// Follows copies as far as is known now what they copy. Cells that come up later are copied in
    /// the next round.
    pub(super) fn copy_memory(&mut self) {
        let mut copies = std::mem::take(&mut self.copies);
        self.unite(&mut copies);
        let mut order: Vec<_> = copies.all.iter().copied().collect();
        order.sort_unstable_by_key(|copied| (copied.from, copied.size, copied.to));
        for group in order.chunk_by(|a, b| (a.from, a.size) == (b.from, b.size)) {
            let Copied { from, size, .. } = group[0];
            for (step, gathered) in self.gather(&mut copies, from, size) {
                for copied in group {
                    let node = match copies.handed.get(&(copied.to, step)) {
                        Some(handed) => handed.node,
                        None => {
                            let node = self.extra_node();
                            let seen = RoaringBitmap::new();
                            let handed = Handed { node, seen };
                            copies.handed.insert((copied.to, step), handed);
                            node
                        }
                    };
                    self.add_edge(gathered, node);
                }
            }
        }
        let mut keys: Vec<_> = copies.handed.keys().copied().collect();
        keys.sort_unstable();
        for (to, step) in keys {
            let Some(handed) = copies.handed.get_mut(&(to, step)) else {
                continue;
            };
            let targets = self.points.sets[self.find(to) as usize].clone();
            for target in &targets - &handed.seen {
                let target = self.current(target);
                let target = self.step_of_copy(target, step);
                self.add_edge(handed.node, self.cell_node(target));
            }
            handed.seen = targets;
        }
        self.copies = copies;
    }

    /// Nodes that have become one make their copies the same.
    fn unite(&mut self, copies: &mut Copies) {
        let all = copies.all.iter().map(|&Copied { to, from, size }| {
            let (to, from) = (self.find(to), self.find(from));
            Copied { to, from, size }
        });
        copies.all = all.collect();
        let blurred = copies.blurred.iter();
        let blurred = blurred.map(|&(from, size)| (self.find(from), size));
        copies.blurred = blurred.collect();
        for ((from, size, step), node) in std::mem::take(&mut copies.gathered) {
            let key = (self.find(from), size, step);
            match copies.gathered.get(&key) {
                Some(&other) => self.merge_both(other, node),
                None => {
                    copies.gathered.insert(key, node);
                }
            }
        }
        for ((to, step), handed) in std::mem::take(&mut copies.handed) {
            let key = (self.find(to), step);
            match copies.handed.get_mut(&key) {
                Some(other) => {
                    other.seen &= &handed.seen;
                    self.merge_both(other.node, handed.node);
                }
                None => {
                    copies.handed.insert(key, handed);
                }
            }
        }
    }

    /// The places in what is copied that hold pointers, with the nodes that gather them.
    fn gather(&mut self, copies: &mut Copies, from: u32, size: Option<u64>) -> Vec<(Step, u32)> {
        let sources = self.points.sets[from as usize].iter();
        let cells = sources.flat_map(|source| self.copied_cells(source, size));
        let mut cells: Vec<_> = cells.map(|(cell, step)| (step, cell)).collect();
        cells.sort_unstable();
        cells.dedup();
        let anywhere = Step {
            offset: 0,
            array: None,
            along: Along::Object,
        };
        let places = cells.chunk_by(|a, b| a.0 == b.0).count();
        if places > MANY_PLACES || copies.blurred.contains(&(from, size)) {
            copies.blurred.insert((from, size));
            cells.iter_mut().for_each(|(step, _)| *step = anywhere);
        }
        let mut found = Vec::new();
        for place in cells.chunk_by(|a, b| a.0 == b.0) {
            let step = place[0].0;
            let node = copies.gathered.entry((from, size, step));
            let node = *node.or_insert_with(|| self.extra_node());
            found.push((step, node));
            for &(_, cell) in place {
                self.add_edge(self.cell_node(cell), node);
            }
        }
        found
    }

    /// The cells that hold pointers in so many bytes, and the way there from the first byte.
    fn copied_cells(&self, source: u32, size: Option<u64>) -> Vec<(u32, Step)> {
        let source = self.current(source);
        let memory = &self.points.memory;
        let (object, start, end) = memory.range(source, size);
        let has_pointers = |&cell: &u32| {
            let node = self.find(self.cell_node(cell));
            !self.points.sets[node as usize].is_empty()
        };
        let step = |cell: u32| {
            let part = memory.cells[cell as usize];
            let first = part.start.max(start);
            let is_span = part.is_span() || memory.data(cell).merged;
            let last = if memory.data(cell).merged {
                end
            } else {
                part.end.min(end)
            };
            Step {
                offset: first - start,
                array: is_span.then(|| last - first),
                along: Along::No,
            }
        };
        let cells = memory.overlapping(object, start, end);
        cells
            .filter(has_pointers)
            .map(|cell| (cell, step(cell)))
            .collect()
    }
}
