//! The fast lane: both versions natively, run after run inside one process each, with what they execute
//! as a guide.
//!
//! A program of the lane (`beagle_instrument::lane`) puts its memory back after each run and answers its
//! own system calls from memory, so a run takes a few microseconds. A [`Process`] is one version; it gets
//! inputs in batches. The [`Fuzzer`] makes the inputs. Nothing here is a difference: what differs is for
//! the real programs to confirm.
//!
//! | module | knows |
//! | --- | --- |
//! | `process` | one version, and how to give it inputs |
//! | `wire` | how that lies in shared memory |
//! | `fuzzer` | what to run next, and what of it is worth keeping |
//! | `corpus` | what was kept, and which of it comes next |
//! | `mutate` | words, lines and bytes: new inputs from old ones |
//! | `text` | words of a text |
//! | `parts` | parts of inputs that programs take as a whole |
//! | `substitute` | new inputs from what a run compared |
//! | `space`, `tokens` | what has to stay, and what may go in |

mod chance;
mod corpus;
mod error;
mod fuzzer;
mod mutate;
mod outcome;
mod parts;
mod process;
mod space;
mod substitute;
mod text;
mod tokens;
mod wire;

pub use chance::Chance;
pub use error::Error;
pub use fuzzer::{Fuzzer, News, Status};
pub use mutate::Mutator;
pub use outcome::Outcome;
pub use parts::{Part, Parts};
pub use process::{Batch, Mode, Process, Setup};
pub use space::{Bounds, Key, Space};
pub use tokens::Tokens;
pub use wire::{Compared, Mark, Written};
