//! Whether a layer answers random questions as Z3 does, and Z3 as trying all inputs does.

use std::time::Duration;

use crate::clock::Moment;

use rustc_hash::FxHashMap;

use crate::layer::{Found, Question};
use crate::pool::{Expr, Pool};
use crate::query::{Kind, Query};
use crate::tape::{Tape, Values};
use crate::variable::Variable;
use crate::z3_layer::{Mode, Z3Layer};

/// How long one question may take.
const LIMIT: Duration = Duration::from_secs(5);

/// What became of the questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Agreement {
    /// Models that are right.
    pub models: usize,
    /// Conflicts that are right.
    pub conflicts: usize,
    /// Questions that the layer did not answer.
    pub unknown: usize,
    /// Models for which a condition is not defined.
    pub undefined: usize,
    /// Answers that Z3 could not confirm.
    pub unchecked: usize,
    /// Of the models, how many variables differ from the hint.
    pub changes: usize,
}

/// How many questions to try: `QUERIES` of the environment, or this many.
pub(crate) fn queries(default: u64) -> u64 {
    let given = std::env::var("QUERIES").ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A question about the conditions of a random query.
pub(crate) fn ask<T>(
    query: &Query,
    conditions: &[Expr],
    answer: impl FnOnce(&Pool, &Question<'_>) -> T,
) -> T {
    let hint = |variable: Variable| query.hint(variable);
    let question = Question {
        conditions,
        hint: &hint,
        deadline: Moment::now() + LIMIT,
    };
    answer(&query.pool, &question)
}

/// What Z3 says of conditions as they are written.
fn by_z3(query: &Query, conditions: &[Expr]) -> Found {
    // Each query has a pool of its own, so each has a layer of its own.
    let mut layer = Z3Layer::with_mode(Mode::Fresh);
    ask(query, conditions, |pool, question| {
        layer.solve(pool, question)
    })
}

/// Whether all conditions hold; `None` if one of them is not defined and the others hold.
pub(crate) fn holds(
    query: &Query,
    conditions: &[Expr],
    model: &[(Variable, u128)],
) -> Option<bool> {
    let tape = Tape::new(&query.pool, conditions);
    let mut values = Values::default();
    tape.run(&mut values, |variable| {
        let given = model.iter().find(|(name, _)| *name == variable);
        given.map_or_else(|| query.hint(variable), |&(_, value)| value)
    });
    let mut defined = true;
    for index in 0..conditions.len() {
        match tape.root(&values, index) {
            Some(1) => {}
            Some(_) => return Some(false),
            None => defined = false,
        }
    }
    defined.then_some(true)
}

/// What is needed to see a failure again.
pub(crate) fn reproduction(query: &Query, kind: Kind, seed: u64, found: &Found) -> String {
    let shown = |conditions: &[Expr]| {
        let texts = conditions.iter().map(|&expr| query.pool.show(expr));
        texts.collect::<Vec<_>>().join("\n  ")
    };
    format!(
        "seed {seed} of {kind:?}\nanswer {found:?}\nhint {:?}\nplain\n  {}\nrewritten\n  {}",
        query.hint,
        shown(&query.plain),
        shown(&query.conditions)
    )
}

/// A layer to be compared, with its name.
pub(crate) type Compared<'a> = (&'a str, &'a mut dyn FnMut(&Pool, &Question<'_>) -> Found);

/// Puts `count` random questions from this seed on to layers and compares their answers with Z3's for
/// the conditions as they are written. Panics where they disagree.
pub(crate) fn agree(
    kind: Kind,
    count: u64,
    seed: u64,
    layers: &mut [Compared<'_>],
) -> Vec<Agreement> {
    let mut all = vec![Agreement::default(); layers.len()];
    for seed in seed..seed + count {
        let query = Query::new(kind, seed);
        // What Z3 says of parts of the conditions, by index.
        let mut known: FxHashMap<Vec<usize>, Found> = FxHashMap::default();
        for ((name, layer), agreement) in layers.iter_mut().zip(&mut all) {
            let found = ask(&query, &query.conditions, &mut **layer);
            let part = match &found {
                Found::Conflict(core) => core.clone(),
                _ => (0..query.plain.len()).collect(),
            };
            let conditions = part.iter().filter_map(|&at| query.plain.get(at).copied());
            let conditions: Vec<Expr> = conditions.collect();
            let fail = |why: &str| -> ! {
                panic!(
                    "{name}: {why}\n{}",
                    reproduction(&query, kind, seed, &found)
                )
            };
            if conditions.is_empty() || conditions.len() < part.len() {
                fail("not a core");
            }
            if let Found::Nothing(_) = found {
                agreement.unknown += 1;
                continue;
            }
            let by_z3 = known
                .entry(part)
                .or_insert_with(|| by_z3(&query, &conditions));
            match (&found, by_z3) {
                (Found::Model(model), by_z3) => match (holds(&query, &conditions, model), by_z3) {
                    (None, _) => agreement.undefined += 1,
                    (Some(false), _) => fail("the model does not satisfy the conditions"),
                    (Some(true), Found::Conflict(_)) => fail("Z3 finds no model"),
                    (Some(true), Found::Nothing(_)) => agreement.unchecked += 1,
                    (Some(true), Found::Model(_)) => {
                        agreement.models += 1;
                        let changes = model.iter();
                        let changes = changes.filter(|&&(name, value)| value != query.hint(name));
                        agreement.changes += changes.count();
                    }
                },
                (_, Found::Conflict(_)) => agreement.conflicts += 1,
                (_, Found::Model(model)) if holds(&query, &conditions, model) == Some(true) => {
                    fail("Z3 finds a model of the core")
                }
                _ => agreement.unchecked += 1,
            }
        }
    }
    all
}

/// What trying all values of the variables says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tried {
    /// Some input satisfies the conditions.
    Satisfiable,
    /// None does.
    Unsatisfiable,
    /// None does, but for some the conditions are not defined.
    Undefined,
}

/// Tries all values of the variables of conditions, which must be at most two bytes.
pub(crate) fn try_all(pool: &Pool, conditions: &[Expr]) -> Tried {
    let tape = Tape::new(pool, conditions);
    let mut values = Values::default();
    let names: Vec<Variable> = tape.variables().iter().map(|&(name, _)| name).collect();
    assert!(names.len() <= 2, "too many variables to try");
    let mut tried = Tried::Unsatisfiable;
    for input in 0u32..1 << (8 * names.len()) {
        tape.run(&mut values, |variable| {
            let at = names.iter().position(|&name| name == variable);
            u128::from(input >> (8 * at.unwrap_or(0)) & 0xff)
        });
        if tape.all_hold(&values) {
            return Tried::Satisfiable;
        }
        let false_one = (0..conditions.len()).any(|at| tape.root(&values, at) == Some(0));
        if !false_one {
            tried = Tried::Undefined;
        }
    }
    tried
}
