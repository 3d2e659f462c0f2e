//! The fork server before `main`, and the run of `main` in a process of its own.

use core::ffi::{c_char, c_int, c_void};

use beagle_trace::event::END_EXIT;
use beagle_trace::layout::{
    CONTROL_FD, Header, MEMORY_FD, PHASE_EXIT, PHASE_MAIN, STDERR_FD, STDOUT_FD,
};

use crate::slots::{enter, slots};
use crate::start::{begin, fail};
use crate::state::state;
use crate::{input, log, object, sys};

unsafe extern "C" {
    static mut environ: *mut *mut c_char;
    static mut program_invocation_name: *mut c_char;
    static mut program_invocation_short_name: *mut c_char;
    static bg_globals: object::GlobalEntry;
    static bg_globals_count: usize;
    fn bg_user_main(argc: c_int, argv: *mut *mut c_char, envp: *mut *mut c_char) -> c_int;
}

/// The program's `main`, or the fork server that runs it again and again.
#[unsafe(no_mangle)]
unsafe extern "C" fn bgr_main(
    argc: c_int,
    argv: *mut *mut c_char,
    envp: *mut *mut c_char,
) -> c_int {
    let header = (*state()).header;
    if header.is_null() {
        return bg_user_main(argc, argv, envp);
    }
    object::globals(&raw const bg_globals, bg_globals_count, envp as usize);
    serve();
    run(envp)
}

/// Answers requests; returns in the process that is to run the program.
unsafe fn serve() {
    const SUBREAPER: c_int = 36;
    sys::prctl(SUBREAPER, 1u64, 0u64, 0u64, 0u64);
    say(b"BGREADY\0");
    loop {
        let mut request = [0u8; 4];
        if sys::read(CONTROL_FD, request.as_mut_ptr().cast(), 4) != 4 {
            sys::_exit(0);
        }
        let pid = sys::fork();
        if pid == 0 {
            return;
        }
        if pid < 0 {
            let errno = *sys::__errno_location();
            say(&(-errno).to_le_bytes());
            continue;
        }
        sys::setpgid(pid, pid);
        say(&pid.to_le_bytes());
        let mut status = 0;
        while sys::waitpid(pid, &mut status, 0) == -1 && *sys::__errno_location() == 4 {}
        sweep(pid);
        say(&status.to_le_bytes());
    }
}

unsafe fn say(bytes: &[u8]) {
    if sys::write(CONTROL_FD, bytes.as_ptr().cast(), bytes.len()) != bytes.len() as isize {
        sys::_exit(0);
    }
}

/// Ends what the run left behind: its process group, and orphans that left the group.
unsafe fn sweep(group: c_int) {
    sys::kill(-group, 9);
    for _ in 0..10_000 {
        while sys::waitpid(-1, core::ptr::null_mut(), 1) > 0 {}
        if sys::waitpid(-1, core::ptr::null_mut(), 1) == -1 {
            // No child is left.
            return;
        }
        let mut text = [0u8; 4096];
        let fd = sys::open(c"/proc/thread-self/children".as_ptr(), 0);
        if fd < 0 {
            return;
        }
        let n = sys::read(fd, text.as_mut_ptr().cast(), text.len());
        sys::close(fd);
        let text = text.get(..n.max(0) as usize).unwrap_or(&[]);
        for word in text.split(|b| *b == b' ') {
            let pid = word.iter().fold(0, |p: c_int, b| {
                p.wrapping_mul(10)
                    .wrapping_add(c_int::from(b.wrapping_sub(b'0')))
            });
            if pid > 1 {
                sys::kill(pid, 9);
            }
        }
    }
}

/// Limits for this run.
unsafe fn limit(header: *const Header) {
    const FSIZE: c_int = 1;
    const CORE: c_int = 4;
    const AS: c_int = 9;
    sys::setrlimit(CORE, &[0, 0]);
    if (*header).max_file != 0 {
        let bytes = u64::from((*header).max_file) << 20;
        sys::setrlimit(FSIZE, &[bytes, bytes]);
    }
    if (*header).max_memory != 0 {
        let mut text = [0u8; 64];
        let fd = sys::open(c"/proc/self/statm".as_ptr(), 0);
        let n = sys::read(fd, text.as_mut_ptr().cast(), text.len());
        sys::close(fd);
        let pages = text
            .iter()
            .take(n.max(0) as usize)
            .take_while(|b| b.is_ascii_digit())
            .fold(0u64, |p, b| p * 10 + u64::from(b - b'0'));
        let bytes = pages * 4096 + (u64::from((*header).max_memory) << 20);
        sys::setrlimit(AS, &[bytes, bytes]);
    }
}

/// One traced run, in its own process.
unsafe fn run(inherited: *mut *mut c_char) -> c_int {
    const DEATH_SIGNAL: c_int = 1;
    sys::setpgid(0, 0);
    sys::prctl(DEATH_SIGNAL, 9u64, 0u64, 0u64, 0u64);
    sys::dup2(STDOUT_FD, 1);
    sys::dup2(STDERR_FD, 2);
    for fd in [STDOUT_FD, STDERR_FD, CONTROL_FD, MEMORY_FD] {
        sys::close(fd);
    }
    let header = (*state()).header;
    input::materialise_files();
    if !begin() {
        fail("out of memory");
    }
    let mut argc = 0;
    let mut argv = core::ptr::null_mut();
    let mut envp = inherited;
    let mut arg_count = 0;
    if let Some(_inside) = enter() {
        let Some(vectors) = input::materialise_strings(inherited) else {
            fail("out of memory");
        };
        arg_count = input::arg_count().id;
        argc = vectors.argc;
        argv = vectors.argv;
        envp = vectors.envp;
    }
    environ = envp;
    if argc > 0 {
        program_invocation_name = *argv;
        let mut short = *argv;
        let mut at = *argv;
        while *at != 0 {
            if *at as u8 == b'/' {
                short = at.add(1);
            }
            at = at.add(1);
        }
        program_invocation_short_name = short;
    }
    limit(header);
    *sys::__errno_location() = 0;
    (*header).phase = PHASE_MAIN;
    let slots = slots();
    (*slots).args = [0; 128];
    if let Some(first) = (*slots).args.first_mut() {
        *first = arg_count;
    }
    (*slots).callee = bg_user_main as *const c_void;
    (*slots).returner = core::ptr::null();
    crate::libc::process::watch();
    let status = bg_user_main(argc, argv, envp);
    let by_main = (*slots).returner == bg_user_main as *const c_void;
    let node = if by_main {
        (*slots).rets.first().copied().unwrap_or(0)
    } else {
        0
    };
    let header = (*state()).header;
    if !header.is_null()
        && let Some(_inside) = enter()
    {
        (*header).phase = PHASE_EXIT;
        log::end(0, END_EXIT, status as u32, node);
    }
    status
}
