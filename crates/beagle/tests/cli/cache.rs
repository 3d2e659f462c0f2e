//! What was built before is not built again.

use crate::support::{BEAGLE, Scratch};

const MAIN: &str = "int main(int argc, char **argv) { return argc; }\n";

/// Two directories whose build notes outside of them that it ran.
fn counted() -> Scratch {
    let scratch = Scratch::with(&[
        ("old/main.c", MAIN),
        (
            "new/main.c",
            &MAIN.replace("return argc", "return argc + 1"),
        ),
    ]);
    let runs = scratch.path("runs");
    let build = format!(
        "build = 'echo ran >> {}; $CC main.c -o p'\n",
        runs.display()
    );
    scratch.write("beagle.toml", build + "program = 'p'\n");
    scratch
}

fn runs(scratch: &Scratch) -> usize {
    scratch.read("runs").lines().count()
}

#[test]
fn a_second_call_on_the_same_pair_does_not_build() {
    let scratch = counted();
    let first = scratch.beagle("changes old new").exits(1);
    assert_eq!(runs(&scratch), 2);
    let second = scratch.beagle("changes old new").exits(1);
    assert_eq!(runs(&scratch), 2);
    assert_eq!(first.stdout, second.stdout);
    assert_eq!(
        second.progress(),
        ["Found new: built before", "Found old: built before"]
    );
    scratch.write("new/main.c", MAIN);
    let third = scratch.beagle("changes old new").exits(0);
    // The same sources as those of old, wherever they are.
    assert_eq!(runs(&scratch), 2, "{third}");
    scratch.write("new/main.c", MAIN.replace("return argc", "return argc - 1"));
    scratch.beagle("changes old new").exits(1);
    assert_eq!(runs(&scratch), 3);
}

#[test]
fn a_failed_build_is_tried_again() {
    let scratch = counted();
    scratch.write("new/main.c", "int main(void) { return x; }\n");
    scratch.beagle("changes old new").fails(3);
    assert_eq!(runs(&scratch), 2);
    scratch.beagle("changes old new").fails(3);
    assert_eq!(runs(&scratch), 3);
}

#[test]
fn single_files_are_not_compiled_again_wherever_the_user_is() {
    let scratch = Scratch::with(&[("d/a.c", MAIN), ("d/b.c", &MAIN.replace("argc;", "0;"))]);
    scratch.beagle("changes d/a.c d/b.c").exits(1);
    let again = scratch.beagle_in("d", "changes a.c b.c").exits(1);
    assert_eq!(
        again.progress(),
        ["Found a.c: built before", "Found b.c: built before"]
    );
}

#[test]
fn two_calls_at_the_same_time_share_one_build() {
    let scratch = counted();
    let children = [0, 1].map(|_| {
        let mut command = scratch.command(BEAGLE);
        command
            .args(["changes", "old", "new", "-q"])
            .spawn()
            .unwrap()
    });
    for mut child in children {
        assert_eq!(child.wait().unwrap().code(), Some(1));
    }
    assert_eq!(runs(&scratch), 2);
}
