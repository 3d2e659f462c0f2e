//! Random expressions of floating point.

use beagle_trace::op::Op;

use super::shapes::Maker;

/// Numbers at which something happens.
const CORNERS: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    2.5,
    -2.5,
    1.1,
    0.1,
    100.0,
    4.5e15,
    9_007_199_254_740_992.0,
    f64::MAX,
    f64::MIN_POSITIVE,
    5e-324,
    1e-40,
    3.4e38,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

impl Maker<'_> {
    /// A comparison of floats, or of what becomes of them as integers.
    pub(super) fn float_condition(&mut self, depth: usize) -> usize {
        let width = self.float_width();
        match self.random.below(8) {
            0 => {
                let to = self.random.pick(&[8, 16, 32, 64]);
                let op = self.random.pick(&[Op::FpToSi, Op::FpToUi]);
                let float = self.float(width, depth);
                let whole = self.node(op, to, &[float]);
                let other = self.expr(to, 1);
                let compare = self.random.pick(&[Op::Slt, Op::Ult, Op::Eq, Op::Ne]);
                self.node(compare, 1, &[whole, other])
            }
            1 => {
                // Bits of a float, which tell one number that is none from the other.
                let float = self.float(width, depth);
                let low = self.random.below(usize::from(width) - 16);
                let part = self.node(Op::Extract, 16, &[float, 0, low]);
                let other = self.expr(16, 1);
                let compare = self.random.pick(&[Op::Slt, Op::Ult, Op::Eq, Op::Ne]);
                self.node(compare, 1, &[part, other])
            }
            _ => {
                let (a, b) = (self.float(width, depth), self.float(width, depth.min(1)));
                let predicate = self.random.below(16);
                self.node(Op::FCmp, 1, &[a, b, predicate])
            }
        }
    }

    fn float_width(&mut self) -> u16 {
        // The narrow ones are easier, and there is enough to find in them.
        self.random.pick(&[32, 32, 64])
    }

    fn float(&mut self, width: u16, depth: usize) -> usize {
        if depth == 0 {
            return self.float_leaf(width);
        }
        let depth = depth - 1;
        match self.random.below(8) {
            0..3 => {
                const OPS: &[Op] = &[
                    Op::FAdd,
                    Op::FSub,
                    Op::FMul,
                    Op::FDiv,
                    Op::FMin,
                    Op::FMax,
                    Op::FCopysign,
                    Op::FRem,
                ];
                let op = self.random.pick(OPS);
                let (a, b) = (self.float(width, depth), self.float(width, depth));
                self.node(op, width, &[a, b])
            }
            3 | 4 => {
                const OPS: &[Op] = &[
                    Op::FNeg,
                    Op::FAbs,
                    Op::FSqrt,
                    Op::FFloor,
                    Op::FCeil,
                    Op::FTrunc,
                    Op::FRound,
                    Op::FRint,
                ];
                let op = self.random.pick(OPS);
                let a = self.float(width, depth);
                self.node(op, width, &[a])
            }
            5 => {
                let a = self.float(96 - width, depth);
                self.node(Op::FpCast, width, &[a])
            }
            6 => {
                let condition = self.condition(0);
                let (a, b) = (self.float(width, depth), self.float(width, depth));
                self.node(Op::Ite, width, &[condition, a, b])
            }
            _ => self.float_leaf(width),
        }
    }

    fn float_leaf(&mut self, width: u16) -> usize {
        match self.random.below(6) {
            0 | 1 => {
                let value = self.random.pick(CORNERS);
                let bits = match width {
                    32 => (value as f32).to_bits().into(),
                    _ => value.to_bits().into(),
                };
                self.constant(width, bits)
            }
            2 | 3 => {
                // Bytes of the input, some of them the highest.
                let (high, low) = (self.byte(), self.byte());
                let both = self.node(Op::Concat, 16, &[high, low]);
                let rest = self.random.wide() & beagle_trace::node::mask(width - 16);
                let rest = self.random.pick(&[0, rest]);
                let rest = self.constant(width - 16, rest);
                self.node(Op::Concat, width, &[both, rest])
            }
            _ => {
                let op = self.random.pick(&[Op::SiToFp, Op::UiToFp]);
                let from = self.random.pick(&[1, 8, 16, 32, 64]);
                let whole = self.expr(from, 1);
                self.node(op, width, &[whole])
            }
        }
    }
}
