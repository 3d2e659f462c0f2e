//! Random expressions for tests.

use beagle_trace::op::Op;

use crate::pool::{Expr, Pool, Table, Term};
use crate::random::Random;
use crate::variable::{SourceKey, VariableKind};

/// Bytes of standard input.
pub(crate) fn bytes(pool: &mut Pool, count: u32) -> Vec<Expr> {
    let source = pool.source(&SourceKey::Stdin);
    (0..count)
        .map(|index| pool.variable(VariableKind::Byte(source, index)))
        .collect()
}

/// A generator of expressions over some variables.
pub(crate) struct Samples<'a> {
    /// Where they are made.
    pub pool: &'a mut Pool,
    /// What they are made of.
    pub leaves: Vec<Expr>,
    /// Chance.
    pub random: Random,
    /// Whether floating point, tables and texts are used.
    pub exotic: bool,
}

impl Samples<'_> {
    fn constant(&mut self, width: u16) -> Expr {
        let value = match self.random.below(5) {
            0 => self.random.below(4) as u128,
            1 => self.random.below(256) as u128,
            2 => u128::MAX - self.random.below(4) as u128,
            3 => 1 << self.random.below(width.into()),
            _ => self.random.wide(),
        };
        self.pool.constant(width, value)
    }

    /// An expression of this width.
    pub(crate) fn expr(&mut self, width: u16, depth: u32) -> Expr {
        if depth == 0 {
            if self.random.once_in(4) {
                return self.constant(width);
            }
            let leaf = self.leaves[self.random.below(self.leaves.len())];
            return self.fit(leaf, width);
        }
        let depth = depth - 1;
        match self.random.below(if self.exotic { 14 } else { 9 }) {
            0..=4 => {
                let ops = [
                    Op::Add,
                    Op::Sub,
                    Op::Mul,
                    Op::And,
                    Op::Or,
                    Op::Xor,
                    Op::Shl,
                    Op::LShr,
                    Op::AShr,
                    Op::UDiv,
                    Op::SDiv,
                    Op::URem,
                    Op::SRem,
                ];
                let op = ops[self.random.below(ops.len())];
                let (a, b) = (self.expr(width, depth), self.expr(width, depth));
                self.pool.op(op, width, &[a, b])
            }
            5 => {
                let condition = self.condition(depth);
                let (a, b) = (self.expr(width, depth), self.expr(width, depth));
                self.pool.op(Op::Ite, width, &[condition, a, b])
            }
            6 if width >= 2 => {
                let low = 1 + self.random.below(usize::from(width) - 1) as u16;
                let (a, b) = (self.expr(width - low, depth), self.expr(low, depth));
                self.pool.op(Op::Concat, width, &[a, b])
            }
            7 => {
                let widths = [1, 8, 16, 32, 64, 128];
                let inner = widths[self.random.below(widths.len())];
                let inner = self.expr(inner, depth);
                self.fit(inner, width)
            }
            8 => {
                let ops = [Op::Ctpop, Op::Ctlz, Op::Cttz, Op::Bitreverse];
                let op = if width.is_multiple_of(16) && self.random.once_in(3) {
                    Op::Bswap
                } else {
                    ops[self.random.below(ops.len())]
                };
                let a = self.expr(width, depth);
                self.pool.op(op, width, &[a])
            }
            9 | 10 => {
                let float = [32, 64][self.random.below(2)];
                let inner = self.float(float, depth);
                self.fit(inner, width)
            }
            11 if width.is_multiple_of(8) => {
                let size = 8 + self.random.below(280);
                let bytes: Vec<u8> = (0..size).map(|_| self.random.next() as u8).collect();
                let mut cells = Vec::new();
                if self.random.once_in(3) {
                    cells.push((3, self.expr(8, depth)));
                }
                let table = self.pool.add_table(Table { bytes, cells });
                let offset = self.expr(8, depth);
                let offset = self.fit(offset, 64);
                self.pool.make(Term {
                    op: Op::Lookup,
                    width,
                    a: offset.0,
                    b: table,
                    c: 0,
                })
            }
            12 if width == 8 || width == 32 => {
                let conversions = ["%lld", "%5llu", "%llx", "%c"];
                let conversion = conversions[self.random.below(conversions.len())];
                let b = self.pool.add_conversion(conversion);
                let a = self.expr(16, depth).0;
                let c = if width == 8 {
                    self.random.below(4) as u32
                } else {
                    0
                };
                let op = if width == 8 {
                    Op::RenderByte
                } else {
                    Op::RenderLen
                };
                self.pool.make(Term { op, width, a, b, c })
            }
            13 => {
                let op = [Op::FpToSi, Op::FpToUi][self.random.below(2)];
                let float = [32, 64][self.random.below(2)];
                let a = self.float(float, depth);
                self.pool.op(op, width, &[a])
            }
            _ => self.constant(width),
        }
    }

    /// A floating-point value.
    pub(crate) fn float(&mut self, width: u16, depth: u32) -> Expr {
        if depth == 0 {
            let inner = self.expr(16, 0);
            let op = [Op::SiToFp, Op::UiToFp][self.random.below(2)];
            return self.pool.op(op, width, &[inner]);
        }
        let depth = depth - 1;
        match self.random.below(8) {
            0 => self.expr(width, depth),
            1 => {
                let a = self.float(96 - width, depth);
                self.pool.op(Op::FpCast, width, &[a])
            }
            2 | 3 => {
                let ops = [
                    Op::FNeg,
                    Op::FAbs,
                    Op::FSqrt,
                    Op::FFloor,
                    Op::FCeil,
                    Op::FTrunc,
                    Op::FRound,
                    Op::FRint,
                ];
                let op = ops[self.random.below(ops.len())];
                let a = self.float(width, depth);
                self.pool.op(op, width, &[a])
            }
            _ => {
                let ops = [
                    Op::FAdd,
                    Op::FSub,
                    Op::FMul,
                    Op::FDiv,
                    Op::FRem,
                    Op::FMin,
                    Op::FMax,
                    Op::FCopysign,
                ];
                let op = ops[self.random.below(ops.len())];
                let (a, b) = (self.float(width, depth), self.float(width, depth));
                self.pool.op(op, width, &[a, b])
            }
        }
    }

    /// One bit that compares.
    pub(crate) fn condition(&mut self, depth: u32) -> Expr {
        if self.exotic && self.random.once_in(6) {
            let (a, b) = (self.float(64, depth), self.float(64, depth));
            let c = 1 + self.random.below(14) as u32;
            return self.pool.make(Term {
                op: Op::FCmp,
                width: 1,
                a: a.0,
                b: b.0,
                c,
            });
        }
        let ops = [Op::Eq, Op::Ne, Op::Ult, Op::Ule, Op::Slt, Op::Sle];
        let op = ops[self.random.below(ops.len())];
        let width = [8, 8, 16, 32, 32, 64, 65, 128][self.random.below(8)];
        let (a, b) = (self.expr(width, depth), self.expr(width, depth.min(1)));
        self.pool.op(op, 1, &[a, b])
    }

    fn fit(&mut self, expr: Expr, width: u16) -> Expr {
        let from = self.pool.width(expr);
        let op = [Op::ZExt, Op::ZExt, Op::SExt][self.random.below(3)];
        match from.cmp(&width) {
            std::cmp::Ordering::Less => self.pool.op(op, width, &[expr]),
            std::cmp::Ordering::Equal => expr,
            std::cmp::Ordering::Greater => {
                let low = self.random.below(usize::from(from - width) + 1) as u16;
                let low = if self.random.once_in(2) { 0 } else { low };
                self.pool.extract(expr, low, width)
            }
        }
    }
}
