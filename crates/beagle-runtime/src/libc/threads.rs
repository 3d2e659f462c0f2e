//! Threads: only the first is recorded.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use beagle_trace::layout::Loss;

use crate::call::Call;
use crate::log;
use crate::shadow;
use crate::state::state;

unsafe extern "C" {
    fn pthread_create(
        thread: *mut usize,
        attributes: *const c_void,
        start: *const c_void,
        argument: *mut c_void,
    ) -> c_int;
    fn thrd_create(thread: *mut usize, start: *const c_void, argument: *mut c_void) -> c_int;
}

static STARTED: AtomicBool = AtomicBool::new(false);

/// Whether the program has started a thread.
pub fn started() -> bool {
    STARTED.load(Relaxed)
}

/// Counted once: the report says that there are threads, not how many.
unsafe fn note() {
    if !STARTED.swap(true, Relaxed) && !(*state()).header.is_null() {
        log::lose_in(Loss::Thread, c"pthread_create");
    }
}

/// `pthread_create`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_pthread_create(
    thread: *mut usize,
    attributes: *const c_void,
    start: *const c_void,
    argument: *mut c_void,
) -> c_int {
    let mut call = Call::take(bg_x_pthread_create as *const c_void);
    note();
    let result = call.outside(|| pthread_create(thread, attributes, start, argument));
    shadow::clear(thread.cast(), 8);
    call.result_id(0);
    result
}

/// `thrd_create`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_thrd_create(
    thread: *mut usize,
    start: *const c_void,
    argument: *mut c_void,
) -> c_int {
    let mut call = Call::take(bg_x_thrd_create as *const c_void);
    note();
    let result = call.outside(|| thrd_create(thread, start, argument));
    shadow::clear(thread.cast(), 8);
    call.result_id(0);
    result
}
