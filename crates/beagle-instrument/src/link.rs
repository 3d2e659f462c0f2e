//! Makes an executable from the object file and the runtime.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Error, Link, assets};

/// Links the object. The user's arguments come after it, and their definitions of what the object
/// defines too do not count, as `beagle_build` promises them.
pub fn executable(
    object: &Path,
    link: &Link,
    cxx: bool,
    scratch: &Path,
    output: &Path,
) -> Result<(), Error> {
    let runtime = placed(scratch.join("libbeagle_runtime.a"), assets::RUNTIME)?;
    let driver = driver(if cxx { "clang++" } else { "clang" });
    let mut command = Command::new(&driver);
    command
        .arg("-Wl,--allow-multiple-definition")
        .arg(object)
        .arg(&runtime)
        .args(link.args.iter().filter(|arg| !is_for_others(arg)))
        // What the runtime itself needs, and a program's own options may leave out.
        .args(["-lm", "-ldl", "-lpthread"]);
    finish(command, driver, link, output)
}

/// Links the program of the fast lane: with all of libc inside, so that its state lies in memory that
/// can be put back, and at fixed addresses. The runtime stands before libc, whose functions it replaces.
pub fn lane(
    object: &Path,
    link: &Link,
    cxx: bool,
    scratch: &Path,
    output: &Path,
) -> Result<(), Error> {
    let runtime = placed(scratch.join("lane.o"), assets::LANE)?;
    let driver = driver(if cxx { "clang++" } else { "clang" });
    let mut command = Command::new(&driver);
    let is_shared = |arg: &str| matches!(arg, "-pie" | "-static-pie" | "-rdynamic" | "-static");
    let args = link.args.iter();
    command
        .args(["-static", "-fuse-ld=lld", "-Wl,--allow-multiple-definition"])
        .arg(object)
        .arg(&runtime)
        .args(args.filter(|arg| !is_for_others(arg) && !is_shared(arg)))
        .args(["-lm", "-lpthread"]);
    finish(command, driver, link, output)
}

/// Writes a runtime to where it can be linked.
fn placed(path: PathBuf, runtime: &[u8]) -> Result<PathBuf, Error> {
    match std::fs::write(&path, runtime) {
        Ok(()) => Ok(path),
        Err(cause) => Err(Error::File {
            what: "write",
            path,
            cause,
        }),
    }
}

fn finish(mut command: Command, driver: PathBuf, link: &Link, output: &Path) -> Result<(), Error> {
    command.arg("-o").arg(output).stdin(Stdio::null());
    // A build that was kept may outlive the directory that it was started from; the paths are
    // absolute, so that it hardly matters.
    if link.dir.is_dir() {
        command.current_dir(link.dir);
    }
    let result = command.output().map_err(|cause| Error::File {
        what: "run",
        path: driver,
        cause,
    })?;
    if !result.status.success() {
        return Err(Error::Link {
            log: String::from_utf8_lossy(&result.stderr).into_owned(),
            command: format!("{command:?}"),
        });
    }
    Ok(())
}

/// Options that make another program of it: sanitizers and profiles bring runtimes that would follow
/// the program too, and the object has no code for them.
fn is_for_others(arg: &str) -> bool {
    arg.starts_with("-fsanitize")
        || arg.starts_with("-fprofile")
        || arg.starts_with("-fcoverage")
        || arg.starts_with("-flto")
        || matches!(arg, "--coverage" | "-pg" | "-s" | "-Wl,-s" | "-no-pie")
}

fn driver(name: &str) -> PathBuf {
    let own = PathBuf::from(format!("/usr/lib/llvm-19/bin/{name}"));
    if own.exists() {
        own
    } else {
        PathBuf::from(format!("{name}-19"))
    }
}
