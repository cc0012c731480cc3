//! Submodules: a snapshot holds only the id of their commit, so they must be clean.
//!
//! Each is looked at from inside, with its own index copied and hidden edits shown, whatever its
//! settings and its superproject's say (rows M-065 and M-066, T-005, T-006, T-203).

use std::io;
use std::path::{Path, PathBuf};

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::oid::Oid;
use crate::git::config::GitConfig;
use crate::git::error::{Error, path_of, path_shown};
use crate::git::filter::Forbidden;
use crate::git::index::{Checkout, Entry, Seed, TemporaryIndex, corrections, enter, remarkable};
use crate::git::program::{Git, finish};
use crate::git::repository::ObjectFormat;

/// How to look at submodules.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inspection<'a> {
    /// The program.
    pub(crate) git: &'a Git,
    /// How objects are named, there as in the repository around.
    pub(crate) format: ObjectFormat,
    /// Where temporary indexes lie.
    pub(crate) temporary: &'a Path,
    /// Filters that may run.
    pub(crate) allow_filters: &'a [String],
}

impl Inspection<'_> {
    /// Looks into every submodule of the working tree `root`, and into theirs; returns where those
    /// that are checked out stand.
    pub(crate) fn submodules(
        &self,
        root: &Path,
        entries: &[Entry],
    ) -> Result<Vec<(Vec<u8>, Oid)>, Failure> {
        let mut heads = Vec::new();
        for entry in entries.iter().filter(|entry| entry.is_gitlink()) {
            let path = root.join(path_of(&entry.path));
            if !is_folder_of(root, &path)? {
                // Gone, or another kind of thing now: the superproject's tree shows it.
                continue;
            }
            if let Some(head) = self.submodule(&path)? {
                heads.push((entry.path.clone(), head));
            }
        }
        Ok(heads)
    }

    /// The commit that a submodule stands on; `None` where it is not checked out.
    fn submodule(&self, root: &Path) -> Result<Option<Oid>, Failure> {
        if fs_err::symlink_metadata(root.join(".git")).is_err() {
            let mut inside = fs_err::read_dir(root).map_err(|error| dirty(root, &error))?;
            return match inside.next() {
                None => Ok(None),
                Some(_) => Err(dirty(root, &"it is not initialised, but holds files")),
            };
        }
        let git_dir = self.git_dir(root)?;
        let (index, seed) = TemporaryIndex::copy(&git_dir, self.temporary, self.format)
            .map_err(|error| dirty(root, &error))?;
        if seed == Seed::Nothing {
            return Err(dirty(root, &"it has no index"));
        }
        let config = GitConfig::read(&self.git.command(root))?;
        let forbidden = Forbidden::of(&config, self.allow_filters);
        let command = forbidden.bar(index.command(self.git, root));
        let listing = match index.settle(seed, &command, self.format) {
            Err(error) if matches!(error, Error::OddIndex) => return Err(dirty(root, &error)),
            listing => listing?,
        };
        let entries = remarkable(&listing)?;
        // Depth first, so that no configuration further inside is used before it was examined.
        let heads = self.submodules(root, &entries)?;
        forbidden.refuse_selected(&command)?;
        let checkout = if config.flag("core.sparsecheckout")? {
            Checkout::Sparse
        } else {
            Checkout::Full
        };
        let lines =
            corrections(root, &entries, checkout, &heads).map_err(|error| dirty(root, &error))?;
        enter(&command, lines)?;
        let status = finish(&command.args([
            "status",
            "--porcelain=v2",
            "--branch",
            "-z",
            "--untracked-files=all",
            "--ignore-submodules=none",
            "--no-renames",
        ]))
        .map_err(|error| {
            forbidden
                .blamed(&error)
                .unwrap_or_else(|| dirty(root, &error))
        })?;
        read_status(root, &status).map(Some)
    }

    /// The submodule's git directory, proved to be the one of exactly this folder.
    pub(crate) fn git_dir(&self, root: &Path) -> Result<PathBuf, Failure> {
        let ceiling = root.parent().unwrap_or(root);
        let command = self
            .git
            .command(root)
            // A broken `.git` must not lead to the superproject.
            .env("GIT_CEILING_DIRECTORIES", ceiling)
            .args(["rev-parse", "--show-toplevel", "--absolute-git-dir"]);
        let answer = finish(&command).map_err(|error| dirty(root, &error))?;
        let lines: Vec<&[u8]> = answer.split(|byte| *byte == b'\n').collect();
        let [top, git_dir, b""] = lines.as_slice() else {
            return Err(dirty(root, &"its path holds a line break"));
        };
        if path_of(top) == root {
            Ok(path_of(git_dir))
        } else {
            let elsewhere = path_shown(&path_of(top));
            Err(dirty(root, &format!("its working tree is at {elsewhere}")))
        }
    }
}

/// The head of a clean submodule.
fn read_status(root: &Path, status: &[u8]) -> Result<Oid, Failure> {
    let mut head = None;
    for line in status
        .split(|byte| *byte == 0)
        .filter(|line| !line.is_empty())
    {
        let Some(about) = line.strip_prefix(b"# ") else {
            let path = changed_path(line);
            return Err(dirty(
                root,
                &format!("{} is not committed", path_shown(&path)),
            ));
        };
        if let Some(oid) = about.strip_prefix(b"branch.oid ") {
            head = std::str::from_utf8(oid).ok().and_then(Oid::parse);
        }
    }
    head.ok_or_else(|| dirty(root, &"it has no commit"))
}

/// The path in a line of `status --porcelain=v2`.
pub(crate) fn changed_path(line: &[u8]) -> PathBuf {
    let fields = match line.first() {
        Some(b'?') => 1,
        Some(b'u') => 10,
        Some(_) | None => 8,
    };
    let path = line.splitn(fields + 1, |byte| *byte == b' ').last();
    path_of(path.unwrap_or_default())
}

/// Whether `path` is a folder that git reaches without following a link.
fn is_folder_of(root: &Path, path: &Path) -> Result<bool, Failure> {
    for folder in path.ancestors().take_while(|folder| *folder != root) {
        match fs_err::symlink_metadata(folder) {
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => return Ok(false),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                return Ok(false);
            }
            Err(error) => return Err(dirty(path, &error)),
        }
    }
    Ok(true)
}

fn dirty(root: &Path, what: &dyn std::fmt::Display) -> Failure {
    let message = format!(
        "the submodule {} holds what its commit does not: {what}",
        path_shown(root)
    );
    Failure::new(Code::DirtySubmodule, message).next([
        "git".to_owned(),
        "-C".to_owned(),
        root.to_string_lossy().into_owned(),
        "status".to_owned(),
        "--untracked-files=all".to_owned(),
    ])
}
