//! Runs a traced program on inputs, and hands back what each run did.
//!
//! A traced program holds a fork server, which waits before `main`. [`Executor::start`] starts it
//! once; every [`Executor::run`] writes an input into the shared memory and asks the server for a
//! copy of the process that runs it. Programs under test crash, hang, fill disks and kill their
//! parents; whatever they do, a run ends within its time limit, and the executor is ready for the
//! next.
//!
//! | module | knows |
//! | --- | --- |
//! | `executor` | the life of a run |
//! | `server` | the process of the fork server, and how to talk to it |
//! | `capture` | the files that take standard output and standard error |
//! | `directory` | the directory in which the program runs |

mod capture;
mod directory;
mod error;
mod executor;
mod outcome;
mod server;

pub use capture::Captured;
pub use error::ExecutorError;
pub use executor::{Executor, Options, Run};
pub use outcome::Outcome;
