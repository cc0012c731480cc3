//! The names in a folder, read from its descriptor into memory that the next folder uses again.

use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, SeekFrom, Stat};
use rustix::io::Errno;

/// What lies in one folder.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// Each name with its NUL, one after the other.
    names: Vec<u8>,
    /// Where each name ends, and what lay there when the folder was read, where the file system tells.
    each: Vec<(usize, FileType)>,
    #[cfg(target_os = "linux")]
    buffer: Vec<u8>,
}

impl Listing {
    /// Reads a folder from its beginning.
    pub(crate) fn read(&mut self, folder: &OwnedFd) -> io::Result<()> {
        self.names.clear();
        self.each.clear();
        // Whoever read it before left it at its end.
        rustix::fs::seek(folder, SeekFrom::Start(0))?;
        self.all(folder)
    }

    /// The names, `.` and `..` left out.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&CStr, FileType)> {
        let mut start = 0;
        self.each.iter().filter_map(move |(end, kind)| {
            let name = CStr::from_bytes_with_nul(&self.names[start..*end]);
            start = *end;
            // Each was one when it was entered.
            name.ok().map(|name| (name, *kind))
        })
    }

    #[cfg(target_os = "linux")]
    fn all(&mut self, folder: &OwnedFd) -> io::Result<()> {
        use rustix::fs::RawDir;
        /// Room for a few hundred names.
        const ROOM: usize = 1 << 15;
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.reserve(ROOM);
        let mut folder = RawDir::new(folder, buffer.spare_capacity_mut());
        while let Some(entry) = folder.next() {
            let entry = entry?;
            self.enter(entry.file_name(), entry.file_type());
        }
        self.buffer = buffer;
        Ok(())
    }

    #[cfg(not(target_os = "linux"))]
    fn all(&mut self, folder: &OwnedFd) -> io::Result<()> {
        for entry in rustix::fs::Dir::read_from(folder)? {
            let entry = entry?;
            self.enter(entry.file_name(), entry.file_type());
        }
        Ok(())
    }

    fn enter(&mut self, name: &CStr, kind: FileType) {
        if name != c"." && name != c".." {
            self.names.extend_from_slice(name.to_bytes_with_nul());
            self.each.push((self.names.len(), kind));
        }
    }
}

/// The place of a name among names in order. `at` is the place of the last one that was found: folders are
/// listed in one order or its reverse more often than not, and the one beside it is the next.
pub(crate) fn find_beside<'a, T>(
    sorted: &'a [T],
    name: &[u8],
    at: &mut usize,
    of: impl Fn(&'a T) -> &'a [u8],
) -> Option<usize> {
    for beside in [at.wrapping_sub(1), at.wrapping_add(1)] {
        if sorted.get(beside).is_some_and(|known| of(known) == name) {
            *at = beside;
            return Some(beside);
        }
    }
    *at = sorted.binary_search_by(|known| of(known).cmp(name)).ok()?;
    Some(*at)
}

/// What lies at a name in a folder, a link itself included; `None` when nothing does.
pub(crate) fn stat(folder: &OwnedFd, name: &CStr) -> io::Result<Option<Stat>> {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rustix::fs::{Mode, OFlags};

    use super::{Listing, find_beside};

    /// In whatever order they are asked for, and whatever was found before.
    #[test]
    fn names_are_found_beside_each_other_and_anywhere() {
        let names = ["a", "b", "c", "d", "e"];
        let asked = [
            "c", "d", "e", "b", "nothing", "a", "e", "e", "d", "", "z", "b",
        ];
        let mut at = 0;
        for name in asked {
            let found = find_beside(&names, name.as_bytes(), &mut at, |name| name.as_bytes());
            assert_eq!(found, names.iter().position(|it| *it == name), "{name}");
        }
        assert_eq!(
            find_beside(&[""; 0], b"a", &mut at, |name| name.as_bytes()),
            None
        );
    }

    /// More names than are read at once, with the longest ones among them, and nothing of the folder
    /// before.
    #[test]
    fn every_name_is_there_once() {
        let root = tempfile::tempdir().unwrap();
        let mut listing = Listing::default();
        for (folder, count) in [("many", 3_000), ("few", 3), ("none", 0)] {
            let path = root.path().join(folder);
            fs_err::create_dir(&path).unwrap();
            let mut names: BTreeSet<String> = (0..count).map(|n| format!("{n:0>9}")).collect();
            names.extend((0..count / 20).map(|n| format!("{n:0>255}")));
            for name in &names {
                fs_err::write(path.join(name), "").unwrap();
            }
            let fd = rustix::fs::open(&path, OFlags::RDONLY, Mode::empty()).unwrap();
            listing.read(&fd).unwrap();
            listing.read(&fd).unwrap();
            let shown: Vec<_> = listing.iter().collect();
            assert_eq!(shown.len(), names.len());
            let found = shown
                .iter()
                .map(|(name, _)| name.to_str().unwrap().to_owned());
            assert_eq!(found.collect::<BTreeSet<_>>(), names);
        }
    }
}
