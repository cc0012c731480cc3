//! Operations of git that somebody left open, and how they are ended.

use crate::git::error::Error;
use crate::git::program::Git;
use crate::git::refuse::{is_absent, unfinished};
use crate::git::repository::Repository;

/// The command that ends the operation which is open in the source, where one is. It takes nothing
/// away: index, working tree, commits and branches stay as they are, where an abort would undo them.
///
/// # Errors
/// When it cannot be looked at.
pub fn ending(git: &Git, repo: &Repository) -> Result<Option<Vec<String>>, Error> {
    let Some((trace, _)) = unfinished(git, repo)? else {
        return Ok(None);
    };
    let mailbox = || !is_absent(&repo.git_dir.join("rebase-apply/applying"));
    let words: &[&str] = match trace {
        "MERGE_HEAD" => &["merge", "--quit"],
        "rebase-apply" if mailbox() => &["am", "--quit"],
        "rebase-merge" | "rebase-apply" => &["rebase", "--quit"],
        "REVERT_HEAD" => &["revert", "--quit"],
        "CHERRY_PICK_HEAD" | "sequencer" => &["cherry-pick", "--quit"],
        // HEAD stays where it is.
        _ => &["bisect", "reset", "HEAD"],
    };
    let root = repo.source_root.to_string_lossy();
    let command = ["git", "-C", &root]
        .into_iter()
        .chain(words.iter().copied());
    Ok(Some(command.map(str::to_owned).collect()))
}
