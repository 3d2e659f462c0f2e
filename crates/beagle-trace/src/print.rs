//! Expressions as people write them: `(arg1[0] - '0') * 10 + (arg1[1] - '0') > 600`.
//!
//! Expressions share parts and can be very deep, so the text of one can be far too long. Therefore a
//! tree is grown from the top, level by level, up to a number of cells (see `shape` for what a node
//! looks like); then the greatest number of cells is chosen whose text fits, and what hangs below
//! them becomes `…`. The work is bounded by the length of the text, whatever the expression.

mod parts;
mod shape;
mod strings;
mod text;

use std::collections::VecDeque;

use crate::input::{Input, SourceKind};
use crate::node::NodeId;
use crate::trace::Trace;
use shape::{Child, Level, Shape};

const ELISION: &str = "…";
/// How long a text is unless someone asks for another length.
const DEFAULT_LENGTH: usize = 160;
/// No tree grows deeper, since it is walked by recursion.
const MAX_DEPTH: usize = 150;
/// No tree has more cells.
const MAX_CELLS: usize = 100_000;

/// Writes expressions of one trace.
#[derive(Clone, Copy, Debug)]
pub struct Printer<'a> {
    trace: &'a Trace<'a>,
    input: &'a Input,
    max_len: usize,
}

impl<'a> Printer<'a> {
    /// A printer for the expressions of a trace; the input gives the names of the sources.
    pub fn new(trace: &'a Trace<'a>, input: &'a Input) -> Self {
        Self {
            trace,
            input,
            max_len: DEFAULT_LENGTH,
        }
    }

    /// Sets how many characters a text may have.
    pub fn max_len(self, characters: usize) -> Self {
        Self {
            max_len: characters.max(1),
            ..self
        }
    }

    /// An expression as text.
    pub fn print(&self, id: NodeId) -> String {
        self.text(self.top(id))
    }

    /// A condition as text, or its opposite if it does not hold.
    pub fn condition(&self, id: NodeId, holds: bool) -> String {
        if holds {
            self.print(id)
        } else {
            self.text(self.negation(id))
        }
    }

    /// The name of a source: `arg1`, `stdin`, `$HOME`, or that of the file.
    pub fn source(&self, source: u32) -> String {
        let Some(entry) = self.input.sources.get(source as usize) else {
            return format!("source{source}");
        };
        let name = text::name(&entry.name);
        match entry.kind {
            SourceKind::Argument => format!("arg{source}"),
            SourceKind::Environment => format!("${name}"),
            SourceKind::Stdin => "stdin".into(),
            SourceKind::File => name,
        }
    }

    fn text(&self, root: Child) -> String {
        let tree = Tree::grow(self, root);
        tree.text(self.max_len)
    }
}

/// A part of the text, whose parts are other cells.
struct Cell {
    shape: Shape<usize>,
    level: Level,
    /// Whether it is a constant or the like, and not a node.
    fixed: bool,
}

/// The upper part of an expression. Cells lie in the order in which they were grown, so that the
/// first ones are the upper ones.
struct Tree {
    cells: Vec<Cell>,
}

impl Tree {
    fn grow(printer: &Printer<'_>, root: Child) -> Self {
        let limit = printer.max_len.saturating_add(1).min(MAX_CELLS);
        let mut queue = VecDeque::from([(root, 0)]);
        let mut next = 1;
        let mut cells = Vec::new();
        while let Some((child, depth)) = queue.pop_front() {
            let shape = match child {
                Child::Text(text, level) => {
                    let shape = Shape::Atom(text);
                    let fixed = true;
                    cells.push(Cell {
                        shape,
                        level,
                        fixed,
                    });
                    continue;
                }
                Child::Node(..) if depth >= MAX_DEPTH || cells.len() >= limit => {
                    Shape::Atom(ELISION.into())
                }
                Child::Node(id, view) => printer.shape(id, view),
            };
            let level = shape.level();
            let shape = shape.map(|child| {
                queue.push_back((child, depth + 1));
                next += 1;
                next - 1
            });
            let fixed = false;
            cells.push(Cell {
                shape,
                level,
                fixed,
            });
        }
        Self { cells }
    }

    /// The longest text that is not longer than that.
    fn text(&self, max_len: usize) -> String {
        let whole = self.written(self.cells.len(), max_len);
        if let Some(text) = whole {
            return text;
        }
        let (mut best, mut low, mut high) = (None, 1, self.cells.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.written(middle, max_len) {
                Some(text) => {
                    best = Some(text);
                    low = middle + 1;
                }
                None => high = middle,
            }
        }
        best.unwrap_or_else(|| ELISION.into())
    }

    /// Which of the first cells lead to an atom among them. The others would be written as operators
    /// with nothing but `…` around them.
    fn worth(&self, cells: usize) -> Vec<bool> {
        let mut worth = vec![false; self.cells.len()];
        for (index, cell) in self.cells.iter().enumerate().take(cells).rev() {
            let parts = cell.shape.parts();
            let elided = matches!(&cell.shape, Shape::Atom(text) if text == ELISION);
            let complete = !elided && parts.iter().all(|&part| self.cells[part].fixed);
            worth[index] = !cell.fixed && (complete || parts.iter().any(|&part| worth[part]));
        }
        worth
    }

    /// The text of the first cells, unless it is too long.
    fn written(&self, cells: usize, max_len: usize) -> Option<String> {
        let mut writer = Writer {
            tree: self,
            cells,
            worth: self.worth(cells),
            // No character takes more than four bytes; beyond that there is no need to go on.
            max_bytes: max_len.saturating_mul(4),
            out: String::new(),
        };
        writer.cell(0);
        (writer.out.len() <= max_len || writer.out.chars().count() <= max_len).then_some(writer.out)
    }
}

struct Writer<'a> {
    tree: &'a Tree,
    cells: usize,
    /// The cells that say something: see [`Tree::worth`].
    worth: Vec<bool>,
    max_bytes: usize,
    out: String,
}

impl Writer<'_> {
    /// What says nothing is left out, but one operator with a constant, such as `… * 10`, is kept.
    fn is_elided(&self, index: usize) -> bool {
        let cells = &self.tree.cells;
        if cells[index].fixed || self.worth[index] || index == 0 {
            return false;
        }
        if index >= self.cells {
            return true;
        }
        let parts = cells[index].shape.parts();
        let fixed = parts.iter().filter(|&&part| cells[part].fixed).count();
        fixed == 0 || fixed + 1 != parts.len()
    }

    fn cell(&mut self, index: usize) {
        if self.out.len() > self.max_bytes {
            return;
        }
        if self.is_elided(index) {
            self.out.push_str(ELISION);
            return;
        }
        match &self.tree.cells[index].shape {
            Shape::Atom(text) => self.out.push_str(text),
            Shape::Prefix(operator, operand) => {
                self.out.push_str(operator);
                // Two signs in a row would be another operator.
                let least = if *operator == "-" {
                    Level::Atom
                } else {
                    Level::Unary
                };
                self.operand(*operand, least);
            }
            Shape::Infix(operator, level, operands) => self.infix(operator, *level, *operands),
            Shape::Call(name, arguments, after) => {
                self.out.push_str(name);
                self.list("(", arguments, ")");
                self.out.push_str(after);
            }
            Shape::Index(name, index, more) => {
                self.out.push_str(name);
                self.out.push('[');
                let least = if more.is_empty() {
                    Level::Choice
                } else {
                    Level::Sum
                };
                self.operand(*index, least);
                self.out.push_str(more);
                self.out.push(']');
            }
            Shape::Choice([condition, yes, no]) => {
                self.operand(*condition, Level::Or);
                self.out.push_str(" ? ");
                self.operand(*yes, Level::Or);
                self.out.push_str(" : ");
                self.operand(*no, Level::Choice);
            }
        }
    }

    fn list(&mut self, open: &str, cells: &[usize], close: &str) {
        self.out.push_str(open);
        for (index, &cell) in cells.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            self.cell(cell);
        }
        self.out.push_str(close);
    }

    fn infix(&mut self, operator: &str, level: Level, [left, right]: [usize; 2]) {
        let same = |writer: &Self, cell: usize| matches!(&writer.tree.cells[cell].shape, Shape::Infix(other, ..) if *other == operator);
        let associative = matches!(operator, "+" | "*" | "&" | "|" | "^" | "&&" | "||");
        let (left_least, right_least) = match level {
            // No one remembers how these bind, so they only go with their own kind.
            Level::BitOr | Level::BitXor | Level::BitAnd | Level::Shift => {
                (Level::Unary, Level::Unary)
            }
            Level::Equal | Level::Relation => (Level::Shift, Level::Shift),
            _ => (level, level.above()),
        };
        let least = |same: bool, least| if same && associative { level } else { least };
        self.operand(left, least(same(self, left), left_least));
        self.out.push(' ');
        self.out.push_str(operator);
        self.out.push(' ');
        self.operand(right, least(same(self, right), right_least));
    }

    /// Writes a cell, in parentheses if it binds less than that.
    fn operand(&mut self, index: usize, least: Level) {
        if !self.is_elided(index) && self.tree.cells[index].level < least {
            self.list("(", &[index], ")");
        } else {
            self.cell(index);
        }
    }
}

#[cfg(test)]
mod tests;
