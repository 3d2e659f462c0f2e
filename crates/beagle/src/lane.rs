//! The fast lane for two versions: its programs by way of the cache, and what is known of their blocks.

mod words;

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use beagle_build::{Built, Cache};
use beagle_change::{Comparison, Numbers};
use beagle_engine::{Shape, Side, Twin, to_changes};
use beagle_instrument::{Ids, Lane as Made, LaneBlock, Link, lane};
use beagle_lane::{Bounds, Fuzzer, Key, Mark, Process, Setup, Space};
use beagle_program::{Program, StmtId};
use beagle_solver::SourceKey;
use beagle_trace::Input;

use crate::failure::Failure;
use crate::traced::linked;
use crate::versions::both;

/// The directory of programs of the fast lane in the cache, and the files of each.
const KIND: &str = "lane";
const PROGRAM: &str = "lane";
const KNOWN: &str = "known.json";

/// A run that takes longer is stopped: the real programs get more time.
const TIME: Duration = Duration::from_millis(100);
const MOST_OUTPUT: u32 = 256 << 10;
/// A larger tree of files does not go into the lane.
const MOST_FIXTURE: u64 = 4 << 20;

/// What the fast lane needs to know of two versions.
pub struct Lane<'a> {
    /// How the versions were built.
    pub built: (&'a Built, &'a Built),
    /// What they are.
    pub programs: (&'a Program, &'a Program),
    /// How they correspond.
    pub comparison: &'a Comparison,
    /// Where programs are kept.
    pub cache: &'a Cache,
    /// What the programs are told that they are called.
    pub name: &'a OsStr,
    /// A tree of files that every run starts with.
    pub fixture: Option<&'a Path>,
    /// Which inputs are wanted.
    pub shape: &'a Shape,
}

impl Lane<'_> {
    /// Builds and starts both versions.
    pub fn fuzzer(&self, seed: u64) -> Result<Fuzzer, Failure> {
        let (old, new) = self.programs;
        let numbers = self.comparison.numbers(old, new);
        let (built, cache) = (self.built, self.cache);
        let made = both(
            || made(built.0, &numbers.0, cache),
            || made(built.1, &numbers.1, cache),
        );
        let twin = Twin::new(old, new, self.comparison);
        let base = self.base()?;
        let start = |made: Made, program: &Program, numbers: &Numbers, side: Side| {
            let near = to_changes(&twin, side);
            let setup = Setup {
                marks: marks(&made.blocks, program, numbers, &near),
                program: made.program,
                argv0: self.name.to_owned(),
                base: base.clone(),
                time: TIME,
                most_output: MOST_OUTPUT,
            };
            Process::start(setup).map_err(Failure::run)
        };
        let old_process = start(made.0?, old, &numbers.0, Side::Old)?;
        let new_process = start(made.1?, new, &numbers.1, Side::New)?;
        let tokens = words::known(self.programs, &numbers);
        let space = space(self.shape);
        Ok(Fuzzer::new(old_process, new_process, space, tokens, seed))
    }

    /// What every run has: the environment that the real programs get, and the files of the fixture.
    fn base(&self) -> Result<Input, Failure> {
        let mut base = Input::default()
            .with_env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .with_env("HOME", "/nonexistent")
            .with_env("LC_ALL", "C")
            .with_env("TZ", "UTC");
        if let Some(fixture) = self.fixture {
            let mut room = MOST_FIXTURE;
            base = add_files(base, fixture, "", &mut room)?;
        }
        Ok(base)
    }
}

fn add_files(mut base: Input, dir: &Path, prefix: &str, room: &mut u64) -> Result<Input, Failure> {
    for entry in fs_err::read_dir(dir).map_err(Failure::run)? {
        let entry = entry.map_err(Failure::run)?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let data = entry.metadata().map_err(Failure::run)?;
        if data.is_dir() {
            base = add_files(base, &entry.path(), &format!("{name}/"), room)?;
        } else if data.is_file() && data.len() <= *room {
            *room -= data.len();
            let content = fs_err::read(entry.path()).map_err(Failure::run)?;
            base = base.with_file(name, content);
        } else {
            let what = "the fixture has more than files of 4 MiB in all";
            return Err(Failure::run(what));
        }
    }
    Ok(base)
}

/// Builds a version for the lane, or finds that in the cache.
fn made(built: &Built, numbers: &Numbers, cache: &Cache) -> Result<Made, Failure> {
    let bytes =
        |numbers: &[u32]| -> Vec<u8> { numbers.iter().flat_map(|it| it.to_le_bytes()).collect() };
    let bitcode = fs_err::read(&built.bitcode).map_err(Failure::run)?;
    let link = linked(&built.link_args, &built.link_dir);
    let (stmts, functions) = (bytes(&numbers.stmts), bytes(&numbers.functions));
    let parts: [&[u8]; 4] = [&bitcode, &stmts, &functions, link.as_bytes()];
    let place = cache.keep(KIND, &parts, |dir| make(built, numbers, dir))?;
    let known = fs_err::read(place.join(KNOWN)).map_err(Failure::run)?;
    Made::from_json(&known, place.join(PROGRAM)).ok_or_else(|| {
        let place = place.display();
        Failure::run(format_args!("{place} is damaged; remove it"))
    })
}

fn make(built: &Built, numbers: &Numbers, dir: &Path) -> Result<(), Failure> {
    let ids = Ids {
        stmts: &numbers.stmts,
        functions: &numbers.functions,
        watched: &[],
        probes: &|_| false,
    };
    let link = Link {
        args: &built.link_args,
        dir: &built.link_dir,
    };
    let made = lane(&built.bitcode, &ids, &link, &dir.join(PROGRAM));
    let made = made.map_err(|error| Failure::run(format_args!("{}: {error}", built.label)))?;
    fs_err::write(dir.join(KNOWN), made.to_json()).map_err(Failure::run)
}

/// What is known of each counter of a version. Keys are the numbers that both versions share.
fn marks(
    blocks: &[LaneBlock],
    program: &Program,
    numbers: &Numbers,
    near: &[Option<u32>],
) -> Vec<Mark> {
    let stmts = (0..).map(StmtId).zip(&numbers.stmts);
    let stmts: std::collections::HashMap<u32, StmtId> =
        stmts.map(|(stmt, &number)| (number, stmt)).collect();
    let is_changed = |stmt: StmtId| numbers.changed.get(stmt.index()) == Some(&true);
    let mut close = vec![false; program.functions.len()];
    for (id, _) in program.functions() {
        close[id.index()] = program.function_stmts(id).any(is_changed);
    }
    let mark = |known: &LaneBlock| {
        let Some(stmt) = known.last.and_then(|last| stmts.get(&last)) else {
            return Mark {
                near: u16::MAX,
                ..Mark::default()
            };
        };
        let block = program.stmt(*stmt).block;
        let near = near.get(block.index()).copied().flatten();
        let last = known.last.unwrap_or_default();
        let key = match known.from {
            None => last,
            // Far from the numbers of statements.
            Some(from) => (from.wrapping_mul(0x9e37_79b1) ^ last) | 1 << 31,
        };
        Mark {
            key,
            near: near.map_or(u16::MAX, |near| near.min(1 << 15) as u16),
            changed: known.from.is_none() && program.block(block).stmts().any(is_changed),
            close: close[program.block(block).function.index()],
        }
    };
    blocks.iter().map(mark).collect()
}

fn space(shape: &Shape) -> Space {
    let bounds = shape.bounds.iter().map(|bounds| Bounds {
        source: match &bounds.source {
            SourceKey::Argument(index) => Key::Argument(*index),
            SourceKey::Environment(name) => Key::Environment(name.clone()),
            SourceKey::Stdin => Key::Stdin,
            SourceKey::File(path) => Key::File(path.clone()),
        },
        fixed: bounds.fixed.clone(),
        most: bounds.most,
    });
    Space {
        arguments: shape.arguments,
        bounds: bounds.collect(),
    }
}
