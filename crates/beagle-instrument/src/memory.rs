//! Shadows of loads, stores and atomic operations.

use beagle_llvm::{Binary, Instruction, Value};
use beagle_trace::layout::Loss;
use beagle_trace::op::Op;

use crate::emit::Term;
use crate::function::Pass;
use crate::leaves::{Leaf, count, is_in_bytes, leaves, width};

/// LLVM's numbers of atomic operations, `AtomicRMWInst::BinOp`.
mod atomic {
    pub const EXCHANGE: u32 = 0;
    pub const ADD: u32 = 1;
    pub const SUB: u32 = 2;
    pub const AND: u32 = 3;
    pub const NAND: u32 = 4;
    pub const OR: u32 = 5;
    pub const XOR: u32 = 6;
    pub const MAX: u32 = 7;
    pub const MIN: u32 = 8;
    pub const UMAX: u32 = 9;
    pub const UMIN: u32 = 10;
    pub const FADD: u32 = 11;
    pub const FSUB: u32 = 12;
}

impl<'e, 'm> Pass<'e, 'm> {
    /// Before an access: its address may depend on the input.
    fn access(&mut self, address: Value<'m>, bytes: u64, store: bool) {
        let emit = &self.emit;
        let [bytes, store] = [bytes as u32, u32::from(store)].map(|word| emit.word(word));
        if let Some(&base) = self.fields.get(&address) {
            let shadow = self.shadow(base);
            let value = emit.bits(base);
            let arguments = [shadow, value, address, bytes, emit.site(), store];
            let shadow = emit.call(emit.helpers().bgi_access, &arguments);
            return self.set_one(address, shadow);
        }
        let shadow = self.shadow(address);
        if emit.is_zero(shadow) {
            return;
        }
        let arguments = [shadow, address, bytes, emit.site(), store];
        emit.call(emit.helpers().bg_address, &arguments);
    }

    /// The address of a part.
    fn part_address(&self, address: Value<'m>, leaf: &Leaf) -> Term<'m> {
        let emit = &self.emit;
        let whole = self.term(address);
        if leaf.offset == 0 {
            return whole;
        }
        let offset = emit.long(leaf.offset);
        let value = emit.builder.offset(address, offset);
        let shadow = match emit.is_zero(whole.shadow) {
            true => emit.zero,
            false => {
                let operands = [whole, emit.concrete(offset)];
                emit.node(Op::Add, 64, (0, 0), &operands, value)
            }
        };
        Term { shadow, value }
    }

    /// Reads a shadow from memory, after the value was read.
    fn load_part(&self, address: Value<'m>, leaf: &Leaf, value: Value<'m>) -> Value<'m> {
        let emit = &self.emit;
        if leaf.width == 0 || leaf.bytes > 16 {
            return emit.zero;
        }
        let place = self.part_address(address, leaf);
        let size = emit.word(leaf.bytes | leaf.width << 8);
        if leaf.bytes <= 8 {
            let value = emit.as_long(value);
            let arguments = [place.value, place.shadow, size, value];
            return emit.call(emit.helpers().bg_load, &arguments);
        }
        let buffer = emit.buffer();
        let wide = emit.builder.cast(beagle_llvm::Cast::ZExt, value, emit.wide);
        emit.builder.store(wide, buffer, 16);
        let arguments = [place.value, place.shadow, size, buffer];
        emit.call(emit.helpers().bg_load_wide, &arguments)
    }

    /// Writes a shadow to memory, after the value was written.
    fn store_part(&self, address: Value<'m>, leaf: &Leaf, shadow: Value<'m>) {
        let emit = &self.emit;
        let place = self.part_address(address, leaf);
        if leaf.width == 0 || leaf.bytes > 16 {
            let bytes = emit.long(leaf.bytes.into());
            emit.call(emit.helpers().bg_clear, &[place.value, bytes]);
            return;
        }
        let size = emit.word(leaf.bytes | leaf.width << 8);
        emit.call(emit.helpers().bg_store, &[place.value, size, shadow]);
    }

    /// A load.
    pub fn load(&mut self, load: Instruction<'m>) {
        let Some(address) = load.operand(0) else {
            return;
        };
        let (editor, ty) = (self.emit.editor, load.value().ty());
        self.emit.builder.before(load);
        self.access(address, editor.store_size_of(ty), false);
        if count(ty).is_none() || !is_in_bytes(ty) {
            return;
        }
        self.after(load);
        let shadows = leaves(editor, ty)
            .iter()
            .map(|leaf| {
                if leaf.width == 0 {
                    return self.emit.zero;
                }
                let value = self.part(load.value(), leaf);
                self.load_part(address, leaf, value)
            })
            .collect();
        self.set(load.value(), shadows);
    }

    /// A store.
    pub fn store(&mut self, store: Instruction<'m>) {
        let (Some(value), Some(address)) = (store.operand(0), store.operand(1)) else {
            return;
        };
        let (editor, ty) = (self.emit.editor, value.ty());
        self.emit.builder.before(store);
        self.access(address, editor.store_size_of(ty), true);
        self.after(store);
        if count(ty).is_none() || !is_in_bytes(ty) {
            let shadows = self.shadows(value);
            self.emit
                .lost(Loss::Instruction, Some("store of a large value"), shadows);
            let bytes = self.emit.long(editor.store_size_of(ty));
            self.emit
                .call(self.emit.helpers().bg_clear, &[address, bytes]);
            return;
        }
        for (leaf, shadow) in leaves(editor, ty).iter().zip(self.shadows(value)) {
            self.store_part(address, leaf, shadow);
        }
    }

    /// An atomic operation on memory: reads, computes, writes.
    pub fn exchange(&mut self, instruction: Instruction<'m>) {
        let (Some(address), Some(operand)) = (instruction.operand(0), instruction.operand(1))
        else {
            return;
        };
        let (editor, ty) = (self.emit.editor, operand.ty());
        self.emit.builder.before(instruction);
        self.access(address, editor.store_size_of(ty), true);
        self.after(instruction);
        let all = leaves(editor, ty);
        let [leaf] = &all[..] else {
            return;
        };
        let old = Term {
            shadow: self.load_part(address, leaf, instruction.value()),
            value: instruction.value(),
        };
        let new = self.updated(instruction, old, self.term(operand));
        self.store_part(address, leaf, new);
        self.set_one(instruction.value(), old.shadow);
    }

    /// The shadow of what an atomic operation writes.
    fn updated(&self, instruction: Instruction<'m>, old: Term<'m>, operand: Term<'m>) -> Value<'m> {
        let emit = &self.emit;
        let operation = instruction.atomic_operation().unwrap_or(u32::MAX);
        let simple = |op| emit.binary(op, old, operand).shadow;
        let pick = |op, a: Term<'m>, b: Term<'m>| emit.choose(emit.compare(op, a, b), a, b).shadow;
        let float = |op, binary| {
            let value = emit.builder.binary(binary, old.value, operand.value);
            emit.node(op, emit.width(old), (0, 0), &[old, operand], value)
        };
        match operation {
            atomic::EXCHANGE => operand.shadow,
            atomic::ADD => simple(Op::Add),
            atomic::SUB => simple(Op::Sub),
            atomic::AND => simple(Op::And),
            atomic::OR => simple(Op::Or),
            atomic::XOR => simple(Op::Xor),
            atomic::NAND => {
                let and = emit.binary(Op::And, old, operand);
                emit.binary(Op::Xor, and, emit.constant(and, u64::MAX))
                    .shadow
            }
            atomic::MIN => pick(Op::Sle, old, operand),
            atomic::UMIN => pick(Op::Ule, old, operand),
            atomic::MAX => pick(Op::Slt, operand, old),
            atomic::UMAX => pick(Op::Ult, operand, old),
            atomic::FADD if emit.width(old) > 0 => float(Op::FAdd, Binary::FAdd),
            atomic::FSUB if emit.width(old) > 0 => float(Op::FSub, Binary::FSub),
            _ => {
                emit.lost(
                    Loss::Instruction,
                    Some("atomicrmw"),
                    [old.shadow, operand.shadow],
                );
                emit.zero
            }
        }
    }

    /// Compare and exchange. Which way it went is assumed.
    pub fn compare_exchange(&mut self, instruction: Instruction<'m>) {
        let [address, expected, new] = instruction.operands()[..] else {
            return;
        };
        let (editor, ty) = (self.emit.editor, expected.ty());
        self.emit.builder.before(instruction);
        self.access(address, editor.store_size_of(ty), true);
        self.after(instruction);
        let all = leaves(editor, ty);
        let [leaf] = &all[..] else {
            return;
        };
        let emit = &self.emit;
        let value = emit.builder.extract(instruction.value(), 0);
        let done = emit.builder.extract(instruction.value(), 1);
        let old = Term {
            shadow: self.load_part(address, leaf, value),
            value,
        };
        let wanted = self.term(expected);
        let one = editor.const_int(editor.int(1), 1);
        let node = |op| {
            let width = emit.width(old);
            emit.node(op, width, (0, 0), &[old, wanted], one)
        };
        let (equal, differ) = (node(Op::Eq), node(Op::Ne));
        if !emit.is_zero(equal) {
            let held = emit.builder.select(done, equal, differ);
            emit.call(emit.helpers().bg_exchange, &[emit.site(), held]);
        }
        let written = emit.builder.select(done, self.shadow(new), old.shadow);
        self.store_part(address, leaf, written);
        let zero = emit.zero;
        self.set(instruction.value(), vec![old.shadow, zero]);
    }

    /// The lesser or greater of two numbers; `op` compares them.
    pub fn extreme(&mut self, instruction: Instruction<'m>, op: Op, greater: bool) {
        let (Some(a), Some(b)) = (instruction.operand(0), instruction.operand(1)) else {
            return;
        };
        self.each(instruction, &[a, b], |pass, terms, result| {
            let (a, b) = (terms[0], terms[1]);
            let less = match greater {
                true => pass.emit.compare(op, b, a),
                false => pass.emit.compare(op, a, b),
            };
            pass.emit.choose_shadow(less, a, b, result)
        });
    }

    /// Whether a floating-point number is of certain kinds, as far as comparisons can tell.
    pub fn float_class(&mut self, instruction: Instruction<'m>) {
        let (Some(operand), Some(mask)) = (
            instruction.operand(0),
            instruction.operand(1).and_then(|mask| mask.as_int()),
        ) else {
            return;
        };
        self.each(instruction, &[operand], |pass, terms, _| {
            let emit = &pass.emit;
            let term = Term {
                shadow: terms[0].shadow,
                value: emit.bits(terms[0].value),
            };
            class_bits(pass, term, mask)
        });
    }
}

/// A class of floating-point numbers, by the bits of the encoding: both kinds of NaN, then negative
/// infinity, normal, subnormal, zero, then the same positive from the other end.
fn class_bits<'m>(pass: &Pass<'_, 'm>, term: Term<'m>, mask: u64) -> Value<'m> {
    let emit = &pass.emit;
    let (bits, mantissa) = match width(term.value.ty()) {
        Some(32) => (32u32, 23u32),
        _ => (64, 52),
    };
    let constant = |value: u64| emit.constant(term, value);
    let sign = 1u64 << (bits - 1);
    let infinity = (sign - 1) >> mantissa << mantissa;
    let quiet = 1u64 << (mantissa - 1);
    let least_normal = 1u64 << mantissa;
    let magnitude = emit.binary(Op::And, term, constant(sign - 1));
    let negative = emit.compare(Op::Ule, constant(sign), term);
    let no = emit.concrete(emit.editor.zero(emit.editor.int(1)));
    let both = |a, b| emit.binary(Op::And, a, b);
    let not = |a| emit.binary(Op::Xor, a, emit.constant(a, 1));
    let from = |low: u64| emit.compare(Op::Ule, constant(low), magnitude);
    let below = |high: u64| emit.compare(Op::Ult, magnitude, constant(high));
    let is_class = |class: u32| match class {
        0 => both(from(infinity + 1), below(infinity + quiet)),
        1 => from(infinity + quiet),
        2 | 9 => emit.compare(Op::Eq, magnitude, constant(infinity)),
        3 | 8 => both(from(least_normal), below(infinity)),
        4 | 7 => both(from(1), below(least_normal)),
        _ => emit.compare(Op::Eq, magnitude, constant(0)),
    };
    let mut any = no;
    for class in 0..10 {
        if mask >> class & 1 == 0 {
            continue;
        }
        let mut found = is_class(class);
        if (2..=5).contains(&class) {
            found = both(found, negative);
        } else if class >= 6 {
            found = both(found, not(negative));
        }
        any = emit.binary(Op::Or, any, found);
    }
    any.shadow
}
