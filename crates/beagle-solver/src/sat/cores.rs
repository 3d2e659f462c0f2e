//! Fewer of the conditions that conflict.

use super::engine::{Answer, Engine};
use crate::blast::Bit;
use crate::clock::Moment;

/// How often to leave a condition out and ask again.
const ATTEMPTS: usize = 12;

/// How many conflicts an attempt may take.
const CONFLICTS: u32 = 100;

/// Fewer of these bits that still conflict, as far as that is found until then.
pub(super) fn minimise(engine: &mut Engine, mut core: Vec<Bit>, until: Moment) -> Vec<Bit> {
    // The order of assumptions decides which of them a conflict is blamed on.
    for _ in 0..2 {
        if core.len() <= 1 || Moment::now() >= until {
            return core;
        }
        let reverse: Vec<Bit> = core.iter().rev().copied().collect();
        match engine.solve(&reverse, Some(CONFLICTS)) {
            Answer::No(smaller) if smaller.len() < core.len() => core = smaller,
            _ => break,
        }
    }
    let mut at = 0;
    for _ in 0..ATTEMPTS {
        if at >= core.len() || core.len() <= 1 || Moment::now() >= until {
            break;
        }
        let mut without = core.clone();
        without.remove(at);
        match engine.solve(&without, Some(CONFLICTS)) {
            Answer::No(smaller) => {
                // Those before were needed in the larger core, so they are still.
                core.retain(|bit| smaller.contains(bit));
            }
            _ => at += 1,
        }
    }
    core
}
