//! Who answered how many questions, and how long it took.

use std::fmt;
use std::time::Duration;

/// The means by which questions are answered, the cheapest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Layer {
    /// Simplification by the path decided the question.
    Rewriting,
    /// The parent input is an answer.
    Hint,
    /// Sets of values of single bytes.
    Bytes,
    /// Conflicts that were seen before.
    Conflicts,
    /// Bits and bounds.
    Intervals,
    /// Local search.
    Search,
    /// Bit-blasting.
    Sat,
    /// Z3.
    Z3,
}

impl Layer {
    /// All layers in their order.
    pub const ALL: [Layer; 8] = [
        Layer::Rewriting,
        Layer::Hint,
        Layer::Bytes,
        Layer::Conflicts,
        Layer::Intervals,
        Layer::Search,
        Layer::Sat,
        Layer::Z3,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Rewriting => "rewriting",
            Layer::Hint => "hint",
            Layer::Bytes => "bytes",
            Layer::Conflicts => "conflicts",
            Layer::Intervals => "intervals",
            Layer::Search => "search",
            Layer::Sat => "sat",
            Layer::Z3 => "z3",
        }
    }
}

/// What one layer did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayerStatistics {
    /// Questions that it was given.
    pub asked: u64,
    /// Of these, answered with an input.
    pub satisfiable: u64,
    /// Of these, found to have no answer.
    pub unsatisfiable: u64,
    /// The time it took, for all that it was given.
    pub time: Duration,
}

/// What all layers did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    layers: [LayerStatistics; Layer::ALL.len()],
    /// Questions in all.
    pub questions: u64,
    /// Questions without an answer.
    pub unknown: u64,
    /// Answers of layers that the evaluator did not accept.
    pub unverified: u64,
}

impl Statistics {
    /// What one layer did.
    pub fn layer(&self, layer: Layer) -> &LayerStatistics {
        &self.layers[layer as usize]
    }

    /// Adds what another solver did.
    pub fn add(&mut self, other: &Statistics) {
        for (one, more) in self.layers.iter_mut().zip(&other.layers) {
            one.asked += more.asked;
            one.satisfiable += more.satisfiable;
            one.unsatisfiable += more.unsatisfiable;
            one.time += more.time;
        }
        self.questions += other.questions;
        self.unknown += other.unknown;
        self.unverified += other.unverified;
    }

    pub(crate) fn layer_mut(&mut self, layer: Layer) -> &mut LayerStatistics {
        &mut self.layers[layer as usize]
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "layer           asked       sat     unsat   share   µs/asked"
        )?;
        for layer in Layer::ALL {
            let one = self.layer(layer);
            let answered = (one.satisfiable + one.unsatisfiable) as f64;
            writeln!(
                f,
                "{:<10} {:>10} {:>9} {:>9} {:>6.1}% {:>10.1}",
                layer.name(),
                one.asked,
                one.satisfiable,
                one.unsatisfiable,
                100.0 * answered / self.questions.max(1) as f64,
                one.time.as_secs_f64() * 1e6 / one.asked.max(1) as f64,
            )?;
        }
        write!(
            f,
            "{} questions, {} unknown, {} answers not accepted by the evaluator",
            self.questions, self.unknown, self.unverified
        )
    }
}
