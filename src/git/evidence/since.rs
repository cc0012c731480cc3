//! Which lines of an earlier tree are where in a later one.

use std::collections::{BTreeMap, BTreeSet};

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::Error;
use super::blobs;
use super::differ::{Differ, Pair, Renames};
use super::list::{Counts, Entry};
use crate::domain::evidence::FileStatus;
use crate::domain::lines::{FileSince, Region, Since};
use crate::domain::oid::Oid;

/// Files whose lines are compared; of the others none is known.
const FILES: usize = 500;
/// Bytes of a blob whose lines are compared.
const BYTES: u64 = 1 << 20;
/// How many lines may be compared with how many, after what both files start and end with was
/// left out: beyond that, all between counts as changed.
const PAIRS: usize = 4_000_000;
/// A NUL among the first bytes makes a file binary, as git has it.
const BINARY_WITHIN: usize = 8_000;

/// What became of the files of `old` in `new`.
pub(super) fn of(differ: &Differ, old: &Oid, new: &Oid) -> Result<Since, Error> {
    let pair = Pair {
        old: old.clone(),
        new: new.clone(),
    };
    let plain = differ.list(&pair, Renames::None, Counts::Without)?;
    let entries = differ.list(&pair, Renames::for_list(&plain), Counts::Without)?;
    let edited: Vec<&Entry> = entries
        .iter()
        .filter(|it| is_edited(it))
        .take(FILES)
        .collect();
    let wanted: BTreeSet<&Oid> = edited
        .iter()
        .flat_map(|entry| [&entry.old_oid, &entry.new_oid])
        .collect();
    let texts = blobs::texts(differ, &wanted, BYTES)?;
    let files = entries
        .iter()
        // Its mode is no part of its lines.
        .filter(|entry| entry.status != FileStatus::ModeChanged)
        .map(|entry| file(entry, &texts))
        .collect();
    Ok(Since {
        tree: old.clone(),
        files,
    })
}

fn is_file(mode: &str) -> bool {
    matches!(mode, "100644" | "100755")
}

fn is_edited(entry: &Entry) -> bool {
    let files = is_file(&entry.old_mode) && is_file(&entry.new_mode);
    let pair = matches!(entry.status, FileStatus::Modified | FileStatus::Renamed);
    files && pair && entry.old_oid != entry.new_oid
}

fn file(entry: &Entry, texts: &BTreeMap<Oid, Vec<u8>>) -> FileSince {
    let (old, new) = match entry.status {
        FileStatus::Added => (None, Some(&entry.path)),
        FileStatus::Deleted => (Some(&entry.path), None),
        FileStatus::Modified
        | FileStatus::Renamed
        | FileStatus::ModeChanged
        | FileStatus::TypeChanged => {
            let old = entry.old_path.as_ref().unwrap_or(&entry.path);
            (Some(old), Some(&entry.path))
        }
    };
    let text = |oid| texts.get(oid).map(Vec::as_slice);
    let changed = if is_edited(entry) {
        match (text(&entry.old_oid), text(&entry.new_oid)) {
            (Some(old), Some(new)) if !is_binary(old) && !is_binary(new) => regions(old, new),
            _ => None,
        }
    } else {
        // It only moved; of any other kind of file no line is known.
        (entry.status == FileStatus::Renamed && entry.old_oid == entry.new_oid).then(Vec::new)
    };
    FileSince {
        old: old.cloned(),
        new: new.cloned(),
        changed,
    }
}

fn is_binary(text: &[u8]) -> bool {
    text.iter().take(BINARY_WITHIN).any(|byte| *byte == 0)
}

/// The regions in which two texts differ; `None` where they have more lines than can be counted.
fn regions(old: &[u8], new: &[u8]) -> Option<Vec<Region>> {
    let (old, new) = (lines(old), lines(new));
    let both = old.len().min(new.len());
    let ahead = (0..both).take_while(|at| old[*at] == new[*at]).count();
    let behind = (1..=both - ahead)
        .take_while(|back| old[old.len() - back] == new[new.len() - back])
        .count();
    let (old, new) = (
        &old[ahead..old.len() - behind],
        &new[ahead..new.len() - behind],
    );
    let region = |old: usize, old_count: usize, new: usize, new_count: usize| {
        Some(Region {
            old: u32::try_from(ahead + old + 1).ok()?,
            old_count: u32::try_from(old_count).ok()?,
            new: u32::try_from(ahead + new + 1).ok()?,
            new_count: u32::try_from(new_count).ok()?,
        })
    };
    if old.len().saturating_mul(new.len()) > PAIRS {
        return Some(vec![region(0, old.len(), 0, new.len())?]);
    }
    // The places that the operations name are not always right beside shifted ones: they are counted
    // here, and what is called equal is looked at.
    let (mut at_old, mut at_new) = (0, 0);
    let mut found = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, old, new) {
        let (old_count, new_count) = match op {
            DiffOp::Equal { len, .. } => {
                let (end_old, end_new) = (at_old + len, at_new + len);
                if old.get(at_old..end_old)? != new.get(at_new..end_new)? {
                    return None;
                }
                (at_old, at_new) = (end_old, end_new);
                continue;
            }
            DiffOp::Delete { old_len, .. } => (old_len, 0),
            DiffOp::Insert { new_len, .. } => (0, new_len),
            DiffOp::Replace {
                old_len, new_len, ..
            } => (old_len, new_len),
        };
        found.push(region(at_old, old_count, at_new, new_count)?);
        (at_old, at_new) = (at_old + old_count, at_new + new_count);
    }
    (at_old == old.len() && at_new == new.len()).then_some(found)
}

/// The lines with their ends, so that a last line without one is another line.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Few kinds of lines, so that they repeat.
    fn text() -> impl Strategy<Value = String> {
        proptest::collection::vec(prop_oneof!["a\n", "b\n", "c\n", "\n", "end"], 0..30)
            .prop_map(|lines| lines.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever moved: a line that is found again holds the same bytes, and a line that is
        /// called unchanged stood in the earlier file.
        #[test]
        fn a_line_that_is_found_again_is_the_same(old in text(), new in text()) {
            let changed = regions(old.as_bytes(), new.as_bytes());
            let since = Since {
                tree: Oid::parse(&"1".repeat(40)).unwrap(),
                files: vec![FileSince { old: Some("a".into()), new: Some("b".into()), changed }],
            };
            let (old, new) = (lines(old.as_bytes()), lines(new.as_bytes()));
            let mut found = BTreeSet::new();
            for first in 1..=old.len() {
                for last in first..=old.len() {
                    let at = |n: usize| u32::try_from(n).unwrap();
                    let moved = since.moved(&"a".into(), at(first), at(last));
                    if let Some((_, to, until)) = moved {
                        let (to, until) = (to as usize, until as usize);
                        prop_assert_eq!(&old[first - 1..last], &new[to - 1..until]);
                        found.insert((to, until));
                    }
                }
            }
            for first in 1..=new.len() {
                for last in first..=new.len() {
                    let at = |n: usize| u32::try_from(n).unwrap();
                    let same = since.is_unchanged(&"b".into(), at(first), at(last));
                    prop_assert_eq!(same, found.contains(&(first, last)));
                }
            }
        }
    }

    #[test]
    fn equal_texts_differ_nowhere() {
        assert_eq!(regions(b"a\nb\n", b"a\nb\n"), Some(Vec::new()));
    }

    /// What is too much to compare is changed as a whole, but for what both start and end with.
    #[test]
    fn what_is_too_much_is_changed_as_a_whole() {
        let numbered = |from: usize| {
            let lines: Vec<String> = (from..from + 2_100).map(|n| n.to_string()).collect();
            lines.join("\n") + "\n"
        };
        let old = format!("head\n{}tail\n", numbered(0));
        let new = format!("head\n{}tail\n", numbered(10));
        let whole = Region {
            old: 2,
            old_count: 2_100,
            new: 2,
            new_count: 2_100,
        };
        assert_eq!(regions(old.as_bytes(), new.as_bytes()), Some(vec![whole]));
    }
}
