//! What the slots of a round have in common, so that only the first asks git for it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::Error;
use super::agent_git::{self, View};
use super::blobs::{Blobs, FETCHED};
use super::content::Content;
use crate::domain::oid::Oid;
use crate::git::object_id::raw;
use crate::git::repository::ObjectFormat;
use crate::git::store::ReviewStore;
use crate::git::{self, Git, object};

/// Answers about a round.
#[derive(Debug, Default)]
pub(super) struct Common {
    /// A snapshot, and the tree that git found in it.
    snapshot: Option<(Oid, Oid)>,
    /// A tree all of whose files are here.
    complete: Option<Oid>,
    /// The refs that agents are shown, by the base and its name.
    refs: Option<(Oid, String, Vec<u8>)>,
    /// What a tree holds, and the blobs that slots lacked of it.
    content: Option<(Oid, Arc<Content>, Arc<Blobs>)>,
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

    /// Sees to it that what a promisor remote has of a tree is here.
    pub(super) fn complete(
        &mut self,
        git: &Git,
        store: &ReviewStore,
        tree: &Oid,
    ) -> Result<(), Error> {
        if self.complete.as_ref() == Some(tree) {
            return Ok(());
        }
        store.complete(git, tree)?;
        self.complete = Some(tree.clone());
        Ok(())
    }

    /// What a tree holds; slots at the same tree share one description, which takes megabytes.
    pub(super) fn content(
        &mut self,
        git: &Git,
        store: &ReviewStore,
        tree: &Oid,
    ) -> Result<Arc<Content>, Error> {
        if let Some((known, content, _)) = &self.content
            && known == tree
        {
            return Ok(Arc::clone(content));
        }
        let blobs = Blobs::new(&store.temporary())?;
        let content = match self.changed(git, store, tree, &blobs) {
            Some(content) => content,
            None => listed(git, store, tree)?,
        };
        let content = Arc::new(content);
        self.content = Some((tree.clone(), Arc::clone(&content), Arc::new(blobs)));
        Ok(content)
    }

    /// What a tree holds, by what changed from the last one: there are few changes, and many files.
    /// `None` where there is no last one, or what comes of it is not the tree.
    /// What changed is read into `blobs` then: every slot lacks it.
    fn changed(
        &self,
        git: &Git,
        store: &ReviewStore,
        tree: &Oid,
        blobs: &Blobs,
    ) -> Option<Content> {
        let (last, content, _) = self.content.as_ref()?;
        // What the last one was made of may be gone by now.
        let changes = git::changes::between(git, store, last, tree).ok()?;
        let content = content.changed(&changes).filter(|it| is_of(it, tree))?;
        let news = changes.values().map(|change| &change.new);
        let news = news.filter(|new| !new.is_nothing() && !new.is_submodule());
        let news: BTreeSet<_> = news.map(|new| raw(&new.oid)).collect();
        if news.len() <= FETCHED {
            let news: Vec<_> = news.into_iter().collect();
            let fetched = blobs.fetch(git, store.git_dir(), ObjectFormat::of(tree), &news);
            if let Err(error) = fetched {
                // Whoever lacks one asks for it again, and fails with it.
                tracing::debug!(%error, "what changed is not read ahead");
            }
        }
        Some(content)
    }

    /// The blobs that slots at a tree lacked so far; of another tree than the last, none.
    pub(super) fn blobs(&self, store: &ReviewStore, tree: &Oid) -> Result<Arc<Blobs>, Error> {
        match &self.content {
            Some((known, _, blobs)) if known == tree => Ok(Arc::clone(blobs)),
            Some(_) | None => Ok(Arc::new(Blobs::new(&store.temporary())?)),
        }
    }
}

/// What a tree holds, as git lists it.
fn listed(git: &Git, store: &ReviewStore, tree: &Oid) -> Result<Content, Error> {
    let listing = ["ls-tree", "-r", "-z", "--full-tree", tree.as_str()];
    let listing = git.run_on(store.git_dir(), listing)?;
    let content = Content::parse(&listing).ok_or_else(|| {
        Error::Doubt(format!(
            "the tree {tree} has an entry of a kind or name that git does not check out"
        ))
    })?;
    if is_of(&content, tree) {
        Ok(content)
    } else {
        Err(git::Error::NotGenuine { oid: tree.clone() }.into())
    }
}

/// Whether it is the content of a tree: git says what it finds under the trees' ids.
fn is_of(content: &Content, tree: &Oid) -> bool {
    content.id(ObjectFormat::of(tree)) == raw(tree)
}
