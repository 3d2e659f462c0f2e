//! Running a project's own test-suite in the copy of its tree, and hearing what it does with the
//! program.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::build::{Flavour, Progress, Task};
use crate::cache::Entry;
use crate::error::Doing;
use crate::process::{Run, exit_code, stop};
use crate::program::behind_libtool;
use crate::spool::Invocation;
use crate::tree::{FOREIGN, Tree};
use crate::{BuildError, Cache, Config, Tools, VersionSpec, recorder, spool};

/// How often it is looked what the suite has done.
const EVERY: Duration = Duration::from_millis(30);

/// How long a suite that is asked to end may take.
const PATIENCE: Duration = Duration::from_secs(3);

/// A version with a test-suite, built so that the runs of its program are noted. As long as it is
/// there, nobody else uses its tree.
#[derive(Debug)]
pub struct Suite {
    /// The version.
    pub label: String,
    /// The root of the tree in which the suite runs: a copy of the user's.
    pub tree: PathBuf,
    /// The program.
    pub program: PathBuf,
    /// The environment in which the suite is started.
    pub environment: BTreeMap<OsString, OsString>,
    entry: Entry,
    spool: PathBuf,
}

/// What is heard of a suite while it runs.
#[derive(Debug)]
pub enum Heard {
    /// The program was run.
    Invocation(Box<Invocation>),
    /// The program was run, but what it noted cannot be read.
    Lost(String),
    /// Nothing new; called again and again.
    Nothing,
}

/// Whether the suite goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It does.
    GoOn,
    /// It is made to end.
    Stop,
}

/// A test-suite that has ended.
#[derive(Debug)]
pub struct Ended {
    /// The command, as it would be typed.
    pub command: String,
    /// Its exit status.
    pub code: i32,
    /// What it printed.
    pub log: PathBuf,
    /// Runs that were only counted, because there were enough.
    pub uncounted: u64,
}

impl Suite {
    /// Builds the version with a recorder, or finds that in the cache. Whatever an earlier suite
    /// left in the tree is gone. The user's files are never written to.
    pub fn prepare(
        spec: &VersionSpec,
        config: &Config,
        cache: &Cache,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Self, BuildError> {
        let label = spec.label();
        if let VersionSpec::File { .. } = spec {
            return Err(BuildError::NoSuite { label });
        }
        let tools = Tools::find()?;
        let task = Task {
            label: &label,
            config,
            cache,
            tools: &tools,
            flavour: Flavour::Recorded,
            leash: None,
        };
        let tree = Tree { task, spec };
        let entry = cache.entry(&tree.key()?)?;
        let root = entry.dir.join("tree");
        let finished = match entry.finished() {
            Some(finished) => {
                let label = label.clone();
                progress(Progress::Cached { label });
                finished
            }
            None => tree.build(&entry, &root, progress)?,
        };
        let program = entry.dir.join(&finished.program);
        restore(&entry, &root).doing(|| "prepare the tree for the test-suite".into())?;
        Ok(Self {
            spool: open_spool(&entry, &label, &program)?,
            environment: environment(&tree, &entry, &root)?,
            tree: root,
            program,
            entry,
            label,
        })
    }

    /// Runs a command in the tree; a single word is one for the shell. At most so many runs of the
    /// program are noted. The command is ended when `heard` says so.
    pub fn run(
        &self,
        command: &[OsString],
        most: u64,
        heard: &mut dyn FnMut(Heard) -> Next,
    ) -> Result<Ended, BuildError> {
        let text = match command {
            [line] => line.to_string_lossy().into_owned(),
            _ => shell_words::join(command.iter().map(|word| word.to_string_lossy())),
        };
        let log = self.entry.log.with_extension("suite.log");
        let mut file = fs_err::File::create(&log).doing(|| "write the log".into())?;
        writeln!(file, "$ {text}").doing(|| "write the log".into())?;
        let run = match command {
            [line] => Run::new("sh").args([OsStr::new("-c"), line]),
            [program, args @ ..] => Run::new(program).args(args),
            [] => Run::new("true"),
        };
        let mut child = run
            .dir(&self.tree)
            .only_env(&self.environment)
            .start_into(file.file())
            .doing(|| format!("run `{text}`"))?;
        let mut seen = 0;
        let mut ending: Option<Instant> = None;
        let status = loop {
            let status = child.try_wait().doing(|| format!("wait for `{text}`"))?;
            seen += self.take(status.is_some(), heard)?;
            if let Some(status) = status {
                break status;
            }
            if seen >= most {
                let mut options = fs_err::OpenOptions::new();
                let opened = options.create(true).append(true).open(self.enough());
                opened.doing(|| "limit what is recorded".into())?;
            }
            if heard(Heard::Nothing) == Next::Stop {
                let since = *ending.get_or_insert_with(Instant::now);
                stop(&child, since.elapsed() > PATIENCE);
            }
            std::thread::sleep(EVERY);
        };
        Ok(Ended {
            command: text,
            code: exit_code(status),
            log,
            uncounted: self.enough().metadata().map_or(0, |it| it.len()),
        })
    }

    /// Hands on the runs that are over; how many there were.
    fn take(&self, all: bool, heard: &mut dyn FnMut(Heard) -> Next) -> Result<u64, BuildError> {
        let found = spool::finished(&self.spool, all).doing(|| "read what was recorded".into())?;
        for dir in &found {
            heard(match spool::read(dir) {
                Ok(invocation) => Heard::Invocation(Box::new(invocation)),
                Err(error) => Heard::Lost(error.to_string()),
            });
            // What cannot be removed would be handed on again and again.
            fs_err::remove_dir_all(dir).doing(|| "remove what was recorded".into())?;
        }
        Ok(found.len() as u64)
    }

    fn enough(&self) -> PathBuf {
        self.spool.join("enough")
    }
}

impl Drop for Suite {
    fn drop(&mut self) {
        // It is no trouble if something is left; the next suite begins by removing it.
        let _ = fs_err::remove_dir_all(&self.spool);
    }
}

/// As for a build: what the suite compiles has the recorder, too.
fn environment(
    tree: &Tree<'_>,
    entry: &Entry,
    root: &Path,
) -> Result<BTreeMap<OsString, OsString>, BuildError> {
    let mut all: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    for name in FOREIGN {
        all.remove(OsStr::new(name));
    }
    for (name, value) in tree.environment()? {
        all.insert(name.into(), value.into());
    }
    for (name, value) in recorder::variables(&tree.task, &entry.dir)? {
        all.insert(name.into(), value.into());
    }
    all.insert(crate::compiler::TREE.into(), root.into());
    Ok(all)
}

/// Makes the tree what it was when the build had ended.
fn restore(entry: &Entry, root: &Path) -> std::io::Result<()> {
    let kept = entry.dir.join("pristine");
    if !kept.is_dir() {
        let part = entry.dir.join("pristine.part");
        if part.exists() {
            fs_err::remove_dir_all(&part)?;
        }
        copy(root, &part)?;
        return fs_err::rename(part, kept);
    }
    if root.exists() {
        fs_err::remove_dir_all(root)?;
    }
    copy(&kept, root)
}

/// A copy with all times, so that nothing looks as if it had to be built anew.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    let run = Run::new("cp").args(["-a", "--reflink=auto", "--"]);
    let output = run.args([from, to]).capture()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(std::io::Error::other(crate::process::first_error(
            &output.stderr,
        ))),
    }
}

/// An empty spool for the runs of a program.
fn open_spool(entry: &Entry, label: &str, program: &Path) -> Result<PathBuf, BuildError> {
    let binary = behind_libtool(program).unwrap_or_else(|| program.to_owned());
    let name = recorder::name_of(&binary).doing(|| "read the program".into())?;
    let name = name.filter(|_| program.starts_with(&entry.dir));
    let name = name.ok_or_else(|| BuildError::NoRecorder {
        label: label.into(),
        program: program.to_owned(),
    })?;
    let spool = recorder::spool(&entry.dir);
    let open = || {
        if spool.exists() {
            fs_err::remove_dir_all(&spool)?;
        }
        fs_err::create_dir(&spool)?;
        fs_err::write(spool.join("program"), name)
    };
    open().doing(|| "make a place for what is recorded".into())?;
    Ok(spool)
}
