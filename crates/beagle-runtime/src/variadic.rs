//! Variadic arguments, as the x86-64 calling convention lays them out.

use core::ffi::c_void;

use crate::expr::Val;
use crate::shadow;
use crate::slots;

/// A `va_list`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct VaList {
    gp_offset: u32,
    fp_offset: u32,
    overflow: *mut u8,
    save: *mut u8,
}

/// Variadic slots as `bg_va_save` keeps them.
#[repr(C)]
pub struct Saved {
    count: u32,
    va: [u32; 64],
    class: [u8; 64],
}

impl VaList {
    /// No arguments.
    pub const EMPTY: Self = Self {
        gp_offset: 48,
        fp_offset: 176,
        overflow: core::ptr::null_mut(),
        save: core::ptr::null_mut(),
    };

    /// Where the next argument lies that was passed in a general register.
    pub unsafe fn next_general(&mut self) -> *mut u8 {
        if self.gp_offset < 48 {
            let at = self.save.add(self.gp_offset as usize);
            self.gp_offset += 8;
            return at;
        }
        self.next_memory(1)
    }

    /// Where the next argument lies that was passed in an SSE register.
    pub unsafe fn next_float(&mut self) -> *mut u8 {
        if self.fp_offset < 176 {
            let at = self.save.add(self.fp_offset as usize);
            self.fp_offset += 16;
            return at;
        }
        self.next_memory(1)
    }

    /// Where the next argument of so many eight bytes lies that was passed in memory.
    pub unsafe fn next_memory(&mut self, eights: usize) -> *mut u8 {
        if eights > 1 {
            // Only `long double` and structures with it; both are aligned to 16.
            self.overflow = ((self.overflow as usize + 15) & !15) as *mut u8;
        }
        let at = self.overflow;
        self.overflow = at.add(8 * eights);
        at
    }

    /// The next argument, an integer or pointer of so many bytes (4 or 8).
    pub unsafe fn integer(&mut self, bytes: usize) -> Val {
        shadow::load(self.next_general(), bytes)
    }

    /// The next argument, a `double`.
    pub unsafe fn double(&mut self) -> Val {
        shadow::load(self.next_float(), 8)
    }
}

/// After `va_start`: the shadows of the arguments go where the arguments lie.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bgr_va_start(list: *const VaList, saved: *const Saved) {
    let mut list = *list;
    let recording = slots::recording();
    for i in 0..((*saved).count as usize).min(64) {
        let (Some(id), Some(class)) = ((*saved).va.get(i), (*saved).class.get(i)) else {
            return;
        };
        let (at, bytes) = match class {
            0 => (list.next_general(), 8),
            1 => (list.next_float(), 8),
            n => {
                let eights = (n & 0x7f) as usize;
                (list.next_memory(eights), 8 * eights)
            }
        };
        if *id == 0 || bytes != 8 || !recording {
            shadow::clear(at, bytes);
        } else if let Some(_inside) = slots::enter() {
            let v = crate::expr::node(*id);
            shadow::store(at, if v.width <= 32 { 4 } else { 8 }, v);
            if v.width <= 32 {
                shadow::clear(at.add(4), 4);
            }
        }
    }
}

/// A `va_list` that C code passed by its address.
pub unsafe fn list(at: *mut c_void) -> VaList {
    *at.cast()
}
