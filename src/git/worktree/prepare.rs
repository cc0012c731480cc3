//! Making a working tree for a branch, outside of every repository (rows M-220 to M-223).

mod place;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::oid::Oid;
use crate::git::error::path_shown;
use crate::git::object::{commit_of, is_ancestor};
use crate::git::program::{Git, ask, finish};
use crate::git::repository::Repository;
use crate::git::worktree::registered::{self, Registered};
use crate::git::worktree::submodules::{Attempt, refuse_occupied, succeed};
use crate::git::worktree::undo::Made;
use crate::git::{Error, base};

/// The file in a working tree's git directory that says that its preparation was completed.
const MARKER: &str = "run-loop-prepared";

/// What is asked for.
#[derive(Debug)]
pub struct Request<'a> {
    /// The program.
    pub git: &'a Git,
    /// The repository, seen from where the command was started.
    pub repository: &'a Repository,
    /// The branch, made where it does not exist.
    pub branch: &'a str,
    /// What the branch is to be judged against, and where a new one starts; default HEAD.
    pub base: Option<&'a str>,
    /// Where the working tree goes; default beside the control root.
    pub at: Option<&'a Path>,
    /// Whether submodules are initialised.
    pub submodules: bool,
    /// What git needs of the user's environment to reach the remotes of submodules.
    pub transport: BTreeMap<OsString, OsString>,
}

/// What will be done; nothing has been.
#[derive(Debug)]
pub struct Plan {
    /// What to give to `--base`: the commit that the branch starts at, or its merge base.
    pub base: Oid,
    /// Where the working tree will lie, or lies.
    pub path: PathBuf,
    /// Whether it is there already.
    pub kept: bool,
    /// Whether its preparation was completed before.
    pub complete: bool,
    /// Things to tell.
    pub notices: Vec<String>,
    /// The branch in full.
    full: String,
    /// Where the branch is; `None` for one that is to be made.
    tip: Option<Oid>,
}

/// Looks at everything that could be in the way; changes nothing.
///
/// # Errors
/// `BadValue`, `WorktreeInside`, `WorktreeTaken`, `DirtySubmodule`, or what the base is refused
/// for.
pub fn plan(request: &Request<'_>) -> Result<Plan, Failure> {
    let (git, repo) = (request.git, request.repository);
    let full = branch_name(git, repo, request.branch)?;
    let registered = registered::all(&repo.common_dir).map_err(Error::Io)?;
    let path = place::choose(repo, request.branch, request.at)?;
    let kept = place::existing(repo, &registered, &path, &full)?;
    if kept.is_none() {
        let control = repo.control_root.to_string_lossy();
        let next: &[&str] = match request.at {
            Some(_) => &["run-loop", "worktree", "prepare", request.branch],
            None => &["git", "-C", &control, "worktree", "list"],
        };
        place::refuse_inside(git, repo, &registered, &path, next)?;
        refuse_checked_out(git, repo, &registered, &full, request.branch)?;
    }
    let before = kept.as_ref().and_then(completed);
    let mut notices = Vec::new();
    let tip = commit_of(git, &repo.common_dir, &full)?;
    let start = || match request.base {
        Some(given) => Ok(base::name(git, repo, given)?.tip),
        None => base::head(git, repo),
    };
    let merge_base = match (&tip, &before) {
        (None, _) => {
            refuse_remote_only(git, repo, request.branch)?;
            start()?
        }
        // Run again without `--base`, it says what it said.
        (Some(tip), Some(base))
            if request.base.is_none() && is_ancestor(git, &repo.common_dir, base, tip)? =>
        {
            base.clone()
        }
        (Some(tip), _) => {
            let given = request.base.unwrap_or("HEAD");
            let (merge_base, _) = base::merge_base(git, repo, given, &start()?, tip)?;
            if request.base.is_some() {
                notices.push(format!(
                    "the branch {} exists and stays at {tip}; --base only says what it is judged \
                     against",
                    request.branch
                ));
            }
            merge_base
        }
    };
    let damaged = registered.iter().filter(|found| found.path.is_none());
    notices.extend(damaged.map(|found| {
        format!(
            "git's record {} is damaged; `git worktree prune` forgets it",
            path_shown(&found.admin)
        )
    }));
    if kept.is_some() && request.submodules {
        refuse_occupied(git, &path)?;
    }
    Ok(Plan {
        base: merge_base,
        path,
        kept: kept.is_some(),
        complete: before.is_some(),
        notices,
        full,
        tip,
    })
}

/// The base that a completed preparation recorded.
fn completed(found: &Registered) -> Option<Oid> {
    let text = fs_err::read_to_string(found.admin.join(MARKER)).ok()?;
    Oid::parse(text.trim_end())
}

/// Carries a plan out: the working tree, its submodules, then `setup` in it, which a working tree
/// that was completed before does not get again. `stopped` is asked between the steps.
///
/// # Errors
/// `WorktreeTaken` when the place or the branch was taken meanwhile; else what a step failed with,
/// `WorktreeFailed` for git. Everything that was made is taken back then, or named; what the commands of
/// `setup` wrote outside of a new working tree nobody can take back, and that is said.
pub fn carry_out(
    request: &Request<'_>,
    plan: &Plan,
    setup: &mut dyn FnMut(&Path) -> Result<(), Failure>,
    stopped: &dyn Fn() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut made = Made::nothing(request.git, &request.repository.common_dir);
    let mut was_set_up = false;
    let done = stopped()
        .and_then(|()| make(request, plan, &mut made))
        .and_then(|admin| {
            stopped()?;
            if request.submodules {
                initialise(request, plan, &admin, &mut made)?;
                stopped()?;
            }
            if !plan.complete {
                was_set_up = true;
                setup(&plan.path)?;
                stopped()?;
                let text = format!("{}\n", plan.base);
                fs_err::write(admin.join(MARKER), text).map_err(Error::Io)?;
            }
            Ok(())
        });
    done.map_err(|failure| taken_back(failure, plan, &made.undo(), was_set_up))
}

/// What failed, with what of the attempt is still there.
fn taken_back(failure: Failure, plan: &Plan, left: &[String], was_set_up: bool) -> Failure {
    let why = failure.message.clone();
    // Whose a file is that lay in a working tree of the user's nobody knows.
    let wrote = was_set_up && plan.kept;
    let message = if !left.is_empty() {
        format!("not taken back: {}; this failed: {why}", left.join("; "))
    } else if wrote {
        format!(
            "what was made is taken back, but for what `setup:` wrote in {}, since {why}",
            path_shown(&plan.path)
        )
    } else if was_set_up {
        format!(
            "what was made is taken back, but for what `setup:` may have written elsewhere, since {why}"
        )
    } else {
        format!("what was made is taken back, since {why}")
    };
    let failed = failure.code == Code::WorktreeFailed;
    let failure = Failure { message, ..failure };
    if failed && wrote {
        let path = plan.path.to_string_lossy();
        return failure.next(["git", "-C", &path, "status", "--ignored"]);
    }
    failure
}

/// Makes what is not there; returns the git directory of the working tree.
fn make(request: &Request<'_>, plan: &Plan, made: &mut Made) -> Result<PathBuf, Failure> {
    let (git, repo) = (request.git, request.repository);
    if !plan.kept {
        made.make_folder(&plan.path).map_err(|error| {
            Failure::new(
                Code::WorktreeTaken,
                format!("{} cannot be made: {error}", path_shown(&plan.path)),
            )
            .next(listing(repo))
        })?;
        if plan.tip.is_none() {
            make_branch(git, repo, plan)?;
            made.made_branch(&plan.full, &plan.base);
        }
        let command = git
            .on(&repo.common_dir)
            .args(["worktree", "add", "--quiet", "--"])
            .arg(&plan.path)
            .arg(request.branch);
        succeed(&command).map_err(|error| failed(repo, &error))?;
        made.made_worktree();
    }
    // Git is believed only when it finds what was asked for.
    let found = Repository::discover(git, &plan.path)?;
    let head = git
        .on(&found.git_dir)
        .args(["symbolic-ref", "--quiet", "HEAD"]);
    let on_branch = ask(&head)?.is_some_and(|name| name.trim_ascii_end() == plan.full.as_bytes());
    let right_place = found.source_root == plan.path && found.common_dir == repo.common_dir;
    if on_branch && right_place {
        return Ok(found.git_dir);
    }
    let message = format!(
        "{} is not the working tree of {} that was to be there",
        path_shown(&plan.path),
        plan.full
    );
    Err(Failure::new(Code::WorktreeFailed, message).next(listing(repo)))
}

/// Makes the branch where there is none, so that whoever makes it at the same time keeps theirs.
fn make_branch(git: &Git, repo: &Repository, plan: &Plan) -> Result<(), Failure> {
    let nowhere = "0".repeat(plan.base.as_str().len());
    let command = git.on(&repo.common_dir).args([
        "update-ref",
        "-m",
        "run-loop: worktree prepare",
        &plan.full,
        plan.base.as_str(),
        &nowhere,
    ]);
    finish(&command).map(drop).map_err(|error| {
        error
            .into_failure(Code::WorktreeTaken)
            .next(["git", "branch", "--all", "--list"])
    })
}

fn initialise(
    request: &Request<'_>,
    plan: &Plan,
    admin: &Path,
    made: &mut Made,
) -> Result<(), Failure> {
    let (git, repo) = (request.git, request.repository);
    let attempt = Attempt::begin(git, &plan.path, admin, &repo.common_dir)
        .map_err(|error| failed(repo, &error))?;
    let attempt = made.attempt(attempt);
    attempt
        .run(&request.transport)
        .map_err(|error| failed(repo, &error))
}

/// `refs/heads/…` of a name that git takes for a branch.
fn branch_name(git: &Git, repo: &Repository, branch: &str) -> Result<String, Failure> {
    let full = format!("refs/heads/{branch}");
    let checked = git.on(&repo.common_dir).args(["check-ref-format", &full]);
    let odd = branch.starts_with('-') || branch == "HEAD" || branch.starts_with("refs/");
    if odd || ask(&checked)?.is_none() {
        let message = format!("{branch:?} is no name for a branch");
        return Err(Failure::new(Code::BadValue, message)
            .next(["run-loop", "worktree", "prepare", "--help"]));
    }
    Ok(full)
}

/// A branch that a remote has and we lack: starting another one of its name from the base would
/// show an empty change (scenario W23).
fn refuse_remote_only(git: &Git, repo: &Repository, branch: &str) -> Result<(), Failure> {
    let command = git.on(&repo.common_dir).args([
        "for-each-ref",
        "--format=%(refname:short)",
        "--count=1",
        &format!("refs/remotes/*/{branch}"),
    ]);
    let answer = finish(&command)?;
    let Some(remote) = crate::git::worktree::lines(&answer)?.first().copied() else {
        return Ok(());
    };
    let message =
        format!("there is no branch {branch} here, but {remote}: say that it is the same");
    let root = repo.source_root.to_string_lossy();
    Err(Failure::new(Code::WorktreeTaken, message)
        .next(["git", "-C", &root, "branch", "--track", branch, remote]))
}

fn refuse_checked_out(
    git: &Git,
    repo: &Repository,
    registered: &[Registered],
    full: &str,
    branch: &str,
) -> Result<(), Failure> {
    let taken = registered
        .iter()
        .find(|found| found.branch.as_deref() == Some(full));
    if let Some(found) = taken {
        let there = found.path.as_deref().unwrap_or(&found.admin);
        let gone = fs_err::symlink_metadata(there).is_err();
        let message = format!(
            "the branch {branch} is checked out in {}{}",
            path_shown(there),
            if gone { ", whose folder is gone" } else { "" }
        );
        let next = if gone { prune(repo) } else { listing(repo) };
        return Err(Failure::new(Code::WorktreeTaken, message).next(next));
    }
    // The main working tree, or the HEAD of a bare repository, which holds no branch back.
    let bare = crate::git::config::GitConfig::read(&git.on(&repo.common_dir))?.flag("core.bare")?;
    let head = git
        .on(&repo.common_dir)
        .args(["symbolic-ref", "--quiet", "HEAD"]);
    let at_main = ask(&head)?.is_some_and(|name| name.trim_ascii_end() == full.as_bytes());
    if at_main && !bare {
        let message = format!(
            "the branch {branch} is checked out in the main working tree of {}",
            path_shown(&repo.common_dir)
        );
        return Err(Failure::new(Code::WorktreeTaken, message).next(listing(repo)));
    }
    Ok(())
}

/// The command that shows which working trees there are.
pub(crate) fn listing(repo: &Repository) -> Vec<String> {
    with_git_dir(repo, &["worktree", "list", "--verbose"])
}

/// The command that forgets working trees whose folder is gone.
pub(crate) fn prune(repo: &Repository) -> Vec<String> {
    with_git_dir(repo, &["worktree", "prune", "--verbose"])
}

fn with_git_dir(repo: &Repository, args: &[&str]) -> Vec<String> {
    let option = format!("--git-dir={}", repo.common_dir.to_string_lossy());
    ["git", &option]
        .iter()
        .chain(args)
        .map(|word| (*word).to_owned())
        .collect()
}

fn failed(repo: &Repository, error: &Error) -> Failure {
    Failure::new(Code::WorktreeFailed, error.to_string()).next(listing(repo))
}
