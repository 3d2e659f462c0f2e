//! The SAT solver with the gates that it knows.

use crate::clock::Moment;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustsat::solvers::{
    ControlSignal, LimitConflicts, PhaseLit, Solve, SolveIncremental, SolverResult, Terminate,
};
use rustsat::types::{Lit, TernaryVal};
use rustsat_cadical::CaDiCaL;

use crate::blast::{Bit, Gate, Gates};

/// What the solver is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effort {
    /// For many small questions: nothing that looks at all clauses.
    Quick,
    /// For one that is hard.
    Thorough,
}

/// What is switched off for quick answers. Each of these visits all clauses now and then, of which
/// most are of no concern to the question.
const SLOW: &[&str] = &[
    "inprocessing",
    "inprobing",
    "preprocesslight",
    "elim",
    "lucky",
    "walk",
    "probe",
    "compact",
];

/// So many gates are made known before the clock is looked at.
const GATES_PER_CHECK: usize = 1 << 10;

/// What the solver said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// There is a model.
    Yes,
    /// These assumptions conflict.
    No(Vec<Bit>),
    /// It gave up.
    Unknown,
}

/// A moment that the solver's own thread of control looks at.
#[derive(Debug)]
struct Deadline {
    /// As [`Moment::nanoseconds`] has it.
    at: AtomicU64,
}

impl Deadline {
    fn is_over(&self) -> bool {
        Moment::now().nanoseconds() >= self.at.load(Ordering::Relaxed)
    }
}

/// A solver with gates.
pub(super) struct Engine {
    effort: Effort,
    solver: CaDiCaL<'static, 'static>,
    deadline: Arc<Deadline>,
    /// By gate: the number of its variable in the solver plus 1, or 0.
    numbers: Vec<u32>,
    /// The gates that the solver knows.
    loaded: Vec<u32>,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let loaded = self.loaded.len();
        formatter
            .debug_struct("Engine")
            .field("loaded", &loaded)
            .finish()
    }
}

impl Engine {
    /// A solver that knows no gates.
    pub(super) fn new(effort: Effort) -> Self {
        let deadline = Arc::new(Deadline {
            at: AtomicU64::new(u64::MAX),
        });
        Self {
            effort,
            solver: solver(effort, &deadline),
            deadline,
            numbers: Vec::new(),
            loaded: Vec::new(),
        }
    }

    /// Forgets all gates.
    pub(super) fn restart(&mut self, effort: Effort) {
        self.effort = effort;
        self.solver = solver(effort, &self.deadline);
        for gate in self.loaded.drain(..) {
            self.numbers[gate as usize] = 0;
        }
    }

    /// What it is set to.
    pub(super) fn effort(&self) -> Effort {
        self.effort
    }

    /// How many gates it knows.
    pub(super) fn loaded(&self) -> usize {
        self.loaded.len()
    }

    /// How many bytes it takes, about.
    pub(super) fn memory(&self) -> usize {
        // A gate has three to six clauses of up to three literals, each watched twice.
        self.loaded.len() * 400 + self.numbers.capacity() * size_of::<u32>()
    }

    /// When to give up.
    pub(super) fn set_deadline(&self, deadline: Moment) {
        let at = deadline.nanoseconds();
        self.deadline.at.store(at, Ordering::Relaxed);
    }

    /// Whether the time is up.
    fn is_late(&self) -> bool {
        self.deadline.is_over()
    }

    /// Makes gates known, operands first; whether there was time for it.
    pub(super) fn load(&mut self, gates: &Gates, numbers: impl Iterator<Item = usize>) -> bool {
        self.numbers.resize(gates.len(), 0);
        for (count, gate) in numbers.enumerate() {
            if count % GATES_PER_CHECK == 0 && self.is_late() {
                return false;
            }
            if self.numbers[gate] == 0 {
                self.loaded.push(gate as u32);
                self.numbers[gate] = self.loaded.len() as u32;
                self.add(gate, gates.get(gate));
            }
        }
        true
    }

    fn add(&mut self, gate: usize, content: Gate) {
        let out = Bit::of_gate(gate);
        match content {
            Gate::Zero => self.clause(&[!out]),
            // So that the solver knows the variable even if it is in no clause.
            Gate::Input(..) => self.clause(&[out, !out]),
            Gate::And(a, b) => {
                self.clause(&[!out, a]);
                self.clause(&[!out, b]);
                self.clause(&[out, !a, !b]);
            }
            Gate::Xor(a, b) => {
                self.clause(&[!out, a, b]);
                self.clause(&[!out, !a, !b]);
                self.clause(&[out, !a, b]);
                self.clause(&[out, a, !b]);
            }
            Gate::Mux(choice, a, b) => {
                self.clause(&[!choice, !a, out]);
                self.clause(&[!choice, a, !out]);
                self.clause(&[choice, !b, out]);
                self.clause(&[choice, b, !out]);
                // Not needed, but they tell what follows where the choice is open.
                self.clause(&[!a, !b, out]);
                self.clause(&[a, b, !out]);
            }
            Gate::Majority(a, b, c) => {
                for (a, b) in [(a, b), (a, c), (b, c)] {
                    self.clause(&[!a, !b, out]);
                    self.clause(&[a, b, !out]);
                }
            }
        }
    }

    fn clause(&mut self, bits: &[Bit]) {
        let mut clause = [Lit::positive(0); 3];
        for (literal, &bit) in clause.iter_mut().zip(bits) {
            *literal = self.literal(bit);
        }
        // This fails only if there is no memory, of which the next answer will tell.
        let clause: &rustsat::types::Cl = rustsat::types::Cl::new(&clause[..bits.len()]);
        let _ = self.solver.add_clause_ref(clause);
    }

    fn literal(&self, bit: Bit) -> Lit {
        // All that is asked for is loaded before.
        let number = self.numbers[bit.gate()].saturating_sub(1);
        Lit::new(number, bit.is_negative())
    }

    /// Prefers this bit to be 1.
    pub(super) fn prefer(&mut self, bit: Bit) {
        let literal = self.literal(bit);
        let _ = self.solver.phase_lit(literal);
    }

    /// Looks for a model in which all these bits are 1, with at most so many conflicts.
    pub(super) fn solve(&mut self, assumptions: &[Bit], conflicts: Option<u32>) -> Answer {
        let literals: Vec<Lit> = assumptions.iter().map(|&bit| self.literal(bit)).collect();
        if self.solver.limit_conflicts(conflicts).is_err() {
            return Answer::Unknown;
        }
        match self.solver.solve_assumps(&literals) {
            Ok(SolverResult::Sat) => Answer::Yes,
            Ok(SolverResult::Unsat) => match self.solver.core() {
                Ok(core) => {
                    let gate = |literal: &Lit| {
                        let gate = self.loaded[literal.vidx()] as usize;
                        // The solver gives the negations.
                        Bit::of_gate(gate).negate_if(literal.is_pos())
                    };
                    Answer::No(core.iter().map(gate).collect())
                }
                Err(_) => Answer::Unknown,
            },
            _ => Answer::Unknown,
        }
    }

    /// The value of a bit in the model, after [`Answer::Yes`].
    pub(super) fn value(&self, bit: Bit) -> bool {
        let value = self.solver.lit_val(self.literal(bit));
        matches!(value, Ok(TernaryVal::True))
    }
}

fn solver(effort: Effort, deadline: &Arc<Deadline>) -> CaDiCaL<'static, 'static> {
    let mut solver = CaDiCaL::default();
    let mut set = |name: &str, value: i32| {
        // An option that this version does not have changes nothing but the time.
        let _ = solver.set_option(name, value);
    };
    set("profile", 0);
    if effort == Effort::Quick {
        for option in SLOW {
            set(option, 0);
        }
    }
    let deadline = Arc::clone(deadline);
    solver.attach_terminator(move || {
        if deadline.is_over() {
            ControlSignal::Terminate
        } else {
            ControlSignal::Continue
        }
    });
    solver
}
