//! Everything that can stop a version from being built, with a cause, a hint and an exit code.

use std::io;
use std::path::{Path, PathBuf};

use crate::tools::LLVM_MAJOR;

/// Why a version could not be built.
///
/// `Display` is one line, the cause; [`BuildError::hint`] is a second line, what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The text is no file or directory, and there is no repository to look for a revision in.
    #[error("`{text}` is no file or directory, and {} is not in a git repository", .dir.display())]
    NotARepository {
        /// What the user wrote.
        text: String,
        /// Where a repository was looked for.
        dir: PathBuf,
    },
    /// The repository has no such revision, and there is no such file either.
    #[error("`{text}` is neither a revision of {} nor a file or directory", .repo.display())]
    UnknownRevision {
        /// What the user wrote.
        text: String,
        /// The repository that was asked.
        repo: PathBuf,
    },
    /// The text can only be a path, and nothing is there.
    #[error("there is no file or directory `{text}`")]
    NoSuchPath {
        /// What the user wrote.
        text: String,
    },
    /// A file that is not C source.
    #[error("`{}` is not a C program", .path.display())]
    NotC {
        /// The file.
        path: PathBuf,
    },
    /// `git` failed in a way that none of the other variants describes.
    #[error("git {command} failed: {message}")]
    Git {
        /// The git subcommand.
        command: String,
        /// The first line of what it said.
        message: String,
    },
    /// `beagle.toml` cannot be used.
    #[error("{}:{line}: {message}", .path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// The line, counted from one.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// No build command was given and none could be guessed.
    #[error("{label}: cannot tell how to build it: {reason}")]
    NoBuildCommand {
        /// The version.
        label: String,
        /// What was found instead.
        reason: String,
    },
    /// The build made several programs and none was named.
    #[error("{label}: the build made {} programs: {}", .candidates.len(), list(.candidates))]
    ProgramNotSet {
        /// The version.
        label: String,
        /// The programs with bitcode, relative to the tree.
        candidates: Vec<PathBuf>,
    },
    /// A tool that Beagle needs is not installed.
    #[error("`{name}` is not installed")]
    ToolMissing {
        /// The tool.
        name: String,
    },
    /// The build command or the compiler failed.
    #[error("{} does not build: {}", .0.label, .0.message)]
    Failed(Box<FailedBuild>),
    /// The build succeeded, but the program is not there.
    #[error("{label}: the build made no program {}", named(.program))]
    ProgramMissing {
        /// The version.
        label: String,
        /// The configured program, if any.
        program: Option<PathBuf>,
        /// Programs with bitcode that are there, relative to the tree.
        candidates: Vec<PathBuf>,
        /// The build's log.
        log: PathBuf,
    },
    /// The program is there but carries no bitcode.
    #[error("{label}: no bitcode in `{}`: {reason}", .program.display())]
    NoBitcode {
        /// The version.
        label: String,
        /// The program.
        program: PathBuf,
        /// Why.
        reason: String,
    },
    /// A source file without any code in it.
    #[error("`{}` is empty", .path.display())]
    EmptyFile {
        /// The file.
        path: PathBuf,
    },
    /// The function that was asked for is not defined.
    #[error("{label}: there is no function `{function}`")]
    NoFunction {
        /// The version.
        label: String,
        /// What was asked for.
        function: String,
        /// The functions that are defined.
        known: Vec<String>,
    },
    /// The function cannot be called with values from an input.
    #[error("{label}: cannot call `{function}` by itself: {what}")]
    NoHarness {
        /// The version.
        label: String,
        /// The function.
        function: String,
        /// Why.
        what: String,
    },
    /// A single file, where a test-suite was to be run.
    #[error("{label} is a single file, and there is no test-suite in it")]
    NoSuite {
        /// The version.
        label: String,
    },
    /// The program cannot note how it is run.
    #[error("{label}: the runs of `{}` cannot be recorded", .program.display())]
    NoRecorder {
        /// The version.
        label: String,
        /// The program.
        program: PathBuf,
    },
    /// Bitcode that this LLVM cannot read.
    #[error(
        "`{}` holds bitcode of {producer}, and Beagle reads that of LLVM {LLVM_MAJOR}",
        .path.display()
    )]
    OtherLlvm {
        /// The bitcode or program.
        path: PathBuf,
        /// What the bitcode says wrote it.
        producer: String,
    },
    /// Something that holds no LLVM bitcode where bitcode was expected.
    #[error("`{}` is not LLVM bitcode", .path.display())]
    NotBitcode {
        /// The file.
        path: PathBuf,
    },
    /// The operating system refused something.
    #[error("cannot {what}: {source}")]
    Io {
        /// What was attempted.
        what: String,
        /// The refusal.
        #[source]
        source: io::Error,
    },
}

/// A build that failed.
#[derive(Debug)]
pub struct FailedBuild {
    /// The version.
    pub label: String,
    /// The command that failed.
    pub command: String,
    /// The line of the log that says most.
    pub message: String,
    /// The relevant lines of the log.
    pub excerpt: Vec<String>,
    /// The whole log.
    pub log: PathBuf,
    /// Something that is known to be a likely cause, such as an empty submodule.
    pub note: Option<String>,
}

impl BuildError {
    /// What the user can do about it, in one line.
    pub fn hint(&self) -> Option<String> {
        let fixed = match self {
            Self::NotARepository { .. } => {
                "give two .c files, two directories, or run beagle inside a git repository"
            }
            Self::UnknownRevision { .. } => {
                "`git log --oneline` and `git tag` show what can be named"
            }
            Self::NoSuchPath { .. } => {
                "check the spelling; paths are relative to the current directory"
            }
            Self::NotC { .. } => {
                "a version is a .c file, a directory with a build system, or a git revision"
            }
            Self::NoBuildCommand { .. } => {
                "write beagle.toml with two lines, such as: \
                 build = \"make CC=\\\"$CC\\\"\" and program = \"src/name\""
            }
            Self::ToolMissing { .. } => "`beagle doctor` says how to get it",
            Self::NoBitcode { .. } => {
                "does the build compile everything with $CC? \
                 Objects of an earlier build in the directory are not compiled again"
            }
            Self::EmptyFile { .. } => "a version needs at least a function `main`",
            Self::NotBitcode { .. } => "build it with `beagle cc`",
            Self::NoSuite { .. } => {
                "name the directory or the revision that has the tests; they run in a copy of it"
            }
            Self::NoRecorder { .. } => {
                "it has to be built in the tree and linked by $CC; `program` is its path there"
            }
            Self::NoHarness { .. } => {
                "write a main, or a fuzz target LLVMFuzzerTestOneInput, that calls it"
            }
            _ => return self.specific_hint(),
        };
        Some(fixed.into())
    }

    /// The hints that depend on what happened.
    fn specific_hint(&self) -> Option<String> {
        Some(match self {
            Self::Config { .. } => format!("the keys are {}", crate::config::KEYS.join(", ")),
            Self::NoFunction { known, .. } => {
                let shown: Vec<&str> = known.iter().take(12).map(String::as_str).collect();
                format!("it has {}", shown.join(", "))
            }
            Self::ProgramNotSet { candidates, .. } => format!(
                "choose one with `program = \"{}\"` in beagle.toml or --program",
                candidates.first().unwrap_or(&PathBuf::new()).display()
            ),
            Self::Failed(build) => {
                let note: String = build.note.iter().map(|note| format!("{note}; ")).collect();
                format!("{note}the whole log is in {}", build.log.display())
            }
            Self::ProgramMissing {
                candidates, log, ..
            } if candidates.is_empty() => {
                format!("does the build use $CC? Its log is in {}", log.display())
            }
            Self::ProgramMissing { candidates, .. } => {
                format!(
                    "it made {}; set `program` to one of these",
                    list(candidates)
                )
            }
            Self::OtherLlvm { .. } => {
                format!("rebuild it with clang-{LLVM_MAJOR}, or let beagle build it from source")
            }
            _ => return None,
        })
    }

    /// 2 when the call or the configuration is wrong, 3 when a version could not be built.
    pub fn exit_code(&self) -> i32 {
        match self {
            Self::NotARepository { .. }
            | Self::UnknownRevision { .. }
            | Self::NoSuchPath { .. }
            | Self::NotC { .. }
            | Self::Git { .. }
            | Self::Config { .. }
            | Self::NoBuildCommand { .. }
            | Self::ProgramNotSet { .. }
            | Self::NoFunction { .. }
            | Self::NoHarness { .. }
            | Self::NoSuite { .. }
            | Self::ToolMissing { .. } => 2,
            Self::Failed(_)
            | Self::ProgramMissing { .. }
            | Self::NoBitcode { .. }
            | Self::NoRecorder { .. }
            | Self::EmptyFile { .. }
            | Self::OtherLlvm { .. }
            | Self::NotBitcode { .. }
            | Self::Io { .. } => 3,
        }
    }
}

/// Attaches what was attempted to an operating-system error.
pub(crate) trait Doing<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, BuildError>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, what: impl FnOnce() -> String) -> Result<T, BuildError> {
        self.map_err(|source| BuildError::Io {
            what: what(),
            source,
        })
    }
}

/// The first few paths of a list, as words.
fn list(paths: &[PathBuf]) -> String {
    const SHOWN: usize = 8;
    let mut words: Vec<String> = paths.iter().take(SHOWN).map(|p| display(p)).collect();
    if paths.len() > SHOWN {
        words.push(format!("and {} more", paths.len() - SHOWN));
    }
    words.join(", ")
}

/// The program that was expected.
fn named(program: &Option<PathBuf>) -> String {
    program
        .as_deref()
        .map_or("that Beagle can use".into(), display)
}

fn display(path: &Path) -> String {
    format!("`{}`", path.display())
}
