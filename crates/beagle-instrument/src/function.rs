//! Adds shadows to one function.

use std::cell::Cell;

use beagle_llvm::{Block, Constant, Function, Instruction, Opcode, TypeKind, Value, ValueKind};
use beagle_trace::layout::Loss;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::classify::{Functions, Known, Target};
use crate::emit::{Emit, Shared, Term};
use crate::helpers::slot;
use crate::leaves::{Leaf, Step, count, leaves};
use crate::{number, reach};

/// One function that is being given shadows.
pub struct Pass<'e, 'm> {
    /// Writes instructions.
    pub emit: Emit<'e, 'm>,
    /// All functions.
    pub functions: &'e Functions<'m, 'e>,
    /// This function.
    pub this: Function<'m>,
    /// What is known of it.
    pub known: Known,
    /// Shadows of the scalars of each value; values that are not here have none but zeros.
    shadows: FxHashMap<Value<'m>, Vec<Value<'m>>>,
    /// Comparisons that only the branch after them looks at: operator with width and predicate, and
    /// operands. The branch makes the expression.
    pub decisions: FxHashMap<Value<'m>, (u32, Term<'m>, Term<'m>)>,
    /// Addresses with a fixed distance to their base that only one load or store looks at: the base.
    /// The access makes the expression.
    pub fields: FxHashMap<Value<'m>, Value<'m>>,
    /// Local variables that are made known to the runtime, to be taken back at the end.
    pub objects: Vec<Value<'m>>,
    /// Memory that holds the address of a local variable of variable size.
    pub dynamic_objects: Vec<Value<'m>>,
    /// Whether calls are recorded.
    framed: bool,
    /// Where a variadic function keeps the slots of its variadic arguments.
    pub variadic: Cell<Option<Value<'m>>>,
}

/// Adds shadows to a function.
pub fn instrument<'e, 'm>(
    shared: &'e Shared<'e, 'm>,
    functions: &'e Functions<'m, 'e>,
    this: Function<'m>,
    known: Known,
) {
    let order = reach::order(this);
    let Some(first) = order.first().and_then(|entry| entry.first()) else {
        return;
    };
    let dependent = reach::dependent(this, functions, &order);
    // What is written from here on is not looked at again.
    let code: Vec<(Block<'m>, Vec<Instruction<'m>>)> = order
        .iter()
        .map(|block| (*block, block.instructions().collect()))
        .collect();
    let framed = code
        .iter()
        .flat_map(|(_, instructions)| instructions)
        .any(|instruction| has_event(*instruction, functions, &dependent));
    let mut pass = Pass {
        emit: Emit::new(shared, first),
        functions,
        this,
        known,
        shadows: FxHashMap::default(),
        decisions: FxHashMap::default(),
        fields: FxHashMap::default(),
        objects: Vec::new(),
        dynamic_objects: Vec::new(),
        framed,
        variadic: Cell::new(None),
    };
    let phis = pass.make_phis(&code, &dependent);
    pass.enter(&code);
    for (_, instructions) in &code {
        for &instruction in instructions {
            pass.visit(instruction);
        }
    }
    pass.leave(&code);
    pass.finish_phis(&phis);
}

/// Whether the instruction can make an event, so that it matters in which call that is.
fn has_event<'m>(
    instruction: Instruction<'m>,
    functions: &Functions<'m, '_>,
    dependent: &FxHashSet<Value<'m>>,
) -> bool {
    use Opcode::*;
    let depends = |operand: u32| {
        instruction
            .operand(operand)
            .is_some_and(|operand| dependent.contains(&operand))
    };
    match instruction.opcode() {
        LLVMBr => instruction.successors().len() > 1,
        LLVMSwitch | LLVMIndirectBr | LLVMInvoke | LLVMCallBr | LLVMLandingPad => true,
        LLVMCall => match functions.target(instruction) {
            Target::Intrinsic(name) => {
                name.starts_with("llvm.mem") && (depends(0) || depends(1) || depends(2))
            }
            Target::Assembler => false,
            // A probe.
            Target::Helper => true,
            _ => true,
        },
        LLVMLoad => depends(0),
        LLVMStore => depends(1),
        LLVMAtomicRMW | LLVMAtomicCmpXchg => true,
        LLVMSDiv | LLVMUDiv | LLVMSRem | LLVMURem => depends(1),
        // Signed arithmetic and shifts can be checked.
        LLVMAdd | LLVMSub | LLVMMul | LLVMShl | LLVMLShr | LLVMAShr => depends(0) || depends(1),
        _ => false,
    }
}

impl<'e, 'm> Pass<'e, 'm> {
    // ---- shadows

    /// The shadows of the scalars of a value.
    pub fn shadows(&self, value: Value<'m>) -> Vec<Value<'m>> {
        match self.shadows.get(&value) {
            Some(known) => known.clone(),
            None => vec![self.emit.zero; count(value.ty()).unwrap_or(0)],
        }
    }

    /// The shadow of a value that is one scalar; 0 for others.
    pub fn shadow(&self, value: Value<'m>) -> Value<'m> {
        match self.shadows.get(&value).map(Vec::as_slice) {
            Some([one]) => *one,
            _ => self.emit.zero,
        }
    }

    /// Any of the shadows of these values.
    pub fn all_shadows(&self, values: impl IntoIterator<Item = Value<'m>>) -> Vec<Value<'m>> {
        let known = |value| self.shadows.get(&value).cloned().unwrap_or_default();
        values.into_iter().flat_map(known).collect()
    }

    /// Whether a value is known not to depend on the input.
    pub fn is_concrete(&self, value: Value<'m>) -> bool {
        self.shadows
            .get(&value)
            .is_none_or(|shadows| shadows.iter().all(|&shadow| self.emit.is_zero(shadow)))
    }

    /// A scalar with its shadow.
    pub fn term(&self, value: Value<'m>) -> Term<'m> {
        Term {
            shadow: self.shadow(value),
            value,
        }
    }

    /// Sets the shadows of a value.
    pub fn set(&mut self, value: Value<'m>, shadows: Vec<Value<'m>>) {
        debug_assert!(count(value.ty()) == Some(shadows.len()));
        if shadows.iter().any(|&shadow| !self.emit.is_zero(shadow)) {
            self.shadows.insert(value, shadows);
        }
    }

    /// Sets the shadow of a value that is one scalar.
    pub fn set_one(&mut self, value: Value<'m>, shadow: Value<'m>) {
        self.set(value, vec![shadow]);
    }

    /// Takes a scalar out of a value, at the current place.
    pub fn part(&self, value: Value<'m>, leaf: &Leaf) -> Value<'m> {
        let builder = &self.emit.builder;
        leaf.path.iter().fold(value, |value, step| match *step {
            Step::Part(index) => builder.extract(value, index),
            Step::Lane(index) => builder.element(value, index),
        })
    }

    /// The scalars of a value with their shadows.
    pub fn parts(&self, value: Value<'m>) -> Vec<Term<'m>> {
        let shadows = self.shadows(value);
        leaves(self.emit.editor, value.ty())
            .iter()
            .zip(shadows)
            .map(|(leaf, shadow)| Term {
                shadow,
                value: self.part(value, leaf),
            })
            .collect()
    }

    /// What follows is written after the instruction.
    pub fn after(&self, instruction: Instruction<'m>) {
        if let Some(next) = instruction.next() {
            self.emit.builder.before(next);
        }
    }

    // ---- phis

    /// A phi of shadows beside each phi that may need one.
    fn make_phis(
        &mut self,
        code: &[(Block<'m>, Vec<Instruction<'m>>)],
        dependent: &FxHashSet<Value<'m>>,
    ) -> Vec<(Instruction<'m>, Vec<Instruction<'m>>)> {
        let mut made = Vec::new();
        for (_, instructions) in code {
            for &phi in instructions {
                if phi.opcode() != Opcode::LLVMPHI {
                    break;
                }
                let Some(leaves) = count(phi.value().ty()) else {
                    continue;
                };
                if !dependent.contains(&phi.value()) {
                    continue;
                }
                self.emit.builder.before(phi);
                let twins: Vec<_> = (0..leaves)
                    .map(|_| self.emit.builder.phi(self.emit.word))
                    .collect();
                self.set(phi.value(), twins.iter().map(|twin| twin.value()).collect());
                made.push((phi, twins));
            }
        }
        made
    }

    fn finish_phis(&self, phis: &[(Instruction<'m>, Vec<Instruction<'m>>)]) {
        for (phi, twins) in phis {
            let mut from: FxHashMap<Block<'m>, Vec<Value<'m>>> = FxHashMap::default();
            for (value, block) in phi.incoming() {
                if let Some(last) = block.terminator() {
                    self.emit.builder.before(last);
                }
                // A switch may lead here more than once, always with the same values.
                let shadows = from.entry(block).or_insert_with(|| {
                    let shadows = self.shadows(value).into_iter();
                    shadows.map(|shadow| self.emit.settled(shadow)).collect()
                });
                for (twin, shadow) in twins.iter().zip(shadows) {
                    self.emit.editor.add_incoming(*twin, *shadow, block);
                }
            }
        }
    }

    // ---- start and end

    /// Takes the shadows of the parameters, and makes local variables known.
    fn enter(&mut self, code: &[(Block<'m>, Vec<Instruction<'m>>)]) {
        let Some((_, entry)) = code.first() else {
            return;
        };
        let is_static = |instruction: &&Instruction<'m>| {
            instruction.opcode() == Opcode::LLVMAlloca
                && instruction.operand(0).is_some_and(Value::is_constant)
        };
        let locals: Vec<_> = entry.iter().take_while(is_static).copied().collect();
        let Some(&body) = entry.get(locals.len()) else {
            return;
        };
        self.emit.site.set(number::site(self.emit.editor, body));
        self.emit.builder.before(body);
        self.parameters();
        if self.framed {
            let number = self.emit.word(self.known.number);
            self.emit.call(self.emit.helpers().bg_enter, &[number]);
        }
        for local in locals {
            self.local(local);
        }
    }

    fn parameters(&mut self) {
        let emit = &self.emit;
        let helpers = emit.helpers();
        let valid = match self.known.inner {
            true => None,
            false => Some(emit.call(helpers.bg_take, &[self.this.value()])),
        };
        let is_valid = valid.map(|valid| {
            let predicate = beagle_llvm::IntPredicate::LLVMIntNE;
            emit.builder.compare(predicate, valid, emit.zero)
        });
        let valid = valid.unwrap_or_else(|| emit.word(1));
        let mut next = 0;
        let mut copies = 0;
        let mut taken = Vec::new();
        for (number, parameter) in (0..).zip(self.this.parameters()) {
            let at = beagle_llvm::AttributeAt::Parameter(number);
            let leaves = leaves(emit.editor, parameter.ty());
            let start = next;
            next += leaves.len();
            if let Some(ty) = self.this.type_attribute(at, "byval") {
                let size = emit.long(emit.editor.size_of(ty));
                let arguments = [parameter, emit.word(copies), size, valid];
                emit.call(helpers.bg_byval, &arguments);
                copies += 1;
                continue;
            }
            if parameter.users().is_empty() || self.this.has_attribute_at(at, "sret") {
                continue;
            }
            let shadows = leaves.iter().zip(start..).map(|(leaf, number)| {
                if leaf.width == 0 {
                    return emit.zero;
                }
                let found = emit.take_shadow(slot::ARGUMENTS, slot::MAX_ARGUMENTS, number);
                match is_valid {
                    Some(valid) => emit.builder.select(valid, found, emit.zero),
                    None => found,
                }
            });
            taken.push((parameter, shadows.collect()));
        }
        if uses_variadic(self.this) {
            let ty = emit.editor.array(emit.editor.int(8), slot::VARIADIC_BUFFER);
            let buffer = emit.start.local(ty, 8);
            emit.call(helpers.bg_va_save, &[buffer, valid]);
            self.variadic.set(Some(buffer));
        }
        for (parameter, shadows) in taken {
            self.set(parameter, shadows);
        }
    }

    /// Before each return: takes local variables back.
    fn leave(&self, code: &[(Block<'m>, Vec<Instruction<'m>>)]) {
        for (_, instructions) in code {
            let Some(&last) = instructions.last() else {
                continue;
            };
            if !matches!(last.opcode(), Opcode::LLVMRet | Opcode::LLVMResume) {
                continue;
            }
            // Nothing may stand between such a call and the return after it.
            let tail = instructions.iter().copied().find(|i| i.is_must_tail());
            self.emit.builder.before(tail.unwrap_or(last));
            let helpers = self.emit.helpers();
            for &object in &self.objects {
                self.emit.call(helpers.bg_object_gone, &[object]);
            }
            for &holder in &self.dynamic_objects {
                let object = self
                    .emit
                    .builder
                    .load(self.emit.editor.pointer(), holder, 8);
                self.emit.call(helpers.bg_object_gone, &[object]);
            }
            if self.framed && last.opcode() == Opcode::LLVMRet {
                let number = self.emit.word(self.known.number);
                self.emit.call(helpers.bg_leave, &[number]);
            }
        }
    }

    // ---- instructions

    fn visit(&mut self, instruction: Instruction<'m>) {
        use Opcode::*;
        let opcode = instruction.opcode();
        if opcode == LLVMPHI {
            return;
        }
        let site = number::site(self.emit.editor, instruction);
        self.emit.site.set(site);
        match opcode {
            LLVMAdd | LLVMSub | LLVMMul | LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem | LLVMShl
            | LLVMLShr | LLVMAShr | LLVMAnd | LLVMOr | LLVMXor | LLVMFAdd | LLVMFSub | LLVMFMul
            | LLVMFDiv | LLVMFRem => self.binary(instruction),
            LLVMFNeg => self.negate(instruction),
            LLVMICmp => self.compare(instruction),
            LLVMFCmp => self.compare_floats(instruction),
            LLVMSelect => self.select(instruction),
            LLVMTrunc | LLVMZExt | LLVMSExt | LLVMFPToUI | LLVMFPToSI | LLVMUIToFP | LLVMSIToFP
            | LLVMFPTrunc | LLVMFPExt | LLVMPtrToInt | LLVMIntToPtr | LLVMBitCast
            | LLVMAddrSpaceCast => self.cast(instruction),
            LLVMFreeze => self.same(instruction, 0),
            LLVMGetElementPtr => self.address(instruction),
            LLVMAlloca => self.late_local(instruction),
            LLVMLoad => self.load(instruction),
            LLVMStore => self.store(instruction),
            LLVMAtomicRMW => self.exchange(instruction),
            LLVMAtomicCmpXchg => self.compare_exchange(instruction),
            LLVMFence | LLVMUnreachable => {}
            LLVMExtractValue => self.extract_value(instruction),
            LLVMInsertValue => self.insert_value(instruction),
            LLVMExtractElement => self.extract_element(instruction),
            LLVMInsertElement => self.insert_element(instruction),
            LLVMShuffleVector => self.shuffle(instruction),
            LLVMBr => self.branch(instruction),
            LLVMSwitch => self.switch(instruction),
            LLVMIndirectBr => self.computed_jump(instruction),
            LLVMRet => self.ret(instruction),
            LLVMCall | LLVMInvoke | LLVMCallBr => self.visit_call(instruction),
            LLVMLandingPad => self.landing_pad(instruction),
            LLVMResume => {}
            _ => {
                self.emit.builder.before(instruction);
                let shadows = self.all_shadows(instruction.operands());
                let name = format!("{opcode:?}");
                let name = name.strip_prefix("LLVM").unwrap_or(&name);
                self.emit.lost(Loss::Instruction, Some(name), shadows);
            }
        }
    }

    /// The result is one of the operands.
    pub fn same(&mut self, instruction: Instruction<'m>, operand: u32) {
        if let Some(operand) = instruction.operand(operand) {
            self.set(instruction.value(), self.shadows(operand));
        }
    }

    /// A local variable at the start of the function.
    fn local(&mut self, local: Instruction<'m>) {
        let (Some(ty), Some(count)) = (local.allocated_type(), local.operand(0)) else {
            return;
        };
        let count = count.as_int().unwrap_or(1);
        let size = self.emit.editor.size_of(ty).saturating_mul(count);
        let scalar = count == 1
            && !matches!(
                ty.kind(),
                TypeKind::Array(..) | TypeKind::Struct(..) | TypeKind::Vector(..)
            );
        if size == 0 || (scalar && !escapes(local)) {
            return;
        }
        self.align(local);
        let arguments = [local.value(), self.emit.long(size)];
        self.emit.call(self.emit.helpers().bg_object, &arguments);
        self.objects.push(local.value());
    }

    /// The runtime knows objects by the 16 bytes that they start in.
    fn align(&self, local: Instruction<'m>) {
        let editor = self.emit.editor;
        if editor.alignment(local.value()) < 16 {
            editor.set_alignment(local.value(), 16);
        }
    }

    /// A local variable of variable size, or one that is made later.
    fn late_local(&mut self, local: Instruction<'m>) {
        if self.objects.contains(&local.value()) {
            return;
        }
        let (Some(ty), Some(count)) = (local.allocated_type(), local.operand(0)) else {
            return;
        };
        if count.is_constant() && local.block() == self.this.blocks().first().copied() {
            // At the start, and not worth being known.
            return;
        }
        self.align(local);
        self.after(local);
        let emit = &self.emit;
        let unit = emit.long(emit.editor.size_of(ty));
        let count = emit.as_long(count);
        let size = emit.builder.binary(beagle_llvm::Binary::Mul, unit, count);
        emit.call(emit.helpers().bg_object, &[local.value(), size]);
        let pointer = emit.editor.pointer();
        let holder = emit.start.local(pointer, 8);
        emit.start.store(emit.editor.zero(pointer), holder, 8);
        emit.builder.store(local.value(), holder, 8);
        self.dynamic_objects.push(holder);
    }
}

/// The one instruction that uses a value, if there is one and it stands in the same block.
pub fn only_user<'m>(instruction: Instruction<'m>) -> Option<Instruction<'m>> {
    match instruction.value().users()[..] {
        [user] => user
            .as_instruction()
            .filter(|user| user.block() == instruction.block() && user.opcode() != Opcode::LLVMPHI),
        _ => None,
    }
}

/// Whether the address of a local variable is used for more than reading and writing it.
fn escapes(local: Instruction<'_>) -> bool {
    let only_accessed = |user: Value<'_>| match user.kind() {
        ValueKind::Instruction(user) => match user.opcode() {
            Opcode::LLVMLoad => true,
            Opcode::LLVMStore => user.operand(0) != Some(local.value()),
            _ => false,
        },
        _ => false,
    };
    !local.value().users().into_iter().all(only_accessed)
}

fn uses_variadic(function: Function<'_>) -> bool {
    let starts = |instruction: Instruction<'_>| {
        instruction
            .called_function()
            .is_some_and(|callee| callee.value().name().starts_with("llvm.va_start"))
    };
    matches!(
        function.function_type().kind(),
        TypeKind::Function(_, _, true)
    ) && function
        .blocks()
        .into_iter()
        .any(|block| block.instructions().any(starts))
}

/// Whether a value is a constant that no store can have changed, such as a text.
pub fn is_constant_memory(value: Value<'_>) -> bool {
    match value.kind() {
        ValueKind::Function(_) => true,
        ValueKind::Global(global) => global.is_constant(),
        ValueKind::Constant(Constant::Null) => true,
        _ => false,
    }
}
