//! Which nodes of the change sequence graph a run met, in order.
//!
//! A trace has branches, calls and changed statements, but not the places where effects meet. Between
//! two events control goes straight on, so that all that lies between is known. What was deleted is met
//! in old, where it still is; everything else in new.

use std::hash::{Hash, Hasher};

use beagle_program::{BlockId, FunctionId, Op, StmtId};
use beagle_sequence::Graph;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::steps::{Step, What};
use crate::twin::{Half, Side, Twin};
use crate::walk::Met;

/// More nodes of one run are not looked at: they are met in loops that were gone through before.
const MOST_VISITS: usize = 20_000;

/// So many blocks without a branch are gone through between two events.
const FARTHEST: usize = 1000;

/// That a node was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The step of the product before which it was.
    pub step: u32,
    /// The node.
    pub node: u32,
    /// Equal for runs that came here by the same sequence of nodes, loops once.
    pub prefix: u64,
}

/// Where the nodes of a version are.
#[derive(Debug, Default)]
pub struct Marks {
    blocks: FxHashMap<BlockId, Vec<Mark>>,
    /// The functions by the numbers that events have.
    functions: FxHashMap<u32, FunctionId>,
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    stmt: StmtId,
    node: u32,
    /// It is in the function that the statement calls, which leaves no events.
    inside: bool,
}

impl Marks {
    /// Those that are looked for in a version.
    pub fn of(half: &Half<'_>, graph: &Graph, side: Side) -> Self {
        let program = half.program;
        let mut marks = Self::default();
        for (id, _) in program.functions() {
            let number = half.function_number(id);
            if number != 0 {
                marks.functions.insert(number, id);
            }
        }
        let mut in_function: FxHashMap<FunctionId, Vec<(StmtId, u32)>> = FxHashMap::default();
        for (stmt, nodes) in graph.marked(version(side)) {
            for &node in nodes {
                if graph.is_deletion(node) == (side == Side::Old) {
                    let function = program.function_of(stmt);
                    let all = in_function.entry(function).or_default();
                    all.push((stmt, node as u32));
                }
            }
        }
        for all in in_function.values_mut() {
            all.sort_by_key(|&(stmt, _)| stmt);
        }
        for (&function, all) in &in_function {
            for &(stmt, node) in all {
                marks.add(half, stmt, node, false);
            }
            if is_straight(half, function) {
                for &call in half.calls.callers(function) {
                    for &(_, node) in all {
                        marks.add(half, call, node, true);
                    }
                }
            }
        }
        for all in marks.blocks.values_mut() {
            all.sort_by_key(|mark| (mark.stmt, mark.inside));
        }
        marks
    }

    fn add(&mut self, half: &Half<'_>, stmt: StmtId, node: u32, inside: bool) {
        let all = self.blocks.entry(half.block(stmt)).or_default();
        all.push(Mark { stmt, node, inside });
    }
}

/// Whether control goes straight through a function: it may leave no events.
fn is_straight(half: &Half<'_>, function: FunctionId) -> bool {
    let mut blocks = half.program.function(function).blocks();
    blocks.all(|block| half.program.block(block).successors.len() < 2)
}

/// A call that control is in.
struct Frame {
    function: FunctionId,
    /// What is executed next; nothing if it is not known.
    at: Option<StmtId>,
}

/// Goes through one trace.
struct Tracker<'a> {
    half: &'a Half<'a>,
    marks: &'a Marks,
    frames: Vec<Frame>,
    found: Vec<u32>,
}

impl Tracker<'_> {
    /// The nodes that were met up to a step, since the last one.
    fn step(&mut self, step: &Step) {
        match step.what {
            What::Enter => self.enter(step.site),
            What::Leave => self.leave(step.site),
            What::Unwound => {
                if let Some(stmt) = self.half.stmt(step.site) {
                    self.resume(stmt);
                }
            }
            _ => {
                let Some(stmt) = self.half.stmt(step.site) else {
                    return;
                };
                let to = match step.what {
                    What::Branch(taken) => Some(usize::from(!taken)),
                    What::Switch(case) => Some(case as usize),
                    _ => None,
                };
                self.pass(stmt, to);
            }
        }
    }

    fn enter(&mut self, number: u32) {
        // A model of a libc function is nobody's.
        let Some(&function) = self.marks.functions.get(&number) else {
            return;
        };
        if let Some(frame) = self.frames.last()
            && let Some(at) = frame.at
        {
            let calls = &self.half.calls;
            let call = |stmt: StmtId| calls.callees(stmt).contains(&function);
            if let Some(call) = self.find(at, call) {
                self.emit(at, call, false);
                self.at(call.0 + 1);
            }
        }
        let entry = self.half.program.function(function).entry();
        let at = entry.and_then(|entry| self.half.program.block(entry).stmts().next());
        self.frames.push(Frame { function, at });
    }

    fn leave(&mut self, number: u32) {
        let Some(&function) = self.marks.functions.get(&number) else {
            return;
        };
        if !self.frames.iter().any(|frame| frame.function == function) {
            return;
        }
        // A frame that was left by a long jump is not closed by itself.
        while self
            .frames
            .last()
            .is_some_and(|top| top.function != function)
        {
            self.frames.pop();
        }
        if let Some(at) = self.frames.last().and_then(|frame| frame.at) {
            let program = self.half.program;
            let end = self.find(at, |stmt| program.stmt(stmt).op == Op::Return);
            if let Some(end) = end {
                self.emit(at, end, true);
            }
        }
        self.frames.pop();
    }

    /// Control passed a statement, and went on by this way if there are several.
    fn pass(&mut self, stmt: StmtId, to: Option<usize>) {
        let function = self.half.program.function_of(stmt);
        if self.frames.last().map(|frame| frame.function) != Some(function) {
            self.resume(stmt);
        }
        let Some(frame) = self.frames.last() else {
            return;
        };
        let block = self.half.block(stmt);
        if let Some(at) = frame.at {
            let passed = self.half.block(at) == block && stmt < at;
            if passed && to.is_none() {
                return;
            }
            match self.find(at, |other| other == stmt) {
                Some(_) => self.emit(at, stmt, true),
                None => self.emit(stmt, stmt, true),
            }
        } else {
            self.emit(stmt, stmt, true);
        }
        match to {
            Some(to) => {
                let program = self.half.program;
                let next = program.block(block).successors.get(to);
                let next = next.and_then(|&next| program.block(next).stmts().next());
                if let Some(frame) = self.frames.last_mut() {
                    frame.at = next;
                }
            }
            None => self.at(stmt.0 + 1),
        }
    }

    /// Goes on at a statement of a call that control came back to, or of one whose start is unknown.
    fn resume(&mut self, stmt: StmtId) {
        let function = self.half.program.function_of(stmt);
        let known = self.frames.iter();
        match known.rev().position(|frame| frame.function == function) {
            Some(above) => self.frames.truncate(self.frames.len() - above),
            None => self.frames.push(Frame { function, at: None }),
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.at = Some(stmt);
        }
    }

    /// The next statement is this one, or the first of what follows its block.
    fn at(&mut self, stmt: u32) {
        let program = self.half.program;
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        let block = program.block(self.half.block(StmtId(stmt - 1)));
        frame.at = match stmt < block.stmts.end {
            true => Some(StmtId(stmt)),
            false => match block.successors[..] {
                [next] => program.block(next).stmts().next(),
                _ => None,
            },
        };
    }

    /// The first statement that is wanted, from one on as long as control goes straight.
    fn find(&self, from: StmtId, wanted: impl Fn(StmtId) -> bool) -> Option<StmtId> {
        let program = self.half.program;
        let mut at = from;
        for _ in 0..FARTHEST {
            let block = program.block(self.half.block(at));
            let found = (at.0..block.stmts.end)
                .map(StmtId)
                .find(|&stmt| wanted(stmt));
            if found.is_some() {
                return found;
            }
            let [next] = block.successors[..] else {
                return None;
            };
            at = program.block(next).stmts().next()?;
        }
        None
    }

    /// Notes the nodes between two statements, with both; of the last without those inside of what it
    /// calls, unless that is wanted.
    fn emit(&mut self, from: StmtId, to: StmtId, inside: bool) {
        let program = self.half.program;
        let (mut at, last) = (from, self.half.block(to));
        for _ in 0..FARTHEST {
            let id = self.half.block(at);
            let marks = self.marks.blocks.get(&id).into_iter().flatten();
            let marks = marks.filter(|mark| mark.stmt >= at && (id != last || mark.stmt <= to));
            let marks = marks.filter(|mark| inside || !mark.inside || mark.stmt != to);
            self.found.extend(marks.map(|mark| mark.node));
            let [next] = program.block(id).successors[..] else {
                return;
            };
            if id == last {
                return;
            }
            let Some(first) = program.block(next).stmts().next() else {
                return;
            };
            at = first;
        }
    }
}

/// The nodes that a run of both versions met.
pub fn trail(
    twin: &Twin<'_>,
    marks: &[Marks; 2],
    steps: [&[Step]; 2],
    order: &[Met],
) -> Vec<Visit> {
    let tracker = |side: Side| Tracker {
        half: twin.half(side),
        marks: &marks[side as usize],
        frames: Vec::new(),
        found: Vec::new(),
    };
    let mut trackers = Side::BOTH.map(tracker);
    let mut path = Prefix::default();
    let mut visits: Vec<Visit> = Vec::new();
    for (number, met) in order.iter().enumerate() {
        let [old, new] = &mut trackers;
        match *met {
            Met::Old(i) => old.step(&steps[0][i]),
            Met::New(j) => new.step(&steps[1][j]),
            Met::Both(i, j) => {
                old.step(&steps[0][i]);
                new.step(&steps[1][j]);
            }
        }
        for node in old.found.drain(..).chain(new.found.drain(..)) {
            if visits.last().is_none_or(|last| last.node != node) {
                visits.push(Visit {
                    step: number as u32,
                    node,
                    prefix: path.on(node),
                });
            }
        }
        if visits.len() > MOST_VISITS {
            break;
        }
    }
    visits
}

/// How far a sequence has come. What was done before, in this order, does not make it longer.
#[derive(Default)]
pub struct Prefix {
    last: Option<u32>,
    taken: FxHashSet<(Option<u32>, u32)>,
    hash: u64,
}

impl Prefix {
    /// Goes on to a node; a number for the sequence so far.
    pub fn on(&mut self, node: u32) -> u64 {
        if self.taken.insert((self.last, node)) {
            self.hash = longer(self.hash, self.last, node);
        }
        self.last = Some(node);
        self.hash
    }
}

/// The number of a sequence that is longer by going from one node to another.
pub fn longer(prefix: u64, from: Option<u32>, to: u32) -> u64 {
    let mut hasher = FxHasher::default();
    (prefix, from, to).hash(&mut hasher);
    hasher.finish()
}

/// The blocks of each node in a version.
pub fn blocks(half: &Half<'_>, graph: &Graph, side: Side) -> Vec<Vec<BlockId>> {
    let mut all = vec![Vec::new(); graph.nodes.len()];
    for (stmt, nodes) in graph.marked(version(side)) {
        for &node in nodes {
            all[node].push(half.block(stmt));
        }
    }
    for blocks in &mut all {
        blocks.sort_unstable();
        blocks.dedup();
    }
    all
}

fn version(side: Side) -> beagle_sequence::Side {
    match side {
        Side::Old => beagle_sequence::Side::Old,
        Side::New => beagle_sequence::Side::New,
    }
}
