//! Writes expressions: the values of the program together with their shadows.

use std::cell::{Cell, RefCell};

use beagle_llvm::{
    Builder, Cast, Editor, Function, Instruction, IntPredicate, Opcode, Type, TypeKind, Value,
};
use beagle_trace::layout::Loss;
use beagle_trace::op::Op;
use rustc_hash::FxHashMap;

use crate::helpers::{Helpers, slot};
use crate::leaves::width;

/// A scalar with its shadow.
#[derive(Clone, Copy)]
pub struct Term<'m> {
    /// The number of its expression; the constant 0 if it is known not to depend on the input.
    pub shadow: Value<'m>,
    /// The value.
    pub value: Value<'m>,
}

/// What all functions of a module share.
pub struct Shared<'e, 'm> {
    /// The module.
    pub editor: &'e Editor<'m>,
    /// The helpers.
    pub helpers: Helpers<'m>,
    /// Texts that were written before.
    texts: RefCell<FxHashMap<String, Value<'m>>>,
}

impl<'e, 'm> Shared<'e, 'm> {
    /// For a module with these helpers.
    pub fn new(editor: &'e Editor<'m>, helpers: Helpers<'m>) -> Self {
        Shared {
            editor,
            helpers,
            texts: RefCell::default(),
        }
    }

    /// The address of a text.
    pub fn text(&self, text: &str) -> Value<'m> {
        let mut texts = self.texts.borrow_mut();
        if let Some(known) = texts.get(text) {
            return *known;
        }
        let made = self.editor.text(text);
        texts.insert(text.to_owned(), made);
        made
    }
}

/// Writes into one function.
pub struct Emit<'e, 'm> {
    /// What all functions share.
    pub shared: &'e Shared<'e, 'm>,
    /// The module.
    pub editor: &'e Editor<'m>,
    /// Writes at the current place.
    pub builder: Builder<'e, 'm>,
    /// Writes before everything else in the function.
    pub start: Builder<'e, 'm>,
    /// The statement at hand.
    pub site: Cell<u32>,
    /// The shadow of what does not depend on the input.
    pub zero: Value<'m>,
    /// 32 bits.
    pub word: Type<'m>,
    /// 64 bits.
    pub long: Type<'m>,
    /// 128 bits.
    pub wide: Type<'m>,
    /// Memory for values over 64 bits, once it is needed.
    buffer: Cell<Option<Value<'m>>>,
}

impl<'e, 'm> Emit<'e, 'm> {
    /// For a function that starts with this instruction.
    pub fn new(shared: &'e Shared<'e, 'm>, first: Instruction<'m>) -> Self {
        let editor = shared.editor;
        let start = editor.builder();
        start.before(first);
        Emit {
            shared,
            editor,
            builder: editor.builder(),
            start,
            site: Cell::new(0),
            zero: editor.zero(editor.int(32)),
            word: editor.int(32),
            long: editor.int(64),
            wide: editor.int(128),
            buffer: Cell::new(None),
        }
    }

    // ---- small things

    /// The helpers.
    pub fn helpers(&self) -> &'e Helpers<'m> {
        &self.shared.helpers
    }

    /// A constant of 32 bits.
    pub fn word(&self, value: u32) -> Value<'m> {
        self.editor.const_int(self.word, value.into())
    }

    /// A constant of 64 bits.
    pub fn long(&self, value: u64) -> Value<'m> {
        self.editor.const_int(self.long, value)
    }

    /// The current site, as a constant.
    pub fn site(&self) -> Value<'m> {
        self.word(self.site.get())
    }

    /// Whether a shadow is known to be 0.
    pub fn is_zero(&self, shadow: Value<'m>) -> bool {
        shadow == self.zero
    }

    /// Calls a helper.
    pub fn call(&self, helper: Function<'m>, arguments: &[Value<'m>]) -> Value<'m> {
        self.builder.call(helper, arguments)
    }

    /// Something that does not depend on the input.
    pub fn concrete(&self, value: Value<'m>) -> Term<'m> {
        Term {
            shadow: self.zero,
            value,
        }
    }

    /// A constant of the type of another term.
    pub fn constant(&self, like: Term<'m>, value: u64) -> Term<'m> {
        self.concrete(self.editor.const_int(like.value.ty(), value))
    }

    /// The address of a slot of the thread.
    pub fn slot(&self, offset: u64) -> Value<'m> {
        self.editor.const_offset(self.helpers().slots, offset)
    }

    /// The bits of a scalar as an integer of its own width.
    pub fn bits(&self, value: Value<'m>) -> Value<'m> {
        match value.ty().kind() {
            TypeKind::Pointer => self.builder.cast(Cast::PointerToInt, value, self.long),
            TypeKind::Float(_) => {
                let width = width(value.ty()).unwrap_or(64);
                self.builder.cast(Cast::Bits, value, self.editor.int(width))
            }
            _ => value,
        }
    }

    /// A scalar of at most 64 bits as helpers want it.
    pub fn as_long(&self, value: Value<'m>) -> Value<'m> {
        let bits = self.bits(value);
        match width(bits.ty()) {
            Some(64) => bits,
            Some(width) if width > 64 => self.builder.cast(Cast::Trunc, bits, self.long),
            _ => self.builder.cast(Cast::ZExt, bits, self.long),
        }
    }

    fn as_wide(&self, value: Value<'m>) -> Value<'m> {
        self.builder.cast(Cast::ZExt, self.bits(value), self.wide)
    }

    /// Memory of eight longs.
    pub fn buffer(&self) -> Value<'m> {
        if let Some(buffer) = self.buffer.get() {
            return buffer;
        }
        let ty = self.editor.array(self.long, 8);
        let buffer = self.start.local(ty, 16);
        self.buffer.set(Some(buffer));
        buffer
    }

    /// Any of these shadows; 0 if all are.
    pub fn any(&self, shadows: impl IntoIterator<Item = Value<'m>>) -> Value<'m> {
        shadows.into_iter().fold(self.zero, |all, shadow| {
            match (self.is_zero(all), self.is_zero(shadow)) {
                (_, true) => all,
                (true, false) => shadow,
                _ => self.builder.binary(beagle_llvm::Binary::Or, all, shadow),
            }
        })
    }

    /// Counts that something depending on the input was not followed.
    pub fn lost(
        &self,
        cause: Loss,
        name: Option<&str>,
        shadows: impl IntoIterator<Item = Value<'m>>,
    ) {
        let any = self.any(shadows);
        if self.is_zero(any) {
            return;
        }
        let name = match name {
            Some(name) => self.shared.text(name),
            None => self.editor.zero(self.editor.pointer()),
        };
        self.call(
            self.helpers().bg_lost,
            &[self.word(cause as u32), name, any],
        );
    }

    // ---- expressions

    /// The shadow of the result of an operator. `extra` is what the operator says, `flags` as in
    /// `beagle_trace::node`.
    pub fn node(
        &self,
        op: Op,
        width: u32,
        (flags, extra): (u32, u32),
        operands: &[Term<'m>],
        result: Value<'m>,
    ) -> Value<'m> {
        if operands.iter().all(|operand| self.is_zero(operand.shadow)) {
            return self.zero;
        }
        let what = self.word(op as u32 | width << 8 | flags << 16 | extra << 24);
        let values = operands.iter().map(|operand| operand.value);
        if values.chain([result]).any(is_wide) {
            return self.wide_node(what, operands, result);
        }
        match *operands {
            [a] => {
                let (x, r) = (self.as_long(a.value), self.as_long(result));
                self.call(self.helpers().bg_un, &[what, a.shadow, x, r])
            }
            [a, b] => {
                let (x, y) = (self.as_long(a.value), self.as_long(b.value));
                let r = self.as_long(result);
                let arguments = [what, a.shadow, b.shadow, x, y, r, self.site()];
                self.call(self.helpers().bg_bin, &arguments)
            }
            [c, a, b] => {
                let (x, y) = (self.as_long(a.value), self.as_long(b.value));
                let chosen = self.builder.cast(Cast::ZExt, c.value, self.word);
                let arguments = [what, c.shadow, a.shadow, b.shadow, chosen, x, y];
                self.call(self.helpers().bg_select, &arguments)
            }
            _ => self.zero,
        }
    }

    fn wide_node(&self, what: Value<'m>, operands: &[Term<'m>], result: Value<'m>) -> Value<'m> {
        let buffer = self.buffer();
        let mut shadows = [self.zero; 3];
        let place = |index: u64| self.builder.offset(buffer, self.long(index * 16));
        for index in 0..3 {
            let value = match operands.get(index as usize) {
                Some(operand) => {
                    shadows[index as usize] = operand.shadow;
                    self.as_wide(operand.value)
                }
                None => self.editor.zero(self.wide),
            };
            self.builder.store(value, place(index), 16);
        }
        self.builder.store(self.as_wide(result), place(3), 16);
        let [a, b, c] = shadows;
        self.call(
            self.helpers().bg_wide,
            &[what, a, b, c, buffer, self.site()],
        )
    }

    /// The width of a term.
    pub fn width(&self, term: Term<'m>) -> u32 {
        width(term.value.ty()).unwrap_or(0)
    }

    /// An operation on integers that LLVM's builder can write, too.
    pub fn binary(&self, op: Op, a: Term<'m>, b: Term<'m>) -> Term<'m> {
        use beagle_llvm::Binary;
        let written = match op {
            Op::Add => Binary::Add,
            Op::Sub => Binary::Sub,
            Op::Mul => Binary::Mul,
            Op::And => Binary::And,
            Op::Or => Binary::Or,
            Op::Xor => Binary::Xor,
            Op::Shl => Binary::Shl,
            Op::LShr => Binary::LShr,
            Op::AShr => Binary::AShr,
            _ => unreachable!("{op:?} is not one of these"),
        };
        let value = self.builder.binary(written, a.value, b.value);
        let shadow = self.node(op, self.width(a), (0, 0), &[a, b], value);
        Term { shadow, value }
    }

    /// A comparison of integers or pointers.
    pub fn compare(&self, op: Op, a: Term<'m>, b: Term<'m>) -> Term<'m> {
        use IntPredicate::*;
        let predicate = match op {
            Op::Eq => LLVMIntEQ,
            Op::Ne => LLVMIntNE,
            Op::Ult => LLVMIntULT,
            Op::Ule => LLVMIntULE,
            Op::Slt => LLVMIntSLT,
            Op::Sle => LLVMIntSLE,
            _ => unreachable!("{op:?} is no comparison"),
        };
        let value = self.builder.compare(predicate, a.value, b.value);
        let shadow = self.node(op, self.width(a), (0, 0), &[a, b], value);
        Term { shadow, value }
    }

    /// One of two terms of one type.
    pub fn choose(&self, condition: Term<'m>, yes: Term<'m>, no: Term<'m>) -> Term<'m> {
        let value = self.builder.select(condition.value, yes.value, no.value);
        let shadow = self.choose_shadow(condition, yes, no, value);
        Term { shadow, value }
    }

    /// The shadow of a choice that was written already.
    pub fn choose_shadow(
        &self,
        condition: Term<'m>,
        yes: Term<'m>,
        no: Term<'m>,
        value: Value<'m>,
    ) -> Value<'m> {
        if self.is_zero(condition.shadow) {
            return self.builder.select(condition.value, yes.shadow, no.shadow);
        }
        let width = width(value.ty()).unwrap_or(0);
        self.node(Op::Ite, width, (0, 0), &[condition, yes, no], value)
    }

    /// The same bits with another width: cut off, or filled with zeros or the sign.
    pub fn resize(&self, term: Term<'m>, to: u32, signed: bool) -> Term<'m> {
        let term = Term {
            shadow: term.shadow,
            value: self.bits(term.value),
        };
        let from = self.width(term);
        let ty = self.editor.int(to);
        let (cast, op) = match (to.cmp(&from), signed) {
            (std::cmp::Ordering::Equal, _) => return term,
            (std::cmp::Ordering::Less, _) => (Cast::Trunc, Op::Extract),
            (std::cmp::Ordering::Greater, true) => (Cast::SExt, Op::SExt),
            (std::cmp::Ordering::Greater, false) => (Cast::ZExt, Op::ZExt),
        };
        let value = self.builder.cast(cast, term.value, ty);
        let shadow = self.node(op, to, (0, 0), &[term], value);
        Term { shadow, value }
    }

    /// Bits `low` to `low + to - 1`.
    pub fn cut(&self, term: Term<'m>, low: u32, to: u32) -> Term<'m> {
        let bits = self.bits(term.value);
        if low == 0 && self.width(term) == to {
            return Term {
                shadow: term.shadow,
                value: bits,
            };
        }
        let distance = self.editor.const_int(bits.ty(), low.into());
        let shifted = self
            .builder
            .binary(beagle_llvm::Binary::LShr, bits, distance);
        let value = self.builder.cast(Cast::Trunc, shifted, self.editor.int(to));
        let shadow = self.node(Op::Extract, to, (0, low), &[term], value);
        Term { shadow, value }
    }

    /// Two bit strings as one.
    pub fn concat(&self, high: Term<'m>, low: Term<'m>) -> Term<'m> {
        let (above, below) = (self.width(high), self.width(low));
        let ty = self.editor.int(above + below);
        let upper = self.builder.cast(Cast::ZExt, self.bits(high.value), ty);
        let lower = self.builder.cast(Cast::ZExt, self.bits(low.value), ty);
        let distance = self.editor.const_int(ty, below.into());
        let upper = self
            .builder
            .binary(beagle_llvm::Binary::Shl, upper, distance);
        let value = self.builder.binary(beagle_llvm::Binary::Or, upper, lower);
        let shadow = self.node(Op::Concat, above + below, (0, below), &[high, low], value);
        Term { shadow, value }
    }

    // ---- slots

    /// The shadow without the mark that a slow function gave it (`SLOWLY` in the runtime's `beagle.h`),
    /// for what outlives the expression: a value that turned out not to depend on the input after all
    /// is to be tested once, not in each round of a loop.
    pub fn settled(&self, shadow: Value<'m>) -> Value<'m> {
        let plain = match shadow.as_instruction().map(Instruction::opcode) {
            Some(opcode) => matches!(opcode, Opcode::LLVMLoad | Opcode::LLVMPHI),
            None => true,
        };
        if plain {
            return shadow;
        }
        let number = self.word(u32::MAX >> 1);
        self.builder
            .binary(beagle_llvm::Binary::And, shadow, number)
    }

    /// Stores shadows into slots of 32 bits, as far as there are any.
    pub fn put_shadows(&self, offset: u64, max: usize, shadows: &[Value<'m>]) {
        for (number, &shadow) in (0..).zip(shadows.iter().take(max)) {
            let shadow = self.settled(shadow);
            self.builder
                .store(shadow, self.slot(offset + 4 * number), 4);
        }
        if shadows.len() > max {
            self.lost(Loss::Arguments, None, shadows.iter().skip(max).copied());
        }
    }

    /// Reads a shadow from a slot; 0 if there are no more.
    pub fn take_shadow(&self, offset: u64, max: usize, number: usize) -> Value<'m> {
        if number >= max {
            return self.zero;
        }
        self.builder
            .load(self.word, self.slot(offset + 4 * number as u64), 4)
    }

    /// Sets a slot that holds a pointer.
    pub fn put_pointer(&self, offset: u64, value: Value<'m>) {
        debug_assert!(!(slot::ARGUMENTS..slot::BYVAL).contains(&offset));
        self.builder.store(value, self.slot(offset), 8);
    }
}

fn is_wide(value: Value<'_>) -> bool {
    width(value.ty()).is_some_and(|width| width > 64)
}
