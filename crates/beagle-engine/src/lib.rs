//! Explores two versions of a program as one, and finds inputs on which they part.
//!
//! Both versions are run on an input; [`walk`] puts the two traces side by side; a [`Product`] makes
//! of them one path of conditions, with the questions that the run raises: what would make the
//! versions take different sides of a branch, write something different, do what they must not, or
//! go another way. The [`frontier`] keeps the questions, the techniques (`strategy`) tell which to
//! ask first, the [`Engine`] asks and runs what the solver answers. Whether a difference is one is
//! for the native programs to say, not for this crate.

mod affairs;
mod astray;
mod closing;
mod distance;
mod engine;
mod faults;
mod frontier;
mod guess;
mod insert;
mod loosen;
mod options;
mod order;
mod passed;
mod probe;
mod product;
mod question;
mod records;
mod region;
mod repeat;
mod resize;
mod scene;
mod sequences;
mod shape;
mod splice;
mod steps;
mod strategy;
mod streams;
mod traced;
mod trail;
mod twin;
mod walk;
mod word;

pub use distance::to_changes;
pub use engine::{
    Appetite, End, Engine, EngineError, Files, Glimpse, Listener, Look, Next, Options, Ran, Status,
    Survey,
};
pub use frontier::Account;
pub use order::Acts;
pub use probe::{Course, Probe, ProbeError, Probed};
pub use product::{Effect, Held, Product, Seen};
pub use question::From;
pub use scene::{Progress, Stopped};
pub use shape::{Bounds, Shape};
pub use steps::{Step, What};
pub use strategy::NAMES as STRATEGIES;
pub use streams::{Destination, Stream};
pub use traced::Traced;
pub use twin::{Half, Place, Side, Twin};
pub use walk::{Met, walk_one};
