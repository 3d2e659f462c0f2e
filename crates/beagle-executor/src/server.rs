//! The process of the fork server, and how to talk to it.
//!
//! The server says [`READY`] once. For each run it gets [`RUN`] and answers with the process id of
//! the run (or the negated error number, if there is none), and when that has ended, with its wait
//! status; numbers are four bytes, the low one first. It ends when the connection is closed.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use beagle_enclosure::confine;
use beagle_trace::layout::{CONTROL_FD, MEMORY_FD, STDERR_FD, STDOUT_FD};
use command_fds::{CommandFdExt, FdMapping};
use rustix::process::{Pid, Signal};

use crate::Outcome;
use crate::error::{ExecutorError, doing};

const READY: &[u8; 8] = b"BGREADY\0";
const RUN: u32 = 1;
/// How long the server may take to tell that a killed run has ended, and to end itself.
const GRACE: Duration = Duration::from_secs(10);

/// What a server is started with.
pub(crate) struct Setup<'a> {
    pub program: &'a Path,
    pub argv0: Option<&'a OsString>,
    pub directory: &'a Path,
    pub environment: &'a [(OsString, OsString)],
    pub memory: OwnedFd,
    pub stdout: OwnedFd,
    pub stderr: OwnedFd,
}

/// A fork server.
#[derive(Debug)]
pub(crate) struct Server {
    process: Child,
    control: UnixStream,
}

/// Why there is no answer.
#[derive(Debug)]
enum NoAnswer {
    /// The other side has gone.
    Ended,
    /// The time is up.
    Late,
}

impl Server {
    /// Starts a server that has yet to say that it is ready.
    pub(crate) fn spawn(setup: Setup<'_>) -> Result<Self, ExecutorError> {
        let program = absolute(setup.program)?;
        let (control, other) = UnixStream::pair().map_err(doing("make a socket"))?;
        let share = |fd: &OwnedFd| fd.try_clone().map_err(doing("share a file"));
        let mut command = Command::new(&program);
        if let Some(argv0) = setup.argv0 {
            command.arg0(argv0);
        }
        command
            .current_dir(setup.directory)
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", setup.directory)
            .env("LC_ALL", "C")
            .env("TZ", "UTC")
            .envs(setup.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            // What is written before `main` concerns no run, but tells why there will be none.
            .stdout(share(&setup.stdout)?)
            .stderr(share(&setup.stderr)?);
        let mappings = [
            (setup.memory, MEMORY_FD),
            (other.into(), CONTROL_FD),
            (setup.stdout, STDOUT_FD),
            (setup.stderr, STDERR_FD),
        ];
        command
            .fd_mappings(
                mappings
                    .map(|(parent_fd, child_fd)| FdMapping {
                        parent_fd,
                        child_fd,
                    })
                    .into(),
            )
            .map_err(|error| ExecutorError::System {
                doing: "pass files to the traced program",
                source: io::Error::other(error),
            })?;
        let process = confined(setup.directory, || command.spawn());
        let process = process.map_err(|source| ExecutorError::NotStarted { program, source })?;
        // The command holds our copy of the server's end of the socket: as long as that is open,
        // the end of the server would not be seen.
        drop(command);
        Ok(Self { process, control })
    }

    /// Waits for the server to be ready. The errors have no text of standard error yet.
    pub(crate) fn wait_ready(
        &mut self,
        program: &Path,
        time: Duration,
    ) -> Result<(), ExecutorError> {
        let mut answer = [0; 8];
        let result = self.receive(&mut answer, Instant::now() + time);
        let (program, stderr) = (program.to_owned(), String::new());
        match result {
            Ok(()) if &answer == READY => Ok(()),
            Err(NoAnswer::Ended) => Err(ExecutorError::DiedAtStart {
                status: self.end(GRACE),
                program,
                stderr,
            }),
            Ok(()) | Err(NoAnswer::Late) => {
                self.end(Duration::ZERO);
                Err(ExecutorError::NotReady {
                    program,
                    time,
                    stderr,
                })
            }
        }
    }

    /// Runs the program once, with all that lies in the shared memory.
    pub(crate) fn run(&mut self, time: Duration) -> Result<Outcome, ExecutorError> {
        // A time limit beyond the range of the clock is none, but an end has to be set.
        let now = Instant::now();
        let deadline = now
            .checked_add(time)
            .unwrap_or(now + Duration::from_secs(1 << 30));
        if self.control.write_all(&RUN.to_le_bytes()).is_err() {
            return Err(self.died());
        }
        let pid = match self.number(now + GRACE) {
            Ok(number) => number,
            Err(NoAnswer::Ended) => return Err(self.died()),
            Err(NoAnswer::Late) => return Err(self.stuck()),
        };
        let Some(pid) = Pid::from_raw(pid.max(0)) else {
            return Err(ExecutorError::Fork {
                source: io::Error::from_raw_os_error(-pid),
            });
        };
        match self.number(deadline) {
            Ok(status) => return Ok(Outcome::from_wait_status(status)),
            Err(NoAnswer::Ended) => {
                kill(pid);
                return Err(self.died());
            }
            Err(NoAnswer::Late) => kill(pid),
        }
        match self.number(Instant::now() + GRACE) {
            Ok(_) => Ok(Outcome::TimedOut),
            Err(NoAnswer::Ended) => Err(self.died()),
            Err(NoAnswer::Late) => Err(self.stuck()),
        }
    }

    fn number(&mut self, deadline: Instant) -> Result<i32, NoAnswer> {
        let mut bytes = [0; 4];
        self.receive(&mut bytes, deadline)?;
        Ok(i32::from_le_bytes(bytes))
    }

    fn receive(&mut self, mut bytes: &mut [u8], deadline: Instant) -> Result<(), NoAnswer> {
        while !bytes.is_empty() {
            let rest = deadline.saturating_duration_since(Instant::now());
            // A time-out of 0 would mean to wait for ever.
            let rest = rest.max(Duration::from_micros(1));
            self.control
                .set_read_timeout(Some(rest))
                .map_err(|_| NoAnswer::Ended)?;
            match self.control.read(bytes) {
                Ok(0) => return Err(NoAnswer::Ended),
                Ok(count) => bytes = &mut bytes[count..],
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                        if Instant::now() >= deadline {
                            return Err(NoAnswer::Late);
                        }
                    }
                    io::ErrorKind::Interrupted => {}
                    _ => return Err(NoAnswer::Ended),
                },
            }
        }
        Ok(())
    }

    fn died(&mut self) -> ExecutorError {
        ExecutorError::ServerDied {
            status: self.end(GRACE),
        }
    }

    fn stuck(&mut self) -> ExecutorError {
        self.end(Duration::ZERO);
        ExecutorError::Stuck
    }

    /// Lets the server end by itself for some time, then kills it, and says how it ended.
    fn end(&mut self, patience: Duration) -> String {
        // Nothing depends on the success of this: the server is killed if it does not notice.
        let _ = self.control.shutdown(std::net::Shutdown::Both);
        let deadline = Instant::now() + patience;
        let mut pause = Duration::from_micros(50);
        while Instant::now() < deadline {
            match self.process.try_wait() {
                Ok(Some(status)) => return describe(status),
                Ok(None) => std::thread::sleep(pause),
                Err(_) => break,
            }
            pause = (pause * 2).min(Duration::from_millis(20));
        }
        // It fails only if the process has ended meanwhile.
        let _ = self.process.kill();
        self.process
            .wait()
            .map_or_else(|_| "in an unknown way".into(), describe)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !matches!(self.process.try_wait(), Ok(Some(_))) {
            self.end(Duration::from_secs(1));
        }
    }
}

/// Kills a run with all its processes. There is nothing to be done if they have just ended.
fn kill(pid: Pid) {
    let _ = rustix::process::kill_process_group(pid, Signal::KILL);
    // The run may not have got to be the leader of a group yet.
    let _ = rustix::process::kill_process(pid, Signal::KILL);
}

fn describe(status: ExitStatus) -> String {
    Outcome::from_wait_status(status.into_raw()).to_string()
}

/// The program's path, from wherever it is run. A bare name is a file, not a name to be looked for.
fn absolute(program: &Path) -> Result<PathBuf, ExecutorError> {
    std::path::absolute(program).map_err(|source| ExecutorError::NotStarted {
        program: program.to_owned(),
        source,
    })
}

/// Starts a process that may write only below a directory, where the system can do that. It is started
/// from a thread of its own, for which alone that holds.
fn confined<T: Send>(directory: &Path, start: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            // A system without it refuses; the verdict tells the user how programs are kept.
            let _ = confine(&[directory]);
            start()
        });
        match thread.join() {
            Ok(started) => started,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
