//! Two versions in a directory of their own, and what `beagle diff` says of them.
//!
//! The cache is shared by all tests of one run.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::Value;

/// The program under test.
pub const BEAGLE: &str = env!("CARGO_BIN_EXE_beagle");

/// The cache of this process. Those of processes that are gone are deleted first.
static CACHE: LazyLock<PathBuf> = LazyLock::new(|| {
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("diff-caches");
    fs::create_dir_all(&all).unwrap();
    for entry in fs::read_dir(&all).unwrap() {
        let entry = entry.unwrap();
        if !Path::new("/proc").join(entry.file_name()).exists() {
            // Another process may be deleting it, too.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
    all.join(std::process::id().to_string())
});

/// `old.c` and `new.c` in a directory that is gone after the test.
pub struct Pair {
    _dir: tempfile::TempDir,
    root: PathBuf,
}

impl Pair {
    pub fn new(old: &str, new: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let pair = Self { _dir: dir, root };
        pair.write("old.c", old);
        pair.write("new.c", new);
        pair
    }

    /// New is old with some text replaced, which has to be there.
    #[track_caller]
    pub fn edited(old: &str, edits: &[(&str, &str)]) -> Self {
        let mut new = old.to_owned();
        for (from, to) in edits {
            assert!(new.contains(from), "there is no `{from}`");
            new = new.replace(from, to);
        }
        Self::new(old, &new)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// `beagle` with an environment that does not depend on who runs the tests.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(BEAGLE);
        command
            .args(shell_words::split(line).unwrap())
            .current_dir(&self.root)
            .env("BEAGLE_CACHE", &*CACHE)
            .env("HOME", &self.root)
            .env("LC_ALL", "C")
            .env("NO_COLOR", "1")
            .env_remove("CC")
            .env_remove("CFLAGS")
            .env_remove("LDFLAGS")
            .stdin(Stdio::null());
        command
    }

    /// Runs `beagle` with words as a shell would split them.
    pub fn beagle(&self, line: &str) -> Ran {
        Ran::new(self.command(line).output().unwrap())
    }

    /// `beagle diff` of the two, with more words, as JSON. Unless told, without the fast lane: tests count
    /// what the search needs.
    #[track_caller]
    pub fn diff(&self, words: &str) -> Report {
        let strategy = match words.contains("--strategy") {
            true => "",
            false => "--strategy reach,infect,propagate,shadow,cover,prune",
        };
        self.beagle(&format!(
            "-q diff old.c new.c --format json {strategy} {words}"
        ))
        .report()
    }
}

/// What can be seen of a command.
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub fn new(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// What it printed as JSON.
    #[track_caller]
    pub fn report(self) -> Report {
        let json = serde_json::from_str(&self.stdout);
        Report {
            code: self.code,
            json: json.unwrap_or_else(|error| panic!("{error}\n{self}")),
        }
    }
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { stdout, stderr, .. } = self;
        write!(f, "exit {:?}\n{stdout}\n--- stderr\n{stderr}", self.code)
    }
}

/// The JSON of a `beagle diff`, and its exit status.
pub struct Report {
    pub code: Option<i32>,
    pub json: Value,
}

impl Report {
    /// Asserts the verdict and the exit status.
    #[track_caller]
    pub fn is(self, verdict: &str, code: i32) -> Self {
        assert_eq!(self.json["verdict"], verdict, "{self}");
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// Asserts that no more runs were needed: to the first difference, or in all if there is none.
    #[track_caller]
    pub fn within(self, runs: u64) -> Self {
        let first = self.json["runs_to_first"].as_u64();
        let needed = first.or(self.json["runs"].as_u64()).unwrap();
        assert!(needed <= runs, "{needed} runs\n{self}");
        self
    }

    /// All differences.
    pub fn differences(&self) -> Vec<Difference<'_>> {
        let list = self.json["differences"].as_array().unwrap();
        list.iter().map(Difference).collect()
    }

    /// The only difference of a class.
    #[track_caller]
    pub fn one(&self, class: &str) -> Difference<'_> {
        let found = self.differences();
        let mut found = found.iter().filter(|found| found.0["class"] == class);
        match (found.next(), found.next()) {
            (Some(found), None) => *found,
            _ => panic!("not just one `{class}`\n{self}"),
        }
    }

    /// A list of strings.
    pub fn strings(&self, field: &str) -> Vec<&str> {
        strings(&self.json[field])
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "exit {:?}\n{:#}", self.code, self.json)
    }
}

/// One entry of `differences`.
#[derive(Clone, Copy)]
pub struct Difference<'a>(pub &'a Value);

impl<'a> Difference<'a> {
    pub fn args(self) -> Vec<&'a str> {
        strings(&self.0["input"]["args"])
    }

    pub fn stdin(self) -> Vec<u8> {
        bytes(&self.0["input"]["stdin_b64"])
    }

    pub fn aspects(self) -> Vec<&'a str> {
        strings(&self.0["aspects"])
    }

    /// What `old` or `new` printed to standard output.
    pub fn stdout(self, version: &str) -> String {
        String::from_utf8(bytes(&self.0[version]["stdout_b64"])).unwrap()
    }
}

/// The bytes of a field that ends in `_b64`.
pub fn bytes(value: &Value) -> Vec<u8> {
    BASE64_STANDARD.decode(value.as_str().unwrap()).unwrap()
}

fn strings(value: &Value) -> Vec<&str> {
    let list = value.as_array().unwrap();
    list.iter().map(|value| value.as_str().unwrap()).collect()
}
