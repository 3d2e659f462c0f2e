//! A compiler's or linker's command line, taken apart.
//!
//! This only classifies words; it reads no files and decides nothing. Which options matter to
//! which of the derived commands is in `options` and `linkline`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::options::{Ends, ends_early, takes_value};
use crate::process::starts_with;

/// A command line, classified.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub stage: Stage,
    pub args: Vec<Arg>,
    /// The last `-o`.
    pub output: Option<PathBuf>,
}

/// How far the command goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Something that makes neither objects nor programs.
    Other,
    /// Sources to objects.
    Compile,
    /// Anything to a program, a shared library or a partial object.
    Link,
}

/// One argument, with its value if it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Arg {
    Input(Input),
    /// `-o FILE`.
    Output(PathBuf),
    /// `-lNAME`.
    Library(OsString),
    /// `-LDIR`.
    SearchDir(PathBuf),
    /// One word for the linker, from `-Wl,` or `-Xlinker`.
    Linker(OsString),
    /// Any other option.
    Option(Vec<OsString>),
}

/// A file to compile or link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Input {
    pub path: PathBuf,
    pub language: Language,
    /// What `-x` says about it.
    pub forced: Option<OsString>,
}

/// What becomes of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// Compiled by clang, with bitcode on the way. `cpp` says whether it is preprocessed first.
    Source { cpp: bool },
    /// Assembler, which has no bitcode.
    Assembler { cpp: bool },
    /// Compiled to something that is no object.
    Header,
    /// A language that clang hands to another compiler, or that makes more than one object.
    Foreign,
    /// For the linker: an object, archive, shared library or script.
    Object,
}

impl Input {
    pub fn object(path: PathBuf) -> Self {
        Self {
            path,
            language: Language::Object,
            forced: None,
        }
    }

    /// Whether the compiler turns it into an object.
    pub fn is_compiled(&self) -> bool {
        self.language != Language::Object
    }

    /// Whether it is read from standard input, and so can be read only once.
    pub fn is_stdin(&self) -> bool {
        self.path == Path::new("-") || self.path == Path::new("/dev/stdin")
    }

    /// The object that `-c` without `-o` makes of it.
    pub fn default_object(&self) -> PathBuf {
        Path::new(self.path.file_name().unwrap_or_default()).with_extension("o")
    }
}

impl Plan {
    /// Takes a compiler driver's command line apart. Response files are already expanded.
    pub fn of_compiler(words: &[OsString]) -> Self {
        let mut parser = Parser::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            parser.driver_word(word, &mut words);
        }
        parser.plan()
    }

    /// Takes a linker's command line apart.
    pub fn of_linker(words: &[OsString]) -> Self {
        let mut parser = Parser {
            ends: Ends::Link,
            ..Parser::default()
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            parser.linker_word(word, &mut words);
        }
        parser.plan()
    }

    /// The file that a link makes.
    pub fn linked(&self) -> PathBuf {
        self.output.clone().unwrap_or_else(|| "a.out".into())
    }

    pub fn inputs(&self) -> impl Iterator<Item = &Input> {
        self.args.iter().filter_map(|arg| match arg {
            Arg::Input(input) => Some(input),
            _ => None,
        })
    }

    /// The inputs that are compiled.
    pub fn sources(&self) -> impl Iterator<Item = &Input> {
        self.inputs().filter(|input| input.is_compiled())
    }

    /// Whether the driver or the linker was given one of these words.
    fn says(&self, names: &[&str]) -> bool {
        self.args.iter().any(|arg| match arg {
            Arg::Linker(word) => names.iter().any(|name| word == name),
            Arg::Option(words) => names.iter().any(|name| words[0] == *name),
            _ => false,
        })
    }

    /// Whether the output is an object again.
    pub fn is_partial(&self) -> bool {
        self.says(&["-r", "--relocatable", "-Ur"])
    }

    /// Whether the output is a shared library.
    pub fn is_shared(&self) -> bool {
        self.says(&["-shared", "--shared", "-Bshareable"])
    }
}

#[derive(Default)]
struct Parser {
    args: Vec<Arg>,
    output: Option<PathBuf>,
    forced: Option<OsString>,
    ends: Ends,
    only_inputs: bool,
}

impl Parser {
    fn driver_word<'a>(&mut self, word: &OsStr, rest: &mut impl Iterator<Item = &'a OsString>) {
        let text = word.as_bytes();
        if self.only_inputs || text == b"-" || !text.starts_with(b"-") {
            return self.input(word);
        }
        if text == b"--" {
            self.only_inputs = true;
            return;
        }
        if self.common_word(word, rest) {
            return;
        }
        let mut value = || rest.next().cloned().unwrap_or_default();
        if let Some(words) = text.strip_prefix(b"-Wl,") {
            let words: Vec<_> = words
                .split(|&byte| byte == b',')
                .map(OsStr::from_bytes)
                .collect();
            return words
                .into_iter()
                .for_each(|word| self.for_linker(word.to_owned()));
        }
        match word.to_str() {
            Some("-Xlinker") => return self.for_linker(value()),
            Some("-x" | "--language") => return self.force(value()),
            Some("--output") => return self.output(value()),
            _ => {}
        }
        if let Some(language) = after(word, "-x").or_else(|| after(word, "--language=")) {
            return self.force(language);
        }
        if let Some(path) = after(word, "--output=").or_else(|| after(word, "-o")) {
            return self.output(path);
        }
        self.ends = self.ends.max(ends_early(word));
        let mut option = vec![word.to_owned()];
        if takes_value(word) {
            option.extend(rest.next().cloned());
        }
        self.args.push(Arg::Option(option));
    }

    fn linker_word<'a>(&mut self, word: &OsStr, rest: &mut impl Iterator<Item = &'a OsString>) {
        const ASKS: [&str; 6] = [
            "-v",
            "-V",
            "--version",
            "--help",
            "--print-sysroot",
            "--verbose",
        ];
        const VALUED: [&str; 26] = [
            "-e",
            "--entry",
            "-u",
            "--undefined",
            "-z",
            "-T",
            "--script",
            "-m",
            "-h",
            "-soname",
            "--soname",
            "-rpath",
            "--rpath",
            "-rpath-link",
            "--rpath-link",
            "-dynamic-linker",
            "--dynamic-linker",
            "--version-script",
            "--dynamic-list",
            "--defsym",
            "-Map",
            "--dependency-file",
            "-y",
            "-plugin",
            "--wrap",
            "-A",
        ];
        let text = word.as_bytes();
        if !text.starts_with(b"-") {
            return self.args.push(Arg::Input(Input::object(word.into())));
        }
        if self.common_word(word, rest) {
            return;
        }
        if let Some(path) = after(word, "--output=") {
            return self.output(path);
        }
        if ASKS.iter().any(|ask| word == *ask) {
            self.ends = Ends::Asks;
        }
        self.args.push(Arg::Linker(word.to_owned()));
        if VALUED.iter().any(|name| word == *name) {
            self.args.extend(rest.next().cloned().map(Arg::Linker));
        }
    }

    /// What drivers and linkers spell the same way.
    fn common_word<'a>(
        &mut self,
        word: &OsStr,
        rest: &mut impl Iterator<Item = &'a OsString>,
    ) -> bool {
        let mut value = || rest.next().cloned().unwrap_or_default();
        match word.to_str() {
            Some("-o") => {
                let path = value();
                self.output(path);
            }
            Some("-l") => self.args.push(Arg::Library(value())),
            Some("-L") => self.args.push(Arg::SearchDir(value().into())),
            _ => {
                if let Some(name) = after(word, "-l") {
                    self.args.push(Arg::Library(name));
                } else if let Some(dir) = after(word, "-L") {
                    self.args.push(Arg::SearchDir(dir.into()));
                } else {
                    return false;
                }
            }
        }
        true
    }

    fn for_linker(&mut self, word: OsString) {
        self.args.push(if let Some(name) = after(&word, "-l") {
            Arg::Library(name)
        } else if let Some(dir) = after(&word, "-L") {
            Arg::SearchDir(dir.into())
        } else {
            Arg::Linker(word)
        });
    }

    fn force(&mut self, language: OsString) {
        self.forced = (language != "none").then_some(language);
    }

    fn output(&mut self, path: OsString) {
        self.output = Some(path.clone().into());
        self.args.push(Arg::Output(path.into()));
    }

    fn input(&mut self, word: &OsStr) {
        let path = PathBuf::from(word);
        let language = match &self.forced {
            Some(name) => language_of_name(name),
            None => language_of_path(&path),
        };
        self.args.push(Arg::Input(Input {
            path,
            language,
            forced: self.forced.clone(),
        }));
    }

    fn plan(self) -> Plan {
        let has = |wanted: fn(&Input) -> bool| {
            self.args
                .iter()
                .any(|arg| matches!(arg, Arg::Input(input) if wanted(input)))
        };
        let stage = match self.ends {
            // Headers are precompiled, whatever else is asked for.
            Ends::Link | Ends::Compile if has(|input| input.language == Language::Header) => {
                Stage::Other
            }
            Ends::Link if has(|_| true) => Stage::Link,
            Ends::Compile if has(Input::is_compiled) => Stage::Compile,
            _ => Stage::Other,
        };
        Plan {
            stage,
            args: self.args,
            output: self.output,
        }
    }
}

/// What follows a prefix, if anything does.
fn after(word: &OsStr, prefix: &str) -> Option<OsString> {
    let rest = word
        .as_bytes()
        .strip_prefix(prefix.as_bytes())
        .filter(|rest| !rest.is_empty())?;
    Some(OsStr::from_bytes(rest).to_owned())
}

/// The language of a file by its name, as clang sees it.
fn language_of_path(path: &Path) -> Language {
    match path.extension().and_then(OsStr::to_str) {
        Some(
            "c" | "cc" | "cp" | "cpp" | "cxx" | "c++" | "C" | "CC" | "CPP" | "CXX" | "C++" | "m"
            | "mm" | "M",
        ) => Language::Source { cpp: true },
        Some("i" | "ii" | "mi" | "mii" | "ll" | "bc") => Language::Source { cpp: false },
        Some("s" | "asm") => Language::Assembler { cpp: false },
        Some("S" | "sx") => Language::Assembler { cpp: true },
        Some("h" | "H" | "hh" | "hp" | "hpp" | "hxx" | "h++" | "pcm" | "cppm") => Language::Header,
        Some(
            "f" | "F" | "for" | "FOR" | "fpp" | "FPP" | "f90" | "F90" | "f95" | "F95" | "f03"
            | "F03" | "f08" | "F08" | "cu" | "cl" | "hip" | "ads" | "adb" | "ast",
        ) => Language::Foreign,
        // Standard input without `-x` is an error, which clang reports.
        _ => Language::Object,
    }
}

/// The language that `-x` names.
fn language_of_name(name: &OsStr) -> Language {
    match name.to_str() {
        Some("c" | "c++" | "objective-c" | "objective-c++") => Language::Source { cpp: true },
        Some(
            "cpp-output"
            | "c++-cpp-output"
            | "objective-c-cpp-output"
            | "objective-c++-cpp-output"
            | "ir",
        ) => Language::Source { cpp: false },
        Some("assembler") => Language::Assembler { cpp: false },
        Some("assembler-with-cpp") => Language::Assembler { cpp: true },
        _ if name.as_bytes().windows(6).any(|part| part == b"header")
            || starts_with(name, "c++-") =>
        {
            Language::Header
        }
        _ => Language::Foreign,
    }
}

#[cfg(test)]
mod tests;
