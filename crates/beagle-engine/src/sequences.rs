//! What is known of the change sequence graph: where its nodes are, which were met, in which order,
//! and how far it is to each.
//!
//! After Böhme, Oliveira and Roychoudhury (FSE 2013), algorithm 2. Every question has targets of its own:
//! what can come after the last node that its path met.

use std::cell::RefCell;

use beagle_program::BlockId;
use beagle_sequence::{Graph, NodeKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::distance::Distances;
use crate::product::Product;
use crate::question::Question;
use crate::scene::Scene;
use crate::trail::{self, Marks, Visit, longer};
use crate::twin::{Side, Twin};

/// So many nodes have their distances kept, for programs of usual size.
const MOST_KEPT: usize = 40_000_000;

/// So many ways on from a node are looked at.
const MOST_TARGETS: usize = 256;

/// How a target is known: it was never met; not from here; from here, but what comes next on this path
/// did not follow it; not by this sequence. What it costs, and what each branch on the way there: where
/// all is known, the way there is not what counts.
const KNOWN: [(f32, f32); 4] = [(0.0, 1.0), (1.0, 0.5), (2.0, 0.3), (3.0, 0.2)];

/// Of a target that was met as often as any.
pub const FAMILIAR: (f32, f32) = (4.0, 0.1);

/// How fast asking for a step of the graph in vain makes it less wanted: it may be one that no input
/// takes.
const VAIN: f32 = 0.5;

/// What cannot be reached by branches alone may be reached by what they do.
pub const ASTRAY: f32 = 6.0;

/// From a node, or the start, to a node.
type Step = (Option<u32>, u32);

/// What is known of the change sequence graph.
pub struct Sequences {
    graph: Graph,
    marks: [Marks; 2],
    blocks: [Vec<Vec<BlockId>>; 2],
    met: Vec<bool>,
    taken: FxHashSet<Step>,
    prefixes: FxHashSet<u64>,
    /// How often each step was asked for.
    asked: FxHashMap<Step, u32>,
    /// Changes of which the second came after the first, with none between.
    pairs: FxHashSet<(usize, usize)>,
    distances: RefCell<FxHashMap<u32, [Distances; 2]>>,
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
            asked: FxHashMap::default(),
            pairs: FxHashSet::default(),
            distances: RefCell::default(),
            most_kept: MOST_KEPT / size.max(1) + 1,
            graph,
        }
    }

    /// Where the nodes are in each version.
    pub fn marks(&self) -> &[Marks; 2] {
        &self.marks
    }

    /// Pairs of changes of which the graph has the second after the first with none between, and no
    /// run had them so.
    pub fn untaken(&self) -> Vec<(usize, usize)> {
        let is_change = |node: usize| match self.graph.nodes[node].kind {
            NodeKind::Change(change) => Some(change),
            NodeKind::Interaction | NodeKind::Output => None,
        };
        let changes = (0..self.graph.nodes.len())
            .filter_map(|node| Some((node, is_change(node)?)))
            .filter(|&(node, _)| self.graph.nodes[node].reachable);
        let mut untaken = Vec::new();
        for (node, from) in changes {
            let mut seen = FxHashSet::default();
            let mut work = vec![node];
            while let Some(at) = work.pop() {
                for edge in self.graph.successors(at) {
                    if !seen.insert(edge.to) {
                        continue;
                    }
                    match is_change(edge.to) {
                        Some(to) if to != from && !self.pairs.contains(&(from, to)) => {
                            untaken.push((from, to));
                        }
                        Some(_) => {}
                        None => work.push(edge.to),
                    }
                }
            }
        }
        untaken.sort_unstable();
        untaken
    }

    /// Adds what a run met.
    pub fn add(&mut self, trail: &[Visit]) {
        let (mut last, mut change) = (None, None);
        for visit in trail {
            if let NodeKind::Change(next) = self.graph.nodes[visit.node as usize].kind
                && let Some(before) = change.replace(next)
            {
                self.pairs.insert((before, next));
            }
            self.met[visit.node as usize] = true;
            self.taken.insert((last, visit.node));
            self.prefixes.insert(visit.prefix);
            last = Some(visit.node);
        }
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
        self.best(scene, product, question, context).0
    }

    /// The step of the graph that a question is asked for.
    pub fn step(
        &self,
        scene: &Scene<'_>,
        product: &Product,
        question: &Question,
        context: u32,
    ) -> Option<Step> {
        self.best(scene, product, question, context).1
    }

    /// Notes that a step was asked for.
    pub fn asked(&mut self, step: Step) {
        *self.asked.entry(step).or_default() += 1;
    }

    fn best(
        &self,
        scene: &Scene<'_>,
        product: &Product,
        question: &Question,
        context: u32,
    ) -> (f32, Option<Step>) {
        let before = product
            .trail
            .partition_point(|visit| visit.step as usize <= question.step);
        let last = before.checked_sub(1).map(|index| product.trail[index]);
        let next = product.trail.get(before).map(|visit| visit.node);
        let from = last.map(|visit| visit.node);
        let prefix = last.map_or(0, |visit| visit.prefix);
        // What decides whether a change runs may be assigned long before.
        let unmet = scene.to_unreached(question, context);
        let any = scene.to_any(question, context);
        let any = any.map_or(ASTRAY, |far| FAMILIAR.0 + FAMILIAR.1 * far as f32);
        let unmet = unmet.map_or(ASTRAY, |far| far as f32);
        let mut best = (ASTRAY.min(any).min(unmet), None);
        let mut look = |target: usize| {
            let target = target as u32;
            let Some((known, each)) = self.known(from, prefix, target, next) else {
                return;
            };
            if best.0 <= known {
                return;
            }
            if let Some(distance) = self.distance(scene, question, context, target) {
                let cost = known + each * distance as f32;
                if cost < best.0 {
                    best = (cost, Some((from, target)));
                }
            }
        };
        match from {
            Some(node) => {
                let next = self.graph.successors(node as usize).iter();
                next.take(MOST_TARGETS).for_each(|edge| look(edge.to));
            }
            None => {
                let first = self.graph.first.iter();
                first.take(MOST_TARGETS).for_each(|&node| look(node));
            }
        }
        best
    }

    /// What a target costs, and each branch on the way there; `None` if there is nothing new about it.
    fn known(
        &self,
        from: Option<u32>,
        prefix: u64,
        target: u32,
        next: Option<u32>,
    ) -> Option<(f32, f32)> {
        let is_output = self.graph.nodes[target as usize].kind == NodeKind::Output;
        // What a run did after a branch it mostly does again.
        let joins = || next.is_none_or(|next| self.taken.contains(&(Some(target), next)));
        let class = if !self.met[target as usize] {
            // Outputs are many, and what leads to them is mostly not what changed.
            if is_output { 3 } else { 0 }
        } else if is_output {
            return None;
        } else if !self.taken.contains(&(from, target)) {
            1
        } else if from != Some(target) && next != Some(target) && !joins() {
            2
        } else if !self.prefixes.contains(&longer(prefix, from, target)) {
            3
        } else {
            return None;
        };
        let (known, each) = KNOWN[class];
        let asked = self.asked.get(&(from, target)).copied().unwrap_or(0);
        Some((known + VAIN * (asked as f32).sqrt(), each))
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
                scene.distances_to(side, blocks)
            })
        });
        scene.to(distances, question, context)
    }
}
