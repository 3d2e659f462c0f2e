//! The rows on disk: written after every step, and read again by the next run, so that nothing has
//! to be measured twice.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::mutants::Mutation;
use crate::table::{Beagle, Row};

/// The rows, by subject and mutant.
pub struct Sheet {
    path: PathBuf,
    rows: Mutex<BTreeMap<(String, String), Record>>,
}

/// A row as the file has it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Record {
    subject: String,
    mutant: String,
    operator: String,
    class: String,
    file: String,
    line: usize,
    function: String,
    original: String,
    replacement: String,
    verdict: String,
    seconds: Option<f64>,
    runs: u64,
    queries: u64,
    contested: bool,
    random_seconds: Option<f64>,
    afl_seconds: Option<f64>,
    shown_by: String,
    note: String,
    command: String,
}

impl Sheet {
    /// Opens the one in `dir`. Whatever is there is removed if it answers another question.
    pub fn open(dir: &Path, question: &str) -> io::Result<Self> {
        let asked = dir.join("question.txt");
        if !fs_err::read_to_string(&asked).is_ok_and(|asked| asked == question) {
            let _ = fs_err::remove_dir_all(dir);
            fs_err::create_dir_all(dir)?;
            fs_err::write(&asked, question)?;
        }
        let path = dir.join("rows.csv");
        let mut rows = BTreeMap::new();
        if path.exists() {
            for record in csv::Reader::from_path(&path)?.deserialize() {
                let record: Record = record?;
                rows.insert((record.subject.clone(), record.mutant.clone()), record);
            }
        }
        let rows = Mutex::new(rows);
        Ok(Self { path, rows })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a mutant was searched already.
    pub fn has(&self, mutation: &Mutation) -> bool {
        self.row(mutation).is_some()
    }

    /// The row of a mutant, if it is one of the very same change.
    pub fn row(&self, mutation: &Mutation) -> Option<Row> {
        let key = (mutation.subject.clone(), mutation.mutant.id.clone());
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        rows.get(&key)?.of(mutation)
    }

    /// Shows a row, and keeps it instead of the one that the mutant had.
    #[allow(clippy::print_stdout, reason = "for whoever waits")]
    pub fn put(&self, row: Row) {
        println!("{}", row.line());
        let record = Record::from(row);
        let key = (record.subject.clone(), record.mutant.clone());
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        rows.insert(key, record);
        write(&self.path, rows.values()).expect("the rows can be written");
    }
}

/// All or nothing, as the next run depends on it.
fn write<'a>(path: &Path, records: impl Iterator<Item = &'a Record>) -> io::Result<()> {
    let new = path.with_extension("new");
    let mut writer = csv::Writer::from_path(&new)?;
    for record in records {
        writer.serialize(record)?;
    }
    writer.flush()?;
    fs_err::rename(new, path)
}

impl From<Row> for Record {
    fn from(row: Row) -> Self {
        let verdict = row.verdict().to_owned();
        let seconds = row.seconds();
        let mutant = row.mutant;
        Self {
            subject: row.subject,
            mutant: mutant.id,
            operator: mutant.operator.to_string(),
            class: mutant.class.to_string(),
            file: mutant.file.display().to_string(),
            line: mutant.line,
            function: mutant.function,
            original: mutant.original,
            replacement: mutant.replacement,
            verdict,
            seconds,
            runs: row.runs,
            queries: row.queries,
            contested: row.contested,
            random_seconds: row.random,
            afl_seconds: row.afl,
            shown_by: row.shown_by,
            note: row.note,
            command: row.command,
        }
    }
}

impl Record {
    fn of(&self, mutation: &Mutation) -> Option<Row> {
        let mutant = &mutation.mutant;
        let same = self.file == mutant.file.display().to_string()
            && self.line == mutant.line
            && self.original == mutant.original
            && self.replacement == mutant.replacement;
        let beagle = match (self.verdict.as_str(), self.seconds) {
            ("found", Some(seconds)) => Beagle::Found(seconds),
            ("missed" | "none", _) => Beagle::Missed,
            ("equivalent" | "wrongly-equivalent", _) => Beagle::Equivalent,
            ("wrong", _) => Beagle::Wrong,
            _ => return None,
        };
        same.then(|| Row {
            subject: mutation.subject.clone(),
            mutant: mutant.clone(),
            beagle,
            runs: self.runs,
            queries: self.queries,
            contested: self.contested,
            random: self.random_seconds,
            afl: self.afl_seconds,
            shown_by: self.shown_by.clone(),
            note: self.note.clone(),
            command: self.command.clone(),
        })
    }
}
