//! What the inputs that people already have do for the changes: reach, infect, show.

use std::collections::BTreeMap;

use beagle_engine::Survey;
use beagle_report::coverage::{Covered, Tests};

use super::present;
use super::{Job, Judged};

/// What is known of the inputs to start from, in the order of the invocation.
#[derive(Default)]
pub struct Seen {
    /// Which of them the search started from, in its order.
    pub order: Vec<usize>,
    /// What a first look told.
    pub survey: Survey,
    /// By change, the first input that executes it, and the first whose effect was seen.
    reached: BTreeMap<usize, usize>,
    infected: BTreeMap<usize, usize>,
}

impl Seen {
    /// All inputs are started from, as they are.
    pub fn unranked(count: usize) -> Self {
        Self {
            order: (0..count).collect(),
            ..Self::default()
        }
    }

    /// By a first look at them. If only the inputs themselves are of interest, all that come to a
    /// change are run.
    pub fn ranked(survey: Survey, all: bool) -> Self {
        let mut seen = Self {
            order: survey.order.clone(),
            ..Self::default()
        };
        for (index, look) in survey.looks.iter().enumerate() {
            let Some(look) = look else { continue };
            for &change in &look.reached {
                first(&mut seen.reached, change, index);
            }
            if all && !look.reached.is_empty() && !survey.order.contains(&index) {
                seen.order.push(index);
            }
        }
        seen.survey = survey;
        seen
    }

    /// The search ran the input that it started from as number `index`.
    pub fn ran(&mut self, index: usize, reached: &[usize], infected: &[usize]) {
        let Some(&input) = self.order.get(index) else {
            return;
        };
        for &change in reached {
            first(&mut self.reached, change, input);
        }
        for &change in infected {
            first(&mut self.infected, change, input);
        }
    }

    /// How far the user's own inputs get.
    pub fn tests(&self, job: &Job<'_>, judged: &Judged) -> Tests {
        let invocation = job.invocation;
        let count = invocation.own;
        let name = |known: &BTreeMap<usize, usize>, change: usize| {
            let input = known.get(&change).filter(|&&input| input < count)?;
            invocation.names.get(*input).cloned()
        };
        let changes = job.comparison.changes.iter().enumerate();
        let changes = changes.map(|(index, change)| {
            let shown_by = name(&judged.shown, index);
            // What is shown was infected, whether or not that could be followed.
            let infected_by = name(&self.infected, index).or_else(|| shown_by.clone());
            let reached_by = name(&self.reached, index).or_else(|| infected_by.clone());
            let entry = present::bare_entry(job, index, change);
            Covered {
                id: entry.id,
                file: entry.file,
                line: entry.line,
                function: entry.function,
                kind: entry.kind,
                text: present::first_text(change),
                reached_by,
                infected_by,
                shown_by,
            }
        });
        let unseen = match self.survey.looks.is_empty() {
            true => 0,
            false => {
                let own = self.survey.looks.iter().take(count);
                own.filter(|look| look.is_none()).count()
            }
        };
        Tests::new(count as u64, unseen as u64, changes.collect())
    }
}

/// Notes the first of all inputs that did something.
pub fn first(known: &mut BTreeMap<usize, usize>, change: usize, input: usize) {
    let before = known.entry(change).or_insert(input);
    *before = input.min(*before);
}
