//! Own namespaces of users, processes, mounts and network.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::process::{Command, ExitCode, Stdio};

use nix::sched::{CloneFlags, unshare};

use super::{INSIDE, STAGE};

/// Makes the namespaces. The user stays who it is, but with power over them.
pub(crate) fn enter() -> io::Result<()> {
    let user = rustix::process::getuid().as_raw();
    let group = rustix::process::getgid().as_raw();
    unshare(
        CloneFlags::CLONE_NEWUSER
            | CloneFlags::CLONE_NEWNS
            | CloneFlags::CLONE_NEWPID
            | CloneFlags::CLONE_NEWNET
            | CloneFlags::CLONE_NEWIPC,
    )?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// Starts the keeper again as the first process in the namespaces, and waits for its end.
pub(crate) fn start_inside() -> ExitCode {
    let status = Command::new("/proc/self/exe")
        .args(std::env::args_os().skip(1))
        .env(STAGE, INSIDE)
        .stdin(Stdio::inherit())
        .status();
    match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

/// The file by which the number of the next process is set, so that it is the same in every run.
pub(crate) fn open_last_pid() -> Option<File> {
    OpenOptions::new()
        .write(true)
        .open("/proc/sys/kernel/ns_last_pid")
        .ok()
}
