//! Results, for people and for machines.
//!
//! A report is built once, as plain data ([`changes::Report`], [`diff::Report`],
//! [`blame::Report`], [`explain::Report`], [`trace::Report`]), and then written as text or as JSON, so the two cannot disagree. Nothing here analyses or decides anything, and nothing here
//! prints: the caller says where the text goes.

pub mod blame;
pub mod changes;
mod changes_text;
pub mod coverage;
pub mod diff;
mod diff_text;
pub mod explain;
mod fit;
pub mod graph;
pub mod record;
pub mod replay;
pub mod trace;
mod trace_text;
pub mod words;
