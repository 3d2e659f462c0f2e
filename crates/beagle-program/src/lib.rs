//! From bitcode to a [`Program`]: functions, blocks and statements with their places in the
//! source, and what depends on what.
//!
//! This crate knows one program at a time; two versions meet in `beagle-change`. Start at
//! [`Program::load`], then at [`Dependence::of`] for slices.

mod lift;
mod lift_debug;
mod model;

pub use beagle_llvm::LoadError;
pub use model::*;
