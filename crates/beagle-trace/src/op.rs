//! The operators of expressions, and what each of them means.

/// Declares the operators with their numbers, and the way back from a number.
macro_rules! operators {
    ($($(#[$meta:meta])* $name:ident = $number:literal,)*) => {
        /// What a [`Node`](crate::node::Node) computes. `a`, `b`, `c` are the fields of the node,
        /// `w` its width.
        ///
        /// Values are bit vectors of 1 to 128 bits. A floating-point value is the bit vector of its
        /// IEEE 754 encoding (32 or 64 bits). Operands have the width of the node unless said
        /// otherwise. What is undefined in C has the meaning given here.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Op { $($(#[$meta])* $name = $number,)* }

        impl Op {
            /// All operators.
            pub const ALL: &[Op] = &[$(Op::$name,)*];

            /// The operator with this number.
            pub const fn from_number(number: u8) -> Option<Op> {
                match number { $($number => Some(Op::$name),)* _ => None }
            }
        }
    };
}

operators! {
    /// The node's value.
    Const = 1,
    /// Byte `b` of input source `a`; 8 bits. Past the end of the source it is 0.
    Var = 2,
    /// The number of bytes of input source `a`; 64 bits.
    Size = 3,
    /// The number of arguments, program name included; 32 bits.
    ArgCount = 4,

    /// Sum, modulo 2^w.
    Add = 10,
    /// Difference, modulo 2^w.
    Sub = 11,
    /// Product, modulo 2^w.
    Mul = 12,
    /// Unsigned quotient; all ones for a divisor of 0.
    UDiv = 13,
    /// Signed quotient, rounded to zero; for a divisor of 0: 1 if `a` is negative, else all ones;
    /// the least number divided by -1 is itself.
    SDiv = 14,
    /// Unsigned remainder; `a` for a divisor of 0.
    URem = 15,
    /// Signed remainder with the sign of `a`; `a` for a divisor of 0; 0 for a divisor of -1.
    SRem = 16,
    /// Bitwise and.
    And = 17,
    /// Bitwise or.
    Or = 18,
    /// Bitwise exclusive or.
    Xor = 19,
    /// Shift left; 0 if `b` is not less than w.
    Shl = 20,
    /// Shift right, filled with zeros; 0 if `b` is not less than w.
    LShr = 21,
    /// Shift right, filled with the sign; only signs if `b` is not less than w.
    AShr = 22,

    /// Equal; 1 bit, operands of any equal width. So the other comparisons.
    Eq = 30,
    /// Not equal.
    Ne = 31,
    /// Unsigned less.
    Ult = 32,
    /// Unsigned less or equal.
    Ule = 33,
    /// Signed less.
    Slt = 34,
    /// Signed less or equal.
    Sle = 35,

    /// `a`, narrower than w, filled with zeros.
    ZExt = 40,
    /// `a`, narrower than w, filled with its sign.
    SExt = 41,
    /// Bits `c` to `c + w - 1` of `a`.
    Extract = 42,
    /// `a` in the high bits, `b` in the low bits; w is the sum of their widths.
    Concat = 43,
    /// `b` if `a` (1 bit) is 1, else `c`.
    Ite = 44,

    /// The number of ones.
    Ctpop = 50,
    /// The number of zeros above the highest one; w for 0.
    Ctlz = 51,
    /// The number of zeros below the lowest one; w for 0.
    Cttz = 52,
    /// Bytes in reverse order; w is a multiple of 16.
    Bswap = 53,
    /// Bits in reverse order.
    Bitreverse = 54,

    /// Floating-point sum; rounded to nearest, ties to even. So all that follow.
    FAdd = 60,
    /// Floating-point difference.
    FSub = 61,
    /// Floating-point product.
    FMul = 62,
    /// Floating-point quotient.
    FDiv = 63,
    /// C's `fmod`.
    FRem = 64,
    /// The sign flipped.
    FNeg = 65,
    /// The sign cleared.
    FAbs = 66,
    /// Square root.
    FSqrt = 67,
    /// C's `fmin`.
    FMin = 68,
    /// C's `fmax`.
    FMax = 69,
    /// `a` with the sign of `b`.
    FCopysign = 70,
    /// C's `floor`.
    FFloor = 71,
    /// C's `ceil`.
    FCeil = 72,
    /// C's `trunc`.
    FTrunc = 73,
    /// C's `round`: ties away from zero.
    FRound = 74,
    /// C's `rint`: ties to even.
    FRint = 75,
    /// Comparison; 1 bit. `c` holds LLVM's predicate: bit 0 equal, bit 1 greater, bit 2 less, bit 3
    /// unordered; true if any of the named relations holds.
    FCmp = 76,
    /// Floating point `a` to a signed integer, rounded to zero; not defined where it does not fit.
    FpToSi = 77,
    /// Floating point `a` to an unsigned integer, rounded to zero; not defined where it does not fit.
    FpToUi = 78,
    /// Signed integer `a` to floating point of w bits.
    SiToFp = 79,
    /// Unsigned integer `a` to floating point of w bits.
    UiToFp = 80,
    /// Floating point `a` to floating point of w bits, another width.
    FpCast = 81,

    /// The w / 8 bytes at offset `a` (64 bits) of table `b` (a number of a blob), the first lowest.
    /// Not defined where it reaches outside.
    Lookup = 90,
    /// Byte `c` of the text that `printf` makes of `a` with the conversion in blob `b`; 8 bits. 0
    /// past its end.
    RenderByte = 91,
    /// The length of the text that `printf` makes of `a` with the conversion in blob `b`; 32 bits.
    RenderLen = 92,
}

/// Which of the fields `a`, `b`, `c` of a node are operands, that is, numbers of other nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// None.
    Leaf,
    /// `a`.
    One,
    /// `a` and `b`.
    Two,
    /// `a`, `b` and `c`.
    Three,
}

impl Op {
    /// The operators of two integers of equal width: arithmetic, then comparisons.
    pub const BINARY: [Op; 19] = [
        Op::Add,
        Op::Sub,
        Op::Mul,
        Op::UDiv,
        Op::SDiv,
        Op::URem,
        Op::SRem,
        Op::And,
        Op::Or,
        Op::Xor,
        Op::Shl,
        Op::LShr,
        Op::AShr,
        Op::Eq,
        Op::Ne,
        Op::Ult,
        Op::Ule,
        Op::Slt,
        Op::Sle,
    ];

    /// Which fields of its nodes are operands.
    pub const fn arity(self) -> Arity {
        match self {
            Op::Const | Op::Var | Op::Size | Op::ArgCount => Arity::Leaf,
            Op::ZExt
            | Op::SExt
            | Op::Extract
            | Op::Ctpop
            | Op::Ctlz
            | Op::Cttz
            | Op::Bswap
            | Op::Bitreverse
            | Op::FNeg
            | Op::FAbs
            | Op::FSqrt
            | Op::FFloor
            | Op::FCeil
            | Op::FTrunc
            | Op::FRound
            | Op::FRint
            | Op::FpToSi
            | Op::FpToUi
            | Op::SiToFp
            | Op::UiToFp
            | Op::FpCast
            | Op::Lookup
            | Op::RenderByte
            | Op::RenderLen => Arity::One,
            Op::Ite => Arity::Three,
            _ => Arity::Two,
        }
    }

    /// Whether the result is one bit whatever the width of the operands.
    pub const fn is_comparison(self) -> bool {
        matches!(
            self,
            Op::Eq | Op::Ne | Op::Ult | Op::Ule | Op::Slt | Op::Sle | Op::FCmp
        )
    }

    /// Whether the operands can change places.
    pub const fn is_commutative(self) -> bool {
        matches!(
            self,
            Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Eq | Op::Ne
        )
    }
}
