//! Findings kept as tests: one directory each, which needs no Beagle to be replayed.
//!
//! `docs/saved-tests.md` says what is in such a directory.

mod format;
pub mod recorded;
mod script;

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use beagle_trace::Input;
use fs_err as fs;

use crate::class::Class;
use crate::error::{Error, doing};
use crate::judge::Difference;
use crate::observation::Observation;

/// The description of a test in its directory.
const DESCRIPTION: &str = "test.json";

/// A test: an input, and what the versions do with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// What kind of difference it shows: the name of a [`Class`], or `same`.
    pub class: String,
    /// How the versions stand to the golden one.
    pub standing: Option<String>,
    /// In what the versions differ.
    pub aspects: Vec<String>,
    /// By what others of its kind are known.
    pub signature: String,
    /// What in the program causes it.
    pub cause: String,
    /// The input.
    pub input: Input,
    /// Environment variables besides those of the input and the usual ones.
    pub environment: Vec<(OsString, OsString)>,
    /// A tree that has to be in the working directory.
    pub fixture: Option<PathBuf>,
    /// What the old version did.
    pub old: Observation,
    /// What the new version did.
    pub new: Observation,
}

impl Saved {
    /// The test of a difference, with no environment or fixture.
    pub fn of_difference(input: &Input, difference: &Difference, cause: &str) -> Self {
        Self {
            class: difference.class.name().to_owned(),
            standing: difference.standing.map(|it| it.name().to_owned()),
            aspects: difference
                .aspects
                .names()
                .into_iter()
                .map(str::to_owned)
                .collect(),
            signature: difference.signature.clone(),
            cause: cause.to_owned(),
            input: input.normalised(),
            environment: Vec::new(),
            fixture: None,
            old: difference.old.clone(),
            new: difference.new.clone(),
        }
    }

    /// The test of an input on which the versions agree.
    pub fn of_same(input: &Input, old: &Observation, new: &Observation, cause: &str) -> Self {
        Self {
            class: "same".to_owned(),
            standing: None,
            aspects: Vec::new(),
            signature: "same".to_owned(),
            cause: cause.to_owned(),
            input: input.normalised(),
            environment: Vec::new(),
            fixture: None,
            old: old.clone(),
            new: new.clone(),
        }
    }

    /// The class, unless it is `same`.
    pub fn difference_class(&self) -> Option<Class> {
        Class::from_name(&self.class)
    }

    /// What tells tests apart: the input and what it shows.
    fn identity(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        let mut add = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        add(self.signature.as_bytes());
        for source in &self.input.sources {
            add(&[source.kind as u8]);
            add(&source.name);
            add(source.content());
        }
        for (name, value) in &self.environment {
            add(name.as_encoded_bytes());
            add(value.as_encoded_bytes());
        }
        hasher.finalize().to_hex()[..16].to_owned()
    }
}

/// What became of a test that was to be saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// It is in this directory now.
    New(PathBuf),
    /// It was in this directory already.
    Known(PathBuf),
}

/// Saves a test below a directory. Nothing that is there is changed: a new test gets a new number, and one
/// that is there already is not written again.
pub fn save(directory: &Path, test: &Saved) -> Result<Kept, Error> {
    let failed = doing("save a test");
    let identity = test.identity();
    let write = || {
        fs::create_dir_all(directory)?;
        let mut number = 0;
        for (path, found) in numbered(directory)? {
            number = number.max(found);
            if format::identity(&path.join(DESCRIPTION)).is_some_and(|it| it == identity) {
                return Ok(Kept::Known(path));
            }
        }
        let partial = tempfile::Builder::new()
            .prefix(".partial-")
            .tempdir_in(directory)?;
        write_test(partial.path(), test, &identity)?;
        fs::set_permissions(partial.path(), PermissionsExt::from_mode(0o755))?;
        loop {
            number += 1;
            let path = directory.join(format!("{number:04}-{}", test.class));
            // Renaming over something fails, so nothing is lost if another run saves at the same time.
            match fs::symlink_metadata(&path) {
                Ok(_) => continue,
                Err(_) => fs::rename(partial.path(), &path)?,
            }
            // It is not where its guard thinks it is any more.
            let _ = partial.keep();
            return Ok(Kept::New(path));
        }
    };
    write().map_err(failed)
}

fn write_test(directory: &Path, test: &Saved, identity: &str) -> io::Result<()> {
    format::write(directory, test, identity)?;
    if let Some(fixture) = &test.fixture {
        let copy = directory.join("fixture");
        fs::create_dir(&copy)?;
        beagle_enclosure::tree::copy(fixture, &copy)?;
    }
    let script = directory.join("repro.sh");
    fs::write(&script, script::of(test))?;
    fs::set_permissions(&script, PermissionsExt::from_mode(0o755))
}

/// Reads a test from its directory.
pub fn load(directory: &Path) -> Result<Saved, Error> {
    format::read(directory).map_err(|source| Error::NotATest {
        path: directory.join(DESCRIPTION),
        source,
    })
}

/// Reads all tests below a directory, by number.
pub fn load_all(directory: &Path) -> Result<Vec<(PathBuf, Saved)>, Error> {
    let mut found = numbered(directory).map_err(doing("look for saved tests"))?;
    found.sort_by_key(|(_, number)| *number);
    found
        .into_iter()
        .filter(|(path, _)| path.join(DESCRIPTION).exists())
        .map(|(path, _)| load(&path).map(|test| (path, test)))
        .collect()
}

/// The directories whose name starts with a number.
fn numbered(directory: &Path) -> io::Result<Vec<(PathBuf, u64)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().into_vec();
        let digits = name.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = String::from_utf8_lossy(&name[..digits]).parse();
        if let Ok(number) = number {
            found.push((entry.path(), number));
        }
    }
    Ok(found)
}
