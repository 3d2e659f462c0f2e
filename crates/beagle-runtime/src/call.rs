//! How replaced libc functions take part in the program's calls.

use core::ffi::c_void;

use crate::expr::Val;
use crate::slots::{Guard, Slots, enter, slots};

/// One call of a replaced function: the shadows of its arguments, and the place for that of its result.
///
/// Made first thing in the function, with its own address; the slots are used again by the next call.
pub struct Call {
    args: [u32; 12],
    /// The site of the call.
    pub site: u32,
    own: *const c_void,
    slots: *mut Slots,
    guard: Option<Guard>,
}

impl Call {
    /// Takes the arguments' shadows, if the slots are for this call of the function at `own`.
    pub fn take(own: *const c_void) -> Self {
        let slots = slots();
        // SAFETY: this thread's own slots.
        unsafe {
            let valid = (*slots).callee == own;
            (*slots).callee = core::ptr::null();
            let mut args = [0; 12];
            let mut site = 0;
            if valid {
                for (to, from) in args.iter_mut().zip(&(*slots).args) {
                    *to = *from;
                }
                site = (*slots).site;
            }
            // Not an error if it fails: another thread, or nothing is recorded. Then all is concrete.
            let guard = if (*slots).recording != 0 {
                enter()
            } else {
                None
            };
            Self {
                args,
                site,
                own,
                slots,
                guard,
            }
        }
    }

    /// Whether the call is recorded; if not, the function does just what it would natively.
    pub fn recorded(&self) -> bool {
        self.guard.is_some()
    }

    /// Argument `i` (leaf by leaf, as they are passed), whose concrete value is `value`.
    pub fn arg(&self, i: usize, value: u128, width: u16) -> Val {
        let id = if self.recorded() {
            self.args.get(i).copied().unwrap_or(0)
        } else {
            0
        };
        Val::shadowed(id, value, width)
    }

    /// An `int` argument.
    pub fn int(&self, i: usize, value: i32) -> Val {
        self.arg(i, u128::from(value as u32), 32)
    }

    /// A `size_t` or pointer argument.
    pub fn word(&self, i: usize, value: usize) -> Val {
        self.arg(i, value as u128, 64)
    }

    /// Says what the function returns: a value whose shadow the caller gets.
    pub fn result(&self, value: Val) {
        self.result_id(value.id);
    }

    /// As [`Call::result`], with the number of a node.
    pub fn result_id(&self, id: u32) {
        // SAFETY: this thread's own slots.
        unsafe {
            if let Some(first) = (*self.slots).rets.first_mut() {
                *first = id;
            }
            (*self.slots).returner = self.own;
        }
    }

    /// Leaves the recorder while libc runs: it may call back into the program, or not come back.
    pub fn outside<T>(&mut self, run: impl FnOnce() -> T) -> T {
        let inside = self.guard.take().is_some();
        let result = run();
        if inside {
            self.guard = enter();
        }
        result
    }
}
