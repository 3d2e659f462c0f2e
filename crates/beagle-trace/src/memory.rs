//! The shared memory of a traced program, as its reader holds it.
//!
//! It is a file without a name, so that it can be handed to the program as a descriptor, and sparse,
//! so that generous sizes cost nothing. Its size is sealed: a program that finds the descriptor and
//! cuts the file would otherwise kill its reader with `SIGBUS`.

use std::ffi::c_void;
use std::mem::offset_of;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::time::Duration;

use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};

use crate::input::{Input, InputError};
use crate::layout::{HEADER_SIZE, Header, LossSlot, MAGIC, MAX_LOSSES, Region, WITH_SIZES};
use crate::node::{MAX_NODE, Node};
use crate::trace::{Malformed, Parts, Trace};
use crate::validate::nominal_length;

const PAGE: u64 = 4096;
/// What the recorder may write past a limit before it looks.
const SLACK: u32 = 64;
/// Memory of a region that stays from run to run; more is given back to the system.
const KEEP: u64 = 64 << 20;

/// How large the regions of the memory are, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Of the input.
    pub input: u64,
    /// Of the nodes; each takes 32 bytes.
    pub nodes: u64,
    /// Of the events; each takes 4 bytes or more.
    pub events: u64,
    /// Of tables and texts.
    pub blobs: u64,
    /// Of what the program writes.
    pub outputs: u64,
}

impl Default for Sizes {
    fn default() -> Self {
        Self {
            input: 16 << 20,
            nodes: 32 << 26,
            events: 4 << 26,
            blobs: 256 << 20,
            outputs: 64 << 20,
        }
    }
}

/// What a run may use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time by the clock. Whoever runs the program takes care of it.
    pub time: Duration,
    /// Expressions.
    pub nodes: u32,
    /// Words of events.
    pub events: u32,
    /// The size of an object, in bytes, that a look-up may take as its table.
    pub table: u32,
    /// Memory beyond what the program has at `main`, in MiB; 0 for no limit.
    pub memory_mib: u32,
    /// Processes that it may start.
    pub processes: u32,
    /// The size of a file that it writes, in MiB; 0 for no limit.
    pub file_mib: u32,
    /// Whether the sizes of standard input and files, and the number of arguments, are variables.
    pub with_sizes: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(10),
            nodes: 1 << 24,
            events: 1 << 25,
            table: 4096,
            memory_mib: 2048,
            processes: 16,
            file_mib: 256,
            with_sizes: true,
        }
    }
}

/// Why there is no memory for a run.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The system refused.
    #[error("cannot {doing} the memory shared with the traced program")]
    System {
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// The input does not fit, or is not a possible one.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The sizes make no sense.
    #[error("the sizes of the memory shared with the traced program add up to more than there is")]
    Sizes,
}

/// The regions, as this side remembers them: the program can change what the header says.
#[derive(Clone, Copy, Debug)]
struct Regions {
    input: Region,
    nodes: Region,
    events: Region,
    blobs: Region,
    outputs: Region,
    total: u64,
}

impl Regions {
    fn new(sizes: Sizes) -> Option<Self> {
        let mut total = HEADER_SIZE;
        let mut region = |size: u64| {
            let size = size.max(PAGE).checked_next_multiple_of(PAGE)?;
            let offset = total;
            total = total.checked_add(size)?;
            Some(Region { offset, size })
        };
        let (input, nodes, events) = (
            region(sizes.input)?,
            region(sizes.nodes)?,
            region(sizes.events)?,
        );
        let (blobs, outputs) = (region(sizes.blobs)?, region(sizes.outputs)?);
        let fits = isize::try_from(total).is_ok() && input.size.max(blobs.size) <= 1 << 32;
        fits.then_some(Self {
            input,
            nodes,
            events,
            blobs,
            outputs,
            total,
        })
    }
}

/// Memory into which a traced program writes, and from which its traces are read.
#[derive(Debug)]
pub struct Memory {
    fd: OwnedFd,
    start: NonNull<u8>,
    regions: Regions,
}

// SAFETY: The mapping belongs to this value alone and is not tied to a thread.
unsafe impl Send for Memory {}
// SAFETY: Through a shared reference the memory is only read.
unsafe impl Sync for Memory {}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: The mapping was made by `new` with this size, and no view outlives `self`.
        let result =
            unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.regions.total as usize) };
        debug_assert!(result.is_ok());
    }
}

impl Memory {
    /// Makes memory with regions of these sizes.
    pub fn new(sizes: Sizes) -> Result<Self, MemoryError> {
        let regions = Regions::new(sizes).ok_or(MemoryError::Sizes)?;
        let fd = rustix::fs::memfd_create(
            "beagle-trace",
            MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING,
        )
        .map_err(system("make"))?;
        rustix::fs::ftruncate(&fd, regions.total).map_err(system("make room in"))?;
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        rustix::fs::fcntl_add_seals(&fd, seals).map_err(system("seal"))?;
        // SAFETY: A new mapping at an address that the system chooses concerns no other memory.
        let start = unsafe {
            rustix::mm::mmap(
                ptr::null_mut(),
                regions.total as usize,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED | MapFlags::NORESERVE,
                &fd,
                0,
            )
        }
        .map_err(system("map"))?;
        let start = NonNull::new(start.cast()).ok_or(MemoryError::Sizes)?;
        let mut memory = Self { fd, start, regions };
        memory.write_header(&Limits::default());
        Ok(memory)
    }

    /// The descriptor to hand to the program, as [`crate::layout::MEMORY_FD`].
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Writes the input and the limits of the next run, and wipes what the last one left.
    ///
    /// No process that traces into this memory may be running.
    pub fn prepare(&mut self, input: &Input, limits: &Limits) -> Result<(), MemoryError> {
        let encoded = input.encode()?;
        let room = self.regions.input.size;
        if encoded.len() as u64 > room {
            let needed = encoded.len() as u64;
            return Err(InputError::TooLarge { needed, room }.into());
        }
        self.wipe_events()?;
        for region in [self.regions.nodes, self.regions.blobs, self.regions.outputs] {
            self.give_back(region, KEEP)?;
        }
        self.region_mut(self.regions.input)[..encoded.len()].copy_from_slice(&encoded);
        self.write_header(limits);
        Ok(())
    }

    /// What the last run wrote, up to where it came.
    pub fn trace(&self) -> Result<Trace<'_>, Malformed> {
        let count = |used: u64, region: Region| used.min(region.size) as usize;
        let node_count = u64::from(self.counter(offset_of!(Header, node_count)).max(1));
        let blob_bytes = u64::from(self.counter(offset_of!(Header, blob_bytes)));
        let output_bytes = self.long(offset_of!(Header, output_bytes));
        let losses = (0..MAX_LOSSES).map(|index| self.loss(index));
        let nodes: &[Node] = self.view(self.regions.nodes);
        let blobs: &[u8] = self.view(self.regions.blobs);
        let outputs: &[u8] = self.view(self.regions.outputs);
        Trace::new(Parts {
            nodes: &nodes[..nodes.len().min(node_count as usize)],
            words: self.view(self.regions.events),
            blobs: &blobs[..count(blob_bytes, self.regions.blobs)],
            blob_count: self.counter(offset_of!(Header, blob_count)),
            outputs: &outputs[..count(output_bytes, self.regions.outputs)],
            output_lost: self.long(offset_of!(Header, output_lost)),
            phase: self.counter(offset_of!(Header, phase)),
            stop: self.counter(offset_of!(Header, stop)),
            losses: losses.filter(|slot| slot.cause != 0).collect(),
        })
    }

    /// Zeroes the words of the last run. A process that was killed, or went astray, can have left
    /// some behind the end too; those pages go back to the system, which also makes them zero.
    fn wipe_events(&mut self) -> Result<(), MemoryError> {
        let region = self.regions.events;
        let words: &[u32] = self.view(region);
        let used = (length(words) as u64 * 4).next_multiple_of(PAGE);
        let used = used.min(KEEP).min(region.size);
        self.region_mut(region)[..used as usize].fill(0);
        self.give_back(region, used)
    }

    /// Gives the memory of a region from an offset on back to the system, unless it has none.
    fn give_back(&self, region: Region, keep: u64) -> Result<(), MemoryError> {
        let (start, end) = (region.offset + keep, region.offset + region.size);
        if keep >= region.size {
            return Ok(());
        }
        // Asking is much cheaper than giving back nothing.
        let used = match rustix::fs::seek(&self.fd, rustix::fs::SeekFrom::Data(start)) {
            Ok(data) => data < end,
            Err(Errno::NXIO) => false,
            // The position is of no importance; neither is whether the system can tell.
            Err(_) => true,
        };
        if used {
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            rustix::fs::fallocate(&self.fd, flags, start, end - start).map_err(system("clear"))?;
        }
        Ok(())
    }

    fn write_header(&mut self, limits: &Limits) {
        let regions = self.regions;
        let nodes = (regions.nodes.size / size_of::<Node>() as u64).min(u64::from(MAX_NODE)) as u32;
        let words = u32::try_from(regions.events.size / 4).unwrap_or(u32::MAX);
        let header = Header {
            magic: MAGIC,
            input: regions.input,
            nodes: regions.nodes,
            events: regions.events,
            blobs: regions.blobs,
            outputs: regions.outputs,
            max_nodes: limits.nodes.min(nodes - SLACK),
            max_events: limits.events.min(words - SLACK),
            max_table: limits.table,
            max_memory: limits.memory_mib,
            max_processes: limits.processes,
            max_file: limits.file_mib,
            flags: if limits.with_sizes { WITH_SIZES } else { 0 },
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
        // SAFETY: The mapping starts with room for a header and is aligned to a page.
        unsafe { self.start.cast::<Header>().write_volatile(header) };
    }

    /// A word of the header.
    fn counter(&self, offset: usize) -> u32 {
        debug_assert!(offset + 4 <= size_of::<Header>() && offset.is_multiple_of(4));
        // SAFETY: All offsets passed are those of `u32` fields of the header.
        unsafe { self.start.add(offset).cast::<u32>().read_volatile() }
    }

    /// A double word of the header.
    fn long(&self, offset: usize) -> u64 {
        debug_assert!(offset + 8 <= size_of::<Header>() && offset.is_multiple_of(8));
        // SAFETY: All offsets passed are those of `u64` fields of the header.
        unsafe { self.start.add(offset).cast::<u64>().read_volatile() }
    }

    fn loss(&self, index: usize) -> LossSlot {
        debug_assert!(index < MAX_LOSSES);
        let offset = offset_of!(Header, losses) + index * size_of::<LossSlot>();
        // SAFETY: The slot lies inside the header, and any bytes make a slot.
        unsafe { self.start.add(offset).cast::<LossSlot>().read_volatile() }
    }

    /// A region as a sequence of numbers, or of structures of numbers.
    ///
    /// The program has ended when its trace is read, and its server has killed what it left; so the
    /// memory rests. If a process got away and writes on, this side reads nonsense, but all that it
    /// reads is checked against the bounds of slices.
    fn view<T: Plain>(&self, region: Region) -> &[T] {
        debug_assert!(region.offset + region.size <= self.regions.total);
        // SAFETY: The region lies inside the mapping (see `Regions::new`), at a multiple of the
        // page size, and any bytes make a `T`.
        unsafe {
            let start = self.start.add(region.offset as usize).cast::<T>().as_ptr();
            std::slice::from_raw_parts(start, region.size as usize / size_of::<T>())
        }
    }

    fn region_mut(&mut self, region: Region) -> &mut [u8] {
        debug_assert!(region.offset + region.size <= self.regions.total);
        // SAFETY: As in `view`; and `self` is borrowed mutably, so there is no other view.
        unsafe {
            let start = self.start.add(region.offset as usize).as_ptr();
            std::slice::from_raw_parts_mut(start, region.size as usize)
        }
    }
}

/// Types of which any bytes are a value.
trait Plain {}
impl Plain for u8 {}
impl Plain for u32 {}
impl Plain for Node {}

/// How many words of events there are, whatever they say.
fn length(words: &[u32]) -> usize {
    let mut position = 0;
    while let Some(&word) = words.get(position)
        && word != 0
    {
        position += nominal_length(&words[position..]);
    }
    position.min(words.len())
}

fn system(doing: &'static str) -> impl FnOnce(Errno) -> MemoryError {
    move |errno| MemoryError::System {
        doing,
        source: errno.into(),
    }
}

const _: () = assert!(size_of::<Header>() as u64 <= HEADER_SIZE);
const _: () = assert!(size_of::<*mut c_void>() == 8);
