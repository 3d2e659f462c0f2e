//! Inputs with a few bytes more, where an answer would put them in the place of others.
//!
//! An answer changes bytes and leaves the others where they are. What follows in a text then often no longer fits: an
//! operator that becomes longer takes the place of its operand, a quote that of what it is to enclose. The bytes in
//! front of what was there do what was asked for and leave the rest as it is. And where the first character of a
//! word cannot be what is wanted, the next one may be.

use beagle_solver::SourceKey;
use beagle_trace::Input;

use crate::shape::Shape;

/// Bytes to put into an input.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Insert {
    /// The index of the source.
    source: usize,
    /// What they come before.
    at: usize,
    bytes: Vec<u8>,
}

/// Longer runs of bytes are no sign.
const LONGEST: usize = 4;

/// Longer words are not said again.
const LONGEST_WORD: usize = 16;

impl Insert {
    /// These bytes into the source of this index, before the byte of that one.
    pub fn new(source: usize, at: usize, bytes: Vec<u8>) -> Self {
        Self { source, at, bytes }
    }

    /// Before the bytes that an answer changed, what it made of them; behind a source that it made longer, what it
    /// put there and the last word again. Nothing if it did more than that.
    pub fn of(from: &Input, to: &Input) -> Option<Self> {
        if from.sources.len() != to.sources.len() {
            return None;
        }
        let sources = from.sources.iter().zip(&to.sources).enumerate();
        let mut changed = sources.filter(|(_, (from, to))| from.content() != to.content());
        let (source, (from, to)) = changed.next().filter(|_| changed.next().is_none())?;
        let (from, to) = (from.content(), to.content());
        if let Some(added) = to.strip_prefix(from) {
            let added = Self {
                source,
                at: from.len(),
                bytes: added.to_vec(),
            };
            let is_short = added.bytes.len() <= LONGEST;
            return added.with_word(from).filter(|_| is_short);
        }
        if from.len() != to.len() {
            return None;
        }
        let differs = |at: &usize| from[*at] != to[*at];
        let first = (0..from.len()).find(differs)?;
        let last = (0..from.len()).rfind(differs)?;
        (last - first < LONGEST).then(|| Self {
            source,
            at: first,
            bytes: to[first..=last].to_vec(),
        })
    }

    /// With the word before it again behind it: a sign between words wants another word.
    pub fn with_word_of(&self, input: &Input) -> Option<Self> {
        self.with_word(&input.sources.get(self.source)?.bytes)
    }

    fn with_word(&self, bytes: &[u8]) -> Option<Self> {
        let before = bytes.get(..self.at)?;
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric();
        let length = before.iter().rev().take_while(|byte| is_word(byte)).count();
        let is_sign = self.bytes.last().is_some_and(|byte| !is_word(byte));
        (is_sign && (1..=LONGEST_WORD).contains(&length)).then(|| {
            let word = &before[before.len() - length..];
            Self {
                bytes: [&self.bytes, word].concat(),
                ..self.clone()
            }
        })
    }

    /// The same behind these bytes.
    pub fn behind(self) -> Self {
        Self {
            at: self.at + self.bytes.len(),
            ..self
        }
    }

    /// The input with them, if inputs of this shape can have them.
    pub fn put(&self, input: &Input, shape: &Shape) -> Option<Input> {
        let key = &SourceKey::of_input(input)[self.source];
        if !shape.has_room(key, input, self.source, self.bytes.len()) {
            return None;
        }
        let mut input = input.clone();
        let bytes = &mut input.sources[self.source].bytes;
        let at = self.at.min(bytes.len());
        bytes.splice(at..at, self.bytes.iter().copied());
        shape.keep_to(&mut input);
        Some(input)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(argument: &str, text: &str) -> Input {
        Input::from_args("p", [argument]).with_stdin(text)
    }

    #[test]
    fn what_an_answer_made_of_bytes_comes_before_or_behind_them() {
        let from = input("-x", "a*1;b");
        let insert = Insert::of(&from, &input("-x", "a**;b")).unwrap();
        let put = |insert: &Insert| insert.put(&from, &Shape::default()).unwrap();
        assert_eq!(put(&insert), input("-x", "a**1;b"));
        assert_eq!(put(&insert.behind()), input("-x", "a*1*;b"));
    }

    #[test]
    fn a_sign_between_words_comes_with_another_word() {
        let put = |from: &Input, insert: &Insert| insert.put(from, &Shape::default()).unwrap();
        let from = input("-x", "f 12\n");
        let insert = Insert::of(&from, &input("-x", "f 12,")).unwrap();
        assert_eq!(put(&from, &insert), input("-x", "f 12,\n"));
        let again = insert.with_word_of(&from).unwrap();
        assert_eq!(put(&from, &again), input("-x", "f 12,12\n"));
        assert_eq!(again.with_word_of(&from), None);
        let from = input("7", "");
        let grown = Insert::of(&from, &input("7-", "")).unwrap();
        assert_eq!(put(&from, &grown), input("7-7", ""));
        assert_eq!(Insert::of(&from, &input("71", "")), None);
    }

    #[test]
    fn an_answer_that_does_more_is_left_alone() {
        let from = input("-x", "0123456789");
        for to in [
            input("-x", "0123456789"),
            input("-x", "01234567"),
            input("-y", "0123456780"),
            input("-x", "x123x56789"),
        ] {
            assert_eq!(Insert::of(&from, &to), None, "{to:?}");
        }
    }
}
