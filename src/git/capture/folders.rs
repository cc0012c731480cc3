//! The tree of a capture's entries, and the trees of folders that git does not have yet.

use crate::domain::oid::Oid;
use crate::git::capture::quick::Held;
use crate::git::error::Error;
use crate::git::index::cache_tree::Folders;
use crate::git::object_id::{RawId, digits, parse};
use crate::git::program::finish;
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
    let (mut new, mut asked) = (Vec::new(), Vec::new());
    let mut ids = TreeIds::new(format, |folder: Closed<'_>| {
        if known.get(folder.path) != Some(folder.id) {
            new.push(*folder.id);
            describe(folder.bytes, format, &mut asked);
        }
    });
    for entry in held {
        ids.add(entry.mode, entry.path, &entry.id);
    }
    let root = ids.finish();
    if new.is_empty() {
        return Ok(Some(oid(&root, format)?));
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
fn describe(tree: &[u8], format: ObjectFormat, asked: &mut Vec<u8>) {
    let mut rest = tree;
    while let Some(end) = rest.iter().position(|byte| *byte == 0) {
        let (entry, after) = rest.split_at(end + 1);
        let Some((id, after)) = after.split_at_checked(format.width()) else {
            break;
        };
        let space = entry.iter().position(|byte| *byte == b' ');
        let (mode, name) = entry.split_at(space.unwrap_or(0));
        asked.extend_from_slice(mode);
        asked.extend_from_slice(if mode == b"40000" {
            b" tree "
        } else {
            b" blob "
        });
        asked.extend_from_slice(digits(id).as_bytes());
        asked.push(b'\t');
        // With its NUL.
        asked.extend_from_slice(name.get(1..).unwrap_or_default());
        rest = after;
    }
    asked.push(0);
}

fn oid(id: &RawId, format: ObjectFormat) -> Result<Oid, Error> {
    let digits = digits(&id[..format.width()]);
    Oid::parse(&digits).ok_or_else(|| Error::answer("git mktree", digits.as_bytes()))
}
