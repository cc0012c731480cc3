//! What is known of a file that we wrote or had proved: enough to tell later that it is the same.
//!
//! # Why every file is read
//! Nothing that a file system says of a file proves its bytes, not even its time of change, which
//! nobody can set. Whoever owns two files may exchange their blocks on ext4 and XFS, and all times
//! stay. On a memory file system a page that was first read through a writable map is stored to
//! without any trace. A second change within one tick of the clock shows nothing. So what counts is
//! the sum of the bytes (`sum`), taken down in this process's memory when the file was written or
//! proved; the stamp beside it is what an index holds, and finds rights that were changed.
//!
//! No process of the slot's last job may be alive (`ReviewTrees::distrust`): it could store through
//! a map that it made before, after the look.

use rustix::fs::{FileType, RawMode, Stat};

use super::content::Kind;
use super::sum::Sum;

/// A moment of a file system's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) seconds: i64,
    pub(super) nanos: u32,
}

impl Moment {
    fn new(seconds: i64, nanos: impl TryInto<u32>) -> Self {
        let nanos = nanos.try_into().unwrap_or(u32::MAX);
        Self { seconds, nanos }
    }
}

/// All that a file system says of a file and that changes with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) inode: u64,
    pub(super) size: i64,
    pub(super) modified: Moment,
    pub(super) changed: Moment,
    pub(super) mode: RawMode,
    pub(super) owner: u32,
    pub(super) group: u32,
}

impl From<&Stat> for Stamp {
    fn from(stat: &Stat) -> Self {
        Self {
            inode: stat.st_ino,
            size: stat.st_size,
            modified: Moment::new(stat.st_mtime, stat.st_mtime_nsec),
            changed: Moment::new(stat.st_ctime, stat.st_ctime_nsec),
            mode: stat.st_mode,
            owner: stat.st_uid,
            group: stat.st_gid,
        }
    }
}

/// What is known of an entry's file.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) stamp: Stamp,
    /// Of what is no folder.
    pub(super) sum: Option<Sum>,
}

/// Whether a file is as git makes it. One with a second name could be a file of the user, which
/// the next agent would write to.
pub(super) fn is_as_checked_out(stat: &Stat, kind: Kind) -> bool {
    let kind_now = FileType::from_raw_mode(stat.st_mode);
    let (special, executable) = (stat.st_mode & 0o7000, stat.st_mode & 0o100 != 0);
    let usable = stat.st_mode & 0o600 == 0o600;
    stat.st_nlink == 1
        && match kind {
            Kind::Link => kind_now == FileType::Symlink,
            Kind::File | Kind::Executable => {
                kind_now == FileType::RegularFile
                    && special == 0
                    && usable
                    && executable == (kind == Kind::Executable)
            }
            Kind::Submodule => false,
        }
}
