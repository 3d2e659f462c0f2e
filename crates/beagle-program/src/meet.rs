//! Where influences meet: which of many starting points each fact may depend on, and the statements
//! at which several of them come together.
//!
//! This is as if a slice were made from each starting point, but all are followed at once, a machine
//! word of them at a time.

use std::thread;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::dependence::{Crossing, Dependence, Fact};
use crate::model::*;

/// For each fact, on which of some starting points it may depend.
pub struct Influences {
    /// How many starting points there are.
    count: usize,
    /// One word for each fact, for each 64 starting points.
    words: Vec<Vec<u64>>,
}

impl Influences {
    /// The starting points that a statement may depend on.
    pub fn of(&self, stmt: StmtId) -> impl Iterator<Item = usize> + '_ {
        (0..self.count).filter(move |&start| self.has(stmt, start))
    }

    /// Whether a statement may depend on a starting point.
    pub fn has(&self, stmt: StmtId, start: usize) -> bool {
        self.words[start / 64][stmt.index()] >> (start % 64) & 1 == 1
    }

    /// How many starting points a statement may depend on.
    pub fn count(&self, stmt: StmtId) -> u32 {
        self.degree(stmt.0)
    }

    fn degree(&self, node: u32) -> u32 {
        let words = self.words.iter();
        words.map(|words| words[node as usize].count_ones()).sum()
    }

    fn same(&self, a: u32, b: u32) -> bool {
        let mut words = self.words.iter();
        words.all(|words| words[a as usize] == words[b as usize])
    }
}

/// What is still to be followed: starting points that have come to a node, those from which callers
/// may be gone on to and those from which not.
#[derive(Clone, Copy, Default)]
struct Pending {
    up: u64,
    down: u64,
}

impl Dependence<'_> {
    /// On which of some starting points everything may depend.
    pub fn influences(&self, starts: &[Vec<Fact>]) -> Influences {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let chunks: Vec<_> = starts.chunks(64).collect();
        let mut words = Vec::new();
        for chunks in chunks.chunks(threads) {
            words.extend(thread::scope(|scope| {
                let each = chunks.iter().map(|chunk| scope.spawn(|| self.word(chunk)));
                let each: Vec<_> = each.collect();
                let joined = each.into_iter().map(|word| match word.join() {
                    Ok(word) => word,
                    Err(panic) => std::panic::resume_unwind(panic),
                });
                joined.collect::<Vec<_>>()
            }));
        }
        Influences {
            count: starts.len(),
            words,
        }
    }

    fn word(&self, starts: &[Vec<Fact>]) -> Vec<u64> {
        let count = self.nodes.count as usize;
        let mut reached = vec![Pending::default(); count];
        let mut pending = vec![Pending::default(); count];
        let mut work: Vec<u32> = Vec::new();
        let add = |pending: &mut [Pending],
                   reached: &[Pending],
                   work: &mut Vec<u32>,
                   node: u32,
                   more: Pending| {
            let (there, waiting) = (reached[node as usize], &mut pending[node as usize]);
            let up = more.up & !there.up;
            // What was reached with more freedom covers what is reached with less.
            let down = more.down & !(there.up | there.down | waiting.up | up);
            if (up & !waiting.up) | (down & !waiting.down) == 0 {
                return;
            }
            if waiting.up | waiting.down == 0 {
                work.push(node);
            }
            waiting.up |= up;
            waiting.down |= down;
        };
        for (start, facts) in starts.iter().enumerate() {
            let bit = 1 << start;
            for &fact in facts {
                let up = Pending { up: bit, down: 0 };
                add(&mut pending, &reached, &mut work, self.nodes.fact(fact), up);
                if let Fact::Run(stmt) = fact {
                    let down = Pending { up: 0, down: bit };
                    for entry in self.entered(stmt) {
                        add(&mut pending, &reached, &mut work, entry, down);
                    }
                }
            }
        }
        while let Some(node) = work.pop() {
            let fresh = std::mem::take(&mut pending[node as usize]);
            let there = &mut reached[node as usize];
            there.up |= fresh.up;
            there.down |= fresh.down;
            let any = fresh.up | fresh.down;
            for edge in self.forward.of(node) {
                let next = match edge.crossing {
                    Crossing::Inside => fresh,
                    Crossing::Memory => Pending { up: any, down: 0 },
                    Crossing::Return => Pending {
                        up: fresh.up,
                        down: 0,
                    },
                    Crossing::Call(call) => {
                        for after in self.after_call(call, edge.to) {
                            add(&mut pending, &reached, &mut work, after, fresh);
                        }
                        Pending { up: 0, down: any }
                    }
                };
                add(&mut pending, &reached, &mut work, edge.to, next);
            }
        }
        let all = reached.into_iter();
        all.map(|reached| reached.up | reached.down).collect()
    }

    /// The statements at which two or more influences come together: those that do not get all of
    /// theirs from one statement before them. In a loop that is where something enters it.
    pub fn meetings(&self, influences: &Influences) -> Vec<StmtId> {
        // The part of the graph in which two or more are passed on together.
        let mut graph: DiGraph<u32, ()> = DiGraph::new();
        let mut nodes: Vec<Option<NodeIndex>> = vec![None; self.nodes.count as usize];
        for node in 0..self.nodes.count {
            if influences.degree(node) >= 2 {
                nodes[node as usize] = Some(graph.add_node(node));
            }
        }
        for at in graph.node_indices() {
            let from = graph[at];
            for edge in self.forward.of(from) {
                if let Some(to) = nodes[edge.to as usize]
                    && influences.same(from, edge.to)
                {
                    graph.add_edge(at, to, ());
                }
            }
        }
        // Each component after those that lead to it.
        let mut components = kosaraju_scc(&graph);
        components.reverse();
        let mut component_of = vec![0; graph.node_count()];
        for (number, component) in components.iter().enumerate() {
            for node in component {
                component_of[node.index()] = number;
            }
        }
        let is_stmt = |node: u32| node < self.nodes.blocks;
        // Whether a component gets all that it has from a statement before it.
        let mut inherits = vec![false; components.len()];
        let mut found = Vec::new();
        for (number, component) in components.iter().enumerate() {
            let mut stmts: Vec<u32> = component.iter().map(|&node| graph[node]).collect();
            stmts.retain(|&node| is_stmt(node));
            stmts.sort_unstable();
            if !inherits[number] {
                let entered = |node: &u32| {
                    let before = self.backward.of(*node).iter();
                    let mut before = before.filter(|edge| influences.degree(edge.to) > 0);
                    before.any(|edge| !influences.same(edge.to, *node))
                };
                let mut meeting = stmts.clone();
                meeting.retain(entered);
                if meeting.is_empty() {
                    meeting.extend(stmts.first());
                }
                found.extend(meeting.into_iter().map(StmtId));
            }
            let passes_on = inherits[number] || !stmts.is_empty();
            for &node in component {
                for next in graph.neighbors(node) {
                    inherits[component_of[next.index()]] |=
                        passes_on && component_of[next.index()] != number;
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// The statements that depend on some facts by way of none of those for which `stops` holds,
    /// and for which it does.
    pub fn first_dependents(&self, from: &[Fact], stops: impl Fn(StmtId) -> bool) -> Vec<StmtId> {
        let mut seen = vec![false; self.nodes.count as usize];
        let mut work: Vec<u32> = from.iter().map(|&fact| self.nodes.fact(fact)).collect();
        for fact in from {
            if let Fact::Run(stmt) = fact {
                work.extend(self.entered(*stmt));
            }
        }
        let mut found = Vec::new();
        let starts = work.len();
        let mut done = 0;
        while let Some(node) = work.get(done).copied() {
            done += 1;
            if std::mem::replace(&mut seen[node as usize], true) {
                continue;
            }
            let is_stmt = node < self.nodes.blocks;
            if is_stmt && done > starts && stops(StmtId(node)) {
                found.push(StmtId(node));
                continue;
            }
            work.extend(self.forward.of(node).iter().map(|edge| edge.to));
        }
        found.sort_unstable();
        found
    }
}
