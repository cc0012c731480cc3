//! Whether a folder can hold what is kept: files that last, locks that hold, and a journal.

use std::io;
use std::path::Path;

use rusqlite::Connection;

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::store::file_lock::FileLock;
use crate::store::folder::{Access, Folder};

/// Tries it in a folder of its own below `folder`, and leaves nothing behind.
///
/// # Errors
/// `StateUnwritable`, naming the first thing that does not work there.
pub fn probe(folder: &Path) -> Result<(), Failure> {
    let cannot = |what: &str, error: &dyn std::fmt::Display| {
        let shown = folder.display().to_string();
        let message = format!("{shown} {what}: {error}");
        Failure::new(Code::StateUnwritable, message).next(["ls", "-ld", "--", &shown])
    };
    let place = tempfile::Builder::new()
        .prefix(".probe-")
        .tempdir_in(folder)
        .map_err(|error| cannot("cannot be written to", &error))?;
    let files = Folder::open(place.path()).and_then(|opened| {
        opened.write("file", b"whole", Access::Private)?;
        opened.read("file", 16).map(|_| opened)
    });
    let opened = files.map_err(|error| cannot("keeps no files", &error))?;
    locks(&opened).map_err(|error| cannot("has no locks that hold", &error))?;
    journal(place.path()).map_err(|error| cannot("can hold no journal", &error))?;
    place
        .close()
        .map_err(|error| cannot("gives nothing back", &error))
}

/// A lock that is held is seen, and is free when it was given back.
fn locks(folder: &Folder) -> io::Result<()> {
    let name = "lock";
    let held = FileLock::acquire(folder, name)?
        .ok_or_else(|| io::Error::other("a new file is locked already"))?;
    if !FileLock::is_held(folder, name)? {
        return Err(io::Error::other("a held lock is not seen"));
    }
    drop(held);
    if FileLock::is_held(folder, name)? {
        return Err(io::Error::other("a lock that was given back is still held"));
    }
    Ok(())
}

/// The journal's mode needs shared memory, which some file systems do not have.
fn journal(folder: &Path) -> io::Result<()> {
    let connection = Connection::open(folder.join("journal.db")).map_err(io::Error::other)?;
    let mode: String = connection
        .query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))
        .map_err(io::Error::other)?;
    if mode != "wal" {
        return Err(io::Error::other(format!(
            "SQLite says {mode:?} where it is asked for WAL"
        )));
    }
    connection
        .execute_batch(
            "PRAGMA synchronous = FULL; CREATE TABLE probe (n INTEGER); \
             INSERT INTO probe VALUES (1);",
        )
        .map_err(io::Error::other)
}
