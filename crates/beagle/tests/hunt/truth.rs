//! Whether what is said of a group of differences is what `pair.toml` says.

use beagle_report::diff::GroupEntry;
use beagle_subjects::{Kind, Pair};

/// Whether what is said of a group is the truth about the pair.
pub fn judge(pair: &Pair, group: &GroupEntry) -> Result<(), String> {
    let culprits = group.culprits.as_ref().ok_or("no culprits")?;
    let sets: Vec<_> = culprits.sets.iter().map(|set| set.hunks.clone()).collect();
    let mut expected = pair.culprits.clone();
    expected.sort_unstable();
    if sets != [expected] {
        return Err(format!("{:?} are to blame, not {sets:?}", pair.culprits));
    }
    let is_interaction = pair.kind == Kind::Interaction;
    let critical = group.critical.as_ref();
    if critical.is_some_and(|critical| critical.interaction) != is_interaction {
        return Err(format!("a {:?}, but {critical:?}", pair.kind));
    }
    match critical {
        Some(critical) if is_interaction && critical.hunks != pair.sequence => Err(format!(
            "{:?} is the order, not {:?}",
            pair.sequence, critical.hunks
        )),
        _ => Ok(()),
    }
}
