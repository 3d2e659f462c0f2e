//! The search for a model that is near to the hint.

use crate::clock::Moment;

use beagle_trace::node::mask;

use super::cores;
use super::engine::{Answer, Effort, Engine};
use crate::blast::{Bit, Blaster, Circuit, Lanes, Marks};
use crate::layer::Why;
use crate::pool::Pool;
use crate::variable::Variable;

/// How many conflicts a question may take that only serves a nearer model.
const PREFERENCE_CONFLICTS: u32 = 100;

/// How many such questions are asked.
const PREFERENCES: usize = 24;

/// How often a variable of many bits comes nearer to the hint; each time up to 128 times nearer.
const MOST_STEPS: usize = 16;

/// How many conflicts to spend with variables held at the hint.
const NEAR_CONFLICTS: u32 = 300;

/// How often to let go of variables that stand in the way.
const NEAR_ROUNDS: usize = 4;

/// How many conflicts before a question counts as hard.
const QUICK_CONFLICTS: u32 = 2000;

/// How many gates may be computed to look for one byte to change.
const ONE_BYTE_GATES: usize = 1 << 16;

/// How many gates may be computed to make a model better.
pub(super) const IMPROVEMENT_GATES: usize = 1 << 20;

/// Why there is no model.
pub(super) enum Failure {
    /// These conditions conflict.
    Conflict(Vec<Bit>),
    /// Not known.
    Unknown(Why),
}

/// A variable of a question.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    variable: Variable,
    width: u16,
    hint: u128,
}

/// The variables of a circuit with their values in the hint.
pub(super) fn variables(
    pool: &Pool,
    circuit: &Circuit,
    hint: &dyn Fn(Variable) -> u128,
) -> Vec<Known> {
    let known = |variable| {
        let width = pool.width(pool.variable_expr(variable));
        Known {
            variable,
            width,
            hint: hint(variable) & mask(width),
        }
    };
    circuit.variables().map(known).collect()
}

/// One question. Variables are known by their place in the circuit.
pub(super) struct Search<'a> {
    pub blaster: &'a mut Blaster,
    pub marks: &'a mut Marks,
    pub engine: &'a mut Engine,
    pub circuit: &'a Circuit,
    /// All must be 1.
    pub goals: &'a [Bit],
    pub variables: Vec<Known>,
    /// The values of the gates, kept to be filled again.
    pub lanes: Vec<Lanes>,
    /// Whether the solver has the gates.
    pub is_loaded: bool,
    pub start: Moment,
    pub deadline: Moment,
    /// How many gates may still be computed to make a model better.
    pub gates_left: usize,
}

impl Search<'_> {
    /// The variables that are to change, with their values.
    pub(super) fn run(mut self) -> Result<Vec<(Variable, u128)>, Failure> {
        let hint: Vec<u128> = self.variables.iter().map(|known| known.hint).collect();
        self.set_all(&hint);
        self.circuit.run(&mut self.lanes);
        let failing: Vec<usize> = (0..self.goals.len())
            .filter(|&goal| self.circuit.root(&self.lanes, goal)[0] & 1 == 0)
            .collect();
        let Some(&first) = failing.first() else {
            return Ok(Vec::new());
        };
        if let Some(model) = self.one_byte(&hint, first) {
            return Ok(self.changes(&model));
        }
        let mut model = self.near(&failing)?;
        self.improve(&mut model);
        Ok(self.changes(&model))
    }

    fn changes(&self, model: &[u128]) -> Vec<(Variable, u128)> {
        let pairs = self.variables.iter().zip(model);
        pairs
            .filter(|(known, value)| known.hint != **value)
            .map(|(known, value)| (known.variable, *value))
            .collect()
    }

    fn set_all(&mut self, model: &[u128]) {
        for (at, &value) in model.iter().enumerate() {
            self.circuit.set(&mut self.lanes, at, value);
        }
    }

    /// A model in which one byte of the hint is changed. No solver is needed to find it.
    fn one_byte(&mut self, hint: &[u128], failing: usize) -> Option<Vec<u128>> {
        let reached = self.circuit.reached([failing].into_iter());
        let candidates: Vec<usize> = (0..hint.len())
            .filter(|&at| reached[at] && self.variables[at].width == 8)
            .collect();
        if candidates.len() * self.circuit.len() > ONE_BYTE_GATES {
            return None;
        }
        let mut best: Option<(usize, u128)> = None;
        for at in candidates {
            if let Some(value) = self.best_byte(hint, at) {
                let rank = |(at, value): (usize, u128)| self.rank(at, value);
                if best.is_none_or(|best| rank((at, value)) < rank(best)) {
                    best = Some((at, value));
                }
            }
        }
        let (at, value) = best?;
        let mut model = hint.to_vec();
        model[at] = value;
        Some(model)
    }

    /// The lower, the better the value: the hint's, else printable, else near.
    fn rank(&self, at: usize, value: u128) -> (bool, u128) {
        let Known { width, hint, .. } = self.variables[at];
        let distance = value.abs_diff(hint);
        let strange = width == 8 && distance != 0 && !(0x20..=0x7e).contains(&value);
        (strange, distance)
    }

    /// The best value for a byte while the others keep theirs.
    fn best_byte(&mut self, model: &[u128], at: usize) -> Option<u128> {
        self.set_all(model);
        self.circuit.set_every_byte(&mut self.lanes, at);
        self.best_lane(at, |lane| lane as u128)
    }

    /// The best value for a variable while the others keep theirs, of 256 candidates.
    fn best_of(
        &mut self,
        model: &[u128],
        at: usize,
        candidate: impl Fn(usize) -> u128,
    ) -> Option<u128> {
        self.set_all(model);
        self.circuit.set_lanes(&mut self.lanes, at, &candidate);
        self.best_lane(at, candidate)
    }

    /// Computes all lanes, unless that was done too often.
    fn compute(&mut self) -> Option<()> {
        self.gates_left = self.gates_left.checked_sub(self.circuit.len())?;
        self.circuit.run(&mut self.lanes);
        Some(())
    }

    /// The best value of those in the lanes.
    fn best_lane(&mut self, at: usize, value: impl Fn(usize) -> u128) -> Option<u128> {
        self.compute()?;
        let good = self.circuit.all(&self.lanes);
        let values = (0..256).filter(|lane| good[lane / 64] >> (lane % 64) & 1 == 1);
        values.map(value).min_by_key(|&value| self.rank(at, value))
    }

    /// Gives a variable the best value that is found while the others keep theirs.
    fn settle(&mut self, model: &mut [u128], at: usize) {
        let Known { width, hint, .. } = self.variables[at];
        if width == 8 {
            if let Some(value) = self.best_byte(model, at) {
                model[at] = value;
            }
            return;
        }
        // A distance from the hint that is too near.
        let mut too_near = 0;
        for _ in 0..MOST_STEPS {
            let now = model[at];
            let far = now.abs_diff(hint);
            if far - too_near <= 1 {
                return;
            }
            let distance = |step: usize| too_near + (far - too_near) * step as u128 / 128;
            let candidate = |lane: usize| match lane {
                // The hint's bits from some bit on; or only that bit.
                0..64 => hint & !((1 << lane) - 1) | now & ((1 << lane) - 1),
                64..128 => now & !(1 << (lane - 64)) | hint & 1 << (lane - 64),
                _ if now > hint => hint + distance(lane - 128),
                _ => hint - distance(lane - 128),
            };
            let Some(value) = self.best_of(model, at, candidate) else {
                return;
            };
            let best = value.abs_diff(hint).min(far);
            let mut steps = (0..128).rev().map(distance);
            // Single bits of the hint can lead to where no step has been.
            too_near = steps.find(|&step| step < best).unwrap_or(0);
            if best < far {
                model[at] = value;
                // On the other side of the hint nothing was tried yet.
                if (value > hint) != (now > hint) {
                    too_near = 0;
                }
            }
        }
    }

    /// A model in which as many variables as possible have the hint's values.
    fn near(&mut self, failing: &[usize]) -> Result<Vec<u128>, Failure> {
        let reached = self.circuit.reached(failing.iter().copied());
        let mut kept: Vec<bool> = reached.iter().map(|&reached| !reached).collect();
        for round in 0..NEAR_ROUNDS {
            if round + 1 == NEAR_ROUNDS || !kept.contains(&true) {
                break;
            }
            let assumptions = self.assumptions(&kept);
            match self.ask(&assumptions, Some(NEAR_CONFLICTS)) {
                Answer::Yes => return Ok(self.model()),
                Answer::Unknown => break,
                Answer::No(failed) => {
                    let mut let_go = false;
                    let mut gates: Vec<usize> = failed.iter().map(|bit| bit.gate()).collect();
                    gates.sort_unstable();
                    for (at, kept) in kept.iter_mut().enumerate().filter(|(_, kept)| **kept) {
                        let mut bits = self.circuit.variable_bits(at);
                        // A bit of a variable may be a goal itself, so this may let go of too many.
                        if bits.any(|(bit, _)| gates.binary_search(&bit.gate()).is_ok()) {
                            *kept = false;
                            let_go = true;
                        }
                    }
                    if !let_go {
                        return Err(self.conflict(failed));
                    }
                }
            }
        }
        let goals = self.goals.to_vec();
        let mut answer = self.ask(&goals, Some(QUICK_CONFLICTS));
        if answer == Answer::Unknown && Moment::now() < self.deadline {
            // Without what is left of other questions, and with all that helps with hard ones.
            self.engine.restart(Effort::Thorough);
            self.is_loaded = false;
            answer = self.ask(&goals, None);
        }
        match answer {
            Answer::Yes => Ok(self.model()),
            Answer::No(failed) => Err(self.conflict(failed)),
            Answer::Unknown => Err(Failure::Unknown(Why::Budget)),
        }
    }

    fn conflict(&mut self, failed: Vec<Bit>) -> Failure {
        // Fewer conditions are worth half of what the answer took.
        let now = Moment::now();
        let worth = now.saturating_duration_since(self.start) / 2;
        Failure::Conflict(cores::minimise(self.engine, failed, now + worth))
    }

    /// The goals, and the bits of the hint for the variables that are kept.
    fn assumptions(&self, kept: &[bool]) -> Vec<Bit> {
        let mut assumptions = self.goals.to_vec();
        for (at, _) in kept.iter().enumerate().filter(|&(_, &kept)| kept) {
            let hint = self.variables[at].hint;
            let bits = self.circuit.variable_bits(at);
            assumptions.extend(bits.map(|(bit, index)| bit.negate_if(hint >> index & 1 == 0)));
        }
        assumptions
    }

    fn ask(&mut self, assumptions: &[Bit], conflicts: Option<u32>) -> Answer {
        if !self.is_loaded {
            let numbers = self.circuit.numbers().iter();
            let gates = self.blaster.gates();
            if !self.engine.load(gates, numbers.map(|&gate| gate as usize)) {
                return Answer::Unknown;
            }
            for (at, known) in self.variables.iter().enumerate() {
                for (bit, index) in self.circuit.variable_bits(at) {
                    self.engine
                        .prefer(bit.negate_if(known.hint >> index & 1 == 0));
                }
            }
            self.is_loaded = true;
        }
        self.engine.solve(assumptions, conflicts)
    }

    /// The values of the variables in the solver's model.
    fn model(&self) -> Vec<u128> {
        let value = |(at, known): (usize, &Known)| {
            let bits = self.circuit.variable_bits(at);
            bits.fold(known.hint, |value, (bit, index)| {
                let set = u128::from(self.engine.value(bit)) << index;
                value & !(1 << index) | set
            })
        };
        self.variables.iter().enumerate().map(value).collect()
    }

    /// Makes a model nearer to the hint.
    fn improve(&mut self, model: &mut Vec<u128>) {
        self.revert(model);
        let changed = self.changed(model);
        if changed.len() < 2 {
            changed.into_iter().for_each(|at| self.settle(model, at));
            return;
        }
        let mut attempts = PREFERENCES;
        self.change_fewer(model, &mut attempts);
        self.settle_all(model);
        self.make_printable(model, &mut attempts);
    }

    /// Gives all changed variables good values, one by one.
    fn settle_all(&mut self, model: &mut [u128]) {
        for at in self.changed(model) {
            self.settle(model, at);
        }
    }

    fn changed(&self, model: &[u128]) -> Vec<usize> {
        let changed = |&at: &usize| self.variables[at].hint != model[at];
        (0..model.len()).filter(changed).collect()
    }

    /// Gives back variables their values in the hint one by one, where the others can stay.
    fn revert(&mut self, model: &mut [u128]) {
        loop {
            let changed = self.changed(model);
            if changed.len() < 2 {
                return;
            }
            self.set_all(model);
            for (lane, &at) in changed.iter().enumerate().take(256) {
                let (hint, value) = (self.variables[at].hint, model[at]);
                let of_lane = |other| if other == lane { hint } else { value };
                self.circuit.set_lanes(&mut self.lanes, at, of_lane);
            }
            if self.compute().is_none() {
                return;
            }
            let good = self.circuit.all(&self.lanes);
            let lanes = 0..changed.len().min(256);
            let mut lanes = lanes.filter(|lane| good[lane / 64] >> (lane % 64) & 1 == 1);
            match lanes.next() {
                Some(lane) => model[changed[lane]] = self.variables[changed[lane]].hint,
                None => return,
            }
        }
    }

    /// Gives back variables their values in the hint, where other changed ones can change further.
    fn change_fewer(&mut self, model: &mut Vec<u128>, attempts: &mut usize) {
        let mut needed = vec![false; model.len()];
        loop {
            let changed = self.changed(model);
            // If only one is changed, it must be.
            let open = changed.iter().find(|&&at| !needed[at]);
            let Some(&at) = open.filter(|_| changed.len() > 1 && *attempts > 0) else {
                return;
            };
            *attempts -= 1;
            let mut kept = vec![true; model.len()];
            for &other in &changed {
                kept[other] = other == at;
            }
            let assumptions = self.assumptions(&kept);
            match self.ask(&assumptions, Some(PREFERENCE_CONFLICTS)) {
                Answer::Yes => *model = self.model(),
                _ => needed[at] = true,
            }
        }
    }

    /// Looks for printable values of changed bytes, where other changed ones can change further.
    fn make_printable(&mut self, model: &mut Vec<u128>, attempts: &mut usize) {
        let changed = self.changed(model);
        let strange = |search: &Self, model: &[u128]| -> Vec<usize> {
            let strange = |&at: &usize| search.rank(at, model[at]).0;
            search.changed(model).into_iter().filter(strange).collect()
        };
        let unprintable = strange(self, model);
        // With one changed variable, its best value is known already.
        if unprintable.is_empty() || changed.len() < 2 {
            return;
        }
        let mut kept = vec![true; model.len()];
        for &at in &changed {
            kept[at] = false;
        }
        let base = self.assumptions(&kept);
        let before = model.clone();
        let bytes = |search: &Self, at: &usize| search.variables[*at].width == 8;
        let all = changed.iter().copied().filter(|at| bytes(self, at));
        // All at once, else one by one.
        let mut wishes: Vec<Vec<usize>> = vec![all.collect()];
        if unprintable.len() > 1 {
            wishes.extend(unprintable.iter().map(|&at| vec![at]));
        }
        for wish in wishes {
            let now = strange(self, model);
            if now.is_empty() || *attempts == 0 || !wish.iter().any(|at| now.contains(at)) {
                continue;
            }
            *attempts -= 1;
            let printable = changed
                .iter()
                .copied()
                .filter(|at| bytes(self, at) && (wish.contains(at) || !now.contains(at)));
            let mut assumptions = base.clone();
            for at in printable.collect::<Vec<_>>() {
                assumptions.push(self.printable(at));
            }
            if self.ask(&assumptions, Some(PREFERENCE_CONFLICTS)) == Answer::Yes {
                *model = self.model();
            }
        }
        if *model != before {
            self.settle_all(model);
        }
    }

    /// The bit that says that a byte is printable.
    fn printable(&mut self, at: usize) -> Bit {
        let bit = self.blaster.printable(self.variables[at].variable);
        let gates = self.blaster.gates();
        let circuit = Circuit::new(gates, self.marks, &[bit]);
        let numbers = circuit.numbers().iter();
        self.engine.load(gates, numbers.map(|&gate| gate as usize));
        bit
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use beagle_trace::op::Op;

    use super::*;
    use crate::variable::{SourceKey, VariableKind};

    #[test]
    fn a_number_comes_nearer_than_the_last_step_that_failed() {
        let mut pool = Pool::new();
        let stdin = pool.source(&SourceKey::Stdin);
        let size = pool.variable(VariableKind::Size(stdin));
        // From the first a step leads to the second, from there one bit to the third.
        let mut any = pool.truth(false);
        for value in [128_000, 100_000, 100_000 - (1 << 16)] {
            let value = pool.constant(64, value);
            let equal = pool.eq(size, value);
            any = pool.op(Op::Or, 1, &[any, equal]);
        }
        let deadline = Moment::now() + Duration::from_secs(60);
        let (mut blaster, mut marks) = (Blaster::new(), Marks::default());
        let goals = [blaster.encode(&pool, any, deadline).expect("a circuit")[0]];
        let circuit = Circuit::new(blaster.gates(), &mut marks, &goals);
        let mut search = Search {
            blaster: &mut blaster,
            marks: &mut marks,
            engine: &mut Engine::new(Effort::Quick),
            circuit: &circuit,
            goals: &goals,
            variables: variables(&pool, &circuit, &|_| 0),
            lanes: Vec::new(),
            is_loaded: false,
            start: Moment::now(),
            deadline,
            gates_left: IMPROVEMENT_GATES,
        };
        let mut model = [128_000];
        search.settle(&mut model, 0);
        assert_eq!(model, [100_000 - (1 << 16)]);
    }
}
