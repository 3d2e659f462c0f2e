//! What is known of the objects in memory: where they start and end.
//!
//! Objects of heap and stack have their size noted where they start (see [`shadow::OBJECTS`]); global
//! variables come as a list from the instrumentation; arguments, the environment and libc's character
//! tables are few and told by name.

use core::cell::UnsafeCell;

use beagle_trace::event::{
    OBJECT_FOREIGN, OBJECT_GLOBAL, OBJECT_HEAP, OBJECT_STACK, UNKNOWN_OBJECT,
};

use crate::shadow::{ADDRESS_MASK, OBJECTS};
use crate::sys;

/// An object in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its first byte.
    pub base: usize,
    /// In bytes.
    pub size: usize,
    /// One of the `OBJECT_` numbers.
    pub kind: u32,
    /// Whether its content never changes.
    pub constant: bool,
}

/// How far before an address the start of its object is looked for.
const REACH: usize = 1 << 20;

/// One global variable, as the instrumentation lists them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct GlobalEntry {
    /// Its first byte.
    pub base: usize,
    /// In bytes.
    pub size: usize,
}

struct Known {
    globals: *mut GlobalEntry,
    globals_count: usize,
    foreign: [Object; MAX_FOREIGN],
    foreign_count: usize,
    stack_top: usize,
}

const MAX_FOREIGN: usize = 256;
const NOTHING: Object = Object {
    base: 0,
    size: 0,
    kind: 0,
    constant: false,
};

struct Cell(UnsafeCell<Known>);

// SAFETY: written before recording starts or by the recorded thread inside the recorder.
unsafe impl Sync for Cell {}

static KNOWN: Cell = Cell(UnsafeCell::new(Known {
    globals: core::ptr::null_mut(),
    globals_count: 0,
    foreign: [NOTHING; MAX_FOREIGN],
    foreign_count: 0,
    stack_top: 0,
}));

fn note(p: usize) -> *mut u32 {
    (OBJECTS + ((p & ADDRESS_MASK) >> 4 << 2)) as *mut u32
}

/// A heap object starts here. `p` is a multiple of 16, as `malloc` gives it.
pub unsafe fn heap(p: *const u8, size: usize) {
    if !p.is_null() {
        *note(p as usize) = (size as u64 + 1).min(u64::from(u32::MAX)) as u32;
    }
}

/// The heap object that starts here is gone; gives its size if it was known.
pub unsafe fn gone(p: *const u8) -> Option<usize> {
    if p.is_null() {
        return None;
    }
    let at = note(p as usize);
    let found = *at;
    if found != 0 {
        *at = 0;
    }
    found.checked_sub(1).map(|s| s as usize)
}

/// Nothing on the stack from here to there is an object any more.
pub unsafe fn forget_stack(from: usize, to: usize) {
    if to > from && to - from < 1 << 30 {
        let (first, last) = (note(from), note(to));
        let mut at = first;
        while at < last {
            if *at != 0 {
                *at = 0;
            }
            at = at.add(1);
        }
    }
}

/// Tells of an object that is none of the program's own.
pub fn foreign(base: *const u8, size: usize, constant: bool) {
    // SAFETY: see `KNOWN`.
    let known = unsafe { &mut *KNOWN.0.get() };
    let at = known.foreign_count;
    if known
        .foreign
        .iter()
        .take(at)
        .any(|o| o.base == base as usize && o.size == size)
    {
        return;
    }
    if let Some(slot) = known.foreign.get_mut(at) {
        *slot = Object {
            base: base as usize,
            size,
            kind: OBJECT_FOREIGN,
            constant,
        };
        known.foreign_count = at + 1;
    }
}

/// Takes the program's list of global variables, in any order, and the top of the stack.
pub unsafe fn globals(list: *const GlobalEntry, count: usize, stack_top: usize) {
    let known = &mut *KNOWN.0.get();
    known.stack_top = stack_top;
    // The list itself may lie in memory that is only for reading.
    if count > 0
        && let Some(copy) = sys::map(count * size_of::<GlobalEntry>())
    {
        let copy = copy.cast::<GlobalEntry>();
        core::ptr::copy_nonoverlapping(list, copy, count);
        core::slice::from_raw_parts_mut(copy, count).sort_unstable_by_key(|g| g.base);
        known.globals = copy;
        known.globals_count = count;
    }
}

/// Where an address leads, as [`ADDRESS`](beagle_trace::event::ADDRESS) says.
pub unsafe fn leads_to(p: usize) -> u64 {
    match p {
        0 => 0,
        _ => find(p as *const u8, 0).map_or(UNKNOWN_OBJECT, |found| 1 + u64::from(found.kind)),
    }
}

/// The object that holds all of the bytes `p .. p + bytes`.
pub unsafe fn find(p: *const u8, bytes: usize) -> Option<Object> {
    let known = &*KNOWN.0.get();
    let p = p as usize;
    let holds = |o: &Object| o.base <= p && p + bytes <= o.base + o.size;
    let listed = if known.globals.is_null() {
        &[]
    } else {
        core::slice::from_raw_parts(known.globals, known.globals_count)
    };
    let before = listed.partition_point(|g| g.base <= p);
    if let Some(g) = before.checked_sub(1).and_then(|i| listed.get(i)) {
        let object = Object {
            base: g.base,
            size: g.size,
            kind: OBJECT_GLOBAL,
            constant: false,
        };
        if holds(&object) {
            return Some(object);
        }
    }
    if let Some(found) = known
        .foreign
        .iter()
        .take(known.foreign_count)
        .find(|o| holds(o))
    {
        return Some(*found);
    }
    let mut at = p & !15;
    let stop = at.saturating_sub(REACH);
    while at > stop {
        let size = *note(at);
        if size != 0 {
            let here = &size as *const u32 as usize;
            let on_stack = at > here && at < known.stack_top;
            let object = Object {
                base: at,
                size: size as usize - 1,
                kind: if on_stack { OBJECT_STACK } else { OBJECT_HEAP },
                constant: false,
            };
            return holds(&object).then_some(object);
        }
        at -= 16;
    }
    None
}
