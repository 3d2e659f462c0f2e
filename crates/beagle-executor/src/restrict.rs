//! Keeps what is traced from writing outside of its directory, from the network, and from signals to others.
//!
//! Best effort, as the system allows: the real programs are shut in more tightly by `beagle-verdict`.

use std::error::Error;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, Scope,
};

/// Devices that programs write to without an effect.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];

/// Does something with restrictions that the processes it starts inherit. They hold for a thread, so it has
/// one of its own.
pub(crate) fn restricted<T: Send>(
    directory: &Path,
    start: impl FnOnce() -> T + Send,
) -> std::thread::Result<T> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            // A system without landlock refuses; the verdict tells the user how programs are kept.
            let _ = restrict(directory);
            start()
        });
        thread.join()
    })
}

fn restrict(directory: &Path) -> Result<(), Box<dyn Error>> {
    // Truncation came with the third version; what came later concerns ioctls, which are harmless.
    let write = AccessFs::from_write(ABI::V3);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(write)?
        .handle_access(AccessNet::from_all(ABI::V4))?
        .scope(Scope::from_all(ABI::V6))?
        .create()?
        .add_rule(PathBeneath::new(PathFd::new(directory)?, write))?;
    for device in DEVICES {
        // A system without the device has nothing to be allowed.
        if let Ok(path) = PathFd::new(device) {
            let access = AccessFs::WriteFile | AccessFs::Truncate;
            rules = rules.add_rule(PathBeneath::new(path, access))?;
        }
    }
    rules.restrict_self()?;
    Ok(())
}
