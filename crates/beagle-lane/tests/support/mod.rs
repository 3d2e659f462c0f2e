//! From C to programs of the fast lane, and what fresh processes do, for tests and benchmarks.
#![allow(dead_code, reason = "not everyone uses everything")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Seek, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use beagle_instrument::{Ids, Lane, Link};
use beagle_lane::{Batch, Mark, Mode, Outcome, Process, Setup, Written};
use beagle_program::Program;
use beagle_subjects::{Source, Version};
use beagle_trace::{Input, SourceKind};
use tempfile::TempDir;

pub const NAME: &str = "program";

/// A program of the fast lane, in a directory of its own.
pub struct Made {
    pub dir: TempDir,
    pub lane: Lane,
}

fn succeed(command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{text}");
}

/// Compiles sources.
pub fn make(sources: &[PathBuf], link: &[String]) -> Made {
    let dir = tempfile::tempdir().unwrap();
    let mut modules = Vec::new();
    for (number, source) in sources.iter().enumerate() {
        let module = dir.path().join(format!("{number}.bc"));
        succeed(
            Command::new("clang-19")
                .args(["-O0", "-g", "-Xclang", "-disable-O0-optnone", "-w"])
                .args(["-std=gnu11", "-U_FORTIFY_SOURCE", "-emit-llvm", "-c"])
                .arg(source)
                .arg("-o")
                .arg(&module),
        );
        modules.push(module);
    }
    let whole = dir.path().join("whole.bc");
    succeed(
        Command::new("llvm-link-19")
            .args(&modules)
            .arg("-o")
            .arg(&whole),
    );
    let program = Program::load(&whole).unwrap();
    let stmts: Vec<u32> = (0..program.stmts.len() as u32).collect();
    let functions: Vec<u32> = (0..program.functions.len() as u32).collect();
    let ids = Ids {
        stmts: &stmts,
        functions: &functions,
        probes: &|_| false,
        watched: &[],
    };
    let args = Link {
        args: link,
        dir: dir.path(),
    };
    let output = dir.path().join("lane");
    let lane = beagle_instrument::lane(&whole, &ids, &args, &output).unwrap();
    Made { dir, lane }
}

pub fn make_text(text: &str) -> Made {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("source.c");
    std::fs::write(&source, text).unwrap();
    make(&[source], &[])
}

pub fn make_version(version: &Version) -> Made {
    let sources = match &version.source {
        Source::File(path) => vec![path.clone()],
        Source::Directory { path, .. } => {
            let entries = std::fs::read_dir(path).unwrap();
            let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
            files.retain(|path| path.extension().is_some_and(|it| it == "c"));
            files.sort();
            files
        }
    };
    make(&sources, &version.ldflags)
}

impl Made {
    pub fn marks(&self) -> Vec<Mark> {
        let blocks = (0..).zip(&self.lane.blocks);
        let mark = |(key, _)| Mark {
            key,
            close: true,
            ..Mark::default()
        };
        blocks.map(mark).collect()
    }

    pub fn setup(&self) -> Setup {
        Setup {
            program: self.lane.program.clone(),
            argv0: NAME.into(),
            base: Input::default()
                .with_env("LC_ALL", "C")
                .with_env("TZ", "UTC"),
            marks: self.marks(),
            time: Duration::from_millis(100),
            most_output: 1 << 20,
        }
    }

    pub fn start(&self) -> Process {
        Process::start(self.setup()).unwrap()
    }
}

pub fn batch(inputs: &[Input]) -> Batch {
    let mut batch = Batch::default();
    for input in inputs {
        assert!(batch.push(input).unwrap());
    }
    batch
}

/// What each run did, with all that it wrote.
pub fn run(process: &mut Process, inputs: &[Input], fork: bool) -> Vec<(Outcome, Written)> {
    let mode = Mode {
        fork,
        keep: true,
        ..Mode::default()
    };
    let outcomes = process.run(&batch(inputs), mode).unwrap();
    let written = |outcome: Outcome| (outcome, process.written(&outcome).unwrap());
    outcomes.into_iter().map(written).collect()
}

/// Runs the program as it is, in a fresh process with real files: the end as `wait` has it, and what it
/// wrote. `None` if it takes long.
pub fn fresh(program: &Path, input: &Input) -> Option<(u32, Written)> {
    let dir = tempfile::tempdir().unwrap();
    let mut stdin = tempfile::tempfile().unwrap();
    let mut command = Command::new(program);
    command.arg0(NAME).env_clear();
    command.env("LC_ALL", "C").env("TZ", "UTC");
    let mut given = Vec::new();
    for (index, source) in input.sources.iter().enumerate() {
        let bytes = source.content();
        let text = |bytes: &[u8]| {
            use std::os::unix::ffi::OsStrExt;
            std::ffi::OsStr::from_bytes(bytes).to_owned()
        };
        match source.kind {
            SourceKind::Argument if index == 0 => {}
            SourceKind::Argument => drop(command.arg(text(bytes))),
            SourceKind::Environment => drop(command.env(text(&source.name), text(bytes))),
            SourceKind::Stdin => stdin.write_all(bytes).unwrap(),
            SourceKind::File => {
                std::fs::write(dir.path().join(text(&source.name)), bytes).unwrap();
                given.push((source.name.clone(), bytes.to_vec()));
            }
        }
    }
    stdin.rewind().unwrap();
    let child = command
        .current_dir(dir.path())
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let limit = rustix::process::Rlimit {
        current: Some(5),
        maximum: Some(5),
    };
    let pid = rustix::process::Pid::from_child(&child);
    // It may have ended already.
    let _ = rustix::process::prlimit(Some(pid), rustix::process::Resource::Cpu, limit);
    let output = child.wait_with_output().unwrap();
    let (status, stdout, stderr) = (output.status, output.stdout, output.stderr);
    if matches!(status.signal(), Some(9 | 24)) {
        return None;
    }
    // Whether there is a dump says nothing.
    let end = status.into_raw() as u32 & !0x80;
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir.path()).unwrap() {
        use std::os::unix::ffi::OsStringExt;
        use std::os::unix::fs::PermissionsExt;
        let entry = entry.unwrap();
        let name = entry.file_name().into_vec();
        let content = std::fs::read(entry.path()).unwrap();
        let mode = entry.metadata().unwrap().permissions().mode();
        let before = given.iter().position(|(given, _)| *given == name);
        match before.map(|at| given.remove(at)) {
            Some((_, before)) if before == content => {}
            _ => files.push((name, mode, content)),
        }
    }
    files.extend(given.into_iter().map(|(name, _)| (name, 0, Vec::new())));
    files.sort();
    let written = Written {
        stdout,
        stderr,
        files,
    };
    Some((end, written))
}

/// The inputs that the pairs of a subject come with.
pub fn examples(subject: &beagle_subjects::Subject) -> Vec<Input> {
    use std::os::unix::ffi::OsStrExt;
    let mut all = Vec::new();
    for pair in &subject.pairs {
        let differing = pair.differs.iter().map(|it| &it.input);
        for given in differing.chain(&pair.agrees) {
            let args = given.args.iter().map(|it| it.as_bytes().to_vec());
            let mut input = Input::from_args(NAME, args).with_stdin(given.stdin.clone());
            for (name, bytes) in &given.files {
                input = input.with_file(name.as_bytes().to_vec(), bytes.clone());
            }
            for (name, value) in &given.env {
                input = input.with_env(name.as_bytes().to_vec(), value.as_bytes().to_vec());
            }
            all.push(input);
        }
    }
    all
}
