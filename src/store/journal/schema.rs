//! The tables of a journal, and its format version.

use rusqlite::{CachedStatement, Connection, Transaction, params};

use crate::domain::id::LoopId;
use crate::domain::time::Timestamp;
use crate::store::journal::chain::Link;
use crate::store::journal::error::Error;

/// The format that this version writes. A change of it, or of any event's JSON form, keeps a
/// fixture of the format before it.
pub(super) const FORMAT: i64 = 1;
/// "RLJ1": tells a journal from any other `SQLite` database.
pub(super) const APPLICATION: i64 = 0x524c_4a31;

pub(super) const INSERT: &str =
    "INSERT INTO event (seq, at_ms, json, prev, hash) VALUES (?1, ?2, ?3, ?4, ?5)";

/// The settings of the one writer.
pub(super) fn prepare_writer(connection: &Connection) -> Result<(), Error> {
    connection.pragma_update(None, "synchronous", "FULL")?;
    prepare(connection)
}

/// The settings of readers too.
pub(super) fn prepare(connection: &Connection) -> Result<(), Error> {
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(())
}

/// Makes the tables of a new journal. Nobody reads it before the folder has its name: what makes them
/// durable then is one `fsync` of the file.
pub(super) fn create(connection: &Connection, run: LoopId) -> Result<(), Error> {
    let genesis = Link::genesis(run);
    connection.pragma_update(None, "synchronous", "OFF")?;
    set_mode(connection, "MEMORY")?;
    let transaction = connection.unchecked_transaction()?;
    transaction.execute_batch(
        "CREATE TABLE event (
             seq   INTEGER PRIMARY KEY,
             at_ms INTEGER NOT NULL,
             json  TEXT NOT NULL,
             prev  BLOB NOT NULL,
             hash  BLOB NOT NULL
         ) STRICT;
         CREATE TABLE head (
             run  TEXT NOT NULL,
             seq  INTEGER NOT NULL,
             hash BLOB NOT NULL
         ) STRICT;
         CREATE TRIGGER event_is_not_edited BEFORE UPDATE ON event
             BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
         CREATE TRIGGER event_is_not_removed BEFORE DELETE ON event
             BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;",
    )?;
    transaction.execute(
        "INSERT INTO head (run, seq, hash) VALUES (?1, 0, ?2)",
        params![run.to_string(), genesis.hash],
    )?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", FORMAT)?;
    transaction.commit()?;
    set_mode(connection, "WAL")
}

fn set_mode(connection: &Connection, mode: &str) -> Result<(), Error> {
    let now: String =
        connection.pragma_update_and_check(None, "journal_mode", mode, |row| row.get(0))?;
    if now.eq_ignore_ascii_case(mode) {
        Ok(())
    } else {
        Err(Error::NotAJournal)
    }
}

/// Checks that the log counts: in another mode `SQLite` would not look at it.
pub(super) fn check_mode(connection: &Connection) -> Result<(), Error> {
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if mode == "wal" {
        Ok(())
    } else {
        Err(Error::NotAJournal)
    }
}

/// Checks that it is a journal of this run in a format that we know.
pub(super) fn check(connection: &Connection, run: LoopId) -> Result<(), Error> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    if number("application_id")? != APPLICATION {
        return Err(Error::NotAJournal);
    }
    let found = number("user_version")?;
    if found > FORMAT {
        return Err(Error::Newer {
            found,
            known: FORMAT,
        });
    }
    if found != FORMAT {
        return Err(Error::NotAJournal);
    }
    let owner: String = connection.query_row("SELECT run FROM head", [], |row| row.get(0))?;
    if owner == run.to_string() {
        Ok(())
    } else {
        Err(Error::OtherRun(owner))
    }
}

/// The last row, as the last transaction left it.
pub(super) fn head(connection: &Connection) -> Result<Link, Error> {
    let mut query = connection.prepare_cached("SELECT seq, hash FROM head")?;
    let (seq, hash) = query.query_one([], |row| Ok((row.get::<_, i64>(0)?, row.get(1)?)))?;
    let seq = u64::try_from(seq).map_err(|_| Error::Chain(0))?;
    Ok(Link { seq, hash })
}

/// Records the last row.
pub(super) fn set_head(transaction: &Transaction<'_>, last: &Link) -> Result<(), Error> {
    let seq = i64::try_from(last.seq).map_err(|_| Error::Chain(last.seq))?;
    let mut update = transaction.prepare_cached("UPDATE head SET seq = ?1, hash = ?2")?;
    update.execute(params![seq, last.hash])?;
    Ok(())
}

/// Adds a row.
pub(super) fn insert(
    statement: &mut CachedStatement<'_>,
    last: &Link,
    next: &Link,
    at: Timestamp,
    json: &str,
) -> Result<(), Error> {
    let seq = i64::try_from(next.seq).map_err(|_| Error::Chain(next.seq))?;
    statement.execute(params![seq, at.as_millis(), json, last.hash, next.hash])?;
    Ok(())
}
