//! The objects of a change in a repository of their own.
//!
//! A repository may hold two objects under one id, and which of them a git process reads depends on what
//! it read before: what one process proved need not be what the next one shows. Git computes the id of
//! each object that it takes in from elsewhere. So the objects of a change are taken in here, and the
//! change is shown from them alone: what is not what its id stands for is not there under that id, and
//! then there is no evidence.

use std::path::Path;

use tempfile::TempDir;

use crate::domain::oid::Oid;
use crate::git::Git;
use crate::git::error::Error;
use crate::git::genuine;
use crate::git::program::{finish, finish_into};
use crate::git::repository::ObjectFormat;
use crate::git::store::ReviewStore;

/// A repository for one change.
#[derive(Debug)]
pub(super) struct Apart {
    folder: TempDir,
}

impl Apart {
    /// With the objects in which two trees differ. Those that only a promisor remote has are fetched: all
    /// of them are read to show the change.
    pub(super) fn of(git: &Git, store: &ReviewStore, trees: [&Oid; 2]) -> Result<Self, Error> {
        let objects = genuine::objects(git, store.git_dir(), trees)?;
        store.bring(git, &objects)?;
        let folder = tempfile::Builder::new()
            .prefix("apart-")
            .tempdir_in(store.temporary())?;
        let format = ObjectFormat::of(trees[0]).as_str();
        let init = git
            .command(folder.path())
            .args(["init", "-q", "--bare", "--template="])
            .arg(format!("--object-format={format}"));
        finish(&init)?;
        let pack = folder.path().join("objects/pack/pack-change.pack");
        let file = fs_err::File::create_new(&pack)?.into_parts().0;
        let gather = git
            .on(store.git_dir())
            // It is read once and thrown away.
            .args(["-c", "pack.compression=0"])
            .args(["pack-objects", "-q", "--stdout", "--window=0"])
            .stdin(genuine::lines(&objects));
        finish_into(&gather, file)?;
        let take_in = git.on(folder.path()).arg("index-pack").arg(&pack);
        finish(&take_in)?;
        Ok(Self { folder })
    }

    /// Where it lies.
    pub(super) fn git_dir(&self) -> &Path {
        self.folder.path()
    }
}
