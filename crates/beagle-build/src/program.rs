//! Finding the program that a build made, and its bitcode.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::build::{Flavour, Task};
use crate::cache::{Entry, Finished};
use crate::error::Doing;
use crate::{BuildError, Record, bitcode, embed};

/// What a program or shared library carries.
#[derive(Debug, Clone)]
pub struct Carried {
    /// What is known about its link.
    pub record: Record,
    /// The bitcode of all of it, unless that could not be linked.
    pub bitcode: Option<Vec<u8>>,
}

/// Finds the bitcode of a program or shared library that `beagle cc` linked. For a file that
/// was stripped after the link, the copy in `records` is used, the directory that
/// `BEAGLE_RECORD_DIR` named during the build. Scripts of libtool are seen through.
pub fn carried(program: &Path, records: Option<&Path>) -> Option<Carried> {
    let binary = behind_libtool(program).unwrap_or_else(|| program.to_owned());
    if let Some(record) = embed::record(&binary) {
        let bitcode = embed::section(&binary, embed::PROGRAM_BITCODE);
        return Some(Carried { record, bitcode });
    }
    let records = records.filter(|_| embed::is_elf(&binary))?;
    let (record, bitcode) = Record::kept(records, &binary)?;
    Some(Carried {
        record,
        bitcode: std::fs::read(bitcode).ok(),
    })
}

/// A build that has ended.
pub(crate) struct Output<'a> {
    pub task: Task<'a>,
    pub entry: &'a Entry,
    /// Below this the program is looked for.
    pub tree: &'a Path,
    /// Where the links left copies of their records.
    pub records: PathBuf,
}

impl Output<'_> {
    /// Takes the program and its bitcode, and completes the cache entry.
    pub fn finish(&self, program: Option<&Path>) -> Result<Finished, BuildError> {
        let program = self.program(program)?;
        let (record, bitcode) = match self.task.flavour {
            Flavour::Plain => {
                let (record, module) = self.carried(&program)?;
                bitcode::check(&program, &module)?;
                let name = PathBuf::from("program.bc");
                fs_err::write(self.entry.dir.join(&name), module)
                    .doing(|| "write the bitcode".into())?;
                (record, Some(name))
            }
            Flavour::Native | Flavour::Sanitized | Flavour::Recorded => (Record::default(), None),
        };
        let finished = Finished {
            program: program
                .strip_prefix(&self.entry.dir)
                .unwrap_or(&program)
                .to_owned(),
            bitcode,
            record,
        };
        self.entry.finish(&finished)?;
        Ok(finished)
    }

    /// The program: the one that is named, or else the only one.
    pub fn program(&self, named: Option<&Path>) -> Result<PathBuf, BuildError> {
        match named {
            Some(program) => self.named(program),
            None => self.only_one(),
        }
    }

    /// The program that the user named.
    fn named(&self, program: &Path) -> Result<PathBuf, BuildError> {
        let path = self.tree.join(program);
        if path.is_file() {
            return Ok(path);
        }
        Err(BuildError::ProgramMissing {
            label: self.task.label.into(),
            program: Some(program.to_owned()),
            candidates: self.candidates(),
            log: self.entry.log.clone(),
        })
    }

    fn only_one(&self) -> Result<PathBuf, BuildError> {
        let candidates = self.candidates();
        match &candidates[..] {
            [program] => Ok(self.tree.join(program)),
            [] => Err(BuildError::ProgramMissing {
                label: self.task.label.into(),
                program: None,
                candidates,
                log: self.entry.log.clone(),
            }),
            _ => Err(BuildError::ProgramNotSet {
                label: self.task.label.into(),
                candidates,
            }),
        }
    }

    /// The record and the bitcode of a program.
    fn carried(&self, program: &Path) -> Result<(Record, Vec<u8>), BuildError> {
        let reason = match carried(program, Some(&self.records)) {
            Some(Carried {
                record,
                bitcode: Some(module),
            }) => return Ok((record, module)),
            Some(Carried {
                record,
                bitcode: None,
            }) => record.missing.first().map(ToString::to_string),
            None if behind_libtool(program).is_none() && !embed::is_elf(program) => {
                Some("it is not a program but another kind of file".into())
            }
            None => None,
        };
        Err(BuildError::NoBitcode {
            label: self.task.label.into(),
            program: program
                .strip_prefix(self.tree)
                .unwrap_or(program)
                .to_owned(),
            reason: reason.unwrap_or_else(|| "it was not linked by beagle cc".into()),
        })
    }

    /// The programs with bitcode below the tree, as the user would name them.
    fn candidates(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        self.search(self.tree, &mut found);
        found.sort();
        found.dedup();
        found
    }

    fn search(&self, dir: &Path, found: &mut Vec<PathBuf>) {
        // What build systems make to try out the compiler.
        const CHECKS: [&str; 3] = ["CMakeFiles", "meson-private", ".git"];
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let Ok(data) = std::fs::symlink_metadata(&path) else {
                continue;
            };
            if data.is_dir() && !CHECKS.iter().any(|check| name == *check) {
                self.search(&path, found);
            } else if data.is_file()
                && data.permissions().mode() & 0o100 != 0
                && self.is_candidate(&path)
            {
                let path = in_front_of_libtool(&path).unwrap_or(path);
                found.extend(path.strip_prefix(self.tree).ok().map(Path::to_owned));
            }
        }
    }

    fn is_candidate(&self, path: &Path) -> bool {
        embed::is_elf(path)
            && embed::dynamic(path).is_some_and(|dynamic| dynamic.executable)
            && carried(path, Some(&self.records)).is_some()
    }
}

/// The binary behind a script that libtool made to run a program before it is installed.
pub(crate) fn behind_libtool(script: &Path) -> Option<PathBuf> {
    let text = std::fs::read(script)
        .ok()
        .filter(|text| text.starts_with(b"#!"))?;
    let head = String::from_utf8_lossy(&text[..text.len().min(1000)]).into_owned();
    let binary = script.parent()?.join(".libs").join(script.file_name()?);
    (head.contains("temporary wrapper script") && binary.is_file()).then_some(binary)
}

/// The script for a binary in `.libs`; only with it do the libraries of the project load.
fn in_front_of_libtool(binary: &Path) -> Option<PathBuf> {
    let dir = binary.parent().filter(|dir| dir.ends_with(".libs"))?;
    // The script makes a second binary when it first runs.
    let name = binary.file_name()?.to_str()?;
    let script = dir.parent()?.join(name.strip_prefix("lt-").unwrap_or(name));
    behind_libtool(&script).map(|_| script)
}
