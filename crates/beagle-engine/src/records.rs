//! The parts of an input that a program takes one after the other: lines, packets, statements.
//!
//! A program that takes its input in parts has a loop that looks at one more of them in each turn. So the parts
//! end about where control was in the outermost loop in which more and more of the input was looked at: a
//! program may look ahead. Where a character stands as often as there are turns, parts end with it; else, where
//! all parts begin with the same byte if they are taken to begin a little earlier, they do.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::ops::Range;

use beagle_solver::{Path, Pool, Source, SourceKey, VariableKind};
use beagle_trace::Input;
use beagle_trace::event::{MODEL_SITES, Site};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::steps::{Step, What};
use crate::traced::Traced;
use crate::walk::Met;
use crate::word::Word;

/// Runs with more conditions are not divided: it takes longer than it saves.
const MOST_CONDITIONS: usize = 20_000;

/// Parts of inputs with more of them are no records.
const MOST_RECORDS: usize = 64;

/// So many bytes a program may look ahead.
const MOST_AHEAD: usize = 4;

/// Where the records of one source of an input are.
#[derive(Clone, Debug)]
pub struct Outline {
    /// The index of the source.
    pub source: usize,
    /// Where each ends, the last with the source.
    pub ends: Vec<usize>,
    /// How far was looked: a program may give up in one of them.
    pub seen: usize,
}

impl Outline {
    /// Where a record is.
    pub fn range(&self, record: usize) -> Range<usize> {
        let start = record.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[record]
    }

    /// The record that holds this byte of the source.
    pub fn holding(&self, at: usize) -> usize {
        let before = self.ends.partition_point(|&end| end <= at);
        before.min(self.ends.len() - 1)
    }
}

/// The records of one source of an input.
#[derive(Clone, Debug)]
pub struct Records {
    /// Where they are.
    pub outline: Outline,
    /// The step of the product from which on each is looked at.
    starts: Vec<usize>,
    /// What ends each, perhaps but for the last.
    separator: Option<u8>,
    /// The functions that were entered while each was looked at.
    entered: Vec<BTreeSet<u32>>,
    /// The ways that control went while each was looked at, however often: a number for all of them.
    ways: Vec<u64>,
    /// Names in them that could be others.
    names: Vec<Word>,
}

impl Records {
    /// Of a run of new on an input, with the steps of both versions in order.
    pub fn of(
        pool: &Pool,
        path: &mut Path,
        input: &Input,
        order: &[Met],
        new: &Traced,
    ) -> Option<Self> {
        let steps = order.iter().enumerate().filter_map(|(at, met)| match *met {
            Met::New(step) | Met::Both(_, step) => Some((at, &new.steps[step as usize])),
            Met::Old(_) => None,
        });
        if new.conditions.list.len() > MOST_CONDITIONS {
            return None;
        }
        let (source, looked) = looked((pool, path), steps.clone(), new)?;
        let key = pool.source_key(source);
        let keys = SourceKey::of_input(input);
        let source = keys.iter().position(|known| known == key)?;
        let content = input.sources[source].content();
        let turns = outermost(steps.clone(), &looked, content.len())?;
        let separator = separator(content, turns.len());
        let (ends, starts) = divided(content, separator, &turns, &looked)?;
        let mut records = Self {
            entered: vec![BTreeSet::new(); ends.len()],
            ways: vec![0; ends.len()],
            names: new
                .words
                .values()
                .filter(|word| word.is_name)
                .cloned()
                .collect(),
            outline: Outline {
                source,
                ends,
                seen: looked.last().map_or(0, |&(_, end)| end),
            },
            starts,
            separator,
        };
        let mut known = FxHashSet::default();
        for (at, step) in steps {
            let record = records.at(at);
            match step.what {
                What::Enter => drop(records.entered[record].insert(step.site)),
                What::Branch(_) | What::Switch(_) if step.site < MODEL_SITES => {
                    let way = (record, step.site, step.what);
                    if known.insert(way) {
                        records.ways[record] ^= hash(&(step.site, step.what));
                    }
                }
                _ => {}
            }
        }
        Some(records)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.outline.ends.len()
    }

    /// The source.
    pub fn source(&self) -> usize {
        self.outline.source
    }

    /// The record that is looked at in a step of the product.
    pub fn at(&self, step: usize) -> usize {
        let begun = self.starts.partition_point(|&from| from <= step);
        begun.saturating_sub(1)
    }

    /// The last record that was looked at: where a program that gives up does so.
    pub fn last_looked_at(&self) -> usize {
        self.ways.iter().rposition(|&ways| ways != 0).unwrap_or(0)
    }

    /// Where a record ends in its source.
    pub fn end(&self, record: usize) -> usize {
        self.outline.ends[record]
    }

    /// The functions that were entered while a record was looked at.
    pub fn entered(&self, record: usize) -> &BTreeSet<u32> {
        &self.entered[record]
    }

    /// The bytes of a record.
    pub fn bytes<'i>(&self, input: &'i Input, record: usize) -> &'i [u8] {
        let content = input.sources[self.source()].content();
        content.get(self.outline.range(record)).unwrap_or_default()
    }

    /// What ends each record, perhaps but for the last.
    pub fn separator(&self) -> Option<u8> {
        self.separator
    }

    /// Those that the program took as a whole, with what ends them, and with other names; each with a number for
    /// what is done with it. Of a run that fails, the last may be the one that it fails for, or that and all that
    /// comes after it, if it did not go on to the last. What ended the records of the first run with any that did not
    /// fail ends them in all: a character may stand as often as there are turns by chance.
    pub fn parts(
        &self,
        input: &Input,
        failed: bool,
        end: &mut Option<Option<u8>>,
    ) -> Vec<(u64, Vec<u8>)> {
        let went_on = self.ways.last().is_some_and(|&ways| ways != 0);
        if !failed {
            end.get_or_insert(self.separator);
        }
        let whole = match failed {
            _ if *end != Some(self.separator) => 0,
            true if self.separator.is_some() && !went_on => 0,
            true => self.len() - 1,
            false => self.len(),
        };
        let mut parts = Vec::new();
        // Where control went nowhere, nothing was looked at.
        for record in (0..whole).filter(|&record| self.ways[record] != 0) {
            let does = hash(&(self.source(), self.ways[record]));
            let own = self.bytes(input, record).to_vec();
            for mut bytes in std::iter::once(own).chain(self.renamed(input, record)) {
                let end = self.separator.filter(|end| bytes.last() != Some(end));
                bytes.extend(end);
                parts.push((does, bytes));
            }
        }
        parts
    }

    /// A record with each name that it could have in place of one that it has.
    pub fn renamed(&self, input: &Input, record: usize) -> BTreeSet<Vec<u8>> {
        let (part, bytes) = (self.outline.range(record), self.bytes(input, record));
        let names = self.names.iter();
        let renamed = names.filter_map(|name| name.renamed(self.source(), part.clone(), bytes));
        renamed.collect()
    }
}

/// A number for anything.
pub fn hash(what: &impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    what.hash(&mut hasher);
    hasher.finish()
}

/// How far a source was looked at, with the step from which on.
type Looked = Vec<(usize, usize)>;

/// How far the source was looked at of which most was, bit by bit.
fn looked<'s>(
    (pool, path): (&Pool, &mut Path),
    steps: impl Iterator<Item = (usize, &'s Step)>,
    new: &Traced,
) -> Option<(Source, Looked)> {
    let mut all: FxHashMap<Source, Looked> = FxHashMap::default();
    for (at, step) in steps {
        let Some(&condition) = new.by_word.get(&(step.word as usize)) else {
            continue;
        };
        for &variable in path.read(pool, new.conditions.list[condition].expr) {
            if let VariableKind::Byte(source, index) = pool.variable_kind(variable) {
                let looked = all.entry(source).or_default();
                let end = index as usize + 1;
                if looked.last().is_none_or(|&(_, before)| before < end) {
                    looked.push((at, end));
                }
            }
        }
    }
    all.into_iter()
        .max_by_key(|(source, looked)| (looked.len(), std::cmp::Reverse(*source)))
}

/// How far was looked before a step.
fn looked_before(looked: &Looked, step: usize) -> usize {
    let before = looked.partition_point(|&(from, _)| from < step);
    before.checked_sub(1).map_or(0, |last| looked[last].1)
}

/// The steps at which control was at the same place of the outermost loop that looks at more and more.
fn outermost<'s>(
    steps: impl Iterator<Item = (usize, &'s Step)>,
    looked: &Looked,
    size: usize,
) -> Option<Vec<usize>> {
    #[derive(Default)]
    struct Loop {
        turns: Vec<usize>,
        /// How often more was looked at than the turn before.
        more: usize,
        last: usize,
    }
    let mut loops: FxHashMap<(u32, Site), Loop> = FxHashMap::default();
    for (at, step) in steps {
        let is_branch = matches!(step.what, What::Branch(_) | What::Switch(_));
        if !is_branch || step.site >= MODEL_SITES {
            continue;
        }
        let end = looked_before(looked, at);
        let one = loops.entry((step.depth, step.site)).or_default();
        if one.turns.len() > 2 * MOST_RECORDS {
            continue;
        }
        one.turns.push(at);
        one.more += usize::from(end > one.last && end < size);
        one.last = end;
    }
    let turned = loops.into_iter().filter(|(_, one)| one.more > 1);
    let (_, outermost) = turned.min_by_key(|((depth, _), one)| (*depth, one.turns[0]))?;
    Some(outermost.turns)
}

/// Where records end, and from which step on each is looked at.
fn divided(
    content: &[u8],
    separator: Option<u8>,
    turns: &[usize],
    looked: &Looked,
) -> Option<(Vec<usize>, Vec<usize>)> {
    let size = content.len();
    if let Some(end) = separator {
        let parts = content.split_inclusive(|&byte| byte == end);
        let ends: Vec<usize> = parts
            .scan(0, |end, part| {
                *end += part.len();
                Some(*end)
            })
            .collect();
        // A loop that is come to for the first time after the first record was looked at and more has ended its
        // first turn.
        let is_late = looked_before(looked, turns[0]) > ends[0];
        let mut starts = vec![0];
        starts.extend(turns.iter().skip(usize::from(!is_late)));
        starts.resize(ends.len(), usize::MAX);
        return Some((ends, starts));
    }
    let ends = turns.iter().map(|&turn| looked_before(looked, turn));
    let mut ends: Vec<usize> = ends.filter(|&end| end > 0 && end < size).collect();
    ends.dedup();
    let is_alike = |ahead: &usize| {
        let mut starts = ends.iter().map(|end| end.checked_sub(*ahead));
        starts.all(|start| start.is_some_and(|start| content[start] == content[0]))
    };
    if let Some(ahead) = (0..=MOST_AHEAD).find(is_alike) {
        ends.iter_mut().for_each(|end| *end -= ahead);
    }
    ends.retain(|&end| end > 0);
    ends.push(size);
    let mut starts = vec![0];
    starts.extend(ends[..ends.len() - 1].iter().map(|&end| {
        let before = looked.partition_point(|&(_, known)| known <= end);
        looked.get(before).map_or(usize::MAX, |&(step, _)| step)
    }));
    (ends.len() <= MOST_RECORDS).then_some((ends, starts))
}

/// A character that stands between as many parts as there are turns, or about as many.
fn separator(content: &[u8], turns: usize) -> Option<u8> {
    let mut counts = [0; 128];
    for &byte in content {
        *counts.get_mut(usize::from(byte))? += 1;
    }
    let parts = |byte: u8| counts[usize::from(byte)] + usize::from(content.last() != Some(&byte));
    let is_separator = |byte: &u8| byte.is_ascii_punctuation() || byte.is_ascii_whitespace();
    let separators = (0..128).filter(is_separator);
    let separators = separators.filter(|&byte| (2..=MOST_RECORDS).contains(&parts(byte)));
    let best = separators.min_by_key(|&byte| (parts(byte).abs_diff(turns), byte))?;
    (parts(best).abs_diff(turns) <= 1).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(
        content: &str,
        turns: &[usize],
        looked: &[(usize, usize)],
    ) -> (Vec<String>, Vec<usize>) {
        let separator = separator(content.as_bytes(), turns.len());
        let (ends, starts) =
            divided(content.as_bytes(), separator, turns, &looked.to_vec()).unwrap();
        let from = std::iter::once(0).chain(ends.iter().copied());
        let texts = from
            .zip(&ends)
            .map(|(from, &to)| content[from..to].to_owned());
        (texts.collect(), starts)
    }

    #[test]
    fn a_line_is_a_turn_of_a_loop_that_reads_lines() {
        // The condition of the loop is there after a line was read, and once more at the end.
        let (lines, starts) = texts(
            "a b\nc\nd\n",
            &[10, 20, 30, 40],
            &[(9, 4), (19, 6), (29, 8)],
        );
        assert_eq!(lines, ["a b\n", "c\n", "d\n"]);
        assert_eq!(starts, [0, 20, 30]);
    }

    #[test]
    fn statements_end_where_they_are_separated_although_the_program_looks_ahead() {
        let looked = [(9, 4), (19, 9), (29, 11)];
        let (statements, starts) = texts("7;a=1;o=5;9", &[10, 20, 30, 40], &looked);
        assert_eq!(statements, ["7;", "a=1;", "o=5;", "9"]);
        assert_eq!(starts, [0, 10, 20, 30]);
    }

    #[test]
    fn packets_begin_with_the_same_byte_although_the_first_byte_is_looked_at_before_the_loop() {
        let looked = [(5, 1), (6, 4), (10, 5), (11, 7), (20, 8), (21, 12)];
        let (packets, starts) = texts("\u{5}abc\u{5}de\u{5}fghi", &[5, 10, 20], &looked);
        assert_eq!(packets, ["\u{5}abc", "\u{5}de", "\u{5}fghi"]);
        assert_eq!(starts, [0, 10, 20]);
    }
}
