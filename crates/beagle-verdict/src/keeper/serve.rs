//! Runs programs on request, one at a time.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::MemfdFlags;
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, WaitStatus};

use super::intake::Intake;
use super::namespaces::RUN_PID;
use super::processes::Processes;
use super::wire::{self, Answer, Ran, Request};
use crate::observation::End;

/// How long what a run leaves behind may go on: a child that still writes, say.
const LINGER: Duration = Duration::from_millis(50);
/// How long to wait, at first and at most, before looking at the number of processes again.
const LOOK: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(16));

/// Answers requests until the client goes.
pub(crate) fn serve(
    control: &UnixStream,
    processes: Processes,
    last_pid: Option<File>,
) -> io::Result<()> {
    let mut keeper = Keeper {
        control,
        processes,
        last_pid,
        stdin: rustix::fs::memfd_create("stdin", MemfdFlags::CLOEXEC)?.into(),
        buffer: vec![0; 1 << 16],
    };
    loop {
        let request: Request = match wire::receive(control) {
            Ok(request) => request,
            // The client has gone.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        };
        let answer = match keeper.run(&request) {
            Ok(ran) => Answer::Ended(ran),
            Err((doing, error)) => {
                Answer::NotStarted(error.raw_os_error().unwrap_or(libc::EINVAL), doing.into())
            }
        };
        wire::send(control, &answer)?;
    }
}

struct Keeper<'a> {
    control: &'a UnixStream,
    processes: Processes,
    last_pid: Option<File>,
    /// Has no name, and no disk under it.
    stdin: File,
    buffer: Vec<u8>,
}

/// A run under way.
struct Run {
    pid: Pid,
    /// Becomes readable at the end of the process; old systems have none.
    process: Option<OwnedFd>,
    stdout: Intake,
    stderr: Intake,
    deadline: Instant,
    /// How many processes there were in the system before.
    before: u64,
}

type Failure = (&'static str, io::Error);

fn doing<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Failure {
    move |error| (doing, error.into())
}

impl Keeper<'_> {
    fn run(&mut self, request: &Request) -> Result<Ran, Failure> {
        let (stdout, theirs_out) = Intake::new(request.keep).map_err(doing("make a pipe"))?;
        let (stderr, theirs_err) = Intake::new(request.keep).map_err(doing("make a pipe"))?;
        let stdin = self
            .stdin(&request.stdin)
            .map_err(doing("prepare the standard input"))?;
        let mut command = Command::new(path(&request.program));
        if let Some((name, arguments)) = request.arguments.split_first() {
            command.arg0(path(name));
            command.args(arguments.iter().map(|argument| path(argument)));
        }
        command
            .env_clear()
            .envs(request.environment.iter().map(|(n, v)| (path(n), path(v))))
            .current_dir(path(&request.directory))
            .stdin(stdin)
            .stdout(theirs_out)
            .stderr(theirs_err)
            .process_group(0);
        if let Some(file) = &self.last_pid {
            // Nothing is lost if it fails but that numbers differ.
            let _ = file.write_at((RUN_PID - 1).to_string().as_bytes(), 0);
        }
        let before = Processes::in_system();
        let start = Instant::now();
        let limit = |memory, size| limit(Resource::As, memory).and(limit(Resource::Fsize, size));
        limit(request.memory, Some(request.file_size)).map_err(doing("set limits"))?;
        let child = command.spawn();
        limit(None, None).map_err(doing("lift limits"))?;
        let child = child.map_err(doing("start the program"))?;
        // It holds the program's ends of the pipes.
        drop(command);
        let Some(pid) = Pid::from_raw(child.id() as i32) else {
            return Err(("start the program", io::ErrorKind::Other.into()));
        };
        let mut run = Run {
            pid,
            process: rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok(),
            stdout,
            stderr,
            deadline: start + Duration::from_millis(request.milliseconds),
            before,
        };
        let end = match self.attend(&mut run) {
            Ok(end) => end,
            Err(error) => {
                self.processes.end_all(pid);
                return Err(("watch the program", error));
            }
        };
        let microseconds = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.collect(&mut run);
        Ok(Ran {
            pid: child.id(),
            end,
            stdout: run.stdout.finish(),
            stderr: run.stderr.finish(),
            microseconds,
        })
    }

    /// A file with this content that can be read and sought, as with `<` in a shell.
    fn stdin(&mut self, content: &[u8]) -> io::Result<File> {
        self.stdin.set_len(0)?;
        self.stdin.write_all_at(content, 0)?;
        // Opened anew, so that it starts at its start and cannot be written.
        File::open(format!("/proc/self/fd/{}", self.stdin.as_raw_fd()))
    }

    /// Takes what the program writes until it ends, or has to be ended.
    fn attend(&mut self, run: &mut Run) -> io::Result<End> {
        let mut look = LOOK.0;
        let mut next_look = Instant::now() + look;
        loop {
            let now = Instant::now();
            if now >= run.deadline {
                self.processes.end_all(run.pid);
                return Ok(End::TimedOut);
            }
            if now >= next_look {
                if self.processes.too_many(run.before) {
                    self.processes.end_all(run.pid);
                    return Ok(End::TooManyProcesses);
                }
                look = (look * 2).min(LOOK.1);
                next_look = now + look;
            }
            let pause = next_look.min(run.deadline).saturating_duration_since(now);
            let pause = match &run.process {
                Some(_) => pause,
                None => pause.min(Duration::from_millis(1)),
            };
            self.wait(run, pause, true)?;
            let (status, _) = self.processes.reap(run.pid);
            if let Some(status) = status {
                return Ok(end(status));
            }
        }
    }

    /// Waits until there is something to do, and reads.
    fn wait(&mut self, run: &mut Run, pause: Duration, process: bool) -> io::Result<()> {
        let mut watched = vec![PollFd::new(self.control, PollFlags::empty())];
        let pipes = [run.stdout.pipe(), run.stderr.pipe()];
        for pipe in pipes.iter().flatten() {
            watched.push(PollFd::from_borrowed_fd(*pipe, PollFlags::IN));
        }
        if let Some(descriptor) = run.process.as_ref().filter(|_| process) {
            watched.push(PollFd::from_borrowed_fd(descriptor.as_fd(), PollFlags::IN));
        }
        let pause = Timespec::try_from(pause).map_err(io::Error::other)?;
        match poll(&mut watched, Some(&pause)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if watched[0].revents().intersects(PollFlags::HUP) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        run.stdout.read(&mut self.buffer);
        run.stderr.read(&mut self.buffer);
        Ok(())
    }

    /// Takes the rest of the output, and lets nothing of the run live on.
    fn collect(&mut self, run: &mut Run) {
        let end = Instant::now() + LINGER;
        loop {
            // What has been written is in the pipes now that the writer has ended.
            while run.stdout.read(&mut self.buffer) | run.stderr.read(&mut self.buffer) {
                if Instant::now() >= run.deadline.max(end) {
                    break;
                }
            }
            let (_, left) = self.processes.reap(run.pid);
            if !left {
                break;
            }
            let waited = self.wait(run, Duration::from_millis(1), false);
            if waited.is_err() || Instant::now() >= end {
                self.processes.end_all(run.pid);
                break;
            }
        }
        // Nobody writes any more; what is still in the pipes is all.
        while run.stdout.read(&mut self.buffer) | run.stderr.read(&mut self.buffer) {}
    }
}

/// Sets a limit for the next program, or lifts it: it would hold for the keeper, too.
fn limit(resource: Resource, value: Option<u64>) -> io::Result<()> {
    let now = rustix::process::getrlimit(resource);
    let current = match (value, now.maximum) {
        (Some(value), Some(maximum)) => Some(value.min(maximum)),
        (Some(value), None) => Some(value),
        (None, maximum) => maximum,
    };
    if current == now.current {
        return Ok(());
    }
    Ok(rustix::process::setrlimit(
        resource,
        Rlimit { current, ..now },
    )?)
}

fn end(status: WaitStatus) -> End {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => End::Exit(code),
        (None, Some(signal)) => End::Signal(signal),
        // Neither is only so for a process that goes on, which is not waited for.
        (None, None) => End::Exit(-1),
    }
}

fn path(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}
