//! The path of one run, as `beagle trace` shows it.
//!
//! The types here are the JSON format; [`SCHEMA`] changes when they do.

use beagle_change::SourceTree;
use beagle_program::{Program, StmtId};
use beagle_trace::event::{MODEL_SITES, Site};
use beagle_trace::{
    AssumeReason, Channel, CheckKind, CheckReport, EndKind, Event, Input, ObjectKind, Printer,
    Trace,
};
use serde::Serialize;

/// Name and version of the JSON format.
pub const SCHEMA: &str = "beagle.trace/1";

/// The whole report.
#[derive(Debug, Serialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// What the user called the program.
    pub program: String,
    /// Its arguments, without its name.
    pub arguments: Vec<String>,
    /// How the run ended: `exit status 0`, `killed by signal 11 (SIGSEGV)`, `stopped after 10 s`.
    pub outcome: String,
    /// What happened, in order.
    pub steps: Vec<Step>,
    /// How many more steps there were.
    pub left_out: usize,
    /// Counts.
    pub summary: Summary,
    /// What could not be followed, each with the number of times.
    pub losses: Vec<LossEntry>,
    /// Why recording ended before the program did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// The result of the self-check, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<CheckEntry>,
}

/// Something that happened.
#[derive(Debug, Serialize)]
pub struct Step {
    /// `branch`, `switch`, `assume`, `access`, `check`, `output`, `read`, `end`.
    pub kind: &'static str,
    /// The place in the source; none for what has no place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The function, or the libc function whose model it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Whether the condition of a branch held, as it was compiled: that of `if (!x)` is `x != 0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken: Option<bool>,
    /// What it says beside the expression: the case of a switch, the text of an output; for a branch without an
    /// expression, where it goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The condition or value over the input; none if it does not depend on the input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
}

/// A place in the source.
#[derive(Debug, Serialize)]
pub struct Place {
    /// The file.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1; 0 if it is not known.
    pub column: u32,
    /// The line, without the blanks around it.
    pub text: String,
}

/// Counts of what happened.
#[derive(Debug, Default, Serialize)]
pub struct Summary {
    /// Branches and switches.
    pub decisions: usize,
    /// Of these, those that depend on the input.
    pub symbolic: usize,
    /// What was taken for granted on the way, and may be asked to be otherwise.
    pub assumptions: usize,
    /// Accesses at addresses that depend on the input.
    pub accesses: usize,
    /// Outputs.
    pub outputs: usize,
    /// Expressions.
    pub nodes: usize,
    /// Time of the run in milliseconds.
    pub milliseconds: f64,
}

/// A cause of losses.
#[derive(Debug, Serialize)]
pub struct LossEntry {
    /// In words.
    pub cause: String,
    /// How often.
    pub count: u32,
}

/// The result of the self-check.
#[derive(Debug, Serialize)]
pub struct CheckEntry {
    /// Whether everything recorded is right.
    pub ok: bool,
    /// Expressions whose value was computed again.
    pub nodes: usize,
    /// Conditions of branches and switches.
    pub conditions: usize,
    /// Outputs.
    pub outputs: usize,
    /// Why not everything could be checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
    /// What is wrong.
    pub failures: Vec<String>,
}

impl CheckEntry {
    /// From the check itself.
    pub fn new(report: &CheckReport) -> Self {
        Self {
            ok: report.is_ok(),
            nodes: report.nodes,
            conditions: report.conditions + report.switches,
            outputs: report.outputs,
            incomplete: report.incomplete.clone(),
            failures: report.failures.iter().map(ToString::to_string).collect(),
        }
    }
}

/// What the report is made of.
pub struct Facts<'a> {
    /// The program; statement numbers are those of its statements.
    pub program: &'a Program,
    /// Its texts.
    pub sources: &'a SourceTree,
    /// The run.
    pub trace: &'a Trace<'a>,
    /// Its input.
    pub input: &'a Input,
    /// The libc function to whose model a site belongs.
    pub model: &'a dyn Fn(Site) -> Option<String>,
    /// Whether steps that do not depend on the input are wanted too.
    pub all: bool,
    /// No more steps than this; the rest are only counted.
    pub limit: usize,
}

impl Report {
    /// The report on a run; the caller fills in what the trace does not tell.
    pub fn new(program: &str, outcome: String, milliseconds: f64, facts: &Facts<'_>) -> Self {
        let printer = Printer::new(facts.trace, facts.input);
        let mut report = Report {
            schema: SCHEMA,
            program: program.to_owned(),
            arguments: arguments(facts.input),
            outcome,
            steps: Vec::new(),
            left_out: 0,
            summary: Summary {
                nodes: facts.trace.nodes().len().saturating_sub(1),
                milliseconds,
                ..Summary::default()
            },
            losses: facts
                .trace
                .losses()
                .iter()
                .map(|lost| LossEntry {
                    cause: match &lost.function {
                        Some(function) => format!("{} {function}", lost.cause.text()),
                        None => lost.cause.text().trim_end_matches(':').to_owned(),
                    },
                    count: lost.count,
                })
                .collect(),
            stopped: facts.trace.stop().map(|stop| stop.to_string()),
            check: None,
        };
        for event in facts.trace.events() {
            report.count(&event);
            if !wanted(&event, facts.all) {
                continue;
            }
            if report.steps.len() < facts.limit {
                report.steps.extend(step(&event, facts, &printer));
            } else {
                report.left_out += 1;
            }
        }
        report
    }

    fn count(&mut self, event: &Event<'_>) {
        let summary = &mut self.summary;
        match event {
            Event::Branch { node, .. } | Event::Switch { node, .. } => {
                summary.decisions += 1;
                summary.symbolic += usize::from(node.is_some());
            }
            Event::Assume { .. } => summary.assumptions += 1,
            Event::Bounds { .. } => summary.accesses += 1,
            Event::Output { .. } => summary.outputs += 1,
            _ => {}
        }
    }

    /// The report as JSON.
    pub fn json(&self) -> String {
        // Plain data with string keys always has a JSON form.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

fn arguments(input: &Input) -> Vec<String> {
    let arguments = input
        .sources
        .iter()
        .filter(|source| source.kind == beagle_trace::SourceKind::Argument);
    arguments
        .skip(1)
        .map(|source| String::from_utf8_lossy(source.content()).into_owned())
        .collect()
}

/// Whether an event is a step: those that do not depend on the input only if `all` are wanted.
fn wanted(event: &Event<'_>, all: bool) -> bool {
    match event {
        Event::Branch { node, .. } | Event::Switch { node, .. } => all || node.is_some(),
        Event::Check { .. } | Event::Read { .. } => all,
        Event::Assume { .. } | Event::Bounds { .. } | Event::Output { .. } | Event::End { .. } => {
            true
        }
        _ => false,
    }
}

fn step(event: &Event<'_>, facts: &Facts<'_>, printer: &Printer<'_>) -> Option<Step> {
    let mut step = Step {
        kind: "branch",
        place: None,
        function: None,
        taken: None,
        note: None,
        expression: None,
    };
    let site = match *event {
        Event::Branch { site, taken, node } => {
            step.taken = Some(taken);
            step.expression = node.map(|node| printer.print(node));
            if node.is_none() {
                step.note = next_text(facts.program, site, taken);
            }
            site
        }
        Event::Switch { site, case, node } => {
            step.kind = "switch";
            step.note = Some(case_text(facts.program, site, case));
            step.expression = node.map(|node| printer.print(node));
            site
        }
        Event::Assume { site, reason, node } => {
            step.kind = "assume";
            step.note = Some(reason_text(reason).to_owned());
            step.expression = Some(printer.print(node));
            site
        }
        Event::Bounds {
            site,
            bytes,
            object,
            store,
            address,
            size,
            ..
        } => {
            step.kind = "access";
            let verb = if store { "writes" } else { "reads" };
            let what = object_text(object);
            let unit = if bytes == 1 { "byte" } else { "bytes" };
            step.note = Some(format!("{verb} {bytes} {unit} in {what} of {size}"));
            step.expression = Some(printer.print(address));
            site
        }
        Event::Check { site, check, node } => {
            step.kind = "check";
            step.note = Some(check_text(check).to_owned());
            step.expression = Some(printer.print(node));
            site
        }
        Event::Output {
            site,
            channel,
            bytes,
            ref pieces,
            ..
        } => {
            step.kind = "output";
            let to = match channel {
                Channel::Stdout => "",
                Channel::Stderr => "stderr: ",
                Channel::File(_) => "file: ",
            };
            let text = String::from_utf8_lossy(bytes).escape_debug().to_string();
            step.note = Some(format!("{to}\"{text}\""));
            let values: Vec<String> = pieces
                .clone()
                .take(8)
                .map(|piece| printer.print(piece.node))
                .collect();
            step.expression = (!values.is_empty()).then(|| values.join(", "));
            site
        }
        Event::Read {
            site,
            source,
            offset,
            length,
            ..
        } => {
            step.kind = "read";
            let name = printer.source(source);
            step.note = Some(format!("{length} bytes of {name} from {offset}"));
            site
        }
        Event::End {
            site,
            end,
            value,
            node,
        } => {
            step.kind = "end";
            step.note = Some(match end {
                EndKind::Exit => format!("exit status {}", value & 255),
                EndKind::Abort => "abort".to_owned(),
                EndKind::Assert => "assertion failed".to_owned(),
                EndKind::Exec => "replaced by another program".to_owned(),
            });
            step.expression = node.map(|node| printer.print(node));
            site
        }
        _ => return None,
    };
    locate(&mut step, site, facts);
    Some(step)
}

/// Fills in where it happened.
fn locate(step: &mut Step, site: Site, facts: &Facts<'_>) {
    if site >= MODEL_SITES {
        step.function = (facts.model)(site);
        return;
    }
    let Some(stmt) = statement(facts.program, site) else {
        return;
    };
    let program = facts.program;
    step.function = Some(program.function(program.function_of(stmt)).name.clone());
    step.place = program.stmt(stmt).place.map(|place| {
        let file = program.file(place.file);
        let text = facts.sources.line(file, place.line).unwrap_or_default();
        Place {
            file: file.to_owned(),
            line: place.line,
            column: place.column,
            text: text.trim().to_owned(),
        }
    });
}

fn statement(program: &Program, site: Site) -> Option<StmtId> {
    let index = site.checked_sub(1)?;
    ((index as usize) < program.stmts.len()).then_some(StmtId(index))
}

/// The values of the cases of the switch at a site, in order.
pub fn cases(program: &Program, site: Site) -> Option<Vec<u128>> {
    program.cases(statement(program, site)?)
}

fn case_text(program: &Program, site: Site, case: u32) -> String {
    let values = cases(program, site).unwrap_or_default();
    match (case as usize)
        .checked_sub(1)
        .map(|index| values.get(index))
    {
        None => "default".to_owned(),
        Some(Some(value)) => match u8::try_from(*value) {
            Ok(byte @ b' '..=b'~') => format!("case {value} ('{}')", byte as char),
            _ => format!("case {value}"),
        },
        Some(None) => format!("case number {case}"),
    }
}

/// Where control goes on after a branch.
fn next_text(program: &Program, site: Site, taken: bool) -> Option<String> {
    let place = program.next_place(statement(program, site)?, usize::from(!taken))?;
    Some(format!("goes on at line {}", place.line))
}

fn reason_text(reason: AssumeReason) -> &'static str {
    match reason {
        AssumeReason::Address => "address",
        AssumeReason::Length => "length",
        AssumeReason::Size => "size",
        AssumeReason::Exchange => "exchange",
        AssumeReason::Value => "value",
    }
}

fn object_text(object: ObjectKind) -> &'static str {
    match object {
        ObjectKind::Unknown => "an object",
        ObjectKind::Global => "a global variable",
        ObjectKind::Heap => "heap memory",
        ObjectKind::Stack => "a local variable",
        ObjectKind::Foreign => "a table or argument",
    }
}

fn check_text(check: CheckKind) -> &'static str {
    match check {
        CheckKind::Divisor => "divisor is not 0",
        CheckKind::Overflow => "no signed overflow",
        CheckKind::Quotient => "quotient fits",
        CheckKind::Shift => "shift is less than the width",
    }
}
