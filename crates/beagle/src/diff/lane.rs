//! The fast lane beside the search: what it finds goes to the search, which runs it traced and hands it on
//! to the court; what the solver makes comes back.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use beagle_engine::Appetite;
use beagle_lane::{Error, Fuzzer, News, Part, Status};
use beagle_trace::Input;
use syscalls::Sysno;

use crate::lane::Lane;

/// What came out of it.
#[derive(Default)]
pub struct Driven {
    /// What it did.
    pub status: Status,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// What the search tells the lane.
pub enum Made {
    /// An input that the solver made.
    Input(Input),
    /// A part of one that programs take as a whole.
    Part(Part),
}

/// The lane's end of what joins it with the search.
pub struct Link<'a> {
    /// What it finds.
    pub offers: Sender<News>,
    /// What the search made.
    pub made: Receiver<Made>,
    /// Whether the search is over.
    pub over: &'a AtomicBool,
    /// Whether it has the machine to itself.
    pub alone: bool,
    /// What chance decides by.
    pub chance: u64,
}

/// Runs the lane until the search is over.
pub fn drive(lane: &Lane<'_>, seeds: &[Input], link: &Link<'_>) -> Driven {
    let mut driven = Driven::default();
    let mut fuzzer = match lane.fuzzer(link.chance.wrapping_add(1)) {
        Ok(fuzzer) => fuzzer,
        Err(failure) => {
            let why = failure.to_string();
            let why = why.lines().next().unwrap_or_default();
            driven.notes.push(format!("no fast lane: {why}"));
            return driven;
        }
    };
    if let Err(error) = turns(&mut fuzzer, seeds, link) {
        driven.notes.push(format!("the fast lane ended: {error}"));
    }
    driven.status = fuzzer.status().clone();
    driven.notes.extend(notes(&driven.status));
    driven
}

fn turns(fuzzer: &mut Fuzzer, seeds: &[Input], link: &Link<'_>) -> Result<(), Error> {
    fuzzer.check(seeds)?;
    for seed in seeds {
        fuzzer.start_from(seed.clone());
    }
    let mut last = Instant::now();
    let mut pace = Pace::new();
    while !link.over.load(Ordering::Relaxed) {
        while let Ok(made) = link.made.try_recv() {
            pace.count(&made);
            take(fuzzer, made);
        }
        let start = Instant::now();
        fuzzer.step(&mut |news| {
            if news.differs || news.touches {
                last = Instant::now();
            }
            // Nobody listens any more if the search is over.
            let _ = link.offers.send(news);
        })?;
        if fuzzer.status().unstable != [false; 2] {
            break;
        }
        if fuzzer.status().kept == 0 {
            // Nothing can be run here; the solver may make something that can.
            match link.made.recv_timeout(Duration::from_millis(100)) {
                Ok(made) => take(fuzzer, made),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        } else if !link.alone && pace.is_brisk() {
            std::thread::sleep(rest(last.elapsed(), start.elapsed()));
        }
    }
    Ok(())
}

fn take(fuzzer: &mut Fuzzer, made: Made) {
    match made {
        Made::Input(input) => fuzzer.add(input),
        Made::Part(part) => fuzzer.add_part(part),
    }
}

/// How many inputs the search makes.
struct Pace {
    since: Instant,
    count: u32,
    before: u32,
}

/// Over which the inputs are counted.
const WINDOW: Duration = Duration::from_secs(3);
/// To a search that makes fewer than this in that time the machine is not left.
const FEW: u32 = 15;

impl Pace {
    /// As if it were a good one.
    fn new() -> Self {
        Self {
            since: Instant::now(),
            count: 0,
            before: FEW,
        }
    }

    fn count(&mut self, made: &Made) {
        self.count += u32::from(matches!(made, Made::Input(_)));
    }

    fn is_brisk(&mut self) -> bool {
        if self.since.elapsed() >= WINDOW {
            self.since = Instant::now();
            self.before = std::mem::take(&mut self.count);
        }
        self.count.max(self.before) >= FEW
    }
}

/// How long to leave the machine to others: who has found nothing for some time works less, but never stops.
fn rest(vain: Duration, worked: Duration) -> Duration {
    match vain.as_secs() {
        0..2 => Duration::ZERO,
        2..5 => worked / 4,
        _ => worked / 2,
    }
}

fn notes(status: &Status) -> Vec<String> {
    let mut notes = Vec::new();
    let sides = ["old", "new"].into_iter().enumerate();
    for (side, which) in sides {
        if status.unstable[side] {
            let why = "does not do the same each time";
            notes.push(format!("fast lane: given up, because {which} {why}"));
        } else if status.forked[side] {
            let why = "its memory cannot be put back after a run";
            notes.push(format!(
                "fast lane: {which} gets a process for each run, because {why}"
            ));
        }
    }
    let refused: u64 = status.refused.values().sum();
    if refused > 0 {
        let mut calls: Vec<_> = status.refused.keys().copied().collect();
        calls.sort_unstable();
        let calls: Vec<_> = calls.into_iter().map(refusal).collect();
        let calls = calls.join(", ");
        notes.push(format!(
            "fast lane: {refused} runs were given up, because of what it cannot do: {calls}"
        ));
    }
    notes
}

/// What the lane refuses: a system call, or a signal as a negative number.
fn refusal(reason: u32) -> String {
    let number = reason as i32;
    let call = usize::try_from(number).ok().and_then(Sysno::new);
    match call {
        Some(call) => call.name().to_owned(),
        None if number < 0 => format!("signal {}", number.unsigned_abs()),
        None => format!("system call {number}"),
    }
}

/// Inputs that wait, the smallest first: large ones take the search long, and tell people less. If there are too many,
/// the largest are dropped.
struct Waiting {
    /// By size, and by when they came.
    inputs: BTreeMap<(usize, u64), Input>,
    came: u64,
    most: usize,
}

impl Waiting {
    fn new(most: usize) -> Self {
        Self {
            inputs: BTreeMap::new(),
            came: 0,
            most,
        }
    }

    fn push(&mut self, input: Input) {
        let size = input.sources.iter().map(|source| source.bytes.len()).sum();
        self.came += 1;
        self.inputs.insert((size, self.came), input);
        if self.inputs.len() > self.most {
            self.inputs.pop_last();
        }
    }

    fn pop(&mut self) -> Option<Input> {
        Some(self.inputs.pop_first()?.1)
    }

    fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }
}

/// The search's end of what joins it with the lane.
pub struct Offers {
    offers: Receiver<News>,
    made: Sender<Made>,
    differing: Waiting,
    others: Waiting,
    /// Inputs that differ in the lane and have yet to be run by the search.
    expected: Vec<Input>,
    /// Other inputs of the lane that the search was given: they are no news to the lane.
    given: HashSet<u64>,
    /// Inputs that the search has handed to the court as differing.
    judged: HashSet<u64>,
    alone: bool,
    idle: Option<Instant>,
    start: Instant,
}

/// So many inputs that differ go to the court without having been traced, when the search is over.
const MOST_REST: usize = 12;
/// So many inputs that differ wait...
const MOST_DIFFERING: usize = 4096;
/// ...and so many that only touch a change.
const MOST_OTHERS: usize = 256;
/// How long an exhausted search goes on with the lane at least.
const LEAST: Duration = Duration::from_secs(2);

impl Offers {
    /// Offers come from `offers`; what the solver makes goes to `made`.
    pub fn new(offers: Receiver<News>, made: Sender<Made>, alone: bool) -> Self {
        Self {
            offers,
            made,
            differing: Waiting::new(MOST_DIFFERING),
            others: Waiting::new(MOST_OTHERS),
            expected: Vec::new(),
            given: HashSet::new(),
            judged: HashSet::new(),
            alone,
            idle: None,
            start: Instant::now(),
        }
    }

    /// A few inputs for the search to run. `None` if it has nothing else to do and the lane has found nothing
    /// for as long as the search took.
    pub fn take(&mut self, appetite: Appetite) -> Option<Vec<Input>> {
        let idle = appetite == Appetite::Idle;
        while let Ok(news) = self.offers.try_recv() {
            self.sort(news);
        }
        if idle && self.differing.is_empty() && self.others.is_empty() {
            match self.offers.recv_timeout(Duration::from_millis(20)) {
                Ok(news) => self.sort(news),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {
                    let since = *self.idle.get_or_insert_with(Instant::now);
                    let worked = since.saturating_duration_since(self.start);
                    let enough = since.elapsed() > LEAST.max(worked);
                    return (self.alone || !enough).then(Vec::new);
                }
            }
        }
        let mut taken: Vec<Input> = Vec::new();
        let differing = match appetite {
            Appetite::Nothing => 0,
            Appetite::Differing | Appetite::One | Appetite::Idle => 4,
        };
        while taken.len() < differing
            && let Some(input) = self.differing.pop()
        {
            self.expected.push(input.clone());
            taken.push(input);
        }
        let others = match appetite {
            Appetite::Nothing | Appetite::Differing => 0,
            Appetite::One => 1,
            Appetite::Idle => 8,
        };
        for _ in 0..others {
            let Some(input) = self.others.pop() else {
                break;
            };
            self.given.insert(content(&input));
            taken.push(input);
        }
        if !taken.is_empty() {
            self.idle = None;
        }
        Some(taken)
    }

    fn sort(&mut self, news: News) {
        let input = news.input.normalised();
        if !news.differs {
            self.others.push(input);
        } else if !self.judged.contains(&content(&input)) {
            self.differing.push(input);
        }
    }

    /// The search has run an input, and saw it differ or not. Whether it differs, also as the lane sees it.
    pub fn ran(&mut self, input: &Input, fresh: bool, differs: bool) -> bool {
        let expected = self.expected.iter().position(|it| it == input);
        if let Some(at) = expected {
            self.expected.swap_remove(at);
        } else if fresh && !self.given.remove(&content(input)) {
            // The lane may have ended.
            let _ = self.made.send(Made::Input(input.clone()));
        }
        let differs = differs || expected.is_some();
        if differs {
            self.judged.insert(content(input));
        }
        differs
    }

    /// The search has seen what inputs are made of.
    pub fn saw(&self, parts: &[(u64, Vec<u8>)]) {
        for (does, bytes) in parts {
            let (does, bytes) = (*does, bytes.clone());
            // The lane may have ended.
            let _ = self.made.send(Made::Part(Part { does, bytes }));
        }
    }

    /// Some that differ and still wait, which there was no time to give to the search.
    pub fn rest(&mut self) -> Vec<Input> {
        while let Ok(news) = self.offers.try_recv() {
            self.sort(news);
        }
        let rest = std::iter::from_fn(|| self.differing.pop());
        rest.take(MOST_REST).collect()
    }

    /// Inputs that differ in the lane but could not be run by the search, or did not differ there.
    pub fn left(&mut self) -> Vec<Input> {
        let mut left = std::mem::take(&mut self.expected);
        left.retain(|input| self.judged.insert(content(input)));
        left
    }
}

/// A hash of what programs see of an input.
fn content(input: &Input) -> u64 {
    let mut hasher = DefaultHasher::new();
    for source in &input.sources {
        (source.kind, &source.name, source.content()).hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_inputs_come_first_and_large_ones_are_dropped() {
        let mut waiting = Waiting::new(3);
        for text in ["four", "1", "three", "2", "22"] {
            waiting.push(Input::from_args("p", [text]));
        }
        let taken = std::iter::from_fn(|| waiting.pop());
        let taken: Vec<_> = taken.map(|input| input.sources[1].bytes.clone()).collect();
        assert_eq!(taken, [&b"1"[..], b"2", b"22"]);
        assert!(waiting.is_empty());
    }

    #[test]
    fn what_is_refused_has_a_name() {
        assert_eq!(refusal(257), "openat");
        assert_eq!(refusal((-11_i32) as u32), "signal 11");
        assert_eq!(refusal(99_999), "system call 99999");
    }
}
