//! When a run that cannot be read was written to last, by the times that the system set.
//!
//! A file's status-change time is set by the system alone: whoever writes, cuts, replaces or gives
//! back a file leaves the moment of that there. So no event can be newer than the newest of them.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::domain::time::Timestamp;
use crate::store::journal::{FILE, WAL};

/// The file that readers of a journal make and change too.
const SHARED: &str = "journal.db-shm";

/// The newest moment at which anything in a run's folder changed; `None` where that is not known.
///
/// The folder's own time counts only where the journal is gone, which it tells the moment of: beside a
/// journal, readers let `SQLite` make files in it.
pub(super) fn last(folder: &Path) -> Option<Timestamp> {
    newest(folder).ok().flatten()
}

fn newest(folder: &Path) -> io::Result<Option<Timestamp>> {
    let own = fs_err::symlink_metadata(folder)?;
    let mut newest = match fs_err::symlink_metadata(folder.join(FILE)) {
        Ok(metadata) => of(&metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => of(&own),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(of(&own)),
        Err(error) => return Err(error),
    };
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        let is_of_readers =
            entry.file_name() == SHARED || (entry.file_name() == WAL && metadata.len() == 0);
        if !is_of_readers {
            newest = newest.max(of(&metadata));
        }
    }
    Ok(newest)
}

fn of(metadata: &std::fs::Metadata) -> Option<Timestamp> {
    let seconds = metadata.ctime().checked_mul(1000)?;
    Some(Timestamp::from_millis(
        seconds.checked_add(metadata.ctime_nsec() / 1_000_000)?,
    ))
}
