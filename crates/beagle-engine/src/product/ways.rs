//! The other ways on from where control went one way.

use beagle_solver::{ConditionKind, Expr};
use beagle_trace::event::{MODEL_SITES, Site};

use super::{Builder, From, Question, Side};
use crate::question::{Aim, Edge};

/// Most alternatives of one switch that are asked for.
const MOST_CASES: usize = 64;

/// Another way on, and what it takes.
struct Way {
    aim: Aim,
    asked: Vec<Expr>,
    edge: Edge,
}

/// Whether it is a condition by which control goes one way or another.
fn decides(kind: &ConditionKind) -> bool {
    matches!(
        kind,
        ConditionKind::Branch { .. } | ConditionKind::Switch { .. }
    )
}

impl Builder<'_> {
    /// Asks for the other ways on where a change decides by what the run settled before: another byte may be what
    /// this one cannot be.
    pub(super) fn ask_settled(&mut self, from: From, site: Site, kind: &ConditionKind, expr: Expr) {
        if self.new_alone
            || !decides(kind)
            || !self.is_changed(site)
            || !self.settled.insert((site, expr))
        {
            return;
        }
        let cut = self.product.cut;
        for Way { aim, asked, edge } in self.ways(from, site, kind, expr) {
            let question = self.question(aim, asked, from, edge);
            self.product.questions.push(Question {
                is_settled: true,
                ..question
            });
        }
        self.product.cut = cut;
    }

    /// Asks for the other ways on from here.
    pub(super) fn flips(&mut self, from: From, site: Site, kind: &ConditionKind, expr: Expr) {
        let decides = decides(kind);
        for way in self.ways(from, site, kind, expr) {
            if decides {
                self.ask_ahead(&way);
            }
            let Way { aim, asked, edge } = way;
            if decides && let [only] = asked[..] {
                let next = self.product.questions.len();
                self.asked.entry(only).or_insert(next);
            }
            let question = self.question(aim, asked, from, edge);
            self.product.questions.push(question);
        }
    }

    /// Where a branch decides by what an earlier one decided by, it is there that it can be turned around.
    pub(super) fn flips_ahead(&mut self, from: From, site: Site, kind: &ConditionKind, expr: Expr) {
        if decides(kind) && site < MODEL_SITES && self.ahead.insert((site, expr)) {
            let cut = self.product.cut;
            for way in self.ways(from, site, kind, expr) {
                self.ask_ahead(&way);
            }
            self.product.cut = cut;
        }
    }

    /// Asks for a way on where the same was first asked.
    fn ask_ahead(&mut self, way: &Way) {
        let [only] = &way.asked[..] else { return };
        let is_own = way.edge.site < MODEL_SITES && !self.new_alone;
        let Some(&first) = self.asked.get(only).filter(|_| is_own) else {
            return;
        };
        let first = self.product.questions[first].clone();
        if first.edge.plain() != way.edge.plain() {
            self.product.questions.push(Question {
                edge: way.edge,
                is_ahead: true,
                ..first
            });
        }
    }

    /// The other ways on from here.
    fn ways(&mut self, from: From, site: Site, kind: &ConditionKind, expr: Expr) -> Vec<Way> {
        let here = self.edge(site, None);
        let way = |aim, asked, to, constant| Way {
            aim,
            asked,
            edge: Edge {
                to,
                constant,
                ..here
            },
        };
        match kind {
            ConditionKind::Branch { taken } => {
                let other = self.pool.not(expr);
                let to = Some(u32::from(*taken));
                let constant = self.constant(other);
                vec![way(Aim::Flip, vec![other], to, constant)]
            }
            ConditionKind::Switch { value, case, known } if *known => {
                let side = if from.includes(Side::New) {
                    Side::New
                } else {
                    Side::Old
                };
                let labels = self.twin.half(side).cases(site).unwrap_or_default();
                let width = self.pool.width(*value);
                let (mut ways, mut none) = (Vec::new(), Vec::new());
                for (number, &label) in (1..).zip(labels.iter().take(MOST_CASES)) {
                    let label = self.pool.constant(width, label);
                    let differs = self.pool.ne(*value, label);
                    none.push(differs);
                    if number != *case {
                        let equals = self.pool.eq(*value, label);
                        ways.push(way(Aim::Flip, vec![equals], Some(number), None));
                    }
                }
                self.product.cut |= labels.len() > MOST_CASES;
                if *case != 0 && labels.len() <= MOST_CASES {
                    ways.push(way(Aim::Flip, none, Some(0), None));
                }
                ways
            }
            ConditionKind::Bounds { .. } => {
                let outside = self.pool.not(expr);
                vec![way(Aim::Fault, vec![outside], None, None)]
            }
            _ => {
                let other = self.pool.not(expr);
                vec![way(Aim::Flip, vec![other], None, None)]
            }
        }
    }
}
