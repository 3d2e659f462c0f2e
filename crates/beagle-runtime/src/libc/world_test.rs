//! Tests of processes, signals, pinned time and chance, dates, the environment.
#![allow(clippy::indexing_slicing)]

use std::ffi::{CStr, CString, c_int, c_void};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use beagle_trace::layout::{Loss, STOP_NONE};
use beagle_trace::wire::SOURCE_STDIN;

use super::{calendar, environment, pinned, process, signals, temporary};
use crate::harness::{self, Recording, Source, eval, slots};
use crate::state::state;
use crate::{log, shadow, sys};

fn recording(bytes: &[u8]) -> Recording {
    harness::start(&[Source {
        kind: SOURCE_STDIN,
        name: "",
        bytes: bytes.to_vec(),
        pad: 0,
    }])
}

static SEEN: AtomicU32 = AtomicU32::new(0);

/// A handler that uses the slots and logs, as an instrumented one does.
unsafe extern "C" fn handler(number: c_int) {
    SEEN.fetch_add(number as u32, SeqCst);
    let slots = slots();
    (*slots).args = [7; 128];
    (*slots).rets = [7; 32];
    (*slots).callee = core::ptr::dangling();
    (*slots).site = 99;
    log::branch(5, 1, 1);
    log::branch(6, 0, 1);
}

/// One that may run in any thread.
unsafe extern "C" fn counter(number: c_int) {
    SEEN.fetch_add(number as u32, SeqCst);
}

const USR1: c_int = 10;

fn words(from: *const u32, n: usize) -> Vec<u32> {
    (0..n).map(|i| unsafe { *from.add(i) }).collect()
}

#[test]
fn a_handler_leaves_calls_in_progress_alone() {
    let _recording = recording(b"abc");
    unsafe {
        let old = signals::bg_x_signal(USR1, handler as *const () as usize);
        assert_eq!(old, 0, "SIG_DFL");
        let old = signals::bg_x_signal(USR1, handler as *const () as usize);
        assert_eq!(
            old, handler as *const () as usize,
            "the program's own handler"
        );
        let slots = slots();
        for kept in [true, false] {
            (*slots).args = [3; 128];
            (*slots).rets = [4; 32];
            (*slots).site = 5;
            let before = (*slots).cursor;
            SEEN.store(0, SeqCst);
            if kept {
                signals::bg_x_raise(USR1);
            } else {
                // As if it had come in the middle of the recorder.
                (*slots).callee = 77 as *const c_void;
                (*slots).busy = 1;
                sys::kill(sys::syscall(186) as c_int, USR1);
                (*slots).busy = 0;
                assert_eq!((*slots).callee as usize, 77);
            }
            assert_eq!(SEEN.load(SeqCst), USR1 as u32);
            assert_eq!((*slots).args, [3; 128]);
            assert_eq!((*slots).site, 5);
            if kept {
                assert_eq!((*slots).cursor, before.add(4), "its events are kept");
                assert_ne!(*before, 0);
            } else {
                assert_eq!((*slots).cursor, before, "its events are taken back");
                assert_eq!(words(before, 8), [0; 8]);
                assert_eq!((*slots).rets, [4; 32]);
            }
        }
        signals::bg_x_signal(USR1, 0);
    }
}

#[test]
fn sigaction_reports_the_programs_own_handler() {
    let _recording = recording(b"");
    unsafe {
        // struct sigaction: handler, 128 bytes of mask, flags, restorer.
        let mut new = [0usize; 19];
        let mut old = [1usize; 19];
        new[0] = counter as *const () as usize;
        let call = |new: *const [usize; 19], old: *mut [usize; 19], number: c_int| {
            signals::bg_x_sigaction(number, new.cast(), old.cast())
        };
        const USR2: c_int = 12;
        assert_eq!(call(&new, &mut old, USR2), 0);
        assert_eq!(old[0], 0);
        assert_eq!(call(core::ptr::null(), &mut old, USR2), 0);
        assert_eq!(old[0], new[0]);
        SEEN.store(0, SeqCst);
        signals::bg_x_kill(pinned::bg_x_getpid(), USR2);
        // Another thread of the test may take it.
        for _ in 0..1000 {
            if SEEN.load(SeqCst) == USR2 as u32 {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert_eq!(
            SEEN.load(SeqCst),
            USR2 as u32,
            "kill knows the pinned number"
        );
        new[0] = 1; // SIG_IGN
        assert_eq!(call(&new, &mut old, USR2), 0);
        assert_eq!(old[0], counter as *const () as usize);
        assert_eq!(call(core::ptr::null(), &mut old, USR2), 0);
        assert_eq!(old[0], 1);
        new[0] = counter as *const () as usize;
        assert_eq!(
            call(&new, core::ptr::null_mut(), 9),
            -1,
            "SIGKILL has no handler"
        );
        assert_eq!(call(&new, core::ptr::null_mut(), 500), -1);
    }
}

#[test]
fn a_child_leaves_the_shared_memory_alone() {
    let recording = recording(b"abc");
    unsafe {
        for fork in [process::bg_x_fork, process::bg_x_vfork, process::bg_x__Fork] {
            let pid = fork();
            if pid == 0 {
                let detached = (*state()).header.is_null()
                    && (*slots()).recording == 0
                    && process::is_child()
                    && pinned::bg_x_time(core::ptr::null_mut()) < 1_100_000_000
                    && i64::from(pinned::bg_x_getpid()) == sys::syscall(39);
                log::branch(1, 1, 1);
                sys::_exit(if detached { 0 } else { 1 });
            }
            let mut status = -1;
            assert_eq!(sys::waitpid(pid, &mut status, 0), pid);
            assert_eq!(status, 0);
        }
        assert_eq!(recording.losses()[&(Loss::Process as u32)], 3);
        assert_eq!(*(*slots()).cursor, 0, "no event of a child");
        // The harness allows 8.
        let mut started = 3;
        loop {
            let pid = process::bg_x_fork();
            if pid == 0 {
                sys::_exit(0);
            }
            if pid < 0 {
                assert_eq!(*sys::__errno_location(), 11, "EAGAIN");
                break;
            }
            sys::waitpid(pid, core::ptr::null_mut(), 0);
            started += 1;
        }
        assert_eq!(started, 8);
        assert_eq!(process::bg_x_system(c"true".as_ptr()), -1);
    }
}

#[test]
fn an_exec_that_fails_is_taken_back() {
    let _recording = recording(b"");
    unsafe {
        let before = (*slots()).cursor;
        let argv = [c"x".as_ptr(), core::ptr::null()];
        assert_eq!(
            process::bg_x_execv(c"/no/such/program".as_ptr(), argv.as_ptr()),
            -1
        );
        assert_eq!(*sys::__errno_location(), 2, "ENOENT");
        assert_eq!((*(*state()).header).stop, STOP_NONE);
        assert_eq!((*slots()).cursor, before);
        assert_eq!(words(before, 8), [0; 8]);
    }
}

#[test]
fn time_is_pinned_only_while_recording() {
    unsafe {
        let real = {
            let recording = recording(b"");
            let first = pinned::bg_x_time(core::ptr::null_mut());
            assert!((1_000_000_000..1_000_000_100).contains(&first), "{first}");
            pinned::bg_x_sleep(1000);
            let later = pinned::bg_x_time(core::ptr::null_mut());
            assert!((1000..1002).contains(&(later - first)));
            let mut time = [-1i64; 2];
            assert_eq!(pinned::bg_x_clock_gettime(1, (&raw mut time).cast()), 0);
            assert!(time[0] >= 100_000 && (0..1_000_000_000).contains(&time[1]));
            assert_eq!(pinned::bg_x_clock_gettime(1234, (&raw mut time).cast()), -1);
            let mut name = [1 as std::ffi::c_char; 4];
            assert_eq!(pinned::bg_x_gethostname(name.as_mut_ptr(), 4), -1);
            assert_eq!(*sys::__errno_location(), 36, "ENAMETOOLONG");
            assert_eq!(pinned::device(c"/dev/urandom"), Some(c"/dev/zero"));
            assert_eq!(pinned::device(c"/dev/null"), None);
            drop(recording);
            pinned::bg_x_time(core::ptr::null_mut())
        };
        assert!(real > 1_500_000_000);
        assert_eq!(i64::from(pinned::bg_x_getpid()), sys::syscall(39));
    }
}

#[test]
fn chance_leaves_no_shadows() {
    let recording = recording(b"abcdefgh");
    let buffer = recording.buffer(0);
    unsafe {
        assert_eq!(pinned::bg_x_getrandom(buffer.as_mut_ptr().cast(), 8, 0), 8);
        assert!(!shadow::any(buffer.as_ptr(), 8));
        assert_eq!(pinned::bg_x_getentropy(buffer.as_mut_ptr().cast(), 257), -1);
    }
}

#[test]
fn temporary_files_have_names_that_libc_would_take() {
    let _recording = recording(b"");
    unsafe {
        let directory = std::env::temp_dir();
        let template = |tail: &str| {
            CString::new(format!("{}/{tail}", directory.display()))
                .unwrap()
                .into_raw()
        };
        let path = template("bgXXXXXX");
        let fd = temporary::bg_x_mkstemp(path);
        assert!(fd >= 0);
        sys::close(fd);
        let made = CStr::from_ptr(path).to_str().unwrap().to_owned();
        assert!(!made.ends_with('X') && std::fs::remove_file(made).is_ok());
        let path = template("bgXXXXXX.c");
        assert_eq!(temporary::bg_x_mkstemp(path), -1);
        assert_eq!(*sys::__errno_location(), 22, "EINVAL");
        let fd = temporary::bg_x_mkstemps(path, 2);
        assert!(fd >= 0);
        sys::close(fd);
        assert!(std::fs::remove_file(CStr::from_ptr(path).to_str().unwrap()).is_ok());
        let path = template("bgXXXXXX");
        assert_eq!(temporary::bg_x_mkdtemp(path), path);
        assert!(std::fs::remove_dir(CStr::from_ptr(path).to_str().unwrap()).is_ok());
    }
}

#[test]
fn setenv_copies_what_the_value_depends_on() {
    let recording = recording(b"value");
    let buffer = recording.buffer(0);
    unsafe {
        let name = c"BEAGLE_WORLD_TEST";
        assert_eq!(
            environment::bg_x_setenv(name.as_ptr(), buffer.as_ptr().cast(), 1),
            0
        );
        let copy = environment::getenv(name.as_ptr()).cast_const().cast::<u8>();
        assert_ne!(copy, buffer.as_ptr());
        for (i, byte) in buffer.iter().enumerate().take(5) {
            assert_eq!(*shadow::cell_of(copy.add(i)), *shadow::cell_of(byte));
            assert_ne!(*shadow::cell_of(copy.add(i)), 0);
        }
        assert_eq!(*shadow::cell_of(copy.add(5)), 0);
    }
}

#[test]
fn differences_of_times_are_exact() {
    let recording = recording(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
    let buffer = recording.buffer(0);
    unsafe {
        let guard = crate::slots::enter();
        let (a, b) = (
            shadow::load(buffer.as_ptr(), 8),
            shadow::load(buffer.as_ptr().add(8), 8),
        );
        drop(guard);
        let own = calendar::bg_x_difftime as *const c_void;
        recording.calling(own, &[a.id, b.id]);
        let (x, y) = (a.value as i64, b.value as i64);
        assert_eq!(
            calendar::bg_x_difftime(x, y),
            (i128::from(x) - i128::from(y)) as f64
        );
        let id = recording.returned(own);
        assert_ne!(id, 0);
        let others = [
            [0; 16],
            [255; 16],
            [0x80; 16],
            core::array::from_fn(|i| if i < 8 { 0x7f } else { 0x80 }),
        ];
        for other in others {
            let number =
                |from: usize| i64::from_le_bytes(core::array::from_fn(|i| other[from + i]));
            let real = calendar::bg_x_difftime(number(0), number(8));
            assert_eq!(
                eval(id, &[&other]),
                Some(u128::from(real.to_bits())),
                "{other:?}"
            );
        }
    }
}

#[test]
fn dates_that_depend_on_the_input_are_counted() {
    let recording = recording(b"12345678");
    let buffer = recording.buffer(0);
    unsafe {
        let mut fields: calendar::Fields = [0; 7];
        buffer[4..8].fill(0);
        assert!(!calendar::bg_x_gmtime_r(buffer.as_ptr().cast(), &mut fields).is_null());
        assert_eq!(recording.losses()[&(Loss::Model as u32)], 1);
        assert!(!shadow::any((&raw const fields).cast(), 56));
        calendar::bg_x_timegm(&mut fields);
        assert_eq!(
            recording.losses()[&(Loss::Model as u32)],
            1,
            "not for concrete fields"
        );
    }
}
