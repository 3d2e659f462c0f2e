//! A look at a single input, apart from the search: what both versions do on it, and where they part.

use std::time::Duration;

use super::{Engine, Input, Product, Traced, Within, cause, run_both, sight};
use crate::order::Acts;
use crate::twin::Place;

/// How long a run may take of which nothing else is wanted.
const GLIMPSE: Duration = Duration::from_secs(2);

/// What both versions do on one input.
#[derive(Debug)]
pub struct Glimpse {
    /// The changes that are executed.
    pub reached: Vec<usize>,
    /// The same in order, and when.
    pub acts: Acts,
    /// Where the versions first do something different, and whether they part there.
    pub sight: Option<(Place, bool)>,
    /// By what inputs with the same cause are known.
    pub cause: Option<Place>,
}

impl Engine<'_> {
    /// What both versions do on an input by itself. `None` if it cannot be told.
    pub fn glimpse(&mut self, input: &Input) -> Option<Glimpse> {
        let mut input = input.normalised();
        for source in &mut input.sources {
            (source.symbolic, source.pad) = (false, 0);
        }
        let mut limits = self.run_limits();
        limits.time = limits.time.min(GLIMPSE);
        let (old, new) = run_both(&mut self.executors, &input, &limits).ok()?;
        let (Ok(old), Ok(new)) = (&old.trace, &new.trace) else {
            return None;
        };
        let (pool, twin) = (&mut self.pool, self.twin);
        let old = Traced::read(pool, old, &input, &|site| twin.old.cases(site));
        let new = Traced::read(pool, new, &input, &|site| twin.new.cases(site));
        let product = Product::new(pool, twin, &input, Within::default(), (&old, &new));
        let mut reached: Vec<usize> = product.reached.keys().copied().collect();
        reached.sort_unstable();
        let acts = self.acts(&product, &old, &new);
        let feeds = |memory| self.scene.feeds(&acts.changes(), memory);
        let feeds = [false, true].map(feeds);
        Some(Glimpse {
            sight: sight(twin, &product),
            cause: cause(twin, &product, &reached),
            acts: acts.with_feeds(&feeds),
            reached,
        })
    }
}
