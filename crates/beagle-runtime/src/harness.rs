//! For unit tests: a recorder in the test's own process.
//!
//! Shadow memory and recorder are those of the whole process, so tests that record run one at a time.

use std::cell::{RefCell, UnsafeCell};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, Once};

use beagle_trace::event::{EXTENDED, SWITCH, SYMBOLIC_BRANCH};
use beagle_trace::layout::{HEADER_SIZE, Header, LossSlot, MAGIC, MAX_LOSSES, Region, WITH_SIZES};
use beagle_trace::wire::{SOURCE_SYMBOLIC, SourceEntry};
use beagle_trace::{Event, Input, Values, evaluate};

use crate::slots::Slots;
use crate::state::{State, state};
use crate::{input, start, sys};

thread_local! {
    static KNOWN: RefCell<Option<Known>> = const { RefCell::new(None) };
    static SLOTS: UnsafeCell<Box<Slots>> = UnsafeCell::new(Box::new(
        // SAFETY: all fields are numbers or pointers.
        unsafe { std::mem::zeroed() },
    ));
}

static LOCK: Mutex<()> = Mutex::new(());
static MAPPED: Once = Once::new();

/// This test thread's slots.
pub fn slots() -> *mut Slots {
    SLOTS.with(|s| unsafe { &mut **s.get() as *mut Slots })
}

/// A source of a test's input.
pub struct Source {
    /// One of the `SOURCE_` numbers.
    pub kind: u32,
    /// Name of file or variable.
    pub name: &'static str,
    /// Content.
    pub bytes: Vec<u8>,
    /// Bytes past the end that are variables.
    pub pad: u32,
}

/// A recording; ends when dropped.
pub struct Recording {
    memory: *mut u8,
    _lock: MutexGuard<'static, ()>,
}

const SIZE: usize = 256 << 20;

/// Starts recording in this thread, with all bytes of the sources symbolic.
pub fn start(sources: &[Source]) -> Recording {
    let lock = LOCK.lock().unwrap_or_else(|e| e.into_inner());
    unsafe {
        MAPPED.call_once(|| assert!(start::map_shadows(), "shadow memory"));
        sys::madvise(crate::shadow::BASE as *mut _, 4 << 40, sys::MADV_DONTNEED);
        sys::madvise(
            crate::shadow::OBJECTS as *mut _,
            256 << 30,
            sys::MADV_DONTNEED,
        );
        let memory = sys::map(SIZE).unwrap();
        let header = memory.cast::<Header>();
        let region = |i: u64, size: u64| Region {
            offset: HEADER_SIZE + (i << 25),
            size,
        };
        *header = Header {
            magic: MAGIC,
            input: region(0, 1 << 25),
            nodes: region(1, 1 << 26),
            events: region(3, 1 << 25),
            blobs: region(4, 1 << 25),
            outputs: region(5, 1 << 25),
            max_nodes: u32::MAX,
            max_events: u32::MAX,
            max_table: 4096,
            max_memory: 0,
            max_processes: 8,
            max_file: 0,
            flags: WITH_SIZES,
            node_count: 1,
            blob_count: 0,
            blob_bytes: 0,
            output_bytes: 0,
            output_lost: 0,
            phase: 0,
            stop: 0,
            losses: [LossSlot {
                cause: 0,
                count: 0,
                name: [0; 56],
            }; MAX_LOSSES],
        };
        let at = memory.add((*header).input.offset as usize);
        *at.cast::<u32>() = sources.len() as u32;
        let entries = at.add(8).cast::<SourceEntry>();
        let mut free = 8 + sources.len() * size_of::<SourceEntry>();
        for (i, s) in sources.iter().enumerate() {
            let name = free;
            std::ptr::copy_nonoverlapping(s.name.as_ptr(), at.add(name), s.name.len());
            let bytes = name + s.name.len();
            std::ptr::copy_nonoverlapping(s.bytes.as_ptr(), at.add(bytes), s.bytes.len());
            free = bytes + s.bytes.len();
            *entries.add(i) = SourceEntry {
                kind: s.kind,
                flags: SOURCE_SYMBOLIC,
                name: name as u32,
                name_len: s.name.len() as u32,
                bytes: bytes as u32,
                len: s.bytes.len() as u32,
                pad: s.pad,
                reserved: 0,
            };
        }
        let scratch = sys::map(crate::state::SCRATCH_WORDS * 4).unwrap();
        *state() = State {
            header,
            nodes: memory.add((*header).nodes.offset as usize).cast(),
            events: memory.add((*header).events.offset as usize).cast(),
            blobs: memory.add((*header).blobs.offset as usize),
            outputs: memory.add((*header).outputs.offset as usize),
            input: at,
            scratch: scratch.cast(),
            deciding: 0,
            compared: 0,
            ..State::new()
        };
        KNOWN.set(None);
        crate::table::forget();
        assert!(start::begin());
        Recording {
            memory,
            _lock: lock,
        }
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        unsafe {
            (*slots()).recording = 0;
            *state() = State::new();
            sys::munmap(self.memory.cast(), SIZE);
        }
    }
}

impl Recording {
    /// Memory of so many bytes with the variables of source `number` (and its pad) in it.
    pub fn buffer(&self, number: u32) -> &'static mut [u8] {
        let pad = input::source(number).unwrap().pad as usize;
        let content = input::bytes(number);
        let buffer = vec![0u8; content.len() + pad + 64].leak();
        buffer[..content.len()].copy_from_slice(content);
        let guard = crate::slots::enter().unwrap();
        for (i, b) in buffer.iter().enumerate().take(content.len() + pad) {
            let v = input::var(number, i as u64);
            unsafe { *crate::shadow::cell_of(b) = v.id };
        }
        drop(guard);
        buffer
    }

    /// Readies the slots for a call of the function at `callee` with these argument shadows.
    pub fn calling(&self, callee: *const std::ffi::c_void, args: &[u32]) {
        unsafe {
            let slots = slots();
            (*slots).callee = callee;
            (*slots).returner = std::ptr::null();
            (*slots).site = 1;
            (*slots).args = [0; 128];
            (&mut (*slots).args)[..args.len()].copy_from_slice(args);
        }
    }

    /// The shadow of what the function at `callee` returned.
    pub fn returned(&self, callee: *const std::ffi::c_void) -> u32 {
        unsafe {
            let slots = slots();
            assert_eq!(
                (*slots).returner,
                callee,
                "the function said what it returns"
            );
            (&(*slots).rets)[0]
        }
    }

    /// All conditions that were assumed so far.
    pub fn assumptions(&self) -> Vec<u32> {
        let copy = copied();
        let trace = copy.trace().unwrap();
        trace
            .events()
            .filter_map(|event| match event {
                Event::Assume { node, .. } => Some(node),
                _ => None,
            })
            .collect()
    }

    /// How often something was lost, by number of cause.
    pub fn losses(&self) -> HashMap<u32, u32> {
        let slots = unsafe { &(*(*state()).header).losses };
        let mut found = HashMap::new();
        for slot in slots.iter().filter(|s| s.cause != 0) {
            *found.entry(slot.cause).or_insert(0) += slot.count;
        }
        found
    }

    /// Whether all assumptions hold under another input.
    pub fn holds(&self, bytes: &[&[u8]]) -> bool {
        self.assumptions()
            .iter()
            .all(|id| eval(*id, bytes) == Some(1))
    }
}

/// What was recorded so far, for the reader's side of the format.
pub fn copied() -> beagle_trace::Recording {
    let mut copy = beagle_trace::Recording::new();
    // SAFETY: the regions are mapped, and hold as much as the counts say.
    unsafe {
        let state = state();
        let header = (*state).header;
        let mut words = 0;
        while *(*state).events.add(words) != 0 {
            // Events of several words may hold words of 0.
            words += match *(*state).events.add(words) & 7 {
                kind if kind & !1 == SYMBOLIC_BRANCH => 2,
                SWITCH => 2 + (*(*state).events.add(words + 1) & 1) as usize,
                EXTENDED => 1 + (*(*state).events.add(words) >> 8) as usize,
                _ => 1,
            };
        }
        let nodes = (*state).node_count as usize;
        copy.nodes = std::slice::from_raw_parts((*state).nodes, nodes).to_vec();
        copy.events = std::slice::from_raw_parts((*state).events, words).to_vec();
        let blobs = (*header).blob_bytes as usize;
        copy.blobs = std::slice::from_raw_parts((*state).blobs, blobs).to_vec();
        copy.blob_count = (*header).blob_count;
        let outputs = (*header).output_bytes as usize;
        copy.outputs = std::slice::from_raw_parts((*state).outputs, outputs).to_vec();
    }
    copy
}

/// The values of all nodes under one input.
struct Known {
    nodes: u32,
    bytes: Vec<Vec<u8>>,
    values: Values,
}

/// The value of a node under another input (content by source); `None` where it is not defined.
pub fn eval(id: u32, bytes: &[&[u8]]) -> Option<u128> {
    // SAFETY: the recorder's own state.
    let nodes = unsafe { (*state()).node_count };
    assert!(id != 0 && id < nodes, "a node");
    KNOWN.with_borrow_mut(|known| {
        if !known
            .as_ref()
            .is_some_and(|k| k.nodes == nodes && k.bytes == bytes)
        {
            // As files: strings would end at their first 0, which is for the expressions to say.
            let input = bytes
                .iter()
                .enumerate()
                .fold(Input::default(), |input, (i, b)| {
                    input.with_file(i.to_string(), b.to_vec())
                });
            let copy = copied();
            *known = Some(Known {
                nodes,
                bytes: bytes.iter().map(|b| b.to_vec()).collect(),
                values: evaluate(&copy.trace().unwrap(), &input),
            });
        }
        known.as_ref().and_then(|k| k.values.get(id))
    })
}

/// A generator of numbers that needs no crate.
pub struct Random(pub u64);

impl Random {
    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let x = self.0 ^ self.0 >> 33;
        x.wrapping_mul(0xff51_afd7_ed55_8ccd) ^ x >> 29
    }

    /// Less than `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() >> 8) as usize % n
    }

    /// So many bytes of this alphabet.
    pub fn text(&mut self, alphabet: &[u8], len: usize) -> Vec<u8> {
        (0..len)
            .map(|_| alphabet[self.below(alphabet.len())])
            .collect()
    }

    /// At most so many bytes, of any value.
    pub fn bytes(&mut self, most: usize) -> Vec<u8> {
        let n = self.below(most + 1);
        (0..n).map(|_| self.next() as u8).collect()
    }
}
