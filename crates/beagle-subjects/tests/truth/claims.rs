//! The claims that a subject makes, each with the way to verify it.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::Arc;

use beagle_subjects::hunks::{self, Diff};
use beagle_subjects::{
    Difference, Flavour, Input, Kind, Observation, Outcome, Pair, Subject, Version, Workshop,
    check, run, warnings,
};

/// Something that is said to be true, and `Err` with the reason if it is not.
pub struct Claim {
    pub name: String,
    pub verify: Box<dyn FnOnce() -> Verified + Send>,
}

type Verified = Result<(), String>;

/// A subject together with the programs built of it.
#[derive(Clone)]
struct Bench {
    subject: Arc<Subject>,
    workshop: Arc<Workshop>,
}

/// All claims of a subject.
pub fn of(subject: &Arc<Subject>, workshop: &Arc<Workshop>) -> Vec<Claim> {
    let bench = Bench {
        subject: subject.clone(),
        workshop: workshop.clone(),
    };
    let mut claims = vec![
        bench.claim("all kinds of pairs are there", |bench| {
            complete(&bench.subject)
        }),
        bench.claim("base has no warnings", |bench| {
            no_warnings(&bench.subject.base)
        }),
        bench.claim("base passes its own suite", |bench| {
            bench.suite_passes(&bench.subject.base, Flavour::Plain)
        }),
        bench.claim("base passes its own suite under sanitizers", |bench| {
            bench.suite_passes(&bench.subject.base, Flavour::Sanitized)
        }),
        bench.claim(
            "base is clean under sanitizers on all inputs",
            Bench::base_is_clean,
        ),
    ];
    for at in 0..subject.pairs.len() {
        claims.extend(of_pair(&bench, at));
    }
    claims
}

fn of_pair(bench: &Bench, at: usize) -> Vec<Claim> {
    let pair = &bench.subject.pairs[at];
    let mut claims = vec![
        bench.pair_claim(at, "has what its kind needs", |_, pair| fits_kind(pair)),
        bench.pair_claim(at, "changed names exist", |_, pair| names_exist(pair)),
    ];
    for n in 0..pair.differs.len() {
        let title = format!("differs on input {}", n + 1);
        claims.push(bench.pair_claim(at, &title, move |b, pair| b.differs(pair, &pair.differs[n])));
    }
    for n in 0..pair.agrees.len() {
        let title = format!("agrees on input {}", n + 1);
        claims.push(bench.pair_claim(at, &title, move |b, pair| b.agrees(pair, &pair.agrees[n])));
    }
    match pair.kind {
        Kind::Refactoring => {
            claims.push(bench.pair_claim(at, "new passes the suite", |b, pair| {
                b.suite_passes(&pair.new, Flavour::Plain)
            }))
        }
        Kind::Interaction | Kind::Regression | Kind::Fix | Kind::Feature => {}
    }
    if !pair.culprits.is_empty() {
        claims.push(bench.pair_claim(at, "culprits are wrong only together", Bench::culprits));
        claims.push(bench.pair_claim(at, "hunks are those of diff", |_, p| hunks_of_diff(p)));
    }
    claims
}

fn complete(subject: &Subject) -> Verified {
    for kind in Kind::ALL {
        if !subject.pairs.iter().any(|pair| pair.kind == kind) {
            return Err(format!("there is no pair of kind {kind:?}"));
        }
    }
    let versions = subject.versions().len();
    require(versions >= 4, || format!("only {versions} versions"))
}

fn no_warnings(version: &Version) -> Verified {
    let said = warnings(version).map_err(|error| error.to_string())?;
    require(said.is_empty(), || said)
}

/// Catches misspelt names; whether they are exactly the changed ones takes a look at the code.
fn names_exist(pair: &Pair) -> Verified {
    let mut code = String::new();
    for version in [&pair.old, &pair.new] {
        let texts = hunks::texts(version).map_err(|error| error.to_string())?;
        code.extend(texts.into_values());
    }
    let words: BTreeSet<&str> = code
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .collect();
    let mut named = pair.changed_functions.iter().chain(&pair.changed_globals);
    match named.find(|name| !words.contains(name.as_str())) {
        Some(name) => Err(format!("{name} is in neither version")),
        None => require(
            !pair.changed_functions.is_empty() || !pair.changed_globals.is_empty(),
            || "nothing is named as changed".into(),
        ),
    }
}

fn fits_kind(pair: &Pair) -> Verified {
    let differs = pair.differs.len();
    let regressions = pair
        .differs
        .iter()
        .filter(|difference| difference.regression)
        .count();
    let (agrees, culprits) = (pair.agrees.len(), pair.culprits.len());
    require(agrees >= 2, || {
        format!("only {agrees} inputs on which the versions agree")
    })?;
    match pair.kind {
        Kind::Refactoring => {
            require(differs == 0, || "a refactoring that differs is none".into())?;
        }
        Kind::Regression => {
            require(regressions > 0, || {
                "no input is marked as a regression".into()
            })?;
        }
        Kind::Fix => {
            require(differs > regressions, || {
                "no input shows the fix (regression = false)".into()
            })?;
        }
        Kind::Feature => {
            require(differs > 0, || "no input shows the feature".into())?;
        }
        Kind::Interaction => {
            require(regressions > 0, || {
                "no input is marked as a regression".into()
            })?;
            require(culprits >= 2, || "an interaction needs two culprits".into())?;
        }
    }
    let stray = pair.kind != Kind::Interaction && culprits > 1;
    require(!stray, || "only an interaction has several culprits".into())?;
    let sorted = |hunks: &[usize]| hunks.iter().copied().collect::<BTreeSet<_>>();
    let named = pair.kind != Kind::Interaction || sorted(&pair.sequence) == sorted(&pair.culprits);
    require(named, || "the sequence is not one of the culprits".into())
}

/// Authors count hunks in the output of `diff -U0`; that is right only as long as it finds the
/// same ones.
fn hunks_of_diff(pair: &Pair) -> Verified {
    let diff = hunks::between(&pair.old, &pair.new).map_err(|error| error.to_string())?;
    let output = Command::new("diff")
        .args(["-U0", "-r", "-N"])
        .args([pair.old.path(), pair.new.path()])
        .output()
        .map_err(|error| format!("diff: {error}"))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let theirs: Vec<_> = printed
        .lines()
        .filter(|line| line.starts_with("@@ "))
        .collect();
    require(theirs.len() == diff.hunks.len(), || {
        format!(
            "diff -U0 has {theirs:#?}, but these are counted here: {:#?}",
            diff.hunks
        )
    })
}

impl Bench {
    fn claim(&self, title: &str, verify: impl FnOnce(&Self) -> Verified + Send + 'static) -> Claim {
        let bench = self.clone();
        let name = format!("{}: {title}", self.subject.name);
        Claim {
            name,
            verify: Box::new(move || verify(&bench)),
        }
    }

    fn pair_claim(
        &self,
        at: usize,
        title: &str,
        verify: impl FnOnce(&Self, &Pair) -> Verified + Send + 'static,
    ) -> Claim {
        let bench = self.clone();
        let name = format!(
            "{}/{}: {title}",
            self.subject.name, self.subject.pairs[at].name
        );
        Claim {
            name,
            verify: Box::new(move || verify(&bench, &bench.subject.pairs[at])),
        }
    }

    fn observe(
        &self,
        version: &Version,
        flavour: Flavour,
        input: &Input,
    ) -> Result<Observation, String> {
        let program = self
            .workshop
            .program(version, flavour)
            .map_err(|error| error.to_string())?;
        run(&program, &self.subject.name, input).map_err(|error| error.to_string())
    }

    fn differs(&self, pair: &Pair, difference: &Difference) -> Verified {
        let flavour = flavour(difference);
        let old = self.observe(&pair.old, flavour, &difference.input)?;
        let new = self.observe(&pair.new, flavour, &difference.input)?;
        for (which, expected, seen) in [
            ("old", &difference.old, &old),
            ("new", &difference.new, &new),
        ] {
            require(expected.matches(seen), || {
                let input = &difference.input;
                format!("{which}\n expected {expected}\n but did  {seen}\n on {input}")
            })?;
        }
        // Reports of sanitizers hold addresses, so their text always differs.
        let differ = old.outcome != new.outcome
            || old.stdout != new.stdout
            || flavour == Flavour::Plain && old.stderr != new.stderr;
        require(differ, || format!("both versions did {old}"))?;
        let Some(golden) = &pair.golden else {
            return Ok(());
        };
        let golden = self.observe(golden, flavour, &difference.input)?;
        let right = if difference.regression { &old } else { &new };
        let is_right = (golden.outcome, &golden.stdout) == (right.outcome, &right.stdout);
        require(is_right, || {
            format!("golden did {golden}, where {right} is right")
        })
    }

    fn agrees(&self, pair: &Pair, input: &Input) -> Verified {
        let old = self.observe(&pair.old, Flavour::Plain, input)?;
        let new = self.observe(&pair.new, Flavour::Plain, input)?;
        let ended = old.outcome != Outcome::TimedOut;
        require(ended, || format!("old does not end on {input}"))?;
        require(old == new, || {
            format!("\n old did {old}\n new did {new}\n on {input}")
        })?;
        match &pair.golden {
            Some(golden) => {
                let golden = self.observe(golden, Flavour::Plain, input)?;
                require(golden == old, || format!("golden did {golden}, not {old}"))
            }
            None => Ok(()),
        }
    }

    fn suite_passes(&self, version: &Version, flavour: Flavour) -> Verified {
        let program = self
            .workshop
            .program(version, flavour)
            .map_err(|error| error.to_string())?;
        let seen = check(&self.subject.check, &program).map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&seen.stdout);
        require(seen.outcome == Outcome::Exit(0), || {
            format!("{}\n{said}", seen.outcome)
        })?;
        let last = said.lines().last().unwrap_or_default();
        require(last.ends_with(" passed, 0 failed"), || {
            format!("the last line is {last:?}")
        })
    }

    fn base_is_clean(&self) -> Verified {
        for pair in &self.subject.pairs {
            let differs = pair.differs.iter().map(|difference| &difference.input);
            for input in differs.chain(&pair.agrees) {
                let seen = self.observe(&self.subject.base, Flavour::Sanitized, input)?;
                let report = String::from_utf8_lossy(&seen.stderr);
                let clean = !report.contains("AddressSanitizer")
                    && !report.contains("runtime error: ")
                    && matches!(seen.outcome, Outcome::Exit(_));
                require(clean, || format!("{}: {seen}\n on {input}", pair.name))?;
            }
        }
        Ok(())
    }

    /// All culprits together show some difference, and no part of them shows any.
    fn culprits(&self, pair: &Pair) -> Verified {
        let diff = hunks::between(&pair.old, &pair.new).map_err(|error| error.to_string())?;
        let all: BTreeSet<usize> = pair.culprits.iter().copied().collect();
        let known = all
            .iter()
            .all(|number| (1..=diff.hunks.len()).contains(number));
        require(known, || format!("{all:?} of {} hunks", diff.hunks.len()))?;
        for part in subsets(&pair.culprits) {
            let shown = self.shown(pair, &diff, &part)?;
            if part == all {
                let shown = shown.ok_or("the culprits alone do not compile")?;
                require(!shown.is_empty(), || {
                    "the culprits alone show no difference".into()
                })?;
            } else if let Some(shown) = shown {
                require(shown.is_empty(), || {
                    format!("hunks {part:?} alone show the difference on differs inputs {shown:?}")
                })?;
            }
        }
        Ok(())
    }

    /// The numbers of the inputs on which old with these hunks already behaves like new; where the
    /// pair is wrong, only those on which new is. None if it does not compile, which resolves
    /// nothing.
    fn shown(
        &self,
        pair: &Pair,
        diff: &Diff,
        part: &BTreeSet<usize>,
    ) -> Result<Option<Vec<usize>>, String> {
        let dir = tempfile::TempDir::new().map_err(|error| error.to_string())?;
        let mixed =
            hunks::write(diff, part, &pair.old, dir.path()).map_err(|error| error.to_string())?;
        let mut shown = Vec::new();
        for (number, difference) in (1..).zip(&pair.differs) {
            let flavour = flavour(difference);
            let counts = difference.regression || matches!(pair.kind, Kind::Fix | Kind::Feature);
            if !counts {
                continue;
            }
            if self.workshop.program(&mixed, flavour).is_err() {
                return Ok(None);
            }
            let seen = self.observe(&mixed, flavour, &difference.input)?;
            if difference.new.matches(&seen) {
                shown.push(number);
            }
        }
        Ok(Some(shown))
    }
}

fn flavour(difference: &Difference) -> Flavour {
    match difference.sanitizer {
        Some(_) => Flavour::Sanitized,
        None => Flavour::Plain,
    }
}

/// All subsets of the numbers but the empty one, which is old itself.
fn subsets(numbers: &[usize]) -> Vec<BTreeSet<usize>> {
    let mut subsets = vec![BTreeSet::new()];
    for &number in numbers {
        let with = subsets.iter().map(|set| set | &BTreeSet::from([number]));
        subsets.extend(with.collect::<Vec<_>>());
    }
    subsets.retain(|set| !set.is_empty());
    subsets
}

fn require(holds: bool, otherwise: impl FnOnce() -> String) -> Verified {
    if holds { Ok(()) } else { Err(otherwise()) }
}
