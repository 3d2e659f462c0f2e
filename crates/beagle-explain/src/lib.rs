//! Why two versions of a program differ on an input.
//!
//! Both versions are run on the input, traced. What the run shows by itself ([`Observed`]) is the first
//! evidence; [`Alternate`] inputs that are near to it and on which the versions do the same again are the
//! second; a [`Cause`] is a line that they speak for. Nothing is said that was not seen in a run or that the
//! dependences of the program do not tell; what was cut short is in the notes. Knows nothing of the command line.

mod align;
mod alternates;
mod edit;
mod observed;
mod part;
mod predicates;
mod rank;
mod reach;
mod route;
mod story;
mod value;
mod ways;

use std::time::{Duration, Instant};

use beagle_engine::{Probe, ProbeError, Probed, Side};
use beagle_executor::Outcome;
use beagle_trace::{Input, Limits};

pub use alternates::{Alternate, Branch, distance};
pub use observed::Observed;
pub use part::part;
pub use rank::{Blame, Cause, Evidence, Kind};

/// How to explain.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How long alternate inputs are looked for.
    pub time: Duration,
    /// What a traced run may take.
    pub limits: Limits,
    /// Whether alternate inputs are all that counts, and not what changed, as in the DARWIN paper.
    pub alternates_only: bool,
}

/// Why two versions differ on an input.
#[derive(Debug)]
pub struct Explanation {
    /// The lines to read, the first first.
    pub causes: Vec<Cause>,
    /// Inputs on which the versions do the same, the best first; behind them others that tell something.
    pub alternates: Vec<Alternate>,
    /// Where the versions part and what shows it, in sentences.
    pub parts: Vec<String>,
    /// What could not be followed.
    pub notes: Vec<String>,
}

impl Explanation {
    /// Takes into account what was found out about a hunk by building it alone.
    pub fn blame(&mut self, hunk: usize, verdict: Blame) {
        rank::blame(&mut self.causes, hunk, verdict);
    }

    /// The hunks that lines in the list belong to, those of the first lines first.
    pub fn hunks(&self) -> Vec<usize> {
        let mut hunks = Vec::new();
        for hunk in self.causes.iter().filter_map(|cause| cause.hunk) {
            if !hunks.contains(&hunk) {
                hunks.push(hunk);
            }
        }
        hunks
    }

    /// The story in words, without what the versions do: where they part, which change is responsible, what
    /// makes it go away.
    pub fn story(&self) -> Vec<String> {
        story::tell(self)
    }
}

/// Explains why the versions differ on an input. `agree` says whether the real versions do the same on an input,
/// if that can be said.
pub fn explain(
    probe: &mut Probe<'_>,
    mut run: Probed,
    agree: &mut dyn FnMut(&Input) -> Option<bool>,
    options: &Options,
) -> Explanation {
    let mut notes = cut_short(&run);
    let observed = Observed::of(probe.twin, &mut probe.pool, &run);
    if run.order.len() > LONG {
        // It takes much memory, and is needed for short runs only.
        run.order = Vec::new();
    }
    let effort = alternates::Effort {
        deadline: Instant::now() + options.time,
        limits: options.limits,
        thorough: options.alternates_only,
    };
    let found = alternates::search(probe, &run, agree, &effort, &mut notes);
    let mut ranking = rank::Ranking::new(probe.twin);
    if !options.alternates_only {
        ranking.observe(&observed);
        for side in Side::BOTH {
            let text = match run.outcomes[side as usize] {
                Outcome::Signal(_) => "ends by a signal, the last place that was recorded is here",
                Outcome::TimedOut => "does not end, the last place that was recorded is here",
                Outcome::Exit(_) => continue,
            };
            let text = format!("{} {text}", alternates::name(side));
            ranking.ended(side, observed.last[side as usize], &text);
        }
    }
    ranking.alternates(&found, options.alternates_only);
    Explanation {
        causes: ranking.finish(),
        parts: story::parts(probe.twin, &observed),
        alternates: found,
        notes,
    }
}

/// Runs of more steps are not made one path of conditions.
const LONG: usize = 2_000_000;

/// Runs both versions on an input. If it `varies`, all of it may, but for the name of the program; else it is not
/// recorded what depends on it.
pub fn look(
    probe: &mut Probe<'_>,
    input: &Input,
    varies: bool,
    limits: &Limits,
) -> Result<Probed, ProbeError> {
    probe.run(&varying(input, varies), limits)
}

/// The same input with everything in it a variable, or nothing.
fn varying(input: &Input, varies: bool) -> Input {
    let mut input = input.normalised();
    for (index, source) in input.sources.iter_mut().enumerate() {
        source.symbolic = varies && index > 0;
        if source.kind.is_string() && index > 0 {
            source.pad = source.pad.max(beagle_trace::DEFAULT_PAD);
        }
    }
    input
}

/// What of a run could not be followed.
fn cut_short(run: &Probed) -> Vec<String> {
    let mut notes = Vec::new();
    for side in Side::BOTH {
        let name = alternates::name(side);
        if let Some(stop) = run.stops[side as usize] {
            notes.push(format!(
                "the recording of {name} was cut short ({stop}): what comes later is not known"
            ));
        }
        let lost = run.traced(side).lost();
        if lost > 0 {
            notes.push(format!("{lost} conditions of {name} could not be read"));
        }
    }
    notes
}
