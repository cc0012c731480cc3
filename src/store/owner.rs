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
        let engine = Engine::this_process();
        Self {
            run,
            source_root,
            pid: engine.pid,
            pid_start: engine.pid_start,
            host: engine.host,
            boot_id: engine.boot_id,
        }
    }
    /// The process alone.
    #[must_use]
    pub fn engine(&self) -> Engine {
        Engine {
            pid: self.pid,
            pid_start: self.pid_start,
            host: self.host.clone(),
            boot_id: self.boot_id.clone(),
        }
    }
}

/// The process that drives a run, written beside its journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Engine {
    /// Its process id.
    pub pid: u32,
    /// When it started, in clock ticks since the machine booted; `None` where that is unknown.
    pub pid_start: Option<u64>,
    /// The machine's name.
    pub host: Option<String>,
    /// Which boot of the machine.
    pub boot_id: Option<String>,
}

/// Whether a process lives, as far as this machine can tell. Only a free lock beside it is proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Life {
    /// It was a process of this machine and is gone.
    Gone,
    /// It lives.
    Alive,
    /// It is, or was, a process of another machine.
    Elsewhere(String),
    /// The record does not say enough.
    Unknown,
}

impl Life {
    /// Whether it surely lives no more.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Gone)
    }
}

impl Engine {
    /// This process.
    #[must_use]
    pub fn this_process() -> Self {
        Self {
            pid: std::process::id(),
            pid_start: pid_start("self"),
            host: line("/proc/sys/kernel/hostname"),
            boot_id: line("/proc/sys/kernel/random/boot_id"),
        }
    }
    /// Whether it lives (scenarios W05 and W22: a number alone says nothing).
    #[must_use]
    pub fn life(&self) -> Life {
        self.life_beside(&Self::this_process())
    }
    /// Whether it lives on this machine and is stopped (Ctrl-Z): it does nothing until somebody lets it go on.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        let state = || after_name(&self.pid.to_string())?.chars().next();
        self.life() == Life::Alive && matches!(state(), Some('T' | 't'))
    }
    fn life_beside(&self, here: &Self) -> Life {
        let (Some(host), Some(boot_id), Some(here_host), Some(here_boot)) =
            (&self.host, &self.boot_id, &here.host, &here.boot_id)
        else {
            return Life::Unknown;
        };
        if host != here_host {
            return Life::Elsewhere(host.clone());
        }
        if boot_id != here_boot {
            // A name that every machine has by default tells no machine from another.
            let named = !matches!(host.as_str(), "" | "(none)" | "localhost");
            return if named { Life::Gone } else { Life::Unknown };
        }
        let folder = format!("/proc/{}", self.pid);
        match (fs_err::symlink_metadata(&folder), self.pid_start) {
            (Err(error), _) if error.kind() == std::io::ErrorKind::NotFound => Life::Gone,
            (Err(_), _) | (Ok(_), None) => Life::Unknown,
            (Ok(_), Some(start)) => match pid_start(&self.pid.to_string()) {
                Some(now) if now == start => Life::Alive,
                Some(_) => Life::Gone,
                None => Life::Unknown,
            },
        }
    }
}

fn line(path: &str) -> Option<String> {
    let text = fs_err::read_to_string(path).ok()?;
    Some(text.trim().to_owned())
}

/// Field 22 of `/proc/<pid>/stat`.
fn pid_start(pid: &str) -> Option<u64> {
    after_name(pid)?
        .split_ascii_whitespace()
        .nth(19)?
        .parse()
        .ok()
}

/// The fields of `/proc/<pid>/stat` from the third; the second may hold anything, also spaces and brackets.
fn after_name(pid: &str) -> Option<String> {
    let text = line(&format!("/proc/{pid}/stat"))?;
    let (_, after_name) = text.rsplit_once(')')?;
    Some(after_name.trim_start().to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Engine, Life};

    #[test]
    fn a_process_is_gone_only_when_host_boot_and_number_say_so() {
        let here = Engine::this_process();
        assert_eq!(here.life(), Life::Alive);
        let with = |change: &dyn Fn(&mut Engine)| {
            let mut record = here.clone();
            change(&mut record);
            record.life_beside(&here)
        };
        let elsewhere = Life::Elsewhere("another-host".to_owned());
        assert_eq!(
            with(&|it| it.host = Some("another-host".to_owned())),
            elsewhere
        );
        assert_eq!(with(&|it| it.host = None), Life::Unknown);
        assert_eq!(with(&|it| it.boot_id = None), Life::Unknown);
        assert_eq!(with(&|it| it.pid_start = None), Life::Unknown);
        // The number was given to another process (W22).
        assert_eq!(with(&|it| it.pid_start = Some(1)), Life::Gone);
        assert_eq!(
            with(&|it| it.boot_id = Some("before".to_owned())),
            Life::Gone
        );
        let mut common = here.clone();
        common.host = Some("localhost".to_owned());
        let record = Engine {
            boot_id: Some("another".to_owned()),
            ..common.clone()
        };
        assert_eq!(record.life_beside(&common), Life::Unknown);
    }
}
