//! Contexts and modules: loading bitcode, and the lists that a module holds.

use std::ffi::{CString, c_void};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::ptr;

use llvm_sys::LLVMDiagnosticSeverity;
use llvm_sys::bit_reader::LLVMParseBitcodeInContext2;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::LLVMGetModuleDataLayout;

use crate::value::{Function, Global, Value};
use crate::{string_from, take_message};

/// Why a file could not be read as bitcode.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file is missing or unreadable.
    #[error("cannot read {}: {message}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        message: String,
    },
    /// LLVM does not accept the contents.
    #[error("{} is not bitcode that LLVM 19 can read: {message}", path.display())]
    NotBitcode {
        /// The file.
        path: PathBuf,
        /// What LLVM says; it names producer and reader when their versions differ.
        message: String,
    },
}

/// What LLVM needs to own types and constants. One for each module, and so for each thread.
pub struct Context {
    raw: LLVMContextRef,
    /// Errors that LLVM reported.
    #[expect(
        clippy::box_collection,
        reason = "LLVM keeps the address of the vector"
    )]
    diagnostics: Box<Vec<String>>,
}

impl Context {
    /// A fresh context.
    pub fn new() -> Self {
        let mut diagnostics = Box::<Vec<String>>::default();
        // SAFETY: creating a context has no requirement.
        let raw = unsafe { LLVMContextCreate() };
        let sink: *mut Vec<String> = &mut *diagnostics;
        // SAFETY: `sink` lives as long as the context, both being owned by `Self`. Without a
        // handler of our own LLVM would print to standard error and end the process.
        unsafe { LLVMContextSetDiagnosticHandler(raw, Some(collect), sink.cast()) };
        Self { raw, diagnostics }
    }
}

impl Default for Context {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: modules borrow from the context, so none is left.
        unsafe { LLVMContextDispose(self.raw) };
    }
}

/// LLVM's call-back for diagnostics: keeps the errors.
extern "C" fn collect(info: LLVMDiagnosticInfoRef, sink: *mut c_void) {
    // SAFETY: LLVM passes a live diagnostic, and the `Vec` registered in `Context::new`.
    unsafe {
        if LLVMGetDiagInfoSeverity(info) == LLVMDiagnosticSeverity::LLVMDSError {
            let text = take_message(LLVMGetDiagInfoDescription(info));
            (*sink.cast::<Vec<String>>()).push(text);
        }
    }
}

/// A loaded module.
pub struct Module<'c> {
    pub(crate) raw: LLVMModuleRef,
    pub(crate) context: PhantomData<&'c Context>,
}

impl<'c> Module<'c> {
    /// Loads bitcode. Debug variables come as intrinsic calls, whatever form the file has.
    pub fn load(context: &'c mut Context, path: &Path) -> Result<Self, LoadError> {
        let unreadable = |message: String| LoadError::Unreadable {
            path: path.to_owned(),
            message,
        };
        let name = CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(|_| unreadable("the path holds a NUL byte".to_owned()))?;
        let mut buffer = ptr::null_mut();
        let mut message = ptr::null_mut();
        // SAFETY: `name` ends in NUL and the out-pointers are valid.
        let failed = unsafe {
            LLVMCreateMemoryBufferWithContentsOfFile(name.as_ptr(), &mut buffer, &mut message)
        };
        if failed != 0 {
            // SAFETY: on failure LLVM hands over the message.
            return Err(unreadable(unsafe { take_message(message) }));
        }
        context.diagnostics.clear();
        let mut raw = ptr::null_mut();
        // SAFETY: context and buffer are live; the parser only borrows the buffer.
        let failed = unsafe { LLVMParseBitcodeInContext2(context.raw, buffer, &mut raw) };
        // SAFETY: the buffer is ours and no longer used: this reader loads everything at once.
        unsafe { LLVMDisposeMemoryBuffer(buffer) };
        if failed != 0 {
            return Err(LoadError::NotBitcode {
                path: path.to_owned(),
                message: context.diagnostics.join("; "),
            });
        }
        // SAFETY: `raw` is the module just made. The C API of LLVM 19 cannot read debug records,
        // but it can read the intrinsics into which this converts them.
        unsafe { LLVMSetIsNewDbgInfoFormat(raw, 0) };
        Ok(Self {
            raw,
            context: PhantomData,
        })
    }

    /// The functions, declared and defined.
    pub fn functions(&self) -> impl Iterator<Item = Function<'_>> {
        // SAFETY: the module is live, and the handles borrow from it.
        let first = unsafe { LLVMGetFirstFunction(self.raw) };
        walk(first, LLVMGetNextFunction).filter_map(|raw| Value::wrap(raw)?.as_function())
    }

    /// The global variables, declared and defined.
    pub fn globals(&self) -> impl Iterator<Item = Global<'_>> {
        // SAFETY: the module is live, and the handles borrow from it.
        let first = unsafe { LLVMGetFirstGlobal(self.raw) };
        walk(first, LLVMGetNextGlobal).filter_map(|raw| Value::wrap(raw)?.as_global())
    }

    /// The aliases: a second name for a function or variable. Yields (name, aliased value).
    pub fn aliases(&self) -> impl Iterator<Item = (Value<'_>, Value<'_>)> {
        // SAFETY: the module is live, and the handles borrow from it.
        let first = unsafe { LLVMGetFirstGlobalAlias(self.raw) };
        walk(first, LLVMGetNextGlobalAlias).filter_map(|raw| {
            // SAFETY: `raw` is an alias of this module.
            let target = unsafe { LLVMAliasGetAliasee(raw) };
            Some((Value::wrap(raw)?, Value::wrap(target)?))
        })
    }

    /// Assembler text at the top level of the sources, empty if there is none.
    pub fn inline_assembler(&self) -> String {
        let mut len = 0;
        // SAFETY: LLVM returns its own text and sets `len` to its length.
        unsafe { string_from(LLVMGetModuleInlineAsm(self.raw, &mut len), len) }
    }

    pub(crate) fn layout(&self) -> llvm_sys::target::LLVMTargetDataRef {
        // SAFETY: the module is live and owns its layout.
        unsafe { LLVMGetModuleDataLayout(self.raw) }
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: handles borrow from the module, so none is left.
        unsafe { LLVMDisposeModule(self.raw) };
    }
}

/// Follows one of LLVM's linked lists.
fn walk(
    first: LLVMValueRef,
    next: unsafe extern "C" fn(LLVMValueRef) -> LLVMValueRef,
) -> impl Iterator<Item = LLVMValueRef> {
    let some = |raw: LLVMValueRef| (!raw.is_null()).then_some(raw);
    // SAFETY: `next` belongs to the list that `first` comes from.
    std::iter::successors(some(first), move |&raw| some(unsafe { next(raw) }))
}
