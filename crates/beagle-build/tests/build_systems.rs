//! The build systems that people use, with nothing but `CC` set.

// A test that cannot go on should panic.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;

use beagle_build::Config;
use common::{Scratch, assert_has, defined_in, relink};

const MAIN: &str = "#include <stdio.h>\nint twice(int);\nint main(void) { printf(\"%d\\n\", twice(21)); return 0; }\n";
const TWICE: &str = "int twice(int x) { return 2 * x; }\n";

/// Builds the directory `d` and checks that the program is whole and works.
fn check(dir: &Scratch, config: &str) {
    let config = Config::parse(config, Path::new("beagle.toml")).unwrap();
    let built = dir
        .build("d", &config)
        .unwrap_or_else(|error| panic!("{error}\n{:?}", error.hint()));
    assert_eq!(built.missing, []);
    assert_has(&defined_in(&built), &["main", "twice"]);
    for program in [built.program.clone(), relink(&built)] {
        let output = std::process::Command::new(&program).output().unwrap();
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "42\n",
            "{program:?}"
        );
    }
}

#[test]
fn make_with_an_archive() {
    let makefile = "prog: main.o libtwice.a\n\t$(CC) $(LDFLAGS) -o $@ main.o -L. -ltwice\n\
                    libtwice.a: twice.o\n\t$(AR) rcs $@ $^\n";
    check(
        &Scratch::with(&[
            ("d/main.c", MAIN),
            ("d/twice.c", TWICE),
            ("d/Makefile", makefile),
        ]),
        "",
    );
}

#[test]
fn cmake_with_a_shared_library_and_response_files() {
    let lists = "cmake_minimum_required(VERSION 3.13)\nproject(p C)\ninclude(CheckFunctionExists)\n\
                 check_function_exists(printf HAVE_PRINTF)\nif(NOT HAVE_PRINTF)\nmessage(FATAL_ERROR no)\nendif()\n\
                 set(CMAKE_C_USE_RESPONSE_FILE_FOR_OBJECTS 1)\nadd_library(twice SHARED twice.c)\n\
                 target_precompile_headers(twice PRIVATE <stdio.h>)\n\
                 add_executable(prog main.c)\ntarget_link_libraries(prog twice m)\n";
    check(
        &Scratch::with(&[
            ("d/main.c", MAIN),
            ("d/twice.c", TWICE),
            ("d/CMakeLists.txt", lists),
        ]),
        "",
    );
}

#[test]
fn cmake_with_link_time_optimisation() {
    let lists = "cmake_minimum_required(VERSION 3.13)\nproject(p C)\nset(CMAKE_BUILD_TYPE Release)\n\
                 set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)\nadd_library(twice STATIC twice.c)\n\
                 add_executable(prog main.c)\ntarget_link_libraries(prog twice)\n";
    let dir = Scratch::with(&[
        ("d/main.c", MAIN),
        ("d/twice.c", TWICE),
        ("d/CMakeLists.txt", lists),
    ]);
    check(
        &dir,
        "build = 'cmake -G Ninja -S . -B out && cmake --build out'\nprogram = 'out/prog'",
    );
}

#[test]
fn meson_with_a_shared_library() {
    let meson = "project('p', 'c', default_options: ['warning_level=2'])\ncc = meson.get_compiler('c')\n\
                 assert(cc.has_function('printf'))\nlib = shared_library('twice', 'twice.c')\n\
                 executable('prog', 'main.c', link_with: lib)\n";
    check(
        &Scratch::with(&[
            ("d/main.c", MAIN),
            ("d/twice.c", TWICE),
            ("d/meson.build", meson),
        ]),
        "",
    );
}

#[test]
fn autotools_with_libtool() {
    let configure = "AC_INIT([p], [1])\nAM_INIT_AUTOMAKE([foreign])\nAC_CONFIG_MACRO_DIRS([m4])\nAC_PROG_CC\nAM_PROG_AR\n\
                     LT_INIT\nAC_CHECK_FUNCS([printf no_such_function])\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n";
    let automake = "ACLOCAL_AMFLAGS = -I m4\nlib_LTLIBRARIES = libtwice.la\nlibtwice_la_SOURCES = twice.c\n\
                    libtwice_la_LDFLAGS = -version-info 3:1:2\nbin_PROGRAMS = prog\nprog_SOURCES = main.c\n\
                    prog_LDADD = libtwice.la\n";
    let dir = Scratch::with(&[
        ("d/main.c", MAIN),
        ("d/twice.c", TWICE),
        ("d/configure.ac", configure),
        ("d/Makefile.am", automake),
    ]);
    dir.sh("mkdir d/m4; cd d && autoreconf -fi 2>/dev/null && rm -rf autom4te.cache");
    check(&dir, "");
    // Objects for the archive only, and for nothing but the archive.
    check(
        &dir,
        "build = './configure --disable-shared && make'\nprogram = 'prog'",
    );
}
