//! The questions that runs of the subjects give rise to: each decision the other way.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use beagle_report::trace::cases;
use beagle_solver::{
    Answer, Budget, ConditionKind, Conditions, Expr, Hint, Importer, Path, PlainZ3, Pool, Solver,
    Tape, Values, Variable,
};
use beagle_subjects::{Subject, root, subjects};
use beagle_trace::Limits;

use crate::known::{inputs, traced};

/// The runs of one subject, whose expressions are in one pool.
pub struct Recorded {
    pub pool: Pool,
    pub paths: Vec<Asked>,
}

/// A run, and the conditions of it that are to be asked for the other way.
pub struct Asked {
    pub path: Path,
    pub questions: Vec<usize>,
}

/// Runs the base version of a subject on all known inputs; gives at most `most` questions, from all
/// over the runs.
pub fn record(subject: &Subject, most: usize) -> Recorded {
    let mut traced = traced(&subject.base);
    let mut pool = Pool::new();
    let mut paths = Vec::new();
    for input in inputs(subject) {
        let cases = |site| cases(&traced.program, site);
        let run = traced.executor.run(&input, &Limits::default());
        let run = run.expect("runs");
        let trace = run.trace.as_ref().expect("a well-formed trace");
        let mut importer = Importer::new(&mut pool, trace, &input);
        let conditions = Conditions::of_trace(&mut pool, &mut importer, trace, &cases);
        assert_eq!(conditions.lost, 0, "{}", subject.name);
        let mut path = Path::new(&mut pool, input);
        let mut questions = Vec::new();
        for (index, condition) in conditions.list.iter().enumerate() {
            path.push(&mut pool, condition.expr);
            let asks = matches!(
                condition.kind,
                ConditionKind::Branch { .. } | ConditionKind::Switch { known: true, .. }
            );
            if asks && !path.follows(&pool, index) {
                questions.push(index);
            }
        }
        assert_eq!(path.impossible(), 0, "{}", subject.name);
        paths.push(Asked { path, questions });
    }
    let all: usize = paths.iter().map(|asked| asked.questions.len()).sum();
    let step = all.div_ceil(most).max(1);
    let mut number = 0;
    for asked in &mut paths {
        asked.questions.retain(|_| {
            number += 1;
            number % step == 0
        });
    }
    Recorded { pool, paths }
}

/// Answers with an input are evaluated; with QUESTIONS=n, which asks so many of each subject, Z3 is asked
/// about every answer, too; with SUBJECT=name only of one.
#[test]
fn questions_of_the_subjects_are_answered() {
    let most = std::env::var("QUESTIONS").ok();
    let most: Option<usize> = most.and_then(|n| n.parse().ok());
    let only = std::env::var("SUBJECT").ok();
    let mut all = Tally::default();
    for subject in subjects(&root()).expect("the subjects load") {
        if only.as_ref().is_some_and(|only| *only != subject.name) {
            continue;
        }
        let tally = ask_all(&subject, most.unwrap_or(8), most.is_some());
        eprintln!("{}: {tally:?}", subject.name);
        all.found += tally.found;
        all.none += tally.none;
        all.unknown += tally.unknown;
    }
    if only.is_none() {
        assert!(all.found > 60 && all.none > 2, "{all:?}");
        assert!(all.unknown * 4 < all.found, "{all:?}");
    }
}

/// What became of questions.
#[derive(Debug, Default)]
struct Tally {
    /// Those with an input for an answer.
    found: usize,
    /// Those without.
    none: usize,
    /// Of these, those in which what an input is takes part, of which Z3 knows nothing.
    by_structure: usize,
    unknown: usize,
    /// Answers that Z3 confirms.
    confirmed: usize,
    /// Answers that Z3 could not judge.
    given_up: usize,
}

fn ask_all(subject: &Subject, most: usize, compare: bool) -> Tally {
    let name = &subject.name;
    let mut tally = Tally::default();
    let Recorded { mut pool, paths } = record(subject, most);
    let mut solver = Solver::new(Budget::default());
    let mut z3 = PlainZ3::new(Duration::from_secs(5));
    let asked: Vec<usize> = paths.iter().map(|asked| asked.questions.len()).collect();
    eprintln!(
        "{name}: {} questions of {} runs: {asked:?}",
        asked.iter().sum::<usize>(),
        asked.len()
    );
    for Asked {
        mut path,
        questions,
    } in paths
    {
        let users = users(&pool, path.conditions());
        assert!(holds(&pool, path.conditions(), path.hint()), "{name}");
        for index in questions {
            let other = pool.not(path.conditions()[index]);
            let opinion = match solver.ask(&mut pool, &mut path, index, &[other]) {
                Answer::Satisfiable(model) => {
                    tally.found += 1;
                    let made = model.apply(&pool, path.hint()).expect("an input");
                    let made = Hint::new(&mut pool, made);
                    let of = |hint: &Hint, variable| hint.value(pool.variable_kind(variable));
                    let changed = users.iter().filter(|(variable, _)| {
                        of(&made, **variable) != of(path.hint(), **variable)
                    });
                    // All others are what they were in the run, in which they held.
                    let touched: BTreeSet<usize> =
                        changed.flat_map(|(_, users)| users).copied().collect();
                    let touched = touched.range(..index).map(|&at| path.conditions()[at]);
                    let touched: Vec<Expr> = touched.chain([other]).collect();
                    assert!(holds(&pool, &touched, &made), "{name}: {index}");
                    let mut ask = || {
                        let prepared = z3.prepare(&pool, &touched);
                        prepared.then(|| z3.accepts(&pool, &touched, |v| of(&made, v)))
                    };
                    compare.then(&mut ask).flatten().flatten()
                }
                Answer::Unsatisfiable(core) => {
                    tally.none += 1;
                    if core.structure {
                        tally.by_structure += 1;
                        continue;
                    }
                    let of_path = core.path.iter().map(|&at| path.conditions()[at]);
                    let core: Vec<Expr> = of_path.chain([other]).collect();
                    let mut ask = || {
                        let prepared = z3.prepare(&pool, &core);
                        prepared.then(|| z3.check_alone(&core).map(|it| !it))
                    };
                    compare.then(&mut ask).flatten().flatten()
                }
                Answer::Unknown(_) => {
                    tally.unknown += 1;
                    continue;
                }
            };
            match opinion {
                Some(agrees) => {
                    assert!(agrees, "{name}: Z3 disagrees on condition {index}");
                    tally.confirmed += 1;
                }
                None => tally.given_up += usize::from(compare),
            }
        }
    }
    tally
}

/// The conditions in which each variable is.
fn users(pool: &Pool, conditions: &[Expr]) -> BTreeMap<Variable, Vec<usize>> {
    let mut users: BTreeMap<Variable, Vec<usize>> = BTreeMap::new();
    for (at, &condition) in conditions.iter().enumerate() {
        for variable in pool.variables_of(condition) {
            users.entry(variable).or_default().push(at);
        }
    }
    users
}

/// Whether conditions hold for an input.
fn holds(pool: &Pool, conditions: &[Expr], input: &Hint) -> bool {
    let tape = Tape::new(pool, conditions);
    let mut values = Values::default();
    tape.run(&mut values, |v| input.value(pool.variable_kind(v)));
    tape.all_hold(&values)
}
