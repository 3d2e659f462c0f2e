//! A trace as a list of steps, with the depth of the call in which each happened.

use beagle_trace::event::Site;
use beagle_trace::node::NodeId;
use beagle_trace::{Event, Trace};

/// What happened in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// A branch, and whether its condition held.
    Branch(bool),
    /// A switch, and its case: 0 is the default.
    Switch(u32),
    /// A function was entered.
    Enter,
    /// A function was left.
    Leave,
    /// Control came back by a long jump.
    Unwound,
    /// A statement was executed that recorded so.
    Statement,
    /// The program wrote something.
    Output,
    /// The program ended.
    End,
    /// A value was put into a variable that is watched, which has this number.
    Value(u32),
    /// Something was assumed, checked or accessed.
    Other,
}

impl What {
    /// Whether both versions take this step or neither does, as long as they do the same.
    pub fn is_control(self) -> bool {
        !matches!(
            self,
            What::Statement | What::Other | What::Output | What::Value(_)
        )
    }

    /// Whether two steps are the same but for the side that was taken.
    pub fn is_like(self, other: What) -> bool {
        match (self, other) {
            (What::Branch(_), What::Branch(_)) | (What::Switch(_), What::Switch(_)) => true,
            _ => self == other,
        }
    }
}

/// One thing that happened.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// What.
    pub what: What,
    /// The statement; of [`What::Enter`] and [`What::Leave`] the function's number plus 1.
    pub site: Site,
    /// The expression that decided, or 0.
    pub node: NodeId,
    /// How many calls deep.
    pub depth: u32,
    /// The word of the trace at which its event starts.
    pub word: u32,
}

/// Reads the steps of a trace.
pub fn steps(trace: &Trace<'_>) -> Vec<Step> {
    let mut all = Vec::new();
    let mut stack: Vec<u32> = Vec::new();
    let mut events = trace.events();
    loop {
        let word = events.position() as u32;
        let Some(event) = events.next() else { break };
        let mut depth = stack.len() as u32;
        let (what, site, node) = match event {
            Event::Branch { site, taken, node } => (What::Branch(taken), site, node.unwrap_or(0)),
            Event::Switch { site, case, node } => (What::Switch(case), site, node.unwrap_or(0)),
            Event::Enter { function } => {
                stack.push(function);
                (What::Enter, function, 0)
            }
            Event::Leave { function } => {
                // A frame that was left by a long jump is not closed by itself.
                while stack.last().is_some_and(|&top| top != function) {
                    stack.pop();
                }
                stack.pop();
                depth = stack.len() as u32;
                (What::Leave, function, 0)
            }
            Event::Unwound { site, function } => {
                while stack.last().is_some_and(|&top| top != function) {
                    stack.pop();
                }
                depth = stack.len() as u32;
                (What::Unwound, site, 0)
            }
            Event::Statement { site } => (What::Statement, site, 0),
            Event::Output { site, .. } => (What::Output, site, 0),
            Event::End { site, node, .. } => (What::End, site, node.unwrap_or(0)),
            Event::Assume { site, node, .. } => (What::Other, site, node),
            Event::Bounds { site, address, .. } => (What::Other, site, address),
            Event::Check { site, node, .. } => (What::Other, site, node),
            Event::Value {
                site, place, node, ..
            } => (What::Value(place), site, node.unwrap_or(0)),
            Event::Read { .. } => continue,
        };
        all.push(Step {
            what,
            site,
            node,
            depth,
            word,
        });
    }
    all
}
