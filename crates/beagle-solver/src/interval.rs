//! Decides conditions by what is known of bits and bounds when bytes are limited to sets.

use rustc_hash::FxHashMap;

use crate::bytes::ByteSet;
use crate::facts::{self, Facts};
use crate::pool::Pool;
use crate::tape::Tape;
use crate::variable::Variable;

/// The first of the conditions of a tape that cannot hold.
pub(crate) fn impossible(
    pool: &Pool,
    tape: &Tape,
    domains: &FxHashMap<Variable, ByteSet>,
) -> Option<usize> {
    let mut all: Vec<Facts> = Vec::with_capacity(tape.len());
    for step in &tape.steps {
        let term = step.term;
        let domain = domains.get(&Variable(term.c));
        let known = match domain {
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
        all.push(known);
    }
    let roots = tape.roots().iter();
    let mut roots = roots.map(|&root| all[root as usize]);
    roots.position(|facts| facts.value() == Some(0))
}
