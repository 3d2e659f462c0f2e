//! `beagle.toml`, and the options that stand above it.

use crate::support::{Ran, Scratch};

const MAIN: &str = "\
#ifndef SIZE
#define SIZE 1
#endif
int printf(const char *, ...);
double sqrt(double);
int main(int argc, char **argv)
{
    printf(\"%d\\n\", SIZE);
    return USE_MATH;
}
";

fn main_with(value: &str) -> String {
    MAIN.replace("USE_MATH", value)
}

/// The same sources twice; what differs comes from flags.
fn tree(config: &str) -> Scratch {
    let scratch = Scratch::with(&[
        ("old/main.c", &main_with("0")),
        ("new/main.c", &main_with("0")),
    ]);
    scratch.write("beagle.toml", config);
    scratch
}

/// What the build printed for a version, which is its last word on stderr.
fn log(ran: &Ran) -> &str {
    ran.stderr
        .lines()
        .find(|line| line.starts_with("error: "))
        .unwrap()
}

#[test]
fn options_override_the_file() {
    let scratch = tree("build = 'echo from-file >&2; false'\nprogram = 'x'\ncflags = '-DF'\n");
    let ran = scratch.beagle("changes old new").fails(3);
    assert!(log(&ran).ends_with("from-file"), "{ran}");
    let ran = scratch.beagle("changes old new --build 'echo option $CFLAGS >&2; false'");
    assert!(log(&ran.fails(3)).ends_with("option -DF"));
    let ran = scratch.beagle(
        "changes old new --build 'echo $CFLAGS+$LDFLAGS >&2; false' --cflags=-DO --ldflags '-lm -g'",
    );
    assert!(log(&ran.fails(3)).ends_with("-DO+-lm -g"));
    let build = "--build '$CC main.c -o one; cp one two'";
    let ran = scratch.beagle(&format!("changes old new {build}")).fails(3);
    assert!(log(&ran).contains("no program `x`"), "{ran}");
    scratch
        .beagle(&format!("changes old new {build} --program one"))
        .exits(0);
}

#[test]
fn the_file_is_looked_for_here_then_in_new_then_in_old() {
    let scratch = tree("build = 'echo here >&2; false'");
    scratch.write("old/beagle.toml", "build = 'echo old >&2; false'");
    scratch.write("new/beagle.toml", "build = 'echo new >&2; false'");
    for (file, from) in [
        ("beagle.toml", "here"),
        ("new/beagle.toml", "new"),
        ("old/beagle.toml", "old"),
    ] {
        let ran = scratch.beagle("changes old new").fails(3);
        assert!(log(&ran).ends_with(from), "{ran}");
        std::fs::remove_file(scratch.path(file)).unwrap();
    }
    scratch.beagle("changes old new").exits(0);
}

#[test]
fn flags_reach_the_compiler_and_the_linker_for_single_files() {
    let scratch = Scratch::with(&[
        ("a.c", &main_with("0")),
        ("b.c", &main_with("(int)sqrt(argc)")),
    ]);
    scratch.write("half.c", main_with("0").replace("SIZE 1", "SIZE 2"));
    scratch.beagle("changes a.c half.c").exits(1);
    scratch
        .beagle("changes a.c half.c --cflags=-DSIZE=5")
        .exits(0);
    scratch.write("beagle.toml", "cflags = ['-DSIZE=5']\n");
    scratch.beagle("changes a.c half.c").exits(0);
    scratch.beagle("changes a.c half.c --cflags ''").exits(1);
    let ran = scratch.beagle("changes a.c b.c").fails(3);
    assert!(log(&ran).contains("undefined reference to `sqrt'"), "{ran}");
    scratch.beagle("changes a.c b.c --ldflags=-lm").exits(1);
}
