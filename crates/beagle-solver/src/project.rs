//! What follows when bytes are known to be in sets, found by trying them all.
//!
//! A condition over a few bytes leaves of each of them only some values: of `10 * a + b == 42` with two digits
//! one of either. The number that a hexadecimal digit stands for is below 16, however it is computed.

use crate::bytes::ByteSet;
use crate::pool::{Expr, Pool};
use crate::tape::{Tape, Values};
use crate::variable::Variable;

/// So many inputs are tried at most.
const MOST_INPUTS: u32 = 1 << 10;
/// Conditions with more steps are not tried.
const MOST_STEPS: usize = 64;

/// For each of these bytes the values with which the condition can hold while the others are in their sets;
/// `None` if there are too many to try.
pub(crate) fn projected(
    pool: &Pool,
    condition: Expr,
    sets: &[(Variable, ByteSet)],
) -> Option<Vec<ByteSet>> {
    let count = |inputs: u32, &(_, set): &(Variable, ByteSet)| inputs.checked_mul(set.count());
    let inputs = sets.iter().try_fold(1, count)?;
    if inputs == 0 || inputs > MOST_INPUTS {
        return None;
    }
    let tape = Tape::at_most(pool, condition, MOST_STEPS)?;
    let all: Vec<Vec<u8>> = sets.iter().map(|(_, set)| set.iter().collect()).collect();
    let mut left = vec![ByteSet::NONE; sets.len()];
    let mut at = vec![0; sets.len()];
    let mut values = Values::default();
    for _ in 0..inputs {
        let value = |place: usize| all[place][at[place]];
        tape.run(&mut values, |name| {
            let place = sets.iter().position(|&(of, _)| of == name);
            place.map_or(0, |place| u128::from(value(place)))
        });
        // Where it is not defined it is not known to fail.
        if tape.root(&values, 0) != Some(0) {
            for (place, left) in left.iter_mut().enumerate() {
                left.insert(value(place));
            }
        }
        for (at, all) in at.iter_mut().zip(&all) {
            *at += 1;
            if *at < all.len() {
                break;
            }
            *at = 0;
        }
    }
    Some(left)
}

/// The greatest value of an expression over one byte that is in a set; `None` if it takes too long to try, or it
/// is not defined for all of them.
pub(crate) fn greatest(pool: &Pool, expr: Expr, set: ByteSet) -> Option<u128> {
    let tape = Tape::at_most(pool, expr, MOST_STEPS)?;
    let mut values = Values::default();
    set.iter().try_fold(0, |greatest, byte| {
        tape.run(&mut values, |_| byte.into());
        Some(tape.root(&values, 0)?.max(greatest))
    })
}
