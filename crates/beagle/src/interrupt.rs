//! Ctrl-C: the first time the search ends and reports, the second time the process does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;

/// Whether the user wants to stop.
pub struct Interrupt {
    raised: Arc<AtomicBool>,
}

impl Interrupt {
    /// Listens from now on.
    pub fn listen() -> Result<Self, Failure> {
        let raised = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&raised);
        ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::SeqCst) {
                std::process::exit(crate::status::INTERRUPTED);
            }
        })
        .map_err(|error| Failure::run(format_args!("cannot listen for Ctrl-C: {error}")))?;
        Ok(Self { raised })
    }

    /// Whether it was pressed.
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::SeqCst)
    }
}
