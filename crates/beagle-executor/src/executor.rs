//! The life of a run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use beagle_trace::{Input, Limits, Malformed, Memory, Observed, Sizes, Trace};

use crate::capture::{Capture, Captured};
use crate::directory::Directory;
use crate::error::{ExecutorError, doing};
use crate::outcome::Outcome;
use crate::server::{Server, Setup};

/// What stays the same for all runs of a program.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name under which the program is started; its path if there is none. What runs get to see
    /// is the first argument of their input.
    pub argv0: Option<OsString>,
    /// The directory in which the program runs; everything in it is deleted. If there is none, a
    /// temporary one is made.
    pub directory: Option<PathBuf>,
    /// A tree that is copied into that directory before each run.
    pub fixture: Option<PathBuf>,
    /// Environment variables besides `PATH`, `HOME`, `LC_ALL` and `TZ`.
    pub environment: Vec<(OsString, OsString)>,
    /// The sizes of the shared memory.
    pub sizes: Sizes,
    /// How long the program may take to get ready.
    pub start_time: Duration,
    /// How many bytes of standard output and standard error each are kept.
    pub output_cap: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            argv0: None,
            directory: None,
            fixture: None,
            environment: Vec::new(),
            sizes: Sizes::default(),
            start_time: Duration::from_secs(30),
            output_cap: 256 << 20,
        }
    }
}

/// A traced program that is ready to run.
#[derive(Debug)]
pub struct Executor {
    program: PathBuf,
    options: Options,
    // Dropped first, so that no process is left that uses the rest.
    server: Option<Server>,
    memory: Memory,
    stdout: Capture,
    stderr: Capture,
    directory: Directory,
    /// The directory that the server has as its own.
    inside: Option<u64>,
}

/// What one run did.
#[derive(Debug)]
pub struct Run<'a> {
    /// What it recorded. A program that writes into memory at random can damage this.
    pub trace: Result<Trace<'a>, Malformed>,
    /// How it ended.
    pub outcome: Outcome,
    /// What it wrote to standard output.
    pub stdout: Captured,
    /// What it wrote to standard error.
    pub stderr: Captured,
    /// How long it took, by the clock.
    pub time: Duration,
}

impl Run<'_> {
    /// What the self-check of the trace wants to know.
    pub fn observed(&self) -> Observed<'_> {
        Observed {
            stdout: &self.stdout,
            stderr: &self.stderr,
            exited: matches!(self.outcome, Outcome::Exit(_))
                && !self.stdout.truncated
                && !self.stderr.truncated,
        }
    }
}

impl Executor {
    /// Starts a program up to where it could run inputs.
    pub fn start(program: &Path, options: Options) -> Result<Self, ExecutorError> {
        let capture = |name| Capture::new(name).map_err(doing("make a file for output"));
        let mut executor = Self {
            program: program.to_owned(),
            server: None,
            memory: Memory::new(options.sizes)?,
            stdout: capture("beagle-stdout")?,
            stderr: capture("beagle-stderr")?,
            directory: Directory::new(options.directory.clone(), options.fixture.clone())?,
            options,
            inside: None,
        };
        executor.server = Some(executor.start_server()?);
        Ok(executor)
    }

    /// Runs the program on an input.
    ///
    /// After an error the executor can still be used: if need be, the next run starts the program
    /// anew.
    pub fn run(&mut self, input: &Input, limits: &Limits) -> Result<Run<'_>, ExecutorError> {
        self.directory.reset()?;
        let moved = self.directory.identity() != self.inside;
        let mut server = match self.server.take() {
            Some(server) if !moved => server,
            // Dropped here, so that no two servers share the memory.
            old => {
                drop(old);
                self.start_server()?
            }
        };
        if let Err(error) = self.prepare(input, limits) {
            self.server = Some(server);
            return Err(error);
        }
        let start = Instant::now();
        let result = server.run(limits.time);
        let time = start.elapsed();
        let outcome = match result {
            Ok(outcome) => outcome,
            Err(error) => {
                if matches!(error, ExecutorError::Fork { .. }) {
                    self.server = Some(server);
                }
                return Err(error);
            }
        };
        self.server = Some(server);
        let read = |capture: &Capture| {
            capture
                .read(self.options.output_cap)
                .map_err(doing("read what the traced program wrote"))
        };
        Ok(Run {
            outcome,
            stdout: read(&self.stdout)?,
            stderr: read(&self.stderr)?,
            trace: self.memory.trace(),
            time,
        })
    }

    /// What the last run recorded, also if it ended in an error.
    pub fn trace(&self) -> Result<Trace<'_>, Malformed> {
        self.memory.trace()
    }

    /// The directory in which the program runs, with what the last run left there.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The program.
    pub fn program(&self) -> &Path {
        &self.program
    }

    fn start_server(&mut self) -> Result<Server, ExecutorError> {
        self.clear_captures()?;
        self.inside = self.directory.identity();
        let mut server = Server::spawn(Setup {
            program: &self.program,
            argv0: self.options.argv0.as_ref(),
            directory: self.directory.path(),
            environment: &self.options.environment,
            memory: self
                .memory
                .fd()
                .try_clone_to_owned()
                .map_err(doing("share memory"))?,
            stdout: self.stdout.descriptor().map_err(doing("share a file"))?,
            stderr: self.stderr.descriptor().map_err(doing("share a file"))?,
        })?;
        server
            .wait_ready(&self.program, self.options.start_time)
            .map_err(|error| self.with_stderr(error))?;
        Ok(server)
    }

    fn prepare(&mut self, input: &Input, limits: &Limits) -> Result<(), ExecutorError> {
        self.memory.prepare(input, limits)?;
        self.clear_captures()
    }

    fn clear_captures(&mut self) -> Result<(), ExecutorError> {
        self.stdout
            .clear()
            .and_then(|()| self.stderr.clear())
            .map_err(doing("clear what the traced program wrote"))
    }

    /// Adds what the program wrote to an error of its start.
    fn with_stderr(&self, mut error: ExecutorError) -> ExecutorError {
        if let ExecutorError::DiedAtStart { stderr, .. } | ExecutorError::NotReady { stderr, .. } =
            &mut error
        {
            *stderr = self.stderr.text();
        }
        error
    }
}
