//! The start of the program: shadow memory, shared memory, the recorder.

use core::ffi::{c_char, c_int, c_void};

use beagle_trace::layout::{Header, MAGIC, MEMORY_FD};

use crate::shadow::{BASE, OBJECTS};
use crate::slots::slots;
use crate::state::{SCRATCH_WORDS, state};
use crate::{aliasing, sys};

const SHADOW_SIZE: usize = 4 << 40;
const OBJECTS_SIZE: usize = 256 << 30;
const NO_RANDOMIZE: u64 = 0x004_0000;
const FIRST_INDEX: usize = 4096;

/// Says why the program cannot run, and ends it.
pub unsafe fn fail(text: &str) -> ! {
    sys::write(2, b"beagle: ".as_ptr().cast(), 8);
    sys::write(2, text.as_ptr().cast(), text.len());
    sys::write(2, b"\n".as_ptr().cast(), 1);
    sys::_exit(125)
}

/// Maps the memory that instrumented code looks at with every access.
pub unsafe fn map_shadows() -> bool {
    for (at, size) in [(BASE, SHADOW_SIZE), (OBJECTS, OBJECTS_SIZE)] {
        let found = sys::mmap(
            at as *mut c_void,
            size,
            sys::PROT_READ | sys::PROT_WRITE,
            sys::MAP_PRIVATE | sys::MAP_ANONYMOUS | sys::MAP_NORESERVE | sys::MAP_FIXED_NOREPLACE,
            -1,
            0,
        );
        if found as usize != at {
            return false;
        }
        // Huge pages would be filled with zeros for the sake of a few cells.
        sys::madvise(found, size, sys::MADV_NOHUGEPAGE);
        sys::madvise(found, size, sys::MADV_DONTDUMP);
    }
    true
}

/// Maps the shared memory, if there is any.
unsafe fn map_trace() -> *mut Header {
    let size = sys::lseek(MEMORY_FD, 0, 2);
    if size < size_of::<Header>() as i64 {
        return core::ptr::null_mut();
    }
    let at = sys::mmap(
        core::ptr::null_mut(),
        size as usize,
        sys::PROT_READ | sys::PROT_WRITE,
        sys::MAP_SHARED | sys::MAP_NORESERVE,
        MEMORY_FD,
        0,
    );
    let header = at.cast::<Header>();
    if at as isize == -1 || (*header).magic != MAGIC {
        return core::ptr::null_mut();
    }
    sys::madvise(at, size as usize, sys::MADV_DONTDUMP);
    header
}

/// Before any other code of the program.
#[unsafe(no_mangle)]
unsafe extern "C" fn bgr_start(_argc: c_int, argv: *const *const c_char, _envp: *const c_void) {
    let saved = sys::Errno::save();
    let header = map_trace();
    if !header.is_null() {
        // Repeatable addresses; where the system refuses them, the run goes on without, if no two
        // parts of memory share their shadows.
        let now = sys::personality(0xffff_ffff) as u64;
        if now & NO_RANDOMIZE == 0
            && (sys::personality(now | NO_RANDOMIZE) != -1 || aliasing::found())
        {
            sys::execv(c"/proc/self/exe".as_ptr(), argv);
        }
    }
    if !map_shadows() {
        fail(
            "cannot map shadow memory (4 TiB of address space): is there a limit on virtual memory (ulimit -v)?",
        );
    }
    let Some(scratch) = sys::map(SCRATCH_WORDS * 4) else {
        fail("out of memory");
    };
    let state = state();
    (*state).scratch = scratch.cast();
    (*state).header = header;
    if !header.is_null() {
        let base = header.cast::<u8>();
        (*state).nodes = base.add((*header).nodes.offset as usize).cast();
        (*state).events = base.add((*header).events.offset as usize).cast();
        (*state).blobs = base.add((*header).blobs.offset as usize);
        (*state).outputs = base.add((*header).outputs.offset as usize);
        (*state).input = base.add((*header).input.offset as usize);
    }
    let slots = slots();
    (*slots).cursor = (*state).scratch;
    (*slots).end = (*state).scratch.add(SCRATCH_WORDS - 64);
    saved.restore();
}

/// Readies the recorder for a run whose input lies in shared memory.
pub unsafe fn begin() -> bool {
    let state = state();
    let header = (*state).header;
    let Some(index) = sys::map(FIRST_INDEX * 8) else {
        return false;
    };
    (*state).index = index.cast();
    (*state).index_mask = FIRST_INDEX as u32 - 1;
    (*state).node_count = 1;
    (*state).next_check = crate::expr::FIRST_CHECK;
    let room = (*header).nodes.size / 32;
    (*state).max_nodes = (*header)
        .max_nodes
        .min(room.min(u64::from(u32::MAX)) as u32);
    let words = u64::from((*header).max_events)
        .min((*header).events.size / 4)
        .max(256);
    let slots = slots();
    (*slots).cursor = (*state).events;
    // One word stays 0 to mark the end; the rest is room for the event that finds the log full.
    (*slots).end = (*state).events.add(words as usize - 65);
    (*slots).recording = 1;
    (*slots).busy = 0;
    true
}
