//! `beagle diff`: inputs on which two versions behave differently.
//!
//! The search runs traced programs and finds candidates; beside it the court runs the real programs
//! on them and says what is a difference. What it says is all that is reported.

mod blame;
mod court;
mod explain;
mod files;
mod lane;
mod listen;
mod order;
mod present;
mod sequences;
mod tests;
mod vary;

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use beagle_build::Leash;
use beagle_change::{Comparison, compare};
use beagle_engine::{Bounds, End, Engine, Options as EngineOptions, Shape, Twin};
use beagle_executor::{Executor, Options as ExecutorOptions};
use beagle_program::Dependence;
use beagle_report::coverage::Tests;
use beagle_report::diff::{CriticalEntry, Reason, Report};
use beagle_sequence::Graph;
use beagle_solver::SourceKey;
use beagle_trace::{Input, Limits};
use beagle_verdict::{
    Judge, KeeperCommand, Limits as RunLimits, Rules as Normalisation, Setting,
    Version as NativeVersion,
};

use crate::arguments::{DiffOptions, Format, Strategy};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::invocation::Invocation;
use crate::lane::Lane;
use crate::progress::{self, Phase, Progress};
use crate::timings::Timings;
use crate::versions::{Order, Version, both};
use crate::{output, status, traced};

use blame::Blamed;
use court::{Court, Judged, Message, Tidying};
use lane::{Driven, Offers};
use listen::Listening;
use sequences::Exercised;
use tests::Seen;
use vary::vary;

/// The exploration, done.
struct Explored {
    end: Option<End>,
    is_complete: bool,
    status: beagle_engine::Status,
    strategies: Vec<beagle_engine::Account>,
    /// What the fast lane did, if it was used.
    lane: Option<Driven>,
    /// The orders in which changes were executed.
    exercised: Exercised,
    /// Steps from one change to the next that were on no input, if that is known.
    untaken: Option<Vec<(usize, usize)>>,
}

/// Two versions, built and compared, and how their program is run.
pub struct Setup {
    /// When the command was given.
    pub start: Instant,
    /// Ctrl-C.
    pub interrupt: Interrupt,
    order: Arc<Order>,
    /// The old version.
    pub old: Version,
    /// The new version.
    pub new: Version,
    /// What both are told that they are called.
    pub name: OsString,
    /// How the program is run.
    pub invocation: Invocation,
    /// What changed.
    pub comparison: Arc<Comparison>,
}

impl Setup {
    /// Builds and compares.
    pub fn new(options: &DiffOptions, quiet: bool, timings: &mut Timings) -> Result<Self, Failure> {
        let start = Instant::now();
        let interrupt = Interrupt::listen()?;
        let order = Arc::new(Order::new(&options.pair)?);
        let invocation = |name: &OsStr| {
            Invocation::new(
                &options.invocation,
                &order.config,
                &order.here,
                name.as_encoded_bytes(),
                options.out.as_deref(),
            )
        };
        // What is wrong with it is told before anything is built, whatever the program is called.
        invocation(OsStr::new("program"))?;
        let (old, new) = order.load(quiet, timings)?;
        let name = program_name(&old, &new);
        let invocation = invocation(&name)?;
        let comparison = compare(&old.program, &old.sources, &new.program, &new.sources);
        timings.end("compare");
        Ok(Self {
            start,
            interrupt,
            order,
            old,
            new,
            name,
            invocation,
            comparison: Arc::new(comparison),
        })
    }
}

/// Parts of the programs that could not be looked at.
pub fn unseen(setup: &Setup) -> Vec<String> {
    present::unseen(&setup.old, &setup.new)
}

/// Runs the command; the result is the exit status.
pub fn run(options: &DiffOptions, quiet: bool) -> Result<i32, Failure> {
    let mut timings = Timings::start();
    let setup = Setup::new(options, quiet, &mut timings)?;
    let Setup {
        old,
        new,
        invocation,
        ..
    } = &setup;
    let name = setup.name.to_string_lossy();
    let mut report = Report::new(&old.built.label, &new.built.label, name);
    report.golden = options.judging.golden.clone();
    if invocation.auto {
        let note = "nothing was said about the input: words after `--` and --stdin would tell more";
        report.notes.push(note.to_owned());
    }
    report.notes.extend(invocation.notes.iter().cloned());
    report.seeds = invocation.seeds.len() as u64;
    report.missing = unseen(&setup);
    if setup.comparison.changes.is_empty() {
        report.reason = Reason::Unchanged;
        report.verdict = present::verdict(&report);
    } else {
        let job = Job::new(&setup, options, quiet, false);
        let (explored, judged, seen) = job.search(&mut timings)?;
        present::note_seeds(&mut report, &job, &seen);
        if invocation.seeded {
            report.tests = Some(seen.tests(&job, &judged));
        }
        let blamed = match options.no_blame {
            true => Vec::new(),
            false => job.blame(&judged, &mut report.notes),
        };
        timings.end("blame");
        let critical = job.critical(&explored, &judged, &blamed);
        let explained = job.explain(&judged, &mut report.notes);
        timings.end("explain");
        present::fill(&mut report, &job, explored, judged, &blamed);
        for (group, critical) in report.groups.iter_mut().zip(critical) {
            group.critical = critical;
        }
        for (group, blamed) in report.groups.iter_mut().zip(blamed) {
            group.culprits = blamed.map(|blamed| blamed.culprits);
        }
        for (group, explanation) in report.groups.iter_mut().zip(explained) {
            group.explanation = explanation;
        }
    }
    report.seconds = setup.start.elapsed().as_secs_f64();
    let code = status::exit_code(&report, options.fail_on, options.strict);
    let meaning = status::meaning(code, options.fail_on, &report);
    let text = match options.format {
        Format::Human => report.text(output::width(), meaning),
        Format::Json => report.json() + "\n",
    };
    output::print(&text)?;
    timings.end("report");
    if options.timings {
        timings.print();
    }
    Ok(code)
}

/// Two versions with changes, and what to do about them.
pub struct Job<'a> {
    options: &'a DiffOptions,
    order: &'a Arc<Order>,
    versions: (&'a Version, &'a Version),
    comparison: &'a Arc<Comparison>,
    invocation: &'a Invocation,
    name: &'a OsString,
    interrupt: &'a Interrupt,
    start: Instant,
    quiet: bool,
    /// Whether only the inputs themselves are of interest, not what can be found from them.
    only_seeds: bool,
}

impl<'a> Job<'a> {
    /// What to do about two versions with changes.
    pub fn new(setup: &'a Setup, options: &'a DiffOptions, quiet: bool, only_seeds: bool) -> Self {
        Self {
            options,
            order: &setup.order,
            versions: (&setup.old, &setup.new),
            comparison: &setup.comparison,
            invocation: &setup.invocation,
            name: &setup.name,
            interrupt: &setup.interrupt,
            start: setup.start,
            quiet,
            only_seeds,
        }
    }
}

impl Job<'_> {
    /// How far the inputs themselves get, and what the user should know about that.
    pub fn cover(&self, timings: &mut Timings) -> Result<(Tests, Vec<String>), Failure> {
        let (explored, judged, seen) = self.search(timings)?;
        let mut notes = judged.notes.clone();
        let walked = explored.status.runs as usize;
        if explored.end != Some(End::Exhausted) && walked < seen.order.len() {
            let left = seen.order.len() - walked;
            notes.push(format!(
                "{left} tests that come to a change were not followed in time; --timeout gives more"
            ));
        }
        Ok((seen.tests(self, &judged), notes))
    }

    /// Explores and judges, side by side.
    fn search(&self, timings: &mut Timings) -> Result<(Explored, Judged, Seen), Failure> {
        let (old, new) = self.versions;
        let line = Progress::new(self.quiet);
        line.update(&progress::Status::new(Phase::Preparing));
        let judge = self.judge()?;
        let traced = traced::pair(old, new, self.comparison, &self.order.cache)?;
        timings.end("instrument");
        let twin = Twin::new(&old.program, &new.program, self.comparison);
        let start = |program: &Path| {
            let options = ExecutorOptions {
                argv0: Some(self.name.clone()),
                fixture: self.invocation.fixture.clone(),
                ..ExecutorOptions::default()
            };
            Executor::start(program, options).map_err(Failure::run)
        };
        let (old, new) = (start(&traced.0.program)?, start(&traced.1.program)?);
        timings.end("start");
        let deadline = Instant::now() + self.options.search.timeout;
        let options = EngineOptions {
            strategies: self
                .options
                .search
                .strategy
                .iter()
                .filter(|strategy| **strategy != Strategy::Fuzz)
                .map(|strategy| strategy.name().to_owned())
                .collect(),
            shape: self.shape(),
            limits: self.limits(),
            deadline,
            most_runs: self.options.search.max_runs.unwrap_or(u64::MAX),
            most_queries: self.options.search.max_queries.unwrap_or(u64::MAX),
            chance: self.options.search.chance,
        };
        let mut engine = Engine::new(&twin, old, new, options).map_err(Failure::run)?;
        engine.expect_read(self.invocation.files.iter().cloned());
        if engine.wants_graph() {
            let patience = self.options.search.timeout / 10;
            engine.expect_graph(self.graph(), patience);
        }
        let (cases, receiver) = mpsc::channel();
        let (news, heard) = mpsc::channel();
        let court = Court::new(judge, self.start, news);
        let sanitizing = cases.clone();
        let order = Arc::clone(self.order);
        let leash = Leash::default();
        let kept_on = leash.clone();
        // Not waited for: what is found first needs no sanitizers.
        std::thread::spawn(move || {
            // Nobody listens any more if the search is over.
            let _ = sanitizing.send(Message::Sanitized(order.sanitized(Some(&kept_on))));
        });
        let shape = self.shape();
        let over = AtomicBool::new(false);
        let tidying = Tidying {
            invocation: self.invocation,
            time: match self.options.search.first {
                true => Duration::from_secs(1),
                false => (self.options.search.timeout / 5).min(Duration::from_secs(10)),
            },
            first: self.options.search.first,
            interrupt: self.interrupt,
        };
        let result: Result<_, Failure> = std::thread::scope(|scope| {
            let tidying = &tidying;
            let court = scope.spawn(move || court.sit(&receiver, tidying));
            let (offers, lane) = match self.uses_lane() {
                true => {
                    let (offers, link) = self.join_lane(&over);
                    let (lane, seeds) = (self.lane(&shape), &self.invocation.seeds);
                    let lane = scope.spawn(move || lane::drive(&lane, seeds, &link));
                    (Some(offers), Some(lane))
                }
                false => (None, None),
            };
            let mut listener = Listening::new(self, cases, heard, deadline, &line, offers);
            listener.seen = self.seen(&mut engine, &mut listener);
            let inputs = &self.invocation.seeds;
            let order = listener.seen.order.iter();
            let seeds: Vec<Input> = order.map(|&index| inputs[index].clone()).collect();
            let end = engine.explore(&seeds, &mut listener);
            over.store(true, Ordering::Relaxed);
            let (seen, exercised) = listener.close(self.grace(end.as_ref().ok(), deadline));
            line.update(&progress::Status::new(Phase::Confirming));
            let judged = match court.join() {
                Ok(judged) => judged,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            leash.pull();
            let lane = match lane.map(|lane| lane.join()).transpose() {
                Ok(lane) => lane,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            Ok((end.map_err(Failure::run)?, judged?, seen, exercised, lane))
        });
        let result = result.inspect_err(|_| line.clear());
        let (end, (mut judged, mut judge), seen, exercised, lane) = result?;
        let mut glimpse = |input: &Input| match self.interrupt.is_raised() {
            true => None,
            false => engine.glimpse(input),
        };
        judged.settle(&mut glimpse);
        vary(&mut judged, &mut judge, &tidying, glimpse);
        line.clear();
        timings.end("search");
        if let Some(out) = self.options.out.as_deref() {
            judged.save(out, self.invocation)?;
        }
        let explored = Explored {
            end: (!self.interrupt.is_raised()).then_some(end),
            is_complete: engine.is_complete(),
            status: engine.status().clone(),
            strategies: engine.accounts().cloned().collect(),
            exercised,
            untaken: engine.untaken(),
            lane,
        };
        Ok((explored, judged, seen))
    }

    /// The changes that each group of differences takes, in order.
    fn critical(
        &self,
        explored: &Explored,
        judged: &Judged,
        blamed: &[Option<Blamed>],
    ) -> Vec<Option<CriticalEntry>> {
        let blamed = blamed.iter().map(Option::as_ref);
        let groups = judged.groups.iter();
        let groups = groups.zip(blamed.chain(std::iter::repeat(None)));
        let all = groups.map(|(shown, blamed)| {
            explored.exercised.critical(&sequences::Known {
                shown: &shown.sequences,
                unheard: &shown.unheard,
                acting: &shown.acting,
                blamed,
                changes: &self.comparison.changes,
            })
        });
        all.collect()
    }

    /// Makes the change sequence graph beside the first runs. A search that ends before does not wait for it.
    fn graph(&self) -> mpsc::Receiver<Graph> {
        let (sender, receiver) = mpsc::channel();
        let (old, new) = self.versions;
        let (old, new) = (Arc::clone(&old.program), Arc::clone(&new.program));
        let comparison = Arc::clone(self.comparison);
        std::thread::spawn(move || {
            let (old, new) = both(|| Dependence::of(&old), || Dependence::of(&new));
            // The search may be over.
            let _ = sender.send(Graph::of(&old, &new, &comparison));
        });
        receiver
    }

    /// Whether the fast lane is used. Who counts runs or questions wants the same each time, and gets it only
    /// if asked for.
    fn uses_lane(&self) -> bool {
        let search = &self.options.search;
        let counted = search.max_runs.is_some() || search.max_queries.is_some();
        search.strategy.contains(&Strategy::Fuzz)
            && !(counted && search.strategy == Strategy::DEFAULT)
    }

    /// Both ends of what joins the search with the fast lane.
    fn join_lane<'o>(&self, over: &'o AtomicBool) -> (Offers, lane::Link<'o>) {
        let alone = self.options.search.strategy == [Strategy::Fuzz];
        let (offers, offered) = mpsc::channel();
        let (made, taken) = mpsc::channel();
        let link = lane::Link {
            offers,
            made: taken,
            over,
            alone,
            chance: self.options.search.chance,
        };
        (Offers::new(offered, made, alone), link)
    }

    fn lane<'l>(&'l self, shape: &'l Shape) -> Lane<'l> {
        let (old, new) = self.versions;
        Lane {
            built: (&old.built, &new.built),
            programs: (&old.program, &new.program),
            comparison: self.comparison,
            cache: &self.order.cache,
            name: self.name,
            fixture: self.invocation.fixture.as_deref(),
            shape,
        }
    }

    /// Which inputs to start from: if the user has many, those that promise most.
    fn seen(&self, engine: &mut Engine<'_>, listener: &mut Listening<'_>) -> Seen {
        let inputs = &self.invocation.seeds;
        if !self.only_seeds && !self.invocation.seeded {
            return Seen::unranked(inputs.len());
        }
        let (share, inputs) = match self.only_seeds {
            true => (2, &inputs[..self.invocation.own]),
            false => (4, &inputs[..]),
        };
        let until = Instant::now() + self.options.search.timeout / share;
        let survey = engine.survey(inputs, until, listener);
        Seen::ranked(survey, self.only_seeds)
    }

    /// How long the court may go on when the search has ended.
    fn grace(&self, end: Option<&End>, deadline: Instant) -> Duration {
        let left = deadline.saturating_duration_since(Instant::now());
        match end {
            Some(End::Stopped) | None => Duration::from_millis(300),
            Some(End::Deadline) => Duration::from_secs(3),
            Some(End::Exhausted | End::Runs | End::Queries) => left.max(Duration::from_secs(3)),
        }
    }

    fn limits(&self) -> Limits {
        let limits = Limits::default();
        Limits {
            // A traced run is slower.
            time: (self.options.judging.run_timeout * 2).min(Duration::from_secs(60)),
            nodes: limits.nodes / 8,
            events: limits.events / 4,
            ..limits
        }
    }

    fn shape(&self) -> Shape {
        let rules = &self.invocation.rules;
        let bounds = rules.sources.iter().map(|rule| Bounds {
            source: rule.source.clone(),
            fixed: rule.fixed.clone(),
            most: rule.most,
        });
        let mut bounds: Vec<Bounds> = bounds.collect();
        if let most @ Some(_) = self.options.invocation.max_input {
            let seeds = self.invocation.seeds.iter();
            let sources: BTreeSet<SourceKey> = seeds.flat_map(SourceKey::of_input).collect();
            let contents = sources.into_iter().filter(|source| !source.is_string());
            bounds.extend(contents.map(|source| Bounds {
                source,
                fixed: Vec::new(),
                most,
            }));
        }
        Shape {
            arguments: rules.arguments,
            bounds,
        }
    }

    fn judge(&self) -> Result<Judge, Failure> {
        let golden = match &self.options.judging.golden {
            Some(golden) => Some(self.golden(golden)?),
            None => None,
        };
        let (old, new) = self.native();
        Judge::new(old, new, golden, self.setting()?).map_err(Failure::run)
    }

    /// The programs as the user builds them.
    fn native(&self) -> (NativeVersion, NativeVersion) {
        let native = |version: &Version| NativeVersion {
            label: version.built.label.clone(),
            plain: version.built.program.clone(),
            sanitized: None,
        };
        (native(self.versions.0), native(self.versions.1))
    }

    fn setting(&self) -> Result<Setting, Failure> {
        let judging = &self.options.judging;
        let mut normalise = Normalisation::default();
        for rule in judging.normalised(&self.order.config)? {
            normalise
                .replace(&rule.pattern, &rule.replacement)
                .map_err(|error| Failure::usage(error.to_string(), "see --help"))?;
        }
        let limits = RunLimits {
            time: judging.run_timeout,
            memory: judging.memory,
            ..RunLimits::default()
        };
        let keeper = KeeperCommand::of_this_executable().map_err(Failure::run)?;
        Ok(Setting {
            fixture: self.invocation.fixture.clone(),
            limits,
            normalise,
            ..Setting::new(keeper, self.name.clone())
        })
    }

    fn golden(&self, golden: &str) -> Result<NativeVersion, Failure> {
        let spec = beagle_build::VersionSpec::parse(golden, &self.order.here)?;
        let built = self.order.build(&spec, self.quiet)?;
        Ok(NativeVersion {
            label: built.label,
            plain: built.program,
            sanitized: None,
        })
    }
}

/// What both versions are told that they are called.
fn program_name(old: &Version, new: &Version) -> OsString {
    let name = |version: &Version| version.built.program.file_name().map(OsString::from);
    match (name(old), name(new)) {
        (Some(old), Some(new)) if old == new => new,
        _ => "program".into(),
    }
}
