//! The only place that starts child processes.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::NamedTempFile;

/// Beyond this many bytes, arguments go into a response file. Linux accepts about two
/// megabytes in all, but the environment counts too.
const LONG_COMMAND: usize = 256 * 1024;

/// A command that is about to run.
pub(crate) struct Run {
    command: Command,
    /// Keeps a response file alive until the command has ended.
    _response: Option<NamedTempFile>,
}

impl Run {
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            command: Command::new(program),
            _response: None,
        }
    }

    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.command.args(args);
        self
    }

    /// An option with its value.
    pub fn arg(self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.args([OsStr::new(name), value.as_ref()])
    }

    /// Like `args`, for programs that read `@file`, when there may be very many of them.
    pub fn many_args(mut self, args: &[OsString]) -> io::Result<Self> {
        if args.iter().map(|arg| arg.len() + 1).sum::<usize>() < LONG_COMMAND {
            return Ok(self.args(args));
        }
        let mut file = NamedTempFile::new()?;
        for arg in args {
            file.write_all(&crate::response::quote(arg))?;
        }
        file.flush()?;
        let mut reference = OsString::from("@");
        reference.push(file.path());
        self.command.arg(reference);
        self._response = Some(file);
        Ok(self)
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub fn without_env(mut self, names: &[&str]) -> Self {
        for name in names {
            self.command.env_remove(name);
        }
        self
    }

    pub fn dir(mut self, dir: &Path) -> Self {
        self.command.current_dir(dir);
        self
    }

    /// Runs it with nothing to read and keeps what it writes.
    pub fn capture(mut self) -> io::Result<Output> {
        self.command.stdin(Stdio::null()).output()
    }

    /// Runs it, gives it `input` to read, and keeps what it writes.
    pub fn capture_with(mut self, input: Option<&[u8]>) -> io::Result<Output> {
        let Some(input) = input else {
            return self.capture();
        };
        self.command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = self.command.spawn()?;
        let stdin = child.stdin.take();
        std::thread::scope(|scope| {
            scope.spawn(move || feed(stdin, input));
            child.wait_with_output()
        })
    }

    /// Runs it with our own output, and our own input unless `input` replaces that.
    pub fn pass(mut self, input: Option<&[u8]>) -> io::Result<ExitStatus> {
        let Some(input) = input else {
            return self.command.status();
        };
        let mut child = self.command.stdin(Stdio::piped()).spawn()?;
        feed(child.stdin.take(), input);
        child.wait()
    }

    /// Runs it with nothing to read; both outputs go to the end of `log`.
    pub fn log_into(mut self, log: &File) -> io::Result<ExitStatus> {
        let (stdout, stderr) = (log.try_clone()?, log.try_clone()?);
        self.command
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr)
            .status()
    }

    /// Gives it this environment and nothing else.
    pub fn only_env(mut self, variables: &BTreeMap<OsString, OsString>) -> Self {
        self.command.env_clear().envs(variables);
        self
    }

    /// Starts it like `log_into`, in a process group of its own, without waiting for it.
    pub fn start_into(mut self, log: &File) -> io::Result<Child> {
        let (stdout, stderr) = (log.try_clone()?, log.try_clone()?);
        self.command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr)
            .spawn()
    }

    /// Runs it like `log_into`, where it can be stopped.
    pub fn log_into_on(self, log: &File, leash: &Leash) -> io::Result<ExitStatus> {
        let mut child = leash.start(|| self.start_into(log))?;
        let status = child.wait();
        leash.let_go(&child);
        status
    }

    /// Becomes that program; returns only when it cannot be started.
    pub fn replace_us(mut self) -> io::Error {
        self.command.exec()
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = [self.command.get_program()].into_iter();
        let words = program.chain(self.command.get_args());
        let words = words.map(OsStr::to_string_lossy);
        write!(f, "{}", shell_words::join(words))
    }
}

/// What builds in the background are kept on, so that none goes on when nobody wants its result any more.
#[derive(Debug, Clone, Default)]
pub struct Leash {
    state: Arc<Mutex<Held>>,
}

#[derive(Debug, Default)]
struct Held {
    groups: Vec<u32>,
    is_over: bool,
}

impl Leash {
    /// Ends what runs, with all that it started; nothing starts any more.
    pub fn pull(&self) {
        let mut held = self.held();
        held.is_over = true;
        for group in held.groups.drain(..) {
            signal(group, Signal::KILL);
        }
    }

    fn start(&self, start: impl FnOnce() -> io::Result<Child>) -> io::Result<Child> {
        let mut held = self.held();
        if held.is_over {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let child = start()?;
        held.groups.push(child.id());
        Ok(child)
    }

    fn let_go(&self, child: &Child) {
        self.held().groups.retain(|group| *group != child.id());
    }

    /// What is held is right at any time, also where a thread panicked.
    fn held(&self) -> MutexGuard<'_, Held> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks a command and all that it started to end, or makes them.
pub(crate) fn stop(child: &Child, at_once: bool) {
    let how = if at_once { Signal::KILL } else { Signal::TERM };
    signal(child.id(), how);
}

fn signal(group: u32, signal: Signal) {
    // If there is nobody any more, all the better.
    if let Some(group) = i32::try_from(group).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, signal);
    }
}

/// A program that stops reading early is not an error of ours.
fn feed(stdin: Option<std::process::ChildStdin>, input: &[u8]) {
    if let Some(mut stdin) = stdin {
        let _ = stdin.write_all(input);
    }
}

/// The exit code as a shell reports it.
pub(crate) fn exit_code(status: ExitStatus) -> i32 {
    status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// The first line of a message that names an error, or else the first line at all.
pub(crate) fn first_error(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.clone().next().unwrap_or_default();
    lines
        .find(|line| line.contains("error:"))
        .unwrap_or(first)
        .to_owned()
}

/// Whether an argument begins with this text.
pub(crate) fn starts_with(arg: &OsStr, prefix: &str) -> bool {
    arg.as_bytes().starts_with(prefix.as_bytes())
}
