//! What the change is judged against: `--base`, resolved once (design, sections 2 and 5).

use std::path::Path;

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::domain::run_spec::BaseSpec;
use crate::git::error::Error;
use crate::git::missing;
use crate::git::object::{commit_of, is_ancestor, resolves};
use crate::git::program::{Git, finish};
use crate::git::read::{Place, Read as _, ask};
use crate::git::repository::Repository;

/// `review.base`: what a base that HEAD does not contain means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseRule {
    /// The change is judged against the merge base.
    MergeBase,
    /// The base itself must be an ancestor of HEAD (row M-022).
    Ancestor,
}

/// A revision, resolved once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The full name of a ref that can move, or a commit's id.
    pub resolved: String,
    /// The commit.
    pub tip: Oid,
}

/// Resolves `--base`; without one, the base is HEAD as it is now.
///
/// # Errors
/// `UnbornBranch`, `NoCommonHistory`, `BaseNotAncestor`, or as [`name`].
pub fn resolve(
    git: &Git,
    repo: &Repository,
    given: Option<&str>,
    rule: BaseRule,
) -> Result<BaseSpec, Failure> {
    let head = head(git, repo)?;
    let Some(given) = given else {
        return Ok(BaseSpec::StartHead { head });
    };
    let Named { resolved, tip } = name(git, repo, given)?;
    let must_be_ancestor = rule == BaseRule::Ancestor;
    // Both questions are asked here so that they are refusals before anything is started.
    merge_base(git, repo, given, &tip, &head)?;
    if must_be_ancestor && !is_ancestor(git, &repo.git_dir, &tip, &head)? {
        return Err(not_ancestor(repo, given, &tip, &head));
    }
    Ok(BaseSpec::MergeBase {
        given: given.to_owned(),
        resolved,
        tip,
        must_be_ancestor,
    })
}

/// The commit of HEAD.
///
/// # Errors
/// `UnbornBranch` when there is none yet.
pub fn head(git: &Git, repo: &Repository) -> Result<Oid, Failure> {
    match commit_of(git, &repo.git_dir, "HEAD")? {
        Some(head) => Ok(head),
        None if resolves(git, &repo.git_dir, "HEAD")? => {
            Err(Error::answer("git rev-parse HEAD", b"HEAD's commit is missing").into())
        }
        None => Err(unborn(repo)),
    }
}

pub(crate) fn unborn(repo: &Repository) -> Failure {
    let root = repo.source_root.to_string_lossy();
    let message = format!("the branch of {root} has no commit yet");
    Failure::new(Code::UnbornBranch, message).next([
        "git",
        "-C",
        &root,
        "commit",
        "--allow-empty",
        "-m",
        "first commit",
    ])
}

/// Resolves a name, a full object id, or a step back from one (`main~2`, `HEAD^`).
///
/// A name by itself stays a name, so that the ref can be followed; anything else is a commit.
///
/// # Errors
/// `AbbreviatedOid`, `BaseAmbiguous` (more than one of branch, remote-tracking branch and tag),
/// `BaseUnknown`.
pub fn name(git: &Git, repo: &Repository, given: &str) -> Result<Named, Failure> {
    let dir = &repo.git_dir;
    if given.is_empty() || given.starts_with('-') || given.contains(is_no_ref_character) {
        return Err(unknown(git, repo, given));
    }
    if Oid::parse(given).is_some() {
        return commit(git, dir, given)?
            .map(frozen)
            .ok_or_else(|| unknown(git, repo, given));
    }
    let cut = given
        .find(['~', '^', ':'])
        .into_iter()
        .chain(given.find("@{"))
        .min()
        .unwrap_or(given.len());
    let (stem, steps) = given.split_at(cut);
    let found = matches(git, dir, stem)?;
    match found.as_slice() {
        [full] => {
            let tip = commit(git, dir, &format!("{full}{steps}"))?
                .ok_or_else(|| unknown(git, repo, given))?;
            Ok(if steps.is_empty() {
                Named {
                    resolved: full.clone(),
                    tip,
                }
            } else {
                frozen(tip)
            })
        }
        [] => no_ref(git, repo, given, stem),
        several => Err(ambiguous(repo, given, stem, several)),
    }
}

/// HEAD is frozen to its commit: as a name it would follow every commit under review.
fn no_ref(git: &Git, repo: &Repository, given: &str, stem: &str) -> Result<Named, Failure> {
    let hex = |text: &str| text.len() >= 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if hex(stem) {
        // Ambiguous ones make git fail; they are abbreviations all the more.
        let known = !matches!(commit_of(git, &repo.git_dir, stem), Ok(None));
        if known {
            let message = format!(
                "--base {}: an abbreviated object id can come to name another commit; give the \
                 full one",
                shown(given)
            );
            return Err(Failure::new(Code::AbbreviatedOid, message).next([
                "git",
                "-C",
                &repo.source_root.to_string_lossy(),
                "rev-parse",
                "--verify",
                given,
            ]));
        }
    }
    if matches!(stem, "HEAD" | "@")
        && let Some(tip) = commit(git, &repo.git_dir, given)?
    {
        return Ok(frozen(tip));
    }
    Err(unknown(git, repo, given))
}

/// Refs that `stem` can name, by their full names.
fn matches(git: &Git, dir: &Path, stem: &str) -> Result<Vec<String>, Error> {
    let exact: Vec<String> = if stem.is_empty() {
        Vec::new()
    } else if stem.starts_with("refs/") {
        vec![stem.to_owned()]
    } else {
        ["refs/heads/", "refs/remotes/", "refs/tags/"]
            .iter()
            .map(|prefix| format!("{prefix}{stem}"))
            .chain([format!("refs/remotes/{stem}/HEAD")])
            .collect()
    };
    if exact.is_empty() {
        return Ok(exact);
    }
    let command = git
        .on(dir)
        .args(["for-each-ref", "--format=%(refname)"])
        .args(&exact);
    let answer = finish(&command)?;
    // A pattern also lists everything below it.
    let listed: Vec<&[u8]> = answer.split(|byte| *byte == b'\n').collect();
    let mut found = exact;
    found.retain(|name| listed.contains(&name.as_bytes()));
    Ok(found)
}

fn commit(git: &Git, dir: &Path, rev: &str) -> Result<Option<Oid>, Failure> {
    match commit_of(git, dir, rev) {
        // A ref that exists but leads to no commit is told by git in words.
        Err(Error::Failed { stderr, .. }) if contains(&stderr, "expected commit type") => Ok(None),
        other => other.map_err(Failure::from),
    }
}

fn frozen(tip: Oid) -> Named {
    Named {
        resolved: tip.to_string(),
        tip,
    }
}

/// The merge base that git picks, and how many there are.
///
/// # Errors
/// `NoCommonHistory` when there is none.
pub(crate) fn merge_base(
    git: &Git,
    repo: &Repository,
    given: &str,
    tip: &Oid,
    head: &Oid,
) -> Result<(Oid, usize), Failure> {
    if tip == head {
        return Ok((head.clone(), 1));
    }
    let bases = ask(
        git,
        Place::new(&repo.git_dir),
        |library| library.merge_bases(tip, head),
        |program| program.merge_bases(tip, head),
    )?;
    let several = bases.len();
    bases
        .into_iter()
        .next()
        .map(|base| (base, several))
        .ok_or_else(|| no_common_history(repo, given, tip, head))
}

/// Commits that `tip` has and `head` lacks, and the other way round.
pub(crate) fn apart(git: &Git, dir: &Path, tip: &Oid, head: &Oid) -> Result<(u32, u32), Error> {
    if tip == head {
        return Ok((0, 0));
    }
    ask(
        git,
        Place::new(dir),
        |library| library.apart(tip, head),
        |program| program.apart(tip, head),
    )
}

/// Commits in `base..head`.
pub(crate) fn count(git: &Git, dir: &Path, base: &Oid, head: &Oid) -> Result<u32, Error> {
    let command = git
        .on(dir)
        .args(["rev-list", "--count"])
        .arg(format!("{base}..{head}"));
    let answer = finish(&command)?;
    String::from_utf8_lossy(&answer)
        .trim_end()
        .parse()
        .map_err(|_| Error::answer("git rev-list --count", &answer))
}

/// A local branch that is behind its upstream, with the age of both (scenario S22).
pub(crate) fn stale_notice(git: &Git, dir: &Path, resolved: &str) -> Result<Option<String>, Error> {
    if !resolved.starts_with("refs/heads/") {
        return Ok(None);
    }
    let format = "%(refname)%00%(upstream)%00%(upstream:track,nobracket)%00%(committerdate:short)";
    let about = |name: &str| -> Result<Vec<String>, Error> {
        let command = git.on(dir).args([
            "for-each-ref".to_owned(),
            format!("--format={format}"),
            name.to_owned(),
        ]);
        let answer = String::from_utf8_lossy(&finish(&command)?).into_owned();
        Ok(answer
            .lines()
            .map(|line| line.split('\0').map(str::to_owned).collect::<Vec<_>>())
            .find(|fields| fields.first().is_some_and(|found| found == name))
            .unwrap_or_default())
    };
    let local = about(resolved)?;
    let [_, upstream, track, date] = local.as_slice() else {
        return Ok(None);
    };
    let Some(behind) = track
        .split(", ")
        .find_map(|part| part.strip_prefix("behind "))
    else {
        return Ok(None);
    };
    let theirs = about(upstream)?;
    let newest = theirs.get(3).map_or("unknown", String::as_str);
    let short = |name: &str| {
        let name = name.strip_prefix("refs/heads/").unwrap_or(name);
        shown(name.strip_prefix("refs/remotes/").unwrap_or(name))
    };
    Ok(Some(format!(
        "{} is behind {} by {behind} commit(s): its newest is of {date}, the other's of {newest}",
        short(resolved),
        short(upstream)
    )))
}

fn unknown(git: &Git, repo: &Repository, given: &str) -> Failure {
    let remedy = missing::remedy(git, repo, given);
    let message = format!(
        "--base {}: no commit here has that name{}",
        shown(given),
        remedy.hint()
    );
    Failure::new(Code::BaseUnknown, message).next(remedy.command)
}

fn ambiguous(repo: &Repository, given: &str, stem: &str, several: &[String]) -> Failure {
    let message = format!(
        "--base {}: {} is each of {}; give the full name",
        shown(given),
        shown(stem),
        several.join(", ")
    );
    let root = repo.source_root.to_string_lossy().into_owned();
    let show = ["git", "-C", root.as_str(), "show-ref"].map(str::to_owned);
    Failure::new(Code::BaseAmbiguous, message).next(show.into_iter().chain(several.to_vec()))
}

pub(crate) fn not_ancestor(repo: &Repository, given: &str, tip: &Oid, head: &Oid) -> Failure {
    let message = format!(
        "--base {} ({tip}) is no ancestor of HEAD ({head}), and review.base asks for that",
        shown(given)
    );
    let root = repo.source_root.to_string_lossy();
    Failure::new(Code::BaseNotAncestor, message).next(["git", "-C", &root, "merge", given])
}

/// That two commits have no common history here, which may be the fault of a shallow clone. `given` is what
/// the base was called.
pub(crate) fn no_common_history(repo: &Repository, given: &str, tip: &Oid, head: &Oid) -> Failure {
    let root = repo.source_root.to_string_lossy();
    let message = format!(
        "--base {} ({tip}) and head ({head}) have no common history",
        shown(given)
    );
    if fs_err::symlink_metadata(repo.common_dir.join("shallow")).is_ok() {
        let message = format!("{message} here: the clone is shallow");
        return Failure::new(Code::NoCommonHistory, message).next([
            "git",
            "-C",
            &root,
            "fetch",
            "--unshallow",
        ]);
    }
    let graph = ["log", "--oneline", "--graph", "--max-count=20"];
    let command = ["git", "-C", &root].into_iter().chain(graph);
    Failure::new(Code::NoCommonHistory, message).next(command.chain([tip.as_str(), head.as_str()]))
}

/// Git allows none of these in a ref's name.
fn is_no_ref_character(c: char) -> bool {
    c.is_control() || matches!(c, ' ' | '?' | '*' | '[' | '\\')
}

fn shown(text: &str) -> String {
    RepoPath::from(text).to_string()
}

fn contains(text: &[u8], needle: &str) -> bool {
    String::from_utf8_lossy(text).contains(needle)
}
