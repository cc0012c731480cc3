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
        let (entries, folders): (i64, u32) = (entries.parse().ok()?, folders.parse().ok()?);
        if let Ok(entries) = usize::try_from(entries) {
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
