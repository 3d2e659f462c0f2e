//! Where the search is: values of all steps, which conditions do not hold, and how far they are
//! from it.

use crate::clock::Moment;

use super::cost;
use super::problem::{NONE, Problem, drain_marks};
use crate::tape::Values;

/// How much work may be done.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    left: u64,
    deadline: Moment,
    unchecked: u64,
}

/// After so much work the clock is looked at.
const CHECK: u64 = 2_000;

impl Budget {
    /// So many steps of work until a deadline.
    pub(crate) fn new(steps: u64, deadline: Moment) -> Self {
        Self {
            left: steps,
            deadline,
            // The first piece of work looks at the clock.
            unchecked: CHECK,
        }
    }

    /// Takes off work about to be done; false if there is nothing left.
    pub(crate) fn spend(&mut self, steps: usize) -> bool {
        let steps = steps as u64 + 1;
        if self.left < steps {
            self.left = 0;
            return false;
        }
        self.left -= steps;
        self.unchecked += steps;
        if self.unchecked >= CHECK {
            self.unchecked = 0;
            if Moment::now() >= self.deadline {
                self.left = 0;
                return false;
            }
        }
        true
    }

    /// Takes off half of what is left.
    pub(crate) fn half(&mut self) -> Self {
        self.left -= self.left / 2;
        self.clone()
    }

    /// Allows so much work from now on; the deadline stays.
    pub(crate) fn refill(&mut self, steps: u64) {
        self.left = steps;
        self.unchecked = CHECK;
    }

    /// Whether so much is left.
    pub(crate) fn has(&self, steps: usize) -> bool {
        self.left >= steps as u64
    }

    /// Whether nothing is left.
    pub(crate) fn is_spent(&self) -> bool {
        self.left == 0
    }
}

/// Values for all steps.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// The values.
    pub values: Values,
    /// The conditions that do not hold, by place.
    pub broken: Vec<u32>,
    /// For each condition its place in `broken`.
    place: Vec<u32>,
    /// How important each condition is.
    pub weights: Vec<u32>,
    costs: Vec<u32>,
    /// The sum of the distances of the broken conditions by their weights.
    pub score: u64,
    log: Vec<(u32, Option<u128>)>,
    /// How much work the last assignment was.
    pub work: usize,
    marks: Vec<u64>,
}

impl State {
    /// Starts at the hint of a new problem.
    pub(crate) fn begin(&mut self, problem: &Problem<'_>) {
        self.weights.clear();
        self.weights.resize(problem.roots.len(), 1);
        self.start(problem);
    }

    /// Starts at the hint; with values of the domain where the hint is outside.
    pub(crate) fn start(&mut self, problem: &Problem<'_>) {
        let starts = problem.unknowns.iter().map(|unknown| {
            let byte = unknown.domain.best(unknown.hint as u8);
            match byte {
                Some(byte) if unknown.is_byte => byte.into(),
                _ => unknown.hint,
            }
        });
        let mut starts = starts.collect::<Vec<u128>>().into_iter();
        // Variables of the tape are asked for in the order of the unknowns.
        problem
            .tape
            .run(&mut self.values, |_| starts.next().unwrap_or(0));
        self.log.clear();
        self.marks.clear();
        self.marks.resize(problem.tape.len() / 64 + 1, 0);
        self.broken.clear();
        self.place.clear();
        self.place.resize(problem.roots.len(), NONE);
        self.costs.clear();
        self.costs.resize(problem.roots.len(), 0);
        self.score = 0;
        for root in 0..problem.roots.len() as u32 {
            self.update(problem, root);
        }
    }

    /// The value of a variable.
    pub(crate) fn value(&self, problem: &Problem<'_>, unknown: u32) -> u128 {
        let step = problem.unknowns[unknown as usize].step;
        self.values.get(step).unwrap_or(0)
    }

    /// Sets variables and computes what depends on them.
    pub(crate) fn assign(&mut self, problem: &mut Problem<'_>, changes: &[(u32, u128)]) {
        self.log.clear();
        self.work = 0;
        for &(unknown, value) in changes {
            let step = problem.unknowns[unknown as usize].step;
            self.log.push((step, self.values.get(step)));
            self.values.set(step, value);
        }
        if let &[(unknown, _)] = changes {
            let dependents = problem.dependents(unknown);
            for &step in dependents.iter() {
                self.compute(problem, step);
            }
        } else {
            let mut marks = std::mem::take(&mut self.marks);
            for &(unknown, _) in changes {
                for &step in problem.dependents(unknown).iter() {
                    marks[step as usize / 64] |= 1 << (step % 64);
                }
            }
            drain_marks(&mut marks, |step| self.compute(problem, step));
            self.marks = marks;
        }
        self.refresh(problem);
    }

    fn compute(&mut self, problem: &Problem<'_>, step: u32) {
        self.log.push((step, self.values.get(step)));
        self.work += usize::from(problem.work[step as usize]);
        problem.tape.step(&mut self.values, step as usize);
    }

    /// Takes back the last assignment.
    pub(crate) fn undo(&mut self, problem: &Problem<'_>) {
        // Backwards, because a variable may have been set twice.
        for &(step, value) in self.log.iter().rev() {
            self.values.restore(step, value);
        }
        self.refresh(problem);
        self.log.clear();
    }

    fn refresh(&mut self, problem: &Problem<'_>) {
        for at in 0..self.log.len() {
            let root = problem.root_at[self.log[at].0 as usize];
            if root != NONE {
                self.update(problem, root);
            }
        }
    }

    fn update(&mut self, problem: &Problem<'_>, root: u32) {
        let at = root as usize;
        let cost = cost::of(&problem.tape, &self.values, problem.roots[at], true);
        let weight = u64::from(self.weights[at]);
        self.score -= u64::from(self.costs[at]) * weight;
        self.score += u64::from(cost) * weight;
        self.costs[at] = cost;
        match (cost, self.place[at]) {
            (0, NONE) => {}
            (0, place) => {
                self.broken.swap_remove(place as usize);
                if let Some(&moved) = self.broken.get(place as usize) {
                    self.place[moved as usize] = place;
                }
                self.place[at] = NONE;
            }
            (_, NONE) => {
                self.place[at] = self.broken.len() as u32;
                self.broken.push(root);
            }
            _ => {}
        }
    }

    /// Makes the broken conditions more important.
    pub(crate) fn stress(&mut self) {
        for &root in &self.broken {
            self.weights[root as usize] += 1;
            self.score += u64::from(self.costs[root as usize]);
        }
    }

    /// Makes all conditions equally important again.
    pub(crate) fn relax(&mut self) {
        self.weights.fill(1);
        self.score = self.costs.iter().map(|&cost| u64::from(cost)).sum();
    }
}
