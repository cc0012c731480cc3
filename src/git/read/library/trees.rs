//! Trees: entries as git lists them.

use super::super::Unsure;
use super::opening::Opened;
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::git::object::TreeEntry;

/// Folders in folders beyond this are left to git.
const DEEPEST: usize = 100;

impl Opened {
    /// The entry at a path; `None` when the tree has none.
    pub(super) fn entry(&self, tree: &Oid, path: &str) -> Result<Option<TreeEntry>, Unsure> {
        let mut tree = tree.clone();
        let mut before = Vec::new();
        let mut parts = components(path)?.into_iter().peekable();
        while let Some(part) = parts.next() {
            let entries = self.entries(&tree, &before)?;
            let wanted = [before.as_slice(), part.as_bytes()].concat();
            let found = entries
                .into_iter()
                .find(|entry| entry.path.as_bytes() == wanted);
            let Some(mut entry) = found else {
                return Ok(None);
            };
            if parts.peek().is_none() {
                self.measure(&mut entry)?;
                return Ok(Some(entry));
            }
            if entry.is_gitlink() {
                return Err(Unsure::question(path, "inside a submodule"));
            }
            if !entry.is_tree() {
                return Ok(None);
            }
            tree = entry.oid;
            before = [wanted.as_slice(), b"/"].concat();
        }
        Ok(None)
    }

    /// Every file under a folder.
    pub(super) fn listing(&self, tree: &Oid, folder: &str) -> Result<Vec<TreeEntry>, Unsure> {
        let mut listed = Vec::new();
        if folder.is_empty() {
            self.list(tree, &[], 0, &mut listed)?;
            return Ok(listed);
        }
        match self.entry(tree, folder)? {
            Some(entry) if entry.is_tree() => {
                let before = [folder.as_bytes(), b"/"].concat();
                self.list(&entry.oid, &before, 0, &mut listed)?;
            }
            Some(entry) if entry.is_gitlink() => {
                return Err(Unsure::question(folder, "a submodule"));
            }
            Some(_) | None => {}
        }
        Ok(listed)
    }

    fn list(
        &self,
        tree: &Oid,
        before: &[u8],
        level: usize,
        listed: &mut Vec<TreeEntry>,
    ) -> Result<(), Unsure> {
        if level > DEEPEST {
            return Err(Unsure::question(tree.as_str(), "too deep"));
        }
        for mut entry in self.entries(tree, before)? {
            if entry.is_tree() {
                let below = [entry.path.as_bytes(), b"/"].concat();
                self.list(&entry.oid, &below, level + 1, listed)?;
            } else {
                self.measure(&mut entry)?;
                listed.push(entry);
            }
        }
        Ok(())
    }

    /// Fills in a blob's size.
    fn measure(&self, entry: &mut TreeEntry) -> Result<(), Unsure> {
        if !entry.is_tree() && !entry.is_gitlink() {
            entry.size = Some(self.blob_size(&entry.oid)?);
        }
        Ok(())
    }

    /// The entries of one tree object, without sizes.
    fn entries(&self, tree: &Oid, before: &[u8]) -> Result<Vec<TreeEntry>, Unsure> {
        let object = self.read(tree)?;
        let odd = || Unsure::question(tree.as_str(), "a tree of another form");
        if object.kind != "tree" {
            return Err(odd());
        }
        let width = tree.as_str().len() / 2;
        let mut entries = Vec::new();
        let mut rest = object.bytes.as_slice();
        while !rest.is_empty() {
            let end = rest.iter().position(|byte| *byte == 0).ok_or_else(odd)?;
            let (head, after) = rest.split_at(end);
            let space = head.iter().position(|byte| *byte == b' ');
            let (mode, name) = head.split_at(space.ok_or_else(odd)?);
            let (oid, after) = after[1..].split_at_checked(width).ok_or_else(odd)?;
            let oid = Oid::parse(&git2::Oid::from_bytes(oid)?.to_string());
            let name = &name[1..];
            if name.is_empty() || name.contains(&b'/') {
                return Err(odd());
            }
            entries.push(TreeEntry {
                mode: mode_of(mode).ok_or_else(odd)?.to_owned(),
                oid: oid.ok_or_else(odd)?,
                size: None,
                path: RepoPath::new([before, name].concat()),
            });
            rest = after;
        }
        Ok(entries)
    }
}

/// The modes that git writes today, as it prints them.
fn mode_of(raw: &[u8]) -> Option<&'static str> {
    match raw {
        b"40000" => Some("040000"),
        b"100644" => Some("100644"),
        b"100755" => Some("100755"),
        b"120000" => Some("120000"),
        b"160000" => Some("160000"),
        _ => None,
    }
}

/// The components of a plain path. Git reads some others as patterns.
fn components(path: &str) -> Result<Vec<&str>, Unsure> {
    let parts: Vec<&str> = path.split('/').collect();
    let plain = |part: &&str| !matches!(*part, "" | "." | "..");
    if parts.iter().all(plain) && !path.starts_with(':') && !path.contains('\n') {
        Ok(parts)
    } else {
        Err(Unsure::question(path, "no plain path"))
    }
}
