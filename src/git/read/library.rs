//! What is read in this process: refs and configuration by libgit2, and objects that are files of their
//! own, each checked against its id.

mod ancestry;
mod history;
mod loose;
mod names;
mod opening;
mod trees;

use std::fmt;

use super::{Object, Peel, Place, Read, Unsure};
use crate::domain::oid::Oid;
use crate::git::object::TreeEntry;

pub use names::Head;
pub(crate) use opening::{Opened, is_mine};

/// A repository that libgit2 is trusted to read, opened for one question.
///
/// It is opened each time, so that nothing it kept can be older than the question.
pub struct Library {
    /// Names, and objects where there is no store.
    repository: Opened,
    /// Objects.
    store: Option<Opened>,
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library")
            .field("git_dir", &self.repository.git_dir)
            .finish_non_exhaustive()
    }
}

impl Library {
    /// Opens a place, or says why it is left to the program.
    ///
    /// # Errors
    /// Everything that is not a plain repository of this user's, with objects named by SHA-1 and refs
    /// as files.
    pub fn open(place: Place<'_>) -> Result<Self, Unsure> {
        Ok(Self {
            repository: Opened::at(place.git_dir)?,
            store: place.store.map(Opened::at).transpose()?,
        })
    }

    /// HEAD: the commit, and the branch it stands for.
    ///
    /// # Errors
    /// When there is no commit, or it cannot be read.
    pub fn head(&self) -> Result<Head, Unsure> {
        self.repository.head()
    }

    /// Where objects are read.
    fn pool(&self) -> &Opened {
        self.store.as_ref().unwrap_or(&self.repository)
    }

    fn named(&self, name: &str) -> Result<Oid, Unsure> {
        match Oid::parse(name) {
            Some(oid) => Ok(oid),
            None => self.repository.follow(name).map(|(oid, _)| oid),
        }
    }

    fn tree_of(&self, rev: &str) -> Result<Oid, Unsure> {
        self.pool().peeled(&self.named(rev)?, Peel::Tree)
    }

    /// What a name or `<name>:<path>` stands for; `None` where the tree has no such path.
    fn object(&self, name: &str) -> Result<Option<Object>, Unsure> {
        let Some((rev, path)) = name.split_once(':') else {
            return self.pool().read(&self.named(name)?).map(Some);
        };
        let tree = self.tree_of(rev)?;
        if path.is_empty() {
            return self.pool().read(&tree).map(Some);
        }
        let Some(entry) = self.pool().entry(&tree, path)? else {
            return Ok(None);
        };
        self.pool().read(&entry.oid).map(Some)
    }
}

impl Read for Library {
    type Unanswered = Unsure;

    fn peeled(&self, name: &str, kind: Peel) -> Result<Option<Oid>, Unsure> {
        self.pool().peeled(&self.named(name)?, kind).map(Some)
    }

    fn resolves(&self, name: &str) -> Result<bool, Unsure> {
        self.named(name).map(|_| true)
    }

    fn is_ancestor(&self, ancestor: &Oid, descendant: &Oid) -> Result<bool, Unsure> {
        self.pool().leads(descendant, ancestor).map(|()| true)
    }

    fn merge_bases(&self, one: &Oid, other: &Oid) -> Result<Vec<Oid>, Unsure> {
        // One that the other leads to is the only one that can be best.
        let base = match self.pool().leads(other, one) {
            Ok(()) => one,
            Err(_) => self.pool().leads(one, other).map(|()| other)?,
        };
        Ok(vec![base.clone()])
    }

    fn apart(&self, one: &Oid, other: &Oid) -> Result<(u32, u32), Unsure> {
        match self.pool().steps(other, one) {
            Ok(steps) => Ok((0, steps)),
            Err(_) => Ok((self.pool().steps(one, other)?, 0)),
        }
    }

    fn entry(&self, rev: &str, path: &str) -> Result<Option<TreeEntry>, Unsure> {
        self.pool().entry(&self.tree_of(rev)?, path)
    }

    fn tree_entries(&self, rev: &str, folder: &str) -> Result<Vec<TreeEntry>, Unsure> {
        self.pool().listing(&self.tree_of(rev)?, folder)
    }

    fn objects(&self, names: &[String]) -> Result<Vec<Option<Object>>, Unsure> {
        names.iter().map(|name| self.object(name)).collect()
    }

    fn blob_sizes(&self, blobs: &[&Oid]) -> Result<Vec<u64>, Unsure> {
        blobs.iter().map(|oid| self.pool().blob_size(oid)).collect()
    }
}
