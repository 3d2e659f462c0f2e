//! Builds without bitcode, and in place.

// A test that cannot go on should panic.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;
use std::process::Command;

use beagle_build::{
    Config, Flavour, VersionSpec, Workplace, build_native, carried, commits, export,
};
use common::Scratch;

const MAIN: &str = "int main(void) { return 3; }\n";

fn status(program: &Path) -> Option<i32> {
    Command::new(program).status().unwrap().code()
}

#[test]
fn a_native_build_has_no_bitcode_and_is_found_again() {
    let dir = Scratch::with(&[
        ("main.c", MAIN),
        ("tree/Makefile", "prog: main.c\n\t$(CC) -o prog main.c\n"),
        ("tree/main.c", MAIN),
    ]);
    let (config, cache) = (Config::default(), dir.cache());
    for version in ["main.c", "tree"] {
        let spec = VersionSpec::parse(version, &dir.path(".")).unwrap();
        let native = || build_native(&spec, &config, &cache, Flavour::Native, &mut |_| {}).unwrap();
        let program = native();
        assert_eq!(status(&program), Some(3), "{version}");
        assert!(carried(&program, None).unwrap().bitcode.is_none());
        assert_eq!(native(), program);
        let plain = dir.build(version, &config).unwrap();
        assert!(!plain.from_cache);
        assert_ne!(plain.program, program);
    }
}

#[test]
fn only_what_changed_is_built_again_in_place() {
    let dir = Scratch::new();
    let (config, cache) = (Config::default(), dir.cache());
    let place = Workplace::new(&config, &cache, Flavour::Native).unwrap();
    place.clear().unwrap();
    let write = |name: &str, text: &str| std::fs::write(place.root().join(name), text).unwrap();
    write(
        "Makefile",
        "prog: a.o b.o\n\t$(CC) -o prog a.o b.o\n%.o: %.c\n\t$(CC) -c $<\n\techo $@ >> made\n",
    );
    write("a.c", "int b(void); int main(void) { return b(); }\n");
    write("b.c", "int b(void) { return 4; }\n");
    assert_eq!(status(&place.build().unwrap()), Some(4));
    write("b.c", "int b(void) { return 5; }\n");
    let program = place.build().unwrap();
    assert_eq!(status(&program), Some(5));
    let made = std::fs::read_to_string(place.root().join("made")).unwrap();
    assert_eq!(made, "a.o\nb.o\nb.o\n");
    assert!(place.is_portable(&program));
    write("b.c", "int b(void) { return }\n");
    assert!(place.build().is_err());
    place.clear().unwrap();
    assert!(std::fs::read_dir(place.root()).unwrap().next().is_none());
}

#[test]
fn a_program_with_libraries_of_its_own_stays_where_it_is() {
    let dir = Scratch::new();
    let (config, cache) = (Config::default(), dir.cache());
    let place = Workplace::new(&config, &cache, Flavour::Native).unwrap();
    place.clear().unwrap();
    let write = |name: &str, text: &str| std::fs::write(place.root().join(name), text).unwrap();
    write(
        "Makefile",
        "prog: libown.so main.c\n\t$(CC) -o prog main.c ./libown.so -Wl,-rpath,$(CURDIR)\n\
         libown.so: own.c\n\t$(CC) -shared -fPIC -Wl,-soname,libown.so -o $@ own.c\n",
    );
    write(
        "main.c",
        "int own(void); int main(void) { return own(); }\n",
    );
    write("own.c", "int own(void) { return 6; }\n");
    let program = place.build().unwrap();
    assert_eq!(status(&program), Some(6));
    assert!(!place.is_portable(&program));
}

#[test]
fn commits_are_listed_from_the_oldest_on_along_first_parents() {
    let dir = Scratch::with(&[("a.txt", "1")]);
    dir.sh(
        "git init -q -b main .; git config user.name A; git config user.email a@example.org
        git add a.txt; git commit -qm one; git tag first
        git checkout -qb side; echo 2 > a.txt; git commit -qam two
        git checkout -q main; echo x > b.txt; git add b.txt; git commit -qm three
        git merge -q --no-ff side -m four",
    );
    let subjects = |after: &str, last: &str| -> Vec<String> {
        let found = commits(&dir.path("."), after, last).unwrap();
        found.into_iter().map(|commit| commit.subject).collect()
    };
    assert_eq!(subjects("first", "main"), ["three", "four"]);
    assert!(subjects("main", "first").is_empty());
    let spec = VersionSpec::parse("first", &dir.path(".")).unwrap();
    let out = dir.path("out");
    export(&spec, &dir.cache(), &out).unwrap();
    assert_eq!(std::fs::read_to_string(out.join("a.txt")).unwrap(), "1");
    assert!(!out.join("b.txt").exists());
}
