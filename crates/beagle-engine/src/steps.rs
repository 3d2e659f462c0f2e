//! A trace as a list of steps, with the depth of the call in which each happened.

use beagle_trace::event::{MODEL_SITES, Site};
use beagle_trace::node::NodeId;
use beagle_trace::{Event, Trace};
use rustc_hash::FxHashMap;

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
    /// A text was compared with another.
    Compared,
    /// Something was assumed, checked or accessed.
    Other,
}

impl What {
    /// Whether both versions take this step or neither does, as long as they do the same.
    pub fn is_control(self) -> bool {
        !matches!(
            self,
            What::Statement | What::Other | What::Output | What::Value(_) | What::Compared
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
    /// How often functions called themselves, perhaps by way of others: what is inside of a nested
    /// structure of the input, or in a file that another includes, is at another level.
    pub level: u8,
    /// The function that called the one that the site is in, plus 1; or 0.
    pub caller: u32,
    /// The word of the trace at which its event starts.
    pub word: u32,
}

/// Reads the steps of a trace.
pub fn steps(trace: &Trace<'_>) -> Vec<Step> {
    let mut all = Vec::new();
    let mut stack = Stack::default();
    let mut events = trace.events();
    loop {
        let word = events.position() as u32;
        let Some(event) = events.next() else { break };
        let mut depth = stack.depth();
        let (what, site, node) = match event {
            Event::Branch { site, taken, node } => (What::Branch(taken), site, node.unwrap_or(0)),
            Event::Switch { site, case, node } => (What::Switch(case), site, node.unwrap_or(0)),
            Event::Enter { function } => {
                stack.push(function);
                (What::Enter, function, 0)
            }
            Event::Leave { function } => {
                // A frame that was left by a long jump is not closed by itself.
                stack.unwind(function);
                stack.pop();
                depth = stack.depth();
                (What::Leave, function, 0)
            }
            Event::Unwound { site, function } => {
                stack.unwind(function);
                depth = stack.depth();
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
            Event::Compared { site, .. } => (What::Compared, site, 0),
            Event::Read { .. } => continue,
        };
        all.push(Step {
            what,
            site,
            node,
            depth,
            level: stack.level(),
            caller: stack.caller(site),
            word,
        });
    }
    all
}

/// Deeper levels count as this one.
const DEEPEST: u8 = 3;

/// The functions that control is in.
#[derive(Default)]
struct Stack {
    /// With the level of each.
    frames: Vec<(u32, u8)>,
    /// How often each function is in `frames`.
    active: FxHashMap<u32, u32>,
}

impl Stack {
    fn depth(&self) -> u32 {
        self.frames.len() as u32
    }

    fn level(&self) -> u8 {
        self.frames.last().map_or(0, |&(_, level)| level)
    }

    fn caller(&self, site: Site) -> u32 {
        // Models of libc functions have no frames.
        let own = usize::from(site < MODEL_SITES);
        let caller = self.frames.iter().rev().nth(own);
        caller.map_or(0, |&(function, _)| function + 1)
    }

    fn push(&mut self, function: u32) {
        let active = self.active.entry(function).or_insert(0);
        let again = (*active).min(u32::from(DEEPEST)) as u8;
        *active += 1;
        let level = self.level().max(again);
        self.frames.push((function, level));
    }

    fn pop(&mut self) {
        if let Some((function, _)) = self.frames.pop()
            && let Some(active) = self.active.get_mut(&function)
        {
            *active -= 1;
        }
    }

    /// Goes back to the innermost call of a function.
    fn unwind(&mut self, function: u32) {
        while self.frames.last().is_some_and(|&(top, _)| top != function) {
            self.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_is_how_often_functions_called_themselves() {
        let mut stack = Stack::default();
        let (main, list, item, print) = (1, 2, 3, 4);
        let mut levels = Vec::new();
        for function in [main, list, item, print] {
            stack.push(function);
            levels.push(stack.level());
        }
        stack.pop();
        for function in [list, item, print, list, item] {
            stack.push(function);
            levels.push(stack.level());
        }
        assert_eq!(levels, [0, 0, 0, 0, 1, 1, 1, 2, 2]);
        stack.unwind(print);
        stack.pop();
        assert_eq!((stack.level(), stack.depth()), (1, 5));
        stack.unwind(main);
        stack.push(list);
        assert_eq!(stack.level(), 0);
        for _ in 0..300 {
            stack.push(list);
        }
        assert_eq!(stack.level(), DEEPEST);
    }
}
