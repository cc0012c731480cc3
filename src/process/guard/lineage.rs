//! Who descends from whom, as the kernel says, and signals to nobody else.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
// Not `fs_err`: its errors keep no number, which is what says that a process is gone.
use std::fs::File;
use std::io::{self, Read as _};

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

/// A process, told apart from a later one with the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessId {
    /// Its number.
    pub pid: i32,
    /// When it was started, in clock ticks since the machine was.
    pub start: u64,
}

/// A process as it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) id: ProcessId,
    pub(crate) parent: i32,
    pub(crate) group: i32,
    pub(crate) session: i32,
    state: u8,
}

impl Seen {
    /// Looks at one process; `None` when there is none of that number.
    pub(crate) fn look(pid: i32) -> io::Result<Option<Self>> {
        // One read: the fields that are of interest lie far before the end of the buffer, and a
        // tree that forks all the time is only caught by who looks fast.
        match File::open(format!("/proc/{pid}/stat")) {
            Ok(file) => Self::read(pid, file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
    /// Reads the state of a process from its open file.
    fn read(pid: i32, mut file: File) -> io::Result<Option<Self>> {
        let mut line = [0; 1024];
        match file.read(&mut line) {
            Ok(length) => Self::parse(pid, &line[..length])
                .map(Some)
                .ok_or_else(|| io::Error::other("unreadable process state")),
            // Gone in between. One that is taken for an error would end the whole look, and who
            // has died would be reaped after the next death at the earliest.
            Err(error) if error.raw_os_error() == Some(Errno::SRCH.raw_os_error()) => Ok(None),
            Err(error) => Err(error),
        }
    }
    /// A line `pid (name) state ppid group session …`; names hold anything.
    fn parse(pid: i32, line: &[u8]) -> Option<Self> {
        let end = line.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(line.get(end + 1..)?).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<i32>().ok();
        Some(Self {
            id: ProcessId {
                pid,
                // The 22nd field of the line; this list starts with the third.
                start: fields.get(19)?.parse().ok()?,
            },
            state: fields.first()?.bytes().next()?,
            parent: number(1)?,
            group: number(2)?,
            session: number(3)?,
        })
    }
    /// Whether it still runs; a zombie does not.
    pub(crate) fn lives(&self) -> bool {
        !matches!(self.state, b'Z' | b'X')
    }
}

/// What makes a process one of ours without a parent of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Root {
    /// It is a child of this process, which is the one that looks.
    Child(i32),
    /// It is in the session of this process, which is a zombie that only we can reap. A session is
    /// entered by descent alone, and its number is not given away while somebody is in it.
    Session(i32),
    /// It is one of these, by number and time of start.
    Known(BTreeSet<ProcessId>),
}

impl Root {
    pub(crate) fn holds(&self, seen: &Seen) -> bool {
        match self {
            Self::Child(parent) => seen.parent == *parent,
            Self::Session(leader) => seen.session == *leader && seen.id.pid != *leader,
            Self::Known(known) => known.contains(&seen.id),
        }
    }
}

/// Every process there is, newest first, with something done to each as soon as it is seen.
pub(crate) fn everybody(mut at_once: impl FnMut(&Seen)) -> io::Result<Vec<Seen>> {
    // The numbers first: the kernel lists them upwards, and a tree that forks faster than its
    // members are looked at would make the list endless.
    let mut pids = Vec::new();
    for entry in fs_err::read_dir("/proc")? {
        let name = entry?.file_name();
        pids.extend(name.to_str().and_then(|name| name.parse::<i32>().ok()));
    }
    // The newest first: of a tree that respawns, they are the ones that live, and a busy machine
    // may give us little time before they are gone as well.
    pids.sort_unstable_by_key(|pid| Reverse(*pid));
    let mut all = Vec::with_capacity(pids.len());
    for pid in pids {
        if let Some(seen) = Seen::look(pid)? {
            at_once(&seen);
            all.push(seen);
        }
    }
    Ok(all)
}

/// Every descendant that was seen, parents first.
///
/// The listing of processes is no snapshot: one that loses its parent meanwhile can be missed, so
/// an empty lineage proves nothing. That nothing is missed for good is the kernel's doing, which
/// makes orphans children of the guard.
#[derive(Debug)]
pub(crate) struct Lineage {
    root: Root,
    found: Vec<Seen>,
}

impl Lineage {
    pub(crate) fn of(root: Root) -> io::Result<Self> {
        Self::while_seen(root, |_| {})
    }
    /// The same, with something done to each process that the root itself holds as soon as it is
    /// seen.
    pub(crate) fn while_seen(root: Root, mut at_once: impl FnMut(&Seen)) -> io::Result<Self> {
        let all = everybody(|seen| {
            if root.holds(seen) {
                at_once(seen);
            }
        })?;
        Ok(Self::among(root, &all))
    }
    pub(crate) fn among(root: Root, all: &[Seen]) -> Self {
        let mut children: BTreeMap<i32, Vec<Seen>> = BTreeMap::new();
        for seen in all {
            children.entry(seen.parent).or_default().push(*seen);
        }
        let mut found: Vec<Seen> = all
            .iter()
            .filter(|seen| root.holds(seen))
            .copied()
            .collect();
        let mut known: BTreeSet<i32> = found.iter().map(|seen| seen.id.pid).collect();
        let mut next = 0;
        while let Some(parent) = found.get(next).copied() {
            for child in children.get(&parent.id.pid).into_iter().flatten() {
                if known.insert(child.id.pid) {
                    found.push(*child);
                }
            }
            next += 1;
        }
        Self { root, found }
    }

    /// Everything that was seen, zombies too.
    pub(crate) fn all(&self) -> &[Seen] {
        &self.found
    }
    /// What still ran.
    pub(crate) fn living(&self) -> impl Iterator<Item = &Seen> {
        self.found.iter().filter(|seen| seen.lives())
    }

    /// Sends signals, one after the other, to each process that the filter lets through and that
    /// is still proven to descend from the root; who was.
    pub(crate) fn signal(
        &self,
        signals: &[Signal],
        wanted: impl Fn(&Seen) -> bool,
    ) -> BTreeMap<i32, ProcessId> {
        let mut proven = BTreeMap::new();
        for seen in &self.found {
            let Some(target) = Target::pin(&self.root, seen, &proven) else {
                continue;
            };
            proven.insert(seen.id.pid, seen.id);
            if wanted(seen) {
                for signal in signals {
                    target.signal(*signal);
                }
            }
        }
        proven
    }
}

/// A process whose number cannot be given to another one, or would not be hit if it were.
#[derive(Debug)]
enum Target {
    /// A child of ours, which we have not reaped and nobody else can.
    Child(Pid),
    /// Held by a descriptor.
    Pinned(std::os::fd::OwnedFd),
}

impl Target {
    /// Proves the lineage of a process anew, after it was pinned.
    fn pin(root: &Root, seen: &Seen, proven: &BTreeMap<i32, ProcessId>) -> Option<Self> {
        let pid = Pid::from_raw(seen.id.pid)?;
        // Without descriptors (an old kernel, a filter) only children are reached; what they leave
        // behind become children.
        let pinned = pidfd_open(pid, PidfdFlags::empty());
        let now = Seen::look(seen.id.pid).ok()??;
        if now.id != seen.id {
            return None;
        }
        if let Root::Child(parent) = root
            && now.parent == *parent
        {
            return Some(Self::Child(pid));
        }
        let pinned = pinned.ok()?;
        if root.holds(&now) {
            return Some(Self::Pinned(pinned));
        }
        // The parent's number must still be the proven parent's, after it was read as such.
        let parent = proven.get(&now.parent)?;
        let there = Seen::look(parent.pid).ok()??;
        (there.id == *parent).then_some(Self::Pinned(pinned))
    }

    /// An error means that it is gone or not ours to signal; who is left tells which.
    fn signal(&self, signal: Signal) {
        match self {
            Self::Child(pid) => kill_process(*pid, signal).ok(),
            Self::Pinned(descriptor) => pidfd_send_signal(descriptor, signal).ok(),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::command::Command;

    fn seen(pid: i32, parent: i32, session: i32) -> Seen {
        Seen {
            id: ProcessId { pid, start: 7 },
            parent,
            group: session,
            session,
            state: b'S',
        }
    }

    fn pids(lineage: &Lineage) -> Vec<i32> {
        lineage.all().iter().map(|seen| seen.id.pid).collect()
    }

    #[test]
    fn a_name_with_brackets_does_not_shift_the_fields() {
        let line = b"42 (a) Z 1 (b) S 7 40 39 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2";
        let seen = Seen::parse(42, line).unwrap();
        assert_eq!((seen.parent, seen.group, seen.session), (7, 40, 39));
        assert_eq!(
            seen.id,
            ProcessId {
                pid: 42,
                start: 98765
            }
        );
        assert!(seen.lives());
        assert_eq!(Seen::parse(42, b"42 (a"), None);
    }

    /// Between opening and reading its state a process may go: that is no error of the look.
    #[test]
    fn a_process_that_goes_while_it_is_looked_at_is_not_there() {
        let mut prepared = Command::new("/bin/sleep", "/").arg("1000").prepared();
        let mut child = prepared.spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let state = || File::open(format!("/proc/{pid}/stat"));
        assert!(Seen::read(pid, state().unwrap()).unwrap().is_some());
        let opened = state().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(Seen::read(pid, opened).unwrap(), None);
        assert_eq!(Seen::look(pid).unwrap(), None);
    }

    #[test]
    fn descendants_are_found_parents_first_and_nobody_else() {
        let all = [
            seen(9, 8, 5),
            seen(8, 5, 5),
            seen(5, 1, 5),
            seen(6, 1, 6),
            seen(7, 6, 5),
        ];
        assert_eq!(pids(&Lineage::among(Root::Child(5), &all)), [8, 9]);
    }

    /// Of a dead guard: its session, and who left the session below a member of it.
    #[test]
    fn members_of_a_session_are_found_with_their_descendants() {
        let all = [seen(5, 2, 5), seen(8, 1, 5), seen(9, 8, 9), seen(10, 1, 10)];
        assert_eq!(pids(&Lineage::among(Root::Session(5), &all)), [8, 9]);
    }

    /// Scenario H15: a process that took over a number is not signalled.
    #[test]
    fn a_number_with_another_start_time_is_not_hit() {
        let mut other = Command::new("/bin/sleep", "/")
            .arg("1000")
            .prepared()
            .spawn()
            .unwrap();
        let own = Root::Child(rustix::process::getpid().as_raw_nonzero().get());
        let pid = i32::try_from(other.id()).unwrap();
        let now = Seen::look(pid).unwrap().unwrap();
        let mut earlier = now;
        earlier.id.start -= 1;
        let kill = |seen| {
            let found = vec![seen];
            let root = own.clone();
            Lineage { root, found }.signal(&[Signal::KILL], |_| true);
        };
        kill(earlier);
        assert!(other.try_wait().unwrap().is_none());
        // A stranger by lineage, though number and start time are right.
        let found = vec![now];
        Lineage {
            root: Root::Child(1),
            found,
        }
        .signal(&[Signal::KILL], |_| true);
        assert!(other.try_wait().unwrap().is_none());
        kill(now);
        assert!(!other.wait().unwrap().success());
    }
}
