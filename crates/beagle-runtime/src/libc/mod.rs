//! Replacements of libc functions: what they do natively, and what that means as expressions.

pub mod arith;
pub mod calendar;
pub mod compare;
pub mod copy;
pub mod ctype;
pub mod decimal;
pub mod environment;
pub mod gap;
pub mod heap;
pub mod jump;
pub mod memory;
pub mod number;
pub mod pinned;
pub mod process;
pub mod search;
pub mod signals;
pub mod stdio;
pub mod temporary;
pub mod threads;
pub mod view;
pub mod wide;

#[cfg(test)]
mod edges_test;
#[cfg(test)]
mod explore;
#[cfg(test)]
mod numbers_test;
#[cfg(test)]
mod strings_test;
#[cfg(test)]
mod world_test;
