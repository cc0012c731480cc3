//! A tree object as bytes: edited here, hashed by git.

use std::collections::BTreeSet;

use crate::domain::oid::Oid;
use crate::git::error::Error;
use crate::git::object_id::raw;

/// The entries of one tree object, in git's order.
#[derive(Debug, Clone, Default)]
pub(crate) struct RawTree {
    entries: Vec<RawEntry>,
}

#[derive(Debug, Clone)]
struct RawEntry {
    mode: Vec<u8>,
    name: Vec<u8>,
    oid: Vec<u8>,
}

impl RawTree {
    /// Reads a tree object whose ids have `width` bytes.
    pub(crate) fn parse(mut bytes: &[u8], width: usize) -> Result<Self, Error> {
        let mut entries = Vec::new();
        while !bytes.is_empty() {
            let (entry, rest) =
                split(bytes, width).ok_or_else(|| Error::answer("git cat-file tree", bytes))?;
            entries.push(entry);
            bytes = rest;
        }
        Ok(Self { entries })
    }
    /// Whether nothing is left.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
    /// The mode, the name and the id of each entry.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&[u8], &[u8], &[u8])> {
        let all = self.entries.iter();
        all.map(|entry| (&entry.mode[..], &entry.name[..], &entry.oid[..]))
    }
    /// The mode and the id under a name.
    pub(crate) fn find(&self, name: &[u8]) -> Option<(&[u8], &[u8])> {
        let entry = self.entries.iter().find(|entry| entry.name == name)?;
        Some((&entry.mode, &entry.oid))
    }
    /// Drops the named entries.
    pub(crate) fn remove(&mut self, names: &BTreeSet<Vec<u8>>) {
        self.entries.retain(|entry| !names.contains(&entry.name));
    }
    /// Points an entry at another object, or drops it; its place in the order does not change.
    pub(crate) fn replace(&mut self, name: &[u8], oid: Option<&Oid>) -> Result<(), Error> {
        let place = self
            .entries
            .iter()
            .position(|entry| entry.name == name)
            .ok_or_else(|| Error::answer("git cat-file tree", name))?;
        match oid {
            Some(oid) => self.entries[place].oid = raw(oid)[..oid.as_str().len() / 2].to_vec(),
            None => drop(self.entries.remove(place)),
        }
        Ok(())
    }
    /// The tree object.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for entry in &self.entries {
            bytes.extend_from_slice(&entry.mode);
            bytes.push(b' ');
            bytes.extend_from_slice(&entry.name);
            bytes.push(0);
            bytes.extend_from_slice(&entry.oid);
        }
        bytes
    }
}

/// `<mode> <name>\0<id>`.
fn split(bytes: &[u8], width: usize) -> Option<(RawEntry, &[u8])> {
    let space = bytes.iter().position(|byte| *byte == b' ')?;
    let end = bytes.iter().position(|byte| *byte == 0)?;
    let oid = bytes.get(end + 1..end + 1 + width)?;
    let entry = RawEntry {
        mode: bytes[..space].to_vec(),
        name: bytes.get(space + 1..end)?.to_vec(),
        oid: oid.to_vec(),
    };
    Some((entry, &bytes[end + 1 + width..]))
}
