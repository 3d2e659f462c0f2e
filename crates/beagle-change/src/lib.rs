//! What changed between two versions of a program, in meaning rather than in text.
//!
//! Two [`Program`](beagle_program::Program)s go in; a [`Comparison`] comes out: which functions,
//! variables, blocks and statements correspond, one numbering for both versions, and the changes,
//! tied to the hunks of the textual difference. This crate knows nothing of execution.
//!
//! Start at [`compare`]. The rules of what counts as a change are in `token` and `shape`.

mod address;
mod align;
mod comparison;
mod deciding;
mod hunks;
mod influence;
mod irrelevant;
mod macros;
mod matching;
mod numbering;
mod numbers;
mod shape;
mod size;
mod source;
mod token;
mod variable;
mod watch;

pub use comparison::{Change, Comparison, Kind, Line, Subject, compare};
pub use hunks::Hunk;
pub use influence::{Analysed, Influence, changed_facts};
pub use irrelevant::{Counts, Irrelevance, Phase, Way};
pub use matching::Pair;
pub use numbering::Numbering;
pub use numbers::{Changed, Numbers};
pub use source::SourceTree;
pub use watch::{Attention, DECIDING, Deciders, Scope, Watched};
