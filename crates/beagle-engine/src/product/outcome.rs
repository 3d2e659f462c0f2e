//! Questions about how a run turns out: that the versions write something different or end differently, and
//! that one does what it must not.

use beagle_solver::Expr;
use rustc_hash::FxHashSet;

use super::{Builder, streams};
use crate::question::{Aim, Edge, From, Question};
use crate::twin::Side;

impl Builder<'_> {
    /// Asks that what is written differs.
    pub(super) fn outputs(&mut self) {
        let mut asked = FxHashSet::default();
        let mut ask = |builder: &mut Self, expr: Expr, old: Option<usize>, new: Option<usize>| {
            let place = |side, word: Option<usize>| builder.done.get(&(side, word?)).copied();
            let (a, b) = (place(Side::Old, old), place(Side::New, new));
            let Some((prefix, step)) = a.max(b) else {
                return;
            };
            if !asked.insert(expr) {
                return;
            }
            builder.product.questions.push(Question::new(
                Aim::Output,
                (prefix, step),
                vec![expr],
                From::Both,
                builder.edge(0, None),
            ));
        };
        let destinations: Vec<_> = self.old.streams.all.keys().cloned().collect();
        for destination in destinations {
            let (Some(old), Some(new)) = (
                self.old.streams.all.get(&destination),
                self.new.streams.all.get(&destination),
            ) else {
                continue;
            };
            for found in streams::disparities(self.pool, old, new) {
                ask(self, found.expr, found.old, found.new);
            }
        }
        let ends = (self.old.end, self.new.end);
        if ends.0.map(|end| end.1) != ends.1.map(|end| end.1) {
            let (old, new) = ends;
            let expr = match (old, new) {
                (Some((_, x)), Some((_, y))) => Some(self.status_differs(x, y)),
                (Some((_, x)), None) | (None, Some((_, x))) => {
                    // The other status does not depend on the input, and is the same now.
                    self.product.path.value(self.pool, x).map(|now| {
                        let now = self.pool.constant(self.pool.width(x), now);
                        self.status_differs(x, now)
                    })
                }
                (None, None) => None,
            };
            if let Some(expr) = expr {
                ask(self, expr, old.map(|end| end.0), new.map(|end| end.0));
            }
        }
    }

    /// Only the lowest byte of a status is seen from outside.
    fn status_differs(&mut self, a: Expr, b: Expr) -> Expr {
        let (a, b) = (self.pool.extract(a, 0, 8), self.pool.extract(b, 0, 8));
        self.pool.ne(a, b)
    }

    /// Asks for what one version must not do while the other does not do it: because it does not
    /// compute the same, or because it has a condition before that.
    pub(super) fn faults(&mut self) {
        for side in Side::BOTH {
            let (traced, other) = match side {
                Side::Old => (self.old, self.new),
                Side::New => (self.new, self.old),
            };
            let shared: FxHashSet<Expr> = other.faults.iter().map(|fault| fault.expr).collect();
            let mut held = self.product.held.iter();
            let guard = held.position(|held| held.guards(side.other()));
            for fault in &traced.faults {
                let Some(&(prefix, step)) = self.done.get(&(side, fault.word)) else {
                    continue;
                };
                let is_guarded = guard.is_some_and(|guard| guard < prefix);
                if shared.contains(&fault.expr) && !is_guarded {
                    continue;
                }
                self.product.questions.push(Question::new(
                    Aim::Fault,
                    (prefix, step),
                    vec![fault.expr],
                    From::One(side),
                    Edge {
                        site: fault.site,
                        to: None,
                        constant: None,
                        mark: 0,
                        level: 0,
                        caller: 0,
                    },
                ));
            }
        }
    }
}
