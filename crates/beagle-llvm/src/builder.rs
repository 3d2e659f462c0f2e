//! Writing instructions into blocks.
//!
//! What can be computed from constants becomes a constant, as LLVM's own builder does it. Operands
//! of wrong types are mistakes of the caller and panic here, where LLVM would go on with bad code.

use llvm_sys::core::*;
use llvm_sys::prelude::*;

use crate::edit::Editor;
use crate::inspect::FloatPredicate;
use crate::types::{Type, TypeKind};
use crate::value::{Block, Function, Instruction, IntPredicate, Opcode, Value};

/// Operations with two operands and a result, all of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are LLVM's")]
pub enum Binary {
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    Shl,
    LShr,
    AShr,
    FAdd,
    FSub,
    FMul,
}

/// Conversions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are LLVM's")]
pub enum Cast {
    Trunc,
    ZExt,
    SExt,
    Bits,
    PointerToInt,
    IntToPointer,
}

/// Writes instructions, one after the other, at a place.
pub struct Builder<'e, 'm> {
    raw: LLVMBuilderRef,
    editor: &'e Editor<'m>,
}

impl Drop for Builder<'_, '_> {
    fn drop(&mut self) {
        // SAFETY: made in `Editor::builder` and used no more.
        unsafe { LLVMDisposeBuilder(self.raw) };
    }
}

impl<'m> Editor<'m> {
    /// A builder that has no place yet.
    pub fn builder(&self) -> Builder<'_, 'm> {
        Builder {
            // SAFETY: the context is live.
            raw: unsafe { LLVMCreateBuilderInContext(self.context) },
            editor: self,
        }
    }
}

impl<'e, 'm> Builder<'e, 'm> {
    /// What follows is written before this instruction.
    pub fn before(&self, instruction: Instruction<'m>) {
        // SAFETY: an instruction in a block.
        unsafe { LLVMPositionBuilderBefore(self.raw, instruction.0.raw) };
    }

    /// What follows is written at the end of this block.
    pub fn at_end(&self, block: Block<'m>) {
        // SAFETY: a live block.
        unsafe { LLVMPositionBuilderAtEnd(self.raw, block.raw) };
    }

    /// The editor it belongs to.
    pub fn editor(&self) -> &'e Editor<'m> {
        self.editor
    }

    fn made(&self, raw: LLVMValueRef) -> Value<'m> {
        match Value::wrap(raw) {
            Some(value) => value,
            // LLVM's builder never answers null.
            None => unreachable!("LLVM made no instruction"),
        }
    }

    fn placed(&self) {
        // SAFETY: asks for the place only.
        assert!(!unsafe { LLVMGetInsertBlock(self.raw) }.is_null());
    }

    /// An operation with two operands.
    pub fn binary(&self, op: Binary, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        self.placed();
        assert!(a.ty() == b.ty());
        let (a, b, name, raw) = (a.raw, b.raw, c"".as_ptr(), self.raw);
        // SAFETY: the builder has a place, and the operands have one type.
        self.made(unsafe {
            match op {
                Binary::Add => LLVMBuildAdd(raw, a, b, name),
                Binary::Sub => LLVMBuildSub(raw, a, b, name),
                Binary::Mul => LLVMBuildMul(raw, a, b, name),
                Binary::And => LLVMBuildAnd(raw, a, b, name),
                Binary::Or => LLVMBuildOr(raw, a, b, name),
                Binary::Xor => LLVMBuildXor(raw, a, b, name),
                Binary::Shl => LLVMBuildShl(raw, a, b, name),
                Binary::LShr => LLVMBuildLShr(raw, a, b, name),
                Binary::AShr => LLVMBuildAShr(raw, a, b, name),
                Binary::FAdd => LLVMBuildFAdd(raw, a, b, name),
                Binary::FSub => LLVMBuildFSub(raw, a, b, name),
                Binary::FMul => LLVMBuildFMul(raw, a, b, name),
            }
        })
    }

    /// A conversion; nothing if the value has the type already.
    pub fn cast(&self, cast: Cast, value: Value<'m>, to: Type<'m>) -> Value<'m> {
        self.placed();
        if value.ty() == to {
            return value;
        }
        let (value, to, name, raw) = (value.raw, to.raw, c"".as_ptr(), self.raw);
        // SAFETY: the builder has a place.
        self.made(unsafe {
            match cast {
                Cast::Trunc => LLVMBuildTrunc(raw, value, to, name),
                Cast::ZExt => LLVMBuildZExt(raw, value, to, name),
                Cast::SExt => LLVMBuildSExt(raw, value, to, name),
                Cast::Bits => LLVMBuildBitCast(raw, value, to, name),
                Cast::PointerToInt => LLVMBuildPtrToInt(raw, value, to, name),
                Cast::IntToPointer => LLVMBuildIntToPtr(raw, value, to, name),
            }
        })
    }

    /// A comparison of integers or pointers.
    pub fn compare(&self, predicate: IntPredicate, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        self.placed();
        assert!(a.ty() == b.ty());
        // SAFETY: the builder has a place, and the operands have one type.
        self.made(unsafe { LLVMBuildICmp(self.raw, predicate, a.raw, b.raw, c"".as_ptr()) })
    }

    /// A comparison of floating-point numbers.
    pub fn compare_floats(
        &self,
        predicate: FloatPredicate,
        a: Value<'m>,
        b: Value<'m>,
    ) -> Value<'m> {
        self.placed();
        assert!(a.ty() == b.ty());
        // SAFETY: the builder has a place, and the operands have one type.
        self.made(unsafe { LLVMBuildFCmp(self.raw, predicate, a.raw, b.raw, c"".as_ptr()) })
    }

    /// One of two values.
    pub fn select(&self, condition: Value<'m>, yes: Value<'m>, no: Value<'m>) -> Value<'m> {
        self.placed();
        assert!(yes.ty() == no.ty());
        if yes == no {
            return yes;
        }
        // SAFETY: the builder has a place, and the values have one type.
        self.made(unsafe {
            LLVMBuildSelect(self.raw, condition.raw, yes.raw, no.raw, c"".as_ptr())
        })
    }

    /// Reads memory.
    pub fn load(&self, ty: Type<'m>, address: Value<'m>, align: u32) -> Value<'m> {
        self.placed();
        assert!(matches!(address.ty().kind(), TypeKind::Pointer));
        // SAFETY: the builder has a place, and the address is a pointer.
        unsafe {
            let raw = LLVMBuildLoad2(self.raw, ty.raw, address.raw, c"".as_ptr());
            LLVMSetAlignment(raw, align);
            self.made(raw)
        }
    }

    /// Writes memory.
    pub fn store(&self, value: Value<'m>, address: Value<'m>, align: u32) {
        self.placed();
        assert!(matches!(address.ty().kind(), TypeKind::Pointer));
        // SAFETY: the builder has a place, and the address is a pointer.
        unsafe {
            let raw = LLVMBuildStore(self.raw, value.raw, address.raw);
            LLVMSetAlignment(raw, align);
        }
    }

    /// An address and so many bytes.
    pub fn offset(&self, address: Value<'m>, bytes: Value<'m>) -> Value<'m> {
        self.placed();
        assert!(matches!(address.ty().kind(), TypeKind::Pointer));
        let byte = self.editor.int(8);
        // SAFETY: the builder has a place; one index.
        self.made(unsafe {
            let mut index = [bytes.raw];
            LLVMBuildGEP2(
                self.raw,
                byte.raw,
                address.raw,
                index.as_mut_ptr(),
                1,
                c"".as_ptr(),
            )
        })
    }

    /// Memory of the current call of the function. Written at the place like all else, so the place
    /// should be at the start of the function.
    pub fn local(&self, ty: Type<'m>, align: u32) -> Value<'m> {
        self.placed();
        // SAFETY: the builder has a place.
        unsafe {
            let raw = LLVMBuildAlloca(self.raw, ty.raw, c"".as_ptr());
            LLVMSetAlignment(raw, align);
            self.made(raw)
        }
    }

    /// Calls a function with arguments of its own types.
    pub fn call(&self, function: Function<'m>, arguments: &[Value<'m>]) -> Value<'m> {
        self.call_value(function.value(), function.function_type(), arguments)
    }

    fn call_value(&self, callee: Value<'m>, ty: Type<'m>, arguments: &[Value<'m>]) -> Value<'m> {
        self.placed();
        let TypeKind::Function(_, parameters, variadic) = ty.kind() else {
            panic!("a function type");
        };
        assert!(
            arguments.len() == parameters.len() || variadic && arguments.len() > parameters.len()
        );
        for (number, (argument, parameter)) in arguments.iter().zip(&parameters).enumerate() {
            assert!(
                argument.ty() == *parameter,
                "argument {number} of {}",
                callee.name()
            );
        }
        let mut raw: Vec<_> = arguments.iter().map(|argument| argument.raw).collect();
        // SAFETY: the builder has a place, and the arguments fit the type.
        self.made(unsafe {
            LLVMBuildCall2(
                self.raw,
                ty.raw,
                callee.raw,
                raw.as_mut_ptr(),
                raw.len() as u32,
                c"".as_ptr(),
            )
        })
    }

    /// Passes a value through a register, so that the optimiser does not know what comes out, and
    /// cannot leave the computation of the value out.
    pub fn hide(&self, value: Value<'m>) -> Value<'m> {
        let ty = self.editor.function_type(value.ty(), &[value.ty()]);
        let constraints = "=r,0,~{dirflag},~{fpsr},~{flags}";
        // SAFETY: the texts are passed with their lengths; the type is that of the one operand.
        let assembler = self.made(unsafe {
            LLVMGetInlineAsm(
                ty.raw,
                c"".as_ptr(),
                0,
                constraints.as_ptr().cast(),
                constraints.len(),
                1,
                0,
                llvm_sys::LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
                0,
            )
        });
        self.call_value(assembler, ty, &[value])
    }

    /// A phi without incoming values; the place must be at the start of a block.
    pub fn phi(&self, ty: Type<'m>) -> Instruction<'m> {
        self.placed();
        // SAFETY: the builder has a place.
        Instruction(self.made(unsafe { LLVMBuildPhi(self.raw, ty.raw, c"".as_ptr()) }))
    }

    /// Takes a part out of a structure or array.
    pub fn extract(&self, aggregate: Value<'m>, index: u32) -> Value<'m> {
        self.placed();
        let fits = match aggregate.ty().kind() {
            TypeKind::Struct(_, fields) => (index as usize) < fields.len(),
            TypeKind::Array(count, _) => u64::from(index) < count,
            _ => false,
        };
        assert!(fits);
        // SAFETY: the builder has a place, and the index is checked.
        self.made(unsafe { LLVMBuildExtractValue(self.raw, aggregate.raw, index, c"".as_ptr()) })
    }

    /// Takes an element out of a vector.
    pub fn element(&self, vector: Value<'m>, index: u32) -> Value<'m> {
        self.placed();
        assert!(matches!(vector.ty().kind(), TypeKind::Vector(count, _) if index < count));
        let index = self.editor.const_int(self.editor.int(32), index.into());
        // SAFETY: the builder has a place, and the index is checked.
        self.made(unsafe { LLVMBuildExtractElement(self.raw, vector.raw, index.raw, c"".as_ptr()) })
    }

    /// Goes on in this block.
    pub fn jump(&self, to: Block<'m>) {
        self.placed();
        // SAFETY: the builder has a place.
        unsafe { LLVMBuildBr(self.raw, to.raw) };
    }

    /// Goes on in the block of the case, or else in `otherwise`.
    pub fn switch(&self, value: Value<'m>, otherwise: Block<'m>, cases: &[(Value<'m>, Block<'m>)]) {
        self.placed();
        // SAFETY: the builder has a place; the cases are constants of the value's type.
        unsafe {
            let raw = LLVMBuildSwitch(self.raw, value.raw, otherwise.raw, cases.len() as u32);
            for (case, block) in cases {
                assert!(case.as_instruction().is_none() && case.ty() == value.ty());
                LLVMAddCase(raw, case.raw, block.raw);
            }
        }
    }

    /// Returns a value.
    pub fn ret(&self, value: Value<'m>) {
        self.placed();
        // SAFETY: the builder has a place.
        unsafe { LLVMBuildRet(self.raw, value.raw) };
    }

    /// The same floating-point operation without promises such as that no operand is a NaN; `None` if
    /// the instruction has none or cannot be written again. LLVM can add such promises to an
    /// instruction but not take them away.
    pub fn strict(&self, instruction: Instruction<'m>) -> Option<Value<'m>> {
        use Opcode::*;
        self.placed();
        let opcode = instruction.opcode();
        let raw = instruction.0.raw;
        // SAFETY: only operations that can carry such promises are asked for them.
        let fast =
            unsafe { LLVMCanValueUseFastMathFlags(raw) != 0 && LLVMGetFastMathFlags(raw) != 0 };
        if !fast {
            return None;
        }
        let operand = |index| instruction.operand(index);
        Some(match opcode {
            LLVMFAdd | LLVMFSub | LLVMFMul | LLVMFDiv | LLVMFRem => {
                let (a, b) = (operand(0)?, operand(1)?);
                // SAFETY: the builder has a place; the operands are those of such an operation.
                self.made(unsafe { LLVMBuildBinOp(self.raw, opcode, a.raw, b.raw, c"".as_ptr()) })
            }
            LLVMFNeg => {
                let a = operand(0)?;
                // SAFETY: the builder has a place; the operand is that of a negation.
                self.made(unsafe { LLVMBuildFNeg(self.raw, a.raw, c"".as_ptr()) })
            }
            LLVMFCmp => {
                self.compare_floats(instruction.float_predicate()?, operand(0)?, operand(1)?)
            }
            LLVMSelect => self.select(operand(0)?, operand(1)?, operand(2)?),
            _ => return None,
        })
    }
}
