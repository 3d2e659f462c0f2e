//! The subject programs under `subjects/`: C programs with version pairs whose truth is known.
//!
//! Tests and benchmarks of all crates take their programs from here. Start at [`subjects`], which
//! loads everything there is, then build a [`Version`] in a [`Workshop`] and [`run`] an [`Input`]
//! on it. [`hunks`] splits the textual difference of two versions and applies parts of it;
//! [`mutate`] makes further versions by machine, each with one small change.
//!
//! This crate knows what is true about a pair, not how Beagle finds it out: of the workspace only
//! the hunks are used here, and they are held against those of `diff`, so a mistake in Beagle cannot
//! hide itself in what it is measured by.

mod error;
mod expectation;
pub mod hunks;
mod load;
pub mod mutate;
mod native;
mod pair;
mod process;
mod raw;
mod subject;

pub use error::{Error, Result};
pub use expectation::{Expected, Observation, Outcome};
pub use load::{root, subjects};
pub use native::{Flavour, TIME_LIMIT, Workshop, build, check, run, warnings};
pub use pair::{Difference, Input, Kind, Pair, Sanitizer};
pub use subject::{InputShape, Source, Subject, Version};

/// A number from the environment that says how much a benchmark does.
pub fn number(name: &str, usual: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.map_or(usual, |text| {
        let number = text.parse();
        number.unwrap_or_else(|_| panic!("{name}={text} is not a number"))
    })
}

/// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
