//! Words of the input that the program compared with another text, and inputs that have that text in their place.
//!
//! To make another command of a line, a word must become longer or shorter, and what cut it out of the line
//! stands in the way: the text that it is compared with is then not even in the condition, and the branch does
//! not depend on the input. The input with that text in place of the word is a guess, which the next run puts
//! right.

use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::rc::Rc;

use beagle_solver::{Importer, Pool, Source, SourceKey, VariableKind};
use beagle_trace::node::NodeId;
use beagle_trace::{Event, Input, Trace};
use rustc_hash::{FxHashMap, FxHasher};

use crate::insert::Insert;
use crate::shape::Shape;

/// A word of the input that was compared with a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Word {
    /// The index of its source in the input.
    source: usize,
    from: usize,
    length: usize,
    /// What it was compared with.
    text: Rc<[u8]>,
    /// Whether that is a part of the input, too: then both are names of something.
    pub is_name: bool,
}

impl Word {
    /// A number for the text.
    pub fn text_number(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.text.hash(&mut hasher);
        hasher.finish()
    }

    /// If it is in this part of a source: the part with the text in its place.
    pub fn renamed(&self, source: usize, part: Range<usize>, bytes: &[u8]) -> Option<Vec<u8>> {
        let end = self.from + self.length;
        let is_there = self.source == source && part.start <= self.from && end <= part.end;
        if !is_there {
            return None;
        }
        let (before, after) = (self.from - part.start, end - part.start);
        Some([bytes.get(..before)?, &self.text, bytes.get(after..)?].concat())
    }

    /// The text before the word.
    pub fn inserted(&self) -> Insert {
        Insert::new(self.source, self.from, self.text.to_vec())
    }

    /// The input with the text in place of the word, if inputs of this shape can have it.
    pub fn put(&self, input: &Input, shape: &Shape) -> Option<Input> {
        let key = &SourceKey::of_input(input)[self.source];
        let more = self.text.len().saturating_sub(self.length);
        if !shape.has_room(key, input, self.source, more) {
            return None;
        }
        let mut input = input.clone();
        let bytes = &mut input.sources[self.source].bytes;
        let end = (self.from + self.length).min(bytes.len());
        bytes.splice(self.from.min(end)..end, self.text.iter().copied());
        shape.keep_to(&mut input);
        Some(input)
    }
}

/// The words that were compared in a run on an input, by the word of the event.
pub fn words(
    pool: &mut Pool,
    importer: &mut Importer<'_>,
    trace: &Trace<'_>,
    input: &Input,
) -> FxHashMap<usize, Word> {
    let keys = SourceKey::of_input(input);
    let mut all = FxHashMap::default();
    let mut events = trace.events();
    loop {
        let at = events.position();
        let Some(event) = events.next() else {
            return all;
        };
        let Event::Compared {
            first,
            last,
            length,
            both,
            other,
            ..
        } = event
        else {
            continue;
        };
        let mut byte = |node: NodeId| byte(pool, importer, node);
        let (Some((source, from)), Some(end)) = (byte(first), byte(last)) else {
            continue;
        };
        // Not put together from elsewhere.
        if Some(end)
            != from
                .checked_add(length.saturating_sub(1))
                .map(|end| (source, end))
        {
            continue;
        }
        let key = pool.source_key(source);
        let Some(source) = keys.iter().position(|known| known == key) else {
            continue;
        };
        all.insert(
            at,
            Word {
                source,
                from: from as usize,
                length: length as usize,
                text: other.bytes().collect(),
                is_name: both,
            },
        );
    }
}

/// The byte of the input that a byte depends on, if it is one.
fn byte(pool: &mut Pool, importer: &mut Importer<'_>, node: NodeId) -> Option<(Source, u32)> {
    let expr = importer.expr(pool, node)?;
    // Besides perhaps on how many there are.
    let variables = pool.few_variables_of(expr)?.iter();
    let mut bytes = variables.filter_map(|&variable| match pool.variable_kind(variable) {
        VariableKind::Byte(source, index) => Some((source, index)),
        VariableKind::Size(_) | VariableKind::ArgCount => None,
    });
    let only = bytes.next()?;
    bytes.next().is_none().then_some(only)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::Bounds;

    #[test]
    fn the_text_takes_the_place_of_the_word() {
        let input = Input::from_args("p", [""; 0]).with_stdin("in b 5\nin a\n");
        let word = |text: &str| Word {
            source: 1,
            from: 7,
            length: 2,
            text: text.as_bytes().into(),
            is_name: false,
        };
        let put = |text: &str, shape: &Shape| {
            let input = word(text).put(&input, shape)?;
            Some(String::from_utf8_lossy(&input.sources[1].bytes).into_owned())
        };
        let any = Shape::default();
        assert_eq!(put("report", &any).unwrap(), "in b 5\nreport a\n");
        assert_eq!(put("", &any).unwrap(), "in b 5\n a\n");
        let short = Shape {
            bounds: vec![Bounds {
                source: SourceKey::Stdin,
                fixed: Vec::new(),
                most: Some(14),
            }],
            ..Shape::default()
        };
        assert_eq!(put("void", &short).unwrap(), "in b 5\nvoid a\n");
        assert_eq!(put("report", &short), None);
    }

    #[test]
    fn an_argument_has_room_for_what_is_left_of_its_bound() {
        let input = Input::from_args("p", ["in"]);
        let word = Word {
            source: 1,
            from: 0,
            length: 2,
            text: b"report"[..].into(),
            is_name: false,
        };
        let shape = Shape {
            bounds: vec![Bounds {
                source: SourceKey::Argument(1),
                fixed: Vec::new(),
                most: Some(8),
            }],
            ..Shape::default()
        };
        let put = word.put(&input, &shape).unwrap();
        assert_eq!(put.sources[1].bytes, b"report");
        assert_eq!(put.sources[1].pad, 2);
    }
}
