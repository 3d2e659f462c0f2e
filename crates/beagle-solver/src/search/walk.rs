//! The walk: from the hint, one move after the other, until all conditions hold.

use super::cost;
use super::lanes::{LANES, Lanes};
use super::linear;
use super::problem::{NONE, Problem};
use super::propagate::Propagation;
use super::scan;
use super::state::{Budget, State};
use crate::random::Random;

/// So many moves without progress, and the walk starts again.
const PATIENCE: usize = 60;

/// Walks until all conditions hold, or the budget is spent.
pub(crate) fn walk(
    problem: &mut Problem<'_>,
    state: &mut State,
    lanes: &mut Lanes,
    propagation: &mut Propagation,
    random: &mut Random,
    budget: &mut Budget,
) -> bool {
    let mut round = 0;
    while !budget.is_spent() {
        let mut best = state.score;
        let mut idle = 0;
        let mut moves = 0;
        while !state.broken.is_empty() && idle < PATIENCE + moves / 8 {
            if !budget.spend(1) {
                return false;
            }
            let root = state.broken[random.below(state.broken.len())];
            // Sums first, then inverses, then all values of one variable.
            let kind = match moves {
                0 => 0,
                1..4 => 1,
                _ => [0, 1, 1, 1, 2, 2, 2, 2][random.below(8)],
            };
            moves += 1;
            idle += 1;
            let step = problem.roots[root as usize];
            match kind {
                0 => {
                    let mut work = 0;
                    let changes = linear::solve(problem, &state.values, step, &mut work);
                    if !budget.spend(work) {
                        return false;
                    }
                    if let Some(changes) = changes {
                        attempt(problem, state, &changes, random, budget);
                    }
                }
                1 => {
                    propagation.go(problem, &state.values, step, random);
                    if !budget.spend(propagation.work * 4) {
                        return false;
                    }
                    if !propagation.changes.is_empty() {
                        attempt(problem, state, &propagation.changes, random, budget);
                    }
                }
                _ => best_value(problem, state, lanes, root, random, budget),
            }
            if state.score < best {
                best = state.score;
                idle = 0;
            } else if idle % 8 == 7 {
                state.stress();
                best = state.score;
            }
        }
        if state.broken.is_empty() {
            return true;
        }
        round += 1;
        state.relax();
        state.start(problem);
        if round % 3 == 2 {
            scatter(problem, state, random, budget);
        }
        budget.spend(problem.tape.len());
    }
    false
}

/// Makes a change; takes it back if it is for the worse, but not always.
fn attempt(
    problem: &mut Problem<'_>,
    state: &mut State,
    changes: &[(u32, u128)],
    random: &mut Random,
    budget: &mut Budget,
) {
    let before = state.score;
    state.assign(problem, changes);
    budget.spend(state.work);
    if state.score > before && !random.once_in(6) {
        state.undo(problem);
    }
}

/// Gives one variable of a condition the value that is best for all conditions.
fn best_value(
    problem: &mut Problem<'_>,
    state: &mut State,
    lanes: &mut Lanes,
    root: u32,
    random: &mut Random,
    budget: &mut Budget,
) {
    let variables = problem.variables(root);
    let Some(&unknown) = variables.get(random.below(variables.len())) else {
        return;
    };
    let about = problem.unknowns[unknown as usize].clone();
    let row = scan::values_to_try(problem, &about);
    if !scan::fill(problem, &state.values, lanes, unknown, &row, budget) {
        return;
    }
    let mut scores = [0u64; LANES];
    let dependents = problem.dependents(unknown);
    for &step in dependents.iter() {
        let at = problem.root_at[step as usize];
        if at != NONE {
            let weight = u64::from(state.weights[at as usize]);
            budget.spend(LANES);
            for (lane, score) in scores.iter_mut().enumerate() {
                *score += weight
                    * u64::from(cost::in_lane(
                        &problem.tape,
                        &state.values,
                        lanes,
                        step,
                        lane,
                    ));
            }
        }
    }
    let current = state.value(problem, unknown);
    let mut best = None;
    let start = random.below(LANES);
    for lane in (0..LANES).map(|lane| (lane + start) % LANES) {
        let value = u128::from(row[lane]);
        let better = best.is_none_or(|(least, _)| scores[lane] < least);
        if better && value != current && about.allows(value) {
            best = Some((scores[lane], value));
        }
    }
    if let Some((_, value)) = best {
        attempt(problem, state, &[(unknown, value)], random, budget);
    }
}

/// Gives the variables of the broken conditions random values.
fn scatter(problem: &mut Problem<'_>, state: &mut State, random: &mut Random, budget: &mut Budget) {
    let mut changes = Vec::new();
    for &root in &state.broken.clone() {
        for &unknown in problem.variables(root).iter().take(64) {
            let about = &problem.unknowns[unknown as usize];
            let byte = about.domain.best(random.next() as u8);
            if let Some(byte) = byte.filter(|_| about.is_byte) {
                changes.push((unknown, byte.into()));
            }
        }
    }
    if !changes.is_empty() {
        state.assign(problem, &changes);
        budget.spend(state.work);
    }
}
