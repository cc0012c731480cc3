//! What the kernel offers to keep a process from reading and writing what is not its own.

use landlock::{ABI, Access as _, AccessFs, LandlockStatus, Ruleset, RulesetAttr as _};

/// The version of Landlock that the kernel has; `None` where it has none, or it is turned off.
#[must_use]
pub fn landlock_version() -> Option<i32> {
    // A ruleset that is applied tells; it holds for the thread alone, which ends at once.
    let asked = std::thread::spawn(|| {
        let ruleset = Ruleset::default()
            .handle_access(AccessFs::from_all(ABI::V1))
            .and_then(Ruleset::create)
            .and_then(landlock::RulesetCreated::restrict_self);
        match ruleset.ok()?.landlock {
            LandlockStatus::Available {
                effective_abi,
                kernel_abi,
            } => Some(kernel_abi.unwrap_or(effective_abi as i32)),
            LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => None,
        }
    });
    asked.join().ok().flatten()
}
