//! Ancestry that is proven by commits that were read, one leading to the next.
//!
//! That a commit does *not* lead to another takes a whole history, or trust in dates: git's.

use std::collections::{BTreeSet, BinaryHeap};

use super::super::Unsure;
use super::history::Commit;
use super::opening::Opened;
use crate::domain::oid::Oid;

/// Commits that are read before git is asked: they take as long as the process would.
const LONGEST: u32 = 100;

impl Opened {
    fn commit(&self, oid: &Oid) -> Result<Commit, Unsure> {
        Commit::parse(&self.read(oid)?)
    }

    /// Proves that `from` leads to `to`.
    pub(super) fn leads(&self, from: &Oid, to: &Oid) -> Result<(), Unsure> {
        let target = self.commit(to)?;
        let mut seen = BTreeSet::from([from.clone()]);
        let start = self.commit(from)?;
        let mut open = BinaryHeap::from([(start.time, start.parents, from.clone())]);
        while let Some((time, parents, oid)) = open.pop() {
            if oid == *to {
                return Ok(());
            }
            // The newest that is left is older: by honest clocks it is not below.
            if time < target.time {
                break;
            }
            for parent in parents {
                if parent == *to {
                    return Ok(());
                }
                if !seen.insert(parent.clone()) {
                    continue;
                }
                if seen.len() > LONGEST as usize {
                    return Err(unproven(from));
                }
                let commit = self.commit(&parent)?;
                open.push((commit.time, commit.parents, parent));
            }
        }
        Err(unproven(from))
    }

    /// How many commits `from` has that `to` lacks, where one parent leads to the next until `to`.
    pub(super) fn steps(&self, from: &Oid, to: &Oid) -> Result<u32, Unsure> {
        let target = self.commit(to)?;
        let mut at = from.clone();
        for steps in 0..LONGEST {
            if at == *to {
                return Ok(steps);
            }
            let commit = self.commit(&at)?;
            if commit.time < target.time {
                break;
            }
            match <[Oid; 1]>::try_from(commit.parents) {
                Ok([parent]) => at = parent,
                Err(_) => break,
            }
        }
        Err(unproven(from))
    }
}

fn unproven(from: &Oid) -> Unsure {
    Unsure::question(from.as_str(), "not proven to lead there")
}
