//! Inputs to start from: those in a directory, and those that Beagle makes up.
//!
//! A directory may hold raw files, what AFL or libFuzzer collected, saved tests and recorded
//! inputs, in any mixture. What cannot be used is left out with a note; the rest still counts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use beagle_trace::{Input, Source, SourceKind};
use beagle_verdict::saved::{self, recorded};

use crate::failure::Failure;

/// The name of the file by which a saved test is known.
const SAVED_TEST: &str = "test.json";
/// By this one a directory that AFL wrote to is known, and by their names the parts of it that are
/// inputs.
const AFL: &str = "fuzzer_stats";
const AFL_PARTS: [&str; 3] = ["queue", "crashes", "hangs"];

/// Files beyond this are left out.
const MOST_BYTES: u64 = 1 << 20;
/// So much is read in all.
const MOST_IN_ALL: u64 = 256 << 20;

/// What a directory of seeds holds.
#[derive(Debug, Default)]
pub struct Seeds {
    /// The name and content of each file, small ones first.
    pub contents: Vec<(String, Vec<u8>)>,
    /// The ending that all files have in common, with its dot; a program may go by it.
    pub ending: String,
    /// Whole inputs, with words, files and variables, from saved tests and recorded inputs.
    pub whole: Vec<(String, Input)>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

/// Reads a directory, and those below it. Hidden files are left out.
pub fn read(dir: &Path) -> Result<Seeds, Failure> {
    let mut walk = Walk::default();
    walk.directory(dir, dir, false).map_err(unreadable)?;
    // The order must not depend on the file system.
    walk.files.sort();
    walk.whole.sort_by_cached_key(|(name, _)| name.clone());
    let mut contents = Vec::new();
    let mut total = 0;
    for (name, path) in &walk.files {
        match fs_err::metadata(path) {
            Ok(data) if data.len() > MOST_BYTES => walk.omitted.add(name, "larger than 1 MiB"),
            Ok(data) if total + data.len() > MOST_IN_ALL => {
                walk.omitted.add(name, "there are 256 MiB without them");
            }
            Ok(data) => match fs_err::read(path) {
                Ok(content) => {
                    total += data.len();
                    contents.push((name.clone(), content));
                }
                Err(error) => walk.omitted.add(name, &cause(&error)),
            },
            Err(error) => walk.omitted.add(name, &cause(&error)),
        }
    }
    let notes = walk.omitted.notes(dir);
    if contents.is_empty() && walk.whole.is_empty() {
        let why = match notes.first() {
            Some(note) => note.clone(),
            None => format!("--seeds {}: no file is in there", dir.display()),
        };
        let hint = "each file in the directory is one input to start from";
        return Err(Failure::usage(why, hint));
    }
    contents.sort_by_key(|(_, content)| content.len());
    contents.dedup_by(|one, other| one.1 == other.1);
    Ok(Seeds {
        contents,
        ending: common_ending(&walk.files),
        whole: walk.whole,
        notes,
    })
}

/// The findings of an earlier comparison, if there are any: tests that were saved here.
pub fn findings(dir: &Path) -> Seeds {
    let mut walk = Walk::default();
    // A directory that is not there yet has none.
    let _ = walk.directory(dir, dir, false);
    walk.whole.sort_by_cached_key(|(name, _)| name.clone());
    Seeds {
        whole: walk.whole,
        notes: walk.omitted.notes(dir),
        ..Seeds::default()
    }
}

/// What is found on the way through a directory.
#[derive(Default)]
struct Walk {
    files: Vec<(String, PathBuf)>,
    whole: Vec<(String, Input)>,
    omitted: Omitted,
}

impl Walk {
    fn directory(&mut self, root: &Path, dir: &Path, in_afl: bool) -> std::io::Result<()> {
        let name = |path: &Path| {
            let path = path.strip_prefix(root).unwrap_or(path);
            path.display().to_string()
        };
        for (description, load) in WHOLE {
            if dir.join(description).is_file() {
                match load(dir) {
                    Ok(input) => self.whole.push((name(dir), input)),
                    Err(error) => self.omitted.add(&name(dir), &error.to_string()),
                }
                return Ok(());
            }
        }
        let is_afl = dir.join(AFL).is_file();
        for entry in fs_err::read_dir(dir)? {
            let entry = entry?;
            let path = entry.path();
            let file_name = entry.file_name();
            let file_name = file_name.to_string_lossy();
            if file_name.starts_with('.') {
                continue;
            }
            // Links to directories may lead round in a circle.
            if entry.file_type()?.is_dir() {
                if is_afl && !AFL_PARTS.contains(&&*file_name) {
                    continue;
                }
                if let Err(error) = self.directory(root, &path, in_afl || is_afl) {
                    self.omitted.add(&name(&path), &cause(&error));
                }
            } else if is_afl || (in_afl && !file_name.starts_with("id")) {
                // What AFL says about itself.
            } else if path.is_file() {
                self.files.push((name(&path), path));
            }
        }
        Ok(())
    }
}

type Load = fn(&Path) -> Result<Input, beagle_verdict::Error>;

/// By which file a whole input is known, and how it is read.
const WHOLE: [(&str, Load); 2] = [
    (SAVED_TEST, |dir| saved::load(dir).map(|test| test.input)),
    (recorded::DESCRIPTION, |dir| {
        recorded::load(dir).map(|recorded| recorded.input)
    }),
];

/// What was left out, by cause, with one example and how many there are.
#[derive(Default)]
struct Omitted(BTreeMap<String, (String, u64)>);

impl Omitted {
    fn add(&mut self, name: &str, cause: &str) {
        let entry = self.0.entry(cause.to_owned());
        entry.or_insert_with(|| (name.to_owned(), 0)).1 += 1;
    }

    fn notes(&self, dir: &Path) -> Vec<String> {
        let notes = self.0.iter().map(|(cause, (example, count))| {
            let example = dir.join(example);
            match count {
                1 => format!("no seed: {}: {cause}", example.display()),
                _ => format!("no seeds: {count} such as {}: {cause}", example.display()),
            }
        });
        notes.collect()
    }
}

/// What the system said, without the path.
fn cause(error: &std::io::Error) -> String {
    error.kind().to_string()
}

fn unreadable(error: std::io::Error) -> Failure {
    Failure::usage(
        error.to_string(),
        "--seeds needs a directory of files that can be read",
    )
}

fn common_ending(files: &[(String, PathBuf)]) -> String {
    let mut endings = files
        .iter()
        .map(|(_, file)| file.extension().and_then(|e| e.to_str()));
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
        let seeds = read(dir.path()).unwrap();
        let contents = seeds.contents.iter().map(|(_, content)| &content[..]);
        assert_eq!(contents.collect::<Vec<_>>(), [&b"b"[..], b"long"]);
        assert_eq!(seeds.ending, ".txt");
        write(dir.path(), "d", "x");
        assert_eq!(read(dir.path()).unwrap().ending, "");
    }

    #[test]
    fn of_what_afl_wrote_only_the_inputs_count() {
        let dir = tempfile::tempdir().unwrap();
        for name in [
            "out/default/fuzzer_stats",
            "out/default/plot_data",
            "out/default/queue/id:000000,time:0,orig:a",
            "out/default/queue/.state/x",
            "out/default/crashes/README.txt",
            "out/default/crashes/id:000000,sig:11",
            "out/default/_resume/id:000000",
        ] {
            write(dir.path(), name, name);
        }
        let seeds = read(dir.path()).unwrap();
        let mut names: Vec<_> = seeds.contents.iter().map(|(name, _)| &name[..]).collect();
        names.sort_unstable();
        assert_eq!(
            names,
            [
                "out/default/crashes/id:000000,sig:11",
                "out/default/queue/id:000000,time:0,orig:a"
            ]
        );
    }

    #[test]
    fn what_cannot_be_used_is_named_and_the_rest_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), "good", "x");
        write(dir.path(), "saved/1/test.json", "{}");
        write(dir.path(), "saved/1/stdin", "not a seed by itself");
        let large = fs_err::File::create(dir.path().join("large")).unwrap();
        large.file().set_len(MOST_BYTES + 1).unwrap();
        let mut records = recorded::Records::open(&dir.path().join("records")).unwrap();
        let input = Input::from_args("p", ["-x"]).with_stdin("in");
        let recorded = recorded::Recorded {
            input: input.clone(),
            runs: 1,
        };
        records.add(&recorded).unwrap();
        let seeds = read(dir.path()).unwrap();
        assert_eq!(seeds.contents, [("good".to_owned(), b"x".to_vec())]);
        assert_eq!(seeds.whole, [("records/0001".to_owned(), input)]);
        let notes = seeds.notes.join("\n");
        assert!(notes.contains("large: larger than 1 MiB"), "{notes}");
        assert!(notes.contains("saved/1: "), "{notes}");
        assert_eq!(seeds.notes.len(), 2);
        assert_eq!(findings(&dir.path().join("records")).whole.len(), 1);
        assert!(findings(&dir.path().join("none")).whole.is_empty());
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
