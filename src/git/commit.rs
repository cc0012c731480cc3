//! What a commit's object says: no grafts, no replacements, no commit graph.

use crate::domain::oid::Oid;
use crate::git::read::Object;

/// The lines of a commit that are read here.
#[derive(Debug)]
pub(crate) struct Commit {
    /// Its id.
    pub(crate) oid: Oid,
    /// Its tree.
    pub(crate) tree: Oid,
    /// What it follows, as far as the lines right behind the tree say.
    pub(crate) parents: Vec<Oid>,
    /// Whether tree, parents and author follow each other as git writes them.
    pub(crate) is_plain: bool,
    /// The line about who committed it, and when.
    pub(crate) committer: Option<String>,
}

impl Commit {
    /// Reads an object; `None` for one that is no commit or begins with no tree.
    pub(crate) fn parse(object: &Object) -> Option<Self> {
        if object.kind != "commit" {
            return None;
        }
        let lines = object.bytes.split(|byte| *byte == b'\n');
        let mut lines = lines.take_while(|line| !line.is_empty());
        let tree = oid(lines.next()?, b"tree ")?;
        let mut lines = lines.peekable();
        let mut parents = Vec::new();
        while let Some(parent) = lines.peek().and_then(|line| oid(line, b"parent ")) {
            parents.push(parent);
            lines.next();
        }
        let author = lines.peek();
        let is_plain = author.is_some_and(|line| line.starts_with(b"author "));
        let committer = lines.find(|line| line.starts_with(b"committer "));
        Some(Self {
            oid: object.oid.clone(),
            tree,
            parents,
            is_plain,
            committer: committer.map(|line| String::from_utf8_lossy(line).into_owned()),
        })
    }
}

fn oid(line: &[u8], word: &[u8]) -> Option<Oid> {
    let text = std::str::from_utf8(line.strip_prefix(word)?).ok()?;
    Oid::parse(text)
}
