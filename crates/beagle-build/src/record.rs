//! What is written down about a link: what the bitcode lacks, and what a relink needs.
//!
//! A record travels in the section `.beagle.json` of the program or shared library it is
//! about, next to the bitcode in `.beagle.bc`. When `BEAGLE_RECORD_DIR` is set, a copy of both
//! is kept there too, for programs that are stripped after the link. Objects without bitcode
//! carry a note that says why, in `.beagle.note`, one JSON value a line, so that the notes of
//! several objects can simply be concatenated by a partial link.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Unit;

/// The version of the format below. Records of another version are not read.
const SCHEMA: u32 = 1;

/// The environment variable that names the directory for copies of records.
pub(crate) const RECORD_DIR: &str = "BEAGLE_RECORD_DIR";

/// What is known about a linked program or shared library.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The version of this format.
    pub schema: u32,
    /// What the bitcode lacks.
    pub missing: Vec<Missing>,
    /// The project's own shared libraries that this one was linked to. For a program their
    /// bitcode is part of the program's.
    pub libraries: Vec<PathBuf>,
    /// Arguments for the compiler driver that link the bitcode natively again: libraries,
    /// inputs without bitcode and the user's flags, all paths absolute.
    pub link_args: Vec<String>,
    /// The sources that it was made of, unless there is something else in it.
    #[serde(default)]
    pub units: Vec<Unit>,
    /// The link command as the build gave it.
    pub command: Vec<String>,
    /// The directory in which it ran.
    pub directory: PathBuf,
}

/// A part of the program that the bitcode does not contain.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Missing {
    /// The object, archive member or source, as the linker names it.
    pub what: String,
    /// Why it has no bitcode.
    pub reason: Reason,
}

/// Why a part of the program has no bitcode.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Reason {
    /// The source is assembler.
    Assembler {
        /// The source.
        source: String,
    },
    /// The source cannot be read twice, or its language has no bitcode.
    Unsupported {
        /// The source.
        source: String,
    },
    /// The compiler made the object, but failed to make bitcode.
    CompileFailed {
        /// The source.
        source: String,
        /// The first error.
        message: String,
    },
    /// The object was not made by `beagle cc`.
    Foreign,
    /// The bitcode of the whole program could not be linked.
    LinkFailed {
        /// What the linker said first.
        message: String,
    },
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { what, reason } = self;
        match reason {
            Reason::Assembler { source } => write!(f, "{what}: {source} is assembler"),
            Reason::Unsupported { source } => write!(f, "{what}: {source} cannot become bitcode"),
            Reason::CompileFailed { source, message } => {
                write!(f, "{what}: no bitcode of {source}: {message}")
            }
            Reason::Foreign => write!(f, "{what}: was not compiled by beagle cc"),
            Reason::LinkFailed { message } => write!(f, "{what}: {message}"),
        }
    }
}

impl Record {
    pub(crate) fn new(command: Vec<String>, directory: PathBuf) -> Self {
        Self {
            schema: SCHEMA,
            command,
            directory,
            ..Self::default()
        }
    }

    pub(crate) fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads a record, unless it has another format.
    pub(crate) fn from_json(json: &[u8]) -> Option<Self> {
        serde_json::from_slice::<Self>(json)
            .ok()
            .filter(|record| record.schema == SCHEMA)
    }

    /// Keeps a copy in the record directory, under the path of the output.
    pub(crate) fn keep(&self, dir: &Path, output: &Path, bitcode: Option<&Path>) -> io::Result<()> {
        let base = dir.join(file_name(output)?);
        if let Some(bitcode) = bitcode {
            replace(&std::fs::read(bitcode)?, &base.with_extension("bc"))?;
        }
        replace(&self.to_json(), &base.with_extension("json"))
    }

    /// The copy in the record directory, with its bitcode.
    pub(crate) fn kept(dir: &Path, output: &Path) -> Option<(Self, PathBuf)> {
        let base = dir.join(file_name(output).ok()?);
        let record = Self::from_json(&std::fs::read(base.with_extension("json")).ok()?)?;
        Some((record, base.with_extension("bc")))
    }
}

/// The note of an object without bitcode.
pub(crate) fn note(missing: &Missing) -> Vec<u8> {
    let mut line = serde_json::to_vec(missing).unwrap_or_default();
    line.push(b'\n');
    line
}

/// The notes in a section.
pub(crate) fn notes(section: &[u8]) -> Vec<Missing> {
    // Padding that a linker may put between sections is not JSON and is skipped.
    let lines = section.split(|&byte| matches!(byte, b'\n' | 0));
    lines
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect()
}

/// The directory must be resolved, since builds name the same file in several ways.
fn file_name(output: &Path) -> io::Result<String> {
    let output = std::path::absolute(output)?;
    let (dir, name) = (output.parent(), output.file_name());
    let output = match (dir.and_then(|dir| dir.canonicalize().ok()), name) {
        (Some(dir), Some(name)) => dir.join(name),
        _ => output,
    };
    let hash = blake3::hash(output.as_os_str().as_encoded_bytes()).to_hex();
    Ok(hash.as_str()[..32].to_owned())
}

/// Writes a file in one step, since parallel links may share the directory.
pub(crate) fn replace(content: &[u8], path: &Path) -> io::Result<()> {
    let dir = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(dir)?;
    let mut file = tempfile::NamedTempFile::new_in(dir)?;
    io::Write::write_all(&mut file, content)?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assembler(what: &str) -> Missing {
        Missing {
            what: what.into(),
            reason: Reason::Assembler {
                source: "x.s".into(),
            },
        }
    }

    #[test]
    fn notes_can_be_concatenated_with_padding() {
        let mut section = note(&assembler("a.o"));
        section.extend([0, 0, 0]);
        section.extend(note(&assembler("b.o")));
        assert_eq!(notes(&section), [assembler("a.o"), assembler("b.o")]);
    }

    #[test]
    fn records_are_found_again_by_the_path_of_the_output() {
        let dir = tempfile::tempdir().unwrap();
        let output = dir.path().join("prog");
        let bitcode = dir.path().join("x.bc");
        std::fs::write(&bitcode, "BC").unwrap();
        let record = Record::new(vec!["cc".into()], "/".into());
        record.keep(dir.path(), &output, Some(&bitcode)).unwrap();
        let (found, kept) = Record::kept(dir.path(), &dir.path().join("./prog")).unwrap();
        assert_eq!(found, record);
        assert_eq!(std::fs::read(kept).unwrap(), b"BC");
        assert!(Record::kept(dir.path(), &dir.path().join("other")).is_none());
    }

    #[test]
    fn records_of_another_format_are_not_read() {
        let mut record = Record::new(Vec::new(), "/".into());
        record.schema += 1;
        assert_eq!(Record::from_json(&record.to_json()), None);
    }
}
