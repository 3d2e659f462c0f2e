//! Shadow memory: a cell for each byte of the program's memory.

use beagle_trace::layout::Loss;
use beagle_trace::wire::{cell, cell_index, cell_node};

use crate::expr::{self, Val};
use crate::log;
use crate::sys;

/// Where the shadows start.
pub const BASE: usize = 0x1000_0000_0000;
/// Where the sizes of objects start.
pub const OBJECTS: usize = 0x2000_0000_0000;
/// The bits of an address that tell where its shadow is.
pub const ADDRESS_MASK: usize = (1 << 40) - 1;

/// From this size on memory is put back to zeros by giving the pages back.
const MANY: usize = 1 << 20;

/// The cell of a byte.
pub fn cell_of(p: *const u8) -> *mut u32 {
    (BASE + ((p as usize & ADDRESS_MASK) << 2)) as *mut u32
}

/// Whether any of the bytes may depend on the input.
pub unsafe fn any(p: *const u8, n: usize) -> bool {
    let cells = cell_of(p);
    let mut i = 0;
    while i + 16 <= n {
        let mut or = 0;
        for k in 0..16 {
            or |= *cells.add(i + k);
        }
        if or != 0 {
            return true;
        }
        i += 16;
    }
    while i < n {
        if *cells.add(i) != 0 {
            return true;
        }
        i += 1;
    }
    false
}

/// The bytes are concrete from now on.
pub unsafe fn clear(p: *const u8, n: usize) {
    if n >= MANY {
        let from = (cell_of(p) as usize + 4095) & !4095;
        let to = (cell_of(p.add(n)) as usize) & !4095;
        let saved = sys::Errno::save();
        sys::madvise(from as *mut _, to - from, sys::MADV_DONTNEED);
        saved.restore();
        core::ptr::write_bytes(cell_of(p).cast::<u8>(), 0, from - cell_of(p) as usize);
        core::ptr::write_bytes(to as *mut u8, 0, cell_of(p.add(n)) as usize - to);
        return;
    }
    // Reading first keeps untouched shadow pages on the kernel's page of zeros.
    let cells = cell_of(p);
    let mut i = 0;
    while i < n {
        let len = (n - i).min(1024);
        if any(p.add(i), len) {
            core::ptr::write_bytes(cells.add(i), 0, len);
        }
        i += len;
    }
}

/// The shadows of `n` bytes go with the bytes; the two may overlap.
pub unsafe fn copy(to: *mut u8, from: *const u8, n: usize) {
    if n == 0 || to.cast_const() == from {
        return;
    }
    if any(from, n) {
        core::ptr::copy(cell_of(from), cell_of(to), n);
    } else {
        clear(to, n);
    }
}

/// The cell of a byte, or 0 if the byte is not what its expression says: then code without
/// instrumentation wrote it.
pub unsafe fn healed(p: *const u8) -> u32 {
    let at = cell_of(p);
    let found = *at;
    if found == 0 {
        return 0;
    }
    let node = expr::node(cell_node(found));
    if (node.value >> (8 * cell_index(found))) as u8 != *p {
        *at = 0;
        log::lose(Loss::Overwritten);
        return 0;
    }
    found
}

/// One byte of memory.
pub unsafe fn byte(p: *const u8) -> Val {
    load(p, 1)
}

/// The `n` bytes (1 to 16) at `p` as one value, the first lowest.
pub unsafe fn load(p: *const u8, n: usize) -> Val {
    let mut result: Option<Val> = None;
    let mut i = 0;
    while i < n {
        let first = healed(p.add(i));
        let mut run = 1;
        let part = if first == 0 {
            while i + run < n && healed(p.add(i + run)) == 0 {
                run += 1;
            }
            let mut bytes = [0u8; 16];
            for (k, byte) in bytes.iter_mut().enumerate().take(run) {
                *byte = *p.add(i + k);
            }
            Val::concrete(u128::from_le_bytes(bytes), run as u16 * 8)
        } else {
            let index = cell_index(first);
            while i + run < n
                && index + (run as u32) < 8
                && healed(p.add(i + run)) == cell(cell_node(first), index + run as u32)
            {
                run += 1;
            }
            expr::extract(expr::node(cell_node(first)), index * 8, run as u16 * 8)
        };
        result = Some(match result {
            None => part,
            Some(low) => expr::concat(part, low),
        });
        i += run;
    }
    result.unwrap_or(Val::concrete(0, 8))
}

/// The `n` bytes (1 to 16) at `p` hold `value` now.
pub unsafe fn store(p: *mut u8, n: usize, value: Val) {
    if value.id == 0 {
        clear(p, n);
        return;
    }
    let whole = expr::zext(value, n as u16 * 8);
    let cells = cell_of(p);
    for half in 0..n.div_ceil(8) {
        let bytes = (n - half * 8).min(8);
        let part = if n <= 8 {
            whole
        } else {
            expr::extract(whole, half as u32 * 64, bytes as u16 * 8)
        };
        for k in 0..bytes {
            // Filling with zeros may have left bytes that depend on nothing; they stay part of the
            // whole, so that it comes back whole.
            *cells.add(half * 8 + k) = if part.id == 0 {
                0
            } else {
                cell(part.id, k as u32)
            };
        }
    }
}
