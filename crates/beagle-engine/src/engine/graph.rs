//! The change sequence graph in the exploration. It is made beside the first runs, which do not wait for
//! it; what they met is found out when it is there.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use beagle_sequence::Graph;

use super::{Engine, Listener, Next, Product, Record, Traced};
use crate::order::Acts;
use crate::sequences::Sequences;
use crate::steps::Step;
use crate::strategy::{PRUNE, SEQUENCES};
use crate::streams::first_difference;
use crate::trail::acts;
use crate::walk::Met;

/// A graph that is still to come.
pub(super) struct Awaited {
    graph: Receiver<Graph>,
    /// How long to wait for it before other questions are asked.
    patience: Duration,
    since: Option<Instant>,
    /// What is kept of the runs so far, by number.
    runs: Vec<(usize, Walked)>,
    kept: usize,
}

/// The two traces of a run, and how they belong together.
struct Walked {
    steps: [Vec<Step>; 2],
    order: Vec<Met>,
}

/// So many steps of runs are kept until the graph is there.
const MOST_STEPS: usize = 4_000_000;

/// How often is looked whether the user wants to stop.
const GLANCE: Duration = Duration::from_millis(50);

impl Engine<'_> {
    /// Whether a change sequence graph is of use: there are several changes, or nothing else is asked
    /// for.
    pub fn wants_graph(&self) -> bool {
        let mut names = self.frontier.names();
        let is_wanted = names.any(|name| name == SEQUENCES);
        is_wanted && (self.twin.comparison.changes.len() > 1 || self.needs_graph())
    }

    /// Whether there are no questions without a graph.
    fn needs_graph(&self) -> bool {
        let mut names = self.frontier.names().filter(|&name| name != PRUNE);
        names.all(|name| name == SEQUENCES)
    }

    /// A change sequence graph will come from there. When the inputs to start from were run, it is
    /// waited for so long before questions are asked.
    pub fn expect_graph(&mut self, graph: Receiver<Graph>, patience: Duration) {
        self.awaited = Some(Awaited {
            graph,
            patience: match self.needs_graph() {
                true => Duration::MAX,
                false => patience,
            },
            since: None,
            runs: Vec::new(),
            kept: 0,
        });
    }

    /// Takes the graph if it is there, and waits for it as long as there is patience.
    pub(super) fn hear_of_graph(&mut self, listener: &mut dyn Listener) -> Next {
        loop {
            let Some(awaited) = &mut self.awaited else {
                return Next::GoOn;
            };
            let since = *awaited.since.get_or_insert_with(Instant::now);
            let left = awaited.patience.saturating_sub(since.elapsed());
            let time = left.min(GLANCE);
            let deadline = self.options.deadline;
            match awaited.graph.recv_timeout(time) {
                Ok(graph) => {
                    self.take_graph(graph);
                    return Next::GoOn;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    self.awaited = None;
                    return Next::GoOn;
                }
                Err(RecvTimeoutError::Timeout) if left.is_zero() || Instant::now() >= deadline => {
                    return Next::GoOn;
                }
                Err(RecvTimeoutError::Timeout) => {
                    if listener.progress(&self.status) == Next::Stop {
                        return Next::Stop;
                    }
                }
            }
        }
    }

    fn take_graph(&mut self, graph: Graph) {
        let Some(awaited) = self.awaited.take() else {
            return;
        };
        let mut sequences = Sequences::new(self.twin, graph);
        for (number, walked) in awaited.runs {
            let Some(Some(record)) = self.records.get_mut(number) else {
                continue;
            };
            let [old, new] = &walked.steps;
            let steps = [&old[..], &new[..]];
            record.product.trail = sequences.trail(self.twin, steps, &walked.order);
            sequences.add(&record.product.trail);
        }
        for (number, record) in (0..).zip(&mut self.records) {
            if let Some(record) = record {
                let Record { input, product, .. } = record;
                self.splices.add(&sequences, number, input, product);
                product.records = None;
            }
        }
        self.scene.sequences = Some(sequences);
        for (number, record) in self.records.iter().enumerate() {
            if let Some(record) = record {
                let (scene, number) = (&self.scene, number as u32);
                self.frontier
                    .reconsider(scene, number, &record.product, SEQUENCES);
            }
        }
    }

    /// Finds out which nodes a run met, or keeps what that takes until there is a graph. The run is
    /// the next that is recorded.
    pub(super) fn follow_nodes(&mut self, product: &mut Product, old: &Traced, new: &Traced) {
        let order = std::mem::take(&mut product.order);
        let steps = [old.steps(), new.steps()];
        if let Some(sequences) = &self.scene.sequences {
            product.trail = sequences.trail(self.twin, steps, &order);
        } else if let Some(awaited) = &mut self.awaited
            && awaited.kept + order.len() <= MOST_STEPS
        {
            awaited.kept += order.len();
            let steps = steps.map(<[Step]>::to_vec);
            awaited
                .runs
                .push((self.records.len(), Walked { steps, order }));
        }
    }

    /// Ways from one change to another that the graph has but no run took, with no change between; of
    /// changes that can be reached. `None` without a graph.
    pub fn untaken(&self) -> Option<Vec<(usize, usize)>> {
        let sequences = self.scene.sequences.as_ref()?;
        Some(sequences.untaken())
    }

    /// The changes that a run executed; nothing if there is one only.
    pub(super) fn acts(&self, product: &Product, old: &Traced, new: &Traced) -> Acts {
        let Some(marks) = &self.changes else {
            return Acts::default();
        };
        let wrote = first_difference(old.all_streams(), new.all_streams());
        let steps = [old.steps(), new.steps()];
        acts(self.twin, marks, steps, &product.order, wrote)
    }
}
