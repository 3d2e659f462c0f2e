//! From bitcode to a [`Program`]: functions, blocks and statements with their places in the
//! source, and what depends on what.
//!
//! This crate knows one program at a time; two versions meet in `beagle-change`. Start at
//! [`Program::load`], then at [`Dependence::of`] for slices.

mod calls;
mod dependence;
mod externals;
mod flow;
mod lift;
mod lift_debug;
mod locals;
mod meet;
mod model;
mod neighbours;
mod options;
mod order;
mod points_to;
mod reach;
mod slice;
mod turning;
mod ways;

pub use beagle_llvm::LoadError;
pub use calls::CallGraph;
pub use dependence::{Dependence, Fact};
pub use externals::{Effects, Points};
pub use flow::{Control, Flow};
pub use meet::Influences;
pub use model::*;
pub use options::{CommandOption, command_options};
pub use order::{Marks, Order};
pub use points_to::{CellId, Object, PointsTo};
pub use reach::{Reached, reachable_from};
pub use slice::Slice;
pub use turning::Turn;
