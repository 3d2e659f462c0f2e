//! What a layer of the solver is asked and what it answers.

use crate::clock::Moment;

use crate::pool::Expr;
use crate::variable::Variable;

/// A conjunction, with the input that the answer should be near to.
pub(crate) struct Question<'a> {
    /// All must be 1.
    pub conditions: &'a [Expr],
    /// The value of each variable in the parent input.
    pub hint: &'a dyn Fn(Variable) -> u128,
    /// When to give up.
    pub deadline: Moment,
}

/// What a layer found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Values of variables of the question; others keep the hint's.
    Model(Vec<(Variable, u128)>),
    /// These conditions, by index, conflict.
    Conflict(Vec<usize>),
    /// Not known, and why.
    Nothing(Why),
}

/// Why a layer has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Why {
    /// Out of time or steps.
    Budget,
    /// An operator that the layer does not know.
    Unsupported,
    /// Too large for the layer.
    Size,
}
