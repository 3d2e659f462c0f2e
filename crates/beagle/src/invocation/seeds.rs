//! Inputs to start from: those in a directory, and those that Beagle makes up.

use std::path::{Path, PathBuf};

use beagle_trace::{Input, Source, SourceKind};

use crate::failure::Failure;

/// The name of the file by which a saved test is known.
const SAVED_TEST: &str = "test.json";

/// What a directory of seeds holds.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Seeds {
    /// The content of each file, small ones first.
    pub contents: Vec<Vec<u8>>,
    /// The ending that all files have in common, with its dot; a program may go by it.
    pub ending: String,
    /// Directories with a saved test.
    pub saved: Vec<PathBuf>,
}

/// Reads a directory, and those below it. Hidden files are left out.
pub fn read(dir: &Path) -> Result<Seeds, Failure> {
    let mut files: Vec<PathBuf> = Vec::new();
    let mut saved = Vec::new();
    let mut directories = vec![dir.to_owned()];
    while let Some(dir) = directories.pop() {
        if dir.join(SAVED_TEST).is_file() {
            saved.push(dir);
            continue;
        }
        for entry in fs_err::read_dir(&dir).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let path = entry.path();
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            // Links to directories may lead round in a circle.
            if entry.file_type().map_err(unreadable)?.is_dir() {
                directories.push(path);
            } else if path.is_file() {
                files.push(path);
            }
        }
    }
    if files.is_empty() && saved.is_empty() {
        return Err(Failure::usage(
            format!("--seeds {}: no file is in there", dir.display()),
            "each file in the directory is one input to start from",
        ));
    }
    // The order must not depend on the file system.
    files.sort();
    saved.sort();
    let mut contents = Vec::new();
    for file in &files {
        contents.push(fs_err::read(file).map_err(unreadable)?);
    }
    contents.sort_by_key(Vec::len);
    contents.dedup();
    Ok(Seeds {
        contents,
        ending: common_ending(&files),
        saved,
    })
}

fn unreadable(error: std::io::Error) -> Failure {
    Failure::usage(
        error.to_string(),
        "--seeds needs a directory of files that can be read",
    )
}

fn common_ending(files: &[PathBuf]) -> String {
    let mut endings = files
        .iter()
        .map(|file| file.extension().and_then(|e| e.to_str()));
    match endings.next().flatten() {
        Some(first) if endings.all(|ending| ending == Some(first)) => format!(".{first}"),
        _ => String::new(),
    }
}

/// What is tried if nothing is said about the input: a few shapes that most programs take, the
/// simplest first. The search goes on from there to other texts and other numbers of arguments.
pub fn made_up(name: &[u8]) -> Vec<Input> {
    const TEXT: &str = "a 1\n";
    const ARGUMENTS: [&[&str]; 6] = [
        &[],
        &["1"],
        &["-a"],
        &["a", "1"],
        &["-a", "1"],
        &["-a", "1", "2"],
    ];
    let with = |args: &[&str]| Input::from_args(name, args.iter().copied()).with_stdin(TEXT);
    let mut inputs: Vec<_> = ARGUMENTS.iter().map(|args| with(args)).collect();
    // A program that wants a file gets one. Its name stays, or it would not be found.
    let mut file = Input::from_args(name, [""; 0]);
    file.sources.push(Source {
        kind: SourceKind::Argument,
        name: Vec::new(),
        bytes: FILE.into(),
        symbolic: false,
        pad: 0,
    });
    inputs.push(file.with_stdin("").with_file(FILE, TEXT));
    inputs
}

/// The name of a file that Beagle makes up.
pub const FILE: &str = "input";

#[cfg(test)]
mod tests {
    use super::*;

    fn write(dir: &Path, name: &str, text: &str) {
        let path = dir.join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    #[test]
    fn each_file_is_a_seed_and_small_ones_come_first() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "b.txt", "long");
        write(dir.path(), "deep/a.txt", "b");
        write(dir.path(), "c.txt", "b");
        write(dir.path(), ".hidden", "");
        write(dir.path(), "saved/1/test.json", "{}");
        write(dir.path(), "saved/1/stdin", "not a seed by itself");
        let seeds = read(dir.path()).unwrap();
        assert_eq!(seeds.contents, [&b"b"[..], b"long"]);
        assert_eq!(seeds.ending, ".txt");
        assert_eq!(seeds.saved, [dir.path().join("saved/1")]);
        write(dir.path(), "d", "x");
        assert_eq!(read(dir.path()).unwrap().ending, "");
    }

    #[test]
    fn a_directory_without_files_or_none_at_all_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let failure = read(dir.path()).unwrap_err().to_string();
        assert!(failure.ends_with("no file is in there"), "{failure}");
        assert!(read(&dir.path().join("none")).is_err());
    }

    #[test]
    fn made_up_inputs_can_be_given_to_a_program_and_get_larger() {
        let inputs = made_up(b"p");
        assert_eq!(inputs[0].arg_count(), 1);
        assert_eq!(
            inputs
                .iter()
                .filter_map(|input| input.encode().ok())
                .count(),
            7
        );
        let counts: Vec<_> = inputs[..6].iter().map(Input::arg_count).collect();
        assert!(counts.is_sorted(), "{counts:?}");
        assert!(!inputs[6].sources[1].symbolic);
        assert_eq!(inputs[6].sources[3].name, b"input");
    }
}
