//! The one recorder of the process.

use core::cell::UnsafeCell;

use beagle_trace::layout::Header;
use beagle_trace::node::Node;

use crate::slots;

/// Everything that the recorder holds apart from what is in shared memory.
pub struct State {
    /// The shared memory; null if the program runs on its own.
    pub header: *mut Header,
    /// By number.
    pub nodes: *mut Node,
    /// First word of the events.
    pub events: *mut u32,
    /// First byte of the blobs.
    pub blobs: *mut u8,
    /// First byte of the outputs.
    pub outputs: *mut u8,
    /// First byte of the input.
    pub input: *const u8,
    /// One more than the number of the last node.
    pub node_count: u32,
    /// No more nodes than this.
    pub max_nodes: u32,
    /// Hash (high half) and number of each node, by hash; 0 is free.
    pub index: *mut u64,
    /// Size of the index less 1; the size is a power of two.
    pub index_mask: u32,
    /// The node at which it is time to look for more room.
    pub next_check: u32,
    /// Where events go that nobody wants.
    pub scratch: *mut u32,
    /// How many values of variables were recorded of which only the first are.
    pub deciding: u32,
    /// How many comparisons of texts were recorded.
    pub compared: u32,
}

/// Words of [`State::scratch`].
pub const SCRATCH_WORDS: usize = 4096;

struct Global(UnsafeCell<State>);

// SAFETY: only the recorded thread uses the state, and only inside `slots::enter`; before recording
// starts there is only one thread.
unsafe impl Sync for Global {}

static STATE: Global = Global(UnsafeCell::new(State::new()));

impl State {
    /// Nothing recorded, nothing mapped.
    pub const fn new() -> Self {
        Self {
            header: core::ptr::null_mut(),
            nodes: core::ptr::null_mut(),
            events: core::ptr::null_mut(),
            blobs: core::ptr::null_mut(),
            outputs: core::ptr::null_mut(),
            input: core::ptr::null(),
            node_count: 1,
            max_nodes: 0,
            index: core::ptr::null_mut(),
            index_mask: 0,
            next_check: 0,
            scratch: core::ptr::null_mut(),
            deciding: 0,
            compared: 0,
        }
    }
}

impl Default for State {
    fn default() -> Self {
        Self::new()
    }
}

/// The recorder. For use by the recorded thread inside [`slots::enter`], or before recording starts.
pub fn state() -> *mut State {
    STATE.0.get()
}

/// Ends recording for good: the program goes on, values count as independent of the input.
pub fn stop(cause: u32) {
    let state = state();
    let slots = slots::slots();
    // SAFETY: the header is mapped if it is not null; the slots are this thread's.
    unsafe {
        if !(*state).header.is_null() && (*(*state).header).stop == 0 {
            (*(*state).header).stop = cause;
        }
        (*slots).recording = 0;
        (*slots).cursor = (*state).scratch;
        (*slots).end = (*state).scratch.wrapping_add(SCRATCH_WORDS - 64);
    }
}
