//! What is done to a module as a whole: joining, checking, optimising, and writing it out.

use std::ffi::CString;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Once;

use llvm_sys::LLVMModuleFlagBehavior;
use llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyModule};
use llvm_sys::bit_reader::LLVMParseBitcodeInContext2;
use llvm_sys::bit_writer::LLVMWriteBitcodeToFile;
use llvm_sys::core::*;
use llvm_sys::debuginfo::LLVMStripModuleDebugInfo;
use llvm_sys::error::LLVMGetErrorMessage;
use llvm_sys::linker::LLVMLinkModules2;
use llvm_sys::target::*;
use llvm_sys::target_machine::*;
use llvm_sys::transforms::pass_builder::*;

use crate::module::Module;
use crate::take_message;

/// Why a module could not be changed or written.
#[derive(Debug, thiserror::Error)]
pub enum TransformError {
    /// The module is not what LLVM accepts; a mistake of whoever changed it.
    #[error("LLVM finds the changed module broken: {0}")]
    Broken(String),
    /// Bitcode to be added could not be read.
    #[error("the bitcode to be linked in cannot be read: {0}")]
    NotBitcode(String),
    /// Two modules do not fit together.
    #[error("the modules cannot be linked: {0}")]
    Link(String),
    /// The list of passes is wrong.
    #[error("cannot run the passes `{passes}`: {message}")]
    Passes {
        /// The passes.
        passes: String,
        /// What LLVM says.
        message: String,
    },
    /// This LLVM does not know the machine that the module is for.
    #[error("LLVM cannot make code for `{triple}`: {message}")]
    Target {
        /// The machine.
        triple: String,
        /// What LLVM says.
        message: String,
    },
    /// A file could not be written.
    #[error("cannot write {}: {message}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What LLVM says.
        message: String,
    },
}

/// How much work goes into better code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Hardly any.
    None,
    /// A little.
    Less,
    /// As usual.
    Default,
}

/// What code is made for.
pub struct Machine {
    raw: LLVMTargetMachineRef,
}

impl Drop for Machine {
    fn drop(&mut self) {
        // SAFETY: made in `Machine::new` and used no more.
        unsafe { LLVMDisposeTargetMachine(self.raw) };
    }
}

static TARGETS: Once = Once::new();

impl Machine {
    /// The machine that the module was compiled for; code can be loaded anywhere in memory.
    pub fn new(module: &Module, effort: Effort) -> Result<Self, TransformError> {
        TARGETS.call_once(|| {
            // SAFETY: called once; Beagle's shadow memory is made for this machine only.
            unsafe {
                LLVMInitializeX86TargetInfo();
                LLVMInitializeX86Target();
                LLVMInitializeX86TargetMC();
                LLVMInitializeX86AsmPrinter();
                LLVMInitializeX86AsmParser();
            }
        });
        let level = match effort {
            Effort::None => LLVMCodeGenOptLevel::LLVMCodeGenLevelNone,
            Effort::Less => LLVMCodeGenOptLevel::LLVMCodeGenLevelLess,
            Effort::Default => LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
        };
        // SAFETY: the triple is LLVM's own text; target and options are live until disposed of.
        unsafe {
            let triple = LLVMGetTarget(module.raw);
            let (mut target, mut message) = (ptr::null_mut(), ptr::null_mut());
            if LLVMGetTargetFromTriple(triple, &mut target, &mut message) != 0 {
                return Err(TransformError::Target {
                    triple: crate::string_from(triple, libc_len(triple)),
                    message: take_message(message),
                });
            }
            let options = LLVMCreateTargetMachineOptions();
            LLVMTargetMachineOptionsSetCodeGenOptLevel(options, level);
            LLVMTargetMachineOptionsSetRelocMode(options, LLVMRelocMode::LLVMRelocPIC);
            let raw = LLVMCreateTargetMachineWithOptions(target, triple, options);
            LLVMDisposeTargetMachineOptions(options);
            Ok(Self { raw })
        }
    }
}

/// The length of a text that ends in NUL.
///
/// # Safety
/// `text` must be null or end in NUL.
unsafe fn libc_len(text: *const std::ffi::c_char) -> usize {
    if text.is_null() {
        return 0;
    }
    // SAFETY: the caller promises that it ends in NUL.
    unsafe { std::ffi::CStr::from_ptr(text) }.to_bytes().len()
}

impl Module<'_> {
    /// The machine it was compiled for, such as `x86_64-pc-linux-gnu`.
    pub fn triple(&self) -> String {
        // SAFETY: LLVM's own text.
        unsafe {
            let triple = LLVMGetTarget(self.raw);
            crate::string_from(triple, libc_len(triple))
        }
    }

    /// Adds the content of another module. `prepare` sees that module before it is added.
    pub fn link(
        &mut self,
        bitcode: &[u8],
        prepare: impl FnOnce(&mut Module<'_>),
    ) -> Result<(), TransformError> {
        // SAFETY: the module is live, and so is its context.
        let context = unsafe { LLVMGetModuleContext(self.raw) };
        // SAFETY: set in `Context::new` to a vector that lives as long as the context, which is
        // mutably borrowed for as long as the module lives.
        let diagnostics =
            unsafe { &mut *LLVMContextGetDiagnosticContext(context).cast::<Vec<String>>() };
        diagnostics.clear();
        let mut raw = ptr::null_mut();
        // SAFETY: the buffer is a copy, and freed when the parser is done with it.
        let failed = unsafe {
            let (data, len) = (bitcode.as_ptr().cast(), bitcode.len());
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(data, len, c"linked".as_ptr());
            let failed = LLVMParseBitcodeInContext2(context, buffer, &mut raw);
            LLVMDisposeMemoryBuffer(buffer);
            failed
        };
        if failed != 0 {
            return Err(TransformError::NotBitcode(diagnostics.join("; ")));
        }
        // SAFETY: the module just made, in the form that all modules here have.
        unsafe { LLVMSetIsNewDbgInfoFormat(raw, 0) };
        let mut other = Module {
            raw,
            context: PhantomData,
        };
        prepare(&mut other);
        std::mem::forget(other);
        // SAFETY: both modules are in one context; linking takes the second one over.
        if unsafe { LLVMLinkModules2(self.raw, raw) } != 0 {
            return Err(TransformError::Link(diagnostics.join("; ")));
        }
        Ok(())
    }

    /// Whether LLVM accepts the module.
    pub fn verify(&self) -> Result<(), TransformError> {
        let mut message = ptr::null_mut();
        let action = LLVMVerifierFailureAction::LLVMReturnStatusAction;
        // SAFETY: the module is live, and the message is handed over.
        unsafe {
            let broken = LLVMVerifyModule(self.raw, action, &mut message) != 0;
            let message = take_message(message);
            if broken {
                return Err(TransformError::Broken(message));
            }
        }
        Ok(())
    }

    /// Removes all debug information.
    pub fn strip_debug(&mut self) {
        // SAFETY: the module is live, and no handle into it is.
        unsafe { LLVMStripModuleDebugInfo(self.raw) };
    }

    /// Sets a flag of the module unless it has it, such as `PIC Level`.
    pub fn set_flag(&mut self, name: &str, value: u32) {
        // SAFETY: the module is live; the name is passed with its length.
        unsafe {
            let (key, len) = (name.as_ptr().cast(), name.len());
            if !LLVMGetModuleFlag(self.raw, key, len).is_null() {
                return;
            }
            let context = LLVMGetModuleContext(self.raw);
            let number = LLVMConstInt(LLVMInt32TypeInContext(context), value.into(), 0);
            let behaviour = LLVMModuleFlagBehavior::LLVMModuleFlagBehaviorOverride;
            LLVMAddModuleFlag(self.raw, behaviour, key, len, LLVMValueAsMetadata(number));
        }
    }

    /// Runs passes, given as for `opt -passes=`. With a machine they know what its instructions cost.
    pub fn run_passes(
        &mut self,
        passes: &str,
        machine: Option<&Machine>,
    ) -> Result<(), TransformError> {
        let wrong = |message: String| TransformError::Passes {
            passes: passes.to_owned(),
            message,
        };
        let text = CString::new(passes).map_err(|_| wrong("a NUL byte".to_owned()))?;
        let machine = machine.map_or(ptr::null_mut(), |machine| machine.raw);
        // SAFETY: module and machine are live; no handle into the module is; an error is handed
        // over with its message.
        unsafe {
            let options = LLVMCreatePassBuilderOptions();
            // Code with shadows does not vectorise; looking for it costs time.
            LLVMPassBuilderOptionsSetLoopVectorization(options, 0);
            LLVMPassBuilderOptionsSetSLPVectorization(options, 0);
            LLVMPassBuilderOptionsSetLoopUnrolling(options, 0);
            LLVMPassBuilderOptionsSetLoopInterleaving(options, 0);
            let error = LLVMRunPasses(self.raw, text.as_ptr(), machine, options);
            LLVMDisposePassBuilderOptions(options);
            if !error.is_null() {
                let message = LLVMGetErrorMessage(error);
                let text = crate::string_from(message, libc_len(message));
                llvm_sys::error::LLVMDisposeErrorMessage(message);
                return Err(wrong(text));
            }
        }
        Ok(())
    }

    /// Writes an object file.
    pub fn emit_object(&mut self, machine: &Machine, path: &Path) -> Result<(), TransformError> {
        let failed = |message: String| TransformError::Write {
            path: path.to_owned(),
            message,
        };
        let name = path_text(path).ok_or_else(|| failed("a NUL byte in the path".to_owned()))?;
        let mut message = ptr::null_mut();
        let kind = LLVMCodeGenFileType::LLVMObjectFile;
        // SAFETY: module and machine are live; the name ends in NUL (LLVM only reads it); the message
        // is handed over on failure.
        unsafe {
            let name = name.as_ptr().cast_mut();
            if LLVMTargetMachineEmitToFile(machine.raw, self.raw, name, kind, &mut message) != 0 {
                return Err(failed(take_message(message)));
            }
        }
        Ok(())
    }

    /// Writes bitcode.
    pub fn write_bitcode(&self, path: &Path) -> Result<(), TransformError> {
        let failed = |message: &str| TransformError::Write {
            path: path.to_owned(),
            message: message.to_owned(),
        };
        let name = path_text(path).ok_or_else(|| failed("a NUL byte in the path"))?;
        // SAFETY: the module is live, and the name ends in NUL.
        match unsafe { LLVMWriteBitcodeToFile(self.raw, name.as_ptr()) } {
            0 => Ok(()),
            _ => Err(failed("LLVM could not write the file")),
        }
    }

    /// The module as LLVM prints it.
    pub fn print(&self) -> String {
        // SAFETY: the module is live; the message is handed over.
        unsafe { take_message(LLVMPrintModuleToString(self.raw)) }
    }
}

fn path_text(path: &Path) -> Option<CString> {
    CString::new(path.as_os_str().as_encoded_bytes()).ok()
}
