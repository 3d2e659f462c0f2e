//! The source texts of one version, read when they are first needed.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use beagle_hunks::is_source;
use rustc_hash::FxHashMap;

use crate::macros::MacroUses;

/// The lines of one file.
pub type Lines = Rc<Vec<String>>;

/// The tree that a version was built from.
pub struct SourceTree {
    root: PathBuf,
    single_file: bool,
    files: RefCell<FxHashMap<String, Option<Lines>>>,
    line_macros: OnceCell<MacroUses>,
    size_macros: OnceCell<MacroUses>,
}

/// A statement as it is written.
pub(crate) struct Written {
    /// Its lines, from 1.
    pub(crate) lines: RangeInclusive<u32>,
    /// Its text, lines joined by spaces.
    pub(crate) text: String,
}

impl SourceTree {
    /// A tree; paths in debug information that are not absolute start at `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            single_file: false,
            files: RefCell::default(),
            line_macros: OnceCell::new(),
            size_macros: OnceCell::new(),
        }
    }

    /// A single file: its neighbours in the directory do not belong to the program.
    pub fn single_file(root: impl Into<PathBuf>) -> Self {
        Self {
            single_file: true,
            ..Self::new(root)
        }
    }

    /// The lines of a file; `None` if it cannot be read, as with generated files that are gone.
    pub fn lines(&self, file: &str) -> Option<Lines> {
        if let Some(known) = self.files.borrow().get(file) {
            return known.clone();
        }
        let read = fs_err::read(self.root.join(file)).ok().map(|bytes| {
            let text = String::from_utf8_lossy(&bytes);
            Rc::new(text.lines().map(str::to_owned).collect())
        });
        self.files
            .borrow_mut()
            .insert(file.to_owned(), read.clone());
        read
    }

    /// One line, from 1.
    pub fn line(&self, file: &str, line: u32) -> Option<String> {
        let index = (line as usize).checked_sub(1)?;
        self.lines(file)?.get(index).cloned()
    }

    /// The sources of the project. Debug information alone does not do: headers that hold nothing
    /// but macros leave no trace in it.
    pub fn project_files(&self, named: &[String]) -> Vec<String> {
        let named = named.iter().filter(|file| self.contains(file)).cloned();
        let mut files: BTreeSet<String> = named.collect();
        if self.single_file {
            return self.with_included(files);
        }
        let mut directories = vec![PathBuf::new()];
        while let Some(directory) = directories.pop() {
            let Ok(entries) = fs_err::read_dir(self.root.join(&directory)) else {
                continue;
            };
            for entry in entries.flatten() {
                let path = directory.join(entry.file_name());
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && entry.file_name() != ".git" => {
                        directories.push(path);
                    }
                    Ok(kind) if kind.is_file() && is_source(&path) => {
                        files.insert(path.to_string_lossy().into_owned());
                    }
                    _ => {}
                }
            }
        }
        files.into_iter().collect()
    }

    /// Files with all that they include from beside them.
    fn with_included(&self, mut files: BTreeSet<String>) -> Vec<String> {
        let mut work: Vec<_> = files.iter().cloned().collect();
        while let Some(file) = work.pop() {
            let directory = Path::new(&file).parent().unwrap_or(Path::new(""));
            for line in self.lines(&file).iter().flat_map(|lines| lines.iter()) {
                let Some(name) = included(line) else {
                    continue;
                };
                let path = directory.join(name).to_string_lossy().into_owned();
                if self.contains(&path) && files.insert(path.clone()) {
                    work.push(path);
                }
            }
        }
        files.into_iter().collect()
    }

    /// The statement around a place, from one semicolon or brace to the next. A semicolon in a
    /// string makes it too short, which nobody minds.
    pub(crate) fn statement(&self, file: &str, line: u32, column: u32) -> Option<Written> {
        let lines = self.lines(file)?;
        let index = (line as usize).checked_sub(1)?;
        let text = lines.get(index)?;
        let column = (column as usize).saturating_sub(1).min(text.len());
        let (mut before, mut after) = (text.get(..column)?, text.get(column..)?);
        let ends = [';', '{', '}'];
        let mut parts = Vec::new();
        let (mut first, mut last) = (index, index);
        loop {
            if let Some(at) = before.rfind(ends) {
                parts.push(&before[at + 1..]);
                break;
            }
            parts.push(before);
            // Statements are not that long; what looks so is no statement.
            if first == 0 || index - first > MAX_LINES || is_directive(&lines[first - 1]) {
                break;
            }
            parts.push(" ");
            first -= 1;
            before = &lines[first];
        }
        parts.reverse();
        loop {
            if let Some(at) = after.find(ends) {
                parts.push(&after[..at]);
                break;
            }
            parts.push(after);
            if last + 1 == lines.len() || last - index > MAX_LINES || is_directive(&lines[last + 1])
            {
                break;
            }
            parts.push(" ");
            last += 1;
            after = &lines[last];
        }
        Some(Written {
            lines: first as u32 + 1..=last as u32 + 1,
            // The middle of a word may be where the two directions met.
            text: parts.concat(),
        })
    }

    /// The macros that bring in line numbers.
    pub(crate) fn line_macros(&self, named: &[String]) -> &MacroUses {
        let words = ["__LINE__", "assert"];
        self.line_macros
            .get_or_init(|| self.macro_uses(&words, named))
    }

    /// `sizeof`, and the macros that bring it in.
    pub(crate) fn size_macros(&self, named: &[String]) -> &MacroUses {
        self.size_macros
            .get_or_init(|| self.macro_uses(&["sizeof"], named))
    }

    fn macro_uses(&self, words: &[&str], named: &[String]) -> MacroUses {
        let files = self.project_files(named);
        let texts: Vec<_> = files.iter().filter_map(|file| self.lines(file)).collect();
        MacroUses::scan(words, texts.iter().map(|lines| lines.as_slice()))
    }

    /// Whether a file of the debug information belongs to the project rather than to the system.
    pub fn contains(&self, file: &str) -> bool {
        let path = Path::new(file);
        (path.is_relative() || path.starts_with(&self.root)) && self.lines(file).is_some()
    }
}

/// How far a statement is followed in each direction.
const MAX_LINES: usize = 100;

fn is_directive(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

/// The file that an `#include "…"` names.
fn included(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("include")?.trim_start();
    rest.strip_prefix('"')?.split('"').next()
}
