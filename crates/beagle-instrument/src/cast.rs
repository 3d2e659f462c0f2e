//! Shadows of conversions and of address arithmetic.

use beagle_llvm::{Binary, Cast, Instruction, Opcode, Type, TypeKind, Value};
use beagle_trace::layout::Loss;
use beagle_trace::op::Op;

use crate::emit::Term;
use crate::function::{Pass, only_user};
use crate::leaves::{leaves, width};

impl<'e, 'm> Pass<'e, 'm> {
    /// A conversion.
    pub fn cast(&mut self, instruction: Instruction<'m>) {
        use Opcode::*;
        self.emit.editor.clear_promises(instruction);
        let Some(operand) = instruction.operand(0) else {
            return;
        };
        if self.is_concrete(operand) {
            return;
        }
        let op = match instruction.opcode() {
            LLVMSExt => Op::SExt,
            LLVMFPToUI => Op::FpToUi,
            LLVMFPToSI => Op::FpToSi,
            LLVMUIToFP => Op::UiToFp,
            LLVMSIToFP => Op::SiToFp,
            LLVMFPTrunc | LLVMFPExt => Op::FpCast,
            LLVMBitCast => return self.bit_cast(instruction, operand),
            LLVMAddrSpaceCast => return self.same(instruction, 0),
            // Between integers and pointers: as between integers.
            _ => Op::ZExt,
        };
        self.each(instruction, &[operand], |pass, terms, result| {
            let (from, to) = (pass.emit.width(terms[0]), width(result.ty()).unwrap_or(0));
            let op = match op {
                Op::ZExt if to == from => return terms[0].shadow,
                Op::ZExt if to < from => Op::Extract,
                op => op,
            };
            pass.emit.node(op, to, (0, 0), terms, result)
        });
    }

    /// The same bits as another type: parts are put together and cut again.
    fn bit_cast(&mut self, instruction: Instruction<'m>, operand: Value<'m>) {
        self.after(instruction);
        let result = instruction.value();
        let to = leaves(self.emit.editor, result.ty());
        let parts = self.parts(operand);
        let total: u32 = parts.iter().map(|part| self.emit.width(*part)).sum();
        let wanted: u32 = to.iter().map(|leaf| leaf.width).sum();
        let same = parts.len() == to.len()
            && parts
                .iter()
                .zip(&to)
                .all(|(part, leaf)| self.emit.width(*part) == leaf.width);
        if same {
            let shadows = parts.into_iter().map(|part| part.shadow).collect();
            return self.set(result, shadows);
        }
        let followed = total == wanted
            && parts.iter().all(|part| self.emit.width(*part) > 0)
            && to.iter().all(|leaf| leaf.width > 0);
        if !followed || total > 128 {
            let shadows = parts.into_iter().map(|part| part.shadow);
            return self.emit.lost(Loss::Instruction, Some("bitcast"), shadows);
        }
        // The first element lies lowest.
        let Some(whole) = parts
            .into_iter()
            .reduce(|low, high| self.emit.concat(high, low))
        else {
            return;
        };
        let mut low = 0;
        let mut shadows = Vec::new();
        for leaf in &to {
            shadows.push(self.emit.cut(whole, low, leaf.width).shadow);
            low += leaf.width;
        }
        self.set(result, shadows);
    }

    /// Address arithmetic: a base, constants, and indices with the sizes that they step over.
    pub fn address(&mut self, instruction: Instruction<'m>) {
        self.emit.editor.clear_promises(instruction);
        let operands = instruction.operands();
        let Some((&base, indices)) = operands.split_first() else {
            return;
        };
        if operands.iter().all(|&operand| self.is_concrete(operand)) {
            return;
        }
        self.after(instruction);
        if matches!(instruction.value().ty().kind(), TypeKind::Vector(..)) {
            let shadows = self.all_shadows(operands.iter().copied());
            return self
                .emit
                .lost(Loss::Instruction, Some("vector address"), shadows);
        }
        let Some(source) = instruction.stepped_type() else {
            return;
        };
        if indices.iter().all(|&index| self.is_concrete(index)) && is_for_access(instruction) {
            self.fields.insert(instruction.value(), base);
            return;
        }
        let (constant, steps) = self.steps(source, indices);
        // What does not depend on the input goes first: one addition covers it all.
        let (moving, fixed): (Vec<_>, Vec<_>) = steps
            .into_iter()
            .partition(|(index, _)| !self.is_concrete(*index));
        let emit = &self.emit;
        let mut offset = emit.long(constant);
        for (index, scale) in fixed {
            let extended = self.extended(index);
            let step = emit.builder.binary(Binary::Mul, extended, emit.long(scale));
            offset = emit.builder.binary(Binary::Add, offset, step);
        }
        let mut address = Term {
            shadow: self.shadow(base),
            value: emit.bits(base),
        };
        if offset != emit.long(0) {
            address = emit.binary(Op::Add, address, emit.concrete(offset));
        }
        for (index, scale) in moving {
            let mut term = self.term(index);
            if emit.width(term) > 64 {
                term = emit.resize(term, 64, true);
            }
            let extended = self.extended(term.value);
            let shadow = emit.call(
                emit.helpers().bgi_step,
                &[
                    address.shadow,
                    term.shadow,
                    address.value,
                    emit.as_long(term.value),
                    extended,
                    emit.word(emit.width(term)),
                    emit.long(scale),
                    emit.site(),
                ],
            );
            let step = emit.builder.binary(Binary::Mul, extended, emit.long(scale));
            let value = emit.builder.binary(Binary::Add, address.value, step);
            address = Term { shadow, value };
        }
        self.set_one(instruction.value(), address.shadow);
    }

    fn extended(&self, index: Value<'m>) -> Value<'m> {
        let cast = match width(index.ty()) {
            Some(width) if width > 64 => Cast::Trunc,
            _ => Cast::SExt,
        };
        self.emit.builder.cast(cast, index, self.emit.long)
    }

    /// The sum of the constants, and the other indices with what they are multiplied by.
    fn steps(&self, source: Type<'m>, indices: &[Value<'m>]) -> (u64, Vec<(Value<'m>, u64)>) {
        let editor = self.emit.editor;
        let mut constant = 0u64;
        let mut steps = Vec::new();
        let mut at = source;
        for (number, &index) in indices.iter().enumerate() {
            let element = match (number, at.kind()) {
                (0, _) => at,
                (_, TypeKind::Struct(_, fields)) => {
                    let field = index.as_int().unwrap_or(0) as u32;
                    constant = constant.wrapping_add(editor.field_offset(at, field));
                    match fields.get(field as usize) {
                        Some(&field) => at = field,
                        None => return (constant, steps),
                    }
                    continue;
                }
                (_, TypeKind::Array(_, element) | TypeKind::Vector(_, element)) => element,
                _ => return (constant, steps),
            };
            at = element;
            let scale = editor.size_of(element);
            match (index.as_int(), width(index.ty())) {
                (Some(value), Some(bits)) if bits <= 64 => {
                    let value = (value << (64 - bits)) as i64 >> (64 - bits);
                    constant = constant.wrapping_add((value as u64).wrapping_mul(scale));
                }
                _ => steps.push((index, scale)),
            }
        }
        (constant, steps)
    }
}

/// Whether an address is only that of one load or store.
fn is_for_access(address: Instruction<'_>) -> bool {
    only_user(address).is_some_and(|user| match user.opcode() {
        Opcode::LLVMLoad => true,
        Opcode::LLVMStore => user.operand(0) != Some(address.value()),
        _ => false,
    })
}
