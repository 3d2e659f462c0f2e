//! Inputs put together of parts of others, so that changes act in an order in which they did not yet.
//!
//! A run tells which record of its input was looked at when a change was executed (see
//! [`records`](crate::records)). After a record with which one change acts comes one with which another does,
//! wherever it is from. What neither has seen is a guess, which the run puts right.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use beagle_solver::SourceKey;
use beagle_trace::Input;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::product::Product;
use crate::records::{Records, hash};
use crate::sequences::Sequences;
use crate::shape::Shape;
use crate::trail::Visit;

/// One run in so many is on such an input.
const SHARE: u64 = 3;

/// So many beginnings and records are kept...
const MOST_STEMS: usize = 400;
const MOST_GRAFTS: usize = 100;
/// ...and so many of those that do the same: a command can be about one thing or another.
const MOST_ALIKE: usize = 3;

/// An input, and where in it another record can follow what changes did.
struct Stem {
    input: Input,
    source: usize,
    at: usize,
    /// What ends a record.
    separator: Option<u8>,
    /// The last change before.
    last: Visit,
    /// How many different changes there are up to it.
    changes: usize,
    /// How many answers lie between the input and one to start from.
    generation: u32,
    kind: Kind,
}

/// A record that can follow.
struct Graft {
    key: SourceKey,
    bytes: Vec<u8>,
    /// The first change that it makes act.
    first: Option<u32>,
    /// As of a stem.
    generation: u32,
    kind: Kind,
}

/// What stems or grafts that do the same have in common, and how many of these came before.
#[derive(Clone, Copy)]
struct Kind {
    number: usize,
    before: usize,
}

/// Stems or grafts by what they do.
#[derive(Default)]
struct Kinds(FxHashMap<u64, Kind>);

impl Kinds {
    /// One more of those that do this, unless there are enough.
    fn enter(&mut self, does: u64) -> Option<Kind> {
        let number = self.0.len();
        let kind = self.0.entry(does).or_insert(Kind { number, before: 0 });
        let entered = *kind;
        kind.before += 1;
        (entered.before < MOST_ALIKE).then_some(entered)
    }
}

/// What is added for stems that were used in vain.
const VAIN: f32 = 0.7;
/// What is added for each that came before and does the same.
const ALIKE: f32 = 0.3;
/// What is added for each answer between an input and one to start from: those are as they should be.
const AWAY: f32 = 0.25;
/// What is taken off for each change that acted.
const CHANGE: f32 = 0.5;
/// The cost of an order of changes by how well it is known: see [`Sequences::familiarity`].
const ORDER: [f32; 4] = [0.0, 0.5, 1.0, 1.3];
/// The cost of a record that makes no change act. What lies between changes decides what one makes of the
/// other.
const BETWEEN: f32 = 1.3;

/// A beginning and what is to follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Splice {
    stem: usize,
    graft: usize,
}

struct Entry {
    cost: f32,
    splice: Splice,
}

impl Entry {
    /// The least cost first, then the first ones.
    fn order(&self) -> (f32, [usize; 3]) {
        let Splice { stem, graft } = self.splice;
        (self.cost, [stem.max(graft), graft, stem])
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        let ((a, x), (b, y)) = (self.order(), other.order());
        b.total_cmp(&a).then_with(|| y.cmp(&x))
    }
}

/// Inputs that were not run yet.
#[derive(Default)]
pub struct Splices {
    stems: Vec<Stem>,
    grafts: Vec<Graft>,
    stem_kinds: Kinds,
    graft_kinds: Kinds,
    /// How often stems of each kind were used in vain.
    vain: Vec<u32>,
    seen: FxHashSet<u64>,
    waiting: BinaryHeap<Entry>,
    taken: u64,
}

impl Splices {
    /// Adds what the run of this number makes possible.
    pub fn add(&mut self, sequences: &Sequences, number: u32, input: &Input, product: &Product) {
        let Some(records) = &product.records else {
            return;
        };
        let keys = SourceKey::of_input(input);
        let key = &keys[records.source()];
        let trail: Vec<(usize, Visit)> = (product.trail.iter())
            .map(|&visit| (records.at(visit.step as usize), visit))
            .collect();
        let mut changes = FxHashSet::default();
        // What the program turned away is left alone, if there is something that it does not.
        let is_sound = product.sound.is_none_or(|sound| sound == number);
        let whole = match is_sound {
            true => records.len(),
            false => records.last_looked_at(),
        };
        for record in 0..whole {
            let here: Vec<Visit> = (trail.iter())
                .filter(|(at, _)| *at == record)
                .map(|&(_, visit)| visit)
                .collect();
            changes.extend(here.iter().map(|visit| visit.node));
            self.add_graft(sequences, key, (input, product), record, &here);
            if let Some(&last) = here.last() {
                let at = (records.source(), records.end(record));
                self.add_stem(sequences, (input, product), at, last, changes.len());
            }
        }
    }

    fn add_graft(
        &mut self,
        sequences: &Sequences,
        key: &SourceKey,
        (input, product): (&Input, &Product),
        record: usize,
        here: &[Visit],
    ) {
        let Some(records) = &product.records else {
            return;
        };
        let first = here.first().map(|visit| visit.node);
        let does = hash(&(key, first, records.entered(record)));
        let own = records.bytes(input, record);
        let is_known = self.graft_kinds.0.contains_key(&does);
        if own.is_empty() || is_known || self.grafts.len() >= MOST_GRAFTS {
            return;
        }
        // About the same things, or others: what acts on the same thing may act together.
        let others = records.renamed(input, record);
        for bytes in std::iter::once(own.to_vec()).chain(others) {
            let Some(kind) = self.graft_kinds.enter(does) else {
                return;
            };
            self.grafts.push(Graft {
                key: key.clone(),
                bytes,
                first,
                generation: product.generation,
                kind,
            });
            let graft = self.grafts.len() - 1;
            for stem in 0..self.stems.len() {
                self.wait(sequences, Splice { stem, graft });
            }
        }
    }

    fn add_stem(
        &mut self,
        sequences: &Sequences,
        (input, product): (&Input, &Product),
        (source, at): (usize, usize),
        last: Visit,
        changes: usize,
    ) {
        let bytes = &input.sources[source].bytes;
        let start = bytes.get(..at).unwrap_or(bytes);
        if self.stems.len() >= MOST_STEMS || !self.seen.insert(hash(&(source, start))) {
            return;
        }
        if let Some(kind) = self.stem_kinds.enter(last.prefix) {
            self.vain.resize(self.stem_kinds.0.len(), 0);
            self.stems.push(Stem {
                input: input.clone(),
                source,
                at,
                separator: product.records.as_ref().and_then(Records::separator),
                last,
                changes,
                generation: product.generation,
                kind,
            });
            let stem = self.stems.len() - 1;
            for graft in 0..self.grafts.len() {
                self.wait(sequences, Splice { stem, graft });
            }
        }
    }

    fn wait(&mut self, sequences: &Sequences, splice: Splice) {
        let cost = self.cost(sequences, splice);
        self.waiting.push(Entry { cost, splice });
    }

    /// How little a splice promises.
    fn cost(&self, sequences: &Sequences, splice: Splice) -> f32 {
        let (stem, graft) = (&self.stems[splice.stem], &self.grafts[splice.graft]);
        let last = stem.last;
        let order = match graft.first {
            Some(first) => ORDER[sequences.familiarity(Some(last.node), last.prefix, first)],
            None => BETWEEN,
        };
        let vain = VAIN * (1.0 + self.vain[stem.kind.number] as f32).ln();
        let alike = ALIKE * (stem.kind.before + graft.kind.before) as f32;
        let away = AWAY * (stem.generation + graft.generation) as f32;
        order + vain + alike + away - CHANGE * stem.changes as f32
    }

    /// The next one, if it is its turn after so many runs.
    pub fn turn(
        &mut self,
        sequences: &Sequences,
        shape: &Shape,
        runs: u64,
    ) -> Option<(Splice, Input)> {
        if (self.taken + 1) * SHARE > runs {
            return None;
        }
        while let Some(Entry { cost, splice }) = self.waiting.pop() {
            // What happened since may have made it less promising.
            let now = self.cost(sequences, splice);
            let next = self.waiting.peek().map(|next| next.cost);
            if now > cost && next.is_some_and(|next| now > next) {
                self.waiting.push(Entry { cost: now, splice });
                continue;
            }
            let (stem, graft) = (&self.stems[splice.stem], &self.grafts[splice.graft]);
            if let Some(input) = spliced(stem, graft, shape) {
                return Some((splice, input));
            }
        }
        None
    }

    /// Counts that one was run.
    pub fn took(&mut self) {
        self.taken += 1;
    }

    /// How many answers lie between a splice and an input to start from.
    pub fn generation(&self, splice: Splice) -> u32 {
        let (stem, graft) = (&self.stems[splice.stem], &self.grafts[splice.graft]);
        stem.generation.max(graft.generation) + 1
    }

    /// Notes that a splice did nothing that was new.
    pub fn in_vain(&mut self, splice: Splice) {
        self.vain[self.stems[splice.stem].kind.number] += 1;
    }
}

fn spliced(stem: &Stem, graft: &Graft, shape: &Shape) -> Option<Input> {
    let key = &SourceKey::of_input(&stem.input)[stem.source];
    if *key != graft.key || !shape.has_room(key, &stem.input, stem.source, graft.bytes.len() + 1) {
        return None;
    }
    let mut input = stem.input.clone();
    let bytes = &mut input.sources[stem.source].bytes;
    let at = stem.at.min(bytes.len());
    let is_apart = |left: Option<&u8>| left == stem.separator.as_ref();
    // Without its end a record would become a longer one.
    let missing = |left: Option<&u8>| stem.separator.filter(|_| !is_apart(left));
    let before = missing(bytes[..at].last());
    let after = missing(graft.bytes.last()).filter(|_| at < bytes.len());
    let graft = before.into_iter().chain(graft.bytes.iter().copied());
    bytes.splice(at..at, graft.chain(after));
    shape.keep_to(&mut input);
    Some(input)
}
