//! Debug metadata: source locations, names and types of the source program.
//!
//! LLVM's C API has accessors for few of the fields, but it hands out the operands of every node.
//! The positions used here are those of LLVM 19's `DebugInfoMetadata.h`.

use std::marker::PhantomData;

use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;

use crate::string_from;
use crate::value::Value;

/// A node of metadata.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Metadata<'m> {
    raw: LLVMMetadataRef,
    /// Needed to look at operands.
    context: LLVMContextRef,
    module: PhantomData<&'m ()>,
}

/// A place in the source.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Location<'m> {
    /// The line, from 1; 0 for code that the compiler made up.
    pub line: u32,
    /// The column, from 1; 0 if unknown.
    pub column: u32,
    /// The scope; its [`Metadata::file`] is the file.
    pub scope: Metadata<'m>,
}

/// The kinds of nodes that the lifter follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// A number type.
    Basic,
    /// A structure or class.
    Structure,
    /// A union.
    Union,
    /// An array.
    Array,
    /// An enumeration.
    Enumeration,
    /// A field of a structure.
    Member,
    /// A `typedef`.
    Typedef,
    /// A pointer, qualifier or other type made from one base type.
    Derived,
    /// A function type.
    Subroutine,
    /// A local variable or parameter.
    LocalVariable,
    /// A global variable.
    GlobalVariable,
    /// A function.
    Subprogram,
    /// Anything else.
    Other,
}

impl<'m> Metadata<'m> {
    pub(crate) fn wrap(raw: LLVMMetadataRef, context: LLVMContextRef) -> Option<Self> {
        (!raw.is_null()).then_some(Self {
            raw,
            context,
            module: PhantomData,
        })
    }

    fn kind(self) -> LLVMMetadataKind {
        // SAFETY: `raw` is live metadata.
        unsafe { LLVMGetMetadataKind(self.raw) }
    }

    /// What the node describes.
    pub fn tag(self) -> Tag {
        // SAFETY: tags are asked only of nodes that are DINodes.
        let dwarf = || unsafe { LLVMGetDINodeTag(self.raw) };
        match self.kind() {
            LLVMMetadataKind::LLVMDIBasicTypeMetadataKind => Tag::Basic,
            LLVMMetadataKind::LLVMDISubroutineTypeMetadataKind => Tag::Subroutine,
            LLVMMetadataKind::LLVMDILocalVariableMetadataKind => Tag::LocalVariable,
            LLVMMetadataKind::LLVMDIGlobalVariableMetadataKind => Tag::GlobalVariable,
            LLVMMetadataKind::LLVMDISubprogramMetadataKind => Tag::Subprogram,
            LLVMMetadataKind::LLVMDICompositeTypeMetadataKind => match dwarf() {
                0x01 => Tag::Array,
                0x04 => Tag::Enumeration,
                0x17 => Tag::Union,
                0x02 | 0x13 => Tag::Structure,
                _ => Tag::Other,
            },
            LLVMMetadataKind::LLVMDIDerivedTypeMetadataKind => match dwarf() {
                0x0d => Tag::Member,
                0x16 => Tag::Typedef,
                _ => Tag::Derived,
            },
            _ => Tag::Other,
        }
    }

    fn is_type(self) -> bool {
        matches!(
            self.kind(),
            LLVMMetadataKind::LLVMDIBasicTypeMetadataKind
                | LLVMMetadataKind::LLVMDISubroutineTypeMetadataKind
                | LLVMMetadataKind::LLVMDICompositeTypeMetadataKind
                | LLVMMetadataKind::LLVMDIDerivedTypeMetadataKind
        )
    }

    fn is_node(self) -> bool {
        !matches!(
            self.kind(),
            LLVMMetadataKind::LLVMMDStringMetadataKind
                | LLVMMetadataKind::LLVMConstantAsMetadataMetadataKind
                | LLVMMetadataKind::LLVMLocalAsMetadataMetadataKind
                | LLVMMetadataKind::LLVMDIArgListMetadataKind
        )
    }

    /// The operands of a node; absent ones are `None`.
    pub fn operands(self) -> Vec<Option<Metadata<'m>>> {
        if !self.is_node() {
            return Vec::new();
        }
        // SAFETY: only nodes get here; the array has room for all operands; operands are null or
        // values of the same context.
        unsafe {
            let value = LLVMMetadataAsValue(self.context, self.raw);
            let mut values = vec![std::ptr::null_mut(); LLVMGetMDNodeNumOperands(value) as usize];
            LLVMGetMDNodeOperands(value, values.as_mut_ptr());
            let wrap = |value: LLVMValueRef| {
                (!value.is_null())
                    .then(|| Metadata::wrap(LLVMValueAsMetadata(value), self.context))?
            };
            values.into_iter().map(wrap).collect()
        }
    }

    fn operand(self, index: usize) -> Option<Metadata<'m>> {
        self.operands().get(index).copied().flatten()
    }

    fn text(self) -> Option<String> {
        if !matches!(self.kind(), LLVMMetadataKind::LLVMMDStringMetadataKind) {
            return None;
        }
        let mut len = 0;
        // SAFETY: a metadata string; LLVM sets `len` to its length.
        unsafe {
            let data = LLVMGetMDString(LLVMMetadataAsValue(self.context, self.raw), &mut len);
            Some(string_from(data, len as usize))
        }
    }

    /// The name in the source; `None` if the thing has none.
    pub fn name(self) -> Option<String> {
        let index = match self.tag() {
            Tag::LocalVariable | Tag::GlobalVariable => 1,
            Tag::Other => return None,
            _ => 2,
        };
        self.operand(index)?.text().filter(|name| !name.is_empty())
    }

    /// The type of a variable or member, or what a derived type is made from.
    pub fn base_type(self) -> Option<Metadata<'m>> {
        match self.tag() {
            Tag::LocalVariable
            | Tag::GlobalVariable
            | Tag::Member
            | Tag::Typedef
            | Tag::Derived
            | Tag::Array => self.operand(3),
            Tag::Subprogram => self.operand(4),
            _ => None,
        }
    }

    /// The members of a structure or union, or the types of a subroutine.
    pub fn elements(self) -> Vec<Metadata<'m>> {
        let list = match self.tag() {
            Tag::Structure | Tag::Union => self.operand(4),
            Tag::Subroutine => self.operand(3),
            _ => None,
        };
        list.map(|list| list.operands().into_iter().flatten().collect())
            .unwrap_or_default()
    }

    /// Size of a type or member, in bits.
    pub fn size_in_bits(self) -> u64 {
        if !self.is_type() {
            return 0;
        }
        // SAFETY: asked only of types.
        unsafe { LLVMDITypeGetSizeInBits(self.raw) }
    }

    /// Where a member starts in its structure, in bits.
    pub fn offset_in_bits(self) -> u64 {
        if !self.is_type() {
            return 0;
        }
        // SAFETY: asked only of types.
        unsafe { LLVMDITypeGetOffsetInBits(self.raw) }
    }

    /// The line of a variable, function or type; 0 if unknown.
    pub fn line(self) -> u32 {
        // SAFETY: each accessor is called on the kind of node that it is for.
        unsafe {
            match self.tag() {
                Tag::LocalVariable | Tag::GlobalVariable => LLVMDIVariableGetLine(self.raw),
                Tag::Subprogram => LLVMDISubprogramGetLine(self.raw),
                _ if self.is_type() => LLVMDITypeGetLine(self.raw),
                _ => 0,
            }
        }
    }

    /// The file of a scope, variable or type, as (directory, name).
    pub fn file(self) -> Option<(String, String)> {
        // SAFETY: each accessor is called on the kind of node that it is for; the texts belong to
        // LLVM and are copied.
        unsafe {
            let file = match self.kind() {
                LLVMMetadataKind::LLVMDILocalVariableMetadataKind
                | LLVMMetadataKind::LLVMDIGlobalVariableMetadataKind => {
                    LLVMDIVariableGetFile(self.raw)
                }
                LLVMMetadataKind::LLVMDISubprogramMetadataKind
                | LLVMMetadataKind::LLVMDILexicalBlockMetadataKind
                | LLVMMetadataKind::LLVMDILexicalBlockFileMetadataKind
                | LLVMMetadataKind::LLVMDICompileUnitMetadataKind
                | LLVMMetadataKind::LLVMDICompositeTypeMetadataKind
                | LLVMMetadataKind::LLVMDIDerivedTypeMetadataKind => LLVMDIScopeGetFile(self.raw),
                _ => return None,
            };
            if file.is_null() {
                return None;
            }
            let mut len = 0;
            let directory = LLVMDIFileGetDirectory(file, &mut len);
            let directory = string_from(directory, len as usize);
            let name = LLVMDIFileGetFilename(file, &mut len);
            Some((directory, string_from(name, len as usize)))
        }
    }
}

/// The location behind an instruction's debug location, through inlining to where it stands.
pub(crate) fn location_of<'m>(
    raw: LLVMMetadataRef,
    context: LLVMContextRef,
) -> Option<Location<'m>> {
    if raw.is_null() {
        return None;
    }
    // SAFETY: instructions carry only DILocations as their debug location.
    unsafe {
        Some(Location {
            line: LLVMDILocationGetLine(raw),
            column: LLVMDILocationGetColumn(raw),
            scope: Metadata::wrap(LLVMDILocationGetScope(raw), context)?,
        })
    }
}

/// The metadata behind a metadata operand of an intrinsic call.
pub(crate) fn metadata_operand<'m>(value: Value<'m>) -> Option<Metadata<'m>> {
    value.is_metadata().then(|| {
        // SAFETY: checked to be metadata used as a value.
        Metadata::wrap(unsafe { LLVMValueAsMetadata(value.raw) }, value.context())
    })?
}
