//! What lies in a working tree and in no commit: edits, untracked files, ignored files.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::domain::failure::Failure;
use crate::git::config::GitConfig;
use crate::git::error::{Error, path_of, path_shown};
use crate::git::filter::Forbidden;
use crate::git::index::{Checkout, TemporaryIndex, corrections, enter, list, remarkable};
use crate::git::program::{Git, finish};
use crate::git::refuse::is_absent;
use crate::git::repository::Repository;
use crate::git::submodule::{Inspection, changed_path};
use crate::git::worktree::Risk;

/// How many paths a message names.
const NAMED: usize = 5;

/// The content of a working tree and of its submodules.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// What is in no commit; ignored files are not among it.
    pub(crate) risks: Vec<Risk>,
    /// Ignored files and folders, absolute; a folder stands for all in it.
    pub(crate) ignored: Vec<PathBuf>,
    /// Submodules that are checked out, each with its git directory.
    pub(crate) submodules: Vec<(PathBuf, PathBuf)>,
    /// Whether the index names any submodule.
    pub(crate) has_gitlinks: bool,
}

/// How to look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look<'a> {
    /// The program.
    pub(crate) git: &'a Git,
    /// Where temporary indexes lie.
    pub(crate) temporary: &'a Path,
    /// Filters that may run besides LFS.
    pub(crate) allow_filters: &'a [String],
}

impl Look<'_> {
    /// Looks at everything, whatever the user's settings hide (T-157: `status.showUntrackedFiles`).
    pub(crate) fn at(&self, found: &Repository) -> Result<Contents, Failure> {
        let (root, format) = (found.source_root.as_path(), found.object_format);
        let mut contents = Contents::default();
        let (index, seed) =
            TemporaryIndex::copy(&found.git_dir, self.temporary, format).map_err(Error::Io)?;
        let config = GitConfig::read(&self.git.command(root))?;
        let forbidden = Forbidden::of(&config, self.allow_filters);
        let command = forbidden.bar(index.command(self.git, root));
        let entries = remarkable(&index.settle(seed, &command, format)?)?;
        contents.has_gitlinks = entries.iter().any(crate::git::index::Entry::is_gitlink);
        let inspection = Inspection {
            format,
            git: self.git,
            temporary: self.temporary,
            allow_filters: self.allow_filters,
        };
        let heads = match inspection.submodules(root, &entries) {
            Ok(heads) => heads,
            Err(failure) => {
                contents.risks.push(Risk {
                    what: failure.message,
                    next: failure.next.0,
                });
                Vec::new()
            }
        };
        forbidden.refuse_selected(&command)?;
        let checkout = if config.flag("core.sparsecheckout")? {
            Checkout::Sparse
        } else {
            Checkout::Full
        };
        enter(
            &command,
            corrections(root, &entries, checkout, &heads).map_err(Error::Io)?,
        )?;
        let status = finish(&command.args(STATUS))
            .map_err(|error| forbidden.blamed(&error).unwrap_or_else(|| error.into()))?;
        contents.take(root, &status);
        self.submodules(&inspection, root, &mut contents)?;
        Ok(contents)
    }

    /// Finds the submodules that are checked out, nested ones too, with what they ignore.
    fn submodules(
        &self,
        inspection: &Inspection<'_>,
        root: &Path,
        contents: &mut Contents,
    ) -> Result<(), Failure> {
        let (entries, _) = list(&self.git.command(root))?;
        for entry in entries.iter().filter(|entry| entry.is_gitlink()) {
            let path = root.join(path_of(&entry.path));
            if is_absent(&path.join(".git")) {
                continue;
            }
            let git_dir = match inspection.git_dir(&path) {
                Ok(git_dir) => git_dir,
                Err(failure) => {
                    contents.risks.push(Risk {
                        what: failure.message,
                        next: failure.next.0,
                    });
                    continue;
                }
            };
            let command = self.git.command(&path).env("GIT_CEILING_DIRECTORIES", root);
            let forbidden = Forbidden::of(&GitConfig::read(&command)?, self.allow_filters);
            let status = finish(&forbidden.bar(command).args(STATUS))?;
            let ignored = status.split(|byte| *byte == 0).filter_map(ignored_path);
            contents.ignored.extend(ignored.map(|name| path.join(name)));
            contents.submodules.push((path.clone(), git_dir));
            self.submodules(inspection, &path, contents)?;
        }
        Ok(())
    }
}

const STATUS: [&str; 7] = [
    "status",
    "--porcelain=v2",
    "-z",
    "--untracked-files=all",
    "--ignored=matching",
    "--ignore-submodules=none",
    "--no-renames",
];

fn ignored_path(line: &[u8]) -> Option<PathBuf> {
    line.strip_prefix(b"! ").map(path_of)
}

impl Contents {
    fn take(&mut self, root: &Path, status: &[u8]) {
        let (mut changed, mut untracked) = (Vec::new(), Vec::new());
        for line in status
            .split(|byte| *byte == 0)
            .filter(|line| !line.is_empty())
        {
            if let Some(path) = ignored_path(line) {
                self.ignored.push(root.join(path));
            } else if line.starts_with(b"? ") {
                untracked.push(path_shown(&changed_path(line)));
            } else {
                changed.push(path_shown(&changed_path(line)));
            }
        }
        let root = root.to_string_lossy();
        let status = ["git", "-C", &root, "status", "--untracked-files=all"];
        for (kind, paths) in [
            ("uncommitted changes", changed),
            ("untracked files", untracked),
        ] {
            if !paths.is_empty() {
                self.risks
                    .push(Risk::new(format!("{kind}: {}", named(&paths)), status));
            }
        }
    }

    /// Ignored files as a risk; where they are given up, only repositories and mounted file
    /// systems among them are one.
    pub(crate) fn ignored_at_risk(&self, root: &Path, give_up: bool) -> Vec<Risk> {
        let shown = |path: &Path| path_shown(path.strip_prefix(root).unwrap_or(path));
        if !give_up {
            let paths: Vec<String> = self.ignored.iter().map(|path| shown(path)).collect();
            if paths.is_empty() {
                return Vec::new();
            }
            return vec![Risk::new(
                format!(
                    "ignored files: {} (--delete-ignored gives them up)",
                    named(&paths)
                ),
                // Whoever runs the next command unread loses nothing by it.
                ["git", "-C", &root.to_string_lossy(), "status", "--ignored"],
            )];
        }
        let mut risks = Vec::new();
        let device = fs_err::symlink_metadata(root).map(|meta| meta.dev());
        let mut todo = self.ignored.clone();
        while let Some(path) = todo.pop() {
            let looked = device
                .as_ref()
                .map_err(ToString::to_string)
                .and_then(|device| {
                    search(&path, *device, &mut todo).map_err(|error| error.to_string())
                });
            match looked {
                Ok(None) => {}
                Ok(Some(what)) => risks.push(Risk::new(
                    format!("{what} among the ignored files: {}", shown(&path)),
                    ["ls", "-la", &path.to_string_lossy()],
                )),
                Err(error) => risks.push(Risk::unknown(&path, &error)),
            }
        }
        risks
    }
}

/// What must not be deleted as an ignored file; folders are searched further.
fn search(
    path: &Path,
    device: u64,
    todo: &mut Vec<PathBuf>,
) -> std::io::Result<Option<&'static str>> {
    let meta = fs_err::symlink_metadata(path)?;
    if meta.dev() != device {
        return Ok(Some("another file system"));
    }
    if !meta.is_dir() {
        return Ok(None);
    }
    let mut names = Vec::new();
    for entry in fs_err::read_dir(path)? {
        names.push(entry?.file_name());
    }
    let has = |name: &str| names.iter().any(|found| found == name);
    if has(".git") || (has("HEAD") && has("objects") && has("refs")) {
        return Ok(Some("a repository"));
    }
    todo.extend(names.into_iter().map(|name| path.join(name)));
    Ok(None)
}

/// The first few, and how many more.
fn named(paths: &[String]) -> String {
    let first = paths[..paths.len().min(NAMED)].join(", ");
    match paths.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
