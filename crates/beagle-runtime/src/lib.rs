//! Lives inside the program under test: follows how its values depend on the input, and logs what it
//! decides and prints.
//!
//! Linked in as a static library. Nothing here may panic, take memory from the program's heap, take a
//! lock, change `errno`, or print. Entry points for instrumented code are in [`ops`], replacements of
//! libc functions in [`libc`], the start of the program and the fork server in `start` and `server`.
//!
//! `beagle_inside` is set when it is compiled to be linked into programs, by the build script of
//! `beagle-instrument`; Cargo itself compiles it only for its tests.
//!
//! All state belongs to the one thread that is recorded; [`slots::enter`] keeps others out, and signal
//! handlers too.
#![cfg_attr(beagle_inside, no_std)]
#![allow(unsafe_op_in_unsafe_fn)]
// A test fails by panicking; the code itself is checked without tests.
#![cfg_attr(
    test,
    allow(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::manual_c_str_literals
    )
)]

pub mod aliasing;
pub mod call;
pub mod expr;
pub mod fold;
pub mod input;
pub mod libc;
pub mod log;
pub mod object;
pub mod ops;
#[cfg(not(test))]
pub mod server;
pub mod shadow;
pub mod slots;
pub mod start;
pub mod state;
pub mod sys;
pub mod table;
pub mod variadic;

#[cfg(test)]
mod harness;
#[cfg(test)]
mod properties;

#[cfg(beagle_inside)]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // Not reachable as far as we know; if it is, the trace says so and the run counts for nothing.
    state::stop(beagle_trace::layout::STOP_BROKEN);
    unsafe { sys::abort() }
}
