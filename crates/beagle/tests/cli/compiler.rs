//! `beagle cc` as a user calls it.

use insta::assert_snapshot;

use crate::support::Scratch;

const MAKEFILE: &str = "\
CFLAGS = -O2 -Wall
tool: main.o util.o
\t$(CC) $(CFLAGS) -o $@ main.o util.o
%.o: %.c
\t$(CC) $(CFLAGS) -c $<
";
const MAIN: &str = "\
int twice(int);
int main(int argc, char **argv) { return twice(argc); }
";

fn project() -> Scratch {
    Scratch::with(&[
        ("d/Makefile", MAKEFILE),
        ("d/main.c", MAIN),
        ("d/util.c", "int twice(int x) { return x + x; }\n"),
    ])
}

#[test]
fn a_makefile_is_built_by_hand_and_its_program_is_compared() {
    let scratch = project();
    scratch.sh("cp -r d e && sed -i 's/x + x/x * 3/' e/util.c");
    for dir in ["d", "e"] {
        scratch.sh(&format!("cd {dir} && make CC=\"$BEAGLE cc\" >/dev/null"));
    }
    // What was built works, and takes part as it is.
    scratch.sh("d/tool a || test $? = 4");
    let ran = scratch
        .beagle("changes d e --build true --program tool")
        .exits(1);
    assert!(ran.stdout.contains("twice()  modified"), "{ran}");
    assert!(ran.stdout.contains("+ util.c:1"), "{ran}");
}

#[test]
fn what_cannot_become_bitcode_is_named_in_the_report() {
    let scratch = Scratch::with(&[
        ("d/main.c", "int f(void); int main(void) { return f(); }\n"),
        ("d/f.s", ".globl f\nf: mov $3, %eax\n ret\n"),
        ("d/Makefile", "p: main.c f.s\n\t$(CC) main.c f.s -o p\n"),
    ]);
    scratch.sh("cp -r d e && sed -i 's/f();/f() + 1;/' e/main.c");
    let ran = scratch.beagle("changes d d -q").exits(0);
    assert_snapshot!(ran.stdout);
    let ran = scratch.beagle("changes d e -q").exits(1);
    assert_snapshot!(ran.stdout);
}

#[test]
fn its_options_are_those_of_the_compiler() {
    let scratch = project();
    let ran = scratch.beagle("cc --version").exits(0);
    assert!(ran.stdout.contains("clang version 19"), "{ran}");
    scratch.beagle_in("d", "cc -c util.c -o util.o").exits(0);
    scratch.beagle_in("d", "cc -q main.c").exits(1);
    let ran = scratch.beagle("cc nowhere.c").exits(1);
    assert!(
        ran.stderr
            .contains("no such file or directory: 'nowhere.c'"),
        "{ran}"
    );
}

#[test]
fn options_of_beagle_in_front_do_not_get_in_the_way() {
    let scratch = project();
    scratch
        .beagle_in("d", "--color never cc -c main.c -o there.o")
        .exits(0);
    assert!(scratch.path("d/there.o").is_file());
}
