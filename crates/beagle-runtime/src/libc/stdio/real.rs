//! The functions of the real libc that this part calls.

use core::ffi::{c_char, c_int, c_long, c_void};

use crate::variadic::VaList;

/// The start of glibc's `FILE`, which is part of its binary interface: macros of old headers used it.
#[repr(C)]
pub struct File {
    flags: c_int,
    /// The next byte that a read takes from the buffer: tells whether someone else has read.
    pub read_ptr: *const u8,
}

/// One part of a vector of memory.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Part {
    /// First byte.
    pub base: *mut u8,
    /// In bytes.
    pub len: usize,
}

/// `struct stat` as words: 0 device, 1 inode, 6 size.
pub type Stat = [u64; 18];

#[allow(missing_docs)]
unsafe extern "C" {
    pub static stdin: *mut File;
    pub static stdout: *mut File;
    pub static stderr: *mut File;
    pub static program_invocation_name: *const c_char;
    pub static program_invocation_short_name: *const c_char;
    pub static error_one_per_line: c_int;
    pub static error_print_progname: Option<unsafe extern "C" fn()>;

    pub fn pread(fd: c_int, to: *mut c_void, n: usize, offset: i64) -> isize;
    pub fn __read_chk(fd: c_int, to: *mut c_void, n: usize, room: usize) -> isize;
    pub fn readv(fd: c_int, parts: *const Part, count: c_int) -> isize;
    pub fn pwrite(fd: c_int, from: *const c_void, n: usize, offset: i64) -> isize;
    pub fn writev(fd: c_int, parts: *const Part, count: c_int) -> isize;
    pub fn recv(fd: c_int, to: *mut c_void, n: usize, flags: c_int) -> isize;
    pub fn recvfrom(
        fd: c_int,
        to: *mut c_void,
        n: usize,
        flags: c_int,
        from: *mut c_void,
        len: *mut u32,
    ) -> isize;
    pub fn send(fd: c_int, from: *const c_void, n: usize, flags: c_int) -> isize;
    pub fn openat(at: c_int, path: *const c_char, flags: c_int, ...) -> c_int;
    pub fn creat(path: *const c_char, mode: u32) -> c_int;
    pub fn dup(fd: c_int) -> c_int;
    pub fn dup3(fd: c_int, to: c_int, flags: c_int) -> c_int;
    pub fn pipe2(fds: *mut [c_int; 2], flags: c_int) -> c_int;
    pub fn ftruncate(fd: c_int, len: i64) -> c_int;
    pub fn truncate(path: *const c_char, len: i64) -> c_int;
    pub fn readlink(path: *const c_char, to: *mut c_char, n: usize) -> isize;
    pub fn getcwd(to: *mut c_char, n: usize) -> *mut c_char;
    pub fn fstat(fd: c_int, to: *mut Stat) -> c_int;
    pub fn stat(path: *const c_char, to: *mut Stat) -> c_int;
    pub fn lstat(path: *const c_char, to: *mut Stat) -> c_int;
    pub fn fstatat(at: c_int, path: *const c_char, to: *mut Stat, flags: c_int) -> c_int;
    pub fn statx(at: c_int, path: *const c_char, flags: c_int, mask: u32, to: *mut c_void)
    -> c_int;
    pub fn mremap(at: *mut c_void, old: usize, new: usize, flags: c_int, ...) -> *mut c_void;

    pub fn fopen(path: *const c_char, mode: *const c_char) -> *mut File;
    pub fn fdopen(fd: c_int, mode: *const c_char) -> *mut File;
    pub fn freopen(path: *const c_char, mode: *const c_char, file: *mut File) -> *mut File;
    pub fn fclose(file: *mut File) -> c_int;
    pub fn fileno(file: *mut File) -> c_int;
    pub fn fread(to: *mut c_void, size: usize, n: usize, file: *mut File) -> usize;
    pub fn fread_unlocked(to: *mut c_void, size: usize, n: usize, file: *mut File) -> usize;
    pub fn __fread_chk(
        to: *mut c_void,
        room: usize,
        size: usize,
        n: usize,
        file: *mut File,
    ) -> usize;
    pub fn getc(file: *mut File) -> c_int;
    pub fn getc_unlocked(file: *mut File) -> c_int;
    pub fn ungetc(c: c_int, file: *mut File) -> c_int;
    pub fn feof(file: *mut File) -> c_int;
    pub fn clearerr(file: *mut File);
    pub fn fseeko(file: *mut File, offset: i64, whence: c_int) -> c_int;
    pub fn ftello(file: *mut File) -> i64;
    pub fn ftell(file: *mut File) -> c_long;
    pub fn rewind(file: *mut File);
    pub fn fgetpos(file: *mut File, to: *mut c_void) -> c_int;
    pub fn fsetpos(file: *mut File, from: *const c_void) -> c_int;
    pub fn __fpending(file: *mut File) -> usize;

    pub fn fwrite(from: *const c_void, size: usize, n: usize, file: *mut File) -> usize;
    pub fn fwrite_unlocked(from: *const c_void, size: usize, n: usize, file: *mut File) -> usize;
    pub fn fputs(text: *const c_char, file: *mut File) -> c_int;
    pub fn fputs_unlocked(text: *const c_char, file: *mut File) -> c_int;
    pub fn puts(text: *const c_char) -> c_int;
    pub fn putc(c: c_int, file: *mut File) -> c_int;
    pub fn putc_unlocked(c: c_int, file: *mut File) -> c_int;
    pub fn putw(word: c_int, file: *mut File) -> c_int;
    pub fn getw(file: *mut File) -> c_int;
    pub fn perror(text: *const c_char);

    pub fn vfprintf(file: *mut File, format: *const c_char, list: *mut VaList) -> c_int;
    pub fn vdprintf(fd: c_int, format: *const c_char, list: *mut VaList) -> c_int;
    pub fn vsprintf(to: *mut c_char, format: *const c_char, list: *mut VaList) -> c_int;
    pub fn vsnprintf(to: *mut c_char, n: usize, format: *const c_char, list: *mut VaList) -> c_int;
    pub fn vasprintf(to: *mut *mut c_char, format: *const c_char, list: *mut VaList) -> c_int;
    pub fn __vfprintf_chk(
        file: *mut File,
        flag: c_int,
        format: *const c_char,
        list: *mut VaList,
    ) -> c_int;
    pub fn __vdprintf_chk(
        fd: c_int,
        flag: c_int,
        format: *const c_char,
        list: *mut VaList,
    ) -> c_int;
    pub fn __vsprintf_chk(
        to: *mut c_char,
        flag: c_int,
        room: usize,
        format: *const c_char,
        list: *mut VaList,
    ) -> c_int;
    pub fn __vsnprintf_chk(
        to: *mut c_char,
        n: usize,
        flag: c_int,
        room: usize,
        format: *const c_char,
        list: *mut VaList,
    ) -> c_int;
    pub fn __vasprintf_chk(
        to: *mut *mut c_char,
        flag: c_int,
        format: *const c_char,
        list: *mut VaList,
    ) -> c_int;
    pub fn vwarn(format: *const c_char, list: *mut VaList);
    pub fn vwarnx(format: *const c_char, list: *mut VaList);
    pub fn error(status: c_int, errnum: c_int, format: *const c_char, ...);
    pub fn error_at_line(
        status: c_int,
        errnum: c_int,
        file: *const c_char,
        line: u32,
        format: *const c_char,
        ...
    );
    pub fn strerror_r(number: c_int, to: *mut c_char, n: usize) -> *const c_char;
    pub fn nl_langinfo(item: c_int) -> *const c_char;
    pub fn strnlen(s: *const c_char, n: usize) -> usize;
}
