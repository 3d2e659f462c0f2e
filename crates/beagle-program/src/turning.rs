//! What can make a branch go a way: the assignments that its condition gets its values from.
//!
//! A branch on a flag does not depend on the input where the flag was set long before: to make it go the other
//! way, what sets the flag must run. Of assignments of constants those are left out with which it goes another
//! way, so that of all states of a parser only the wanted one counts.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use crate::dependence::Dependence;
use crate::model::*;
use crate::neighbours::Node;

/// A block with an assignment after which a branch may go a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The block.
    pub block: BlockId,
    /// How many assignments it takes from there to the condition.
    pub steps: u32,
}

/// Values that were handed on more often say little about a condition.
const MOST_STEPS: u32 = 4;

/// Conditions that get values from more places say little about each of them.
const MOST_TURNS: usize = 48;

/// So many values are looked at for one condition.
const MOST_LOOKED_AT: usize = 2000;

/// Conditions are not looked into deeper.
const DEEPEST: u32 = 8;

impl Dependence<'_> {
    /// The blocks with assignments after which a branch or switch may go on to its successor of this index, the
    /// nearest first.
    pub fn turning(&self, branch: StmtId, to: u32) -> Vec<Turn> {
        let mut search = Search {
            dependence: self,
            branch,
            to,
            read: self.read_by(branch),
            steps: 1,
            seen: FxHashSet::default(),
            work: VecDeque::from([Value {
                node: branch.0,
                steps: 1,
                is_read: false,
            }]),
            found: Vec::new(),
        };
        while let Some(value) = search.work.pop_front() {
            let is_enough = search.found.len() >= MOST_TURNS || search.seen.len() >= MOST_LOOKED_AT;
            if is_enough || value.steps > MOST_STEPS {
                break;
            }
            if search.seen.insert(value.node) {
                search.steps = value.steps;
                search.look(value);
            }
        }
        search.found
    }

    /// The only variable that the condition of a branch reads, as the statement that does.
    fn read_by(&self, branch: StmtId) -> Option<StmtId> {
        let mut read = None;
        let mut work = vec![branch];
        let mut left = 4 * DEEPEST;
        while let Some(stmt) = work.pop() {
            left = left.checked_sub(1)?;
            for &operand in self.program.operands(stmt) {
                match operand {
                    Operand::Stmt(stmt) => match self.program.stmt(stmt).op {
                        Op::Load { .. }
                            if read.replace(stmt).is_some_and(|known| known != stmt) =>
                        {
                            return None;
                        }
                        Op::Load { .. } => {}
                        Op::Cast(_) | Op::Compare(_) | Op::Binary(_) => work.push(stmt),
                        _ => return None,
                    },
                    Operand::Const(_) | Operand::Block(_) => {}
                    Operand::Param(_) | Operand::Function(_) | Operand::Global(_) => return None,
                }
            }
        }
        read
    }
}

/// Something that the condition is computed from.
#[derive(Clone, Copy)]
struct Value {
    /// In the dependence graph.
    node: u32,
    steps: u32,
    /// Whether it is what the only variable in the condition holds.
    is_read: bool,
}

struct Search<'a, 'p> {
    dependence: &'a Dependence<'p>,
    branch: StmtId,
    to: u32,
    read: Option<StmtId>,
    /// Of the value that is looked at.
    steps: u32,
    /// What is handed on and computed with is looked at once: counters would else get all their values from
    /// where they are set back.
    seen: FxHashSet<u32>,
    work: VecDeque<Value>,
    found: Vec<Turn>,
}

impl Search<'_, '_> {
    fn look(&mut self, value: Value) {
        let dependence = self.dependence;
        let program = dependence.program();
        let sources = dependence
            .backward
            .of(value.node)
            .iter()
            .map(|edge| edge.to);
        let Node::Stmt(stmt) = dependence.node(value.node) else {
            // Memory is written by statements, parameters get what callers give.
            for source in sources {
                match (dependence.node(value.node), dependence.node(source)) {
                    // What functions outside of the program do to memory there says nothing.
                    (Node::Memory, Node::Stmt(writer))
                        if !dependence.is_store(writer) && dependence.is_outside(value.node) => {}
                    (Node::Memory, Node::Stmt(writer)) => self.assigned(writer, value),
                    _ => self.push(source, value),
                }
            }
            self.given(value);
            return;
        };
        let is_read = value.is_read || self.read == Some(stmt);
        let value = Value { is_read, ..value };
        let operands = program.operands(stmt);
        match program.stmt(stmt).op {
            // Not where it lies.
            Op::Load { .. } => {
                for source in sources {
                    match dependence.node(source) {
                        Node::Stmt(store) if dependence.is_store(store) => {
                            self.assigned(store, value);
                        }
                        Node::Memory => self.push(source, value),
                        _ => {}
                    }
                }
            }
            Op::Store { .. } => {
                let address = operands.get(1).copied();
                let value = Value {
                    steps: value.steps + 1,
                    ..value
                };
                for source in sources.collect::<Vec<_>>() {
                    let is_address = address == Some(Operand::Stmt(StmtId(source)));
                    match dependence.node(source) {
                        Node::Stmt(_) | Node::Param if !is_address => self.push(source, value),
                        _ => {}
                    }
                }
            }
            Op::Phi => {
                for way in operands.chunks_exact(2) {
                    if let [given, Operand::Block(block)] = *way
                        && !self.is_excluded(given, value)
                    {
                        self.turn(block, value);
                    }
                }
                let made =
                    sources.filter(|&source| matches!(dependence.node(source), Node::Stmt(_)));
                for source in made.collect::<Vec<_>>() {
                    self.push(source, value);
                }
            }
            op => {
                if op == Op::Return
                    && let Some(&given @ Operand::Const(_)) = operands.first()
                    && !self.is_excluded(given, value)
                {
                    self.turn(program.stmt(stmt).block, value);
                }
                for source in sources {
                    // What a function of the program returns; others make something else of what they are given.
                    let is_same = match (op, dependence.node(source)) {
                        (_, Node::Block(_) | Node::End) => continue,
                        (Op::Call(_), Node::Stmt(from)) => program.stmt(from).op == Op::Return,
                        (op, _) => matches!(op, Op::Cast(_) | Op::Return),
                    };
                    let is_read = value.is_read && is_same;
                    self.push(source, Value { is_read, ..value });
                }
            }
        }
    }

    /// The nearest first: only an assignment makes it farther.
    fn push(&mut self, node: u32, value: Value) {
        let value = Value { node, ..value };
        match value.steps > self.steps {
            true => self.work.push_back(value),
            false => self.work.push_front(value),
        }
    }

    fn turn(&mut self, block: BlockId, value: Value) {
        let is_known = self.found.iter().any(|turn| turn.block == block);
        if !is_known && self.found.len() < MOST_TURNS {
            let steps = value.steps;
            self.found.push(Turn { block, steps });
        }
    }

    /// A statement puts something where the value is read.
    fn assigned(&mut self, by: StmtId, value: Value) {
        if self.found.len() >= MOST_TURNS {
            return;
        }
        let program = self.dependence.program();
        let given = program.operands(by).first().copied();
        let given = given.filter(|_| self.dependence.is_store(by));
        if given.is_some_and(|given| self.is_excluded(given, value)) {
            return;
        }
        let is_made = given.is_some_and(|given| !matches!(given, Operand::Const(_)));
        // What is only handed on decides less than where it comes from.
        let is_copy = given.is_some_and(|given| is_copy(program, given));
        if !(value.is_read && is_copy) {
            self.turn(program.stmt(by).block, value);
        }
        if is_made {
            self.push(by.0, value);
        }
    }

    /// Callers that give a constant to a parameter.
    fn given(&mut self, value: Value) {
        let dependence = self.dependence;
        let program = dependence.program();
        let Some((function, index)) = dependence.nodes.parameter(value.node) else {
            return;
        };
        for &call in dependence.calls().callers(function) {
            // Not what is given to a function that calls it back.
            let is_called = program
                .called_function(call)
                .is_none_or(|known| known == function);
            if let Some(&given @ Operand::Const(_)) = program.arguments(call).get(index)
                && is_called
                && !self.is_excluded(given, value)
            {
                self.turn(program.stmt(call).block, value);
            }
        }
    }

    /// Whether the branch goes another way if the variable holds this.
    fn is_excluded(&self, given: Operand, value: Value) -> bool {
        let (Some(read), Operand::Const(_), true) = (self.read, given, value.is_read) else {
            return false;
        };
        let program = self.dependence.program();
        let test = Test { program, read };
        let Some((width, bits)) = test.value(given, 0, 0) else {
            return false;
        };
        // With its sign or without it, as it may become wider on the way.
        [bits, signed(bits, width) as u128].iter().all(|&held| {
            let to = test.way(self.branch, held);
            to.is_some_and(|to| to != self.to)
        })
    }
}

/// Whether a value is what a variable or parameter holds, perhaps as a number of another width.
fn is_copy(program: &Program, mut given: Operand) -> bool {
    for _ in 0..DEEPEST {
        given = match given {
            Operand::Param(_) => return true,
            Operand::Stmt(stmt) => match (program.stmt(stmt).op, program.operands(stmt)) {
                (Op::Load { .. }, _) => return true,
                (Op::Cast(_), &[of]) => of,
                _ => return false,
            },
            _ => return false,
        };
    }
    false
}

/// What a condition comes to if the only variable in it holds something.
struct Test<'p> {
    program: &'p Program,
    read: StmtId,
}

impl Test<'_> {
    /// The index of the successor.
    fn way(&self, branch: StmtId, held: u128) -> Option<u32> {
        let given = *self.program.operands(branch).first()?;
        let (width, value) = self.value(given, held, 0)?;
        match self.program.stmt(branch).op {
            Op::Branch => Some(u32::from(value & 1 == 0)),
            Op::Switch => {
                let cases = self.program.cases(branch)?;
                let case = cases.iter().position(|&case| cut(case, width) == value);
                Some(case.map_or(0, |case| case as u32 + 1))
            }
            _ => None,
        }
    }

    /// The width and the bits.
    fn value(&self, operand: Operand, held: u128, depth: u32) -> Option<(u32, u128)> {
        let stmt = match operand {
            Operand::Const(id) => match *self.program.constant(id) {
                Const::Int { width, bits } => return Some((width, bits)),
                _ => return None,
            },
            Operand::Stmt(stmt) if depth < DEEPEST => stmt,
            _ => return None,
        };
        let data = self.program.stmt(stmt);
        let Type::Int(width) = *self.program.ty(data.ty) else {
            return None;
        };
        if stmt == self.read {
            return Some((width, cut(held, width)));
        }
        let operands = self.program.operands(stmt);
        let of = |index: usize| self.value(*operands.get(index)?, held, depth + 1);
        let value = match data.op {
            Op::Cast(CastOp::Trunc | CastOp::ZExt) => of(0)?.1,
            Op::Cast(CastOp::SExt) => {
                let (from, value) = of(0)?;
                signed(value, from) as u128
            }
            Op::Compare(predicate) => {
                let ((width, left), (_, right)) = (of(0)?, of(1)?);
                u128::from(holds(predicate, width, left, right))
            }
            Op::Binary(op) => {
                let ((_, left), (_, right)) = (of(0)?, of(1)?);
                match op {
                    BinaryOp::Add => left.wrapping_add(right),
                    BinaryOp::Sub => left.wrapping_sub(right),
                    BinaryOp::And => left & right,
                    BinaryOp::Or => left | right,
                    BinaryOp::Xor => left ^ right,
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some((width, cut(value, width)))
    }
}

fn holds(predicate: Predicate, width: u32, left: u128, right: u128) -> bool {
    let (a, b) = (signed(left, width), signed(right, width));
    match predicate {
        Predicate::Eq => left == right,
        Predicate::Ne => left != right,
        Predicate::Ugt => left > right,
        Predicate::Uge => left >= right,
        Predicate::Ult => left < right,
        Predicate::Ule => left <= right,
        Predicate::Sgt => a > b,
        Predicate::Sge => a >= b,
        Predicate::Slt => a < b,
        Predicate::Sle => a <= b,
    }
}

/// The lowest bits.
fn cut(value: u128, width: u32) -> u128 {
    match width {
        0..=127 => value & ((1 << width) - 1),
        _ => value,
    }
}

/// What bits of this width mean.
fn signed(value: u128, width: u32) -> i128 {
    match width {
        1..=127 => ((value << (128 - width)) as i128) >> (128 - width),
        _ => value as i128,
    }
}
