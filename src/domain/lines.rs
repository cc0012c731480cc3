//! Where lines of an earlier tree are in a later one.
//!
//! Whatever is not known is taken for changed: nothing rests on a line that was not found again.

use serde::{Deserialize, Serialize};

use crate::domain::finding::Claim;
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;

/// What became of the files of an earlier tree. A file that is not named is the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Since {
    /// The earlier tree.
    pub tree: Oid,
    /// The files that differ.
    pub files: Vec<FileSince>,
}

/// One file that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSince {
    /// Its path in the earlier tree; `None` where it is new.
    pub old: Option<RepoPath>,
    /// Its path now; `None` where it is gone.
    pub new: Option<RepoPath>,
    /// The regions that differ, in order; `None` where lines cannot be told apart, and all of them
    /// count as changed.
    pub changed: Option<Vec<Region>>,
}

/// Lines of the earlier file that other lines stand for now; either side may be empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// The first line that differs in the earlier file, from 1.
    pub old: u32,
    /// How many.
    pub old_count: u32,
    /// The first line that differs now, from 1.
    pub new: u32,
    /// How many.
    pub new_count: u32,
}

impl Since {
    /// Whether these lines of a file, as it is now, are those of the earlier tree. The file and its
    /// lines must exist.
    #[must_use]
    pub fn is_unchanged(&self, path: &RepoPath, first: u32, last: u32) -> bool {
        let mut files = self.files.iter();
        let Some(file) = files.find(|file| file.new.as_ref() == Some(path)) else {
            // What was there under this name and is gone, or went elsewhere, is another file.
            return first <= last && self.files.iter().all(|it| it.old.as_ref() != Some(path));
        };
        let Some(changed) = file.changed.as_ref().filter(|_| file.old.is_some()) else {
            return false;
        };
        let apart = |region: &Region| is_apart(region.new, region.new_count, first, last);
        first <= last && changed.iter().all(apart)
    }
    /// Where lines of the earlier tree are now; `None` where they were changed, or it is not known.
    #[must_use]
    pub fn moved(&self, path: &RepoPath, first: u32, last: u32) -> Option<(RepoPath, u32, u32)> {
        if first > last {
            return None;
        }
        let mut files = self.files.iter();
        let Some(file) = files.find(|file| file.old.as_ref() == Some(path)) else {
            let taken = self.files.iter().any(|it| it.new.as_ref() == Some(path));
            return (!taken).then(|| (path.clone(), first, last));
        };
        let (new, changed) = (file.new.as_ref()?, file.changed.as_ref()?);
        let (mut first, mut last) = (i64::from(first), i64::from(last));
        let at = (u32::try_from(first).ok()?, u32::try_from(last).ok()?);
        for region in changed {
            if !is_apart(region.old, region.old_count, at.0, at.1) {
                return None;
            }
            if region.old <= at.0 {
                let shift = i64::from(region.new_count) - i64::from(region.old_count);
                (first, last) = (first + shift, last + shift);
            }
        }
        Some((
            new.clone(),
            u32::try_from(first).ok()?,
            u32::try_from(last).ok()?,
        ))
    }
}

/// Lines of a file in the tree that reviewers were shown last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: RepoPath,
    /// The first line.
    pub first: u32,
    /// The last line.
    pub last: u32,
}

impl Place {
    /// What a claim cites, where it resolves.
    #[must_use]
    pub fn of(claim: &Claim) -> Option<Self> {
        claim.blob.as_ref()?;
        Some(Self {
            path: claim.path.clone()?,
            first: claim.line?,
            last: claim.last_line()?,
        })
    }
    /// Where it is after these changes.
    #[must_use]
    pub fn after(&self, since: &Since) -> Option<Self> {
        let (path, first, last) = since.moved(&self.path, self.first, self.last)?;
        Some(Self { path, first, last })
    }
}

/// Whether `count` lines from `start` on, or the gap before `start`, lie outside of the lines
/// `first` to `last`.
fn is_apart(start: u32, count: u32, first: u32, last: u32) -> bool {
    if count == 0 {
        return start <= first || start > last;
    }
    let end = start.saturating_add(count - 1);
    last < start || end < first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn since(changed: Option<Vec<Region>>) -> Since {
        Since {
            tree: Oid::parse(&"1".repeat(40)).unwrap(),
            files: vec![
                FileSince {
                    old: Some("old".into()),
                    new: Some("new".into()),
                    changed,
                },
                FileSince {
                    old: None,
                    new: Some("added".into()),
                    changed: None,
                },
                FileSince {
                    old: Some("gone".into()),
                    new: None,
                    changed: None,
                },
            ],
        }
    }

    /// Line 3 became lines 3 and 4, lines 6 and 7 went.
    fn edited() -> Since {
        let region = |old, old_count, new, new_count| Region {
            old,
            old_count,
            new,
            new_count,
        };
        since(Some(vec![region(3, 1, 3, 2), region(6, 2, 7, 0)]))
    }

    #[test]
    fn lines_beside_a_region_move_and_lines_in_it_are_gone() {
        let moved = |first, last| {
            edited()
                .moved(&"old".into(), first, last)
                .map(|(_, first, last)| (first, last))
        };
        assert_eq!(moved(1, 2), Some((1, 2)));
        assert_eq!(moved(4, 5), Some((5, 6)));
        assert_eq!(moved(8, 9), Some((7, 8)));
        for (first, last) in [(3, 3), (2, 4), (6, 6), (5, 8), (9, 8)] {
            assert_eq!(moved(first, last), None, "{first}-{last}");
        }
    }

    #[test]
    fn what_was_put_between_two_lines_changes_both_together() {
        let is_unchanged = |first, last| edited().is_unchanged(&"new".into(), first, last);
        for (first, last) in [(1, 2), (5, 6), (7, 9)] {
            assert!(is_unchanged(first, last), "{first}-{last}");
        }
        for (first, last) in [(3, 3), (4, 5), (6, 7), (1, 9), (2, 1)] {
            assert!(!is_unchanged(first, last), "{first}-{last}");
        }
    }

    /// A file that is new, gone, elsewhere or without known lines is never unchanged.
    #[test]
    fn what_is_not_known_is_changed() {
        for since in [edited(), since(None)] {
            for path in ["added", "gone", "old"] {
                assert!(!since.is_unchanged(&path.into(), 1, 1), "{path}");
            }
            for path in ["added", "gone", "new"] {
                assert_eq!(since.moved(&path.into(), 1, 1), None, "{path}");
            }
        }
        assert!(!since(None).is_unchanged(&"new".into(), 1, 1));
        assert_eq!(since(None).moved(&"old".into(), 1, 1), None);
        assert!(edited().is_unchanged(&"other".into(), 1, 1));
        assert_eq!(
            edited().moved(&"other".into(), 2, 3),
            Some(("other".into(), 2, 3))
        );
    }
}
