//! The rows of the benchmark, and what they come to.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use beagle_subjects::mutate::Mutant;

/// What Beagle made of a mutant.
#[derive(Clone, Copy)]
pub enum Beagle {
    /// A difference, after so many seconds.
    Found(f64),
    /// Nothing.
    Missed,
    /// That there is none.
    Equivalent,
    /// A difference that is not there.
    Wrong,
}

/// One mutant.
pub struct Row {
    pub subject: String,
    pub mutant: Mutant,
    pub beagle: Beagle,
    pub runs: u64,
    pub queries: u64,
    /// Whether the rivals had their turn.
    pub contested: bool,
    /// Seconds until a random input told the versions apart.
    pub random: Option<f64>,
    /// The same for AFL++.
    pub afl: Option<f64>,
    /// Runs a version on the input with which a rival told them apart.
    pub shown_by: String,
    /// Repeats the search.
    pub command: String,
    /// What went wrong.
    pub note: String,
}

impl Row {
    /// Whether anything told the versions apart.
    fn is_distinguished(&self) -> bool {
        self.seconds().is_some() || self.random.is_some() || self.afl.is_some()
    }

    /// Whether it is for the rivals to say if there is anything to find.
    pub fn wants_rivals(&self) -> bool {
        self.seconds().is_none() && !self.contested
    }

    /// How long Beagle took, if it found it.
    pub fn seconds(&self) -> Option<f64> {
        match self.beagle {
            Beagle::Found(seconds) => Some(seconds),
            _ => None,
        }
    }

    /// What that comes to.
    pub fn verdict(&self) -> &'static str {
        match self.beagle {
            Beagle::Found(_) => "found",
            Beagle::Missed if self.is_distinguished() => "missed",
            Beagle::Missed => "none",
            Beagle::Equivalent if self.is_distinguished() => "wrongly-equivalent",
            Beagle::Equivalent => "equivalent",
            Beagle::Wrong => "wrong",
        }
    }

    /// For whoever waits.
    pub fn line(&self) -> String {
        let Mutant {
            id,
            operator,
            file,
            line,
            original,
            replacement,
            ..
        } = &self.mutant;
        let change = format!("{original:?} -> {replacement:?}");
        let change: String = change.chars().take(70).collect();
        let mut text = format!(
            "{:9} {id} {:8} beagle {:>6} random {:>6} afl++ {:>6}  {operator} {}:{line} {change}",
            self.subject,
            self.verdict(),
            shown(self.seconds()),
            shown(self.random),
            shown(self.afl),
            file.display()
        );
        if !self.shown_by.is_empty() {
            let _ = write!(text, "\n    {}", self.shown_by);
        }
        if !self.note.is_empty() {
            let _ = write!(text, "\n    {}", self.note.trim_end());
        }
        text
    }
}

/// By subject and class, and all together; and how many took longer than `limit` seconds from the
/// command on, as the limit is for the search alone.
pub fn summary(rows: &[Row], limit: u64) -> String {
    let mut parts: BTreeMap<(String, String), Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let key = (row.subject.clone(), row.mutant.class.to_string());
        parts.entry(key).or_default().push(row);
    }
    let mut text = format!(
        "{:24} {:>7} {:>8} {:>5} {:>5}  {:>8} {:>6}\n",
        "", "mutants", "distinct", "found", "%", "beagle s", "wrong"
    );
    for ((subject, class), rows) in &parts {
        text.push_str(&total(&format!("{subject} {class}"), rows));
    }
    text.push_str(&total("all", &rows.iter().collect::<Vec<_>>()));
    let late = rows.iter().filter_map(Row::seconds);
    let late = late.filter(|&seconds| seconds > limit as f64).count();
    let _ = writeln!(text, "{late} found after more than {limit} s, with builds");
    text
}

fn total(name: &str, rows: &[&Row]) -> String {
    let distinct = rows.iter().filter(|row| row.is_distinguished()).count();
    let found = rows.iter().filter(|row| row.seconds().is_some()).count();
    let wrong = rows
        .iter()
        .filter(|row| matches!(row.beagle, Beagle::Wrong))
        .count();
    format!(
        "{name:24} {:7} {distinct:8} {found:5} {:5.1}  {:>8} {wrong:6}\n",
        rows.len(),
        100.0 * found as f64 / distinct.max(1) as f64,
        shown(median(rows.iter().filter_map(|row| row.seconds()))),
    )
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn shown(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.2}"))
}
