//! Single runs of both versions, for whoever wants to know all about one input and does not explore.

use std::time::{Duration, Instant};

use beagle_executor::{Captured, Executor, ExecutorError, Outcome};
use beagle_solver::{Answer, Budget, Expr, Path, Pool, Solver};
use beagle_trace::{Input, Limits, Malformed, Stop};

use crate::engine::run_both;
use crate::product::{Product, Within};
use crate::steps::{self, Step};
use crate::traced::Traced;
use crate::twin::{Side, Twin};
use crate::walk::{Met, walk};

/// The two traced versions, and what was asked about their runs.
pub struct Probe<'a> {
    /// The versions.
    pub twin: &'a Twin<'a>,
    /// The expressions of all runs.
    pub pool: Pool,
    executors: [Executor; 2],
    solver: Solver,
}

/// What keeps a run from being looked at.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// It could not be made.
    #[error(transparent)]
    Run(#[from] ExecutorError),
    /// The program has destroyed what was recorded.
    #[error("what was recorded of the run of {which} cannot be read: {error}")]
    Trace {
        /// Old or new.
        which: &'static str,
        /// What is wrong with it.
        error: Malformed,
    },
}

/// One run of both versions.
pub struct Probed {
    /// The input.
    pub input: Input,
    /// What old left.
    pub old: Traced,
    /// What new left.
    pub new: Traced,
    /// The steps of both in one order.
    pub order: Vec<Met>,
    /// How they ended.
    pub outcomes: [Outcome; 2],
    /// Why recording stopped before a program ended, if it did.
    pub stops: [Option<Stop>; 2],
}

impl Probed {
    /// What one version left.
    pub fn traced(&self, side: Side) -> &Traced {
        match side {
            Side::Old => &self.old,
            Side::New => &self.new,
        }
    }
}

/// What one version did with an input, without its expressions.
pub struct Course {
    /// Its steps.
    pub steps: Vec<Step>,
    /// How it ended.
    pub outcome: Outcome,
    /// What it wrote to standard output and to standard error.
    pub written: [Captured; 2],
    /// Why recording stopped before it ended, if it did.
    pub stop: Option<Stop>,
}

impl<'a> Probe<'a> {
    /// For two traced versions.
    pub fn new(twin: &'a Twin<'a>, old: Executor, new: Executor) -> Self {
        Self {
            twin,
            pool: Pool::new(),
            executors: [old, new],
            solver: Solver::new(Budget::default()),
        }
    }

    /// Runs both versions on an input.
    pub fn run(&mut self, input: &Input, limits: &Limits) -> Result<Probed, ProbeError> {
        let (twin, pool) = (self.twin, &mut self.pool);
        let (old, new) = run_both(&mut self.executors, input, limits)?;
        let damaged = |which| move |error| ProbeError::Trace { which, error };
        let old_trace = old.trace.map_err(damaged("old"))?;
        let new_trace = new.trace.map_err(damaged("new"))?;
        let old_read = Traced::read(pool, &old_trace, input, &|site| twin.old.cases(site));
        let new_read = Traced::read(pool, &new_trace, input, &|site| twin.new.cases(site));
        let order = walk(twin, old_read.steps(), new_read.steps());
        Ok(Probed {
            input: input.clone(),
            outcomes: [old.outcome, new.outcome],
            stops: [old_trace.stop(), new_trace.stop()],
            old: old_read,
            new: new_read,
            order,
        })
    }

    /// A run as one path of conditions. Of a long one that takes time.
    pub fn product(&mut self, run: &Probed) -> Product {
        let both = (&run.old, &run.new);
        let within = Within::default();
        Product::of_walk(
            &mut self.pool,
            self.twin,
            &run.input,
            within,
            both,
            &run.order,
        )
    }

    /// Runs both versions on an input, and keeps only which way they went.
    pub fn courses(&mut self, input: &Input, limits: &Limits) -> Result<[Course; 2], ProbeError> {
        let (old, new) = run_both(&mut self.executors, input, limits)?;
        let course = |run: beagle_executor::Run<'_>, which| {
            let trace = run
                .trace
                .map_err(|error| ProbeError::Trace { which, error })?;
            Ok::<_, ProbeError>(Course {
                steps: steps::steps(&trace),
                outcome: run.outcome,
                stop: trace.stop(),
                written: [run.stdout, run.stderr],
            })
        };
        Ok([course(old, "old")?, course(new, "new")?])
    }

    /// Looks for an input near that of the path for which its first conditions hold, and what is
    /// asked for besides.
    pub fn ask(
        &mut self,
        path: &mut Path,
        prefix: usize,
        asked: &[Expr],
        (time, deadline): (Duration, Instant),
    ) -> Option<Input> {
        self.solver.set_budget(Budget {
            question: time,
            deadline: Some(deadline),
        });
        match self.solver.ask(&mut self.pool, path, prefix, asked) {
            Answer::Satisfiable(model) => model.apply(&self.pool, path.hint()).ok(),
            Answer::Unsatisfiable(_) | Answer::Unknown(_) => None,
        }
    }
}
