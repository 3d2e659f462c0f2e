//! From what the user wrote to two programs: configuration, builds, lifting.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use anstyle::{AnsiColor, Style};
use beagle_build::{
    BuildError, Built, Cache, Config, Leash, Progress, VersionSpec, build, build_sanitized,
};
use beagle_change::SourceTree;
use beagle_program::Program;

use crate::arguments::{BuildOptions, PairOptions};
use crate::failure::Failure;
use crate::output::tell;
use crate::timings::Timings;

/// A version, ready to be compared.
pub struct Version {
    /// How it was built.
    pub built: Built,
    /// What it is.
    pub program: Arc<Program>,
    /// Its texts.
    pub sources: SourceTree,
}

impl Version {
    fn new(spec: &VersionSpec, built: Built, program: Program) -> Self {
        let sources = match spec {
            VersionSpec::File { .. } => SourceTree::single_file(&built.tree),
            _ => SourceTree::new(&built.tree),
        };
        Self {
            built,
            program: Arc::new(program),
            sources,
        }
    }

    /// Builds and lifts what is neither old nor new, without a word.
    pub fn quietly(spec: &VersionSpec, config: &Config, cache: &Cache) -> Result<Self, Failure> {
        let built = build(spec, config, cache, &mut |_| {})?;
        let program = lift(&built)?;
        Ok(Self::new(spec, built, program))
    }
}

/// Two versions that are to be built, and all that takes.
pub struct Order {
    /// Where the user is.
    pub here: PathBuf,
    /// What to build.
    pub old: VersionSpec,
    /// What to build.
    pub new: VersionSpec,
    /// How.
    pub config: Config,
    /// Where.
    pub cache: Cache,
}

impl Order {
    /// Finds what the user means.
    pub fn new(options: &PairOptions) -> Result<Self, Failure> {
        let here = here()?;
        let old = VersionSpec::parse(&options.old, &here)?;
        let new = VersionSpec::parse(&options.new, &here)?;
        let config = configuration(&options.build, &here, &[&new, &old])?;
        Ok(Self {
            cache: cache()?,
            here,
            old,
            new,
            config,
        })
    }

    /// Builds and lifts both versions, side by side.
    pub fn load(&self, quiet: bool, timings: &mut Timings) -> Result<(Version, Version), Failure> {
        let built = both(
            || self.build(&self.old, quiet),
            || self.build(&self.new, quiet),
        );
        let (old_built, new_built) = (built.0?, built.1?);
        timings.end("build");
        let lifted = both(|| lift(&old_built), || lift(&new_built));
        let (old_program, new_program) = (lifted.0?, lifted.1?);
        timings.end("lift");
        Ok((
            Version::new(&self.old, old_built, old_program),
            Version::new(&self.new, new_built, new_program),
        ))
    }

    /// Builds one version.
    pub fn build(&self, version: &VersionSpec, quiet: bool) -> Result<Built, BuildError> {
        build(version, &self.config, &self.cache, &mut |step| {
            progress(&step, quiet);
        })
    }

    /// Builds both versions with sanitizers. That this is not possible is nothing to stop for.
    pub fn sanitized(&self, leash: Option<&Leash>) -> Result<(PathBuf, PathBuf), BuildError> {
        let build =
            |version| build_sanitized(version, &self.config, &self.cache, leash, &mut |_| {});
        let built = both(|| build(&self.old), || build(&self.new));
        Ok((built.0?, built.1?))
    }
}

/// Finds, builds and lifts one version.
pub fn load_one(
    version: &str,
    options: &BuildOptions,
    quiet: bool,
    timings: &mut Timings,
) -> Result<Version, Failure> {
    let here = here()?;
    let spec = VersionSpec::parse(version, &here)?;
    let config = configuration(options, &here, &[&spec])?;
    let built = build(&spec, &config, &cache()?, &mut |step| {
        progress(&step, quiet);
    })?;
    timings.end("build");
    let program = lift(&built)?;
    timings.end("lift");
    Ok(Version::new(&spec, built, program))
}

/// What one version means, how it is built and where.
pub fn ordered(
    version: &str,
    options: &BuildOptions,
) -> Result<(VersionSpec, Config, Cache), Failure> {
    let here = here()?;
    let spec = VersionSpec::parse(version, &here)?;
    let config = configuration(options, &here, &[&spec])?;
    Ok((spec, config, cache()?))
}

/// Builds one version.
pub fn build_only(
    spec: &VersionSpec,
    config: &Config,
    cache: &Cache,
    quiet: bool,
) -> Result<Built, BuildError> {
    build(spec, config, cache, &mut |step| progress(&step, quiet))
}

/// Where the user is.
pub fn here() -> Result<PathBuf, Failure> {
    std::env::current_dir().map_err(|error| {
        Failure::usage(
            format!("cannot tell the current directory: {error}"),
            "does it still exist?",
        )
    })
}

/// The user's cache.
pub fn cache() -> Result<Cache, Failure> {
    Cache::open().map_err(|error| {
        let hint = "set BEAGLE_CACHE to a directory that can be written to";
        Failure::usage(error.to_string(), hint)
    })
}

/// Runs two things at the same time.
pub fn both<T: Send>(first: impl FnOnce() -> T + Send, second: impl FnOnce() -> T) -> (T, T) {
    thread::scope(|scope| {
        let first = scope.spawn(first);
        let second = second();
        match first.join() {
            Ok(first) => (first, second),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

fn lift(built: &Built) -> Result<Program, Failure> {
    Program::load(&built.bitcode).map_err(|error| Failure::Load {
        label: built.label.clone(),
        error,
    })
}

/// The first `beagle.toml` found, with the command line on top of it. It is looked for where the
/// user is, then in the repository or directory that is compared, new before old.
fn configuration(
    options: &BuildOptions,
    here: &Path,
    versions: &[&VersionSpec],
) -> Result<Config, Failure> {
    let homes = versions.iter().filter_map(|version| match version {
        VersionSpec::Revision { repo, .. } | VersionSpec::WorkTree { repo } => Some(&**repo),
        VersionSpec::Dir { path, .. } => Some(&**path),
        VersionSpec::File { .. } => None,
    });
    let mut homes = [here].into_iter().chain(homes);
    let mut config = match homes.find(|home| home.join(Config::FILE).is_file()) {
        Some(home) => Config::load(home).map_err(unreadable)?,
        None => Config::default(),
    };
    if let Some(build) = &options.build {
        config.build = Some(build.clone());
    }
    if let Some(program) = &options.program {
        config.program = Some(program.clone());
    }
    if let Some(flags) = &options.cflags {
        config.cflags = words("--cflags", flags)?;
    }
    if let Some(flags) = &options.ldflags {
        config.ldflags = words("--ldflags", flags)?;
    }
    if let Some(function) = &options.function {
        config.function = Some(function.clone());
    }
    Ok(config)
}

/// A `beagle.toml` that cannot even be read is a mistake in the configuration.
fn unreadable(error: BuildError) -> Failure {
    match error {
        BuildError::Io { .. } => Failure::usage(error.to_string(), "it has to be a text in UTF-8"),
        error => error.into(),
    }
}

fn words(option: &str, text: &str) -> Result<Vec<String>, Failure> {
    shell_words::split(text).map_err(|error| {
        Failure::usage(
            format!("{option} `{text}`: {error}"),
            "quote the flags as for a shell, such as --cflags '-O2 -DNAME=\"a b\"'",
        )
    })
}

const VERB: Style = AnsiColor::Green.on_default().bold();
const NOTE: Style = AnsiColor::Yellow.on_default().bold();

/// Says what is being done, one line each.
pub fn progress(step: &Progress, quiet: bool) {
    let (style, verb, label, text) = match step {
        _ if quiet => return,
        Progress::Note { label, text } => (NOTE, "Note", label, &**text),
        Progress::Building { label, command } => (VERB, "Building", label, &**command),
        Progress::Cached { label } => (VERB, "Found", label, "built before"),
        _ => return,
    };
    tell(format_args!("{style}{verb:>12}{style:#} {label}: {text}"));
}
