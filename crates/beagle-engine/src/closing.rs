//! How far the conditions of a run reach: to where all ways from their branch have met again.
//!
//! What comes after that is executed whichever way the branch went, so a question that is asked there need
//! not insist on it.

use std::rc::Rc;

use beagle_program::BlockId;
use rustc_hash::FxHashMap;

use crate::region::Region;
use crate::steps::Step;
use crate::twin::Half;

/// The branches of one version that control has not left yet.
pub struct Closing<'a> {
    half: &'a Half<'a>,
    regions: FxHashMap<BlockId, Option<Rc<Region>>>,
    open: Vec<Open>,
}

struct Open {
    /// The index of the condition.
    held: usize,
    depth: u32,
    /// `None` for what is closed only with its call.
    region: Option<Rc<Region>>,
}

/// The regions of larger functions are not computed: what is in them counts as open until they return.
const MOST_BLOCKS: usize = 2000;

/// A condition that still decides what is executed.
pub const OPEN: usize = usize::MAX;

impl<'a> Closing<'a> {
    /// At the start of a version.
    pub fn new(half: &'a Half<'a>) -> Self {
        Self {
            half,
            regions: FxHashMap::default(),
            open: Vec::new(),
        }
    }

    /// The version takes a step: what it closes is closed at `now`.
    pub fn step(&mut self, step: &Step, now: usize, closed: &mut [usize]) {
        while let Some(last) = self.open.last() {
            let is_open = match &last.region {
                Some(region) => region.includes(self.half, last.depth, step),
                None => step.depth >= last.depth,
            };
            if is_open {
                break;
            }
            closed[last.held] = now;
            self.open.pop();
        }
    }

    /// A condition was added by this step. Whether it decides what is executed at all: what is in no
    /// function of the program does not, for long.
    pub fn add(&mut self, step: &Step, held: usize) -> bool {
        let Some(block) = self.half.block_of(step) else {
            return false;
        };
        let half = self.half;
        let region = self.regions.entry(block).or_insert_with(|| {
            let function = half.program.block(block).function;
            let few = half.program.function(function).blocks.len() <= MOST_BLOCKS;
            few.then(|| Rc::new(Region::of(half, block)))
        });
        self.open.push(Open {
            held,
            depth: step.depth,
            region: region.clone(),
        });
        true
    }
}
