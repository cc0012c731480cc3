//! One capture of a working tree as a tree in the review store, by a copied index and `git add -A`:
//! the reference that everything faster is compared with, and the way of all that `quick` leaves to it.

mod folders;
mod look;
mod quick;

use std::io::ErrorKind;

use crate::domain::code::Code;
use crate::domain::digest::Digest;
use crate::domain::oid::Oid;
use crate::git::config::GitConfig;
use crate::git::error::Error;
use crate::git::filter::Forbidden;
use crate::git::index::{
    Checkout, Seed, TemporaryIndex, corrections, enter, remarkable, same_but_for_case,
};
use crate::git::object::read_oid;
use crate::git::program::{Git, finish};
use crate::git::refuse::{Meaning, meaning, one_name_for_git, with_status};
use crate::git::repository::Repository;
use crate::git::store::ReviewStore;
use crate::git::submodule::Inspection;
use crate::process::command::Command;

/// What a capture found.
#[derive(Debug)]
pub(crate) struct Capture {
    /// The tree of the working state, in the store.
    pub(crate) tree: Oid,
    /// The user's index by entries.
    pub(crate) index: Digest,
}

/// Where and how to capture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    /// The program.
    pub(crate) git: &'a Git,
    /// The repository and its working tree.
    pub(crate) repo: &'a Repository,
    /// Where new objects go.
    pub(crate) store: &'a ReviewStore,
    /// Git's configuration there.
    pub(crate) config: &'a GitConfig,
    /// Filters that may run.
    pub(crate) allow_filters: &'a [String],
    /// The tree of HEAD.
    pub(crate) head_tree: &'a Oid,
    /// No other try follows: the reference decides.
    pub(crate) is_last: bool,
}

impl Source<'_> {
    /// Captures once. A second try needs a new call: nothing of a failed one is used again.
    pub(crate) fn capture(&self) -> Result<Capture, Meaning> {
        if !self.is_last
            && !self.git.captures_alone()
            && let Some(capture) = quick::capture(self)?
        {
            return Ok(capture);
        }
        self.by_git()
    }

    /// The reference.
    fn by_git(&self) -> Result<Capture, Meaning> {
        let root = &self.repo.source_root;
        let temporary = self.store.temporary();
        let format = self.repo.object_format;
        let (index, seed) = TemporaryIndex::copy(&self.repo.git_dir, &temporary, format)
            .map_err(|error| self.failed(&error.into()))?;
        let forbidden = Forbidden::of(self.config, self.allow_filters);
        let command = forbidden.bar(self.storing(index.command(self.git, root)));
        let run = |command: &Command| {
            finish(command).map_err(|error| match forbidden.blamed(&error) {
                Some(failure) => Meaning::Refused(failure),
                None => self.failed(&error),
            })
        };
        if seed == Seed::Nothing {
            run(&command.clone().args(["read-tree", "HEAD"]))?;
        }
        let listing = index.settle(seed, &command, format);
        let listing = listing.map_err(|error| self.failed(&error))?;
        let entries = remarkable(&listing).map_err(|error| self.failed(&error))?;
        let flag = |name| self.config.flag(name);
        if flag("core.ignorecase")?
            && let Some((one, other)) = same_but_for_case(&listing)
        {
            return Err(one_name_for_git(root, one, other).into());
        }
        let inspection = Inspection {
            git: self.git,
            format,
            temporary: &temporary,
            allow_filters: self.allow_filters,
        };
        let heads = inspection
            .submodules(root, &entries)
            .map_err(Meaning::Refused)?;
        forbidden
            .refuse_selected(&command)
            .map_err(Meaning::Refused)?;
        let checkout = if flag("core.sparsecheckout")? {
            Checkout::Sparse
        } else {
            Checkout::Full
        };
        let lines = corrections(root, &entries, checkout, &heads)
            .map_err(|error| self.failed(&error.into()))?;
        enter(&command, lines).map_err(|error| self.failed(&error))?;
        let mut add = command.clone().args(["add", "-A"]);
        if checkout == Checkout::Sparse {
            add = add.arg("--sparse");
        }
        run(&add)?;
        let tree = run(&command.clone().args(["write-tree"]))?;
        let tree = read_oid("git write-tree", &tree).map_err(|error| self.failed(&error))?;
        Ok(Capture {
            tree,
            index: Digest::of(&listing),
        })
    }

    /// New objects go into the store, and so does what git-lfs keeps beside them; the store's own
    /// list of alternates leads to the user's objects.
    fn storing(&self, command: Command) -> Command {
        let mut lfs = std::ffi::OsString::from("lfs.storage=");
        lfs.push(self.store.git_dir().join("run-loop-lfs"));
        command
            .env("GIT_OBJECT_DIRECTORY", self.store.objects())
            .env("GIT_LFS_SKIP_SMUDGE", "1")
            .arg("-c")
            .arg(lfs)
    }

    fn failed(&self, error: &Error) -> Meaning {
        let root = &self.repo.source_root;
        if let Error::Io(io) = error {
            let code = if error.is_full() {
                Code::StateUnwritable
            } else if io.kind() == ErrorKind::PermissionDenied {
                Code::UnreadableFile
            } else {
                Code::SnapshotRefused
            };
            return Meaning::Refused(error.helped(with_status(code, io.to_string(), root)));
        }
        meaning(root, error)
    }
}
