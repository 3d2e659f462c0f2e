//! How the effect of a change gets from line to line: each effect that was seen hangs from the last one before it
//! that it can depend on, in the end from a change.

use std::time::{Duration, Instant};

use beagle_engine::{Place, Side, Twin};
use beagle_program::StmtId;
use beagle_trace::event::Site;

use crate::observed::{Moment, Observed};
use crate::rank::{destination, lines};
use crate::reach::Reach;

/// So many effects are followed.
const MOST_EFFECTS: usize = 12;
/// So many earlier ones are tried for each of them.
const MOST_TRIED: usize = 8;
/// No more is looked for after this long: slices of large programs take their time.
const TIME: Duration = Duration::from_millis(500);

/// Where the effect of a change was seen, or the change itself.
struct Seen {
    moment: Moment,
    stmts: Vec<(Side, StmtId)>,
    place: (Side, Place),
    /// The hunk, of a change.
    hunk: Option<usize>,
    is_change: bool,
    /// What differs there.
    what: String,
}

/// A way from a change to where its effect was seen.
pub struct Route {
    /// Where it was seen.
    pub place: (Side, Place),
    /// In words.
    pub text: String,
}

/// The ways to the effects that were seen.
pub fn routes(twin: &Twin<'_>, observed: &Observed, reach: &mut Reach<'_, '_>) -> Vec<Route> {
    let mut seen = changes(twin, observed);
    seen.extend(effects(twin, observed));
    seen.sort_by_key(|it| (it.moment, !it.is_change));
    let deadline = Instant::now() + TIME;
    let mut parents: Vec<Option<usize>> = vec![None; seen.len()];
    let mut found = Vec::new();
    for at in 0..seen.len() {
        if seen[at].is_change {
            continue;
        }
        if Instant::now() >= deadline {
            break;
        }
        parents[at] = parent(reach, &seen, &parents, at);
        if let Some(text) = told(&seen, &parents, at) {
            found.push(Route {
                place: seen[at].place.clone(),
                text,
            });
        }
    }
    found
}

/// The last that was seen before and that this can depend on.
fn parent(
    reach: &mut Reach<'_, '_>,
    seen: &[Seen],
    parents: &[Option<usize>],
    at: usize,
) -> Option<usize> {
    let before = (0..at).rev();
    // What hangs from no change itself is no part of a way.
    let before = before.filter(|&it| seen[it].is_change || parents[it].is_some());
    let mut before = before.filter(|&it| seen[it].place != seen[at].place);
    let mut tried = before.by_ref().take(MOST_TRIED);
    tried.find(|&it| reach.depends(&seen[it].stmts, &seen[at].stmts) == Some(true))
}

/// The way to an effect in words.
fn told(seen: &[Seen], parents: &[Option<usize>], at: usize) -> Option<String> {
    let mut through: Vec<&Seen> = Vec::new();
    let mut here = parents[at]?;
    while !seen[here].is_change {
        through.push(&seen[here]);
        here = parents[here]?;
    }
    let change = &seen[here];
    let hunk = match change.hunk {
        Some(hunk) => format!(" of hunk {}", hunk + 1),
        None => String::new(),
    };
    let place = shown(change);
    if through.is_empty() {
        return Some(format!("the effect of {place}{hunk} can get here directly"));
    }
    through.reverse();
    let mut steps: Vec<String> = through
        .iter()
        .map(|it| format!("{} ({})", shown(it), it.what))
        .collect();
    if steps.len() > SHOWN {
        let left_out = steps.len() - SHOWN;
        steps.splice(
            SHOWN / 2..SHOWN / 2 + left_out,
            [format!("{left_out} more")],
        );
    }
    let last = steps.pop()?;
    let steps = match steps.is_empty() {
        true => last,
        false => format!("{} and {last}", steps.join(", ")),
    };
    Some(format!(
        "the effect of {place}{hunk} can get here through {steps}"
    ))
}

/// A place in words.
fn shown(seen: &Seen) -> String {
    match &seen.place {
        (Side::New, place) => place.to_string(),
        (Side::Old, place) => format!("{place} in old"),
    }
}

/// So many steps of a way are named.
const SHOWN: usize = 4;

/// The changed lines that were executed.
fn changes(twin: &Twin<'_>, observed: &Observed) -> Vec<Seen> {
    let mut all: Vec<Seen> = Vec::new();
    for it in &observed.executed {
        for &change in twin.half(it.side).changes_of(it.stmt) {
            let change = &twin.comparison.changes[change];
            for (place, hunk) in lines(twin, it.side, it.stmt, change) {
                match all.iter_mut().find(|known| known.place == place) {
                    Some(known) => known.stmts.push((it.side, it.stmt)),
                    None => all.push(Seen {
                        moment: it.moment,
                        stmts: vec![(it.side, it.stmt)],
                        place,
                        hunk,
                        is_change: true,
                        what: String::new(),
                    }),
                }
            }
        }
    }
    all
}

/// The effects of changes on lines that did not change, in order.
fn effects(twin: &Twin<'_>, observed: &Observed) -> Vec<Seen> {
    let unequal = observed.unequal.iter().map(|it| {
        let name = twin.watched_name(it.place).unwrap_or("a value");
        effect(twin, it.put, it.sites, format!("`{name}`"))
    });
    let partings = observed.partings.iter().map(|it| {
        let what = "another way".to_owned();
        effect(twin, it.moment, [Some(it.site); 2], what)
    });
    let mut all: Vec<Seen> = unequal.chain(partings).flatten().collect();
    all.sort_by_key(|it| it.moment);
    all.truncate(MOST_EFFECTS);
    // What is written is where it ends, however much comes before.
    let outputs = observed.unlike.iter().map(|it| {
        let what = destination(&it.destination);
        effect(twin, it.written, it.sites, what)
    });
    all.extend(outputs.flatten());
    all
}

/// An effect at statements that did not change.
fn effect(twin: &Twin<'_>, moment: Moment, sites: [Option<Site>; 2], what: String) -> Option<Seen> {
    let stmts = Side::BOTH.map(|side| {
        let stmt = twin.half(side).stmt(sites[side as usize]?)?;
        Some((side, stmt))
    });
    let stmts: Vec<(Side, StmtId)> = stmts.into_iter().flatten().collect();
    let changed = |&(side, stmt): &(Side, StmtId)| !twin.half(side).changes_of(stmt).is_empty();
    if stmts.iter().any(changed) {
        return None;
    }
    let &(side, stmt) = stmts.last()?;
    Some(Seen {
        moment,
        stmts,
        place: (side, twin.half(side).place(stmt)?),
        hunk: None,
        is_change: false,
        what,
    })
}
