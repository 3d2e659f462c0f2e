//! Ways on from branches that cannot matter to a change (eXpress, section 4).
//!
//! As long as neither version has executed a changed statement, both do the same. A way on after
//! which neither can execute one makes no difference then (B_E+I of the paper, for before the state
//! is infected). If, besides, neither can have executed one when it comes to the branch, the way
//! never makes a difference (B_P, for after infection).
//!
//! Beyond the paper, both versions are looked at: deleted code is found where it was, in old. And
//! each change is kept apart, so that one can ask about any of them.

use beagle_program::{CallGraph, Op, Order, Program, StmtId};
use rustc_hash::FxHashMap;

use crate::comparison::{Comparison, Subject};

/// What can come to which change, in both versions.
#[derive(Debug)]
pub struct Irrelevance<'a> {
    old: Version<'a>,
    new: Version<'a>,
    /// By change: whether it may be anywhere, as it is no statement.
    anywhere: Vec<bool>,
    is_any_anywhere: bool,
}

/// A way on from a place that both versions have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Way {
    /// The statement in old.
    pub old: StmtId,
    /// The statement in new.
    pub new: StmtId,
    /// Which successor of the branch or switch is taken; `None` for whatever follows.
    pub to: Option<u32>,
}

/// What has happened before a way is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// The change cannot have had an effect yet.
    BeforeInfection,
    /// It may have had one.
    AfterInfection,
}

/// How many ways on from branches cannot matter to any change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Ways on from branches that both versions have.
    pub ways: usize,
    /// Those that cannot matter before infection.
    pub before_infection: usize,
    /// Those that cannot matter after it, either.
    pub after_infection: usize,
}

#[derive(Debug)]
struct Version<'a> {
    program: &'a Program,
    order: Order,
    /// The changes that branches are part of.
    branches: FxHashMap<StmtId, Vec<usize>>,
}

impl<'a> Irrelevance<'a> {
    /// For two versions, with their call graphs.
    pub fn of(
        old: (&'a Program, &CallGraph),
        new: (&'a Program, &CallGraph),
        comparison: &Comparison,
    ) -> Self {
        let count = comparison.changes.len();
        let (in_old, in_new) = comparison.changed_statements(old.0, new.0);
        let mut anywhere = vec![true; count];
        for &(_, change) in in_old.iter().chain(&in_new) {
            anywhere[change] = false;
        }
        for (change, anywhere) in comparison.changes.iter().zip(&mut anywhere) {
            // A variable that no statement names is not used.
            *anywhere &= !matches!(change.subject, Subject::Global(_));
        }
        let version = |(program, calls): (&'a Program, &CallGraph), marks: Vec<_>| {
            let mut branches: FxHashMap<StmtId, Vec<usize>> = FxHashMap::default();
            for &(stmt, change) in &marks {
                if program.block(program.stmt(stmt).block).terminator() == stmt {
                    branches.entry(stmt).or_default().push(change);
                }
            }
            Version {
                program,
                order: Order::of(program, calls, marks, count),
                branches,
            }
        };
        Self {
            old: version(old, in_old),
            new: version(new, in_new),
            is_any_anywhere: anywhere.contains(&true),
            anywhere,
        }
    }

    /// Whether taking a way cannot matter to a change, or to all changes if none is given.
    pub fn is_irrelevant(&self, way: Way, phase: Phase, change: Option<usize>) -> bool {
        let anywhere = match change {
            Some(change) => self.anywhere[change],
            None => self.is_any_anywhere,
        };
        !anywhere
            && self.old.is_irrelevant(way.old, way.to, phase, change)
            && self.new.is_irrelevant(way.new, way.to, phase, change)
    }

    /// Counts the ways that cannot matter to any change.
    pub fn counts(&self, comparison: &Comparison) -> Counts {
        let numbers = &comparison.stmts;
        let mut old = vec![None; numbers.shared as usize];
        for (stmt, &number) in (0..).map(StmtId).zip(&numbers.old) {
            if let Some(old) = old.get_mut(number as usize) {
                *old = Some(stmt);
            }
        }
        let mut counts = Counts::default();
        for (new, &number) in (0..).map(StmtId).zip(&numbers.new) {
            let Some(&Some(old)) = old.get(number as usize) else {
                continue;
            };
            let program = self.new.program;
            if !matches!(program.stmt(new).op, Op::Branch | Op::Switch) {
                continue;
            }
            let sides = program.block(program.stmt(new).block).successors.len();
            for to in (0..sides as u32).map(Some) {
                let way = Way { old, new, to };
                let is = |phase| usize::from(self.is_irrelevant(way, phase, None));
                counts.ways += 1;
                counts.before_infection += is(Phase::BeforeInfection);
                counts.after_infection += is(Phase::AfterInfection);
            }
        }
        counts
    }
}

impl Version<'_> {
    fn is_irrelevant(
        &self,
        stmt: StmtId,
        to: Option<u32>,
        phase: Phase,
        change: Option<usize>,
    ) -> bool {
        let excludes = |marks: &beagle_program::Marks| match change {
            Some(change) => !marks.contains(change),
            None => marks.is_empty(),
        };
        // Where a changed branch leads to is itself the change.
        let own = self.branches.get(&stmt).is_some_and(|own| match change {
            Some(change) => own.contains(&change),
            None => true,
        });
        let after = match to {
            Some(to) => self.order.after_edge(self.program, stmt, to),
            None => Some(self.order.after(self.program, stmt)),
        };
        !own && after.is_some_and(excludes)
            && (phase == Phase::BeforeInfection || excludes(self.order.before(self.program, stmt)))
    }
}
