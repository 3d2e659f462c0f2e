//! Real C programs, run natively.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod abuse;
mod saved;
mod support;
mod verdicts;
