//! A first look at the inputs that people already have: which of them come near to a change, and
//! which are worth exploring from.
//!
//! Here nothing of an input is a variable, so that a look costs little more than a run of both
//! versions. Thousands of inputs are looked at in the time in which a few are explored from.

use std::collections::{BTreeMap, BinaryHeap};
use std::hash::{Hash, Hasher};
use std::time::Instant;

use beagle_trace::event::Site;
use rustc_hash::{FxHashSet, FxHasher};

use super::{Engine, Input, Listener, Next, Product, Side, Traced, Within, is_different, run_both};

/// Branches that are so many others away from a change are its neighbourhood.
const NEAR: u32 = 3;
/// What it counts that a change is executed, where a way on in its neighbourhood counts 1.
const CHANGE: u64 = 50;
/// Steps below this number make no difference, since each run costs something.
const LEAST_COST: u64 = 1000;
/// Keeps what an input adds for its cost a whole number.
const UNIT: u64 = 1 << 24;
/// So many are kept if none comes near to a change.
const FALLBACK: usize = 16;

/// What was seen of one input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// The changes that were executed, in order.
    pub reached: Vec<usize>,
    /// Whether the traced versions did something different that can be seen from outside.
    pub differs: bool,
    /// What it did near to changes.
    ways: Vec<Way>,
    /// How many steps both versions took: exploring from it costs as much, and more.
    cost: u64,
}

/// A way on that was taken, in one of the versions.
type Way = (Side, Site, Option<u32>);

/// What was seen of all inputs.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// By input; `None` if there was no time for it, or it could not be run.
    pub looks: Vec<Option<Look>>,
    /// The inputs that are worth exploring from, the best first.
    pub order: Vec<usize>,
    /// Inputs that do near to changes what another does, too.
    pub alike: usize,
}

impl Survey {
    /// Inputs of which nothing is known.
    pub fn unseen(&self) -> usize {
        self.looks.iter().filter(|look| look.is_none()).count()
    }

    fn rank(&mut self) {
        let looks = &self.looks;
        let mut alike: BTreeMap<u64, usize> = BTreeMap::new();
        for (index, look) in looks.iter().enumerate() {
            let Some(look) = look else { continue };
            let best = alike.entry(look.signature()).or_insert(index);
            let known = looks[*best].as_ref().map_or(u64::MAX, |best| best.cost);
            if look.cost < known {
                *best = index;
            }
        }
        let seen = looks.iter().flatten().count();
        self.alike = seen - alike.len();
        let look = |index: usize| looks[index].as_ref();
        let cost = |&index: &usize| look(index).map_or(u64::MAX, |look| look.cost);
        let mut rest: Vec<usize> = alike.into_values().collect();
        rest.sort_by_key(|index| (cost(index), *index));
        let (differing, rest): (Vec<usize>, Vec<usize>) = rest
            .into_iter()
            .partition(|&index| look(index).is_some_and(|look| look.differs));
        let mut done = Done::default();
        for &index in &differing {
            if let Some(look) = look(index) {
                done.add(look);
            }
        }
        let mut order = differing;
        // What an input adds only becomes less as others are taken: the one that was thought best
        // is the best if it still is when it is counted again.
        let worth = |done: &Done, index: usize| look(index).map_or(0, |look| done.worth(look));
        let mut heap: BinaryHeap<(u64, std::cmp::Reverse<usize>)> = BinaryHeap::new();
        for (place, &index) in rest.iter().enumerate() {
            heap.push((worth(&done, index), std::cmp::Reverse(place)));
        }
        while let Some((thought, std::cmp::Reverse(place))) = heap.pop() {
            let now = worth(&done, rest[place]);
            if now == 0 {
                continue;
            }
            if now < thought {
                heap.push((now, std::cmp::Reverse(place)));
                continue;
            }
            if let Some(look) = look(rest[place]) {
                done.add(look);
            }
            order.push(rest[place]);
        }
        if order.is_empty() {
            order = rest.into_iter().take(FALLBACK).collect();
        }
        self.order = order;
    }
}

impl Look {
    /// Equal for inputs that do the same near to changes.
    fn signature(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.reached.hash(&mut hasher);
        self.differs.hash(&mut hasher);
        self.ways.hash(&mut hasher);
        hasher.finish()
    }
}

/// What the inputs that were taken do together.
#[derive(Default)]
struct Done {
    changes: FxHashSet<usize>,
    ways: FxHashSet<Way>,
}

impl Done {
    fn add(&mut self, look: &Look) {
        self.changes.extend(&look.reached);
        self.ways.extend(&look.ways);
    }

    /// What an input adds to that, for what it costs.
    fn worth(&self, look: &Look) -> u64 {
        let changes = look.reached.iter();
        let changes = changes.filter(|change| !self.changes.contains(change));
        let ways = look.ways.iter().filter(|way| !self.ways.contains(way));
        match changes.count() as u64 * CHANGE + ways.count() as u64 {
            0 => 0,
            added => 1 + added * UNIT / (look.cost + LEAST_COST),
        }
    }
}

impl Engine<'_> {
    /// Looks at inputs until there is no more time.
    pub fn survey(
        &mut self,
        inputs: &[Input],
        until: Instant,
        listener: &mut dyn Listener,
    ) -> Survey {
        let mut survey = Survey {
            looks: vec![None; inputs.len()],
            ..Survey::default()
        };
        // If there is no time for all, then for most.
        let mut order: Vec<usize> = (0..inputs.len()).collect();
        order.sort_by_key(|&index| inputs[index].encoded_size());
        for index in order {
            if Instant::now() >= until || listener.progress(&self.status) == Next::Stop {
                break;
            }
            survey.looks[index] = self.look(&inputs[index]);
        }
        survey.rank();
        survey
    }

    fn look(&mut self, input: &Input) -> Option<Look> {
        let mut input = input.normalised();
        for source in &mut input.sources {
            (source.symbolic, source.pad) = (false, 0);
        }
        let limits = self.run_limits();
        let both = run_both(&mut self.executors, &input, &limits);
        let (old, new) = both.ok()?;
        let mut differs = is_different(&old, &new);
        let mut found = Look::default();
        // Without a trace it is still known whether they differ.
        if let (Ok(old_trace), Ok(new_trace)) = (&old.trace, &new.trace) {
            let (pool, twin) = (&mut self.pool, self.twin);
            let old_read = Traced::read(pool, old_trace, &input, &|site| twin.old.cases(site));
            let new_read = Traced::read(pool, new_trace, &input, &|site| twin.new.cases(site));
            let product = Product::new(
                pool,
                twin,
                &input,
                Within::default(),
                (&old_read, &new_read),
            );
            differs |= !old_read.files().eq(new_read.files());
            found.cost = (old_read.steps().len() + new_read.steps().len()) as u64;
            found.reached = product.reached.keys().copied().collect();
            found.reached.sort_unstable();
            let scene = &self.scene;
            let near = product.edges.iter().filter(|(side, edge)| {
                let distance = scene.distance(*side, edge.site);
                distance.is_some_and(|distance| distance <= NEAR)
            });
            let mut ways: Vec<Way> = near
                .map(|(side, edge)| (*side, edge.site, edge.to))
                .collect();
            ways.sort_unstable_by_key(|&(side, site, to)| (side as u8, site, to));
            ways.dedup();
            found.ways = ways;
        }
        found.differs = differs;
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(reached: &[usize], ways: &[u32], cost: u64) -> Option<Look> {
        let ways = ways.iter().map(|&site| (Side::New, site, Some(0)));
        Some(Look {
            reached: reached.to_vec(),
            differs: false,
            ways: ways.collect(),
            cost,
        })
    }

    fn ranked(looks: Vec<Option<Look>>) -> Survey {
        let mut survey = Survey {
            looks,
            ..Survey::default()
        };
        survey.rank();
        survey
    }

    #[test]
    fn the_cheapest_of_those_alike_is_taken_and_what_adds_nothing_is_not() {
        let survey = ranked(vec![
            look(&[], &[1, 2], 9),
            look(&[], &[1, 2], 5),
            look(&[0], &[1], 9),
            look(&[], &[2], 1),
            None,
        ]);
        assert_eq!(survey.order, [2, 3]);
        assert_eq!(survey.alike, 1);
        assert_eq!(survey.unseen(), 1);
    }

    #[test]
    fn what_costs_little_for_what_it_adds_comes_first() {
        let survey = ranked(vec![
            look(&[0, 1, 2], &[1, 2, 3], 1_000_000),
            look(&[0, 1], &[1, 2], 2000),
        ]);
        assert_eq!(survey.order, [1, 0]);
    }

    #[test]
    fn what_differs_comes_first() {
        let mut differs = look(&[], &[], 100);
        if let Some(look) = &mut differs {
            look.differs = true;
        }
        let survey = ranked(vec![look(&[0, 1], &[1], 1), differs]);
        assert_eq!(survey.order, [1, 0]);
    }

    #[test]
    fn something_is_left_if_nothing_comes_near() {
        let survey = ranked(vec![look(&[], &[], 3), look(&[], &[], 2)]);
        assert_eq!(survey.order, [1]);
        assert!(ranked(Vec::new()).order.is_empty());
    }
}
