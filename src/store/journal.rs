//! A run's journal: an append-only, hash-chained list of events with one writer.
//!
//! `runs/<id>/journal.db` is a `SQLite` database in WAL mode with `synchronous=FULL`: one durable
//! commit for each call of [`Journal::append`], however many events it takes. Each row holds the
//! hash of the row before it; the row `head` names the last one, so that a lost tail is seen too. A log
//! that is taken away, or cut at a commit, is missed by the note beside it (`tail`).
//! The chain finds accidents, not attackers.
//!
//! # Invariants
//! The writer holds `writer.lock` of the run's folder, which also tells others that the run's
//! engine lives. Every transaction checks that the open files are still the ones at their paths.
//! After one failed append nothing is written any more: what is on disk is not known.

pub(crate) mod begin;
mod chain;
mod error;
mod read;
mod schema;
mod tail;
mod wal;
mod written;

use std::path::PathBuf;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::domain::event::Event;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::domain::time::Timestamp;
use crate::store::beat::Beat;
use crate::store::file_lock::FileLock;
use crate::store::folder::{Access, FileId, Folder};
use crate::store::journal::chain::Link;
pub use crate::store::journal::error::Error;
use crate::store::journal::tail::{Noted, Tail};
use crate::store::owner::Engine;
use crate::store::state_folder::StateFolder;

/// How often the lock of a dead engine is looked at again: some tenths of a second.
const LAST_BREATH: u32 = 4_000;

/// The journal's file in the run's folder.
pub const FILE: &str = "journal.db";
const WAL: &str = "journal.db-wal";
const WRITER: &str = "writer.lock";
/// Which process writes, or wrote last: for clean-up, which must know the machine too.
const ENGINE: &str = "engine.json";
const ENGINE_CAP: u64 = 64 * 1024;

/// An event with its place in the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its number, from 1 without gaps.
    pub seq: u64,
    /// When the input was taken that it records or follows from.
    pub at: Timestamp,
    /// The event.
    pub event: Event,
}

/// The journal of one run, open for writing.
#[derive(Debug)]
pub struct Journal {
    // Declared first: the connection closes (and writes its last checkpoint) under the lock.
    connection: Connection,
    _writer: FileLock,
    /// Where it is noted that this engine lives; without it the newest event says so.
    beat: Option<Beat>,
    run: LoopId,
    place: Place,
    /// The last row.
    last: Link,
    /// Where it is noted how far it reaches; without it a log that is taken away is not missed.
    tail: Option<Tail>,
    /// The stamp of the newest input: the time of what is decided from it.
    at: Timestamp,
    broken: bool,
}

/// The journal's files, as they were when they were opened.
#[derive(Debug)]
struct Place {
    database: (PathBuf, FileId),
    wal: (PathBuf, FileId),
}

impl Journal {
    /// Makes the folder and the journal of a new run: both are there, whole, or neither.
    pub fn create(state: &StateFolder, run: LoopId) -> Result<Self, Failure> {
        let (folder, writer) = begin::begin(state, run)?;
        let begun = connect(&folder).and_then(|(connection, before)| {
            let (_, genesis) = read::verified(&connection, run, None)?;
            Self::ready(connection, writer, run, &folder, before, genesis)
        });
        begun.map_err(|error| {
            begin::undo(state, run, &folder);
            error.into_failure(run, &folder.path().join(FILE))
        })
    }
    /// Opens the journal of a run to go on with it, after verifying all of it.
    pub fn open(state: &StateFolder, run: LoopId) -> Result<(Self, Vec<Entry>), Failure> {
        let path = state.run_path(run).join(FILE);
        let failed = |error: Error| error.into_failure(run, &path);
        let folder = state.run(run).map_err(|e| failed(Error::Open(e)))?;
        let writer = take(&folder).map_err(failed)?;
        let noted = Noted::read(&folder);
        let (connection, before) = connect(&folder).map_err(failed)?;
        let (entries, last) = read::verified(&connection, run, noted.as_ref()).map_err(failed)?;
        let Some(newest) = entries.last().map(|entry| entry.at) else {
            return Err(failed(Error::NeverBegan));
        };
        let mut journal =
            Self::ready(connection, writer, run, &folder, before, last).map_err(failed)?;
        journal.at = newest;
        Ok((journal, entries))
    }
    /// Reads the journal of a run, running or not, and verifies all of it.
    ///
    /// Never an empty list: a journal without its first event is a failure.
    pub fn load(state: &StateFolder, run: LoopId) -> Result<Vec<Entry>, Failure> {
        let path = state.run_path(run).join(FILE);
        read::load(state, run).map_err(|error| error.into_failure(run, &path))
    }
    /// Whether a run holds no event at all: its engine died before it began.
    ///
    /// Only a sound journal says so; a damaged one is no proof of anything.
    #[must_use]
    pub fn never_began(state: &StateFolder, run: LoopId) -> bool {
        matches!(read::load(state, run), Err(Error::NeverBegan))
    }
    /// What is wrong with a run's journal that nothing mends; `None` where it can be read, or holds no event.
    ///
    /// # Errors
    /// Where it cannot be read for another reason: its place, or this version.
    pub fn damage(state: &StateFolder, run: LoopId) -> Result<Option<Failure>, Failure> {
        match read::load(state, run) {
            Ok(_) | Err(Error::NeverBegan) => Ok(None),
            Err(error) => {
                let is_damage = error.is_damage();
                let failure = error.into_failure(run, &state.run_path(run).join(FILE));
                if is_damage {
                    Ok(Some(failure))
                } else {
                    Err(failure)
                }
            }
        }
    }
    /// The moment after which no event of a run can have been written, by its files; `None` where that
    /// is not known. For a run that cannot be read: the journal itself says it better.
    #[must_use]
    pub fn last_written(state: &StateFolder, run: LoopId) -> Option<Timestamp> {
        written::last(&state.run_path(run))
    }
    /// Whether an engine that drives this run is alive.
    ///
    /// # Errors
    /// When the lock cannot be looked at.
    pub fn is_driven(state: &StateFolder, run: LoopId) -> Result<bool, Failure> {
        let is_held = || {
            let held = state
                .run(run)
                .and_then(|folder| FileLock::is_held(&folder, WRITER));
            held.map_err(|error| Error::Open(error).into_failure(run, &state.run_path(run)))
        };
        // What an engine was starting when it was killed shares its lock until its program runs. The
        // lock alone decides: the next engine holds it before it says who it is.
        for _ in 0..LAST_BREATH {
            if !is_held()? {
                return Ok(false);
            }
            let last = Self::last_engine(state, run).ok().flatten();
            if !last.is_some_and(|engine| engine.life().is_gone()) {
                return Ok(true);
            }
            std::thread::yield_now();
        }
        is_held()
    }

    /// The process that wrote last; `None` when it left no record.
    ///
    /// # Errors
    /// When there is a record that cannot be read: then nobody knows.
    pub fn last_engine(state: &StateFolder, run: LoopId) -> Result<Option<Engine>, Failure> {
        let failed =
            |error| Error::Open(error).into_failure(run, &state.run_path(run).join(ENGINE));
        let read = state
            .run(run)
            .and_then(|folder| folder.read(ENGINE, ENGINE_CAP));
        match read {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|error| failed(error.into())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }
    /// Notes how long the engine that took the run up then has driven it. A note that cannot be taken
    /// is none.
    pub fn beat(&self, since: Timestamp, ran_ms: u64) {
        let noted = self.beat.as_ref().map(|beat| beat.note(since, ran_ms));
        if let Some(Err(error)) = noted {
            tracing::debug!(%error, "no note of how long this engine has run");
        }
    }
    /// How many milliseconds the engine that took the run up then is known to have driven it, by the
    /// clock of a machine that is awake.
    #[must_use]
    pub fn ran(state: &StateFolder, run: LoopId, since: Timestamp) -> Option<u64> {
        Beat::last(&state.run(run).ok()?, since)
    }
    /// Keeps every engine off a run whose engine is dead, for clean-up; `None` while one lives.
    ///
    /// # Errors
    /// When the lock cannot be tried.
    pub fn hold_off(state: &StateFolder, run: LoopId) -> Result<Option<FileLock>, Failure> {
        let held = state
            .run(run)
            .and_then(|folder| FileLock::acquire(&folder, WRITER));
        held.map_err(|error| Error::Open(error).into_failure(run, &state.run_path(run)))
    }

    fn ready(
        connection: Connection,
        writer: FileLock,
        run: LoopId,
        folder: &Folder,
        before: FileId,
        last: Link,
    ) -> Result<Self, Error> {
        let locate = |name: &str| -> Result<(PathBuf, FileId), Error> {
            let path = folder.path().join(name);
            let id = FileId::at(&path).map_err(Error::Open)?;
            Ok((path, id))
        };
        let place = Place {
            database: locate(FILE)?,
            wal: locate(WAL)?,
        };
        // SQLite opened it by its path: it must have been one file all the time.
        if place.database.1 != before {
            return Err(Error::Replaced(place.database.0));
        }
        Ok(Self {
            connection,
            _writer: writer,
            beat: Beat::open(folder)
                .inspect_err(|error| tracing::debug!(%error, "no note of how long engines run"))
                .ok(),
            run,
            place,
            last,
            tail: Tail::open(folder)
                .inspect_err(|error| tracing::debug!(%error, "no note of how far it reaches"))
                .ok(),
            at: Timestamp::from_millis(0),
            broken: false,
        })
    }

    /// The run.
    #[must_use]
    pub fn run(&self) -> LoopId {
        self.run
    }
    /// Appends events in one durable transaction: all of them are there, or none.
    ///
    /// After a failure the journal takes nothing more; the run must end.
    pub fn append(&mut self, events: &[Event]) -> Result<(), Failure> {
        if events.is_empty() {
            return Ok(());
        }
        let appended = if self.broken {
            Err(Error::Broken)
        } else {
            self.try_append(events)
        };
        appended.map_err(|error| {
            self.broken = true;
            error.into_failure(self.run, &self.place.database.0)
        })
    }
    fn try_append(&mut self, events: &[Event]) -> Result<(), Error> {
        let mut at = self.at;
        let mut last = self.last.clone();
        let behaviour = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(behaviour)?;
        if schema::head(&transaction)? != last {
            return Err(Error::SecondWriter);
        }
        {
            let mut insert = transaction.prepare_cached(schema::INSERT)?;
            for event in events {
                at = stamped(event).unwrap_or(at);
                let json = serde_json::to_string(event).map_err(Error::Encode)?;
                let next = last.next(at, &json);
                schema::insert(&mut insert, &last, &next, at, &json)?;
                last = next;
            }
        }
        schema::set_head(&transaction, &last)?;
        self.place.check()?;
        transaction.commit()?;
        // A file that was replaced meanwhile took the commit with it.
        self.place.check()?;
        if let Some(Err(error)) = self.tail.as_ref().map(|tail| tail.note(&last)) {
            tracing::debug!(%error, "no note of how far the journal reaches");
        }
        self.last = last;
        self.at = at;
        Ok(())
    }
}

impl Place {
    fn check(&self) -> Result<(), Error> {
        for (path, id) in [&self.database, &self.wal] {
            if FileId::at(path).ok() != Some(*id) {
                return Err(Error::Replaced(path.clone()));
            }
        }
        Ok(())
    }
}

/// Takes the writer's lock, and says who has it.
fn take(folder: &Folder) -> Result<FileLock, Error> {
    let writer = FileLock::acquire(folder, WRITER)
        .map_err(Error::Open)?
        .ok_or(Error::SecondWriter)?;
    note_engine(folder)?;
    Ok(writer)
}

fn note_engine(folder: &Folder) -> Result<(), Error> {
    let engine = serde_json::to_vec(&Engine::this_process()).map_err(Error::Encode)?;
    let written = folder.write(ENGINE, &engine, Access::Private);
    written.map_err(Error::Open)
}

/// Opens the database for its writer; also says which file lay there before.
fn connect(folder: &Folder) -> Result<(Connection, FileId), Error> {
    let path = folder.path().join(FILE);
    read::check_file(&path)?;
    let before = FileId::at(&path).map_err(Error::Open)?;
    wal::check(folder)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&path, flags)?;
    schema::prepare_writer(&connection)?;
    schema::check_mode(&connection)?;
    Ok((connection, before))
}

/// The moment of an event that records an input.
fn stamped(event: &Event) -> Option<Timestamp> {
    match event {
        Event::RunStarted { stamp, .. }
        | Event::RunResumed { stamp, .. }
        | Event::StopRequested { stamp, .. }
        | Event::JobRequested { stamp, .. }
        | Event::JobSilent { stamp, .. }
        | Event::JobHeard { stamp, .. }
        | Event::EffectDone { stamp, .. } => Some(stamp.at),
        Event::RoundOpened { .. }
        | Event::EffectRequested { .. }
        | Event::JobClosed { .. }
        | Event::WaitEnded { .. }
        | Event::ReviewOpened { .. }
        | Event::SlotRetried { .. }
        | Event::FindingRaised { .. }
        | Event::WorkOpened { .. }
        | Event::WorkRetried { .. }
        | Event::FindingDisposed { .. }
        | Event::WorkClosed { .. }
        | Event::SlotSettled { .. }
        | Event::RoundClosed { .. }
        | Event::RunClosing { .. }
        | Event::CostUntold { .. }
        | Event::RunParking { .. }
        | Event::SlotLimited { .. }
        | Event::WorkLimited { .. }
        | Event::RunSuspended { .. }
        | Event::RunEnded { .. } => None,
    }
}
