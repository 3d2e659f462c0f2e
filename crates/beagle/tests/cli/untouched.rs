//! Nothing of the user's is written to.

use std::path::Path;
use std::time::SystemTime;

use crate::git::{AREA, repository};
use crate::support::Scratch;

/// All files below, with what would show that something was written.
fn state(dir: &Path) -> Vec<(String, SystemTime, Vec<u8>)> {
    let mut found = Vec::new();
    let mut directories = vec![dir.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let data = path.symlink_metadata().unwrap();
            let mut content = Vec::new();
            if data.is_dir() {
                directories.push(path.clone());
            } else {
                content = std::fs::read(&path).unwrap();
            }
            found.push((
                path.display().to_string(),
                data.modified().unwrap(),
                content,
            ));
        }
    }
    found.sort();
    found
}

#[test]
fn working_tree_index_and_repository_stay_as_they_are() {
    let scratch = repository();
    scratch.write("repo/lib/area.c", AREA.replace('*', "-"));
    scratch.write("repo/staged.c", "int staged;\n");
    scratch.write("repo/untracked.c", "int untracked;\n");
    let git = "cd repo && git status --porcelain && git worktree list && git branch -a";
    scratch.sh("cd repo && git add staged.c");
    let status = scratch.sh(git);
    let before = state(&scratch.path("repo"));
    for (old, new) in [("v1", "v2"), ("HEAD", "."), ("v1", "nowhere")] {
        scratch.beagle_in("repo", &format!("changes {old} {new}"));
    }
    assert!(
        before == state(&scratch.path("repo")),
        "something was written"
    );
    assert_eq!(status, scratch.sh(git));
}

#[test]
fn directories_and_files_stay_as_they_are_even_if_the_build_fails() {
    let scratch = Scratch::with(&[
        (
            "d/Makefile",
            "all: p\np: main.c\n\t$(CC) main.c -o p && touch extra\n",
        ),
        ("d/main.c", "int main(void) { return 0; }\n"),
        ("e/Makefile", "all:\n\ttouch half && false\n"),
        ("f.c", "int main(void) { return 1; }\n"),
    ]);
    let before = state(&scratch.path(""));
    scratch.beagle("changes d d").exits(0);
    scratch.beagle("changes d e").exits(3);
    scratch.beagle("changes f.c f.c").exits(0);
    assert!(before == state(&scratch.path("")), "something was written");
}
