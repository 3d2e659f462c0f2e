//! Signals: a handler must not disturb what it interrupts.
//!
//! Between a caller that puts shadows into its thread's slots and the function that takes them out, a
//! handler may run, and it makes calls of its own. So libc gets our handler, which puts the slots aside,
//! calls the program's handler, and puts them back.
//!
//! Events are another matter: the interrupted code may be just about to write one, at a place that it has
//! already chosen. What a handler logs can be kept only where that cannot be: where the program raised
//! the signal itself, or waits inside libc. Otherwise it goes unread.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::call::Call;
use crate::shadow;
use crate::slots::{Slots, slots};
use crate::state::{SCRATCH_WORDS, state};
use crate::sys;

/// One more than the highest number of a signal.
const SIGNALS: usize = 65;
const SIG_ERR: usize = usize::MAX;
/// `SIG_DFL` is 0, `SIG_IGN` 1, and what `sigset` calls `SIG_HOLD` 2; addresses are greater.
const LAST_SPECIAL: usize = 2;

/// libc's `struct sigaction`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Action {
    handler: usize,
    mask: [u64; 16],
    flags: c_int,
    restorer: usize,
}

unsafe extern "C" {
    fn signal(signal: c_int, handler: usize) -> usize;
    fn sigset(signal: c_int, handler: usize) -> usize;
    fn __sysv_signal(signal: c_int, handler: usize) -> usize;
    fn sigaction(signal: c_int, new: *const Action, old: *mut Action) -> c_int;
    fn raise(signal: c_int) -> c_int;
    fn pthread_kill(thread: usize, signal: c_int) -> c_int;
    fn sigqueue(pid: c_int, signal: c_int, value: usize) -> c_int;
    fn killpg(group: c_int, signal: c_int) -> c_int;
    static __executable_start: u8;
    static etext: u8;
}

/// The program's handlers.
static HANDLERS: [AtomicUsize; SIGNALS] = [const { AtomicUsize::new(0) }; SIGNALS];

/// How many calls are under way by which the program raises a signal itself.
static DELIBERATE: AtomicUsize = AtomicUsize::new(0);

/// Runs something that raises a signal in this thread, at a place where the program calls libc.
pub fn deliberately<T>(run: impl FnOnce() -> T) -> T {
    DELIBERATE.fetch_add(1, Relaxed);
    let result = run();
    // A handler that jumped out has put it back already.
    let _ = DELIBERATE.fetch_update(Relaxed, Relaxed, |n| n.checked_sub(1));
    result
}

/// The part of the slots that belongs to calls in progress.
const CALL_BYTES: usize = core::mem::offset_of!(Slots, cursor);

/// Words of events that may lie, half-written, behind the last whole one.
const HALF_WRITTEN: usize = 1100;

/// Whether the interrupted code cannot be in the middle of writing an event.
unsafe fn between_events(context: *const c_void) -> bool {
    if DELIBERATE.load(Relaxed) != 0 {
        return true;
    }
    if context.is_null() || (*slots()).busy != 0 {
        return false;
    }
    // Where libc runs, or another library, nobody writes events. The instruction pointer is the 17th of
    // the registers, which come after flags, link and stack in a `ucontext_t`.
    let at = *context.cast::<usize>().add(5 + 16);
    at < (&raw const __executable_start) as usize || at >= (&raw const etext) as usize
}

/// Where the log of the interrupted code goes on, while a handler's events go unread: cursor and end,
/// 0 if no such handler runs.
static INTERRUPTED: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// A handler may have jumped out: the log goes on where it was interrupted.
pub unsafe fn resume() {
    let [cursor, end] = [&INTERRUPTED[0], &INTERRUPTED[1]].map(|word| word.swap(0, Relaxed));
    let slots = slots();
    if cursor == 0 || (*slots).recording == 0 {
        return;
    }
    (*slots).cursor = cursor as *mut u32;
    (*slots).end = end as *mut u32;
    // What the interrupted code had begun to write will not be finished.
    core::ptr::write_bytes((*slots).cursor, 0, ((end - cursor) / 4).min(HALF_WRITTEN));
}

/// What libc gets in the place of every handler. Those that want only the number ignore the rest.
unsafe extern "C" fn trampoline(signal: c_int, info: *mut c_void, context: *mut c_void) {
    let Some(handler) = HANDLERS.get(signal as usize).map(|h| h.load(Relaxed)) else {
        return;
    };
    if handler <= LAST_SPECIAL {
        return;
    }
    let handler: unsafe extern "C" fn(c_int, *mut c_void, *mut c_void) =
        core::mem::transmute(handler);
    let slots = slots();
    let mut aside = [0u8; CALL_BYTES];
    core::ptr::copy_nonoverlapping(slots.cast::<u8>(), aside.as_mut_ptr(), CALL_BYTES);
    (*slots).callee = core::ptr::null();
    (*slots).returner = core::ptr::null();
    let recording = (*slots).recording != 0;
    let kept = !recording || between_events(context);
    let cursor = (*slots).cursor;
    let busy = (*slots).busy;
    let deliberate = DELIBERATE.swap(0, Relaxed);
    let end = (*slots).end;
    let outermost = !kept && INTERRUPTED[0].load(Relaxed) == 0;
    if outermost {
        INTERRUPTED[0].store(cursor as usize, Relaxed);
        INTERRUPTED[1].store(end as usize, Relaxed);
        (*slots).cursor = (*state()).scratch;
        (*slots).end = (*slots).cursor.add(SCRATCH_WORDS - 64);
    }
    handler(signal, info, context);
    DELIBERATE.store(deliberate, Relaxed);
    if outermost && INTERRUPTED[0].swap(0, Relaxed) != 0 && (*slots).recording != 0 {
        (*slots).cursor = cursor;
        (*slots).end = end;
    }
    (*slots).busy = busy;
    core::ptr::copy_nonoverlapping(aside.as_ptr(), slots.cast::<u8>(), CALL_BYTES);
}

fn ours() -> usize {
    trampoline as *const () as usize
}

/// Notes the program's handler; gives what libc is to get, and the handler before.
fn exchange(signal: c_int, handler: usize) -> (usize, usize) {
    let Some(slot) = HANDLERS.get(signal as usize) else {
        return (handler, 0);
    };
    if handler <= LAST_SPECIAL || handler == SIG_ERR {
        // A signal that comes right now still finds the old one.
        return (handler, slot.load(Relaxed));
    }
    (ours(), slot.swap(handler, Relaxed))
}

/// Puts back the handler before, as libc did not take the new one.
fn put_back(signal: c_int, before: usize) {
    if let Some(slot) = HANDLERS.get(signal as usize) {
        slot.store(before, Relaxed);
    }
}

/// `signal` and its kin: what they return is the program's own handler.
unsafe fn install(
    own: *const c_void,
    number: c_int,
    handler: usize,
    real: unsafe extern "C" fn(c_int, usize) -> usize,
) -> usize {
    let call = Call::take(own);
    let (given, before) = exchange(number, handler);
    let mut old = real(number, given);
    if old == SIG_ERR {
        put_back(number, before);
    } else if old == ours() {
        old = before;
    }
    call.result_id(0);
    old
}

macro_rules! installs {
    ($($name:ident => $real:ident;)*) => {$(
        #[doc = concat!("`", stringify!($real), "`.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(number: c_int, handler: usize) -> usize {
            install($name as *const c_void, number, handler, $real)
        }
    )*};
}

installs! {
    bg_x_signal => signal;
    bg_x_sigset => sigset;
    bg_x___sysv_signal => __sysv_signal;
}

/// `sigaction`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_sigaction(
    number: c_int,
    new: *const Action,
    old: *mut Action,
) -> c_int {
    let call = Call::take(bg_x_sigaction as *const c_void);
    let result;
    let before;
    if new.is_null() {
        before = HANDLERS.get(number as usize).map_or(0, |h| h.load(Relaxed));
        result = sigaction(number, new, old);
    } else {
        let mut action = *new;
        (action.handler, before) = exchange(number, action.handler);
        result = sigaction(number, &action, old);
        if result != 0 {
            put_back(number, before);
        }
    }
    if !old.is_null() && result == 0 {
        shadow::clear(old.cast(), size_of::<Action>());
        if (*old).handler == ours() {
            (*old).handler = before;
        }
    }
    call.result_id(0);
    result
}

/// `raise`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_raise(number: c_int) -> c_int {
    let mut call = Call::take(bg_x_raise as *const c_void);
    let result = call.outside(|| deliberately(|| raise(number)));
    call.result_id(0);
    result
}

/// `kill`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_kill(pid: c_int, number: c_int) -> c_int {
    let mut call = Call::take(bg_x_kill as *const c_void);
    let pid = super::pinned::real_pid(pid);
    let result = call.outside(|| deliberately(|| sys::kill(pid, number)));
    call.result_id(0);
    result
}

/// `killpg`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_killpg(group: c_int, number: c_int) -> c_int {
    let mut call = Call::take(bg_x_killpg as *const c_void);
    let group = super::pinned::real_pid(group);
    let result = call.outside(|| deliberately(|| killpg(group, number)));
    call.result_id(0);
    result
}

/// `sigqueue`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_sigqueue(pid: c_int, number: c_int, value: usize) -> c_int {
    let mut call = Call::take(bg_x_sigqueue as *const c_void);
    let pid = super::pinned::real_pid(pid);
    let result = call.outside(|| deliberately(|| sigqueue(pid, number, value)));
    call.result_id(0);
    result
}

/// `pthread_kill`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_pthread_kill(thread: usize, number: c_int) -> c_int {
    let mut call = Call::take(bg_x_pthread_kill as *const c_void);
    let result = call.outside(|| deliberately(|| pthread_kill(thread, number)));
    call.result_id(0);
    result
}
