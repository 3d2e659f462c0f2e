//! The layer that knows nearly all operators of integers: circuits of gates for a SAT solver.
//!
//! Circuits stay from one question to the next. The SAT solver is given only what a question needs;
//! once it knows much more than that, it starts again, because it assigns all that it knows.

mod cores;
mod engine;
mod search;
#[cfg(test)]
mod tests;

use crate::clock::Moment;

use self::engine::{Effort, Engine};
use self::search::Search;
use crate::blast::{Bit, Blaster, Circuit, Marks};
use crate::layer::{Found, Question, Why};
use crate::pool::Pool;

/// All circuits are forgotten once they take more bytes.
const MOST_MEMORY: usize = 512 << 20;

/// Larger circuits are not for the SAT solver: it would not be done in any sensible time.
const MOST_GATES: usize = 1 << 18;

/// Circuits that the SAT solver is given to see whether they contradict themselves have no more gates...
const REFUTED_GATES: usize = 1 << 13;

/// ...and it gives up after so many conflicts.
const REFUTED_CONFLICTS: u32 = 50;

/// So many conditions are looked at before the clock is.
const CONDITIONS_PER_CHECK: usize = 1 << 7;

/// The SAT solver starts again once it knows more than this many gates...
const FEW_GATES: usize = 1 << 9;

/// ...and so many times more than the question has.
const GATES_RATIO: usize = 4;

/// Circuits and a SAT solver.
#[derive(Debug)]
pub(crate) struct Sat {
    blaster: Blaster,
    marks: Marks,
    engine: Engine,
    /// For small questions on the way to larger ones, which would make the other forget the larger ones.
    refuter: Engine,
}

impl Sat {
    /// Without any circuits.
    pub(crate) fn new() -> Self {
        Self {
            blaster: Blaster::new(),
            marks: Marks::default(),
            engine: Engine::new(Effort::Quick),
            refuter: Engine::new(Effort::Quick),
        }
    }

    /// Forgets all circuits.
    pub(crate) fn reset(&mut self) {
        *self = Self::new();
    }

    /// How many bytes it takes, about.
    pub(crate) fn memory(&self) -> usize {
        self.blaster.memory() + self.marks.memory() + self.engine.memory() + self.refuter.memory()
    }

    /// Conditions that contradict each other, if that is seen soon.
    pub(crate) fn refute(&mut self, pool: &Pool, question: &Question<'_>) -> Option<Vec<usize>> {
        let (circuit, goals) = match self.circuit(pool, question) {
            Ok(made) => made,
            Err(Found::Conflict(core)) => return Some(core),
            Err(_) => return None,
        };
        if circuit.len() > REFUTED_GATES {
            return None;
        }
        prepare(&mut self.refuter, &circuit, question);
        let gates = circuit.numbers().iter().map(|&gate| gate as usize);
        if !self.refuter.load(self.blaster.gates(), gates) {
            return None;
        }
        let bits: Vec<Bit> = goals.iter().map(|&(bit, _)| bit).collect();
        match self.refuter.solve(&bits, Some(REFUTED_CONFLICTS)) {
            engine::Answer::No(core) => Some(indexes(&goals, &core)),
            _ => None,
        }
    }

    /// The gates of the conditions, with the index of each; an answer if there is one without the SAT solver.
    fn circuit(
        &mut self,
        pool: &Pool,
        question: &Question<'_>,
    ) -> Result<(Circuit, Vec<(Bit, usize)>), Found> {
        if self.memory() > MOST_MEMORY {
            self.reset();
        }
        let mut goals: Vec<(Bit, usize)> = Vec::new();
        for (index, &condition) in question.conditions.iter().enumerate() {
            if index % CONDITIONS_PER_CHECK == 0 && Moment::now() >= question.deadline {
                return Err(Found::Nothing(Why::Budget));
            }
            let bits = self.blaster.encode(pool, condition, question.deadline);
            let bit = bits.map_err(Found::Nothing)?[0];
            match bit.constant() {
                Some(true) => {}
                Some(false) => return Err(Found::Conflict(vec![index])),
                None => goals.push((bit, index)),
            }
        }
        goals.sort_unstable();
        goals.dedup_by_key(|&mut (bit, _)| bit);
        for pair in goals.windows(2) {
            let (first, second) = (pair[0], pair[1]);
            if first.0 == !second.0 {
                let (a, b) = (first.1.min(second.1), first.1.max(second.1));
                return Err(Found::Conflict(vec![a, b]));
            }
        }
        let bits: Vec<Bit> = goals.iter().map(|&(bit, _)| bit).collect();
        let circuit = Circuit::new(self.blaster.gates(), &mut self.marks, &bits);
        if circuit.len() > MOST_GATES {
            return Err(Found::Nothing(Why::Size));
        }
        if let Some(core) = circuit.contradiction() {
            let mut indexes: Vec<usize> = core.iter().map(|&goal| goals[goal].1).collect();
            indexes.sort_unstable();
            return Err(Found::Conflict(indexes));
        }
        Ok((circuit, goals))
    }

    /// Looks for a model near the hint.
    pub(crate) fn solve(&mut self, pool: &Pool, question: &Question<'_>) -> Found {
        let (circuit, goals) = match self.circuit(pool, question) {
            Ok(made) => made,
            Err(found) => return found,
        };
        let bits: Vec<Bit> = goals.iter().map(|&(bit, _)| bit).collect();
        prepare(&mut self.engine, &circuit, question);
        let search = Search {
            blaster: &mut self.blaster,
            marks: &mut self.marks,
            engine: &mut self.engine,
            circuit: &circuit,
            goals: &bits,
            variables: search::variables(pool, &circuit, question.hint),
            lanes: Vec::new(),
            is_loaded: false,
            start: Moment::now(),
            deadline: question.deadline,
            gates_left: search::IMPROVEMENT_GATES,
        };
        match search.run() {
            Ok(model) => Found::Model(model),
            Err(search::Failure::Unknown(why)) => Found::Nothing(why),
            Err(search::Failure::Conflict(core)) => Found::Conflict(indexes(&goals, &core)),
        }
    }
}

/// Has a SAT solver know little more than it needs.
fn prepare(engine: &mut Engine, circuit: &Circuit, question: &Question<'_>) {
    let most = FEW_GATES + GATES_RATIO * circuit.len();
    if engine.effort() != Effort::Quick || engine.loaded() > most {
        engine.restart(Effort::Quick);
    }
    engine.set_deadline(question.deadline);
}

/// The indexes of the conditions of a core.
fn indexes(goals: &[(Bit, usize)], core: &[Bit]) -> Vec<usize> {
    let of_core = goals.iter().filter(|(bit, _)| core.contains(bit));
    let mut indexes: Vec<usize> = of_core.map(|&(_, index)| index).collect();
    indexes.sort_unstable();
    indexes
}
