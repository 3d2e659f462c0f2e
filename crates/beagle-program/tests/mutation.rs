//! Slices against runs: where a mutant first shows something else than the original, the slice from
//! the mutated statement leads there.
//!
//! Compared are runs that end by themselves: that something is not shown because the program
//! crashed or hung before is no dependence of what would have been shown.

mod support;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use beagle_program::{Dependence, Op, StmtId};
use beagle_subjects::mutate::{Mutant, Options, Target, harvest};
use beagle_subjects::{Input, Observation, Outcome, Subject};
use support::mutants::{Texts, Tree, subjects, texts};

/// How many mutants of each subject, and how many inputs for each mutant.
const MUTANTS: usize = 5;
const INPUTS: usize = 14;

/// A place in the source: file and line.
type Line = (PathBuf, u32);

/// What was shown at once, and by which line.
#[derive(Debug, PartialEq, Clone)]
struct Shown {
    line: Line,
    bytes: Vec<u8>,
}

#[test]
fn the_first_difference_that_a_mutant_shows_is_in_the_slice() {
    let subjects = Mutex::new(subjects());
    let found = Mutex::new(Found::default());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(subject) = next(&subjects) {
                    check(&subject, &found);
                }
            });
        }
    });
    let Found { compared, misses } = found.into_inner().expect("nothing panics there");
    assert!(misses.is_empty(), "{}", misses.join("\n"));
    assert!(
        compared >= 20,
        "only {compared} mutants showed a difference"
    );
}

/// How many mutants showed a difference, and where it is not in the slice.
#[derive(Default)]
struct Found {
    compared: usize,
    misses: Vec<String>,
}

fn next(subjects: &Mutex<Vec<Subject>>) -> Option<Subject> {
    subjects.lock().expect("nothing panics here").pop()
}

fn check(subject: &Subject, found: &Mutex<Found>) {
    let options = Options {
        count: Some(count()),
        seed: 11,
        threads: 1,
        ..Options::default()
    };
    let target = Target::version(&subject.base).expect("the base version can be read");
    let harvest = harvest(&target, &options).expect("the compiler runs");
    let original = Version::new(texts(&subject.base));
    let inputs = inputs(subject);
    let runs: Vec<_> = inputs.iter().map(|input| original.run(input)).collect();
    for mutant in &harvest.mutants {
        let differs = check_mutant(&original, &inputs, &runs, mutant);
        let mut found = found.lock().expect("nothing panics here");
        found.compared += usize::from(differs != Ok(false));
        if let Err(miss) = differs {
            found.misses.push(format!("{}: {miss}", subject.name));
        }
    }
}

/// More can be asked for by hand.
fn count() -> usize {
    let wanted = std::env::var("BEAGLE_MUTANTS").ok();
    wanted.and_then(|n| n.parse().ok()).unwrap_or(MUTANTS)
}

/// The inputs of all pairs of a subject, some of each.
fn inputs(subject: &Subject) -> Vec<Input> {
    let of_pairs = subject.pairs.iter().flat_map(|pair| {
        let differs = pair.differs.iter().map(|difference| &difference.input);
        differs.chain(&pair.agrees)
    });
    let all: Vec<_> = of_pairs.cloned().collect();
    let step = all.len().div_ceil(INPUTS).max(1);
    all.into_iter().step_by(step).collect()
}

/// Returns whether the mutant showed a difference, or says what is missing in the slice.
fn check_mutant(
    original: &Version,
    inputs: &[Input],
    runs: &[Option<Observation>],
    mutant: &Mutant,
) -> Result<bool, String> {
    let mut texts = original.texts.clone();
    let text = texts
        .get_mut(&mutant.file)
        .expect("the file is one of the subject");
    *text = apply(mutant, text);
    let changed = Version::new(texts);
    let mut slices: Option<[Shows; 2]> = None;
    let mut differs = false;
    for (input, old) in inputs.iter().zip(runs) {
        let Some(old) = old else {
            continue;
        };
        // One that hangs would do so on most inputs, and waiting takes time.
        let Some(new) = changed.run(input) else {
            break;
        };
        let Some((a, b)) = first_difference(old, &new) else {
            continue;
        };
        differs = true;
        let slices = slices.get_or_insert_with(|| {
            let first = mutant.line as u32;
            let count = 1 + mutant.original.matches('\n').count() as u32;
            let slice = |version: &Version| version.slice(&mutant.file, first..first + count);
            [slice(original), slice(&changed)]
        });
        // What one version shows may be guarded by what only the other one has.
        let mut shown = a.iter().chain(&b);
        let found = shown.any(|line| slices.iter().any(|slice| holds(slice, line)));
        if !found {
            let place = format!("{}:{}", mutant.file.display(), mutant.line);
            return Err(format!(
                "{} {place} {:?} -> {:?}, {input}: old shows {a:?}, new {b:?}",
                mutant.operator, mutant.original, mutant.replacement,
            ));
        }
    }
    Ok(differs)
}

/// The text with the change, and with as many lines as before.
fn apply(mutant: &Mutant, text: &str) -> String {
    let lines = |text: &str| text.matches('\n').count();
    let lost = lines(&mutant.original).saturating_sub(lines(&mutant.replacement));
    let (before, after) = (&text[..mutant.range.start], &text[mutant.range.end..]);
    [before, &mutant.replacement, &"\n".repeat(lost), after].concat()
}

/// The lines that show the first difference of two runs, in old and in new. The way a program ends
/// is shown last, by whatever line ends it.
fn first_difference(old: &Observation, new: &Observation) -> Option<(Vec<Line>, Vec<Line>)> {
    for (old, new) in [(&old.stdout, &new.stdout), (&old.stderr, &new.stderr)] {
        let (old, new) = (shown(old), shown(new));
        let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
        if same < old.len().max(new.len()) {
            let line = |shown: &[Shown]| shown.get(same).map(|shown| shown.line.clone());
            let lines = |shown: &[Shown]| line(shown).into_iter().collect();
            return Some((lines(&old), lines(&new)));
        }
    }
    None
}

/// Splits what a program has shown at the marks.
fn shown(bytes: &[u8]) -> Vec<Shown> {
    let parts = bytes.split(|&byte| byte == 1).skip(1);
    let part = |part: &[u8]| {
        let end = part.iter().position(|&byte| byte == 2)?;
        let place = std::str::from_utf8(&part[..end]).ok()?;
        let (file, line) = place.rsplit_once(':')?;
        Some(Shown {
            line: (PathBuf::from(file), line.parse().ok()?),
            bytes: part[end + 1..].to_vec(),
        })
    };
    parts.filter_map(part).collect()
}

/// One version, lifted and built.
struct Version {
    texts: Texts,
    native: PathBuf,
    tree: Tree,
}

impl Version {
    fn new(texts: Texts) -> Self {
        let tree = Tree::new(&texts);
        let native = tree.native();
        Self {
            texts,
            native,
            tree,
        }
    }

    /// What a run does, if it ends by itself.
    fn run(&self, input: &Input) -> Option<Observation> {
        let observed = beagle_subjects::run(&self.native, "program", input);
        let observed = observed.expect("the program can be started");
        let ends = matches!(observed.outcome, Outcome::Exit(code) if code != 99);
        ends.then_some(observed)
    }

    /// The lines that show something in the slice from some lines of a file.
    fn slice(&self, file: &Path, lines: Range<u32>) -> Shows {
        let program = self.tree.program();
        let place = |stmt: StmtId| -> Option<Line> {
            let place = program.stmt(stmt).place?;
            let name = Path::new(program.file(place.file)).file_name()?;
            Some((PathBuf::from(name), place.line))
        };
        let name = file.file_name().map(PathBuf::from).unwrap_or_default();
        let dependence = Dependence::of(&program);
        let all = || (0..program.stmts.len() as u32).map(StmtId);
        let on = |stmt: StmtId, lines: &Range<u32>| {
            place(stmt).is_some_and(|(file, line)| file == name && lines.contains(&line))
        };
        let mut starts: Vec<_> = all().filter(|&stmt| on(stmt, &lines)).collect();
        if self.is_label(file, lines.start) {
            let before = 1..lines.start;
            let is_switch = |stmt: &StmtId| program.stmt(*stmt).op == Op::Switch;
            let switches = all().filter(is_switch).filter(|&stmt| on(stmt, &before));
            starts.extend(switches.max_by_key(|&stmt| place(stmt)));
        }
        let facts: Vec<_> = starts
            .into_iter()
            .flat_map(|s| dependence.changed(s))
            .collect();
        let slice = dependence.forward(&facts);
        let shows = all().filter(|&stmt| dependence.calls().is_output(stmt));
        let mut lines = Shows::new();
        for stmt in shows {
            if let Some(line) = place(stmt) {
                *lines.entry(line).or_default() |= slice.contains(stmt);
            }
        }
        lines
    }

    /// Whether a line is a label of a `switch`, which has no statement of its own.
    fn is_label(&self, file: &Path, line: u32) -> bool {
        let mut lines = self.texts[file].lines();
        let text = lines.nth(line as usize - 1);
        text.is_some_and(|text| text.trim_start().starts_with("case "))
    }
}

/// The lines that show something, and whether they are in a slice.
type Shows = BTreeMap<Line, bool>;

/// Whether the line of a mark is in a slice. A call that goes over several lines has its mark at
/// the last of them, but stands at the first.
fn holds(shows: &Shows, mark: &Line) -> bool {
    let mut before = shows.range(..=mark.clone());
    let last = before.next_back();
    last.is_some_and(|((file, _), part)| *file == mark.0 && *part)
}
