//! Where the compiler, the linker and the LLVM tools are.
//!
//! Nothing is started to find out: names are looked up in `PATH` and then where distributions
//! put LLVM. Whether a tool works is for `beagle doctor` to say.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::BuildError;

/// The one major version of LLVM whose bitcode all parts of Beagle agree on.
pub(crate) const LLVM_MAJOR: u32 = 19;

/// The programs that building needs, each as an absolute path.
#[derive(Debug, Clone)]
pub struct Tools {
    /// The C compiler.
    pub clang: PathBuf,
    /// The C++ compiler.
    pub clangxx: PathBuf,
    /// The linker that makes whole-program bitcode.
    pub lld: PathBuf,
    /// Merges the modules of partial links.
    pub llvm_link: PathBuf,
}

impl Tools {
    /// Finds all of them, or says which one is missing.
    pub fn find() -> Result<Self, BuildError> {
        Ok(Self {
            clang: llvm_tool("clang")?,
            clangxx: llvm_tool("clang++")?,
            lld: llvm_tool("ld.lld")?,
            llvm_link: llvm_tool("llvm-link")?,
        })
    }

    /// A text that changes when one of the tools is replaced, for cache keys.
    pub(crate) fn identity(&self) -> String {
        [&self.clang, &self.clangxx, &self.lld, &self.llvm_link]
            .map(|path| file_identity(path))
            .join("\n")
    }
}

/// Size and time of a program: cheaper than asking for its version, and changes with it.
pub(crate) fn file_identity(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let stamp = path.metadata().ok().map(|data| {
        let time = data
            .modified()
            .ok()
            .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        (data.len(), time)
    });
    format!("{} {stamp:?}", path.display())
}

/// An LLVM tool: `NAME-19` in `PATH`, or `NAME` in the directory of that version.
fn llvm_tool(name: &str) -> Result<PathBuf, BuildError> {
    let versioned = format!("{name}-{LLVM_MAJOR}");
    let own_directory = PathBuf::from(format!("/usr/lib/llvm-{LLVM_MAJOR}/bin/{name}"));
    in_path(&versioned)
        .or_else(|| is_executable(&own_directory).then_some(own_directory))
        .ok_or(BuildError::ToolMissing { name: versioned })
}

/// The first executable of that name in `PATH`.
pub(crate) fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(name))
        .find(|file| is_executable(file))
}

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}
