//! The rows of the race, and what they come to.

use std::fmt::Write as _;

/// What a rival took.
#[derive(Clone, Copy, Default)]
pub struct Time {
    /// Seconds to build it.
    pub build: f64,
    /// Seconds until it found a difference, once it was built.
    pub found: Option<f64>,
}

/// One pair.
pub struct Row {
    /// Subject and pair.
    pub name: String,
    /// Seconds from the command to the first difference with nothing built before.
    pub cold: Option<f64>,
    /// The same with everything built.
    pub warm: Option<f64>,
    pub libfuzzer: Time,
    pub afl: Time,
    /// Whether Beagle reported what is not so.
    pub wrong: bool,
    /// Repeats the search.
    pub command: String,
    /// What rivals found, and what went wrong.
    pub notes: Vec<String>,
}

/// Over the rows. A rival is built in the seconds before the `+`.
pub const HEAD: &str = "\
pair                                 Beagle            libFuzzer            AFL++
                                   cold    warm     build + found     build + found";

impl Row {
    /// Whether a rival found what Beagle did not.
    fn is_lost(&self) -> bool {
        let found = self.cold.or(self.warm);
        found.is_none() && (self.libfuzzer.found.is_some() || self.afl.found.is_some())
    }

    /// For whoever waits.
    pub fn line(&self) -> String {
        let mut text = format!(
            "{:32} {:>6}  {:>6}    {:>6} + {:>5}    {:>6} + {:>5}",
            self.name,
            shown(self.cold),
            shown(self.warm),
            shown(Some(self.libfuzzer.build)),
            shown(self.libfuzzer.found),
            shown(Some(self.afl.build)),
            shown(self.afl.found),
        );
        if self.cold.is_none() || self.warm.is_none() {
            let _ = write!(text, "\n    {}", self.command);
            for note in &self.notes {
                let _ = write!(text, "\n    {}", note.trim_end());
            }
        }
        text
    }
}

/// Who found how much, medians, and how they compare. What was not found counts as found at the end of
/// the time, which flatters whoever did not find it.
pub fn summary(rows: &[Row], seconds: u64) -> String {
    let limit = seconds as f64;
    let columns: [(&str, Vec<Option<f64>>); 4] = [
        (
            "Beagle, nothing built",
            rows.iter().map(|row| row.cold).collect(),
        ),
        (
            "Beagle, all built",
            rows.iter().map(|row| row.warm).collect(),
        ),
        (
            "libFuzzer, once built",
            rows.iter().map(|row| row.libfuzzer.found).collect(),
        ),
        (
            "AFL++, once built",
            rows.iter().map(|row| row.afl.found).collect(),
        ),
    ];
    let mut text = String::new();
    for (name, times) in columns {
        let found = times.iter().flatten().count();
        let times = times.into_iter().map(|time| time.unwrap_or(limit));
        let _ = writeln!(
            text,
            "{name:24} found {found} of {}, median {} s",
            rows.len(),
            shown(median(times))
        );
    }
    let built = |who: fn(&Row) -> Time| {
        median(
            rows.iter()
                .map(|row| who(row).found.unwrap_or(limit) / row.warm.unwrap_or(limit)),
        )
    };
    let all = |who: fn(&Row) -> Time| {
        median(rows.iter().map(|row| {
            (who(row).build + who(row).found.unwrap_or(limit)) / row.cold.unwrap_or(limit)
        }))
    };
    let _ = writeln!(
        text,
        "\nhow many times as long as Beagle, median over the pairs:"
    );
    let _ = writeln!(
        text,
        "{:24} libFuzzer {}, AFL++ {}",
        "once all is built",
        shown(built(|row| row.libfuzzer)),
        shown(built(|row| row.afl))
    );
    let _ = writeln!(
        text,
        "{:24} libFuzzer {}, AFL++ {}",
        "with builds",
        shown(all(|row| row.libfuzzer)),
        shown(all(|row| row.afl))
    );
    let lost: Vec<_> = rows.iter().filter(|row| row.is_lost()).collect();
    let _ = writeln!(text, "\nfound by a rival and not by Beagle: {}", lost.len());
    for row in lost {
        let _ = writeln!(text, "  {}", row.name);
    }
    text
}

/// The middle, or the mean of the two in the middle.
fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.len().checked_sub(1)? / 2, values.len() / 2);
    Some((values.get(low)? + values.get(high)?) / 2.0)
}

fn shown(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.2}"))
}
