//! The technique that goes alone: which runs are its own, and how it comes to those that others made.

use super::{Engine, Origin, Record};
use crate::product::{Product, Stock};

impl Engine<'_> {
    /// Who goes alone comes to a run that was there before, if that was for others; whether it was.
    pub(super) fn adopt(&mut self, run: u32) -> bool {
        let is_new = |product: &Product| product.stock == Stock::Own && product.alone.is_none();
        let Some(Some(record)) = self.records.get_mut(run as usize) else {
            return false;
        };
        let adopts = is_new(&record.product);
        if adopts {
            self.scene.add_alone(&mut record.product);
            let Record { input, product, .. } = record;
            self.repeats
                .add_alone(false, product, input, &self.options.shape);
            self.frontier.add_alone(&self.scene, run, product);
        }
        adopts
    }

    /// Who goes alone comes to all runs, as it is `cover` that looks behind every way on: where more than two are
    /// possible, those that others took are not asked for again. Whether there were any that it had not come to.
    pub(super) fn adopt_all(&mut self) -> bool {
        if !self.frontier.has_alone() {
            return false;
        }
        self.frontier.join_alone();
        let runs = 0..self.records.len() as u32;
        runs.filter(|&run| self.adopt(run)).count() > 0
    }

    /// Whether a run comes of inputs to start from by answers to a technique that goes alone.
    pub(super) fn goes_alone(&self, origin: Origin) -> bool {
        match origin {
            _ if !self.frontier.has_alone() => false,
            Origin::Seed(_) => true,
            Origin::Repeat { alone } => alone,
            Origin::Question(chosen) => {
                chosen.stock == Stock::Own && self.frontier.goes_alone(chosen.strategy)
            }
            Origin::Offer | Origin::Splice(_) => false,
        }
    }
}
