//! The input of the run: its sources, their bytes as variables, and where the program meets them.

use core::cell::UnsafeCell;
use core::ffi::{c_char, c_int};

use beagle_trace::layout::WITH_SIZES;
use beagle_trace::op::Op;
use beagle_trace::wire::{
    SOURCE_ARGUMENT, SOURCE_ENVIRONMENT, SOURCE_FILE, SOURCE_STDIN, SOURCE_SYMBOLIC, SourceEntry,
};

use crate::expr::{self, Val};
use crate::object;
use crate::shadow;
use crate::state::state;
use crate::sys;

/// At most so many sources are materialised as files.
const MAX_FILES: usize = 64;

/// Which file on disk holds which source.
#[derive(Clone, Copy)]
struct File {
    device: u64,
    inode: u64,
    source: u32,
}

struct Known {
    files: [File; MAX_FILES],
    count: usize,
}

struct Cell(UnsafeCell<Known>);

// SAFETY: written before recording starts, read by the recorded thread.
unsafe impl Sync for Cell {}

static FILES: Cell = Cell(UnsafeCell::new(Known {
    files: [File {
        device: 0,
        inode: 0,
        source: 0,
    }; MAX_FILES],
    count: 0,
}));

/// How many sources the input has.
pub fn count() -> u32 {
    let input = unsafe { (*state()).input };
    if input.is_null() {
        0
    } else {
        unsafe { *input.cast() }
    }
}

/// A source by its number.
pub fn source(number: u32) -> Option<SourceEntry> {
    // SAFETY: the reader wrote the entries before the run.
    (number < count()).then(|| unsafe {
        let entries = (*state()).input.add(8).cast::<SourceEntry>();
        *entries.add(number as usize)
    })
}

/// The bytes of a source.
pub fn bytes(number: u32) -> &'static [u8] {
    // SAFETY: as above; the reader does not change them during the run.
    source(number).map_or(&[], |s| unsafe {
        core::slice::from_raw_parts((*state()).input.add(s.bytes as usize), s.len as usize)
    })
}

fn name(entry: &SourceEntry) -> &'static [u8] {
    // SAFETY: as above.
    unsafe {
        core::slice::from_raw_parts(
            (*state()).input.add(entry.name as usize),
            entry.name_len as usize,
        )
    }
}

/// Byte `index` of a source: a variable, if the source is symbolic.
pub fn var(number: u32, index: u64) -> Val {
    let value = bytes(number).get(index as usize).copied().unwrap_or(0);
    let symbolic = source(number).is_some_and(|s| s.flags & SOURCE_SYMBOLIC != 0);
    if !symbolic || index > u64::from(u32::MAX) {
        return Val::concrete(u128::from(value), 8);
    }
    expr::leaf(Op::Var, 8, number, index as u32, u128::from(value))
}

/// The size of a source (64 bits): a variable, if the source is symbolic and sizes are wanted.
pub fn size(number: u32) -> Val {
    let len = bytes(number).len() as u128;
    let symbolic = source(number).is_some_and(|s| s.flags & SOURCE_SYMBOLIC != 0);
    if !symbolic || !with_sizes() {
        return Val::concrete(len, 64);
    }
    expr::leaf(Op::Size, 64, number, 0, len)
}

/// The number of arguments (32 bits).
pub fn arg_count() -> Val {
    let count = (0..count())
        .filter(|n| source(*n).is_some_and(|s| s.kind == SOURCE_ARGUMENT))
        .count() as u128;
    if with_sizes() {
        expr::leaf(Op::ArgCount, 32, 0, 0, count)
    } else {
        Val::concrete(count, 32)
    }
}

fn with_sizes() -> bool {
    // SAFETY: the header is mapped while recording.
    unsafe { (*(*state()).header).flags & WITH_SIZES != 0 }
}

/// The bytes `p .. p + n` were just read from the source at `offset`: they are variables now. Bytes
/// that are not those of the source (someone wrote to the file) are concrete.
pub unsafe fn mark(p: *mut u8, n: usize, number: u32, offset: u64) {
    shadow::clear(p, n);
    let content = bytes(number);
    for i in 0..n {
        let at = offset + i as u64;
        if content.get(at as usize) == Some(&*p.add(i)) {
            let v = var(number, at);
            if v.id != 0 {
                *shadow::cell_of(p.add(i)) = v.id;
            }
        }
    }
}

/// The part of `struct stat` that tells which file it is.
unsafe fn identity(fd: c_int) -> Option<(u64, u64)> {
    unsafe extern "C" {
        fn fstat(fd: c_int, to: *mut [u64; 18]) -> c_int;
    }
    let mut stat = [0u64; 18];
    let saved = sys::Errno::save();
    let failed = fstat(fd, &mut stat) != 0;
    saved.restore();
    let [device, inode, ..] = stat;
    (!failed).then_some((device, inode))
}

/// The source whose file is open as `fd`.
pub unsafe fn source_of_fd(fd: c_int) -> Option<u32> {
    let (device, inode) = identity(fd)?;
    source_of(device, inode)
}

/// The source whose file this is.
pub unsafe fn source_of(device: u64, inode: u64) -> Option<u32> {
    let known = &*FILES.0.get();
    known
        .files
        .iter()
        .take(known.count)
        .find(|f| f.device == device && f.inode == inode)
        .map(|f| f.source)
}

/// No file is a source any more, for tests.
#[cfg(test)]
pub fn forget_files() {
    unsafe { (*FILES.0.get()).count = 0 }
}

unsafe fn remember(fd: c_int, source: u32) {
    let known = &mut *FILES.0.get();
    if let Some((device, inode)) = identity(fd)
        && let Some(slot) = known.files.get_mut(known.count)
    {
        *slot = File {
            device,
            inode,
            source,
        };
        known.count += 1;
    }
}

unsafe fn write_all(fd: c_int, content: &[u8]) {
    let mut rest = content;
    while !rest.is_empty() {
        let n = sys::write(fd, rest.as_ptr().cast(), rest.len());
        if n <= 0 {
            return;
        }
        rest = rest.get(n as usize..).unwrap_or(&[]);
    }
}

fn cut(path: &mut [u8], at: usize, byte: u8) {
    if let Some(b) = path.get_mut(at) {
        *b = byte;
    }
}

/// Standard input from memory; files as files in the working directory.
pub unsafe fn materialise_files() {
    let mut stdin = None;
    for number in 0..count() {
        let Some(entry) = source(number) else {
            continue;
        };
        let content = bytes(number);
        if entry.kind == SOURCE_STDIN {
            let fd = sys::memfd_create(c"stdin".as_ptr(), 0);
            write_all(fd, content);
            sys::lseek(fd, 0, 0);
            stdin = Some((fd, number));
        } else if entry.kind == SOURCE_FILE {
            let mut path = [0u8; 4096];
            let name = name(&entry);
            let Some(to) = path.get_mut(..name.len().min(4095)) else {
                continue;
            };
            to.copy_from_slice(name.get(..to.len()).unwrap_or(&[]));
            for i in 1..name.len().min(4095) {
                if path.get(i) == Some(&b'/') {
                    cut(&mut path, i, 0);
                    sys::mkdir(path.as_ptr().cast(), 0o777);
                    cut(&mut path, i, b'/');
                }
            }
            // O_WRONLY | O_CREAT | O_TRUNC
            let fd = sys::open(path.as_ptr().cast(), 0o1101, 0o666);
            if fd >= 0 {
                write_all(fd, content);
                remember(fd, number);
                sys::close(fd);
            }
        }
    }
    if let Some((fd, number)) = stdin {
        sys::dup2(fd, 0);
        if fd != 0 {
            sys::close(fd);
        }
        remember(0, number);
    }
}

/// Arguments and environment in memory, as `main` gets them.
pub struct Vectors {
    /// How many arguments.
    pub argc: c_int,
    /// Ended by null.
    pub argv: *mut *mut c_char,
    /// Ended by null.
    pub envp: *mut *mut c_char,
}

/// Puts arguments and environment into memory. Variables of the environment that the input does not
/// name are kept as they are in `inherited`.
pub unsafe fn materialise_strings(inherited: *mut *mut c_char) -> Option<Vectors> {
    let (mut bytes_needed, mut strings) = (0usize, 0usize);
    for number in 0..count() {
        let entry = source(number)?;
        if entry.kind == SOURCE_ARGUMENT || entry.kind == SOURCE_ENVIRONMENT {
            let len = entry.name_len as usize + 1 + entry.len as usize + 1 + entry.pad as usize;
            bytes_needed += (len + 16).next_multiple_of(16);
            strings += 1;
        }
    }
    let mut old = 0;
    while !inherited.is_null() && !(*inherited.add(old)).is_null() {
        old += 1;
    }
    let pointers = (strings + old + 4) * size_of::<*mut c_char>();
    let memory = sys::map(pointers.next_multiple_of(16) + bytes_needed + 4096)?;
    let argv = memory.cast::<*mut c_char>();
    let mut text = memory.add(pointers.next_multiple_of(16));
    let mut argc = 0;
    let mut place = |entry: &SourceEntry, number: u32| {
        let start = text;
        let mut at = text;
        if entry.kind == SOURCE_ENVIRONMENT {
            for b in name(entry) {
                *at = *b;
                at = at.add(1);
            }
            *at = b'=';
            at = at.add(1);
        }
        let content = bytes(number);
        // What follows an embedded 0 is not part of the string.
        let len = content
            .iter()
            .position(|b| *b == 0)
            .unwrap_or(content.len());
        for (i, b) in content.iter().take(len).enumerate() {
            *at.add(i) = *b;
        }
        let size = content.len() + entry.pad as usize;
        for i in 0..size {
            let v = var(number, i as u64);
            if v.id != 0 && v.value == u128::from(*at.add(i)) {
                *shadow::cell_of(at.add(i)) = v.id;
            }
        }
        let whole = at.add(size + 1) as usize - start as usize;
        object::foreign(start, whole, false);
        text = start.add((whole + 15).next_multiple_of(16));
        start.cast::<c_char>()
    };
    for number in 0..count() {
        let entry = source(number)?;
        if entry.kind == SOURCE_ARGUMENT {
            *argv.add(argc) = place(&entry, number);
            argc += 1;
        }
    }
    let envp = argv.add(argc + 1);
    let mut used = 0;
    for number in 0..count() {
        let entry = source(number)?;
        if entry.kind == SOURCE_ENVIRONMENT {
            *envp.add(used) = place(&entry, number);
            used += 1;
        }
    }
    for i in 0..old {
        let text = *inherited.add(i);
        let named = (0..count()).any(|number| {
            source(number).is_some_and(|e| {
                let name = name(&e);
                e.kind == SOURCE_ENVIRONMENT
                    && name
                        .iter()
                        .enumerate()
                        .all(|(k, b)| *text.add(k) as u8 == *b)
                    && *text.add(name.len()) as u8 == b'='
            })
        });
        if !named {
            *envp.add(used) = text;
            used += 1;
        }
    }
    Some(Vectors {
        argc: argc as c_int,
        argv,
        envp,
    })
}
