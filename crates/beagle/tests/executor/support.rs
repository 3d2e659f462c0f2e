//! Runs a program natively and instrumented, on the same input, and compares.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use beagle_build::{Built, Cache, Config, VersionSpec, build};
use beagle_executor::{Executor, Options as ExecutorOptions, Outcome};
use beagle_instrument::{Ids, Link, Options as InstrumentOptions, instrument};
use beagle_program::{Op, Program};
use beagle_report::trace::cases;
use beagle_trace::{CheckReport, Input, Limits, Recording, SourceKind, check};
use tempfile::TempDir;

/// The name by which every program is called.
pub const NAME: &str = "program";

/// The stand-in for the compiler.
const BEAGLE: &str = env!("CARGO_BIN_EXE_beagle");

/// A program, built natively and instrumented.
pub struct Traced {
    pub built: Built,
    pub program: Program,
    pub executor: Executor,
    _workshop: TempDir,
}

/// What a run did.
#[derive(Debug, PartialEq, Eq)]
pub struct Done {
    pub outcome: Outcome,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Traced {
    /// A program from its text.
    pub fn source(text: &str) -> Traced {
        Traced::source_with(text, &[])
    }

    /// A program from its text, with flags for the linker.
    pub fn source_with(text: &str, ldflags: &[&str]) -> Traced {
        let dir = TempDir::new().expect("temporary directory");
        let file = dir.path().join("program.c");
        std::fs::write(&file, text).expect("source");
        let config = Config {
            ldflags: ldflags.iter().map(ToString::to_string).collect(),
            ..Config::default()
        };
        Traced::version(&file, &config, dir, |_| Vec::new())
    }

    /// A program from its text in which every variable is watched, all by the same number.
    pub fn watching(text: &str, number: u32) -> Traced {
        let dir = TempDir::new().expect("temporary directory");
        let file = dir.path().join("program.c");
        std::fs::write(&file, text).expect("source");
        Traced::version(&file, &Config::default(), dir, |program| {
            let stmts = program.stmts.iter();
            let is_store = |op| matches!(op, Op::Store { .. });
            stmts
                .map(|stmt| if is_store(stmt.op) { number } else { 0 })
                .collect()
        })
    }

    /// A file or directory.
    pub fn path(path: &Path, config: &Config) -> Traced {
        let dir = TempDir::new().expect("temporary directory");
        Traced::version(path, config, dir, |_| Vec::new())
    }

    fn version(
        path: &Path,
        config: &Config,
        workshop: TempDir,
        watched: impl Fn(&Program) -> Vec<u32>,
    ) -> Traced {
        let path = path.to_str().expect("a path in UTF-8");
        let spec = VersionSpec::parse(path, Path::new("/")).expect("a version");
        let cache = Cache::at(&workshop.path().join("cache"), Path::new(BEAGLE)).expect("cache");
        let built = build(&spec, config, &cache, &mut |_| {}).expect("builds");
        let program = Program::load(&built.bitcode).expect("loads");
        let stmts: Vec<u32> = (0..program.stmts.len() as u32).collect();
        let functions: Vec<u32> = (0..program.functions.len() as u32).collect();
        let ids = Ids {
            stmts: &stmts,
            functions: &functions,
            probes: &|_| false,
            watched: &watched(&program),
        };
        let link = Link {
            args: &built.link_args,
            dir: &built.link_dir,
        };
        let traced = workshop.path().join("traced");
        instrument(
            &built.bitcode,
            &ids,
            &link,
            &traced,
            &InstrumentOptions::default(),
        )
        .expect("instruments");
        let options = ExecutorOptions {
            argv0: Some(NAME.into()),
            ..ExecutorOptions::default()
        };
        let executor = Executor::start(&traced, options).expect("starts");
        Traced {
            built,
            program,
            executor,
            _workshop: workshop,
        }
    }

    /// Runs instrumented; gives what it did, the trace, and the self-check.
    pub fn run(&mut self, input: &Input, limits: &Limits) -> (Done, Recording, CheckReport) {
        let run = self.executor.run(input, limits).expect("runs");
        let trace = run.trace.as_ref().expect("a well-formed trace");
        let cases = |site| cases(&self.program, site);
        let report = check(trace, input, Some(run.observed()), Some(&cases));
        let done = Done {
            outcome: run.outcome,
            stdout: run.stdout.bytes.clone(),
            stderr: run.stderr.bytes.clone(),
        };
        (done, trace.to_recording(), report)
    }

    /// Runs natively and instrumented, which must do the same, and checks the trace.
    pub fn agree(&mut self, input: &Input) -> (Recording, CheckReport) {
        let native = native(&self.built.program, input);
        let (done, recording, report) = self.run(input, &Limits::default());
        assert_eq!(shown(&done), shown(&native), "input {input:?}");
        assert!(report.is_ok(), "{report}\ninput {input:?}");
        (recording, report)
    }
}

fn shown(done: &Done) -> (Outcome, String, String) {
    (
        done.outcome,
        String::from_utf8_lossy(&done.stdout).into_owned(),
        String::from_utf8_lossy(&done.stderr).into_owned(),
    )
}

/// Runs a plain program on the input, in a directory of its own.
pub fn native(program: &Path, input: &Input) -> Done {
    let dir = TempDir::new().expect("temporary directory");
    let mut stdin = tempfile::tempfile().expect("temporary file");
    let mut command = Command::new(program);
    command
        .arg0(NAME)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", dir.path())
        .env("LC_ALL", "C")
        .env("TZ", "UTC")
        .current_dir(dir.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut first = true;
    for source in &input.sources {
        let bytes = source.content();
        match source.kind {
            SourceKind::Argument if first => first = false,
            SourceKind::Argument => {
                command.arg(OsStr::from_bytes(bytes));
            }
            SourceKind::Environment => {
                let name = OsString::from_vec(source.name.clone());
                command.env(name, OsStr::from_bytes(bytes));
            }
            SourceKind::Stdin => stdin.write_all(bytes).expect("standard input"),
            SourceKind::File => {
                let path = dir.path().join(OsStr::from_bytes(&source.name));
                let parent: PathBuf = path.parent().map(Into::into).unwrap_or_default();
                std::fs::create_dir_all(parent).expect("directory of an input file");
                std::fs::write(path, bytes).expect("input file");
            }
        }
    }
    std::io::Seek::rewind(&mut stdin).expect("standard input");
    let start = Instant::now();
    let child = command.stdin(stdin).spawn().expect("starts natively");
    let output = child.wait_with_output().expect("ends");
    assert!(start.elapsed() < Duration::from_secs(60), "natively slow");
    let outcome = match (output.status.code(), output.status.signal()) {
        (Some(code), _) => Outcome::Exit(code),
        (None, signal) => Outcome::Signal(signal.unwrap_or(0)),
    };
    Done {
        outcome,
        stdout: output.stdout,
        stderr: output.stderr,
    }
}

/// Arguments as an input.
pub fn args(args: &[&str]) -> Input {
    Input::from_args(NAME, args.iter().map(|a| a.as_bytes().to_vec())).with_stdin("")
}
