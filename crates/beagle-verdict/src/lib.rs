//! Runs the real programs on an input, in a sandbox, and says what differs between them.
//!
//! [`Judge`] runs two versions and compares what can be seen from outside: how they end, what they
//! print, what they do to their files, what sanitizers say. [`minimise()`] makes an input small as long as it
//! shows the same difference, [`group()`] puts differences of the same cause together, and [`save`] keeps
//! them as tests. Nothing here knows how inputs are found.

mod class;
mod client;
mod compare;
mod error;
mod fault;
mod judge;
pub mod keeper;
mod observation;
mod room;
mod rules;
mod runner;
mod setting;
mod tree;

pub use class::{Class, Severity, Standing};
pub use compare::Aspects;
pub use error::Error;
pub use judge::{Comparison, Difference, Judge, Verdict};
pub use keeper::isolation::Isolation;
pub use observation::{Effect, End, Entry, Fault, FileChange, Observation, Stream};
pub use rules::Rules;
pub use setting::{KeeperCommand, Limits, Setting, Version, Which};
