//! Shows groups of differences by characters of other kinds than those before them, where these do the same for the
//! same cause: what a change lets through by mistake is often like what it was made for in all else.

use std::time::{Duration, Instant};

use beagle_engine::Glimpse;
use beagle_trace::Input;
use beagle_verdict::{Difference, Finding, Judge, Variety, Verdict};

use super::court::{Judged, Tidying, named};

/// So many inputs are tried for a group.
const MOST_OTHERS: usize = 150;

/// The part of the time for making inputs smaller that this may take after it.
const PART: u32 = 3;

/// The groups must have been settled.
pub fn vary(
    judged: &mut Judged,
    judge: &mut Judge,
    tidying: &Tidying<'_>,
    glimpse: impl FnMut(&Input) -> Option<Glimpse>,
) {
    let mut search = Search {
        judge,
        tidying,
        glimpse,
        variety: Variety::default(),
        end: Instant::now() + time(tidying),
    };
    for shown in &mut judged.groups {
        let finding = &mut shown.group.representative;
        // What does not end is not waited for again.
        let is_alike = search.variety.has_like(&finding.input);
        let is_wanted = is_alike && !finding.difference.aspects.time;
        let other = is_wanted.then(|| search.other(finding)).flatten();
        if let Some((input, difference, seen)) = other {
            (finding.input, finding.difference) = (input, difference);
            shown.see(seen);
        }
        search.variety.add(&shown.group.representative.input);
    }
}

fn time(tidying: &Tidying<'_>) -> Duration {
    match tidying.first {
        true => Duration::ZERO,
        false => tidying.time / PART,
    }
}

struct Search<'a, G> {
    judge: &'a mut Judge,
    tidying: &'a Tidying<'a>,
    glimpse: G,
    variety: Variety,
    end: Instant,
}

impl<G: FnMut(&Input) -> Option<Glimpse>> Search<'_, G> {
    /// An input with kinds of characters that were not shown, which does the same.
    fn other(&mut self, finding: &Finding) -> Option<(Input, Difference, Glimpse)> {
        let rules = &self.tidying.invocation.rules;
        let others = self.variety.others(&finding.input);
        for other in others.filter(|other| rules.allow(other)).take(MOST_OTHERS) {
            if Instant::now() >= self.end || self.tidying.interrupt.is_raised() {
                return None;
            }
            let before = &finding.difference;
            if matches!(self.judge.still_shows(&other, before), Ok(true))
                && let Ok(Verdict::Different(difference)) = self.judge.judge(&other)
                && difference.signature == before.signature
                && let Some(seen) = (self.glimpse)(&other)
                && named(seen.cause.as_ref()) == finding.cause
            {
                return Some((other, *difference, seen));
            }
        }
        None
    }
}
