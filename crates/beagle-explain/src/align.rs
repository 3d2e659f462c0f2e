//! Two runs of one version side by side, and where they are decided differently.
//!
//! Runs are aligned by structure: after a branch that goes different ways each run is skipped to
//! where the ways meet. Where that does not help, the cheapest way to edit one into the other tells
//! what corresponds.

use beagle_engine::{Half, Met, Step, What, walk_one};
use beagle_trace::event::Site;

use crate::edit;

/// A branch that two runs take to different sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The branch or switch.
    pub site: Site,
    /// What the first run does there.
    pub first: What,
    /// What the second run does there.
    pub second: What,
    /// The step of the first run.
    pub at: usize,
}

/// Gaps are edited into each other if the product of their lengths is at most this.
const MOST_CELLS: usize = 4_000_000;

/// The branches that correspond and are decided differently, in order.
pub fn decisions(half: &Half<'_>, first: &[Step], second: &[Step]) -> Vec<Decision> {
    let mut found = Vec::new();
    let mut gap: (Vec<usize>, Vec<usize>) = Default::default();
    // Whether the runs had gone different ways before the gap: then it is no wonder.
    let mut parted = false;
    for met in walk_one(half, first, second) {
        match met {
            Met::Old(i) if first[i as usize].what.is_control() => gap.0.push(i as usize),
            Met::New(j) if second[j as usize].what.is_control() => gap.1.push(j as usize),
            Met::Old(_) | Met::New(_) => {}
            Met::Both(i, j) => {
                if !parted {
                    edited(first, second, &gap, &mut found);
                }
                gap.0.clear();
                gap.1.clear();
                let (a, b) = (&first[i as usize], &second[j as usize]);
                parted = a.what != b.what;
                if parted {
                    found.push(decision(a, b, i as usize));
                }
            }
        }
    }
    if !parted {
        edited(first, second, &gap, &mut found);
    }
    found
}

fn decision(a: &Step, b: &Step, at: usize) -> Decision {
    Decision {
        site: a.site,
        first: a.what,
        second: b.what,
        at,
    }
}

/// Whether two runs go the same way.
pub fn same_way(first: &[Step], second: &[Step]) -> bool {
    fn way(steps: &[Step]) -> impl Iterator<Item = (What, Site)> {
        let control = steps.iter().filter(|step| step.what.is_control());
        control.map(|step| (step.what, step.site))
    }
    way(first).eq(way(second))
}

/// What corresponds in a gap, by the cheapest way to edit one side into the other.
fn edited(
    first: &[Step],
    second: &[Step],
    (a, b): &(Vec<usize>, Vec<usize>),
    found: &mut Vec<Decision>,
) {
    if a.is_empty() || b.is_empty() || a.len().saturating_mul(b.len()) > MOST_CELLS {
        return;
    }
    // Whatever side was taken.
    let symbol = |step: &Step| {
        let what = match step.what {
            What::Branch(_) => What::Branch(true),
            What::Switch(_) => What::Switch(0),
            what => what,
        };
        (what, step.site)
    };
    let left: Vec<_> = a.iter().map(|&i| symbol(&first[i])).collect();
    let right: Vec<_> = b.iter().map(|&j| symbol(&second[j])).collect();
    for (i, j) in edit::align(&left, &right) {
        let (x, y) = (&first[a[i]], &second[b[j]]);
        if x.what != y.what {
            found.push(decision(x, y, a[i]));
        }
    }
}
