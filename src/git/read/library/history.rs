//! Commits of the form that git writes: any other is left to it.

use super::super::{Object, Unsure};
use crate::domain::oid::Oid;
use crate::git::commit;

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
        let commit = commit::Commit::parse(object).filter(|commit| commit.is_plain);
        let commit = commit.ok_or_else(odd)?;
        let committer = commit.committer.ok_or_else(odd)?;
        let seconds = committer.rsplit(' ').nth(1);
        let seconds = seconds.and_then(|word| word.parse().ok());
        Ok(Self {
            tree: commit.tree,
            parents: commit.parents,
            time: seconds.ok_or_else(odd)?,
        })
    }
}
