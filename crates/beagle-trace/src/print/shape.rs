//! What one node looks like: an operator with its operands, after what goes without saying was left
//! out.
//!
//! C converts numbers without a sign of it, and so does the text: extensions are not shown where the
//! number stays the same if it is read as people read it, that is, bytes without sign and all else
//! with its sign. Where an operator reads a number that can be negative as one without sign, it is
//! shown as `u32(…)`.

use super::{Printer, text};
use crate::node::{Node, NodeId, mask};
use crate::op::Op;

/// How far to look into an expression to tell how to write it.
pub(super) const GLANCE: usize = 4;

/// How strongly an operator binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Choice,
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    Relation,
    Shift,
    Sum,
    Product,
    Unary,
    Atom,
}

impl Level {
    /// The next one that binds more.
    pub(super) fn above(self) -> Self {
        match self {
            Level::Choice => Level::Or,
            Level::Or => Level::And,
            Level::And => Level::BitOr,
            Level::BitOr => Level::BitXor,
            Level::BitXor => Level::BitAnd,
            Level::BitAnd => Level::Equal,
            Level::Equal => Level::Relation,
            Level::Relation => Level::Shift,
            Level::Shift => Level::Sum,
            Level::Sum => Level::Product,
            Level::Product => Level::Unary,
            Level::Unary | Level::Atom => Level::Atom,
        }
    }
}

/// How an operator looks at its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    /// As a number with sign.
    Plain,
    /// As a number without sign.
    Unsigned,
    /// As a condition that does not hold.
    Negated,
}

/// A part of an expression that is not yet written.
#[derive(Clone, Debug)]
pub(super) enum Child {
    Text(String, Level),
    Node(NodeId, View),
}

/// What a node looks like; `T` stands for its parts.
#[derive(Clone, Debug)]
pub(super) enum Shape<T> {
    Atom(String),
    Prefix(&'static str, T),
    Infix(&'static str, Level, [T; 2]),
    /// A name, arguments in parentheses, and what follows them.
    Call(String, Vec<T>, String),
    /// A name, an index in brackets, and what is added to the index.
    Index(String, T, String),
    Choice([T; 3]),
}

impl<T> Shape<T> {
    pub(super) fn level(&self) -> Level {
        match self {
            Shape::Atom(_) | Shape::Call(..) | Shape::Index(..) => Level::Atom,
            Shape::Prefix(..) => Level::Unary,
            Shape::Infix(_, level, _) => *level,
            Shape::Choice(_) => Level::Choice,
        }
    }

    pub(super) fn parts(&self) -> &[T] {
        match self {
            Shape::Atom(_) => &[],
            Shape::Prefix(_, part) | Shape::Index(_, part, _) => std::slice::from_ref(part),
            Shape::Infix(_, _, parts) => parts,
            Shape::Call(_, parts, _) => parts,
            Shape::Choice(parts) => parts,
        }
    }

    pub(super) fn map<U>(self, mut f: impl FnMut(T) -> U) -> Shape<U> {
        match self {
            Shape::Atom(text) => Shape::Atom(text),
            Shape::Prefix(operator, operand) => Shape::Prefix(operator, f(operand)),
            Shape::Infix(operator, level, operands) => {
                Shape::Infix(operator, level, operands.map(f))
            }
            Shape::Call(name, arguments, after) => {
                Shape::Call(name, arguments.into_iter().map(f).collect(), after)
            }
            Shape::Index(name, index, more) => Shape::Index(name, f(index), more),
            Shape::Choice(parts) => Shape::Choice(parts.map(f)),
        }
    }
}

/// How a constant is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    Signed,
    Unsigned,
    /// With sign only if it is a small negative number.
    Either,
    Bits,
    Float,
}

/// A comparison of integers, as it is written.
#[derive(Clone, Copy)]
pub(super) struct Relation {
    pub operator: &'static str,
    pub flipped: &'static str,
    pub negated: &'static str,
    pub negated_flipped: &'static str,
    pub level: Level,
    pub reading: Reading,
    pub view: View,
}

impl Relation {
    fn of(op: Op) -> Option<Self> {
        let [operator, flipped, negated, negated_flipped] = match op {
            Op::Eq => ["==", "==", "!=", "!="],
            Op::Ne => ["!=", "!=", "==", "=="],
            Op::Ult | Op::Slt => ["<", ">", ">=", "<="],
            Op::Ule | Op::Sle => ["<=", ">=", ">", "<"],
            _ => return None,
        };
        let (level, reading, view) = match op {
            Op::Eq | Op::Ne => (Level::Equal, Reading::Either, View::Plain),
            Op::Ult | Op::Ule => (Level::Relation, Reading::Unsigned, View::Unsigned),
            _ => (Level::Relation, Reading::Signed, View::Plain),
        };
        Some(Self {
            operator,
            flipped,
            negated,
            negated_flipped,
            level,
            reading,
            view,
        })
    }
}

impl Printer<'_> {
    /// The whole expression.
    pub(super) fn top(&self, id: NodeId) -> Child {
        match self.get(id) {
            Some((Op::Const, _)) => self.child(id, View::Plain, Reading::Either, None),
            Some(_) => Child::Node(id, View::Plain),
            None => Child::Text(format!("node{id}"), Level::Atom),
        }
    }

    /// The opposite of a condition.
    pub(super) fn negation(&self, id: NodeId) -> Child {
        match self.get(id) {
            Some((Op::Const, node)) => {
                Child::Text((1 - (node.value() & 1)).to_string(), Level::Atom)
            }
            Some(_) => Child::Node(id, View::Negated),
            None => self.top(id),
        }
    }

    pub(super) fn get(&self, id: NodeId) -> Option<(Op, &Node)> {
        let node = self.trace.node(id)?;
        Some((node.op()?, node))
    }

    pub(super) fn width(&self, id: NodeId) -> u16 {
        self.trace.node(id).map_or(1, |node| node.width.max(1))
    }

    /// The value, if the node is a constant.
    pub(super) fn constant(&self, id: NodeId) -> Option<u128> {
        match self.get(id)? {
            (Op::Const, node) => Some(node.value()),
            _ => None,
        }
    }

    /// An operand. A constant is written as a character if what it goes with is one.
    pub(super) fn child(
        &self,
        id: NodeId,
        view: View,
        reading: Reading,
        other: Option<NodeId>,
    ) -> Child {
        let Some(value) = self.constant(id) else {
            return Child::Node(id, view);
        };
        let width = self.width(id);
        if let Some(other) = other
            && self.is_character(other, GLANCE)
            && let Some(text) = text::character(value, width, reading == Reading::Either)
        {
            return Child::Text(text, Level::Atom);
        }
        let text = match reading {
            Reading::Signed => text::signed(value, width),
            Reading::Unsigned => text::unsigned(value),
            Reading::Either => text::either(value, width),
            Reading::Bits => text::bits(value),
            Reading::Float => text::float(value, width),
        };
        let level = match text.starts_with('-') {
            true => Level::Unary,
            false => Level::Atom,
        };
        Child::Text(text, level)
    }

    pub(super) fn plain(&self, id: NodeId) -> Child {
        self.child(id, View::Plain, Reading::Signed, None)
    }

    pub(super) fn unsigned(&self, id: NodeId) -> Child {
        self.child(id, View::Unsigned, Reading::Unsigned, None)
    }

    pub(super) fn real(&self, id: NodeId) -> Child {
        self.child(id, View::Plain, Reading::Float, None)
    }

    /// What a node that is not a constant looks like.
    pub(super) fn shape(&self, id: NodeId, view: View) -> Shape<Child> {
        let id = self.visible(id);
        let Some((op, node)) = self.get(id) else {
            return Shape::Atom(format!("node{id}"));
        };
        match view {
            View::Negated => self.negated(id, op, node),
            View::Unsigned if !self.is_natural(id, GLANCE) => self.cast("u", node.width, id),
            _ => self.operator(op, node),
        }
    }

    fn negated(&self, id: NodeId, op: Op, node: &Node) -> Shape<Child> {
        if let Some(shape) = self.string_equality(op, node, true) {
            return shape;
        }
        if let Some((inner, holds)) = self.truth(op, node) {
            let view = if holds { View::Negated } else { View::Plain };
            return self.shape(inner, view);
        }
        match op {
            Op::FCmp => self.float_comparison(15 ^ node.c, node),
            Op::Xor if self.constant(node.b) == Some(1) => self.shape(node.a, View::Plain),
            _ => match Relation::of(op) {
                Some(relation) => self.relation(relation, node, true),
                None => Shape::Prefix("!", Child::Node(id, View::Plain)),
            },
        }
    }

    fn operator(&self, op: Op, node: &Node) -> Shape<Child> {
        if let Some(shape) = self.string_equality(op, node, false) {
            return shape;
        }
        if let Some((inner, holds)) = self.truth(op, node) {
            let view = if holds { View::Plain } else { View::Negated };
            return self.shape(inner, view);
        }
        let call = |name: &str, arguments| Shape::Call(name.into(), arguments, String::new());
        let (a, b) = (node.a, node.b);
        match op {
            Op::Const => Shape::Atom(text::either(node.value(), node.width)),
            Op::Var => Shape::Atom(format!("{}[{b}]", self.source(a))),
            Op::Size => Shape::Atom(format!("size({})", self.source(a))),
            Op::ArgCount => Shape::Atom("argc".into()),
            Op::Add | Op::Sub => self.sum(op, node),
            Op::Mul if self.constant(b) == Some(mask(node.width)) => {
                Shape::Prefix("-", self.plain(a))
            }
            Op::Mul => Shape::Infix("*", Level::Product, self.ordered(node, Reading::Signed)),
            Op::SDiv => infix("/", Level::Product, self.plain(a), self.plain(b)),
            Op::SRem => infix("%", Level::Product, self.plain(a), self.plain(b)),
            Op::UDiv => infix("/", Level::Product, self.unsigned(a), self.unsigned(b)),
            Op::URem => infix("%", Level::Product, self.unsigned(a), self.unsigned(b)),
            Op::Shl => infix("<<", Level::Shift, self.plain(a), self.unsigned(b)),
            Op::LShr => infix(">>", Level::Shift, self.unsigned(a), self.unsigned(b)),
            Op::AShr => infix(">>", Level::Shift, self.plain(a), self.unsigned(b)),
            Op::And | Op::Or | Op::Xor => self.bits(op, node),
            Op::ZExt => self.cast("u", self.width(a), a),
            Op::SExt => self.shape(a, View::Plain),
            Op::Extract => self.extract(node),
            Op::Concat => self.concat(node),
            Op::Ite => self.choice(node),
            Op::Ctpop => call("popcount", vec![self.unsigned(a)]),
            Op::Ctlz => call("clz", vec![self.unsigned(a)]),
            Op::Cttz => call("ctz", vec![self.unsigned(a)]),
            Op::Bswap => call("bswap", vec![self.unsigned(a)]),
            Op::Bitreverse => call("bitreverse", vec![self.unsigned(a)]),
            Op::FAdd => infix("+", Level::Sum, self.real(a), self.real(b)),
            Op::FSub => infix("-", Level::Sum, self.real(a), self.real(b)),
            Op::FMul => infix("*", Level::Product, self.real(a), self.real(b)),
            Op::FDiv => infix("/", Level::Product, self.real(a), self.real(b)),
            Op::FNeg => Shape::Prefix("-", self.real(a)),
            Op::FRem => call("fmod", vec![self.real(a), self.real(b)]),
            Op::FMin => call("fmin", vec![self.real(a), self.real(b)]),
            Op::FMax => call("fmax", vec![self.real(a), self.real(b)]),
            Op::FCopysign => call("copysign", vec![self.real(a), self.real(b)]),
            Op::FAbs => call("fabs", vec![self.real(a)]),
            Op::FSqrt => call("sqrt", vec![self.real(a)]),
            Op::FFloor => call("floor", vec![self.real(a)]),
            Op::FCeil => call("ceil", vec![self.real(a)]),
            Op::FTrunc => call("trunc", vec![self.real(a)]),
            Op::FRound => call("round", vec![self.real(a)]),
            Op::FRint => call("rint", vec![self.real(a)]),
            Op::FCmp => self.float_comparison(node.c, node),
            Op::FpToSi => call(&format!("i{}", node.width), vec![self.real(a)]),
            Op::FpToUi => call(&format!("u{}", node.width), vec![self.real(a)]),
            Op::SiToFp => call(float_type(node.width), vec![self.plain(a)]),
            Op::UiToFp => call(float_type(node.width), vec![self.unsigned(a)]),
            Op::FpCast => call(float_type(node.width), vec![self.real(a)]),
            Op::Lookup => self.lookup(node),
            Op::RenderByte | Op::RenderLen => self.rendering(op, node),
            Op::Ult | Op::Ule | Op::Slt | Op::Sle | Op::Eq | Op::Ne => match Relation::of(op) {
                Some(relation) => self.relation(relation, node, false),
                None => Shape::Atom(format!("{op:?}")),
            },
        }
    }
}

pub(super) fn infix(
    operator: &'static str,
    level: Level,
    left: Child,
    right: Child,
) -> Shape<Child> {
    Shape::Infix(operator, level, [left, right])
}

fn float_type(width: u16) -> &'static str {
    if width == 32 { "float" } else { "double" }
}
