//! Stops Z3 at a deadline.
//!
//! Z3's own timer is not used: a process that used it crashed in the allocator once, and that timer has
//! a history of such faults. A thread of ours sets the flag that Z3 looks at, as an interrupt by a user
//! would.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::clock::Moment;

use z3::Context;

/// How often to interrupt again: Z3 may have been between two steps that look at the flag.
const AGAIN: Duration = Duration::from_millis(20);

/// Runs something that asks Z3 in this thread; after the deadline Z3 gives up. `None` if the system has no
/// thread left that could see to it.
pub(super) fn until<T>(deadline: Moment, run: impl FnOnce() -> T) -> Option<T> {
    let context = Context::thread_local();
    let handle = context.handle();
    let (done, changed) = (Mutex::new(false), Condvar::new());
    // The clock is that of this thread. Waiting goes by another, which may run faster.
    let mut wait = deadline.saturating_duration_since(Moment::now());
    std::thread::scope(|scope| {
        let watch = || {
            let mut ended = done.lock().unwrap_or_else(PoisonError::into_inner);
            while !*ended {
                let (guard, timeout) = changed
                    .wait_timeout(ended, wait)
                    .unwrap_or_else(PoisonError::into_inner);
                ended = guard;
                if !*ended && timeout.timed_out() {
                    handle.interrupt();
                    wait = AGAIN;
                }
            }
        };
        let thread = std::thread::Builder::new();
        thread.spawn_scoped(scope, watch).ok()?;
        let result = run();
        *done.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_one();
        Some(result)
    })
}
