//! The conditions of a run of both versions, and when each version held them.

use beagle_solver::ConditionKind;
use beagle_trace::event::Site;

use crate::question::From;
use crate::twin::Side;

/// A condition that held in the run.
#[derive(Clone, Debug)]
pub struct Held {
    /// Whose condition it is.
    pub from: From,
    /// The statement.
    pub site: Site,
    /// What decided.
    pub kind: ConditionKind,
    /// The last branch of the program that old and new had come to, for what happens in models.
    pub context: Site,
    /// The first statement of the program that recorded something after that; 0 if there is none.
    pub next: Site,
    /// Whether the other version did not come to it.
    pub alone: bool,
    /// The version that held it later than the other, and after how many conditions.
    pub joined: Option<(Side, usize)>,
}

impl Held {
    /// The index of the successor that was taken, if it decides which way control goes.
    pub fn taken(&self) -> Option<u32> {
        match self.kind {
            ConditionKind::Branch { taken } => Some(u32::from(!taken)),
            ConditionKind::Switch { case, .. } => Some(case),
            ConditionKind::Assume { .. } | ConditionKind::Bounds { .. } => None,
        }
    }

    /// After how many conditions a version held it, if its index is this; `None` if it did not.
    pub fn place(&self, side: Side, index: usize) -> Option<Place> {
        let place = match self.joined {
            Some((joined, at)) if joined == side => Place::Joined(at),
            _ => Place::At(index),
        };
        self.from.includes(side).then_some(place)
    }

    /// Whether it is a decision that only this version makes. That an address was fixed is none: the same
    /// variable lies elsewhere in the other version.
    pub(super) fn guards(&self, side: Side) -> bool {
        self.from == From::One(side) && self.taken().is_some()
    }

    /// Whether there are more ways on than two, of which not all are known.
    pub fn is_open(&self) -> bool {
        match self.kind {
            ConditionKind::Assume { .. } => true,
            ConditionKind::Switch { known, .. } => !known,
            ConditionKind::Branch { .. } | ConditionKind::Bounds { .. } => false,
        }
    }
}

/// Where a condition of one version stands among those of the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At this index.
    At(usize),
    /// Before the one at this index; the other version held it before.
    Joined(usize),
}

impl Place {
    /// Whether it comes before what is asked with so many conditions.
    pub fn is_before(self, prefix: usize) -> bool {
        match self {
            Place::At(index) => index < prefix,
            Place::Joined(index) => index <= prefix,
        }
    }

    /// What orders them.
    pub fn order(self) -> (usize, bool) {
        match self {
            Place::At(index) => (index, true),
            Place::Joined(index) => (index, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_version_held_later_does_not_stand_before_what_it_did_earlier() {
        let held = |from, joined| Held {
            from,
            site: 1,
            kind: ConditionKind::Branch { taken: true },
            context: 1,
            next: 0,
            alone: false,
            joined,
        };
        // Old came to it first, new after two more conditions.
        let both = held(From::Both, Some((Side::New, 5)));
        let before = |side, prefix| {
            both.place(side, 3)
                .is_some_and(|place| place.is_before(prefix))
        };
        assert!(before(Side::Old, 4) && !before(Side::Old, 3));
        assert!(before(Side::New, 5) && !before(Side::New, 4));
        // What new held at 5 itself comes after it.
        let own = held(From::One(Side::New), None);
        let place = |held: &Held, index| held.place(Side::New, index).map(Place::order);
        assert!(place(&both, 3) < place(&own, 5));
        assert_eq!(own.place(Side::Old, 5), None);
    }
}
