//! A mutation that hides among others, which leave the behaviour on the failing test as it is.

use std::path::Path;

use beagle_subjects::mutate::{Mutant, Target, numbered};
use beagle_subjects::{Flavour, Input, Observation, Source, Version, Workshop};

use crate::mutants::Mutation;

/// How many others there are.
const OTHERS: usize = 4;
/// So many are tried.
const MOST_TRIED: usize = 24;

/// A version with a mutation and others.
pub struct Hidden {
    /// The version.
    pub version: Version,
    /// Where the fault is in it.
    pub line: u32,
}

impl Hidden {
    /// Hides a mutation; `None` if there are not enough others that do no harm.
    pub fn new(mutation: &Mutation, test: &Input, out: &Path) -> Result<Option<Self>, String> {
        let text = |error: beagle_subjects::Error| error.to_string();
        let target = Target::version(&mutation.old).map_err(text)?;
        let source = match &mutation.old.source {
            Source::File(path) => path.clone(),
            Source::Directory { path, .. } => path.join(&mutation.mutant.file),
        };
        let source = fs_err::read_to_string(source).map_err(|error| error.to_string())?;
        let workshop = Workshop::new().map_err(text)?;
        let seen = |version: &Version| -> Result<Option<Observation>, String> {
            match workshop.program(version, Flavour::Plain) {
                Ok(program) => beagle_subjects::run(&program, "program", test)
                    .map(Some)
                    .map_err(text),
                Err(_) => Ok(None),
            }
        };
        let before = seen(&mutation.old)?;
        let fault = seen(&mutation.new)?;
        let mut picked: Vec<Mutant> = Vec::new();
        for (number, other) in shuffled(mutation, numbered(&target).map_err(text)?).enumerate() {
            let apart = |it: &Mutant| {
                lines(it).0 > lines(&other).1 + 1 || lines(&other).0 > lines(it).1 + 1
            };
            if number >= MOST_TRIED || picked.len() == OTHERS {
                break;
            }
            if !apart(&mutation.mutant) || !picked.iter().all(apart) {
                continue;
            }
            // Beside the fault, too: it may change what is executed.
            let alone = write(
                mutation,
                &target,
                &source,
                &[&other],
                &out.join(format!("{number}a")),
            )?;
            let both = [&mutation.mutant, &other];
            let both = write(
                mutation,
                &target,
                &source,
                &both,
                &out.join(format!("{number}b")),
            )?;
            if seen(&alone)? == before && seen(&both)? == fault {
                picked.push(other);
            }
        }
        if picked.len() < OTHERS {
            return Ok(None);
        }
        let all: Vec<&Mutant> = picked.iter().chain([&mutation.mutant]).collect();
        let version = write(mutation, &target, &source, &all, &out.join("all"))?;
        if seen(&version)? != fault {
            return Ok(None);
        }
        let newlines = |text: &str| text.matches('\n').count() as i64;
        let earlier = picked
            .iter()
            .filter(|it| it.range.end <= mutation.mutant.range.start);
        let shift: i64 = earlier
            .map(|it| newlines(&it.replacement) - newlines(&it.original))
            .sum();
        let line = (mutation.mutant.line as i64 + shift) as u32;
        Ok(Some(Self { version, line }))
    }
}

/// The first and the last line of what a mutant replaces.
fn lines(mutant: &Mutant) -> (usize, usize) {
    (
        mutant.line,
        mutant.line + mutant.original.matches('\n').count(),
    )
}

/// Other mutants of the same file, always in the same order, that depends on the mutant.
fn shuffled(mutation: &Mutation, all: Vec<Mutant>) -> impl Iterator<Item = Mutant> {
    let file = mutation.mutant.file.clone();
    let mut all: Vec<Mutant> = all.into_iter().filter(|it| it.file == file).collect();
    let mut state = mutation.mutant.range.start as u64 + 1;
    for at in (1..all.len()).rev() {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        all.swap(at, (state >> 33) as usize % (at + 1));
    }
    all.into_iter()
}

/// Writes a version with these mutations.
fn write(
    mutation: &Mutation,
    target: &Target,
    source: &str,
    mutants: &[&Mutant],
    out: &Path,
) -> Result<Version, String> {
    let mut order = mutants.to_vec();
    order.sort_by_key(|it| std::cmp::Reverse(it.range.start));
    let text = order
        .iter()
        .fold(source.to_owned(), |text, it| it.apply(&text));
    let dir = target
        .write(&mutation.mutant, out)
        .map_err(|error| error.to_string())?;
    let file = dir.join(&mutation.mutant.file);
    fs_err::write(&file, text).map_err(|error| error.to_string())?;
    Ok(mutation.old.with_path(match &mutation.old.source {
        Source::File(_) => file,
        Source::Directory { .. } => dir,
    }))
}
