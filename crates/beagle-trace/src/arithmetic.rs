//! What each operator computes, on values alone.
//!
//! This follows the words of [`crate::op`] and shares nothing with the code that records: it is what
//! records are checked against.

use crate::node::mask;
use crate::op::Op;

/// A value with its width in bits; bits above the width are 0.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    /// The value.
    pub bits: u128,
    /// How many bits it has.
    pub width: u16,
}

impl Value {
    /// The value as a signed number.
    pub fn signed(self) -> i128 {
        let unused = 128 - u32::from(self.width);
        (self.bits << unused) as i128 >> unused
    }

    fn is_negative(self) -> bool {
        self.bits >> (self.width - 1) & 1 == 1
    }

    fn float(self) -> Float {
        if self.width == 32 {
            Float::Single(f32::from_bits(self.bits as u32))
        } else {
            Float::Double(f64::from_bits(self.bits as u64))
        }
    }
}

/// A float of one of the two widths.
#[derive(Clone, Copy, Debug)]
enum Float {
    Single(f32),
    Double(f64),
}

impl Float {
    fn bits(self) -> u128 {
        match self {
            Float::Single(x) => x.to_bits().into(),
            Float::Double(x) => x.to_bits().into(),
        }
    }

    /// Exact, because every single is a double.
    fn double(self) -> f64 {
        match self {
            Float::Single(x) => x.into(),
            Float::Double(x) => x,
        }
    }
}

/// Performs the same operation on floats of either width.
macro_rules! floats {
    ($a:expr, |$x:ident| $result:expr) => {
        match $a.float() {
            Float::Single($x) => Float::Single($result),
            Float::Double($x) => Float::Double($result),
        }
        .bits()
    };
    ($a:expr, $b:expr, |$x:ident, $y:ident| $result:expr) => {
        match ($a.float(), $b.float()) {
            (Float::Single($x), Float::Single($y)) => Float::Single($result).bits(),
            (Float::Double($x), Float::Double($y)) => Float::Double($result).bits(),
            // The operands have the same width.
            _ => return None,
        }
    };
}

/// An operator of one operand. `field` is the field `c` of the node. `None` where the operator is
/// not defined.
pub fn unary(op: Op, width: u16, a: Value, field: u32) -> Option<u128> {
    let sign = || 1u128 << (width - 1);
    let bits = match op {
        Op::ZExt => a.bits,
        Op::SExt => a.signed() as u128,
        Op::Extract => a.bits.checked_shr(field)?,
        Op::Ctpop => a.bits.count_ones().into(),
        Op::Ctlz => u128::from(a.bits.leading_zeros()) - (128 - u128::from(width)),
        Op::Cttz => u128::from(a.bits.trailing_zeros()).min(width.into()),
        Op::Bswap => a.bits.swap_bytes() >> (128 - u32::from(width)),
        Op::Bitreverse => a.bits.reverse_bits() >> (128 - u32::from(width)),
        Op::FNeg => a.bits ^ sign(),
        Op::FAbs => a.bits & !sign(),
        Op::FSqrt => floats!(a, |x| x.sqrt()),
        Op::FFloor => floats!(a, |x| x.floor()),
        Op::FCeil => floats!(a, |x| x.ceil()),
        Op::FTrunc => floats!(a, |x| x.trunc()),
        Op::FRound => floats!(a, |x| x.round()),
        Op::FRint => floats!(a, |x| x.round_ties_even()),
        Op::FpToSi => {
            let whole = a.float().double().trunc();
            let limit = 2f64.powi(i32::from(width) - 1);
            (-limit <= whole && whole < limit).then_some(whole as i128 as u128)?
        }
        Op::FpToUi => {
            let whole = a.float().double().trunc();
            let limit = 2f64.powi(width.into());
            (0.0 <= whole && whole < limit).then_some(whole as u128)?
        }
        Op::SiToFp if width == 32 => (a.signed() as f32).to_bits().into(),
        Op::SiToFp => (a.signed() as f64).to_bits().into(),
        Op::UiToFp if width == 32 => (a.bits as f32).to_bits().into(),
        Op::UiToFp => (a.bits as f64).to_bits().into(),
        Op::FpCast if width == 32 => (a.float().double() as f32).to_bits().into(),
        Op::FpCast => a.float().double().to_bits().into(),
        _ => return None,
    };
    Some(bits & mask(width))
}

/// An operator of two operands. `field` is the field `c` of the node. `None` where the operator is
/// not defined.
pub fn binary(op: Op, width: u16, a: Value, b: Value, field: u32) -> Option<u128> {
    let (x, y) = (a.bits, b.bits);
    let distance = (y < u128::from(width)).then_some(y as u32);
    let bits = match op {
        Op::Add => x.wrapping_add(y),
        Op::Sub => x.wrapping_sub(y),
        Op::Mul => x.wrapping_mul(y),
        Op::UDiv => x.checked_div(y).unwrap_or(u128::MAX),
        Op::SDiv if y == 0 && a.is_negative() => 1,
        Op::SDiv if y == 0 => u128::MAX,
        Op::SDiv => a.signed().wrapping_div(b.signed()) as u128,
        Op::URem => x.checked_rem(y).unwrap_or(x),
        Op::SRem if y == 0 => x,
        Op::SRem => a.signed().wrapping_rem(b.signed()) as u128,
        Op::And => x & y,
        Op::Or => x | y,
        Op::Xor => x ^ y,
        Op::Shl => distance.map_or(0, |distance| x << distance),
        Op::LShr => distance.map_or(0, |distance| x >> distance),
        Op::AShr => (a.signed() >> distance.unwrap_or(127)) as u128,
        Op::Eq => (x == y).into(),
        Op::Ne => (x != y).into(),
        Op::Ult => (x < y).into(),
        Op::Ule => (x <= y).into(),
        Op::Slt => (a.signed() < b.signed()).into(),
        Op::Sle => (a.signed() <= b.signed()).into(),
        Op::Concat => x.checked_shl(b.width.into())? | y,
        Op::FAdd => floats!(a, b, |x, y| x + y),
        Op::FSub => floats!(a, b, |x, y| x - y),
        Op::FMul => floats!(a, b, |x, y| x * y),
        Op::FDiv => floats!(a, b, |x, y| x / y),
        Op::FRem => floats!(a, b, |x, y| x % y),
        Op::FMin => floats!(a, b, |x, y| x.min(y)),
        Op::FMax => floats!(a, b, |x, y| x.max(y)),
        Op::FCopysign => {
            let sign = 1 << (width - 1);
            x & !sign | y & sign
        }
        Op::FCmp => {
            let relation = match a.float().double().partial_cmp(&b.float().double()) {
                Some(std::cmp::Ordering::Equal) => 1,
                Some(std::cmp::Ordering::Greater) => 2,
                Some(std::cmp::Ordering::Less) => 4,
                None => 8,
            };
            (field & relation != 0).into()
        }
        _ => return None,
    };
    Some(bits & mask(width))
}
