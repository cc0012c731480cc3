//! What an attempt at preparing a working tree made, and how it is taken back: this and nothing
//! else.

use std::io;
use std::path::{Path, PathBuf};

use crate::domain::oid::Oid;
use crate::git::Error;
use crate::git::error::path_shown;
use crate::git::program::{Git, finish};
use crate::git::worktree::submodules::{Attempt, succeed};
use crate::store::folder::FileId;

/// What was made so far, in the order of making.
#[derive(Debug)]
pub(crate) struct Made {
    git: Git,
    common_dir: PathBuf,
    /// Folders around the working tree, outermost first.
    parents: Vec<PathBuf>,
    /// The working tree's folder: which one, not only where.
    folder: Option<(PathBuf, FileId)>,
    /// The branch, with the commit it was made at.
    branch: Option<(String, Oid)>,
    /// Whether git has registered the folder.
    registered: bool,
    /// What was tried on submodules.
    submodules: Option<Attempt>,
}

impl Made {
    /// Nothing so far.
    pub(crate) fn nothing(git: &Git, common_dir: &Path) -> Self {
        Self {
            git: git.clone(),
            common_dir: common_dir.to_owned(),
            parents: Vec::new(),
            folder: None,
            branch: None,
            registered: false,
            submodules: None,
        }
    }

    /// Makes the folder, which must not exist, and what is missing above it.
    pub(crate) fn make_folder(&mut self, path: &Path) -> io::Result<()> {
        let missing: Vec<&Path> = path
            .ancestors()
            .skip(1)
            .take_while(|folder| fs_err::symlink_metadata(folder).is_err())
            .collect();
        for folder in missing.into_iter().rev() {
            fs_err::create_dir(folder)?;
            self.parents.push(folder.to_owned());
        }
        fs_err::create_dir(path)?;
        self.folder = Some((path.to_owned(), FileId::at(path)?));
        Ok(())
    }
    /// A branch that did not exist was made at this commit.
    pub(crate) fn made_branch(&mut self, full: &str, at: &Oid) {
        self.branch = Some((full.to_owned(), at.clone()));
    }
    /// Git has filled and registered the folder.
    pub(crate) fn made_worktree(&mut self) {
        self.registered = true;
    }
    /// Submodules are about to be initialised.
    pub(crate) fn attempt(&mut self, attempt: Attempt) -> &Attempt {
        self.submodules.insert(attempt)
    }

    /// Takes everything back; what is still there is returned, each with its reason.
    pub(crate) fn undo(mut self) -> Vec<String> {
        let mut left = Vec::new();
        let is_new = self.folder.is_some();
        if let Some(attempt) = self.submodules.take() {
            if is_new {
                // Their repositories go with the working tree.
                left.extend(self.remove_folder());
                left.extend(attempt.restore_config());
            } else {
                left.extend(attempt.undo());
            }
        } else {
            left.extend(self.remove_folder());
        }
        for parent in self.parents.drain(..).rev() {
            // Somebody else may use it by now; an empty one goes.
            if fs_err::remove_dir(parent).is_err() {
                break;
            }
        }
        if let Some((name, at)) = self.branch.take() {
            // Only while it is where we made it: a commit on it is somebody's work.
            let command = self.git.on(&self.common_dir).args([
                "update-ref",
                "-m",
                "run-loop: worktree prepare failed",
                "-d",
                &name,
                at.as_str(),
            ]);
            if let Err(error) = finish(&command) {
                left.push(format!("the branch {name}: {error}"));
            }
        }
        left
    }

    fn remove_folder(&mut self) -> Option<String> {
        let (path, id) = self.folder.take()?;
        if let Err(error) = self.remove_ours(&path, id) {
            return Some(format!("{}: {error}", path_shown(&path)));
        }
        None
    }
    fn remove_ours(&self, path: &Path, id: FileId) -> Result<(), Error> {
        match FileId::at(path) {
            Ok(now) if now == id => {}
            // Git takes an unfinished one away itself.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Ok(_) => {
                let message = "it is another folder than the one we made";
                return Err(io::Error::other(message).into());
            }
            Err(error) => return Err(error.into()),
        }
        if !self.registered {
            // Not registered, so nothing but an empty folder is surely ours.
            return Ok(fs_err::remove_dir(path)?);
        }
        let command = self
            .git
            .on(&self.common_dir)
            .args(["worktree", "remove", "--force", "--"])
            .arg(path);
        succeed(&command)
    }
}
