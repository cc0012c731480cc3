//! The tables of the index.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, TransactionBehavior, params};

use crate::domain::digest::Digest;
use crate::domain::id::LoopId;
use crate::domain::oid::Oid;
use crate::store::folder::Folder;
use crate::store::index::News;
use crate::store::index::row::RunRow;

const FORMAT: i64 = 2;

/// Why the index cannot be used; it is never told to anybody.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error("SQLite failed")]
    Sqlite(#[from] rusqlite::Error),
    #[error("a row has no JSON form")]
    Json(#[from] serde_json::Error),
    #[error("the folder failed")]
    Io(#[from] std::io::Error),
    #[error("it is damaged or has another format")]
    Damaged,
}

#[derive(Debug)]
pub(super) struct Database {
    connection: Connection,
}

impl Database {
    /// Opens what is there.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NOFOLLOW
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(std::time::Duration::from_secs(1))?;
        connection.pragma_update(None, "trusted_schema", false)?;
        connection.pragma_update(None, "cell_size_check", true)?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        let format: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let sound: String = connection.pragma_query_value(None, "quick_check", |row| row.get(0))?;
        if format == FORMAT && sound == "ok" {
            Ok(Self { connection })
        } else {
            Err(Error::Damaged)
        }
    }
    /// Opens it, made anew if it is missing or damaged. Only under the lock.
    pub(super) fn open_or_rebuild(folder: &Folder, name: &str) -> Result<Self, Error> {
        let path = folder.path().join(name);
        if let Ok(database) = Self::open(&path) {
            return Ok(database);
        }
        for file in [name.to_owned(), format!("{name}-journal")] {
            match folder.remove_file(&file) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(error.into());
                }
                Ok(()) | Err(_) => {}
            }
        }
        drop(folder.make_new_file(name)?);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(&path, flags)?;
        connection.execute_batch(
            "BEGIN IMMEDIATE;
             CREATE TABLE run (
                 id    TEXT PRIMARY KEY,
                 stamp TEXT,
                 json  TEXT NOT NULL,
                 sum   TEXT NOT NULL
             ) STRICT;
             CREATE TABLE round (
                 run             TEXT NOT NULL,
                 number          INTEGER NOT NULL,
                 base            TEXT NOT NULL,
                 head            TEXT NOT NULL,
                 content_tree    TEXT NOT NULL,
                 result          TEXT,
                 manifest_sha256 TEXT,
                 PRIMARY KEY (run, number)
             ) STRICT;
             CREATE INDEX round_by_content ON round (content_tree);
             PRAGMA user_version = 2;
             COMMIT;",
        )?;
        drop(connection);
        Self::open(&path)
    }

    /// The row of a run, if it was made from this state of its journal.
    pub(super) fn row(&self, run: LoopId, stamp: &str) -> Result<Option<RunRow>, Error> {
        let mut query = self
            .connection
            .prepare_cached("SELECT json, sum FROM run WHERE id = ?1 AND stamp = ?2")?;
        let found: Option<(String, String)> = query
            .query_row(params![run.to_string(), stamp], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        let Some((json, sum)) = found else {
            return Ok(None);
        };
        checked(run, stamp, &json, &sum).map(Some)
    }
    /// The row of a run, whatever state its journal is in now.
    pub(super) fn remembered(&self, run: LoopId) -> Result<Option<RunRow>, Error> {
        let mut query = self
            .connection
            .prepare_cached("SELECT stamp, json, sum FROM run WHERE id = ?1")?;
        let found: Option<(Option<String>, String, String)> = query
            .query_row([run.to_string()], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .optional()?;
        let read = |(stamp, json, sum): (Option<String>, String, String)| {
            checked(run, &stamp.unwrap_or_default(), &json, &sum)
        };
        found.map(read).transpose()
    }
    /// The contents that a run judged; `None` when it is not known.
    pub(super) fn content_trees(&self, run: LoopId) -> Result<Option<Vec<Oid>>, Error> {
        let id = run.to_string();
        let known: i64 =
            self.connection
                .query_row("SELECT count(*) FROM run WHERE id = ?1", [&id], |row| {
                    row.get(0)
                })?;
        let mut query = self
            .connection
            .prepare_cached("SELECT content_tree FROM round WHERE run = ?1 ORDER BY number")?;
        let mut trees = Vec::new();
        for tree in query.query_map([&id], |row| row.get::<_, String>(0))? {
            trees.push(Oid::parse(&tree?).ok_or(Error::Damaged)?);
        }
        Ok((known > 0).then_some(trees))
    }
    /// Takes in what is new, and forgets runs that are gone, in one transaction.
    pub(super) fn write(&mut self, news: &[News], all: Option<&[LoopId]>) -> Result<(), Error> {
        let gone = self.gone(all)?;
        if news.is_empty() && gone.is_empty() {
            return Ok(());
        }
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        for id in &gone {
            transaction.execute("DELETE FROM run WHERE id = ?1", [id])?;
            transaction.execute("DELETE FROM round WHERE run = ?1", [id])?;
        }
        for news in news {
            let id = news.row.run.to_string();
            let json = serde_json::to_string(&news.row)?;
            let sum = row_sum(news.stamp.as_deref().unwrap_or_default(), &json);
            let same = transaction.query_row(
                "SELECT count(*) FROM run WHERE id = ?1 AND sum = ?2",
                params![id, sum.as_str()],
                |row| row.get::<_, i64>(0),
            )?;
            if same > 0 {
                continue;
            }
            transaction.execute(
                "INSERT OR REPLACE INTO run (id, stamp, json, sum) VALUES (?1, ?2, ?3, ?4)",
                params![id, news.stamp, json, sum.as_str()],
            )?;
            transaction.execute("DELETE FROM round WHERE run = ?1", [&id])?;
            for round in &news.summary.rounds {
                let Some(pin) = &round.pin else { continue };
                let result = round
                    .result
                    .as_ref()
                    .map(serde_json::to_string)
                    .transpose()?;
                let manifest = news
                    .summary
                    .promotion
                    .as_ref()
                    .map(|p| p.manifest_sha256.as_str());
                let last = news.summary.last_round().map(|last| last.number);
                transaction.execute(
                    "INSERT INTO round VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    params![
                        id,
                        round.number.0,
                        pin.identity.base.as_str(),
                        pin.identity.head.as_str(),
                        pin.identity.content_tree.as_str(),
                        result,
                        manifest.filter(|_| last == Some(round.number)),
                    ],
                )?;
            }
        }
        transaction.commit()?;
        Ok(())
    }
    fn gone(&self, all: Option<&[LoopId]>) -> Result<Vec<String>, Error> {
        let Some(all) = all else {
            return Ok(Vec::new());
        };
        let mut query = self.connection.prepare_cached("SELECT id FROM run")?;
        let mut gone = Vec::new();
        for id in query.query_map([], |row| row.get::<_, String>(0))? {
            let id = id?;
            // Sorted: ids have one length, and their order is that of their text.
            if LoopId::parse(&id).is_none_or(|id| all.binary_search(&id).is_err()) {
                gone.push(id);
            }
        }
        Ok(gone)
    }
}

fn checked(run: LoopId, stamp: &str, json: &str, sum: &str) -> Result<RunRow, Error> {
    let row: RunRow = serde_json::from_str(json)?;
    if sum == row_sum(stamp, json).as_str() && row.run == run {
        Ok(row)
    } else {
        Err(Error::Damaged)
    }
}

/// Binds a row to its stamp: a flipped bit in a cached row must not tell another end.
fn row_sum(stamp: &str, json: &str) -> Digest {
    Digest::of(format!("{stamp}\n{json}").as_bytes())
}
