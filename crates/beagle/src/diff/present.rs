//! From what was explored and judged to the report.

use std::collections::BTreeSet;

use beagle_change::{Change, Kind, Line, Subject};
use beagle_engine::{End, Place, Progress};
use beagle_report::diff::{
    Aspect, ChangeEntry, Class, DifferenceEntry, FaultEntry, FileEntry, GroupEntry, InputEntry,
    LineEntry, LossEntry, ObservedEntry, Reason, Report, StopEntry, StrategyEntry, UnstableEntry,
    Verdict,
};
use beagle_report::words::aspects_differ;
use beagle_verdict::{
    Aspects, Class as NativeClass, Difference, Effect, End as RunEnd, Entry, Finding, Observation,
    Standing, Which,
};

use super::blame::Blamed;
use super::court::{Judged, Shown};
use super::tests::Seen;
use super::{Explored, Job, files};
use crate::versions::Version;

/// Fills in what was found. `blamed` is what is known of the culprits of the groups.
pub fn fill(
    report: &mut Report,
    job: &Job<'_>,
    explored: Explored,
    judged: Judged,
    blamed: &[Option<Blamed>],
) {
    report.reason = reason(job, &explored);
    report.runs = explored.status.runs;
    report.queries = explored.status.queries;
    report.runs_to_reach = explored.status.first_reached;
    report.runs_to_infect = explored.status.first_infected;
    report.seconds_to_first = judged.first.map(|(time, _)| time.as_secs_f64());
    report.runs_to_first = judged.first.map(|(_, run)| run);
    report.isolation.clone_from(&judged.isolation);
    report.notes.extend(judged.notes.iter().cloned());
    report.divergences = judged.same;
    let losses = explored.status.losses.iter();
    report.losses = losses
        .map(|(cause, &count)| LossEntry {
            cause: cause.clone(),
            count,
        })
        .collect();
    if judged.unconfirmed > 0 {
        report.losses.push(LossEntry {
            cause: "inputs that differ when traced but not natively".to_owned(),
            count: judged.unconfirmed,
        });
    }
    if judged.alike > 0 {
        let count = judged.alike;
        let note = format!("{count} more inputs differ when traced");
        let why = "; they were not run natively, because many with the same cause were";
        report.notes.push(note + why);
    }
    report.strategies = explored.strategies.iter().map(strategy).collect();
    if let Some(lane) = &explored.lane {
        report.strategies.push(StrategyEntry {
            name: "fuzz".to_owned(),
            queries: 0,
            answered: 0,
            pruned: 0,
            runs: lane.status.runs,
            differences: lane.status.differing,
        });
        report.notes.extend(lane.notes.iter().cloned());
    }
    if job.comparison.changes.len() > 1 {
        let (differing, untaken) = (&judged.sequences, explored.untaken.clone());
        report.sequences = Some(explored.exercised.report(differing, untaken));
    }
    // That a change is executed before an output differs does not make it the cause.
    let mut propagated: BTreeSet<usize> = BTreeSet::new();
    for (number, group) in (1..).zip(&judged.groups) {
        let blamed = blamed.get(number - 1).and_then(Option::as_ref);
        match blamed {
            Some(blamed) => propagated.extend(blamed.guilty(&group.changes)),
            None => propagated.extend(&group.changes),
        }
        add_group(report, number, group);
    }
    let changes = job.comparison.changes.iter().zip(&explored.status.changes);
    report.changes = (0..)
        .zip(changes)
        .map(|(index, (change, progress))| {
            change_entry(job, index, change, progress, propagated.contains(&index))
        })
        .collect();
    report.unstable = judged
        .unstable
        .iter()
        .map(|unstable| UnstableEntry {
            input: InputEntry::new(&unstable.input),
            version: match unstable.version {
                Which::Old => report.old.clone(),
                Which::New => report.new.clone(),
                Which::Golden => report.golden.clone().unwrap_or_default(),
            },
            aspects: aspects(unstable.aspects),
            count: unstable.count,
        })
        .collect();
    report.saved = job
        .options
        .out
        .as_ref()
        .map(|out| out.display().to_string());
    files::note(report, job.invocation, &explored.status.files);
    report.missing.extend(missing(&explored, &judged));
    report.verdict = verdict(report);
}

/// What comes out, once all else is known.
pub fn verdict(report: &Report) -> Verdict {
    match (report.differences.is_empty(), report.missing.is_empty()) {
        (false, _) => Verdict::Different,
        (true, true) => Verdict::Equivalent,
        (true, false) => Verdict::NoneFound,
    }
}

/// What became of the inputs to start from.
pub fn note_seeds(report: &mut Report, job: &Job<'_>, seen: &Seen) {
    let (all, taken) = (job.invocation.seeds.len(), seen.order.len());
    let unseen = seen.survey.unseen();
    if taken + unseen < all {
        let left = all - taken - unseen;
        report.notes.push(format!(
            "started from {taken} of {all} seeds; the other {left} add nothing near the changes"
        ));
    }
    if unseen > 0 {
        report.notes.push(format!(
            "{unseen} seeds were not looked at for lack of time; --timeout gives more"
        ));
    }
    let findings = job.invocation.findings;
    if findings > 0 {
        report.notes.push(format!(
            "{findings} of the seeds are findings of an earlier comparison"
        ));
    }
}

/// A change of which only is known what it is.
pub fn bare_entry(job: &Job<'_>, index: usize, change: &Change) -> ChangeEntry {
    change_entry(job, index, change, &Progress::default(), false)
}

/// The first line of a change.
pub fn first_text(change: &Change) -> String {
    let first = change.new_lines.first().or(change.old_lines.first());
    first.map(|line| line.text.clone()).unwrap_or_default()
}

/// Parts of the programs that could not be looked at.
pub fn unseen(old: &Version, new: &Version) -> Vec<String> {
    let parts = |version: &Version| version.built.missing.clone();
    let mut all: Vec<String> = Vec::new();
    for part in parts(old).iter().chain(&parts(new)) {
        let text = format!("code that could not be looked at: {part}");
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all
}

fn reason(job: &Job<'_>, explored: &Explored) -> Reason {
    match explored.end {
        None => Reason::Interrupted,
        Some(End::Exhausted) => Reason::Exhausted,
        Some(End::Deadline) => Reason::Timeout,
        Some(End::Runs) => Reason::MaxRuns,
        Some(End::Queries) => Reason::MaxQueries,
        Some(End::Stopped) if job.options.search.first => Reason::First,
        Some(End::Stopped) => Reason::Interrupted,
    }
}

/// What stands against saying that the versions are equivalent.
fn missing(explored: &Explored, judged: &Judged) -> Vec<String> {
    let mut missing = Vec::new();
    if explored.end != Some(End::Exhausted) {
        missing.push("not every way through the programs was tried".to_owned());
    }
    if !explored.is_complete {
        missing.push("some of what the programs do could not be followed".to_owned());
    }
    if judged.left > 0 {
        let count = judged.left;
        missing.push(format!("{count} inputs were not run natively"));
    }
    if judged.unconfirmed > 0 {
        missing.push("traced programs did not do what the real ones do".to_owned());
    }
    if !judged.unstable.is_empty() {
        missing.push("runs were not repeatable".to_owned());
    }
    if explored.status.changes.iter().any(|change| change.reached) && !judged.notes.is_empty() {
        missing.push("sanitizers or native runs failed".to_owned());
    }
    missing
}

fn strategy(account: &beagle_engine::Account) -> StrategyEntry {
    StrategyEntry {
        name: account.name.to_owned(),
        queries: account.queries,
        answered: account.answered,
        runs: account.inputs,
        differences: account.differences,
        pruned: account.pruned,
    }
}

fn add_group(report: &mut Report, number: usize, shown: &Shown) {
    let changes: Vec<usize> = shown.changes.iter().map(|change| change + 1).collect();
    let finding = &shown.group.representative;
    let class = class(&finding.difference);
    report.groups.push(GroupEntry {
        id: number,
        class,
        count: shown.group.count as u64,
        title: title(finding, shown.sight.as_ref()),
        changes: changes.clone(),
        culprits: None,
        critical: None,
        explanation: None,
    });
    let difference = &finding.difference;
    report.differences.push(DifferenceEntry {
        id: number,
        class,
        regression: class.regression(),
        aspects: aspects(difference.aspects),
        input: InputEntry::new(&finding.input),
        old: observed(&difference.old),
        new: observed(&difference.new),
        golden: difference.golden.as_ref().map(observed),
        changes,
        group: number,
        saved: shown.saved.as_ref().map(|path| path.display().to_string()),
        confirmed: difference.runs,
    });
}

/// What it is, in a few words.
fn title(finding: &Finding, sight: Option<&(Place, bool)>) -> String {
    let difference = &finding.difference;
    let what = match difference.class {
        NativeClass::Crash => match (&difference.new.fault, difference.new.end) {
            (Some(fault), _) => format!("new has {fault}"),
            (None, end) => format!("new ends by {end}"),
        },
        NativeClass::Hang => "new does not end".to_owned(),
        NativeClass::HangFix => "only old does not end".to_owned(),
        NativeClass::Fix => match (&difference.old.fault, difference.old.end) {
            (Some(fault), _) => format!("only old has {fault}"),
            (None, end) => format!("only old ends by {end}"),
        },
        NativeClass::Output | NativeClass::Message => aspects_differ(&difference.aspects.names()),
    };
    match sight {
        None => what,
        Some((place, true)) => format!("{what}; the versions part at {place}"),
        Some((place, false)) => format!("{what}; first seen at {place}"),
    }
}

pub fn class(difference: &Difference) -> Class {
    match (difference.standing, difference.class) {
        (_, NativeClass::Crash) => Class::Crash,
        (_, NativeClass::Hang) => Class::Hang,
        (Some(Standing::Regression), _) => Class::Regression,
        (Some(Standing::IncompleteFix), _) => Class::IncompleteFix,
        (Some(Standing::Progression), _) => Class::Progression,
        (None, NativeClass::Output) => Class::Output,
        (None, NativeClass::Message) => Class::Message,
        (None, NativeClass::Fix | NativeClass::HangFix) => Class::Fix,
    }
}

fn aspects(aspects: Aspects) -> Vec<Aspect> {
    let all = [
        (aspects.exit, Aspect::Exit),
        (aspects.signal, Aspect::Signal),
        (aspects.time, Aspect::Time),
        (aspects.sanitizer, Aspect::Fault),
        (aspects.stdout, Aspect::Stdout),
        (aspects.stderr, Aspect::Stderr),
        (aspects.files, Aspect::Files),
    ];
    let differing = all.into_iter().filter(|(differs, _)| *differs);
    differing.map(|(_, aspect)| aspect).collect()
}

fn observed(run: &Observation) -> ObservedEntry {
    ObservedEntry {
        stdout: run.stdout.bytes.clone().into(),
        stdout_cut: run.stdout.truncated(),
        stderr: run.stderr.bytes.clone().into(),
        stderr_cut: run.stderr.truncated(),
        exit: match run.end {
            RunEnd::Exit(status) => Some(status),
            _ => None,
        },
        signal: match run.end {
            RunEnd::Signal(number) => Some(number),
            _ => None,
        },
        timed_out: run.end == RunEnd::TimedOut,
        fault: run.fault.as_ref().map(|fault| FaultEntry {
            kind: fault.kind.clone(),
            place: fault.place.clone(),
            function: fault.function.clone(),
            text: fault.text.clone(),
        }),
        files: run
            .files
            .iter()
            .filter_map(|change| {
                let path = change.path.escape_ascii().to_string();
                Some((path, file_entry(&change.effect)?))
            })
            .collect(),
    }
}

fn file_entry(effect: &Effect) -> Option<FileEntry> {
    Some(match effect {
        Effect::Deleted => FileEntry::Deleted,
        Effect::Created(entry) | Effect::Changed(entry) => match entry {
            Entry::File { mode, content } => FileEntry::Written {
                content: content.bytes.clone().into(),
                cut: content.truncated(),
                mode: *mode,
            },
            Entry::Directory { mode } => FileEntry::Directory { mode: *mode },
            Entry::Link { target } => FileEntry::Link {
                target: target.escape_ascii().to_string(),
            },
            Entry::Special => return None,
        },
    })
}

fn change_entry(
    job: &Job<'_>,
    index: usize,
    change: &Change,
    progress: &Progress,
    shown: bool,
) -> ChangeEntry {
    let lines = |lines: &[Line]| {
        let lines = lines.iter().map(|line| LineEntry {
            file: line.file.clone(),
            line: line.line,
            text: line.text.clone(),
        });
        lines.collect::<Vec<_>>()
    };
    let first = change.new_lines.first().or(change.old_lines.first());
    let (old, new) = job.versions;
    let function = match change.subject {
        Subject::Function(pair) => {
            let new = pair.new.map(|id| new.program.function(id).name.clone());
            new.or_else(|| pair.old.map(|id| old.program.function(id).name.clone()))
        }
        Subject::Global(pair) => {
            let new = pair.new.map(|id| new.program.global(id).name.clone());
            new.or_else(|| pair.old.map(|id| old.program.global(id).name.clone()))
        }
        Subject::Assembler => None,
    };
    let stopped = progress.stopped.as_ref().filter(|_| !shown);
    ChangeEntry {
        id: index + 1,
        file: first.map(|line| line.file.clone()).unwrap_or_default(),
        line: first.map_or(0, |line| line.line),
        function,
        kind: match change.kind() {
            Kind::Added => "added",
            Kind::Deleted => "deleted",
            Kind::Modified => "modified",
        }
        .to_owned(),
        old_lines: lines(&change.old_lines),
        new_lines: lines(&change.new_lines),
        reached: progress.reached,
        infected: progress.infected || shown,
        propagated: shown,
        stopped_at: stopped.map(|stopped| StopEntry {
            file: stopped.place.as_ref().or(None).map_or_else(
                || first.map(|line| line.file.clone()).unwrap_or_default(),
                |place| place.file.clone(),
            ),
            line: stopped
                .place
                .as_ref()
                .map_or(first.map_or(0, |line| line.line), |place| place.line),
            why: stopped.why.to_owned(),
        }),
    }
}
