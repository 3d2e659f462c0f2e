//! Runs a child process to its end: the only place of this crate that starts one.
//!
//! The child gets its own process group, which is killed when the time is over and also when the
//! child itself has ended, so that nothing it started outlives it. It is not a sandbox.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::error::{Error, Result};

/// More output than this is not read: the pipe is closed, and the child gets a SIGPIPE.
const MOST_OUTPUT: u64 = 16 << 20;

/// What is left of a child process.
pub(crate) struct Finished {
    pub status: ExitStatus,
    /// It had to be killed because its time was over.
    pub timed_out: bool,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Finished {
    /// What it printed, standard error first, as text.
    pub(crate) fn log(&self) -> String {
        let text = [&self.stderr[..], &self.stdout[..]].concat();
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// The command as one might type it.
pub(crate) fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Runs the command with `stdin` until it ends or `limit` has passed.
pub(crate) fn finish(command: &mut Command, stdin: &[u8], limit: Duration) -> Result<Finished> {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let mut child = command.spawn().map_err(|cause| Error::Start {
        program: command.get_program().to_string_lossy().into_owned(),
        cause,
    })?;
    let (input, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        scope.spawn(move || {
            // A program need not read all of its input: a broken pipe is no error.
            input.map(|mut pipe| pipe.write_all(stdin))
        });
        let stdout = scope.spawn(move || read_all(stdout));
        let stderr = scope.spawn(move || read_all(stderr));
        let ended = wait(&mut child, limit);
        let collect = |reader: thread::ScopedJoinHandle<'_, Vec<u8>>| {
            reader.join().expect("reading a pipe does not panic")
        };
        let (stdout, stderr) = (collect(stdout), collect(stderr));
        let (status, timed_out) = ended?;
        Ok(Finished {
            status,
            timed_out,
            stdout,
            stderr,
        })
    })
}

fn read_all(pipe: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        // What was read before an error is all there is.
        let _ = pipe.take(MOST_OUTPUT).read_to_end(&mut bytes);
    }
    bytes
}

/// Waits for the child and ends its group. Polls, as waiting with a limit needs signal handlers
/// or unsafe code; the pauses grow with the time already spent, so short runs stay short.
fn wait(child: &mut Child, limit: Duration) -> Result<(ExitStatus, bool)> {
    let group = Pid::from_child(child);
    let start = Instant::now();
    let ended = loop {
        if let Some(status) = child.try_wait()? {
            break (status, false);
        }
        let spent = start.elapsed();
        if spent >= limit {
            child.kill()?;
            break (child.wait()?, true);
        }
        thread::sleep((spent / 8).clamp(Duration::from_micros(100), Duration::from_millis(10)));
    };
    // Fails if the group is empty, which is the usual case.
    let _ = kill_process_group(group, Signal::KILL);
    Ok(ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, stdin: &[u8], limit: Duration) -> Finished {
        finish(Command::new("sh").arg("-c").arg(script), stdin, limit).unwrap()
    }

    #[test]
    fn input_and_both_outputs_pass_through() {
        let stdin = vec![b'x'; 300_000];
        let ended = sh("cat; echo no >&2; exit 3", &stdin, Duration::from_secs(10));
        assert_eq!(ended.status.code(), Some(3));
        assert_eq!(ended.stdout, stdin);
        assert_eq!(ended.stderr, b"no\n");
    }

    #[test]
    fn a_child_that_does_not_read_its_input_is_no_error() {
        let ended = sh(
            "exec <&-; exit 0",
            &vec![b'x'; 300_000],
            Duration::from_secs(10),
        );
        assert!(ended.status.success());
    }

    #[test]
    fn grandchildren_do_not_outlive_the_limit() {
        let start = Instant::now();
        let ended = sh(
            "echo a; sleep 60 & sleep 60",
            b"",
            Duration::from_millis(200),
        );
        assert!(ended.timed_out);
        assert_eq!(ended.stdout, b"a\n");
        assert!(start.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn endless_output_is_cut_off() {
        let ended = sh("exec yes", b"", Duration::from_secs(30));
        assert!(!ended.timed_out);
        assert_eq!(ended.stdout.len() as u64, MOST_OUTPUT);
    }
}
