//! Names: HEAD and refs that are files, followed step by step.

use super::super::{Peel, Unsure};
use super::history::Commit;
use super::opening::{Opened, plain_or_absent};
use crate::domain::oid::Oid;

/// How many symbolic refs git follows.
const STEPS: usize = 5;
/// Tags of tags beyond this are left to git.
const TAGS: usize = 10;

/// Where HEAD stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The commit.
    pub commit: Oid,
    /// Its tree.
    pub tree: Oid,
    /// The ref that it leads to; `None` when it is detached.
    pub branch: Option<String>,
}

impl Opened {
    pub(super) fn head(&self) -> Result<Head, Unsure> {
        let (oid, name) = self.follow("HEAD")?;
        let commit = self.peeled(&oid, Peel::Commit)?;
        Ok(Head {
            tree: self.peeled(&commit, Peel::Tree)?,
            commit,
            branch: (name != "HEAD").then_some(name),
        })
    }

    /// The object that a full name leads to, and the last name on the way.
    pub(super) fn follow(&self, name: &str) -> Result<(Oid, String), Unsure> {
        let mut name = name.to_owned();
        for _ in 0..STEPS {
            self.is_plain(&name)?;
            let found = self.repository.find_reference(&name)?;
            if let Some(oid) = found.target() {
                let oid = Oid::parse(&oid.to_string());
                let oid = oid.ok_or_else(|| Unsure::question(&name, "no full object id"))?;
                return Ok((oid, name));
            }
            let next = found.symbolic_target()?.map(str::to_owned);
            name = next.ok_or_else(|| Unsure::question(&name, "a ref of no kind"))?;
        }
        Err(Unsure::question(name, "too many symbolic refs"))
    }

    /// Full names of branches and tags alone: git finds others by rules of its own, and some belong to
    /// one working tree.
    fn is_plain(&self, name: &str) -> Result<(), Unsure> {
        if name == "HEAD" {
            return plain_or_absent(&self.git_dir.join(name));
        }
        let shared = ["refs/heads/", "refs/remotes/", "refs/tags/"];
        let known = shared.iter().any(|prefix| name.starts_with(prefix));
        if !known || !git2::Reference::is_valid_name(name) {
            return Err(Unsure::question(name, "no full name of a branch or tag"));
        }
        // Git takes a link for a symbolic ref.
        plain_or_absent(&self.common_dir.join(name))
    }

    /// The commit or tree that an object leads to.
    pub(super) fn peeled(&self, oid: &Oid, kind: Peel) -> Result<Oid, Unsure> {
        let mut object = self.read(oid)?;
        for _ in 0..TAGS {
            match (object.kind.as_str(), kind) {
                ("commit", Peel::Commit) | ("tree", Peel::Tree) => return Ok(object.oid),
                ("commit", Peel::Tree) => {
                    let commit = Commit::parse(&object)?;
                    object = self.read(&commit.tree)?;
                }
                ("tag", _) => object = self.read(&tagged(&object.bytes, oid)?)?,
                _ => break,
            }
        }
        Err(Unsure::question(
            oid.as_str(),
            "leads to nothing of that kind",
        ))
    }
}

/// `object <oid>`, the first line of a tag.
fn tagged(tag: &[u8], oid: &Oid) -> Result<Oid, Unsure> {
    let line = tag.split(|byte| *byte == b'\n').next();
    line.and_then(|line| std::str::from_utf8(line.strip_prefix(b"object ")?).ok())
        .and_then(Oid::parse)
        .ok_or_else(|| Unsure::question(oid.as_str(), "a tag of another form"))
}
