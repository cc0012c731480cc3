//! Local branches that a job moved beside the one that is under review.

use std::collections::BTreeMap;

use crate::domain::identity::{Elsewhere, Site};
use crate::domain::oid::Oid;
use crate::git::error::Error;
use crate::git::object::is_ancestor;
use crate::git::program::Git;
use crate::git::repository::Repository;

const FORMAT: &str = "--format=%(objectname)%00%(refname)%00%(worktreepath)";

/// The local branches with their tips, as bytes that can be kept.
///
/// # Errors
/// When git fails.
pub fn tips(git: &Git, repo: &Repository) -> Result<Vec<u8>, Error> {
    git.run(&repo.source_root, ["for-each-ref", FORMAT, "refs/heads/"])
}

/// Branches that were made or moved since, and hold commits that the source's head lacks. One that is
/// checked out where it was before belongs to whoever works there; the source's own branch is
/// measured by its content.
///
/// # Errors
/// When git fails, or says something odd.
pub fn moved(
    git: &Git,
    repo: &Repository,
    before: &[u8],
    head: &Oid,
) -> Result<Vec<Elsewhere>, Error> {
    let now = tips(git, repo)?;
    let (before, now) = (read(before)?, read(&now)?);
    let mut found = Vec::new();
    for (name, tip) in now {
        let old = before.get(name);
        let same = old.is_some_and(|old| old.commit == tip.commit);
        let somebodys = old.is_some_and(|old| !old.place.is_empty() && old.place == tip.place);
        if same || somebodys || is_ancestor(git, &repo.git_dir, &tip.commit, head)? {
            continue;
        }
        // A name that is no text cannot be told, and git has to be asked for it by hand.
        let branch = String::from_utf8_lossy(name.strip_prefix(b"refs/heads/").unwrap_or(name));
        found.push(Elsewhere {
            site: Site::Branch,
            branch: branch.into_owned(),
            from: old.map(|old| old.commit.clone()),
            to: tip.commit,
        });
    }
    Ok(found)
}

struct Tip<'a> {
    commit: Oid,
    /// Where it is checked out, if anywhere.
    place: &'a [u8],
}

fn read(listing: &[u8]) -> Result<BTreeMap<&[u8], Tip<'_>>, Error> {
    let lines = listing.split(|byte| *byte == b'\n');
    lines
        .filter(|line| !line.is_empty())
        .map(|line| -> Result<_, Error> {
            let odd = || Error::answer("git for-each-ref", line);
            let mut fields = line.splitn(3, |byte| *byte == 0);
            let mut field = || fields.next().ok_or_else(odd);
            let (commit, name, place) = (field()?, field()?, field()?);
            let commit = std::str::from_utf8(commit).ok().and_then(Oid::parse);
            let commit = commit.ok_or_else(odd)?;
            Ok((name, Tip { commit, place }))
        })
        .collect()
}
