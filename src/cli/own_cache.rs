//! Our own cache folder, where it lies in the tree under review: its snapshots would be content, and be reviewed.

use std::path::Path;

use crate::cli::environment::Environment;
use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::git::{Git, Repository, uncommitted};
use crate::process::confine;

/// Refuses to start where the snapshot would hold the cache folder; of one that git leaves out it is told what
/// may happen to it.
///
/// # Errors
/// `StateUnwritable`, which names both folders.
pub(crate) fn refuse(
    git: &Git,
    repository: &Repository,
    cache_root: &Path,
    environment: &Environment,
    line: &[String],
) -> Result<Option<String>, Failure> {
    let real = confine::real(cache_root);
    let within = |folder: &Path| real.starts_with(folder);
    let root = &repository.source_root;
    if !within(root) || within(&repository.git_dir) || within(&repository.common_dir) {
        return Ok(None);
    }
    let (real, root) = (real.display(), root.display());
    if uncommitted::is_ignored(git, repository, cache_root) {
        return Ok(Some(format!(
            "the cache folder {real} lies in {root}, where `git clean -fdx` takes it: with it go reports that \
             a run has not taken in yet"
        )));
    }
    let message = format!(
        "the cache folder {real} lies in {root}, and would be part of what is reviewed: it belongs outside, or \
         into a folder that git ignores"
    );
    let failure = Failure::new(Code::StateUnwritable, message);
    Err(if environment.get("XDG_CACHE_HOME").is_some() {
        let without = ["env", "-u", "XDG_CACHE_HOME"].map(str::to_owned);
        failure.next(without.into_iter().chain(line.iter().cloned()))
    } else {
        failure
    })
}
