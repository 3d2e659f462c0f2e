//! The rows of the benchmark, and what they come to.

use std::fmt::Write as _;
use std::path::Path;

use beagle_report::explain::Report;
use beagle_subjects::mutate::{Class, Mutant};

use crate::mutants::Mutation;

/// How it was explained.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// By alternate inputs alone.
    Paper,
    /// With everything.
    All,
    /// With everything, among other mutations.
    Others,
}

impl Mode {
    const ALL: [Self; 3] = [Self::Paper, Self::All, Self::Others];

    fn name(self) -> &'static str {
        match self {
            Mode::Paper => "paper",
            Mode::All => "all",
            Mode::Others => "among others",
        }
    }
}

/// One mutant, explained in one way.
pub struct Row {
    subject: String,
    mutant: Mutant,
    mode: Mode,
    /// The place of the faulty line in the list, from 1.
    rank: Option<usize>,
    /// Whether one of the first lines is in the faulty function.
    same_function: bool,
    /// How many lines there are.
    lines: usize,
    /// Whether there is an alternate input on which the versions do the same.
    alternate: bool,
    seconds: f64,
    note: String,
}

/// So many lines count as the first.
const FIRST: usize = 3;

impl Row {
    pub fn new(
        mutation: &Mutation,
        mode: Mode,
        line: u32,
        seconds: f64,
        report: Result<Report, String>,
    ) -> Self {
        let mutant = mutation.mutant.clone();
        let (causes, alternates, note) = match report {
            Ok(report) => {
                let notes = report.explanation.notes.join("; ");
                (
                    report.explanation.causes,
                    report.explanation.alternates,
                    notes,
                )
            }
            Err(error) => (Vec::new(), Vec::new(), error),
        };
        let name = |file: &str| Path::new(file).file_name().map(ToOwned::to_owned);
        let file = name(&mutant.file.to_string_lossy());
        // Of code that went over several lines, each of them is the faulty one.
        let more = mutant.original.matches('\n').count() as u32;
        let rank = causes.iter().position(|cause| {
            let (from, more) = match cause.version == "old" {
                true => (mutant.line as u32, more),
                false => (line, mutant.replacement.matches('\n').count() as u32),
            };
            name(&cause.file) == file && (from..=from + more).contains(&cause.line)
        });
        let same_function = causes
            .iter()
            .take(FIRST)
            .any(|cause| cause.function.as_deref() == Some(&mutant.function));
        Self {
            subject: mutation.subject.clone(),
            mode,
            rank: rank.map(|at| at + 1),
            same_function,
            lines: causes.len(),
            alternate: alternates.iter().any(|it| it.agrees),
            mutant,
            seconds,
            note,
        }
    }

    fn is_first(&self) -> bool {
        self.rank.is_some_and(|rank| rank <= FIRST)
    }

    /// How many lines are read until the faulty one.
    fn read(&self) -> usize {
        self.rank.unwrap_or(self.lines + 1)
    }

    /// For whoever waits.
    pub fn line(&self) -> String {
        let rank = self.rank.map_or("-".to_owned(), |rank| rank.to_string());
        let mut text = format!(
            "{:9} {} {:12} line {rank:>2} of {:<2} {} {:5.2} s  {} {} {}:{}",
            self.subject,
            self.mutant.id,
            self.mode.name(),
            self.lines,
            if self.same_function {
                "function"
            } else {
                "        "
            },
            self.seconds,
            self.mutant.class,
            self.mutant.operator,
            self.mutant.file.display(),
            self.mutant.line
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
        "subject,mutant,operator,class,file,line,mode,rank,lines,same_function,alternate,seconds,note\n",
    );
    for row in rows {
        let fields = [
            row.subject.clone(),
            row.mutant.id.clone(),
            row.mutant.operator.to_string(),
            row.mutant.class.to_string(),
            row.mutant.file.display().to_string(),
            row.mutant.line.to_string(),
            row.mode.name().to_owned(),
            row.rank.map_or(String::new(), |rank| rank.to_string()),
            row.lines.to_string(),
            row.same_function.to_string(),
            row.alternate.to_string(),
            format!("{:.3}", row.seconds),
            row.note.clone(),
        ];
        let fields = fields.map(|field| format!("\"{}\"", field.replace('"', "\"\"")));
        let _ = writeln!(text, "{}", fields.join(","));
    }
    text
}

/// By mode and class, and all together.
pub fn summary(rows: &[Row]) -> String {
    let mut text = format!(
        "{:28} {:>7} {:>8} {:>9} {:>9} {:>6} {:>10} {:>8}\n",
        "", "mutants", "first 3", "function", "no report", "lines", "alternate", "median s"
    );
    for mode in Mode::ALL {
        let of: Vec<&Row> = rows.iter().filter(|row| row.mode == mode).collect();
        for class in [Class::Branch, Class::Assignment, Class::MissingCode] {
            let part = of.iter().filter(|row| row.mutant.class == class);
            text.push_str(&total(
                &format!("{} {class}", mode.name()),
                &part.copied().collect::<Vec<_>>(),
            ));
        }
        text.push_str(&total(mode.name(), &of));
    }
    text
}

fn total(name: &str, rows: &[&Row]) -> String {
    let share = |is: &dyn Fn(&Row) -> bool| {
        let count = rows.iter().filter(|row| is(row)).count();
        format!("{:.1}%", 100.0 * count as f64 / rows.len().max(1) as f64)
    };
    let mut read: Vec<usize> = rows.iter().map(|row| row.read()).collect();
    read.sort_unstable();
    let mut seconds: Vec<f64> = rows.iter().map(|row| row.seconds).collect();
    seconds.sort_by(f64::total_cmp);
    format!(
        "{name:28} {:7} {:>8} {:>9} {:>9} {:>6} {:>10} {:>8.2}\n",
        rows.len(),
        share(&Row::is_first),
        share(&|row| row.same_function),
        share(&|row| row.lines == 0),
        read.get(read.len() / 2).copied().unwrap_or(0),
        share(&|row| row.alternate),
        seconds.get(seconds.len() / 2).copied().unwrap_or(0.0),
    )
}
