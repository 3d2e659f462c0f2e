//! From path conditions to inputs.
//!
//! The expressions of both versions and all runs live in one [`Pool`], where equal expressions are
//! one and the same. An [`Importer`] brings in the expressions of a run, [`Conditions`] lists what
//! had to hold for it, a [`Path`] makes that ready for questions. The [`Solver`] is asked for inputs
//! that follow a path up to a point and then do something else: it tries the cheapest means first
//! and never hands out an input that it has not evaluated.

#[cfg(test)]
mod agree;
mod blast;
mod bytes;
mod clock;
mod condition;
mod conflicts;
mod facts;
mod import;
mod inside;
mod interval;
mod known;
mod layer;
mod lazy;
mod limits;
mod model;
mod partition;
mod path;
mod pin;
mod pool;
mod project;
#[cfg(test)]
mod query;
mod random;
mod ranges;
mod rewrite;
mod sat;
mod search;
mod show;
mod solver;
mod statistics;
mod structure;
mod support;
mod tape;
mod variable;
mod view;
mod words;
mod z3_layer;

pub use condition::{Condition, ConditionKind, Conditions};
pub use import::Importer;
pub use model::{Hint, Model};
pub use path::Path;
pub use pool::{Expr, Pool, Table, Term};
pub use solver::{Answer, Budget, Core, Solver, Unknown};
pub use statistics::{Layer, LayerStatistics, Statistics};
pub use tape::{Tape, Values};
pub use variable::{Source, SourceKey, Variable, VariableKind};
pub use z3_layer::PlainZ3;
