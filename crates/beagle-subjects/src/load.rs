//! Finds and loads the subjects of a directory. Only reads; whether what they claim is true is
//! for `tests/truth.rs` to see.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::pair::Pair;
use crate::raw::{RawPair, RawSubject};
use crate::subject::{Source, Subject, Version};

/// The `subjects` directory of the repository that this crate was compiled in.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects")
}

/// Loads all subjects under `root` with their pairs, both by name.
pub fn subjects(root: &Path) -> Result<Vec<Subject>> {
    directories(root, "subject.toml")?
        .iter()
        .map(|dir| Subject::load(dir))
        .collect()
}

impl Subject {
    /// Loads the subject in `dir` with its pairs.
    pub fn load(dir: &Path) -> Result<Self> {
        load(dir)
    }
}

fn load(dir: &Path) -> Result<Subject> {
    let file = dir.join("subject.toml");
    let raw: RawSubject = read(&file)?;
    let [source] = &raw.sources[..] else {
        return Err(Error::invalid(
            &file,
            "`sources` is not exactly one file or directory",
        ));
    };
    let form = Form {
        file: &file,
        program: raw.program.as_deref(),
        ldflags: &raw.ldflags,
    };
    let base = form.version(dir, source)?;
    let check = dir.join("check.sh");
    if !check.is_file() {
        return Err(Error::invalid(&file, "there is no check.sh beside it"));
    }
    let pairs = directories(dir, "pair.toml")?;
    let pairs = pairs
        .iter()
        .map(|dir| pair(dir, &form))
        .collect::<Result<_>>()?;
    Ok(Subject {
        name: name(dir),
        dir: dir.to_owned(),
        kind: raw.kind,
        summary: raw.summary,
        base,
        input: raw.input,
        check,
        pairs,
    })
}

fn pair(dir: &Path, subject: &Form<'_>) -> Result<Pair> {
    let file = dir.join("pair.toml");
    let raw: RawPair = read(&file)?;
    let form = Form {
        file: &file,
        ..*subject
    };
    let named = |list: &str, at: usize, what: String| {
        Error::invalid(&file, format!("[[{list}]] number {}: {what}", at + 1))
    };
    let (old, new) = (form.version(dir, &raw.old)?, form.version(dir, &raw.new)?);
    if old == new {
        return Err(Error::invalid(&file, "old and new are the same version"));
    }
    let golden = raw.golden.map(|golden| form.version(dir, &golden));
    let differs = raw.differs.into_iter().enumerate();
    let agrees = raw.agrees.into_iter().enumerate();
    Ok(Pair {
        name: name(dir),
        dir: dir.to_owned(),
        kind: raw.kind,
        summary: raw.summary,
        old,
        new,
        golden: golden.transpose()?,
        changed_functions: raw.changed_functions,
        changed_globals: raw.changed_globals,
        culprits: raw.culprits,
        sequence: raw.sequence,
        differs: differs
            .map(|(at, raw)| raw.difference().map_err(|what| named("differs", at, what)))
            .collect::<Result<_>>()?,
        agrees: agrees
            .map(|(at, raw)| raw.input().map_err(|what| named("agrees", at, what)))
            .collect::<Result<_>>()?,
    })
}

/// What `subject.toml` says about the form of all versions.
#[derive(Clone, Copy)]
struct Form<'a> {
    /// The file that names the version, for errors.
    file: &'a Path,
    program: Option<&'a str>,
    ldflags: &'a [String],
}

impl Form<'_> {
    /// The version at `path` relative to `dir`. The path becomes canonical, so that `../base.c`
    /// is the same version in every pair.
    fn version(&self, dir: &Path, path: &str) -> Result<Version> {
        let found = dir
            .join(path)
            .canonicalize()
            .map_err(|cause| Error::invalid(self.file, format!("version {path}: {cause}")))?;
        let source = match (found.is_dir(), self.program) {
            (false, None) => Source::File(found),
            (true, Some(program)) => Source::Directory {
                path: found,
                program: program.into(),
            },
            (true, None) => {
                let what = format!("{path} is a directory, but `program` is not given");
                return Err(Error::invalid(self.file, what));
            }
            (false, Some(_)) => {
                let what = format!("{path} is a file, but `program` is for directories");
                return Err(Error::invalid(self.file, what));
            }
        };
        Ok(Version {
            source,
            ldflags: self.ldflags.to_vec(),
        })
    }
}

/// The directories directly in `dir` that hold a file called `marker`, sorted.
fn directories(dir: &Path, marker: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs_err::read_dir(dir)? {
        let path = entry?.path();
        if path.join(marker).is_file() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn read<T: serde::de::DeserializeOwned>(file: &Path) -> Result<T> {
    let text = fs_err::read_to_string(file)?;
    toml::from_str(&text).map_err(|cause| Error::Format {
        file: file.to_owned(),
        cause: Box::new(cause),
    })
}

fn name(dir: &Path) -> String {
    dir.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
