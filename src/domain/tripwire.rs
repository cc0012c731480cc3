//! What is watched while jobs run (design, section 6), and what of it moved.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::digest::Digest;
use crate::domain::oid::Oid;

/// What agents must not touch, as digests.
///
/// `branch_tip` and `index` count only if the content moved too or the new head does not descend
/// from the old one: the user may commit or stage what is under review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tripwire {
    /// HEAD's symbolic target, or `detached`.
    pub head_ref: String,
    /// The commit of the source's branch.
    pub branch_tip: Oid,
    /// The local configuration, worktree configuration included.
    pub config: Digest,
    /// The hooks folder: names, modes and bytes.
    pub hooks: Digest,
    /// The `info/` folder.
    pub info: Digest,
    /// The index by entries (mode, id, stage, flags, path), not by its bytes.
    pub index: Digest,
    /// The manifests under the reports folder.
    pub manifests: Digest,
    /// What the digests are of, so that what moved can be named.
    #[serde(default, skip_serializing_if = "Parts::is_empty")]
    pub parts: Box<Parts>,
}

/// Keys and files with a short digest each: they name what moved, and decide nothing. `None` in older
/// journals, and where there are very many.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parts {
    /// Keys of the local configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<BTreeMap<String, String>>,
    /// Files of the hooks folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hooks: Option<BTreeMap<String, String>>,
    /// Files of the `info/` folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub info: Option<BTreeMap<String, String>>,
}

impl Parts {
    /// How many names of one kind are kept.
    pub const MOST: usize = 200;

    /// Whether nothing is named.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.config.is_none() && self.hooks.is_none() && self.info.is_none()
    }
    fn of(&self, trip: Trip) -> Option<&BTreeMap<String, String>> {
        match trip {
            Trip::Config => self.config.as_ref(),
            Trip::Hooks => self.hooks.as_ref(),
            Trip::Info => self.info.as_ref(),
            Trip::HeadRef | Trip::BranchTip | Trip::Index | Trip::Manifests => None,
        }
    }
}

/// A part of the tripwire that moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trip {
    /// HEAD points at another branch.
    HeadRef,
    /// The branch was moved.
    BranchTip,
    /// The repository's configuration was edited.
    Config,
    /// A hook was added, edited or removed.
    Hooks,
    /// A file under `info/` was edited.
    Info,
    /// The index was edited.
    Index,
    /// A manifest was added, edited or removed.
    Manifests,
}

impl Trip {
    /// Whether nobody but a person has any business there: what a job left behind works on after its
    /// round, and the next round's beginning does not make it right.
    #[must_use]
    pub fn outlasts_its_round(self) -> bool {
        match self {
            Self::Config | Self::Hooks | Self::Info | Self::Manifests => true,
            Self::HeadRef | Self::BranchTip | Self::Index => false,
        }
    }
    /// The thing, for people.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::HeadRef => "HEAD's branch",
            Self::BranchTip => "the source branch",
            Self::Config => "the local configuration",
            Self::Hooks => "the hooks",
            Self::Info => "the info folder",
            Self::Index => "the index",
            Self::Manifests => "the approval manifests",
        }
    }
}

/// A part of the tripwire that moved, with the keys or files that did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// Which.
    pub trip: Trip,
    /// The keys or files, as far as they are known.
    pub names: BTreeSet<String>,
}

/// How many of them are named to people.
const SHOWN: usize = 5;

impl fmt::Display for Moved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.trip.as_str())?;
        if self.names.is_empty() {
            return Ok(());
        }
        let mut shown: Vec<&str> = self.names.iter().take(SHOWN).map(String::as_str).collect();
        let more = format!("{} more", self.names.len().saturating_sub(SHOWN));
        if self.names.len() > SHOWN {
            shown.push(&more);
        }
        write!(f, " ({})", shown.join(", "))
    }
}

/// All of them in one phrase.
#[must_use]
pub fn named(moved: &[Moved]) -> String {
    let all: Vec<String> = moved.iter().map(ToString::to_string).collect();
    all.join(" and ")
}

impl Tripwire {
    /// This part is as in the other one from here on.
    pub(crate) fn take(&mut self, other: &Self, trip: Trip) {
        match trip {
            Trip::HeadRef => self.head_ref.clone_from(&other.head_ref),
            Trip::BranchTip => self.branch_tip.clone_from(&other.branch_tip),
            Trip::Config => {
                self.config = other.config.clone();
                self.parts.config.clone_from(&other.parts.config);
            }
            Trip::Hooks => {
                self.hooks = other.hooks.clone();
                self.parts.hooks.clone_from(&other.parts.hooks);
            }
            Trip::Info => {
                self.info = other.info.clone();
                self.parts.info.clone_from(&other.parts.info);
            }
            Trip::Index => self.index = other.index.clone(),
            Trip::Manifests => self.manifests = other.manifests.clone(),
        }
    }
    /// The parts in which two of them differ.
    pub fn differs(&self, new: &Self) -> impl Iterator<Item = Trip> {
        let checks = [
            (Trip::HeadRef, self.head_ref != new.head_ref),
            (Trip::BranchTip, self.branch_tip != new.branch_tip),
            (Trip::Config, self.config != new.config),
            (Trip::Hooks, self.hooks != new.hooks),
            (Trip::Info, self.info != new.info),
            (Trip::Index, self.index != new.index),
            (Trip::Manifests, self.manifests != new.manifests),
        ];
        let moved = checks.into_iter().filter(|(_, moved)| *moved);
        moved.map(|(trip, _)| trip)
    }
    /// Such a part, with what of it differs.
    #[must_use]
    pub fn moved(&self, new: &Self, trip: Trip) -> Moved {
        let mut names = BTreeSet::new();
        if let (Some(old), Some(new)) = (self.parts.of(trip), new.parts.of(trip)) {
            let all = old.keys().chain(new.keys());
            let differ = all.filter(|name| old.get(*name) != new.get(*name));
            names = differ.cloned().collect();
        }
        Moved { trip, names }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tripwire(config: Option<&[(&str, &str)]>) -> Tripwire {
        let empty = || Digest::of(b"");
        let owned = |(name, digest): &(&str, &str)| ((*name).to_owned(), (*digest).to_owned());
        Tripwire {
            head_ref: "refs/heads/feature".to_owned(),
            branch_tip: Oid::parse(&"1".repeat(40)).unwrap(),
            config: empty(),
            hooks: empty(),
            info: empty(),
            index: empty(),
            manifests: empty(),
            parts: Box::new(Parts {
                config: config.map(|all| all.iter().map(owned).collect()),
                ..Parts::default()
            }),
        }
    }

    /// U34: what moved is named by its keys, as far as they are known; older journals know none.
    #[test]
    fn what_moved_is_named() {
        let before = tripwire(Some(&[("alias.st", "1"), ("user.email", "1")]));
        let after = tripwire(Some(&[("user.email", "2"), ("remote.origin.url", "1")]));
        let said = |old: &Tripwire, new: &Tripwire| old.moved(new, Trip::Config).to_string();
        assert_eq!(
            said(&before, &after),
            "the local configuration (alias.st, remote.origin.url, user.email)"
        );
        let older = tripwire(None);
        assert_eq!(said(&older, &after), "the local configuration");
        assert_eq!(said(&before, &older), "the local configuration");
        let names: Vec<String> = (0..7).map(|n| format!("alias.a{n}")).collect();
        let many: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1")).collect();
        assert_eq!(
            said(&tripwire(Some(&[])), &tripwire(Some(&many))),
            "the local configuration (alias.a0, alias.a1, alias.a2, alias.a3, alias.a4, 2 more)"
        );
    }
}
