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
    /// Seconds until a random input told the versions apart.
    pub random: Option<f64>,
    /// The same for AFL++.
    pub afl: Option<f64>,
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

    fn seconds(&self) -> Option<f64> {
        match self.beagle {
            Beagle::Found(seconds) => Some(seconds),
            _ => None,
        }
    }

    fn verdict(&self) -> &'static str {
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
        if !self.note.is_empty() {
            let _ = write!(text, "\n    {}", self.note.trim_end());
        }
        text
    }
}

/// The rows for other programs.
pub fn csv(rows: &[Row]) -> String {
    let mut text = String::from(
        "subject,mutant,operator,class,file,line,function,original,replacement,\
         verdict,seconds,runs,queries,random_seconds,afl_seconds,note,command\n",
    );
    for row in rows {
        let mutant = &row.mutant;
        let fields = [
            row.subject.clone(),
            mutant.id.clone(),
            mutant.operator.to_string(),
            mutant.class.to_string(),
            mutant.file.display().to_string(),
            mutant.line.to_string(),
            mutant.function.clone(),
            mutant.original.clone(),
            mutant.replacement.clone(),
            row.verdict().to_owned(),
            exact(row.seconds()),
            row.runs.to_string(),
            row.queries.to_string(),
            exact(row.random),
            exact(row.afl),
            row.note.clone(),
            row.command.clone(),
        ];
        let fields = fields.map(|field| format!("\"{}\"", field.replace('"', "\"\"")));
        let _ = writeln!(text, "{}", fields.join(","));
    }
    text
}

/// By subject and class, and all together.
pub fn summary(rows: &[Row]) -> String {
    let mut parts: BTreeMap<(String, String), Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let key = (row.subject.clone(), row.mutant.class.to_string());
        parts.entry(key).or_default().push(row);
    }
    let mut text = format!(
        "{:24} {:>7} {:>8} {:>5} {:>5}  {:>8} {:>8} {:>6}\n",
        "", "mutants", "distinct", "found", "%", "beagle s", "afl++ s", "wrong"
    );
    for ((subject, class), rows) in &parts {
        text.push_str(&total(&format!("{subject} {class}"), rows));
    }
    text.push_str(&total("all", &rows.iter().collect::<Vec<_>>()));
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
        "{name:24} {:7} {distinct:8} {found:5} {:5.1}  {:>8} {:>8} {wrong:6}\n",
        rows.len(),
        100.0 * found as f64 / distinct.max(1) as f64,
        shown(median(rows.iter().filter_map(|row| row.seconds()))),
        shown(median(rows.iter().filter_map(|row| row.afl))),
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

fn exact(seconds: Option<f64>) -> String {
    seconds.map_or_else(String::new, |seconds| format!("{seconds:.3}"))
}
