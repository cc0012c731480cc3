//! The agent's `.git`: made anew for each job, thrown away after it, never believed.

use std::io;
use std::path::Path;

use super::Error;
use super::own_git::Borrowed;
use crate::domain::oid::Oid;
use crate::git::Git;
use crate::git::program::{ask, finish};

/// What an agent is shown of the history.
#[derive(Debug)]
pub(super) struct View<'a> {
    /// HEAD, detached.
    pub(super) snapshot: &'a Oid,
    /// The commit that the base's name stands for.
    pub(super) base: &'a Oid,
    /// The base's name as the user knows it.
    pub(super) base_name: &'a str,
    /// The user's repository: its tags are copied.
    pub(super) common_dir: &'a Path,
}

/// Makes `<tree>/.git`, with an index that knows the files, so that `git status` is clean at once.
pub(super) fn make(
    borrowed: &Borrowed,
    tree: &Path,
    index: impl FnOnce(fs_err::File) -> io::Result<()>,
    snapshot: &Oid,
    refs: &[u8],
) -> Result<(), Error> {
    let dir = tree.join(".git");
    let settings =
        "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[advice]\n\tdetachedHead = false\n";
    fs_err::create_dir(&dir)?;
    borrowed.fill(&dir, snapshot.as_str(), settings)?;
    fs_err::write(dir.join("packed-refs"), refs)?;
    // Last: git tells by the index's own time which files it must look at again.
    index(fs_err::File::create_new(dir.join("index"))?)?;
    Ok(())
}

/// The packed refs: the user's tags, and the base under its name.
pub(super) fn refs(git: &Git, view: &View) -> Result<Vec<u8>, Error> {
    let mut lines: Vec<Vec<u8>> = tags(git, view.common_dir)
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(<[u8]>::to_vec)
        .collect();
    if let Some(name) = base_ref(git, view)? {
        let is_taken = lines.iter().any(|line| {
            let tag = line.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
            tag == name.as_bytes()
                || tag.strip_prefix(b"refs/tags/") == Some(view.base_name.as_bytes())
        });
        // A tag of that name says the same; a branch beside it would only be ambiguous.
        if !is_taken {
            lines.push(format!("{} {name}", view.base).into_bytes());
        }
    }
    let mut text = lines.join(&b'\n');
    if !text.is_empty() {
        text.push(b'\n');
    }
    Ok(text)
}

/// The user's tags. They are a convenience: a broken one must not stop a review.
fn tags(git: &Git, common_dir: &Path) -> Vec<u8> {
    let command = git.on(common_dir).args([
        "for-each-ref",
        "--format=%(objectname) %(refname)",
        "refs/tags",
    ]);
    finish(&command).unwrap_or_else(|error| {
        tracing::warn!(%error, "tags are not shown in the review tree");
        Vec::new()
    })
}

/// The ref that the base's name becomes; none for an object id or an expression (`HEAD~3`).
fn base_ref(git: &Git, view: &View) -> Result<Option<String>, Error> {
    let name = view.base_name;
    if Oid::parse(name).is_some() || name == "HEAD" {
        return Ok(None);
    }
    let full = if name.starts_with("refs/") {
        name.to_owned()
    } else {
        format!("refs/heads/{name}")
    };
    let command = git
        .on(view.common_dir)
        .args(["check-ref-format", full.as_str()]);
    Ok(ask(&command)?.map(|_| full))
}
