//! Asks the compiler about a mutant: whether it compiles, and whether it is another program at
//! all.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::Mutant;
use crate::error::{Error, Result};
use crate::native::CLANG;
use crate::process::{Finished, finish, shown};

/// What the compiler thinks of a mutant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It compiles to other code.
    Alive,
    /// It does not compile, or certainly reads a variable that was never set: what that does is
    /// up to chance, and says nothing about a tool that looks for causes.
    DoesNotCompile,
    /// It compiles to the same code as the original.
    Equivalent,
}

const LIMIT: Duration = Duration::from_secs(60);

/// The compiler with the assembly of one original file.
pub(super) struct Judge<'a> {
    dir: PathBuf,
    flags: &'a [String],
    source: &'a str,
    original: Vec<u8>,
}

impl<'a> Judge<'a> {
    /// Compiles the original, which stands in `file`.
    pub(super) fn new(file: &Path, source: &'a str, flags: &'a [String]) -> Result<Self> {
        let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty());
        let dir = dir.unwrap_or(Path::new(".")).to_owned();
        let mut judge = Self {
            dir,
            flags,
            source,
            original: Vec::new(),
        };
        let (ended, command) = judge.compile(source)?;
        if !ended.status.success() {
            let log = ended.log();
            return Err(Error::Build {
                version: file.to_owned(),
                command,
                log,
            });
        }
        judge.original = ended.stdout;
        Ok(judge)
    }

    pub(super) fn fate(&self, mutant: &Mutant) -> Result<Fate> {
        let (ended, _) = self.compile(&mutant.apply(self.source))?;
        Ok(match ended.status.success() {
            false => Fate::DoesNotCompile,
            true if ended.stdout == self.original => Fate::Equivalent,
            true => Fate::Alive,
        })
    }

    /// The text goes through a pipe, so that the file's name, which is in the assembly and
    /// perhaps in messages of `assert`, is the same for all.
    fn compile(&self, source: &str) -> Result<(Finished, String)> {
        let mut command = Command::new(CLANG);
        command
            .args(["-O1", "-S", "-g0", "-std=gnu11", "-x", "c", "-iquote"])
            .arg(&self.dir);
        command.args(["-Werror=uninitialized", "-Werror=sometimes-uninitialized"]);
        command.args(self.flags).args(["-o", "-", "-"]);
        let ended = finish(&mut command, source.as_bytes(), LIMIT)?;
        Ok((ended, shown(&command)))
    }
}
