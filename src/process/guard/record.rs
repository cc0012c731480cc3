//! Who was seen to descend from a guard, written down when seen: what is left of its job is known
//! by it when the guard was killed.
//!
//! The file has one line that says where and when (machine, boot, namespace of numbers, guard) and
//! one for each process, each with a sum over itself and the first line. It is not made durable:
//! what a lost power takes from it lives no more.

use std::collections::BTreeSet;
use std::io::{self, Write as _};

use rustix::process::getpid;
use serde::{Deserialize, Serialize};

use crate::domain::digest::Digest;
use crate::process::guard::files::{CaptureFolder, RECORD};
use crate::process::guard::lineage::{ProcessId, Seen};

/// The version of the format that is written and read.
const VERSION: u32 = 1;
/// How many processes are written down: a job that starts more of them is no better known by more.
const MOST: usize = 10_000;
/// The largest record that is read.
const CAP: u64 = 1 << 20;

/// Where process numbers mean something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Where {
    host: Option<String>,
    boot: Option<String>,
    /// The namespace of process numbers.
    numbers: Option<String>,
}

impl Where {
    /// Where this process is.
    pub(crate) fn here() -> Self {
        let line = |path: &str| {
            let text = fs_err::read_to_string(path).ok()?;
            Some(text.trim().to_owned())
        };
        let numbers = fs_err::read_link("/proc/self/ns/pid").ok();
        Self {
            host: line("/proc/sys/kernel/hostname"),
            boot: line("/proc/sys/kernel/random/boot_id"),
            numbers: numbers.map(|link| link.display().to_string()),
        }
    }
}

/// The first line of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    version: u32,
    place: Where,
    guard: ProcessId,
    /// The guard's session.
    session: i32,
}

/// The record of a running guard.
#[derive(Debug)]
pub(crate) struct Record {
    file: fs_err::File,
    head: String,
    known: BTreeSet<ProcessId>,
}

impl Record {
    /// Begins the record of this guard.
    pub(crate) fn begin(folder: &CaptureFolder) -> io::Result<Self> {
        let pid = getpid().as_raw_nonzero().get();
        let guard = Seen::look(pid)?.ok_or(io::ErrorKind::NotFound)?;
        let head = serde_json::to_string(&Head {
            version: VERSION,
            place: Where::here(),
            guard: guard.id,
            session: guard.session,
        })?;
        let mut file = folder.create(RECORD)?;
        file.write_all(format!("{head}\n").as_bytes())?;
        let known = BTreeSet::new();
        Ok(Self { file, head, known })
    }
    /// Writes down who is new; how many were.
    pub(crate) fn add(&mut self, seen: impl IntoIterator<Item = ProcessId>) -> usize {
        let mut text = String::new();
        let mut new = 0;
        for id in seen {
            if self.known.len() < MOST && self.known.insert(id) {
                text.push_str(&line(&self.head, id));
                new += 1;
            }
        }
        if new > 0 {
            // A full disk does not end the job; the mark still tells who is left of it.
            self.file.write_all(text.as_bytes()).ok();
        }
        new
    }
}

/// What a dead guard's record says here.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// These were its descendants.
    Known(Known),
    /// Nothing of that time lives: the machine was started anew.
    Before,
    /// Nothing, and why.
    Unknown(String),
}

/// Descendants of a dead guard.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    /// They themselves.
    pub(crate) processes: BTreeSet<ProcessId>,
    /// A session that is not the job's own, if it was started in one.
    pub(crate) foreign_session: Option<i32>,
}

/// Reads a record.
pub(crate) fn read(folder: &CaptureFolder, here: &Where) -> Read {
    match folder.read_whole(RECORD, CAP) {
        Ok(None) => Read::Known(Known::default()),
        Ok(Some(bytes)) => parse(&bytes, here),
        Err(error) => Read::Unknown(error.to_string()),
    }
}

fn parse(bytes: &[u8], here: &Where) -> Read {
    let damaged = || Read::Unknown("the record of its processes is damaged".to_owned());
    let Ok(text) = std::str::from_utf8(bytes) else {
        return damaged();
    };
    // A line without its end was being written when the guard was killed.
    let Some((whole, _)) = text.rsplit_once('\n') else {
        return Read::Known(Known::default());
    };
    let mut lines = whole.lines();
    let first = lines.next().unwrap_or_default();
    let Ok(head) = serde_json::from_str::<Head>(first) else {
        return damaged();
    };
    if head.version != VERSION {
        return damaged();
    }
    let mut known = Known {
        foreign_session: (head.session != head.guard.pid).then_some(head.session),
        ..Known::default()
    };
    for found in lines {
        let numbers = || {
            let mut words = found.split(' ');
            Some(ProcessId {
                pid: words.next()?.parse().ok()?,
                start: words.next()?.parse().ok()?,
            })
        };
        match numbers() {
            Some(id) if line(first, id).trim_end() == found => known.processes.insert(id),
            Some(_) | None => return damaged(),
        };
    }
    match compare(&head.place, here) {
        Same::Yes => Read::Known(known),
        Same::Before => Read::Before,
        Same::No => Read::Unknown("its processes are of another machine or container".to_owned()),
    }
}

enum Same {
    Yes,
    Before,
    No,
}

fn compare(there: &Where, here: &Where) -> Same {
    let (Some(host), Some(boot), Some(numbers)) = (&there.host, &there.boot, &there.numbers) else {
        return Same::No;
    };
    let another = here.boot.as_ref().is_some_and(|now| now != boot);
    // A name that every machine has by default tells no machine from another.
    let named = !matches!(host.as_str(), "" | "(none)" | "localhost");
    if another && named && here.host.as_ref() == Some(host) {
        Same::Before
    } else if here.boot.as_ref() == Some(boot) && here.numbers.as_ref() == Some(numbers) {
        Same::Yes
    } else {
        Same::No
    }
}

/// The line of a process.
fn line(head: &str, id: ProcessId) -> String {
    let ProcessId { pid, start } = id;
    let sum = Digest::of(format!("{head}\n{pid} {start}").as_bytes());
    format!("{pid} {start} {}\n", &sum.as_str()[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Where {
        Where {
            host: Some("bench".to_owned()),
            boot: Some("b1".to_owned()),
            numbers: Some("pid:[1]".to_owned()),
        }
    }

    fn record() -> Vec<u8> {
        let guard = ProcessId { pid: 7, start: 70 };
        let head = serde_json::to_string(&Head {
            version: VERSION,
            place: place(),
            guard,
            session: 7,
        })
        .unwrap();
        let lines = [8, 9].map(|pid| line(&head, ProcessId { pid, start: 71 }));
        format!("{head}\n{}", lines.concat()).into_bytes()
    }

    fn pids(read: &Read) -> Vec<i32> {
        match read {
            Read::Known(known) => known.processes.iter().map(|id| id.pid).collect(),
            Read::Before | Read::Unknown(_) => panic!("{read:?}"),
        }
    }

    #[test]
    fn a_record_is_read_where_it_was_written() {
        assert_eq!(pids(&parse(&record(), &place())), [8, 9]);
        let with = |change: &dyn Fn(&mut Where)| {
            let mut here = place();
            change(&mut here);
            parse(&record(), &here)
        };
        assert_eq!(with(&|it| it.boot = Some("b2".to_owned())), Read::Before);
        for elsewhere in [
            with(&|it| it.numbers = Some("pid:[2]".to_owned())),
            with(&|it| it.boot = None),
            with(&|it| {
                it.host = Some("other".to_owned());
                it.boot = Some("b2".to_owned());
            }),
        ] {
            assert!(matches!(elsewhere, Read::Unknown(_)), "{elsewhere:?}");
        }
    }

    /// A flipped bit never names another process; a cut record names fewer.
    #[test]
    fn damage_names_nobody_else() {
        let whole = record();
        let known = [8, 9];
        for index in 0..whole.len() {
            for bit in 0..8 {
                let mut damaged = whole.clone();
                damaged[index] ^= 1 << bit;
                if let Read::Known(read) = parse(&damaged, &place()) {
                    let fits = read.processes.iter().all(|id| known.contains(&id.pid));
                    assert!(fits, "byte {index}, bit {bit}: {read:?}");
                }
            }
        }
        for length in 0..whole.len() {
            if let Read::Known(read) = parse(&whole[..length], &place()) {
                assert!(read.processes.iter().all(|id| known.contains(&id.pid)));
            }
        }
    }
}
