//! Records branches, switches and returns.

use beagle_llvm::{
    Binary, Builder, Cast, Editor, Instruction, IntPredicate, Opcode, Value, Visibility,
};

use crate::emit::Emit;
use crate::function::Pass;
use crate::helpers::slot;
use crate::leaves::width;

/// Up to so many cases are found by comparing with each.
const FEW: usize = 3;
/// Up to this distance between the least and the greatest case, a table tells the case.
const DENSE: u64 = 1024;

impl<'e, 'm> Pass<'e, 'm> {
    /// A branch.
    pub fn branch(&mut self, branch: Instruction<'m>) {
        if branch.successors().len() < 2 {
            return;
        }
        let Some(condition) = branch.operand(0) else {
            return;
        };
        let emit = &self.emit;
        emit.builder.before(branch);
        let taken = emit.builder.cast(Cast::ZExt, condition, emit.word);
        let site = emit.site();
        if let Some(&(what, a, b)) = self.decisions.get(&condition) {
            let (x, y) = (emit.as_long(a.value), emit.as_long(b.value));
            let what = emit.word(what);
            let arguments = [site, taken, what, a.shadow, b.shadow, x, y];
            emit.call(emit.helpers().bgi_decide, &arguments);
            return;
        }
        let arguments = [site, taken, self.shadow(condition)];
        emit.call(emit.helpers().bg_branch, &arguments);
    }

    /// A switch.
    pub fn switch(&mut self, switch: Instruction<'m>) {
        let Some(value) = switch.operand(0) else {
            return;
        };
        let emit = &self.emit;
        emit.builder.before(switch);
        let cases = switch.case_values();
        let case = case_number(emit, value, &cases);
        let arguments = [emit.site(), case, self.shadow(value)];
        emit.call(emit.helpers().bg_switch, &arguments);
    }

    /// `goto *p`: which label it was is assumed.
    pub fn computed_jump(&mut self, jump: Instruction<'m>) {
        let Some(address) = jump.operand(0) else {
            return;
        };
        self.emit.builder.before(jump);
        self.pin(address);
    }

    /// What follows is true only while the pointer is what it is.
    pub fn pin(&self, pointer: Value<'m>) {
        let shadow = self.shadow(pointer);
        if self.emit.is_zero(shadow) {
            return;
        }
        let value = self.emit.bits(pointer);
        let arguments = [self.emit.site(), shadow, value];
        self.emit.call(self.emit.helpers().bgi_pin, &arguments);
    }

    /// A return: leaves the shadows of the result for the caller.
    pub fn ret(&mut self, ret: Instruction<'m>) {
        let tail = ret
            .block()
            .and_then(|block| block.instructions().find(|i| i.is_must_tail()));
        if tail.is_some() {
            // The callee's result is ours, and so are its shadows.
            return;
        }
        let emit = &self.emit;
        emit.builder.before(ret);
        if let Some(value) = ret.operand(0) {
            emit.put_shadows(slot::RESULTS, slot::MAX_RESULTS, &self.shadows(value));
        }
        if !self.known.inner {
            emit.put_pointer(slot::RETURNER, self.this.value());
        }
    }

    /// Control comes back after an exception.
    pub fn landing_pad(&mut self, pad: Instruction<'m>) {
        self.after(pad);
        let number = self.emit.word(self.known.number);
        self.emit.call(self.emit.helpers().bg_unwound, &[number]);
    }
}

/// Which case a switch takes: 0 for the default, n for the n-th case.
fn case_number<'m>(emit: &Emit<'_, 'm>, value: Value<'m>, cases: &[Value<'m>]) -> Value<'m> {
    let known: Option<Vec<u64>> = cases.iter().map(|case| case.as_int()).collect();
    if cases.len() <= FEW || known.is_none() {
        return compared(emit, value, cases);
    }
    let known = known.unwrap_or_default();
    // Signed order, so that small negative numbers are near small positive ones.
    let bits = width(value.ty()).unwrap_or(64).min(64);
    let signed = |case: &u64| ((*case << (64 - bits)) as i64) >> (64 - bits);
    let least = known.iter().map(signed).min().unwrap_or(0);
    let most = known.iter().map(signed).max().unwrap_or(0);
    let span = most.wrapping_sub(least) as u64;
    if span <= DENSE && bits >= 8 {
        return looked_up(emit, value, &known, least, span);
    }
    let function = case_function(emit.editor, value, cases);
    emit.builder.call(function, &[value])
}

fn compared<'m>(emit: &Emit<'_, 'm>, value: Value<'m>, cases: &[Value<'m>]) -> Value<'m> {
    (1..).zip(cases).fold(emit.zero, |found, (number, &case)| {
        let is_it = emit.builder.compare(IntPredicate::LLVMIntEQ, value, case);
        emit.builder.select(is_it, emit.word(number), found)
    })
}

/// A table of the numbers of the cases; its last entry is for everything outside.
fn looked_up<'m>(
    emit: &Emit<'_, 'm>,
    value: Value<'m>,
    cases: &[u64],
    least: i64,
    span: u64,
) -> Value<'m> {
    let editor = emit.editor;
    let half = editor.int(16);
    let bits = width(value.ty()).unwrap_or(64);
    let mut entries = vec![editor.zero(half); span as usize + 2];
    for (number, &case) in (1..).zip(cases) {
        let signed = ((case << (64 - bits)) as i64) >> (64 - bits);
        if let Some(entry) = entries.get_mut(signed.wrapping_sub(least) as usize) {
            *entry = editor.const_int(half, number);
        }
    }
    let table = editor.add_global("bg_cases", editor.const_array(half, &entries), true);
    editor.set_visibility(table.value(), Visibility::Module);
    let extended = emit.builder.cast(Cast::SExt, value, emit.long);
    let index = emit
        .builder
        .binary(Binary::Sub, extended, emit.long(least as u64));
    let inside = emit
        .builder
        .compare(IntPredicate::LLVMIntULE, index, emit.long(span));
    let index = emit.builder.select(inside, index, emit.long(span + 1));
    let offset = emit.builder.binary(Binary::Shl, index, emit.long(1));
    let entry = emit.builder.offset(table.value(), offset);
    let number = emit.builder.load(half, entry, 2);
    emit.builder.cast(Cast::ZExt, number, emit.word)
}

/// A function of its own for cases that are far apart, so that no block of the program is split.
fn case_function<'m>(
    editor: &Editor<'m>,
    value: Value<'m>,
    cases: &[Value<'m>],
) -> beagle_llvm::Function<'m> {
    let word = editor.int(32);
    let function = editor.declare("bg_case", editor.function_type(word, &[value.ty()]));
    editor.set_visibility(function.value(), Visibility::Module);
    editor.add_attribute(function, "alwaysinline");
    let builder: Builder<'_, 'm> = editor.builder();
    let entry = editor.append_block(function);
    let returns = |number: u64| {
        let block = editor.append_block(function);
        builder.at_end(block);
        builder.ret(editor.const_int(word, number));
        block
    };
    let otherwise = returns(0);
    let targets: Vec<_> = (1..)
        .zip(cases)
        .map(|(number, &case)| (case, returns(number)))
        .collect();
    builder.at_end(entry);
    if let Some(&parameter) = function.parameters().first() {
        builder.switch(parameter, otherwise, &targets);
    }
    function
}

/// Whether nothing follows the instruction in its block.
pub fn is_last(instruction: Instruction<'_>) -> bool {
    instruction.next().is_none() || instruction.opcode() == Opcode::LLVMInvoke
}
