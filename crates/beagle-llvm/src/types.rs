//! LLVM types.

use std::ffi::CStr;
use std::marker::PhantomData;

use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::{LLVMABISizeOfType, LLVMOffsetOfElement};

use crate::Module;

/// A type of a module.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Type<'m> {
    pub(crate) raw: LLVMTypeRef,
    module: PhantomData<&'m ()>,
}

/// Formats of floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are the formats")]
pub enum FloatKind {
    Half,
    BFloat,
    Float,
    Double,
    X86Fp80,
    Fp128,
    PpcFp128,
}

/// What a type is made of.
pub enum TypeKind<'m> {
    /// No value.
    Void,
    /// An integer of that many bits.
    Int(u32),
    /// A floating-point number.
    Float(FloatKind),
    /// A pointer; LLVM 19 does not say to what.
    Pointer,
    /// So many elements of one type.
    Array(u64, Type<'m>),
    /// A SIMD vector.
    Vector(u32, Type<'m>),
    /// A structure: its name if it has one, and its fields (none if opaque).
    Struct(Option<String>, Vec<Type<'m>>),
    /// A function: result, parameters, whether more arguments may follow.
    Function(Type<'m>, Vec<Type<'m>>, bool),
    /// Labels, metadata, tokens, target types: never the type of a C value.
    Other,
}

impl<'m> Type<'m> {
    pub(crate) fn wrap(raw: LLVMTypeRef) -> Self {
        Self {
            raw,
            module: PhantomData,
        }
    }

    /// Takes the type apart.
    pub fn kind(self) -> TypeKind<'m> {
        // SAFETY: `raw` is a live type, and each call below fits the kind that was asked for.
        unsafe {
            match LLVMGetTypeKind(self.raw) {
                LLVMTypeKind::LLVMVoidTypeKind => TypeKind::Void,
                LLVMTypeKind::LLVMIntegerTypeKind => TypeKind::Int(LLVMGetIntTypeWidth(self.raw)),
                LLVMTypeKind::LLVMHalfTypeKind => TypeKind::Float(FloatKind::Half),
                LLVMTypeKind::LLVMBFloatTypeKind => TypeKind::Float(FloatKind::BFloat),
                LLVMTypeKind::LLVMFloatTypeKind => TypeKind::Float(FloatKind::Float),
                LLVMTypeKind::LLVMDoubleTypeKind => TypeKind::Float(FloatKind::Double),
                LLVMTypeKind::LLVMX86_FP80TypeKind => TypeKind::Float(FloatKind::X86Fp80),
                LLVMTypeKind::LLVMFP128TypeKind => TypeKind::Float(FloatKind::Fp128),
                LLVMTypeKind::LLVMPPC_FP128TypeKind => TypeKind::Float(FloatKind::PpcFp128),
                LLVMTypeKind::LLVMPointerTypeKind => TypeKind::Pointer,
                LLVMTypeKind::LLVMArrayTypeKind => TypeKind::Array(
                    LLVMGetArrayLength2(self.raw),
                    Type::wrap(LLVMGetElementType(self.raw)),
                ),
                LLVMTypeKind::LLVMVectorTypeKind => TypeKind::Vector(
                    LLVMGetVectorSize(self.raw),
                    Type::wrap(LLVMGetElementType(self.raw)),
                ),
                LLVMTypeKind::LLVMStructTypeKind => TypeKind::Struct(self.name(), self.fields()),
                LLVMTypeKind::LLVMFunctionTypeKind => {
                    let mut params =
                        vec![std::ptr::null_mut(); LLVMCountParamTypes(self.raw) as usize];
                    LLVMGetParamTypes(self.raw, params.as_mut_ptr());
                    TypeKind::Function(
                        Type::wrap(LLVMGetReturnType(self.raw)),
                        params.into_iter().map(Type::wrap).collect(),
                        LLVMIsFunctionVarArg(self.raw) != 0,
                    )
                }
                _ => TypeKind::Other,
            }
        }
    }

    /// The name of a structure type. To be called on structures only.
    unsafe fn name(self) -> Option<String> {
        // SAFETY: the caller has checked that this is a structure; literal ones have no name.
        let name = unsafe { LLVMGetStructName(self.raw) };
        if name.is_null() {
            return None;
        }
        // SAFETY: not null, and LLVM ends names in NUL.
        Some(
            unsafe { CStr::from_ptr(name) }
                .to_string_lossy()
                .into_owned(),
        )
    }

    /// The fields of a structure type. To be called on structures only.
    unsafe fn fields(self) -> Vec<Type<'m>> {
        // SAFETY: the caller has checked that this is a structure; opaque ones count no field.
        let count = unsafe { LLVMCountStructElementTypes(self.raw) };
        let mut fields = vec![std::ptr::null_mut(); count as usize];
        // SAFETY: the array has room for all fields.
        unsafe { LLVMGetStructElementTypes(self.raw, fields.as_mut_ptr()) };
        fields.into_iter().map(Type::wrap).collect()
    }

    /// The size in bytes with padding, if values of this type have one.
    pub fn size(self, module: &'m Module) -> Option<u64> {
        // SAFETY: the layout belongs to a live module, and only sized types are asked for a size.
        unsafe {
            (LLVMTypeIsSized(self.raw) != 0).then(|| LLVMABISizeOfType(module.layout(), self.raw))
        }
    }

    /// Where field `index` of a structure starts, in bytes.
    pub fn field_offset(self, module: &'m Module, index: u32) -> Option<u64> {
        let TypeKind::Struct(_, fields) = self.kind() else {
            return None;
        };
        self.size(module)?;
        // SAFETY: a sized structure, and the index is checked.
        ((index as usize) < fields.len())
            .then(|| unsafe { LLVMOffsetOfElement(module.layout(), self.raw, index) })
    }
}
