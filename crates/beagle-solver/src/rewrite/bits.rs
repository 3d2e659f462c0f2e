//! Shifts, counting and reversing of bits, and arithmetic on one bit.

use beagle_trace::op::Op;

use super::Rewriter;
use crate::pool::Expr;

impl Rewriter<'_> {
    /// `Shl`, `LShr`, `AShr`.
    pub(super) fn shift(&mut self, op: Op, a: Expr, b: Expr) -> Option<Expr> {
        let width = self.width(a);
        if op == Op::AShr && self.sign(a) == Some(false) {
            let result = self.binary(Op::LShr, width, a, b);
            return self.by("ashr-positive", result);
        }
        if width == 1 {
            let result = match op {
                Op::AShr => a,
                _ => {
                    let stays = self.not(b);
                    self.and(a, stays)
                }
            };
            return self.by("shift-bit", result);
        }
        if self.value(a) == Some(0) {
            return self.by("shift-zero", a);
        }
        let width_bits = u128::from(width);
        let by = match self.value(b) {
            Some(by) => by.min(width_bits),
            None if self.bounds(b).0 >= width_bits => width_bits,
            None => return None,
        } as u16;
        let result = match op {
            _ if by == 0 => a,
            Op::AShr => {
                let by = by.min(width - 1);
                let part = self.extract(a, by, width - by);
                self.extend(Op::SExt, part, width)
            }
            _ if by == width => self.constant(width, 0),
            Op::Shl => {
                let part = self.extract(a, 0, width - by);
                let zero = self.constant(by, 0);
                self.concat(part, zero)
            }
            _ => {
                let part = self.extract(a, by, width - by);
                self.zext(part, width)
            }
        };
        self.by("shift-constant", result)
    }

    /// `Ctpop`, `Ctlz`, `Cttz`, `Bswap`, `Bitreverse`.
    pub(super) fn counting(&mut self, op: Op, a: Expr, width: u16) -> Option<Expr> {
        if width == 1 {
            let result = match op {
                Op::Ctlz | Op::Cttz => self.not(a),
                _ => a,
            };
            return self.by("count-bit", result);
        }
        match op {
            Op::Bswap => {
                let mut all = self.extract(a, width - 8, 8);
                for low in (0..width - 8).step_by(8).rev() {
                    let byte = self.extract(a, low, 8);
                    all = self.concat(byte, all);
                }
                self.by("bswap", all)
            }
            Op::Bitreverse => {
                let x = self.under(op, a)?;
                self.by("bitreverse-twice", x)
            }
            Op::Ctpop => {
                // A count of n bits fits n bits.
                let x = self.under(Op::ZExt, a)?;
                let count = self.unary(op, self.width(x), x);
                let result = self.zext(count, width);
                self.by("ctpop-zext", result)
            }
            _ => None,
        }
    }

    /// Sums, products and quotients of one bit.
    pub(super) fn bit_arithmetic(&mut self, op: Op, a: Expr, b: Expr) -> Option<Expr> {
        let result = match op {
            Op::Add | Op::Sub => self.binary(Op::Xor, 1, a, b),
            Op::Mul => self.and(a, b),
            Op::UDiv | Op::SDiv => {
                let none = self.not(b);
                self.or(a, none)
            }
            _ => {
                let none = self.not(b);
                self.and(a, none)
            }
        };
        self.by("bit-arithmetic", result)
    }
}
