//! The court: runs the real programs on what the search hands over, and says what is a difference.
//!
//! Candidates on which the traced programs differ come first, those with a cause, or with changes executed, that
//! have not been seen often before the others. When there is time, inputs that only touch a change are run with
//! sanitizers, which see what no output shows.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use beagle_build::BuildError;
use beagle_engine::{Acts, Glimpse, Place};
use beagle_trace::Input;
use beagle_verdict::saved::{self, Kept, Saved};
use beagle_verdict::{
    Aspects, Budget, Error, Finding, Group, Groups, Judge, Verdict, Which, minimise,
};

use super::tests;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::invocation::Invocation;

/// What the court is told.
pub enum Message {
    /// An input to be judged.
    Case(Box<Case>),
    /// The builds with sanitizers are ready, or will never be.
    Sanitized(Result<(PathBuf, PathBuf), BuildError>),
    /// There are no more cases; what is left may take this long.
    Close(Duration),
}

/// What the court tells.
pub enum News {
    /// A difference was confirmed.
    Found,
}

/// An input to be judged.
#[derive(Clone)]
pub struct Case {
    /// The number of the run that gave it.
    pub run: u64,
    /// The input.
    pub input: Input,
    /// Whether the traced programs differ on it.
    pub differs: bool,
    /// The changes that it executes.
    pub changes: Vec<usize>,
    /// Where the versions part.
    pub cause: Option<Place>,
    /// Which of the inputs to start from it is.
    pub seed: Option<usize>,
    /// The number of the sequence of changes that it exercises, if that is known.
    pub sequence: Option<usize>,
    /// Whether it was judged before.
    pub again: bool,
}

impl Case {
    fn likeness(&self) -> Likeness {
        (self.cause.clone(), self.changes.clone())
    }
}

/// Inputs by the number of their sequence.
pub type Tally = BTreeMap<usize, u64>;

/// Differences with the same cause, as they are shown.
pub struct Shown {
    /// The one that is shown, and how many there were.
    pub group: Group,
    /// The changes that the shown one executes; those of all of them, if that is not known.
    pub changes: BTreeSet<usize>,
    /// Where the versions first do something different on it, and whether they part there.
    pub sight: Option<(Place, bool)>,
    /// The sequences of changes that they exercise.
    pub sequences: Tally,
    /// Those of inputs that differ when traced and were not judged, as many with the same cause were.
    pub unheard: Tally,
    /// The changes that it executes, and when.
    pub acting: Acts,
    /// Where it is saved.
    pub saved: Option<PathBuf>,
}

impl Shown {
    /// Takes over what its input does.
    pub fn see(&mut self, seen: Glimpse) {
        self.group.representative.cause = named(seen.cause.as_ref());
        self.sight = seen.sight;
        self.acting = seen.acts;
        if !seen.reached.is_empty() {
            self.changes = seen.reached.into_iter().collect();
        }
    }
}

/// What is done with what was found.
pub struct Tidying<'a> {
    /// What inputs have to look like.
    pub invocation: &'a Invocation,
    /// How long inputs are made smaller.
    pub time: Duration,
    /// Whether one difference is enough, whatever else could be known about it.
    pub first: bool,
    /// Whether the user has had enough.
    pub interrupt: &'a Interrupt,
}

/// A version that does not do the same each time.
pub struct Unstable {
    /// An input.
    pub input: Input,
    /// The version.
    pub version: Which,
    /// What differs from run to run.
    pub aspects: Aspects,
    /// On how many inputs.
    pub count: u64,
}

/// What the court has found.
#[derive(Default)]
pub struct Judged {
    /// Differences, worst first.
    pub groups: Vec<Shown>,
    /// Versions that do not do the same each time.
    pub unstable: Vec<Unstable>,
    /// Candidates on which the real programs do the same.
    pub unconfirmed: u64,
    /// Candidates that were not judged because there were many with the same cause.
    pub alike: u64,
    /// Inputs that touch a change, on which the versions do the same.
    pub same: u64,
    /// When the first difference was confirmed, and the run that gave it.
    pub first: Option<(Duration, u64)>,
    /// What keeps the programs away from everything else.
    pub isolation: String,
    /// What the user should know.
    pub notes: Vec<String>,
    /// Cases that were not judged.
    pub left: u64,
    /// By change, the first of the inputs to start from on which the versions differ.
    pub shown: BTreeMap<usize, usize>,
    /// The sequences of changes of confirmed differences.
    pub sequences: Tally,
}

/// Candidates of one kind: where the versions part, and the changes that are executed. A change that goes wrong by
/// itself may do so where it also goes its intended way with others.
type Likeness = (Option<Place>, Vec<usize>);

/// After so many differences of one kind, others of it are only counted...
const ENOUGH: u64 = 12;
/// ...and after so many with one cause.
const ENOUGH_OF_CAUSE: u64 = 36;
/// Inputs that wait to be run with sanitizers.
const MOST_WAITING: usize = 2000;

/// Judges what the search hands over.
pub struct Court {
    judge: Judge,
    start: Instant,
    news: Sender<News>,
    candidates: BTreeMap<Likeness, VecDeque<Case>>,
    /// How many cases of each kind were judged.
    heard: BTreeMap<Likeness, u64>,
    /// How many with each cause were.
    heard_of_cause: BTreeMap<Option<Place>, u64>,
    waiting: VecDeque<Case>,
    /// Differences that were judged before there were sanitizers, which may have more to say.
    early: VecDeque<Case>,
    groups: Groups,
    /// The changes that the differences of each group execute.
    changes: BTreeMap<usize, BTreeSet<usize>>,
    /// The sequences that the differences of each group exercise, and those of candidates that were
    /// not judged, by cause.
    sequences: BTreeMap<usize, Tally>,
    unheard: BTreeMap<String, Tally>,
    judged: Judged,
    /// Whether it is known whether there are builds with sanitizers.
    sanitized: bool,
    /// When to come to an end, once there are no more cases.
    closing: Option<Instant>,
}

impl Court {
    /// For a command that was given at `start`.
    pub fn new(judge: Judge, start: Instant, news: Sender<News>) -> Self {
        Self {
            judged: Judged {
                isolation: judge.isolation().to_string(),
                ..Judged::default()
            },
            judge,
            start,
            news,
            candidates: BTreeMap::new(),
            heard: BTreeMap::new(),
            heard_of_cause: BTreeMap::new(),
            waiting: VecDeque::new(),
            early: VecDeque::new(),
            groups: Groups::default(),
            changes: BTreeMap::new(),
            sequences: BTreeMap::new(),
            unheard: BTreeMap::new(),
            sanitized: false,
            closing: None,
        }
    }

    /// Judges until there is nothing more to judge. The judge may be asked more.
    pub fn sit(
        mut self,
        messages: &Receiver<Message>,
        tidying: &Tidying<'_>,
    ) -> Result<(Judged, Judge), Failure> {
        loop {
            while let Ok(message) = messages.try_recv() {
                self.take(message)?;
            }
            if self.closing.is_some_and(|end| Instant::now() >= end) {
                break;
            }
            if let Some(case) = self.next_candidate() {
                self.hear(case)?;
            } else if self.judge.has_sanitized()
                && let Some(case) = self.early.pop_front().or_else(|| self.waiting.pop_front())
            {
                self.look(case)?;
            } else if self.is_done() {
                break;
            } else {
                match messages.recv_timeout(Duration::from_millis(50)) {
                    Ok(message) => self.take(message)?,
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
        }
        self.finish(tidying)
    }

    /// Whether nothing can come any more.
    fn is_done(&self) -> bool {
        let looks = !self.waiting.is_empty() || !self.early.is_empty();
        let waits = !self.sanitized && looks;
        self.closing.is_some() && !waits
    }

    fn take(&mut self, message: Message) -> Result<(), Failure> {
        match message {
            Message::Case(case) if case.differs => {
                let queue = self.candidates.entry(case.likeness()).or_default();
                queue.push_back(*case);
            }
            Message::Case(case) => {
                self.waiting.push_back(*case);
                if self.waiting.len() > MOST_WAITING {
                    self.waiting.pop_front();
                    self.judged.left += 1;
                }
            }
            Message::Sanitized(built) => {
                self.sanitized = true;
                match built {
                    Ok((old, new)) => self.judge.set_sanitized(old, new).map_err(Failure::run)?,
                    Err(error) => {
                        let note = format!("no sanitizers: {error}");
                        self.judged.notes.push(note);
                    }
                }
            }
            Message::Close(grace) => self.closing = Some(Instant::now() + grace),
        }
        Ok(())
    }

    /// The candidate whose like was heard least often.
    fn next_candidate(&mut self) -> Option<Case> {
        loop {
            let (heard, of_cause) = (&self.heard, &self.heard_of_cause);
            let times = |likeness: &Likeness| {
                let of_cause = of_cause.get(&likeness.0).copied().unwrap_or(0);
                (heard.get(likeness).copied().unwrap_or(0), of_cause)
            };
            let waiting = self
                .candidates
                .iter()
                .filter(|(_, queue)| !queue.is_empty());
            let likeness = waiting.min_by_key(|(of, _)| times(of))?.0.clone();
            let (count, count_of_cause) = times(&likeness);
            let case = self.candidates.get_mut(&likeness)?.pop_front()?;
            // What the user's own inputs show is wanted for each change.
            let shown = &self.judged.shown;
            let wanted = || {
                case.changes
                    .iter()
                    .any(|change| !shown.contains_key(change))
            };
            let is_enough = count >= ENOUGH || count_of_cause >= ENOUGH_OF_CAUSE;
            if !is_enough || (case.seed.is_some() && wanted()) {
                return Some(case);
            }
            self.judged.alike += 1;
            let unheard = self.unheard.entry(named(case.cause.as_ref())).or_default();
            note(unheard, case.sequence);
        }
    }

    /// A full verdict.
    fn hear(&mut self, case: Case) -> Result<(), Failure> {
        *self.heard.entry(case.likeness()).or_insert(0) += 1;
        *self.heard_of_cause.entry(case.cause.clone()).or_insert(0) += 1;
        let verdict = match self.judge.judge(&case.input) {
            Ok(verdict) => verdict,
            Err(error) => return self.trouble(&error),
        };
        match verdict {
            Verdict::Different(difference) => {
                if self.judged.first.is_none() {
                    self.judged.first = Some((self.start.elapsed(), case.run));
                }
                // What does not end is not waited for again.
                if !self.sanitized && !difference.aspects.time {
                    self.early.push_back(Case {
                        again: true,
                        ..case.clone()
                    });
                }
                if let Some(seed) = case.seed {
                    for &change in &case.changes {
                        tests::first(&mut self.judged.shown, change, seed);
                    }
                }
                let (number, _) = self.groups.add(Finding {
                    input: case.input,
                    difference: *difference,
                    changes: case.changes.len(),
                    cause: named(case.cause.as_ref()),
                });
                let tally = self.sequences.entry(number).or_default();
                match case.sequence {
                    Some(sequence) if case.again => {
                        tally.entry(sequence).or_insert(1);
                    }
                    sequence => {
                        note(tally, sequence);
                        note(&mut self.judged.sequences, sequence);
                    }
                }
                self.changes.entry(number).or_default().extend(case.changes);
                // The search may be over.
                let _ = self.news.send(News::Found);
            }
            Verdict::Same { .. } if case.differs => {
                self.judged.unconfirmed += 1;
                self.waiting.push_back(Case {
                    differs: false,
                    ..case
                });
            }
            Verdict::Same { .. } => self.judged.same += 1,
            Verdict::Unstable {
                version, aspects, ..
            } => self.unstable(case.input, version, aspects),
        }
        Ok(())
    }

    /// A look with sanitizers; what is known to differ without them may differ more with them.
    fn look(&mut self, case: Case) -> Result<(), Failure> {
        match self.judge.faults_differ(&case.input) {
            Ok(true) => self.hear(case),
            Ok(false) => {
                self.judged.same += u64::from(!case.differs);
                Ok(())
            }
            Err(error) => self.trouble(&error),
        }
    }

    /// One run that failed is a note; if nothing works, the command does not.
    fn trouble(&mut self, error: &Error) -> Result<(), Failure> {
        let note = error.to_string();
        if !self.judged.notes.contains(&note) {
            self.judged.notes.push(note);
        }
        self.judged.left += 1;
        match self.judged.left > 100 && self.groups.is_empty() && self.judged.same == 0 {
            true => Err(Failure::run(error)),
            false => Ok(()),
        }
    }

    fn unstable(&mut self, input: Input, version: Which, aspects: Aspects) {
        let mut known = self.judged.unstable.iter_mut();
        match known.find(|other| other.version == version && other.aspects == aspects) {
            Some(other) => other.count += 1,
            None => self.judged.unstable.push(Unstable {
                input,
                version,
                aspects,
                count: 1,
            }),
        }
    }

    fn finish(mut self, tidying: &Tidying<'_>) -> Result<(Judged, Judge), Failure> {
        let left: usize = self.candidates.values().map(VecDeque::len).sum();
        self.judged.left += (left + self.waiting.len()) as u64;
        let looks = !self.waiting.is_empty() || !self.early.is_empty();
        if !self.sanitized && looks && !tidying.first {
            let note = "no sanitizers: building with them was not done in time";
            self.judged.notes.push(note.into());
        }
        let end = Instant::now() + tidying.time;
        let numbers: Vec<usize> = self.groups.ranked().iter().map(|(n, _)| *n).collect();
        for &number in &numbers {
            self.tidy(number, tidying, end);
        }
        let mut shown: Vec<Shown> = Vec::new();
        for (number, group) in self.groups.ranked() {
            let unheard = self.unheard.get(&group.representative.cause);
            shown.push(Shown {
                group: group.clone(),
                changes: self.changes.remove(&number).unwrap_or_default(),
                sight: None,
                sequences: self.sequences.remove(&number).unwrap_or_default(),
                unheard: unheard.cloned().unwrap_or_default(),
                acting: Acts::default(),
                saved: None,
            });
        }
        self.judged.groups = shown;
        Ok((self.judged, self.judge))
    }

    /// Makes the input of a group small, and judges it once more with all that there is now.
    fn tidy(&mut self, number: usize, tidying: &Tidying<'_>, end: Instant) {
        let Some(group) = self.groups.get(number) else {
            return;
        };
        let finding = group.representative.clone();
        if tidying.interrupt.is_raised() {
            return;
        }
        let left = end.saturating_duration_since(Instant::now());
        let budget = Budget {
            time: left.min(tidying.time / 2),
            ..Budget::default()
        };
        let rules = &tidying.invocation.rules;
        let judge = &mut self.judge;
        let small = minimise(
            &finding.input,
            &tidying.invocation.seeds,
            &budget,
            |input| {
                if rules.allow(input) && !tidying.interrupt.is_raised() {
                    judge.still_shows(input, &finding.difference)
                } else {
                    Ok::<_, Error>(false)
                }
            },
        );
        // What cannot be made smaller was still seen as it is.
        let Ok(small) = small else { return };
        // To wait for what does not end once more would tell nothing new.
        if small == finding.input.normalised() && finding.difference.aspects.time {
            return;
        }
        if let Ok(Verdict::Different(difference)) = self.judge.judge(&small) {
            self.groups.replace(number, small, *difference);
        }
    }
}

impl Judged {
    /// Says of each group what its input does, which was made smaller since it was found. What turns out to be the
    /// same as another is one with it.
    pub fn settle(&mut self, mut glimpse: impl FnMut(&Input) -> Option<Glimpse>) {
        let mut settled: Vec<Shown> = Vec::new();
        for mut shown in std::mem::take(&mut self.groups) {
            if let Some(seen) = glimpse(&shown.group.representative.input) {
                shown.see(seen);
            }
            match settled
                .iter_mut()
                .find(|other| other.group.is_same(&shown.group))
            {
                Some(same) => {
                    merge(&mut same.sequences, &shown.sequences);
                    merge(&mut same.unheard, &shown.unheard);
                    same.group.count += shown.group.count;
                }
                None => settled.push(shown),
            }
        }
        self.groups = settled;
    }

    /// Saves one test of each group.
    pub fn save(&mut self, out: &Path, invocation: &Invocation) -> Result<(), Failure> {
        for shown in &mut self.groups {
            let Finding {
                input,
                difference,
                cause,
                ..
            } = &shown.group.representative;
            let mut test = Saved::of_difference(input, difference, cause);
            test.fixture.clone_from(&invocation.fixture);
            let (Kept::New(path) | Kept::Known(path)) =
                saved::save(out, &test).map_err(Failure::run)?;
            shown.saved = Some(path);
        }
        Ok(())
    }
}

/// A cause as findings have it.
pub fn named(cause: Option<&Place>) -> String {
    cause.map(ToString::to_string).unwrap_or_default()
}

fn note(tally: &mut Tally, sequence: Option<usize>) {
    if let Some(sequence) = sequence {
        *tally.entry(sequence).or_insert(0) += 1;
    }
}

fn merge(tally: &mut Tally, other: &Tally) {
    for (&sequence, count) in other {
        *tally.entry(sequence).or_insert(0) += count;
    }
}
