//! A graph whose nodes have marks, and which marks can be reached from each node.

use fixedbitset::FixedBitSet;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashMap;

use super::stretches::StretchId;

pub(super) type NodeId = NodeIndex<u32>;

/// A set of marks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Marks(FixedBitSet);

impl Marks {
    /// Whether a mark is in the set.
    pub fn contains(&self, mark: usize) -> bool {
        self.0.contains(mark)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_clear()
    }

    /// All marks of the set, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.ones()
    }
}

/// The sets of marks of all stretches.
#[derive(Debug)]
pub(super) struct Sets {
    sets: Vec<Marks>,
    /// By stretch: index of its set.
    of: Vec<u32>,
}

impl Sets {
    pub(super) fn get(&self, stretch: StretchId) -> &Marks {
        &self.sets[self.of[stretch.index()] as usize]
    }
}

pub(super) struct Graph {
    graph: DiGraph<(), ()>,
    marks: FxHashMap<NodeId, Vec<u32>>,
    count: usize,
}

impl Graph {
    pub(super) fn new(count: usize) -> Self {
        Self {
            graph: DiGraph::new(),
            marks: FxHashMap::default(),
            count,
        }
    }

    /// Adds nodes; the first of them.
    pub(super) fn grow(&mut self, nodes: usize) -> NodeId {
        let first = self.graph.node_count();
        for _ in 0..nodes {
            self.graph.add_node(());
        }
        NodeId::new(first)
    }

    pub(super) fn edge(&mut self, from: NodeId, to: NodeId) {
        self.graph.add_edge(from, to, ());
    }

    pub(super) fn mark(&mut self, node: NodeId, marks: &[u32]) {
        if !marks.is_empty() {
            self.marks.entry(node).or_default().extend(marks);
        }
    }

    /// Finds the marks that can be reached from each node.
    pub(super) fn solve(self) -> Solved {
        let mut solved = Solved {
            interner: Interner::default(),
            of: vec![u32::MAX; self.graph.node_count()],
        };
        let none = solved.interner.add(FixedBitSet::with_capacity(self.count));
        let mut below: Vec<u32> = Vec::new();
        // By set: the part for which it was last found.
        let mut found: Vec<usize> = Vec::new();
        // A part comes after all parts that it leads to.
        for (number, part) in (1..).zip(kosaraju_scc(&self.graph)) {
            below.clear();
            found.resize(solved.interner.sets.len(), 0);
            let mut own = part
                .iter()
                .filter_map(|node| self.marks.get(node))
                .peekable();
            for &node in &part {
                for next in self.graph.neighbors(node) {
                    let set = solved.of[next.index()];
                    // Within the part itself nothing is known yet.
                    if set != u32::MAX && set != none && found[set as usize] != number {
                        found[set as usize] = number;
                        below.push(set);
                    }
                }
            }
            let set = match (&below[..], own.peek()) {
                ([], None) => none,
                (&[only], None) => only,
                _ => {
                    let mut joined = FixedBitSet::with_capacity(self.count);
                    for &set in &below {
                        joined.union_with(&solved.interner.sets[set as usize].0);
                    }
                    for &mark in own.flatten() {
                        joined.insert(mark as usize);
                    }
                    solved.interner.add(joined)
                }
            };
            for node in part {
                solved.of[node.index()] = set;
            }
        }
        solved
    }
}

/// Keeps equal sets once.
#[derive(Default)]
struct Interner {
    sets: Vec<Marks>,
    known: FxHashMap<Marks, u32>,
}

impl Interner {
    fn add(&mut self, set: FixedBitSet) -> u32 {
        let set = Marks(set);
        if let Some(&known) = self.known.get(&set) {
            return known;
        }
        let number = self.sets.len() as u32;
        self.sets.push(set.clone());
        self.known.insert(set, number);
        number
    }
}

/// The marks that can be reached from each node.
pub(super) struct Solved {
    interner: Interner,
    of: Vec<u32>,
}

impl Solved {
    pub(super) fn get(&self, node: NodeId) -> &Marks {
        &self.interner.sets[self.of[node.index()] as usize]
    }

    /// The sets of some nodes, each with some more marks.
    pub(super) fn take(&mut self, nodes: impl Iterator<Item = NodeId>, more: &Marks) -> Sets {
        let of = nodes.map(|node| self.of[node.index()]).collect();
        let mut sets = std::mem::take(&mut self.interner.sets);
        for set in &mut sets {
            set.0.union_with(&more.0);
        }
        Sets { sets, of }
    }
}
