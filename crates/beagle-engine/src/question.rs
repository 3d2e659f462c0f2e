//! What can be asked about a run: an input that goes the same way up to a point, and then does
//! something else.

use beagle_solver::Expr;
use beagle_trace::event::Site;

use crate::guess::Guess;
use crate::twin::Side;

/// Which versions a condition is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum From {
    /// One of them.
    One(Side),
    /// Both have the same condition.
    Both,
}

impl From {
    /// Whether it is from this version, perhaps among others.
    pub fn includes(self, side: Side) -> bool {
        match self {
            From::One(one) => one == side,
            From::Both => true,
        }
    }
}

/// What an answer to a question would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Aim {
    /// The versions write something different, or end differently.
    Output,
    /// The versions take different sides of a branch.
    Parting,
    /// The versions put different values into a variable.
    Infection,
    /// One version does what it must not: it overflows, divides by 0, accesses what is not there.
    Fault,
    /// The versions go another way.
    Flip,
}

/// A way on from a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// The branch or switch.
    pub site: Site,
    /// The index of the successor; `None` for what is no branch of the program.
    pub to: Option<u32>,
    /// The constant that the way is for, if it is for one: the same comparison with each name in a list
    /// leads to something else each time.
    pub constant: Option<u64>,
    /// How often changes had been executed when control came here, as a power of two: what is
    /// known at first may be new later. [`ANYTIME`] if that does not count.
    pub mark: u8,
    /// The level of the step: see [`Step`](crate::steps::Step).
    pub level: u8,
    /// The caller, likewise: what a function does for one need not be known for another.
    pub caller: u32,
}

/// The mark of ways that are the same whatever was executed before.
const ANYTIME: u8 = u8::MAX;

impl Edge {
    /// The same way, whatever was executed before and wherever it was called from.
    pub fn plain(self) -> Self {
        Self {
            level: 0,
            caller: 0,
            ..self.anytime()
        }
    }

    /// The same way, whatever changes were executed before.
    pub fn anytime(self) -> Self {
        Self {
            mark: ANYTIME,
            ..self
        }
    }
}

/// A question about a run.
#[derive(Clone, Debug)]
pub struct Question {
    /// What an answer would do.
    pub aim: Aim,
    /// How many conditions of the product must still hold.
    pub prefix: usize,
    /// What is to hold besides.
    pub asked: Vec<Expr>,
    /// Whose path must be followed.
    pub from: From,
    /// Where it is asked.
    pub edge: Edge,
    /// The step of the product before which it is asked.
    pub step: usize,
    /// The conditions before it that need not hold, although they did.
    pub without: Vec<usize>,
    /// The conditions that were found to stand in the way. It is not to be asked as it is, but without some
    /// of them.
    pub conflict: Vec<usize>,
    /// What it is answered with, without asking, where what decides does not depend on the input.
    pub guess: Option<Guess>,
    /// Whether the run settled it before: it cannot be asked as it stands.
    pub is_settled: bool,
    /// Whether the way on is that of a later branch, which the same condition decides.
    pub is_ahead: bool,
    /// How far it was to changes that were not reached.
    pub far: Option<Far>,
}

/// How far it was to changes that were not reached, in a round of measuring; `far` is `None` if there was no way.
#[derive(Clone, Copy, Debug)]
pub struct Far {
    /// The round.
    pub round: u32,
    /// How many branches must go the right way.
    pub far: Option<u32>,
}

impl Question {
    /// What is asked exactly as it stands.
    pub fn new(
        aim: Aim,
        (prefix, step): (usize, usize),
        asked: Vec<Expr>,
        from: From,
        edge: Edge,
    ) -> Self {
        Self {
            aim,
            prefix,
            asked,
            from,
            edge,
            step,
            without: Vec::new(),
            conflict: Vec::new(),
            guess: None,
            is_settled: false,
            is_ahead: false,
            far: None,
        }
    }

    /// Whether it is that bytes are put in or taken out.
    pub fn moves_bytes(&self) -> bool {
        matches!(self.guess, Some(Guess::Insert(_) | Guess::Resize(_)))
    }

    /// Whether it is that a part gets another length.
    pub fn is_resize(&self) -> bool {
        matches!(self.guess, Some(Guess::Resize(_)))
    }

    /// Whether it is that an option is given.
    pub fn is_option(&self) -> bool {
        matches!(self.guess, Some(Guess::Arguments(_)))
    }

    /// Whether it is not asked on exactly what held: see [`loosen`](crate::loosen) and [`guess`](crate::guess).
    pub fn is_loose(&self) -> bool {
        !self.without.is_empty() || !self.conflict.is_empty() || self.guess.is_some()
    }
}
