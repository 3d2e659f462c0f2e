//! Which lines of two texts differ.

use std::hash::Hash;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Lines of old, and what is there instead in new. The ranges count from 0; an empty one says
/// before which line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The lines of old.
    pub old: Range<usize>,
    /// The lines of new.
    pub new: Range<usize>,
}

/// The runs of lines that differ, in order. Between two of them is at least one line that is the
/// same.
pub fn spans<T: Hash + Eq + Ord>(old: &[T], new: &[T]) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for op in capture_diff_slices(Algorithm::Patience, old, new) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (old, new) = (op.old_range(), op.new_range());
        match spans.last_mut() {
            // A removal and an addition at one place are one hunk.
            Some(last) if last.old.end == old.start && last.new.end == new.start => {
                last.old.end = old.end;
                last.new.end = new.end;
            }
            _ => spans.push(Span { old, new }),
        }
    }
    spans
}

/// The lines of a text with their ends, so that a missing newline at the end is a difference.
pub fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(old: &str, new: &str) -> Vec<(Range<usize>, Range<usize>)> {
        let spans = spans(&lines(old.as_bytes()), &lines(new.as_bytes()));
        spans.into_iter().map(|span| (span.old, span.new)).collect()
    }

    #[test]
    fn a_replaced_an_added_and_a_removed_run_are_three() {
        let found = ranges("a\nb\nc\nd\ne\n", "a\nB\nB\nc\nx\nd\n");
        assert_eq!(found, [(1..2, 1..3), (3..3, 4..5), (4..5, 6..6)]);
    }

    #[test]
    fn changes_on_adjacent_lines_are_one() {
        assert_eq!(ranges("a\nb\nc\n", "A\nB\nc\n"), [(0..2, 0..2)]);
    }

    #[test]
    fn equal_texts_have_none() {
        assert!(ranges("a\n", "a\n").is_empty());
        assert!(ranges("", "").is_empty());
    }

    #[test]
    fn a_missing_newline_at_the_end_is_a_difference() {
        assert_eq!(ranges("a\nb", "a\nb\n"), [(1..2, 1..2)]);
    }
}
