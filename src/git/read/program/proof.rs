//! Whether what git lists for a path is what the trees on the way to it say, each tree by its bytes
//! and its id: git itself computes no id when it reads (`git::genuine`).

use super::Program;
use crate::domain::oid::Oid;
use crate::git::commit::Commit;
use crate::git::error::Error;
use crate::git::object::TreeEntry;
use crate::git::object_id::raw;
use crate::git::raw_tree::RawTree;
use crate::git::read::{Object, Read as _};
use crate::git::repository::ObjectFormat;
use crate::git::tree_id::TreeIds;

impl Program<'_> {
    /// Whether a revision's tree is what its commit says; a tree's own id needs no proof.
    pub(super) fn prove_root(&self, rev: &str, tree: &Oid) -> Result<(), Error> {
        if rev == tree.as_str() {
            return Ok(());
        }
        let found = self.objects(&[rev.to_owned()])?;
        self.leads_to(rev, found.first().and_then(Option::as_ref), tree)
    }

    /// Whether what a revision names leads to a tree.
    fn leads_to(&self, rev: &str, named: Option<&Object>, tree: &Oid) -> Result<(), Error> {
        let commit = match named {
            Some(named) if named.kind == "tag" => {
                let peeled = self.objects(&[format!("{rev}^{{commit}}")])?;
                peeled
                    .first()
                    .and_then(Option::as_ref)
                    .and_then(Commit::parse)
            }
            Some(named) if named.oid == *tree => return Ok(()),
            Some(named) => Commit::parse(named),
            None => None,
        };
        match commit {
            Some(commit) if commit.tree == *tree => Ok(()),
            Some(_) | None => Err(Error::NotGenuine { oid: tree.clone() }),
        }
    }

    /// Whether an entry is the one at a path.
    pub(super) fn prove_entry(
        &self,
        rev: &str,
        path: &str,
        listed: Option<&TreeEntry>,
    ) -> Result<(), Error> {
        let parts: Vec<&str> = path.split('/').collect();
        let mut names = vec![rev.to_owned(), format!("{rev}:")];
        for end in 1..parts.len() {
            names.push(format!("{rev}:{}", parts[..end].join("/")));
        }
        let found = self.objects(&names)?;
        let [named, root, folders @ ..] = found.as_slice() else {
            return Err(Error::answer("git cat-file --batch", b"too few objects"));
        };
        let root = root
            .as_ref()
            .ok_or_else(|| Error::answer("git cat-file --batch", rev.as_bytes()))?;
        self.leads_to(rev, named.as_ref(), &root.oid)?;
        let width = root.oid.as_str().len() / 2;
        let mut folders = folders.iter();
        let mut around = Some(root);
        for (number, part) in parts.iter().enumerate() {
            let tree = match around.filter(|object| object.kind == "tree") {
                Some(object) => RawTree::parse(&object.bytes, width)?,
                None => RawTree::default(),
            };
            let said = tree.find(part.as_bytes());
            if number + 1 == parts.len() {
                let same = match (said, listed) {
                    (None, None) => true,
                    (Some((mode, id)), Some(entry)) => {
                        is_mode(mode, &entry.mode) && id == &raw(&entry.oid)[..width]
                    }
                    (Some(_), None) | (None, Some(_)) => false,
                };
                return if same {
                    Ok(())
                } else {
                    Err(Error::NotGenuine {
                        oid: root.oid.clone(),
                    })
                };
            }
            let next = folders.next().and_then(Option::as_ref);
            // What lies there must be what its folder says: where it is a folder, it is read.
            let is_said = match (said.filter(|(mode, _)| *mode == b"40000"), next) {
                (Some((_, id)), Some(next)) => id == &raw(&next.oid)[..width],
                (Some(_), None) => false,
                (None, _) => true,
            };
            if !is_said {
                return Err(Error::NotGenuine {
                    oid: root.oid.clone(),
                });
            }
            around = next.filter(|_| said.is_some_and(|(mode, _)| mode == b"40000"));
        }
        Ok(())
    }

    /// Whether files are all that lie under a folder.
    pub(super) fn prove_listing(
        &self,
        rev: &str,
        folder: &str,
        files: &[TreeEntry],
    ) -> Result<(), Error> {
        let Some(tree) = self.folder(rev, folder)? else {
            return match files.first() {
                None => Ok(()),
                // What git lists of another repository in the folder's place.
                Some(file) if file.is_gitlink() && file.path.as_bytes() == folder.as_bytes() => {
                    Ok(())
                }
                Some(file) => Err(Error::NotGenuine {
                    oid: file.oid.clone(),
                }),
            };
        };
        let before = if folder.is_empty() {
            0
        } else {
            folder.len() + 1
        };
        let mut ids = TreeIds::new(ObjectFormat::of(&tree), |_| {});
        for file in files {
            let path = file.path.as_bytes().get(before..).unwrap_or_default();
            ids.add(file.mode.as_bytes(), path, &raw(&file.oid));
        }
        if ids.finish() == raw(&tree) {
            Ok(())
        } else {
            Err(Error::NotGenuine { oid: tree })
        }
    }

    /// The tree at a path, proved; `None` where something else lies there, or nothing.
    fn folder(&self, rev: &str, path: &str) -> Result<Option<Oid>, Error> {
        if !path.is_empty() {
            let entry = self.entry(rev, path)?;
            return Ok(entry.filter(TreeEntry::is_tree).map(|entry| entry.oid));
        }
        let root = self.peeled(rev, crate::git::read::Peel::Tree)?;
        root.map(Some)
            .ok_or_else(|| Error::answer("git rev-parse", rev.as_bytes()))
    }
}

/// A mode in a tree object, and as git prints it: of old ones of files, whether they are executable.
fn is_mode(raw: &[u8], printed: &str) -> bool {
    let plain = |mode: &[u8]| {
        let start = mode.iter().take_while(|byte| **byte == b'0').count();
        match &mode[start..] {
            [b'1', b'0', b'0', b'7', ..] => b"100755".to_vec(),
            [b'1', b'0', b'0', ..] => b"100644".to_vec(),
            other => other.to_vec(),
        }
    };
    plain(raw) == plain(printed.as_bytes())
}
