//! Inputs in which a part is as much longer or shorter as a number in it became greater or less.
//!
//! A number that says how long what follows is, is just one more number to an answer: it changes the number and leaves
//! the bytes, and all that comes after is then read from the wrong place on. With as many bytes more at the end of
//! the part, or fewer, the rest is where it was. Which number says how long something is nobody knows, so it is a guess;
//! a check sum of the part is put right by the next run.

use std::ops::Range;

use beagle_solver::SourceKey;
use beagle_trace::Input;

use crate::records::Outline;
use crate::shape::Shape;

/// A part of a source and what is to stand there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Resize {
    /// The index of the source.
    source: usize,
    /// Where the part is.
    range: Range<usize>,
    bytes: Vec<u8>,
}

/// No more bytes are added or taken away.
const MOST: i64 = 32;

/// The most bytes of a number.
const LONGEST_NUMBER: usize = 4;

impl Resize {
    /// What an answer made of one of the parts of an input, longer or shorter by as much as the first number in it that
    /// changed. Nothing if it changed anything else, or if the number is a text.
    pub fn of(from: &Input, to: &Input, parts: &Outline) -> Option<Self> {
        if from.sources.len() != to.sources.len() {
            return None;
        }
        let sources = from.sources.iter().zip(&to.sources).enumerate();
        let mut changed = sources.filter(|(_, (from, to))| from.content() != to.content());
        let (source, (from, to)) = changed.next().filter(|_| changed.next().is_none())?;
        let (from, to) = (from.content(), to.content());
        if source != parts.source || from.len() != to.len() {
            return None;
        }
        let differs = |at: &usize| from[*at] != to[*at];
        let first = (0..from.len()).find(differs)?;
        let last = (0..from.len()).rfind(differs)?;
        let part = parts.range(parts.holding(first));
        if !part.contains(&last) {
            return None;
        }
        // What was not looked at may be more than one.
        let range = part.start..part.end.min(parts.seen.max(last + 1));
        let end = (first..=last).find(|at| !differs(at)).unwrap_or(last + 1);
        let more = difference(&from[first..end], &to[first..end])?;
        let mut bytes = to[range.clone()].to_vec();
        let size = i64::try_from(bytes.len()).ok()?.checked_add(more)?;
        let size = usize::try_from(size).ok().filter(|&size| size > 0)?;
        bytes.resize(size, *bytes.last()?);
        Some(Self {
            source,
            range,
            bytes,
        })
    }

    /// How much longer the part is.
    pub fn more(&self) -> i64 {
        self.bytes.len() as i64 - self.range.len() as i64
    }

    /// The input with it, if inputs of this shape can have it.
    pub fn put(&self, input: &Input, shape: &Shape) -> Option<Input> {
        let key = &SourceKey::of_input(input)[self.source];
        let more = usize::try_from(self.more()).unwrap_or(0);
        if !shape.has_room(key, input, self.source, more) {
            return None;
        }
        let mut input = input.clone();
        let bytes = &mut input.sources[self.source].bytes;
        let end = self.range.end.min(bytes.len());
        let start = self.range.start.min(end);
        bytes.splice(start..end, self.bytes.iter().copied());
        shape.keep_to(&mut input);
        Some(input)
    }
}

/// By how much a number became greater, whichever of its bytes comes first.
fn difference(from: &[u8], to: &[u8]) -> Option<i64> {
    let is_text = |bytes: &[u8]| bytes.iter().all(|byte| matches!(byte, b' '..=b'~'));
    if from.len() > LONGEST_NUMBER || is_text(from) && is_text(to) {
        return None;
    }
    let number = |all: i64, byte: &u8| all << 8 | i64::from(*byte);
    let big = to.iter().fold(0, number) - from.iter().fold(0, number);
    let little = to.iter().rev().fold(0, number) - from.iter().rev().fold(0, number);
    let least = [big, little].into_iter().min_by_key(|more| more.abs())?;
    (least.abs() <= MOST).then_some(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three parts, each with its length, that many bytes and a sum.
    const PARTS: &[u8] = b"\x02ab\xc5\x00\x03abc\x28\x01x\x79";

    fn input(bytes: &[u8]) -> Input {
        Input::from_args("p", ["-x"]).with_stdin(bytes)
    }

    fn outline() -> Outline {
        let source = input(PARTS).sources.len() - 1;
        let ends = vec![4, 10, PARTS.len()];
        let seen = PARTS.len();
        Outline { source, ends, seen }
    }

    fn put(to: &[u8]) -> Option<Input> {
        put_in(&outline(), to)
    }

    fn put_in(outline: &Outline, to: &[u8]) -> Option<Input> {
        let from = input(PARTS);
        let resize = Resize::of(&from, &input(to), outline)?;
        resize.put(&from, &Shape::default())
    }

    #[test]
    fn a_part_grows_and_shrinks_with_a_number_in_it() {
        let grown = put(b"\x02ab\xc5\x00\x05abc\x28\x01x\x79").unwrap();
        let content = b"\x02ab\xc5\x00\x05abc\x28\x28\x28\x01x\x79";
        assert_eq!(grown, input(content));
        // What else the answer did in it stays.
        let shrunk = put(b"\x02ab\xc5\x00\x02abd\x28\x01x\x79").unwrap();
        assert_eq!(shrunk, input(b"\x02ab\xc5\x00\x02abd\x01x\x79"));
    }

    #[test]
    fn a_part_ends_where_the_program_gave_up() {
        let outline = Outline {
            ends: vec![4, PARTS.len()],
            seen: 10,
            ..outline()
        };
        let grown = put_in(&outline, b"\x02ab\xc5\x00\x04abc\x28\x01x\x79").unwrap();
        assert_eq!(grown, input(b"\x02ab\xc5\x00\x04abc\x28\x28\x01x\x79"));
    }

    #[test]
    fn numbers_may_have_several_bytes() {
        assert_eq!(difference(b"\x00\xff", b"\x01\x01"), Some(2));
        assert_eq!(difference(b"\xff\x00", b"\x00\x01"), Some(1));
        assert_eq!(difference(b"\x10", b"\x0f"), Some(-1));
        assert_eq!(difference(b"\x00", b"\xff"), None);
    }

    #[test]
    fn an_answer_that_does_more_is_left_alone() {
        // The same, a text, two parts, all of a part.
        for to in [
            &b"\x02ab\xc5\x00\x03abc\x28\x01x\x79"[..],
            b"\x02ac\xc5\x00\x03abc\x28\x01x\x79",
            b"\x03ab\xc5\x00\x04abc\x28\x01x\x79",
            b"\x02ab\xc5\x00\x03abc\x28\x01x\x59",
        ] {
            assert_eq!(put(to), None, "{to:?}");
        }
        assert_eq!(put(&PARTS[1..]), None);
    }
}
