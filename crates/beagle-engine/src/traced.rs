//! What one version left of a run, read into the pool.

use beagle_solver::{Condition, Conditions, Expr, Importer, Pool};
use beagle_trace::event::DECIDING;
use beagle_trace::{Cases, Event, Input, Trace};
use rustc_hash::FxHashMap;

use crate::faults;
use crate::steps::{self, Step, What};
use crate::streams::{self, Destination, Stream, Streams};
use crate::word::{self, Word};

/// What one version left of a run.
pub struct Traced {
    pub(crate) steps: Vec<Step>,
    pub(crate) conditions: Conditions,
    /// The index of the condition of the event at each word.
    pub(crate) by_word: FxHashMap<usize, usize>,
    /// What was put into a variable by the event at each word.
    pub(crate) values: FxHashMap<usize, Expr>,
    /// Whether these are all.
    pub(crate) has_all_values: bool,
    /// What was compared by the event at each word.
    pub(crate) words: FxHashMap<usize, Word>,
    pub(crate) streams: Streams,
    pub(crate) faults: Vec<faults::Fault>,
    pub(crate) end: Option<(usize, Expr)>,
}

impl Traced {
    /// Reads a trace.
    pub fn read(pool: &mut Pool, trace: &Trace<'_>, input: &Input, cases: Cases<'_>) -> Self {
        let mut importer = Importer::new(pool, trace, input);
        let conditions = Conditions::of_trace(pool, &mut importer, trace, cases);
        let by_word = conditions.list.iter().enumerate();
        let by_word = by_word.map(|(index, condition)| (condition.word, index));
        let steps = steps::steps(trace);
        let last = steps
            .iter()
            .rfind(|step| step.what == What::End && step.node != 0);
        let end = last.and_then(|step| Some((step.word as usize, importer.expr(pool, step.node)?)));
        let (values, has_all_values) = values(pool, &mut importer, trace);
        Self {
            by_word: by_word.collect(),
            values,
            has_all_values,
            words: word::words(pool, &mut importer, trace, input),
            streams: streams::streams(pool, &mut importer, trace),
            faults: faults::faults(pool, &mut importer, trace),
            steps,
            conditions,
            end,
        }
    }
}

impl Traced {
    /// Whether it is known of all events what was put into variables; after very many it is not looked at.
    pub fn has_all_values(&self) -> bool {
        self.has_all_values
    }

    /// What happened, in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// What was written.
    pub(crate) fn all_streams(&self) -> &Streams {
        &self.streams
    }

    /// The conditions that held, in order.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions.list
    }

    /// How many conditions could not be read, which makes the others say less than the run did.
    pub fn lost(&self) -> usize {
        self.conditions.lost
    }

    /// What the event at a word of the trace put into a variable that is watched.
    pub fn value(&self, word: u32) -> Option<Expr> {
        self.values.get(&(word as usize)).copied()
    }

    /// What was written, by where it went.
    pub fn streams(&self) -> impl Iterator<Item = (&Destination, &Stream)> {
        self.streams.all.iter()
    }

    /// What was written to files, by path.
    pub fn files(&self) -> impl Iterator<Item = (&[u8], &[u8])> + '_ {
        let all = self.streams.all.iter();
        all.filter_map(|(destination, stream)| match destination {
            Destination::File(path) => Some((&**path, &*stream.bytes)),
            Destination::Stdout | Destination::Stderr => None,
        })
    }
}

/// What was put into variables that are watched, by the word of the event, and whether that is all.
fn values(
    pool: &mut Pool,
    importer: &mut Importer<'_>,
    trace: &Trace<'_>,
) -> (FxHashMap<usize, Expr>, bool) {
    let mut all = FxHashMap::default();
    let mut compared = 0;
    let mut events = trace.events();
    while compared < MOST_VALUES {
        let word = events.position();
        let Some(event) = events.next() else { break };
        let Event::Value {
            place, value, node, ..
        } = event
        else {
            continue;
        };
        // Of the others the program records few.
        compared += usize::from(place & DECIDING == 0);
        let expr = match node {
            Some(node) => importer.expr(pool, node),
            None => Some(pool.constant(64, value.into())),
        };
        all.extend(expr.map(|expr| (word, expr)));
    }
    (all, compared < MOST_VALUES)
}

/// Most values of variables that are compared that are looked at in a run: more would not tell more.
const MOST_VALUES: usize = 20_000;
