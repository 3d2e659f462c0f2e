//! Runs the real programs on an input, in a sandbox, and says what differs between them.
//!
//! [`Judge`] runs two versions and compares what can be seen from outside: how they end, what they
//! print, what they do to their files, what sanitizers say. [`minimise()`] makes an input small as long as it
//! shows the same difference, [`Groups`] puts differences of the same cause together, [`Variety`] has them
//! shown by characters of different kinds, and [`saved`] keeps them as tests. Nothing here knows how inputs are found.

mod class;
mod client;
mod compare;
mod error;
mod fault;
mod group;
mod judge;
pub mod keeper;
mod minimise;
mod observation;
mod room;
mod rules;
mod runner;
pub mod saved;
mod setting;
mod tree;
mod variety;

pub use class::{Class, Severity, Standing};
pub use compare::Aspects;
pub use error::Error;
pub use group::{Finding, Group, Groups};
pub use judge::{Comparison, Difference, Judge, Verdict};
pub use keeper::isolation::Isolation;
pub use minimise::{Budget, minimise, size};
pub use observation::{Effect, End, Entry, Fault, FileChange, Observation, Stream};
pub use rules::Rules;
pub use setting::{KeeperCommand, Limits, Setting, Version, Which};
pub use variety::Variety;
