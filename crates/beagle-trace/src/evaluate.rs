//! Computes the expressions of a trace for any input.
//!
//! For the input of the run this must give the values that were recorded; for another input it says
//! what the same path would have computed. A value is undefined where an operator is not defined,
//! and where it depends on such a value.

use std::collections::HashMap;

use crate::arithmetic::{self, Value};
use crate::blob::Blob;
use crate::conversion::Conversion;
use crate::input::Input;
use crate::node::{Node, NodeId, mask};
use crate::op::{Arity, Op};
use crate::trace::Trace;

/// The values of all nodes of a trace for one input.
#[derive(Clone, Debug)]
pub struct Values {
    bits: Vec<u128>,
    defined: Vec<bool>,
}

impl Values {
    /// The value of a node; `None` if it is undefined or there is no such node.
    pub fn get(&self, id: NodeId) -> Option<u128> {
        let index = id as usize;
        (*self.defined.get(index)?).then(|| self.bits[index])
    }

    /// One more than the greatest number of a node.
    pub fn len(&self) -> usize {
        self.bits.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.len() <= 1
    }

    fn push(&mut self, value: Option<u128>) {
        self.bits.push(value.unwrap_or(0));
        self.defined.push(value.is_some());
    }
}

/// Computes all nodes, in time linear in their number.
pub fn evaluate(trace: &Trace<'_>, input: &Input) -> Values {
    let nodes = trace.nodes();
    let mut evaluator = Evaluator {
        trace,
        nodes,
        contents: input.sources.iter().map(|s| s.content()).collect(),
        arguments: input.arg_count(),
        values: Values {
            bits: Vec::with_capacity(nodes.len()),
            defined: Vec::with_capacity(nodes.len()),
        },
        conversions: HashMap::new(),
        rendered: None,
    };
    evaluator.values.push(None);
    for node in nodes.iter().skip(1) {
        let value = evaluator.node(node);
        evaluator
            .values
            .push(value.map(|bits| bits & mask(node.width)));
    }
    evaluator.values
}

/// Whether two values of a node count as the same: one NaN is like another, since C says nothing of
/// what is inside them, nor which zero `fmin` and `fmax` choose.
pub fn same_value(node: &Node, a: u128, b: u128) -> bool {
    if a == b {
        return true;
    }
    let Some(op) = node.op() else { return false };
    let float = |bits: u128| match node.width {
        32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits as u64),
    };
    match op {
        Op::FMin | Op::FMax if float(a) == 0.0 && float(b) == 0.0 => true,
        Op::FAdd
        | Op::FSub
        | Op::FMul
        | Op::FDiv
        | Op::FRem
        | Op::FSqrt
        | Op::FMin
        | Op::FMax
        | Op::FFloor
        | Op::FCeil
        | Op::FTrunc
        | Op::FRound
        | Op::FRint
        | Op::FNeg
        | Op::FAbs
        | Op::FCopysign
        | Op::FpCast => float(a).is_nan() && float(b).is_nan(),
        _ => false,
    }
}

struct Evaluator<'a> {
    trace: &'a Trace<'a>,
    nodes: &'a [Node],
    contents: Vec<&'a [u8]>,
    arguments: u32,
    values: Values,
    conversions: HashMap<u32, Option<Conversion>>,
    /// The bytes of one text are asked for one after the other.
    rendered: Option<Rendered>,
}

struct Rendered {
    node: NodeId,
    conversion: u32,
    text: Option<Vec<u8>>,
}

impl Evaluator<'_> {
    fn node(&mut self, node: &Node) -> Option<u128> {
        let op = node.op()?;
        let content = |source: u32| self.contents.get(source as usize);
        match op {
            Op::Const => Some(node.value()),
            Op::Var => {
                let byte = content(node.a).and_then(|bytes| bytes.get(node.b as usize));
                Some(byte.copied().unwrap_or(0).into())
            }
            Op::Size => Some(content(node.a).map_or(0, |bytes| bytes.len() as u128)),
            Op::ArgCount => Some(self.arguments.into()),
            Op::Ite => match self.value(node.a)?.bits {
                0 => Some(self.value(node.c)?.bits),
                _ => Some(self.value(node.b)?.bits),
            },
            Op::Lookup => self.lookup(node),
            Op::RenderByte => {
                let byte = self.render(node)?.get(node.c as usize);
                Some(byte.copied().unwrap_or(0).into())
            }
            Op::RenderLen => Some(self.render(node)?.len() as u128),
            _ if op.arity() == Arity::One => {
                arithmetic::unary(op, node.width, self.value(node.a)?, node.c)
            }
            _ => {
                let (a, b) = (self.value(node.a)?, self.value(node.b)?);
                arithmetic::binary(op, node.width, a, b, node.c)
            }
        }
    }

    fn value(&self, id: NodeId) -> Option<Value> {
        Some(Value {
            bits: self.values.get(id)?,
            width: self.nodes.get(id as usize)?.width,
        })
    }

    fn lookup(&self, node: &Node) -> Option<u128> {
        let Blob::Table { bytes, cells, .. } = self.trace.blob(node.b)? else {
            return None;
        };
        let start = usize::try_from(self.value(node.a)?.bits).ok()?;
        let end = start.checked_add(usize::from(node.width / 8))?;
        if end > bytes.len() {
            return None;
        }
        let mut result = 0;
        for index in (start..end).rev() {
            let byte = match cells.and_then(|cells| cells.get(index)) {
                Some((id, byte)) => self.values.get(id)?.checked_shr(byte * 8)? as u8,
                None => bytes[index],
            };
            result = result << 8 | u128::from(byte);
        }
        Some(result)
    }

    /// The text of the operand of a node.
    fn render(&mut self, node: &Node) -> Option<&[u8]> {
        let same = self
            .rendered
            .as_ref()
            .is_some_and(|last| (last.node, last.conversion) == (node.a, node.b));
        if !same {
            let value = self.value(node.a);
            let conversion = self.conversions.entry(node.b).or_insert_with(|| {
                let text = self.trace.conversion(node.b)?;
                Conversion::parse(text)
            });
            let text = match (conversion, value) {
                (Some(conversion), Some(value)) => conversion.render(value.bits, value.width),
                _ => None,
            };
            self.rendered = Some(Rendered {
                node: node.a,
                conversion: node.b,
                text,
            });
        }
        self.rendered.as_ref()?.text.as_deref()
    }
}

#[cfg(test)]
mod tests;
