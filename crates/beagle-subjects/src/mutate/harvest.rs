//! From a target to mutants that are worth running.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;

use serde::Serialize;

use super::check::{Fate, Judge};
use super::{Mutant, Target, candidates, spread};
use crate::error::Result;

/// What to harvest.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many mutants; all if not given.
    pub count: Option<usize>,
    /// Chooses among the spreads of that size.
    pub seed: u64,
    /// Flags for the compiler beside the usual ones.
    pub cflags: Vec<String>,
    /// How many compilers run at once. The result does not depend on it.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        Self {
            count: None,
            seed: 0,
            cflags: Vec::new(),
            threads,
        }
    }
}

/// The mutants of a target, and the count of those that were left out.
#[derive(Debug, Clone, Serialize)]
pub struct Harvest {
    /// How many changes the operators know of.
    pub candidates: usize,
    /// How many of those looked at do not compile.
    pub not_compiling: usize,
    /// How many of those looked at compile to the code of the original.
    pub equivalent: usize,
    /// The others, in the order of the text.
    pub mutants: Vec<Mutant>,
}

/// Every change of a target that the operators know of, with its id, compiling or not.
pub fn numbered(target: &Target) -> Result<Vec<Mutant>> {
    let mut all = Vec::new();
    for (file, source) in &target.files {
        all.extend(candidates(file, source)?);
    }
    for (number, mutant) in (1..).zip(&mut all) {
        mutant.id = format!("m{number:04}");
    }
    Ok(all)
}

/// Finds the mutants of a target. Looks at candidates only until it has enough.
pub fn harvest(target: &Target, options: &Options) -> Result<Harvest> {
    let all = numbered(target)?;
    let mut judges = BTreeMap::new();
    for (file, source) in &target.files {
        let judge = Judge::new(&target.path(file), source, &options.cflags)?;
        judges.insert(file.as_path(), judge);
    }
    let mut harvest = Harvest {
        candidates: all.len(),
        not_compiling: 0,
        equivalent: 0,
        mutants: Vec::new(),
    };
    let wanted = options.count.unwrap_or(all.len());
    let order = spread(all, options.seed);
    for batch in order.chunks(4 * options.threads.max(1)) {
        let fates = fates(batch, &judges, options.threads)?;
        for (mutant, fate) in batch.iter().zip(fates) {
            if harvest.mutants.len() == wanted {
                break;
            }
            match fate {
                Fate::Alive => harvest.mutants.push(mutant.clone()),
                Fate::DoesNotCompile => harvest.not_compiling += 1,
                Fate::Equivalent => harvest.equivalent += 1,
            }
        }
        if harvest.mutants.len() == wanted {
            break;
        }
    }
    // Ids are numbered in the order of the text; the length comes first for those beyond m9999.
    harvest
        .mutants
        .sort_by_cached_key(|mutant| (mutant.id.len(), mutant.id.clone()));
    Ok(harvest)
}

/// The fates of a batch, in its order.
fn fates(
    batch: &[Mutant],
    judges: &BTreeMap<&Path, Judge<'_>>,
    threads: usize,
) -> Result<Vec<Fate>> {
    let share = batch.len().div_ceil(threads.max(1)).max(1);
    let judge = |mutant: &Mutant| judges[mutant.file.as_path()].fate(mutant);
    thread::scope(|scope| {
        let workers: Vec<_> = batch
            .chunks(share)
            .map(|part| scope.spawn(move || part.iter().map(judge).collect::<Result<Vec<_>>>()))
            .collect();
        let mut fates = Vec::new();
        for worker in workers {
            fates.extend(worker.join().expect("asking the compiler does not panic")?);
        }
        Ok(fates)
    })
}
