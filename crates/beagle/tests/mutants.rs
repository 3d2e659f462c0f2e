//! Mutants of the subjects that are known to behave differently: nearly all have to be found soon,
//! and everything that is found has to be so. `make bench-mutants` takes many more.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "hunt/mod.rs"]
#[allow(dead_code, reason = "shared with other tests")]
mod hunt;
#[path = "hunt/mutants.rs"]
#[allow(dead_code, reason = "shared with the benchmark")]
mod mutants;

use beagle_subjects::{Subject, Workshop, root};
use hunt::Hunt;

/// How long to look for one.
const SECONDS: u64 = 20;

/// How many may be missed, on a machine that is busy with other things.
const MOST_MISSED: usize = 2;

/// Subjects and mutants, each of another operator or sort of program.
const KNOWN: [(&str, &str); 7] = [
    ("bitpack", "m0083"),
    ("bitpack", "m1184"),
    ("fields", "m0328"),
    ("fields", "m0774"),
    ("imghdr", "m0325"),
    ("imghdr", "m0554"),
    ("ini", "m1409"),
];

#[test]
fn mutants_are_found_and_what_is_found_is_so() {
    let dir = tempfile::tempdir().unwrap();
    let workshop = Workshop::new().unwrap();
    let mut missed = Vec::new();
    for (name, id) in KNOWN {
        let subject = Subject::load(&root().join(name)).unwrap();
        let mutation = mutants::one(&subject, id, dir.path()).unwrap();
        let hunt = Hunt {
            old: &mutation.old,
            new: &mutation.new,
            seed: Some(&mutation.seed),
            seconds: SECONDS,
            options: &[],
            first: true,
            blame: false,
        };
        let report = hunt.run(&dir.path().join("cache")).unwrap();
        if report.differences.is_empty() {
            missed.push(format!("{name} {id}: {:?}", mutation.mutant));
        }
        for difference in &report.differences {
            let input = hunt::reported(&difference.input);
            let differ = hunt::differ(&workshop, hunt.old, hunt.new, &input).unwrap();
            assert!(differ, "{name} {id}: the versions do not differ on {input}");
        }
    }
    assert!(
        missed.len() <= MOST_MISSED,
        "not found:\n{}",
        missed.join("\n")
    );
}
