//! The loop of the fast lane: vary inputs, run both versions, keep what does something new.
//!
//! What counts as new: a block of either version that is executed as often as never before; a pair of
//! paths through the changed functions that no run took, one path by each version, so that behaviour
//! of one version alone is rewarded; coming nearer to a change; and a difference. A pair of paths counts
//! once, also if it makes a difference, so that the search goes on behind the first one.
//!
//! LibAFL has all this for inputs that are bytes, one run at a time. Here an input is words, streams and
//! files, two programs answer for it, and they answer for a few hundred at once.

use std::collections::VecDeque;
use std::time::Duration;

use beagle_trace::Input;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::chance::Chance;
use crate::corpus::{Corpus, Kept};
use crate::error::Error;
use crate::mutate::Mutator;
use crate::outcome::Outcome;
use crate::parts::{Part, Parts};
use crate::process::{Batch, Mode, Process, processor_time};
use crate::space::Space;
use crate::substitute::substitutes;
use crate::tokens::Tokens;

/// Something worth telling.
#[derive(Clone, Debug)]
pub struct News {
    /// The input.
    pub input: Input,
    /// Whether the versions did something different that can be seen from outside.
    pub differs: bool,
    /// Whether a change was executed.
    pub touches: bool,
}

/// What was done so far.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// Runs of both versions.
    pub runs: u64,
    /// Runs on which the versions differed.
    pub differing: u64,
    /// Inputs that are kept.
    pub kept: u64,
    /// Runs that could not be done in the lane, by the number of the system call.
    pub refused: FxHashMap<u32, u64>,
    /// Runs that took too long.
    pub late: u64,
    /// The versions that are forked for each run because they cannot be put back.
    pub forked: [bool; 2],
    /// The versions that do not do the same each time, whatever is done about it.
    pub unstable: [bool; 2],
}

/// Differences with one pair of paths and the same kind that are told.
const ENOUGH: u32 = 3;
/// Runs of a batch: small first, so that a difference is soon known.
const FIRST: usize = 16;
const MOST: usize = 256;
/// Inputs made from comparisons that wait.
const MOST_WAITING: usize = 20_000;
/// Of one input, for each version.
const MOST_SUBSTITUTES: usize = 128;
/// Every so many batches, some runs are repeated in fresh copies of the process.
const CHECK_EVERY: u64 = 64;
const CHECKED: usize = 4;

/// What inputs are varied by turns.
///
/// A search beside this one gives inputs all the time that do something new in odd ways, and so does what is found
/// here in the end: what was there to start from would hardly be varied any more. So half of the runs are as if
/// there were nothing else, and that begins anew again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// What was there to start from, and what has come of it lately.
    Seeds,
    /// Everything that was ever found.
    All,
}

/// Runs until all begins anew with what was there to start from, at first.
const ROUND: u64 = 16_000;

/// What is known of inputs of one origin.
#[derive(Debug, Default)]
struct Stock {
    corpus: Corpus,
    /// Inputs to run as they are, before anything else.
    given: VecDeque<Input>,
    /// Inputs made from what others were compared with.
    substituted: VecDeque<Input>,
    /// Pairs of paths that were taken.
    pairs: FxHashSet<(u64, u64)>,
}

impl Stock {
    fn is_empty(&self) -> bool {
        self.corpus.len() == 0 && self.given.is_empty()
    }
}

/// When to begin anew: mostly soon, but sometimes later and later, as it is not known how long it takes.
#[derive(Debug, Default)]
struct Rounds {
    number: u64,
    /// Runs of this round.
    runs: u64,
}

impl Rounds {
    /// Whether a round begins.
    fn begins(&self) -> bool {
        self.runs == 0
    }

    /// Counts runs; whether a new round begins after them.
    fn count(&mut self, runs: u64) -> bool {
        self.runs += runs;
        let is_over = self.runs >= ROUND * luby(self.number + 1);
        if is_over {
            self.number += 1;
            self.runs = 0;
        }
        is_over
    }
}

/// 1, 1, 2, 1, 1, 2, 4, and so on: the sequence of Luby, Sinclair and Zuckerman.
fn luby(number: u64) -> u64 {
    let size = u64::BITS - number.leading_zeros();
    match number + 1 == 1 << size {
        true => 1 << (size - 1),
        false => luby(number + 1 - (1 << (size - 1))),
    }
}

/// Runs both versions on inputs that it makes.
pub struct Fuzzer {
    sides: [Process; 2],
    space: Space,
    tokens: Tokens,
    parts: Parts,
    chance: Chance,
    /// By [`Origin`].
    stocks: [Stock; 2],
    seeds: Vec<Input>,
    rounds: Rounds,
    /// Pairs of paths that were told.
    told: FxHashSet<(u64, u64)>,
    /// The smallest distance to a change that was told.
    nearest: u16,
    differences: FxHashMap<(u64, u64, u32), u32>,
    batches: u64,
    status: Status,
}

impl Fuzzer {
    /// For two versions.
    pub fn new(old: Process, new: Process, space: Space, tokens: Tokens, seed: u64) -> Self {
        Self {
            sides: [old, new],
            space,
            tokens,
            parts: Parts::default(),
            chance: Chance::new(seed),
            stocks: Default::default(),
            seeds: Vec::new(),
            rounds: Rounds::default(),
            told: FxHashSet::default(),
            nearest: u16::MAX,
            differences: FxHashMap::default(),
            batches: 0,
            status: Status::default(),
        }
    }

    /// What was done so far.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// How long the processor has worked for both versions and for the process that this is part of.
    pub fn processor_time(&self) -> Result<Duration, Error> {
        let [old, new] = &self.sides;
        Ok(processor_time("self")? + old.processor_time()? + new.processor_time()?)
    }

    /// Looks on some inputs whether the versions can be put back: the same again, and the same as a fresh
    /// copy of the process. Where they cannot, each run gets such a copy from now on.
    pub fn check(&mut self, inputs: &[Input]) -> Result<(), Error> {
        for chunk in inputs.chunks(MOST) {
            let mut batch = Batch::default();
            for input in chunk {
                batch.push(input)?;
            }
            for side in 0..2 {
                self.check_batch(side, &batch)?;
            }
        }
        Ok(())
    }

    fn check_batch(&mut self, side: usize, batch: &Batch) -> Result<(), Error> {
        if self.status.forked[side] || batch.is_empty() {
            return Ok(());
        }
        let process = &mut self.sides[side];
        let mut run = |fork| {
            let mode = Mode {
                fork,
                ..Mode::default()
            };
            process.run(batch, mode)
        };
        let (once, again, copies) = (run(false)?, run(false)?, run(true)?);
        if differ(&once, &again) || differ(&once, &copies) {
            self.status.forked[side] = true;
            self.status.unstable[side] = differ(&copies, &run(true)?);
        }
        Ok(())
    }

    /// Adds an input to start from.
    pub fn start_from(&mut self, input: Input) {
        self.seeds.push(input.clone());
        self.stocks[Origin::Seeds as usize].given.push_back(input);
    }

    /// Adds an input to run as it is.
    pub fn add(&mut self, input: Input) {
        self.stocks[Origin::All as usize].given.push_back(input);
    }

    /// Adds a part of inputs.
    pub fn add_part(&mut self, part: Part) {
        self.parts.add(part);
    }

    /// Whose turn it is.
    fn turn(&self) -> Origin {
        let [seeds, all] = &self.stocks;
        match self.batches.is_multiple_of(2) {
            _ if all.is_empty() => Origin::Seeds,
            true if !seeds.is_empty() => Origin::Seeds,
            _ => Origin::All,
        }
    }

    /// Runs one batch, and tells what is new.
    pub fn step(&mut self, tell: &mut dyn FnMut(News)) -> Result<(), Error> {
        let most = FIRST << (self.batches / 4).min(4);
        let origin = self.turn();
        self.batches += 1;
        let mut inputs = Vec::with_capacity(most);
        let mut batch = Batch::default();
        while inputs.len() < most.min(MOST) {
            let Some(input) = self.next_input(origin) else {
                break;
            };
            if batch.push(&input)? {
                inputs.push(input);
            } else if batch.is_empty() {
                // Too large on its own.
                continue;
            } else {
                self.stocks[origin as usize].given.push_front(input);
                break;
            }
        }
        let mut fresh = Vec::new();
        let [old, new] = self.run(&batch, origin)?;
        for ((input, old), new) in inputs.iter().zip(&old).zip(&new) {
            if let Some(news) = self.look(origin, input, old, new) {
                fresh.push(input.clone());
                if let Some(news) = news {
                    tell(news);
                }
            }
        }
        let kept = self.stocks.iter().map(|stock| stock.corpus.len() as u64);
        self.status.kept = kept.sum();
        self.follow(origin, &fresh)?;
        if origin == Origin::Seeds {
            let [seeds, all] = &mut self.stocks;
            all.given.extend(fresh);
            if self.rounds.count(inputs.len() as u64) {
                *seeds = Stock {
                    given: self.seeds.iter().cloned().collect(),
                    ..Stock::default()
                };
            }
        }
        if self.batches.is_multiple_of(CHECK_EVERY) {
            let from = self.chance.below(inputs.len());
            let sample: Vec<_> = inputs.into_iter().skip(from).take(CHECKED).collect();
            self.check(&sample)?;
        }
        Ok(())
    }

    fn next_input(&mut self, origin: Origin) -> Option<Input> {
        let stock = &mut self.stocks[origin as usize];
        // By turns: a search beside this one that gives new inputs all the time can fill the queues faster
        // than they are emptied, and what is known already must be varied all the same.
        for queue in [&mut stock.given, &mut stock.substituted] {
            if (stock.corpus.len() == 0 || self.chance.one_in(2))
                && let Some(input) = queue.pop_front()
            {
                return Some(input);
            }
        }
        let mutator = Mutator {
            space: &self.space,
            tokens: &self.tokens,
            parts: &self.parts,
        };
        for _ in 0..100 {
            let picked = stock.corpus.pick(&mut self.chance);
            let (Some(base), Some(other)) = (picked, stock.corpus.any(&mut self.chance)) else {
                break;
            };
            let made = mutator.vary(&base.input, &other.input, &mut self.chance);
            if made.is_some() {
                return made;
            }
        }
        let queued = stock.given.pop_front();
        queued.or_else(|| stock.substituted.pop_front())
    }

    /// One version after the other, so that all this takes one core and leaves the others alone.
    fn run(&mut self, batch: &Batch, origin: Origin) -> Result<[Vec<Outcome>; 2], Error> {
        let begins = self.rounds.begins();
        let mode = |fork| Mode {
            fork,
            other: origin == Origin::All,
            forget: origin == Origin::Seeds && begins,
            ..Mode::default()
        };
        let [old, new] = &mut self.sides;
        let [fork_old, fork_new] = self.status.forked;
        let results = [
            old.run(batch, mode(fork_old)),
            new.run(batch, mode(fork_new)),
        ];
        let mut all = [Vec::new(), Vec::new()];
        for (side, result) in results.into_iter().enumerate() {
            all[side] = match result {
                Ok(outcomes) => outcomes,
                // The program broke the lane itself, such as by a wild pointer: leave the batch out.
                Err(Error::Ended { .. } | Error::Stuck) => {
                    self.sides[side].restart()?;
                    self.status.forked[side] = true;
                    Vec::new()
                }
                Err(error) => return Err(error),
            };
        }
        Ok(all)
    }

    /// Whether a run did something new, and whether that is worth telling.
    fn look(
        &mut self,
        origin: Origin,
        input: &Input,
        old: &Outcome,
        new: &Outcome,
    ) -> Option<Option<News>> {
        let stock = &mut self.stocks[origin as usize];
        self.status.runs += 1;
        for outcome in [old, new] {
            if outcome.refused() {
                *self.status.refused.entry(outcome.reason).or_insert(0) += 1;
            }
        }
        if old.refused() || new.refused() {
            return None;
        }
        if old.timed_out() && new.timed_out() {
            self.status.late += 1;
            return None;
        }
        let touches = old.changed() || new.changed();
        let near = old.near.min(new.near);
        let differs = old.seen() != new.seen();
        let pair = (old.path, new.path);
        let is_new_pair = touches && stock.pairs.insert(pair);
        let closer = near < stock.corpus.best();
        let mut told = near < self.nearest || (is_new_pair && self.told.insert(pair));
        self.nearest = near.min(self.nearest);
        let mut kept = closer || is_new_pair || old.fresh() || new.fresh();
        if differs {
            self.status.differing += 1;
            // How far a run came that was stopped says nothing, and to look closer takes long.
            let late = old.timed_out() || new.timed_out();
            let (a, b) = if late { (0, 0) } else { pair };
            let count = self.differences.entry((a, b, kind(old, new))).or_insert(0);
            *count += 1;
            told = *count <= ENOUGH;
            kept |= *count == 1;
        }
        if kept && !old.timed_out() && !new.timed_out() {
            stock.corpus.add(Kept {
                input: input.clone(),
                near,
                touches,
                parts: old.whole != new.whole,
                work: old.work.saturating_add(new.work),
            });
        }
        let news = told.then(|| News {
            input: input.clone(),
            differs,
            touches,
        });
        (kept || told).then_some(news)
    }

    /// Looks at what new inputs are compared with, and tries that instead.
    fn follow(&mut self, origin: Origin, inputs: &[Input]) -> Result<(), Error> {
        let stock = &mut self.stocks[origin as usize];
        let mut batch = Batch::default();
        for input in inputs {
            batch.push(input)?;
        }
        if batch.is_empty() {
            return Ok(());
        }
        let mut known = FxHashSet::default();
        for side in 0..2 {
            let mode = Mode {
                fork: self.status.forked[side],
                compares: true,
                other: origin == Origin::All,
                ..Mode::default()
            };
            let process = &mut self.sides[side];
            let outcomes = process.run(&batch, mode)?;
            let compares = process.compares(&outcomes)?;
            for (number, (input, compares)) in inputs.iter().zip(compares).enumerate() {
                let mut room =
                    MOST_SUBSTITUTES.min(MOST_WAITING - stock.substituted.len().min(MOST_WAITING));
                for compared in compares {
                    if compared.is_text {
                        for text in &compared.sides {
                            self.tokens.see(text);
                        }
                    }
                    if room == 0 || !known.insert((number, compared.clone())) {
                        continue;
                    }
                    for mut made in substitutes(input, &compared).into_iter().take(room) {
                        room -= 1;
                        if self.space.repair(&mut made) {
                            stock.substituted.push_back(made);
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// Whether the same inputs did something different. What takes too long takes as long as the machine has
/// time for it.
fn differ(some: &[Outcome], others: &[Outcome]) -> bool {
    let same = |a: &Outcome, b: &Outcome| {
        a.timed_out() || b.timed_out() || (a.seen(), a.whole) == (b.seen(), b.whole)
    };
    some.iter().zip(others).any(|(a, b)| !same(a, b))
}

/// In what two runs differ.
fn kind(old: &Outcome, new: &Outcome) -> u32 {
    let bits = [
        old.out != new.out,
        old.err != new.err,
        old.files != new.files,
        old.timed_out() != new.timed_out(),
    ];
    let bits = bits.iter().fold(0, |sum, &bit| sum << 1 | u32::from(bit));
    let ends = if old.end == new.end {
        0
    } else {
        1 + (old.end << 16 | new.end)
    };
    ends.wrapping_mul(31) ^ bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_short_mostly() {
        let all: Vec<u64> = (1..=15).map(luby).collect();
        assert_eq!(all, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
        let mut rounds = Rounds::default();
        let counted = (0..10).map(|_| rounds.count(ROUND / 2));
        let counted: Vec<bool> = counted.collect();
        let expected = [0, 1, 0, 1, 0, 0, 0, 1, 0, 1];
        assert_eq!(counted, expected.map(|it| it == 1));
    }
}
