//! The whole command as a user meets it: words in, text and exit status out.
//!
//! Each test has a directory and a cache of its own. Messages that people read are snapshots;
//! `INSTA_UPDATE=always cargo test -p beagle` writes them anew.

// A test that cannot go on should panic.
#![allow(clippy::unwrap_used)]

mod bad_input;
mod blame;
mod cache;
mod compiler;
mod config;
mod dialects;
mod doctor;
mod entries;
mod git;
mod graph;
mod help;
mod json;
mod meaning;
mod options;
mod pairs;
mod record;
mod replay;
mod size;
mod support;
mod trace;
mod untouched;
