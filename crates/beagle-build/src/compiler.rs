//! `beagle cc`, `beagle c++` and `beagle ld`: stand-ins for the compiler and the linker.
//!
//! They run the real tool exactly as asked, and add bitcode to what it makes. They never make
//! a command fail that works without them, and never change what it prints: whatever goes
//! wrong with the bitcode is recorded in the result. What makes neither objects nor programs
//! is handed over to the real tool entirely.
//!
//! The environment: `BEAGLE_TREE` names the directory that is taken out of `__FILE__` and
//! debug information, `BEAGLE_RECORD_DIR` a place for copies of the records, `BEAGLE_LENIENT`
//! allows old dialects (see `lenient`), `BEAGLE_SANITIZE` asks for sanitizers, or for
//! nothing else, instead of bitcode, `BEAGLE_RECORDER` and `BEAGLE_SPOOL` for a recorder (see
//! `recorder`), `BEAGLE_REAL_LD` names the linker behind `beagle ld`.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::arguments::{Language, Plan, Stage};
use crate::process::{Run, exit_code};
use crate::tools::{Tools, in_path};
use crate::{BuildError, compile, lenient, link, recorder, response, sanitize};

/// The directory that is taken out of `__FILE__` and debug information.
pub(crate) const TREE: &str = "BEAGLE_TREE";

/// Which tool is stood in for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The C compiler.
    C,
    /// The C++ compiler.
    Cxx,
    /// The linker, for builds that call it by itself.
    Ld,
}

impl Kind {
    /// The kind for the first argument of `beagle`: `cc`, `c++` or `ld`.
    pub fn from_name(name: &OsStr) -> Option<Self> {
        match name.to_str()? {
            "cc" => Some(Self::C),
            "c++" => Some(Self::Cxx),
            "ld" => Some(Self::Ld),
            _ => None,
        }
    }
}

/// Runs the real tool with these arguments, adds bitcode to what it makes, and returns its
/// exit code. Where there is nothing to add, this process becomes the real tool.
pub fn run(kind: Kind, args: &[OsString]) -> i32 {
    let result = Job::new(kind, args)
        .and_then(|mut job| job.run().map_err(|error| complain(&job.real, &error)));
    match result {
        Ok(code) => code,
        Err(message) => {
            let _ = writeln!(io::stderr(), "beagle: {message}");
            1
        }
    }
}

/// One call of the stand-in.
pub(crate) struct Job {
    pub kind: Kind,
    pub tools: Tools,
    /// The tool that is stood in for.
    pub real: PathBuf,
    /// The arguments as they were given.
    pub given: Vec<OsString>,
    /// The arguments with response files expanded.
    pub words: Vec<OsString>,
    pub plan: Plan,
    /// What was to be read from standard input, which is needed twice.
    pub stdin: Option<Vec<u8>>,
}

impl Job {
    fn new(kind: Kind, args: &[OsString]) -> Result<Self, String> {
        let tools = Tools::find().map_err(|error| advise(&error))?;
        let real = match kind {
            Kind::C => tools.clang.clone(),
            Kind::Cxx => tools.clangxx.clone(),
            Kind::Ld => real_linker(&tools),
        };
        let words = response::expand(args);
        let plan = match kind {
            Kind::C | Kind::Cxx => Plan::of_compiler(&words),
            Kind::Ld => Plan::of_linker(&words),
        };
        Ok(Self {
            kind,
            tools,
            real,
            given: args.to_vec(),
            words,
            plan,
            stdin: None,
        })
    }

    fn run(&mut self) -> io::Result<i32> {
        // What configure scripts try out is thrown away; they do so hundreds of times.
        let makes_nothing = self.plan.stage == Stage::Other
            || self.has_no_file_as_output()
            || lenient::tries_out(&self.plan);
        // Without a place for temporary files the real tool may still be able to work.
        let scratch = if makes_nothing {
            None
        } else {
            tempfile::tempdir().ok()
        };
        let Some(scratch) = scratch else {
            let run = Run::new(&self.real).args(self.prefix_map());
            return Err(run.args(&self.given).replace_us());
        };
        if self.plan.sources().any(|input| input.is_stdin()) {
            let mut input = Vec::new();
            io::stdin().read_to_end(&mut input)?;
            self.stdin = Some(input);
        }
        match self.plan.stage {
            _ if sanitize::asked() => sanitize::run(self),
            _ if recorder::asked() => recorder::run(self, scratch.path()),
            Stage::Compile => compile::compile(self, scratch.path()),
            _ => link::link(self, scratch.path()),
        }
    }

    /// Whether the output goes to a device or a pipe; checks of configure scripts do that.
    fn has_no_file_as_output(&self) -> bool {
        let Some(output) = &self.plan.output else {
            return false;
        };
        output == Path::new("-") || output.metadata().is_ok_and(|data| !data.is_file())
    }

    /// Runs the tool that is stood in for, with more options in front of those of the user, and
    /// behind them.
    pub fn run_real_tool(&self, more: &[OsString], behind: &[OsString]) -> io::Result<i32> {
        let changed = compile::without_lto(&self.words);
        let command = |options: Vec<OsString>| -> io::Result<Run> {
            let run = Run::new(&self.real).args(self.prefix_map());
            let run = run.args(more).args(options);
            let run = match &changed {
                Some(words) => run.many_args(words)?,
                None => run.args(&self.given),
            };
            Ok(run.args(behind))
        };
        let status = if lenient::may_be_lenient(&self.plan) {
            lenient::run(|options| command(options)?.capture_with(self.stdin.as_deref()))?.status
        } else {
            command(Vec::new())?.pass(self.stdin.as_deref())?
        };
        Ok(exit_code(status))
    }

    /// The option that makes paths independent of where the tree is, if it would have effect:
    /// clang complains about options without.
    pub fn prefix_map(&self) -> Vec<OsString> {
        let preprocesses = |language| {
            matches!(
                language,
                Language::Source { cpp: true } | Language::Assembler { cpp: true }
            )
        };
        let tree = std::env::var_os(TREE).filter(|tree| !tree.is_empty());
        let is_driver = self
            .given
            .first()
            .is_none_or(|word| word != "-cc1" && word != "-cc1as");
        let asks = self
            .plan
            .sources()
            .any(|input| preprocesses(input.language))
            && is_driver;
        tree.filter(|_| asks)
            .map(|tree| {
                [OsStr::new("-ffile-prefix-map="), &tree, OsStr::new("=.")]
                    .into_iter()
                    .collect()
            })
            .into_iter()
            .collect()
    }
}

fn real_linker(tools: &Tools) -> PathBuf {
    let named = std::env::var_os("BEAGLE_REAL_LD").map(PathBuf::from);
    named
        .or_else(|| in_path("ld"))
        .unwrap_or_else(|| tools.lld.clone())
}

fn complain(tool: &Path, error: &io::Error) -> String {
    format!("cannot run {}: {error}", tool.display())
}

fn advise(error: &BuildError) -> String {
    match error.hint() {
        Some(hint) => format!("{error}: {hint}"),
        None => error.to_string(),
    }
}
