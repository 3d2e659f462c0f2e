//! What assignments and results would decide if the program asked: mistakes in them do not show in branches.
//!
//! Of each value that is put into a variable: whether it is below 0, whether it is 0, and how it compares to what the
//! other variables of the call last got, as in the DARWIN paper.

use beagle_engine::{Half, Traced, What};
use beagle_solver::{Expr, Path, Pool};
use beagle_trace::Input;
use beagle_trace::event::{DECIDING, Site};
use beagle_trace::op::Op;

/// Something that holds of a value.
#[derive(Clone, Copy, Debug)]
pub struct Predicate {
    /// The statement that puts the value there.
    pub site: Site,
    /// The variable, by its number.
    pub place: u32,
    /// One bit that is 1 in the run.
    pub expr: Expr,
}

/// So many are looked at; the first ones are nearest to the cause.
const MOST: usize = 600;
/// With so many other variables a value is compared.
const BESIDE: usize = 3;

/// What holds of the values of a run, in order. Only what depends on the input is of interest.
pub fn predicates(
    pool: &mut Pool,
    half: &Half<'_>,
    input: &Input,
    traced: &Traced,
) -> Vec<Predicate> {
    let mut inputs = Path::new(pool, input.clone());
    let mut found = Vec::new();
    // The last values of the call, with its depth.
    let mut recent: Vec<(u32, u32, Expr)> = Vec::new();
    for step in traced.steps() {
        let What::Value(place) = step.what else {
            continue;
        };
        if found.len() >= MOST {
            break;
        }
        if place & DECIDING != 0 {
            continue;
        }
        let Some(value) = traced.value(step.word) else {
            continue;
        };
        if half.stmt(step.site).is_none() {
            continue;
        }
        recent.retain(|(depth, other, _)| *depth <= step.depth && *other != place);
        if pool.value(value).is_none() {
            let zero = pool.constant(pool.width(value), 0);
            let mut asked = vec![pool.op(Op::Slt, 1, &[value, zero]), pool.eq(value, zero)];
            let beside = recent.iter().rev();
            let beside = beside.filter(|(depth, ..)| *depth == step.depth);
            let beside: Vec<Expr> = beside.take(BESIDE).map(|&(.., expr)| expr).collect();
            for other in beside {
                if pool.width(other) == pool.width(value) && other != value {
                    asked.push(pool.op(Op::Slt, 1, &[value, other]));
                    asked.push(pool.eq(value, other));
                }
            }
            for expr in asked {
                let holds = match inputs.value(pool, expr) {
                    Some(1) => expr,
                    Some(_) => pool.not(expr),
                    None => continue,
                };
                if pool.value(holds).is_none() {
                    found.push(Predicate {
                        site: step.site,
                        place,
                        expr: holds,
                    });
                }
            }
        }
        recent.push((step.depth, place, value));
    }
    found
}
