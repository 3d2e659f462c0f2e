//! Finds and ends what a run leaves behind.

use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid as NixPid;
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus, kill_process_group, wait};

/// The processes of runs. All of them are children of the keeper in the end: it is the first process
/// of its namespace, or has declared itself to be the one who takes care of orphans.
pub(crate) struct Processes {
    namespaces: bool,
    limit: u64,
}

impl Processes {
    pub(crate) fn new(namespaces: bool, limit: u64) -> Self {
        Self { namespaces, limit }
    }

    /// How many there are in the whole system, to tell quickly whether there could be too many.
    pub(crate) fn in_system() -> u64 {
        u64::from(rustix::system::sysinfo().procs)
    }

    /// Whether the run has made more than it may, given how many there were in the system before.
    pub(crate) fn too_many(&self, before: u64) -> bool {
        // Other programs make processes, too, so these have to be counted.
        Self::in_system().saturating_sub(before) > self.limit
            && descendants(self.limit) > self.limit
    }

    /// Takes note of processes that have ended. Returns how the given one ended, if it has, and whether
    /// there are any others left.
    pub(crate) fn reap(&self, run: Pid) -> (Option<WaitStatus>, bool) {
        let mut end = None;
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == run => end = Some(status),
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return (end, true),
                Err(_) => return (end, false),
            }
        }
    }

    /// Ends all of them. Returns how the given one ended, if it had not yet.
    pub(crate) fn end_all(&self, run: Pid) -> Option<WaitStatus> {
        let mut end = None;
        loop {
            if self.namespaces {
                // All of the namespace but us.
                let _ = kill(NixPid::from_raw(-1), Signal::SIGKILL);
            } else {
                // The group in one go, which not even a program that does nothing but fork escapes;
                // then those that have left it.
                let _ = kill_process_group(run, rustix::process::Signal::KILL);
                for pid in children(own()) {
                    end_tree(pid);
                }
            }
            let (status, left) = self.reap(run);
            end = end.or(status);
            if !left {
                return end;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

fn own() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

/// Counts the children of this process, and theirs, up to a little more than the limit.
fn descendants(limit: u64) -> u64 {
    let mut found = children(own());
    let mut next = 0;
    while next < found.len() && found.len() as u64 <= limit {
        let more = children(found[next]);
        found.extend(more);
        next += 1;
    }
    found.len() as u64
}

/// Ends a process and what it started, from above: what is ended makes no more.
fn end_tree(pid: i32) {
    let mut rest = vec![pid];
    while let Some(pid) = rest.pop() {
        let below = children(pid);
        let _ = kill(NixPid::from_raw(pid), Signal::SIGKILL);
        rest.extend(below);
    }
}

fn children(pid: i32) -> Vec<i32> {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    tasks
        .flatten()
        .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|list| {
            list.split_whitespace()
                .filter_map(|word| word.parse().ok())
                .collect::<Vec<_>>()
        })
        .collect()
}
