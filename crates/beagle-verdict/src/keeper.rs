//! The keeper: a process that shuts itself in and then runs programs there, one at a time.
//!
//! What restricts a process is inherited by its children. So the keeper puts the restrictions on itself
//! once, and each run costs no more than starting a program. It serves one client, which is at the
//! other end of its standard input, and ends with it.
//!
//! With namespaces there are two processes: the first makes the namespaces, the second is the first
//! process in them. The kernel ends whatever is left in there together with it.

mod intake;
pub(crate) mod isolation;
mod mounts;
mod namespaces;
mod processes;
mod restrict;
mod serve;
pub(crate) mod wire;

use std::ffi::OsStr;
use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use beagle_enclosure::confine;
use rustix::process::Signal;

use self::isolation::Isolation;
use self::processes::Processes;
use self::wire::{Hello, Setup};

/// The environment variable that tells the keeper what to do about namespaces.
pub(crate) const STAGE: &str = "BEAGLE_KEEPER_STAGE";
/// Make namespaces if the system allows.
pub(crate) const FIRST: &str = "first";
/// These are the namespaces.
const INSIDE: &str = "inside";

/// The argument with which an executable is called to be the keeper.
pub(crate) const NAME: &str = "native-keeper";

/// Whether this process is called to be the keeper, by its arguments without its name.
pub fn is_called(mut arguments: impl Iterator<Item = OsString>) -> bool {
    arguments.next().is_some_and(|first| first == NAME) && std::env::var_os(STAGE).is_some()
}

/// Serves the client at standard input until it closes the connection.
///
/// An executable that serves as keeper calls this before it starts any thread.
pub fn main() -> ExitCode {
    let stage = std::env::var(STAGE).unwrap_or_default();
    let mut isolation = Isolation::default();
    if stage == FIRST {
        match namespaces::enter() {
            Ok(()) => return namespaces::start_inside(),
            Err(error) => isolation.refused.push(format!("no namespaces: {error}")),
        }
    }
    isolation.namespaces = stage == INSIDE;
    match keep(isolation) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// An error here ends the keeper, and the client sees that.
fn keep(mut isolation: Isolation) -> io::Result<()> {
    let control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    // Signals from the terminal are for the client. It fails only if we lead a session already.
    let _ = rustix::process::setsid();
    // The same permissions for new files, whatever the user's habits.
    rustix::process::umask(rustix::fs::Mode::WGRP | rustix::fs::Mode::WOTH);
    let setup: Setup = wire::receive(&control)?;
    let last_pid = if isolation.namespaces {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        namespaces::keep_powers()?;
        // If it fails now, it fails again below.
        let _ = mounts::mount_proc();
        namespaces::limit_processes(setup.processes);
        let last_pid = namespaces::open_last_pid();
        // On top of the one in which that file is open, which can not be made read-only.
        let shut = mounts::mount_proc().and_then(|()| mounts::shut(&setup.writable));
        match shut {
            Ok(()) => isolation.read_only = true,
            Err(error) => {
                let text = format!("file systems can not be made read-only: {error}");
                isolation.refused.push(text);
            }
        }
        last_pid
    } else {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        None
    };
    restrict::limits(&setup, isolation.namespaces)?;
    let writable: Vec<&OsStr> = setup
        .writable
        .iter()
        .map(|it| OsStr::from_bytes(it))
        .collect();
    match confine(&writable) {
        Ok(enforced) => isolation.landlock = enforced,
        Err(error) => isolation.refused.push(format!("landlock: {error}")),
    }
    if !isolation.landlock {
        isolation.refused.push("no landlock".to_owned());
    }
    match restrict::seccomp(isolation.namespaces) {
        Ok(()) => isolation.seccomp = true,
        Err(error) => isolation.refused.push(format!("no seccomp: {error}")),
    }
    let processes = Processes::new(isolation.namespaces, setup.processes);
    wire::send(&control, &Hello { isolation })?;
    serve::serve(&control, processes, last_pid)
}
