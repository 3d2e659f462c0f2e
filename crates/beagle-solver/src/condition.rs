//! What had to hold for a run to go the way it went.

use beagle_trace::event::Site;
use beagle_trace::node::NodeId;
use beagle_trace::op::Op;
use beagle_trace::{AssumeReason, Cases, Event, ObjectKind, Trace};

use crate::import::Importer;
use crate::pool::{Expr, Pool};

/// A condition that held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// One bit that was 1.
    pub expr: Expr,
    /// The word of the trace at which its event starts.
    pub word: usize,
    /// The statement.
    pub site: Site,
    /// What decided.
    pub kind: ConditionKind,
}

/// What a condition comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionKind {
    /// A branch, and the side it took.
    Branch {
        /// Whether its condition held.
        taken: bool,
    },
    /// A switch on a value.
    Switch {
        /// The value.
        value: Expr,
        /// 0 for the default, else the number of the case from 1.
        case: u32,
        /// Whether the cases are known; if not, the value is taken to be what it was.
        known: bool,
    },
    /// Something was taken to be what it was.
    Assume {
        /// What it is about.
        reason: AssumeReason,
    },
    /// An access stayed inside its object.
    Bounds {
        /// What the object is.
        object: ObjectKind,
        /// Whether it was a store.
        store: bool,
    },
}

/// The conditions of a run that depend on the input, in order.
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    /// The conditions.
    pub list: Vec<Condition>,
    /// How many could not be brought into the pool, which makes the list weaker than the run.
    pub lost: usize,
}

impl Conditions {
    /// Reads them from a trace. `cases` gives the values of the cases of a switch, the first first.
    pub fn of_trace(
        pool: &mut Pool,
        importer: &mut Importer<'_>,
        trace: &Trace<'_>,
        cases: Cases<'_>,
    ) -> Self {
        let mut reader = Reader {
            pool,
            importer,
            trace,
            cases,
            all: Self::default(),
        };
        let mut events = trace.events();
        loop {
            let word = events.position();
            let Some(event) = events.next() else { break };
            let Some((site, made)) = reader.event(&event) else {
                continue;
            };
            match made {
                // A constant holds for every input.
                Some((expr, kind)) if reader.pool.value(expr) != Some(1) => {
                    reader.all.list.push(Condition {
                        expr,
                        word,
                        site,
                        kind,
                    });
                }
                Some(_) => {}
                None => reader.all.lost += 1,
            }
        }
        reader.all
    }
}

struct Reader<'a, 'b, 'c> {
    pool: &'a mut Pool,
    importer: &'a mut Importer<'b>,
    trace: &'a Trace<'c>,
    cases: Cases<'a>,
    all: Conditions,
}

/// The condition of an event, unless it was lost.
type Made = Option<(Expr, ConditionKind)>;

impl Reader<'_, '_, '_> {
    /// The statement and the condition of an event; `None` if it has none.
    fn event(&mut self, event: &Event<'_>) -> Option<(Site, Made)> {
        Some(match *event {
            Event::Branch {
                site,
                taken,
                node: Some(node),
            } => (site, self.branch(node, taken)),
            Event::Switch {
                site,
                case,
                node: Some(node),
            } => (site, self.switch(site, node, case)),
            Event::Assume { site, reason, node } => {
                let expr = self.importer.expr(self.pool, node);
                (site, expr.map(|e| (e, ConditionKind::Assume { reason })))
            }
            Event::Bounds {
                site,
                bytes,
                object,
                store,
                address,
                base,
                size,
            } => {
                let at = self.trace.node(address)?.value();
                let inside = at
                    .checked_sub(base.into())
                    .is_some_and(|offset| offset + u128::from(bytes) <= size.into());
                // An access that went wrong restricts nothing that follows.
                inside.then_some(())?;
                let room = size - u64::from(bytes) + 1;
                let expr = self.bounds(address, base, room);
                let kind = ConditionKind::Bounds { object, store };
                (site, expr.map(|expr| (expr, kind)))
            }
            _ => return None,
        })
    }

    fn branch(&mut self, node: NodeId, taken: bool) -> Made {
        let expr = self.importer.expr(self.pool, node)?;
        let expr = if taken { expr } else { self.pool.not(expr) };
        Some((expr, ConditionKind::Branch { taken }))
    }

    fn switch(&mut self, site: Site, node: NodeId, case: u32) -> Made {
        let value = self.importer.expr(self.pool, node)?;
        let width = self.pool.width(value);
        let cases = (self.cases)(site);
        let known = cases.is_some();
        let expr = match cases {
            Some(cases) if case == 0 => {
                let mut all = self.pool.truth(true);
                for label in cases {
                    let label = self.pool.constant(width, label);
                    let differs = self.pool.ne(value, label);
                    all = self.pool.op(Op::And, 1, &[all, differs]);
                }
                all
            }
            Some(cases) => {
                let label = *cases.get(case as usize - 1)?;
                let label = self.pool.constant(width, label);
                self.pool.eq(value, label)
            }
            None => {
                let was = self.trace.node(node)?.value();
                let was = self.pool.constant(width, was);
                self.pool.eq(value, was)
            }
        };
        Some((expr, ConditionKind::Switch { value, case, known }))
    }

    fn bounds(&mut self, address: NodeId, base: u64, room: u64) -> Option<Expr> {
        let address = self.importer.expr(self.pool, address)?;
        let base = self.pool.constant(64, base.into());
        let offset = self.pool.op(Op::Sub, 64, &[address, base]);
        let room = self.pool.constant(64, room.into());
        Some(self.pool.op(Op::Ult, 1, &[offset, room]))
    }
}
