//! What passes between caller and callee beside the values, and who may use the recorder.

use core::ffi::c_void;

use beagle_trace::layout::Loss;

/// The same structure as in `c/inline.c`, one for each thread.
#[repr(C)]
pub struct Slots {
    /// Set by a caller to the address of the function that it is about to call.
    pub callee: *const c_void,
    /// Set by a function to its own address before it returns.
    pub returner: *const c_void,
    /// Number of variadic arguments.
    pub va_count: u32,
    /// Site of the call of a replaced libc function.
    pub site: u32,
    /// Shadows of the fixed arguments.
    pub args: [u32; 128],
    /// Shadows of the result.
    pub rets: [u32; 32],
    /// Shadows of the variadic arguments.
    pub va: [u32; 64],
    /// How each variadic argument is passed.
    pub va_class: [u8; 64],
    /// Sources of the arguments that are copied.
    pub byval: [u64; 16],
    /// Where the next event goes.
    pub cursor: *mut u32,
    /// Where there is no more room for events.
    pub end: *mut u32,
    /// 1 in the thread that is recorded, while it is.
    pub recording: u32,
    /// 1 while that thread is inside the recorder.
    pub busy: u32,
}

#[cfg(not(test))]
unsafe extern "C" {
    fn bg_slots() -> *mut Slots;
}

/// This thread's slots.
pub fn slots() -> *mut Slots {
    #[cfg(not(test))]
    // SAFETY: only takes an address.
    unsafe {
        bg_slots()
    }
    #[cfg(test)]
    crate::harness::slots()
}

/// Held while inside the recorder; there is at most one.
pub struct Guard(*mut Slots);

/// Enters the recorder, if this thread is recorded and not inside already. What depends on the input
/// is lost otherwise, and counted.
pub fn enter() -> Option<Guard> {
    let slots = slots();
    // SAFETY: this thread's own slots.
    unsafe {
        if (*slots).recording == 0 {
            crate::log::count_outside(Loss::Thread);
            return None;
        }
        if (*slots).busy != 0 {
            crate::log::count_outside(Loss::Signal);
            return None;
        }
        (*slots).busy = 1;
    }
    Some(Guard(slots))
}

impl Drop for Guard {
    fn drop(&mut self) {
        // SAFETY: the slots from which it was made.
        unsafe { (*self.0).busy = 0 }
    }
}

/// Whether this thread is recorded now.
pub fn recording() -> bool {
    // SAFETY: this thread's own slots.
    unsafe { (*slots()).recording != 0 }
}
