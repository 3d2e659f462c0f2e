//! `beagle explain`: why two versions differ on an input.

mod entries;

use std::ffi::OsString;
use std::time::{Duration, Instant};

use beagle_blame::Outcome;
use beagle_change::{Attention, Comparison, compare};
use beagle_engine::Probe;
use beagle_explain::{Blame, Explanation, Options};
use beagle_hunks::Set;
use beagle_report::diff::InputEntry;
use beagle_report::explain::{Report, SCHEMA};
use beagle_trace::{Input, Limits, Stop};
use beagle_verdict::{Difference, End, Judge, Setting, Verdict, Version as Native};

use crate::arguments::{ExplainOptions, Format};
use crate::culprits::{Case, Seeker};
use crate::failure::Failure;
use crate::given::{self, Given};
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::timings::Timings;
use crate::traced::Probing;
use crate::versions::{Order, Version};
use crate::{output, status};

/// Runs the command; the result is the exit status.
pub fn run(options: &ExplainOptions, quiet: bool) -> Result<i32, Failure> {
    let start = Instant::now();
    let mut timings = Timings::start();
    let interrupt = Interrupt::listen()?;
    let test = options.test.as_deref().map(given::load).transpose()?;
    let is_fault = test
        .as_ref()
        .is_some_and(|test| test.old.fault.is_some() || test.new.fault.is_some());
    let order = Order::new(&options.pair)?;
    let (old, new) = order.load(quiet, &mut timings)?;
    let name = program_name(&old, &new);
    let given = Given {
        order: &order,
        invocation: &options.invocation,
        judging: &options.judging,
    };
    let (input, setting) = given.input(test, &name)?;
    let natives = natives((&old, &new), &order, is_fault)?;
    let mut judge = Judge::new(natives.0.clone(), natives.1.clone(), None, setting.clone())
        .map_err(Failure::run)?;
    let mut report = Report {
        schema: SCHEMA.to_owned(),
        old: old.built.label.clone(),
        new: new.built.label.clone(),
        program: name.to_string_lossy().into_owned(),
        input: InputEntry::new(&input),
        aspects: Vec::new(),
        unstable: false,
        explanation: Default::default(),
        seconds: 0.0,
    };
    let verdict = judge.judge(&input).map_err(Failure::run)?;
    timings.end("judge");
    match verdict {
        Verdict::Same { .. } => {}
        Verdict::Unstable { aspects, .. } => {
            report.aspects = names(&aspects.names());
            report.unstable = true;
        }
        Verdict::Different(difference) => {
            report.aspects = names(&difference.aspects.names());
            let comparison = compare(&old.program, &old.sources, &new.program, &new.sources);
            timings.end("compare");
            let job = Job {
                order: &order,
                versions: (&old, &new),
                natives: (&natives.0, &natives.1),
                comparison: &comparison,
                name: &name,
                setting: &setting,
                interrupt: &interrupt,
                quiet,
                time: options.timeout,
                alternates_only: options.alternates_only,
                widely: true,
            };
            let mut explanation = job.explain(&input, &difference, &mut timings)?;
            timings.end("explain");
            if !options.no_blame && !options.alternates_only {
                job.blame(&mut explanation, &input, &difference);
                timings.end("blame");
            }
            report.explanation = job.entry(&explanation, &difference);
        }
    }
    report.seconds = start.elapsed().as_secs_f64();
    let (code, meaning) = match interrupt.is_raised() {
        true => (status::INTERRUPTED, "Exit status 130: interrupted"),
        false => exit(&report),
    };
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

/// The exit status, and what it means.
fn exit(report: &Report) -> (i32, &'static str) {
    match (&report.aspects[..], &report.explanation.causes[..]) {
        _ if report.unstable => (
            status::INCONCLUSIVE,
            "Exit status 4: runs were not repeatable",
        ),
        ([], _) => (status::FINE, "Exit status 0: no difference on this input"),
        (_, []) => (
            status::INCONCLUSIVE,
            "Exit status 4: the versions differ, but nothing was found that explains it",
        ),
        _ => (status::DIFFERENT, "Exit status 1: the versions differ"),
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// The versions as the user builds them, and with sanitizers if these have something to say.
fn natives(
    (old, new): (&Version, &Version),
    order: &Order,
    is_fault: bool,
) -> Result<(Native, Native), Failure> {
    let native = |version: &Version, sanitized| Native {
        label: version.built.label.clone(),
        plain: version.built.program.clone(),
        sanitized,
    };
    Ok(match is_fault {
        true => {
            let sanitized = order.sanitized(None)?;
            (
                native(old, Some(sanitized.0)),
                native(new, Some(sanitized.1)),
            )
        }
        false => (native(old, None), native(new, None)),
    })
}

/// What both versions are told that they are called.
fn program_name(old: &Version, new: &Version) -> OsString {
    let name = |version: &Version| version.built.program.file_name().map(OsString::from);
    match (name(old), name(new)) {
        (Some(old), Some(new)) if old == new => new,
        _ => "program".into(),
    }
}

/// A difference that was seen, and what it takes to explain it.
pub struct Job<'a> {
    /// Where the versions come from.
    pub order: &'a Order,
    /// The versions.
    pub versions: (&'a Version, &'a Version),
    /// The same as the user builds them.
    pub natives: (&'a Native, &'a Native),
    /// What changed.
    pub comparison: &'a Comparison,
    /// What both are told that they are called.
    pub name: &'a OsString,
    /// How real programs are run.
    pub setting: &'a Setting,
    /// Ctrl-C.
    pub interrupt: &'a Interrupt,
    /// Whether to show no progress.
    pub quiet: bool,
    /// How long alternate inputs are looked for, and then hunks are built.
    pub time: Duration,
    /// Whether only alternate inputs count.
    pub alternates_only: bool,
    /// Whether all variables are watched.
    pub widely: bool,
}

/// What is recorded of runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// What all variables hold.
    All,
    /// What changes put into variables.
    Changed,
    /// The same, but not how it depends on the input.
    Ways,
}

impl Job<'_> {
    /// Explains a difference.
    pub fn explain(
        &self,
        input: &Input,
        difference: &Difference,
        timings: &mut Timings,
    ) -> Result<Explanation, Failure> {
        // What all variables hold takes more room than a long run has; where it went takes less, and least if it is
        // not recorded how it depends on the input.
        let first = if self.widely { 0 } else { 1 };
        for detail in &[Detail::All, Detail::Changed, Detail::Ways][first..] {
            if let Some(explained) = self.recorded(*detail, input, difference, timings)? {
                return Ok(explained);
            }
        }
        Err(Failure::run("the run could not be recorded"))
    }

    /// Explains a difference with so much recorded; `None` if that was too much, and less would tell more.
    fn recorded(
        &self,
        detail: Detail,
        input: &Input,
        difference: &Difference,
        timings: &mut Timings,
    ) -> Result<Option<Explanation>, Failure> {
        let probing = Probing {
            versions: self.versions,
            comparison: self.comparison,
            name: self.name,
            setting: self.setting,
            cache: &self.order.cache,
        };
        let attention = match detail {
            Detail::All => Attention::All,
            Detail::Changed | Detail::Ways => Attention::Changed,
        };
        probing.probe(attention, |probe| {
            timings.end("instrument");
            self.probed(probe, detail, input, difference, timings)
        })
    }

    fn probed(
        &self,
        probe: &mut Probe<'_>,
        detail: Detail,
        input: &Input,
        difference: &Difference,
        timings: &mut Timings,
    ) -> Result<Option<Explanation>, Failure> {
        let limits = self.limits(difference);
        let varies = detail != Detail::Ways;
        let run = beagle_explain::look(probe, input, varies, &limits).map_err(Failure::run)?;
        timings.end("trace");
        let is_cut = match detail {
            Detail::All => run.stops.iter().any(Option::is_some),
            // Without them there is room for more events.
            Detail::Changed => run.stops.contains(&Some(Stop::Nodes)),
            Detail::Ways => false,
        };
        if is_cut && !hangs(difference) {
            return Ok(None);
        }
        let options = Options {
            time: self.time,
            limits,
            alternates_only: self.alternates_only,
        };
        let mut judge = self.quick_judge(difference)?;
        let by_fault = difference.aspects.sanitizer;
        let mut agree = |input: &Input| {
            let mut differs = judge.quick(input).ok()?.differs();
            if by_fault && !differs {
                // Without sanitizers it cannot be told.
                differs = judge
                    .has_sanitized()
                    .then(|| judge.faults_differ(input).ok())??;
            }
            (!self.interrupt.is_raised()).then_some(!differs)
        };
        let mut explained = beagle_explain::explain(probe, run, &mut agree, &options);
        if !varies {
            let note = "no alternate inputs were looked for: the run has too many expressions";
            explained.notes.push(note.to_owned());
        }
        Ok(Some(explained))
    }

    /// A run that does not end tells no more after a while.
    fn limits(&self, difference: &Difference) -> Limits {
        let limits = Limits::default();
        match hangs(difference) {
            true => Limits {
                time: Duration::from_secs(2),
                nodes: 1 << 18,
                events: 1 << 20,
                ..limits
            },
            false => Limits {
                time: (self.setting.limits.time * 4).min(Duration::from_secs(60)),
                nodes: limits.nodes / 8,
                ..limits
            },
        }
    }

    /// A judge for alternate inputs, which does not wait long.
    fn quick_judge(&self, difference: &Difference) -> Result<Judge, Failure> {
        let ended = [&difference.old, &difference.new]
            .into_iter()
            .filter(|run| run.end != End::TimedOut)
            .map(|run| run.time)
            .max();
        let mut setting = self.setting.clone();
        let patience = ended.unwrap_or_default() * 20 + Duration::from_millis(500);
        setting.limits.time = setting.limits.time.min(patience);
        let (old, new) = self.natives;
        Judge::new(old.clone(), new.clone(), None, setting).map_err(Failure::run)
    }

    /// Builds hunks alone, if several were executed, to tell those apart that matter. That this is not
    /// possible is nothing to fail for.
    pub fn blame(&self, explanation: &mut Explanation, input: &Input, difference: &Difference) {
        let hunks = explanation.hunks();
        if hunks.len() < 2 {
            return;
        }
        let line = Progress::new(self.quiet);
        let seeker = Seeker::new(
            self.order,
            self.natives,
            self.setting,
            self.interrupt,
            &line,
        );
        let tried = seeker.and_then(|mut seeker| {
            let case = Case {
                input,
                old: &difference.old,
                new: &difference.new,
                likely: &Set::new(),
                deadline: Instant::now() + self.time,
            };
            self.try_alone(explanation, &hunks, &mut seeker, &case)
        });
        line.clear();
        if let Err(error) = tried {
            explanation
                .notes
                .push(format!("hunks could not be tried alone: {error}"));
        }
    }

    fn try_alone(
        &self,
        explanation: &mut Explanation,
        hunks: &[usize],
        seeker: &mut Seeker<'_>,
        case: &Case<'_>,
    ) -> Result<(), beagle_blame::Error> {
        let hunk = |index: usize| self.comparison.hunks.get(index);
        for &index in hunks.iter().take(MOST_ALONE) {
            let Some(of) = hunk(index) else { continue };
            match seeker.alone(case, of, false)? {
                Some(Outcome::New) => {
                    explanation.blame(index, Blame::Culprit);
                    return Ok(());
                }
                Some(Outcome::Old) => explanation.blame(index, Blame::Acquitted),
                Some(Outcome::Other | Outcome::Unresolved) => {}
                None => return Ok(()),
            }
        }
        // None alone: perhaps it takes several.
        for &index in hunks.iter().take(MOST_ALONE) {
            let Some(of) = hunk(index) else { continue };
            if seeker.alone(case, of, true)? == Some(Outcome::Old) {
                explanation.blame(index, Blame::Needed);
            }
        }
        Ok(())
    }
}

/// So many hunks are built alone.
const MOST_ALONE: usize = 8;

fn hangs(difference: &Difference) -> bool {
    let runs = [&difference.old, &difference.new];
    runs.iter().any(|run| run.end == End::TimedOut)
}
