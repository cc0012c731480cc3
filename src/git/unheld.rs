//! Work of a job that no branch holds: commits on a detached HEAD, and entries of the stash.
//!
//! What git wrote down of HEAD's and the stash's moves is read before the job and after it. Where a
//! repository keeps no such notes, nothing of the kind can be seen, and nothing is said.

use std::collections::BTreeSet;

use crate::domain::identity::{About, Doubt, Elsewhere, Site};
use crate::domain::oid::Oid;
use crate::git::error::Error;
use crate::git::object::is_ancestor;
use crate::git::program::Git;
use crate::git::repository::Repository;

/// The most moves that are looked at, the newest ones.
const MOST: usize = 100_000;
/// What a move is called that makes a commit of somebody's work. A rebase makes many on no branch, and
/// puts its branch on the last.
const MAKES: [&str; 6] = ["commit", "cherry-pick", "merge", "revert", "am", "pull"];
const STASH: &str = "refs/stash";

/// HEAD's moves, the newest first, and the stash's entries, as they were.
#[derive(Debug, Default)]
struct Known {
    heads: Vec<Oid>,
    stash: BTreeSet<Oid>,
}

/// One move of a reference.
struct Move {
    commit: Oid,
    parent: Option<Oid>,
    called: String,
}

/// What is known before a job, as bytes that can be kept.
///
/// # Errors
/// When git fails.
pub fn marks(git: &Git, repo: &Repository) -> Result<Vec<u8>, Error> {
    let line = |kind: char| move |it: Move| format!("{kind} {}\n", it.commit);
    let heads = moves(git, repo, &["HEAD"])?.into_iter().map(line('H'));
    let stash = stash(git, repo)?.into_iter().map(line('S'));
    Ok(heads.chain(stash).collect::<String>().into_bytes())
}

/// What a job left where no branch holds it, as far as it can be known.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// What was found.
    pub elsewhere: Vec<Elsewhere>,
    /// What cannot be known.
    pub unknown: Vec<Doubt>,
}

/// What a job committed on no branch, put into the stash, or took away from there. `heads` are where
/// the source was before the job and where it is now: what others stash from where this working tree
/// was not is theirs.
///
/// # Errors
/// When git fails, or says something odd.
pub fn found(
    git: &Git,
    repo: &Repository,
    before: &[u8],
    heads: [&Oid; 2],
) -> Result<Found, Error> {
    let before = read(before)?;
    let mut unknown = Vec::new();
    let mut doubts = |about, why: String| unknown.push(Doubt { about, why });
    let mut since = moves(git, repo, &["HEAD"])?;
    let moved = made_since(&since, &before.heads);
    // Nothing of before is among them, or more came since than is looked at: some of that may be gone.
    let forgotten = moved == since.len() && !before.heads.is_empty();
    if since.len() == MOST && (before.heads.len() < MOST || forgotten) {
        doubts(About::Head, format!("HEAD moved more than {MOST} times"));
    } else if forgotten {
        let why = "what git had written down of HEAD's moves before the job is gone";
        doubts(About::Head, why.to_owned());
    }
    since.truncate(moved);
    let made = detached(git, repo, &since, &before, heads[1])?;
    // What one job stashes it may stash from a commit that it made or left later.
    let here = |oid: &Oid| heads.contains(&oid) || since.iter().any(|it| it.commit == *oid);
    let mut now = stash(git, repo)?;
    let mut before = before;
    if now.len() == MOST || before.stash.len() == MOST {
        // Which of them are new or gone cannot be told.
        let why = format!("it has more than {MOST} entries");
        doubts(About::Stash, why);
        now.clear();
        before.stash.clear();
    }
    let at = |site, to: &Oid| Elsewhere {
        site,
        branch: String::new(),
        from: None,
        to: to.clone(),
    };
    let put: Vec<Elsewhere> = now
        .iter()
        .filter(|it| !before.stash.contains(&it.commit))
        .filter(|it| it.parent.as_ref().is_some_and(here))
        .map(|it| at(Site::Stash, &it.commit))
        .collect();
    let is_there = |oid: &Oid| now.iter().any(|it| it.commit == *oid);
    let taken: Vec<Elsewhere> = before
        .stash
        .iter()
        .filter(|oid| !is_there(oid))
        .map(|oid| at(Site::Dropped, oid))
        .collect();
    Ok(Found {
        elsewhere: [made, put, taken].concat(),
        unknown,
    })
}

/// How many of these moves were made since. The oldest ones may have expired meanwhile; where others
/// are gone too, all of them count.
fn made_since(now: &[Move], before: &[Oid]) -> usize {
    let known = |rest: &[Move]| {
        rest.len() <= before.len() && rest.iter().zip(before).all(|(now, old)| now.commit == *old)
    };
    (0..now.len())
        .find(|&new| known(&now[new..]))
        .unwrap_or(now.len())
}

/// Commits that HEAD was on since, and that no branch holds or held.
fn detached(
    git: &Git,
    repo: &Repository,
    since: &[Move],
    before: &Known,
    head: &Oid,
) -> Result<Vec<Elsewhere>, Error> {
    let known: BTreeSet<&Oid> = before.heads.iter().collect();
    let made: Vec<(usize, &Move)> = since
        .iter()
        .enumerate()
        .filter(|(_, it)| makes(it) && !known.contains(&it.commit))
        .collect();
    if made.is_empty() {
        return Ok(Vec::new());
    }
    // What a branch held too long ago to be seen counts as held by none, and is told.
    let of_branches: BTreeSet<Oid> = moves(git, repo, &["--branches"])?
        .into_iter()
        .map(|it| it.commit)
        .collect();
    let mut loose: Vec<&Oid> = Vec::new();
    // The newest stand first: what a later one holds, or replaces, is not told again.
    for (nth, it) in made {
        // By the very next move: HEAD may have gone elsewhere before something was amended.
        let amended = nth > 0 && since[nth - 1].called.starts_with("commit (amend)");
        let held = of_branches.contains(&it.commit)
            || is_ancestor(git, &repo.git_dir, &it.commit, head)?
            || on_a_branch(git, repo, &it.commit)?;
        if amended || held {
            continue;
        }
        let mut told = false;
        for later in &loose {
            told |= is_ancestor(git, &repo.git_dir, &it.commit, later)?;
        }
        if !told {
            loose.push(&it.commit);
        }
    }
    let at = |to: &&Oid| Elsewhere {
        site: Site::Detached,
        branch: String::new(),
        from: None,
        to: (*to).clone(),
    };
    Ok(loose.iter().map(at).collect())
}

fn makes(it: &Move) -> bool {
    MAKES.iter().any(|word| it.called.starts_with(word))
}

fn on_a_branch(git: &Git, repo: &Repository, commit: &Oid) -> Result<bool, Error> {
    let contains = format!("--contains={commit}");
    let told = git.run(
        &repo.source_root,
        ["for-each-ref", "--count=1", &contains, "refs/heads/"],
    )?;
    Ok(!told.is_empty())
}

fn stash(git: &Git, repo: &Repository) -> Result<Vec<Move>, Error> {
    let told = git.run(&repo.source_root, ["for-each-ref", STASH])?;
    if told.is_empty() {
        return Ok(Vec::new());
    }
    moves(git, repo, &[STASH])
}

/// The moves of references, the newest first; of more than [`MOST`] the oldest are left out. What is
/// found by comparing two such lists begins at their newest ends.
fn moves(git: &Git, repo: &Repository, of: &[&str]) -> Result<Vec<Move>, Error> {
    let newest = format!("--max-count={MOST}");
    let show = ["log", "--walk-reflogs", "--no-show-signature", &newest];
    let format = ["-z", "--format=%H%n%P%n%gs"];
    let args = show.iter().chain(&format).chain(of).chain(&["--"]);
    let told = git.run(&repo.source_root, args)?;
    told.split(|byte| *byte == 0)
        .filter(|record| !record.is_empty())
        .map(|record| {
            let odd = || Error::answer("git log --walk-reflogs", record);
            let text = String::from_utf8_lossy(record);
            let mut lines = text.splitn(3, '\n');
            let mut line = || lines.next().ok_or_else(odd);
            let (commit, parents, called) = (line()?, line()?, line()?);
            Ok(Move {
                commit: Oid::parse(commit).ok_or_else(odd)?,
                parent: parents.split(' ').next().and_then(Oid::parse),
                called: called.to_owned(),
            })
        })
        .collect()
}

fn read(kept: &[u8]) -> Result<Known, Error> {
    let mut known = Known::default();
    for line in kept
        .split(|byte| *byte == b'\n')
        .filter(|it| !it.is_empty())
    {
        let odd = || Error::answer("what was kept of HEAD's moves", line);
        let text = std::str::from_utf8(line).map_err(|_| odd())?;
        let (kind, oid) = text.split_once(' ').ok_or_else(odd)?;
        let oid = Oid::parse(oid).ok_or_else(odd)?;
        match kind {
            "H" => known.heads.push(oid),
            "S" => {
                known.stash.insert(oid);
            }
            _ => return Err(odd()),
        }
    }
    Ok(known)
}
