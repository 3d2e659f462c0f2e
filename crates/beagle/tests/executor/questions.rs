//! The questions that runs of the subjects give rise to: each decision the other way.

use std::time::Duration;

use beagle_report::trace::cases;
use beagle_solver::{
    Answer, Budget, ConditionKind, Conditions, Hint, Importer, Path, PlainZ3, Pool, Solver, Tape,
    Values,
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
    let (most, compare) = (most.unwrap_or(8), most.is_some());
    let limit = Duration::from_secs(5);
    let (mut found, mut none, mut unknown) = (0, 0, 0);
    let only = std::env::var("SUBJECT").ok();
    for subject in subjects(&root()).expect("the subjects load") {
        if only.as_ref().is_some_and(|only| *only != subject.name) {
            continue;
        }
        let (mut compared, mut given_up) = (0, 0);
        let start = (found, none, unknown);
        let Recorded { mut pool, paths } = record(&subject, most);
        let mut solver = Solver::new(Budget::default());
        let mut z3 = PlainZ3::new(limit);
        for Asked {
            mut path,
            questions,
        } in paths
        {
            for index in questions {
                let other = pool.not(path.conditions()[index]);
                let (conditions, expected) = match solver.ask(&mut pool, &mut path, index, &[other])
                {
                    Answer::Satisfiable(model) => {
                        found += 1;
                        let made = model.apply(&pool, path.hint()).expect("an input");
                        let hint = Hint::new(&mut pool, made);
                        let all = [&path.conditions()[..index], &[other]].concat();
                        let tape = Tape::new(&pool, &all);
                        let mut values = Values::default();
                        tape.run(&mut values, |v| hint.value(pool.variable_kind(v)));
                        assert!(tape.all_hold(&values), "{}: {index}", subject.name);
                        (all, true)
                    }
                    Answer::Unsatisfiable(core) if !core.structure => {
                        none += 1;
                        let of_path = core.path.iter().map(|&at| path.conditions()[at]);
                        (of_path.chain([other]).collect(), false)
                    }
                    Answer::Unsatisfiable(_) => continue,
                    Answer::Unknown(_) => {
                        unknown += 1;
                        continue;
                    }
                };
                if !compare || !z3.prepare(&pool, &conditions) {
                    continue;
                }
                match z3.check_alone(&conditions) {
                    Some(answer) => {
                        let name = &subject.name;
                        assert_eq!(answer, expected, "{name}: condition {index}");
                        compared += 1;
                    }
                    None => given_up += 1,
                }
            }
        }
        eprintln!(
            "{}: {} with an input, {} without, {} unknown; Z3 agrees on {compared}, gave up on {given_up}",
            subject.name,
            found - start.0,
            none - start.1,
            unknown - start.2,
        );
    }
    eprintln!("{found} with an input, {none} without, {unknown} unknown");
    if only.is_some() {
        return;
    }
    assert!(
        found > 60 && none > 2,
        "{found} with an input, {none} without"
    );
    assert!(unknown * 4 < found, "{unknown} unknown");
}
