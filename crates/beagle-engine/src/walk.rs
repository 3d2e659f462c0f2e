//! The product walk: two traces side by side.
//!
//! What corresponds has the same number in both versions, so as long as the versions do the same,
//! their steps are the same. Steps that only one version has are taken alone. Where the versions take
//! different sides of a branch, each goes on alone to where all ways from the branch meet again, in
//! the same call; from there they are walked together. Where that does not help (code was moved, a
//! call was added around other code) the nearest steps that agree are looked for. Every step is looked
//! at a bounded number of times, so the time is linear in the length of the traces.

use beagle_program::BlockId;
use rustc_hash::FxHashMap;

use crate::region::Region;
use crate::steps::{Step, What};
use crate::twin::{Half, Twin};

/// A step of the product: indexes of steps of the traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    /// Both versions took it, perhaps to different sides.
    Both(u32, u32),
    /// Only old took it.
    Old(u32),
    /// Only new took it.
    New(u32),
}

/// How far apart steps that agree may lie when they are looked for.
const FARTHEST: usize = 1 << 16;

/// The steps of both traces in one order.
pub fn walk(twin: &Twin<'_>, old: &[Step], new: &[Step]) -> Vec<Met> {
    walk_with((&twin.old, old), (&twin.new, new), &|step| {
        is_alone(twin, step)
    })
}

/// The same for two runs of one version: the first stands for old, the second for new.
pub fn walk_one(half: &Half<'_>, first: &[Step], second: &[Step]) -> Vec<Met> {
    walk_with((half, first), (half, second), &|step| {
        !step.what.is_control()
    })
}

fn walk_with(
    (old_half, old): (&Half<'_>, &[Step]),
    (new_half, new): (&Half<'_>, &[Step]),
    is_alone: &dyn Fn(&Step) -> bool,
) -> Vec<Met> {
    let mut walker = Walker {
        is_alone,
        old: Tape::new(old_half, old),
        new: Tape::new(new_half, new),
        order: Vec::with_capacity(old.len().max(new.len())),
    };
    walker.run();
    walker.order
}

/// One trace, and how far it was read.
struct Tape<'a, 'p> {
    half: &'a Half<'p>,
    steps: &'a [Step],
    at: usize,
    /// By the block that ends in the branch.
    regions: FxHashMap<BlockId, Region>,
}

impl<'a, 'p> Tape<'a, 'p> {
    fn new(half: &'a Half<'p>, steps: &'a [Step]) -> Self {
        Self {
            half,
            steps,
            at: 0,
            regions: FxHashMap::default(),
        }
    }

    fn next(&self) -> Option<&'a Step> {
        self.steps.get(self.at)
    }

    /// Where the ways from the branch before `self.at` have met again.
    fn meeting(&mut self, branch: &Step) -> usize {
        let Some(block) = self.half.block_of(branch) else {
            return self.at;
        };
        if !self.regions.contains_key(&block) {
            let region = Region::of(self.half, block);
            self.regions.insert(block, region);
        }
        let region = &self.regions[&block];
        let rest = self.steps[self.at..].iter();
        let inside = rest.take_while(|step| region.includes(self.half, branch.depth, step));
        self.at + inside.count()
    }
}

struct Walker<'a, 'p> {
    /// Whether the other run cannot have a counterpart of a step.
    is_alone: &'a dyn Fn(&Step) -> bool,
    old: Tape<'a, 'p>,
    new: Tape<'a, 'p>,
    order: Vec<Met>,
}

impl Walker<'_, '_> {
    fn run(&mut self) {
        loop {
            self.take_alone();
            let (Some(a), Some(b)) = (self.old.next(), self.new.next()) else {
                break;
            };
            if a.site == b.site && a.what.is_like(b.what) {
                self.order
                    .push(Met::Both(self.old.at as u32, self.new.at as u32));
                self.old.at += 1;
                self.new.at += 1;
                if a.what != b.what {
                    let (old, new) = (self.old.meeting(a), self.new.meeting(b));
                    self.skip(old, new);
                }
            } else {
                let (old, new) = self.resume();
                self.skip(old, new);
            }
        }
        self.skip(self.old.steps.len(), self.new.steps.len());
    }

    /// Takes the steps that the other version cannot have a counterpart for.
    fn take_alone(&mut self) {
        while self.old.next().is_some_and(self.is_alone) {
            self.order.push(Met::Old(self.old.at as u32));
            self.old.at += 1;
        }
        while self.new.next().is_some_and(self.is_alone) {
            self.order.push(Met::New(self.new.at as u32));
            self.new.at += 1;
        }
    }

    fn skip(&mut self, old: usize, new: usize) {
        let range = |from: usize, to: usize| from as u32..to as u32;
        self.order.extend(range(self.old.at, old).map(Met::Old));
        self.order.extend(range(self.new.at, new).map(Met::New));
        (self.old.at, self.new.at) = (old, new);
    }

    /// The nearest steps that agree, from where the traces do not.
    fn resume(&self) -> (usize, usize) {
        let mut room = 16;
        loop {
            let found = self.nearest(room);
            let is_all = self.old.at + room >= self.old.steps.len()
                && self.new.at + room >= self.new.steps.len();
            match found {
                Some(found) => return found,
                None if is_all || room >= FARTHEST => {
                    let end = |tape: &Tape<'_, '_>| (tape.at + room).min(tape.steps.len());
                    return (end(&self.old), end(&self.new));
                }
                None => room *= 4,
            }
        }
    }

    /// The steps nearest to here, among so many, that agree and lie in calls of the same depth.
    fn nearest(&self, room: usize) -> Option<(usize, usize)> {
        let window = |tape: &Tape<'_, '_>| tape.at..(tape.at + room).min(tape.steps.len());
        // Depths are counted from here: calls that only one version makes may lie around. Where a function is
        // left, the depth is that of its caller.
        let base = |tape: &Tape<'_, '_>| {
            let inside = |step: &Step| i64::from(step.depth) + i64::from(step.what == What::Leave);
            tape.next().map_or(0, inside)
        };
        let key = |tape: &Tape<'_, '_>, at: usize| {
            let step = &tape.steps[at];
            let what = match step.what {
                What::Branch(_) => What::Branch(true),
                What::Switch(_) => What::Switch(0),
                what => what,
            };
            (what, step.site, i64::from(step.depth) - base(tape))
        };
        let mut first: FxHashMap<_, usize> = FxHashMap::default();
        for at in window(&self.old) {
            if !(self.is_alone)(&self.old.steps[at]) {
                first.entry(key(&self.old, at)).or_insert(at);
            }
        }
        let mut best: Option<(usize, usize)> = None;
        for at in window(&self.new) {
            let distance = at - self.new.at;
            let to_beat = best.map_or(usize::MAX, |(old, new)| {
                old - self.old.at + new - self.new.at
            });
            if distance >= to_beat {
                break;
            }
            if (self.is_alone)(&self.new.steps[at]) {
                continue;
            }
            if let Some(&old) = first.get(&key(&self.new, at))
                && old - self.old.at + distance < to_beat
            {
                best = Some((old, at));
            }
        }
        best
    }
}

fn is_alone(twin: &Twin<'_>, step: &Step) -> bool {
    match step.what {
        What::Enter | What::Leave => !twin.is_shared_function(step.site),
        what => !what.is_control() || !twin.is_shared(step.site),
    }
}

#[cfg(test)]
mod tests;
