//! A name that no commit here has, and the command that brings what it is likely to mean (scenario G04).

use crate::domain::oid::Oid;
use crate::git::program::Git;
use crate::git::repository::Repository;

/// What helps where a name is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remedy {
    /// The command.
    pub(crate) command: Vec<String>,
    /// What the name is called here after it, where that is another name.
    pub(crate) then: Option<String>,
}

impl Remedy {
    /// The hint as the end of a message.
    pub(crate) fn hint(&self) -> String {
        let then = self.then.as_ref();
        then.map_or_else(String::new, |name| {
            format!("; once it is fetched, a branch of that name is {name}")
        })
    }
}

/// What brings a name, asked of the repository's own remotes.
///
/// A clone of one branch keeps no name for what a plain `git fetch` brings, so a branch is asked for
/// together with its place.
pub(crate) fn remedy(git: &Git, repo: &Repository, given: &str) -> Remedy {
    let root = repo.source_root.to_string_lossy();
    let command = |words: &[&str]| -> Vec<String> {
        let start = ["git", "-C", &root].into_iter();
        start
            .chain(words.iter().copied())
            .map(str::to_owned)
            .collect()
    };
    let plain = |words: &[&str]| Remedy {
        command: command(words),
        then: None,
    };
    let remotes = git.run_on(&repo.git_dir, ["remote"]).unwrap_or_default();
    let remotes = String::from_utf8_lossy(&remotes);
    let is_remote = |name: &str| remotes.lines().any(|remote| remote == name);
    let usual = if is_remote("origin") {
        Some("origin")
    } else {
        remotes.lines().next()
    };
    let Some(usual) = usual else {
        // Nothing can be fetched: the names that there are.
        return plain(&["branch", "--all", "--list"]);
    };
    let stem = given.strip_prefix("refs/remotes/").unwrap_or(given);
    let qualified = stem.split_once('/').filter(|(remote, _)| is_remote(remote));
    let (remote, branch) = match qualified {
        Some(qualified) => qualified,
        None => (usual, stem.strip_prefix("refs/heads/").unwrap_or(stem)),
    };
    let is_a_name = !branch.is_empty()
        && branch != "HEAD"
        && !branch.starts_with(['-', '.'])
        && !branch.starts_with("refs/")
        && Oid::parse(branch).is_none()
        && !branch.contains(|c: char| c.is_control() || " ~^:?*[\\@".contains(c));
    if !is_a_name {
        // A commit's id may just not be here yet.
        return plain(&["fetch", "--all", "--tags"]);
    }
    let name = format!("{remote}/{branch}");
    if qualified.is_some() {
        let kept = format!("+refs/heads/{branch}:refs/remotes/{name}");
        return plain(&["fetch", remote, &kept]);
    }
    // A branch or a tag: both are brought.
    let kept = format!("+refs/heads/*:refs/remotes/{remote}/*");
    Remedy {
        command: command(&["fetch", "--tags", remote, &kept]),
        then: Some(name),
    }
}
