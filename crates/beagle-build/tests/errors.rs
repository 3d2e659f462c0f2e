//! Bad input: each kind has a cause of one line, a hint, and the right exit code.

// A test that cannot go on should panic.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;

use beagle_build::{BuildError, Config};
use common::Scratch;

const MAIN: &str = "int main(void) { return 0; }\n";

fn config(text: &str) -> Config {
    Config::parse(text, Path::new("beagle.toml")).unwrap()
}

/// Checks the form of an error, and returns its cause and hint.
#[track_caller]
fn check(error: &BuildError, code: i32) -> (String, String) {
    let (cause, hint) = (error.to_string(), error.hint().expect("no hint"));
    assert_eq!(error.exit_code(), code, "{cause}");
    for line in [&cause, &hint] {
        assert!(!line.is_empty() && !line.contains('\n'), "{line}");
    }
    (cause, hint)
}

#[test]
fn not_a_repository() {
    let dir = Scratch::new();
    let (cause, hint) = check(&dir.build("v1", &Config::default()).unwrap_err(), 2);
    assert!(
        cause.contains("`v1`") && cause.contains("not in a git repository"),
        "{cause}"
    );
    assert!(hint.contains("git repository"), "{hint}");
}

#[test]
fn unknown_revisions_and_missing_files() {
    let dir = Scratch::new();
    dir.sh("git init -q r");
    let (cause, _) = check(&dir.build_in("r", "v9", &Config::default()).unwrap_err(), 2);
    assert!(cause.contains("`v9` is neither a revision of"), "{cause}");
    check(
        &dir.build_in("r", "--help", &Config::default()).unwrap_err(),
        2,
    );
    check(&dir.build_in("r", "", &Config::default()).unwrap_err(), 2);
    for path in ["old.c", "./old", "/nowhere/x", "sub/old.c"] {
        let (cause, _) = check(&dir.build_in("r", path, &Config::default()).unwrap_err(), 2);
        assert_eq!(cause, format!("there is no file or directory `{path}`"));
        check(&dir.build(path, &Config::default()).unwrap_err(), 2);
    }
}

#[test]
fn not_a_c_program() {
    let dir = Scratch::with(&[("notes.txt", "x"), ("binary.c", "int x;\0\0")]);
    for name in ["notes.txt", "binary.c"] {
        let (cause, _) = check(&dir.build(name, &Config::default()).unwrap_err(), 2);
        assert!(cause.contains("is not a C program"), "{cause}");
    }
}

#[test]
fn an_empty_file() {
    let dir = Scratch::with(&[("empty.c", ""), ("blank.c", " \n\t\n")]);
    for name in ["empty.c", "blank.c"] {
        let (cause, _) = check(&dir.build(name, &Config::default()).unwrap_err(), 3);
        assert!(cause.ends_with("is empty"), "{cause}");
    }
}

#[test]
fn a_file_that_does_not_compile() {
    let dir = Scratch::with(&[
        ("bad.c", "int main(void) {\n  return x;\n}\n"),
        ("lib.c", "int f(void) { return 0; }\n"),
    ]);
    let error = dir.build("bad.c", &Config::default()).unwrap_err();
    let (cause, hint) = check(&error, 3);
    assert!(cause.starts_with("bad.c does not build: "), "{cause}");
    assert!(
        cause.ends_with("bad.c:2:10: error: use of undeclared identifier 'x'"),
        "{cause}"
    );
    let BuildError::Failed(failed) = &error else {
        panic!("{error:?}")
    };
    assert!(hint.contains(failed.log.to_str().unwrap()));
    assert!(
        std::fs::read_to_string(&failed.log)
            .unwrap()
            .contains("return x;")
    );
    assert!(failed.excerpt.iter().any(|line| line.contains("return x;")));
    let (cause, _) = check(&dir.build("lib.c", &Config::default()).unwrap_err(), 3);
    assert!(cause.contains("undefined reference to `main'"), "{cause}");
    dir.write("header.c", "#include \"nowhere.h\"\n");
    let (cause, _) = check(&dir.build("header.c", &Config::default()).unwrap_err(), 3);
    assert!(cause.contains("'nowhere.h' file not found"), "{cause}");
}

#[test]
fn a_build_that_fails() {
    let dir = Scratch::with(&[
        ("d/main.c", "int main(void) { return x; }\n"),
        ("d/Makefile", "p: main.c\n\t$(CC) main.c -o p\n"),
    ]);
    let error = dir.build("d", &Config::default()).unwrap_err();
    let (cause, hint) = check(&error, 3);
    assert_eq!(
        cause,
        "d does not build: main.c:1:25: error: use of undeclared identifier 'x'"
    );
    assert!(hint.starts_with("the whole log is in "));
    let (cause, _) = check(
        &dir.build("d", &config("build = 'no-such-command'"))
            .unwrap_err(),
        3,
    );
    assert!(cause.contains("no-such-command"), "{cause}");
    let (cause, _) = check(&dir.build("d", &config("build = 'exit 7'")).unwrap_err(), 3);
    assert!(cause.contains("it printed nothing"), "{cause}");
}

#[test]
fn a_program_that_is_not_there() {
    let dir = Scratch::with(&[("d/main.c", MAIN)]);
    let build = "build = '$CC main.c -o one && mkdir sub && cp one sub/two && gcc main.c -o plain'";
    let error = dir
        .build("d", &config(&format!("{build}\nprogram = 'prog'")))
        .unwrap_err();
    let (cause, hint) = check(&error, 3);
    assert_eq!(cause, "d: the build made no program `prog`");
    assert!(
        hint.contains("`one`, `sub/two`") && !hint.contains("plain"),
        "{hint}"
    );
    let (cause, hint) = check(&dir.build("d", &config(build)).unwrap_err(), 2);
    assert_eq!(cause, "d: the build made 2 programs: `one`, `sub/two`");
    assert!(hint.contains("program = \"one\""), "{hint}");
    let (cause, hint) = check(
        &dir.build("d", &config("build = 'gcc main.c -o plain'"))
            .unwrap_err(),
        3,
    );
    assert_eq!(cause, "d: the build made no program that Beagle can use");
    assert!(hint.contains("$CC"), "{hint}");
}

#[test]
fn a_program_without_bitcode() {
    let dir = Scratch::with(&[("d/main.c", MAIN), ("d/main.s", ".globl main\nmain: ret\n")]);
    let (cause, _) = check(
        &dir.build("d", &config("build = 'gcc main.c -o p'\nprogram = 'p'"))
            .unwrap_err(),
        3,
    );
    assert_eq!(
        cause,
        "d: no bitcode in `p`: it was not linked by beagle cc"
    );
    let (cause, _) = check(
        &dir.build("d", &config("build = '$CC main.s -o p'\nprogram = 'p'"))
            .unwrap_err(),
        3,
    );
    assert_eq!(cause, "d: no bitcode in `p`: main.s: main.s is assembler");
    let (cause, _) = check(
        &dir.build("d", &config("build = 'echo x > p'\nprogram = 'p'"))
            .unwrap_err(),
        3,
    );
    assert!(cause.contains("it is not a program"), "{cause}");
}

#[test]
fn bitcode_of_another_llvm() {
    // The Rust compiler brings a newer LLVM of its own.
    let dir = Scratch::with(&[("d/main.c", MAIN), ("x.rs", "")]);
    dir.sh("rustc --crate-type=lib --emit=llvm-bc x.rs -o d/x.bc");
    let error = beagle_build::check_bitcode(&dir.path("d/x.bc")).unwrap_err();
    let (cause, hint) = check(&error, 3);
    assert!(
        cause.contains("holds bitcode of LLVM2") && cause.ends_with("that of LLVM 19"),
        "{cause}"
    );
    assert!(hint.contains("clang-19"));
    let replace = "build = '$CC main.c -o p && objcopy --update-section .beagle.bc=x.bc p'";
    let error = dir.build("d", &config(replace)).unwrap_err();
    assert!(matches!(error, BuildError::OtherLlvm { .. }), "{error}");
    assert!(matches!(
        beagle_build::check_bitcode(&dir.path("x.rs")),
        Err(BuildError::NotBitcode { .. })
    ));
}

#[test]
fn no_way_to_build() {
    let dir = Scratch::with(&[
        ("d/Makefile", ""),
        ("d/CMakeLists.txt", ""),
        ("e/notes", ""),
    ]);
    let (cause, hint) = check(&dir.build("d", &Config::default()).unwrap_err(), 2);
    assert_eq!(
        cause,
        "d: cannot tell how to build it: there are Makefile and CMakeLists.txt"
    );
    assert!(
        hint.contains("build = ") && hint.contains("program = "),
        "{hint}"
    );
    check(&dir.build("e", &Config::default()).unwrap_err(), 2);
}
