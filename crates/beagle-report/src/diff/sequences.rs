//! In which orders changes were executed, and which orders it takes to see a difference.

use serde::{Deserialize, Serialize};

/// The orders in which changes were executed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sequences {
    /// On how many inputs the changes were followed.
    pub inputs: u64,
    /// How many different sequences these exercised.
    pub exercised: u64,
    /// On how many of them a difference was confirmed.
    pub differing: u64,
    /// The first of them: those that differ, then by the number of inputs.
    pub list: Vec<SequenceEntry>,
    /// How many steps from one change to the next are possible, as far as can be told from the
    /// programs, and were on no input; `null` if that is not known.
    pub not_reached: Option<u64>,
    /// The first of them.
    pub missing: Vec<[usize; 2]>,
}

/// Changes in the order in which they were executed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SequenceEntry {
    /// By id; what came before in this order is left out.
    pub changes: Vec<usize>,
    /// How many inputs exercised it.
    pub inputs: u64,
    /// On how many of them a difference was confirmed.
    pub differing: u64,
}

/// The changes that it takes to see the differences of a group, as far as can be told from the
/// inputs that were run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriticalEntry {
    /// By id, in the order in which they act.
    pub changes: Vec<usize>,
    /// The hunks of the textual difference that they are in, in the same order; empty if culprits
    /// were not looked for.
    pub hunks: Vec<usize>,
    /// Whether it is an error of their interaction: it was seen only on inputs that execute all of
    /// these changes, and on none that skips one of them.
    pub interaction: bool,
    /// How many inputs showed it, and executed the changes in this order.
    pub inputs: u64,
    /// How many inputs skipped at least one of the changes, and did not show it.
    pub skipping: u64,
}
