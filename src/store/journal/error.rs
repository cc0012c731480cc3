//! What can be wrong with a journal.

use std::io;
use std::path::{Path, PathBuf};

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::store::state_folder;

/// What is wrong with a journal. None of these is ever read as "no events".
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file of it is missing, no regular file, not ours, or cannot be opened.
    #[error("it cannot be opened")]
    Open(#[source] io::Error),
    /// The file is no journal.
    #[error("it is not a journal of run-loop")]
    NotAJournal,
    /// A newer version wrote it.
    #[error(
        "it has format {found}, and this version reads format {known}: a newer run-loop wrote it"
    )]
    Newer {
        /// Its format.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// It was copied from another run's folder.
    #[error("it belongs to run {0}")]
    OtherRun(String),
    /// It has no event: its engine died before the run began.
    #[error("it holds no event: the run never began")]
    NeverBegan,
    /// The hash chain does not hold.
    #[error("the hash chain breaks at event {0}")]
    Chain(u64),
    /// The last events are missing.
    #[error("it ends at event {found}, and its head says {expected}")]
    Tail {
        /// The last event that is there.
        found: u64,
        /// The last event that was written.
        expected: u64,
    },
    /// Commits that were durable are missing: its write-ahead log was removed or cut.
    #[error("it ends at event {found}, and event {noted} was written: its log was removed or cut")]
    Lost {
        /// The last event that is there.
        found: u64,
        /// The last event that is known to have been durable.
        noted: u64,
    },
    /// An event that this version does not know.
    #[error("event {seq} cannot be read")]
    Event {
        /// Its number.
        seq: u64,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// An event has no JSON form.
    #[error("an event has no JSON form")]
    Encode(#[source] serde_json::Error),
    /// Committed transactions in the write-ahead log are damaged.
    #[error("its write-ahead log is damaged before its end")]
    Wal,
    /// A file was replaced, moved or removed while it was open.
    #[error("{} was replaced or removed while the run went on", .0.display())]
    Replaced(PathBuf),
    /// Somebody else writes to it.
    #[error("another process writes to it")]
    SecondWriter,
    /// An earlier append failed.
    #[error("an earlier write failed")]
    Broken,
    /// `SQLite` failed, also with a full disk or a damaged page.
    #[error("SQLite failed")]
    Sqlite(#[from] rusqlite::Error),
}

impl Error {
    /// The failure of this run, naming its journal.
    #[must_use]
    pub fn into_failure(self, run: LoopId, path: &Path) -> Failure {
        let mut text = self.to_string();
        let mut source = std::error::Error::source(&self);
        while let Some(error) = source {
            text = format!("{text}: {error}");
            source = error.source();
        }
        let failure = Failure::new(
            Code::JournalFailed,
            format!(
                "the journal of run {run} ({}) failed: {text}",
                path.display()
            ),
        );
        let folder = path.parent().unwrap_or(path).display().to_string();
        match &self {
            // Of an event that cannot be read the bytes are those that were written.
            Self::Newer { .. } | Self::Event { .. } => failure.next(["run-loop", "--version"]),
            Self::SecondWriter => failure.next(["run-loop", "status"]),
            Self::Sqlite(error) if is_full(error) => failure.next(["df", "-h", &folder]),
            Self::Open(error) if state_folder::is_full(error) => {
                failure.next(["df", "-h", &folder])
            }
            Self::NeverBegan => failure.next(["run-loop", "cleanup"]),
            damage if damage.is_damage() => {
                failure.next(["run-loop", "cleanup", "--damaged", &run.to_string()])
            }
            Self::Open(_) | Self::Replaced(_) => failure.next(["ls", "-la", &folder]),
            Self::NotAJournal
            | Self::OtherRun(_)
            | Self::Chain(_)
            | Self::Tail { .. }
            | Self::Lost { .. }
            | Self::Encode(_)
            | Self::Wal
            | Self::Broken
            | Self::Sqlite(_) => failure,
        }
    }
    /// Whether what lies there is no whole journal, so that nobody can read it at any other time or with any
    /// other version.
    pub(super) fn is_damage(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase, Unknown};
        match self {
            Self::NotAJournal
            | Self::OtherRun(_)
            | Self::Chain(_)
            | Self::Tail { .. }
            | Self::Lost { .. }
            | Self::Wal => true,
            Self::Open(error) => error.kind() == io::ErrorKind::NotFound,
            // A table that is missing, or a value of another kind.
            Self::Sqlite(error) => matches!(
                error.sqlite_error_code(),
                None | Some(DatabaseCorrupt | NotADatabase | Unknown)
            ),
            Self::Newer { .. }
            | Self::NeverBegan
            | Self::Event { .. }
            | Self::Encode(_)
            | Self::Replaced(_)
            | Self::SecondWriter
            | Self::Broken => false,
        }
    }
}

fn is_full(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull)
}
