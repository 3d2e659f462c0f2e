//! Runs the versions on an input and says what differs.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use beagle_trace::Input;

use crate::class::{self, Class, Severity, Standing};
use crate::compare::{Aspects, compare};
use crate::error::{Error, doing};
use crate::keeper::isolation::Isolation;
use crate::observation::{End, Fault, Observation};
use crate::rules::Rules;
use crate::runner::{Build, Runner};
use crate::setting::{Setting, Version, Which};

/// How much longer than the limit a program may take to be proved not to hang.
const HANG_FACTOR: u32 = 3;
/// How much slower sanitizers may make a program.
const SANITIZED_FACTOR: u32 = 4;
/// A program that takes so many times longer than the other version is not just slow.
const STUCK_FACTOR: u32 = 20;
/// It is given this long in any case.
const LEAST_TIME: Duration = Duration::from_millis(300);

/// One look at both versions.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// What the old version did.
    pub old: Observation,
    /// What the new version did.
    pub new: Observation,
    /// In what they differ.
    pub aspects: Aspects,
}

impl Comparison {
    /// Whether they differ.
    pub fn differs(&self) -> bool {
        self.aspects.any()
    }

    /// The kind of the difference, if there is one.
    pub fn class(&self) -> Option<Class> {
        self.differs()
            .then(|| class::classify(&self.old, &self.new, self.aspects))
    }

    /// By what others of its kind are known, if there is a difference.
    pub fn signature(&self) -> Option<String> {
        self.class()
            .map(|class| class::signature(class, self.aspects, &self.old, &self.new))
    }
}

/// A difference that was seen again and again.
#[derive(Debug, Clone)]
pub struct Difference {
    /// What kind of difference it is.
    pub class: Class,
    /// How the versions stand to the golden one, if there is one.
    pub standing: Option<Standing>,
    /// What the old version did.
    pub old: Observation,
    /// What the new version did.
    pub new: Observation,
    /// What the golden version did.
    pub golden: Option<Observation>,
    /// In what old and new differ.
    pub aspects: Aspects,
    /// By what others of its kind are known.
    pub signature: String,
    /// In how many plain runs of each version it was seen.
    pub runs: u32,
}

impl Difference {
    /// How bad it is.
    pub fn severity(&self) -> Severity {
        class::severity(self.class, self.aspects, self.standing)
    }

    /// The one word for it: how it stands to the golden version, else its class.
    pub fn name(&self) -> &'static str {
        match self.standing {
            Some(standing) => standing.name(),
            None => self.class.name(),
        }
    }
}

/// What can be said of an input.
#[derive(Debug, Clone)]
pub enum Verdict {
    /// The versions do the same.
    Same {
        /// What the old version did.
        old: Box<Observation>,
        /// What the new version did.
        new: Box<Observation>,
    },
    /// They differ.
    Different(Box<Difference>),
    /// One of them does not do the same each time, so nothing can be said.
    Unstable {
        /// Which one.
        version: Which,
        /// In what its runs differ.
        aspects: Aspects,
        /// Two of its runs.
        runs: Box<(Observation, Observation)>,
    },
}

/// The versions, and all it takes to run them.
pub struct Judge {
    runner: Runner,
    setting: Setting,
    rules: Rules,
    old: Version,
    new: Version,
    golden: Option<Version>,
}

impl Judge {
    /// Gets ready to run the versions.
    pub fn new(
        old: Version,
        new: Version,
        golden: Option<Version>,
        setting: Setting,
    ) -> Result<Self, Error> {
        let mut judge = Self {
            runner: Runner::new(&setting)?,
            rules: Rules::default(),
            setting,
            old: absolute(old)?,
            new: absolute(new)?,
            golden: golden.map(absolute).transpose()?,
        };
        judge.set_rules();
        Ok(judge)
    }

    /// Gives the builds with sanitizers, if they got ready later.
    pub fn set_sanitized(&mut self, old: PathBuf, new: PathBuf) -> Result<(), Error> {
        self.old.sanitized = Some(absolute_path(&old)?);
        self.new.sanitized = Some(absolute_path(&new)?);
        self.set_rules();
        Ok(())
    }

    /// What keeps the programs away from everything else.
    pub fn isolation(&self) -> &Isolation {
        self.runner.isolation()
    }

    /// A cheap first look: one plain run of each version.
    pub fn quick(&mut self, input: &Input) -> Result<Comparison, Error> {
        input.encode()?;
        let old = self.plain(Which::Old, input)?;
        let new = self.plain(Which::New, input)?;
        let aspects = self.compare(&old, &new);
        Ok(Comparison { old, new, aspects })
    }

    /// The full verdict: plain runs, repeated, and runs with sanitizers if there are such builds.
    pub fn judge(&mut self, input: &Input) -> Result<Verdict, Error> {
        let Comparison {
            mut old, mut new, ..
        } = self.quick(input)?;
        // A program that is only slow is no difference.
        let slow = |other: &Observation| other.time * STUCK_FACTOR > self.setting.limits.time;
        match (old.end == End::TimedOut, new.end == End::TimedOut) {
            (true, false) if slow(&new) => old = self.patiently(Which::Old, input)?,
            (false, true) if slow(&old) => new = self.patiently(Which::New, input)?,
            _ => {}
        }
        for _ in 1..self.setting.repeats {
            for (which, first) in [(Which::Old, &old), (Which::New, &new)] {
                if let Some(unstable) = self.repeat(which, input, first)? {
                    return Ok(unstable);
                }
            }
        }
        if let Some((old_sanitized, new_sanitized)) = self.sanitized() {
            for (which, path, run) in [
                (Which::Old, old_sanitized, &mut old),
                (Which::New, new_sanitized, &mut new),
            ] {
                let time = self.sanitized_time(run);
                run.fault = self.fault(&path, input, time)?;
                // Errors that depend on chance are seen by chance.
                if run.fault.is_some() {
                    let again = self.fault(&path, input, time)?;
                    if let Some(unstable) = unstable_fault(which, run, again) {
                        return Ok(unstable);
                    }
                }
            }
        }
        let aspects = self.compare(&old, &new);
        if !aspects.any() {
            return Ok(Verdict::Same {
                old: Box::new(old),
                new: Box::new(new),
            });
        }
        let class = class::classify(&old, &new, aspects);
        let golden = match &self.golden {
            Some(_) => Some(self.plain(Which::Golden, input)?),
            None => None,
        };
        Ok(Verdict::Different(Box::new(Difference {
            class,
            standing: golden
                .as_ref()
                .map(|golden| self.standing(golden, &old, &new)),
            signature: class::signature(class, aspects, &old, &new),
            // A run that does not end is not repeated.
            runs: match [&old, &new].iter().any(|run| run.end == End::TimedOut) {
                true => 1,
                false => self.setting.repeats.max(1),
            },
            old,
            new,
            golden,
            aspects,
        })))
    }

    /// Whether there are builds with sanitizers.
    pub fn has_sanitized(&self) -> bool {
        self.sanitized().is_some()
    }

    /// Another cheap look: whether the sanitizers object to one version and not to the other, by
    /// one run of each.
    pub fn faults_differ(&mut self, input: &Input) -> Result<bool, Error> {
        let Some((old, new)) = self.sanitized() else {
            return Ok(false);
        };
        let time = self.setting.limits.time;
        let (old, new) = (
            self.fault(&old, input, time)?,
            self.fault(&new, input, time)?,
        );
        Ok(old.map(|fault| fault.key()) != new.map(|fault| fault.key()))
    }

    /// Whether an input still shows the same difference, by as few runs as can tell.
    pub fn still_shows(&mut self, input: &Input, difference: &Difference) -> Result<bool, Error> {
        let mut seen = self.quick_like(input, difference)?;
        let before = self.compare(
            &without_fault(&difference.old),
            &without_fault(&difference.new),
        );
        let same_end = |a: &Observation, b: &Observation| a.end == b.end;
        if seen.aspects != before
            || !same_end(&seen.old, &difference.old)
            || !same_end(&seen.new, &difference.new)
        {
            return Ok(false);
        }
        if difference.aspects.sanitizer
            && let Some((old, new)) = self.sanitized()
        {
            let time = self.sanitized_time(&seen.old);
            seen.old.fault = self.fault(&old, input, time)?;
            let time = self.sanitized_time(&seen.new);
            seen.new.fault = self.fault(&new, input, time)?;
            let key = |run: &Observation| run.fault.as_ref().map(Fault::key);
            if key(&seen.old) != key(&difference.old) || key(&seen.new) != key(&difference.new) {
                return Ok(false);
            }
        }
        if let Some(standing) = difference.standing {
            let golden = self.plain(Which::Golden, input)?;
            return Ok(self.standing(&golden, &seen.old, &seen.new) == standing);
        }
        Ok(true)
    }

    /// What another program does with an input, as often as it takes to be sure; `None` if that is
    /// not always the same. What the sanitizers say is part of it if there is such a build.
    pub fn observe(
        &mut self,
        version: &Version,
        input: &Input,
    ) -> Result<Option<Observation>, Error> {
        let version = absolute(version.clone())?;
        for path in [Some(&version.plain), version.sanitized.as_ref()] {
            let path = path.map(|path| path.as_os_str().as_bytes());
            path.inspect(|path| self.rules.hide_path(*path));
        }
        let time = self.setting.limits.time;
        let run = |judge: &mut Self| {
            let (setting, program) = (&judge.setting, &version.plain);
            judge
                .runner
                .run(setting, program, Build::Plain, input, time)
        };
        let mut first = run(self)?;
        // One that does not end is not repeated.
        let repeats = match first.end {
            End::TimedOut => 1,
            _ => self.setting.repeats,
        };
        for _ in 1..repeats {
            let again = run(self)?;
            if self.compare(&first, &again).any() {
                return Ok(None);
            }
        }
        if let Some(sanitized) = &version.sanitized {
            let time = self.sanitized_time(&first);
            first.fault = self.fault(sanitized, input, time)?;
        }
        Ok(Some(first))
    }

    /// One run of the plain build of a version; of the new one, if there is no golden one.
    pub fn plain(&mut self, which: Which, input: &Input) -> Result<Observation, Error> {
        let time = self.setting.limits.time;
        self.run(which, input, time)
    }

    fn patiently(&mut self, which: Which, input: &Input) -> Result<Observation, Error> {
        let time = self.setting.limits.time * HANG_FACTOR;
        self.run(which, input, time)
    }

    fn run(&mut self, which: Which, input: &Input, time: Duration) -> Result<Observation, Error> {
        let program = self.version(which).plain.clone();
        self.runner
            .run(&self.setting, &program, Build::Plain, input, time)
    }

    fn version(&self, which: Which) -> &Version {
        match which {
            Which::Old => &self.old,
            Which::New => &self.new,
            Which::Golden => self.golden.as_ref().unwrap_or(&self.new),
        }
    }

    /// Runs a version again. Returns the verdict if it does something else.
    fn repeat(
        &mut self,
        version: Which,
        input: &Input,
        first: &Observation,
    ) -> Result<Option<Verdict>, Error> {
        // It took long enough to be seen not to end.
        if first.end == End::TimedOut {
            return Ok(None);
        }
        let mut again = self.plain(version, input)?;
        if again.end == End::TimedOut {
            again = self.patiently(version, input)?;
        }
        let aspects = self.compare(first, &again);
        Ok(aspects.any().then(|| Verdict::Unstable {
            version,
            aspects,
            runs: Box::new((first.clone(), again)),
        }))
    }

    /// The builds with sanitizers, if both versions have one: one alone would tell nothing.
    fn sanitized(&self) -> Option<(PathBuf, PathBuf)> {
        Some((self.old.sanitized.clone()?, self.new.sanitized.clone()?))
    }

    /// How long a run with sanitizers may take. What did not end without them does not end with them; all
    /// there is to see is what they object to until then.
    fn sanitized_time(&self, plain: &Observation) -> Duration {
        let time = self.setting.limits.time;
        match plain.end {
            End::TimedOut => time / SANITIZED_FACTOR,
            _ => time * SANITIZED_FACTOR,
        }
    }

    /// A run of each version that should do as in a known difference. Where that does not end, it is not waited for
    /// as long as the first time.
    fn quick_like(&mut self, input: &Input, known: &Difference) -> Result<Comparison, Error> {
        input.encode()?;
        let limit = self.setting.limits.time;
        let ended = [&known.old, &known.new].into_iter();
        let ended = ended.filter(|run| run.end != End::TimedOut);
        let longest = ended.map(|run| run.time).max().unwrap_or(limit);
        let stuck = (longest * STUCK_FACTOR).clamp(LEAST_TIME.min(limit), limit);
        let time = |run: &Observation| match run.end {
            End::TimedOut => stuck,
            _ => limit,
        };
        let old = self.run(Which::Old, input, time(&known.old))?;
        let new = self.run(Which::New, input, time(&known.new))?;
        let aspects = self.compare(&old, &new);
        Ok(Comparison { old, new, aspects })
    }

    fn fault(
        &mut self,
        program: &Path,
        input: &Input,
        time: Duration,
    ) -> Result<Option<Fault>, Error> {
        let run = self
            .runner
            .run(&self.setting, program, Build::Sanitized, input, time)?;
        Ok(run.fault)
    }

    fn standing(&self, golden: &Observation, old: &Observation, new: &Observation) -> Standing {
        // The golden version was run without sanitizers.
        let right = |run| !self.compare(golden, &without_fault(run)).any();
        match (right(old), right(new)) {
            (true, false) => Standing::Regression,
            (false, true) => Standing::Progression,
            (false, false) => Standing::IncompleteFix,
            // They differ only in what the sanitizers see.
            (true, true) if new.fault.is_some() => Standing::Regression,
            (true, true) => Standing::Progression,
        }
    }

    /// In what two observations differ, under the rules; one of them may be from a saved test.
    pub fn compare(&self, a: &Observation, b: &Observation) -> Aspects {
        compare(a, b, &self.rules)
    }

    /// The user's rules, and the paths of the executables.
    fn set_rules(&mut self) {
        let mut rules = self.setting.normalise.clone();
        for version in [Some(&self.old), Some(&self.new), self.golden.as_ref()] {
            let paths = version
                .into_iter()
                .flat_map(|version| [Some(&version.plain), version.sanitized.as_ref()]);
            for path in paths.flatten() {
                rules.hide_path(path.as_os_str().as_bytes());
            }
        }
        self.rules = rules;
    }
}

fn unstable_fault(version: Which, run: &Observation, again: Option<Fault>) -> Option<Verdict> {
    let same = match (&run.fault, &again) {
        (Some(first), Some(again)) => first.is_like(again),
        _ => false,
    };
    if same {
        return None;
    }
    let mut other = run.clone();
    other.fault = again;
    Some(Verdict::Unstable {
        version,
        aspects: Aspects {
            sanitizer: true,
            ..Aspects::default()
        },
        runs: Box::new((run.clone(), other)),
    })
}

fn without_fault(run: &Observation) -> Observation {
    Observation {
        fault: None,
        ..run.clone()
    }
}

/// Programs are run elsewhere than here.
fn absolute(version: Version) -> Result<Version, Error> {
    Ok(Version {
        plain: absolute_path(&version.plain)?,
        sanitized: version
            .sanitized
            .as_deref()
            .map(absolute_path)
            .transpose()?,
        label: version.label,
    })
}

fn absolute_path(path: &Path) -> Result<PathBuf, Error> {
    fs_err::canonicalize(path).map_err(doing("find the program"))
}
