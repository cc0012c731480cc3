//! Keeping what this process was given to itself.

use rustix::process::{DumpableBehavior, set_dumpable_behavior};

/// Keeps other processes of the same user from reading this one's environment, where the keys of all
/// agents stand: a program of a job could else read those of others in `/proc`. What is started from
/// here can be read again, and has of the environment only what it is given.
pub fn hide_own_environment() {
    // A kernel that refuses leaves it as it was, and no run has to end for that.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).ok();
}
