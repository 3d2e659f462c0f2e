//! What a run of both versions shows by itself, without a question: which changed statements were
//! executed, where the versions part, which variable is the first to differ, which output.

use beagle_engine::{Destination, Met, Probed, Side, Step, Twin, What};
use beagle_program::StmtId;
use beagle_solver::{Path, Pool};
use beagle_trace::event::Site;
use rustc_hash::{FxHashMap, FxHashSet};

/// Steps of the product are counted from its start; what comes earlier is nearer to the cause.
pub type Moment = usize;

/// A changed statement that was executed.
#[derive(Clone, Copy, Debug)]
pub struct Executed {
    /// In which version.
    pub side: Side,
    /// The statement.
    pub stmt: StmtId,
    /// When it first was.
    pub moment: Moment,
}

/// That the versions take different sides of a branch that both have.
#[derive(Clone, Copy, Debug)]
pub struct Parting {
    /// The branch or switch.
    pub site: Site,
    /// When.
    pub moment: Moment,
    /// What old does.
    pub old: What,
    /// What new does.
    pub new: What,
}

/// That a variable holds different values.
#[derive(Clone, Copy, Debug)]
pub struct Unequal {
    /// The variable, by its number.
    pub place: u32,
    /// When that was seen.
    pub moment: Moment,
    /// When the later of the values was put there.
    pub put: Moment,
    /// Where each version last put a value there.
    pub sites: [Option<Site>; 2],
    /// The values.
    pub values: [u64; 2],
}

/// The first byte that the versions write differently to a destination.
#[derive(Clone, Debug)]
pub struct Unlike {
    /// Where it goes.
    pub destination: Destination,
    /// The statement of each version that writes it; `None` where nothing is written any more.
    pub sites: [Option<Site>; 2],
    /// When the first version writes it, as far as it is known.
    pub moment: Moment,
    /// When both have.
    pub written: Moment,
}

/// What a run shows by itself.
#[derive(Debug, Default)]
pub struct Observed {
    /// In the order in which they first were executed.
    pub executed: Vec<Executed>,
    /// In order, each branch once.
    pub partings: Vec<Parting>,
    /// In order, each variable once.
    pub unequal: Vec<Unequal>,
    /// The first of each destination, in order.
    pub unlike: Vec<Unlike>,
    /// The last statement of each version of which something was recorded.
    pub last: [Option<Site>; 2],
    /// The changed statements that each version executed last before the versions were seen to differ.
    pub nearest: Vec<(Side, StmtId)>,
    /// When one version first did alone what both could do, and what.
    pub stray: Option<(Moment, Side, Site)>,
}

/// So many variables and branches are kept.
const MOST: usize = 64;

impl Observed {
    /// Looks at a run.
    pub fn of(twin: &Twin<'_>, pool: &mut Pool, run: &Probed) -> Self {
        let mut observed = Self {
            unlike: unlike(run),
            last: Side::BOTH.map(|side| last(twin, side, run.traced(side).steps())),
            ..Self::default()
        };
        let inputs = Path::new(pool, run.input.clone());
        let order = &run.order;
        let mut looker = Looker {
            twin,
            pool,
            run,
            inputs,
            executed: FxHashMap::default(),
            parted: FxHashSet::default(),
            unequal: FxHashSet::default(),
            held: FxHashMap::default(),
            touched: Vec::new(),
            recent: [None, None],
            observed: &mut observed,
        };
        for (moment, met) in order.iter().enumerate() {
            looker.meet(moment, *met);
        }
        looker.compare(order.len());
        let mut executed: Vec<Executed> = looker.executed.into_values().collect();
        executed.sort_by_key(|it| (it.moment, it.side, it.stmt));
        if observed.nearest.is_empty() && observed.first_effect().is_none() {
            // Nothing was seen before the output itself.
            let first = observed.unlike.iter().map(|it| it.moment).min();
            let before = executed.iter().rev();
            let mut before = before.filter(|it| first.is_none_or(|first| it.moment <= first));
            observed.nearest = before
                .next()
                .map(|it| (it.side, it.stmt))
                .into_iter()
                .collect();
        }
        observed.executed = executed;
        observed.unlike.sort_by_key(|it| it.moment);
        observed
    }

    /// When the effect of a change was first seen in a branch or a variable.
    pub fn first_effect(&self) -> Option<Moment> {
        let parting = self.partings.first().map(|it| it.moment);
        let unequal = self.unequal.first().map(|it| it.moment);
        parting.into_iter().chain(unequal).min()
    }

    /// When the versions were first seen to differ in anything.
    pub fn first_seen(&self) -> Option<Moment> {
        let stray = self.stray.map(|it| it.0);
        let unlike = self.unlike.first().map(|it| it.moment);
        let effect = self.first_effect().into_iter();
        effect.chain(stray).chain(unlike).min()
    }

    /// The statements that write the first bytes that differ.
    pub fn output_sites(&self, twin: &Twin<'_>) -> Vec<(Side, StmtId)> {
        let sites = self.unlike.iter().flat_map(|it| {
            let both = Side::BOTH.map(|side| (side, it.sites[side as usize]));
            both.into_iter()
        });
        let stmts = sites.filter_map(|(side, site)| Some((side, twin.half(side).stmt(site?)?)));
        stmts.collect()
    }

    /// The statements at which the versions were first seen to differ.
    pub fn first_sites(&self, twin: &Twin<'_>) -> Vec<(Side, StmtId)> {
        let Some(first) = self.first_seen() else {
            return Vec::new();
        };
        let mut sites: Vec<(Side, Site)> = Vec::new();
        if let Some(parting) = self.partings.first().filter(|it| it.moment == first) {
            sites.extend(Side::BOTH.map(|side| (side, parting.site)));
        }
        for unequal in self.unequal.iter().filter(|it| it.moment == first) {
            let both = Side::BOTH.map(|side| Some((side, unequal.sites[side as usize]?)));
            sites.extend(both.into_iter().flatten());
        }
        if let Some((_, side, site)) = self.stray.filter(|it| it.0 == first) {
            sites.push((side, site));
        }
        if let Some(unlike) = self.unlike.first().filter(|it| it.moment == first) {
            let both = Side::BOTH.map(|side| Some((side, unlike.sites[side as usize]?)));
            sites.extend(both.into_iter().flatten());
        }
        let stmts = sites
            .into_iter()
            .filter_map(|(side, site)| Some((side, twin.half(side).stmt(site)?)));
        stmts.collect()
    }
}

/// What a version put into a variable, where and when.
#[derive(Clone, Copy, Debug)]
struct Held {
    site: Site,
    value: u64,
    moment: Moment,
}

struct Looker<'a, 'p> {
    twin: &'a Twin<'p>,
    pool: &'a Pool,
    run: &'a Probed,
    /// Knows the values of expressions.
    inputs: Path,
    executed: FxHashMap<(Side, StmtId), Executed>,
    parted: FxHashSet<Site>,
    unequal: FxHashSet<u32>,
    /// What each version last put into each variable.
    held: FxHashMap<u32, [Option<Held>; 2]>,
    /// Variables that were not compared since something was put there.
    touched: Vec<u32>,
    /// The changed statement that each version executed last.
    recent: [Option<StmtId>; 2],
    observed: &'a mut Observed,
}

impl Looker<'_, '_> {
    fn meet(&mut self, moment: Moment, met: Met) {
        match met {
            Met::Old(at) => self.alone(moment, Side::Old, at as usize),
            Met::New(at) => self.alone(moment, Side::New, at as usize),
            Met::Both(i, j) => {
                self.compare(moment);
                let (old, new) = (
                    self.run.old.steps()[i as usize],
                    self.run.new.steps()[j as usize],
                );
                let is_own = self.twin.new.stmt(new.site).is_some();
                if old.what != new.what
                    && is_own
                    && self.observed.partings.len() < MOST
                    && self.parted.insert(new.site)
                {
                    self.differs();
                    self.observed.partings.push(Parting {
                        site: new.site,
                        moment,
                        old: old.what,
                        new: new.what,
                    });
                }
            }
        }
    }

    fn alone(&mut self, moment: Moment, side: Side, at: usize) {
        let step = self.run.traced(side).steps()[at];
        match step.what {
            What::Statement => {
                if let Some(stmt) = self.twin.half(side).stmt(step.site) {
                    self.recent[side as usize] = Some(stmt);
                    self.executed
                        .entry((side, stmt))
                        .or_insert(Executed { side, stmt, moment });
                }
            }
            // What has no name is made by the compiler, and tells people nothing.
            What::Value(place)
                if self.observed.unequal.len() < MOST
                    && self.twin.is_compared(place)
                    && self.twin.watched_name(place).is_some() =>
            {
                let expr = self.run.traced(side).value(step.word);
                let value = expr.and_then(|expr| self.inputs.value(self.pool, expr));
                if let Some(value) = value {
                    let held = self.held.entry(place).or_default();
                    held[side as usize] = Some(Held {
                        site: step.site,
                        value: value as u64,
                        moment,
                    });
                    self.touched.push(place);
                }
            }
            What::Branch(_) | What::Switch(_)
                if self.observed.stray.is_none()
                    && self.twin.is_shared(step.site)
                    && self.twin.half(side).stmt(step.site).is_some() =>
            {
                self.differs();
                self.observed.stray = Some((moment, side, step.site));
            }
            _ => {}
        }
    }

    /// The versions are seen to differ, perhaps for the first time.
    fn differs(&mut self) {
        let observed = &mut *self.observed;
        let is_first = observed.first_effect().is_none() && observed.stray.is_none();
        if is_first {
            let recent = Side::BOTH.map(|side| Some((side, self.recent[side as usize]?)));
            observed.nearest = recent.into_iter().flatten().collect();
        }
    }

    /// Where both versions are at the same place: what they have made of their variables since they last were.
    fn compare(&mut self, moment: Moment) {
        if self.touched.is_empty() {
            return;
        }
        let mut touched = std::mem::take(&mut self.touched);
        let mut seen = FxHashSet::default();
        touched.retain(|&place| seen.insert(place));
        for place in touched.drain(..) {
            let Some([Some(old), Some(new)]) = self.held.get(&place).copied() else {
                continue;
            };
            // Of members there are many: only those that were put there by the same statement compare.
            let comparable = self.twin.is_single(place) || old.site == new.site;
            if old.value != new.value
                && comparable
                && self.observed.unequal.len() < MOST
                && self.unequal.insert(place)
            {
                self.differs();
                self.observed.unequal.push(Unequal {
                    place,
                    moment,
                    put: old.moment.max(new.moment),
                    sites: [Some(old.site), Some(new.site)],
                    values: [old.value, new.value],
                });
            }
        }
        self.touched = touched;
    }
}

/// The first byte of each destination that differs, and who writes it.
pub fn unlike(run: &Probed) -> Vec<Unlike> {
    let mut found = Vec::new();
    let streams = Side::BOTH.map(|side| run.traced(side).streams().collect::<FxHashMap<_, _>>());
    let mut destinations: Vec<_> = streams.iter().flat_map(|all| all.keys()).collect();
    destinations.sort();
    destinations.dedup();
    for &destination in &destinations {
        let [old, new] = [0, 1].map(|side| streams[side].get(*destination).copied());
        let bytes = |stream: Option<&beagle_engine::Stream>| stream.map_or(0, |it| it.bytes.len());
        let common = match (old, new) {
            (Some(a), Some(b)) => {
                let same = a.bytes.iter().zip(&b.bytes);
                same.take_while(|(x, y)| x == y).count()
            }
            _ => 0,
        };
        if common == bytes(old) && common == bytes(new) {
            continue;
        }
        let words = [old, new].map(|stream| stream.and_then(|it| it.writer(common)));
        let moments = Side::BOTH.map(|side| {
            let word = words[side as usize]? as u32;
            let steps = run.traced(side).steps();
            let at = steps.partition_point(|step| step.word < word);
            steps.get(at).map(|step| (step.site, at))
        });
        let (moment, written) = moments_of(run, moments.map(|it| it.map(|(_, at)| at)));
        found.push(Unlike {
            destination: (*destination).clone(),
            sites: moments.map(|it| it.map(|(site, _)| site)),
            moment,
            written,
        });
    }
    found
}

/// The steps of the product at which the first and the last of two steps happen.
fn moments_of(run: &Probed, steps: [Option<usize>; 2]) -> (Moment, Moment) {
    let [old, new] = steps.map(|at| at.map(|at| at as u32));
    let is_one = |met: &Met| match *met {
        Met::Old(i) => Some(i) == old,
        Met::New(j) => Some(j) == new,
        Met::Both(i, j) => Some(i) == old || Some(j) == new,
    };
    let first = run.order.iter().position(is_one);
    let last = run.order.iter().rposition(is_one);
    let end = run.order.len();
    (first.unwrap_or(end), last.unwrap_or(end))
}

/// The last statement of which something was recorded.
fn last(twin: &Twin<'_>, side: Side, steps: &[Step]) -> Option<Site> {
    let half = twin.half(side);
    let is_place = |step: &&Step| {
        !matches!(step.what, What::Enter | What::Leave) && half.stmt(step.site).is_some()
    };
    steps.iter().rev().find(is_place).map(|step| step.site)
}
