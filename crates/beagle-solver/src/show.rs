//! Expressions as text, for debugging.

use beagle_trace::op::Op;

use crate::pool::{Expr, Pool};
use crate::variable::{Variable, VariableKind};

/// What is deeper is left out.
const DEPTH: usize = 16;

/// What is longer is left out.
const LENGTH: usize = 4000;

impl Pool {
    /// An expression as an S-expression; deep and long ones in part.
    pub fn show(&self, expr: Expr) -> String {
        let mut text = String::new();
        // The depth is limited, so the recursion is too.
        self.show_to(&mut text, expr, DEPTH);
        text
    }

    fn show_to(&self, text: &mut String, expr: Expr, depth: usize) {
        if depth == 0 || text.len() > LENGTH {
            text.push_str("...");
            return;
        }
        let term = self.term(expr);
        if let Some(value) = self.value(expr) {
            text.push_str(&format!("{value:#x}:{}", term.width));
            return;
        }
        if term.is_variable() {
            let name = match self.variable_kind(Variable(term.c)) {
                VariableKind::Byte(source, index) => format!("byte{}.{index}", source.0),
                VariableKind::Size(source) => format!("size{}", source.0),
                VariableKind::ArgCount => "argc".to_owned(),
            };
            text.push_str(&name);
            return;
        }
        text.push_str(&format!("({:?}:{}", term.op, term.width));
        for operand in term.operands() {
            text.push(' ');
            self.show_to(text, operand, depth - 1);
        }
        match term.op {
            Op::Extract | Op::FCmp => text.push_str(&format!(" {}", term.c)),
            Op::Lookup => {
                let table = self.table(term.b);
                text.push_str(&format!(" {:?}", table.bytes));
                for &(index, cell) in &table.cells {
                    text.push_str(&format!(" {index}:"));
                    self.show_to(text, cell, depth - 1);
                }
            }
            Op::RenderLen => text.push_str(&format!(" {:?}", self.conversion(term.b))),
            Op::RenderByte => {
                text.push_str(&format!(" {:?} {}", self.conversion(term.b), term.c));
            }
            _ => {}
        }
        text.push(')');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variable::SourceKey;

    #[test]
    fn expressions_are_shown_with_widths() {
        let mut pool = Pool::new();
        let source = pool.source(&SourceKey::Stdin);
        let byte = pool.variable(VariableKind::Byte(source, 3));
        let two = pool.constant(8, 2);
        let sum = pool.op(Op::Add, 8, &[byte, two]);
        let table = pool.add_table(crate::Table {
            bytes: vec![1, 0],
            cells: vec![(1, byte)],
        });
        let offset = pool.op(Op::ZExt, 64, &[sum]);
        let lookup = pool.make(crate::Term {
            op: Op::Lookup,
            width: 8,
            a: offset.0,
            b: table,
            c: 0,
        });
        let text = "(Lookup:8 (ZExt:64 (Add:8 byte0.3 0x2:8)) [1, 0] 1:byte0.3)";
        assert_eq!(pool.show(lookup), text);
    }

    #[test]
    fn deep_expressions_are_cut() {
        let mut pool = Pool::new();
        let source = pool.source(&SourceKey::Stdin);
        let byte = pool.variable(VariableKind::Byte(source, 0));
        let deep = (0..100_000).fold(byte, |all, _| pool.op(Op::Mul, 8, &[all, all]));
        let text = pool.show(deep);
        assert!(text.contains("..."), "{text}");
        assert!(text.len() < 2 * LENGTH + 1000, "{}", text.len());
    }
}
