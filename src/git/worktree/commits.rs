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
    let (mut held, others) = private_refs(git, dir)?;
    for (name, kind, oid) in others {
        // Whether anything else holds it costs a walk through every object; nobody has that many.
        let what = format!("the {kind} {oid}, which {name} holds");
        let save = ["git", "-C", &root, "tag", &rescue(&oid), oid.as_str()];
        risks.push(Risk::new(what, save));
    }
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
    let mut passed = reflog(git, dir)?;
    // Without reflogs it may be all that still knows what was left behind.
    passed.extend(commit_of(git, dir, "ORIG_HEAD")?);
    if beyond_refs(git, &found.common_dir, &passed, false)?.is_empty() {
        return Ok(risks);
    }
    // A reflog that stays may hold them; asked only now, since a damaged one gives no answer.
    let lost = beyond_refs(git, &found.common_dir, &passed, true)?;
    if let Some(newest) = lost.first() {
        risks.push(Risk::new(
            format!(
                "{} that only the reflog of this working tree's HEAD, or its ORIG_HEAD, holds, {newest} the newest",
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

/// Names with what they hold.
type Held = Vec<(String, Oid)>;
/// The same, of what is no commit, with what it is.
type Others = Vec<(String, String, Oid)>;

/// The refs that belong to one working tree: those of commits, and of anything else.
fn private_refs(git: &Git, dir: &Path) -> Result<(Held, Others), Error> {
    let command = git.on(dir).args([
        "for-each-ref",
        // A tag is what it is of.
        "--format=%(if)%(*objecttype)%(then)%(*objecttype)%(else)%(objecttype)%(end) %(objectname) %(refname)",
        "refs/worktree",
        "refs/bisect",
        "refs/rewritten",
    ]);
    let answer = finish(&command)?;
    let (mut commits, mut others) = (Vec::new(), Vec::new());
    for line in lines(&answer)? {
        let mut words = line.splitn(3, ' ');
        let read = (
            words.next(),
            words.next().and_then(Oid::parse),
            words.next(),
        );
        match read {
            (Some("commit"), Some(oid), Some(name)) => commits.push((name.to_owned(), oid)),
            (Some(kind), Some(oid), Some(name)) => {
                others.push((name.to_owned(), kind.to_owned(), oid));
            }
            (_, _, _) => return Err(Error::answer("git for-each-ref", line.as_bytes())),
        }
    }
    Ok((commits, others))
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
