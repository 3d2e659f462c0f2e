//! The functions of libc that the runtime calls itself.
#![allow(missing_docs, reason = "the names and meanings are libc's")]

use core::ffi::{c_char, c_int, c_long, c_void};

unsafe extern "C" {
    pub fn mmap(
        at: *mut c_void,
        len: usize,
        prot: c_int,
        flags: c_int,
        fd: c_int,
        offset: i64,
    ) -> *mut c_void;
    pub fn munmap(at: *mut c_void, len: usize) -> c_int;
    pub fn madvise(at: *mut c_void, len: usize, advice: c_int) -> c_int;
    pub fn abort() -> !;
    pub fn __errno_location() -> *mut c_int;
    pub fn strlen(s: *const c_char) -> usize;
    pub fn memmove(to: *mut c_void, from: *const c_void, n: usize) -> *mut c_void;
    pub fn memset(to: *mut c_void, byte: c_int, n: usize) -> *mut c_void;
    pub fn syscall(number: c_long, ...) -> c_long;
    pub fn read(fd: c_int, to: *mut c_void, n: usize) -> isize;
    pub fn write(fd: c_int, from: *const c_void, n: usize) -> isize;
    pub fn open(path: *const c_char, flags: c_int, ...) -> c_int;
    pub fn close(fd: c_int) -> c_int;
    pub fn dup2(from: c_int, to: c_int) -> c_int;
    pub fn lseek(fd: c_int, offset: i64, whence: c_int) -> i64;
    pub fn fcntl(fd: c_int, command: c_int, ...) -> c_int;
    pub fn fork() -> c_int;
    pub fn waitpid(pid: c_int, status: *mut c_int, options: c_int) -> c_int;
    pub fn kill(pid: c_int, signal: c_int) -> c_int;
    pub fn setpgid(pid: c_int, group: c_int) -> c_int;
    pub fn prctl(option: c_int, ...) -> c_int;
    pub fn personality(persona: u64) -> c_int;
    pub fn execv(path: *const c_char, argv: *const *const c_char) -> c_int;
    pub fn _exit(status: c_int) -> !;
    pub fn exit(status: c_int) -> !;
    pub fn memfd_create(name: *const c_char, flags: u32) -> c_int;
    pub fn setrlimit(resource: c_int, limit: *const [u64; 2]) -> c_int;
    pub fn mkdir(path: *const c_char, mode: u32) -> c_int;
}

pub const PROT_READ: c_int = 1;
pub const PROT_WRITE: c_int = 2;
pub const MAP_SHARED: c_int = 1;
pub const MAP_PRIVATE: c_int = 2;
pub const MAP_FIXED_NOREPLACE: c_int = 0x10_0000;
pub const MAP_ANONYMOUS: c_int = 0x20;
pub const MAP_NORESERVE: c_int = 0x4000;
pub const MADV_DONTNEED: c_int = 4;
const MADV_HUGEPAGE: c_int = 14;
pub const MADV_NOHUGEPAGE: c_int = 15;
pub const MADV_DONTDUMP: c_int = 16;
const MADV_POPULATE_WRITE: c_int = 23;

/// Fresh memory of zeros, not from the program's heap.
pub fn map(len: usize) -> Option<*mut u8> {
    let saved = Errno::save();
    // SAFETY: asks for a new mapping, which disturbs no other.
    let at = unsafe {
        mmap(
            core::ptr::null_mut(),
            len,
            PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
            -1,
            0,
        )
    };
    saved.restore();
    (at as isize != -1).then_some(at.cast())
}

/// Asks for all pages of a range at once; where the system cannot, they come one by one.
pub fn populate(at: *mut u8, len: usize) {
    advise(at, len, MADV_POPULATE_WRITE);
}

/// Asks for huge pages: for memory that is used all over.
pub fn huge(at: *mut u8, len: usize) {
    advise(at, len, MADV_HUGEPAGE);
}

fn advise(at: *mut u8, len: usize, advice: c_int) {
    let saved = Errno::save();
    // SAFETY: neither advice changes what the memory holds.
    unsafe { madvise(at.cast(), len, advice) };
    saved.restore();
}

/// The value of `errno`, to be put back: the program must not see what the runtime did.
pub struct Errno(c_int);

impl Errno {
    /// Notes `errno`.
    pub fn save() -> Self {
        // SAFETY: libc gives the address of this thread's errno.
        Self(unsafe { *__errno_location() })
    }

    /// Whether something is not there.
    pub fn is_absence(&self) -> bool {
        const ENOENT: c_int = 2;
        self.0 == ENOENT
    }

    /// Puts it back.
    pub fn restore(self) {
        // SAFETY: as above.
        unsafe { *__errno_location() = self.0 }
    }
}
