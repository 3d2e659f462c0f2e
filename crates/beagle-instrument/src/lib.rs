//! From the bitcode of a program to an executable that records what it does with its input.
//!
//! Beside every value of the program goes a *shadow*: the number of the expression over the input
//! that the value is, or 0. [`instrument`] adds the code that computes shadows, records branches and
//! calls, and replaces libc functions by ones that know about shadows; the rest is done by the
//! runtime (`beagle-runtime`), which is linked in.
//!
//! Everything is straight-line calls of helpers that the optimiser inlines, so the control flow is
//! that of the source. This crate knows nothing of versions or of search: which statement has which
//! number is the caller's to say.

mod assets;
mod calls;
mod cast;
mod classify;
mod control;
mod emit;
mod error;
mod function;
mod helpers;
mod internal;
mod intrinsics;
mod lane;
mod leaves;
mod link;
mod memory;
mod number;
mod pipeline;
mod reach;
mod replace;
mod scalar;
mod sober;
mod symbols;
mod table;
mod vector;

pub use error::Error;
pub use lane::{Lane, LaneBlock, lane};
pub use pipeline::{Instrumented, Optimise, Options, Times, instrument};

use std::path::Path;

/// Which numbers the events of the trace carry.
pub struct Ids<'a> {
    /// The number of each statement, by `StmtId`: statements are all instructions of all defined
    /// functions in the order of the module, but for those that only carry debug information.
    pub stmts: &'a [u32],
    /// The number of each function, by `FunctionId`: all functions in the order of the module, those
    /// that are only declared included.
    pub functions: &'a [u32],
    /// The statements (by the index of their `StmtId`) that are to record that they were executed.
    pub probes: &'a dyn Fn(u32) -> bool,
    /// The variable that each statement (by the index of its `StmtId`) puts a value into, if it is one
    /// that is watched, else 0: stores, and returns as far as the result is meant. Those beyond the end
    /// are not watched.
    pub watched: &'a [u32],
}

/// How to link the program, as `beagle_build::Built` has it.
#[derive(Clone, Copy, Debug)]
pub struct Link<'a> {
    /// Arguments for the compiler driver.
    pub args: &'a [String],
    /// The directory in which they mean what they say.
    pub dir: &'a Path,
}
