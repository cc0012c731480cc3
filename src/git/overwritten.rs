//! Whether a file that was written over still has anything of the uncommitted edit that it held.
//!
//! Nobody can tell work on top of an edit from work in its place by what it is for. What can be told is that
//! no line which the edit added is there any more: then it is named, with what prints it, and nothing else
//! follows from it. Tests: `tests/git/measure.rs`, and below.

use std::collections::BTreeSet;

use crate::git::changes::{Change, Entry};
use crate::git::error::Error;
use crate::git::object::{blob_sizes, read_blob};
use crate::git::program::Git;
use crate::git::store::ReviewStore;

/// Bytes of a file that is looked into. A bigger one is no source text, and is not taken for lost.
const CAP: u64 = 16 << 20;

/// Whether what lies there now has none of the lines that the edit added.
pub(crate) fn is_without(
    git: &Git,
    store: &ReviewStore,
    edit: &Change,
    now: &Entry,
) -> Result<bool, Error> {
    // The same content under another mode is all there.
    if edit.new.oid == now.oid || edit.new.is_submodule() || now.is_submodule() {
        return Ok(false);
    }
    let is_file = |entry: &Entry| !entry.is_nothing() && !entry.is_submodule();
    let old = is_file(&edit.old).then_some(&edit.old.oid);
    let sizes = blob_sizes(git, store.git_dir(), &[&edit.new.oid, &now.oid])?;
    if sizes.iter().any(|size| *size > CAP) {
        return Ok(false);
    }
    let read = |oid| read_blob(git, store.git_dir(), oid);
    // What HEAD had may be with a promisor remote alone, or too big: without it every line of the edit is
    // one that it added, so that less is taken for lost.
    let old = old.and_then(|old| {
        let sizes = blob_sizes(git, store.git_dir(), &[old]).ok()?;
        sizes
            .iter()
            .all(|size| *size <= CAP)
            .then(|| read(old).ok())?
    });
    Ok(has_none(
        old.as_deref().unwrap_or_default(),
        &read(&edit.new.oid)?,
        &read(&now.oid)?,
    ))
}

/// Whether none of the lines that `new` has and `old` lacks is in `now`. How a line is indented is not
/// looked at, and lines without a word are anybody's.
fn has_none(old: &[u8], new: &[u8], now: &[u8]) -> bool {
    let (old, now) = (lines(old), lines(now));
    let added: BTreeSet<&[u8]> = lines(new).difference(&old).copied().collect();
    !added.is_empty() && added.is_disjoint(&now)
}

fn lines(bytes: &[u8]) -> BTreeSet<&[u8]> {
    let has_word = |line: &&[u8]| {
        let mut bytes = line.iter();
        bytes.any(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())
    };
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    lines.filter(has_word).collect()
}

#[cfg(test)]
mod tests {
    use super::has_none;

    /// Only where no added line is left; brackets and indentation decide nothing.
    #[test]
    fn an_edit_is_gone_when_no_line_of_it_is_left() {
        let old = b"fn one() {\n    1\n}\n";
        let edited = b"// a\n// b\nfn one() {\n    1\n}\n";
        for (new, now, expected) in [
            (&edited[..], &b"fn one() {\n    1\n}\n// sum\n"[..], true),
            (edited, b"// b\nfn two() {\n}\n", false),
            (edited, b"    // a\r\n", false),
            // It only took away.
            (b"fn one() {\n}\n", b"fn three() {\n}\n", false),
            (b"fn mine() {\n}\n", b"fn theirs() {\n}\n", true),
            (b"\xff\xfe\n", b"\xff\xfe\n\x00", false),
        ] {
            assert_eq!(
                has_none(old, new, now),
                expected,
                "{:?}",
                String::from_utf8_lossy(now)
            );
        }
        // A file that HEAD has not.
        assert!(has_none(b"", b"fn mine() {\n}\n", b"fn theirs() {\n}\n"));
    }
}
