//! A safe view of LLVM 19 modules, and a safe way to change them.
//!
//! This is the only crate that calls LLVM. It knows nothing of programs, versions or changes: it
//! loads bitcode and lets the caller walk over functions, blocks, instructions, constants, types
//! and debug metadata. Handles borrow from their [`Module`], so none can outlive it, and every
//! accessor first checks that the handle is of the kind that LLVM's C API silently requires.
//!
//! Start at [`Module::load`]; to change a module, go on with [`Module::edit`], and to make code of
//! it, with [`Module::run_passes`] and [`Module::emit_object`].

mod builder;
mod edit;
mod inspect;
mod metadata;
mod module;
mod transform;
mod types;
mod value;

pub use builder::{Binary, Builder, Cast};
pub use edit::{AttributeKinds, Editor, Visibility};
pub use inspect::{AttributeAt, FloatPredicate};
pub use metadata::{Location, Metadata, Tag};
pub use module::{Context, LoadError, Module};
pub use transform::{Effort, Machine, TransformError};
pub use types::{FloatKind, Type, TypeKind};
pub use value::{
    Block, Constant, Function, Global, Instruction, IntPredicate, Linkage, Opcode, Value, ValueKind,
};

use std::ffi::{CStr, c_char};

/// Copies `len` bytes at `data` into a string; LLVM's names are not always UTF-8.
///
/// # Safety
/// `data` must be null or point to `len` readable bytes.
unsafe fn string_from(data: *const c_char, len: usize) -> String {
    if data.is_null() || len == 0 {
        return String::new();
    }
    // SAFETY: the caller promises `len` readable bytes.
    let bytes = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), len) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// Copies a message that LLVM allocated, and frees it.
///
/// # Safety
/// `message` must be null or a message that LLVM handed over to its caller.
unsafe fn take_message(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: not null, and LLVM's messages end in NUL.
    let text = unsafe { CStr::from_ptr(message) }
        .to_string_lossy()
        .into_owned();
    // SAFETY: the caller owns the message, and it is not used after this.
    unsafe { llvm_sys::core::LLVMDisposeMessage(message) };
    text
}
