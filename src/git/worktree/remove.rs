//! Removing a linked working tree, once nothing would be lost with it (rows M-225 to M-231).
//!
//! Everything is looked at twice, the second time right before git is asked to remove, and git
//! looks once more itself unless there are submodules. What somebody writes in the instant after
//! the last look is lost: git has no way to hold a working tree still.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::domain::code::Code;
use crate::domain::effect::{Done, Outcome};
use crate::domain::event::Event;
use crate::domain::failure::{Failure, NextCommand};
use crate::domain::identity::Pin;
use crate::domain::oid::Oid;
use crate::git::Error;
use crate::git::config::GitConfig;
use crate::git::error::path_shown;
use crate::git::filter::Forbidden;
use crate::git::object::commit_of;
use crate::git::program::Git;
use crate::git::refuse::unfinished;
use crate::git::repository::Repository;
use crate::git::worktree::contents::Look;
use crate::git::worktree::head_log::HeadLog;
use crate::git::worktree::modules::{self, Modules};
use crate::git::worktree::prepare::{listing, prune};
use crate::git::worktree::registered::{self, Registered, resolved};
use crate::git::worktree::submodules::succeed;
use crate::git::worktree::{Risk, commits};
use crate::store::folder::FileId;
use crate::store::index::{Index, RunRow};
use crate::store::run_lock::{Holder, RunLock, running_on};
use crate::store::{Entry, Journal, StateFolder};

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The program.
    pub git: &'a Git,
    /// The repository whose working tree it is.
    pub repository: &'a Repository,
    /// The working tree's folder, absolute.
    pub path: &'a Path,
    /// Whether ignored files are given up.
    pub delete_ignored: bool,
    /// Filters that may run besides LFS.
    pub allow_filters: &'a [String],
}

/// A working tree that can be removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removable {
    /// Its folder.
    pub path: PathBuf,
    /// The branch that stays, in full, with its commit.
    pub branch: Option<(String, Oid)>,
    /// Its git directory.
    admin: PathBuf,
    /// Which folder it is.
    id: FileId,
    /// Whether submodules keep git from a plain removal (row M-227).
    submodules: bool,
}

/// Looks whether a working tree can be removed; changes nothing.
///
/// # Errors
/// `WorktreeNotRemovable`, `WorktreeAtRisk` with everything that would be lost, `LoopRunning`, or
/// what git cannot tell.
pub fn look(request: &Request<'_>) -> Result<Removable, Failure> {
    let (found, record, id) = identify(request)?;
    if let Some(reason) = &record.locked {
        let why = if reason.is_empty() {
            String::new()
        } else {
            format!(": {reason}")
        };
        let root = found.source_root.to_string_lossy();
        return Err(refused(&found.source_root, &format!("is locked{why}"))
            .next(["git", "worktree", "unlock", &root]));
    }
    let mut risks = resumable(request.git, &found)?;
    let temporary = tempfile::tempdir().map_err(Error::Io)?;
    let look = Look {
        git: request.git,
        temporary: temporary.path(),
        allow_filters: request.allow_filters,
    };
    risks.extend(in_progress(request.git, &found)?);
    risks.extend(nested(request.repository, &found)?);
    let contents = look.at(&found)?;
    let ignored = contents.ignored_at_risk(&found.source_root, request.delete_ignored);
    risks.extend(contents.risks);
    let mut modules = Modules::of(&found.git_dir).map_err(Error::Io)?;
    let submodules = contents.has_gitlinks || !modules.is_empty();
    let inside = |dir: &PathBuf| dir.starts_with(&found.source_root);
    let embedded = contents.submodules.into_iter().map(|(_, dir)| dir);
    modules.repositories.extend(embedded.filter(inside));
    risks.extend(modules::at_risk(request.git, &modules));
    risks.extend(commits::at_risk(request.git, &found)?);
    // Last: what can be given up is not the first thing to be told.
    risks.extend(ignored);
    if !risks.is_empty() {
        return Err(at_risk(&found.source_root, &risks));
    }
    let branch = match (
        record.branch,
        commit_of(request.git, &found.git_dir, "HEAD")?,
    ) {
        (Some(name), Some(tip)) => Some((name, tip)),
        _ => None,
    };
    Ok(Removable {
        path: found.source_root,
        branch,
        admin: found.git_dir,
        id,
        submodules,
    })
}

/// Looks again and removes. `seen` is what the first look found.
///
/// # Errors
/// As [`look`], when something came up meanwhile: nothing is removed then (row M-226). Otherwise
/// `WorktreeFailed`, saying what is still there.
pub fn carry_out(request: &Request<'_>, seen: &Removable) -> Result<(), Failure> {
    let now = look(request)?;
    if now != *seen {
        return Err(
            refused(&seen.path, "changed while it was looked at").next(listing(request.repository))
        );
    }
    let (git, repo) = (request.git, request.repository);
    let config = GitConfig::read(&git.command(&now.path))?;
    // From the common directory: the command may have been started inside the working tree.
    let mut command = git.on(&repo.common_dir).args(["worktree", "remove"]);
    if now.submodules {
        command = command.arg("--force");
    }
    let command = Forbidden::of(&config, request.allow_filters)
        .bar(command)
        .arg("--")
        .arg(&now.path);
    let removed = succeed(&command);
    let folder = fs_err::symlink_metadata(&now.path).is_ok();
    let admin = fs_err::symlink_metadata(&now.admin).is_ok();
    match (removed, folder, admin) {
        (Ok(()), false, false) => Ok(()),
        (Ok(()), ..) => Err(failed(
            repo,
            &now.path,
            folder,
            "git says that it is removed",
        )),
        (Err(error), ..) => Err(failed(repo, &now.path, folder, &error.to_string())),
    }
}

/// The working tree at the path, proved from both sides: git finds it there, and its git
/// directory names the path (scenario W02).
fn identify(request: &Request<'_>) -> Result<(Repository, Registered, FileId), Failure> {
    let (git, repo, path) = (request.git, request.repository, request.path);
    let place = match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => resolved(parent).join(name),
        _ => resolved(path),
    };
    let meta = match fs_err::symlink_metadata(&place) {
        Ok(meta) => meta,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(gone(repo, &place)?);
        }
        Err(error) => return Err(Error::Io(error).into()),
    };
    if meta.is_symlink() {
        let target = resolved(&place);
        return Err(
            refused(&place, &format!("is a link to {}", path_shown(&target))).next([
                "run-loop",
                "worktree",
                "remove",
                &target.to_string_lossy(),
            ]),
        );
    }
    if !meta.is_dir() {
        return Err(refused(&place, "is no folder").next(listing(repo)));
    }
    let id = FileId::at(&place).map_err(Error::Io)?;
    // A path that ends in `..` has another name than the one it was given.
    let place = fs_err::canonicalize(&place).map_err(Error::Io)?;
    let found = Repository::discover(git, &place).map_err(|failure| {
        refused(
            &place,
            &format!("is no working tree that git can read: {}", failure.message),
        )
        .next(listing(repo))
    })?;
    let no = |what: String| Err(refused(&place, &what).next(listing(repo)));
    if found.source_root != place {
        let outer = path_shown(&found.source_root);
        return no(format!("lies inside the working tree {outer}"));
    }
    if found.common_dir != repo.common_dir {
        let other = path_shown(&found.common_dir);
        return no(format!("belongs to the repository {other}"));
    }
    if !found.is_linked() {
        return no("is the main working tree".to_owned());
    }
    if found.git_dir.parent() != Some(&repo.common_dir.join("worktrees")) {
        return no("is not registered in this repository".to_owned());
    }
    let me = rustix::process::geteuid().as_raw();
    if meta.uid() != me {
        return no(format!("belongs to user {}, not to user {me}", meta.uid()));
    }
    let record = registered::read(found.git_dir.clone()).map_err(Error::Io)?;
    if record.path.as_ref() != Some(&found.source_root) {
        let root = found.source_root.to_string_lossy();
        return Err(refused(&place, "is not where git has registered it")
            .next(["git", "-C", &root, "worktree", "repair"]));
    }
    Ok((found, record, id))
}

/// A path with nothing there: a working tree whose folder is gone, or none at all (row M-231).
fn gone(repo: &Repository, place: &Path) -> Result<Failure, Failure> {
    let known = registered::all(&repo.common_dir)
        .map_err(Error::Io)?
        .into_iter()
        .any(|found| found.path.as_deref() == Some(place));
    Ok(if known {
        refused(place, "is registered, but its folder is gone").next(prune(repo))
    } else {
        refused(place, "does not exist").next(listing(repo))
    })
}

/// Refuses while a loop runs on it, here or, as far as can be told, on another machine (W05, W22).
/// A run that was interrupted can go on only here: what it has bought is at risk.
fn resumable(git: &Git, found: &Repository) -> Result<Vec<Risk>, Failure> {
    let Some(state) = StateFolder::find(&found.common_dir)? else {
        return Ok(Vec::new());
    };
    let root = &found.source_root;
    if let Holder::Held(owner) = RunLock::holder(&state, root)? {
        return Err(running_on(root, owner.as_deref()));
    }
    // Whose lock it was may be on another machine: its life is asked first.
    if let Some(owner) = RunLock::last_owner(&state, root)? {
        let run = owner.run;
        let began = state.run_ids()?.contains(&run) && !Journal::never_began(&state, run);
        let is_over =
            began && Journal::load(&state, run).is_ok_and(|entries| entries.iter().any(is_end));
        if !is_over && !owner.engine().life().is_gone() {
            return Err(running_on(root, Some(&owner)));
        }
    }
    let branch = found.branch(git)?;
    runs_of(&state, found, branch.as_deref())
}

/// The runs of a working tree that did not end, or may not have: a later one that did is no end of
/// those before it. A tree that was moved is known by its branch, or by where its HEAD has been: nothing lies
/// where it was.
fn runs_of(
    state: &StateFolder,
    found: &Repository,
    branch: Option<&str>,
) -> Result<Vec<Risk>, Failure> {
    let here = found.source_root.display().to_string();
    let registered = registered::all(&found.common_dir).map_err(Error::Io)?;
    let is_registered = |root: &str| {
        let mut paths = registered.iter().filter_map(|it| it.path.as_deref());
        paths.any(|path| path == Path::new(root))
    };
    let log = HeadLog::read(&found.git_dir);
    // Without a log, HEAD may have been anywhere.
    let may_be = |pin: &Pin| {
        let on_its_branch = branch.is_some() && pin.branch.as_deref() == branch;
        on_its_branch
            || log
                .as_ref()
                .is_none_or(|log| log.may_have(&pin.identity.head))
    };
    let mut risks = Vec::new();
    for run in state.run_ids()? {
        let id = run.to_string();
        match Journal::load(state, run) {
            Ok(entries) => {
                if is_open(&entries, &here) {
                    let what =
                        format!("run {id}, which was interrupted and can be resumed only here");
                    risks.push(Risk::new(what, ["run-loop", "resume", &id]));
                } else if let Some((before, _)) =
                    moved_from(&entries).filter(|(root, pin)| !is_registered(root) && may_be(pin))
                {
                    let what = format!(
                        "run {id}, which was interrupted and can be resumed only in {before}, where this \
                         may have been"
                    );
                    risks.push(Risk::new(what, ["run-loop", "resume", &id]));
                }
            }
            // Nothing can go on with one that never began. One that cannot be read now may be read
            // again: unknown means keep (the W list).
            Err(_) if Journal::never_began(state, run) => {}
            Err(failure) => {
                let is_open = |row: &RunRow| {
                    row.exit.is_none() && row.source_root.as_deref() == Some(here.as_str())
                };
                if Index::remembered(state, run).is_none_or(|row| is_open(&row)) {
                    let what =
                        format!("run {id}, which cannot be read and may be of this working tree");
                    let NextCommand(next) = failure.next;
                    risks.push(Risk { what, next });
                }
            }
        }
    }
    Ok(risks)
}

/// Whether a run is of a source root, and did not end.
fn is_open(entries: &[Entry], source_root: &str) -> bool {
    let is_here = entries.iter().any(|entry| {
        matches!(&entry.event, Event::RunStarted { spec, .. } if spec.source_root == source_root)
    });
    is_here && !entries.iter().any(is_end)
}

/// Where the working tree of a run was that did not end, if nothing is there any more, and what it was like
/// when it was looked at last.
fn moved_from(entries: &[Entry]) -> Option<(&str, &Pin)> {
    let started = entries.iter().find_map(|entry| {
        let Event::RunStarted { spec, .. } = &entry.event else {
            return None;
        };
        Some(spec.source_root.as_str())
    })?;
    let last = entries.iter().rev().find_map(|entry| {
        let Event::EffectDone { outcome, .. } = &entry.event else {
            return None;
        };
        let Outcome::Pinned {
            result: Done::Ok(pin),
        } = &**outcome
        else {
            return None;
        };
        Some(pin)
    })?;
    let is_gone = fs_err::symlink_metadata(started).is_err();
    (is_gone && !entries.iter().any(is_end)).then_some((started, last))
}

fn is_end(entry: &Entry) -> bool {
    matches!(entry.event, Event::RunEnded { .. })
}

/// An operation that is not finished, or a git process that is at work.
fn in_progress(git: &Git, found: &Repository) -> Result<Vec<Risk>, Failure> {
    let root = found.source_root.to_string_lossy();
    let mut risks = Vec::new();
    if let Some((name, operation)) = unfinished(git, found)? {
        risks.push(Risk::new(
            format!("{operation} that is not finished ({name} exists)"),
            ["git", "-C", &root, "status"],
        ));
    }
    let lock = found.git_dir.join("index.lock");
    if fs_err::symlink_metadata(&lock).is_ok() {
        risks.push(Risk::new(
            format!(
                "what a git process is writing ({} exists)",
                path_shown(&lock)
            ),
            ["ls", "-l", &lock.to_string_lossy()],
        ));
    }
    Ok(risks)
}

/// The repository itself, or another of its working trees, inside the folder.
fn nested(repo: &Repository, found: &Repository) -> Result<Vec<Risk>, Failure> {
    let root = &found.source_root;
    let mut inside = Vec::new();
    if repo.common_dir.starts_with(root) {
        inside.push(repo.common_dir.clone());
    }
    let trees = registered::all(&repo.common_dir).map_err(Error::Io)?;
    let trees = trees.into_iter().filter_map(|other| other.path);
    inside.extend(trees.filter(|path| path != root && path.starts_with(root)));
    Ok(inside
        .iter()
        .map(|path| {
            Risk::new(
                format!("{}, which lies inside it", path_shown(path)),
                ["ls", "-la", &path.to_string_lossy()],
            )
        })
        .collect())
}

fn at_risk(root: &Path, risks: &[Risk]) -> Failure {
    let what: Vec<&str> = risks.iter().map(|risk| risk.what.as_str()).collect();
    let message = format!(
        "{} is not removed, since these would be lost: {}",
        path_shown(root),
        what.join("; ")
    );
    let next = risks.first().map(|risk| risk.next.clone());
    Failure::new(Code::WorktreeAtRisk, message).next(next.unwrap_or_default())
}

fn refused(path: &Path, what: &str) -> Failure {
    Failure::new(
        Code::WorktreeNotRemovable,
        format!("{} {what}", path_shown(path)),
    )
}

fn failed(repo: &Repository, path: &Path, folder: bool, what: &str) -> Failure {
    let state = if folder {
        "the folder is still there, perhaps not all of it"
    } else {
        "the folder is gone, git's record of it is not"
    };
    let message = format!("removing {} failed: {what}; {state}", path_shown(path));
    let next = if folder { listing(repo) } else { prune(repo) };
    Failure::new(Code::WorktreeFailed, message).next(next)
}
