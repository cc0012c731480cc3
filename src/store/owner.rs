//! Who holds a lock: information for people and for probes, never the lock itself.

use serde::{Deserialize, Serialize};

use crate::domain::id::LoopId;

/// A process that cannot be mistaken for a later one of the same number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Owner {
    /// The run it drives.
    pub run: LoopId,
    /// The source root it locked, for people.
    pub source_root: String,
    /// Its process id.
    pub pid: u32,
    /// When it started, in clock ticks since the machine booted; `None` where that is unknown.
    pub pid_start: Option<u64>,
    /// The machine's name.
    pub host: Option<String>,
    /// Which boot of the machine.
    pub boot_id: Option<String>,
}

impl Owner {
    /// This process.
    #[must_use]
    pub fn this_process(run: LoopId, source_root: String) -> Self {
        Self {
            run,
            source_root,
            pid: std::process::id(),
            pid_start: pid_start(),
            host: line("/proc/sys/kernel/hostname"),
            boot_id: line("/proc/sys/kernel/random/boot_id"),
        }
    }
}

fn line(path: &str) -> Option<String> {
    let text = fs_err::read_to_string(path).ok()?;
    Some(text.trim().to_owned())
}

/// Field 22 of `/proc/self/stat`; the second field may hold anything, also spaces and brackets.
fn pid_start() -> Option<u64> {
    let text = line("/proc/self/stat")?;
    let (_, after_name) = text.rsplit_once(')')?;
    after_name.split_ascii_whitespace().nth(19)?.parse().ok()
}
