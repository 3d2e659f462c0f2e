//! Compiles programs and sets up judges.

use std::path::{Path, PathBuf};
use std::process::Command;

use beagle_trace::Input;
use beagle_verdict::{
    Comparison, Difference, Judge, KeeperCommand, Observation, Setting, Verdict, Version,
};
use tempfile::TempDir;

/// A pair of programs, ready to be judged.
pub struct Pair {
    pub judge: Judge,
    pub dir: TempDir,
}

const SANITIZERS: &[&str] = &[
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
    "-fno-omit-frame-pointer",
    "-g",
];

pub fn setting() -> Setting {
    let keeper = KeeperCommand {
        program: env!("CARGO_BIN_EXE_beagle-keeper").into(),
        arguments: Vec::new(),
    };
    Setting::new(keeper, "prog")
}

/// The same, as it is where the system refuses namespaces.
pub fn without_namespaces() -> Setting {
    Setting {
        without_namespaces: true,
        ..setting()
    }
}

pub fn compile(dir: &Path, name: &str, source: &str, flags: &[&str]) -> PathBuf {
    let file = dir.join(format!("{name}.c"));
    std::fs::write(&file, source).unwrap();
    let program = dir.join(name);
    let output = Command::new("clang-19")
        .args(["-w", "-O1", "-D_GNU_SOURCE"])
        .args(flags)
        .arg("-o")
        .arg(&program)
        .arg(&file)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    program
}

pub fn version(label: &str, plain: &Path) -> Version {
    Version {
        label: label.to_owned(),
        plain: plain.to_owned(),
        sanitized: None,
    }
}

/// Two programs, with this setting.
pub fn pair_with(old: &str, new: &str, setting: Setting) -> Pair {
    let dir = TempDir::new().unwrap();
    let old = compile(dir.path(), "old", old, &[]);
    let new = compile(dir.path(), "new", new, &[]);
    let judge = Judge::new(version("old", &old), version("new", &new), None, setting).unwrap();
    Pair { judge, dir }
}

pub fn pair(old: &str, new: &str) -> Pair {
    pair_with(old, new, setting())
}

/// Two programs, also built with sanitizers.
pub fn sanitized_pair(old: &str, new: &str) -> Pair {
    let mut pair = pair(old, new);
    let old = compile(pair.dir.path(), "old.san", old, SANITIZERS);
    let new = compile(pair.dir.path(), "new.san", new, SANITIZERS);
    pair.judge.set_sanitized(old, new).unwrap();
    pair
}

impl Pair {
    pub fn quick(&mut self, input: &Input) -> Comparison {
        self.judge.quick(input).unwrap()
    }

    pub fn difference(&mut self, input: &Input) -> Difference {
        match self.judge.judge(input).unwrap() {
            Verdict::Different(difference) => *difference,
            other => panic!("no difference: {other:?}"),
        }
    }

    pub fn same(&mut self, input: &Input) -> Observation {
        match self.judge.judge(input).unwrap() {
            Verdict::Same { new, .. } => *new,
            other => panic!("not the same: {other:?}"),
        }
    }
}

/// A program is the same as itself; what does it do?
pub fn observe(source: &str, input: &Input, setting: Setting) -> Observation {
    let mut pair = pair_with(source, source, setting);
    pair.quick(input).new
}

pub fn no_args() -> Input {
    Input::from_args("prog", [""; 0])
}

pub fn stdout(observation: &Observation) -> String {
    String::from_utf8_lossy(&observation.stdout.bytes).into_owned()
}
