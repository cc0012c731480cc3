//! Which paths differ between what was approved and what is judged.

use std::path::Path;

use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::gate::question::Question;
use crate::git::content::is_evidence_name;
use crate::git::{Error, Git, object};
use crate::promote::Manifest;

/// How many paths a message names.
const NAMED: usize = 10;

/// The paths that differ between two commits or trees.
pub(super) fn paths(
    git: &Git,
    git_dir: &Path,
    old: &Oid,
    new: &Oid,
) -> Result<Vec<RepoPath>, Error> {
    let args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames"];
    let listing = git.run_on(
        git_dir,
        args.into_iter().chain([old.as_str(), new.as_str()]),
    )?;
    let paths = listing
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty());
    Ok(paths.map(RepoPath::new).collect())
}

fn is_evidence(path: &RepoPath, reports: &str) -> bool {
    path.as_str()
        .and_then(|path| path.strip_prefix(reports)?.strip_prefix('/'))
        .and_then(|below| below.split_once('/'))
        .is_some_and(|(folder, file)| is_evidence_name(folder, file))
}

/// The paths that differ from an approval, promoted evidence left out; `None` where the approved
/// tree cannot be read here.
pub(super) fn from_approved(question: &Question<'_>, manifest: &Manifest) -> Option<Vec<RepoPath>> {
    let request = question.request;
    let (git, tree) = (request.git, &manifest.identity.tree);
    // Only for the message: that the content differs is known without.
    let all = [Some(request.repository.git_dir.as_path()), request.store]
        .into_iter()
        .flatten()
        .filter(|dir| object::tree_of(git, dir, tree.as_str()).is_ok_and(|tree| tree.is_some()))
        .find_map(|dir| paths(git, dir, tree, &question.head.oid).ok())?;
    let reports = &question.policy.reports;
    let (evidence, content): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|path| is_evidence(path, reports));
    // Content with a name of evidence: executable, too large, or no file.
    Some(if content.is_empty() {
        evidence
    } else {
        content
    })
}

/// Some paths in words.
pub(super) fn named(paths: &[RepoPath]) -> String {
    let mut text: Vec<String> = paths.iter().take(NAMED).map(ToString::to_string).collect();
    if paths.len() > NAMED {
        text.push(format!("and {} more", paths.len() - NAMED));
    }
    text.join(", ")
}
