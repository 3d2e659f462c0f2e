//! The directory in which a program under test may do what it likes, and keeps it in there.
//!
//! Traced and native runs have such a directory alike: [`tree`] fills and empties it, [`confine`] lets
//! nothing be written outside.

mod confine;
pub mod tree;

pub use confine::confine;
