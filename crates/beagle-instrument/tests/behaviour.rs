//! Instrumented programs do what the native ones do, crashes included.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use support::{make, make_text};

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/c")
        .join(name)
}

/// Runs both programs with each list of arguments.
fn agree(native: &Path, instrumented: &Path, runs: &[&[&str]]) {
    for args in runs {
        let run = |program: &Path| {
            let output = Command::new(program)
                .arg0("program")
                .args(*args)
                .output()
                .unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            (text, errors, output.status.code(), output.status.signal())
        };
        assert_eq!(run(native), run(instrumented), "{args:?}");
    }
}

const RUNS: &[&[&str]] = &[&[], &["12"], &["5", "6"]];

fn behaves(name: &str, flags: &[&str], link: &[&str]) {
    let made = make(&source(name), flags, link);
    agree(&made.native, &made.instrumented, RUNS);
}

#[test]
fn integers() {
    behaves("integers.c", &[], &[]);
}

#[test]
fn floats() {
    behaves("floats.c", &[], &["-lm"]);
}

#[test]
fn calls() {
    behaves("calls.c", &["-std=gnu99"], &[]);
}

#[test]
fn memory() {
    behaves("memory.c", &[], &[]);
}

#[test]
fn control() {
    behaves("control.c", &[], &[]);
}

#[test]
fn atomics_threads_vectors_and_assembler() {
    behaves("atomics.c", &[], &["-lpthread"]);
}

#[test]
fn exceptions() {
    behaves("exceptions.cpp", &["-std=c++17"], &[]);
}

#[test]
fn crashes() {
    for entry in std::fs::read_dir(source("")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.starts_with("crash_") {
            behaves(name, &[], &[]);
        }
    }
}

/// The same snippets as machine code for newer processors: wider vectors, fused multiplication.
#[test]
fn other_targets() {
    behaves("floats.c", &["-march=x86-64-v3"], &["-lm"]);
    behaves("atomics.c", &["-march=x86-64-v2"], &["-lpthread"]);
}

#[test]
fn sanitizer_flags_and_position_dependence_are_no_obstacle() {
    let made = make(
        &source("control.c"),
        &[],
        &["-no-pie", "-g", "-fsanitize=null"],
    );
    agree(&made.native, &made.instrumented, RUNS);
}

#[test]
fn a_program_keeps_its_own_versions_of_libc_functions() {
    let made = make_text(
        "#include <stdio.h>\n#include <stddef.h>\n\
         size_t strlen(const char *s) { (void)s; return 77; }\n\
         static char heap[100000]; static size_t used;\n\
         void *malloc(size_t n) { void *p = heap + used; used += (n + 15) & ~15ul; return p; }\n\
         void free(void *p) { (void)p; }\n\
         void *calloc(size_t n, size_t m) { return malloc(n * m); }\n\
         void *realloc(void *p, size_t n) { (void)p; return malloc(n); }\n\
         int puts(const char *s) { return printf(\"<%s>\\n\", s); }\n\
         int main(void) { char *p = malloc(10); p[0] = 'x'; p[1] = 0;\n\
           puts(p); printf(\"%zu %d\\n\", strlen(p), p >= heap && p < heap + sizeof heap); return 0; }\n",
        &["-fno-builtin"],
        &[],
    );
    agree(&made.native, &made.instrumented, RUNS);
}

#[test]
fn constructors_destructors_and_ifuncs_run() {
    let made = make_text(
        "#include <stdio.h>\n#include <stdlib.h>\n\
         __attribute__((constructor)) static void start(void) { printf(\"start\\n\"); }\n\
         __attribute__((destructor)) static void end(void) { printf(\"end\\n\"); }\n\
         static void last(void) { printf(\"last\\n\"); }\n\
         static int fast(int x) { return x * 2; }\n\
         static void *choose(void) { return fast; }\n\
         int twice(int) __attribute__((ifunc(\"choose\")));\n\
         static int real(int x) { return x + 1; }\n\
         int other(int) __attribute__((alias(\"real\")));\n\
         int main(int argc, char **argv) { atexit(last); printf(\"%d %d %d\\n\", twice(argc), other(argc), real(2));\n\
           return 0; }\n",
        &[],
        &[],
    );
    agree(&made.native, &made.instrumented, RUNS);
}

#[test]
fn tail_calls_stay_tail_calls() {
    let made = make_text(
        "#include <stdio.h>\n\
         static long count(long n, long s);\n\
         __attribute__((noinline)) static long other(long n, long s) { __attribute__((musttail)) return count(n, s); }\n\
         static long count(long n, long s) { if (n == 0) return s; __attribute__((musttail)) return other(n - 1, s + n); }\n\
         int main(void) { printf(\"%ld\\n\", count(3000000, 0)); return 0; }\n",
        &[],
        &[],
    );
    agree(&made.native, &made.instrumented, RUNS);
}

#[test]
fn objects_without_bitcode_may_call_the_program() {
    let dir = tempfile::tempdir().unwrap();
    let (plain, object) = (dir.path().join("plain.c"), dir.path().join("plain.o"));
    std::fs::write(
        &plain,
        "int helper(int, int); int shared = 4; int plain(int x) { return helper(x, shared) + 1; }",
    )
    .unwrap();
    support::run(
        Command::new("clang-19")
            .args(["-O1", "-c"])
            .arg(&plain)
            .arg("-o")
            .arg(&object),
    );
    let made = make_text(
        "#include <stdio.h>\nint plain(int); extern int shared; int unrelated(int x) { return x; }\n\
         int helper(int a, int b) { return a > b ? a * b : a - b; }\n\
         int main(int argc, char **argv) { shared += argc; printf(\"%d %d\\n\", plain(argc + 3), helper(unrelated(9), 2)); return 0; }\n",
        &[],
        &[object.to_str().unwrap()],
    );
    agree(&made.native, &made.instrumented, RUNS);
    assert!(made.result.unknown.contains(&"plain".to_owned()));
}

#[test]
fn wrong_inputs_are_errors() {
    use beagle_instrument::{Error, Ids, Link, Options, instrument};
    let dir = tempfile::tempdir().unwrap();
    let library = dir.path().join("library.c");
    std::fs::write(&library, "int f(int x) { return x; }").unwrap();
    let bitcode = support::bitcode(&[library], &[], dir.path());
    let program = beagle_program::Program::load(&bitcode).unwrap();
    let try_it = |stmts: usize, functions: usize| {
        let ids = Ids {
            stmts: &vec![0; stmts],
            functions: &vec![0; functions],
            probes: &|_| false,
            watched: &[],
        };
        let link = Link {
            args: &[],
            dir: dir.path(),
        };
        let output = dir.path().join("out");
        instrument(&bitcode, &ids, &link, &output, &Options::default()).unwrap_err()
    };
    let (stmts, functions) = (program.stmts.len(), program.functions.len());
    let error = try_it(stmts - 1, functions);
    assert!(
        matches!(
            error,
            Error::Ids {
                what: "statements",
                ..
            }
        ),
        "{error}"
    );
    let error = try_it(stmts, functions + 1);
    assert!(
        matches!(
            error,
            Error::Ids {
                what: "functions",
                ..
            }
        ),
        "{error}"
    );
    let error = support::instrumented(&bitcode, &[], &dir.path().join("out"), &|_| false);
    assert!(matches!(error.unwrap_err(), Error::NoMain));
    let broken = dir.path().join("broken.c");
    std::fs::write(&broken, "int g(void); int main(void) { return g(); }").unwrap();
    let bitcode = support::bitcode(&[broken], &[], dir.path());
    let error = support::instrumented(&bitcode, &[], &dir.path().join("out"), &|_| false);
    assert!(matches!(error.unwrap_err(), Error::Link { log, .. } if log.contains('g')));
}
