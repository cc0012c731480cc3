//! The folders' ids that an index keeps, so that `git write-tree` need not compute them.
//!
//! Git takes them for granted: with the id of another folder there, what is written and committed is
//! that other folder, whatever the entries say.

use std::collections::HashMap;

use crate::git::index::file::IndexFile;
use crate::git::object_id::RawId;
use crate::git::repository::ObjectFormat;
use crate::git::tree_id::{Closed, TreeIds};

/// Folders in folders: no path is so long that it has more.
const DEEPEST: usize = 2_100;

/// The id of each folder, by its path.
pub(crate) type Folders = HashMap<Vec<u8>, RawId>;

/// Whether each id that stands in it is that of the entries below its folder, all of them.
pub(super) fn is_right(index: &IndexFile<'_>, format: ObjectFormat, body: &[u8]) -> bool {
    let known = folders(index, format);
    Nodes::read(format, body, |path, id, entries| {
        let is = |(known, files): &(RawId, usize)| known == id && *files == entries;
        known.get(path).is_some_and(is)
    })
}

/// Every id that stands in it, right or not; `None` where it is damaged.
pub(super) fn all(format: ObjectFormat, body: &[u8]) -> Option<Folders> {
    let mut all = Folders::new();
    let is_whole = Nodes::read(format, body, |path, id, _| {
        all.insert(path.to_vec(), *id);
        true
    });
    is_whole.then_some(all)
}

/// The id of each folder, and how many entries are below it. One that no tree can be made of, since an
/// entry of it is in a conflict or was not added yet, is left out.
fn folders(index: &IndexFile<'_>, format: ObjectFormat) -> HashMap<Vec<u8>, (RawId, usize)> {
    let mut known = HashMap::new();
    let mut ids = TreeIds::new(format, |folder: Closed<'_>| {
        known.insert(folder.path.to_vec(), (*folder.id, folder.files));
    });
    let mut unsure = Vec::new();
    for line in index.lines() {
        let path = index.path(line);
        if line.stage != 0 || line.is_intent {
            unsure.push(path);
            continue;
        }
        ids.add(line.mode(), path, &line.id);
    }
    ids.finish();
    for path in unsure {
        known.remove(&[][..]);
        for (end, _) in path.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
            known.remove(&path[..end]);
        }
    }
    known
}

/// A number as git writes it, and small enough that everybody reads the same in it.
fn count(digits: &str) -> Option<usize> {
    let number: u32 = digits.parse().ok()?;
    let is_plain = number <= i32::MAX.unsigned_abs() && number.to_string() == digits;
    usize::try_from(number).ok().filter(|_| is_plain)
}

/// The nodes that are left, each before its folders.
struct Nodes<'a, F> {
    rest: &'a [u8],
    format: ObjectFormat,
    /// Is shown the path, the id and the count of entries of each node that has an id, and says whether
    /// that may be.
    may_be: F,
}

impl<'a, F: FnMut(&[u8], &RawId, usize) -> bool> Nodes<'a, F> {
    /// Whether all of it is nodes, and each may be.
    fn read(format: ObjectFormat, body: &'a [u8], may_be: F) -> bool {
        let mut nodes = Self {
            rest: body,
            format,
            may_be,
        };
        nodes.node(&[], DEEPEST) == Some(()) && nodes.rest.is_empty()
    }

    /// `<name>\0<entries> <folders>\n<id>`, the id only where the count of entries is none below zero.
    fn node(&mut self, above: &[u8], deeper: usize) -> Option<()> {
        let name = self.until(0)?;
        let path = if above.is_empty() {
            name.to_vec()
        } else {
            [above, b"/", name].concat()
        };
        let counts = std::str::from_utf8(self.until(b'\n')?).ok()?;
        let (entries, folders) = counts.split_once(' ')?;
        let folders = count(folders)?;
        // The root has no name, every other folder has one.
        if name.is_empty() != (deeper == DEEPEST) {
            return None;
        }
        if entries != "-1" {
            let entries = count(entries)?;
            let (bytes, rest) = self.rest.split_at_checked(self.format.width())?;
            self.rest = rest;
            let mut id = [0; 32];
            id[..bytes.len()].copy_from_slice(bytes);
            if !(self.may_be)(&path, &id, entries) {
                return None;
            }
        }
        let deeper = deeper.checked_sub(1)?;
        (0..folders).try_for_each(|_| self.node(&path, deeper))
    }

    fn until(&mut self, end: u8) -> Option<&'a [u8]> {
        let length = self.rest.iter().position(|byte| *byte == end)?;
        let found = &self.rest[..length];
        self.rest = &self.rest[length + 1..];
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_read(body: &[u8]) -> bool {
        Nodes::read(ObjectFormat::Sha1, body, |path, id, entries| match path {
            b"" => id[..20] == [7; 20] && entries == 2,
            b"a" => id[..20] == [8; 20] && entries == 1,
            _ => false,
        })
    }

    /// What git reads as another number than is written there is not read as one.
    #[test]
    fn only_what_git_writes_is_right() {
        let node = |name: &str, counts: &str, id: &[u8]| {
            [name.as_bytes(), b"\0", counts.as_bytes(), b"\n", id].concat()
        };
        let child = node("a", "1 0", &[8; 20]);
        let with = |root: Vec<u8>, child: &[u8]| is_read(&[&root, child].concat());
        assert!(with(node("", "2 1", &[7; 20]), &child));
        assert!(with(node("", "-1 1", &[]), &child));
        let counts = [
            "-4294967294 1",
            "4294967298 1",
            "-2 1",
            "+2 1",
            "02 1",
            "2 01",
        ];
        for id in [&[7; 20][..], &[]] {
            for counts in counts {
                assert!(!with(node("", counts, id), &child), "{counts}");
            }
            assert!(!with(node("x", "2 1", id), &child));
        }
        assert!(!with(node("", "2 1", &[7; 20]), &node("", "1 0", &[8; 20])));
    }
}
