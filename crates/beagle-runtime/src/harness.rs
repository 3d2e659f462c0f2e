//! For unit tests: a recorder in the test's own process.
//!
//! Shadow memory and recorder are those of the whole process, so tests that record run one at a time.

use std::cell::UnsafeCell;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, Once};

use beagle_trace::event::{EXT_ASSUME, EXTENDED, SWITCH, SYMBOLIC_BRANCH};
use beagle_trace::layout::{HEADER_SIZE, Header, LossSlot, MAGIC, MAX_LOSSES, Region, WITH_SIZES};
use beagle_trace::node::{Node, mask};
use beagle_trace::op::Op;
use beagle_trace::wire::{SOURCE_SYMBOLIC, SourceEntry, cell_index, cell_node};

use crate::fold::{binary, signed};
use crate::slots::Slots;
use crate::state::{State, state};
use crate::{input, start, sys};

thread_local! {
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
            ..State::new()
        };
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

    /// All conditions that were assumed or decided so far.
    pub fn assumptions(&self) -> Vec<u32> {
        let mut found = Vec::new();
        unsafe {
            let mut at = (*state()).events;
            while *at != 0 {
                let head = *at;
                at = at.add(1);
                match head & 7 {
                    k if k & !1 == SYMBOLIC_BRANCH => at = at.add(1),
                    SWITCH => at = at.add(1 + (*at & 1) as usize),
                    EXTENDED => {
                        if head >> 3 & 31 == EXT_ASSUME {
                            found.push(*at.add(2));
                        }
                        at = at.add((head >> 8) as usize);
                    }
                    _ => {}
                }
            }
        }
        found
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

/// The value of a node under another input (content by source); `None` where it is not defined.
pub fn eval(id: u32, bytes: &[&[u8]]) -> Option<u128> {
    let count = unsafe { (*state()).node_count };
    assert!(id != 0 && id < count, "a node");
    let mut values: Vec<Option<u128>> = vec![None; id as usize + 1];
    for n in 1..=id {
        let node = unsafe { *(*state()).nodes.add(n as usize) };
        values[n as usize] = one(&node, &values, bytes);
    }
    values[id as usize]
}

fn one(node: &Node, values: &[Option<u128>], bytes: &[&[u8]]) -> Option<u128> {
    let v = |id: u32| values[id as usize];
    let width = |id: u32| unsafe { (*(*state()).nodes.add(id as usize)).width };
    let float = |id: u32| {
        v(id).map(|x| match width(id) {
            32 => f64::from(f32::from_bits(x as u32)),
            _ => f64::from_bits(x as u64),
        })
    };
    let bits = |x: f64| match node.width {
        32 => u128::from((x as f32).to_bits()),
        _ => u128::from(x.to_bits()),
    };
    let value = match node.op().unwrap() {
        Op::Const => node.value(),
        Op::Var => u128::from(
            bytes[node.a as usize]
                .get(node.b as usize)
                .copied()
                .unwrap_or(0),
        ),
        Op::Size => bytes[node.a as usize].len() as u128,
        Op::ArgCount => node.value(),
        Op::ZExt => v(node.a)?,
        Op::SExt => signed(v(node.a)?, width(node.a)) as u128,
        Op::Extract => v(node.a)? >> node.c,
        Op::Concat => v(node.a)? << width(node.b) | v(node.b)?,
        Op::Ite => v(if v(node.a)? == 1 { node.b } else { node.c })?,
        Op::SiToFp => bits(signed(v(node.a)?, width(node.a)) as f64),
        Op::UiToFp => bits(v(node.a)? as f64),
        Op::FpCast => bits(float(node.a)?),
        Op::FAdd => bits(float(node.a)? + float(node.b)?),
        Op::FSub => bits(float(node.a)? - float(node.b)?),
        Op::FMul => bits(float(node.a)? * float(node.b)?),
        Op::FDiv => bits(float(node.a)? / float(node.b)?),
        Op::FNeg => bits(-float(node.a)?),
        Op::FAbs => bits(float(node.a)?.abs()),
        Op::FSqrt => bits(float(node.a)?.sqrt()),
        Op::Lookup => {
            let (content, cells) = blob(node.b);
            let from = v(node.a)? as usize;
            let mut found = 0u128;
            for k in (0..node.width as usize / 8).rev() {
                let at = from.checked_add(k)?;
                let byte = match cells.get(at) {
                    Some(cell) if *cell != 0 => {
                        v(cell_node(*cell))? >> (8 * cell_index(*cell)) & 255
                    }
                    _ => u128::from(*content.get(at)?),
                };
                found = found << 8 | byte;
            }
            found
        }
        Op::RenderByte | Op::RenderLen => {
            let text = render(blob(node.b).0, v(node.a)?, width(node.a));
            if node.op() == Some(Op::RenderLen) {
                text.len() as u128
            } else {
                u128::from(text.get(node.c as usize).copied().unwrap_or(0))
            }
        }
        op => binary(op, width(node.a), v(node.a)?, v(node.b)?)?,
    };
    Some(value & mask(node.width))
}

/// What `printf` makes of a value by a conversion, as blobs have them.
pub fn render(conversion: &[u8], value: u128, width: u16) -> Vec<u8> {
    unsafe extern "C" {
        fn snprintf(to: *mut u8, n: usize, format: *const i8, ...) -> i32;
    }
    let format = std::ffi::CString::new(conversion).unwrap();
    let mut text = vec![0u8; 4096];
    let (to, n, format_at) = (text.as_mut_ptr(), text.len(), format.as_ptr());
    let len = unsafe {
        match conversion[conversion.len() - 1] {
            b'd' | b'i' => snprintf(to, n, format_at, signed(value, width) as i64),
            b'u' | b'o' | b'x' | b'X' | b'b' | b'B' => snprintf(to, n, format_at, value as u64),
            _ => snprintf(to, n, format_at, f64::from_bits(value as u64)),
        }
    };
    text.truncate(len as usize);
    text
}

/// Content and cells of a blob.
pub fn blob(number: u32) -> (&'static [u8], &'static [u32]) {
    use beagle_trace::wire::BlobEntry;
    unsafe {
        let mut at = (*state()).blobs;
        for _ in 1..number {
            at = at.add((*at.cast::<BlobEntry>()).size as usize);
        }
        let entry = *at.cast::<BlobEntry>();
        let (start, len) = (size_of::<BlobEntry>(), entry.len as usize);
        let content = std::slice::from_raw_parts(at.add(start), len);
        let cells = at.add((start + len).next_multiple_of(4)).cast::<u32>();
        let cells = if entry.shadowed == 1 {
            std::slice::from_raw_parts(cells, len)
        } else {
            &[]
        };
        (content, cells)
    }
}
