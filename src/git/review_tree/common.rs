//! What the slots of a round have in common, so that only the first asks git for it.

use std::path::Path;
use std::sync::Arc;

use super::Error;
use super::agent_git::{self, View};
use super::content::Content;
use crate::domain::oid::Oid;
use crate::git::{Git, object};

/// Answers about a round.
#[derive(Debug, Default)]
pub(super) struct Common {
    /// A snapshot, and the tree that git found in it.
    snapshot: Option<(Oid, Oid)>,
    /// The refs that agents are shown, by the base and its name.
    refs: Option<(Oid, String, Vec<u8>)>,
    /// What a tree holds.
    content: Option<(Oid, Arc<Content>)>,
}

impl Common {
    /// Checks that the snapshot holds the tree, and returns the refs that agents are shown.
    pub(super) fn refs(
        &mut self,
        git: &Git,
        store: &Path,
        tree: &Oid,
        view: &View,
    ) -> Result<Vec<u8>, Error> {
        let asked = (view.snapshot.clone(), tree.clone());
        if self.snapshot.as_ref() != Some(&asked) {
            let found = object::tree_of(git, store, view.snapshot.as_str())?;
            if found.as_ref() != Some(tree) {
                return Err(Error::Doubt(format!(
                    "the snapshot {} does not hold the tree {tree}",
                    view.snapshot
                )));
            }
            self.snapshot = Some(asked);
            // Tags may have come since the last snapshot.
            self.refs = None;
        }
        if let Some((base, name, refs)) = &self.refs
            && base == view.base
            && name == view.base_name
        {
            return Ok(refs.clone());
        }
        let refs = agent_git::refs(git, view)?;
        self.refs = Some((view.base.clone(), view.base_name.to_owned(), refs.clone()));
        Ok(refs)
    }

    /// Slots at the same tree share one description of it; that of a large one takes megabytes.
    pub(super) fn shared(&mut self, tree: &Oid, content: Content) -> Arc<Content> {
        if let Some((known, shared)) = &self.content
            && known == tree
            && **shared == content
        {
            return Arc::clone(shared);
        }
        let content = Arc::new(content);
        self.content = Some((tree.clone(), Arc::clone(&content)));
        content
    }
}
