//! Facts about the new blobs of a change.

use std::collections::{BTreeMap, BTreeSet};

use super::differ::Differ;
use crate::domain::oid::Oid;
use crate::git::error::Error;
use crate::git::read::{Place, Read as _, ask};

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
    let wanted: Vec<&Oid> = oids.iter().copied().collect();
    let sizes = ask(
        differ.git,
        Place::new(differ.store),
        |library| library.blob_sizes(&wanted),
        |program| program.blob_sizes(&wanted),
    )?;
    Ok(wanted.into_iter().cloned().zip(sizes).collect())
}

fn bodies(differ: &Differ, oids: &BTreeSet<&Oid>) -> Result<BTreeMap<Oid, Vec<u8>>, Error> {
    let names: Vec<String> = oids.iter().map(ToString::to_string).collect();
    let objects = ask(
        differ.git,
        Place::new(differ.store),
        |library| library.objects(&names),
        |program| program.objects(&names),
    )?;
    let mut found = BTreeMap::new();
    for (oid, object) in oids.iter().zip(objects) {
        match object {
            Some(object) if object.kind == "blob" && object.oid == **oid => {
                found.insert((*oid).clone(), object.bytes);
            }
            _ => {
                return Err(Error::answer(
                    "git cat-file --batch",
                    oid.as_str().as_bytes(),
                ));
            }
        }
    }
    Ok(found)
}
