//! One line on the terminal that says how the search goes; nothing where nobody looks.
//!
//! It is drawn on standard error only, and only if that is a terminal.

use std::fmt::Write;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often the line is written anew.
const EVERY: Duration = Duration::from_millis(100);

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// They are compared, and made to follow their values.
    Preparing,
    /// Inputs are looked for.
    Searching,
    /// A difference is run again on the real programs, and made small.
    Confirming,
    /// Versions are mixed to find the cause of a difference.
    Blaming,
}

/// How far the search is.
#[derive(Clone, Debug)]
pub struct Status {
    /// What is being done.
    pub phase: Phase,
    /// How many changes there are.
    pub changes: usize,
    /// How many of them a run came to.
    pub reached: usize,
    /// How many of them changed a value.
    pub infected: usize,
    /// How many of them changed an output.
    pub propagated: usize,
    /// Runs so far.
    pub runs: u64,
    /// Questions to the solver so far.
    pub queries: u64,
    /// Mixed versions that were built so far.
    pub builds: usize,
    /// Confirmed differences so far.
    pub differences: usize,
    /// How much time is left.
    pub left: Option<Duration>,
}

impl Status {
    /// The beginning of a phase of which nothing is known yet.
    pub fn new(phase: Phase) -> Self {
        Self {
            phase,
            changes: 0,
            reached: 0,
            infected: 0,
            propagated: 0,
            runs: 0,
            queries: 0,
            builds: 0,
            differences: 0,
            left: None,
        }
    }

    fn line(&self) -> String {
        let phase = match self.phase {
            Phase::Preparing => "Preparing",
            Phase::Searching => "Searching",
            Phase::Confirming => "Confirming",
            Phase::Blaming => "Blaming",
        };
        let mut line = format!("{phase:>12}");
        if self.changes > 0 {
            let (reached, infected, propagated) = (self.reached, self.infected, self.propagated);
            let changes = self.changes;
            // Writing to a string cannot fail.
            let _ = write!(
                line,
                " {reached}/{infected}/{propagated} of {changes} changes reached/infected/shown ·"
            );
        }
        if self.runs > 0 {
            let (runs, queries) = (self.runs, self.queries);
            let _ = write!(line, " {runs} runs, {queries} queries ·");
        }
        if self.builds > 0 {
            let _ = write!(line, " {} mixed versions ·", self.builds);
        }
        match self.differences {
            0 => {}
            1 => line.push_str(" 1 difference ·"),
            differences => {
                let _ = write!(line, " {differences} differences ·");
            }
        }
        if let Some(left) = self.left {
            let _ = write!(line, " {} s left", left.as_secs());
        }
        line.trim_end_matches(" ·").to_owned()
    }
}

/// The line.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    /// When it was last written, and for which phase.
    last: Mutex<Option<(Instant, Phase)>>,
}

impl Progress {
    /// Draws nothing yet; if `quiet`, it never does.
    pub fn new(quiet: bool) -> Self {
        let target = match quiet {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr(),
        };
        Self::on(target)
    }

    fn on(target: ProgressDrawTarget) -> Self {
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
            bar.set_style(style);
        }
        Self {
            bar,
            last: Mutex::new(None),
        }
    }

    /// Shows how far the search is. May be called as often as one likes: most calls do nothing.
    pub fn update(&self, status: &Status) {
        self.show(status.phase, || status.line());
    }

    /// Shows how far something else is.
    pub fn say(&self, line: impl FnOnce() -> String) {
        self.show(Phase::Searching, line);
    }

    fn show(&self, phase: Phase, line: impl FnOnce() -> String) {
        if self.bar.is_hidden() {
            return;
        }
        // Another thread that is here says nothing much else.
        let Ok(mut last) = self.last.try_lock() else {
            return;
        };
        let now = Instant::now();
        if is_due(*last, now, phase) {
            *last = Some((now, phase));
            self.bar.set_message(line());
            self.bar.tick();
        }
    }

    /// Takes the line away.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

fn is_due(last: Option<(Instant, Phase)>, now: Instant, phase: Phase) -> bool {
    last.is_none_or(|(at, before)| before != phase || now.duration_since(at) >= EVERY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_what_is_known() {
        let mut status = Status::new(Phase::Preparing);
        assert_eq!(status.line(), "   Preparing");
        status = Status {
            phase: Phase::Searching,
            changes: 9,
            reached: 8,
            infected: 3,
            propagated: 1,
            runs: 1204,
            queries: 310,
            builds: 0,
            differences: 2,
            left: Some(Duration::from_millis(41_900)),
        };
        assert_eq!(
            status.line(),
            "   Searching 8/3/1 of 9 changes reached/infected/shown · 1204 runs, 310 queries · \
             2 differences · 41 s left"
        );
    }

    #[test]
    fn it_is_not_written_more_often_than_people_can_read() {
        let start = Instant::now();
        let last = Some((start, Phase::Searching));
        assert!(is_due(None, start, Phase::Searching));
        assert!(!is_due(last, start + EVERY / 2, Phase::Searching));
        assert!(is_due(last, start + EVERY, Phase::Searching));
        assert!(is_due(last, start, Phase::Confirming));
    }

    #[test]
    fn quiet_means_nothing_at_all() {
        let progress = Progress::new(true);
        assert!(progress.bar.is_hidden());
        progress.update(&Status::new(Phase::Searching));
        assert_eq!(*progress.last.lock().unwrap(), None);
        progress.clear();
    }

    #[test]
    fn the_line_is_drawn_and_taken_away() {
        let terminal = indicatif::InMemoryTerm::new(4, 40);
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
        let progress = Progress::on(target);
        let mut status = Status::new(Phase::Searching);
        status.runs = 1_000_000_000_000;
        progress.update(&status);
        // Cut to the width of the terminal, so that it stays one line.
        assert_eq!(
            terminal.contents(),
            "   Searching 1000000000000 runs, 0 queri"
        );
        progress.clear();
        assert_eq!(terminal.contents(), "");
    }
}
