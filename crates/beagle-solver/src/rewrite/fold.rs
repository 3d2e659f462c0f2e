//! Constants, look-ups and floating point.

use beagle_trace::op::{Arity, Op};
use beagle_trace::{arithmetic, render};

use super::Rewriter;
use crate::pool::{Expr, Term};
use crate::variable::Variable;

impl Rewriter<'_> {
    /// The constant that a term of constants is, where it is defined.
    pub(super) fn fold(&mut self, term: &Term) -> Option<Expr> {
        let (a, b) = (Expr(term.a), Expr(term.b));
        let bits = match term.op.arity() {
            Arity::Leaf if term.op == Op::Const => return Some(self.pool.intern(*term)),
            Arity::Leaf => return Some(self.pool.variable_expr(Variable(term.c))),
            // An `Ite` on a constant is not one of constants.
            Arity::Three => return None,
            Arity::One if term.op == Op::Lookup => return None,
            Arity::One => {
                let a = self.operand(a)?;
                match term.op {
                    Op::RenderByte => {
                        let text = render(self.pool.conversion(term.b), a.bits, a.width)?;
                        text.get(term.c as usize).copied().unwrap_or(0).into()
                    }
                    Op::RenderLen => {
                        let text = render(self.pool.conversion(term.b), a.bits, a.width)?;
                        text.len() as u128
                    }
                    op => arithmetic::unary(op, term.width, a, term.c)?,
                }
            }
            Arity::Two => {
                let (b, a) = (self.operand(b)?, self.operand(a)?);
                arithmetic::binary(term.op, term.width, a, b, term.c)?
            }
        };
        Some(self.constant(term.width, bits))
    }

    fn operand(&self, expr: Expr) -> Option<arithmetic::Value> {
        let term = self.term(expr);
        (term.op == Op::Const).then(|| arithmetic::Value {
            bits: self.pool.constant_value(&term),
            width: term.width,
        })
    }

    /// A look-up at a constant offset.
    pub(super) fn lookup(&mut self, term: &Term) -> Option<Expr> {
        let start = usize::try_from(self.value(Expr(term.a))?).ok()?;
        let end = start.checked_add(usize::from(term.width / 8))?;
        let mut all = None;
        for index in start..end {
            let table = self.pool.table(term.b);
            let constant = *table.bytes.get(index)?;
            let byte = match table.cell(index) {
                Some(cell) => cell,
                None => self.constant(8, constant.into()),
            };
            all = Some(match all {
                Some(low) => self.concat(byte, low),
                None => byte,
            });
        }
        self.by("lookup-constant", all?)
    }

    /// Floating point: little is safe.
    pub(super) fn float(&mut self, term: &Term) -> Option<Expr> {
        let a = Expr(term.a);
        match term.op {
            Op::FNeg => {
                let x = self.under(Op::FNeg, a)?;
                self.by("fneg-fneg", x)
            }
            Op::FAbs => {
                let x = self
                    .under(Op::FNeg, a)
                    .or_else(|| self.under(Op::FAbs, a))?;
                let abs = self.unary(Op::FAbs, term.width, x);
                self.by("fabs-sign", abs)
            }
            Op::FCmp => self.float_comparison(term),
            Op::SiToFp | Op::UiToFp => {
                let inner = self.term(a);
                let x = Expr(inner.a);
                let (op, x) = match (term.op, inner.op) {
                    // An extension does not change the number.
                    (Op::SiToFp, Op::SExt) => (Op::SiToFp, x),
                    (_, Op::ZExt) => (Op::UiToFp, x),
                    (Op::SiToFp, _) if self.sign(a) == Some(false) => (Op::UiToFp, a),
                    _ => return None,
                };
                let converted = self.unary(op, term.width, x);
                self.by("float-of-extension", converted)
            }
            Op::FpToSi | Op::FpToUi => self.float_and_back(term),
            _ => None,
        }
    }

    fn float_comparison(&mut self, term: &Term) -> Option<Expr> {
        let (a, b) = (term.a, term.b);
        let predicate = term.c & 15;
        if predicate == 0 || predicate == 15 {
            let truth = self.truth(predicate == 15);
            return self.by("fcmp-trivial", truth);
        }
        if a == b {
            // Equal or unordered.
            match predicate & 9 {
                9 => {
                    let truth = self.truth(true);
                    return self.by("fcmp-same", truth);
                }
                0 => {
                    let truth = self.truth(false);
                    return self.by("fcmp-same", truth);
                }
                _ => return None,
            }
        }
        if a > b {
            let (greater, less) = (predicate >> 1 & 1, predicate >> 2 & 1);
            let swapped = self.make(Term {
                a: b,
                b: a,
                c: predicate & 9 | greater << 2 | less << 1,
                ..*term
            });
            return self.by("fcmp-swap", swapped);
        }
        None
    }

    /// An integer that was made a float, which holds it exactly.
    fn float_and_back(&mut self, term: &Term) -> Option<Expr> {
        let float = self.term(Expr(term.a));
        let x = Expr(float.a);
        let exact = if float.width == 32 { 24 } else { 53 };
        if !matches!(float.op, Op::SiToFp | Op::UiToFp) || self.width(x) > exact {
            return None;
        }
        let extension = match (float.op, term.op) {
            (Op::SiToFp, Op::FpToSi) if self.width(x) <= term.width => Op::SExt,
            (Op::UiToFp, Op::FpToSi) if self.width(x) < term.width => Op::ZExt,
            (Op::UiToFp, Op::FpToUi) if self.width(x) <= term.width => Op::ZExt,
            _ => return None,
        };
        let whole = self.extend(extension, x, term.width);
        self.by("float-and-back", whole)
    }
}
