//! Builds without bitcode: native ones, and those with sanitizers, which are the same commands with
//! options of ours in front of the user's.
//!
//! A program still gets a record, an empty one: that is how
//! the programs that a build made are told from those that were there before. The checks of
//! configure scripts are compiled without sanitizers, so that they find what they find in the
//! plain build, and both are configured alike.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use crate::arguments::Stage;
use crate::build::Flavour;
use crate::compiler::{Job, Kind};
use crate::process::Run;
use crate::record::{RECORD_DIR, Record};
use crate::{embed, lenient};

/// The environment variable that asks for a build without bitcode: [`SANITIZERS`] or [`NATIVE`].
const SANITIZE: &str = "BEAGLE_SANITIZE";
const SANITIZERS: &str = "1";
const NATIVE: &str = "native";

/// The user's own options come after these and win. To only compile or only link leaves some of
/// them unused, which is no reason for a warning. What the check of object sizes finds depends on
/// the optimiser, and is reported in fewer words than the same error by the address sanitizer.
const FLAGS: [&str; 7] = [
    "--start-no-unused-arguments",
    "-fsanitize=address,undefined",
    "-fno-sanitize=object-size",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
    "-g",
    "--end-no-unused-arguments",
];

/// The options for this kind of build.
pub(crate) fn flags(flavour: Flavour) -> &'static [&'static str] {
    match flavour {
        Flavour::Plain | Flavour::Native | Flavour::Recorded => &[],
        Flavour::Sanitized => &FLAGS,
    }
}

/// Tells the stand-ins below a command which kind of build this is.
pub(crate) fn environment(run: Run, flavour: Flavour) -> Run {
    match flavour {
        Flavour::Plain | Flavour::Recorded => run.without_env(&[SANITIZE]),
        Flavour::Native => run.env(SANITIZE, NATIVE),
        // Programs that are made and run on the way may leak.
        Flavour::Sanitized => run
            .env(SANITIZE, SANITIZERS)
            .env("ASAN_OPTIONS", "detect_leaks=0"),
    }
}

/// Whether this process is part of a build without bitcode.
pub(crate) fn asked() -> bool {
    std::env::var_os(SANITIZE).is_some_and(|value| value == SANITIZERS || value == NATIVE)
}

/// Compiles or links without bitcode.
pub(crate) fn run(job: &Job) -> io::Result<i32> {
    let native = std::env::var_os(SANITIZE).is_some_and(|value| value == NATIVE);
    // The linker by itself has no such options.
    let plain = native || job.kind == Kind::Ld || lenient::tries_out(&job.plan);
    let code = match plain {
        true => job.run_real_tool(&[], &[])?,
        false => sanitized(job)?,
    };
    let output = job.plan.linked();
    if code == 0 && job.plan.stage == Stage::Link && embed::is_elf(&output) {
        // Without a record the program is still good, if the user names it.
        let record = Record::new(Vec::new(), std::env::current_dir().unwrap_or_default());
        let _ = embed::add(&output, &[(embed::PROGRAM_RECORD, &record.to_json())]);
        if let Some(dir) = std::env::var_os(RECORD_DIR).filter(|dir| !dir.is_empty()) {
            let _ = record.keep(Path::new(&dir), &output, None);
        }
    }
    Ok(code)
}

/// Runs the compiler with sanitizers. Their runtime is large, and lld links it in half the time;
/// where that does not work, the user's own linker does it.
fn sanitized(job: &Job) -> io::Result<i32> {
    let chooses = |word: &OsString| {
        let word = word.to_string_lossy();
        word.starts_with("-fuse-ld") || word.starts_with("--ld-path")
    };
    if job.plan.stage == Stage::Link && !job.words.iter().any(chooses) {
        let lld = format!("--ld-path={}", job.tools.lld.display());
        let mut flags = FLAGS.map(OsString::from).to_vec();
        flags.push(lld.into());
        if job.run_real_tool(&flags, &[])? == 0 {
            return Ok(0);
        }
    }
    job.run_real_tool(&FLAGS.map(OsString::from), &[])
}
