//! The directory in which versions are built and kept.
//!
//! ```text
//! builds/KEY/tree       the sources, built in place: rpaths and libtool need them to stay
//! builds/KEY/built.json written last; an entry without it is the rest of a crash
//! logs/KEY.log          what the build printed
//! locks/KEY             held while an entry is made or looked up
//! KIND/KEY              what was made from builds, see `kept`
//! tools/HASH/clang      scripts that call `beagle cc`, for builds that want a path as CC
//! ```
//!
//! The key covers everything that goes into a build, so entries never become stale.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use etcetera::BaseStrategy;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::error::Doing;
use crate::process::{Run, first_error};
use crate::tools::{Tools, file_identity};
use crate::{BuildError, Record, record};

/// Where builds are kept, and which executable stands in for the compiler.
#[derive(Debug, Clone)]
pub struct Cache {
    /// The directory of the cache.
    pub root: PathBuf,
    /// An executable that understands `cc`, `c++` and `ld` as its first argument.
    pub beagle: PathBuf,
}

impl Cache {
    /// The user's cache: `$BEAGLE_CACHE`, `$XDG_CACHE_HOME/beagle` or `~/.cache/beagle`, with
    /// the running executable as the stand-in.
    pub fn open() -> Result<Self, BuildError> {
        let root = match std::env::var_os("BEAGLE_CACHE").filter(|dir| !dir.is_empty()) {
            Some(dir) => PathBuf::from(dir),
            None => etcetera::choose_base_strategy()
                .map_err(|error| std::io::Error::other(error.to_string()))
                .doing(|| "find the home directory".into())?
                .cache_dir()
                .join("beagle"),
        };
        let beagle = std::env::current_exe().doing(|| "find the path of beagle".into())?;
        Self::at(&root, &beagle)
    }

    /// A cache in a given directory with a given stand-in.
    pub fn at(root: &Path, beagle: &Path) -> Result<Self, BuildError> {
        std::fs::create_dir_all(root).doing(|| format!("create {}", root.display()))?;
        // Builds see these paths, so they must not depend on how the cache was named.
        let root = root
            .canonicalize()
            .doing(|| format!("find {}", root.display()))?;
        Ok(Self {
            root,
            beagle: beagle.to_owned(),
        })
    }

    /// A cache in another directory, for what is not worth keeping.
    pub fn elsewhere(&self, root: &Path) -> Result<Self, BuildError> {
        Self::at(root, &self.beagle)
    }

    /// Waits until no one else works on this entry, and enters.
    pub(crate) fn entry(&self, key: &str) -> Result<Entry, BuildError> {
        let [locks, logs, builds] = ["locks", "logs", "builds"].map(|name| self.root.join(name));
        for dir in [&locks, &logs, &builds] {
            fs_err::create_dir_all(dir).doing(|| "use the cache".into())?;
        }
        let lock = fs_err::File::create(locks.join(key)).doing(|| "lock the cache".into())?;
        let lock = lock.into_parts().0;
        loop {
            match flock(&lock, FlockOperation::LockExclusive) {
                Ok(()) => break,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()).doing(|| "lock the cache".into()),
            }
        }
        Ok(Entry {
            dir: builds.join(key),
            log: logs.join(format!("{key}.log")),
            _lock: Some(lock),
        })
    }

    /// The directory with scripts that call the stand-in.
    ///
    /// They are named like what is behind them, since builds draw conclusions from the name: to
    /// CMake, `beagle-cc` would be a cross compiler that comes with a `beagle-ar`.
    /// It is the same for all versions, since builds like to write the name of the compiler
    /// into the program.
    pub(crate) fn wrappers(&self) -> Result<PathBuf, BuildError> {
        let beagle = self.beagle.to_string_lossy();
        let hash = blake3::hash(beagle.as_bytes()).to_hex();
        let dir = self.root.join("tools").join(&hash.as_str()[..12]);
        let quoted = shell_words::quote(&beagle);
        let tools = Tools::find()?;
        let all = [
            ("clang", "cc", Some(&tools.clang)),
            ("clang++", "c++", Some(&tools.clangxx)),
            ("ld", "ld", None),
        ];
        for (name, word, real) in all {
            let path = dir.join(name);
            // Configure scripts call the compiler hundreds of times, for nothing that is kept: they
            // need not wait for us to start and find that out.
            let checks = real.map(|real| {
                let real = real.to_string_lossy();
                let real = shell_words::quote(&real).into_owned();
                format!("case \" $*\" in *\" conftest.\"*) exec {real} \"$@\" ;; esac\n")
            });
            let checks = checks.unwrap_or_default();
            let script = format!("#!/bin/sh\n{checks}exec {quoted} {word} \"$@\"\n");
            if std::fs::read(&path).is_ok_and(|text| text == script.as_bytes()) {
                continue;
            }
            self.write_script(&path, &script)
                .doing(|| format!("write {}", path.display()))?;
        }
        Ok(dir)
    }

    /// Writes a script, in a process of its own and under another name first. If this process
    /// held the file open for writing, another thread could start a child at that moment, which
    /// has the file open too until it has become its program; and nobody can run a script that
    /// is open for writing.
    fn write_script(&self, path: &Path, script: &str) -> std::io::Result<()> {
        const WRITE: &str = r#"mkdir -p "$(dirname "$1")" && t="$1.$$" && printf %s "$2" > "$t" && chmod 755 "$t" && mv "$t" "$1""#;
        let run = Run::new("sh").args(["-c", WRITE, "sh"]);
        let output = run.args([path.as_os_str(), script.as_ref()]).capture()?;
        if output.status.success() {
            Ok(())
        } else {
            Err(std::io::Error::other(first_error(&output.stderr)))
        }
    }

    /// A text that changes when the stand-in is replaced.
    pub(crate) fn identity(&self) -> String {
        format!(
            "{} {}",
            env!("CARGO_PKG_VERSION"),
            file_identity(&self.beagle)
        )
    }
}

/// A place for one build, locked.
#[derive(Debug)]
pub(crate) struct Entry {
    pub dir: PathBuf,
    pub log: PathBuf,
    _lock: Option<File>,
}

/// What `built.json` says.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Finished {
    /// The program, relative to the entry.
    pub program: PathBuf,
    /// The bitcode, relative to the entry, if the build is one that has it.
    pub bitcode: Option<PathBuf>,
    /// What is known about the link.
    pub record: Record,
}

impl Entry {
    /// A place that nobody else knows.
    pub fn private(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            log: dir.join("log"),
            _lock: None,
        }
    }

    /// What an earlier build left here, if it is complete.
    pub fn finished(&self) -> Option<Finished> {
        let json = std::fs::read(self.marker()).ok()?;
        let finished: Finished = serde_json::from_slice(&json).ok()?;
        let is_there = |file: &PathBuf| self.dir.join(file).is_file();
        let complete = is_there(&finished.program) && finished.bitcode.iter().all(is_there);
        complete.then_some(finished)
    }

    /// Makes the entry an empty directory.
    pub fn clear(&self) -> Result<(), BuildError> {
        let clear = || {
            // Without the marker, what is left if this is interrupted does not count.
            for path in [&self.marker(), &self.dir] {
                let removed = match path.is_dir() {
                    true => remove_all(path),
                    false => std::fs::remove_file(path),
                };
                match removed {
                    Err(error) if path.exists() => return Err(error),
                    _ => {}
                }
            }
            fs_err::create_dir_all(&self.dir)
        };
        clear().doing(|| "clear a place in the cache".into())
    }

    /// Declares the entry complete.
    pub fn finish(&self, finished: &Finished) -> Result<(), BuildError> {
        let json = serde_json::to_vec(finished).unwrap_or_default();
        record::replace(&json, &self.marker()).doing(|| "write to the cache".into())
    }

    fn marker(&self) -> PathBuf {
        self.dir.join("built.json")
    }
}

/// Removes a directory in which a build that was killed may still write for a moment.
fn remove_all(dir: &Path) -> std::io::Result<()> {
    const TRIES: u32 = 20;
    let mut tries = 1;
    loop {
        match std::fs::remove_dir_all(dir) {
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty && tries < TRIES => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(50));
            }
            result => return result,
        }
    }
}

/// A cache key from everything that matters.
pub(crate) fn key<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        // The length keeps neighbouring parts apart.
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().to_hex().as_str()[..24].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache() -> (tempfile::TempDir, Cache) {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::at(&dir.path().join("cache"), Path::new("/bin/true")).unwrap();
        (dir, cache)
    }

    #[test]
    fn keys_keep_neighbouring_parts_apart() {
        assert_ne!(key([&b"ab"[..], b"c"]), key([&b"a"[..], b"bc"]));
        assert_eq!(key([&b"ab"[..]]), key([&b"ab"[..]]));
    }

    #[test]
    fn an_entry_counts_only_when_it_is_finished_and_complete() {
        let (_dir, cache) = cache();
        let entry = cache.entry("k").unwrap();
        entry.clear().unwrap();
        assert!(entry.finished().is_none());
        for file in ["p", "p.bc"] {
            std::fs::write(entry.dir.join(file), "").unwrap();
        }
        let record = Record::default();
        entry
            .finish(&Finished {
                program: "p".into(),
                bitcode: Some("p.bc".into()),
                record,
            })
            .unwrap();
        assert!(entry.finished().is_some());
        std::fs::remove_file(entry.dir.join("p")).unwrap();
        assert!(entry.finished().is_none());
        entry.clear().unwrap();
        assert!(std::fs::read_dir(&entry.dir).unwrap().next().is_none());
    }

    #[test]
    fn an_entry_is_held_by_one_at_a_time() {
        let (_dir, cache) = cache();
        let held = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let _entry = cache.entry("k").unwrap();
                    assert_eq!(held.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                    std::thread::yield_now();
                    held.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                });
            }
        });
    }

    #[test]
    fn wrappers_are_scripts_that_run_the_stand_in() {
        let (_dir, cache) = cache();
        let script = cache.wrappers().unwrap().join("clang++");
        assert!(
            crate::process::Run::new(script)
                .capture()
                .unwrap()
                .status
                .success()
        );
        cache.wrappers().unwrap();
    }
}
