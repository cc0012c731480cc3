//! What the run's own jobs wrote, and rewrite.

use std::collections::BTreeSet;

use crate::domain::identity::Remeasured;
use crate::domain::look::Look;
use crate::domain::path::RepoPath;
use crate::git::own;
use crate::runtime::rim::Rim;

/// Sets apart what nobody edited but jobs of this run, by the looks up to the one that has the edits: it is kept
/// like everything else, and nobody is told that it is lost. Where that cannot be known, all of it is told.
pub(super) fn apart(rim: &Rim, looks: &[Look], measured: &mut Remeasured) {
    let edits: BTreeSet<&RepoPath> = measured.lost.iter().chain(&measured.unstaged).collect();
    if edits.is_empty() {
        return;
    }
    let edits: Vec<RepoPath> = edits.into_iter().cloned().collect();
    let now = &measured.pin.identity.tree;
    match own::own(
        &rim.git,
        (&rim.repository, &rim.store),
        (looks, now),
        &edits,
    ) {
        Ok(own) => {
            measured.lost.retain(|path| !own.contains(path));
            measured.unstaged.retain(|path| !own.contains(path));
            measured.own = own.into_iter().collect();
        }
        Err(error) => tracing::warn!(%error, "whose the edits are is not known"),
    }
}
