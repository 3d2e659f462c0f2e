//! How long each phase took, for `--timings`.

use std::time::{Duration, Instant};

use crate::output::tell;

/// A stop-watch with laps.
pub struct Timings {
    start: Instant,
    last: Instant,
    laps: Vec<(&'static str, Duration)>,
}

impl Timings {
    /// Starts now.
    pub fn start() -> Self {
        let now = Instant::now();
        Self {
            start: now,
            last: now,
            laps: Vec::new(),
        }
    }

    /// Ends a phase.
    pub fn end(&mut self, phase: &'static str) {
        let now = Instant::now();
        self.laps.push((phase, now - self.last));
        self.last = now;
    }

    /// Prints the phases and the most memory that was in use.
    pub fn print(&self) {
        for (phase, time) in &self.laps {
            tell(format_args!("{phase:>12} {:8.3} s", time.as_secs_f64()));
        }
        let total = self.start.elapsed().as_secs_f64();
        tell(format_args!("{:>12} {total:8.3} s", "total"));
        if let Some(memory) = peak_memory() {
            tell(format_args!("{:>12} {memory:8} MiB", "memory"));
        }
    }
}

/// The high-water mark of this process in MiB, where the system tells it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kilobytes / 1024)
}
