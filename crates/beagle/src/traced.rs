//! Instrumented programs, by way of the cache.

use std::path::Path;

use beagle_build::{Built, Cache};
use beagle_change::{Comparison, Numbers};
use beagle_instrument::{Error, Ids, Instrumented, Link, Options, instrument};

use crate::failure::Failure;
use crate::versions::{Version, both};

/// The names of the files of an entry.
const PROGRAM: &str = "traced";
const KNOWN: &str = "known.json";

/// Instruments both versions of a pair, side by side, with the numbers that they share.
#[allow(dead_code, reason = "for `beagle diff`")]
pub fn pair(
    old: &Version,
    new: &Version,
    comparison: &Comparison,
    cache: &Cache,
) -> Result<(Instrumented, Instrumented), Failure> {
    let numbers = comparison.numbers(&old.program, &new.program);
    let built = (&old.built, &new.built);
    let (old, new) = both(
        || traced(built.0, &numbers.0, cache),
        || traced(built.1, &numbers.1, cache),
    );
    Ok((old?, new?))
}

/// Instruments a version, or finds that in the cache.
pub fn traced(built: &Built, numbers: &Numbers, cache: &Cache) -> Result<Instrumented, Failure> {
    let bitcode = fs_err::read(&built.bitcode).map_err(Failure::run)?;
    let bytes =
        |numbers: &[u32]| -> Vec<u8> { numbers.iter().flat_map(|it| it.to_le_bytes()).collect() };
    let (stmts, functions) = (bytes(&numbers.stmts), bytes(&numbers.functions));
    let changed: Vec<u8> = numbers.changed.iter().map(|&it| u8::from(it)).collect();
    let link = linked(&built.link_args, &built.link_dir);
    let parts: [&[u8]; 5] = [&bitcode, &stmts, &functions, &changed, link.as_bytes()];
    let place = cache.keep("traced", &parts, |dir| make(built, numbers, dir))?;
    let program = place.join(PROGRAM);
    let known = fs_err::read(place.join(KNOWN)).map_err(Failure::run)?;
    Instrumented::from_json(&known, program).ok_or_else(|| {
        let place = place.display();
        Failure::run(format_args!("{place} is damaged; remove it"))
    })
}

fn make(built: &Built, numbers: &Numbers, dir: &Path) -> Result<(), Failure> {
    let ids = Ids {
        stmts: &numbers.stmts,
        functions: &numbers.functions,
        probes: &|stmt| numbers.changed.get(stmt as usize) == Some(&true),
    };
    let link = Link {
        args: &built.link_args,
        dir: &built.link_dir,
    };
    let program = dir.join(PROGRAM);
    let options = Options::default();
    let instrumented = instrument(&built.bitcode, &ids, &link, &program, &options);
    let known = instrumented.map_err(|error| failure(built, error))?;
    fs_err::write(dir.join(KNOWN), known.to_json()).map_err(Failure::run)
}

fn failure(built: &Built, error: Error) -> Failure {
    Failure::run(format_args!("{}: {error}", built.label))
}

/// The arguments of the link; files count with what they are now.
fn linked(args: &[String], dir: &Path) -> String {
    let mut text = dir.display().to_string();
    for arg in args {
        text.push('\0');
        text.push_str(arg);
        let path = dir.join(arg);
        if path.is_file() {
            text.push('\0');
            text.push_str(&Cache::file_identity(&path));
        }
    }
    text
}
