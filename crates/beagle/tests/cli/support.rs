//! A scratch directory with a cache of its own, in which `beagle` is run and looked at from
//! outside, as a user sees it.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// The program under test.
pub const BEAGLE: &str = env!("CARGO_BIN_EXE_beagle");

/// Variables of the environment that would change what beagle or a build prints.
const FOREIGN: [&str; 14] = [
    "AR",
    "CC",
    "CFLAGS",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "CPPFLAGS",
    "CXX",
    "GIT_DIR",
    "LDFLAGS",
    "LIBS",
    "MAKEFLAGS",
    "MAKELEVEL",
    "MFLAGS",
    "SOURCE_DATE_EPOCH",
];

/// A directory that is gone after the test.
pub struct Scratch {
    _dir: tempfile::TempDir,
    root: PathBuf,
}

impl Scratch {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("work")).unwrap();
        Self { _dir: dir, root }
    }

    /// The cache of all calls here.
    pub fn cache(&self) -> PathBuf {
        self.root.join("cache")
    }

    /// A directory with these files.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let scratch = Self::new();
        for (name, text) in files {
            scratch.write(name, text);
        }
        scratch
    }

    /// Where something in the directory is; the cache is outside of it.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.root.join("work").join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// A command with an environment that does not depend on who runs the tests.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.path(""))
            .env("BEAGLE_CACHE", self.cache())
            .env("BEAGLE", BEAGLE)
            .env("HOME", &self.root)
            // Where clang leaves what it was doing when it crashed.
            .env("TMPDIR", &self.root)
            .env("LC_ALL", "C")
            .env("NO_COLOR", "1")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(Stdio::null());
        for name in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{name}_NAME"), "A")
                .env(format!("GIT_{name}_EMAIL"), "a@example.org")
                .env(format!("GIT_{name}_DATE"), "2020-01-01T00:00:00Z");
        }
        for name in FOREIGN {
            command.env_remove(name);
        }
        command
    }

    /// Runs a shell command that has to succeed; returns what it prints.
    pub fn sh(&self, script: &str) -> String {
        let ran = self.ran(self.command("bash").args(["-ec", script]));
        assert_eq!(ran.code, 0, "{script}\n{ran}");
        ran.stdout
    }

    /// Runs beagle with words as a shell would split them.
    pub fn beagle(&self, line: &str) -> Ran {
        self.beagle_in("", line)
    }

    /// The same, from a directory below.
    pub fn beagle_in(&self, dir: &str, line: &str) -> Ran {
        let args = shell_words::split(line).unwrap();
        let mut command = self.command(BEAGLE);
        self.ran(command.args(args).current_dir(self.path(dir)))
    }

    /// Runs a command and notes all that can be seen of it.
    pub fn ran(&self, command: &mut Command) -> Ran {
        let Output {
            status,
            stdout,
            stderr,
        } = command.output().unwrap();
        Ran {
            code: status.code().unwrap_or_else(|| panic!("{status}")),
            stdout: self.redacted(&String::from_utf8(stdout).unwrap()),
            stderr: self.redacted(&String::from_utf8(stderr).unwrap()),
        }
    }

    /// Replaces what is different each time: temporary directories and names in the cache.
    fn redacted(&self, text: &str) -> String {
        let text = text.replace(
            self.path("").to_str().unwrap().trim_end_matches('/'),
            "[DIR]",
        );
        let text = text.replace(self.root.to_str().unwrap(), "[TMP]");
        let text = text.replace(BEAGLE, "[BEAGLE]");
        let is_key = |word: &str| word.len() == 24 && word.bytes().all(|b| b.is_ascii_hexdigit());
        let mut out = String::new();
        for part in text.split_inclusive(['/', '.', ' ', '\n']) {
            let word = part.trim_end_matches(['/', '.', ' ', '\n']);
            out.push_str(&part.replace(word, if is_key(word) { "[KEY]" } else { word }));
        }
        out
    }
}

/// What can be seen of a command.
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// Asserts the exit status.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self}");
        self
    }

    /// Asserts that the command ended with a well-formed message: nothing on stdout, and on
    /// stderr, after the progress, one line with the cause and later one with a hint.
    #[track_caller]
    pub fn fails(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self}");
        assert_eq!(self.stdout, "", "{self}");
        let lines = self.stderr.lines().skip_while(|line| is_progress(line));
        let lines: Vec<_> = lines.collect();
        assert!(lines[0].starts_with("error: "), "{self}");
        let hints = lines.iter().filter(|line| line.starts_with("hint: "));
        assert_eq!(hints.count(), 1, "{self}");
        assert!(lines.last().unwrap().starts_with("hint: "), "{self}");
        self
    }

    /// What it printed as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}\n{self}"))
    }

    /// The lines on stderr in a fixed order: the two versions are built side by side.
    pub fn progress(&self) -> Vec<&str> {
        let mut lines: Vec<_> = self.stderr.lines().map(str::trim).collect();
        lines.sort_unstable();
        lines
    }
}

/// Lines such as `    Building old.c: …`.
fn is_progress(line: &str) -> bool {
    line.starts_with("    ")
}

/// For snapshots.
impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "exit {}", self.code)?;
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                writeln!(f, "--- {name}\n{}", text.trim_end())?;
            }
        }
        Ok(())
    }
}

/// The directory of the subject programs.
pub fn subjects() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../subjects")
        .canonicalize()
        .unwrap()
}
