//! What is known of the change sequence graph: where its changes are, which were met, in which order,
//! and how far it is to each.
//!
//! After Böhme, Oliveira and Roychoudhury (FSE 2013), algorithm 2. Every question has targets of its own:
//! the changes that can come after the last one that its path met. Interaction locations and outputs on the way
//! are no targets: what leads to them is mostly not what changed.

use std::cell::RefCell;
use std::rc::Rc;

use beagle_program::BlockId;
use beagle_sequence::{Graph, NodeKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::distance::Distances;
use crate::product::Product;
use crate::question::Question;
use crate::scene::Scene;
use crate::steps::Step;
use crate::trail::{self, Marks, Visit, longer};
use crate::twin::{Side, Twin};
use crate::walk::Met;

/// So many nodes have their distances kept, for programs of usual size.
const MOST_KEPT: usize = 40_000_000;

/// So many ways on from a node are looked at.
const MOST_TARGETS: usize = 256;

/// How a target is known: it was never met, not from here, not by this sequence, by this sequence. What it
/// costs, and what each branch on the way there: where all is known, the way there is not what counts.
const KNOWN: [(f32, f32); 4] = [(0.0, 1.0), (1.0, 0.5), (2.0, 0.3), FAMILIAR];

/// Of a target that was met as often as any.
pub const FAMILIAR: (f32, f32) = (4.0, 0.1);

/// What is taken off for ways between two changes.
const BETWEEN: f32 = 2.0;

/// What cannot be reached by branches alone may be reached by what they do.
pub const ASTRAY: f32 = 6.0;

/// What is known of the change sequence graph.
pub struct Sequences {
    graph: Graph,
    marks: [Marks; 2],
    blocks: [Vec<Vec<BlockId>>; 2],
    met: Vec<bool>,
    taken: FxHashSet<(Option<u32>, u32)>,
    prefixes: FxHashSet<u64>,
    /// Changes of which the second came after the first, with none between.
    pairs: FxHashSet<(usize, usize)>,
    distances: RefCell<FxHashMap<u32, [Distances; 2]>>,
    /// The changes that can come next, by the last one.
    next: RefCell<FxHashMap<Option<u32>, Rc<[u32]>>>,
    most_kept: usize,
}

impl Sequences {
    /// Nothing was met yet.
    pub fn new(twin: &Twin<'_>, graph: Graph) -> Self {
        let marks = Side::BOTH.map(|side| Marks::of(twin.half(side), &graph, side));
        let blocks = Side::BOTH.map(|side| trail::blocks(twin.half(side), &graph, side));
        let size: usize = Side::BOTH
            .iter()
            .map(|&side| twin.half(side).program.blocks.len())
            .sum();
        Self {
            marks,
            blocks,
            met: vec![false; graph.nodes.len()],
            taken: FxHashSet::default(),
            prefixes: FxHashSet::default(),
            pairs: FxHashSet::default(),
            distances: RefCell::default(),
            next: RefCell::default(),
            most_kept: MOST_KEPT / size.max(1) + 1,
            graph,
        }
    }

    /// The changes that a run met.
    pub fn trail(&self, twin: &Twin<'_>, steps: [&[Step]; 2], order: &[Met]) -> Vec<Visit> {
        let is_change = |node| self.is_change(node);
        trail::trail(twin, &self.marks, &is_change, steps, order)
    }

    /// Pairs of changes of which the graph has the second after the first with none between, and no
    /// run had them so.
    pub fn untaken(&self) -> Vec<(usize, usize)> {
        let changes = (0..self.graph.nodes.len() as u32)
            .filter_map(|node| Some((node, self.change(node)?)))
            .filter(|&(node, _)| self.graph.nodes[node as usize].reachable);
        let mut untaken = Vec::new();
        for (node, from) in changes {
            let next = self.next(Some(node));
            let next = next.iter().filter_map(|&to| Some((from, self.change(to)?)));
            untaken.extend(next.filter(|pair| pair.1 != from && !self.pairs.contains(pair)));
        }
        untaken.sort_unstable();
        untaken
    }

    /// Adds the changes that a run met; whether none had met them in this order.
    pub fn add(&mut self, trail: &[Visit]) -> bool {
        let known = self.prefixes.len();
        let mut last: Option<u32> = None;
        for visit in trail {
            self.met[visit.node as usize] = true;
            let before = last.and_then(|last| self.change(last));
            if let (Some(before), Some(change)) = (before, self.change(visit.node)) {
                self.pairs.insert((before, change));
            }
            self.taken.insert((last, visit.node));
            self.prefixes.insert(visit.prefix);
            last = Some(visit.node);
        }
        self.prefixes.len() > known
    }

    /// How far it is from what a question asks for to the best of its targets: branches that must
    /// still go the right way, and how well the target is known.
    pub fn cost(
        &self,
        scene: &Scene<'_>,
        product: &Product,
        question: &Question,
        context: u32,
    ) -> f32 {
        let before = product
            .trail
            .partition_point(|visit| visit.step as usize <= question.step);
        let (past, future) = product.trail.split_at(before);
        let last = past.last();
        let from = last.map(|visit| visit.node);
        let prefix = last.map_or(0, |visit| visit.prefix);
        // What decides whether a change runs may be assigned long before.
        let unmet = scene.to_unreached(question, context);
        let mut best = unmet.map_or(ASTRAY, |far| ASTRAY.min(far as f32));
        for &target in self.next(from).iter().take(MOST_TARGETS) {
            let (known, each) = self.known(from, prefix, target);
            if best <= known {
                continue;
            }
            if let Some(distance) = self.distance(scene, question, context, target) {
                best = best.min(known + each * distance as f32);
            }
        }
        // What happens between two changes decides what the second makes of the first.
        if from.is_some() && !future.is_empty() {
            best -= BETWEEN;
        }
        best
    }

    /// The change that a node is.
    fn change(&self, node: u32) -> Option<usize> {
        match self.graph.nodes[node as usize].kind {
            NodeKind::Change(change) => Some(change),
            NodeKind::Interaction | NodeKind::Output => None,
        }
    }

    fn is_change(&self, node: u32) -> bool {
        self.change(node).is_some()
    }

    /// The changes that can come next after one, or first.
    fn next(&self, from: Option<u32>) -> Rc<[u32]> {
        let mut known = self.next.borrow_mut();
        let next = known.entry(from).or_insert_with(|| {
            let mut seen = FxHashSet::default();
            let mut work: Vec<usize> = match from {
                Some(node) => {
                    let next = self.graph.successors(node as usize).iter();
                    next.map(|edge| edge.to).collect()
                }
                None => self.graph.first.clone(),
            };
            let mut found = Vec::new();
            while let Some(node) = work.pop() {
                if !seen.insert(node) {
                    continue;
                }
                match self.is_change(node as u32) {
                    true => found.push(node as u32),
                    false => work.extend(self.graph.successors(node).iter().map(|edge| edge.to)),
                }
            }
            found.sort_unstable();
            found.into()
        });
        next.clone()
    }

    fn known(&self, from: Option<u32>, prefix: u64, target: u32) -> (f32, f32) {
        KNOWN[self.familiarity(from, prefix, target)]
    }

    /// How well a target is known after what was met: see [`KNOWN`].
    pub fn familiarity(&self, from: Option<u32>, prefix: u64, target: u32) -> usize {
        if !self.met[target as usize] {
            0
        } else if !self.taken.contains(&(from, target)) {
            1
        } else if !self.prefixes.contains(&longer(prefix, from, target)) {
            2
        } else {
            3
        }
    }

    fn distance(
        &self,
        scene: &Scene<'_>,
        question: &Question,
        context: u32,
        target: u32,
    ) -> Option<u32> {
        let mut kept = self.distances.borrow_mut();
        if kept.len() > self.most_kept {
            kept.clear();
        }
        let distances = kept.entry(target).or_insert_with(|| {
            Side::BOTH.map(|side| {
                let blocks = &self.blocks[side as usize][target as usize];
                scene.distances_to(side, blocks.iter().copied())
            })
        });
        scene.to(distances, question, context)
    }
}
