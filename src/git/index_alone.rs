//! Keeping what nothing but the index holds: as a commit in the review store.

use crate::domain::failure::Failure;
use crate::domain::identity::Pin;
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::git::error::Error;
use crate::git::index::{TemporaryIndex, enter};
use crate::git::object::read_oid;
use crate::git::program::{Git, finish};
use crate::git::repository::Repository;
use crate::git::snapshot_commit::{pack, write};
use crate::git::store::ReviewStore;

/// Entries of an index, to be kept.
#[derive(Debug, Default)]
pub(crate) struct Alone(Vec<u8>);

impl Alone {
    /// One more: what lies at a path.
    pub(crate) fn add(&mut self, mode: &str, oid: &Oid, path: &RepoPath) {
        self.0.extend(format!("{mode} {oid} 0\t").into_bytes());
        self.0.extend_from_slice(path.as_bytes());
        self.0.push(0);
    }
}

/// Where they are kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keeping<'a> {
    pub(crate) git: &'a Git,
    pub(crate) repo: &'a Repository,
    pub(crate) store: &'a ReviewStore,
    pub(crate) pin: &'a Pin,
}

impl Keeping<'_> {
    /// Keeps them by this name: a commit on HEAD that has them, and beside them what `around` holds.
    /// `None` where there are none.
    pub(crate) fn keep(
        &self,
        alone: Alone,
        around: Option<&Oid>,
        name: &str,
    ) -> Result<Option<Oid>, Failure> {
        if alone.0.is_empty() {
            return Ok(None);
        }
        let (git, store) = (self.git, self.store);
        let commit = self.commit(alone, around)?;
        let packed = pack(git, store, &commit, &self.pin.identity.base)?;
        store.hold(name, &commit, &packed)?;
        Ok(Some(commit))
    }

    fn commit(&self, alone: Alone, around: Option<&Oid>) -> Result<Oid, Error> {
        let (git, store) = (self.git, self.store);
        let index = TemporaryIndex::empty(&store.temporary())?;
        let command = index
            .command(git, &self.repo.source_root)
            .env("GIT_OBJECT_DIRECTORY", store.objects());
        if let Some(around) = around {
            finish(&command.clone().args(["read-tree", around.as_str()]))?;
        }
        enter(&command, alone.0)?;
        // A partial clone lacks blobs, and git would fetch each of them to see that it is there.
        let tree = finish(&command.args(["write-tree", "--missing-ok"]))?;
        let tree = read_oid("git write-tree", &tree)?;
        write(git, store, &tree, &self.pin.identity.head, "0 +0000")
    }
}
