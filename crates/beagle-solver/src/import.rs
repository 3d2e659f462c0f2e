//! Brings the expressions of a run into the pool.

use beagle_trace::node::{NodeId, mask};
use beagle_trace::op::{Arity, Op};
use beagle_trace::{Blob, Input, Trace};
use rustc_hash::FxHashMap;

use crate::pool::{Expr, Pool, Table, Term};
use crate::variable::{Source, SourceKey, VariableKind};

/// Knows which node of one run is which expression.
#[derive(Debug)]
pub struct Importer<'a> {
    trace: &'a Trace<'a>,
    sources: Vec<Source>,
    done: Vec<Option<Expr>>,
    tables: FxHashMap<u32, u32>,
}

impl<'a> Importer<'a> {
    /// For a run on this input.
    pub fn new(pool: &mut Pool, trace: &'a Trace<'a>, input: &Input) -> Self {
        let keys = SourceKey::of_input(input);
        Self {
            trace,
            sources: keys.iter().map(|key| pool.source(key)).collect(),
            done: vec![None; trace.nodes().len()],
            tables: FxHashMap::default(),
        }
    }

    /// The expression of a node; `None` if there is no such node, or it names a source that the
    /// input does not have.
    pub fn expr(&mut self, pool: &mut Pool, node: NodeId) -> Option<Expr> {
        let mut todo = vec![node];
        while let Some(&id) = todo.last() {
            if self.known(id).is_some() {
                todo.pop();
                continue;
            }
            let before = todo.len();
            self.missing(id, &mut todo)?;
            if todo.len() == before {
                let expr = self.translate(pool, id)?;
                self.done[id as usize] = Some(expr);
                todo.pop();
            }
        }
        self.known(node)
    }

    fn known(&self, id: NodeId) -> Option<Expr> {
        *self.done.get(id as usize)?
    }

    /// Adds the operands that are not known yet.
    fn missing(&self, id: NodeId, todo: &mut Vec<NodeId>) -> Option<()> {
        let node = self.trace.node(id)?;
        let op = node.op()?;
        let fields = [node.a, node.b, node.c];
        let count = match op.arity() {
            Arity::Leaf => 0,
            Arity::One => 1,
            Arity::Two => 2,
            Arity::Three => 3,
        };
        let unknown = |&id: &NodeId| self.known(id).is_none();
        todo.extend(fields[..count].iter().copied().filter(unknown));
        if op == Op::Lookup
            && !self.tables.contains_key(&node.b)
            && let Some(Blob::Table {
                cells: Some(cells), ..
            }) = self.trace.blob(node.b)
        {
            let nodes = (0..cells.len()).filter_map(|index| Some(cells.get(index)?.0));
            todo.extend(nodes.filter(unknown));
        }
        Some(())
    }

    fn translate(&mut self, pool: &mut Pool, id: NodeId) -> Option<Expr> {
        let node = self.trace.node(id)?;
        let op = node.op()?;
        let source = |number: u32| self.sources.get(number as usize).copied();
        let operand = |id: NodeId| self.known(id).map(|expr| expr.0);
        let (mut a, mut b, mut c) = (node.a, node.b, node.c);
        match op {
            Op::Const => return Some(pool.constant(node.width, node.value() & mask(node.width))),
            Op::Var => return Some(pool.variable(VariableKind::Byte(source(a)?, b))),
            Op::Size => return Some(pool.variable(VariableKind::Size(source(a)?))),
            Op::ArgCount => return Some(pool.variable(VariableKind::ArgCount)),
            Op::Lookup => {
                a = operand(a)?;
                b = self.table(pool, b)?;
                c = 0;
            }
            Op::RenderByte | Op::RenderLen => {
                let Blob::Conversion(text) = self.trace.blob(b)? else {
                    return None;
                };
                (a, b) = (operand(a)?, pool.add_conversion(text));
                c = if op == Op::RenderByte { c } else { 0 };
            }
            // Fields that say nothing are 0, so that equal expressions are equal terms.
            _ => match op.arity() {
                Arity::Leaf => return None,
                Arity::One => {
                    (a, b) = (operand(a)?, 0);
                    c = if op == Op::Extract { c } else { 0 };
                }
                Arity::Two => {
                    (a, b) = (operand(a)?, operand(b)?);
                    c = if op == Op::FCmp { c } else { 0 };
                }
                Arity::Three => (a, b, c) = (operand(a)?, operand(b)?, operand(c)?),
            },
        }
        let width = node.width;
        Some(pool.make(Term { op, width, a, b, c }))
    }

    fn table(&mut self, pool: &mut Pool, blob: u32) -> Option<u32> {
        if let Some(&number) = self.tables.get(&blob) {
            return Some(number);
        }
        let Blob::Table { bytes, cells, .. } = self.trace.blob(blob)? else {
            return None;
        };
        let mut bytes = bytes.to_vec();
        let mut exprs = Vec::new();
        for (index, constant) in bytes.iter_mut().enumerate() {
            if let Some((node, byte)) = cells.and_then(|cells| cells.get(index)) {
                let whole = self.known(node)?;
                let cell = pool.extract(whole, (byte * 8) as u16, 8);
                match pool.value(cell) {
                    Some(value) => *constant = value as u8,
                    None => {
                        *constant = 0;
                        exprs.push((index as u32, cell));
                    }
                }
            }
        }
        let number = pool.add_table(Table {
            bytes,
            cells: exprs,
        });
        self.tables.insert(blob, number);
        Some(number)
    }
}
