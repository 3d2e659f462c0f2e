//! What happened, in plain words.

use beagle_engine::{Place, Side, Twin};
use beagle_trace::event::Site;

use crate::observed::Observed;
use crate::rank::{Blame, Cause, Kind, destination};
use crate::{Explanation, value, ways};

/// Where the versions part, and what shows it.
pub fn parts(twin: &Twin<'_>, observed: &Observed) -> Vec<String> {
    let at = |side: Side, site: Site| -> Option<Place> {
        let half = twin.half(side);
        half.place(half.stmt(site)?)
    };
    let first = observed.first_effect();
    let mut said = Vec::new();
    let unequal = observed.unequal.first();
    if let Some(unequal) = unequal.filter(|it| Some(it.moment) == first) {
        let [old, new] = Side::BOTH.map(|side| {
            let site = unequal.sites[side as usize];
            value::shown(twin.half(side), site, unequal.values[side as usize])
        });
        let name = twin.watched_name(unequal.place).unwrap_or("a value");
        let place = unequal.sites[1].and_then(|site| at(Side::New, site));
        let place = place.map_or(String::new(), |place| format!(" {place}, where"));
        said.push(format!(
            "They do the same until{place} `{name}` is {old} in old and {new} in new."
        ));
    }
    if let Some(parting) = observed.partings.first()
        && let Some(place) = at(Side::New, parting.site)
    {
        let how = ways::parted(twin, parting.site, parting.old, parting.new);
        said.push(match (said.is_empty(), how) {
            (true, Some(how)) => format!("They do the same until {place}: {how}."),
            (true, None) => {
                format!("They do the same until {place}, where they take different sides.")
            }
            (false, Some(how)) => format!("Then they take different ways at {place}: {how}."),
            (false, None) => format!("Then they take different ways at {place}."),
        });
    }
    if said.is_empty()
        && let Some((_, side, site)) = observed.stray
        && let Some(place) = at(side, site)
    {
        let name = crate::alternates::name(side);
        said.push(format!(
            "They part before {place}, where only {name} comes to."
        ));
    }
    if let Some(unlike) = observed.unlike.first() {
        let place = match unlike.sites {
            [_, Some(site)] => at(Side::New, site).map(|place| (place, "new")),
            [Some(site), None] => at(Side::Old, site).map(|place| (place, "old")),
            [None, None] => None,
        };
        if let Some((place, name)) = place {
            let to = destination(&unlike.destination);
            said.push(format!(
                "The first byte of {to} that differs is written at {place} in {name}."
            ));
        }
    }
    said
}

/// The whole story.
pub fn tell(explanation: &Explanation) -> Vec<String> {
    let mut story = explanation.parts.clone();
    if let Some(cause) = explanation.causes.first() {
        let name = crate::alternates::name(cause.side);
        let kind = |wanted: Kind| cause.evidence.iter().any(|it| it.kind == wanted);
        let why = match (kind(Kind::Blame), kind(Kind::Missing), kind(Kind::Changed)) {
            (true, ..) => "which was tried alone",
            (_, true, _) => "which old executes and new does not have",
            (_, _, true) => "which changed and is executed",
            _ => "where the runs are decided differently",
        };
        story.push(format!("Read {} of {name} first, {why}.", cause.place));
    }
    story.extend(together(explanation));
    let agreeing = explanation.alternates.iter().find(|it| it.agrees);
    story.push(match (agreeing, explanation.alternates.is_empty()) {
        (Some(alternate), _) => {
            let bytes = match alternate.bytes {
                1 => "1 byte".to_owned(),
                count => format!("{count} bytes"),
            };
            format!("With {bytes} of the input changed, both versions do the same again.")
        }
        (None, false) => "No near input was found on which both versions do the same.".to_owned(),
        (None, true) => "No alternate input was found.".to_owned(),
    });
    story
}

/// That it takes several hunks, if they were found to be needed.
fn together(explanation: &Explanation) -> Option<String> {
    let needed = |cause: &&Cause| cause.blame == Some(Blame::Needed);
    let causes = explanation.causes.iter().filter(needed);
    let mut hunks: Vec<usize> = causes.filter_map(|cause| cause.hunk).collect();
    hunks.sort_unstable();
    hunks.dedup();
    let names: Vec<String> = hunks.iter().map(|hunk| (hunk + 1).to_string()).collect();
    let (last, first) = names.split_last().filter(|(_, first)| !first.is_empty())?;
    Some(format!(
        "It takes hunks {} and {last} together: new without any one of them does what old does.",
        first.join(", ")
    ))
}
