//! Blobs: contents of objects that were looked up, conversions of `printf`, paths.

use core::cell::UnsafeCell;

use beagle_trace::layout::STOP_BLOBS;
use beagle_trace::wire::{BLOB_CONVERSION, BLOB_PATH, BLOB_TABLE, BlobEntry};

use crate::object::Object;
use crate::shadow;
use crate::state::{state, stop};

/// The last blob for an object or text, so that the same content is written once.
#[derive(Clone, Copy)]
struct Recent {
    kind: u32,
    address: u64,
    len: u32,
    number: u32,
    offset: u32,
}

const RECENT: usize = 256;

struct Cell(UnsafeCell<[Recent; RECENT]>);

// SAFETY: used by the recorded thread inside the recorder only.
unsafe impl Sync for Cell {}

static CACHE: Cell = Cell(UnsafeCell::new(
    [Recent {
        kind: 0,
        address: 0,
        len: 0,
        number: 0,
        offset: 0,
    }; RECENT],
));

const ENTRY: usize = size_of::<BlobEntry>();

/// The number of a blob with this content, or `None` when there is no room: then recording stops.
unsafe fn blob(kind: u32, address: u64, content: *const u8, len: usize) -> Option<u32> {
    let state = state();
    let header = (*state).header;
    if header.is_null() {
        return None;
    }
    let shadowed = kind == BLOB_TABLE && shadow::any(content, len);
    let key = address ^ (len as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(kind) << 40;
    let slot = (key.wrapping_mul(0xff51_afd7_ed55_8ccd) >> 56) as usize % RECENT;
    let recent = (&mut *CACHE.0.get()).get_mut(slot)?;
    let cells_at = (ENTRY + len).next_multiple_of(4);
    if recent.number != 0
        && recent.kind == kind
        && recent.address == address
        && recent.len as usize == len
    {
        let old = (*state).blobs.add(recent.offset as usize);
        let same_bytes = core::slice::from_raw_parts(old.add(ENTRY), len)
            == core::slice::from_raw_parts(content, len);
        let old_shadowed = (*old.cast::<BlobEntry>()).shadowed == 1;
        let same_cells = old_shadowed == shadowed
            && (!shadowed
                || core::slice::from_raw_parts(old.add(cells_at).cast::<u32>(), len)
                    == core::slice::from_raw_parts(shadow::cell_of(content), len));
        if same_bytes && same_cells {
            return Some(recent.number);
        }
    }
    let size = if shadowed {
        cells_at + 4 * len
    } else {
        ENTRY + len
    }
    .next_multiple_of(8);
    let offset = (*header).blob_bytes as usize;
    if offset + size > (*header).blobs.size as usize || offset + size > u32::MAX as usize / 2 {
        stop(STOP_BLOBS);
        return None;
    }
    let to = (*state).blobs.add(offset);
    core::ptr::copy_nonoverlapping(content, to.add(ENTRY), len);
    if shadowed {
        core::ptr::copy_nonoverlapping(shadow::cell_of(content), to.add(cells_at).cast(), len);
    }
    *to.cast::<BlobEntry>() = BlobEntry {
        kind,
        len: len as u32,
        shadowed: u32::from(shadowed),
        size: size as u32,
        address,
    };
    (*header).blob_bytes = (offset + size) as u32;
    (*header).blob_count += 1;
    *recent = Recent {
        kind,
        address,
        len: len as u32,
        number: (*header).blob_count,
        offset: offset as u32,
    };
    Some((*header).blob_count)
}

/// The content of an object as a table.
pub unsafe fn table(object: Object) -> Option<u32> {
    if object.constant {
        return blob(
            BLOB_TABLE,
            object.base as u64,
            object.base as *const u8,
            object.size,
        );
    }
    // Bytes that were overwritten behind our back must not count as expressions.
    let base = object.base as *const u8;
    if shadow::any(base, object.size) {
        for i in 0..object.size {
            shadow::healed(base.add(i));
        }
    }
    blob(BLOB_TABLE, object.base as u64, base, object.size)
}

/// A conversion of `printf`: its text, which must be as [`BLOB_CONVERSION`] says.
pub unsafe fn conversion(text: &[u8]) -> Option<u32> {
    blob(BLOB_CONVERSION, digest(text), text.as_ptr(), text.len())
}

/// A path.
pub unsafe fn path(text: &[u8]) -> Option<u32> {
    blob(BLOB_PATH, digest(text), text.as_ptr(), text.len())
}

/// Forgets which blobs there are, for the next run in the same process.
#[cfg(test)]
pub fn forget() {
    // SAFETY: see `CACHE`.
    for recent in unsafe { &mut *CACHE.0.get() } {
        recent.number = 0;
    }
}

fn digest(text: &[u8]) -> u64 {
    text.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| {
        (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3)
    })
}
