//! Facts about the new blobs of a change.

use std::collections::{BTreeMap, BTreeSet};

use super::differ::Differ;
use crate::domain::oid::Oid;
use crate::git::error::Error;
use crate::git::program::finish;

/// A pointer of git-lfs is never longer.
const POINTER_BYTES: u64 = 1_024;
/// How pointers start: today's form, and the one from before the name was git-lfs.
const POINTER_STARTS: [&[u8]; 2] = [
    b"version https://git-lfs.github.com/spec/",
    b"version https://hawser.github.com/spec/",
];

/// What is known of a blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Facts {
    /// Its bytes.
    pub(super) size: u64,
    /// Whether it is a pointer of git-lfs.
    pub(super) is_lfs_pointer: bool,
}

/// Asks for the facts of blobs; only those that may be pointers are read.
pub(super) fn facts(differ: &Differ, oids: &BTreeSet<&Oid>) -> Result<BTreeMap<Oid, Facts>, Error> {
    let sizes = sizes(differ, oids)?;
    let facts = |size| Facts {
        size,
        is_lfs_pointer: false,
    };
    let mut known: BTreeMap<Oid, Facts> = sizes
        .into_iter()
        .map(|(oid, size)| (oid, facts(size)))
        .collect();
    let small = known
        .iter()
        .filter(|(_, facts)| facts.size <= POINTER_BYTES);
    let small: BTreeSet<Oid> = small.map(|(oid, _)| oid.clone()).collect();
    for oid in pointers(differ, &small)? {
        if let Some(facts) = known.get_mut(&oid) {
            facts.is_lfs_pointer = true;
        }
    }
    Ok(known)
}

fn pointers(differ: &Differ, oids: &BTreeSet<Oid>) -> Result<Vec<Oid>, Error> {
    let bodies = bodies(differ, &oids.iter().collect())?;
    let pointers = bodies
        .into_iter()
        .filter(|(_, body)| POINTER_STARTS.iter().any(|start| body.starts_with(start)));
    Ok(pointers.map(|(oid, _)| oid).collect())
}

/// The bytes of the blobs that have at most so many.
pub(super) fn texts(
    differ: &Differ,
    oids: &BTreeSet<&Oid>,
    cap: u64,
) -> Result<BTreeMap<Oid, Vec<u8>>, Error> {
    let sizes = sizes(differ, oids)?;
    let small = sizes.iter().filter(|(_, size)| *size <= cap);
    bodies(differ, &small.map(|(oid, _)| oid).collect())
}

fn sizes(differ: &Differ, oids: &BTreeSet<&Oid>) -> Result<Vec<(Oid, u64)>, Error> {
    if oids.is_empty() {
        return Ok(Vec::new());
    }
    let command = differ
        .command()
        .args([
            "cat-file",
            "--batch-check=%(objectname) %(objecttype) %(objectsize)",
        ])
        .stdin(lines(oids.iter().copied()));
    let answer = finish(&command)?;
    let mut answers = answer.split(|byte| *byte == b'\n');
    let mut sizes = Vec::new();
    for oid in oids {
        let line = answers.next().unwrap_or_default();
        let size = blob_size(line, oid)
            .ok_or_else(|| Error::answer("git cat-file --batch-check", line))?;
        sizes.push(((*oid).clone(), size));
    }
    Ok(sizes)
}

fn bodies(differ: &Differ, oids: &BTreeSet<&Oid>) -> Result<BTreeMap<Oid, Vec<u8>>, Error> {
    let mut found = BTreeMap::new();
    if oids.is_empty() {
        return Ok(found);
    }
    let command = differ
        .command()
        .args([
            "cat-file",
            "--batch=%(objectname) %(objecttype) %(objectsize)",
        ])
        .stdin(lines(oids.iter().copied()));
    let answer = finish(&command)?;
    let mut rest = answer.as_slice();
    for oid in oids {
        let odd = |bytes: &[u8]| Error::answer("git cat-file --batch", bytes);
        let end = rest.iter().position(|byte| *byte == b'\n');
        let line = end.map_or(rest, |end| &rest[..end]);
        let size = blob_size(line, oid).and_then(|size| usize::try_from(size).ok());
        let (Some(end), Some(size)) = (end, size) else {
            return Err(odd(line));
        };
        let body = rest.get(end + 1..end + 1 + size).ok_or_else(|| odd(line))?;
        found.insert((*oid).clone(), body.to_vec());
        rest = rest.get(end + 2 + size..).ok_or_else(|| odd(line))?;
    }
    Ok(found)
}

fn lines<'a>(oids: impl Iterator<Item = &'a Oid>) -> Vec<u8> {
    oids.flat_map(|oid| [oid.as_str().as_bytes(), b"\n"].concat())
        .collect()
}

/// Reads `<oid> blob <size>` of the blob that was asked for; a missing one has another form.
fn blob_size(line: &[u8], wanted: &Oid) -> Option<u64> {
    let text = std::str::from_utf8(line).ok()?;
    let size = text.strip_prefix(wanted.as_str())?.strip_prefix(" blob ")?;
    size.parse().ok()
}
