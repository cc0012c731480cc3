//! What an index says about a file, and whether that is what lies there: git's own rule, and never
//! more lenient.
//!
//! Git compares what its build and its settings say; here all of it must be the same, nanoseconds
//! included. An entry that was written in the second of the index or later is racily clean: its file
//! may have been changed in that second. So is what git marked by a size of 0. Whatever is not certain
//! is git's to look at.

use rustix::fs::{FileType, Stat};

/// Bytes of an entry before its id: two times, and where and what the file is.
pub(super) const STAT: usize = 40;
/// Where its mode stands among them.
pub(super) const MODE: usize = 24;

/// When an index was written, as git takes it from its file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written {
    seconds: u32,
}

impl Written {
    /// By the modification time of its file. Git keeps 32 bits of it.
    pub(crate) fn new(seconds: i64) -> Self {
        Self {
            seconds: low(seconds.cast_unsigned()),
        }
    }
}

/// The first bytes of an entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recorded<'a>(pub(super) &'a [u8; STAT]);

impl Recorded<'_> {
    fn word(self, number: usize) -> u32 {
        let bytes = self.0[4 * number..].first_chunk();
        bytes.map_or(0, |bytes| u32::from_be_bytes(*bytes))
    }
    /// The mode.
    pub(super) fn mode(self) -> u32 {
        self.word(MODE / 4)
    }

    /// Whether git is sure to take the file for unchanged, whichever of its rules it was built with. `is_empty` says whether the
    /// entry's object is the empty file.
    pub(crate) fn is_surely(self, stat: &Stat, written: Written, is_empty: bool) -> bool {
        let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
        let now = [
            low(stat.st_ctime.cast_unsigned()),
            u32::try_from(stat.st_ctime_nsec).unwrap_or(u32::MAX),
            low(stat.st_mtime.cast_unsigned()),
            u32::try_from(stat.st_mtime_nsec).unwrap_or(u32::MAX),
        ];
        let is_same = (0..4).all(|number| self.word(number) == now[number])
            // Between lies the device, which only a git that was built to (`USE_STDEV`) compares: it is another
            // one after each boot, and on another one the inode is hardly the same.
            && self.word(5) == low(stat.st_ino)
            && self.is_of_kind(stat)
            && self.word(7) == stat.st_uid
            && self.word(8) == stat.st_gid
            && u64::from(self.word(9)) == size;
        // The size of what git marked as racily clean is 0.
        let is_marked = size == 0 && !is_empty;
        let modified = self.word(2);
        is_same && !is_marked && written.seconds != 0 && written.seconds > modified
    }

    fn is_of_kind(self, stat: &Stat) -> bool {
        let kind = FileType::from_raw_mode(stat.st_mode);
        match self.mode() {
            0o100_644 => kind == FileType::RegularFile && stat.st_mode & 0o100 == 0,
            0o100_755 => kind == FileType::RegularFile && stat.st_mode & 0o100 != 0,
            0o120_000 => kind == FileType::Symlink,
            _ => false,
        }
    }
}

/// The 32 bits that an index has room for.
#[expect(clippy::cast_possible_truncation, reason = "that is what git keeps")]
fn low(number: u64) -> u32 {
    number as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    type Change = fn(&mut Stat);

    fn stat() -> Stat {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs_err::write(&file, "text").unwrap();
        rustix::fs::chmod(&file, rustix::fs::Mode::from_raw_mode(0o644)).unwrap();
        rustix::fs::lstat(&file).unwrap()
    }

    /// As git enters a file into its index.
    fn entry(stat: &Stat, mode: u32) -> [u8; STAT] {
        let words = [
            low(stat.st_ctime.cast_unsigned()),
            u32::try_from(stat.st_ctime_nsec).unwrap(),
            low(stat.st_mtime.cast_unsigned()),
            u32::try_from(stat.st_mtime_nsec).unwrap(),
            low(stat.st_dev),
            low(stat.st_ino),
            mode,
            stat.st_uid,
            stat.st_gid,
            low(stat.st_size.cast_unsigned()),
        ];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        bytes.try_into().unwrap()
    }

    #[test]
    fn every_difference_is_gits_to_look_at() {
        let stat = stat();
        let entry = entry(&stat, 0o100_644);
        let later = Written::new(stat.st_mtime + 1);
        let is_surely = |stat: &Stat| Recorded(&entry).is_surely(stat, later, false);
        assert!(is_surely(&stat));
        let changes: [(&str, Change); 11] = [
            ("second", |it| it.st_mtime -= 1),
            ("nanosecond", |it| it.st_mtime_nsec ^= 1),
            ("second of change", |it| it.st_ctime += 1),
            ("nanosecond of change", |it| it.st_ctime_nsec ^= 1),
            ("inode", |it| it.st_ino += 1),
            ("owner", |it| it.st_uid += 1),
            ("group", |it| it.st_gid += 1),
            ("size", |it| it.st_size += 1),
            ("size in 32 bits", |it| it.st_size += 1 << 32),
            ("right to execute", |it| it.st_mode |= 0o100),
            ("kind", |it| it.st_mode = 0o120_777),
        ];
        for (what, change) in changes {
            let mut other = stat;
            change(&mut other);
            assert!(!is_surely(&other), "{what}");
        }
        let mut elsewhere = stat;
        elsewhere.st_dev += 1;
        assert!(
            is_surely(&elsewhere),
            "a boot changes the number of a device"
        );
    }

    /// An index of the same second is no proof, whatever the nanoseconds: most builds of git compare none.
    #[test]
    fn what_is_racily_clean_is_gits_to_look_at() {
        let stat = stat();
        let entry = entry(&stat, 0o100_644);
        let at = |seconds| Recorded(&entry).is_surely(&stat, Written::new(seconds), false);
        assert!(at(stat.st_mtime + 1));
        assert!(!at(stat.st_mtime));
        assert!(!at(stat.st_mtime - 1));
        assert!(!at(0));
        // In 32 bits this is earlier.
        assert!(!at((1 << 32) + 1));
    }

    #[test]
    fn what_git_marked_is_gits_to_look_at() {
        let mut stat = stat();
        stat.st_size = 0;
        let entry = entry(&stat, 0o100_644);
        let later = Written::new(stat.st_mtime + 1);
        assert!(Recorded(&entry).is_surely(&stat, later, true));
        assert!(!Recorded(&entry).is_surely(&stat, later, false));
    }

    #[test]
    fn modes_are_those_that_git_would_enter() {
        let mut stat = stat();
        let later = Written::new(stat.st_mtime + 1);
        let is = |stat: &Stat, mode| Recorded(&entry(stat, mode)).is_surely(stat, later, false);
        for mode in [0o100_755, 0o120_000, 0o160_000, 0o040_000] {
            assert!(!is(&stat, mode), "{mode:o}");
        }
        stat.st_mode = 0o100_711;
        assert!(is(&stat, 0o100_755));
        assert!(!is(&stat, 0o100_644));
        stat.st_mode = 0o120_777;
        assert!(is(&stat, 0o120_000));
    }
}
