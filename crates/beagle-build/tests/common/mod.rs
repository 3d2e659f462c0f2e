//! A scratch directory to build things in, and a look at what came out.

// Each test file uses its own part of this.
#![allow(dead_code)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use beagle_build::{BuildError, Built, Cache, Carried, Config, VersionSpec, build, carried};

/// The compiler stand-in.
pub const BEAGLE: &str = env!("CARGO_BIN_EXE_beagle-cc");

/// A directory that is gone after the test.
pub struct Scratch {
    dir: tempfile::TempDir,
}

impl Scratch {
    pub fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    /// A directory with these files.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let scratch = Self::new();
        for (name, text) in files {
            scratch.write(name, text);
        }
        scratch
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Runs a shell command here, with `$CC`, `$CXX` and `$LD` as a user would set them.
    pub fn try_sh(&self, command: &str) -> Output {
        let shell = Command::new("sh")
            .args(["-ec", command])
            .current_dir(self.path("."))
            .env("CC", format!("{BEAGLE} cc"))
            .env("CXX", format!("{BEAGLE} c++"))
            .env("LD", format!("{BEAGLE} ld"))
            .env("BEAGLE", BEAGLE)
            .env_remove("MAKEFLAGS")
            .output();
        shell.unwrap()
    }

    /// The same, where it has to succeed; returns what it prints.
    pub fn sh(&self, command: &str) -> String {
        let output = self.try_sh(command);
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {messages}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// What a program here carries.
    pub fn program(&self, name: &str) -> Program {
        Program::new(
            carried(&self.path(name), None).unwrap_or_else(|| panic!("{name} has no record")),
        )
    }

    /// The cache for this test.
    pub fn cache(&self) -> Cache {
        Cache::at(&self.path(".cache"), Path::new(BEAGLE)).unwrap()
    }

    /// Builds what a text means, seen from a directory here.
    pub fn build_in(&self, dir: &str, text: &str, config: &Config) -> Result<Built, BuildError> {
        let spec = VersionSpec::parse(text, &self.path(dir))?;
        build(&spec, config, &self.cache(), &mut |_| {})
    }

    pub fn build(&self, text: &str, config: &Config) -> Result<Built, BuildError> {
        self.build_in(".", text, config)
    }
}

/// A linked program with its bitcode.
pub struct Program {
    pub carried: Carried,
}

impl Program {
    pub fn new(carried: Carried) -> Self {
        Self { carried }
    }

    /// The functions and variables that the bitcode defines.
    pub fn defined(&self) -> BTreeSet<String> {
        defined(self.carried.bitcode.as_deref().expect("no bitcode"))
    }

    pub fn missing(&self) -> Vec<String> {
        self.carried
            .record
            .missing
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    /// Asserts that these are defined and that nothing is missing.
    pub fn has(&self, names: &[&str]) {
        assert_eq!(self.missing(), Vec::<String>::new());
        assert_has(&self.defined(), names);
    }
}

pub fn assert_has(defined: &BTreeSet<String>, names: &[&str]) {
    for name in names {
        assert!(defined.contains(*name), "no `{name}` in {defined:?}");
    }
}

/// The names that bitcode defines.
pub fn defined(bitcode: &[u8]) -> BTreeSet<String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bitcode).unwrap();
    let output = Command::new("llvm-nm-19")
        .args(["--defined-only", "--just-symbol-name"])
        .arg(file.path())
        .output();
    let output = output.unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

/// The names that the bitcode of a build defines.
pub fn defined_in(built: &Built) -> BTreeSet<String> {
    defined(&std::fs::read(&built.bitcode).unwrap())
}

/// Links the bitcode of a build natively again, as later stages do, and returns the program.
pub fn relink(built: &Built) -> PathBuf {
    let program = built.bitcode.with_extension("relinked");
    let mut clang = Command::new("clang-19");
    clang.args([
        "-Wno-override-module",
        "-Wl,--allow-multiple-definition",
        "-x",
        "ir",
    ]);
    clang
        .arg(&built.bitcode)
        .args(["-x", "none"])
        .args(&built.link_args);
    let output = clang
        .arg("-o")
        .arg(&program)
        .current_dir(&built.link_dir)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    program
}

/// The bitcode as text.
pub fn disassemble(bitcode: &[u8]) -> String {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bitcode).unwrap();
    let output = Command::new("llvm-dis-19")
        .arg(file.path())
        .args(["-o", "-"])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}
