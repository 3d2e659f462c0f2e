//! A place in which sources are changed and built again and again.
//!
//! Where a version is built once and kept, here the next build starts from what the last one left:
//! `make` compiles only what changed. Whoever writes the sources says when that must not be.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::build::{Flavour, Task};
use crate::cache::Entry;
use crate::error::Doing;
use crate::tree::{Attempt, Tree};
use crate::{BuildError, Cache, Config, Tools, VersionSpec, checkout, embed};

/// Writes the sources of a version into a directory, as they are before anything is built.
pub fn export(spec: &VersionSpec, cache: &Cache, dest: &Path) -> Result<(), BuildError> {
    checkout::write(spec, dest, &cache.root).map(|_| ())
}

/// A directory of sources that is built in place.
pub struct Workplace<'a> {
    config: &'a Config,
    cache: &'a Cache,
    flavour: Flavour,
    tools: Tools,
    dir: TempDir,
    /// Whether it has to be built in an old dialect of C.
    old_dialect: Cell<bool>,
}

impl<'a> Workplace<'a> {
    /// An empty one; it is gone when this is dropped.
    pub fn new(config: &'a Config, cache: &'a Cache, flavour: Flavour) -> Result<Self, BuildError> {
        let places = cache.root.join("workplaces");
        let make = || {
            fs_err::create_dir_all(&places)?;
            TempDir::new_in(&places)
        };
        Ok(Self {
            config,
            cache,
            flavour,
            tools: Tools::find()?,
            dir: make().doing(|| "use the cache".into())?,
            old_dialect: Cell::new(false),
        })
    }

    /// Where the sources go.
    pub fn root(&self) -> PathBuf {
        self.dir.path().join("tree")
    }

    /// Takes away everything, sources and what was built.
    pub fn clear(&self) -> Result<(), BuildError> {
        Entry::private(self.dir.path()).clear()?;
        fs_err::create_dir_all(self.root()).doing(|| "make a place for the sources".into())
    }

    /// What goes into a build here besides the sources.
    pub fn circumstances(&self) -> Vec<String> {
        let (task, spec) = (self.task(), self.spec());
        Tree { task, spec: &spec }.circumstances()
    }

    fn task(&self) -> Task<'_> {
        Task {
            label: "a mixed version",
            config: self.config,
            cache: self.cache,
            tools: &self.tools,
            flavour: self.flavour,
            leash: None,
        }
    }

    fn spec(&self) -> VersionSpec {
        VersionSpec::Dir {
            path: self.root(),
            name: self.task().label.into(),
        }
    }

    /// Builds what is there now. Returns the program, which stays until the next build.
    pub fn build(&self) -> Result<PathBuf, BuildError> {
        let (root, task, spec) = (self.root(), self.task(), self.spec());
        let tree = Tree { task, spec: &spec };
        let entry = Entry::private(self.dir.path());
        loop {
            match tree.attempt(&entry, &root, self.old_dialect.get(), &mut |_| {})? {
                Attempt::Made(program) => {
                    let output = tree.output(&entry, &root);
                    return output.program(program.as_deref());
                }
                Attempt::Failed(failure) if failure.old_dialect && !self.old_dialect.get() => {
                    self.old_dialect.set(true);
                }
                Attempt::Failed(failure) => return Err(failure.into_error(task.label, None)),
            }
        }
    }

    /// Whether a program that was built here works elsewhere, too: it is no script, and no library
    /// that it needs is from here.
    pub fn is_portable(&self, program: &Path) -> bool {
        let Some(dynamic) = embed::dynamic(program) else {
            return false;
        };
        let mut directories = vec![self.dir.path().to_owned()];
        while let Some(directory) = directories.pop() {
            for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
                let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_dir {
                    directories.push(entry.path());
                } else if dynamic
                    .needed
                    .iter()
                    .any(|name| entry.file_name() == **name)
                {
                    return false;
                }
            }
        }
        true
    }
}
