//! The concolic executor as a whole: real programs, instrumented, run and checked against
//! native runs and against an evaluation of every expression.

mod bad_cases;
mod constructs;
mod csmith;
mod inputs;
mod known;
mod loops;
mod questions;
mod straight_line;
mod subjects;
mod support;
