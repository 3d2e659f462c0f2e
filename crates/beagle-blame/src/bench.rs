//! Builds old with sets of hunks applied.
//!
//! Trees are changed and built in place, so that a build compiles only what changed. Where that
//! could leave something of an earlier set behind, everything is built anew: unless only files
//! changed that are compiled by themselves. Programs are kept in the cache by what they were made
//! of.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use beagle_build::{BuildError, Cache, Config, Flavour, VersionSpec, Workplace, build_native};
use beagle_hunks::{Diff, File, Kind, Set, Tree, is_source};

use crate::error::Error;
use crate::sources::{included, sources};

/// Two versions, taken apart into hunks.
pub struct Bench<'a> {
    config: &'a Config,
    cache: &'a Cache,
    diff: Diff,
    /// The directory of old and the name of the file, if the versions are single files.
    single: Option<Single>,
    places: Vec<(Flavour, Place<'a>)>,
    /// How many builds there were, and how many of them failed.
    builds: (usize, usize),
}

struct Single {
    /// How the file is called in mixed versions.
    name: PathBuf,
    /// How it is called in old and in new.
    names: (String, String),
    config: Config,
    dir: tempfile::TempDir,
}

/// A tree that is built in place, and what its sources are now.
struct Place<'a> {
    workplace: Workplace<'a>,
    now: Tree,
}

/// Old with a set of hunks applied, as sources.
pub struct Mixed<'a> {
    /// A version like any other.
    pub spec: VersionSpec,
    /// How it is built.
    pub config: &'a Config,
    /// Its files are there as long as this is.
    _dir: tempfile::TempDir,
}

impl<'a> Bench<'a> {
    /// Takes two versions apart.
    pub fn new(
        old: &VersionSpec,
        new: &VersionSpec,
        config: &'a Config,
        cache: &'a Cache,
    ) -> Result<Self, Error> {
        let single = match (old, new) {
            (VersionSpec::File { path: a, name: x }, VersionSpec::File { path: b, name: y }) => {
                let mut config = config.clone();
                // For what is included from outside of the directory.
                let beside = a.parent().unwrap_or(Path::new("/")).display();
                config.cflags.push(format!("-I{beside}"));
                Some(Single {
                    name: b.file_name().unwrap_or_default().into(),
                    names: (x.clone(), y.clone()),
                    config,
                    dir: tempfile::tempdir()?,
                })
            }
            (VersionSpec::File { .. }, _) | (_, VersionSpec::File { .. }) => {
                return Err(Error::Kinds);
            }
            _ => None,
        };
        let main = single
            .as_ref()
            .map_or(Path::new(""), |single| &*single.name);
        let diff = Diff::of(sources(old, cache, main)?, sources(new, cache, main)?);
        Ok(Self {
            config,
            cache,
            diff,
            single,
            places: Vec::new(),
            builds: (0, 0),
        })
    }

    /// The difference of the versions.
    pub fn diff(&self) -> &Diff {
        &self.diff
    }

    /// What a file of the difference is called in old and in new.
    pub fn names(&self, file: &Path) -> (String, String) {
        match &self.single {
            Some(single) if single.name == file => single.names.clone(),
            _ => (file.display().to_string(), file.display().to_string()),
        }
    }

    /// How many builds there were, and how many of them failed.
    pub fn builds(&self) -> (usize, usize) {
        self.builds
    }

    /// Old with a set of hunks applied; `None` if that does not build. The program is there until
    /// the next build.
    pub fn build(&mut self, set: &Set, flavour: Flavour) -> Result<Option<PathBuf>, Error> {
        let tree = self.diff.apply(set);
        self.builds.0 += 1;
        let built = match &self.single {
            Some(single) => single.build(&tree, flavour, self.cache),
            None => self.tree(tree, flavour),
        };
        match built {
            Ok(program) => Ok(Some(program)),
            Err(Error::Build(error)) if is_about_sources(&error) => {
                self.builds.1 += 1;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Old with a set of hunks applied, for who wants more than its program.
    pub fn mixed(&self, set: &Set) -> Result<Mixed<'_>, Error> {
        let dir = tempfile::tempdir()?;
        let (spec, config) = match &self.single {
            Some(single) => (single.spec(dir.path()), &single.config),
            None => {
                let path = dir.path().to_owned();
                let name = "a mixed version".to_owned();
                (VersionSpec::Dir { path, name }, self.config)
            }
        };
        for (path, file) in &self.diff.apply(set) {
            beagle_hunks::write(dir.path(), path, file)?;
        }
        Ok(Mixed {
            spec,
            config,
            _dir: dir,
        })
    }

    fn tree(&mut self, tree: Tree, flavour: Flavour) -> Result<PathBuf, Error> {
        let place = match self.places.iter().position(|(of, _)| *of == flavour) {
            Some(at) => &mut self.places[at].1,
            None => {
                let workplace = Workplace::new(self.config, self.cache, flavour)?;
                let now = Tree::new();
                self.places.push((flavour, Place { workplace, now }));
                let last = self.places.len() - 1;
                &mut self.places[last].1
            }
        };
        let circumstances = place.workplace.circumstances();
        let mut parts: Vec<&[u8]> = circumstances.iter().map(String::as_bytes).collect();
        for (path, file) in &tree {
            parts.push(path.as_os_str().as_encoded_bytes());
            parts.push(match file.kind {
                Kind::Plain => b"plain",
                Kind::Executable => b"executable",
                Kind::Link => b"link",
            });
            parts.push(&file.bytes);
        }
        let kept = |dir: PathBuf| dir.join("program");
        if let Some(dir) = self.cache.kept(KEPT, &parts) {
            return Ok(kept(dir));
        }
        let program = place.build(&tree)?;
        if !place.workplace.is_portable(&program) {
            return Ok(program);
        }
        let copy = |dir: &Path| -> Result<(), Error> {
            fs_err::copy(&program, dir.join("program"))?;
            Ok(())
        };
        Ok(kept(self.cache.keep(KEPT, &parts, copy)?))
    }
}

/// The place of mixed programs in the cache.
const KEPT: &str = "mixed";

impl Single {
    fn build(&self, tree: &Tree, flavour: Flavour, cache: &Cache) -> Result<PathBuf, Error> {
        for (path, file) in tree {
            beagle_hunks::write(self.dir.path(), path, file)?;
        }
        let spec = self.spec(self.dir.path());
        let program = build_native(&spec, &self.config, cache, flavour, &mut |_| {})?;
        Ok(program)
    }

    /// The file, in a directory.
    fn spec(&self, dir: &Path) -> VersionSpec {
        VersionSpec::File {
            path: dir.join(&self.name),
            name: self.name.display().to_string(),
        }
    }
}

impl Place<'_> {
    fn build(&mut self, tree: &Tree) -> Result<PathBuf, Error> {
        if self.is_small_step(tree) {
            self.write(tree)?;
            return Ok(self.workplace.build()?);
        }
        self.now.clear();
        self.workplace.clear()?;
        self.write(tree)?;
        Ok(self.workplace.build()?)
    }

    /// Whether a build can start from what is there: the files are the same but for the text of
    /// some that are compiled by themselves. That a header changed is not known to every Makefile.
    fn is_small_step(&self, tree: &Tree) -> bool {
        if self.now.is_empty() || !self.now.keys().eq(tree.keys()) {
            return false;
        }
        let changed = |(path, file): &(&PathBuf, &File)| self.now.get(*path) != Some(file);
        let changed: Vec<&PathBuf> = tree.iter().filter(changed).map(|(path, _)| path).collect();
        if !changed.iter().all(|path| is_unit(path)) {
            return false;
        }
        let sources = tree.iter().chain(&self.now);
        let sources = sources.filter(|(path, _)| is_source(path));
        let used: BTreeSet<_> = sources
            .flat_map(|(_, file)| included(&file.bytes, Path::new("")))
            .filter_map(|path| path.file_name().map(ToOwned::to_owned))
            .collect();
        let is_included = |path: &&PathBuf| path.file_name().is_some_and(|it| used.contains(it));
        !changed.iter().any(is_included)
    }

    fn write(&mut self, tree: &Tree) -> io::Result<()> {
        let root = self.workplace.root();
        for (path, file) in tree {
            if self.now.get(path) != Some(file) {
                beagle_hunks::write(&root, path, file)?;
            }
        }
        self.now.clone_from(tree);
        Ok(())
    }
}

/// Whether a file is one that is compiled by itself.
fn is_unit(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(extension, Some("c" | "cc" | "cpp" | "cxx"))
}

/// Whether an error says that sources cannot be built, rather than that we cannot build.
fn is_about_sources(error: &BuildError) -> bool {
    matches!(
        error,
        BuildError::Failed(_)
            | BuildError::ProgramMissing { .. }
            | BuildError::ProgramNotSet { .. }
            | BuildError::NoBuildCommand { .. }
            | BuildError::EmptyFile { .. }
            | BuildError::NotC { .. }
            | BuildError::NoFunction { .. }
            | BuildError::NoHarness { .. }
    )
}
