//! Instrumented programs, by way of the cache.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use beagle_build::{Built, Cache};
use beagle_change::{Attention, Comparison, Numbers};
use beagle_engine::{Probe, Twin};
use beagle_executor::{Executor, Options as ExecutorOptions};
use beagle_instrument::{Ids, Instrumented, Link, Optimise, Options, instrument};
use beagle_verdict::Setting;

use crate::failure::Failure;
use crate::versions::{Version, both};

/// The directory of instrumented programs in the cache, and the files of each.
const KIND: &str = "traced";
const PROGRAM: &str = "traced";
const KNOWN: &str = "known.json";

/// Instruments both versions of a pair, side by side, with the numbers that they share.
pub fn pair(
    old: &Version,
    new: &Version,
    comparison: &Comparison,
    cache: &Cache,
) -> Result<(Instrumented, Instrumented), Failure> {
    numbered(
        old,
        new,
        &comparison.numbers(&old.program, &new.program),
        cache,
    )
}

/// The same with other numbers.
fn numbered(
    old: &Version,
    new: &Version,
    numbers: &(Numbers, Numbers),
    cache: &Cache,
) -> Result<(Instrumented, Instrumented), Failure> {
    let built = (&old.built, &new.built);
    let (old, new) = both(
        || traced(built.0, &numbers.0, cache),
        || traced(built.1, &numbers.1, cache),
    );
    Ok((old?, new?))
}

/// Two versions of which single runs are of interest.
pub struct Probing<'a> {
    /// The versions.
    pub versions: (&'a Version, &'a Version),
    /// What changed.
    pub comparison: &'a Comparison,
    /// What both are told that they are called.
    pub name: &'a OsString,
    /// How they are run.
    pub setting: &'a Setting,
    /// Where instrumented programs are kept.
    pub cache: &'a Cache,
}

impl Probing<'_> {
    /// Instruments both so that such variables are watched, and hands them to `work`.
    pub fn probe<T>(
        &self,
        attention: Attention,
        work: impl FnOnce(&mut Probe<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let (old, new) = self.versions;
        let programs = (&*old.program, &*new.program);
        let watched = (self.comparison).watching(programs.0, programs.1, attention);
        let numbers = self
            .comparison
            .numbers_watching(programs.0, programs.1, watched.clone());
        let traced = numbered(old, new, &numbers, self.cache)?;
        let twin = Twin::watching(programs.0, programs.1, self.comparison, watched);
        let start = |program: &Path| {
            let options = ExecutorOptions {
                argv0: Some(self.name.clone()),
                fixture: self.setting.fixture.clone(),
                environment: self.setting.environment.clone(),
                ..ExecutorOptions::default()
            };
            Executor::start(program, options).map_err(Failure::run)
        };
        let executors = (start(&traced.0.program)?, start(&traced.1.program)?);
        work(&mut Probe::new(&twin, executors.0, executors.1))
    }
}

/// Instruments a version, or finds that in the cache. That the first run starts soon matters more
/// than that each takes the least time.
pub fn traced(built: &Built, numbers: &Numbers, cache: &Cache) -> Result<Instrumented, Failure> {
    let content = Content::of(built, numbers)?;
    let place = content.made(built, numbers, cache)?;
    let known = fs_err::read(place.join(KNOWN)).map_err(Failure::run)?;
    Instrumented::from_json(&known, place.join(PROGRAM)).ok_or_else(|| {
        let place = place.display();
        Failure::run(format_args!("{place} is damaged; remove it"))
    })
}

/// Everything that an instrumented program depends on.
struct Content {
    bitcode: Vec<u8>,
    stmts: Vec<u8>,
    functions: Vec<u8>,
    changed: Vec<u8>,
    watched: Vec<u8>,
    link: String,
}

impl Content {
    fn of(built: &Built, numbers: &Numbers) -> Result<Self, Failure> {
        let bytes = |numbers: &[u32]| numbers.iter().flat_map(|it| it.to_le_bytes()).collect();
        Ok(Self {
            bitcode: fs_err::read(&built.bitcode).map_err(Failure::run)?,
            stmts: bytes(&numbers.stmts),
            functions: bytes(&numbers.functions),
            changed: numbers.changed.iter().map(|&it| u8::from(it)).collect(),
            watched: bytes(&numbers.watched),
            link: linked(&built.link_args, &built.link_dir),
        })
    }

    /// The parts of the key.
    fn parts(&self) -> [&[u8]; 6] {
        let link = self.link.as_bytes();
        [
            &self.bitcode,
            &self.stmts,
            &self.functions,
            &self.changed,
            &self.watched,
            link,
        ]
    }

    /// The program in the cache, instrumented now if it is not there.
    fn made(&self, built: &Built, numbers: &Numbers, cache: &Cache) -> Result<PathBuf, Failure> {
        cache.keep(KIND, &self.parts(), |dir| make(built, numbers, dir))
    }
}

fn make(built: &Built, numbers: &Numbers, dir: &Path) -> Result<(), Failure> {
    let ids = Ids {
        stmts: &numbers.stmts,
        functions: &numbers.functions,
        watched: &numbers.watched,
        probes: &|stmt| numbers.changed.get(stmt as usize) == Some(&true),
    };
    let link = Link {
        args: &built.link_args,
        dir: &built.link_dir,
    };
    let options = Options {
        optimise: Optimise::Less,
        ..Options::default()
    };
    let made = instrument(&built.bitcode, &ids, &link, &dir.join(PROGRAM), &options);
    let made = made.map_err(|error| Failure::run(format_args!("{}: {error}", built.label)))?;
    fs_err::write(dir.join(KNOWN), made.to_json()).map_err(Failure::run)
}

/// The arguments of the link; files count with what they are now.
pub fn linked(args: &[String], dir: &Path) -> String {
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
