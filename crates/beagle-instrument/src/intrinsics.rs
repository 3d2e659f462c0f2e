//! Shadows of what LLVM has functions of its own for.

use beagle_llvm::{Instruction, TypeKind, Value};
use beagle_trace::layout::Loss;
use beagle_trace::op::Op;

use crate::emit::Term;
use crate::function::Pass;
use crate::leaves::{count, width};

/// The size of a `va_list`.
const VA_LIST: u64 = 24;

/// The name without `llvm.` and without the types at its end.
fn base(name: &str) -> &str {
    let name = name.strip_prefix("llvm.").unwrap_or(name);
    let is_type = |part: &str| {
        let part = part
            .trim_start_matches("nx")
            .trim_start_matches(['p', 'v', 'i', 'f']);
        !part.is_empty() && part.starts_with(|c: char| c.is_ascii_digit())
    };
    let mut end = name.len();
    while let Some(dot) = name[..end].rfind('.') {
        if !is_type(&name[dot + 1..end]) {
            break;
        }
        end = dot;
    }
    &name[..end]
}

impl<'e, 'm> Pass<'e, 'm> {
    /// A call of an intrinsic.
    pub fn intrinsic(&mut self, call: Instruction<'m>, name: &str) {
        self.emit.editor.clear_promises(call);
        let first = call.operand(0);
        let unary = match base(name) {
            "bswap" => Some(Op::Bswap),
            "bitreverse" => Some(Op::Bitreverse),
            "ctpop" => Some(Op::Ctpop),
            "fabs" => Some(Op::FAbs),
            "sqrt" => Some(Op::FSqrt),
            "floor" => Some(Op::FFloor),
            "ceil" => Some(Op::FCeil),
            "trunc" => Some(Op::FTrunc),
            "rint" | "nearbyint" | "roundeven" => Some(Op::FRint),
            "round" => Some(Op::FRound),
            _ => None,
        };
        if let (Some(op), Some(operand)) = (unary, first) {
            return self.unary(call, operand, op);
        }
        match base(name) {
            "memcpy" | "memcpy.inline" | "memmove" => self.copy(call),
            "memset" | "memset.inline" => self.fill(call),
            "va_start" => self.variadic_start(call),
            "va_copy" => self.variadic_copy(call),
            "ctlz" => self.zeros(call, Op::Ctlz),
            "cttz" => self.zeros(call, Op::Cttz),
            "abs" => self.absolute(call),
            "smax" => self.extreme(call, Op::Slt, true),
            "smin" => self.extreme(call, Op::Slt, false),
            "umax" => self.extreme(call, Op::Ult, true),
            "umin" => self.extreme(call, Op::Ult, false),
            "fshl" => self.funnel(call, true),
            "fshr" => self.funnel(call, false),
            "copysign" => self.floats(call, Op::FCopysign),
            "minnum" => self.floats(call, Op::FMin),
            "maxnum" => self.floats(call, Op::FMax),
            "is.fpclass" => self.float_class(call),
            "sadd.with.overflow" => self.overflow(call, Op::Add, true),
            "uadd.with.overflow" => self.overflow(call, Op::Add, false),
            "ssub.with.overflow" => self.overflow(call, Op::Sub, true),
            "usub.with.overflow" => self.overflow(call, Op::Sub, false),
            "smul.with.overflow" => self.overflow(call, Op::Mul, true),
            "umul.with.overflow" => self.overflow(call, Op::Mul, false),
            "sadd.sat" => self.saturating(call, Op::Add, true),
            "uadd.sat" => self.saturating(call, Op::Add, false),
            "ssub.sat" => self.saturating(call, Op::Sub, true),
            "usub.sat" => self.saturating(call, Op::Sub, false),
            "ptrmask" => self.mask(call),
            "expect"
            | "expect.with.probability"
            | "annotation"
            | "ptr.annotation"
            | "ssa.copy"
            | "arithmetic.fence"
            | "launder.invariant.group"
            | "strip.invariant.group" => self.same(call, 0),
            "experimental.constrained.fadd" => self.floats(call, Op::FAdd),
            "experimental.constrained.fsub" => self.floats(call, Op::FSub),
            "experimental.constrained.fmul" => self.floats(call, Op::FMul),
            "experimental.constrained.fdiv" => self.floats(call, Op::FDiv),
            // What these answer is the same for all inputs.
            "is.constant" | "objectsize" | "threadlocal.address" => {}
            _ => {
                if count(call.value().ty()).is_some() {
                    self.emit.builder.before(call);
                    let shadows = self.all_shadows(call.arguments());
                    self.emit.lost(Loss::Instruction, Some(name), shadows);
                }
            }
        }
    }

    fn copy(&mut self, call: Instruction<'m>) {
        let [to, from, size, ..] = call.arguments()[..] else {
            return;
        };
        let emit = &self.emit;
        emit.builder.before(call);
        let size = emit.resize(self.term(size), 64, false);
        let arguments = [
            to,
            from,
            size.value,
            self.shadow(to),
            self.shadow(from),
            size.shadow,
            emit.site(),
        ];
        emit.call(emit.helpers().bg_copy, &arguments);
    }

    fn fill(&mut self, call: Instruction<'m>) {
        let [to, byte, size, ..] = call.arguments()[..] else {
            return;
        };
        let emit = &self.emit;
        emit.builder.before(call);
        let size = emit.resize(self.term(size), 64, false);
        let value = emit.builder.cast(beagle_llvm::Cast::ZExt, byte, emit.word);
        let arguments = [
            to,
            value,
            size.value,
            self.shadow(to),
            self.shadow(byte),
            size.shadow,
            emit.site(),
        ];
        emit.call(emit.helpers().bg_fill, &arguments);
    }

    fn variadic_start(&mut self, call: Instruction<'m>) {
        let (Some(list), Some(buffer)) = (call.operand(0), self.variadic.get()) else {
            return;
        };
        self.after(call);
        self.emit
            .call(self.emit.helpers().bg_va_start, &[list, buffer]);
    }

    fn variadic_copy(&mut self, call: Instruction<'m>) {
        let [to, from] = call.arguments()[..] else {
            return;
        };
        let emit = &self.emit;
        emit.builder.before(call);
        let zero = emit.zero;
        let arguments = [to, from, emit.long(VA_LIST), zero, zero, zero, emit.site()];
        emit.call(emit.helpers().bg_copy, &arguments);
    }

    /// Counts zeros; for 0 the answer is the width.
    fn zeros(&mut self, call: Instruction<'m>, op: Op) {
        self.define(call);
        if let Some(operand) = call.operand(0) {
            self.unary(call, operand, op);
        }
    }

    /// The second operand says that some case has no defined result; here it always has.
    fn define(&self, call: Instruction<'m>) {
        let editor = self.emit.editor;
        if call.operand(1).is_some_and(|flag| flag.as_int() == Some(1)) {
            editor.set_operand(call, 1, editor.zero(editor.int(1)));
        }
    }

    fn absolute(&mut self, call: Instruction<'m>) {
        self.define(call);
        let Some(operand) = call.operand(0) else {
            return;
        };
        self.each(call, &[operand], |pass, terms, result| {
            let (emit, term) = (&pass.emit, terms[0]);
            let zero = emit.constant(term, 0);
            let negative = emit.compare(Op::Slt, term, zero);
            let opposite = emit.binary(Op::Sub, zero, term);
            emit.choose_shadow(negative, opposite, term, result)
        });
    }

    /// Two numbers in, one out.
    fn floats(&mut self, call: Instruction<'m>, op: Op) {
        let (Some(a), Some(b)) = (call.operand(0), call.operand(1)) else {
            return;
        };
        self.each(call, &[a, b], |pass, terms, result| {
            let width = width(result.ty()).unwrap_or(0);
            pass.emit.node(op, width, (0, 0), terms, result)
        });
    }

    /// A shift of two words as one; with both the same, a rotation.
    fn funnel(&mut self, call: Instruction<'m>, left: bool) {
        let [a, b, c] = call.arguments()[..] else {
            return;
        };
        self.each(call, &[a, b, c], |pass, terms, _| {
            let (emit, [a, b, c]) = (&pass.emit, [terms[0], terms[1], terms[2]]);
            let width = emit.width(a);
            if !width.is_power_of_two() {
                let shadows = terms.iter().map(|term| term.shadow);
                emit.lost(Loss::Instruction, Some("funnel shift"), shadows);
                return emit.zero;
            }
            // In two steps, none of which can be by the whole width.
            let last = emit.constant(c, u64::from(width) - 1);
            let one = emit.constant(c, 1);
            let distance = emit.binary(Op::And, c, last);
            let rest = emit.binary(Op::Xor, distance, last);
            let (high, low) = match left {
                true => {
                    let low = emit.binary(Op::LShr, emit.binary(Op::LShr, b, one), rest);
                    (emit.binary(Op::Shl, a, distance), low)
                }
                false => {
                    let high = emit.binary(Op::Shl, emit.binary(Op::Shl, a, one), rest);
                    (high, emit.binary(Op::LShr, b, distance))
                }
            };
            emit.binary(Op::Or, high, low).shadow
        });
    }

    /// The shadows of the result and of "it does not fit".
    fn checked(
        &self,
        op: Op,
        signed: bool,
        a: Term<'m>,
        b: Term<'m>,
        result: Value<'m>,
    ) -> [Value<'m>; 2] {
        let emit = &self.emit;
        let width = emit.width(a);
        let shadow = emit.node(op, width, (0, 0), &[a, b], result);
        let sum = Term {
            shadow,
            value: result,
        };
        let zero = emit.constant(a, 0);
        let both = |x, y| emit.compare(Op::Slt, emit.binary(Op::And, x, y), zero);
        let differ = |x, y| emit.binary(Op::Xor, x, y);
        let overflow = match (op, signed) {
            (Op::Add, false) => emit.compare(Op::Ult, sum, a),
            (Op::Add, true) => both(differ(a, sum), differ(b, sum)),
            (Op::Sub, false) => emit.compare(Op::Ult, a, b),
            (Op::Sub, true) => both(differ(a, b), differ(a, sum)),
            _ if width <= 64 => {
                let wide = |term| emit.resize(term, 2 * width, signed);
                let product = emit.binary(Op::Mul, wide(a), wide(b));
                emit.compare(Op::Ne, product, wide(sum))
            }
            _ => {
                let shadows = [a.shadow, b.shadow];
                emit.lost(Loss::Instruction, Some("wide product"), shadows);
                emit.concrete(emit.editor.zero(emit.editor.int(1)))
            }
        };
        [shadow, overflow.shadow]
    }

    fn overflow(&mut self, call: Instruction<'m>, op: Op, signed: bool) {
        let (Some(a), Some(b)) = (call.operand(0), call.operand(1)) else {
            return;
        };
        if self.is_concrete(a) && self.is_concrete(b) {
            return;
        }
        self.after(call);
        if !matches!(a.ty().kind(), TypeKind::Int(_)) {
            let shadows = self.all_shadows([a, b]);
            return self
                .emit
                .lost(Loss::Instruction, Some("vector overflow"), shadows);
        }
        let result = self.emit.builder.extract(call.value(), 0);
        let shadows = self.checked(op, signed, self.term(a), self.term(b), result);
        self.set(call.value(), shadows.to_vec());
    }

    fn saturating(&mut self, call: Instruction<'m>, op: Op, signed: bool) {
        let (Some(a), Some(b)) = (call.operand(0), call.operand(1)) else {
            return;
        };
        self.each(call, &[a, b], |pass, terms, result| {
            let (emit, [a, b]) = (&pass.emit, [terms[0], terms[1]]);
            let plain = emit.binary(op, a, b);
            let [_, overflow] = pass.checked(op, signed, a, b, plain.value);
            // The number itself tells whether it was cut off.
            let differs = beagle_llvm::IntPredicate::LLVMIntNE;
            let cut = Term {
                shadow: overflow,
                value: emit.builder.compare(differs, plain.value, result),
            };
            let width = emit.width(a);
            let sign = 1u64 << (width.min(64) - 1);
            let limit = match (op, signed) {
                (Op::Add, false) => emit.constant(a, u64::MAX),
                (_, false) => emit.constant(a, 0),
                _ => {
                    let negative = emit.compare(Op::Slt, a, emit.constant(a, 0));
                    let (least, most) = (emit.constant(a, sign), emit.constant(a, sign - 1));
                    emit.choose(negative, least, most)
                }
            };
            if width > 64 {
                emit.lost(
                    Loss::Instruction,
                    Some("wide saturation"),
                    [a.shadow, b.shadow],
                );
                return emit.zero;
            }
            emit.choose_shadow(cut, limit, plain, result)
        });
    }

    fn mask(&mut self, call: Instruction<'m>) {
        let (Some(pointer), Some(mask)) = (call.operand(0), call.operand(1)) else {
            return;
        };
        self.each(call, &[pointer, mask], |pass, terms, result| {
            pass.emit.node(Op::And, 64, (0, 0), terms, result)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::base;

    #[test]
    fn types_are_cut_off_names() {
        assert_eq!(base("llvm.memcpy.p0.p0.i64"), "memcpy");
        assert_eq!(base("llvm.memcpy.inline.p0.p0.i64"), "memcpy.inline");
        assert_eq!(base("llvm.smax.v4i32"), "smax");
        assert_eq!(base("llvm.sadd.with.overflow.i32"), "sadd.with.overflow");
        assert_eq!(base("llvm.va_start.p0"), "va_start");
        assert_eq!(base("llvm.fabs.f64"), "fabs");
        assert_eq!(base("llvm.is.fpclass.f32"), "is.fpclass");
        assert_eq!(base("llvm.trap"), "trap");
    }
}
