//! Reading a journal, with every doubt an error.

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use crate::domain::digest::hex;
use crate::domain::id::LoopId;
use crate::domain::time::Timestamp;
use crate::store::file_lock::FileLock;
use crate::store::folder::{FileId, Folder};
use crate::store::journal::chain::Link;
use crate::store::journal::error::Error;
use crate::store::journal::tail::Noted;
use crate::store::journal::{Entry, FILE, WAL, WRITER, schema, wal};
use crate::store::state_folder::StateFolder;

/// Reads a run's journal beside its writer, or after it.
pub(super) fn load(state: &StateFolder, run: LoopId) -> Result<Vec<Entry>, Error> {
    let folder = state.run(run).map_err(Error::Open)?;
    let path = folder.path().join(FILE);
    // Before the rows: a living writer notes a row after it wrote it.
    let noted = Noted::read(&folder);
    check_file(&path)?;
    let before = FileId::at(&path).map_err(Error::Open)?;
    // A living writer may be in the middle of a frame.
    if !FileLock::is_held(&folder, WRITER).map_err(Error::Open)? {
        wal::check(&folder)?;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = if is_still(&folder)? {
        // `SQLite` would make its log even to read; here nobody can write, and there is none.
        let flags = flags | OpenFlags::SQLITE_OPEN_URI;
        Connection::open_with_flags(immutable(&path), flags)?
    } else {
        let connection = Connection::open_with_flags(&path, flags)?;
        schema::check_mode(&connection)?;
        connection
    };
    schema::prepare(&connection)?;
    let (entries, _) = verified(&connection, run, noted.as_ref())?;
    if FileId::at(&path).map_err(Error::Open)? != before {
        return Err(Error::Replaced(path));
    }
    if entries.is_empty() {
        return Err(Error::NeverBegan);
    }
    Ok(entries)
}

/// Whether the journal was closed and lies on a file system that is read-only.
fn is_still(folder: &Folder) -> Result<bool, Error> {
    if !folder.is_read_only().map_err(Error::Open)? {
        return Ok(false);
    }
    match fs_err::symlink_metadata(folder.path().join(WAL)) {
        Ok(metadata) => Ok(metadata.len() == 0),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(Error::Open(error)),
    }
}

/// The path as a URI that says that nobody writes.
fn immutable(path: &Path) -> String {
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            uri.push('%');
            uri.push_str(&hex(&[*byte]));
        }
    }
    uri + "?immutable=1"
}

/// All events and the last link, from one view of the database, which must reach as far as was noted.
pub(super) fn verified(
    connection: &Connection,
    run: LoopId,
    noted: Option<&Noted>,
) -> Result<(Vec<Entry>, Link), Error> {
    let transaction = connection.unchecked_transaction()?;
    schema::check(&transaction, run)?;
    let head = schema::head(&transaction)?;
    let mut last = Link::genesis(run);
    let mut entries = Vec::new();
    {
        let mut query =
            transaction.prepare("SELECT seq, at_ms, json, prev, hash FROM event ORDER BY seq")?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let at = Timestamp::from_millis(row.get(1)?);
            let json = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
            let next = last.next(at, json);
            let seq: i64 = row.get(0)?;
            let (prev, hash): ([u8; 32], [u8; 32]) = (row.get(3)?, row.get(4)?);
            let chained = prev == last.hash && hash == next.hash;
            let is_noted = noted.is_none_or(|noted| noted.allows(&next));
            if i64::try_from(next.seq) != Ok(seq) || !chained || !is_noted {
                return Err(Error::Chain(next.seq));
            }
            let event = serde_json::from_str(json).map_err(|source| Error::Event {
                seq: next.seq,
                source,
            })?;
            entries.push(Entry {
                seq: next.seq,
                at,
                event,
            });
            last = next;
        }
    }
    if last != head {
        return Err(Error::Tail {
            found: last.seq,
            expected: head.seq,
        });
    }
    match noted.filter(|noted| noted.seq > last.seq) {
        None => Ok((entries, last)),
        Some(noted) => Err(Error::Lost {
            found: last.seq,
            noted: noted.seq,
        }),
    }
}

/// Checks that a regular file lies there. It is not opened for this: closing a second handle
/// would drop the locks that `SQLite` holds on the first.
pub(super) fn check_file(path: &Path) -> Result<(), Error> {
    let metadata = fs_err::symlink_metadata(path).map_err(Error::Open)?;
    if metadata.is_file() {
        Ok(())
    } else {
        Err(Error::Open(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        )))
    }
}
