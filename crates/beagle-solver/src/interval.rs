//! Decides conditions by what is known of bits and bounds when bytes are limited to sets and words to
//! intervals.

use rustc_hash::FxHashMap;

use beagle_trace::op::Op;

use crate::facts::{self, Facts};
use crate::limits::{Domain, Limits};
use crate::pool::{Expr, Pool};
use crate::tape::Tape;
use crate::variable::Variable;

/// What cannot hold: a condition, with the words whose bounds are part of the reason.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Impossible {
    /// Its place in the list that the tape was made for; none if the words alone tell.
    pub condition: Option<usize>,
    /// The words.
    pub words: Vec<Expr>,
}

/// What conditions over one variable say, as far as that was found out.
pub(crate) type Domains = FxHashMap<Expr, Option<(Variable, Domain)>>;

/// The first of the conditions of a tape that cannot hold.
pub(crate) fn impossible(
    pool: &Pool,
    tape: &Tape,
    limits: &Limits,
    known: &mut Domains,
) -> Option<Impossible> {
    let mut all: Vec<Facts> = Vec::with_capacity(tape.len());
    for (number, step) in tape.steps.iter().enumerate() {
        let term = step.term;
        let mut facts = match limits.bytes().get(&Variable(term.c)) {
            Some(domain) if term.is_variable() => {
                Facts::among(domain.iter().map(u64::from), term.width)
            }
            _ if term.is_variable() => pool.facts(step.expr),
            _ => facts::of(pool, &term, |operand| {
                // Operands come before in the tape, in the order of the fields.
                let at = term.operands().position(|other| other == operand);
                match at {
                    Some(at) => all[step.from[at] as usize],
                    None => pool.facts(operand),
                }
            }),
        };
        if term.width == 1
            && facts.value().is_none()
            && let Some(truth) = decided(pool, limits, known, step.expr)
        {
            facts = Facts::exactly(truth.into());
        }
        if let Some((low, high)) = limits.bounds(step.expr) {
            if low > facts.max || high < facts.min {
                // The conditions on the word itself are the ones that cannot hold.
                return Some(Impossible {
                    condition: None,
                    words: words(tape, number as u32, limits),
                });
            }
            facts = facts.within(low, high, term.width);
        }
        all.push(facts);
    }
    let roots = tape.roots().iter();
    let mut roots = roots.map(|&root| all[root as usize]);
    let condition = roots.position(|facts| facts.value() == Some(0))?;
    let words = words(tape, tape.roots()[condition], limits);
    Some(Impossible {
        condition: Some(condition),
        words,
    })
}

/// The value of a condition over one byte that is the same for all values that the byte can have.
fn decided(pool: &Pool, limits: &Limits, known: &mut Domains, expr: Expr) -> Option<bool> {
    let variable = pool.only_variable(expr)?;
    let allowed = limits.bytes().get(&variable)?;
    let domain = known
        .entry(expr)
        .or_insert_with(|| Domain::of(pool, expr))
        .as_ref();
    let Some((_, Domain::Byte(holds))) = domain else {
        return None;
    };
    // Where it is not defined, it counts for nothing.
    if allowed.and(*holds).is_empty() {
        return Some(false);
    }
    allowed.and(holds.complement()).is_empty().then_some(true)
}

/// The words with bounds that a step is made of.
fn words(tape: &Tape, root: u32, limits: &Limits) -> Vec<Expr> {
    let mut seen = vec![false; tape.len()];
    let (mut todo, mut words) = (vec![root], Vec::new());
    while let Some(number) = todo.pop() {
        if std::mem::replace(&mut seen[number as usize], true) {
            continue;
        }
        let step = &tape.steps[number as usize];
        if limits.bounds(step.expr).is_some() {
            words.push(step.expr);
        }
        let operands = step.term.operands().zip(step.from);
        todo.extend(operands.map(|(_, from)| from));
        if step.term.op == Op::Lookup {
            let cells = tape.table(step.term.b).map(|table| &table.cells);
            todo.extend(cells.into_iter().flatten().map(|&(_, cell)| cell));
        }
    }
    words
}
