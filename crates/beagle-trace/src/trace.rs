//! What one run left behind, as a view of the memory in which it was written.
//!
//! The program under test can be killed at any moment and can write anywhere, so nothing in the
//! memory is believed: a [`Trace`] is made only of memory that was looked through once (see
//! `validate`), and what it hands out is still read with a check of every bound, in case a stray
//! process writes on.

use std::fmt;

use crate::blob::{Blob, Blobs};
use crate::decode::{Channel, Event, Events};
use crate::layout::{self, Loss, LossSlot};
use crate::node::{Node, NodeId};
use crate::validate;

/// Where something is wrong with a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The header.
    Header,
    /// The node with this number.
    Node(NodeId),
    /// The event that starts at this word.
    Event(usize),
    /// The blob with this number.
    Blob(u32),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Header => f.write_str("header"),
            Place::Node(id) => write!(f, "node {id}"),
            Place::Event(word) => write!(f, "event at word {word}"),
            Place::Blob(number) => write!(f, "blob {number}"),
        }
    }
}

/// The memory does not hold a trace: the program wrote over it, or the recorder has a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the trace is damaged: {place}: {problem}")]
pub struct Malformed {
    /// Where.
    pub place: Place,
    /// What is wrong there.
    pub problem: &'static str,
}

/// Why recording stopped before the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stop {
    /// Too many events.
    Events,
    /// Too many nodes.
    Nodes,
    /// Too many tables and texts.
    Blobs,
    /// The program was replaced by another.
    Exec,
    /// An error inside the recorder.
    Broken,
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stop::Events => "too many events",
            Stop::Nodes => "too many expressions",
            Stop::Blobs => "too many tables and texts",
            Stop::Exec => "the program was replaced by another",
            Stop::Broken => "an error inside the recorder",
        })
    }
}

/// How far a run came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// It did not come to `main`.
    None,
    /// `main` was entered.
    Main,
    /// `main` returned, or the program called `exit` or the like.
    Exit,
}

/// Expressions that were dropped for one cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The cause.
    pub cause: Loss,
    /// The function concerned, if the cause has one.
    pub function: Option<String>,
    /// How often.
    pub count: u32,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.cause.text())?;
        match &self.function {
            Some(function) => write!(f, " {function}"),
            None => Ok(()),
        }
    }
}

/// The memory of a trace, not yet looked at.
#[derive(Clone, Debug)]
pub struct Parts<'a> {
    /// All nodes, with one at index 0 that does not count.
    pub nodes: &'a [Node],
    /// The events, ended by a 0 or the end of the slice.
    pub words: &'a [u32],
    /// The blobs, one after the other.
    pub blobs: &'a [u8],
    /// How many blobs there are.
    pub blob_count: u32,
    /// What was written.
    pub outputs: &'a [u8],
    /// Bytes of output that did not fit.
    pub output_lost: u64,
    /// One of the `PHASE_` numbers.
    pub phase: u32,
    /// One of the `STOP_` numbers.
    pub stop: u32,
    /// What the run could not follow.
    pub losses: Vec<LossSlot>,
}

/// What one run left behind.
#[derive(Clone, Debug)]
pub struct Trace<'a> {
    nodes: &'a [Node],
    words: &'a [u32],
    truncated: bool,
    blobs: Blobs<'a>,
    outputs: &'a [u8],
    output_lost: u64,
    phase: Phase,
    stop: Option<Stop>,
    losses: Vec<Lost>,
}

impl<'a> Trace<'a> {
    /// Looks through the memory of a run.
    pub fn new(parts: Parts<'a>) -> Result<Self, Malformed> {
        let nodes = parts.nodes;
        let width_of = |id: NodeId| match id {
            0 => None,
            _ => nodes.get(id as usize).map(|node| node.width),
        };
        let blobs = Blobs::find(parts.blobs, parts.blob_count, width_of)?;
        validate::nodes(nodes, &blobs)?;
        let outputs_complete = parts.output_lost == 0;
        let end = validate::events(
            parts.words,
            nodes,
            &blobs,
            outputs_complete.then_some(parts.outputs.len()),
        )?;
        Ok(Self {
            nodes,
            words: &parts.words[..end.words],
            truncated: end.truncated,
            blobs,
            outputs: parts.outputs,
            output_lost: parts.output_lost,
            phase: phase(parts.phase)?,
            stop: stop(parts.stop)?,
            losses: parts.losses.iter().filter_map(lost).collect(),
        })
    }

    /// The nodes by number. The one at index 0 is not a node.
    pub fn nodes(&self) -> &'a [Node] {
        self.nodes
    }

    /// The node with this number.
    pub fn node(&self, id: NodeId) -> Option<&'a Node> {
        match id {
            0 => None,
            _ => self.nodes.get(id as usize),
        }
    }

    /// The events in order.
    pub fn events(&self) -> Events<'a> {
        Events::new(self.words, self.outputs)
    }

    /// The words of the events.
    pub fn words(&self) -> &'a [u32] {
        self.words
    }

    /// The blob with this number.
    pub fn blob(&self, number: u32) -> Option<Blob<'a>> {
        self.blobs.get(number)
    }

    /// How many blobs there are. Their numbers start from 1.
    pub fn blob_count(&self) -> u32 {
        self.blobs.count()
    }

    /// The conversion of `printf` in this blob.
    pub(crate) fn conversion(&self, number: u32) -> Option<&'a str> {
        match self.blob(number)? {
            Blob::Conversion(text) => Some(text),
            _ => None,
        }
    }

    /// What was written, in order, to whatever channel.
    pub fn outputs(&self) -> &'a [u8] {
        self.outputs
    }

    /// What was written to one channel.
    pub fn channel(&self, wanted: Channel) -> Vec<u8> {
        let mut all = Vec::new();
        for event in self.events() {
            if let Event::Output { channel, bytes, .. } = event
                && channel == wanted
            {
                all.extend_from_slice(bytes);
            }
        }
        all
    }

    /// Bytes of output that did not fit.
    pub fn output_lost(&self) -> u64 {
        self.output_lost
    }

    /// What the run could not follow, by cause.
    pub fn losses(&self) -> &[Lost] {
        &self.losses
    }

    /// Why recording stopped before the program ended, if it did.
    pub fn stop(&self) -> Option<Stop> {
        self.stop
    }

    /// How far the run came.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether the last event was left out because the program ended while it was being written.
    pub fn truncated(&self) -> bool {
        self.truncated
    }

    pub(crate) fn blob_bytes(&self) -> &'a [u8] {
        self.blobs.bytes()
    }
}

fn phase(number: u32) -> Result<Phase, Malformed> {
    match number {
        layout::PHASE_NONE => Ok(Phase::None),
        layout::PHASE_MAIN => Ok(Phase::Main),
        layout::PHASE_EXIT => Ok(Phase::Exit),
        _ => Err(header("there is no such phase")),
    }
}

fn stop(number: u32) -> Result<Option<Stop>, Malformed> {
    Ok(Some(match number {
        layout::STOP_NONE => return Ok(None),
        layout::STOP_EVENTS => Stop::Events,
        layout::STOP_NODES => Stop::Nodes,
        layout::STOP_BLOBS => Stop::Blobs,
        layout::STOP_EXEC => Stop::Exec,
        layout::STOP_BROKEN => Stop::Broken,
        _ => return Err(header("there is no such cause of stopping")),
    }))
}

fn header(problem: &'static str) -> Malformed {
    Malformed {
        place: Place::Header,
        problem,
    }
}

/// What a slot says; `None` if it is free. A cause that is not known is among the others.
fn lost(slot: &LossSlot) -> Option<Lost> {
    if slot.cause == 0 || slot.count == 0 {
        return None;
    }
    let end = slot.name.iter().position(|&byte| byte == 0);
    let name = &slot.name[..end.unwrap_or(slot.name.len())];
    Some(Lost {
        cause: Loss::from_number(slot.cause).unwrap_or(Loss::Others),
        function: (!name.is_empty()).then(|| String::from_utf8_lossy(name).into_owned()),
        count: slot.count,
    })
}
