//! How an object was compiled, written down in it, so that it can be compiled once more.
//!
//! The link collects what is in the objects that it takes. With that a program can be made again
//! with other options from the tree in which it was built, without configuring and building the
//! whole project again. Only what is sure to come out the same counts: whatever has no such note,
//! or an ambiguous one, makes the whole project be built again.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::arguments::{Input, Language};
use crate::compiler::{Job, Kind, TREE};
use crate::lenient::LENIENT;
use crate::options;
use crate::process::Run;

/// What compilers look at besides their arguments.
const RELEVANT: [&str; 6] = [
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "SOURCE_DATE_EPOCH",
    TREE,
    LENIENT,
];

/// One source, and how it was compiled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// Whether it was given to the C++ compiler.
    pub cxx: bool,
    /// The directory in which it was compiled.
    pub directory: PathBuf,
    /// The arguments that say how, without output; the last one is the source.
    pub args: Vec<String>,
    /// What the source contained: builds may write another one under the same name.
    pub content: String,
    /// The variables that compilers look at.
    pub environment: BTreeMap<String, String>,
}

impl Unit {
    /// How a source of this command is compiled; `None` if that cannot be done again.
    pub(crate) fn of(job: &Job, input: &Input) -> Option<Self> {
        let is_source = matches!(input.language, Language::Source { .. });
        if !is_source || input.is_stdin() || job.kind == Kind::Ld {
            return None;
        }
        let text = |word: OsString| word.into_string().ok();
        let args = options::compile_again(&job.plan, input).into_iter();
        let directory = std::env::current_dir().ok()?;
        let given = RELEVANT.map(|name| Some((name, std::env::var_os(name)?)));
        let environment = given.into_iter().flatten();
        Some(Self {
            cxx: job.kind == Kind::Cxx,
            content: content(&directory.join(&input.path))?,
            directory,
            args: args.map(text).collect::<Option<_>>()?,
            environment: environment
                .map(|(name, value)| Some((name.to_owned(), text(value)?)))
                .collect::<Option<_>>()?,
        })
    }

    /// Whether the source is what it was.
    pub(crate) fn is_unchanged(&self) -> bool {
        let source = self.args.last().map(|source| self.directory.join(source));
        source.and_then(|source| content(&source)).as_ref() == Some(&self.content)
    }

    /// The command that compiles it, but for where to; `tools` has the stand-ins.
    pub(crate) fn run(&self, tools: &Path) -> Run {
        let tool = tools.join(if self.cxx { "clang++" } else { "clang" });
        let run = Run::new(tool).without_env(&RELEVANT).dir(&self.directory);
        let environment = self.environment.iter();
        environment
            .fold(run, |run, (name, value)| run.env(name, value))
            .args(&self.args)
    }
}

fn content(source: &Path) -> Option<String> {
    let text = std::fs::read(source).ok()?;
    Some(blake3::hash(&text).to_hex().to_string())
}

/// The note of an object; one that says nothing where it cannot be compiled again.
pub(crate) fn note(unit: Option<&Unit>) -> Vec<u8> {
    let mut line = serde_json::to_vec(&unit).unwrap_or_default();
    line.push(b'\n');
    line
}

/// The units in a section, which a partial link may have put together; `None` if there is one that
/// cannot be compiled again.
pub(crate) fn units(section: &[u8]) -> Option<Vec<Unit>> {
    let lines = section.split(|&byte| matches!(byte, b'\n' | 0));
    lines
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice::<Option<Unit>>(line).ok()?)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(source: &str) -> Unit {
        Unit {
            cxx: false,
            directory: "/d".into(),
            args: vec![source.into()],
            content: String::new(),
            environment: BTreeMap::new(),
        }
    }

    #[test]
    fn notes_can_be_concatenated_with_padding() {
        let mut section = note(Some(&unit("a.c")));
        section.extend([0, 0, 0]);
        section.extend(note(Some(&unit("b.c"))));
        assert_eq!(units(&section), Some(vec![unit("a.c"), unit("b.c")]));
        section.extend(note(None));
        assert_eq!(units(&section), None);
    }
}
