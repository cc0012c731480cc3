//! What a step of work threw away or left elsewhere, each with the command that brings it.

use serde::Serialize;

use crate::domain::failure::NextCommand;
use crate::domain::id::RoundNumber;
use crate::domain::identity::{Doubt, Elsewhere, Kept, Lost, Remeasured, Side, Site};
use crate::domain::job::Role;
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::domain::slot::SlotName;

/// One thing that a step of work threw away or left elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Restoring {
    /// What it is.
    pub what: What,
    /// The path, of edits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<RepoPath>,
    /// The branch, where one holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Which side of a conflict: 1 is the common ancestor, 2 ours, 3 theirs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<u8>,
    /// The commit that holds it; none of what is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<Oid>,
    /// What happened and what the command does, as a sentence goes on after the job's name.
    pub said: String,
    /// The command that prints it, brings it in or puts it back.
    pub command: NextCommand,
    /// The review store that holds the commit, where it is one of ours.
    #[serde(skip)]
    pub store: Option<String>,
}

/// What is to be restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Uncommitted edits that are gone.
    LostEdits,
    /// What was in the index alone and is gone from there.
    LostStaged,
    /// A side of a conflict that was in the index alone and is gone from there.
    LostSide,
    /// Commits of another branch.
    Branch,
    /// A commit that no branch holds.
    Detached,
    /// A new entry of the stash.
    Stash,
    /// An entry that the stash lost.
    Dropped,
    /// It is not known whether there is anything: the command lists what there is.
    Unknown,
}

/// The same with the step that did it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftByWork {
    /// The round that the step came before.
    pub round: RoundNumber,
    /// What its job was asked for.
    pub role: Role,
    /// Who did it.
    pub slot: SlotName,
    /// What it left.
    #[serde(flatten)]
    pub restoring: Restoring,
    /// Whether the review store holds it no more, so that the command finds nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
}

impl Restoring {
    /// All that a measurement after a step of work tells of; `root` is the source root.
    #[must_use]
    pub fn all(measured: &Remeasured, root: &str) -> Vec<Self> {
        let lost = measured.kept.iter().flat_map(|kept| {
            let edits = measured.lost.iter();
            edits.map(|path| Self::lost(path, kept, &kept.snapshot))
        });
        let staged = measured.kept.iter().flat_map(|kept| {
            let paths = measured.unstaged.iter();
            paths.filter_map(|path| Some(Self::unstaged(path, kept, kept.staged.as_ref()?)))
        });
        let sides = measured.kept.iter().flat_map(|kept| {
            let sides = measured.unmerged.iter();
            sides.filter_map(|side| Some(Self::side(side, kept, kept.unmerged.as_ref()?)))
        });
        let elsewhere = measured.elsewhere.iter();
        let elsewhere = elsewhere.map(|moved| Self::elsewhere(moved, root));
        let unknown = measured.unknown.iter();
        let unknown = unknown.map(|doubt| Self::unknown(doubt, root));
        let anew = measured.anew.as_deref().into_iter().flat_map(Self::all_of);
        let lost = lost.chain(anew).chain(staged).chain(sides);
        lost.chain(elsewhere).chain(unknown).collect()
    }

    /// What is lost since a job was asked.
    pub fn all_of(lost: &Lost) -> impl Iterator<Item = Self> {
        let moments = std::iter::once(lost).chain(&lost.before);
        let edits = moments.flat_map(|lost| lost.edits.iter().map(move |path| (path, &lost.kept)));
        edits.map(|(path, kept)| Self::lost(path, kept, &kept.snapshot))
    }
    fn lost(path: &RepoPath, kept: &Kept, commit: &Oid) -> Self {
        let said = format!("lost the uncommitted edits of {path}; they are printed by");
        Self::of_path(What::LostEdits, said, path, kept, commit)
    }
    fn unstaged(path: &RepoPath, kept: &Kept, commit: &Oid) -> Self {
        let said = format!("lost what was only staged of {path}; it is printed by");
        Self::of_path(What::LostStaged, said, path, kept, commit)
    }
    fn side(side: &Side, kept: &Kept, commit: &Oid) -> Self {
        let (name, path) = (side.name(), &side.path);
        let said = format!(
            "lost {name} of the conflict in {path}, which was in the index alone; it is printed by"
        );
        Self {
            path: Some(path.clone()),
            stage: Some(side.stage),
            ..Self::of_path(What::LostSide, said, &side.kept_at(), kept, commit)
        }
    }
    /// Of what is not known.
    #[must_use]
    pub fn unknown(doubt: &Doubt, root: &str) -> Self {
        Self {
            what: What::Unknown,
            path: None,
            branch: None,
            stage: None,
            commit: None,
            said: doubt.said(),
            command: NextCommand(doubt.lists(root)),
            store: None,
        }
    }
    fn of_path(what: What, said: String, path: &RepoPath, kept: &Kept, commit: &Oid) -> Self {
        Self {
            what,
            path: Some(path.clone()),
            branch: None,
            stage: None,
            commit: Some(commit.clone()),
            said,
            command: NextCommand(kept.print(commit, path)),
            store: Some(kept.store.clone()),
        }
    }

    /// Of one thing that it left elsewhere.
    #[must_use]
    pub fn elsewhere(moved: &Elsewhere, root: &str) -> Self {
        let (what, brings) = match moved.site {
            Site::Branch => (What::Branch, BRINGS),
            Site::Detached => (What::Detached, BRINGS),
            Site::Stash => (What::Stash, BRINGS),
            Site::Dropped => (What::Dropped, "which is put back by"),
        };
        Self {
            what,
            path: None,
            branch: (moved.site == Site::Branch).then(|| moved.branch.clone()),
            stage: None,
            commit: Some(moved.to.clone()),
            said: format!("also {}, {brings}", moved.did()),
            command: NextCommand(moved.bring(root)),
            store: None,
        }
    }
}

const BRINGS: &str = "which is no part of the change; it is brought in by";

impl Kept {
    /// The command that prints all that was uncommitted in the working tree on this head, as a patch
    /// that `git apply` takes.
    #[must_use]
    pub fn edits(&self, head: &Oid) -> Vec<String> {
        let store = format!("--git-dir={}", self.store);
        let (head, snapshot) = (head.as_str(), self.snapshot.as_str());
        let words = ["git", &store, "diff", "--binary", head, snapshot];
        words.map(str::to_owned).to_vec()
    }
    /// The command that prints a path as the commit holds it.
    ///
    /// The commit stays in the review store while the run may go on, and afterwards until newer
    /// rounds take its place there (`git::store::tidy`). A path that is not
    /// UTF-8 cannot stand in an argument that is stored as text, so that the whole commit is
    /// unpacked.
    #[must_use]
    pub fn print(&self, commit: &Oid, path: &RepoPath) -> Vec<String> {
        let store = format!("--git-dir={}", self.store);
        let words = match path.as_str() {
            Some(path) => vec!["show".to_owned(), format!("{commit}:{path}")],
            None => vec![
                "archive".to_owned(),
                format!("--output=snapshot-{}.tar", commit.short()),
                commit.to_string(),
            ],
        };
        ["git".to_owned(), store].into_iter().chain(words).collect()
    }
}
