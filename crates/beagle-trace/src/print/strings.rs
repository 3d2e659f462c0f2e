//! Comparisons of strings, as `strcmp` and its kin leave them: a chain of choices that gives the
//! difference of the first bytes that differ, compared with 0. They are shown as `arg1 == "--help"`.

use super::shape::{Child, Level, Shape};
use super::{Printer, text};
use crate::input::SourceKind;
use crate::node::{Node, NodeId};
use crate::op::Op;

/// No keyword is longer.
const MAX_BYTES: usize = 200;

/// A byte of the input, and what it is compared with.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Match {
    source: u32,
    index: u32,
    byte: u8,
}

impl Printer<'_> {
    /// For a comparison with 0 that holds, or does not, if bytes of the input are a string.
    pub(super) fn string_equality(
        &self,
        op: Op,
        node: &Node,
        negate: bool,
    ) -> Option<Shape<Child>> {
        if !matches!(op, Op::Eq | Op::Ne) || self.constant(node.b) != Some(0) {
            return None;
        }
        let bytes = self.compared(node.a)?;
        let operator = if (op == Op::Eq) != negate { "==" } else { "!=" };
        let (name, text) = self.as_string(&bytes)?;
        let sides = [name, text].map(|text| Child::Text(text, Level::Atom));
        Some(Shape::Infix(operator, Level::Equal, sides))
    }

    /// The bytes that all have to match for the node to be 0.
    fn compared(&self, mut id: NodeId) -> Option<Vec<Match>> {
        let mut bytes = Vec::new();
        while bytes.len() < MAX_BYTES {
            id = self.visible(id);
            let (op, node) = self.get(id)?;
            match op {
                Op::Const if node.value() == 0 => break,
                Op::Ite => {
                    let (found, differ, same) = self.choice_of_match(node)?;
                    self.is_difference(differ, found).then_some(())?;
                    bytes.push(found);
                    id = same;
                }
                _ => {
                    bytes.push(self.last_match(id)?);
                    break;
                }
            }
        }
        (2..MAX_BYTES).contains(&bytes.len()).then_some(bytes)
    }

    /// The byte that a choice looks at, what it chooses if that differs, and what if not.
    fn choice_of_match(&self, choice: &Node) -> Option<(Match, NodeId, NodeId)> {
        let (op, condition) = self.get(choice.a)?;
        let found = self.matched(condition.a, self.constant(condition.b)?)?;
        match op {
            Op::Ne => Some((found, choice.b, choice.c)),
            Op::Eq => Some((found, choice.c, choice.b)),
            _ => None,
        }
    }

    fn matched(&self, id: NodeId, value: u128) -> Option<Match> {
        match self.get(self.visible(id))? {
            (Op::Var, node) => Some(Match {
                source: node.a,
                index: node.b,
                byte: u8::try_from(value).ok()?,
            }),
            _ => None,
        }
    }

    /// The last bytes are compared by their difference alone.
    fn last_match(&self, id: NodeId) -> Option<Match> {
        let (op, node) = self.get(id)?;
        match op {
            Op::Var => self.matched(id, 0),
            Op::Add | Op::Sub => {
                let (inner, number) = match self.constant(node.a) {
                    Some(number) if op == Op::Sub => (node.b, i128::try_from(number).ok()?),
                    _ => {
                        let (inner, number) = self.offset(node)?;
                        (inner, number.checked_neg()?)
                    }
                };
                self.matched(inner, u128::try_from(number).ok()?)
            }
            _ => None,
        }
    }

    /// Whether the node is not 0 if the byte does not match.
    fn is_difference(&self, id: NodeId, found: Match) -> bool {
        let not_zero = |id| self.constant(id).is_some_and(|value| value != 0);
        match self.get(self.visible(id)) {
            Some((Op::Ite, node)) => not_zero(node.b) && not_zero(node.c),
            Some((Op::Const, node)) => node.value() != 0,
            Some(_) => self.last_match(self.visible(id)) == Some(found),
            None => false,
        }
    }

    /// Bytes that follow each other as the name of their place and the string.
    fn as_string(&self, bytes: &[Match]) -> Option<(String, String)> {
        let first = *bytes.first()?;
        let follows = bytes
            .iter()
            .zip(first.index..)
            .all(|(found, index)| (found.source, found.index) == (first.source, index));
        follows.then_some(())?;
        let text: Vec<u8> = bytes.iter().map(|found| found.byte).collect();
        let name = self.source(first.source);
        let source = self.input.sources.get(first.source as usize)?;
        let ended = text.strip_suffix(&[0]);
        let place = match (ended, first.index) {
            (Some(_), 0)
                if matches!(source.kind, SourceKind::Argument | SourceKind::Environment) =>
            {
                name
            }
            (Some(_), start) => format!("{name}[{start}..]"),
            (None, start) => format!("{name}[{start}..{}]", start as usize + text.len()),
        };
        Some((place, text::quoted(ended.unwrap_or(&text))))
    }
}
