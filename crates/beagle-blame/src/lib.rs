//! Which hunks of the textual difference make two versions behave differently on an input.
//!
//! Old is built with sets of hunks applied, and each of these programs is run on the input. What is
//! looked for:
//!
//! - *culprits*: a set of hunks that makes old behave as new does, no part of which does so;
//! - *undo*: a set of hunks without which new behaves as old does, no part of which is enough.
//!
//! [`Bench`] builds mixed versions, [`search`] looks for sets by asking about others, and
//! [`Trial::blame`] puts both together. A set that cannot be built says nothing, and is never an
//! error. Nothing here prints.

mod bench;
mod error;
mod search;
mod sources;
mod trial;

pub use bench::{Bench, Mixed};
pub use error::Error;
pub use search::{EVERY, Found, Outcome, Relation, search};
pub use trial::{Blame, Effort, Trial};
