//! Reading names, objects and ancestry: a library in this process where it is sure, the git program
//! everywhere else.
//!
//! Both give the same answers through one interface, [`Read`]. The library only ever says what it has
//! read: that something is *not* there, and everything it cannot read, is asked of the program. What
//! touches a working tree, an index, filters, attributes or configuration is no part of this.

pub mod layout;
pub mod library;
pub mod program;

use std::path::{Path, PathBuf};

use crate::domain::oid::Oid;
use crate::git::error::Error;
use crate::git::object::TreeEntry;
use crate::git::program::Git;
use library::Library;
use program::Program;

/// What names, objects and ancestry are asked of.
///
/// A name is `HEAD`, a ref's full name or a full object id; the program takes any revision.
pub trait Read {
    /// Why there is no answer.
    type Unanswered;

    /// The commit or tree that a name leads to; `None` when it leads to none.
    ///
    /// # Errors
    /// When it cannot be told.
    fn peeled(&self, name: &str, kind: Peel) -> Result<Option<Oid>, Self::Unanswered>;
    /// Whether a name resolves at all, be its object there or not.
    ///
    /// # Errors
    /// When it cannot be told.
    fn resolves(&self, name: &str) -> Result<bool, Self::Unanswered>;
    /// Whether `descendant` leads to `ancestor`, or is the same commit.
    ///
    /// # Errors
    /// When it cannot be told, also for objects that are missing.
    fn is_ancestor(&self, ancestor: &Oid, descendant: &Oid) -> Result<bool, Self::Unanswered>;
    /// The merge bases of two commits, the one that git picks first.
    ///
    /// # Errors
    /// When they cannot be told.
    fn merge_bases(&self, one: &Oid, other: &Oid) -> Result<Vec<Oid>, Self::Unanswered>;
    /// Commits that `one` has and `other` lacks, and the other way round.
    ///
    /// # Errors
    /// When they cannot be told.
    fn apart(&self, one: &Oid, other: &Oid) -> Result<(u32, u32), Self::Unanswered>;
    /// The entry at one path of a revision's tree; `None` when there is none.
    ///
    /// # Errors
    /// When it cannot be told.
    fn entry(&self, rev: &str, path: &str) -> Result<Option<TreeEntry>, Self::Unanswered>;
    /// Every file under `folder` (empty: the root) of a revision's tree, in git's order; a folder that
    /// does not exist has none.
    ///
    /// # Errors
    /// When it cannot be told.
    fn tree_entries(&self, rev: &str, folder: &str) -> Result<Vec<TreeEntry>, Self::Unanswered>;
    /// What each name stands for, a name or `<name>:<path>`; `None` for one that stands for nothing.
    ///
    /// # Errors
    /// When it cannot be told.
    fn objects(&self, names: &[String]) -> Result<Vec<Option<Object>>, Self::Unanswered>;
    /// The sizes of blobs, all of which must be there.
    ///
    /// # Errors
    /// When they cannot be told.
    fn blob_sizes(&self, blobs: &[&Oid]) -> Result<Vec<u64>, Self::Unanswered>;
}

/// What a name is followed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peel {
    /// A commit.
    Commit,
    /// A tree.
    Tree,
}

impl Peel {
    /// Git's name for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Commit => "commit",
            Self::Tree => "tree",
        }
    }
}

/// An object with its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// Its id.
    pub oid: Oid,
    /// Git's name for its kind.
    pub kind: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// Where is read.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The git directory: names and objects.
    pub git_dir: &'a Path,
    /// The review store, where objects are read in it and not in the git directory. It borrows the
    /// repository's.
    pub store: Option<&'a Path>,
}

impl<'a> Place<'a> {
    /// A git directory with its own objects.
    #[must_use]
    pub fn new(git_dir: &'a Path) -> Self {
        Self {
            git_dir,
            store: None,
        }
    }
}

/// The library has no answer; the program must be asked.
#[derive(Debug, thiserror::Error)]
pub enum Unsure {
    /// Something in the repository is not what the library is trusted with.
    #[error("{}: {what}", path.display())]
    Place {
        /// Where.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// The question is none for the library.
    #[error("{what}: {name:?}")]
    Question {
        /// What was asked for.
        name: String,
        /// Why it is none.
        what: &'static str,
    },
    /// The library could not read something.
    #[error(transparent)]
    Library(#[from] git2::Error),
    /// A file could not be looked at.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl Unsure {
    pub(crate) fn question(name: impl Into<String>, what: &'static str) -> Self {
        Self::Question {
            name: name.into(),
            what,
        }
    }
}

/// Asks the library, and the program where it is unsure.
pub(crate) fn ask<T>(
    git: &Git,
    place: Place<'_>,
    library: impl FnOnce(&Library) -> Result<T, Unsure>,
    program: impl FnOnce(&Program<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let read = Library::open(place).and_then(|opened| library(&opened));
    or_program(read, || program(&Program { git, place }))
}

/// What was read in this process, or what the git program says where that is nothing sure.
pub(crate) fn or_program<T, E>(
    read: Result<T, Unsure>,
    program: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    read.or_else(|unsure| {
        tracing::debug!(%unsure, "asking the git program");
        program()
    })
}
