//! Commits as they stand in their objects: no grafts, no replacements, no commit graph.

use super::super::{Object, Unsure};
use crate::domain::oid::Oid;

/// What ancestry is told by.
#[derive(Debug)]
pub(super) struct Commit {
    pub(super) tree: Oid,
    pub(super) parents: Vec<Oid>,
    /// Seconds of the committer; only the order of a search goes by it.
    pub(super) time: i64,
}

impl Commit {
    pub(super) fn parse(object: &Object) -> Result<Self, Unsure> {
        let odd = || Unsure::question(object.oid.as_str(), "a commit of another form");
        if object.kind != "commit" {
            return Err(odd());
        }
        let lines = object.bytes.split(|byte| *byte == b'\n');
        let mut lines = lines.take_while(|line| !line.is_empty());
        let oid = |line: &[u8], word: &[u8]| {
            std::str::from_utf8(line.strip_prefix(word)?)
                .ok()
                .and_then(Oid::parse)
        };
        let tree = lines.next().and_then(|line| oid(line, b"tree "));
        let mut commit = Self {
            tree: tree.ok_or_else(odd)?,
            parents: Vec::new(),
            time: 0,
        };
        let mut line = lines.next();
        while let Some(parent) = line.filter(|line| line.starts_with(b"parent ")) {
            commit
                .parents
                .push(oid(parent, b"parent ").ok_or_else(odd)?);
            line = lines.next();
        }
        // Git reads parents there alone, and a tree once.
        if line.is_none_or(|line| !line.starts_with(b"author ")) {
            return Err(odd());
        }
        let committer = lines
            .find(|line| line.starts_with(b"committer "))
            .ok_or_else(odd)?;
        let text = String::from_utf8_lossy(committer);
        let seconds = text.rsplit(' ').nth(1).and_then(|word| word.parse().ok());
        commit.time = seconds.ok_or_else(odd)?;
        Ok(commit)
    }
}
