//! More questions about a module, which only those ask who want to change it.

use llvm_sys::LLVMTailCallKind;
use llvm_sys::core::*;

pub use llvm_sys::LLVMRealPredicate as FloatPredicate;

use crate::string_from;
use crate::value::{Block, Function, Instruction, Opcode, Value, attribute_kind};
use crate::{Type, TypeKind};

/// What of a function or call an attribute belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttributeAt {
    /// The function as a whole.
    Function,
    /// The returned value.
    Return,
    /// The parameter with this number, from 0.
    Parameter(u32),
}

impl AttributeAt {
    pub(crate) fn index(self) -> u32 {
        match self {
            AttributeAt::Function => llvm_sys::LLVMAttributeFunctionIndex,
            AttributeAt::Return => llvm_sys::LLVMAttributeReturnIndex,
            AttributeAt::Parameter(number) => number + 1,
        }
    }
}

impl<'m> Value<'m> {
    /// Everything that has this value as an operand; more than once if it has it more than once.
    pub fn users(self) -> Vec<Value<'m>> {
        let mut users = Vec::new();
        // SAFETY: `raw` is a live value, and its list of uses does not change meanwhile.
        unsafe {
            let mut at = LLVMGetFirstUse(self.raw);
            while !at.is_null() {
                users.extend(Value::wrap(LLVMGetUser(at)));
                at = LLVMGetNextUse(at);
            }
        }
        users
    }

    /// Whether it is a constant, a function's or a variable's address included.
    pub fn is_constant(self) -> bool {
        // SAFETY: `raw` is a live value.
        unsafe { LLVMIsConstant(self.raw) != 0 }
    }

    /// Whether the value is undefined (`undef` or `poison`).
    pub fn is_undefined(self) -> bool {
        // SAFETY: `raw` is a live value.
        unsafe { LLVMIsUndef(self.raw) != 0 || LLVMIsPoison(self.raw) != 0 }
    }

    /// The value of a constant integer of up to 64 bits, filled with zeros.
    pub fn as_int(self) -> Option<u64> {
        let TypeKind::Int(width) = self.ty().kind() else {
            return None;
        };
        // SAFETY: a constant integer that is not too wide is what is asked for.
        unsafe {
            (width <= 64 && !LLVMIsAConstantInt(self.raw).is_null())
                .then(|| LLVMConstIntGetZExtValue(self.raw))
        }
    }

    /// Whether it is a second name or a resolver of one.
    pub fn is_alias(self) -> bool {
        // SAFETY: `raw` is a live value.
        unsafe {
            !LLVMIsAGlobalAlias(self.raw).is_null() || !LLVMIsAGlobalIFunc(self.raw).is_null()
        }
    }

    /// Whether it is inline assembler.
    pub fn is_assembler(self) -> bool {
        // SAFETY: `raw` is a live value.
        unsafe { !LLVMIsAInlineAsm(self.raw).is_null() }
    }
}

impl<'m> Function<'m> {
    /// Whether an attribute such as `byval` is on it.
    pub fn has_attribute_at(self, at: AttributeAt, name: &str) -> bool {
        // SAFETY: known to be a function; the kind comes from LLVM.
        unsafe {
            !LLVMGetEnumAttributeAtIndex(self.0.raw, at.index(), attribute_kind(name)).is_null()
        }
    }

    /// The type in an attribute such as `byval`.
    pub fn type_attribute(self, at: AttributeAt, name: &str) -> Option<Type<'m>> {
        // SAFETY: known to be a function; only attributes with a type are asked for it.
        unsafe {
            let found = LLVMGetEnumAttributeAtIndex(self.0.raw, at.index(), attribute_kind(name));
            (!found.is_null() && LLVMIsTypeAttribute(found) != 0)
                .then(|| Type::wrap(LLVMGetTypeAttributeValue(found)))
        }
    }

    /// The value of an attribute that is a text, such as `target-features`.
    pub fn text_attribute(self, name: &str) -> Option<String> {
        let mut len = 0;
        // SAFETY: known to be a function; the name is passed with its length, and LLVM sets `len` to
        // the length of its own text.
        unsafe {
            let index = llvm_sys::LLVMAttributeFunctionIndex;
            let (data, size) = (name.as_ptr().cast(), name.len() as u32);
            let found = LLVMGetStringAttributeAtIndex(self.0.raw, index, data, size);
            (!found.is_null()).then(|| {
                let text = LLVMGetStringAttributeValue(found, &mut len);
                string_from(text, len as usize)
            })
        }
    }
}

impl<'m> Block<'m> {
    /// The block as a value, as it stands in the operands of branches.
    pub fn value(self) -> Option<Value<'m>> {
        // SAFETY: a live block.
        Value::wrap(unsafe { LLVMBasicBlockAsValue(self.raw) })
    }

    /// The first instruction.
    pub fn first(self) -> Option<Instruction<'m>> {
        self.instructions().next()
    }

    /// The last instruction, where control leaves the block.
    pub fn terminator(self) -> Option<Instruction<'m>> {
        // SAFETY: a live block.
        Value::wrap(unsafe { LLVMGetBasicBlockTerminator(self.raw) }).map(Instruction)
    }
}

impl<'m> Instruction<'m> {
    /// The block it stands in.
    pub fn block(self) -> Option<Block<'m>> {
        // SAFETY: known to be an instruction.
        Block::wrap(unsafe { LLVMGetInstructionParent(self.0.raw) })
    }

    /// The function it stands in.
    pub fn function(self) -> Option<Function<'m>> {
        let block = self.block()?;
        // SAFETY: a live block.
        Value::wrap(unsafe { LLVMGetBasicBlockParent(block.raw) })?.as_function()
    }

    /// The instruction after it in its block.
    pub fn next(self) -> Option<Instruction<'m>> {
        // SAFETY: known to be an instruction.
        Value::wrap(unsafe { LLVMGetNextInstruction(self.0.raw) }).map(Instruction)
    }

    /// The operand with this number.
    pub fn operand(self, index: u32) -> Option<Value<'m>> {
        // SAFETY: known to be an instruction, and the index is checked.
        unsafe {
            ((index as i32) < LLVMGetNumOperands(self.0.raw))
                .then(|| Value::wrap(LLVMGetOperand(self.0.raw, index)))?
        }
    }

    /// For calls: the function, if it is named directly.
    pub fn called_function(self) -> Option<Function<'m>> {
        self.callee()?.as_function()
    }

    /// For calls: whether the call has to be a jump (`musttail`).
    pub fn is_must_tail(self) -> bool {
        // SAFETY: asked of plain calls only.
        self.opcode() == Opcode::LLVMCall
            && unsafe {
                LLVMGetTailCallKind(self.0.raw) == LLVMTailCallKind::LLVMTailCallKindMustTail
            }
    }

    /// For calls: the type in an attribute of an argument, such as `byval`.
    pub fn call_type_attribute(self, at: AttributeAt, name: &str) -> Option<Type<'m>> {
        if !self.is_call() {
            return None;
        }
        // SAFETY: asked of calls only; only attributes with a type are asked for it.
        unsafe {
            let found = LLVMGetCallSiteEnumAttribute(self.0.raw, at.index(), attribute_kind(name));
            (!found.is_null() && LLVMIsTypeAttribute(found) != 0)
                .then(|| Type::wrap(LLVMGetTypeAttributeValue(found)))
        }
    }

    /// For invokes: where control goes on when the call returns.
    pub fn normal_destination(self) -> Option<Block<'m>> {
        if self.opcode() != Opcode::LLVMInvoke {
            return None;
        }
        // SAFETY: asked of invokes only.
        Block::wrap(unsafe { LLVMGetNormalDest(self.0.raw) })
    }

    /// For `shufflevector`: which element of the two operands each element is; `None` for any.
    pub fn shuffle_mask(self) -> Vec<Option<u32>> {
        if self.opcode() != Opcode::LLVMShuffleVector {
            return Vec::new();
        }
        // SAFETY: asked of shuffles only, with valid indices.
        unsafe {
            (0..LLVMGetNumMaskElements(self.0.raw))
                .map(|i| u32::try_from(LLVMGetMaskValue(self.0.raw, i)).ok())
                .collect()
        }
    }

    /// For switches: the values of the cases, in order.
    pub fn case_values(self) -> Vec<Value<'m>> {
        if self.opcode() != Opcode::LLVMSwitch {
            return Vec::new();
        }
        // Operands are the value, the default, and then value and target of each case.
        self.operands().into_iter().skip(2).step_by(2).collect()
    }

    /// Whether the source promises that the result is not out of range as a signed number.
    pub fn is_no_signed_wrap(self) -> bool {
        use Opcode::*;
        // SAFETY: asked only of operations that can carry the flag.
        matches!(self.opcode(), LLVMAdd | LLVMSub | LLVMMul | LLVMShl)
            && unsafe { LLVMGetNSW(self.0.raw) != 0 }
    }
}
