//! What operators make of concrete values.

use beagle_trace::node::mask;
use beagle_trace::op::Op;

/// `value`, of this width, as a signed number.
pub const fn signed(value: u128, width: u16) -> i128 {
    let shift = 128 - width as u32;
    ((value << shift) as i128) >> shift
}

/// The result of an integer operator on values of `width`; `None` for what the runtime does not
/// compute itself.
pub fn binary(op: Op, width: u16, a: u128, b: u128) -> Option<u128> {
    let w = u128::from(width);
    let (sa, sb) = (signed(a, width), signed(b, width));
    let result = match op {
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Mul => a.wrapping_mul(b),
        Op::UDiv if b != 0 => a / b,
        Op::URem if b != 0 => a % b,
        Op::SDiv if b != 0 => sa.wrapping_div(sb) as u128,
        Op::SRem if b != 0 => sa.wrapping_rem(sb) as u128,
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Shl if b < w => a << b,
        Op::LShr if b < w => a >> b,
        Op::AShr if b < w => (sa >> b) as u128,
        Op::Eq => return Some(u128::from(a == b)),
        Op::Ne => return Some(u128::from(a != b)),
        Op::Ult => return Some(u128::from(a < b)),
        Op::Ule => return Some(u128::from(a <= b)),
        Op::Slt => return Some(u128::from(sa < sb)),
        Op::Sle => return Some(u128::from(sa <= sb)),
        _ => return None,
    };
    Some(result & mask(width))
}
