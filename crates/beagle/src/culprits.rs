//! Which hunks it takes to make a difference: from an input to an entry of a report.

use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use beagle_blame::{Bench, Effort, Error, Found, Mixed, Outcome, Relation as Related, Trial};
use beagle_hunks::{Hunk, Set};
use beagle_report::blame::{CulpritSet, Culprits, HunkEntry, Relation};
use beagle_report::diff::LineEntry;
use beagle_trace::Input;
use beagle_verdict::{Judge, Observation, Setting, Version};

use crate::interrupt::Interrupt;
use crate::progress::{Phase, Progress, Status};
use crate::versions::Order;

/// Names of files and lines in messages, which move with every hunk.
const PLACES: &str = r"[\w./-]*\w\.(?:c|h|cc|hh|cpp|hpp|cxx)\b(?::\d+)*";

/// Looks for culprits of differences between two versions.
pub struct Seeker<'a> {
    bench: Bench<'a>,
    /// A judge that does not look at places in messages, and one that does.
    judges: [Judge; 2],
    interrupt: &'a Interrupt,
    line: &'a Progress,
}

/// What is known of a difference.
pub struct Case<'a> {
    /// The input.
    pub input: &'a Input,
    /// What old does.
    pub old: &'a Observation,
    /// What new does.
    pub new: &'a Observation,
    /// Hunks that are worth being looked at first.
    pub likely: &'a Set,
    /// When to stop.
    pub deadline: Instant,
}

impl<'a> Seeker<'a> {
    /// Takes the versions apart, and gets ready to run mixed ones.
    pub fn new(
        order: &'a Order,
        (old, new): (&Version, &Version),
        setting: &Setting,
        interrupt: &'a Interrupt,
        line: &'a Progress,
    ) -> Result<Self, Error> {
        let mut without_places = setting.clone();
        without_places.normalise.replace(PLACES, "<place>")?;
        let judge = |setting| Judge::new(old.clone(), new.clone(), None, setting);
        Ok(Self {
            bench: Bench::new(&order.old, &order.new, &order.config, &order.cache)?,
            judges: [judge(without_places)?, judge(setting.clone())?],
            interrupt,
            line,
        })
    }

    /// The numbers here of hunks that changes were tied to.
    pub fn numbers(&self, of: &[&beagle_change::Hunk]) -> Set {
        let zero = |range: &Range<u32>| range.start as usize - 1..range.end as usize - 1;
        let is_one = |hunk: &Hunk| {
            let mut same = of
                .iter()
                .filter(|other| (&hunk.old, &hunk.new) == (&zero(&other.old), &zero(&other.new)));
            let (_, new_name) = self.bench.names(&hunk.file);
            let name = Path::new(&new_name).file_name();
            same.any(|other| Path::new(&other.new_file).file_name() == name)
        };
        let hunks = (1..).zip(&self.bench.diff().hunks);
        let same = hunks.filter(|(_, hunk)| is_one(hunk));
        same.map(|(number, _)| number).collect()
    }

    /// Old with a set of hunks, as a version like any other.
    pub fn mixed(&self, set: &Set) -> Result<Mixed<'_>, Error> {
        self.bench.mixed(set)
    }

    /// What old with a hunk alone does, and new without it.
    pub fn alone(
        &mut self,
        case: &Case<'_>,
        of: &beagle_change::Hunk,
        without: bool,
    ) -> Result<Option<Outcome>, Error> {
        let set = self.numbers(&[of]);
        if set.is_empty() || Instant::now() >= case.deadline || self.interrupt.is_raised() {
            return Ok(None);
        }
        let set = match without {
            true => &self.bench.diff().all() - &set,
            false => set,
        };
        let judge = match self.judges[0].compare(case.old, case.new).any() {
            true => &mut self.judges[0],
            false => &mut self.judges[1],
        };
        let trial = Trial {
            input: case.input,
            old: case.old,
            new: case.new,
            likely: case.likely,
        };
        trial.outcome(&set, &mut self.bench, judge).map(Some)
    }

    /// Looks for the culprits of a difference.
    pub fn seek(&mut self, case: &Case<'_>) -> Result<Culprits, Error> {
        // If it is all about places, they have to count.
        let [without, with] = &mut self.judges;
        let judge = match without.compare(case.old, case.new).any() {
            true => without,
            false => with,
        };
        let trial = Trial {
            input: case.input,
            old: case.old,
            new: case.new,
            likely: case.likely,
        };
        let (interrupt, line) = (self.interrupt, self.line);
        let mut goes_on = |builds| {
            line.update(&Status {
                builds,
                left: Some(case.deadline.saturating_duration_since(Instant::now())),
                ..Status::new(Phase::Blaming)
            });
            !interrupt.is_raised()
        };
        let mut effort = Effort {
            deadline: case.deadline,
            goes_on: &mut goes_on,
        };
        let blame = trial.blame(&mut self.bench, judge, &mut effort)?;
        let sets: Vec<CulpritSet> = sets(&blame.found);
        let named: Set = blame.found.culprits.iter().flatten().copied().collect();
        Ok(Culprits {
            said: Culprits::sentence(&sets, blame.hunks, blame.found.complete),
            sets,
            undo: blame.found.undo.iter().map(numbers).collect(),
            interaction: blame.found.is_interaction(),
            complete: blame.found.complete,
            count: blame.hunks,
            hunks: named.iter().filter_map(|&id| self.entry(id)).collect(),
            builds: blame.builds.0,
            failed: blame.builds.1,
        })
    }

    fn entry(&self, id: usize) -> Option<HunkEntry> {
        let diff = self.bench.diff();
        let hunk = diff.hunks.get(id.checked_sub(1)?)?;
        let (old_name, new_name) = self.bench.names(&hunk.file);
        let lines = |file: &str, start: usize, texts: Vec<String>| {
            let texts = (start as u32 + 1..).zip(texts);
            let lines = texts.map(|(line, text)| LineEntry {
                file: file.to_owned(),
                line,
                text,
            });
            lines.collect::<Vec<_>>()
        };
        let in_new = diff.new_files().contains_key(&hunk.file);
        Some(HunkEntry {
            id,
            file: if in_new { &new_name } else { &old_name }.clone(),
            line: match hunk.whole {
                true => 0,
                false => hunk.new.start + 1,
            },
            function: diff.function(hunk),
            old_lines: lines(&old_name, hunk.old.start, diff.old_lines(hunk)),
            new_lines: lines(&new_name, hunk.new.start, diff.new_lines(hunk)),
        })
    }
}

fn numbers(set: &Set) -> Vec<usize> {
    set.iter().copied().collect()
}

fn sets(found: &Found) -> Vec<CulpritSet> {
    let sets = found.culprits.iter().map(|set| CulpritSet {
        hunks: numbers(set),
        minimal: found.is_minimal(set),
        relation: match found.relation(set) {
            Related::Alone => Relation::Alone,
            Related::Interaction => Relation::Interaction,
            Related::Adds => Relation::Adds,
            Related::Bound => Relation::Bound,
            Related::Unknown => Relation::Unknown,
        },
    });
    sets.collect()
}
