//! Commits that would go with a working tree: held by no ref that stays.

use std::collections::BTreeSet;
use std::path::Path;

use crate::domain::oid::Oid;
use crate::git::Error;
use crate::git::object::{commit_of, resolves};
use crate::git::program::{Git, ask, finish};
use crate::git::repository::Repository;
use crate::git::worktree::{Risk, commits_shown, lines};

/// Commits of a linked working tree that no branch, tag or other shared ref holds.
///
/// The branch of an attached HEAD stays, and so do the shared reflogs; a detached HEAD, the refs
/// of the working tree alone and its HEAD's reflog go with it (scenarios W07, W15).
pub(crate) fn at_risk(git: &Git, found: &Repository) -> Result<Vec<Risk>, Error> {
    let mut risks = Vec::new();
    let dir = &found.git_dir;
    let root = found.source_root.to_string_lossy();
    let mut held = private_refs(git, dir)?;
    if let Some(head) = detached_head(git, dir)? {
        held.insert(0, ("the detached HEAD".to_owned(), head));
    }
    for (name, oid) in &held {
        let lost = beyond_refs(git, &found.common_dir, std::slice::from_ref(oid), false)?;
        if !lost.is_empty() {
            risks.push(Risk::new(
                format!(
                    "{} up to {oid}, which {name} holds and no branch or tag",
                    commits_shown(lost.len())
                ),
                ["git", "-C", &root, "branch", &rescue(oid), oid.as_str()],
            ));
        }
    }
    if !risks.is_empty() {
        return Ok(risks);
    }
    let passed = reflog(git, dir)?;
    if beyond_refs(git, &found.common_dir, &passed, false)?.is_empty() {
        return Ok(risks);
    }
    // A reflog that stays may hold them; asked only now, since a damaged one gives no answer.
    let lost = beyond_refs(git, &found.common_dir, &passed, true)?;
    if let Some(newest) = lost.first() {
        risks.push(Risk::new(
            format!(
                "{} that only the reflog of this working tree's HEAD holds, {newest} the newest",
                commits_shown(lost.len())
            ),
            [
                "git",
                "-C",
                &root,
                "branch",
                &rescue(newest),
                newest.as_str(),
            ],
        ));
    }
    Ok(risks)
}

/// A name for a branch that saves a commit.
fn rescue(oid: &Oid) -> String {
    format!("rescue-{}", oid.short())
}

/// The commit of a detached HEAD; `None` for a branch, born or not.
pub(crate) fn detached_head(git: &Git, dir: &Path) -> Result<Option<Oid>, Error> {
    let symbolic = git.on(dir).args(["symbolic-ref", "--quiet", "HEAD"]);
    if ask(&symbolic)?.is_some() {
        return Ok(None);
    }
    match commit_of(git, dir, "HEAD")? {
        Some(head) => Ok(Some(head)),
        None => Err(Error::answer("git rev-parse HEAD", b"HEAD names no commit")),
    }
}

/// The refs that belong to one working tree.
fn private_refs(git: &Git, dir: &Path) -> Result<Vec<(String, Oid)>, Error> {
    let command = git.on(dir).args([
        "for-each-ref",
        "--format=%(refname) %(objectname)",
        "refs/worktree",
        "refs/bisect",
        "refs/rewritten",
    ]);
    let answer = finish(&command)?;
    lines(&answer)?
        .into_iter()
        .map(|line| {
            line.rsplit_once(' ')
                .and_then(|(name, oid)| Some((name.to_owned(), Oid::parse(oid)?)))
                .ok_or_else(|| Error::answer("git for-each-ref", line.as_bytes()))
        })
        .collect()
}

/// Where HEAD of a working tree has been.
fn reflog(git: &Git, dir: &Path) -> Result<Vec<Oid>, Error> {
    if !resolves(git, dir, "HEAD")? {
        // On a branch that is not born yet HEAD names nothing, and has been somewhere all the same: every
        // reflog that this working tree can see, its own among them.
        let command = git.on(dir).args([
            "rev-list",
            "--single-worktree",
            "--reflog",
            "--not",
            "--all",
        ]);
        return oids("git rev-list", &finish(&command)?);
    }
    let command = git
        .on(dir)
        .args(["log", "--walk-reflogs", "--format=%H", "HEAD", "--"]);
    let answer = finish(&command)?;
    let mut seen = BTreeSet::new();
    let mut found = oids("git log", &answer)?;
    found.retain(|oid| seen.insert(oid.clone()));
    Ok(found)
}

/// The commits of these and of their history that no shared ref holds, nor, where asked, a shared
/// reflog. Another working tree's HEAD holds nothing: that tree may be removed next.
fn beyond_refs(
    git: &Git,
    common_dir: &Path,
    from: &[Oid],
    reflogs: bool,
) -> Result<Vec<Oid>, Error> {
    if from.is_empty() {
        return Ok(Vec::new());
    }
    let mut input = String::new();
    for oid in from {
        input.push_str(oid.as_str());
        input.push('\n');
    }
    let mut command =
        git.on(common_dir)
            .args(["rev-list", "--single-worktree", "--stdin", "--not", "--all"]);
    if reflogs {
        command = command.arg("--reflog");
    }
    oids("git rev-list", &finish(&command.stdin(input))?)
}

pub(crate) fn oids(command: &str, answer: &[u8]) -> Result<Vec<Oid>, Error> {
    lines(answer)?
        .into_iter()
        .map(|line| Oid::parse(line).ok_or_else(|| Error::answer(command, line.as_bytes())))
        .collect()
}
