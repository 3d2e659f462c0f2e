//! Values: functions, global variables, instructions and constants.

use std::ffi::c_char;
use std::marker::PhantomData;

use llvm_sys::core::*;
use llvm_sys::debuginfo::{LLVMDIGlobalVariableExpressionGetVariable, LLVMGetSubprogram};
use llvm_sys::prelude::*;
use llvm_sys::{LLVMAtomicOrdering, LLVMLinkage, LLVMValueKind};

pub use llvm_sys::{LLVMIntPredicate as IntPredicate, LLVMOpcode as Opcode};

use crate::metadata::{Location, Metadata, location_of, metadata_operand};
use crate::types::{FloatKind, Type, TypeKind};
use crate::{string_from, take_message};

/// Any value of a module.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Value<'m> {
    pub(crate) raw: LLVMValueRef,
    module: PhantomData<&'m ()>,
}

/// A value known to be a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Function<'m>(pub(crate) Value<'m>);

/// A value known to be a global variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Global<'m>(pub(crate) Value<'m>);

/// A value known to be an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Instruction<'m>(pub(crate) Value<'m>);

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Block<'m> {
    pub(crate) raw: LLVMBasicBlockRef,
    module: PhantomData<&'m ()>,
}

/// What a value is.
pub enum ValueKind<'m> {
    /// A parameter of a function.
    Parameter,
    /// A block, as operand of a branch.
    Block(Block<'m>),
    /// A function.
    Function(Function<'m>),
    /// A global variable.
    Global(Global<'m>),
    /// Another name for a function or variable.
    Alias,
    /// A constant.
    Constant(Constant<'m>),
    /// Inline assembler: its text and its constraints.
    Assembler(String, String),
    /// An instruction.
    Instruction(Instruction<'m>),
    /// Metadata and other things that are no C value.
    Other,
}

/// A constant, taken apart.
pub enum Constant<'m> {
    /// An integer: width in bits and the bits.
    Int(u32, u128),
    /// A floating-point number, as LLVM writes it (exact).
    Float(FloatKind, String),
    /// The null pointer.
    Null,
    /// A value that is not defined.
    Undefined,
    /// All bytes zero.
    Zero,
    /// An array of bytes.
    Bytes(Vec<u8>),
    /// An array, structure or vector.
    Aggregate(Vec<Value<'m>>),
    /// An operation on constants; for address arithmetic, the type that is stepped over.
    Expression(Opcode, Vec<Value<'m>>, Option<Type<'m>>),
    /// The address of a label (GNU C).
    Label(Value<'m>, Block<'m>),
    /// Anything else, as LLVM prints it.
    Other(String),
}

/// Who can see a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    /// Everybody.
    External,
    /// Everybody, but another definition may win.
    Weak,
    /// This module.
    Internal,
    /// This module, and the name means nothing (string literals).
    Private,
}

impl<'m> Value<'m> {
    pub(crate) fn wrap(raw: LLVMValueRef) -> Option<Self> {
        (!raw.is_null()).then_some(Self {
            raw,
            module: PhantomData,
        })
    }

    pub(crate) fn context(self) -> LLVMContextRef {
        // SAFETY: `raw` is a live value.
        unsafe { LLVMGetTypeContext(LLVMTypeOf(self.raw)) }
    }

    fn raw_kind(self) -> LLVMValueKind {
        // SAFETY: `raw` is a live value.
        unsafe { LLVMGetValueKind(self.raw) }
    }

    pub(crate) fn is_metadata(self) -> bool {
        self.raw_kind() == LLVMValueKind::LLVMMetadataAsValueValueKind
    }

    /// The function, if it is one.
    pub fn as_function(self) -> Option<Function<'m>> {
        (self.raw_kind() == LLVMValueKind::LLVMFunctionValueKind).then_some(Function(self))
    }

    /// The global variable, if it is one.
    pub fn as_global(self) -> Option<Global<'m>> {
        (self.raw_kind() == LLVMValueKind::LLVMGlobalVariableValueKind).then_some(Global(self))
    }

    /// The instruction, if it is one.
    pub fn as_instruction(self) -> Option<Instruction<'m>> {
        (self.raw_kind() == LLVMValueKind::LLVMInstructionValueKind).then_some(Instruction(self))
    }

    /// The name of the value; empty if it has none.
    pub fn name(self) -> String {
        let mut len = 0;
        // SAFETY: LLVM returns its own text and sets `len` to its length.
        unsafe { string_from(LLVMGetValueName2(self.raw, &mut len), len) }
    }

    /// The type of the value.
    pub fn ty(self) -> Type<'m> {
        // SAFETY: `raw` is a live value.
        Type::wrap(unsafe { LLVMTypeOf(self.raw) })
    }

    /// The value as LLVM prints it.
    pub fn print(self) -> String {
        // SAFETY: `raw` is a live value; the message is handed over.
        unsafe { take_message(LLVMPrintValueToString(self.raw)) }
    }

    fn operands(self) -> Vec<Value<'m>> {
        // SAFETY: called for users only (instructions, expressions, aggregates), with valid
        // indices.
        unsafe {
            let count = LLVMGetNumOperands(self.raw).max(0) as u32;
            (0..count)
                .filter_map(|i| Value::wrap(LLVMGetOperand(self.raw, i)))
                .collect()
        }
    }

    /// What the value is.
    pub fn kind(self) -> ValueKind<'m> {
        use LLVMValueKind::*;
        match self.raw_kind() {
            LLVMArgumentValueKind => ValueKind::Parameter,
            LLVMBasicBlockValueKind => {
                // SAFETY: checked to be a block.
                match Block::wrap(unsafe { LLVMValueAsBasicBlock(self.raw) }) {
                    Some(block) => ValueKind::Block(block),
                    None => ValueKind::Other,
                }
            }
            LLVMFunctionValueKind => ValueKind::Function(Function(self)),
            LLVMGlobalVariableValueKind => ValueKind::Global(Global(self)),
            LLVMGlobalAliasValueKind | LLVMGlobalIFuncValueKind => ValueKind::Alias,
            LLVMInstructionValueKind => ValueKind::Instruction(Instruction(self)),
            LLVMInlineAsmValueKind => self.assembler(),
            LLVMMetadataAsValueValueKind => ValueKind::Other,
            kind => ValueKind::Constant(self.constant(kind)),
        }
    }

    fn assembler(self) -> ValueKind<'m> {
        type Getter = unsafe extern "C" fn(LLVMValueRef, *mut usize) -> *const c_char;
        let text = |get: Getter| {
            let mut len = 0;
            // SAFETY: called for inline assembler only; LLVM sets `len` to the text's length.
            unsafe { string_from(get(self.raw, &mut len), len) }
        };
        ValueKind::Assembler(
            text(LLVMGetInlineAsmAsmString),
            text(LLVMGetInlineAsmConstraintString),
        )
    }

    fn constant(self, kind: LLVMValueKind) -> Constant<'m> {
        use LLVMValueKind::*;
        match kind {
            LLVMConstantIntValueKind => self.integer(),
            LLVMConstantFPValueKind => match self.ty().kind() {
                // The text after the type, `double 1.5`.
                TypeKind::Float(kind) => {
                    let text = self.print();
                    let value = text.split_once(' ').map_or("", |(_, value)| value);
                    Constant::Float(kind, value.to_owned())
                }
                _ => Constant::Other(self.print()),
            },
            LLVMConstantPointerNullValueKind => Constant::Null,
            LLVMUndefValueValueKind | LLVMPoisonValueKind => Constant::Undefined,
            LLVMConstantAggregateZeroValueKind => Constant::Zero,
            LLVMConstantDataArrayValueKind | LLVMConstantDataVectorValueKind => self.data(),
            LLVMConstantArrayValueKind
            | LLVMConstantStructValueKind
            | LLVMConstantVectorValueKind => Constant::Aggregate(self.operands()),
            LLVMConstantExprValueKind => {
                // SAFETY: checked to be a constant expression; only address arithmetic is asked
                // for the type that it steps over.
                let (opcode, source) = unsafe {
                    let opcode = LLVMGetConstOpcode(self.raw);
                    let source = (opcode == Opcode::LLVMGetElementPtr)
                        .then(|| Type::wrap(LLVMGetGEPSourceElementType(self.raw)));
                    (opcode, source)
                };
                Constant::Expression(opcode, self.operands(), source)
            }
            LLVMBlockAddressValueKind => {
                // SAFETY: checked to be a block address.
                let (function, block) = unsafe {
                    (
                        LLVMGetBlockAddressFunction(self.raw),
                        LLVMGetBlockAddressBasicBlock(self.raw),
                    )
                };
                match (Value::wrap(function), Block::wrap(block)) {
                    (Some(function), Some(block)) => Constant::Label(function, block),
                    _ => Constant::Other(self.print()),
                }
            }
            _ => Constant::Other(self.print()),
        }
    }

    fn integer(self) -> Constant<'m> {
        let TypeKind::Int(width) = self.ty().kind() else {
            return Constant::Other(self.print());
        };
        if width <= 64 {
            // SAFETY: an integer of at most 64 bits.
            return Constant::Int(width, unsafe { LLVMConstIntGetZExtValue(self.raw) }.into());
        }
        // The C API cannot hand out wider integers, but it prints them: `i128 -5`.
        let text = self.print();
        let digits = text.split_once(' ').map_or("", |(_, digits)| digits);
        match digits.parse::<i128>() {
            Ok(value) if width <= 128 => Constant::Int(width, value as u128),
            _ => Constant::Other(text),
        }
    }

    /// Arrays and vectors of numbers.
    fn data(self) -> Constant<'m> {
        // SAFETY: called for data arrays and vectors only, which are what LLVM requires here; the
        // bytes belong to LLVM and are copied.
        unsafe {
            if LLVMIsConstantString(self.raw) != 0 {
                let mut len = 0;
                let data = LLVMGetAsString(self.raw, &mut len);
                let bytes = std::slice::from_raw_parts(data.cast::<u8>(), len);
                return Constant::Bytes(bytes.to_vec());
            }
        }
        let count = match self.ty().kind() {
            TypeKind::Array(count, _) => count,
            TypeKind::Vector(count, _) => count.into(),
            _ => 0,
        };
        // SAFETY: an aggregate constant, and LLVM answers null for an index that is too large.
        let element = |i: u64| Value::wrap(unsafe { LLVMGetAggregateElement(self.raw, i as u32) });
        Constant::Aggregate((0..count).filter_map(element).collect())
    }
}

/// LLVM's number of an attribute such as `noreturn`.
pub(crate) fn attribute_kind(name: &str) -> u32 {
    // SAFETY: the text is passed with its length.
    unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) }
}

fn linkage(value: Value) -> Linkage {
    // SAFETY: called for functions and variables only.
    match unsafe { LLVMGetLinkage(value.raw) } {
        LLVMLinkage::LLVMPrivateLinkage => Linkage::Private,
        LLVMLinkage::LLVMInternalLinkage => Linkage::Internal,
        LLVMLinkage::LLVMExternalLinkage
        | LLVMLinkage::LLVMAvailableExternallyLinkage
        | LLVMLinkage::LLVMAppendingLinkage => Linkage::External,
        _ => Linkage::Weak,
    }
}

impl<'m> Function<'m> {
    /// The function as a value.
    pub fn value(self) -> Value<'m> {
        self.0
    }

    /// Whether only the declaration is here.
    pub fn is_declaration(self) -> bool {
        // SAFETY: known to be a function.
        unsafe { LLVMIsDeclaration(self.0.raw) != 0 }
    }

    /// Whether the name starts with `llvm.`.
    pub fn is_intrinsic(self) -> bool {
        // SAFETY: known to be a function.
        unsafe { LLVMGetIntrinsicID(self.0.raw) != 0 }
    }

    /// Who can see it.
    pub fn linkage(self) -> Linkage {
        linkage(self.0)
    }

    /// Its type.
    pub fn function_type(self) -> Type<'m> {
        // SAFETY: known to be a function.
        Type::wrap(unsafe { LLVMGlobalGetValueType(self.0.raw) })
    }

    /// Its parameters.
    pub fn parameters(self) -> Vec<Value<'m>> {
        // SAFETY: known to be a function, with valid indices.
        unsafe {
            (0..LLVMCountParams(self.0.raw))
                .filter_map(|i| Value::wrap(LLVMGetParam(self.0.raw, i)))
                .collect()
        }
    }

    /// Whether it has an attribute such as `noreturn`.
    pub fn has_attribute(self, name: &str) -> bool {
        // SAFETY: known to be a function; `kind` comes from LLVM.
        unsafe {
            let index = llvm_sys::LLVMAttributeFunctionIndex;
            !LLVMGetEnumAttributeAtIndex(self.0.raw, index, attribute_kind(name)).is_null()
        }
    }

    /// Its debug information.
    pub fn subprogram(self) -> Option<Metadata<'m>> {
        // SAFETY: known to be a function.
        Metadata::wrap(unsafe { LLVMGetSubprogram(self.0.raw) }, self.0.context())
    }

    /// Its blocks, in the order of the module, the entry first.
    pub fn blocks(self) -> Vec<Block<'m>> {
        // SAFETY: known to be a function; the array has room for all blocks.
        let blocks = unsafe {
            let mut blocks = vec![std::ptr::null_mut(); LLVMCountBasicBlocks(self.0.raw) as usize];
            LLVMGetBasicBlocks(self.0.raw, blocks.as_mut_ptr());
            blocks
        };
        blocks.into_iter().filter_map(Block::wrap).collect()
    }
}

impl<'m> Global<'m> {
    /// The variable as a value (its address).
    pub fn value(self) -> Value<'m> {
        self.0
    }

    /// The initial value; `None` if the variable is defined elsewhere.
    pub fn initializer(self) -> Option<Value<'m>> {
        // SAFETY: known to be a global variable.
        Value::wrap(unsafe { LLVMGetInitializer(self.0.raw) })
    }

    /// The type of what it holds.
    pub fn content_type(self) -> Type<'m> {
        // SAFETY: known to be a global variable.
        Type::wrap(unsafe { LLVMGlobalGetValueType(self.0.raw) })
    }

    /// Whether it can never be written.
    pub fn is_constant(self) -> bool {
        // SAFETY: known to be a global variable.
        unsafe { LLVMIsGlobalConstant(self.0.raw) != 0 }
    }

    /// Whether each thread has its own.
    pub fn is_thread_local(self) -> bool {
        // SAFETY: known to be a global variable.
        unsafe { LLVMIsThreadLocal(self.0.raw) != 0 }
    }

    /// Who can see it.
    pub fn linkage(self) -> Linkage {
        linkage(self.0)
    }

    /// The variable of the source program.
    pub fn variable(self) -> Option<Metadata<'m>> {
        let context = self.0.context();
        let mut count = 0;
        // SAFETY: known to be a global variable; LLVM hands over the list, which is freed after
        // the one entry of interest was copied. Entries of kind `dbg` are variable expressions.
        unsafe {
            let entries = LLVMGlobalCopyAllMetadata(self.0.raw, &mut count);
            let dbg = LLVMGetMDKindIDInContext(context, c"dbg".as_ptr(), 3);
            let found = (0..count as u32)
                .find(|&i| LLVMValueMetadataEntriesGetKind(entries, i) == dbg)
                .map(|i| LLVMValueMetadataEntriesGetMetadata(entries, i))
                .map(|entry| LLVMDIGlobalVariableExpressionGetVariable(entry));
            LLVMDisposeValueMetadataEntries(entries);
            Metadata::wrap(found?, context)
        }
    }
}

impl<'m> Block<'m> {
    pub(crate) fn wrap(raw: LLVMBasicBlockRef) -> Option<Self> {
        (!raw.is_null()).then_some(Self {
            raw,
            module: PhantomData,
        })
    }

    /// The instructions, the terminator last.
    pub fn instructions(self) -> impl Iterator<Item = Instruction<'m>> {
        // SAFETY: a live block.
        let first = Value::wrap(unsafe { LLVMGetFirstInstruction(self.raw) });
        std::iter::successors(first, |value| {
            // SAFETY: instructions only.
            Value::wrap(unsafe { LLVMGetNextInstruction(value.raw) })
        })
        .map(Instruction)
    }
}

impl<'m> Instruction<'m> {
    /// The instruction as a value (its result).
    pub fn value(self) -> Value<'m> {
        self.0
    }

    /// What it does.
    pub fn opcode(self) -> Opcode {
        // SAFETY: known to be an instruction.
        unsafe { LLVMGetInstructionOpcode(self.0.raw) }
    }

    /// All operands, as LLVM orders them.
    pub fn operands(self) -> Vec<Value<'m>> {
        self.0.operands()
    }

    pub(crate) fn is_call(self) -> bool {
        use Opcode::*;
        matches!(self.opcode(), LLVMCall | LLVMInvoke | LLVMCallBr)
    }

    /// For calls: what is called.
    pub fn callee(self) -> Option<Value<'m>> {
        if !self.is_call() {
            return None;
        }
        // SAFETY: asked of calls only.
        Value::wrap(unsafe { LLVMGetCalledValue(self.0.raw) })
    }

    /// For calls: the arguments, without callee, destinations and bundles.
    pub fn arguments(self) -> Vec<Value<'m>> {
        if !self.is_call() {
            return Vec::new();
        }
        // SAFETY: asked of calls only.
        let count = unsafe { LLVMGetNumArgOperands(self.0.raw) };
        let mut operands = self.operands();
        operands.truncate(count as usize);
        operands
    }

    /// For calls: the type of function that the call expects.
    pub fn called_type(self) -> Option<Type<'m>> {
        // SAFETY: asked of calls only.
        self.is_call()
            .then(|| Type::wrap(unsafe { LLVMGetCalledFunctionType(self.0.raw) }))
    }

    /// For calls: whether the call site has an attribute such as `noreturn`.
    pub fn call_has_attribute(self, name: &str) -> bool {
        // SAFETY: asked of calls only; `kind` comes from LLVM.
        self.is_call()
            && unsafe {
                let index = llvm_sys::LLVMAttributeFunctionIndex;
                !LLVMGetCallSiteEnumAttribute(self.0.raw, index, attribute_kind(name)).is_null()
            }
    }

    /// For integer comparisons: the predicate.
    pub fn integer_predicate(self) -> Option<IntPredicate> {
        // SAFETY: asked of integer comparisons only.
        (self.opcode() == Opcode::LLVMICmp).then(|| unsafe { LLVMGetICmpPredicate(self.0.raw) })
    }

    /// For floating-point comparisons: the predicate.
    pub fn float_predicate(self) -> Option<llvm_sys::LLVMRealPredicate> {
        // SAFETY: asked of floating-point comparisons only.
        (self.opcode() == Opcode::LLVMFCmp).then(|| unsafe { LLVMGetFCmpPredicate(self.0.raw) })
    }

    /// For `alloca`: the type of the variable.
    pub fn allocated_type(self) -> Option<Type<'m>> {
        // SAFETY: asked of `alloca` only.
        (self.opcode() == Opcode::LLVMAlloca)
            .then(|| Type::wrap(unsafe { LLVMGetAllocatedType(self.0.raw) }))
    }

    /// For address arithmetic: the type that is stepped over.
    pub fn stepped_type(self) -> Option<Type<'m>> {
        // SAFETY: asked of address arithmetic only.
        (self.opcode() == Opcode::LLVMGetElementPtr)
            .then(|| Type::wrap(unsafe { LLVMGetGEPSourceElementType(self.0.raw) }))
    }

    /// For `extractvalue` and `insertvalue`: the constant indices.
    pub fn indices(self) -> Vec<u32> {
        if !matches!(
            self.opcode(),
            Opcode::LLVMExtractValue | Opcode::LLVMInsertValue
        ) {
            return Vec::new();
        }
        // SAFETY: asked of these two only; LLVM says how many there are.
        unsafe {
            let count = LLVMGetNumIndices(self.0.raw) as usize;
            std::slice::from_raw_parts(LLVMGetIndices(self.0.raw), count).to_vec()
        }
    }

    /// For loads and stores: whether every access counts (`volatile` or atomic).
    pub fn is_volatile_or_atomic(self) -> bool {
        // SAFETY: asked of loads and stores only.
        matches!(self.opcode(), Opcode::LLVMLoad | Opcode::LLVMStore)
            && unsafe {
                LLVMGetVolatile(self.0.raw) != 0
                    || LLVMGetOrdering(self.0.raw)
                        != LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic
            }
    }

    /// For atomic read-modify-write: the number of the operation.
    pub fn atomic_operation(self) -> Option<u32> {
        // SAFETY: asked of `atomicrmw` only.
        (self.opcode() == Opcode::LLVMAtomicRMW)
            .then(|| unsafe { LLVMGetAtomicRMWBinOp(self.0.raw) } as u32)
    }

    /// For `sdiv`, `udiv` and right shifts: whether the remainder is promised to be zero. Clang
    /// makes exact divisions for pointer differences.
    pub fn is_exact(self) -> bool {
        use Opcode::*;
        // SAFETY: asked of these four only.
        matches!(self.opcode(), LLVMSDiv | LLVMUDiv | LLVMAShr | LLVMLShr)
            && unsafe { LLVMGetExact(self.0.raw) != 0 }
    }

    /// For phis: the values with the blocks they come from.
    pub fn incoming(self) -> Vec<(Value<'m>, Block<'m>)> {
        if self.opcode() != Opcode::LLVMPHI {
            return Vec::new();
        }
        // SAFETY: asked of phis only, with valid indices.
        unsafe {
            (0..LLVMCountIncoming(self.0.raw))
                .filter_map(|i| {
                    Some((
                        Value::wrap(LLVMGetIncomingValue(self.0.raw, i))?,
                        Block::wrap(LLVMGetIncomingBlock(self.0.raw, i))?,
                    ))
                })
                .collect()
        }
    }

    /// For terminators: the blocks that may come next.
    pub fn successors(self) -> Vec<Block<'m>> {
        // SAFETY: the successors are asked of terminators only, with valid indices.
        unsafe {
            if LLVMIsATerminatorInst(self.0.raw).is_null() {
                return Vec::new();
            }
            (0..LLVMGetNumSuccessors(self.0.raw))
                .filter_map(|i| Block::wrap(LLVMGetSuccessor(self.0.raw, i)))
                .collect()
        }
    }

    /// Where it stands in the source.
    pub fn location(self) -> Option<Location<'m>> {
        // SAFETY: known to be an instruction.
        let raw = unsafe { llvm_sys::debuginfo::LLVMInstructionGetDebugLoc(self.0.raw) };
        location_of(raw, self.0.context())
    }

    /// For calls of `llvm.dbg.declare`: the address and the source variable that lives there.
    pub fn declared_variable(self) -> Option<(Value<'m>, Metadata<'m>)> {
        // SAFETY: known to be an instruction.
        if unsafe { LLVMIsADbgDeclareInst(self.0.raw) }.is_null() {
            return None;
        }
        let arguments = self.arguments();
        let wrapped = arguments.first().filter(|value| value.is_metadata())?;
        // SAFETY: the first operand of the intrinsic is a value used as metadata or an empty
        // node; of the former LLVM hands out the value as the one operand.
        let address = unsafe {
            if LLVMGetMDNodeNumOperands(wrapped.raw) != 1 {
                return None;
            }
            let mut address = std::ptr::null_mut();
            LLVMGetMDNodeOperands(wrapped.raw, &mut address);
            Value::wrap(address)?
        };
        Some((address, metadata_operand(*arguments.get(1)?)?))
    }

    /// Whether it only carries debug information.
    pub fn is_debug(self) -> bool {
        // SAFETY: known to be an instruction.
        unsafe { !LLVMIsADbgInfoIntrinsic(self.0.raw).is_null() }
    }
}
