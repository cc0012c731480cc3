//! The tree of a capture's entries, and the trees of folders that git does not have yet.

use crate::domain::oid::Oid;
use crate::git::capture::quick::Held;
use crate::git::error::Error;
use crate::git::index::cache_tree::Folders;
use crate::git::object_id::{RawId, digits, each_digit, parse};
use crate::git::program::finish;
use crate::git::raw_tree::RawTree;
use crate::git::repository::ObjectFormat;
use crate::git::tree_id::{Closed, TreeIds};
use crate::process::command::Command;

/// The tree of all entries, which git has then; `None` where git makes another one of them. What stands
/// in `known` is taken to be there if it is the tree of just these entries, as git takes it.
pub(super) fn tree_of(
    command: &Command,
    format: ObjectFormat,
    known: &Folders,
    held: &[Held<'_>],
) -> Result<Option<Oid>, Error> {
    let (mut new, mut trees) = (Vec::new(), Vec::new());
    let mut ids = TreeIds::new(format, |folder: Closed<'_>| {
        if known.get(folder.path) != Some(folder.id) {
            new.push(*folder.id);
            trees.push(RawTree::parse(folder.bytes, format.width()));
        }
    });
    for entry in held {
        ids.add(entry.mode, entry.path, &entry.id);
    }
    let root = ids.finish();
    if new.is_empty() {
        return Ok(Some(oid(&root, format)?));
    }
    let mut asked = Vec::new();
    for tree in trees {
        describe(&tree?, &mut asked);
    }
    let command = command.clone().args(["mktree", "-z", "--batch"]);
    let answer = finish(&command.stdin(asked))?;
    let lines = answer.strip_suffix(b"\n").unwrap_or(&answer);
    let made = lines.split(|byte| *byte == b'\n').map(parse);
    if made.eq(new.into_iter().map(Some)) {
        Ok(Some(oid(&root, format)?))
    } else {
        Ok(None)
    }
}

/// The entries of a tree, as `git mktree -z --batch` reads them.
fn describe(tree: &RawTree, asked: &mut Vec<u8>) {
    for (mode, name, id) in tree.entries() {
        let is_tree = mode == b"40000";
        asked.extend_from_slice(mode);
        asked.extend_from_slice(if is_tree { b" tree " } else { b" blob " });
        asked.extend(each_digit(id));
        asked.push(b'\t');
        asked.extend_from_slice(name);
        asked.push(0);
    }
    asked.push(0);
}

fn oid(id: &RawId, format: ObjectFormat) -> Result<Oid, Error> {
    let digits = digits(&id[..format.width()]);
    Oid::parse(&digits).ok_or_else(|| Error::answer("git mktree", digits.as_bytes()))
}
