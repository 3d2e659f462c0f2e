//! All values of one variable, or of two bytes, tried at once.

use std::cmp::Reverse;

use super::lanes::{IDENTITY, LANES, Lanes, Row};
use super::problem::{NONE, Problem, Unknown};
use super::state::{Budget, State};
use crate::bytes::{ByteSet, reluctance};
use crate::tape::Values;

/// More rows would take too much memory.
const MOST_ROWS: usize = 4096;
/// So many more variables are tried for a better value once one was found.
const MORE: usize = 16;
/// So many variables of a condition are many.
const MANY: usize = 64;
/// So many of many are tried.
const LAST: usize = 16;

/// The outcome of trying all pairs of values.
pub(crate) enum Pairs {
    /// The best pair.
    Found([(u32, u128); 2]),
    /// There is none: these conditions, by place, exclude all.
    Excluded(Vec<u32>),
    /// There is none, but some conditions are not defined for some pairs.
    Undefined,
    /// Not all were tried.
    Open,
}

/// The values to try for a variable.
pub(crate) fn values_to_try(problem: &Problem<'_>, unknown: &Unknown) -> Row {
    if unknown.is_byte {
        return IDENTITY;
    }
    // Lengths: around the present one, small ones, and around those that are compared with.
    let mut list: Vec<u128> = (0..=64).collect();
    for by in 1..=32 {
        list.extend([
            unknown.hint.saturating_sub(by),
            unknown.hint.saturating_add(by),
        ]);
    }
    let constants = problem.tape.steps.iter().enumerate();
    let constants = constants.filter(|&(at, _)| !problem.varies[at]);
    let constants = constants.filter_map(|(_, step)| problem.pool.value(step.expr));
    for constant in constants.take(64) {
        let near = [constant.wrapping_sub(1), constant, constant.wrapping_add(1)];
        list.extend(near);
    }
    list.retain(|&value| unknown.allows(value));
    list.sort_unstable_by_key(|value| value.abs_diff(unknown.hint));
    list.dedup();
    let mut row = [unknown.hint as u64; LANES];
    for (lane, value) in row.iter_mut().zip(list) {
        *lane = value as u64;
    }
    row
}

/// Computes what depends on a variable for all its values; false if that is too much.
pub(crate) fn fill(
    problem: &mut Problem<'_>,
    values: &Values,
    lanes: &mut Lanes,
    unknown: u32,
    row: &Row,
    budget: &mut Budget,
) -> bool {
    let dependents = problem.dependents(unknown);
    if dependents.len() > MOST_ROWS || !budget.spend(problem.lane_work(unknown)) {
        return false;
    }
    let step = problem.unknowns[unknown as usize].step;
    lanes.bind(&problem.tape, step, row, &dependents);
    lanes.compute(&problem.tape, values, &dependents);
    true
}

/// The lanes, after [`fill`], in which all conditions hold; those that do not depend on the variable
/// must hold.
pub(crate) fn solutions(problem: &mut Problem<'_>, lanes: &Lanes, unknown: u32) -> ByteSet {
    let mut all = ByteSet::ALL;
    for &step in problem.dependents(unknown).iter() {
        if problem.root_at[step as usize] != NONE {
            all = all.and(lanes.holds(step));
            if all.is_empty() {
                break;
            }
        }
    }
    all
}

/// Whether all conditions that are broken depend on the variable.
fn reaches_all(problem: &mut Problem<'_>, broken: &[u32], unknown: u32) -> bool {
    let dependents = problem.dependents(unknown);
    let step = problem.unknowns[unknown as usize].step;
    broken.iter().all(|&root| {
        let root = problem.roots[root as usize];
        root == step || dependents.binary_search(&root).is_ok()
    })
}

/// A change of one variable with which all conditions hold.
pub(crate) fn one(
    problem: &mut Problem<'_>,
    state: &State,
    lanes: &mut Lanes,
    budget: &mut Budget,
) -> Option<(u32, u128)> {
    let &first = state.broken.first()?;
    let mut best = None;
    let mut more = MORE;
    let variables = problem.variables(first);
    let mut order: Vec<u32> = variables.to_vec();
    if order.len() > MANY {
        // Along a checksum the least depends on the variables that come last. If none of these is the
        // check sum itself, it takes more than one.
        order.sort_by_key(|&at| Reverse(problem.unknowns[at as usize].step));
        order.truncate(LAST);
    }
    for unknown in order {
        if best.is_some() {
            if more == 0 {
                break;
            }
            more -= 1;
        }
        // To find what depends on a variable is work, too.
        if !budget.spend(problem.dependents(unknown).len()) {
            break;
        }
        if !reaches_all(problem, &state.broken, unknown) {
            continue;
        }
        let about = problem.unknowns[unknown as usize].clone();
        let row = values_to_try(problem, &about);
        if !fill(problem, &state.values, lanes, unknown, &row, budget) {
            if budget.is_spent() {
                break;
            }
            continue;
        }
        let found = solutions(problem, lanes, unknown);
        if !about.is_byte {
            let values = found.iter().map(|lane| u128::from(row[usize::from(lane)]));
            let allowed = values.filter(|&value| about.allows(value));
            if let Some(value) = allowed.min_by_key(|value| value.abs_diff(about.hint)) {
                // Changing a length changes more than a byte, so a byte is preferred.
                best = best.or(Some((u32::MAX, unknown, value)));
            }
            continue;
        }
        if let Some(value) = found.and(about.domain).best(about.hint as u8) {
            let reluctance = reluctance(value, about.hint as u8);
            if best.is_none_or(|(least, _, _)| reluctance < least) {
                best = Some((reluctance, unknown, value.into()));
            }
            if ByteSet::PRINTABLE.contains(value) {
                break;
            }
        }
    }
    best.map(|(_, unknown, value)| (unknown, value))
}

/// Decides a problem of two bytes, or of one, by trying all values.
pub(crate) fn pairs(
    problem: &mut Problem<'_>,
    state: &mut State,
    lanes: &mut Lanes,
    budget: &mut Budget,
) -> Pairs {
    let bytes = problem.unknowns.iter().all(|unknown| unknown.is_byte);
    if !bytes || problem.unknowns.is_empty() || problem.unknowns.len() > 2 {
        return Pairs::Open;
    }
    let inner = 0;
    let outer = problem.unknowns.len() as u32 - 1;
    let dependents = problem.dependents(inner);
    let outer_dependents = problem.dependents(outer);
    // Not all of it depends on both.
    let work = problem.lane_work(inner).min(1 + problem.lane_work(outer)) + outer_dependents.len();
    let pairs = problem.unknowns[outer as usize].open.count() as usize;
    if dependents.len() > MOST_ROWS || !budget.has(work * pairs) {
        return Pairs::Open;
    }
    let depends = |step: &u32| outer_dependents.binary_search(step).is_ok();
    let both: Vec<u32> = dependents.iter().copied().filter(depends).collect();
    let (near, far) = (
        problem.unknowns[inner as usize].clone(),
        problem.unknowns[outer as usize].clone(),
    );
    let mut order: Vec<u8> = far.open.iter().collect();
    order.sort_unstable_by_key(|&value| reluctance(value, far.hint as u8));
    if outer == inner {
        order = vec![far.hint as u8];
    }
    lanes.bind(&problem.tape, near.step, &IDENTITY, &dependents);
    lanes.compute(&problem.tape, &state.values, &dependents);
    let mut tried = Tried::default();
    for value in order {
        if !budget.spend(work) {
            return tried.best.map_or(Pairs::Open, Pairs::Found);
        }
        if outer != inner {
            state.assign(problem, &[(outer, value.into())]);
            lanes.compute(&problem.tape, &state.values, &both);
        }
        let allowed = outer == inner || far.domain.contains(value);
        let found = tried.conditions(problem, state, lanes, near.open);
        let found = found.and(near.domain);
        if let Some(byte) = found.best(near.hint as u8).filter(|_| allowed) {
            let pair = [(outer, value.into()), (inner, byte.into())];
            if ByteSet::PRINTABLE.contains(byte) && ByteSet::PRINTABLE.contains(value) {
                return Pairs::Found(pair);
            }
            tried.best.get_or_insert(pair);
        }
    }
    match tried.best {
        Some(pair) => Pairs::Found(pair),
        None if tried.open => Pairs::Undefined,
        None => Pairs::Excluded(tried.excluding),
    }
}

/// What was seen of the pairs so far.
#[derive(Default)]
struct Tried {
    best: Option<[(u32, u128); 2]>,
    /// Whether some pair is excluded by no condition.
    open: bool,
    /// Conditions that exclude all pairs but the open ones, by place.
    excluding: Vec<u32>,
}

impl Tried {
    /// The lanes in which all conditions hold. What excludes the others is noted.
    fn conditions(
        &mut self,
        problem: &Problem<'_>,
        state: &State,
        lanes: &Lanes,
        open: ByteSet,
    ) -> ByteSet {
        // The lanes in which a condition holds, and those in which it is defined and does not.
        let judged = |root: u32| {
            let step = problem.roots[root as usize];
            if lanes.varies(step) {
                let (holds, undefined) = (lanes.holds(step), lanes.undefined(step));
                return (holds, holds.or(undefined).complement());
            }
            match state.values.get(step) {
                Some(1) => (ByteSet::ALL, ByteSet::NONE),
                Some(_) => (ByteSet::NONE, ByteSet::ALL),
                None => (ByteSet::NONE, ByteSet::NONE),
            }
        };
        let (mut left, mut holding) = (open, open);
        for &root in &self.excluding {
            let (holds, fails) = judged(root);
            left = left.and(fails.complement());
            holding = holding.and(holds);
            if left.is_empty() {
                // What was noted before suffices.
                return ByteSet::NONE;
            }
        }
        for root in 0..problem.roots.len() as u32 {
            if self.excluding.contains(&root) {
                continue;
            }
            let (holds, fails) = judged(root);
            holding = holding.and(holds);
            if !left.and(fails).is_empty() {
                self.excluding.push(root);
                left = left.and(fails.complement());
            }
        }
        self.open |= !left.is_empty();
        holding
    }
}
