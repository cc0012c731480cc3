//! The folders' ids that an index keeps, so that `git write-tree` need not compute them.
//!
//! Git takes them for granted: with the id of another folder there, what is written and committed is
//! that other folder, whatever the entries say.

use std::collections::HashMap;

use crate::git::index::file::IndexFile;
use crate::git::object_id::RawId;
use crate::git::repository::ObjectFormat;
use crate::git::tree_id::TreeIds;

/// Folders in folders: no path is so long that it has more.
const DEEPEST: usize = 2_100;

/// Whether each id that stands in it is that of the entries below its folder, all of them.
pub(super) fn is_right(index: &IndexFile<'_>, format: ObjectFormat, body: &[u8]) -> bool {
    let known = folders(index, format);
    let mut nodes = Nodes {
        rest: body,
        format,
        known: &known,
    };
    nodes.node(&[], DEEPEST) == Some(()) && nodes.rest.is_empty()
}

/// The id of each folder, and how many entries are below it. One that no tree can be made of, since an
/// entry of it is in a conflict or was not added yet, is left out.
fn folders(index: &IndexFile<'_>, format: ObjectFormat) -> HashMap<Vec<u8>, (RawId, usize)> {
    let mut known = HashMap::new();
    let mut ids = TreeIds::new(format, |path: &[u8], id: &RawId, files| {
        known.insert(path.to_vec(), (*id, files));
    });
    let mut unsure = Vec::new();
    for line in index.lines() {
        let path = index.path(line);
        if line.stage != 0 || line.is_intent {
            unsure.push(path);
            continue;
        }
        ids.add(format!("{:o}", line.mode).as_bytes(), path, &line.id);
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
struct Nodes<'a> {
    rest: &'a [u8],
    format: ObjectFormat,
    known: &'a HashMap<Vec<u8>, (RawId, usize)>,
}

impl<'a> Nodes<'a> {
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
            let (id, rest) = self.rest.split_at_checked(self.format.width())?;
            self.rest = rest;
            let (known, files) = self.known.get(&path)?;
            if &known[..id.len()] != id || *files != entries {
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
        let mut known = HashMap::new();
        known.insert(Vec::new(), ([7; 32], 2));
        known.insert(b"a".to_vec(), ([8; 32], 1));
        let mut nodes = Nodes {
            rest: body,
            format: ObjectFormat::Sha1,
            known: &known,
        };
        nodes.node(&[], DEEPEST) == Some(()) && nodes.rest.is_empty()
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
