//! `longjmp`: where it left from.
//!
//! `setjmp` is not replaced: it must return twice to the function that called it. That function tells
//! when it came back (`bgr_unwound`), and asks here how deep the stack was.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use beagle_trace::event::ASSUME_VALUE;

use crate::call::Call;
use crate::log;

unsafe extern "C" {
    fn longjmp(to: *mut c_void, value: c_int) -> !;
    fn _longjmp(to: *mut c_void, value: c_int) -> !;
    fn siglongjmp(to: *mut c_void, value: c_int) -> !;
    fn __longjmp_chk(to: *mut c_void, value: c_int) -> !;
}

static LOWEST: AtomicUsize = AtomicUsize::new(0);

/// The stack pointer where the last jump left from; 0 if there was none. All that lies between it and the
/// function that a jump came back to is gone.
pub fn lowest() -> usize {
    LOWEST.load(Relaxed)
}

macro_rules! jumps {
    ($($name:ident => $real:ident;)*) => {$(
        #[doc = concat!("`", stringify!($real), "`.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(to: *mut c_void, value: c_int) -> ! {
            let mut call = Call::take($name as *const c_void);
            if call.recorded() {
                LOWEST.store((&raw const call) as usize, Relaxed);
                // What `setjmp` returns has no shadow.
                log::pin(call.site, ASSUME_VALUE, call.int(1, value));
            }
            call.outside(|| $real(to, value))
        }
    )*};
}

jumps! {
    bg_x_longjmp => longjmp;
    bg_x__longjmp => _longjmp;
    bg_x_siglongjmp => siglongjmp;
    bg_x___longjmp_chk => __longjmp_chk;
}
