//! What is known of a file that we wrote or had proved: enough to tell later that it is the same.
//!
//! # Why times may be believed
//! A file is as we left it when its inode, size, rights, owner, time of modification and *time of
//! change* are those that we took down ourselves, in this process's memory. The time of change
//! cannot be set: every write, truncation, new name, change of rights or of times moves it to now.
//! So an edit of the same size with its old time, an edit through another name, a file that
//! replaced this one or changed places with it, all differ. It takes three conditions:
//!
//! - *The tick is over.* A second change within one tick of the file system's clock shows nothing.
//!   Before the last look at a tree we let that clock give its time to a folder of ours. What was
//!   changed before that time, strictly, cannot be changed after the look without getting another
//!   one. What was changed at it is not believed, and is written anew next time.
//! - *Nobody writes without the kernel's seeing it.* A store through a shared map sets the time
//!   when it first makes a page writable, and not again while the page is dirty. Only a process
//!   that mapped the file before our look can store without a trace after it. So no process of
//!   the slot's last job may be alive (`ReviewTrees::distrust`), and then each store is by a map
//!   that is made later.
//! - *The file system keeps its word.* On a memory file system a page that was first read through
//!   a writable map is stored to without any trace. XFS lets an owner exchange the contents of two
//!   files and keep both times. A layered or remote one promises what others keep. So times are
//!   believed only on file systems that we know to be good (`ext4` and `btrfs`), where nothing is
//!   mounted below the tree. Everywhere else each file is read, and its SHA-256 compared.
//!
//! Whoever may set the machine's clock, or write to its disk, can forge times; root can.

use std::io;

use rustix::fs::{FileType, RawMode, Stat};

use super::content::Kind;
use super::folder::Folder;

/// A moment of a file system's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment {
    pub(super) seconds: i64,
    pub(super) nanos: u32,
}

impl Moment {
    fn new(seconds: i64, nanos: impl TryInto<u32>) -> Self {
        let nanos = nanos.try_into().unwrap_or(u32::MAX);
        Self { seconds, nanos }
    }
    /// When something changed last.
    pub(super) fn of_change(stat: &Stat) -> Self {
        Self::new(stat.st_ctime, stat.st_ctime_nsec)
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
            changed: Moment::of_change(stat),
            mode: stat.st_mode,
            owner: stat.st_uid,
            group: stat.st_gid,
        }
    }
}

/// What shows that a file with the same stamp is the same file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// Its times.
    Times,
    /// Nothing but its bytes.
    Bytes,
}

impl Trust {
    /// What may be believed on the file system of a folder.
    pub(super) fn on(folder: &Folder) -> io::Result<Self> {
        Ok(match folder.file_system()?.name {
            Some("ext" | "btrfs") => Self::Times,
            Some(_) | None => Self::Bytes,
        })
    }
}

/// The SHA-256 of a file's bytes, or of where a link leads.
pub(super) type Sum = [u8; 32];

/// What proves later that a file is as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Proof {
    /// Its stamp.
    Stamp,
    /// Its stamp and its bytes.
    Sum(Box<Sum>),
    /// Nothing: it could have changed in the tick of its stamp.
    Nothing,
}

/// What is known of an entry's file.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) stamp: Stamp,
    pub(super) proof: Proof,
}

impl Known {
    /// Whether it can prove anything.
    pub(super) fn is_proof(&self) -> bool {
        self.proof != Proof::Nothing
    }
    /// Believes a stamp from now on if its tick was over at a moment before the last look.
    pub(super) fn settle(&mut self, before: Moment) {
        if self.proof == Proof::Stamp && self.stamp.changed >= before {
            self.proof = Proof::Nothing;
        }
    }
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

#[cfg(test)]
mod tests {
    use super::{Known, Moment, Proof, Stamp};

    fn changed_at(nanos: u32) -> Known {
        let moment = Moment { seconds: 7, nanos };
        Known {
            stamp: Stamp {
                inode: 1,
                size: 5,
                modified: moment,
                changed: moment,
                mode: 0o100_644,
                owner: 0,
                group: 0,
            },
            proof: Proof::Stamp,
        }
    }

    /// Kernels before 6.13 give one time to all changes of some milliseconds.
    #[test]
    fn a_time_is_believed_only_when_its_tick_is_over() {
        let now = Moment {
            seconds: 7,
            nanos: 8_000_000,
        };
        for (nanos, proof) in [
            (4_000_000, Proof::Stamp),
            (7_999_999, Proof::Stamp),
            (8_000_000, Proof::Nothing),
            (8_000_001, Proof::Nothing),
        ] {
            let mut known = changed_at(nanos);
            known.settle(now);
            assert_eq!(known.proof, proof, "{nanos}");
        }
        let mut known = changed_at(0);
        known.settle(Moment {
            seconds: 7,
            nanos: 0,
        });
        assert_eq!(
            known.proof,
            Proof::Nothing,
            "a clock that knows seconds alone"
        );
    }
}
