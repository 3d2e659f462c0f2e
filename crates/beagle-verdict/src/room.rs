//! The private directory of native runs: made ready before each run, looked through after it.
//!
//! All runs see the same path, so that a program that prints it prints the same.

use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use beagle_enclosure::tree as enclosed;
use beagle_trace::{Input, SourceKind};
use fs_err as fs;
use tempfile::TempDir;

use crate::error::{Error, doing};
use crate::observation::{Effect, Entry, FileChange};
use crate::tree::{self, Listing};

/// With what the name of the private directory starts.
pub(crate) const PREFIX: &str = "beagle-native-";
/// Where files are kept in memory.
const MEMORY: &str = "/dev/shm";
/// The number of that kind of file system.
const TMPFS: i64 = 0x0102_1994;
/// How much room there has to be.
const ENOUGH: u64 = 1 << 30;

/// Where runs take place.
pub(crate) struct Room {
    root: PathBuf,
    _made: TempDir,
    fixture: Option<PathBuf>,
    /// What the fixture puts into the working directory.
    content: Listing,
    keep: u64,
}

impl Room {
    pub(crate) fn new(fixture: Option<PathBuf>, keep: u64) -> Result<Self, Error> {
        let make = || {
            let made = match memory() {
                Some(memory) => TempDir::with_prefix_in(PREFIX, memory),
                None => TempDir::with_prefix(PREFIX),
            }?;
            let root = made.path().canonicalize()?;
            for name in ["work", "tmp", "logs"] {
                fs::create_dir(root.join(name))?;
            }
            Ok((made, root))
        };
        let (made, root) = make().map_err(doing("make a private directory for runs"))?;
        let mut room = Self {
            root,
            _made: made,
            fixture,
            content: Listing::new(),
            keep,
        };
        if room.fixture.is_some() {
            // Listed as copied, so that what the copy does not keep does not count as a change.
            room.copy_fixture()?;
            room.content = room.list()?;
        }
        Ok(room)
    }

    /// The working directory.
    pub(crate) fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// A directory for temporary files that nobody looks at.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// Where the sanitizers put their reports.
    pub(crate) fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }

    /// The directories into which runs may write.
    pub(crate) fn writable(&self) -> Vec<Vec<u8>> {
        [self.work(), self.temporary(), self.logs()]
            .map(|path| path.into_os_string().into_vec())
            .into()
    }

    /// Makes everything ready for a run.
    pub(crate) fn prepare(&self, input: &Input) -> Result<(), Error> {
        for directory in [self.work(), self.temporary(), self.logs()] {
            enclosed::empty(&directory).map_err(doing("empty the private directory"))?;
        }
        self.copy_fixture()?;
        for source in &input.sources {
            if source.kind == SourceKind::File {
                tree::write_below(&self.work(), &source.name, &source.bytes)
                    .map_err(doing("write a file of the input"))?
                    .ok_or_else(|| Error::FileOutside {
                        path: source.name.clone(),
                    })?;
            }
        }
        Ok(())
    }

    fn copy_fixture(&self) -> Result<(), Error> {
        match &self.fixture {
            Some(fixture) => {
                enclosed::copy(fixture, &self.work()).map_err(doing("copy the fixture"))
            }
            None => Ok(()),
        }
    }

    fn list(&self) -> Result<Listing, Error> {
        tree::list(&self.work(), self.keep).map_err(doing("look at what a run left"))
    }

    /// What the run did to its working directory.
    pub(crate) fn changes(&self, input: &Input) -> Result<Vec<FileChange>, Error> {
        let mut before = self.content.clone();
        for source in &input.sources {
            if source.kind == SourceKind::File {
                put(&mut before, &source.name, &source.bytes);
            }
        }
        let mut changes = Vec::new();
        for (path, entry) in self.list()? {
            let effect = match before.remove(&path) {
                None => Effect::Created(entry),
                Some(former) if same(&former, &entry) => continue,
                Some(_) => Effect::Changed(entry),
            };
            changes.push(FileChange { path, effect });
        }
        changes.extend(before.into_keys().map(|path| FileChange {
            path,
            effect: Effect::Deleted,
        }));
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(changes)
    }

    /// The reports of the sanitizers, one after another.
    pub(crate) fn reports(&self) -> Result<String, Error> {
        let read = || {
            let mut paths: Vec<_> = fs::read_dir(self.logs())?
                .map(|entry| entry.map(|entry| entry.path()))
                .collect::<Result<_, _>>()?;
            paths.sort();
            let mut text = String::new();
            for path in paths {
                text.push_str(&String::from_utf8_lossy(&fs::read(path)?));
            }
            Ok(text)
        };
        read().map_err(doing("read the report of a sanitizer"))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // What programs leave may be too much for the removal that follows.
        for directory in [self.work(), self.temporary(), self.logs()] {
            let _ = enclosed::empty(&directory);
        }
    }
}

/// A place where files are made and deleted far faster than on a disk, if there is one with enough room
/// and the user has not chosen another.
fn memory() -> Option<&'static str> {
    if std::env::var_os("TMPDIR").is_some() {
        return None;
    }
    let kind = rustix::fs::statfs(MEMORY).ok()?;
    let free = kind
        .f_bavail
        .saturating_mul(u64::try_from(kind.f_bsize).ok()?);
    // In containers it is small, and does not let programs be run.
    let executable = !rustix::fs::statvfs(MEMORY)
        .ok()?
        .f_flag
        .contains(rustix::fs::StatVfsMountFlags::NOEXEC);
    (kind.f_type == TMPFS && free >= ENOUGH && executable).then_some(MEMORY)
}

/// Adds a file of the input to a listing, with the directories on its way.
fn put(listing: &mut Listing, path: &[u8], bytes: &[u8]) {
    let clean: PathBuf = Path::new(std::ffi::OsStr::from_bytes(path))
        .components()
        .filter(|component| !matches!(component, std::path::Component::CurDir))
        .collect();
    for parent in clean.ancestors().skip(1) {
        if !parent.as_os_str().is_empty() {
            let path = parent.as_os_str().as_bytes().to_vec();
            let mode = 0o755;
            listing.entry(path).or_insert(Entry::Directory { mode });
        }
    }
    let entry = Entry::File {
        mode: 0o644,
        content: bytes.to_vec().into(),
    };
    listing.insert(clean.into_os_string().into_vec(), entry);
}

/// Whether two entries are the same, however much of them is kept.
fn same(a: &Entry, b: &Entry) -> bool {
    match (a, b) {
        (
            Entry::File { mode, content },
            Entry::File {
                mode: other_mode,
                content: other,
            },
        ) => mode == other_mode && content.hash == other.hash,
        _ => a == b,
    }
}
