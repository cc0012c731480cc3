//! What an attempt left whose guard was killed: ended as far as it is proven to be the job's.
//!
//! Proof is one of three: it was seen to descend from the guard and is in the `record`, it has the
//! open file that only the job inherited (`mark`), or it descends from such a process, or is in a
//! session that only descendants can be in. What is not proven is not touched. A mark that is held
//! by nobody who can be seen means that somebody lives, and that is said.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Signal, getpid};
use tokio::time::{Instant, sleep, timeout};

use crate::process::guard::files::CaptureFolder;
use crate::process::guard::lineage::{Lineage, ProcessId, Root, Seen, everybody};
use crate::process::guard::mark::Mark;
use crate::process::guard::probe::{Probe, attach, probe};
use crate::process::guard::record::{self, Known, Read, Where};

/// How long the guards of a dead engine are waited for: they give a job 5 s of grace, and try for half a
/// minute.
pub const PATIENCE: Duration = Duration::from_mins(1);
/// How long it is tried.
const LIMIT: Duration = Duration::from_secs(10);
/// How many of those that stay are named.
const NAMED: usize = 100;

/// What lives of an attempt that nobody holds any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Left {
    /// Nobody who could be proven to be of it.
    Nobody,
    /// Its guard lives, and will end it.
    Guarded,
    /// Somebody who could not be ended.
    Lives {
        /// Those who are proven; the first hundred.
        processes: Vec<ProcessId>,
        /// Why they live on.
        why: String,
    },
    /// It cannot be told, and why.
    Unknown(String),
}

/// Who is left of the attempt with this capture folder; nobody is touched.
///
/// # Errors
/// When the folder or the list of processes cannot be read.
pub fn left(capture_folder: &Path) -> io::Result<Left> {
    let mut search = match Search::begin(capture_folder)? {
        Begun::Over(left) => return Ok(left),
        Begun::Search(search) => search,
    };
    let living = search.turn(&[])?;
    search.result(living)
}

/// Ends who is left of the attempt with this capture folder, as far as it is proven.
///
/// # Errors
/// As [`left`].
pub async fn end(capture_folder: &Path) -> io::Result<Left> {
    let mut search = match Search::begin(capture_folder)? {
        Begun::Over(left) => return Ok(left),
        Begun::Search(search) => search,
    };
    let deadline = Instant::now() + LIMIT;
    let mut empty = 0;
    loop {
        let living = search.turn(&[Signal::KILL])?;
        empty = if living.is_empty() { empty + 1 } else { 0 };
        // One listing can miss a process that moves.
        if empty == 2 || search.is_above_us || Instant::now() >= deadline {
            return search.result(living);
        }
        sleep(Duration::from_millis(5)).await;
    }
}

/// Waits until no guard holds any of these attempts, whose engine is dead: each ends its job by itself.
/// One that does not in time (its own job has stopped it, say) is killed, with all that is proven to be of
/// the attempt. Who lives on all the same is returned.
///
/// # Errors
/// As [`left`].
pub async fn settle(
    capture_folders: &[PathBuf],
    patience: Duration,
) -> io::Result<Vec<(PathBuf, Left)>> {
    let over = async {
        for folder in capture_folders {
            // An outcome that is damaged is no guard that lives.
            drop(attach(folder).await);
        }
    };
    let mut alive = Vec::new();
    if timeout(patience, over).await.is_ok() {
        return Ok(alive);
    }
    for path in capture_folders {
        let left = match end(path).await? {
            Left::Guarded => match end_guard(path).await? {
                Left::Nobody => end(path).await?,
                left @ (Left::Guarded | Left::Lives { .. } | Left::Unknown(_)) => left,
            },
            left @ (Left::Nobody | Left::Lives { .. } | Left::Unknown(_)) => left,
        };
        match left {
            // A guard that began meanwhile is of a living engine.
            Left::Nobody | Left::Guarded | Left::Unknown(_) => {}
            Left::Lives { .. } => alive.push((path.clone(), left)),
        }
    }
    Ok(alive)
}

/// Kills who is proven to hold the guard's lock of an attempt.
async fn end_guard(capture_folder: &Path) -> io::Result<Left> {
    let folder = CaptureFolder::open(capture_folder)?;
    let Some(lock) = Mark::of_guard(&folder)? else {
        return Ok(Left::Nobody);
    };
    let deadline = Instant::now() + LIMIT;
    loop {
        let all = everybody(|_| {})?;
        let holds = |seen: &&Seen| seen.lives() && lock.is_held_by(seen);
        let guards: BTreeSet<ProcessId> = all.iter().filter(holds).map(|seen| seen.id).collect();
        let is_above_us = above_us().iter().any(|id| guards.contains(id));
        if !is_above_us {
            let lineage = Lineage::among(Root::Known(guards.clone()), &all);
            lineage.signal(&[Signal::KILL], |seen| guards.contains(&seen.id));
        }
        if !folder.is_locked()? {
            return Ok(Left::Nobody);
        }
        if is_above_us || Instant::now() >= deadline {
            return Ok(Left::Lives {
                processes: guards.into_iter().collect(),
                why: "the guard of the job does not end".to_owned(),
            });
        }
        sleep(Duration::from_millis(5)).await;
    }
}

/// Whether everything of the attempt is proven gone: its guard said so, nothing was started, or the
/// machine was started anew since. That nobody is found is no proof.
///
/// # Errors
/// As [`left`]; also when the outcome is damaged.
pub fn is_gone(capture_folder: &Path) -> io::Result<bool> {
    let is_ended = match probe(capture_folder)? {
        Probe::Running { .. } => return Ok(false),
        Probe::Ended(outcome) if outcome.gone => return Ok(true),
        Probe::Ended(_) => true,
        Probe::Lost => false,
    };
    let folder = match CaptureFolder::open(capture_folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        folder => folder?,
    };
    let is_begun = is_ended || Mark::find(&folder)?.is_some();
    Ok(!is_begun || record::read(&folder, &Where::here()) == Read::Before)
}

/// The capture folders in the folder of a run's jobs: `<job>.capture/`, and those of commands one
/// folder deeper. Links are not followed; none where the folder is not there.
///
/// # Errors
/// When a folder cannot be read.
pub fn captures(jobs: &Path) -> io::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for capture in folders(jobs)? {
        if capture.extension().is_some_and(|end| end == "capture") {
            all.extend(folders(&capture)?);
            all.push(capture);
        }
    }
    Ok(all)
}

fn folders(path: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs_err::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

enum Begun {
    Over(Left),
    Search(Box<Search>),
}

/// The search for what is left of one attempt.
struct Search {
    mark: Option<Mark>,
    /// Seen by the guard; their sessions are the job's.
    recorded: BTreeSet<ProcessId>,
    foreign_session: Option<i32>,
    /// Everybody who is proven by now.
    proven: BTreeSet<ProcessId>,
    /// Why the record says nothing.
    unreadable: Option<String>,
    /// Whether this process descends from one of them: nobody is touched then.
    is_above_us: bool,
}

impl Search {
    fn begin(capture_folder: &Path) -> io::Result<Begun> {
        let over = |left| Ok(Begun::Over(left));
        let folder = match CaptureFolder::open(capture_folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return over(Left::Nobody),
            folder => folder?,
        };
        // A guard that begins meanwhile is none that was killed: it locks before it makes its mark and
        // its record, so these are looked at first, and the lock after them.
        let mark = Mark::find(&folder)?;
        let read = record::read(&folder, &Where::here());
        if folder.is_locked()? {
            return over(Left::Guarded);
        }
        // An outcome that cannot be read says nothing of what is gone.
        if matches!(probe(capture_folder), Ok(Probe::Ended(outcome)) if outcome.gone) {
            return over(Left::Nobody);
        }
        let mut search = Self {
            mark,
            recorded: BTreeSet::new(),
            foreign_session: None,
            proven: BTreeSet::new(),
            unreadable: None,
            is_above_us: false,
        };
        match read {
            Read::Before => return over(Left::Nobody),
            // Nothing was started: the mark comes first.
            Read::Known(known) if search.mark.is_none() && known.processes.is_empty() => {
                return over(Left::Nobody);
            }
            Read::Unknown(why) => search.unreadable = Some(why),
            Read::Known(Known {
                processes,
                foreign_session,
            }) => {
                search.proven.clone_from(&processes);
                search.recorded = processes;
                search.foreign_session = foreign_session;
            }
        }
        Ok(Begun::Search(Box::new(search)))
    }

    /// Finds who lives by now, and signals each; nobody when this process is below them.
    fn turn(&mut self, signals: &[Signal]) -> io::Result<BTreeSet<ProcessId>> {
        let all = everybody(|_| {})?;
        if let Some(mark) = &self.mark
            && mark.is_held()?
        {
            let holders = all.iter().filter(|seen| seen.lives());
            let holders = holders
                .filter(|seen| mark.is_held_by(seen))
                .map(|seen| seen.id);
            self.proven.extend(holders);
        }
        let mates = self.mates(&all);
        self.recorded.extend(mates.iter().copied());
        self.proven.extend(mates);
        let lineage = Lineage::among(Root::Known(self.proven.clone()), &all);
        let living: BTreeSet<ProcessId> = lineage.living().map(|seen| seen.id).collect();
        self.is_above_us |= above_us().iter().any(|id| living.contains(id));
        let signals = if self.is_above_us { &[] } else { signals };
        let proven = lineage.signal(signals, Seen::lives);
        // Who loses its parent now is known by then.
        self.proven.extend(proven.into_values());
        Ok(living)
    }

    /// Who shares a session with one that the guard saw. A session is entered by descent alone, so
    /// its leader descends from the guard as well, and its number is not given away while somebody
    /// is in it.
    fn mates(&self, all: &[Seen]) -> Vec<ProcessId> {
        let ours = all.iter().filter(|seen| self.recorded.contains(&seen.id));
        let sessions: BTreeSet<i32> = ours
            .filter(|seen| Some(seen.session) != self.foreign_session)
            // Still so, after all others were seen.
            .filter(|seen| {
                matches!(Seen::look(seen.id.pid), Ok(Some(now))
                    if now.lives() && (now.id, now.session) == (seen.id, seen.session))
            })
            .map(|seen| seen.session)
            .collect();
        let mates = all.iter().filter(|seen| sessions.contains(&seen.session));
        mates.map(|seen| seen.id).collect()
    }

    fn result(self: Box<Self>, living: BTreeSet<ProcessId>) -> io::Result<Left> {
        let processes: Vec<ProcessId> = living.into_iter().take(NAMED).collect();
        let held = || self.mark.as_ref().map_or(Ok(false), Mark::is_held);
        let why = if self.is_above_us {
            "this command was started by one of them"
        } else if !processes.is_empty() {
            "they do not end"
        } else if held()? {
            "a process that cannot be looked at from here is one of them"
        } else {
            return Ok(self.unreadable.map_or(Left::Nobody, Left::Unknown));
        };
        let why = why.to_owned();
        Ok(Left::Lives { processes, why })
    }
}

/// This process and those above it.
fn above_us() -> Vec<ProcessId> {
    let mut above = Vec::new();
    let mut next = getpid().as_raw_nonzero().get();
    while let Ok(Some(seen)) = Seen::look(next) {
        if above.contains(&seen.id) {
            break;
        }
        above.push(seen.id);
        next = seen.parent;
    }
    above
}
