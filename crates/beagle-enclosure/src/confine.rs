//! Keeps a thread and the processes that it starts from writing elsewhere, from the network, and
//! from signals to others.

use std::error::Error;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};

/// Devices that programs write to without an effect.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];

/// Lets nothing be written but below the given directories, as far as the system can do that. Returns
/// whether it is in force. It holds for the thread that calls this, and cannot be taken back.
pub fn confine<P: AsRef<Path>>(writable: &[P]) -> Result<bool, Box<dyn Error>> {
    // Truncation came with the third version; what came later concerns ioctls, which are harmless.
    let write = AccessFs::from_write(ABI::V3);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(write)?
        .handle_access(AccessNet::from_all(ABI::V4))?
        .scope(Scope::from_all(ABI::V6))?
        .create()?;
    for directory in writable {
        let path = PathFd::new(directory)?;
        rules = rules.add_rule(PathBeneath::new(path, write))?;
    }
    for device in DEVICES {
        // A system without the device has nothing to be allowed.
        if let Ok(path) = PathFd::new(device) {
            let access = AccessFs::WriteFile | AccessFs::Truncate;
            rules = rules.add_rule(PathBeneath::new(path, access))?;
        }
    }
    Ok(rules.restrict_self()?.ruleset != RulesetStatus::NotEnforced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_elsewhere_stays_as_it_is() {
        let (inside, outside) = (tempfile::tempdir(), tempfile::tempdir());
        let (inside, outside) = (inside.expect("made"), outside.expect("made"));
        let written = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let in_force = confine(&[inside.path()]).unwrap_or(false);
                let write = |directory: &Path| std::fs::write(directory.join("file"), "x").is_ok();
                (in_force, write(inside.path()), write(outside.path()))
            });
            thread.join().expect("does not panic")
        });
        let (in_force, inside, outside) = written;
        assert!(inside);
        assert_eq!(outside, !in_force);
    }
}
