//! What differs from run to run without any input: time, process numbers, chance, the name of the host.
//!
//! Two versions, and two runs of one, must see the same world. In a traced run the clock starts at a fixed
//! time and moves only when the program looks at it or sleeps. A program that runs on its own sees the
//! real world.

use core::ffi::{CStr, c_char, c_int, c_long, c_uint, c_void};
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::call::Call;
use crate::shadow;
use crate::state::state;
use crate::sys;

use super::process;

/// `struct timespec`; also `struct timeval`, with microseconds.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Time {
    seconds: i64,
    fraction: i64,
}

unsafe extern "C" {
    fn time(to: *mut i64) -> i64;
    fn gettimeofday(to: *mut Time, zone: *mut c_void) -> c_int;
    fn clock_gettime(which: c_int, to: *mut Time) -> c_int;
    fn timespec_get(to: *mut Time, base: c_int) -> c_int;
    fn clock() -> c_long;
    fn times(to: *mut [c_long; 4]) -> c_long;
    fn getrusage(who: c_int, to: *mut [i64; 18]) -> c_int;
    fn sleep(seconds: c_uint) -> c_uint;
    fn usleep(microseconds: c_uint) -> c_int;
    fn nanosleep(wanted: *const Time, left: *mut Time) -> c_int;
    fn clock_nanosleep(which: c_int, flags: c_int, wanted: *const Time, left: *mut Time) -> c_int;
    fn sched_yield() -> c_int;
    fn getpid() -> c_int;
    fn getppid() -> c_int;
    fn gettid() -> c_int;
    fn getpgid(pid: c_int) -> c_int;
    fn getsid(pid: c_int) -> c_int;
    fn sched_setaffinity(pid: c_int, size: usize, set: *const c_void) -> c_int;
    fn sched_getaffinity(pid: c_int, size: usize, set: *mut c_void) -> c_int;
    fn getpriority(which: c_int, who: c_uint) -> c_int;
    fn setpriority(which: c_int, who: c_uint, priority: c_int) -> c_int;
    fn getrandom(to: *mut c_void, len: usize, flags: c_uint) -> isize;
    fn getentropy(to: *mut c_void, len: usize) -> c_int;
    fn gethostname(to: *mut c_char, len: usize) -> c_int;
    fn uname(to: *mut [c_char; 390]) -> c_int;
}

const EFAULT: c_int = 14;
const EINVAL: c_int = 22;
const EIO: c_int = 5;
const ENAMETOOLONG: c_int = 36;

/// When the clock starts: 2001-09-09 01:46:40 UTC, in seconds.
const EPOCH: u64 = 1_000_000_000;
/// How long the machine has been up then, in seconds.
const UPTIME: u64 = 100_000;
/// Never the number of a process: Linux gives none above 2^22. What is not translated back by
/// [`real_pid`] then fails instead of meeting a stranger.
const PID: c_int = 5_000_000;
const PARENT: c_int = 4_999_999;
const HOST: &CStr = c"beagle";

/// Nanoseconds since the clock started.
static ELAPSED: AtomicU64 = AtomicU64::new(0);
/// How often the program looked.
static LOOKS: AtomicU64 = AtomicU64::new(0);
/// State of the generator of what stands for chance.
static CHANCE: AtomicU64 = AtomicU64::new(0x9e37_79b9_7f4a_7c15);

/// Whether the run is a traced one, or a child of it.
pub fn pinned() -> bool {
    // SAFETY: the recorder's own state.
    unsafe { !(*state()).header.is_null() || process::is_child() }
}

/// The time now, in nanoseconds since the clock started. Every look takes a microsecond; from the
/// ten-thousandth on more, so that a program that waits for a time does not wait for long.
fn now() -> u64 {
    let looks = LOOKS.fetch_add(1, Relaxed);
    let step = match looks {
        0..10_000 => 1_000,
        10_000..20_000 => 1_000_000,
        _ => 1_000_000_000,
    };
    ELAPSED.fetch_add(step, Relaxed)
}

fn advance(nanoseconds: u64) {
    // Not so far that seconds since 1970 would leave what programs can print as a date.
    let limit = 100 * 365 * 86_400 * 1_000_000_000;
    let _ = ELAPSED.fetch_update(Relaxed, Relaxed, |n| {
        Some(n.saturating_add(nanoseconds).min(limit))
    });
}

unsafe fn set_errno(error: c_int) {
    *sys::__errno_location() = error;
}

/// Writes concrete memory.
unsafe fn put<T>(to: *mut T, value: T) {
    *to = value;
    shadow::clear(to.cast(), size_of::<T>());
}

/// `time`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_time(to: *mut i64) -> i64 {
    let call = Call::take(bg_x_time as *const c_void);
    call.result_id(0);
    if !pinned() {
        return time(to);
    }
    let seconds = (EPOCH + now() / 1_000_000_000) as i64;
    if !to.is_null() {
        put(to, seconds);
    }
    seconds
}

/// `gettimeofday`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_gettimeofday(to: *mut Time, zone: *mut c_void) -> c_int {
    let call = Call::take(bg_x_gettimeofday as *const c_void);
    call.result_id(0);
    if !pinned() {
        return gettimeofday(to, zone);
    }
    let now = now();
    if !to.is_null() {
        put(
            to,
            Time {
                seconds: (EPOCH + now / 1_000_000_000) as i64,
                fraction: (now / 1_000 % 1_000_000) as i64,
            },
        );
    }
    if !zone.is_null() {
        put(zone.cast::<u64>(), 0);
    }
    0
}

/// What a clock shows, in nanoseconds; `None` for one that we do not know.
fn shows(which: c_int) -> Option<u64> {
    match which {
        // Real time, its coarse variant, with alarm, atomic time.
        0 | 5 | 8 | 11 => Some(EPOCH * 1_000_000_000 + now()),
        // Monotonic, raw, coarse, since boot, with alarm.
        1 | 4 | 6 | 7 | 9 => Some(UPTIME * 1_000_000_000 + now()),
        // Time of the process, of the thread.
        2 | 3 => Some(now()),
        _ => None,
    }
}

/// `clock_gettime`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_clock_gettime(which: c_int, to: *mut Time) -> c_int {
    let call = Call::take(bg_x_clock_gettime as *const c_void);
    call.result_id(0);
    // Clocks of other processes and devices have numbers that are not constant anyway.
    let Some(shown) = (if pinned() { shows(which) } else { None }) else {
        return clock_gettime(which, to);
    };
    if to.is_null() {
        set_errno(EFAULT);
        return -1;
    }
    put(
        to,
        Time {
            seconds: (shown / 1_000_000_000) as i64,
            fraction: (shown % 1_000_000_000) as i64,
        },
    );
    0
}

/// `timespec_get`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_timespec_get(to: *mut Time, base: c_int) -> c_int {
    let call = Call::take(bg_x_timespec_get as *const c_void);
    call.result_id(0);
    if !pinned() || base != 1 {
        return timespec_get(to, base);
    }
    let now = now();
    put(
        to,
        Time {
            seconds: (EPOCH + now / 1_000_000_000) as i64,
            fraction: (now % 1_000_000_000) as i64,
        },
    );
    base
}

/// `clock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_clock() -> c_long {
    let call = Call::take(bg_x_clock as *const c_void);
    call.result_id(0);
    if pinned() {
        (now() / 1_000) as c_long
    } else {
        clock()
    }
}

/// `times`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_times(to: *mut [c_long; 4]) -> c_long {
    let call = Call::take(bg_x_times as *const c_void);
    call.result_id(0);
    if !pinned() {
        return times(to);
    }
    let ticks = (now() / 10_000_000) as c_long;
    if !to.is_null() {
        put(to, [ticks, 0, 0, 0]);
    }
    (UPTIME * 100) as c_long + ticks
}

/// `getrusage`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_getrusage(who: c_int, to: *mut [i64; 18]) -> c_int {
    let call = Call::take(bg_x_getrusage as *const c_void);
    call.result_id(0);
    let result = getrusage(who, to);
    if pinned() && result == 0 {
        let now = now();
        let mut usage = [0; 18];
        usage[0] = (now / 1_000_000_000) as i64;
        usage[1] = (now / 1_000 % 1_000_000) as i64;
        put(to, usage);
    }
    result
}

/// Sleeps, without sleeping. Where others run beside the recorded thread they get a moment.
unsafe fn rest(nanoseconds: u64) {
    advance(nanoseconds);
    let saved = sys::Errno::save();
    if process::has_others() && nanoseconds > 0 {
        let moment = Time {
            seconds: 0,
            fraction: nanoseconds.min(20_000_000) as i64,
        };
        nanosleep(&moment, core::ptr::null_mut());
    } else {
        sched_yield();
    }
    saved.restore();
}

/// `sleep`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_sleep(seconds: c_uint) -> c_uint {
    let mut call = Call::take(bg_x_sleep as *const c_void);
    let result = call.outside(|| {
        if !pinned() {
            return sleep(seconds);
        }
        rest(u64::from(seconds) * 1_000_000_000);
        0
    });
    call.result_id(0);
    result
}

/// `usleep`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_usleep(microseconds: c_uint) -> c_int {
    let mut call = Call::take(bg_x_usleep as *const c_void);
    let result = call.outside(|| {
        if !pinned() {
            return usleep(microseconds);
        }
        rest(u64::from(microseconds) * 1_000);
        0
    });
    call.result_id(0);
    result
}

/// The length of a sleep; `None` if it is none.
unsafe fn length(wanted: *const Time) -> Option<u64> {
    let wanted = *wanted;
    if wanted.seconds < 0 || !(0..1_000_000_000).contains(&wanted.fraction) {
        return None;
    }
    Some(
        (wanted.seconds as u64)
            .saturating_mul(1_000_000_000)
            .saturating_add(wanted.fraction as u64),
    )
}

/// `nanosleep`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_nanosleep(wanted: *const Time, left: *mut Time) -> c_int {
    let mut call = Call::take(bg_x_nanosleep as *const c_void);
    let result = call.outside(|| {
        if !pinned() || wanted.is_null() {
            return nanosleep(wanted, left);
        }
        let Some(length) = length(wanted) else {
            set_errno(EINVAL);
            return -1;
        };
        rest(length);
        0
    });
    call.result_id(0);
    result
}

/// `clock_nanosleep`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_clock_nanosleep(
    which: c_int,
    flags: c_int,
    wanted: *const Time,
    left: *mut Time,
) -> c_int {
    let mut call = Call::take(bg_x_clock_nanosleep as *const c_void);
    let result = call.outside(|| {
        // The thread's own time is no clock to sleep by.
        if !pinned() || wanted.is_null() || which == 3 || shows(which).is_none() {
            return clock_nanosleep(which, flags, wanted, left);
        }
        let Some(length) = length(wanted) else {
            return EINVAL;
        };
        let until_then = if flags & 1 == 0 {
            length
        } else {
            length.saturating_sub(shows(which).unwrap_or(0))
        };
        rest(until_then);
        0
    });
    call.result_id(0);
    result
}

/// Whether process numbers are pinned: in the recorded process. Its children know each other, and their
/// parent, by their real numbers.
fn numbers_pinned() -> bool {
    // SAFETY: the recorder's own state.
    unsafe { !(*state()).header.is_null() }
}

/// The process that the program means.
pub fn real_pid(pid: c_int) -> c_int {
    if !numbers_pinned() {
        return pid;
    }
    // SAFETY: only asks.
    unsafe {
        match pid {
            PID => getpid(),
            PARENT => getppid(),
            _ if pid == -PID => -getpid(),
            _ => pid,
        }
    }
}

/// `getpid`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_getpid() -> c_int {
    Call::take(bg_x_getpid as *const c_void).result_id(0);
    if numbers_pinned() { PID } else { getpid() }
}

/// `getppid`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_getppid() -> c_int {
    Call::take(bg_x_getppid as *const c_void).result_id(0);
    if numbers_pinned() { PARENT } else { getppid() }
}

/// `gettid`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_gettid() -> c_int {
    Call::take(bg_x_gettid as *const c_void).result_id(0);
    let real = gettid();
    if numbers_pinned() && real == getpid() {
        PID
    } else {
        real
    }
}

/// A process group or session, which is most often that of the recorded process.
unsafe fn group(real: c_int) -> c_int {
    if numbers_pinned() && real == getpid() {
        PID
    } else {
        real
    }
}

/// `getpgrp`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_getpgrp() -> c_int {
    Call::take(bg_x_getpgrp as *const c_void).result_id(0);
    group(getpgid(0))
}

/// `getpgid`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_getpgid(pid: c_int) -> c_int {
    Call::take(bg_x_getpgid as *const c_void).result_id(0);
    group(getpgid(real_pid(pid)))
}

/// `getsid`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_getsid(pid: c_int) -> c_int {
    Call::take(bg_x_getsid as *const c_void).result_id(0);
    group(getsid(real_pid(pid)))
}

/// `setpgid`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_setpgid(pid: c_int, group: c_int) -> c_int {
    Call::take(bg_x_setpgid as *const c_void).result_id(0);
    sys::setpgid(real_pid(pid), real_pid(group))
}

/// `sched_setaffinity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_sched_setaffinity(
    pid: c_int,
    size: usize,
    set: *const c_void,
) -> c_int {
    Call::take(bg_x_sched_setaffinity as *const c_void).result_id(0);
    sched_setaffinity(real_pid(pid), size, set)
}

/// `sched_getaffinity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_sched_getaffinity(
    pid: c_int,
    size: usize,
    set: *mut c_void,
) -> c_int {
    Call::take(bg_x_sched_getaffinity as *const c_void).result_id(0);
    let result = sched_getaffinity(real_pid(pid), size, set);
    if result == 0 {
        shadow::clear(set.cast(), size);
    }
    result
}

/// `getpriority`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_getpriority(which: c_int, who: c_uint) -> c_int {
    Call::take(bg_x_getpriority as *const c_void).result_id(0);
    getpriority(which, real_pid(who as c_int) as c_uint)
}

/// `setpriority`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_setpriority(which: c_int, who: c_uint, priority: c_int) -> c_int {
    Call::take(bg_x_setpriority as *const c_void).result_id(0);
    setpriority(which, real_pid(who as c_int) as c_uint, priority)
}

/// The next of the numbers that stand for chance.
pub fn chance() -> u64 {
    let mut x = CHANCE.load(Relaxed);
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    CHANCE.store(x, Relaxed);
    x.wrapping_mul(0x2545_f491_4f6c_dd1d)
}

unsafe fn fill(to: *mut u8, len: usize) {
    let mut word = 0;
    for i in 0..len {
        if i % 8 == 0 {
            word = chance();
        }
        *to.add(i) = word as u8;
        word >>= 8;
    }
    shadow::clear(to, len);
}

/// `getrandom`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_getrandom(to: *mut c_void, len: usize, flags: c_uint) -> isize {
    let call = Call::take(bg_x_getrandom as *const c_void);
    call.result_id(0);
    // More than that, or unknown flags, and the kernel has something to say.
    if !pinned() || flags > 7 || flags & 6 == 6 || to.is_null() || len > 1 << 25 {
        return getrandom(to, len, flags);
    }
    fill(to.cast(), len);
    len as isize
}

/// `getentropy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_getentropy(to: *mut c_void, len: usize) -> c_int {
    let call = Call::take(bg_x_getentropy as *const c_void);
    call.result_id(0);
    if !pinned() {
        return getentropy(to, len);
    }
    if len > 256 {
        set_errno(EIO);
        return -1;
    }
    fill(to.cast(), len);
    0
}

/// Real chance, for a program that runs on its own; libc has `arc4random` only since 2.36.
unsafe fn word() -> u32 {
    if pinned() {
        return (chance() >> 32) as u32;
    }
    let mut word = 0u32;
    let saved = sys::Errno::save();
    getentropy((&raw mut word).cast(), 4);
    saved.restore();
    word
}

/// `arc4random`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_arc4random() -> u32 {
    Call::take(bg_x_arc4random as *const c_void).result_id(0);
    word()
}

/// `arc4random_buf`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_arc4random_buf(to: *mut c_void, len: usize) {
    Call::take(bg_x_arc4random_buf as *const c_void).result_id(0);
    if pinned() {
        fill(to.cast(), len);
        return;
    }
    for i in 0..len {
        *to.cast::<u8>().add(i) = word() as u8;
    }
}

/// `arc4random_uniform`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_arc4random_uniform(bound: u32) -> u32 {
    Call::take(bg_x_arc4random_uniform as *const c_void).result_id(0);
    if bound < 2 {
        return 0;
    }
    let least = bound.wrapping_neg().checked_rem(bound).unwrap_or(0);
    loop {
        let word = word();
        if word >= least {
            return word.checked_rem(bound).unwrap_or(0);
        }
    }
}

/// `gethostname`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_gethostname(to: *mut c_char, len: usize) -> c_int {
    let call = Call::take(bg_x_gethostname as *const c_void);
    call.result_id(0);
    if !pinned() {
        return gethostname(to, len);
    }
    let name = HOST.to_bytes_with_nul();
    for (i, b) in name.iter().enumerate().take(len) {
        *to.add(i) = *b as c_char;
    }
    shadow::clear(to.cast(), len.min(name.len()));
    if len < name.len() {
        set_errno(ENAMETOOLONG);
        return -1;
    }
    0
}

/// `uname`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bg_x_uname(to: *mut [c_char; 390]) -> c_int {
    let call = Call::take(bg_x_uname as *const c_void);
    call.result_id(0);
    let result = uname(to);
    if pinned() && result == 0 {
        shadow::clear(to.cast(), 390);
        // The second of six fields of 65 characters.
        let node = to.cast::<c_char>().add(65);
        core::ptr::write_bytes(node, 0, 65);
        for (i, b) in HOST.to_bytes().iter().enumerate() {
            *node.add(i) = *b as c_char;
        }
    }
    result
}

/// What to open in the place of a device that gives something else each time.
pub fn device(path: &CStr) -> Option<&'static CStr> {
    let chance: &[&[u8]] = &[b"/dev/urandom", b"/dev/random", b"/dev/hwrng"];
    (pinned() && chance.contains(&path.to_bytes())).then_some(c"/dev/zero")
}
