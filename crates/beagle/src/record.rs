//! `beagle record`: runs a project's own test-suite and keeps every input that its program gets.

mod input;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use beagle_build::{Heard, Next, Suite};
use beagle_report::record::{CauseEntry, Report, SCHEMA};
use beagle_trace::Input;
use beagle_verdict::saved::Kept;
use beagle_verdict::saved::recorded::{Recorded, Records};

use crate::arguments::{Format, RecordOptions};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::{output, status, versions};
use input::Setting;

/// Where inputs are kept if nothing else is said.
const DEFAULT_OUT: &str = "beagle-seeds";

/// Different inputs that are kept; more of them would only cost time.
const MOST_INPUTS: usize = 5000;

/// Runs the command; the result is the exit status.
pub fn run(options: &RecordOptions, quiet: bool) -> Result<i32, Failure> {
    let interrupt = Interrupt::listen()?;
    let (spec, config, cache) = versions::ordered(&options.version, &options.build)?;
    let suite = Suite::prepare(&spec, &config, &cache, &mut |step| {
        versions::progress(&step, quiet);
    })?;
    let mut collected = Collected::new(Setting::of(&suite));
    let line = Progress::new(quiet);
    let ended = suite.run(&options.command, options.max_runs, &mut |heard| {
        collected.hear(heard);
        let (runs, inputs) = (collected.runs, collected.inputs.len());
        line.say(|| format!("   Recording {runs} runs of the program, {inputs} different inputs"));
        match interrupt.is_raised() {
            true => Next::Stop,
            false => Next::GoOn,
        }
    });
    line.clear();
    let ended = ended?;
    let out = match &options.out {
        Some(out) => out.clone(),
        None => default_out()?,
    };
    let (new, known) = collected.save(&out)?;
    let mut notes = Vec::new();
    if interrupt.is_raised() {
        notes.push("interrupted; this is what was recorded until then".to_owned());
    } else if ended.code != 0 {
        let (command, code, log) = (&ended.command, ended.code, ended.log.display());
        notes.push(format!(
            "`{command}` ended with exit status {code}; what it printed is in {log}"
        ));
    }
    if collected.partial > 0 {
        let count = collected.partial;
        notes.push(format!(
            "{count} inputs lack a file that the program found by itself, outside of the directory it ran in"
        ));
    }
    collected.leave_out("there were enough already", ended.uncounted);
    let report = Report {
        schema: SCHEMA,
        version: suite.label.clone(),
        command: ended.command,
        status: ended.code,
        program: collected.setting.name().to_string_lossy().into_owned(),
        runs: collected.runs,
        inputs: new + known,
        known,
        left_out: collected.left_out(),
        out: out.display().to_string(),
        log: ended.log.display().to_string(),
        notes,
    };
    let text = match options.format {
        Format::Human => report.text(),
        Format::Json => report.json() + "\n",
    };
    output::print(&text)?;
    Ok(match report.inputs {
        _ if interrupt.is_raised() => status::INTERRUPTED,
        0 => status::DIFFERENT,
        _ => status::FINE,
    })
}

/// A directory here, which git does not see.
fn default_out() -> Result<PathBuf, Failure> {
    let out = Path::new(DEFAULT_OUT);
    let make = || {
        if out.exists() {
            return Ok(());
        }
        fs_err::create_dir(out)?;
        fs_err::write(out.join(".gitignore"), "*\n")
    };
    make().map_err(|error| {
        Failure::usage(
            error.to_string(),
            "--out names the directory for what is recorded",
        )
    })?;
    Ok(out.to_owned())
}

/// What was heard of the suite.
struct Collected {
    setting: Setting,
    runs: u64,
    /// Different inputs with how often they were seen, in the order in which they came first.
    inputs: Vec<Recorded>,
    known: HashMap<Input, usize>,
    /// Why runs are not among the inputs.
    causes: BTreeMap<String, u64>,
    /// Inputs of which a file could not be kept.
    partial: u64,
}

impl Collected {
    fn new(setting: Setting) -> Self {
        Self {
            setting,
            runs: 0,
            inputs: Vec::new(),
            known: HashMap::new(),
            causes: BTreeMap::new(),
            partial: 0,
        }
    }

    fn hear(&mut self, heard: Heard) {
        let invocation = match heard {
            Heard::Nothing => return,
            Heard::Lost(cause) => {
                self.leave_out(&cause, 1);
                return;
            }
            Heard::Invocation(invocation) => invocation,
        };
        match self.setting.input(&invocation) {
            Ok(made) => {
                self.runs += 1;
                if self.add(made.input) {
                    self.partial += u64::from(made.lacks_file);
                }
            }
            Err(cause) => self.leave_out(cause, 1),
        }
    }

    /// Adds an input; whether it is new.
    fn add(&mut self, input: Input) -> bool {
        match self.known.get(&input) {
            Some(&at) => {
                self.inputs[at].runs += 1;
                false
            }
            None if self.inputs.len() >= MOST_INPUTS => {
                self.runs -= 1;
                self.leave_out("there were enough already", 1);
                false
            }
            None => {
                self.known.insert(input.clone(), self.inputs.len());
                self.inputs.push(Recorded { input, runs: 1 });
                true
            }
        }
    }

    /// Counts runs that are not among the inputs.
    fn leave_out(&mut self, cause: &str, count: u64) {
        if count > 0 {
            self.runs += count;
            *self.causes.entry(cause.to_owned()).or_insert(0) += count;
        }
    }

    fn left_out(&self) -> Vec<CauseEntry> {
        let causes = self.causes.iter();
        let causes = causes.map(|(cause, &count)| CauseEntry {
            cause: cause.clone(),
            count,
        });
        causes.collect()
    }

    /// Saves the inputs; how many are new there, and how many were there before.
    fn save(&self, out: &Path) -> Result<(u64, u64), Failure> {
        let failed = |error: beagle_verdict::Error| {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            let cause = cause.unwrap_or_else(|| error.to_string());
            Failure::usage(cause, "--out names the directory for what is recorded")
        };
        let mut records = Records::open(out).map_err(failed)?;
        let (mut new, mut known) = (0, 0);
        for recorded in &self.inputs {
            match records.add(recorded).map_err(failed)? {
                Kept::New(_) => new += 1,
                Kept::Known(_) => known += 1,
            }
        }
        Ok((new, known))
    }
}
