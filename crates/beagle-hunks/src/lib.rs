//! The textual difference of two versions as numbered hunks, any of which can be applied alone.
//!
//! A hunk is what `diff -U0` prints under one `@@`: a run of removed lines, of added lines, or of
//! both, between lines that are the same. [`spans`] finds them in one file, [`Diff`] in whole
//! trees of files, where any set of them can be applied to old.
//!
//! Texts are bytes here: nothing is known of what they mean.

mod diff;
mod lines;
mod tree;

pub use diff::{Diff, Hunk, Set};
pub use lines::{Span, lines, spans};
pub use tree::{File, Kind, Tree, is_source, read, write};
