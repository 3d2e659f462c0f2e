//! Which nodes of the change sequence graph a run met, in order.
//!
//! A trace has branches, calls and changed statements, but not the places where effects meet. Between
//! two events control goes straight on, so that all that lies between is known. What was deleted is met
//! in old, where it still is; everything else in new. Only for the order in which changes act does it count what
//! old does in a change that is in both.

use std::hash::{Hash, Hasher};

use beagle_program::{BlockId, FunctionId, Op, StmtId};
use beagle_sequence::{Correspondence, Graph, anchors};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::order::{Act, Acts, How};
use crate::steps::{Step, What};
use crate::twin::{Half, Side, Twin};
use crate::walk::Met;

/// More nodes of one run are not looked at: they are met in loops that were gone through before.
const MOST_VISITS: usize = 20_000;

/// Likewise of changes.
const MOST_ACTS: usize = 400_000;

/// So many blocks without a branch are gone through between two events.
const FARTHEST: usize = 1000;

/// That a node was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The step of the product before which it was.
    pub step: u32,
    /// The node.
    pub node: u32,
    /// Equal for runs that came here by the same sequence of changes, loops once.
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
    how: How,
    /// It is looked for in the other version as well.
    aside: bool,
}

impl Mark {
    fn new(stmt: StmtId, node: u32, how: How) -> Self {
        Self {
            stmt,
            node,
            inside: false,
            how,
            aside: false,
        }
    }
}

impl Marks {
    /// The changes of a version: what was deleted is looked for in old, and in new where it was; what is in
    /// both in old as well, but only aside.
    pub fn of_changes(twin: &Twin<'_>, side: Side) -> Self {
        let half = twin.half(side);
        let mut marks = Self::new(half);
        let mut is_there = vec![false; twin.comparison.changes.len()];
        for (_, changes) in twin.new.changed() {
            changes.iter().for_each(|&change| is_there[change] = true);
        }
        let mut own: Vec<Mark> = Vec::new();
        for (stmt, changes) in half.changed() {
            let how = How::of(&half.program.stmt(stmt).op);
            own.extend(changes.iter().map(|&change| Mark {
                aside: side == Side::Old && is_there[change],
                ..Mark::new(stmt, change as u32, how)
            }));
        }
        if side == Side::New && is_there.contains(&false) {
            let correspondence = Correspondence::of(twin.comparison);
            for change in (0..is_there.len()).filter(|&change| !is_there[change]) {
                let deleted = twin.old.changed();
                let deleted = deleted.filter(|(_, changes)| changes.contains(&change));
                let deleted: Vec<StmtId> = deleted.map(|(stmt, _)| stmt).collect();
                let there = anchors(twin.old.program, &correspondence, &deleted).into_iter();
                own.extend(there.map(|stmt| Mark::new(stmt, change as u32, How::Passed)));
            }
        }
        marks.add_all(half, own);
        marks
    }

    fn new(half: &Half<'_>) -> Self {
        let mut marks = Self::default();
        for (id, _) in half.program.functions() {
            let number = half.function_number(id);
            if number != 0 {
                marks.functions.insert(number, id);
            }
        }
        marks
    }

    /// The nodes of a graph that are looked for in a version.
    pub fn of(half: &Half<'_>, graph: &Graph, side: Side) -> Self {
        let mut marks = Self::new(half);
        let mut own = Vec::new();
        for (stmt, nodes) in graph.marked(version(side)) {
            let nodes = nodes.iter();
            let nodes = nodes.filter(|&&node| graph.is_deletion(node) == (side == Side::Old));
            own.extend(nodes.map(|&node| Mark::new(stmt, node as u32, How::Executed)));
        }
        marks.add_all(half, own);
        marks
    }

    fn add_all(&mut self, half: &Half<'_>, mut own: Vec<Mark>) {
        own.sort_by_key(|mark| mark.stmt);
        let mut straight: FxHashMap<FunctionId, bool> = FxHashMap::default();
        for mark in own {
            self.add(half, mark);
            let function = half.program.function_of(mark.stmt);
            let is_straight = straight.entry(function);
            if *is_straight.or_insert_with(|| is_straight_function(half, function)) {
                for &stmt in half.calls.callers(function) {
                    let mut inside = mark;
                    (inside.stmt, inside.inside) = (stmt, true);
                    self.add(half, inside);
                }
            }
        }
        for all in self.blocks.values_mut() {
            all.sort_by_key(|mark| (mark.stmt, mark.inside));
        }
    }

    fn add(&mut self, half: &Half<'_>, mark: Mark) {
        self.blocks
            .entry(half.block(mark.stmt))
            .or_default()
            .push(mark);
    }

    /// Whether a statement is part of a change.
    fn is_changed(&self, half: &Half<'_>, stmt: StmtId) -> bool {
        let marks = self.blocks.get(&half.block(stmt)).into_iter().flatten();
        let mut own = marks.filter(|mark| mark.stmt == stmt && !mark.inside);
        own.any(|mark| mark.how != How::Passed)
    }
}

/// Whether control goes straight through a function: it may leave no events.
fn is_straight_function(half: &Half<'_>, function: FunctionId) -> bool {
    let mut blocks = half.program.function(function).blocks();
    blocks.all(|block| half.program.block(block).successors.len() < 2)
}

/// A call that control is in.
struct Frame {
    function: FunctionId,
    /// What is executed next; nothing if it is not known.
    at: Option<StmtId>,
    /// Whether it was called by a change.
    changed: bool,
    /// Whether one version alone called it.
    alone: bool,
}

/// Goes through one trace.
struct Tracker<'a> {
    half: &'a Half<'a>,
    marks: &'a Marks,
    frames: Vec<Frame>,
    found: Vec<Found>,
}

/// A node that was met.
#[derive(Clone, Copy, Debug)]
struct Found {
    node: u32,
    how: How,
    /// Whether one version alone called what it is in.
    inside: bool,
    aside: bool,
}

impl<'a> Tracker<'a> {
    fn new(half: &'a Half<'a>, marks: &'a Marks) -> Self {
        Self {
            half,
            marks,
            frames: Vec::new(),
            found: Vec::new(),
        }
    }

    /// Whether control is in something that a change calls.
    fn is_in_change(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.changed)
    }

    /// Whether control is in something that one version alone calls.
    fn is_alone(&self) -> bool {
        self.frames.last().is_some_and(|frame| frame.alone)
    }

    /// The nodes that were met up to a step, which one version may have taken alone, since the last one.
    fn step(&mut self, step: &Step, alone: bool) {
        match step.what {
            What::Enter => self.enter(step.site, alone),
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

    fn enter(&mut self, number: u32, alone: bool) {
        // A model of a libc function is nobody's.
        let Some(&function) = self.marks.functions.get(&number) else {
            return;
        };
        let mut changed = self.frames.last().is_some_and(|frame| frame.changed);
        if let Some(frame) = self.frames.last()
            && let Some(at) = frame.at
        {
            let calls = &self.half.calls;
            let call = |stmt: StmtId| calls.callees(stmt).contains(&function);
            if let Some(call) = self.find(at, call) {
                self.emit(at, call, false);
                changed |= self.marks.is_changed(self.half, call);
                self.at(call.0 + 1);
            }
        }
        let entry = self.half.program.function(function).entry();
        let at = entry.and_then(|entry| self.half.program.block(entry).stmts().next());
        self.frames.push(Frame {
            function,
            at,
            changed,
            alone,
        });
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
            None => self.frames.push(Frame {
                function,
                at: None,
                changed: false,
                alone: false,
            }),
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
            let alone = self.is_alone();
            // What leaves no events shows only by its call whether one version alone may have made it.
            let found = marks.map(|mark| Found {
                node: mark.node,
                how: mark.how,
                inside: alone || mark.inside && self.marks.is_changed(self.half, mark.stmt),
                aside: mark.aside,
            });
            self.found.extend(found);
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
    is_change: &dyn Fn(u32) -> bool,
    steps: [&[Step]; 2],
    order: &[Met],
) -> Vec<Visit> {
    let mut trackers = Side::BOTH.map(|side| Tracker::new(twin.half(side), &marks[side as usize]));
    let mut path = Prefix::default();
    let mut visits: Vec<Visit> = Vec::new();
    for (number, met) in order.iter().enumerate() {
        step_both(&mut trackers, steps, *met);
        let [old, new] = &mut trackers;
        for Found { node, .. } in old.found.drain(..).chain(new.found.drain(..)) {
            if is_change(node) && visits.last().is_none_or(|last| last.node != node) {
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

fn step_both([old, new]: &mut [Tracker<'_>; 2], steps: [&[Step]; 2], met: Met) {
    match met {
        Met::Old(i) => old.step(&steps[0][i as usize], true),
        Met::New(j) => new.step(&steps[1][j as usize], true),
        Met::Both(i, j) => {
            old.step(&steps[0][i as usize], false);
            new.step(&steps[1][j as usize], false);
        }
    }
}

/// The changes that a run of both versions executed, and when their effects were seen: that the
/// versions took different sides of a branch outside of what changes call, or wrote something
/// different, which they did at these words of their traces.
pub fn acts(
    twin: &Twin<'_>,
    marks: &[Marks; 2],
    steps: [&[Step]; 2],
    order: &[Met],
    wrote: [Option<usize>; 2],
) -> Acts {
    let mut trackers = Side::BOTH.map(|side| Tracker::new(twin.half(side), &marks[side as usize]));
    let mut acts: Vec<Act> = Vec::new();
    let mut effects = Vec::new();
    for (number, met) in order.iter().enumerate() {
        step_both(&mut trackers, steps, *met);
        let time = number as u32;
        for (side, tracker) in Side::BOTH.into_iter().zip(&mut trackers) {
            let found = tracker.found.drain(..);
            acts.extend(found.map(|found| Act {
                time,
                change: found.node as usize,
                how: found.how,
                inside: found.inside,
                aside: found.aside,
            }));
            let step = match *met {
                Met::Old(i) | Met::Both(i, _) if side == Side::Old => &steps[0][i as usize],
                Met::New(j) | Met::Both(_, j) if side == Side::New => &steps[1][j as usize],
                _ => continue,
            };
            if Some(step.word as usize) == wrote[side as usize] {
                effects.push(time);
            }
        }
        if let Met::Both(i, j) = *met
            && steps[0][i as usize].what != steps[1][j as usize].what
            && !trackers.iter().any(Tracker::is_in_change)
        {
            effects.push(time);
        }
        if acts.len() > MOST_ACTS {
            break;
        }
    }
    Acts::new(acts, effects)
}

/// How far a sequence of changes has come. What was done before, in this order, does not make it longer.
#[derive(Default)]
struct Prefix {
    last: Option<u32>,
    taken: FxHashSet<(Option<u32>, u32)>,
    hash: u64,
}

impl Prefix {
    /// Goes on to a node; a number for the sequence so far.
    fn on(&mut self, node: u32) -> u64 {
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
