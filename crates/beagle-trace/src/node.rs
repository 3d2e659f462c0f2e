//! One expression.

use crate::op::Op;

/// The number of a node; 0 stands for "does not depend on the input".
pub type NodeId = u32;

/// The greatest number of a node: a byte's shadow holds it beside a byte index of three bits.
pub const MAX_NODE: NodeId = (1 << 29) - 1;

/// An expression over the bytes of the input, with the value that it had in the run.
///
/// Operands have smaller numbers than the nodes that use them. Equal nodes are the same node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Node {
    /// The number of an [`Op`].
    pub op: u8,
    /// Bit 0: in the source this was signed arithmetic that must not overflow.
    pub flags: u8,
    /// Width in bits, 1 to 128.
    pub width: u16,
    /// First operand, or what the operator says.
    pub a: u32,
    /// Second operand, or what the operator says.
    pub b: u32,
    /// Third operand, or what the operator says.
    pub c: u32,
    /// The value in the run, low half first; bits above the width are 0.
    pub value: [u64; 2],
}

/// [`Node::flags`]: signed arithmetic that must not overflow.
pub const NO_SIGNED_WRAP: u8 = 1;

impl Node {
    /// The operator, unless the memory holds something else.
    pub fn op(&self) -> Option<Op> {
        Op::from_number(self.op)
    }

    /// The value in the run.
    pub fn value(&self) -> u128 {
        u128::from(self.value[0]) | u128::from(self.value[1]) << 64
    }
}

/// All ones of this width.
pub const fn mask(width: u16) -> u128 {
    if width >= 128 {
        u128::MAX
    } else {
        (1 << width) - 1
    }
}
