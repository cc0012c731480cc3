//! Whether everything that merges was reviewed.

use std::collections::BTreeSet;
use std::path::Path;

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::domain::policy::Carry;
use crate::gate::approval::Commit;
use crate::gate::question::Question;
use crate::gate::request::{GatePolicy, GateRequest};
use crate::gate::{differs, next};
use crate::git::{self, Git, base, genuine, object};
use crate::promote::Manifest;

/// The commit that the merge starts from: the tip, which must be an ancestor of head, or the merge
/// base where the policy says so (scenario S04).
pub(super) fn gate_base(
    request: &GateRequest<'_>,
    tip: &Commit,
    head: &Commit,
    policy: &GatePolicy,
) -> Result<Oid, Failure> {
    let git_dir = &request.repository.git_dir;
    if leads(request.git, git_dir, &tip.oid, &head.oid)? {
        return Ok(tip.oid.clone());
    }
    let merge_base = merge_base(request, tip, head)?;
    if policy.policy.up_to_date {
        let range = format!("{}..{}", head.oid, tip.oid);
        let count = request
            .git
            .run_on(git_dir, ["rev-list", "--count", &range])?;
        let count = String::from_utf8_lossy(&count);
        let count = count.trim();
        let commits = if count == "1" { "commit" } else { "commits" };
        return Err(Failure::new(
            Code::GateBaseMovedOn,
            format!(
                "{} is at {}, which has {count} {commits} that head {} lacks",
                tip.name, tip.oid, head.oid
            ),
        )
        .next(next::merge(request, tip, head)));
    }
    Ok(merge_base)
}

/// The newest commit that both have. Without one nothing is known of what either lacks, which may be the
/// fault of a clone that has not the whole history.
fn merge_base(request: &GateRequest<'_>, tip: &Commit, head: &Commit) -> Result<Oid, Failure> {
    let git_dir = &request.repository.git_dir;
    let command = request.git.on(git_dir);
    let command = command.args(["merge-base", tip.oid.as_str(), head.oid.as_str()]);
    let answer = git::program::ask(&command)?;
    let merge_base = answer.and_then(|answer| Oid::parse(String::from_utf8(answer).ok()?.trim()));
    let merge_base = merge_base.ok_or_else(|| {
        base::no_common_history(request.repository, &tip.name, &tip.oid, &head.oid)
    })?;
    genuine::history(request.git, git_dir, &merge_base, &[&tip.oid, &head.oid])?;
    Ok(merge_base)
}

/// Whether one commit is an ancestor of another, by commits that hold what their ids stand for.
fn leads(git: &Git, git_dir: &Path, ancestor: &Oid, descendant: &Oid) -> Result<bool, git::Error> {
    if !object::is_ancestor(git, git_dir, ancestor, descendant)? {
        return Ok(false);
    }
    genuine::history(git, git_dir, ancestor, &[descendant])?;
    Ok(true)
}

/// The paths that differ between two commits, by trees that hold what their ids stand for.
fn paths(git: &Git, git_dir: &Path, old: &Oid, new: &Oid) -> Result<Vec<RepoPath>, git::Error> {
    let tree = |commit: &Oid| {
        let tree = object::tree_of(git, git_dir, commit.as_str())?;
        tree.ok_or_else(|| git::Error::answer("git rev-parse", commit.as_str().as_bytes()))
    };
    let (old, new) = (tree(old)?, tree(new)?);
    genuine::trees(git, git_dir, [&old, &new])?;
    differs::paths(git, git_dir, &old, &new)
}

/// Checks that the approved range covers what merges (scenarios S04 and T-028).
pub(super) fn covers(question: &Question<'_>, manifest: &Manifest) -> Result<(), Failure> {
    let (approved, base) = (&manifest.identity.base, question.base);
    if approved == base {
        return Ok(());
    }
    let (git, git_dir) = (question.request.git, &question.request.repository.git_dir);
    let known = object::commit_of(git, git_dir, approved.as_str())?.is_some();
    if !known || !leads(git, git_dir, approved, base)? {
        return Err(narrower(
            question,
            format!(
                "run {} reviewed from {approved}, and what merges starts at {base}",
                manifest.loop_id
            ),
        ));
    }
    // The base may have moved to commits that the approved head already had: they were reviewed.
    for reviewed in [&manifest.identity.head, &manifest.head_at_promotion] {
        let known = object::commit_of(git, git_dir, reviewed.as_str())?.is_some();
        if known && leads(git, git_dir, base, reviewed)? {
            return Ok(());
        }
    }
    // Else the base got commits that no reviewer knew of. Head has the same content as before, so
    // where it differs from them, the merge would undo them unseen.
    let new: BTreeSet<_> = paths(git, git_dir, approved, base)?.into_iter().collect();
    let undone: Vec<_> = paths(git, git_dir, base, &question.head.oid)?
        .into_iter()
        .filter(|path| new.contains(path))
        .collect();
    if undone.is_empty() {
        return Ok(());
    }
    Err(narrower(
        question,
        format!(
            "run {} reviewed from {approved}; {base} changed {} since, and head {} does not have \
             that change",
            manifest.loop_id,
            differs::named(&undone),
            question.head.oid
        ),
    ))
}

fn narrower(question: &Question<'_>, message: String) -> Failure {
    Failure::new(Code::GateRangeNarrower, message).next(next::review(question, None))
}

/// Why the approval of one commit holds for another: the sentence that is printed (scenario S32).
pub(super) fn carried(
    request: &GateRequest<'_>,
    policy: &GatePolicy,
    head: &Commit,
    manifest: &Manifest,
) -> Result<Option<String>, Failure> {
    let approved = [&manifest.identity.head, &manifest.head_at_promotion];
    if approved.contains(&&head.oid) {
        return Ok(None);
    }
    match policy.policy.carry {
        Carry::Identity => Ok(Some(format!(
            "approved at {}, carried to {} since its content is the same (policy.carry: identity)",
            manifest.head_at_promotion, head.oid
        ))),
        Carry::None => Err(Failure::new(
            Code::GateHeadUnexpected,
            format!(
                "head is {}, run {} approved {}, and the policy carries no approval to another \
                 commit (policy.carry: none)",
                head.oid, manifest.loop_id, manifest.head_at_promotion
            ),
        )
        .next(next::git(request, ["rev-parse", &head.name]))),
    }
}
