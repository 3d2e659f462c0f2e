//! Own namespaces of users, processes, mounts and network.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::process::{Command, ExitCode, Stdio};

use nix::sched::{CloneFlags, unshare};
use rustix::thread::CapabilitySet;

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
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    // Unless the user is the administrator, starting a program would lose the power.
    let mut sets = rustix::thread::capabilities(None)?;
    sets.inheritable = sets.permitted;
    rustix::thread::set_capabilities(None, sets)?;
    for power in POWERS {
        rustix::thread::configure_capability_in_ambient_set(*power, true)?;
    }
    Ok(())
}

/// What is needed to mount file systems and to choose the numbers of processes.
const POWERS: &[CapabilitySet] = &[CapabilitySet::SYS_ADMIN, CapabilitySet::CHECKPOINT_RESTORE];

/// Keeps the powers from the programs that are run.
pub(crate) fn keep_powers() -> io::Result<()> {
    Ok(rustix::thread::clear_ambient_capability_set()?)
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

/// The number that each run has as a process, where that can be chosen: the first that is not reserved.
pub(crate) const RUN_PID: u32 = 301;

/// Lets there be no more processes in the namespace than this. Older systems cannot do that.
pub(crate) fn limit_processes(count: u64) {
    // There the setting would be that of the whole machine.
    if is_per_namespace() {
        let limit = u64::from(RUN_PID) + count.max(1);
        let _ = fs::write("/proc/sys/kernel/pid_max", limit.to_string());
    }
}

/// Since Linux 6.14.
fn is_per_namespace() -> bool {
    let name = rustix::system::uname();
    let mut numbers = name
        .release()
        .to_str()
        .unwrap_or_default()
        .split(['.', '-'])
        .map_while(|number| number.parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(6), Some(14))
}

/// The file by which the number of the next process is set, so that it is the same in every run.
pub(crate) fn open_last_pid() -> Option<File> {
    OpenOptions::new()
        .write(true)
        .open("/proc/sys/kernel/ns_last_pid")
        .ok()
}
