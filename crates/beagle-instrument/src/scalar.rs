//! Shadows of arithmetic, comparisons and choices, element by element for vectors.

use beagle_llvm::{Binary, Instruction, IntPredicate, Opcode, Value};
use beagle_trace::layout::Loss;
use beagle_trace::op::Op;

use crate::emit::Term;
use crate::function::{Pass, only_user};
use crate::leaves::{leaves, width};
use crate::sober::KEPT;

/// `Node::flags`: signed arithmetic that must not overflow.
const NO_SIGNED_WRAP: u32 = beagle_trace::node::NO_SIGNED_WRAP as u32;

fn operator(opcode: Opcode) -> Op {
    use Opcode::*;
    match opcode {
        LLVMAdd => Op::Add,
        LLVMSub => Op::Sub,
        LLVMMul => Op::Mul,
        LLVMUDiv => Op::UDiv,
        LLVMSDiv => Op::SDiv,
        LLVMURem => Op::URem,
        LLVMSRem => Op::SRem,
        LLVMShl => Op::Shl,
        LLVMLShr => Op::LShr,
        LLVMAShr => Op::AShr,
        LLVMAnd => Op::And,
        LLVMOr => Op::Or,
        LLVMXor => Op::Xor,
        LLVMFAdd => Op::FAdd,
        LLVMFSub => Op::FSub,
        LLVMFMul => Op::FMul,
        LLVMFDiv => Op::FDiv,
        _ => Op::FRem,
    }
}

impl<'e, 'm> Pass<'e, 'm> {
    /// Applies `shadow` to each element of the operands and the result. The place is after the
    /// instruction. With operands that do not depend on the input nothing is written.
    pub fn each(
        &mut self,
        instruction: Instruction<'m>,
        operands: &[Value<'m>],
        shadow: impl Fn(&Self, &[Term<'m>], Value<'m>) -> Value<'m>,
    ) {
        if operands.iter().all(|&operand| self.is_concrete(operand)) {
            return;
        }
        self.after(instruction);
        let result = instruction.value();
        let lanes = leaves(self.emit.editor, result.ty());
        let operands: Vec<_> = operands
            .iter()
            .map(|&operand| self.parts(operand))
            .collect();
        let mut shadows = Vec::new();
        for (number, lane) in lanes.iter().enumerate() {
            let terms: Vec<_> = operands
                .iter()
                // A condition may be one bit for all elements.
                .filter_map(|parts| parts.get(number).or(parts.first()).copied())
                .collect();
            let concrete = terms.iter().all(|term| self.emit.is_zero(term.shadow));
            let followed = lane.width > 0 && terms.iter().all(|term| self.emit.width(*term) > 0);
            shadows.push(match (concrete, followed) {
                (true, _) => self.emit.zero,
                (false, true) => shadow(self, &terms, self.part(result, lane)),
                (false, false) => {
                    let terms = terms.iter().map(|term| term.shadow);
                    self.emit.lost(Loss::LongDouble, None, terms);
                    self.emit.zero
                }
            });
        }
        self.set(result, shadows);
    }

    /// Arithmetic.
    pub fn binary(&mut self, instruction: Instruction<'m>) {
        let opcode = instruction.opcode();
        let flags = match instruction.is_no_signed_wrap() {
            true => NO_SIGNED_WRAP,
            false => 0,
        };
        self.emit.editor.clear_promises(instruction);
        let (Some(a), Some(b)) = (instruction.operand(0), instruction.operand(1)) else {
            return;
        };
        match opcode {
            Opcode::LLVMUDiv | Opcode::LLVMSDiv | Opcode::LLVMURem | Opcode::LLVMSRem => {
                self.division(instruction, b);
            }
            Opcode::LLVMShl | Opcode::LLVMLShr | Opcode::LLVMAShr => self.shift(instruction, b),
            _ => {}
        }
        let op = operator(opcode);
        self.each(instruction, &[a, b], |pass, terms, result| {
            let width = width(result.ty()).unwrap_or(0);
            pass.emit.node(op, width, (flags, 0), terms, result)
        });
    }

    /// A division by zero ends the program natively, so one that has to happen stays, whatever becomes
    /// of its result, and nothing may be concluded from it.
    fn division(&mut self, instruction: Instruction<'m>, divisor: Value<'m>) {
        self.emit.builder.before(instruction);
        let shadow = self.shadow(divisor);
        if !self.emit.is_zero(shadow) {
            let arguments = [self.emit.site(), shadow];
            self.emit.call(self.emit.helpers().bg_divisor, &arguments);
        }
        let bits = width(divisor.ty()).unwrap_or(0);
        let all_ones = u64::MAX >> (64 - bits.clamp(1, 64));
        let is_safe = divisor
            .as_int()
            .is_some_and(|value| value != 0 && value != all_ones);
        let kept = self.emit.editor.number(instruction, KEPT).is_some();
        if is_safe || !kept || !matches!(bits, 8 | 16 | 32 | 64) {
            return;
        }
        let hidden = self.emit.builder.hide(divisor);
        self.emit.editor.set_operand(instruction, 1, hidden);
        // The optimiser makes comparisons of `1 / x`.
        if let Some(dividend) = instruction.operand(0)
            && dividend.is_constant()
        {
            let hidden = self.emit.builder.hide(dividend);
            self.emit.editor.set_operand(instruction, 0, hidden);
        }
        self.after(instruction);
        self.emit.builder.hide(instruction.value());
    }

    /// The machine takes the distance modulo the width, where LLVM takes any result.
    fn shift(&mut self, instruction: Instruction<'m>, distance: Value<'m>) {
        let bits = width(distance.ty()).unwrap_or(0);
        if distance.is_constant() || !matches!(bits, 32 | 64 | 128) {
            return;
        }
        self.emit.builder.before(instruction);
        let mask = self
            .emit
            .editor
            .const_int(distance.ty(), u64::from(bits) - 1);
        let masked = self.emit.builder.binary(Binary::And, distance, mask);
        self.emit.editor.set_operand(instruction, 1, masked);
    }

    /// `-x`.
    pub fn negate(&mut self, instruction: Instruction<'m>) {
        self.emit.editor.clear_promises(instruction);
        let Some(operand) = instruction.operand(0) else {
            return;
        };
        self.unary(instruction, operand, Op::FNeg);
    }

    /// An operator with one operand of its own width.
    pub fn unary(&mut self, instruction: Instruction<'m>, operand: Value<'m>, op: Op) {
        self.each(instruction, &[operand], |pass, terms, result| {
            let width = width(result.ty()).unwrap_or(0);
            pass.emit.node(op, width, (0, 0), terms, result)
        });
    }

    /// Comparison of integers and pointers.
    pub fn compare(&mut self, instruction: Instruction<'m>) {
        use IntPredicate::*;
        let (Some(a), Some(b), Some(predicate)) = (
            instruction.operand(0),
            instruction.operand(1),
            instruction.integer_predicate(),
        ) else {
            return;
        };
        let (op, a, b) = match predicate {
            LLVMIntEQ => (Op::Eq, a, b),
            LLVMIntNE => (Op::Ne, a, b),
            LLVMIntULT => (Op::Ult, a, b),
            LLVMIntULE => (Op::Ule, a, b),
            LLVMIntSLT => (Op::Slt, a, b),
            LLVMIntSLE => (Op::Sle, a, b),
            LLVMIntUGT => (Op::Ult, b, a),
            LLVMIntUGE => (Op::Ule, b, a),
            LLVMIntSGT => (Op::Slt, b, a),
            LLVMIntSGE => (Op::Sle, b, a),
        };
        if self.decides(instruction, op as u32, a, b) {
            return;
        }
        self.each(instruction, &[a, b], |pass, terms, result| {
            let width = pass.emit.width(terms[0]);
            pass.emit.node(op, width, (0, 0), terms, result)
        });
    }

    /// Whether a comparison is left to the branch after it, with which it needs only one test.
    fn decides(
        &mut self,
        instruction: Instruction<'m>,
        what: u32,
        a: Value<'m>,
        b: Value<'m>,
    ) -> bool {
        let Some(bits @ 1..=64) = width(a.ty()) else {
            return false;
        };
        let branches = only_user(instruction).is_some_and(|user| user.opcode() == Opcode::LLVMBr);
        if !branches || (self.is_concrete(a) && self.is_concrete(b)) {
            return false;
        }
        let decision = (what | bits << 8, self.term(a), self.term(b));
        self.decisions.insert(instruction.value(), decision);
        true
    }

    /// Comparison of floating-point numbers.
    pub fn compare_floats(&mut self, instruction: Instruction<'m>) {
        self.emit.editor.clear_promises(instruction);
        let (Some(a), Some(b), Some(predicate)) = (
            instruction.operand(0),
            instruction.operand(1),
            instruction.float_predicate(),
        ) else {
            return;
        };
        if self.decides(
            instruction,
            Op::FCmp as u32 | (predicate as u32) << 24,
            a,
            b,
        ) {
            return;
        }
        self.each(instruction, &[a, b], |pass, terms, result| {
            let width = pass.emit.width(terms[0]);
            pass.emit
                .node(Op::FCmp, width, (0, predicate as u32), terms, result)
        });
    }

    /// A choice between two values, which may have several parts.
    pub fn select(&mut self, instruction: Instruction<'m>) {
        self.emit.editor.clear_promises(instruction);
        let [condition, yes, no] = instruction.operands()[..] else {
            return;
        };
        self.each(instruction, &[condition, yes, no], |pass, terms, result| {
            let [condition, yes, no] = terms[..] else {
                return pass.emit.zero;
            };
            pass.emit.choose_shadow(condition, yes, no, result)
        });
    }
}
