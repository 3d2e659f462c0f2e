//! The operators that take some thought to write.

use super::shape::{Child, GLANCE, Level, Reading, Relation, Shape, View, infix};
use super::{Printer, text};
use crate::blob::Blob;
use crate::node::{Node, NodeId, mask};
use crate::op::Op;

/// No chain of conversions or sums with constants that someone wrote is longer.
const MAX_CHAIN: usize = 16;

impl Printer<'_> {
    /// The node that is shown for this one: conversions that go without saying are skipped.
    pub(super) fn visible(&self, mut id: NodeId) -> NodeId {
        for _ in 0..MAX_CHAIN {
            let Some((op, node)) = self.get(id) else {
                break;
            };
            id = match op {
                Op::SExt => node.a,
                Op::ZExt if self.is_natural(node.a, GLANCE) => node.a,
                Op::Extract if node.c == 0 => match self.get(node.a) {
                    Some((Op::ZExt | Op::SExt, inner)) if self.width(inner.a) == node.width => {
                        inner.a
                    }
                    _ => break,
                },
                Op::Add | Op::Sub => match self.offset(node) {
                    Some((inner, 0)) => inner,
                    _ => break,
                },
                _ => break,
            };
        }
        id
    }

    /// Whether people read the node as a number that is not negative, as the bits without sign are.
    pub(super) fn is_natural(&self, id: NodeId, glance: usize) -> bool {
        let Some((op, node)) = self.get(id) else {
            return false;
        };
        if node.width == 1 {
            return true;
        }
        let Some(glance) = glance.checked_sub(1) else {
            return false;
        };
        let natural = |id| self.is_natural(id, glance);
        match op {
            Op::Const => node.value() >> (node.width - 1) == 0,
            Op::Var
            | Op::Size
            | Op::ArgCount
            | Op::ZExt
            | Op::Extract
            | Op::Concat
            | Op::Lookup
            | Op::RenderByte
            | Op::RenderLen
            | Op::Ctpop
            | Op::Ctlz
            | Op::Cttz
            | Op::FpToUi => true,
            Op::And => natural(node.a) || natural(node.b),
            Op::Or | Op::Xor => natural(node.a) && natural(node.b),
            Op::UDiv | Op::LShr | Op::AShr => natural(node.a),
            Op::URem => natural(node.a) || natural(node.b),
            Op::SRem | Op::SDiv => natural(node.a) && natural(node.b),
            Op::Ite => natural(node.b) && natural(node.c),
            _ => false,
        }
    }

    /// Whether the node is a byte that people read as a character.
    pub(super) fn is_character(&self, id: NodeId, glance: usize) -> bool {
        let Some(glance) = glance.checked_sub(1) else {
            return false;
        };
        match self.get(self.visible(id)) {
            Some((Op::Var | Op::RenderByte, _)) => true,
            Some((Op::Lookup, node)) => node.width == 8,
            Some((Op::Ite, node)) => {
                self.is_character(node.b, glance) || self.is_character(node.c, glance)
            }
            _ => false,
        }
    }

    /// For a comparison of a condition, taken as a number, with 0: the condition, and whether it
    /// holds if the comparison does. Also for a condition that is chosen by another.
    pub(super) fn truth(&self, op: Op, node: &Node) -> Option<(NodeId, bool)> {
        match op {
            Op::Eq | Op::Ne => {
                let inner = self.visible(node.a);
                if let Some((condition, holds)) = self.end_of_file(inner, node.b) {
                    return Some((condition, holds == (op == Op::Eq)));
                }
                let number = self.constant(node.b).filter(|&number| number <= 1)?;
                // A condition that is extended by its sign is -1, not 1.
                let plain = number == 0 || !matches!(self.get(node.a), Some((Op::SExt, _)));
                (plain && self.width(inner) == 1)
                    .then_some((inner, (number == 1) == (op == Op::Eq)))
            }
            Op::Ite => match (self.constant(node.b)?, self.constant(node.c)?) {
                (1, 0) => Some((node.a, true)),
                (0, 1) => Some((node.a, false)),
                _ => None,
            },
            Op::Xor if node.width == 1 && self.constant(node.b) == Some(1) => Some((node.a, false)),
            _ => None,
        }
    }

    /// For a choice between a byte and a negative number, such as `EOF`, that is compared with that
    /// number: the condition of the choice, and whether it holds if they are equal.
    fn end_of_file(&self, choice: NodeId, number: NodeId) -> Option<(NodeId, bool)> {
        let (Op::Ite, node) = self.get(choice)? else {
            return None;
        };
        let value = self.constant(number)?;
        if self.is_natural(number, GLANCE) {
            return None;
        }
        // The highest bit of the number is 1, that of an extended byte is 0.
        let other = |id| matches!(self.get(id), Some((Op::ZExt, _)));
        if self.constant(node.c) == Some(value) && other(node.b) {
            Some((node.a, false))
        } else if self.constant(node.b) == Some(value) && other(node.c) {
            Some((node.a, true))
        } else {
            None
        }
    }

    pub(super) fn relation(&self, relation: Relation, node: &Node, negate: bool) -> Shape<Child> {
        let flip = self.constant(node.a).is_some() && self.constant(node.b).is_none();
        let (left, right) = match flip {
            true => (node.b, node.a),
            false => (node.a, node.b),
        };
        let operator = match (negate, flip) {
            (false, false) => relation.operator,
            (false, true) => relation.flipped,
            (true, false) => relation.negated,
            (true, true) => relation.negated_flipped,
        };
        let child = |id, other| self.child(id, relation.view, relation.reading, Some(other));
        infix(
            operator,
            relation.level,
            child(left, right),
            child(right, left),
        )
    }

    /// The operands with a constant at the right.
    pub(super) fn ordered(&self, node: &Node, reading: Reading) -> [Child; 2] {
        let child = |id| self.child(id, View::Plain, reading, None);
        match self.constant(node.a) {
            Some(_) => [child(node.b), child(node.a)],
            None => [child(node.a), child(node.b)],
        }
    }

    /// The node to which constants are added, and their sum, if there are any.
    pub(super) fn offset(&self, node: &Node) -> Option<(NodeId, i128)> {
        let width = node.width;
        let wrap = |sum: u128| text::sign_extend(sum & mask(width), width);
        let (mut sum, mut inner, mut current) = (0u128, None, node);
        for _ in 0..MAX_CHAIN {
            let (a, b) = (current.a, current.b);
            let (next, change) = match (current.op(), self.constant(a), self.constant(b)) {
                (Some(Op::Add), _, Some(number)) => (a, number),
                (Some(Op::Add), Some(number), _) => (b, number),
                (Some(Op::Sub), _, Some(number)) => (a, number.wrapping_neg()),
                _ => break,
            };
            sum = sum.wrapping_add(change);
            inner = Some(next);
            match self.get(next) {
                Some((_, node)) => current = node,
                None => break,
            }
        }
        inner.map(|inner| (inner, wrap(sum)))
    }

    pub(super) fn sum(&self, op: Op, node: &Node) -> Shape<Child> {
        if let Some((inner, number)) = self.offset(node)
            && self.constant(inner).is_none()
        {
            let operator = if number < 0 { "-" } else { "+" };
            let number = self.addend(inner, number);
            let number = Child::Text(number, Level::Atom);
            return infix(operator, Level::Sum, self.plain(inner), number);
        }
        match op {
            Op::Sub if self.constant(node.a) == Some(0) => Shape::Prefix("-", self.plain(node.b)),
            Op::Sub => {
                let left = self.child(node.a, View::Plain, Reading::Signed, Some(node.b));
                infix("-", Level::Sum, left, self.plain(node.b))
            }
            _ => Shape::Infix("+", Level::Sum, self.ordered(node, Reading::Signed)),
        }
    }

    /// A number that is added or subtracted: the distance of characters is that of a character.
    fn addend(&self, inner: NodeId, number: i128) -> String {
        let size = number.unsigned_abs();
        let digit = number == 48
            && matches!(
                self.get(self.visible(inner)),
                Some((Op::URem | Op::SRem, _))
            );
        // A distance of 32 is that of capital and small letters.
        let letter = (33..=126).contains(&size) && number < 0;
        if digit || letter && self.is_character(inner, GLANCE) {
            text::character(size, 8, false).unwrap_or_else(|| size.to_string())
        } else {
            size.to_string()
        }
    }

    pub(super) fn bits(&self, op: Op, node: &Node) -> Shape<Child> {
        let all = mask(node.width);
        if node.width == 1 {
            let conditions = [self.plain(node.a), self.plain(node.b)];
            return match op {
                Op::And => Shape::Infix("&&", Level::And, conditions),
                Op::Or => Shape::Infix("||", Level::Or, conditions),
                _ => Shape::Infix("!=", Level::Equal, conditions),
            };
        }
        if op == Op::Xor && self.constant(node.b) == Some(all) {
            return Shape::Prefix("~", self.plain(node.a));
        }
        let (operator, level) = match op {
            Op::And => ("&", Level::BitAnd),
            Op::Or => ("|", Level::BitOr),
            _ => ("^", Level::BitXor),
        };
        Shape::Infix(operator, level, self.ordered(node, Reading::Bits))
    }

    /// A conversion that changes the number.
    pub(super) fn cast(&self, kind: &str, width: u16, id: NodeId) -> Shape<Child> {
        let name = format!("{kind}{width}");
        Shape::Call(name, vec![self.plain(id)], String::new())
    }

    pub(super) fn extract(&self, node: &Node) -> Shape<Child> {
        match node.c {
            0 if node.width == 1 => {
                let one = Child::Text("1".into(), Level::Atom);
                infix("&", Level::BitAnd, self.plain(node.a), one)
            }
            0 => self.cast("u", node.width, node.a),
            low => {
                let name = if node.width == 1 { "bit" } else { "bits" };
                let place = match node.width {
                    1 => low.to_string(),
                    width => format!("{low}..{}", low + u32::from(width)),
                };
                let arguments = vec![self.plain(node.a), Child::Text(place, Level::Atom)];
                Shape::Call(name.into(), arguments, String::new())
            }
        }
    }

    /// Bytes put together. Those that follow each other in the input are shown as a range.
    pub(super) fn concat(&self, node: &Node) -> Shape<Child> {
        let mut leaves = Vec::new();
        let mut rest = vec![node.b, node.a];
        while let Some(id) = rest.pop() {
            match self.get(id) {
                Some((Op::Concat, inner)) => rest.extend([inner.b, inner.a]),
                _ => leaves.push(id),
            }
        }
        if let Some(text) = self.range(&leaves) {
            return Shape::Atom(text);
        }
        let bits = |&id: &NodeId| self.child(id, View::Plain, Reading::Bits, None);
        Shape::Call(
            "concat".into(),
            leaves.iter().map(bits).collect(),
            String::new(),
        )
    }

    fn range(&self, leaves: &[NodeId]) -> Option<String> {
        let mut bytes = Vec::new();
        for &leaf in leaves {
            match self.get(leaf)? {
                (Op::Var, node) => bytes.push((node.a, node.b)),
                _ => return None,
            }
        }
        let (source, first) = *bytes.first()?;
        let (_, last) = *bytes.last()?;
        let follows = |step: i64| {
            bytes.windows(2).all(|pair| {
                pair[0].0 == pair[1].0 && i64::from(pair[1].1) - i64::from(pair[0].1) == step
            })
        };
        let name = self.source(source);
        // The high byte comes first here.
        if follows(-1) {
            Some(format!("{name}[{last}..{}]", u64::from(first) + 1))
        } else if follows(1) {
            Some(format!("be({name}[{first}..{}])", u64::from(last) + 1))
        } else {
            None
        }
    }

    pub(super) fn choice(&self, node: &Node) -> Shape<Child> {
        let child = |id, other| self.child(id, View::Plain, Reading::Either, Some(other));
        Shape::Choice([
            self.plain(node.a),
            child(node.b, node.c),
            child(node.c, node.b),
        ])
    }

    /// A comparison of floats by LLVM's predicate.
    pub(super) fn float_comparison(&self, predicate: u32, node: &Node) -> Shape<Child> {
        let operands = || [self.real(node.a), self.real(node.b)];
        let relation = |operator, level| Shape::Infix(operator, level, operands());
        let named = |name: &str| Shape::Call(name.into(), operands().into(), String::new());
        match predicate & 15 {
            0 => Shape::Atom("0".into()),
            1 => relation("==", Level::Equal),
            2 => relation(">", Level::Relation),
            3 => relation(">=", Level::Relation),
            4 => relation("<", Level::Relation),
            5 => relation("<=", Level::Relation),
            6 => named("islessgreater"),
            7 => named("!isunordered"),
            8 => named("isunordered"),
            9 => named("!islessgreater"),
            // The opposite of an ordered comparison also holds if one side is not a number.
            10 => named("!islessequal"),
            11 => named("!isless"),
            12 => named("!isgreaterequal"),
            13 => named("!isgreater"),
            14 => relation("!=", Level::Equal),
            _ => Shape::Atom("1".into()),
        }
    }

    pub(super) fn lookup(&self, node: &Node) -> Shape<Child> {
        let bytes = u128::from(node.width / 8);
        let name = match self.trace.blob(node.b) {
            Some(Blob::Table {
                bytes: content,
                cells: None,
                ..
            }) if bytes == 1 => text::string(content).unwrap_or_else(|| "table".into()),
            _ => "table".into(),
        };
        if bytes == 1 {
            return Shape::Index(name, self.plain(node.a), String::new());
        }
        // The offset of an element is its index times its size, and that of the first element.
        let offset = self.visible(node.a);
        let (inner, more) = match self.get(offset) {
            Some((Op::Add | Op::Sub, sum)) => self.offset(sum).unwrap_or((offset, 0)),
            _ => (offset, 0),
        };
        let size = i128::from(node.width / 8);
        match self.scaled(inner, bytes) {
            Some(index) if more % size == 0 => {
                let more = match more / size {
                    0 => String::new(),
                    more if more < 0 => format!(" - {}", more.unsigned_abs()),
                    more => format!(" + {more}"),
                };
                Shape::Index(name, self.plain(index), more)
            }
            _ => {
                let arguments = vec![Child::Text(name, Level::Atom), self.plain(node.a)];
                Shape::Call(format!("load{}", node.width), arguments, String::new())
            }
        }
    }

    /// What the node is a multiple of, by this factor.
    fn scaled(&self, id: NodeId, factor: u128) -> Option<NodeId> {
        match self.get(self.visible(id))? {
            (Op::Mul, node) if self.constant(node.b) == Some(factor) => Some(node.a),
            (Op::Mul, node) if self.constant(node.a) == Some(factor) => Some(node.b),
            (Op::Shl, node)
                if factor.is_power_of_two()
                    && self.constant(node.b) == Some(factor.ilog2().into()) =>
            {
                Some(node.a)
            }
            _ => None,
        }
    }

    /// What `printf` makes of a value.
    pub(super) fn rendering(&self, op: Op, node: &Node) -> Shape<Child> {
        let conversion = self.trace.conversion(node.b).unwrap_or("%?");
        let conversion = Child::Text(format!("\"{}\"", conversion.replace("ll", "")), Level::Atom);
        let arguments = vec![conversion, self.plain(node.a)];
        match op {
            Op::RenderLen => Shape::Call("length(format".into(), arguments, ")".into()),
            _ => Shape::Call("format".into(), arguments, format!("[{}]", node.c)),
        }
    }
}
