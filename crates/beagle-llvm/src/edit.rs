//! Changing a module: new types, constants, functions and variables, other operands, attributes.
//!
//! All happens inside [`Module::edit`]. Handles live as long as the call, so what is to be deleted is
//! only noted ([`Editor::discard`]) and deleted at its end, when no handle is left.

use std::cell::RefCell;
use std::ffi::CString;
use std::marker::PhantomData;

use llvm_sys::comdat::LLVMSetComdat;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::{LLVMABISizeOfType, LLVMGetModuleDataLayout, LLVMStoreSizeOfType};
use llvm_sys::{LLVMLinkage, LLVMUnnamedAddr};

use crate::inspect::AttributeAt;
use crate::module::Module;
use crate::types::{Type, TypeKind};
use crate::value::{Block, Function, Global, Instruction, Opcode, Value, attribute_kind};

/// Who is to see a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// Everybody.
    Everywhere,
    /// This module.
    Module,
}

/// Attributes, looked up once.
pub struct AttributeKinds(Vec<u32>);

/// A module that is being changed.
pub struct Editor<'m> {
    pub(crate) raw: LLVMModuleRef,
    pub(crate) context: LLVMContextRef,
    /// Instructions to delete at the end.
    doomed: RefCell<Vec<LLVMValueRef>>,
    module: PhantomData<&'m ()>,
}

impl Module<'_> {
    /// Changes the module.
    pub fn edit<R>(&mut self, work: impl for<'m> FnOnce(&Editor<'m>) -> R) -> R {
        let editor = Editor {
            raw: self.raw,
            // SAFETY: the module is live.
            context: unsafe { LLVMGetModuleContext(self.raw) },
            doomed: RefCell::default(),
            module: PhantomData,
        };
        let result = work(&editor);
        for raw in editor.doomed.into_inner() {
            // SAFETY: noted once each, and handles to it cannot have left `work`. What still uses it
            // gets an undefined value, which LLVM's verifier accepts.
            unsafe {
                if LLVMGetTypeKind(LLVMTypeOf(raw)) != llvm_sys::LLVMTypeKind::LLVMVoidTypeKind {
                    LLVMReplaceAllUsesWith(raw, LLVMGetPoison(LLVMTypeOf(raw)));
                }
                LLVMInstructionEraseFromParent(raw);
            }
        }
        result
    }
}

fn c_text(text: &str) -> CString {
    // A NUL inside would end the name early for LLVM, so it ends there for us.
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}

impl<'m> Editor<'m> {
    fn value(&self, raw: LLVMValueRef) -> Value<'m> {
        match Value::wrap(raw) {
            Some(value) => value,
            // LLVM's constructors of constants and globals never answer null.
            None => unreachable!("LLVM made no value"),
        }
    }

    // ---- what there is

    /// The functions, declared and defined.
    pub fn functions(&self) -> Vec<Function<'m>> {
        let mut found = Vec::new();
        // SAFETY: the module is live.
        unsafe {
            let mut at = LLVMGetFirstFunction(self.raw);
            while !at.is_null() {
                found.extend(Value::wrap(at).and_then(Value::as_function));
                at = LLVMGetNextFunction(at);
            }
        }
        found
    }

    /// The global variables, declared and defined.
    pub fn globals(&self) -> Vec<Global<'m>> {
        let mut found = Vec::new();
        // SAFETY: the module is live.
        unsafe {
            let mut at = LLVMGetFirstGlobal(self.raw);
            while !at.is_null() {
                found.extend(Value::wrap(at).and_then(Value::as_global));
                at = LLVMGetNextGlobal(at);
            }
        }
        found
    }

    /// Functions that choose, before the program starts, what a name stands for.
    pub fn resolvers(&self) -> Vec<Value<'m>> {
        let mut found = Vec::new();
        // SAFETY: the module is live; asked of ifuncs only.
        unsafe {
            let mut at = LLVMGetFirstGlobalIFunc(self.raw);
            while !at.is_null() {
                found.extend(Value::wrap(LLVMGetGlobalIFuncResolver(at)));
                at = LLVMGetNextGlobalIFunc(at);
            }
        }
        found
    }

    /// The function of this name.
    pub fn function(&self, name: &str) -> Option<Function<'m>> {
        // SAFETY: the module is live, and the name ends in NUL.
        Value::wrap(unsafe { LLVMGetNamedFunction(self.raw, c_text(name).as_ptr()) })?.as_function()
    }

    /// The variable of this name.
    pub fn global(&self, name: &str) -> Option<Global<'m>> {
        // SAFETY: the module is live, and the name ends in NUL.
        Value::wrap(unsafe { LLVMGetNamedGlobal(self.raw, c_text(name).as_ptr()) })?.as_global()
    }

    // ---- types

    /// No value.
    pub fn void(&self) -> Type<'m> {
        // SAFETY: the context is live. So below.
        Type::wrap(unsafe { LLVMVoidTypeInContext(self.context) })
    }

    /// Integers of this many bits.
    pub fn int(&self, width: u32) -> Type<'m> {
        assert!((1..=1 << 23).contains(&width), "width of an integer");
        // SAFETY: LLVM has integers of all these widths.
        Type::wrap(unsafe { LLVMIntTypeInContext(self.context, width) })
    }

    /// Pointers.
    pub fn pointer(&self) -> Type<'m> {
        // SAFETY: the context is live.
        Type::wrap(unsafe { LLVMPointerTypeInContext(self.context, 0) })
    }

    /// So many elements of one type.
    pub fn array(&self, element: Type<'m>, count: u64) -> Type<'m> {
        // SAFETY: a live type.
        Type::wrap(unsafe { LLVMArrayType2(element.raw, count) })
    }

    /// A structure without a name.
    pub fn structure(&self, fields: &[Type<'m>]) -> Type<'m> {
        let mut raw: Vec<_> = fields.iter().map(|field| field.raw).collect();
        // SAFETY: live types, passed with their number.
        Type::wrap(unsafe {
            LLVMStructTypeInContext(self.context, raw.as_mut_ptr(), raw.len() as u32, 0)
        })
    }

    /// A function.
    pub fn function_type(&self, result: Type<'m>, parameters: &[Type<'m>]) -> Type<'m> {
        let mut raw: Vec<_> = parameters.iter().map(|parameter| parameter.raw).collect();
        // SAFETY: live types, passed with their number.
        Type::wrap(unsafe { LLVMFunctionType(result.raw, raw.as_mut_ptr(), raw.len() as u32, 0) })
    }

    /// Size in bytes with padding; 0 for types without one.
    pub fn size_of(&self, ty: Type<'m>) -> u64 {
        // SAFETY: only sized types are asked for their size; the module owns its layout.
        unsafe {
            match LLVMTypeIsSized(ty.raw) {
                0 => 0,
                _ => LLVMABISizeOfType(LLVMGetModuleDataLayout(self.raw), ty.raw),
            }
        }
    }

    /// How many bytes a store of the type writes; 0 for types without a size.
    pub fn store_size_of(&self, ty: Type<'m>) -> u64 {
        // SAFETY: only sized types are asked for their size; the module owns its layout.
        unsafe {
            match LLVMTypeIsSized(ty.raw) {
                0 => 0,
                _ => LLVMStoreSizeOfType(LLVMGetModuleDataLayout(self.raw), ty.raw),
            }
        }
    }

    /// Where field `index` of a structure starts, in bytes.
    pub fn field_offset(&self, ty: Type<'m>, index: u32) -> u64 {
        let TypeKind::Struct(_, fields) = ty.kind() else {
            return 0;
        };
        if index as usize >= fields.len() || self.size_of(ty) == 0 {
            return 0;
        }
        // SAFETY: a sized structure, and the index is checked.
        unsafe {
            llvm_sys::target::LLVMOffsetOfElement(LLVMGetModuleDataLayout(self.raw), ty.raw, index)
        }
    }

    // ---- constants

    /// An integer; bits above the width are dropped.
    pub fn const_int(&self, ty: Type<'m>, value: u64) -> Value<'m> {
        assert!(matches!(ty.kind(), TypeKind::Int(_)), "an integer type");
        // SAFETY: an integer type.
        self.value(unsafe { LLVMConstInt(ty.raw, value, 0) })
    }

    /// Zero, null, or nothing but zeros.
    pub fn zero(&self, ty: Type<'m>) -> Value<'m> {
        // SAFETY: a live type of values.
        self.value(unsafe { LLVMConstNull(ty.raw) })
    }

    /// An array of constants of one type.
    pub fn const_array(&self, element: Type<'m>, values: &[Value<'m>]) -> Value<'m> {
        let mut raw: Vec<_> = values.iter().map(|value| value.raw).collect();
        assert!(values.iter().all(|v| v.is_constant() && v.ty() == element));
        // SAFETY: constants of this type, passed with their number.
        self.value(unsafe { LLVMConstArray2(element.raw, raw.as_mut_ptr(), raw.len() as u64) })
    }

    /// A structure of constants.
    pub fn const_struct(&self, values: &[Value<'m>]) -> Value<'m> {
        let mut raw: Vec<_> = values.iter().map(|value| value.raw).collect();
        assert!(values.iter().all(|value| value.is_constant()));
        // SAFETY: constants, passed with their number.
        self.value(unsafe {
            LLVMConstStructInContext(self.context, raw.as_mut_ptr(), raw.len() as u32, 0)
        })
    }

    /// A constant address and so many bytes.
    pub fn const_offset(&self, address: Value<'m>, bytes: u64) -> Value<'m> {
        assert!(address.is_constant() && matches!(address.ty().kind(), TypeKind::Pointer));
        let mut index = [self.const_int(self.int(64), bytes).raw];
        // SAFETY: a constant pointer and one constant index.
        self.value(unsafe { LLVMConstGEP2(self.int(8).raw, address.raw, index.as_mut_ptr(), 1) })
    }

    /// The address of a constant text that ends in NUL.
    pub fn text(&self, text: &str) -> Value<'m> {
        // SAFETY: the text is passed with its length; LLVM copies it. The variable is new, so it can
        // be given all these properties.
        unsafe {
            let (data, len) = (text.as_ptr().cast(), text.len());
            let content = LLVMConstStringInContext2(self.context, data, len, 0);
            let global = LLVMAddGlobal(self.raw, LLVMTypeOf(content), c"".as_ptr());
            LLVMSetInitializer(global, content);
            LLVMSetGlobalConstant(global, 1);
            LLVMSetLinkage(global, LLVMLinkage::LLVMPrivateLinkage);
            LLVMSetUnnamedAddress(global, LLVMUnnamedAddr::LLVMGlobalUnnamedAddr);
            self.value(global)
        }
    }

    // ---- functions and variables

    /// Declares a function; if the name is taken, LLVM finds another one.
    pub fn declare(&self, name: &str, ty: Type<'m>) -> Function<'m> {
        assert!(matches!(ty.kind(), TypeKind::Function(..)));
        // SAFETY: a function type, and the name ends in NUL.
        Function(self.value(unsafe { LLVMAddFunction(self.raw, c_text(name).as_ptr(), ty.raw) }))
    }

    /// Adds a block to a function.
    pub fn append_block(&self, function: Function<'m>) -> Block<'m> {
        // SAFETY: known to be a function.
        let raw =
            unsafe { LLVMAppendBasicBlockInContext(self.context, function.0.raw, c"".as_ptr()) };
        match Block::wrap(raw) {
            Some(block) => block,
            None => unreachable!("LLVM made no block"),
        }
    }

    /// Defines a variable.
    pub fn add_global(&self, name: &str, content: Value<'m>, constant: bool) -> Global<'m> {
        assert!(content.is_constant());
        // SAFETY: the variable is new and gets an initial value of its own type.
        unsafe {
            let raw = LLVMAddGlobal(self.raw, content.ty().raw, c_text(name).as_ptr());
            LLVMSetInitializer(raw, content.raw);
            LLVMSetGlobalConstant(raw, i32::from(constant));
            Global(self.value(raw))
        }
    }

    /// The section that a variable is put in, if it names one.
    pub fn section(&self, global: Global<'m>) -> Option<String> {
        // SAFETY: known to be a variable; the text belongs to LLVM and ends in NUL.
        unsafe {
            let section = LLVMGetSection(global.0.raw);
            (!section.is_null()).then(|| {
                let text = std::ffi::CStr::from_ptr(section);
                text.to_string_lossy().into_owned()
            })
        }
    }

    /// Gives a function or variable another name; if it is taken, LLVM finds another one.
    pub fn rename(&self, value: Value<'m>, name: &str) {
        // SAFETY: the name is passed with its length.
        unsafe { LLVMSetValueName2(value.raw, name.as_ptr().cast(), name.len()) };
    }

    /// Changes who can see a function or variable that is defined here.
    pub fn set_visibility(&self, value: Value<'m>, visibility: Visibility) {
        if value.as_function().is_none() && value.as_global().is_none() && !value.is_alias() {
            return;
        }
        // SAFETY: checked to be a symbol. What only this module sees can neither be hidden nor be
        // shared with other modules.
        unsafe {
            match visibility {
                Visibility::Everywhere => {
                    LLVMSetLinkage(value.raw, LLVMLinkage::LLVMExternalLinkage);
                }
                Visibility::Module => {
                    if value.is_alias() {
                        LLVMSetVisibility(
                            value.raw,
                            llvm_sys::LLVMVisibility::LLVMDefaultVisibility,
                        );
                        LLVMSetLinkage(value.raw, LLVMLinkage::LLVMInternalLinkage);
                        return;
                    }
                    LLVMSetComdat(value.raw, std::ptr::null_mut());
                    LLVMSetVisibility(value.raw, llvm_sys::LLVMVisibility::LLVMDefaultVisibility);
                    LLVMSetLinkage(value.raw, LLVMLinkage::LLVMInternalLinkage);
                }
            }
        }
    }

    /// Whether the definition is a copy of one elsewhere, there for the optimiser only.
    pub fn is_only_for_optimiser(&self, function: Function<'m>) -> bool {
        // SAFETY: known to be a function.
        unsafe { LLVMGetLinkage(function.0.raw) == LLVMLinkage::LLVMAvailableExternallyLinkage }
    }

    /// Every use of one value becomes a use of the other.
    pub fn replace_uses(&self, old: Value<'m>, new: Value<'m>) {
        assert!(old.ty() == new.ty() && old != new);
        // SAFETY: live values of one type.
        unsafe { LLVMReplaceAllUsesWith(old.raw, new.raw) };
    }

    // ---- instructions

    /// Changes an operand.
    pub fn set_operand(&self, instruction: Instruction<'m>, index: u32, value: Value<'m>) {
        let old = instruction.operand(index);
        assert!(old.is_some_and(|old| old.ty() == value.ty()));
        // SAFETY: the index was checked, and the types are the same.
        unsafe { LLVMSetOperand(instruction.0.raw, index, value.raw) };
    }

    /// Deletes the instruction when the editing ends. To be called once for an instruction, and not
    /// for the last one of a block.
    pub fn discard(&self, instruction: Instruction<'m>) {
        let raw = instruction.0.raw;
        // SAFETY: known to be an instruction.
        assert!(unsafe { LLVMIsATerminatorInst(raw) }.is_null());
        let mut doomed = self.doomed.borrow_mut();
        if !doomed.contains(&raw) {
            doomed.push(raw);
        }
    }

    /// Adds where the value of a phi comes from.
    pub fn add_incoming(&self, phi: Instruction<'m>, value: Value<'m>, block: Block<'m>) {
        assert!(phi.opcode() == Opcode::LLVMPHI && phi.value().ty() == value.ty());
        // SAFETY: checked to be a phi of this type.
        unsafe { LLVMAddIncoming(phi.0.raw, &mut { value.raw }, &mut { block.raw }, 1) };
    }

    /// Writes a number beside the instruction, under a name.
    pub fn set_number(&self, instruction: Instruction<'m>, name: &str, number: u32) {
        let constant = self.const_int(self.int(32), number.into());
        // SAFETY: the context and the values in it are live.
        unsafe {
            let mut operand = LLVMValueAsMetadata(constant.raw);
            let node = LLVMMDNodeInContext2(self.context, &mut operand, 1);
            let node = LLVMMetadataAsValue(self.context, node);
            LLVMSetMetadata(instruction.0.raw, self.metadata_kind(name), node);
        }
    }

    /// The number that was written beside the instruction.
    pub fn number(&self, instruction: Instruction<'m>, name: &str) -> Option<u32> {
        // SAFETY: the node is one of a single constant, as `set_number` makes them, or is not used.
        unsafe {
            let node = LLVMGetMetadata(instruction.0.raw, self.metadata_kind(name));
            if node.is_null() || LLVMGetMDNodeNumOperands(node) != 1 {
                return None;
            }
            let mut operand = std::ptr::null_mut();
            LLVMGetMDNodeOperands(node, &mut operand);
            u32::try_from(Value::wrap(operand)?.as_int()?).ok()
        }
    }

    fn metadata_kind(&self, name: &str) -> u32 {
        // SAFETY: the name is passed with its length.
        unsafe { LLVMGetMDKindIDInContext(self.context, name.as_ptr().cast(), name.len() as u32) }
    }

    /// Takes all remarks off the instruction but those named: promises about ranges, aliases and
    /// loops that the optimiser would build on.
    pub fn strip_remarks(&self, instruction: Instruction<'m>, but: &[&str]) {
        // SAFETY: known to be an instruction; LLVM hands over the list, which is freed.
        unsafe {
            if LLVMHasMetadata(instruction.0.raw) == 0 {
                return;
            }
            let mut count = 0;
            let entries =
                LLVMInstructionGetAllMetadataOtherThanDebugLoc(instruction.0.raw, &mut count);
            let kept: Vec<u32> = but.iter().map(|name| self.metadata_kind(name)).collect();
            for entry in 0..count as u32 {
                let kind = LLVMValueMetadataEntriesGetKind(entries, entry);
                if !kept.contains(&kind) {
                    LLVMSetMetadata(instruction.0.raw, kind, std::ptr::null_mut());
                }
            }
            LLVMDisposeValueMetadataEntries(entries);
        }
    }

    /// Takes away the promises by which an instruction has no defined result for some operands (`nsw`,
    /// `nuw`, `exact`, `inbounds`, `nneg`, `disjoint`). For those of fast floating point see
    /// [`crate::Builder::strict`].
    pub fn clear_promises(&self, instruction: Instruction<'m>) {
        use Opcode::*;
        let raw = instruction.0.raw;
        // SAFETY: each flag is set on the kinds of instructions that have it.
        unsafe {
            match instruction.opcode() {
                LLVMAdd | LLVMSub | LLVMMul | LLVMShl => {
                    LLVMSetNSW(raw, 0);
                    LLVMSetNUW(raw, 0);
                }
                LLVMTrunc => {
                    LLVMSetNSW(raw, 0);
                    LLVMSetNUW(raw, 0);
                }
                LLVMUDiv | LLVMSDiv | LLVMLShr | LLVMAShr => LLVMSetExact(raw, 0),
                LLVMOr => LLVMSetIsDisjoint(raw, 0),
                LLVMZExt | LLVMUIToFP => LLVMSetNNeg(raw, 0),
                LLVMGetElementPtr => LLVMGEPSetNoWrapFlags(raw, 0),
                _ => {}
            }
        }
    }

    /// Sets the alignment of a variable, or of a load or store.
    pub fn set_alignment(&self, value: Value<'m>, bytes: u32) {
        use Opcode::*;
        let fits = match value.as_instruction() {
            Some(i) => matches!(i.opcode(), LLVMAlloca | LLVMLoad | LLVMStore),
            None => value.as_global().is_some(),
        };
        assert!(fits && bytes.is_power_of_two());
        // SAFETY: checked to have an alignment.
        unsafe { LLVMSetAlignment(value.raw, bytes) };
    }

    /// The alignment of a variable, or of a load or store; 0 for others.
    pub fn alignment(&self, value: Value<'m>) -> u32 {
        use Opcode::*;
        let fits = match value.as_instruction() {
            Some(i) => matches!(i.opcode(), LLVMAlloca | LLVMLoad | LLVMStore),
            None => value.as_global().is_some(),
        };
        if fits {
            // SAFETY: checked to have an alignment.
            unsafe { LLVMGetAlignment(value.raw) }
        } else {
            0
        }
    }

    /// Every execution of this load or store is to happen.
    pub fn set_volatile(&self, instruction: Instruction<'m>) {
        assert!(matches!(
            instruction.opcode(),
            Opcode::LLVMLoad | Opcode::LLVMStore
        ));
        // SAFETY: checked to be a load or store.
        unsafe { LLVMSetVolatile(instruction.0.raw, 1) };
    }

    // ---- attributes

    /// Adds an attribute that has no argument.
    pub fn add_attribute(&self, function: Function<'m>, name: &str) {
        let kind = attribute_kind(name);
        assert!(kind != 0, "an attribute of LLVM");
        // SAFETY: known to be a function; the kind comes from LLVM.
        unsafe {
            let attribute = LLVMCreateEnumAttribute(self.context, kind, 0);
            LLVMAddAttributeAtIndex(function.0.raw, AttributeAt::Function.index(), attribute);
        }
    }

    /// Adds an attribute that is a text.
    pub fn add_text_attribute(&self, function: Function<'m>, name: &str, value: &str) {
        // SAFETY: known to be a function; both texts are passed with their lengths.
        unsafe {
            let attribute = LLVMCreateStringAttribute(
                self.context,
                name.as_ptr().cast(),
                name.len() as u32,
                value.as_ptr().cast(),
                value.len() as u32,
            );
            LLVMAddAttributeAtIndex(function.0.raw, AttributeAt::Function.index(), attribute);
        }
    }

    /// LLVM's numbers of attributes; names that it does not know are left out.
    pub fn attribute_kinds(&self, names: &[&str]) -> AttributeKinds {
        let kinds = names.iter().map(|name| attribute_kind(name));
        AttributeKinds(kinds.filter(|&kind| kind != 0).collect())
    }

    /// Takes attributes off a function or call: off itself, its result, and its parameters.
    pub fn strip_attributes(&self, value: Value<'m>, kinds: &AttributeKinds) {
        let function = value.as_function();
        let call = value.as_instruction().filter(|i| i.is_call());
        let parameters = match (function, call) {
            (Some(function), _) => function.parameters().len(),
            (_, Some(call)) => call.arguments().len(),
            _ => return,
        } as u32;
        let places = [AttributeAt::Function, AttributeAt::Return]
            .into_iter()
            .chain((0..parameters).map(AttributeAt::Parameter));
        for at in places.map(AttributeAt::index) {
            // SAFETY: checked to be a function or a call; the array has room for all attributes.
            unsafe {
                let (raw, of_function) = (value.raw, function.is_some());
                let count = if of_function {
                    LLVMGetAttributeCountAtIndex(raw, at)
                } else {
                    LLVMGetCallSiteAttributeCount(raw, at)
                };
                let mut found = vec![std::ptr::null_mut(); count as usize];
                if of_function {
                    LLVMGetAttributesAtIndex(raw, at, found.as_mut_ptr());
                } else {
                    LLVMGetCallSiteAttributes(raw, at, found.as_mut_ptr());
                }
                for attribute in found {
                    if LLVMIsStringAttribute(attribute) != 0 {
                        continue;
                    }
                    let kind = LLVMGetEnumAttributeKind(attribute);
                    if !kinds.0.contains(&kind) {
                        continue;
                    }
                    if of_function {
                        LLVMRemoveEnumAttributeAtIndex(raw, at, kind);
                    } else {
                        LLVMRemoveCallSiteEnumAttribute(raw, at, kind);
                    }
                }
            }
        }
    }
}
