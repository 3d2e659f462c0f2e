//! The subjects and their mutants: lifted, and built so that a run tells which line has shown what.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use beagle_program::Program;
use beagle_subjects::{Source, Subject, Version};
use tempfile::TempDir;

use super::{compile, run};

/// The C files of a version by name.
pub type Texts = BTreeMap<PathBuf, String>;

/// Puts a mark with the place before all that a program shows, into the same stream. A run that
/// shows too much or takes too long is ended.
const MARKS: &str = r#"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#undef putc
#undef putchar
extern int beagle_marks;
static __attribute__((unused, constructor)) void beagle_limit(void) { alarm(2); }
static inline FILE *beagle_mark(FILE *f, const char *file, int line) {
    if (f == stdout || f == stderr) {
        if (beagle_marks++ > 20000) _exit(99);
        (fprintf)(f, "\001%s:%d\002", file, line);
    }
    return f;
}
#define MARK(f) beagle_mark(f, __FILE__, __LINE__)
#define printf(...) (MARK(stdout), (printf)(__VA_ARGS__))
#define vprintf(...) (MARK(stdout), (vprintf)(__VA_ARGS__))
#define puts(s) (MARK(stdout), (puts)(s))
#define putchar(c) (MARK(stdout), (putchar)(c))
#define fprintf(f, ...) ((fprintf)(MARK(f), __VA_ARGS__))
#define vfprintf(f, ...) ((vfprintf)(MARK(f), __VA_ARGS__))
#define fputs(s, f) ((fputs)(s, MARK(f)))
#define fputc(c, f) ((fputc)(c, MARK(f)))
#define putc(c, f) ((fputc)(c, MARK(f)))
#define fwrite(p, s, n, f) ((fwrite)(p, s, n, MARK(f)))
"#;

/// All subjects.
pub fn subjects() -> Vec<Subject> {
    let subjects = beagle_subjects::subjects(&beagle_subjects::root());
    subjects.unwrap_or_else(|cause| panic!("cannot load the subjects: {cause}"))
}

/// The C files of a version; a single file under its own name.
pub fn texts(version: &Version) -> Texts {
    let texts = beagle_subjects::hunks::texts(version);
    let texts = texts.unwrap_or_else(|cause| panic!("cannot read a version: {cause}"));
    let single = match &version.source {
        Source::File(path) => path.file_name().map(PathBuf::from),
        Source::Directory { .. } => None,
    };
    let named = texts.into_iter().map(|(path, text)| {
        let name = single.clone().unwrap_or(path);
        (name, text)
    });
    let is_code = |name: &Path| {
        let extension = name.extension();
        extension.is_some_and(|extension| extension == "c" || extension == "h")
    };
    named.filter(|(name, _)| is_code(name)).collect()
}

/// Files on disk, to be compiled.
pub struct Tree {
    dir: TempDir,
    sources: Vec<String>,
}

impl Tree {
    pub fn new(texts: &Texts) -> Tree {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let mut sources = Vec::new();
        for (name, text) in texts {
            let path = dir.path().join(name);
            let parent = path.parent().expect("it is in the directory");
            std::fs::create_dir_all(parent).expect("a directory");
            std::fs::write(&path, text).expect("can be written");
            if name.extension().is_some_and(|extension| extension == "c") {
                sources.push(name.to_string_lossy().into_owned());
            }
        }
        Tree { dir, sources }
    }

    /// The lifted program.
    pub fn program(&self) -> Program {
        let flags = ["-I.", "-std=gnu11"];
        let sources = self.sources.iter();
        let bitcode: Vec<_> = sources
            .map(|name| compile(&self.dir, "clang-19", name, &flags))
            .collect();
        let mut link = Command::new("llvm-link-19");
        let link = link.args(&bitcode).args(["-o", "program.bc"]);
        run(link, self.dir.path());
        let program = Program::load(&self.dir.path().join("program.bc"));
        program.unwrap_or_else(|cause| panic!("{cause}"))
    }

    /// A native program that marks what it shows.
    pub fn native(&self) -> PathBuf {
        let path = |name: &str| self.dir.path().join(name);
        std::fs::write(path("beagle_marks.h"), MARKS).expect("can be written");
        std::fs::write(path("beagle_marks.c"), "int beagle_marks;").expect("can be written");
        let mut command = Command::new("clang-19");
        command.args(["-O0", "-w", "-std=gnu11", "-D_GNU_SOURCE", "-I."]);
        command.args(["-include", "beagle_marks.h", "-o", "program"]);
        command.args(&self.sources).args(["beagle_marks.c", "-lm"]);
        run(&mut command, self.dir.path());
        path("program")
    }
}
