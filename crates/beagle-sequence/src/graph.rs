//! The graph.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use beagle_change::{Comparison, changed_facts};
use beagle_program::{Dependence, Fact, Influences, Op, Place, Program, StmtId};
use roaring::RoaringBitmap;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::anchor::{Correspondence, anchors};
use crate::flow::Ways;
use crate::marks::Marks;

/// Which version a statement is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The version before the change.
    Old,
    /// The version after it.
    New,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeKind {
    /// A change, by its index in [`Comparison::changes`].
    Change(usize),
    /// A place where the effects of several changes meet.
    Interaction,
    /// An output that changes can influence.
    Output,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// The statements of new that it stands for; of a deletion, those before which it was.
    pub stmts: Vec<StmtId>,
    /// The changes that can influence it, by index; its own, too.
    pub changes: BTreeSet<usize>,
    /// Whether control can get there in new.
    pub reachable: bool,
}

/// What an edge says besides the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeKind {
    /// A change behind the first node can influence the second.
    Influence,
    /// Control may flow, but nothing is carried on.
    Order,
}

/// An edge, seen from where it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The node that it leads to.
    pub to: usize,
    /// What it says.
    pub kind: EdgeKind,
}

/// The change sequence graph of two versions.
#[derive(Debug)]
pub struct Graph {
    /// The nodes: changes in their order, then interactions, then outputs, in the order of the
    /// program.
    pub nodes: Vec<Node>,
    /// The nodes that may be the first.
    pub first: Vec<usize>,
    edges: Vec<Vec<Edge>>,
    /// Of changes, whether only old has statements of it.
    deletions: Vec<bool>,
    old: Nodes,
    new: Nodes,
}

/// The nodes that statements stand for, in the order in which control meets them.
type Nodes = FxHashMap<StmtId, Vec<usize>>;

impl Graph {
    /// The graph of two versions.
    pub fn of(old: &Dependence, new: &Dependence, comparison: &Comparison) -> Graph {
        Builder {
            old,
            new,
            comparison,
            correspondence: Correspondence::of(comparison),
        }
        .build()
    }

    /// Where one can go on from a node.
    pub fn successors(&self, node: usize) -> &[Edge] {
        self.edges.get(node).map_or(&[], Vec::as_slice)
    }

    /// The nodes that a statement of one version stands for, in the order in which control meets
    /// them. Mostly none or one; what was deleted before an output is met at the same statement.
    pub fn nodes_of(&self, side: Side, stmt: StmtId) -> &[usize] {
        let nodes = match side {
            Side::Old => &self.old,
            Side::New => &self.new,
        };
        nodes.get(&stmt).map_or(&[], Vec::as_slice)
    }

    /// All statements of a version that stand for nodes.
    pub fn marked(&self, side: Side) -> impl Iterator<Item = (StmtId, &[usize])> {
        let nodes = match side {
            Side::Old => &self.old,
            Side::New => &self.new,
        };
        nodes.iter().map(|(&stmt, nodes)| (stmt, nodes.as_slice()))
    }

    /// Whether a node is a change that only old has statements of.
    pub fn is_deletion(&self, node: usize) -> bool {
        self.deletions.get(node).copied().unwrap_or(false)
    }

    /// The nodes that can come after a node, in however many steps.
    pub fn reachable_from(&self, node: usize) -> Vec<bool> {
        self.reachable([node])
    }

    /// Whether one node can come after another.
    pub fn reaches(&self, from: usize, to: usize) -> bool {
        self.reachable_from(from).get(to).copied().unwrap_or(false)
    }

    /// The sequence of nodes that a run exercised, by the statements that it executed. A node that
    /// is met again without another between is one.
    pub fn sequence(&self, side: Side, stmts: impl IntoIterator<Item = StmtId>) -> Vec<usize> {
        let nodes = stmts.into_iter();
        let nodes = nodes.flat_map(|stmt| self.nodes_of(side, stmt));
        let mut sequence: Vec<usize> = nodes.copied().collect();
        sequence.dedup();
        sequence
    }

    fn reachable(&self, from: impl IntoIterator<Item = usize>) -> Vec<bool> {
        let mut reached = vec![false; self.nodes.len()];
        let mut work = VecDeque::from_iter(from);
        while let Some(node) = work.pop_front() {
            for edge in self.successors(node) {
                if !std::mem::replace(&mut reached[edge.to], true) {
                    work.push_back(edge.to);
                }
            }
        }
        reached
    }
}

struct Builder<'a> {
    old: &'a Dependence<'a>,
    new: &'a Dependence<'a>,
    comparison: &'a Comparison,
    correspondence: Correspondence,
}

impl Builder<'_> {
    fn build(&self) -> Graph {
        let program = self.new.program();
        let changed = self.changed();
        let seeds: Vec<Vec<Fact>> = changed.iter().map(|of| self.seeds(of)).collect();
        let influences = self.new.influences(&seeds);
        let mut nodes = Vec::new();
        let mut marks = Marks::default();
        let mut deletions = Vec::new();
        for (number, (old, new)) in changed.iter().enumerate() {
            let is_deletion = new.is_empty();
            let stmts = match is_deletion {
                false => new.clone(),
                true => anchors(self.old.program(), &self.correspondence, old),
            };
            for &stmt in &stmts {
                match is_deletion {
                    true => deletions.push((stmt, number as u32)),
                    false => marks.push(stmt, number as u32),
                }
            }
            let mut changes: BTreeSet<usize> = BTreeSet::from([number]);
            if !is_deletion {
                changes.extend(stmts.iter().flat_map(|&stmt| influences.of(stmt)));
            }
            nodes.push(Node {
                kind: NodeKind::Change(number),
                stmts,
                changes,
                reachable: false,
            });
        }
        // What was deleted came before what is there now.
        for (stmt, number) in deletions {
            marks.push_front(stmt, number);
        }
        let is_changed: FxHashSet<StmtId> =
            changed.iter().flat_map(|(_, new)| new).copied().collect();
        let is_output = |stmt: &StmtId| self.is_output(*stmt);
        let meetings = self.new.meetings(&influences).into_iter();
        let meetings = meetings.filter(|stmt| !is_changed.contains(stmt) && !is_output(stmt));
        let meetings = lines(program, meetings);
        self.add(
            NodeKind::Interaction,
            meetings,
            &influences,
            &mut nodes,
            &mut marks,
        );
        let outputs = (0..program.stmts.len() as u32).map(StmtId);
        let outputs = outputs.filter(|stmt| is_output(stmt) && influences.count(*stmt) > 0);
        let outputs = lines(program, outputs);
        self.add(
            NodeKind::Output,
            outputs,
            &influences,
            &mut nodes,
            &mut marks,
        );
        self.connect(nodes, &marks, &changed)
    }

    /// Adds nodes of a kind, each with its statements.
    fn add(
        &self,
        kind: NodeKind,
        groups: Vec<Vec<StmtId>>,
        influences: &Influences,
        nodes: &mut Vec<Node>,
        marks: &mut Marks,
    ) {
        for stmts in groups {
            for &stmt in &stmts {
                marks.push(stmt, nodes.len() as u32);
            }
            let changes = stmts.iter().flat_map(|&stmt| influences.of(stmt));
            nodes.push(Node {
                kind,
                changes: changes.collect(),
                stmts,
                reachable: false,
            });
        }
    }

    fn connect(
        &self,
        nodes: Vec<Node>,
        marks: &Marks,
        changed: &[(Vec<StmtId>, Vec<StmtId>)],
    ) -> Graph {
        let ways = Ways::of(self.new.program(), self.new.calls(), marks);
        let mut edges = Vec::new();
        for (number, node) in nodes.iter().enumerate() {
            let mut next = RoaringBitmap::new();
            for &stmt in &node.stmts {
                next |= ways.next(stmt, number as u32);
            }
            next.remove(number as u32);
            let edge = |to: u32| Edge {
                to: to as usize,
                kind: match nodes[to as usize].changes.is_disjoint(&node.changes) {
                    true => EdgeKind::Order,
                    false => EdgeKind::Influence,
                },
            };
            edges.push(next.iter().map(edge).collect());
        }
        let first: Vec<usize> = ways.first().iter().map(|node| node as usize).collect();
        let new = marks.all().map(|(stmt, of)| {
            let nodes = of.iter().map(|&node| node as usize);
            (stmt, nodes.collect())
        });
        let new: Nodes = new.collect();
        let mut graph = Graph {
            old: self.old_nodes(&new, changed),
            deletions: changed.iter().map(|(_, new)| new.is_empty()).collect(),
            nodes,
            first,
            edges,
            new,
        };
        let mut reachable = graph.reachable(graph.first.iter().copied());
        for &node in &graph.first {
            reachable[node] = true;
        }
        for (node, reachable) in graph.nodes.iter_mut().zip(reachable) {
            node.reachable = reachable;
        }
        graph
    }

    /// The nodes of old statements: those of changes, and what corresponds to a node of new.
    fn old_nodes(&self, new: &Nodes, changed: &[(Vec<StmtId>, Vec<StmtId>)]) -> Nodes {
        let mut old = Nodes::default();
        for (number, (stmts, _)) in changed.iter().enumerate() {
            for &stmt in stmts {
                old.entry(stmt).or_default().push(number);
            }
        }
        let is_deletion = |node: usize| changed.get(node).is_some_and(|(_, new)| new.is_empty());
        for stmt in (0..self.old.program().stmts.len() as u32).map(StmtId) {
            let there = self.correspondence.new_of(stmt);
            let there = there.and_then(|stmt| new.get(&stmt));
            // What was deleted has statements of its own in old.
            for &node in there
                .into_iter()
                .flatten()
                .filter(|&&node| !is_deletion(node))
            {
                let nodes = old.entry(stmt).or_default();
                if !nodes.contains(&node) {
                    nodes.push(node);
                }
            }
        }
        old
    }

    /// The statements of each change, in old and in new.
    fn changed(&self) -> Vec<(Vec<StmtId>, Vec<StmtId>)> {
        let (old, new) = (self.old.program(), self.new.program());
        let mut all = vec![(Vec::new(), Vec::new()); self.comparison.changes.len()];
        let (in_old, in_new) = self.comparison.changed_statements(old, new);
        for (stmt, change) in in_old {
            all[change].0.push(stmt);
        }
        for (stmt, change) in in_new {
            all[change].1.push(stmt);
        }
        all
    }

    /// Where the influence of a change starts in new: at what it changed there, and at what depends
    /// in old on what it changed there.
    fn seeds(&self, (old, new): &(Vec<StmtId>, Vec<StmtId>)) -> Vec<Fact> {
        let mut facts = changed_facts(self.new, new);
        let starts: FxHashSet<StmtId> = old.iter().copied().collect();
        let is_there =
            |stmt: StmtId| self.correspondence.new_of(stmt).is_some() && !starts.contains(&stmt);
        let before = changed_facts(self.old, old);
        let first = self.old.first_dependents(&before, is_there).into_iter();
        let first = first.filter_map(|stmt| self.correspondence.new_of(stmt));
        facts.extend(first.map(Fact::Stmt));
        facts
    }

    /// Whether a statement shows something to the outside.
    fn is_output(&self, stmt: StmtId) -> bool {
        let program = self.new.program();
        match program.stmt(stmt).op {
            // A call by pointer that may be one of the program's own functions most likely is: which
            // others it may be is known by their types only.
            Op::Call(_) | Op::Invoke(_) => {
                let calls = self.new.calls();
                let callees = calls.callees(stmt).iter();
                let mut own = callees.filter(|&&callee| program.function(callee).entry().is_some());
                calls.is_output(stmt) && own.next().is_none()
            }
            // What `main` returns is the exit status.
            Op::Return => program.function(program.function_of(stmt)).symbol == "main",
            _ => false,
        }
    }
}

/// Statements by the line that they are on, in the order of the program; those without a place are
/// by themselves.
fn lines(program: &Program, stmts: impl Iterator<Item = StmtId>) -> Vec<Vec<StmtId>> {
    let mut groups: Vec<Vec<StmtId>> = Vec::new();
    let mut by_line: BTreeMap<(u32, u32, u32), usize> = BTreeMap::new();
    for stmt in stmts {
        let Some(Place { file, line, .. }) = program.stmt(stmt).place else {
            groups.push(vec![stmt]);
            continue;
        };
        let key = (program.function_of(stmt).0, file.0, line);
        match by_line.get(&key) {
            Some(&group) => groups[group].push(stmt),
            None => {
                by_line.insert(key, groups.len());
                groups.push(vec![stmt]);
            }
        }
    }
    groups
}
