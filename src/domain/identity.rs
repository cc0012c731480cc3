//! What exactly is under review, and whether it moved.

use serde::{Deserialize, Serialize};

use crate::domain::failure::NextCommand;
use crate::domain::look::IndexAlone;
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
pub use crate::domain::tripwire::{Moved, Parts, Trip, Tripwire, named};

/// The content that an approval covers; the run's `loop_id` completes it (row M-062).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The commit that the change is judged against: the merge base of `--base` and HEAD.
    pub base: Oid,
    /// HEAD of the source root.
    pub head: Oid,
    /// The tree of the snapshot: HEAD plus everything uncommitted.
    pub tree: Oid,
    /// `tree` without promoted evidence.
    pub content_tree: Oid,
}

/// One measurement of the source, with the snapshot that holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// What was measured.
    pub identity: Identity,
    /// The commit that holds `identity.tree`: HEAD itself when the source is clean.
    pub snapshot: Oid,
    /// The tip of `--base` when measured; `None` where the base is HEAD at the start.
    pub base_tip: Option<Oid>,
    /// The content tree of the base.
    pub base_content_tree: Oid,
    /// The source's branch (`refs/heads/…`); `None` when HEAD is detached.
    pub branch: Option<String>,
    /// Commits in `base..head`.
    pub commits: u32,
    /// Commits that `--base` has and HEAD lacks: main moved on.
    pub behind: u32,
    /// Whether the snapshot differs from HEAD: there are uncommitted edits.
    pub dirty: bool,
    /// Whether all that differs is promoted evidence.
    #[serde(default)]
    pub only_evidence: bool,
    /// What the index alone held; known before a job that may write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<IndexAlone>,
    /// What agents must not touch.
    pub tripwire: Tripwire,
    /// Things to tell the user, each said once: a base that moved forward, a stale local base, …
    pub notices: Vec<String>,
}

impl Pin {
    /// Whether what is under review differs from HEAD's, so that something is to be committed before a gate
    /// can judge it.
    #[must_use]
    pub fn is_uncommitted(&self) -> bool {
        self.dirty && !self.only_evidence
    }
    /// Whether there is nothing to review (row M-031, scenario S21).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.identity.content_tree == self.base_content_tree
    }
    /// Whether both have the same change under review: the same content against the same base.
    #[must_use]
    pub fn has_change_of(&self, other: &Self) -> bool {
        self.identity.content_tree == other.identity.content_tree
            && self.identity.base == other.identity.base
    }
}

/// A later measurement, compared with the round's pin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remeasured {
    /// The new measurement.
    pub pin: Pin,
    /// Paths whose content differs from the round's pin.
    pub moved_paths: Vec<RepoPath>,
    /// Whether `--base` no longer descends from the tip it had (rewound or replaced).
    pub base_rewound: bool,
    /// Whether the new head descends from the pinned one, or is the same.
    pub head_descends: bool,
    /// Paths with uncommitted edits in the pin whose edit is gone: they hold what the pinned head
    /// holds, or nothing. A file that the user had deleted and that is back is none of them: no
    /// content is lost.
    #[serde(default)]
    pub lost: Vec<RepoPath>,
    /// Paths of which something was in the index alone and is gone from there; known after a job
    /// that may write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unstaged: Vec<RepoPath>,
    /// Sides of conflicts that the index alone held and holds no more; known after a job that may write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmerged: Vec<Side>,
    /// Paths of which the same is to be said, but that nobody edited except jobs of this run: what they held
    /// is kept as well, and nobody is told that it is lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<RepoPath>,
    /// What still holds what is lost, where anything is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Kept>,
    /// Where else there is new work; known after a job that may write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<Elsewhere>,
    /// What cannot be known of a job that may write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<Doubt>,
    /// What is lost of how things were right before the step's newest job, where an earlier one had been asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anew: Option<Box<Lost>>,
}

/// Uncommitted edits that are gone since a job was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lost {
    /// Their paths.
    pub edits: Vec<RepoPath>,
    /// Paths whose edits were nobody's but those of jobs of this run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<RepoPath>,
    /// What still holds them.
    pub kept: Kept,
    /// The same of earlier moments: the run was taken up more than once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<Self>,
}

/// One side of a conflict, as the index has it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// The path.
    pub path: RepoPath,
    /// 1 is the common ancestor, 2 ours, 3 theirs.
    pub stage: u8,
}

impl Side {
    /// Where the commit has it that keeps such sides.
    #[must_use]
    pub fn kept_at(&self) -> RepoPath {
        let folder = format!("{}/", self.stage);
        RepoPath::new([folder.as_bytes(), self.path.as_bytes()].concat())
    }
    /// The side in words.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.stage {
            1 => "the common ancestor",
            2 => "our side",
            _ => "their side",
        }
    }
}

/// Something that a job may have done, of which it cannot be known whether it did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Doubt {
    /// What it is about.
    pub about: About,
    /// Why it cannot be known.
    pub why: String,
}

/// Where a job may have left or thrown away something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// Other branches.
    Branches,
    /// Commits that no branch holds.
    Head,
    /// The stash.
    Stash,
    /// The index.
    Index,
    /// Uncommitted edits.
    Edits,
}

impl Doubt {
    /// What was kept for the comparison before the job is gone.
    #[must_use]
    pub fn not_kept(about: About) -> Self {
        let why = "what was kept of it before the job is gone".to_owned();
        Self { about, why }
    }
    /// What may have been done, as a sentence goes on after the job's name, up to the command.
    #[must_use]
    pub fn said(&self) -> String {
        let (may, all) = match self.about {
            About::Branches => ("committed to other branches", "all branches are"),
            About::Head => ("committed on no branch", "what nothing holds any more is"),
            About::Stash => (
                "put something into the stash, or taken it away from there",
                "all entries are",
            ),
            About::Index => (
                "thrown away what was in the index alone",
                "what nothing holds any more is",
            ),
            About::Edits => (
                "thrown away uncommitted edits that were there right before it",
                "what is uncommitted now is",
            ),
        };
        let why = &self.why;
        format!("may have {may}, which is not known, since {why}; {all} listed by")
    }
    /// The command that lists what there is.
    #[must_use]
    pub fn lists(&self, root: &str) -> Vec<String> {
        let words: &[&str] = match self.about {
            About::Branches => &["branch", "--list", "-vv"],
            About::Head => &["fsck", "--no-reflogs", "--no-progress"],
            About::Stash => &["stash", "list"],
            About::Index => &["fsck", "--no-progress"],
            About::Edits => &["status", "--short"],
        };
        let git = ["git", "-C", root];
        let all = git.iter().chain(words);
        all.map(|&word| word.to_owned()).collect()
    }
}

/// What holds the content that was there before a step of work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// The git directory of the review store.
    pub store: String,
    /// The snapshot of the working state.
    pub snapshot: Oid,
    /// The commit that has what was in the index alone, if anything was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staged: Option<Oid>,
    /// The commit that has the sides of conflicts that were in the index alone, if any were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmerged: Option<Oid>,
}

/// Work beside what is under review that was not there before a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Elsewhere {
    /// What holds it.
    #[serde(default, skip_serializing_if = "Site::is_branch")]
    pub site: Site,
    /// The branch's name, without `refs/heads/`; empty where it is none.
    pub branch: String,
    /// Where the branch was before; `None` where it is new.
    pub from: Option<Oid>,
    /// The commit.
    pub to: Oid,
}

/// What holds work beside what is under review.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Site {
    /// Another branch, with new commits.
    #[default]
    Branch,
    /// A commit that no branch holds: HEAD was detached when it was made.
    Detached,
    /// A new entry of the stash.
    Stash,
    /// Nothing any more: an entry of the stash that was there before the job.
    Dropped,
}

impl Site {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde hands out references"
    )]
    fn is_branch(&self) -> bool {
        *self == Self::Branch
    }
}

impl Elsewhere {
    /// The command that brings it into a working tree, or back into the stash.
    #[must_use]
    pub fn bring(&self, root: &str) -> Vec<String> {
        let range = match &self.from {
            Some(from) => format!("{from}..{}", self.to),
            None => format!("HEAD..{}", self.to),
        };
        let to = self.to.as_str();
        let words: &[&str] = match self.site {
            Site::Branch | Site::Detached => &["cherry-pick", &range],
            Site::Stash => &["stash", "apply", to],
            Site::Dropped => &["stash", "store", "-m", "taken back", to],
        };
        let git = ["git", "-C", root];
        git.iter()
            .chain(words)
            .map(|&word| word.to_owned())
            .collect()
    }
    /// What the job did, as a sentence goes on after its name.
    #[must_use]
    pub fn did(&self) -> String {
        match self.site {
            Site::Branch => format!("committed to {}", RepoPath::from(self.branch.as_str())),
            Site::Detached => format!("committed {} on no branch", self.to.short()),
            Site::Stash => format!("put {} into the stash", self.to.short()),
            Site::Dropped => format!("took {} away from the stash", self.to.short()),
        }
    }
}

/// What a comparison of two measurements says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drift {
    /// The base is another commit, or `--base` was rewound.
    pub base_moved: bool,
    /// The content tree is another.
    pub content_moved: bool,
    /// Parts of the tripwire that count.
    pub trips: Vec<Trip>,
}

impl Drift {
    /// Whether the round is stale: base or content tree differ (design, section 5).
    #[must_use]
    pub fn is_stale(&self) -> bool {
        self.base_moved || self.content_moved
    }
}

impl Remeasured {
    /// The branch that HEAD is on now (`detached` on none), where it was on another one.
    #[must_use]
    pub fn branch_switched(&self, pinned: &Pin) -> Option<&str> {
        let now = self.pin.tripwire.head_ref.as_str();
        (now != pinned.tripwire.head_ref).then_some(now)
    }
    /// Such parts of the tripwire, with what of them differs from the pin.
    #[must_use]
    pub fn named(&self, pinned: &Pin, trips: &[Trip]) -> Vec<Moved> {
        let (old, new) = (&pinned.tripwire, &self.pin.tripwire);
        trips.iter().map(|trip| old.moved(new, *trip)).collect()
    }
    /// The command that prints what was uncommitted before the step, where it took away what earlier jobs of
    /// the run had written.
    #[must_use]
    pub fn prints_own(&self, pinned: &Pin) -> Option<NextCommand> {
        let of_step = self.kept.as_ref().filter(|_| !self.own.is_empty());
        let anew = self.anew.as_deref().filter(|lost| !lost.own.is_empty());
        let kept = of_step.or_else(|| anew.map(|lost| &lost.kept))?;
        Some(NextCommand(kept.edits(&pinned.identity.head)))
    }
    /// Compares with the pin of the round.
    #[must_use]
    pub fn drift_from(&self, pinned: &Pin) -> Drift {
        let now = &self.pin;
        let content_moved = now.identity.content_tree != pinned.identity.content_tree;
        let base_moved = self.base_rewound || now.identity.base != pinned.identity.base;
        let suspicious = content_moved || !self.head_descends;
        let counts = |trip: &Trip| match trip {
            Trip::BranchTip | Trip::Index => suspicious,
            Trip::HeadRef | Trip::Config | Trip::Hooks | Trip::Info | Trip::Manifests => true,
        };
        let trips = pinned.tripwire.differs(&now.tripwire).filter(counts);
        let trips = trips.collect();
        Drift {
            base_moved,
            content_moved,
            trips,
        }
    }
}
