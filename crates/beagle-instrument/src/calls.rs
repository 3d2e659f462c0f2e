//! Passes shadows to functions and takes them back.

use beagle_llvm::{AttributeAt, Instruction, IntPredicate, Opcode, TypeKind, Value};
use beagle_trace::layout::Loss;

use crate::classify::Target;
use crate::control::is_last;
use crate::function::{Pass, is_constant_memory};
use crate::helpers::slot;
use crate::leaves::count;

/// How a variadic argument is passed: in a general register.
const GENERAL: u32 = 0;
/// In a vector register.
const VECTOR: u32 = 1;
/// In memory; plus the number of its eightbytes.
const IN_MEMORY: u32 = 0x80;

impl<'e, 'm> Pass<'e, 'm> {
    /// Any call.
    pub fn visit_call(&mut self, call: Instruction<'m>) {
        match self.functions.target(call) {
            Target::Inner => {
                self.pass_arguments(call);
                self.take_results(call, None);
            }
            Target::Outer(address, libc) => self.outer(call, address, libc),
            Target::Intrinsic(name) => self.intrinsic(call, &name),
            Target::Assembler => {
                self.emit.builder.before(call);
                let shadows = self.all_shadows(call.arguments());
                self.emit.lost(Loss::Assembly, None, shadows);
            }
            Target::Plain => self.plain(call),
            Target::Unknown(name) => self.unknown(call, &name),
            Target::Helper => {
                if let [_, _, value, _] = call.arguments()[..] {
                    // A variable that is watched.
                    let shadow = self.shadow(value);
                    self.emit.editor.set_operand(call, 3, shadow);
                }
            }
        }
    }

    fn outer(&mut self, call: Instruction<'m>, address: Value<'m>, libc: bool) {
        self.pass_arguments(call);
        let emit = &self.emit;
        self.pin(address);
        let has_result = count(call.value().ty()).is_some_and(|leaves| leaves > 0);
        emit.put_pointer(slot::CALLEE, address);
        if has_result {
            emit.put_pointer(slot::RETURNER, emit.editor.zero(emit.editor.pointer()));
        }
        if libc {
            emit.builder.store(emit.site(), emit.slot(slot::SITE), 4);
        }
        let is_variadic = call
            .called_type()
            .is_some_and(|ty| matches!(ty.kind(), TypeKind::Function(_, _, true)));
        if !is_variadic && address.as_function().is_none() {
            // In case that it is a function with variadic arguments after all.
            let none = emit.slot(slot::VARIADIC_COUNT);
            emit.builder.store(emit.zero, none, 4);
        }
        if has_result {
            self.take_results(call, Some(address));
        }
        self.jump_back(call);
    }

    /// `setjmp` is a call that may return again.
    fn jump_back(&self, call: Instruction<'m>) {
        let twice = call.call_has_attribute("returns_twice")
            || call
                .called_function()
                .is_some_and(|callee| callee.has_attribute("returns_twice"));
        let named = call
            .callee()
            .is_some_and(|callee| callee.name().contains("setjmp"));
        let word = call.value().ty() == self.emit.word;
        if !twice || !named || !word || is_last(call) {
            return;
        }
        self.after(call);
        let arguments = [call.value(), self.emit.word(self.known.number)];
        self.emit
            .call(self.emit.helpers().bg_setjmp_returned, &arguments);
    }

    fn plain(&mut self, call: Instruction<'m>) {
        self.jump_back(call);
    }

    fn unknown(&mut self, call: Instruction<'m>, name: &str) {
        let emit = &self.emit;
        emit.builder.before(call);
        let arguments = call.arguments();
        let any = emit.any(self.all_shadows(arguments.iter().copied()));
        let helpers = emit.helpers();
        if !emit.is_zero(any) {
            let name = emit.shared.text(name);
            emit.call(helpers.bg_unknown, &[name, any]);
        }
        for argument in arguments {
            if matches!(argument.ty().kind(), TypeKind::Pointer) && !is_constant_memory(argument) {
                let name = emit.shared.text(name);
                emit.call(helpers.bg_unknown_memory, &[name, argument]);
            }
        }
        self.jump_back(call);
    }

    /// Stores the shadows of the arguments where the callee looks for them.
    fn pass_arguments(&self, call: Instruction<'m>) {
        let emit = &self.emit;
        emit.builder.before(call);
        let arguments = call.arguments();
        let (fixed, variadic) = match call.called_type().map(|ty| ty.kind()) {
            Some(TypeKind::Function(_, parameters, variadic)) => (parameters.len(), variadic),
            _ => (arguments.len(), false),
        };
        let fixed = fixed.min(arguments.len());
        let (given, more) = arguments.split_at(fixed);
        let mut shadows = Vec::new();
        let mut copies = 0;
        for (number, &argument) in (0..).zip(given) {
            let at = AttributeAt::Parameter(number);
            if call.call_type_attribute(at, "byval").is_some() {
                if copies < slot::MAX_BYVAL {
                    emit.put_pointer(slot::BYVAL + 8 * copies as u64, argument);
                }
                copies += 1;
            }
            shadows.extend(self.shadows(argument));
        }
        emit.put_shadows(slot::ARGUMENTS, slot::MAX_ARGUMENTS, &shadows);
        if variadic {
            self.pass_variadic(call, fixed as u32, more);
        }
    }

    fn pass_variadic(&self, call: Instruction<'m>, fixed: u32, arguments: &[Value<'m>]) {
        let emit = &self.emit;
        let mut passed: Vec<(Value<'m>, u32)> = Vec::new();
        for (number, &argument) in (fixed..).zip(arguments) {
            let at = AttributeAt::Parameter(number);
            if let Some(ty) = call.call_type_attribute(at, "byval") {
                let words = emit.editor.size_of(ty).div_ceil(8);
                passed.push((emit.zero, IN_MEMORY + words.min(0x7f) as u32));
                continue;
            }
            let bytes = emit.editor.store_size_of(argument.ty());
            match argument.ty().kind() {
                TypeKind::Int(width) if width > 64 => {
                    // Two registers, or two words of memory.
                    emit.lost(Loss::Arguments, None, [self.shadow(argument)]);
                    passed.extend([(emit.zero, GENERAL), (emit.zero, GENERAL)]);
                }
                TypeKind::Int(_) | TypeKind::Pointer => {
                    passed.push((self.shadow(argument), GENERAL));
                }
                TypeKind::Float(_) if bytes <= 8 => passed.push((self.shadow(argument), VECTOR)),
                TypeKind::Vector(..) => {
                    emit.lost(Loss::Arguments, None, self.shadows(argument));
                    passed.push((emit.zero, VECTOR));
                }
                _ => {
                    emit.lost(Loss::Arguments, None, self.shadows(argument));
                    passed.push((emit.zero, IN_MEMORY + bytes.div_ceil(8) as u32));
                }
            }
        }
        if passed.len() > slot::MAX_VARIADIC {
            let rest = passed.iter().skip(slot::MAX_VARIADIC);
            emit.lost(Loss::Arguments, None, rest.map(|(shadow, _)| *shadow));
            passed.truncate(slot::MAX_VARIADIC);
        }
        let count = emit.word(passed.len() as u32);
        emit.builder
            .store(count, emit.slot(slot::VARIADIC_COUNT), 4);
        let byte = emit.editor.int(8);
        for (number, (shadow, class)) in (0..).zip(passed) {
            let shadow = emit.settled(shadow);
            emit.builder
                .store(shadow, emit.slot(slot::VARIADIC + 4 * number), 4);
            let class = emit.editor.const_int(byte, class.into());
            emit.builder
                .store(class, emit.slot(slot::VARIADIC_CLASS + number), 1);
        }
    }

    /// Reads the shadows of the result. With an address, only if that function left them.
    fn take_results(&mut self, call: Instruction<'m>, address: Option<Value<'m>>) {
        let Some(leaves) = count(call.value().ty()).filter(|&leaves| leaves > 0) else {
            return;
        };
        if call.is_must_tail() || call.value().users().is_empty() {
            return;
        }
        let place = match call.opcode() {
            Opcode::LLVMInvoke => call.normal_destination().and_then(|block| {
                let skipped = |i: &Instruction<'m>| i.opcode() == Opcode::LLVMPHI;
                block.instructions().find(|i| !skipped(i))
            }),
            _ => call.next(),
        };
        let Some(place) = place else {
            return;
        };
        let emit = &self.emit;
        emit.builder.before(place);
        let valid = address.map(|address| {
            let pointer = emit.editor.pointer();
            let returner = emit.builder.load(pointer, emit.slot(slot::RETURNER), 8);
            emit.builder
                .compare(IntPredicate::LLVMIntEQ, returner, address)
        });
        let shadows = (0..leaves)
            .map(|number| {
                let found = emit.take_shadow(slot::RESULTS, slot::MAX_RESULTS, number);
                match valid {
                    Some(valid) => emit.builder.select(valid, found, emit.zero),
                    None => found,
                }
            })
            .collect();
        self.set(call.value(), shadows);
    }
}
