//! The loop of exploration: take the best question, solve it, run both versions, walk the product,
//! add the questions that it raises.

mod alone;
mod ask;
mod files;
mod glimpse;
mod graph;
mod listener;
mod spoilt;
mod survey;

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::time::{Duration, Instant};

use beagle_change::Subject;
use beagle_executor::{Executor, ExecutorError, Outcome, Run};
use beagle_solver::{Budget, Expr, Pool, Solver, Statistics};
use beagle_trace::event::Site;
use beagle_trace::{Input, Limits, Source};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::astray::Astray;
use crate::frontier::{Account, Chosen, Frontier};
use crate::options as known;
use crate::product::{Anytime, Product, Seen, Stock, Within};
use crate::question::Edge;
use crate::records::Records;
use crate::repeat::AllRepeats;
use crate::scene::{Progress, Scene};
use crate::shape::Shape;
use crate::splice::{Splice, Splices};
use crate::strategy;
use crate::traced::Traced;
use crate::trail::Marks;
use crate::twin::{Place, Side, Twin};

use ask::Own;
pub use files::Files;
pub use glimpse::Glimpse;
use graph::Awaited;
pub use listener::{Appetite, Listener, Next, Ran};
pub use survey::{Look, Survey};

/// How to explore.
#[derive(Clone, Debug)]
pub struct Options {
    /// The names of the techniques to use.
    pub strategies: Vec<String>,
    /// Which inputs are wanted.
    pub shape: Shape,
    /// What one run may take.
    pub limits: Limits,
    /// When to stop.
    pub deadline: Instant,
    /// How many runs of both versions there may be.
    pub most_runs: u64,
    /// How many questions there may be.
    pub most_queries: u64,
    /// What decides between questions that promise the same.
    pub chance: u64,
}

/// What can stop the exploration before it began.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A name that is none of a technique.
    #[error("there is no strategy `{name}`; there are {}", strategy::NAMES.join(", "))]
    NoStrategy {
        /// The name.
        name: String,
    },
    /// A traced program cannot be run at all.
    #[error(transparent)]
    Run(#[from] ExecutorError),
}

/// Why the exploration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Every question was asked.
    Exhausted,
    /// Out of time.
    Deadline,
    /// As many runs as allowed.
    Runs,
    /// As many questions as allowed.
    Queries,
    /// Whoever listens had enough.
    Stopped,
}

/// What was done so far.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// Runs of both versions.
    pub runs: u64,
    /// Questions to the solver.
    pub queries: u64,
    /// Inputs that it gave.
    pub satisfiable: u64,
    /// Questions without an input.
    pub unsatisfiable: u64,
    /// Runs on which the traced versions differed.
    pub differing: u64,
    /// What could not be followed, by cause.
    pub losses: BTreeMap<String, u64>,
    /// Files that runs asked for in vain, and those that none asked for.
    pub files: Files,
    /// By change.
    pub changes: Vec<Progress>,
    /// The number of the run that was the first to execute a change.
    pub first_reached: Option<u64>,
    /// The number of the run in which the effect of a change was first seen.
    pub first_infected: Option<u64>,
}

impl Status {
    fn lose(&mut self, cause: impl Into<String>, count: u64) {
        *self.losses.entry(cause.into()).or_insert(0) += count;
    }
}

/// Where an input comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// It is the one of this index to start from.
    Seed(usize),
    /// It is the answer to a question.
    Question(Chosen),
    /// Others found it.
    Offer,
    /// It has a line more than another, which may be for who goes alone.
    Repeat { alone: bool },
    /// It is put together of others.
    Splice(Splice),
}

impl Origin {
    fn seed(self) -> Option<usize> {
        match self {
            Origin::Seed(index) => Some(index),
            Origin::Question(_) | Origin::Offer | Origin::Repeat { .. } | Origin::Splice(_) => None,
        }
    }

    fn stock(self) -> Stock {
        match self {
            Origin::Seed(_) | Origin::Repeat { .. } | Origin::Splice(_) => Stock::Own,
            Origin::Offer => Stock::Offered,
            Origin::Question(Chosen { stock, .. }) => stock,
        }
    }
}

struct Record {
    input: Input,
    product: Product,
    own: [Option<Own>; 2],
}

/// Explores two versions.
pub struct Engine<'a> {
    twin: &'a Twin<'a>,
    executors: [Executor; 2],
    options: Options,
    pool: Pool,
    solver: Solver,
    scene: Scene<'a>,
    frontier: Frontier,
    records: Vec<Option<Record>>,
    /// What ends the parts that programs take one after the other, if any; once there is a run with such parts.
    separator: Option<Option<u8>>,
    /// Conditions of all records, which take most of the memory.
    kept: usize,
    oldest: usize,
    /// The inputs that were run, with the numbers of their records, if there are any.
    seen: FxHashMap<u64, Option<u32>>,
    paths: FxHashSet<u64>,
    /// The ways on that were seen where more than two are possible, by what came before and the
    /// place.
    ways: FxHashMap<(u64, Site), Vec<Expr>>,
    status: Status,
    /// Whether something was left out that could have mattered.
    cut: bool,
    /// The change sequence graph, if it is still to come.
    awaited: Option<Awaited>,
    /// Where changes are, if there are several.
    changes: Option<[Marks; 2]>,
    /// The longest that a run took that ended by itself.
    longest: Duration,
    /// The most expressions, or words of events, of a run on an input to start from.
    largest: u32,
    repeats: AllRepeats,
    /// Runs that are also those of who goes alone.
    runs_alone: u64,
    splices: Splices,
    /// Whether nothing is to profit from what old does.
    new_alone: bool,
    /// Ways on that were asked for and spoilt the rest, with by how much parts were to become longer.
    spoiling: FxHashSet<(Edge, i64)>,
    /// Whether an input to start from is more than text: answers put all kinds of bytes into texts, too.
    is_binary: bool,
    /// What the programs can be given on the command line.
    known_options: known::Options,
}

/// Conditions of runs that are kept; runs beyond are forgotten, the oldest first.
const MOST_KEPT: usize = 3_000_000;

/// Expressions, and words of events, of a run: those that take long to run take very long to explore, and
/// keep all others from being explored...
const ENOUGH: u32 = 200_000;
/// ...but so many times as many as a run on an input to start from has.
const ENOUGH_FOR_SEEDS: u32 = 4;

/// So long inputs to start from are run before there are questions; then they take turns.
const SEEDS_FIRST: Duration = Duration::from_secs(5);

/// This part of the time goes to inputs that others found, as long as there are questions.
const OFFERS_SHARE: u32 = 5;
/// With those that differ it is not more than this: what differs for another reason may be left to find.
const DIFFERING_SHARE: u32 = 3;

/// A run may take so many times longer than any before it that ended...
const PATIENCE: u32 = 100;
/// ...and this long in any case.
const SURE: Duration = Duration::from_secs(1);

/// What a run costs, where a question costs 1.
const RUN_EFFORT: u64 = 4;

impl<'a> Engine<'a> {
    /// For two traced versions.
    pub fn new(
        twin: &'a Twin<'a>,
        old: Executor,
        new: Executor,
        options: Options,
    ) -> Result<Self, EngineError> {
        let named = |name: &String| {
            let found = strategy::named(name);
            found.ok_or_else(|| EngineError::NoStrategy { name: name.clone() })
        };
        let (prunes, asking): (Vec<_>, Vec<_>) = options
            .strategies
            .iter()
            .partition(|name| *name == strategy::PRUNE);
        let strategies: Result<Vec<_>, _> = asking.into_iter().map(named).collect();
        let strategies = strategies?;
        Ok(Self {
            twin,
            executors: [old, new],
            pool: Pool::new(),
            solver: Solver::new(Budget::default()),
            scene: Scene::new(twin),
            new_alone: is_new_alone(&strategies),
            spoiling: FxHashSet::default(),
            is_binary: false,
            known_options: known::Options::of(twin),
            frontier: Frontier::new(strategies, !prunes.is_empty(), options.chance),
            records: Vec::new(),
            separator: None,
            kept: 0,
            oldest: 0,
            seen: FxHashMap::default(),
            paths: FxHashSet::default(),
            ways: FxHashMap::default(),
            status: Status {
                changes: vec![Progress::default(); twin.comparison.changes.len()],
                ..Status::default()
            },
            cut: !sees_all(twin, &options),
            awaited: None,
            changes: (twin.comparison.changes.len() > 1)
                .then(|| Side::BOTH.map(|side| Marks::of_changes(twin, side))),
            longest: Duration::ZERO,
            largest: 0,
            repeats: AllRepeats::default(),
            runs_alone: 0,
            splices: Splices::default(),
            options,
        })
    }

    /// What was done so far.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// What the solver did.
    pub fn statistics(&self) -> &Statistics {
        self.solver.statistics()
    }

    /// What each technique did.
    pub fn accounts(&self) -> impl Iterator<Item = &Account> {
        self.frontier.accounts()
    }

    /// Whether every way was followed and nothing was left out: together with [`End::Exhausted`] it
    /// means that no input of the shape makes a difference.
    pub fn is_complete(&self) -> bool {
        !self.cut && self.status.losses.is_empty()
    }

    /// Explores from these inputs.
    pub fn explore(
        &mut self,
        seeds: &[Input],
        listener: &mut dyn Listener,
    ) -> Result<End, EngineError> {
        let mut seeds = seeds.iter().enumerate().peekable();
        let (start, mut on_seeds, mut on_offers) = (Instant::now(), Duration::ZERO, Duration::ZERO);
        loop {
            if let Some(end) = self.is_over(listener) {
                return Ok(end);
            }
            // There are more of them than can be explored, and some are long.
            let part = |share| on_offers > start.elapsed() / share;
            let appetite = match (part(DIFFERING_SHARE), part(OFFERS_SHARE)) {
                (true, _) => Appetite::Nothing,
                (_, true) => Appetite::Differing,
                _ => Appetite::One,
            };
            if let Some(offered) = listener.offered(appetite) {
                let now = Instant::now();
                if self.take(offered, listener)? == Next::Stop {
                    return Ok(End::Stopped);
                }
                on_offers += now.elapsed();
            }
            // Many of them, or slow ones, must not keep questions from being asked.
            let enough = on_seeds > SEEDS_FIRST && on_seeds > start.elapsed() / 2;
            let is_seeds_turn = seeds.peek().is_some() && !enough;
            if !is_seeds_turn
                && let Some((alone, input)) = self.repeats.turn(self.status.runs, self.runs_alone)
            {
                match self.run(input, Origin::Repeat { alone }, listener)? {
                    Next::GoOn => continue,
                    Next::Stop => return Ok(End::Stopped),
                }
            }
            if !is_seeds_turn && let Some((splice, input)) = self.splice() {
                match self.run(input, Origin::Splice(splice), listener)? {
                    Next::GoOn => continue,
                    Next::Stop => return Ok(End::Stopped),
                }
            }
            let chosen = match is_seeds_turn {
                true => None,
                false => {
                    if self.hear_of_graph(listener) == Next::Stop {
                        return Ok(End::Stopped);
                    }
                    self.next_question()
                }
            };
            let next = if let Some(chosen) = chosen {
                self.follow(chosen, listener)?
            } else if let Some((index, seed)) = seeds.next() {
                let now = Instant::now();
                let next = self.run(seed.normalised(), Origin::Seed(index), listener)?;
                on_seeds += now.elapsed();
                next
            } else if !self.is_complete()
                && let Some(offered) = listener.offered(Appetite::Idle)
            {
                self.take(offered, listener)?
            } else if self.adopt_all() {
                Next::GoOn
            } else {
                return Ok(End::Exhausted);
            };
            if next == Next::Stop {
                return Ok(End::Stopped);
            }
        }
    }

    /// Runs inputs that others found.
    fn take(
        &mut self,
        inputs: Vec<Input>,
        listener: &mut dyn Listener,
    ) -> Result<Next, EngineError> {
        let mut next = Next::GoOn;
        for input in inputs {
            if next == Next::GoOn {
                next = self.run(input.normalised(), Origin::Offer, listener)?;
            }
        }
        Ok(next)
    }

    /// An input put together of others, if it is the turn of one.
    fn splice(&mut self) -> Option<(Splice, Input)> {
        let sequences = self.scene.sequences.as_ref()?;
        let shape = &self.options.shape;
        loop {
            let (splice, input) = self.splices.turn(sequences, shape, self.status.runs)?;
            if !self.seen.contains_key(&hash(&input)) {
                self.splices.took();
                return Some((splice, input));
            }
        }
    }

    fn next_question(&mut self) -> Option<Chosen> {
        let records = &self.records;
        let product = |run: u32| Some(&records.get(run as usize)?.as_ref()?.product);
        self.frontier.next(&self.scene, self.is_complete(), product)
    }

    /// Asks a question, and runs what it gives.
    fn follow(&mut self, chosen: Chosen, listener: &mut dyn Listener) -> Result<Next, EngineError> {
        let Some(input) = self.ask(chosen) else {
            return Ok(Next::GoOn);
        };
        if !self.seen.contains_key(&hash(&input)) {
            self.frontier.account(chosen.strategy).inputs += 1;
            self.frontier.spend(chosen, RUN_EFFORT);
        }
        self.run(input, Origin::Question(chosen), listener)
    }

    fn is_over(&mut self, listener: &mut dyn Listener) -> Option<End> {
        self.status.changes.clone_from(&self.scene.progress);
        if listener.progress(&self.status) == Next::Stop {
            Some(End::Stopped)
        } else if Instant::now() >= self.options.deadline {
            Some(End::Deadline)
        } else if self.status.runs >= self.options.most_runs {
            Some(End::Runs)
        } else if self.status.queries >= self.options.most_queries {
            Some(End::Queries)
        } else {
            None
        }
    }

    /// What a run may take. One that does not end would else take all the time there is.
    fn run_limits(&self) -> Limits {
        let limits = self.options.limits;
        let left = self
            .options
            .deadline
            .saturating_duration_since(Instant::now());
        let enough = (self.longest * PATIENCE).max(SURE);
        Limits {
            time: limits.time.min(enough).min(left.max(SURE)),
            ..limits
        }
    }

    /// Runs both versions on an input, and adds what that gives.
    fn run(
        &mut self,
        input: Input,
        origin: Origin,
        listener: &mut dyn Listener,
    ) -> Result<Next, EngineError> {
        if let Some(&known) = self.seen.get(&hash(&input)) {
            if let Some(run) = known.filter(|_| self.goes_alone(origin)) {
                self.adopt(run);
            }
            return Ok(Next::GoOn);
        }
        self.seen.insert(hash(&input), None);
        self.status.runs += 1;
        let seed = origin.seed();
        let mut limits = self.run_limits();
        if seed.is_none() {
            let enough = self.largest.saturating_mul(ENOUGH_FOR_SEEDS).max(ENOUGH);
            limits.events = limits.events.min(enough);
            limits.nodes = limits.nodes.min(enough);
        }
        let (old, new) = match run_both(&mut self.executors, &input, &limits) {
            Ok(both) => both,
            Err(error) => {
                // The first run tells whether anything works at all.
                if self.status.runs == 1 {
                    return Err(error.into());
                }
                self.cut = true;
                self.status.lose(format!("run failed: {error}"), 1);
                return Ok(Next::GoOn);
            }
        };
        for run in [&old, &new] {
            note_losses(&mut self.status, run);
            if let Ok(trace) = &run.trace {
                self.status.files.note_read(&input, trace);
                if seed.is_some() {
                    let size = trace.nodes().len().max(trace.words().len());
                    self.largest = self.largest.max(size as u32);
                }
            }
            if run.outcome != Outcome::TimedOut {
                self.longest = self.longest.max(run.time);
            }
        }
        let (Ok(old_trace), Ok(new_trace)) = (&old.trace, &new.trace) else {
            let ran = Ran {
                number: self.status.runs,
                input: &input,
                differs: is_different(&old, &new),
                reached: Vec::new(),
                cause: None,
                fresh: true,
                infected: Vec::new(),
                seed,
                sequence: Vec::new(),
                parts: Vec::new(),
            };
            return Ok(listener.ran(&ran));
        };
        let pool = &mut self.pool;
        let twin = self.twin;
        let old_read = Traced::read(pool, old_trace, &input, &|site| twin.old.cases(site));
        let new_read = Traced::read(pool, new_trace, &input, &|site| twin.new.cases(site));
        let limits = self.options.shape.conditions(pool, &input);
        let within = Within {
            limits: &limits,
            deadline: Some(self.options.deadline),
            new_alone: self.new_alone,
        };
        let mut product = Product::new(pool, twin, &input, within, (&old_read, &new_read));
        if !self.new_alone {
            (self.known_options).ask(twin, &input, &self.options.shape, &mut product);
        }
        let failed = new.outcome != Outcome::Exit(0);
        product.sound = (!failed).then_some(self.records.len() as u32);
        let differs = is_different(&old, &new) || !old_read.files().eq(new_read.files());
        let sequence = self.acts(&product, &old_read, &new_read).sequence();
        let has_graph = self.scene.sequences.is_some() || self.awaited.is_some();
        self.is_binary |= seed.is_some() && is_binary(&input);
        if (has_graph || self.is_binary) && origin.stock() == Stock::Own {
            let Product { path, order, .. } = &mut product;
            let records = Records::of(&self.pool, path, &input, order, &new_read);
            let outline = records.as_ref().map(|records| records.outline.clone());
            product.outline = outline.filter(|_| self.is_binary);
            product.records = records.filter(|_| has_graph);
        }
        self.follow_nodes(&mut product, &old_read, &new_read);
        if product.path.impossible() > 0 {
            let count = product.path.impossible() as u64;
            self.status
                .lose("conditions of a run that exclude each other", count);
        }
        if product.lost > 0 {
            self.status
                .lose("conditions that could not be read", product.lost as u64);
        }
        self.cut |= product.cut;
        product.stock = origin.stock();
        product.alone = self.goes_alone(origin).then(Anytime::default);
        self.runs_alone += u64::from(product.alone.is_some());
        let is_new_order = self.scene.add(&mut product);
        if self.frontier.measures() {
            self.scene.measure(&mut product);
        }
        if let Origin::Splice(splice) = origin {
            product.generation = self.splices.generation(splice);
            if !is_new_order && product.news == 0 {
                self.splices.in_vain(splice);
            }
        }
        if let Origin::Question(chosen) = origin {
            let steps = old_read.steps.len() + new_read.steps.len();
            self.frontier.spend_on_run(chosen, steps);
            if let Some(record) = &self.records[chosen.at.run as usize] {
                let asked = chosen.at.question as usize;
                product.astray = Astray::of(&record.product, asked, &product);
                product.generation = record.product.generation + 1;
                let question = &record.product.questions[asked];
                let trier = self.frontier.trier(chosen.strategy);
                self.scene.paid(trier, question, &product);
                product.is_vain_guess = question.is_loose() && product.news == 0;
                product.sound = product.sound.or(record.product.sound);
            }
            self.mend(chosen, &input, &product);
        }
        if !product.reached.is_empty() {
            self.status.first_reached.get_or_insert(self.status.runs);
            if differs || !product.effects.is_empty() {
                self.status.first_infected.get_or_insert(self.status.runs);
            }
        }
        let way = product.hashes.last().copied().unwrap_or(0);
        let fresh = self.paths.insert(way) || product.merit > 0;
        if differs {
            self.status.differing += 1;
            self.scene.differed(&product);
            if let Origin::Question(chosen) = origin {
                self.frontier.account(chosen.strategy).differences += 1;
            }
        }
        let mut reached: Vec<usize> = product.reached.keys().copied().collect();
        reached.sort_unstable();
        let cause = cause(twin, &product, &reached);
        let wants_parts = fresh && listener.wants_parts();
        let parts = product.records.as_ref().filter(|_| wants_parts);
        let parts = parts.map_or(Vec::new(), |records| {
            records.parts(&input, failed, &mut self.separator)
        });
        let next = listener.ran(&Ran {
            number: self.status.runs,
            input: &input,
            differs,
            infected: infected(&product, differs),
            reached,
            cause,
            fresh,
            seed,
            sequence,
            parts,
        });
        if product.stock == Stock::Own {
            self.repeats
                .add(seed.is_some(), &product, &input, &self.options.shape);
        }
        self.keep(input, product);
        Ok(next)
    }

    fn keep(&mut self, input: Input, mut product: Product) {
        for (index, held) in product.held.iter().enumerate() {
            if held.is_open() {
                let ways = self
                    .ways
                    .entry((product.hashes[index], held.site))
                    .or_default();
                let way = product.path.conditions()[index];
                if !ways.contains(&way) {
                    ways.push(way);
                }
            }
        }
        let number = self.records.len() as u32;
        if let Some(sequences) = &self.scene.sequences {
            self.splices.add(sequences, number, &input, &product);
            product.records = None;
        }
        self.seen.insert(hash(&input), Some(number));
        self.kept += product.held.len();
        self.frontier.add(&self.scene, number, &product);
        self.records.push(Some(Record {
            input,
            product,
            own: [None, None],
        }));
        while self.kept > MOST_KEPT && self.oldest + 1 < self.records.len() {
            if let Some(record) = self.records[self.oldest].take() {
                self.kept -= record.product.held.len();
                self.cut = true;
            }
            self.oldest += 1;
        }
    }
}

/// Runs both versions side by side.
pub(crate) fn run_both<'e>(
    [old, new]: &'e mut [Executor; 2],
    input: &Input,
    limits: &Limits,
) -> Result<(Run<'e>, Run<'e>), ExecutorError> {
    std::thread::scope(|scope| {
        let old = scope.spawn(|| old.run(input, limits));
        let new = new.run(input, limits);
        let old = old.join();
        let old = old.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((old?, new?))
    })
}

/// Whether everything that matters can be followed, before anything was run.
fn sees_all(twin: &Twin<'_>, options: &Options) -> bool {
    // One goes every way that may matter, the other asks for every difference there; the rest looks only
    // at what promises something.
    let has = |wanted: &str| options.strategies.iter().any(|name| name == wanted);
    let mut changes = twin.comparison.changes.iter();
    has("cover") && has("shadow") && changes.all(|change| change.subject != Subject::Assembler)
}

/// Whether nothing is to profit from what old does: what others tell is, if nobody asks.
fn is_new_alone(strategies: &[Box<dyn strategy::Strategy>]) -> bool {
    let mut all = strategies.iter();
    !strategies.is_empty() && all.all(|strategy| !strategy.knows_old())
}

/// Whether an input is more than text.
fn is_binary(input: &Input) -> bool {
    let bytes = |source: &Source| {
        source
            .bytes
            .iter()
            .any(|&byte| !(b'\t'..0x80).contains(&byte))
    };
    input.sources.iter().any(bytes)
}

fn hash(input: &Input) -> u64 {
    let mut hasher = FxHasher::default();
    input.hash(&mut hasher);
    hasher.finish()
}

fn note_losses(status: &mut Status, run: &Run<'_>) {
    let trace = match &run.trace {
        Ok(trace) => trace,
        Err(error) => {
            status.lose(error.to_string(), 1);
            return;
        }
    };
    for lost in trace.losses() {
        status.lose_as(lost);
    }
    if let Some(stop) = trace.stop() {
        status.lose(format!("recording stopped: {stop}"), 1);
    }
    if run.outcome == Outcome::TimedOut {
        status.lose("run took too long", 1);
    }
}

/// Whether two runs did something different that can be seen from outside.
fn is_different(old: &Run<'_>, new: &Run<'_>) -> bool {
    old.outcome != new.outcome || old.stdout != new.stdout || old.stderr != new.stderr
}

/// The changes of a run whose effect was seen: not only could a condition have been another one.
fn infected(product: &Product, differs: bool) -> Vec<usize> {
    let seen = product.effects.iter();
    let seen = seen.filter(|effect| effect.seen != Seen::Condition);
    let last = seen.map(|effect| effect.step).max();
    let seen = |step: usize| differs || last.is_some_and(|last| last >= step);
    let infected = product.reached.iter().filter(|(_, step)| seen(**step));
    let mut infected: Vec<usize> = infected.map(|(&change, _)| change).collect();
    infected.sort_unstable();
    infected
}

/// Where the versions first part, or else where they first do something different, and whether they part there.
fn sight(twin: &Twin<'_>, product: &Product) -> Option<(Place, bool)> {
    let parting = product.effects.iter().find(|effect| effect.is_parting());
    let effect = parting.or(product.effects.first())?;
    let place = twin.new.place(twin.new.stmt(effect.site)?)?;
    Some((place, parting.is_some()))
}

/// Where the effect of a change is first seen, or else the first change.
fn cause(twin: &Twin<'_>, product: &Product, reached: &[usize]) -> Option<Place> {
    let place = sight(twin, product).map(|(place, _)| place);
    place.or_else(|| {
        let change = &twin.comparison.changes[*reached.first()?];
        let line = change.new_lines.first().or(change.old_lines.first())?;
        Some(Place {
            file: line.file.clone(),
            line: line.line,
        })
    })
}
