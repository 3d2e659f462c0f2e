//! A program made once more with sanitizers, from the same sources and in the same tree as the plain one.
//!
//! That takes as long as compiling what the program consists of. A build of the whole project takes
//! as long as configuring it and making all of its programs, and where it also runs its tests, they
//! fail for what sanitizers find in them.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::build::{Flavour, Task};
use crate::cache::{Entry, Finished};
use crate::error::Doing;
use crate::process::Run;
use crate::tree::{FOREIGN, Tree};
use crate::unit::Unit;
use crate::{BuildError, Record, VersionSpec, record, sanitize};

/// Makes the program of a version again in `entry`. `None` if the version is not built, or its program
/// cannot be made so.
pub(crate) fn again(
    task: Task<'_>,
    spec: &VersionSpec,
    entry: &Entry,
) -> Result<Option<Finished>, BuildError> {
    let plain = Task {
        flavour: Flavour::Plain,
        ..task
    };
    let plain = task.cache.entry(&Tree { task: plain, spec }.key()?)?;
    let Some(Finished {
        program, record, ..
    }) = plain.finished()
    else {
        return Ok(None);
    };
    let is_known = !record.units.is_empty() && record.units.iter().all(Unit::is_unchanged);
    let (true, Some(name)) = (is_known, program.file_name()) else {
        return Ok(None);
    };
    entry.clear()?;
    let again = Again {
        task,
        tools: task.cache.wrappers()?,
        dir: entry.dir.join("again"),
        log: File::create(&entry.log).doing(|| "write the log".into())?,
    };
    let program = again.dir.join(name);
    let made = again.make(&record, &program);
    if !made.doing(|| "compile again".into())? {
        return Ok(None);
    }
    let finished = Finished {
        program: program
            .strip_prefix(&entry.dir)
            .unwrap_or(&program)
            .to_owned(),
        bitcode: None,
        record: Record::default(),
    };
    entry.finish(&finished)?;
    Ok(Some(finished))
}

struct Again<'a> {
    task: Task<'a>,
    /// Where the stand-ins are.
    tools: PathBuf,
    /// Where objects and program go.
    dir: PathBuf,
    log: File,
}

impl Again<'_> {
    /// Whether it could be done.
    fn make(&self, record: &Record, program: &Path) -> io::Result<bool> {
        std::fs::create_dir_all(&self.dir)?;
        let units = &record.units;
        let object = |number: usize| self.dir.join(format!("{number}.o"));
        let next = AtomicUsize::new(0);
        let work = || -> io::Result<bool> {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(unit) = units.get(number) else {
                    return Ok(true);
                };
                let run = unit.run(&self.tools).args(["-c", "-o"]);
                if !self.run(run.args([object(number)]))?.success() {
                    // The others need not go on.
                    next.store(units.len(), Ordering::Relaxed);
                    return Ok(false);
                }
            }
        };
        let compiled = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..workers()).map(|_| scope.spawn(work)).collect();
            let results = workers.into_iter().map(|worker| worker.join());
            let results = results
                .map(|done| done.unwrap_or_else(|_| Err(io::Error::other("compiling failed"))));
            results.collect::<io::Result<Vec<bool>>>()
        })?;
        if compiled.contains(&false) {
            return Ok(false);
        }
        let by_cxx = record.command.first().map(Path::new) == Some(&self.task.tools.clangxx);
        let tool = self.tools.join(if by_cxx { "clang++" } else { "clang" });
        let objects: Vec<_> = (0..units.len()).map(|it| object(it).into()).collect();
        let run = Run::new(tool).dir(&record.directory).many_args(&objects)?;
        // Builds throw away archives of their own after the link; all they had in them is here.
        let is_gone = |word: &&String| word.starts_with('/') && !Path::new(word).exists();
        let others = record.link_args.iter().filter(|word| !is_gone(word));
        let run = run.args(others).arg("-o", program);
        Ok(self.run(run)?.success() && program.is_file())
    }

    fn run(&self, run: Run) -> io::Result<ExitStatus> {
        let run = run.without_env(&FOREIGN).without_env(&[record::RECORD_DIR]);
        let run = sanitize::environment(run, self.task.flavour);
        writeln!(&self.log, "$ {run}")?;
        self.task.log(run, &self.log)
    }
}

/// Both versions are made at the same time, beside a search.
fn workers() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    cores.div_ceil(2)
}
