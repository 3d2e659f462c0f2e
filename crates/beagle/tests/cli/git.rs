//! Revisions of a repository, and its working tree.

use insta::assert_snapshot;

use crate::support::Scratch;

pub const MAIN: &str = "\
#include <stdio.h>
int area(int width, int height);
int main(int argc, char **argv)
{
    printf(\"%d\\n\", area(argc, 2));
    return 0;
}
";
pub const AREA: &str = "\
int area(int width, int height)
{
    return width * height;
}
";

/// A repository with two commits, tagged `v1` and `v2`, and a `beagle.toml` of two lines.
pub fn repository() -> Scratch {
    let scratch = Scratch::with(&[
        ("repo/main.c", MAIN),
        ("repo/lib/area.c", AREA),
        (
            "repo/build.sh",
            "mkdir -p out && $CC -g main.c lib/area.c -o out/area\n",
        ),
        (
            "repo/beagle.toml",
            "build = 'sh build.sh'\nprogram = 'out/area'\n",
        ),
        ("repo/.gitignore", "out/\n"),
    ]);
    scratch.sh("cd repo && git init -q -b main && git add . && git commit -q -m one && git tag v1");
    scratch.write("repo/lib/area.c", AREA.replace('*', "+"));
    scratch.sh("cd repo && git commit -q -a -m two && git tag v2");
    scratch
}

/// The report without the hashes of commits, which depend on the version of git.
fn report(stdout: &str) -> String {
    let words = stdout.split_inclusive([' ', '\n']);
    let is_hash = |word: &str| word.len() == 9 && word.starts_with('(') && word.ends_with(')');
    let redacted = |word: &str| match is_hash(word.trim_end()) {
        true => word.replace(word.trim_end(), "([HASH])"),
        false => word.to_owned(),
    };
    words.map(redacted).collect()
}

#[test]
fn two_revisions() {
    let ran = repository().beagle_in("repo", "changes v1 v2").exits(1);
    assert_snapshot!(report(&ran.stdout));
    let progress = ran.progress();
    assert_eq!(progress.len(), 2, "{ran}");
    assert!(progress[0].starts_with("Building v1 ("), "{ran}");
    assert!(progress[0].ends_with("): sh build.sh"), "{ran}");
}

#[test]
fn two_revisions_from_a_directory_below() {
    let ran = repository()
        .beagle_in("repo/lib", "changes HEAD~1 HEAD -q")
        .exits(1);
    assert!(ran.stdout.contains("1 change: HEAD~1 ("), "{ran}");
}

#[test]
fn the_same_revision_by_two_names() {
    let ran = repository()
        .beagle_in("repo", "changes v2 HEAD -q")
        .exits(0);
    assert_snapshot!(report(&ran.stdout), @r"
    No change in meaning: v2 ([HASH]) → HEAD ([HASH])
    2 functions, all identical
    ");
}

#[test]
fn a_revision_and_the_dirty_working_tree() {
    let scratch = repository();
    let clean = scratch.beagle_in("repo", "changes HEAD . -q").exits(0);
    assert!(
        clean.stdout.starts_with("No change in meaning: HEAD ("),
        "{clean}"
    );
    scratch.write("repo/main.c", MAIN.replace("argc, 2", "argc, 3"));
    // What is not under version control counts too, as it does for the user's own build.
    scratch.write(
        "repo/build.sh",
        "mkdir -p out && $CC -g *.c lib/*.c -o out/area\n",
    );
    scratch.write("repo/more.c", "int more(void) { return 1; }\n");
    let ran = scratch.beagle_in("repo", "changes HEAD . -q").exits(1);
    assert_snapshot!(report(&ran.stdout));
    let from_below = scratch.beagle_in("repo/lib", "changes HEAD . -q").exits(1);
    assert_eq!(ran.stdout, from_below.stdout);
}

#[test]
fn a_path_of_the_repository_from_outside_is_its_working_tree() {
    let scratch = repository();
    let ran = scratch.beagle("changes repo repo -q").exits(0);
    assert!(ran.stdout.contains("working tree → working tree"), "{ran}");
}
