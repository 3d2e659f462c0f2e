//! `beagle diff` as a whole: two versions in, a report and an exit status out.
//!
//! Most tests read the JSON (`docs/diff-json.md`). Numbers of runs are bounded, not times: a bound says how
//! many runs were seen when it was written, and leaves some room.

// A test that cannot go on should panic.
#![allow(clippy::unwrap_used)]

mod abuse;
mod alone;
mod astray;
mod command;
mod correlated;
mod lane;
mod nested;
mod papers;
mod passwords;
mod prune;
mod reach;
mod refactorings;
mod sequences;
mod spoilt;
mod support;
mod unsaid;
mod words;
