//! Finding the program that a build made, and its bitcode.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::cache::{Entry, Finished};
use crate::error::Doing;
use crate::{BuildError, Record, bitcode, embed};

/// A build that has ended.
pub(crate) struct Output<'a> {
    pub label: &'a str,
    pub entry: &'a Entry,
    /// Below this the program is looked for.
    pub tree: &'a Path,
    /// Where the links left copies of their records.
    pub records: &'a Path,
}

impl Output<'_> {
    /// Takes the program and its bitcode, and completes the cache entry.
    pub fn finish(&self, program: Option<&Path>) -> Result<Finished, BuildError> {
        let program = match program {
            Some(program) => self.named(program)?,
            None => self.only_one()?,
        };
        let (record, module) = self.carried(&program)?;
        bitcode::check(&program, &module)?;
        let path = self.entry.dir.join("program.bc");
        fs_err::write(&path, module).doing(|| "write the bitcode".into())?;
        let relative = |path: &Path| {
            path.strip_prefix(&self.entry.dir)
                .unwrap_or(path)
                .to_owned()
        };
        let finished = Finished {
            program: relative(&program),
            bitcode: relative(&path),
            record,
        };
        self.entry.finish(&finished)?;
        Ok(finished)
    }

    /// The program that the user named.
    fn named(&self, program: &Path) -> Result<PathBuf, BuildError> {
        let path = self.tree.join(program);
        if path.is_file() {
            return Ok(path);
        }
        Err(BuildError::ProgramMissing {
            label: self.label.into(),
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
                label: self.label.into(),
                program: None,
                candidates,
                log: self.entry.log.clone(),
            }),
            _ => Err(BuildError::ProgramNotSet {
                label: self.label.into(),
                candidates,
            }),
        }
    }

    /// The record and the bitcode of a program.
    fn carried(&self, program: &Path) -> Result<(Record, Vec<u8>), BuildError> {
        let binary = behind_libtool(program).unwrap_or_else(|| program.to_owned());
        let reason = match self.record(&binary) {
            Some((record, Some(module))) => return Ok((record, module)),
            Some((record, None)) => record.missing.first().map(ToString::to_string),
            None if !embed::is_elf(&binary) => {
                Some("it is not a program but another kind of file".into())
            }
            None => None,
        };
        Err(BuildError::NoBitcode {
            label: self.label.into(),
            program: program
                .strip_prefix(self.tree)
                .unwrap_or(program)
                .to_owned(),
            reason: reason.unwrap_or_else(|| "it was not linked by beagle cc".into()),
        })
    }

    /// What the program carries, or what was kept when it was linked, before it was stripped.
    fn record(&self, binary: &Path) -> Option<(Record, Option<Vec<u8>>)> {
        match embed::record(binary) {
            Some(record) => Some((record, embed::section(binary, embed::PROGRAM_BITCODE))),
            None if embed::is_elf(binary) => {
                let (record, module) = Record::kept(self.records, binary)?;
                Some((record, std::fs::read(module).ok()))
            }
            None => None,
        }
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
            && self.record(path).is_some()
    }
}

/// The binary behind a script that libtool made to run a program before it is installed.
fn behind_libtool(script: &Path) -> Option<PathBuf> {
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
