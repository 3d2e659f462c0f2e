//! Inputs that were seen in a test-suite: one directory each, with nothing but the input.
//!
//! `docs/record.md` says what is in such a directory.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use beagle_trace::Input;
use fs_err as fs;
use serde::{Deserialize, Serialize};

use super::format::{self, Part};
use super::{Kept, numbered};
use crate::error::{Error, doing};

/// The description of a recorded input in its directory.
pub const DESCRIPTION: &str = "input.json";

const FORMAT: u32 = 1;

/// An input that was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The input, with the name of the program.
    pub input: Input,
    /// How often it was seen.
    pub runs: u64,
}

#[derive(Serialize, Deserialize)]
struct Description {
    format: u32,
    id: String,
    runs: u64,
    input: Vec<Part>,
}

/// A directory of recorded inputs.
#[derive(Debug)]
pub struct Records {
    directory: PathBuf,
    /// What is there, by what tells inputs apart.
    known: BTreeMap<String, PathBuf>,
    last: u64,
}

impl Records {
    /// Opens a directory, which is made if it is not there.
    pub fn open(directory: &Path) -> Result<Self, Error> {
        let mut records = Self {
            directory: directory.to_owned(),
            known: BTreeMap::new(),
            last: 0,
        };
        let mut open = || {
            fs::create_dir_all(directory)?;
            for (path, number) in numbered(directory)? {
                records.last = records.last.max(number);
                if let Some(id) = format::identity(&path.join(DESCRIPTION)) {
                    records.known.insert(id, path);
                }
            }
            Ok(())
        };
        open().map_err(doing("look for recorded inputs"))?;
        Ok(records)
    }

    /// Adds an input. Nothing that is there is changed, and one that is there is not written again.
    pub fn add(&mut self, recorded: &Recorded) -> Result<Kept, Error> {
        let id = identity(&recorded.input);
        if let Some(path) = self.known.get(&id) {
            return Ok(Kept::Known(path.clone()));
        }
        let path = self
            .write(recorded, &id)
            .map_err(doing("save a recorded input"))?;
        self.known.insert(id, path.clone());
        Ok(Kept::New(path))
    }

    fn write(&mut self, recorded: &Recorded, id: &str) -> io::Result<PathBuf> {
        let partial = tempfile::Builder::new()
            .prefix(".partial-")
            .tempdir_in(&self.directory)?;
        let input = format::write_input(partial.path(), &recorded.input)?;
        let description = Description {
            format: FORMAT,
            id: id.to_owned(),
            runs: recorded.runs,
            input,
        };
        let mut text = serde_json::to_vec_pretty(&description)?;
        text.push(b'\n');
        fs::write(partial.path().join(DESCRIPTION), text)?;
        fs::set_permissions(partial.path(), PermissionsExt::from_mode(0o755))?;
        loop {
            self.last += 1;
            let path = self.directory.join(format!("{:04}", self.last));
            if fs::symlink_metadata(&path).is_ok() {
                continue;
            }
            fs::rename(partial.path(), &path)?;
            // It is not where its guard thinks it is any more.
            let _ = partial.keep();
            return Ok(path);
        }
    }
}

/// Reads a recorded input from its directory.
pub fn load(directory: &Path) -> Result<Recorded, Error> {
    let read = || {
        let text = fs::read(directory.join(DESCRIPTION))?;
        let description: Description = serde_json::from_slice(&text)?;
        if description.format != FORMAT {
            let format = description.format;
            let text = format!("its format is {format}, this Beagle reads {FORMAT}");
            return Err(io::Error::other(text));
        }
        Ok(Recorded {
            input: format::read_input(directory, description.input)?,
            runs: description.runs,
        })
    };
    read().map_err(|source| Error::NotATest {
        path: directory.join(DESCRIPTION),
        source,
    })
}

/// What tells inputs apart.
fn identity(input: &Input) -> String {
    let mut hasher = blake3::Hasher::new();
    for source in &input.sources {
        hasher.update(&[source.kind as u8, u8::from(source.symbolic)]);
        for bytes in [&source.name[..], source.content()] {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        }
    }
    hasher.finalize().to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(word: &[u8]) -> Recorded {
        let input = Input::from_args("p", [word.to_vec()]);
        Recorded {
            input: input.with_stdin(*b"a\0b").with_file("d/x", "text"),
            runs: 3,
        }
    }

    #[test]
    fn what_is_saved_can_be_loaded_and_is_saved_once() {
        let dir = tempfile::tempdir().unwrap();
        let mut records = Records::open(dir.path()).unwrap();
        let first = records.add(&recorded(b"\xff")).unwrap();
        let path = dir.path().join("0001");
        assert_eq!(first, Kept::New(path.clone()));
        assert_eq!(load(&path).unwrap(), recorded(b"\xff"));
        let mut records = Records::open(dir.path()).unwrap();
        assert_eq!(records.add(&recorded(b"\xff")).unwrap(), Kept::Known(path));
        let other = records.add(&recorded(b"x")).unwrap();
        assert_eq!(other, Kept::New(dir.path().join("0002")));
    }

    #[test]
    fn what_is_damaged_is_refused_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let mut records = Records::open(dir.path()).unwrap();
        records.add(&recorded(b"x")).unwrap();
        let path = dir.path().join("0001");
        fs::remove_file(path.join("stdin")).unwrap();
        let error = load(&path).unwrap_err().to_string();
        assert!(error.contains("0001/input.json"), "{error}");
    }
}
