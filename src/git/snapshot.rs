//! Pinning: a round's identity, with the snapshot that holds it (design, section 5).

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::id::RoundNumber;
use crate::domain::identity::{Identity, Pin};
use crate::domain::job::Role;
use crate::domain::oid::Oid;
use crate::domain::run_spec::{BaseSpec, RunSpec};
use crate::domain::work::before;
use crate::git::base::{apart, count, merge_base, not_ancestor, stale_notice};
use crate::git::capture::{Capture, Source};
use crate::git::config::GitConfig;
use crate::git::content::{content_tree, store_content_tree};
use crate::git::error::Error;
use crate::git::facts::Facts;
use crate::git::genuine;
use crate::git::object::is_ancestor;
use crate::git::program::Git;
use crate::git::refuse::{Meaning, not_quiet, operation_in_progress};
use crate::git::repository::Repository;
use crate::git::snapshot_commit::{Objects, keep, pack, pack_trees, write};
use crate::git::store::ReviewStore;
use crate::git::tripwire;

/// How often a source that changes while it is captured is tried.
const TRIES: u32 = 3;

/// Captures the source into the review store, packs it there and measures it.
///
/// # Errors
/// Every refusal of section 5 under its code; a source that does not hold still is
/// `SourceNotQuiet` in the first round and `SourceUnquietLater` after it; git errors are
/// `GitFailed`. Nothing of a failed capture is used.
pub fn pin(
    git: &Git,
    repo: &Repository,
    store: &ReviewStore,
    spec: &RunSpec,
    round: RoundNumber,
    work: Option<Role>,
) -> Result<Pin, Failure> {
    let name = match work {
        Some(role) => format!("{}/{}", spec.loop_id, before(round, role)),
        None => format!("{}/{round}", spec.loop_id),
    };
    let held = held(git, repo, store, spec, &name);
    let mut pin = held.map_err(|failure| later(failure, round))?;
    if round.0 == 1
        && let BaseSpec::MergeBase { resolved, .. } = &spec.base
    {
        pin.notices
            .extend(stale_notice(git, &repo.git_dir, resolved)?);
    }
    if work.is_none() && spec.keep_snapshots {
        let name = format!("refs/run-loop/{}/{round}", spec.loop_id);
        keep(git, repo, store, &name, &pin)?;
    }
    Ok(pin)
}

/// The same of the source right before a job alone, held under a name of its own.
///
/// # Errors
/// As [`pin`] in the first round.
pub(crate) fn before_job(
    git: &Git,
    repo: &Repository,
    store: &ReviewStore,
    spec: &RunSpec,
    name: &str,
) -> Result<Pin, Failure> {
    held(git, repo, store, spec, &format!("{}/{name}", spec.loop_id))
}

/// Measures the source and holds what was found in the store by this name, whose damaged objects are mended once.
fn held(
    git: &Git,
    repo: &Repository,
    store: &ReviewStore,
    spec: &RunSpec,
    name: &str,
) -> Result<Pin, Failure> {
    let pinning = Pinning {
        git,
        repo,
        store,
        spec,
    };
    store.twice(|| pinning.hold(name))
}

/// In a later round a source that cannot be captured any more has moved (4), and was not refused
/// (3): the run was under way.
fn later(failure: Failure, round: RoundNumber) -> Failure {
    match moved(failure.code) {
        Some(code) if round.0 > 1 => Failure { code, ..failure },
        Some(_) | None => failure,
    }
}

/// What a refusal means once a round was open: the source or the base moved to something that no
/// snapshot can hold (T-006). `None` for every other reason.
pub(crate) fn moved(code: Code) -> Option<Code> {
    let content = [
        Code::NestedRepository,
        Code::DirtySubmodule,
        Code::UnreadableFile,
        Code::FilterNotAllowed,
        Code::OperationInProgress,
        Code::UnbornBranch,
    ];
    let base = [
        Code::BaseUnknown,
        Code::BaseNotAncestor,
        Code::NoCommonHistory,
    ];
    if code == Code::SourceNotQuiet {
        Some(Code::SourceUnquietLater)
    } else if content.contains(&code) {
        Some(Code::SourceMoved)
    } else if base.contains(&code) {
        Some(Code::BaseMoved)
    } else {
        None
    }
}

/// Whether somebody wrote to the folder of the manifests whom no journal vouches for: that is measured again,
/// since a journal may be out of reach for a moment.
fn manifests_moved(pin: &Pin, pinned: Option<&Pin>) -> bool {
    pinned.is_some_and(|before| before.tripwire.manifests != pin.tripwire.manifests)
}

/// One measurement, and everything it needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pinning<'a> {
    pub(crate) git: &'a Git,
    pub(crate) repo: &'a Repository,
    pub(crate) store: &'a ReviewStore,
    pub(crate) spec: &'a RunSpec,
}

/// The base as it stands now.
struct Base {
    commit: Oid,
    commits: u32,
    behind: u32,
    notices: Vec<String>,
}

/// What a measurement found.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) pin: Pin,
    /// Trees of its content that are in no commit.
    made: Vec<Oid>,
}

impl Pinning<'_> {
    /// Measures the source, and holds what was found in the store by this name.
    fn hold(&self, name: &str) -> Result<Pin, Failure> {
        let (git, store) = (self.git, self.store);
        let Taken { pin, made } = self.take(None)?;
        genuine::pinned(git, store, &pin)?;
        let packed = [
            pack(git, store, &pin.snapshot, &pin.identity.base)?,
            pack_trees(git, store, &made)?,
        ];
        let packed = packed.join("\n");
        store.hold(name, &pin.snapshot, packed.trim_matches('\n'))?;
        Ok(pin)
    }

    /// Measures the source: the same function for all three measurements of a round.
    ///
    /// `pinned` is the round's pin in a later one: its snapshot must still be there, and is the new
    /// one's too where nothing moved.
    pub(crate) fn take(&self, pinned: Option<&Pin>) -> Result<Taken, Failure> {
        self.store.refresh(self.repo)?;
        let mut tries = TRIES;
        loop {
            let is_last = tries == 1;
            match self.attempt(pinned, is_last) {
                Ok(taken) if !is_last && manifests_moved(&taken.pin, pinned) => {}
                Ok(taken) => return Ok(taken),
                Err(Meaning::Refused(failure)) => return Err(failure),
                Err(Meaning::Unquiet(what)) if is_last => {
                    return Err(not_quiet(&self.repo.source_root, &what));
                }
                Err(Meaning::Unquiet(_)) => {}
            }
            tries -= 1;
        }
    }

    fn attempt(&self, pinned: Option<&Pin>, is_last: bool) -> Result<Taken, Meaning> {
        let (git, repo, spec) = (self.git, self.repo, self.spec);
        if !spec.allow_in_progress {
            operation_in_progress(git, repo)?;
        }
        let facts = Facts::read(git, repo, &spec.base)?;
        let base = self.base(&facts)?;
        let config = GitConfig::read(&git.command(&repo.source_root))?;
        let source = Source {
            git,
            repo,
            store: self.store,
            config: &config,
            allow_filters: &spec.allow_filters,
            head_tree: &facts.head_tree,
            is_last,
        };
        let Capture { tree, index } = source.capture()?;
        let objects = Objects::read(self, &base.commit, &tree, pinned)?;
        if objects.head_tree != facts.head_tree {
            return Err(Error::NotGenuine {
                oid: facts.head.clone(),
            }
            .into());
        }
        if objects.head != facts.head {
            return Err(Meaning::Unquiet(format!(
                "HEAD went from {} to {}",
                facts.head, objects.head
            )));
        }
        let mut made = Vec::new();
        let mut content = |tree: &Oid, has_reports: bool| {
            if !has_reports {
                return Ok::<_, Failure>(tree.clone());
            }
            let content = store_content_tree(git, self.store.git_dir(), tree, &spec.reports)?;
            made.extend(content.made);
            Ok(content.tree)
        };
        let before = pinned.map(|pin| &pin.tripwire);
        let tripwire = tripwire::read(repo, &facts, &config, index, spec, before)?;
        let dirty = tree != facts.head_tree;
        let snapshot = if dirty {
            write(git, self.store, &tree, &facts.head, &objects.head_time)?
        } else {
            facts.head.clone()
        };
        let base_content_tree = content(&objects.base_tree, objects.base_has_reports)?;
        let content_tree = content(&tree, objects.has_reports)?;
        let only_evidence =
            dirty && content_tree == self.committed(&facts.head_tree, &tree, &content_tree)?;
        let pin = Pin {
            base_content_tree,
            identity: Identity {
                content_tree,
                base: base.commit,
                head: facts.head.clone(),
                tree,
            },
            snapshot,
            tripwire,
            base_tip: facts.tip,
            branch: facts.branch,
            commits: base.commits,
            behind: base.behind,
            dirty,
            only_evidence,
            alone: None,
            notices: base.notices,
        };
        Ok(Taken { pin, made })
    }

    /// HEAD's content tree. Where the working tree has no evidence, nobody is asked: that of HEAD, if any, was
    /// deleted, which is an edit.
    fn committed(&self, head: &Oid, tree: &Oid, content: &Oid) -> Result<Oid, Failure> {
        if tree == content || head == content {
            return Ok(head.clone());
        }
        content_tree(self.git, self.store.git_dir(), head, &self.spec.reports)
    }

    fn base(&self, facts: &Facts) -> Result<Base, Failure> {
        let (git, dir, head) = (self.git, &self.repo.git_dir, &facts.head);
        let (given, start, must_be_ancestor) = match &self.spec.base {
            BaseSpec::StartHead { head: start } => {
                return Ok(Base {
                    commits: if start == head {
                        0
                    } else {
                        count(git, dir, start, head)?
                    },
                    commit: start.clone(),
                    behind: 0,
                    notices: Vec::new(),
                });
            }
            BaseSpec::MergeBase {
                given,
                tip,
                must_be_ancestor,
                ..
            } => (given, tip, *must_be_ancestor),
        };
        let tip = facts
            .tip
            .as_ref()
            .ok_or_else(|| Error::answer("git rev-parse", b"no base"))?;
        let (commit, several) = merge_base(git, self.repo, given, tip, head)?;
        if must_be_ancestor && commit != *tip {
            return Err(not_ancestor(self.repo, given, tip, head));
        }
        let (behind, mut commits) = apart(git, dir, tip, head)?;
        let mut notices = Vec::new();
        if tip != start {
            let how = if is_ancestor(git, dir, start, tip)? {
                "moved forward"
            } else {
                "was rewound"
            };
            notices.push(format!("{given} {how} during the run: {start} to {tip}"));
        }
        if several > 1 {
            // Only then can commits of HEAD be in the base's history and not below the merge base.
            commits = count(git, dir, &commit, head)?;
            notices.push(format!(
                "{given} and HEAD have {several} merge bases; the one that git picks is {commit}"
            ));
        }
        if behind > 0 {
            notices.push(format!(
                "{given} has {behind} commit(s) that HEAD lacks; the change is judged against {commit}"
            ));
        }
        Ok(Base {
            commit,
            commits,
            behind,
            notices,
        })
    }
}
