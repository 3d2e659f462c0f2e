//! The end of the program, other programs, other processes.
//!
//! Only the process that the fork server started is recorded. A child of it runs on its own: it must not
//! touch the shared memory any more, in which its parent goes on writing.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

use beagle_trace::event::{END_ABORT, END_ASSERT, END_EXEC, END_EXIT};
use beagle_trace::layout::{Loss, PHASE_EXIT, STOP_EXEC};

use crate::call::Call;
use crate::log;
use crate::slots::slots;
use crate::state::{SCRATCH_WORDS, state};
use crate::sys;

unsafe extern "C" {
    fn _Exit(status: c_int) -> !;
    fn quick_exit(status: c_int) -> !;
    fn __assert_fail(
        text: *const c_char,
        file: *const c_char,
        line: u32,
        function: *const c_char,
    ) -> !;
    fn __assert_perror_fail(
        error: c_int,
        file: *const c_char,
        line: u32,
        function: *const c_char,
    ) -> !;
    fn _Fork() -> c_int;
    fn daemon(keep_directory: c_int, keep_files: c_int) -> c_int;
    fn system(command: *const c_char) -> c_int;
    fn popen(command: *const c_char, mode: *const c_char) -> *mut c_void;
    fn posix_spawn(
        pid: *mut c_int,
        path: *const c_char,
        actions: *const c_void,
        attributes: *const c_void,
        argv: *const *const c_char,
        envp: *const *const c_char,
    ) -> c_int;
    fn posix_spawnp(
        pid: *mut c_int,
        file: *const c_char,
        actions: *const c_void,
        attributes: *const c_void,
        argv: *const *const c_char,
        envp: *const *const c_char,
    ) -> c_int;
    fn execve(path: *const c_char, argv: *const *const c_char, envp: *const *const c_char)
    -> c_int;
    fn execvp(file: *const c_char, argv: *const *const c_char) -> c_int;
    fn execvpe(
        file: *const c_char,
        argv: *const *const c_char,
        envp: *const *const c_char,
    ) -> c_int;
    fn fexecve(fd: c_int, argv: *const *const c_char, envp: *const *const c_char) -> c_int;
    fn pthread_atfork(
        prepare: Option<unsafe extern "C" fn()>,
        parent: Option<unsafe extern "C" fn()>,
        child: Option<unsafe extern "C" fn()>,
    ) -> c_int;
    fn pipe2(fds: *mut [c_int; 2], flags: c_int) -> c_int;
    static program_invocation_short_name: *const c_char;
}

const EAGAIN: c_int = 11;
const O_CLOEXEC: c_int = 0o2_000_000;
const F_DUPFD_CLOEXEC: c_int = 1030;

/// This process was forked by the recorded one.
static CHILD: AtomicBool = AtomicBool::new(false);
/// Processes started so far.
static STARTED: AtomicU32 = AtomicU32::new(0);
/// How many the run may start; known once the first was asked for.
static LIMIT: AtomicU32 = AtomicU32::new(u32::MAX);

/// Whether this is a child of the recorded process.
pub fn is_child() -> bool {
    CHILD.load(Relaxed)
}

/// Whether the program is not alone: others may need time to get on.
pub fn has_others() -> bool {
    STARTED.load(Relaxed) != 0 || super::threads::started()
}

/// In a new child of the recorded process: nothing is recorded here, and the shared memory is left alone.
unsafe extern "C" fn detach() {
    let state = state();
    if (*state).header.is_null() {
        return;
    }
    (*state).header = core::ptr::null_mut();
    let slots = slots();
    (*slots).recording = 0;
    (*slots).cursor = (*state).scratch;
    (*slots).end = (*state).scratch.wrapping_add(SCRATCH_WORDS - 64);
    CHILD.store(true, Relaxed);
    // A child may start half as many as are left, so that even a program that only forks comes to an end.
    let left = LIMIT.load(Relaxed).saturating_sub(STARTED.load(Relaxed)) / 2;
    LIMIT.store(left, Relaxed);
    STARTED.store(0, Relaxed);
}

/// To be called once in a traced run, after the fork server made its process: children that libc forks
/// on behalf of the program (`forkpty` and the like) stop recording too.
pub fn watch() {
    let saved = sys::Errno::save();
    // SAFETY: registers a function that is always there.
    unsafe {
        pthread_atfork(None, None, Some(detach));
    }
    saved.restore();
}

/// Counts one more process; false if there are too many.
unsafe fn one_more(name: &CStr) -> bool {
    let header = (*state()).header;
    if !header.is_null() {
        LIMIT.store((*header).max_processes, Relaxed);
        log::lose_in(Loss::Process, name);
    } else if !is_child() {
        return true;
    }
    if STARTED.load(Relaxed) >= LIMIT.load(Relaxed) {
        return false;
    }
    STARTED.fetch_add(1, Relaxed);
    true
}

unsafe fn refuse() {
    *sys::__errno_location() = EAGAIN;
}

/// The program ends by itself.
unsafe fn ends(call: &Call, what: u32, value: u32, node: u32) {
    if call.recorded() {
        log::end(call.site, what, value, node);
    }
    let header = (*state()).header;
    if what == END_EXIT && !header.is_null() {
        (*header).phase = PHASE_EXIT;
    }
}

macro_rules! exits {
    ($($name:ident => $real:path;)*) => {$(
        #[doc = concat!("`", stringify!($real), "`.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(status: c_int) -> ! {
            let mut call = Call::take($name as *const c_void);
            ends(&call, END_EXIT, status as u32, call.int(0, status).id);
            call.outside(|| $real(status))
        }
    )*};
}

exits! {
    bg_x_exit => sys::exit;
    bg_x__exit => sys::_exit;
    bg_x__Exit => _Exit;
    bg_x_quick_exit => quick_exit;
}

/// `abort`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_abort() -> ! {
    let mut call = Call::take(bg_x_abort as *const c_void);
    ends(&call, END_ABORT, 0, 0);
    call.outside(|| super::signals::deliberately(|| sys::abort()))
}

/// Text of bounded length.
struct Text {
    bytes: [u8; 1024],
    len: usize,
}

impl Text {
    fn push(&mut self, text: &[u8]) {
        for b in text {
            if let Some(to) = self.bytes.get_mut(self.len) {
                *to = *b;
            }
            self.len += 1;
        }
    }

    unsafe fn push_c(&mut self, text: *const c_char) {
        if !text.is_null() {
            self.push(CStr::from_ptr(text).to_bytes());
        }
    }

    fn push_number(&mut self, mut n: u32) {
        let mut digits = [b'0'; 10];
        let mut at = 10;
        loop {
            at -= 1;
            if let Some(d) = digits.get_mut(at) {
                *d = b'0' + (n % 10) as u8;
            }
            n /= 10;
            if n == 0 || at == 0 {
                break;
            }
        }
        self.push(digits.get(at..).unwrap_or(&[]));
    }

    /// Logs it as output to standard error, if it is complete.
    unsafe fn log(&self, call: &Call) {
        if self.len <= self.bytes.len() && call.recorded() {
            log::output(call.site, 2, self.bytes.as_ptr(), self.len, &[]);
        }
    }
}

/// `program: file:line: function: `, as libc starts the message of a failed assertion.
unsafe fn place(file: *const c_char, line: u32, function: *const c_char) -> Text {
    let mut text = Text {
        bytes: [0; 1024],
        len: 0,
    };
    let program = program_invocation_short_name;
    if !program.is_null() && *program != 0 {
        text.push_c(program);
        text.push(b": ");
    }
    text.push_c(file);
    text.push(b":");
    text.push_number(line);
    text.push(b": ");
    if !function.is_null() {
        text.push_c(function);
        text.push(b": ");
    }
    text
}

/// What `assert` calls.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___assert_fail(
    text: *const c_char,
    file: *const c_char,
    line: u32,
    function: *const c_char,
) -> ! {
    let mut call = Call::take(bg_x___assert_fail as *const c_void);
    let mut message = place(file, line, function);
    message.push(b"Assertion `");
    message.push_c(text);
    message.push(b"' failed.\n");
    message.log(&call);
    ends(&call, END_ASSERT, line, 0);
    call.outside(|| super::signals::deliberately(|| __assert_fail(text, file, line, function)))
}

/// What `assert_perror` calls.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x___assert_perror_fail(
    error: c_int,
    file: *const c_char,
    line: u32,
    function: *const c_char,
) -> ! {
    let mut call = Call::take(bg_x___assert_perror_fail as *const c_void);
    ends(&call, END_ASSERT, line, call.int(0, error).id);
    call.outside(|| {
        super::signals::deliberately(|| __assert_perror_fail(error, file, line, function))
    })
}

/// Forks by `real`; the child stops recording before anything else.
unsafe fn forks(mut call: Call, name: &CStr, real: unsafe extern "C" fn() -> c_int) -> c_int {
    if !one_more(name) {
        refuse();
        call.result_id(0);
        return -1;
    }
    let pid = call.outside(|| {
        let pid = real();
        if pid == 0 {
            detach();
        }
        pid
    });
    call.result_id(0);
    pid
}

/// `fork`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_fork() -> c_int {
    forks(Call::take(bg_x_fork as *const c_void), c"fork", sys::fork)
}

/// `_Fork`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x__Fork() -> c_int {
    forks(Call::take(bg_x__Fork as *const c_void), c"_Fork", _Fork)
}

/// `fork`, in the place of `vfork`: a child in the same memory would write to our shadows. The parent
/// waits as it does natively, until the child ends or becomes another program.
unsafe extern "C" fn fork_and_wait() -> c_int {
    let mut ends = [-1; 2];
    let mut high = -1;
    if pipe2(&mut ends, O_CLOEXEC) == 0 {
        // Out of the way of the numbers that the child will see.
        high = sys::fcntl(ends[1], F_DUPFD_CLOEXEC, 900);
        sys::close(ends[1]);
    }
    let pid = sys::fork();
    let saved = sys::Errno::save();
    if pid == 0 {
        sys::close(ends[0]);
    } else {
        sys::close(high);
        if pid > 0 && ends[0] >= 0 {
            let mut byte = 0u8;
            while sys::read(ends[0], (&raw mut byte).cast(), 1) < 0 && *sys::__errno_location() == 4
            {
            }
        }
        sys::close(ends[0]);
    }
    saved.restore();
    pid
}

/// `vfork`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_vfork() -> c_int {
    forks(
        Call::take(bg_x_vfork as *const c_void),
        c"vfork",
        fork_and_wait,
    )
}

/// An event of the end that may yet not come true.
struct Ending {
    from: *mut u32,
    stop: u32,
}

/// Logs an end that the next call is about to bring.
unsafe fn about_to_end(call: &Call, what: u32, stop: u32) -> Ending {
    let header = (*state()).header;
    let from = (*slots()).cursor;
    let mut old = 0;
    if !header.is_null() {
        if call.recorded() {
            log::end(call.site, what, 0, 0);
        }
        old = (*header).stop;
        if old == 0 {
            (*header).stop = stop;
        }
    }
    Ending { from, stop: old }
}

/// It did not: the event is taken back.
unsafe fn went_on(ending: Ending) {
    let header = (*state()).header;
    if header.is_null() {
        return;
    }
    (*header).stop = ending.stop;
    let slots = slots();
    let words = ((*slots).cursor as usize).wrapping_sub(ending.from as usize) / 4;
    // Not if there was no more room and it went elsewhere.
    if words <= 8 {
        for i in 0..words {
            *ending.from.add(i) = 0;
        }
        (*slots).cursor = ending.from;
    }
}

/// `daemon`: the parent ends inside libc, the child goes on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_daemon(keep_directory: c_int, keep_files: c_int) -> c_int {
    let mut call = Call::take(bg_x_daemon as *const c_void);
    if !one_more(c"daemon") {
        refuse();
        call.result_id(0);
        return -1;
    }
    let ending = about_to_end(&call, END_EXIT, 0);
    let before = sys::syscall(39); // getpid
    let result = call.outside(|| {
        let result = daemon(keep_directory, keep_files);
        if sys::syscall(39) != before {
            detach();
        }
        result
    });
    went_on(ending);
    call.result_id(0);
    result
}

/// Which function of the family of `exec`.
#[derive(Clone, Copy)]
#[repr(u32)]
pub enum Exec {
    /// With path and environment.
    Path = 0,
    /// With path, this environment.
    PathHere = 1,
    /// Searched for, with environment.
    File = 2,
    /// Searched for, this environment.
    FileHere = 3,
}

/// All of the family; also called by `c/process.c` for those with variable arguments, which are `own`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bgr_exec(
    own: *const c_void,
    kind: Exec,
    path: *const c_char,
    argv: *const *const c_char,
    envp: *const *const c_char,
) -> c_int {
    let mut call = Call::take(own);
    let ending = about_to_end(&call, END_EXEC, STOP_EXEC);
    let result = call.outside(|| match kind {
        Exec::Path => execve(path, argv, envp),
        Exec::PathHere => sys::execv(path, argv),
        Exec::File => execvpe(path, argv, envp),
        Exec::FileHere => execvp(path, argv),
    });
    went_on(ending);
    call.result_id(0);
    result
}

/// `execve`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_execve(
    path: *const c_char,
    argv: *const *const c_char,
    envp: *const *const c_char,
) -> c_int {
    bgr_exec(bg_x_execve as *const c_void, Exec::Path, path, argv, envp)
}

/// `execv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_execv(path: *const c_char, argv: *const *const c_char) -> c_int {
    bgr_exec(
        bg_x_execv as *const c_void,
        Exec::PathHere,
        path,
        argv,
        core::ptr::null(),
    )
}

/// `execvp`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_execvp(file: *const c_char, argv: *const *const c_char) -> c_int {
    bgr_exec(
        bg_x_execvp as *const c_void,
        Exec::FileHere,
        file,
        argv,
        core::ptr::null(),
    )
}

/// `execvpe`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_execvpe(
    file: *const c_char,
    argv: *const *const c_char,
    envp: *const *const c_char,
) -> c_int {
    bgr_exec(bg_x_execvpe as *const c_void, Exec::File, file, argv, envp)
}

/// `fexecve`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_fexecve(
    fd: c_int,
    argv: *const *const c_char,
    envp: *const *const c_char,
) -> c_int {
    let mut call = Call::take(bg_x_fexecve as *const c_void);
    let ending = about_to_end(&call, END_EXEC, STOP_EXEC);
    let result = call.outside(|| fexecve(fd, argv, envp));
    went_on(ending);
    call.result_id(0);
    result
}

/// `system`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_system(command: *const c_char) -> c_int {
    let mut call = Call::take(bg_x_system as *const c_void);
    call.result_id(0);
    // Without a command it only tells whether there is a shell.
    if !command.is_null() && !one_more(c"system") {
        refuse();
        return -1;
    }
    let result = call.outside(|| system(command));
    call.result_id(0);
    result
}

/// `popen`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_popen(command: *const c_char, mode: *const c_char) -> *mut c_void {
    let mut call = Call::take(bg_x_popen as *const c_void);
    call.result_id(0);
    if !one_more(c"popen") {
        refuse();
        return core::ptr::null_mut();
    }
    let result = call.outside(|| popen(command, mode));
    call.result_id(0);
    result
}

macro_rules! spawns {
    ($($name:ident => $real:ident, $text:literal;)*) => {$(
        #[doc = concat!("`", stringify!($real), "`.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            pid: *mut c_int,
            path: *const c_char,
            actions: *const c_void,
            attributes: *const c_void,
            argv: *const *const c_char,
            envp: *const *const c_char,
        ) -> c_int {
            let mut call = Call::take($name as *const c_void);
            call.result_id(0);
            if !one_more($text) {
                return EAGAIN;
            }
            let result = call.outside(|| $real(pid, path, actions, attributes, argv, envp));
            if !pid.is_null() {
                crate::shadow::clear(pid.cast(), 4);
            }
            call.result_id(0);
            result
        }
    )*};
}

spawns! {
    bg_x_posix_spawn => posix_spawn, c"posix_spawn";
    bg_x_posix_spawnp => posix_spawnp, c"posix_spawnp";
}
