//! Tables and texts that nodes and events refer to by number.

use crate::node::NodeId;
use crate::trace::{Malformed, Place};
use crate::wire::{BLOB_CONVERSION, BLOB_PATH, BLOB_TABLE, BlobEntry, cell_index, cell_node};

const ENTRY_SIZE: usize = size_of::<BlobEntry>();

/// What a number of a blob stands for.
#[derive(Clone, Copy, Debug)]
pub enum Blob<'a> {
    /// The content of an object when it was looked up.
    Table {
        /// Where it lay.
        address: u64,
        /// Its bytes in the run.
        bytes: &'a [u8],
        /// Which of the bytes depend on the input, if any does.
        cells: Option<Cells<'a>>,
    },
    /// A conversion of `printf`.
    Conversion(&'a str),
    /// A path.
    Path(&'a [u8]),
}

/// The expressions of the bytes of a table.
#[derive(Clone, Copy, Debug)]
pub struct Cells<'a> {
    words: &'a [u8],
}

impl Cells<'_> {
    /// The node and the index of the byte in the node's value, if the byte of the table depends on
    /// the input.
    pub fn get(&self, index: usize) -> Option<(NodeId, u32)> {
        let start = index.checked_mul(4)?;
        let word = word_at(self.words, start)?;
        (word != 0).then(|| (cell_node(word), cell_index(word)))
    }

    /// How many bytes the table has.
    pub fn len(&self) -> usize {
        self.words.len() / 4
    }

    /// Whether the table has no bytes.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

/// Where a blob lies, once its entry was found sound.
#[derive(Clone, Copy, Debug)]
struct Slot {
    kind: u32,
    start: usize,
    len: usize,
    cells: Option<usize>,
    address: u64,
    /// The greatest node that the cells name.
    last_node: NodeId,
}

/// All blobs of a trace by number.
#[derive(Clone, Debug)]
pub(crate) struct Blobs<'a> {
    bytes: &'a [u8],
    slots: Vec<Slot>,
}

impl<'a> Blobs<'a> {
    /// Finds all blobs. `width_of` gives the width of a node, `None` if there is no such node.
    pub(crate) fn find(
        bytes: &'a [u8],
        count: u32,
        width_of: impl Fn(NodeId) -> Option<u16>,
    ) -> Result<Self, Malformed> {
        let mut slots = Vec::new();
        let mut offset = 0;
        for number in 1..=count {
            let malformed = |problem| Malformed {
                place: Place::Blob(number),
                problem,
            };
            let (mut slot, size) = entry_at(bytes, offset).map_err(malformed)?;
            if let Some(cells) = slot.cells {
                slot.last_node =
                    last_node(&bytes[cells..cells + slot.len * 4], &width_of).map_err(malformed)?;
            }
            slots.push(slot);
            offset += size;
        }
        Ok(Self { bytes, slots })
    }

    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub(crate) fn count(&self) -> u32 {
        self.slots.len() as u32
    }

    fn slot(&self, number: u32) -> Option<&Slot> {
        self.slots.get((number as usize).checked_sub(1)?)
    }

    pub(crate) fn get(&self, number: u32) -> Option<Blob<'a>> {
        let slot = self.slot(number)?;
        let bytes = self.bytes.get(slot.start..slot.start + slot.len)?;
        Some(match slot.kind {
            BLOB_TABLE => Blob::Table {
                address: slot.address,
                bytes,
                cells: slot.cells.and_then(|start| {
                    let words = self.bytes.get(start..start + slot.len * 4)?;
                    Some(Cells { words })
                }),
            },
            BLOB_CONVERSION => Blob::Conversion(str::from_utf8(bytes).ok()?),
            _ => Blob::Path(bytes),
        })
    }

    /// The greatest node that a table depends on; `None` if the blob is not a table.
    pub(crate) fn table_depends_on(&self, number: u32) -> Option<NodeId> {
        let slot = self.slot(number)?;
        (slot.kind == BLOB_TABLE).then_some(slot.last_node)
    }
}

/// Reads and checks the entry of a blob; also returns the size of the whole.
fn entry_at(bytes: &[u8], offset: usize) -> Result<(Slot, usize), &'static str> {
    const OUTSIDE: &str = "it reaches past the end of the blobs";
    let word = |index: usize| word_at(bytes, offset + index * 4).ok_or(OUTSIDE);
    let (kind, len, shadowed, size) = (word(0)?, word(1)?, word(2)?, word(3)?);
    let address = u64::from(word(4)?) | u64::from(word(5)?) << 32;
    let (len, size) = (len as usize, size as usize);
    if size % 8 != 0 || offset + size > bytes.len() {
        return Err(OUTSIDE);
    }
    let start = offset + ENTRY_SIZE;
    // The entry has a size that is a multiple of 4, and so has its offset.
    let cells = (start + len).next_multiple_of(4);
    let end = match shadowed {
        0 => start + len,
        1 if kind == BLOB_TABLE => cells + len * 4,
        _ => return Err("its kind cannot have shadows"),
    };
    if end > offset + size {
        return Err("its parts do not fit into it");
    }
    let content = &bytes[start..start + len];
    match kind {
        BLOB_TABLE | BLOB_PATH => {}
        BLOB_CONVERSION if str::from_utf8(content).is_ok() => {}
        BLOB_CONVERSION => return Err("the conversion is not text"),
        _ => return Err("its kind is unknown"),
    }
    let slot = Slot {
        kind,
        start,
        len,
        cells: (shadowed == 1).then_some(cells),
        address,
        last_node: 0,
    };
    Ok((slot, size))
}

/// The greatest node of the cells, which must all name a byte that the node has.
fn last_node(
    cells: &[u8],
    width_of: impl Fn(NodeId) -> Option<u16>,
) -> Result<NodeId, &'static str> {
    let (words, _) = cells.as_chunks::<4>();
    let mut last = 0;
    for cell in words.iter().map(|&word| u32::from_le_bytes(word)) {
        if cell == 0 {
            continue;
        }
        let node = cell_node(cell);
        match width_of(node) {
            Some(width) if cell_index(cell) * 8 < u32::from(width) => last = last.max(node),
            Some(_) => return Err("a shadow names a byte that its node does not have"),
            None => return Err("a shadow names no node"),
        }
    }
    Ok(last)
}

fn word_at(bytes: &[u8], offset: usize) -> Option<u32> {
    let bytes = bytes.get(offset..offset.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}
