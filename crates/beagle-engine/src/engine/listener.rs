//! What whoever listens to the exploration is told and asked. Explores nothing.

use beagle_trace::Input;

use super::Status;
use crate::twin::Place;

/// A run of both versions, for whoever listens.
#[derive(Debug)]
pub struct Ran<'a> {
    /// Its number, from 1.
    pub number: u64,
    /// The input.
    pub input: &'a Input,
    /// Whether the traced versions did something different that can be seen from outside.
    pub differs: bool,
    /// The changes that were executed.
    pub reached: Vec<usize>,
    /// Where the versions part, or where the effect of a change is first seen.
    pub cause: Option<Place>,
    /// Whether no run before went this way.
    pub fresh: bool,
    /// The changes whose effect was seen.
    pub infected: Vec<usize>,
    /// Which of the inputs to start from it is.
    pub seed: Option<usize>,
    /// The changes that the input exercised, in order, loops once; nothing if there is one only.
    pub sequence: Vec<usize>,
    /// What the programs took one after the other of the input, with a number for what they did with it;
    /// nothing if that was not looked at, or nobody wants to know.
    pub parts: Vec<(u64, Vec<u8>)>,
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Explore more.
    GoOn,
    /// Come to an end.
    Stop,
}

/// Listens to the exploration.
pub trait Listener {
    /// Both versions were run on an input.
    fn ran(&mut self, ran: &Ran<'_>) -> Next;

    /// Whether it is of interest what inputs are made of.
    fn wants_parts(&self) -> bool {
        false
    }

    /// Called again and again.
    fn progress(&mut self, status: &Status) -> Next;

    /// Inputs that others found and that are worth a run; `None` if no more will come.
    fn offered(&mut self, _appetite: Appetite) -> Option<Vec<Input>> {
        None
    }
}

/// How much is wanted of what others found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appetite {
    /// None at all.
    Nothing,
    /// Only inputs on which the versions differ.
    Differing,
    /// One more, too.
    One,
    /// There is nothing else to do: several, and it may be waited for them.
    Idle,
}
