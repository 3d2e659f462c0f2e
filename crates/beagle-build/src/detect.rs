//! Guessing how a tree is built when nobody said.
//!
//! Only what is beyond doubt is guessed: exactly one build system, or exactly one C file with
//! a `main`. Anything else is a question for the user.

use std::path::{Path, PathBuf};

/// How to build a tree.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// A shell command.
    Command(String),
    /// One source, relative to the tree.
    Single(PathBuf),
}

const SYSTEMS: [(&str, &str); 6] = [
    ("GNUmakefile", MAKE),
    ("Makefile", MAKE),
    ("makefile", MAKE),
    ("configure", "./configure && make"),
    (
        "CMakeLists.txt",
        "cmake -S . -B beagle-build && cmake --build beagle-build --parallel",
    ),
    (
        "meson.build",
        "meson setup beagle-build && ninja -C beagle-build",
    ),
];
const MAKE: &str = "make CC=\"$CC\" CXX=\"$CXX\"";

/// Finds the way, or says in a few words what is there instead.
pub(crate) fn method(tree: &Path) -> Result<Method, String> {
    let found: Vec<_> = SYSTEMS
        .iter()
        .filter(|(file, _)| tree.join(file).is_file())
        .collect();
    match found[..] {
        [(_, command)] => return Ok(Method::Command((*command).into())),
        [] => {}
        _ => {
            let names: Vec<_> = found.iter().map(|(file, _)| *file).collect();
            return Err(format!("there are {}", names.join(" and ")));
        }
    }
    let mut programs = c_files(tree)
        .into_iter()
        .filter(|file| has_main(&tree.join(file)));
    match (programs.next(), programs.next()) {
        (Some(file), None) => Ok(Method::Single(file)),
        (Some(_), Some(_)) => {
            Err("there is no build system, and several C files have a `main`".into())
        }
        (None, _) => Err("there is no build system and no C file with a `main`".into()),
    }
}

fn c_files(tree: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(tree).into_iter().flatten().flatten();
    let names = entries.map(|entry| PathBuf::from(entry.file_name()));
    names
        .filter(|name| name.extension().is_some_and(|extension| extension == "c"))
        .collect()
}

/// Whether the text has the word `main` before a parenthesis. Comments count, which at worst
/// leads to a question.
fn has_main(path: &Path) -> bool {
    let Ok(bytes) = std::fs::read(path) else {
        return false;
    };
    let text = String::from_utf8_lossy(&bytes);
    text.match_indices("main").any(|(at, word)| {
        let is_word_before = text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        !is_word_before && text[at + word.len()..].trim_start().starts_with('(')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)], expected: Result<Method, &str>) {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(dir.path().join(name), text).unwrap();
        }
        assert_eq!(method(dir.path()), expected.map_err(str::to_owned));
    }

    #[test]
    fn one_build_system_is_used() {
        check(
            &[("Makefile", ""), ("a.c", "int main(){}")],
            Ok(Method::Command(MAKE.into())),
        );
        check(
            &[("configure", "")],
            Ok(Method::Command("./configure && make".into())),
        );
    }

    #[test]
    fn several_are_a_question() {
        check(
            &[("Makefile", ""), ("CMakeLists.txt", "")],
            Err("there are Makefile and CMakeLists.txt"),
        );
    }

    #[test]
    fn one_file_with_main_is_a_program() {
        let files = [("a.c", "int domain(void);"), ("b.c", "int\nmain (void) {}")];
        check(&files, Ok(Method::Single("b.c".into())));
        check(
            &[("a.c", "main(){}"), ("b.c", "main(){}")],
            Err("there is no build system, and several C files have a `main`"),
        );
        check(
            &[],
            Err("there is no build system and no C file with a `main`"),
        );
    }
}
