//! Parts of values: cut out, put together, extended.

use beagle_trace::node::mask;
use beagle_trace::op::Op;

use super::Rewriter;
use crate::pool::Expr;

impl Rewriter<'_> {
    /// `Extract` of less than all.
    pub(super) fn extraction(&mut self, a: Expr, low: u16, width: u16) -> Option<Expr> {
        let term = self.term(a);
        if width == term.width {
            return self.by("extract-all", a);
        }
        let (x, y) = (Expr(term.a), Expr(term.b));
        let end = low + width;
        match term.op {
            Op::Extract => {
                let part = self.extract(x, low + term.c as u16, width);
                self.by("extract-extract", part)
            }
            Op::Concat => {
                let split = self.width(y);
                let part = if low >= split {
                    self.extract(x, low - split, width)
                } else if end <= split {
                    self.extract(y, low, width)
                } else {
                    let high = self.extract(x, 0, end - split);
                    let low = self.extract(y, low, split - low);
                    self.concat(high, low)
                };
                self.by("extract-concat", part)
            }
            Op::ZExt | Op::SExt => {
                let from = self.width(x);
                let part = if end <= from {
                    self.extract(x, low, width)
                } else if low < from {
                    let part = self.extract(x, low, from - low);
                    self.extend(term.op, part, width)
                } else if term.op == Op::ZExt {
                    self.constant(width, 0)
                } else {
                    let sign = self.extract(x, from - 1, 1);
                    self.extend(Op::SExt, sign, width)
                };
                self.by("extract-extension", part)
            }
            Op::Ite if self.is_free(a, 0) => {
                let then = self.extract(y, low, width);
                let other = self.extract(Expr(term.c), low, width);
                let part = self.ite(x, then, other);
                self.by("extract-ite", part)
            }
            Op::And | Op::Or | Op::Xor
                if self.value(y).is_some() || self.is_free(x, 1) && self.is_free(y, 1) =>
            {
                let x = self.extract(x, low, width);
                let y = self.extract(y, low, width);
                let part = self.binary(term.op, width, x, y);
                self.by("extract-bitwise", part)
            }
            Op::Add | Op::Sub | Op::Mul if low == 0 && self.is_free(x, 2) && self.is_free(y, 2) => {
                let x = self.extract(x, 0, width);
                let y = self.extract(y, 0, width);
                let part = self.binary(term.op, width, x, y);
                self.by("extract-arithmetic", part)
            }
            Op::Add | Op::Sub if low == term.width - 1 => self.sign_of_sum(a),
            _ => None,
        }
    }

    /// Whether a part of an expression takes no more operators than the whole.
    fn is_free(&self, expr: Expr, depth: u32) -> bool {
        let term = self.term(expr);
        match term.op {
            Op::Const | Op::ZExt | Op::SExt | Op::Concat | Op::Extract => true,
            Op::Ite => {
                let constant = |field| self.term(Expr(field)).op == Op::Const;
                constant(term.b) && constant(term.c)
            }
            Op::And | Op::Or | Op::Xor | Op::Add | Op::Sub | Op::Mul => {
                depth > 0
                    && self.is_free(Expr(term.a), depth - 1)
                    && self.is_free(Expr(term.b), depth - 1)
            }
            _ => false,
        }
    }

    /// `Concat`.
    pub(super) fn concatenation(&mut self, high: Expr, low: Expr) -> Option<Expr> {
        let (h, l) = (self.term(high), self.term(low));
        let width = h.width + l.width;
        match h.op {
            Op::Const => return self.constant_above(high, low),
            Op::Concat => {
                let low = self.concat(Expr(h.b), low);
                let all = self.concat(Expr(h.a), low);
                return self.by("concat-right", all);
            }
            _ => {}
        }
        let sign = match h.op {
            Op::SExt => Expr(h.a),
            _ => high,
        };
        if self.width(sign) == 1 && self.extract(low, l.width - 1, 1) == sign {
            let all = self.extend(Op::SExt, low, width);
            return self.by("concat-signs", all);
        }
        if matches!(h.op, Op::ZExt | Op::SExt) {
            let inner = self.concat(Expr(h.a), low);
            let all = self.extend(h.op, inner, width);
            return self.by("concat-extension", all);
        }
        if let Some(joined) = self.adjacent(high, low) {
            return self.by("concat-adjacent", joined);
        }
        if l.op == Op::Concat
            && let Some(joined) = self.adjacent(high, Expr(l.a))
        {
            let all = self.concat(joined, Expr(l.b));
            return self.by("concat-adjacent-inner", all);
        }
        if h.op == Op::Ite && l.op == Op::Const && self.is_free(high, 0) {
            let then = self.concat(Expr(h.b), low);
            let other = self.concat(Expr(h.c), low);
            let all = self.ite(Expr(h.a), then, other);
            return self.by("concat-ite-high", all);
        }
        None
    }

    fn constant_above(&mut self, high: Expr, low: Expr) -> Option<Expr> {
        let (h, l) = (self.term(high), self.term(low));
        let width = h.width + l.width;
        let k = self.pool.constant_value(&h);
        if k == 0 {
            let all = self.zext(low, width);
            return self.by("concat-zero", all);
        }
        let (x, y) = (Expr(l.a), Expr(l.b));
        match l.op {
            Op::Concat if self.value(x).is_some() => {
                let above = self.concat(high, x);
                let all = self.concat(above, y);
                self.by("concat-constants", all)
            }
            Op::ZExt => {
                let gap = l.width - self.width(x);
                let above = self.constant(h.width + gap, k << gap);
                let all = self.concat(above, x);
                self.by("concat-constant-zext", all)
            }
            Op::Ite if self.is_free(low, 0) => {
                let then = self.concat(high, y);
                let other = self.concat(high, Expr(l.c));
                let all = self.ite(x, then, other);
                self.by("concat-ite-low", all)
            }
            _ => None,
        }
    }

    /// Neighbouring parts of one expression as one part.
    fn adjacent(&mut self, high: Expr, low: Expr) -> Option<Expr> {
        let (h, l) = (self.term(high), self.term(low));
        if h.op != Op::Extract {
            return None;
        }
        let whole = Expr(h.a);
        let fits = match l.op {
            Op::Extract => l.a == h.a && l.c + u32::from(l.width) == h.c,
            _ => false,
        };
        fits.then(|| self.extract(whole, l.c as u16, h.width + l.width))
    }

    /// `ZExt`.
    pub(super) fn zero_extension(&mut self, a: Expr, width: u16) -> Option<Expr> {
        let term = self.term(a);
        match term.op {
            Op::ZExt => {
                let all = self.zext(Expr(term.a), width);
                self.by("zext-zext", all)
            }
            Op::Ite if self.is_free(a, 0) => self.extended_choice(Op::ZExt, a, width),
            _ => None,
        }
    }

    /// `SExt`.
    pub(super) fn sign_extension(&mut self, a: Expr, width: u16) -> Option<Expr> {
        let term = self.term(a);
        match (term.op, self.sign(a)) {
            (_, Some(false)) => {
                let all = self.zext(a, width);
                self.by("sext-positive", all)
            }
            (_, Some(true)) => {
                let ones = self.constant(width - term.width, mask(width));
                let all = self.concat(ones, a);
                self.by("sext-negative", all)
            }
            (Op::SExt, _) => {
                let all = self.extend(Op::SExt, Expr(term.a), width);
                self.by("sext-sext", all)
            }
            (Op::Ite, _) if self.is_free(a, 0) => self.extended_choice(Op::SExt, a, width),
            _ => None,
        }
    }

    fn extended_choice(&mut self, op: Op, a: Expr, width: u16) -> Option<Expr> {
        let term = self.term(a);
        let then = self.extend(op, Expr(term.b), width);
        let other = self.extend(op, Expr(term.c), width);
        let all = self.ite(Expr(term.a), then, other);
        self.by("extension-ite", all)
    }
}
