//! Between the search and the court: hands over candidates, hears what became of them, shows the
//! progress.

use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use beagle_engine::{Appetite, Listener, Next, Progress, Ran, Status};
use beagle_trace::Input;

use super::Job;
use super::court::{Case, Message, News};
use super::lane::Offers;
use super::sequences::Exercised;
use super::tests::Seen;
use crate::progress::{self, Phase};

/// Listens to the search.
pub struct Listening<'a> {
    job: &'a Job<'a>,
    cases: Sender<Message>,
    heard: Receiver<News>,
    found: usize,
    /// How many runs there were.
    runs: u64,
    deadline: Instant,
    line: &'a progress::Progress,
    offers: Option<Offers>,
    /// What is known of the inputs to start from.
    pub seen: Seen,
    /// The orders in which changes were executed.
    exercised: Exercised,
}

impl<'a> Listening<'a> {
    /// Candidates go to `cases`; `heard` tells what became of them. The fast lane has `offers`.
    pub fn new(
        job: &'a Job<'a>,
        cases: Sender<Message>,
        heard: Receiver<News>,
        deadline: Instant,
        line: &'a progress::Progress,
        offers: Option<Offers>,
    ) -> Self {
        Self {
            offers,
            job,
            deadline,
            line,
            cases,
            heard,
            found: 0,
            runs: 0,
            seen: Seen::default(),
            exercised: Exercised::default(),
        }
    }

    /// There are no more candidates; those that wait may take this long.
    pub fn close(mut self, grace: Duration) -> (Seen, Exercised) {
        if let Some(offers) = &mut self.offers {
            let waiting = offers.left().into_iter().chain(offers.rest());
            for input in waiting.collect::<Vec<_>>() {
                let _ = self.cases.send(untraced(self.runs, input));
            }
        }
        // The court is there until we close.
        let _ = self.cases.send(Message::Close(grace));
        (self.seen, self.exercised)
    }
}

/// An input that differs in the fast lane; nothing else is known of it.
fn untraced(run: u64, input: Input) -> Message {
    Message::Case(Box::new(Case {
        run,
        input,
        differs: true,
        changes: Vec::new(),
        cause: None,
        seed: None,
        sequence: None,
        again: false,
    }))
}

impl Listener for Listening<'_> {
    fn wants_parts(&self) -> bool {
        self.offers.is_some()
    }

    fn ran(&mut self, ran: &Ran<'_>) -> Next {
        if let Some(index) = ran.seed {
            self.seen.ran(index, &ran.reached, &ran.infected);
        }
        let sequence = self.exercised.add(&ran.sequence);
        let touches = !ran.reached.is_empty();
        let differs = match &mut self.offers {
            Some(offers) => {
                offers.saw(&ran.parts);
                offers.ran(ran.input, ran.fresh, ran.differs)
            }
            None => ran.differs,
        };
        if differs || (touches && ran.fresh) {
            let case = Case {
                run: ran.number,
                input: ran.input.clone(),
                differs,
                changes: ran.reached.clone(),
                cause: ran.cause.clone(),
                seed: ran
                    .seed
                    .and_then(|index| self.seen.order.get(index).copied()),
                sequence: Some(sequence),
                again: false,
            };
            let _ = self.cases.send(Message::Case(Box::new(case)));
        }
        Next::GoOn
    }

    fn offered(&mut self, appetite: Appetite) -> Option<Vec<Input>> {
        let offers = self.offers.as_mut()?;
        // The real programs may do what the traced ones could not.
        for input in offers.left() {
            let _ = self.cases.send(untraced(self.runs, input));
        }
        offers.take(appetite)
    }

    fn progress(&mut self, status: &Status) -> Next {
        self.runs = status.runs;
        while let Ok(News::Found) = self.heard.try_recv() {
            self.found += 1;
        }
        let count = |what: fn(&Progress) -> bool| status.changes.iter().filter(|c| what(c)).count();
        let left = self.deadline.saturating_duration_since(Instant::now());
        self.line.update(&progress::Status {
            phase: Phase::Searching,
            changes: status.changes.len(),
            reached: count(|change| change.reached),
            infected: count(|change| change.infected),
            propagated: count(|change| change.propagated),
            runs: status.runs,
            queries: status.queries,
            builds: 0,
            differences: self.found,
            left: Some(left),
        });
        let enough = self.job.options.search.first && self.found > 0;
        if enough || self.job.interrupt.is_raised() {
            return Next::Stop;
        }
        Next::GoOn
    }
}
