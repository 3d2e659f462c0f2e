//! The source texts of one version, read when they are first needed.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::line_macros::LineMacros;

/// The lines of one file.
pub type Lines = Rc<Vec<String>>;

/// The tree that a version was built from.
pub struct SourceTree {
    root: PathBuf,
    single_file: bool,
    files: RefCell<FxHashMap<String, Option<Lines>>>,
    line_macros: OnceCell<LineMacros>,
}

impl SourceTree {
    /// A tree; paths in debug information that are not absolute start at `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            single_file: false,
            files: RefCell::default(),
            line_macros: OnceCell::new(),
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
        let mut directories = Vec::new();
        if !self.single_file {
            directories.push(PathBuf::new());
        }
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

    /// The macros that bring in line numbers.
    pub(crate) fn line_macros(&self, named: &[String]) -> &LineMacros {
        self.line_macros.get_or_init(|| {
            let files = self.project_files(named);
            let texts: Vec<_> = files.iter().filter_map(|file| self.lines(file)).collect();
            LineMacros::scan(texts.iter().map(|lines| lines.as_slice()))
        })
    }

    /// Whether a file of the debug information belongs to the project rather than to the system.
    pub fn contains(&self, file: &str) -> bool {
        let path = Path::new(file);
        (path.is_relative() || path.starts_with(&self.root)) && self.lines(file).is_some()
    }
}

fn is_source(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(
        extension,
        Some("c" | "h" | "inc" | "def" | "cc" | "cpp" | "cxx" | "hpp")
    )
}
