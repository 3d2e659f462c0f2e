//! The self-check: whether a trace is true of its own run.
//!
//! Every expression is computed anew from the input and compared with the value that the program
//! had; every condition with the way that was taken; every output with what was really written. A
//! failure is a fault of the recorder, of the evaluator, or of the description of an operator, never
//! of the program under test.

use std::fmt;

use crate::conversion::render;
use crate::decode::{AssumeReason, Channel, EndKind, Event, Piece};
use crate::evaluate::{Values, evaluate, same_value};
use crate::event::Site;
use crate::input::Input;
use crate::layout::Loss;
use crate::node::{NodeId, mask};
use crate::print::Printer;
use crate::trace::{Phase, Trace};

/// More failures than this are only counted.
const MAX_FAILURES: usize = 20;
/// How long an expression may be in a failure.
const MAX_EXPRESSION: usize = 200;

/// What was seen of a run from outside.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'a> {
    /// What it wrote to standard output.
    pub stdout: &'a [u8],
    /// What it wrote to standard error.
    pub stderr: &'a [u8],
    /// Whether it ended by itself with a status, not by a signal and not because its time was up.
    pub exited: bool,
}

/// The values of the cases of a switch in their order; `None` if nothing is known of it.
pub type Cases<'a> = &'a dyn Fn(Site) -> Option<Vec<u128>>;

/// What was compared, and what did not agree.
#[derive(Clone, Debug, Default)]
pub struct CheckReport {
    /// Expressions whose value was compared.
    pub nodes: usize,
    /// Expressions that are not defined for the input, which must not be.
    pub undefined: usize,
    /// Branch conditions that depend on the input.
    pub conditions: usize,
    /// Assumptions.
    pub assumptions: usize,
    /// Switches on values that depend on the input whose cases are known.
    pub switches: usize,
    /// Accesses at addresses that depend on the input.
    pub bounds: usize,
    /// Outputs.
    pub outputs: usize,
    /// Parts of outputs that depend on the input.
    pub pieces: usize,
    /// Bytes of standard output and standard error that were compared with what was written.
    pub output_bytes: usize,
    /// Why the record of outputs is not expected to be complete; then what was recorded only has to
    /// be found in what was written.
    pub incomplete: Option<String>,
    /// What did not agree; not more than 20.
    pub failures: Vec<Failure>,
    /// How much did not agree.
    pub failure_count: usize,
}

impl CheckReport {
    /// Whether everything agreed.
    pub fn is_ok(&self) -> bool {
        self.failure_count == 0
    }

    fn fail(&mut self, failure: impl FnOnce() -> Failure) {
        self.failure_count += 1;
        if self.failures.len() < MAX_FAILURES {
            self.failures.push(failure());
        }
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} expressions, {} conditions, {} assumptions, {} switches, {} accesses, {} outputs \
             with {} parts, {} bytes written",
            self.nodes,
            self.conditions,
            self.assumptions,
            self.switches,
            self.bounds,
            self.outputs,
            self.pieces,
            self.output_bytes
        )?;
        match self.failure_count {
            0 => write!(f, ": all as recorded")?,
            1 => write!(f, ": 1 is wrong")?,
            count => write!(f, ": {count} are wrong")?,
        }
        if let Some(why) = &self.incomplete {
            write!(f, "\noutputs were compared only in part: {why}")?;
        }
        for failure in &self.failures {
            write!(f, "\n{failure}")?;
        }
        Ok(())
    }
}

/// One thing that does not agree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// An expression has another value than the program had.
    #[error(
        "node {node}: recorded {recorded:#x}, but {expression} is {}",
        shown(*.evaluated)
    )]
    Value {
        /// The expression.
        node: NodeId,
        /// As text.
        expression: String,
        /// What the program had.
        recorded: u128,
        /// What it should have; `None` if that is not defined.
        evaluated: Option<u128>,
    },
    /// A branch did not go where its condition says.
    #[error(
        "event at word {word}, site {site}: the branch went to its {} side, but {expression} is {}",
        if *.taken { "true" } else { "false" },
        shown(*.evaluated)
    )]
    Branch {
        /// Where the event is.
        word: usize,
        /// The statement.
        site: Site,
        /// Where it went.
        taken: bool,
        /// The condition as text.
        expression: String,
        /// The value of the condition.
        evaluated: Option<u128>,
    },
    /// An assumption does not hold.
    #[error(
        "event at word {word}, site {site}: assumed ({reason:?}) {expression}, which does not hold"
    )]
    Assume {
        /// Where the event is.
        word: usize,
        /// The statement.
        site: Site,
        /// What it is about.
        reason: AssumeReason,
        /// The assumption as text.
        expression: String,
    },
    /// A switch did not go where its value says.
    #[error(
        "event at word {word}, site {site}: the switch took case {case}, but {expression} is {}",
        shown(*.evaluated)
    )]
    Switch {
        /// Where the event is.
        word: usize,
        /// The statement.
        site: Site,
        /// Which case was taken.
        case: u32,
        /// The value as text.
        expression: String,
        /// The value.
        evaluated: Option<u128>,
    },
    /// An access outside of the object that it was said to be in.
    #[error(
        "event at word {word}, site {site}: {bytes} bytes at {} are not in the object of {size} \
         bytes at {base:#x}",
        shown(*.address)
    )]
    Bounds {
        /// Where the event is.
        word: usize,
        /// The statement.
        site: Site,
        /// The address.
        address: Option<u128>,
        /// How many bytes were accessed.
        bytes: u32,
        /// Where the object starts.
        base: u64,
        /// How many bytes it has.
        size: u64,
    },
    /// A part of an output is not what its expression makes.
    #[error(
        "event at word {word}, site {site}: wrote \"{}\", but {expression} gives {}",
        .recorded.escape_ascii(),
        quoted(.evaluated)
    )]
    Piece {
        /// Where the event is.
        word: usize,
        /// The statement.
        site: Site,
        /// The expression as text.
        expression: String,
        /// The bytes of the record.
        recorded: Vec<u8>,
        /// What they should be; `None` if that is not defined.
        evaluated: Option<Vec<u8>>,
    },
    /// The exit status is not the value of its expression.
    #[error(
        "event at word {word}: the exit status was {recorded}, but {expression} is {}",
        shown(*.evaluated)
    )]
    Status {
        /// Where the event is.
        word: usize,
        /// The status as recorded.
        recorded: u32,
        /// The expression as text.
        expression: String,
        /// Its value.
        evaluated: Option<u128>,
    },
    /// What was written is not what was recorded.
    #[error(
        "{channel:?}: from byte {at} on \"{}\" was written, but \"{}\" was recorded",
        .written.escape_ascii(),
        .recorded.escape_ascii()
    )]
    Written {
        /// Where to.
        channel: Channel,
        /// The first byte that differs.
        at: usize,
        /// Some bytes from there on.
        written: Vec<u8>,
        /// Some bytes from there on.
        recorded: Vec<u8>,
    },
    /// The program exited, but its record ends inside an event.
    #[error("the record ends inside an event, though the program exited")]
    Truncated,
}

fn shown(value: Option<u128>) -> String {
    value.map_or("not defined".into(), |value| format!("{value:#x}"))
}

fn quoted(bytes: &Option<Vec<u8>>) -> String {
    bytes.as_ref().map_or("nothing defined".into(), |bytes| {
        format!("\"{}\"", bytes.escape_ascii())
    })
}

/// Checks a trace against the input of its run, and against what the run did as seen from outside.
pub fn check(
    trace: &Trace<'_>,
    input: &Input,
    observed: Option<Observed<'_>>,
    cases: Option<Cases<'_>>,
) -> CheckReport {
    let mut checker = Checker {
        trace,
        values: evaluate(trace, input),
        printer: Printer::new(trace, input).max_len(MAX_EXPRESSION),
        cases,
        report: CheckReport::default(),
        recorded: [Vec::new(), Vec::new()],
        exit: false,
    };
    checker.nodes();
    let mut events = trace.events();
    loop {
        let word = events.position();
        let Some(event) = events.next() else { break };
        checker.event(word, event);
    }
    if let Some(observed) = observed {
        checker.outputs(observed);
    }
    checker.report
}

struct Checker<'a> {
    trace: &'a Trace<'a>,
    values: Values,
    printer: Printer<'a>,
    cases: Option<Cases<'a>>,
    report: CheckReport,
    /// What was recorded of standard output and standard error.
    recorded: [Vec<u8>; 2],
    /// Whether the program came to its end by `exit`, so that its streams were flushed.
    exit: bool,
}

impl Checker<'_> {
    fn nodes(&mut self) {
        for (id, node) in self.trace.nodes().iter().enumerate().skip(1) {
            let id = id as NodeId;
            self.report.nodes += 1;
            let evaluated = self.values.get(id);
            let same = match evaluated {
                Some(value) => same_value(node, value, node.value()),
                None => {
                    self.report.undefined += 1;
                    false
                }
            };
            if !same {
                self.report.fail(|| Failure::Value {
                    node: id,
                    expression: self.printer.print(id),
                    recorded: node.value(),
                    evaluated,
                });
            }
        }
    }

    fn event(&mut self, word: usize, event: Event<'_>) {
        match event {
            Event::Branch {
                site,
                taken,
                node: Some(id),
            } => {
                self.report.conditions += 1;
                let evaluated = self.values.get(id);
                if evaluated != Some(taken.into()) {
                    self.report.fail(|| Failure::Branch {
                        word,
                        site,
                        taken,
                        expression: self.printer.print(id),
                        evaluated,
                    });
                }
            }
            Event::Assume { site, reason, node } => {
                self.report.assumptions += 1;
                if self.values.get(node) != Some(1) {
                    self.report.fail(|| Failure::Assume {
                        word,
                        site,
                        reason,
                        expression: self.printer.print(node),
                    });
                }
            }
            Event::Switch {
                site,
                case,
                node: Some(id),
            } => self.switch(word, site, case, id),
            Event::Bounds {
                site,
                bytes,
                address,
                base,
                size,
                ..
            } => {
                self.report.bounds += 1;
                let address = self.values.get(address);
                let (start, end) = (u128::from(base), u128::from(base) + u128::from(size));
                let inside = |address: u128| start <= address && address + u128::from(bytes) <= end;
                if !address.is_some_and(inside) {
                    self.report.fail(|| Failure::Bounds {
                        word,
                        site,
                        address,
                        bytes,
                        base,
                        size,
                    });
                }
            }
            Event::Output {
                site,
                channel,
                bytes,
                pieces,
                ..
            } => {
                self.report.outputs += 1;
                for piece in pieces {
                    self.piece(word, site, bytes, piece);
                }
                match channel {
                    Channel::Stdout => self.recorded[0].extend_from_slice(bytes),
                    Channel::Stderr => self.recorded[1].extend_from_slice(bytes),
                    Channel::File(_) => {}
                }
            }
            Event::End {
                end, value, node, ..
            } => {
                self.exit |= end == EndKind::Exit;
                if let Some(id) = node {
                    self.status(word, value, id);
                }
            }
            _ => {}
        }
    }

    fn switch(&mut self, word: usize, site: Site, case: u32, id: NodeId) {
        let Some(values) = self.cases.and_then(|cases| cases(site)) else {
            return;
        };
        self.report.switches += 1;
        let evaluated = self.values.get(id);
        let expected = evaluated.map(|value| {
            let position = values.iter().position(|&case| case == value);
            position.map_or(0, |position| position as u32 + 1)
        });
        if expected != Some(case) {
            self.report.fail(|| Failure::Switch {
                word,
                site,
                case,
                expression: self.printer.print(id),
                evaluated,
            });
        }
    }

    fn status(&mut self, word: usize, recorded: u32, id: NodeId) {
        let evaluated = self.values.get(id);
        let width = self.trace.node(id).map_or(32, |node| node.width.min(32));
        let same = |value: u128| (value ^ u128::from(recorded)) & mask(width) == 0;
        if !evaluated.is_some_and(same) {
            self.report.fail(|| Failure::Status {
                word,
                recorded,
                expression: self.printer.print(id),
                evaluated,
            });
        }
    }

    fn piece(&mut self, word: usize, site: Site, bytes: &[u8], piece: Piece) {
        let start = piece.position as usize;
        let Some(recorded) = bytes.get(start..start + piece.length as usize) else {
            // Only where output was lost; see `validate`.
            return;
        };
        self.report.pieces += 1;
        let evaluated = self.piece_bytes(piece);
        if evaluated.as_deref() != Some(recorded) {
            self.report.fail(|| Failure::Piece {
                word,
                site,
                expression: self.printer.print(piece.node),
                recorded: recorded.to_vec(),
                evaluated,
            });
        }
    }

    /// What the bytes of a piece should be.
    fn piece_bytes(&self, piece: Piece) -> Option<Vec<u8>> {
        let value = self.values.get(piece.node)?;
        match piece.conversion {
            None => Some(value.to_le_bytes().get(..piece.length as usize)?.to_vec()),
            Some(blob) => {
                let width = self.trace.node(piece.node)?.width;
                render(self.trace.conversion(blob)?, value, width)
            }
        }
    }

    /// Compares what was written with what was recorded.
    fn outputs(&mut self, observed: Observed<'_>) {
        if self.trace.truncated() && observed.exited {
            self.report.fail(|| Failure::Truncated);
        }
        let incomplete = self.incomplete();
        self.report.incomplete = incomplete.as_ref().map(|(_, why)| why.clone());
        let incomplete = incomplete.map(|(gap, _)| gap);
        // Without `exit` what the streams still held was never written.
        let flushed = observed.exited && self.exit && self.trace.phase() == Phase::Exit;
        let recorded = std::mem::take(&mut self.recorded);
        let written = [observed.stdout, observed.stderr];
        let channels = [Channel::Stdout, Channel::Stderr];
        for ((channel, written), recorded) in channels.into_iter().zip(written).zip(&recorded) {
            self.report.output_bytes += written.len();
            let common = common_prefix(written, recorded);
            let agree = match incomplete {
                // What was recorded before it stopped was written first.
                Some(Gap::End) => common == written.len().min(recorded.len()),
                // Other writes can lie between those that were recorded.
                Some(Gap::Anywhere) => !flushed || is_subsequence(recorded, written),
                None if flushed => common == written.len() && common == recorded.len(),
                None => common == written.len(),
            };
            if !agree {
                let some = |bytes: &[u8]| bytes[common..].iter().take(32).copied().collect();
                self.report.fail(|| Failure::Written {
                    channel,
                    at: common,
                    written: some(written),
                    recorded: some(recorded),
                });
            }
        }
    }

    /// Where the record can lack outputs, and why.
    fn incomplete(&self) -> Option<(Gap, String)> {
        let lost = self.trace.output_lost();
        if lost > 0 {
            return Some((Gap::Anywhere, format!("{lost} bytes of output did not fit")));
        }
        let unseen = |cause: Loss| matches!(cause, Loss::Process | Loss::Stream);
        if let Some(lost) = self.trace.losses().iter().find(|lost| unseen(lost.cause)) {
            return Some((Gap::Anywhere, lost.to_string()));
        }
        let stop = self.trace.stop()?;
        Some((Gap::End, format!("recording stopped: {stop}")))
    }
}

/// Where outputs are missing in the record.
#[derive(Clone, Copy)]
enum Gap {
    Anywhere,
    End,
}

fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Whether the first bytes are found among the second in the same order.
fn is_subsequence(part: &[u8], whole: &[u8]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|byte| rest.any(|other| other == byte))
}

#[cfg(test)]
mod tests;
