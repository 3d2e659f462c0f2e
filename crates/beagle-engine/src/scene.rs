//! What is known so far: what was covered and tried, how far each change got, how far it is to
//! those that were not reached.

use std::collections::BTreeSet;

use beagle_change::{Irrelevance, Phase, Way};
use beagle_program::{BlockId, Dependence, StmtId};
use beagle_trace::event::{MODEL_SITES, Site};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::affairs::Affair;
use crate::distance::{ControlGraph, Distances, Turning};
use crate::passed::{Fixed, Passed};
use crate::product::{Anytime, Effect, Product, Seen, Stock};
use crate::question::{Aim, Edge, Far, Question};
use crate::sequences::Sequences;
use crate::twin::{Half, Place, Side, Twin};

/// Programs with more statements are not sliced.
const MOST_SLICED: usize = 100_000;

/// In programs with more statements it is not measured for each run how far it is to changes.
const MOST_MEASURED: usize = 30_000;

/// How much farther a change is by a way on that does not decide whether it runs.
const AROUND: u32 = 2;

/// How far the effect of a change got.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// It was executed.
    pub reached: bool,
    /// Something at a place that both versions have was different.
    pub infected: bool,
    /// The versions took different sides of a branch.
    pub parted: bool,
    /// The outputs differed.
    pub propagated: bool,
    /// Where its effect was last seen in the run in which it came farthest, if it died.
    pub stopped: Option<Stopped>,
}

/// Where the effect of a change died.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// The place in new.
    pub place: Option<Place>,
    /// Why.
    pub why: &'static str,
}

/// What became of asking for a way on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tries {
    /// How often it was asked for.
    pub count: u32,
    /// How often that led to where no run had been.
    pub paid: u32,
}

/// What is known so far.
pub struct Scene<'a> {
    /// The versions.
    pub twin: &'a Twin<'a>,
    graphs: [ControlGraph; 2],
    /// To changes that were not reached, whatever a run has passed.
    unreached: [Distances; 2],
    /// How often that was measured.
    round: u32,
    /// The branches that runs came to.
    fixed: [Fixed; 2],
    /// Of programs that are not too large.
    turning: Option<[Turning<'a>; 2]>,
    all: [Distances; 2],
    /// To where something is assigned that changes read.
    feeding: [Distances; 2],
    /// To where something is read that changes assign.
    using: [Distances; 2],
    irrelevance: Irrelevance<'a>,
    /// By [`Stock`].
    covered: FxHashMap<(Side, Edge), [u32; 2]>,
    /// By runs that `cover` made by itself.
    covered_alone: FxHashMap<(Side, Edge), u32>,
    tried: FxHashMap<(Trier, Stock, Edge), Tries>,
    /// How often a way on was asked for while a variable held something.
    tried_in: FxHashMap<(Trier, Stock, Edge, Affair), u32>,
    /// The variables that decide about what is wanted now.
    deciding_now: FxHashSet<u32>,
    /// What variables were seen to hold that decide about changes.
    held: FxHashMap<Affair, [u32; 2]>,
    /// By change.
    pub progress: Vec<Progress>,
    /// What is known of the change sequence graph, once there is one.
    pub sequences: Option<Sequences>,
}

impl<'a> Scene<'a> {
    /// Nothing was done yet.
    pub fn new(twin: &'a Twin<'a>) -> Self {
        let graphs = Side::BOTH.map(|side| ControlGraph::of(twin.half(side)));
        let changes = twin.comparison.changes.len();
        let [old, new] = Side::BOTH.map(|side| twin.half(side));
        let irrelevance = Irrelevance::of(
            (old.program, &old.calls),
            (new.program, &new.calls),
            twin.comparison,
        );
        let mut scene = Self {
            twin,
            graphs,
            unreached: Default::default(),
            round: 0,
            fixed: Default::default(),
            turning: (Side::BOTH.iter())
                .all(|&side| twin.half(side).program.stmts.len() <= MOST_SLICED)
                .then(|| Side::BOTH.map(|side| Turning::of(twin.half(side)))),
            all: Default::default(),
            feeding: Default::default(),
            using: Default::default(),
            irrelevance,
            covered: FxHashMap::default(),
            covered_alone: FxHashMap::default(),
            tried: FxHashMap::default(),
            tried_in: FxHashMap::default(),
            deciding_now: FxHashSet::default(),
            held: FxHashMap::default(),
            progress: vec![Progress::default(); changes],
            sequences: None,
        };
        scene.all = Side::BOTH.map(|side| {
            let blocks = changed_blocks(twin.half(side), &|_| true);
            scene.distances_to(side, blocks)
        });
        scene.look_for_unreached();
        scene.look_around();
        scene
    }

    /// As this one sees it.
    pub fn view(&self, trier: Trier) -> View<'_> {
        let scene = self;
        View { scene, trier }
    }

    /// Measures how far it is to where values of changes come from and go to.
    fn look_around(&mut self) {
        let Some(turning) = &self.turning else {
            return;
        };
        let around = |of: &dyn Fn(&Dependence<'_>, &[StmtId]) -> Vec<BlockId>| {
            Side::BOTH.map(|side| {
                let changed = self.twin.half(side).changed();
                let changed: Vec<StmtId> = changed.map(|(stmt, _)| stmt).collect();
                let blocks = of(turning[side as usize].dependence(), &changed);
                self.distances_to(side, blocks)
            })
        };
        let feeding = around(&|dependence, changed| dependence.assigning(changed));
        let using = around(&|dependence, changed| dependence.reading(changed));
        (self.feeding, self.using) = (feeding, using);
    }

    /// Measures how far it is to the changes that were not reached.
    fn look_for_unreached(&mut self) {
        self.unreached = Side::BOTH.map(|side| self.to_wanted(side, None));
        self.round += 1;
        self.look_for_deciding();
    }

    /// How far it is to the changes that were not reached by way of assignments, too, for a run with this past.
    fn to_wanted(&self, side: Side, past: Option<(&Fixed, &Passed)>) -> Distances {
        let (half, graph) = (self.twin.half(side), &self.graphs[side as usize]);
        let turning = self.turning.as_ref();
        let by = turning.map(|turning| (&turning[side as usize], past));
        let blocks = changed_blocks(half, &|change| !self.progress[change].reached);
        Distances::to(half, graph, by, blocks)
    }

    /// What decides whether changes are executed that were not yet; if all were, what they make.
    fn look_for_deciding(&mut self) {
        let all = || self.twin.deciding().iter().zip(&self.progress);
        let unreached = all().filter(|(_, progress)| !progress.reached);
        let whether = unreached.flat_map(|(deciders, _)| &deciders.whether);
        let mut deciding: FxHashSet<u32> = whether.copied().collect();
        if deciding.is_empty() {
            deciding.extend(all().flat_map(|(deciders, _)| &deciders.what));
        }
        self.deciding_now = deciding;
    }

    /// Of these changes, two of which the first makes what the second reads, perhaps by way of memory. None
    /// of large programs.
    pub fn feeds(&self, changes: &BTreeSet<usize>, memory: bool) -> BTreeSet<(usize, usize)> {
        let mut feeds = BTreeSet::new();
        let sides = Side::BOTH.into_iter().zip(self.turning.iter().flatten());
        for (side, turning) in sides {
            let dependence = turning.dependence();
            let half = self.twin.half(side);
            for &to in changes {
                let changed = half.changed().filter(|(_, all)| all.contains(&to));
                let changed: Vec<StmtId> = changed.map(|(stmt, _)| stmt).collect();
                let sources = dependence.sources(&changed, memory);
                let made = half.changed().filter(|(stmt, _)| sources.contains(stmt));
                let by = made.flat_map(|(_, all)| all);
                let by = by.filter(|&&from| from != to && changes.contains(&from));
                feeds.extend(by.map(|&from| (from, to)));
            }
        }
        feeds
    }

    /// How far it is to some blocks of a version, by branches alone.
    pub fn distances_to(&self, side: Side, blocks: impl IntoIterator<Item = BlockId>) -> Distances {
        Distances::to(
            self.twin.half(side),
            &self.graphs[side as usize],
            None,
            blocks,
        )
    }

    /// Measures how far it is from what the questions of a run ask for to the changes that were not reached.
    pub fn measure(&mut self, product: &mut Product) {
        let size = |side| self.twin.half(side).program.stmts.len();
        let is_large = Side::BOTH
            .into_iter()
            .any(|side| size(side) > MOST_MEASURED);
        let all_reached = self.progress.iter().all(|change| change.reached);
        if self.turning.is_none() || is_large || all_reached {
            return;
        }
        for (side, fixed) in Side::BOTH.into_iter().zip(&mut self.fixed) {
            fixed.add(self.twin.half(side), side, product);
        }
        let distances = Side::BOTH.map(|side| {
            let passed = Passed::of(self.twin.half(side), side, product);
            self.to_wanted(side, Some((&self.fixed[side as usize], &passed)))
        });
        for question in &mut product.questions {
            let held = product.held.get(question.prefix);
            // What a model of a libc function does shows at the next branch.
            let place = held.map_or(0, |held| match held.next {
                next if next > 0 && self.twin.is_shared(next) => next,
                _ => held.context,
            });
            question.far = Some(Far {
                round: self.round,
                far: self.to(&distances, question, place),
            });
        }
    }

    /// Adds a run, and finds out what it was the first to do; whether changes acted in an order in which
    /// they had not.
    pub fn add(&mut self, product: &mut Product) -> bool {
        for &edge in &product.edges {
            let counts = self.covered.entry(edge).or_default();
            let is_new = known(*counts, product.stock) == 0;
            product.merit += usize::from(is_new);
            product.news += usize::from(is_new && edge.1.site < MODEL_SITES);
            counts[product.stock as usize] += 1;
        }
        let affairs = product.affairs.seen();
        let affairs = affairs.filter(|(place, _)| self.deciding_now.contains(place));
        for affair in affairs.collect::<FxHashSet<_>>() {
            let counts = self.held.entry(affair).or_default();
            let is_new = known(*counts, product.stock) == 0;
            product.merit += usize::from(is_new);
            counts[product.stock as usize] += 1;
        }
        let anytime = product.edges.iter();
        let anytime = anytime.map(|&(side, edge)| (side, edge.anytime()));
        for edge in anytime.collect::<FxHashSet<_>>() {
            let counts = self.covered.entry(edge).or_default();
            let is_new = known(*counts, product.stock) == 0;
            product.anytime.merit += usize::from(is_new);
            product.anytime.news += usize::from(is_new && edge.1.site < MODEL_SITES);
            counts[product.stock as usize] += 1;
        }
        if product.alone.is_some() {
            self.add_alone(product);
        }
        let mut changed = false;
        for (&change, &step) in &product.reached {
            let progress = &mut self.progress[change];
            changed |= !progress.reached;
            progress.reached = true;
            let effects = product.effects.iter().filter(|effect| effect.step >= step);
            let mut last: Option<&Effect> = None;
            for effect in effects {
                progress.infected = true;
                progress.parted |= effect.is_parting();
                last = Some(effect);
            }
            if !progress.propagated {
                progress.stopped = Some(stopped(self.twin, last));
            }
        }
        let sequences = self.sequences.as_mut();
        let is_new_order = sequences.is_some_and(|sequences| sequences.add(&product.trail));
        if changed {
            self.look_for_unreached();
        }
        is_new_order
    }

    /// Adds a run to those that `cover` made by itself.
    pub fn add_alone(&mut self, product: &mut Product) {
        let anytime = product.edges.iter();
        let anytime = anytime.map(|&(side, edge)| (side, edge.anytime()));
        let mut alone = Anytime::default();
        for edge in anytime.collect::<FxHashSet<_>>() {
            let count = self.covered_alone.entry(edge).or_default();
            alone.merit += usize::from(*count == 0);
            alone.news += usize::from(*count == 0 && edge.1.site < MODEL_SITES);
            *count += 1;
        }
        product.alone = Some(alone);
    }

    /// The outputs of a run differed.
    pub fn differed(&mut self, product: &Product) {
        for &change in product.reached.keys() {
            let progress = &mut self.progress[change];
            (progress.infected, progress.propagated) = (true, true);
            progress.stopped = None;
        }
    }

    /// Notes that a way on was asked for.
    pub fn tried(&mut self, trier: Trier, product: &Product, question: &Question) {
        let (stock, edge) = (product.stock, question.edge);
        for &trier in trier.and_all() {
            let deciding = self.twin.deciding_places();
            for affair in deciding.filter_map(|place| product.affairs.at(question.step, place)) {
                let tries = self.tried_in.entry((trier, stock, edge, affair));
                *tries.or_default() += 1;
            }
            for edge in [edge, edge.anytime()] {
                let tries = self.tried.entry((trier, stock, edge));
                tries.or_default().count += 1;
            }
        }
    }

    /// Notes that asking for a way on led to where no run had been, as far as that was so.
    pub fn paid(&mut self, trier: Trier, question: &Question, product: &Product) {
        let (stock, edge) = (product.stock, question.edge);
        for &trier in trier.and_all() {
            let anytime = product.news_to(trier).news;
            let edges = [(edge, product.news), (edge.anytime(), anytime)];
            for (edge, _) in edges.into_iter().filter(|(_, news)| *news > 0) {
                let tries = self.tried.entry((trier, stock, edge));
                tries.or_default().paid += 1;
            }
        }
    }

    /// How far it is from what a question asks for to the nearest change that was not reached.
    pub fn to_unreached(&self, question: &Question, context: Site) -> Option<u32> {
        match question.far {
            Some(Far { round, far }) if round == self.round => far,
            _ => self.to(&self.unreached, question, context),
        }
    }

    /// How far it is from a branch to the nearest change.
    pub fn distance(&self, side: Side, branch: Site) -> Option<u32> {
        let half = self.twin.half(side);
        self.all[side as usize].block(half.block(half.stmt(branch)?))
    }

    /// How far it is to the nearest change.
    pub fn to_any(&self, question: &Question, context: Site) -> Option<u32> {
        self.to(&self.all, question, context)
    }

    /// How far it is to where something is assigned that a change reads.
    pub fn to_feeding(&self, question: &Question, context: Site) -> Option<u32> {
        self.to(&self.feeding, question, context)
    }

    /// How far it is to where something is read that a change assigns.
    pub fn to_using(&self, question: &Question, context: Site) -> Option<u32> {
        self.to(&self.using, question, context)
    }

    /// Whether a question asks for a way that cannot make a difference: up to there no changed
    /// statement was executed, and after it none can be.
    ///
    /// Once a change was executed on this path, no way on is left out, whether the state is infected
    /// or not: it need not be on this input to be on another that goes the same way. So what the
    /// paper leaves out after infection (a way from which no change can be reached, and to which none
    /// leads) is left out here too.
    pub fn is_irrelevant(&self, product: &Product, question: &Question) -> bool {
        if question.aim != Aim::Flip || product.changed_from <= question.step {
            return false;
        }
        let site = question.edge.site;
        let at = |site| Some((self.twin.old.stmt(site)?, self.twin.new.stmt(site)?));
        let way = match at(site) {
            Some((old, new)) => Some(Way {
                old,
                new,
                to: question.edge.to,
            }),
            // In a model of a libc function: control came there from the last branch.
            None => product.held.get(question.prefix).and_then(|held| {
                let (old, new) = at(held.context)?;
                Some(Way { old, new, to: None })
            }),
        };
        way.is_some_and(|way| {
            self.irrelevance
                .is_irrelevant(way, Phase::BeforeInfection, None)
        })
    }

    /// How far it is from what a question asks for, by distances to something in both versions.
    pub fn to(
        &self,
        distances: &[Distances; 2],
        question: &Question,
        context: Site,
    ) -> Option<u32> {
        let sides = Side::BOTH.into_iter();
        let sides = sides.filter(|&side| question.from.includes(side));
        let found = sides.filter_map(|side| {
            let half = self.twin.half(side);
            let distances = &distances[side as usize];
            match (half.stmt(question.edge.site), question.edge.to) {
                (Some(branch), Some(to)) => {
                    // A way on that does not itself decide may still lead there, by what it does.
                    let around = || Some(distances.block(half.block(branch))? + AROUND);
                    distances.edge(branch, to).or_else(around)
                }
                (Some(stmt), None) => distances.block(half.block(stmt)),
                (None, _) => {
                    let stmt = half.stmt(context);
                    let block = stmt.map(|stmt| half.block(stmt));
                    distances.block(block.or(half.start())?)
                }
            }
        });
        found.min()
    }
}

/// Who tried something in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trier {
    /// Any technique.
    Anyone,
    /// `reach`, for which only what it tried itself counts: what others want is elsewhere, and what is in vain for
    /// them need not be for it.
    Reach,
    /// `cover`, which goes on as if there were no others.
    Cover,
}

impl Trier {
    /// All of whom it is one.
    fn and_all(self) -> &'static [Trier] {
        match self {
            Trier::Anyone => &[Trier::Anyone],
            Trier::Reach => &[Trier::Anyone, Trier::Reach],
            Trier::Cover => &[Trier::Anyone, Trier::Cover],
        }
    }
}

/// What is known so far, to a technique.
#[derive(Clone, Copy)]
pub struct View<'s> {
    scene: &'s Scene<'s>,
    trier: Trier,
}

impl<'s> std::ops::Deref for View<'s> {
    type Target = Scene<'s>;

    fn deref(&self) -> &Self::Target {
        self.scene
    }
}

impl View<'_> {
    /// Whose it is.
    pub fn trier(&self) -> Trier {
        self.trier
    }

    /// How often a way on was taken. What others found does not count for those that do not come of it: it
    /// may be known, but nothing leads on from there by way of them.
    pub fn coverage(&self, stock: Stock, side: Side, edge: Edge) -> u32 {
        if self.trier == Trier::Cover && stock == Stock::Own {
            let count = self.scene.covered_alone.get(&(side, edge));
            return count.copied().unwrap_or(0);
        }
        let counts = self.scene.covered.get(&(side, edge));
        counts.map_or(0, |&counts| known(counts, stock))
    }

    /// What became of asking for a way on.
    pub fn tries(&self, stock: Stock, edge: Edge) -> Tries {
        let tries = self.scene.tried.get(&(self.trier, stock, edge));
        tries.copied().unwrap_or_default()
    }

    /// How often a way on was asked for in a state of affairs that is like this one in what it was least
    /// asked for in; `None` if nothing is known of it.
    pub fn tries_now(&self, product: &Product, question: &Question) -> Option<u32> {
        let counts = self.scene.deciding_now.iter().filter_map(|&place| {
            let affair = product.affairs.at(question.step, place)?;
            let tried =
                self.scene
                    .tried_in
                    .get(&(self.trier, product.stock, question.edge, affair));
            Some(tried.copied().unwrap_or(0))
        });
        counts.min()
    }
}

impl Product {
    /// What was new in it to a technique that knows only ways on, not what else was so.
    pub fn news_to(&self, trier: Trier) -> Anytime {
        match (trier, self.alone) {
            (Trier::Cover, Some(alone)) => alone,
            _ => self.anytime,
        }
    }
}

/// How often something is known to have been done, from the counts of each stock.
fn known([own, offered]: [u32; 2], stock: Stock) -> u32 {
    match stock {
        Stock::Own => own,
        Stock::Offered => own + offered,
    }
}

/// The blocks with statements of the changes that are wanted.
fn changed_blocks(half: &Half<'_>, wanted: &dyn Fn(usize) -> bool) -> FxHashSet<BlockId> {
    let changed = half.changed();
    let changed = changed.filter(|(_, changes)| changes.iter().any(|&change| wanted(change)));
    changed.map(|(stmt, _)| half.block(stmt)).collect()
}

fn stopped(twin: &Twin<'_>, last: Option<&Effect>) -> Stopped {
    match last {
        Some(effect) => Stopped {
            place: twin
                .new
                .stmt(effect.site)
                .and_then(|stmt| twin.new.place(stmt)),
            why: match effect.seen {
                Seen::Value => "a variable differs here, but no branch or output depended on it",
                Seen::Condition => "the values differ here, but both versions take the same side",
                Seen::Parting => "the versions take different ways here, but write the same",
            },
        },
        None => Stopped {
            place: None,
            why: "no branch or output depended on it",
        },
    }
}
