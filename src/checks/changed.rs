//! Which lines of a file count as this change's.

use crate::domain::evidence::ChangedFile;

/// Lines that the change added or edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Changed {
    /// All of them: the file is new, or what changed in it is not known by line.
    All,
    /// These ranges, first and last, in order.
    Ranges(Vec<(u32, u32)>),
}

impl Changed {
    /// What the evidence knows of a file. Where it does not count lines (binary, excluded, a
    /// pointer), everything counts as changed: never less than what changed.
    pub(crate) fn of(file: &ChangedFile) -> Self {
        let absent = file.old_mode == crate::checks::git::ABSENT;
        if absent || file.added.is_none() || file.unreviewed.is_some() {
            return Self::All;
        }
        let mut ranges = file.changed_lines.clone();
        ranges.sort_unstable();
        Self::Ranges(ranges)
    }

    /// Whether any line from `first` to `last` counts.
    pub(crate) fn touches(&self, first: u32, last: u32) -> bool {
        match self {
            Self::All => true,
            Self::Ranges(ranges) => {
                let after = ranges.partition_point(|range| range.1 < first);
                ranges.get(after).is_some_and(|range| range.0 <= last)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_inclusive() {
        let changed = Changed::Ranges(vec![(3, 4), (9, 9)]);
        let hits: Vec<u32> = (1..12)
            .filter(|line| changed.touches(*line, *line))
            .collect();
        assert_eq!(hits, [3, 4, 9]);
        assert!(changed.touches(5, 20) && !changed.touches(5, 8));
    }
}
