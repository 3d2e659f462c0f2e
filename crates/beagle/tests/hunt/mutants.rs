//! Mutants of the subjects' base versions, each with the input that a search starts from: the
//! first on which the versions of the subject's first pair agree, which is as good as any.

use std::path::Path;

use beagle_subjects::mutate::{Mutant, Options, Target, harvest, numbered};
use beagle_subjects::{Input, Source, Subject, Version};

/// A version of a subject with one small change.
pub struct Mutation {
    /// The name of the subject.
    pub subject: String,
    /// The change.
    pub mutant: Mutant,
    /// The version without it.
    pub old: Version,
    /// The version with it.
    pub new: Version,
    /// The input to start from.
    pub seed: Input,
}

/// So many mutants, written to `out`, as many of each subject as of any other, and spread over
/// operators and functions. Always the same ones.
pub fn spread(subjects: &[Subject], count: usize, out: &Path) -> Result<Vec<Mutation>, String> {
    let mut found = Vec::new();
    for (at, subject) in subjects.iter().enumerate() {
        let share = count / subjects.len() + usize::from(at < count % subjects.len());
        let options = Options {
            count: Some(share),
            ..Options::default()
        };
        let target = target(subject)?;
        let harvest = harvest(&target, &options).map_err(|error| error.to_string())?;
        for mutant in harvest.mutants {
            found.push(write(subject, &target, mutant, out)?);
        }
    }
    Ok(found)
}

/// One mutant, by its id.
pub fn one(subject: &Subject, id: &str, out: &Path) -> Result<Mutation, String> {
    let target = target(subject)?;
    let mut all = numbered(&target).map_err(|error| error.to_string())?;
    let at = all.iter().position(|mutant| mutant.id == id);
    let at = at.ok_or_else(|| format!("{} has no mutant {id}", subject.name))?;
    write(subject, &target, all.swap_remove(at), out)
}

fn target(subject: &Subject) -> Result<Target, String> {
    Target::version(&subject.base).map_err(|error| error.to_string())
}

fn write(
    subject: &Subject,
    target: &Target,
    mutant: Mutant,
    out: &Path,
) -> Result<Mutation, String> {
    let out = out.join(&subject.name);
    let dir = target.write(&mutant, &out);
    let dir = dir.map_err(|error| error.to_string())?;
    let path = match &subject.base.source {
        Source::File(_) => dir.join(&mutant.file),
        Source::Directory { .. } => dir,
    };
    let pair = subject.pairs.first();
    let seed = pair.and_then(|pair| pair.agrees.first());
    let seed = seed.ok_or_else(|| format!("{} has no input to start from", subject.name))?;
    Ok(Mutation {
        subject: subject.name.clone(),
        mutant,
        old: subject.base.clone(),
        new: subject.base.with_path(path),
        seed: seed.clone(),
    })
}
