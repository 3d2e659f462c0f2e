//! When a change has its part in what two versions come to that differ in nothing else.
//!
//! A change may be executed again and again, and what it makes may be undone: then it made no difference. It has its
//! part when it was last executed before the versions, one with it and one without, go apart for good: before they
//! write something different.

use beagle_change::Scope;
use beagle_engine::{Met, Probe, ProbeError, Probed, Side, Step, Twin, What};
use beagle_solver::{Path, Pool};
use beagle_trace::event::Site;
use beagle_trace::{Input, Limits};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::observed::{Moment, unlike};

/// How many decisions new has taken when the change has its part. `None` if that cannot be told.
pub fn part(
    probe: &mut Probe<'_>,
    input: &Input,
    limits: &Limits,
) -> Result<Option<usize>, ProbeError> {
    let run = crate::look(probe, input, false, limits)?;
    let is_whole = Side::BOTH.map(|side| run.traced(side).has_all_values());
    if run.stops.iter().any(Option::is_some) || is_whole != [true; 2] {
        return Ok(None);
    }
    let wrote = unlike(&run).iter().map(|it| it.moment).min();
    let end = wrote.map_or(run.order.len(), |moment| moment + 1);
    let inputs = Path::new(&mut probe.pool, run.input.clone());
    let mut follower = Follower {
        twin: probe.twin,
        pool: &probe.pool,
        inputs,
        run: &run,
        held: FxHashMap::default(),
        locals: FxHashMap::default(),
        touched: Vec::new(),
        unequal: FxHashSet::default(),
        links: FxHashMap::default(),
        calls: [None, None],
        executed: None,
        apart: None,
        again: None,
    };
    for (moment, met) in run.order.iter().enumerate().take(end) {
        follower.meet(moment, *met);
    }
    Ok(follower.part().map(|moment| decisions(&run, moment)))
}

/// What is compared: a variable, or what a statement puts into members of structures.
type Key = (u32, Option<Site>);

struct Follower<'a, 'p> {
    twin: &'a Twin<'p>,
    pool: &'a Pool,
    /// Knows the values of expressions.
    inputs: Path,
    run: &'a Probed,
    /// What each version last put there.
    held: FxHashMap<Key, [Option<u128>; 2]>,
    /// Which of that are variables of each function.
    locals: FxHashMap<u32, Vec<Key>>,
    /// What was not compared since something was put there.
    touched: Vec<Key>,
    /// What holds different values now.
    unequal: FxHashSet<Key>,
    /// What held addresses into different kinds of memory when both were last together, with when the change was last
    /// executed before these were put there. What does not matter may hold them, too, so this sets no versions apart;
    /// but if something does, what came of these is likely to be it.
    links: FxHashMap<Key, Option<Moment>>,
    /// For each version, how deep the call is that it alone has made, if it is in one.
    calls: [Option<u32>; 2],
    /// When the change was last executed.
    executed: Option<Moment>,
    /// If the versions are apart: when the change was last executed before that.
    apart: Option<Option<Moment>>,
    /// If they are together again: the same for when they were apart last, and since when they are together.
    again: Option<(Option<Moment>, Moment)>,
}

impl Follower<'_, '_> {
    /// When the change was executed so that the versions write something different.
    fn part(&self) -> Option<Moment> {
        match (self.apart, self.again) {
            (Some(before), _) => before,
            // What sets them apart now is in memory that is not watched, from when they were apart last, unless the
            // change was executed since: what is executed while they are apart has not set them apart.
            (None, Some((before, since))) if self.executed <= Some(since) => before,
            _ => self.acted(),
        }
    }

    /// When the change was executed so that what both hold now could come of it.
    fn acted(&self) -> Option<Moment> {
        let links = self.links.values().copied();
        links.chain([self.executed]).min().flatten()
    }

    fn meet(&mut self, moment: Moment, met: Met) {
        match met {
            Met::Old(at) => self.alone(moment, Side::Old, at),
            Met::New(at) => self.alone(moment, Side::New, at),
            Met::Both(i, j) => {
                let (old, new) = (
                    self.run.old.steps()[i as usize],
                    self.run.new.steps()[j as usize],
                );
                self.calls = [None, None];
                self.compare();
                if new.what == What::Leave {
                    // What its variables held matters no more.
                    for key in self.locals.remove(&(new.site - 1)).unwrap_or_default() {
                        self.held.remove(&key);
                        self.unequal.remove(&key);
                        self.links.remove(&key);
                    }
                }
                let is_apart = old.what != new.what || !self.unequal.is_empty();
                match (is_apart, self.apart) {
                    (true, None) => self.apart = Some(self.acted()),
                    (false, Some(before)) => {
                        self.again = Some((before, moment));
                        self.apart = None;
                    }
                    _ => {}
                }
            }
        }
    }

    fn alone(&mut self, moment: Moment, side: Side, at: u32) {
        let step = self.run.traced(side).steps()[at as usize];
        let call = &mut self.calls[side as usize];
        match step.what {
            What::Enter => *call = Some(call.map_or(step.depth, |depth| depth.min(step.depth))),
            What::Leave if call.is_some_and(|depth| step.depth <= depth) => *call = None,
            What::Statement => self.executed = Some(moment),
            What::Value(place) => self.put(side, place, &step),
            _ => {}
        }
    }

    fn put(&mut self, side: Side, place: u32, step: &Step) {
        let is_called = self.calls[side as usize].is_some();
        let site = match self.twin.scope(place) {
            Some(Scope::Global) => None,
            // The other version may have put something else there in another call.
            Some(Scope::Local(_) | Scope::Member) if is_called => return,
            Some(Scope::Local(function)) => {
                if !self.held.contains_key(&(place, None)) {
                    self.locals.entry(function).or_default().push((place, None));
                }
                None
            }
            Some(Scope::Member) => Some(step.site),
            // It goes on as something else.
            Some(Scope::Result) | None => return,
        };
        let expr = self.run.traced(side).value(step.word);
        let value = expr.and_then(|expr| self.inputs.value(self.pool, expr));
        self.held.entry((place, site)).or_default()[side as usize] = value;
        self.touched.push((place, site));
    }

    /// Where both versions are at the same place: what they have made of their variables since they last were.
    fn compare(&mut self) {
        for key in self.touched.drain(..) {
            // What is not known, or was put there by one version only, tells nothing.
            if let Some([Some(old), Some(new)]) = self.held.get(&key) {
                let is_link = self.twin.is_address(key.0);
                match (is_link, old == new) {
                    (false, true) => drop(self.unequal.remove(&key)),
                    (false, false) => drop(self.unequal.insert(key)),
                    (true, true) => drop(self.links.remove(&key)),
                    // What is put there while they are apart has not set them apart.
                    (true, false) if self.apart.is_none() && self.executed.is_some() => {
                        self.links.insert(key, self.executed);
                    }
                    (true, false) => {}
                }
            }
        }
    }
}

fn decisions(run: &Probed, until: Moment) -> usize {
    let steps = run.order[..until].iter().filter_map(|met| match *met {
        Met::New(at) | Met::Both(_, at) => Some(run.new.steps()[at as usize].what),
        Met::Old(_) => None,
    });
    let decisions = steps.filter(|what| matches!(what, What::Branch(_) | What::Switch(_)));
    decisions.count()
}
