//! What kind of file system a path lies on, as far as locks and space depend on it.

use std::io;
use std::path::Path;

use rustix::fs::{StatFs, StatVfs};

/// Magic numbers of file systems, their names, and whether other machines may see them: locks on
/// those may end at this machine.
const KNOWN: [(u64, &str, bool); 20] = [
    (0x6969, "nfs", true),
    (0xFF53_4D42, "cifs", true),
    (0xFE53_4D42, "smb2", true),
    (0x517B, "smb", true),
    (0x6573_5546, "fuse", true),
    (0x5346_414F, "afs", true),
    (0x00C3_6400, "ceph", true),
    (0x0BD0_0BD0, "lustre", true),
    (0x0102_1997, "9p", true),
    (0xEF53, "ext", false),
    (0x9123_683E, "btrfs", false),
    (0x5846_5342, "xfs", false),
    (0x2FC1_2FC1, "zfs", false),
    (0xF2F5_2010, "f2fs", false),
    (0xCA45_1A4E, "bcachefs", false),
    (0x0102_1994, "tmpfs", false),
    (0x794C_7630, "overlay", false),
    (0x4D44, "vfat", false),
    (0x2011_BAB0, "exfat", false),
    (0x5346_544E, "ntfs", false),
];

/// A file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileSystem {
    /// Its name; `None` where its kind is not known.
    pub name: Option<&'static str>,
    /// Whether locks on it may not hold other machines off.
    pub is_shared: bool,
    /// Bytes that this user may still write.
    pub available: u64,
}

impl FileSystem {
    /// The file system of a path that is there.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub fn of(path: &Path) -> io::Result<Self> {
        let system = rustix::fs::statfs(path)?;
        Ok(Self::new(&system, &rustix::fs::statvfs(path)?))
    }
    fn new(system: &StatFs, space: &StatVfs) -> Self {
        let magic = u64::try_from(system.f_type).unwrap_or(0) & 0xFFFF_FFFF;
        let known = KNOWN.iter().find(|(known, _, _)| *known == magic);
        Self {
            name: known.map(|(_, name, _)| *name),
            is_shared: known.is_some_and(|(_, _, shared)| *shared),
            available: space.f_bavail.saturating_mul(space.f_frsize),
        }
    }
}
