//! Takes away what the optimiser would build on but an unoptimised build does not.
//!
//! The instrumented program has to do what the native one does, also where C leaves it undefined:
//! a program that reads a variable it never set goes on, one that writes through a null pointer gets a
//! signal. So the optimiser is told nothing that the source only promises.

use beagle_llvm::{Binary, Editor, Function, Instruction, Opcode, TypeKind, Value};

use crate::number::SITE;

/// The remark on divisions that have to happen.
pub const KEPT: &str = "beagle.kept";

/// Attributes by which the optimiser may assume something.
const PROMISES: &[&str] = &[
    "noundef",
    "nonnull",
    "noalias",
    "dereferenceable",
    "dereferenceable_or_null",
    "readnone",
    "readonly",
    "writeonly",
    "writable",
    "nocapture",
    "returned",
    "nofree",
    "nosync",
    "norecurse",
    "willreturn",
    "mustprogress",
    "speculatable",
    "memory",
    "range",
    "initializes",
    "allockind",
    "allocsize",
    "optnone",
];

/// For a whole module, before anything else is done with it.
pub fn module(editor: &Editor<'_>) {
    let promises = editor.attribute_kinds(PROMISES);
    for function in editor.functions() {
        if function.is_intrinsic() {
            continue;
        }
        editor.strip_attributes(function.value(), &promises);
        if function.is_declaration() {
            continue;
        }
        // A call by the name of a libc function is a call, whatever the optimiser knows of it.
        editor.add_text_attribute(function, "no-builtins", "");
        editor.add_attribute(function, "null_pointer_is_valid");
        let twice = returns_twice(function);
        // Machines that multiply and add in one do so in unoptimised code, too.
        let fused = function
            .text_attribute("target-features")
            .is_some_and(|features| features.split(',').any(|feature| feature == "+fma"));
        for block in function.blocks() {
            for instruction in block.instructions() {
                sober(editor, instruction, (twice, fused), &promises);
            }
        }
    }
}

/// Whether the function calls `setjmp` or its like, so that its variables have to stay in memory:
/// unoptimised code keeps their values over a `longjmp`.
fn returns_twice(function: Function<'_>) -> bool {
    function.blocks().into_iter().any(|block| {
        block.instructions().any(|instruction| {
            instruction.call_has_attribute("returns_twice")
                || instruction
                    .called_function()
                    .is_some_and(|callee| callee.has_attribute("returns_twice"))
        })
    })
}

fn sober<'m>(
    editor: &Editor<'m>,
    instruction: Instruction<'m>,
    (twice, fused): (bool, bool),
    promises: &beagle_llvm::AttributeKinds,
) {
    use Opcode::*;
    editor.strip_remarks(instruction, &[SITE, "srcloc"]);
    if let Some(strict) = strict(editor, instruction) {
        editor.replace_uses(instruction.value(), strict);
        editor.discard(instruction);
        return;
    }
    match instruction.opcode() {
        LLVMCall | LLVMInvoke | LLVMCallBr => {
            let intrinsic = instruction
                .called_function()
                .filter(|callee| callee.is_intrinsic());
            match intrinsic {
                None => editor.strip_attributes(instruction.value(), promises),
                Some(callee) if callee.value().name() == "llvm.assume" => {
                    editor.discard(instruction);
                }
                Some(callee) if callee.value().name().starts_with("llvm.fmuladd.") => {
                    if !fused {
                        split(editor, instruction);
                    }
                }
                Some(_) => {}
            }
        }
        LLVMLoad | LLVMStore if instruction.is_volatile_or_atomic() => {}
        // Unoptimised code reads and writes whenever the source says so, and may get a signal from it;
        // only what nothing uses is left out. Volatile accesses also keep the passes from moving
        // variables into registers.
        LLVMLoad => {
            let address = instruction.operand(0);
            let used = !instruction.value().users().is_empty();
            if used && (twice || !address.is_some_and(is_local)) {
                editor.set_volatile(instruction);
            }
        }
        LLVMStore => {
            let address = instruction.operand(1);
            if twice || !address.is_some_and(is_local) {
                editor.set_volatile(instruction);
            }
        }
        LLVMSDiv | LLVMUDiv | LLVMSRem | LLVMURem if !instruction.value().users().is_empty() => {
            editor.set_number(instruction, KEPT, 1);
        }
        _ => {}
    }
}

/// The operation as the standard says it, if it was compiled with `-ffast-math`.
fn strict<'m>(editor: &Editor<'m>, instruction: Instruction<'m>) -> Option<Value<'m>> {
    let builder = editor.builder();
    builder.before(instruction);
    let strict = builder.strict(instruction)?;
    if let (Some(made), Some(site)) = (strict.as_instruction(), editor.number(instruction, SITE)) {
        editor.set_number(made, SITE, site);
    }
    Some(strict)
}

/// `a * b + c` in two steps, as the machine does it.
fn split<'m>(editor: &Editor<'m>, call: Instruction<'m>) {
    let [a, b, c] = call.arguments()[..] else {
        return;
    };
    let builder = editor.builder();
    builder.before(call);
    let product = builder.binary(Binary::FMul, a, b);
    let sum = builder.binary(Binary::FAdd, product, c);
    if let Some(site) = editor.number(call, SITE) {
        for value in [product, sum] {
            if let Some(instruction) = value.as_instruction() {
                editor.set_number(instruction, SITE, site);
            }
        }
    }
    editor.replace_uses(call.value(), sum);
    editor.discard(call);
}

/// Whether an address is that of a local variable or a fixed part of one, so that reading there
/// cannot fail.
fn is_local(address: Value<'_>) -> bool {
    let Some(instruction) = address.as_instruction() else {
        return false;
    };
    match instruction.opcode() {
        Opcode::LLVMAlloca => true,
        Opcode::LLVMGetElementPtr => match instruction.operands()[..] {
            [base, ref indices @ ..] => {
                indices.iter().all(|index| index.is_constant()) && is_local(base)
            }
            [] => false,
        },
        _ => false,
    }
}

/// For a function whose variables are in registers: variables that were never set are zero, where the
/// optimiser would take any value, a different one at each use.
pub fn undefined_is_zero<'m>(editor: &Editor<'m>, function: Function<'m>) {
    for block in function.blocks() {
        for instruction in block.instructions() {
            for (index, operand) in (0..).zip(instruction.operands()) {
                if operand.is_undefined()
                    && !matches!(operand.ty().kind(), TypeKind::Other | TypeKind::Void)
                {
                    editor.set_operand(instruction, index, editor.zero(operand.ty()));
                }
            }
        }
    }
}
