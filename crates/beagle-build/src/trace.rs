//! What lld says it loaded: lines such as `a.o`, `lib.a(b.o)` and `/lib/libc.so.6`.

use std::path::{Path, PathBuf};

use crate::embed;
use crate::record::{Missing, Reason};
use crate::unit::Unit;

/// Where compilers and the system keep their own objects and libraries. What comes from there
/// is not part of the project, and its absence from the bitcode is nothing to report.
const SYSTEM: [&str; 5] = [
    "/lib/",
    "/lib32/",
    "/lib64/",
    "/usr/lib",
    "/usr/local/lib/clang/",
];

/// The objects and members without bitcode.
pub(crate) fn missing(loaded: &[String]) -> Vec<Missing> {
    let mut missing = Vec::new();
    for line in loaded {
        let (path, member) = parse(line);
        if is_system(path) || embed::dynamic(path).is_some() {
            continue;
        }
        match embed::contents(path, member) {
            // A partial object can have both bitcode and notes about the rest.
            Some(contents) if !contents.notes.is_empty() => {
                let notes = contents.notes.into_iter();
                missing.extend(notes.map(|note| Missing {
                    what: line.clone(),
                    ..note
                }));
            }
            Some(contents) if contents.bitcode => {}
            Some(_) => missing.push(Missing {
                what: line.clone(),
                reason: Reason::Foreign,
            }),
            // A linker script, or what lld itself makes up.
            None => {}
        }
    }
    missing.sort();
    missing.dedup();
    missing
}

/// What each loaded object was compiled from, where that is known.
pub(crate) fn units<'a>(
    loaded: impl Iterator<Item = &'a String>,
) -> impl Iterator<Item = Option<Vec<Unit>>> {
    let of_project = loaded.map(|line| parse(line)).filter(|(path, _)| {
        let is_library = || embed::dynamic(path).is_some();
        !is_system(path) && !is_library()
    });
    // What is no object is a linker script, or what lld itself makes up.
    of_project.filter_map(|(path, member)| Some(embed::contents(path, member)?.units))
}

/// The shared libraries with bitcode that the output needs.
pub(crate) fn own_libraries(loaded: &[String], output: &Path) -> Vec<PathBuf> {
    let needed = embed::dynamic(output).unwrap_or_default().needed;
    let mut libraries = Vec::new();
    for line in loaded {
        let path = Path::new(line);
        if is_system(path) || embed::record(path).is_none() {
            continue;
        }
        let name = embed::dynamic(path).and_then(|dynamic| dynamic.soname);
        let name = name.or_else(|| Some(path.file_name()?.to_str()?.to_owned()));
        if name.is_some_and(|name| {
            needed
                .iter()
                .any(|needed| Path::new(needed).ends_with(&name))
        }) && let Ok(path) = path.canonicalize()
            && !libraries.contains(&path)
        {
            libraries.push(path);
        }
    }
    libraries
}

/// These libraries, and those that they need in turn.
pub(crate) fn with_their_own(libraries: &[PathBuf]) -> Vec<PathBuf> {
    let mut libraries = libraries.to_vec();
    let mut next = 0;
    while let Some(library) = libraries.get(next).cloned() {
        next += 1;
        for path in embed::record(&library)
            .into_iter()
            .flat_map(|record| record.libraries)
        {
            // A library that was moved usually moved together with its neighbours.
            let moved = path.file_name().map(|name| library.with_file_name(name));
            let found = [Some(path), moved]
                .into_iter()
                .flatten()
                .find(|path| path.is_file());
            if let Some(path) = found.filter(|path| !libraries.contains(path)) {
                libraries.push(path);
            }
        }
    }
    libraries
}

/// A path, and the member if it is an archive.
fn parse(line: &str) -> (&Path, Option<&str>) {
    let member = line
        .strip_suffix(')')
        .and_then(|line| line.rsplit_once('('));
    match member {
        Some((archive, member)) if !Path::new(line).exists() => (Path::new(archive), Some(member)),
        _ => (Path::new(line), None),
    }
}

fn is_system(path: &Path) -> bool {
    // Links may lead there and back; the name as the linker found it counts.
    let path = path.to_string_lossy();
    SYSTEM.iter().any(|dir| path.starts_with(dir))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_archives_are_recognised() {
        assert_eq!(
            parse("dir/lib.a(b.o)"),
            (Path::new("dir/lib.a"), Some("b.o"))
        );
        assert_eq!(parse("a.o"), (Path::new("a.o"), None));
    }

    #[test]
    fn system_libraries_are_not_the_projects() {
        assert!(is_system(Path::new(
            "/usr/lib/gcc/x86_64-linux-gnu/12/libgcc.a"
        )));
        assert!(!is_system(Path::new("/home/me/lib/libx.a")));
    }
}
