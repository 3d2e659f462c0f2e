//! Where runs go on after a branch, in words.
//!
//! Nothing is said about whether a condition holds: the condition of the compiled branch may be the opposite of the one
//! in the source, or a part of it.

use beagle_engine::{Half, Place, Side, Twin, What};
use beagle_trace::event::Site;

/// Where two runs of one version go on after a branch that they take to different sides, such as `at new.c:7`; `None`
/// if the lines do not tell the sides apart.
pub fn ways(half: &Half<'_>, site: Site, sides: [What; 2]) -> Option<[String; 2]> {
    let [a, b] = sides.map(|side| next(half, site, side));
    let (a, b) = (a?, b?);
    if a == b {
        return None;
    }
    let stmt = half.stmt(site)?;
    let own = half.place(stmt);
    Some([a, b].map(|place| match Some(&place) == own.as_ref() {
        true => "in the same line".to_owned(),
        false => format!("at {place}"),
    }))
}

/// What both versions do at a branch that they take to different sides: `old goes on at old.c:9, new at new.c:7`; `None`
/// if the lines do not tell the sides apart.
pub fn parted(twin: &Twin<'_>, site: Site, old: What, new: What) -> Option<String> {
    let sides = [old, new];
    let [of_old, _] = ways(twin.half(Side::Old), site, sides)?;
    let [_, of_new] = ways(twin.half(Side::New), site, sides)?;
    // Lines may have moved.
    (of_old != of_new).then(|| format!("old goes on {of_old}, new {of_new}"))
}

/// The line that comes next.
fn next(half: &Half<'_>, site: Site, side: What) -> Option<Place> {
    let successor = match side {
        What::Branch(holds) => usize::from(!holds),
        What::Switch(case) => case as usize,
        _ => return None,
    };
    let place = half.program.next_place(half.stmt(site)?, successor)?;
    Some(Place {
        file: half.program.file(place.file).to_owned(),
        line: place.line,
    })
}
