//! Asking git for the difference of two trees, so that nobody's settings change the answer.

use std::path::Path;

use super::list::{Counts, Entry, Malformed, parse};
use crate::domain::evidence::FileStatus;
use crate::domain::oid::Oid;
use crate::git::error::Error;
use crate::git::program::{Git, finish, finish_into};
use crate::process::command::Command;

/// From here on git has `--attr-source`; before, it reads no attributes in a bare repository.
const ATTR_SOURCE_SINCE: (u32, u32) = (2, 41);
/// How many new and how many gone files are compared with each other to find edited renames.
const RENAME_LIMIT: usize = 1_000;

/// What every difference of ours is made with, whatever a configuration says.
const OPTIONS: [&str; 14] = [
    "-r",
    "--no-abbrev",
    "--full-index",
    "--ignore-submodules=none",
    "--submodule=short",
    "--no-relative",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-color-moved",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--diff-algorithm=myers",
    "--indent-heuristic",
];

/// Two trees to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) old: Oid,
    pub(super) new: Oid,
}

/// How files that moved are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Renames {
    /// Not at all: each side is a file of its own.
    None,
    /// Only where the content is the same: too many files for more.
    Exact,
    /// Also where half of the content is the same.
    Similar,
}

impl Renames {
    /// What can be afforded for a list made without renames; a limit that git meets itself is
    /// only a warning there.
    pub(super) fn for_list(entries: &[Entry]) -> Self {
        let count = |status| entries.iter().filter(|e| e.status == status).count();
        let pairs = count(FileStatus::Added).saturating_mul(count(FileStatus::Deleted));
        if pairs <= RENAME_LIMIT * RENAME_LIMIT {
            Self::Similar
        } else {
            Self::Exact
        }
    }
    fn option(self) -> &'static str {
        match self {
            Self::None => "--no-renames",
            Self::Exact => "--find-renames=100%",
            Self::Similar => "--find-renames=50%",
        }
    }
}

/// Makes differences in the review store.
#[derive(Debug)]
pub(super) struct Differ<'a> {
    pub(super) git: &'a Git,
    pub(super) store: &'a Path,
}

impl Differ<'_> {
    /// A git process in the store that reads no configuration but the store's own, and no
    /// attributes at all.
    pub(super) fn command(&self) -> Command {
        self.git
            .on(self.store)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .args(["-c", "core.attributesFile=/dev/null"])
            .args(["-c", "core.quotePath=false"])
            .args(["-c", "core.bigFileThreshold=512m"])
    }
    /// The changed files of two trees.
    pub(super) fn list(
        &self,
        pair: &Pair,
        renames: Renames,
        counts: Counts,
    ) -> Result<Vec<Entry>, super::Error> {
        let mut command = self.diff(pair).args(["-z", "--raw", renames.option()]);
        if counts == Counts::With {
            command = command.arg("--numstat");
        }
        let output = finish(&with_trees(command, pair))?;
        parse(&output, counts).map_err(|error: Malformed| error.into())
    }
    /// Writes the unified diff of two trees into a file.
    pub(super) fn patch(
        &self,
        pair: &Pair,
        renames: Renames,
        file: std::fs::File,
    ) -> Result<(), Error> {
        let command = self
            .diff(pair)
            .args(["--patch", "--unified=3", "--inter-hunk-context=0"])
            .arg(renames.option());
        finish_into(&with_trees(command, pair), file)
    }
    fn diff(&self, pair: &Pair) -> Command {
        let mut command = self.command();
        if self.git.version() >= ATTR_SOURCE_SINCE {
            command = command.arg(format!("--attr-source={}", empty_tree(&pair.old)));
        }
        command
            .arg("diff-tree")
            .args(OPTIONS)
            .arg(format!("-l{RENAME_LIMIT}"))
    }
}

fn with_trees(command: Command, pair: &Pair) -> Command {
    command.args([
        "--end-of-options",
        pair.old.as_str(),
        pair.new.as_str(),
        "--",
    ])
}

/// The empty tree in the object format of `oid`; git knows both without storing them.
pub(super) fn empty_tree(oid: &Oid) -> &'static str {
    if oid.as_str().len() == 40 {
        "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    } else {
        "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
    }
}
