//! Whether all that the subjects claim is true: one test per claim, named after the subject, the
//! pair and the input, so that `cargo test --test truth fields/` looks at one subject only.

mod claims;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use beagle_subjects::{Subject, Workshop, root};
use libtest_mimic::{Arguments, Failed, Trial};

/// Fewer subjects than this are not enough to measure anything by.
const FEWEST: usize = 12;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // Each test is a compiler run or two: more threads than processors would only add waiting.
    arguments.test_threads.get_or_insert(2);
    let workshop = Arc::new(Workshop::new().expect("a temporary directory can be made"));
    let dirs = subdirectories(&root());
    let mut trials = vec![enough(dirs.len())];
    for dir in &dirs {
        trials.extend(of_subject(dir, &workshop));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn of_subject(dir: &Path, workshop: &Arc<Workshop>) -> Vec<Trial> {
    let name = dir
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let (subject, loads) = match Subject::load(dir) {
        Ok(subject) => (Some(Arc::new(subject)), Ok(())),
        Err(error) => (None, Err(Failed::from(error.to_string()))),
    };
    let mut trials = vec![Trial::test(format!("{name}: loads"), || loads)];
    trials.push(every_directory_is_used(&name, dir));
    for claim in subject
        .iter()
        .flat_map(|subject| claims::of(subject, workshop))
    {
        trials.push(Trial::test(claim.name, || {
            (claim.verify)().map_err(Failed::from)
        }));
    }
    trials
}

fn enough(found: usize) -> Trial {
    Trial::test(format!("there are at least {FEWEST} subjects"), move || {
        if found < FEWEST {
            return Err(format!("only {found} under {}", root().display()).into());
        }
        Ok(())
    })
}

/// A directory without a `pair.toml` would be passed over in silence.
fn every_directory_is_used(name: &str, dir: &Path) -> Trial {
    let dir = dir.to_owned();
    Trial::test(
        format!("{name}: every directory is a pair or the base"),
        move || {
            for sub in subdirectories(&dir) {
                if !sub.ends_with("base") && !sub.join("pair.toml").is_file() {
                    return Err(format!("{} has no pair.toml", sub.display()).into());
                }
            }
            Ok(())
        },
    )
}

fn subdirectories(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut dirs: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    dirs.sort();
    dirs
}
