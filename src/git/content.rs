//! The content tree: a tree without promoted evidence (design, section 7).
//!
//! Left out are regular files (mode 100644, at most 1 MiB) named
//! `<reports>/<slot>/report-<uuid>.md`, `<reports>/<slot>/report-<uuid>.identity.json`,
//! `<reports>/<name>/plan-<uuid>.md` and `<reports>/approvals/<uuid>.json`. Anything else under
//! the reports folder is content, so nothing can hide there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::id::{JobId, LoopId};
use crate::domain::layout;
use crate::domain::oid::Oid;
use crate::domain::slot::SlotName;
use crate::git::error::Error;
use crate::git::object::{TreeEntry, read_oid, tree_entries};
use crate::git::program::{Git, finish};
use crate::git::raw_tree::RawTree;
use crate::git::read::{Place, Read as _, ask};

/// The largest file that can be promoted evidence.
pub const EVIDENCE_CAP: u64 = 1024 * 1024;

/// The content tree's id. Nothing is written anywhere, and no working tree is needed.
///
/// # Errors
/// When git fails, or `reports` is no plain relative path.
pub fn content_tree(git: &Git, git_dir: &Path, tree: &Oid, reports: &str) -> Result<Oid, Failure> {
    Ok(without_evidence(git, git_dir, tree, reports, Keep::IdOnly)?.tree)
}

/// A content tree.
#[derive(Debug)]
pub(crate) struct ContentTree {
    /// Its id.
    pub(crate) tree: Oid,
    /// It and the trees in it that are in no commit.
    pub(crate) made: Vec<Oid>,
}

/// The content tree, written into the review store so that it can be compared.
///
/// # Errors
/// As [`content_tree`].
pub(crate) fn store_content_tree(
    git: &Git,
    store: &Path,
    tree: &Oid,
    reports: &str,
) -> Result<ContentTree, Failure> {
    without_evidence(git, store, tree, reports, Keep::Write)
}

/// Whether a file at this path, below the reports folder, can be promoted evidence.
#[must_use]
pub fn is_evidence_name(folder: &str, file: &str) -> bool {
    if folder == layout::APPROVALS {
        return file
            .strip_suffix(".json")
            .is_some_and(|id| LoopId::parse(id).is_some());
    }
    if SlotName::parse(folder).is_none() {
        return false;
    }
    if let Some(rest) = file.strip_prefix("report-") {
        let id = rest
            .strip_suffix(".identity.json")
            .or_else(|| rest.strip_suffix(".md"));
        return id.is_some_and(|id| JobId::parse(id).is_some());
    }
    file.strip_prefix("plan-")
        .and_then(|rest| rest.strip_suffix(".md"))
        .is_some_and(|id| LoopId::parse(id).is_some())
}

/// Whether the computed trees are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    IdOnly,
    Write,
}

fn without_evidence(
    git: &Git,
    git_dir: &Path,
    tree: &Oid,
    reports: &str,
    keep: Keep,
) -> Result<ContentTree, Failure> {
    let folders = components(reports)?;
    let listing = tree_entries(git, git_dir, tree.as_str(), reports)?;
    let gone = evidence(&listing, reports);
    let mut made = Vec::new();
    if gone.is_empty() {
        let tree = tree.clone();
        return Ok(ContentTree { tree, made });
    }
    let mut trees = read_trees(git, git_dir, tree, &folders, &gone)?;
    let mut hash = |bytes: &[u8]| {
        let oid = hash_tree(git, git_dir, bytes, keep)?;
        made.push(oid.clone());
        Ok::<_, Error>(oid)
    };
    // From the leaves up: each folder without its evidence, then every folder above it. A folder
    // that became empty goes with its entry, since git has no empty folders.
    let mut reports_tree = trees.pop().unwrap_or_default();
    for (folder, files) in gone {
        let Some(mut leaf) = trees.pop() else {
            return Err(Error::answer("git cat-file --batch", b"a missing tree").into());
        };
        leaf.remove(&files);
        let oid = (!leaf.is_empty())
            .then(|| hash(&leaf.to_bytes()))
            .transpose()?;
        reports_tree.replace(folder.as_bytes(), oid.as_ref())?;
    }
    let mut child = reports_tree;
    for folder in folders.iter().rev() {
        let oid = (!child.is_empty())
            .then(|| hash(&child.to_bytes()))
            .transpose()?;
        let Some(mut parent) = trees.pop() else {
            return Err(Error::answer("git cat-file --batch", b"a missing tree").into());
        };
        parent.replace(folder.as_bytes(), oid.as_ref())?;
        child = parent;
    }
    let tree = hash(&child.to_bytes())?;
    Ok(ContentTree { tree, made })
}

/// The reports folder's components; anything but a plain relative path is refused.
fn components(reports: &str) -> Result<Vec<&str>, Failure> {
    let parts: Vec<&str> = reports.split('/').collect();
    let plain = |part: &&str| {
        !matches!(*part, "" | "." | ".." | ".git") && !part.chars().any(char::is_control)
    };
    if parts.iter().all(plain) {
        Ok(parts)
    } else {
        let message = format!(
            "the reports folder {} is no plain path inside the repository",
            crate::git::error::shown(reports.as_bytes())
        );
        Err(Failure::new(Code::ReportsUnsafe, message))
    }
}

/// Evidence by folder: names of files that the content tree leaves out.
fn evidence(listing: &[TreeEntry], reports: &str) -> BTreeMap<String, BTreeSet<Vec<u8>>> {
    let mut gone: BTreeMap<String, BTreeSet<Vec<u8>>> = BTreeMap::new();
    for entry in listing {
        let small = entry.size.is_some_and(|size| size <= EVIDENCE_CAP);
        if entry.mode != "100644" || !small {
            continue;
        }
        let inside = entry
            .path
            .as_str()
            .and_then(|path| path.strip_prefix(reports)?.strip_prefix('/'));
        let Some((folder, file)) = inside.and_then(|path| path.split_once('/')) else {
            continue;
        };
        if is_evidence_name(folder, file) {
            gone.entry(folder.to_owned())
                .or_default()
                .insert(file.as_bytes().to_vec());
        }
    }
    gone
}

/// The trees that change, in the order root, folders above the reports folder, evidence folders
/// from last to first, reports folder: so that each is popped when it is needed.
fn read_trees(
    git: &Git,
    git_dir: &Path,
    tree: &Oid,
    folders: &[&str],
    gone: &BTreeMap<String, BTreeSet<Vec<u8>>>,
) -> Result<Vec<RawTree>, Failure> {
    let reports = folders.join("/");
    let above = (0..folders.len()).map(|depth| folders[..depth].join("/"));
    let leaves = gone
        .keys()
        .rev()
        .map(|folder| format!("{reports}/{folder}"));
    let names: Vec<String> = above
        .chain(leaves)
        .chain([reports.clone()])
        .map(|path| format!("{tree}:{path}"))
        .collect();
    let found = ask(
        git,
        Place::new(git_dir),
        |library| library.objects(&names),
        |program| program.objects(&names),
    )?;
    let width = tree.as_str().len() / 2;
    let trees = found.into_iter().map(|object| match object {
        Some(object) if object.kind == "tree" => RawTree::parse(&object.bytes, width),
        _ => Err(Error::answer("git cat-file --batch", b"a missing tree")),
    });
    Ok(trees.collect::<Result<_, _>>()?)
}

fn hash_tree(git: &Git, git_dir: &Path, bytes: &[u8], keep: Keep) -> Result<Oid, Error> {
    let mut command = git
        .on(git_dir)
        .args(["hash-object", "-t", "tree", "--stdin"]);
    if keep == Keep::Write {
        command = command.arg("-w");
    }
    read_oid("git hash-object", &finish(&command.stdin(bytes))?)
}

#[cfg(test)]
mod tests {
    use super::is_evidence_name;

    const ID: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

    #[test]
    fn only_the_designs_names_are_evidence() {
        for (folder, file, expected) in [
            ("security", format!("report-{ID}.md"), true),
            ("security", format!("report-{ID}.identity.json"), true),
            ("planner", format!("plan-{ID}.md"), true),
            ("approvals", format!("{ID}.json"), true),
            ("approvals", format!("report-{ID}.md"), false),
            ("security", format!("{ID}.json"), false),
            ("Security", format!("report-{ID}.md"), false),
            (
                "security",
                format!("report-{}.md", ID.to_uppercase()),
                false,
            ),
            ("security", format!("report-{ID}.md.sh"), false),
            (
                "security",
                format!("report-{}.md", ID.replace('-', "")),
                false,
            ),
            ("security", format!("sub/report-{ID}.md"), false),
            ("security", "report-.md".to_owned(), false),
            ("security", "notes.md".to_owned(), false),
        ] {
            assert_eq!(is_evidence_name(folder, &file), expected, "{folder}/{file}");
        }
    }
}
