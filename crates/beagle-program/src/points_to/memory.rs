//! Objects and their cells.
//!
//! A cell is either a *field*, which starts somewhere in an object, or a *span*, which also ends
//! somewhere: an array, of which the elements are not told apart, or all of an object that is
//! looked at as bytes. Cells overlap: the field of a structure lies in the span of the buffer that
//! holds the structure.

use rustc_hash::FxHashMap;

use super::Object;

/// A part of an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub(super) object: u32,
    pub(super) start: u64,
    /// Equal to `start` for a field.
    pub(super) end: u64,
}

impl Cell {
    pub(super) fn is_span(&self) -> bool {
        self.end > self.start
    }

    /// Whether an access of some bytes may touch it.
    fn overlaps(&self, start: u64, end: u64) -> bool {
        self.start < end && start < self.end.max(self.start + 1)
    }
}

pub(super) struct ObjectData {
    pub(super) object: Object,
    /// The cells, sorted by where they start and end; the first one starts at 0.
    pub(super) cells: Vec<u32>,
    /// All cells are one.
    pub(super) merged: bool,
    /// In bytes, as far as it is known.
    pub(super) size: u64,
}

#[derive(Default)]
pub(super) struct Memory {
    pub(super) cells: Vec<Cell>,
    pub(super) objects: Vec<ObjectData>,
    pub(super) numbers: FxHashMap<Object, u32>,
}

impl Memory {
    pub(super) fn data(&self, cell: u32) -> &ObjectData {
        &self.objects[self.cells[cell as usize].object as usize]
    }

    /// The first cell of an object, which stands for all if they are merged.
    pub(super) fn first(&self, object: u32) -> u32 {
        self.objects[object as usize].cells[0]
    }

    /// A new object; its first cell is still missing.
    pub(super) fn add_object(&mut self, object: Object, size: u64) -> u32 {
        let number = self.objects.len() as u32;
        self.numbers.insert(object, number);
        self.objects.push(ObjectData {
            object,
            cells: Vec::new(),
            merged: matches!(object, Object::Outside | Object::Variadic(_)),
            size,
        });
        number
    }

    pub(super) fn add_cell(&mut self, cell: Cell) -> u32 {
        let number = self.cells.len() as u32;
        self.cells.push(cell);
        let at = self.position(cell.object, cell.start, cell.end);
        let cells = &mut self.objects[cell.object as usize].cells;
        cells.insert(at, number);
        number
    }

    fn position(&self, object: u32, start: u64, end: u64) -> usize {
        let cells = &self.objects[object as usize].cells;
        cells.partition_point(|&cell| {
            let cell = self.cells[cell as usize];
            (cell.start, cell.end) < (start, end)
        })
    }

    pub(super) fn find(&self, object: u32, start: u64, end: u64) -> Option<u32> {
        let at = self.position(object, start, end);
        let found = *self.objects[object as usize].cells.get(at)?;
        let cell = self.cells[found as usize];
        (cell.start == start && cell.end == end).then_some(found)
    }

    /// The cells of an object that an access of some bytes may touch.
    pub(super) fn overlapping(
        &self,
        object: u32,
        start: u64,
        end: u64,
    ) -> impl Iterator<Item = u32> + '_ {
        let data = &self.objects[object as usize];
        let touched =
            move |&cell: &u32| data.merged || self.cells[cell as usize].overlaps(start, end);
        data.cells.iter().copied().filter(touched)
    }

    /// The bytes that an access through a pointer to a cell may touch; `None` as size for one that
    /// may go on to the end of the object.
    pub(super) fn range(&self, cell: u32, size: Option<u64>) -> (u32, u64, u64) {
        let Cell { object, start, end } = self.cells[cell as usize];
        let to = size.map_or(u64::MAX, |size| start.saturating_add(size.max(1)));
        (object, start, end.max(to))
    }
}
