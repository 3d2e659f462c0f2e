//! What a traced run and its reader share: expressions, events, inputs, and the memory they lie in.
//!
//! The traced program writes into shared memory, the reader looks at it in place. The modules that
//! both sides need ([`op`], [`node`], [`event`], [`layout`], [`wire`]) do without the standard
//! library, because the runtime lives inside the program under test.
//!
//! The reader's side: an [`Input`] is written into a [`Memory`], a program runs, and the [`Trace`]
//! shows what happened. [`evaluate()`] computes the expressions for any input, [`Printer`] shows them
//! to people, and [`check()`] compares a trace with what it claims.
#![cfg_attr(not(feature = "std"), no_std)]

pub mod event;
pub mod layout;
pub mod node;
pub mod op;
pub mod wire;

#[cfg(feature = "std")]
pub mod arithmetic;
#[cfg(feature = "std")]
mod blob;
#[cfg(feature = "std")]
pub mod check;
#[cfg(feature = "std")]
mod conversion;
#[cfg(feature = "std")]
pub mod decode;
#[cfg(feature = "std")]
pub mod evaluate;
#[cfg(feature = "std")]
pub mod input;
#[cfg(feature = "std")]
pub mod memory;
#[cfg(feature = "std")]
pub mod print;
#[cfg(feature = "std")]
pub mod recording;
#[cfg(feature = "std")]
pub mod trace;
#[cfg(feature = "std")]
mod validate;

#[cfg(feature = "std")]
pub use blob::{Blob, Cells};
#[cfg(feature = "std")]
pub use check::{Cases, CheckReport, Failure, Observed, check};
#[cfg(feature = "std")]
pub use conversion::render;
#[cfg(feature = "std")]
pub use decode::{
    AssumeReason, Channel, CheckKind, EndKind, Event, Events, ObjectKind, Piece, Pieces, Text,
};
#[cfg(feature = "std")]
pub use evaluate::{Values, evaluate, same_value};
#[cfg(feature = "std")]
pub use input::{DEFAULT_PAD, Input, InputError, Source, SourceKind};
#[cfg(feature = "std")]
pub use memory::{Limits, Memory, MemoryError, Sizes};
#[cfg(feature = "std")]
pub use print::Printer;
#[cfg(feature = "std")]
pub use recording::Recording;
#[cfg(feature = "std")]
pub use trace::{Lost, Malformed, Parts, Phase, Stop, Trace};
