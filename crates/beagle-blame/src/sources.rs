//! The sources of a version, as they are before anything is built.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use beagle_build::{Cache, VersionSpec, export};
use beagle_hunks::{File, Tree};

use crate::error::Error;

/// All files of a version. A single file comes with what it includes from beside it; `main` is the
/// name that it gets, since old and new need not be called alike.
pub(crate) fn sources(spec: &VersionSpec, cache: &Cache, main: &Path) -> Result<Tree, Error> {
    if let VersionSpec::File { path, .. } = spec {
        return single(path, main);
    }
    let dir = tempfile::tempdir()?;
    export(spec, cache, dir.path())?;
    Ok(beagle_hunks::read(dir.path())?)
}

fn single(path: &Path, main: &Path) -> Result<Tree, Error> {
    let directory = path.parent().unwrap_or(Path::new("/"));
    let text = fs_err::read(path)?;
    let mut work = included(&text, Path::new(""));
    let mut tree = Tree::from([(main.to_owned(), File::plain(text))]);
    let mut seen = BTreeSet::new();
    while let Some(name) = work.pop() {
        if !seen.insert(name.clone()) || tree.contains_key(&name) {
            continue;
        }
        // What is not there is looked for elsewhere by the compiler.
        let Ok(text) = fs_err::read(directory.join(&name)) else {
            continue;
        };
        work.extend(included(&text, name.parent().unwrap_or(Path::new(""))));
        tree.insert(name, File::plain(text));
    }
    Ok(tree)
}

/// The files that a text in some directory includes with quotes, unless they are outside.
pub(crate) fn included(text: &[u8], directory: &Path) -> Vec<PathBuf> {
    let text = String::from_utf8_lossy(text);
    let names = text.lines().filter_map(|line| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start();
        let rest = rest.strip_prefix("include")?.trim_start();
        rest.strip_prefix('"')?.split('"').next()
    });
    let paths = names.map(|name| directory.join(name));
    paths.filter(|path| is_inside(path)).collect()
}

fn is_inside(path: &Path) -> bool {
    path.components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_comes_with_what_it_includes() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        };
        write(
            "old.c",
            "#include <stdio.h>\n#include \"a/x.h\"\n# include \"../out.h\"\n",
        );
        write("a/x.h", "#include \"y.h\"\n#include \"gone.h\"\n");
        write("a/y.h", "#include \"x.h\"\n");
        write("other.c", "");
        let tree = single(&dir.path().join("old.c"), Path::new("main.c")).unwrap();
        let names: Vec<_> = tree.keys().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(names, ["a/x.h", "a/y.h", "main.c"]);
    }
}
