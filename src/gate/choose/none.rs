//! Why nothing approves the content, as near to it as can be said.

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::gate::choose::vouched::unattested_of;
use crate::gate::files::{self, Found, Manifests};
use crate::gate::question::Question;
use crate::gate::{attest, differs, next};
use crate::git::object;
use crate::store::Attestations;

/// Why nothing approves this content.
pub(super) fn no_approval(
    question: &Question<'_>,
    state: &Attestations,
    folder: &Manifests<'_>,
    tree: &Manifests<'_>,
) -> Failure {
    let content = question.content;
    if let Some(against) = attest::against(state, content).last() {
        return Failure::new(
            Code::GateNotPass,
            format!(
                "run {} {} on the content of {}",
                against.run, against.how, question.head.oid
            ),
        )
        .next(["run-loop", "show", &against.run.to_string()]);
    }
    let all = || folder.found.iter().chain(&tree.found);
    if let Some(claim) = all().find(|found| found.manifest.identity.content_tree == *content) {
        let run = claim.manifest.loop_id;
        let message = format!(
            "{} says that run {run} approved this content, and no journal of this repository says so",
            claim.path
        );
        return unattested_of(question, state, run, message);
    }
    if let Some(unreadable) = folder.unreadable.iter().chain(&tree.unreadable).next() {
        return files::damaged(&unreadable.reason).next(next::review(question, None));
    }
    let mut related: Vec<_> = all().filter(|found| is_related(question, found)).collect();
    related.sort_by_key(|found| found.manifest.promoted_at);
    match related.last() {
        Some(found) => content_differs(question, found),
        None => Failure::new(
            Code::GateNoEvidence,
            format!(
                "no approval names the content of {} ({content})",
                question.head.oid
            ),
        )
        .next(next::review(question, None)),
    }
}

fn content_differs(question: &Question<'_>, found: &Found<'_>) -> Failure {
    let manifest = &found.manifest;
    // What was approved were edits on top of the very commit that is judged.
    if manifest.head_at_promotion == question.head.oid
        && let Some(commit) = next::commit(question)
    {
        let message = format!(
            "what run {} approved is not committed yet: head {} is the commit that its edits were made \
             on; stage them all, and make a commit of them",
            manifest.loop_id, question.head.oid
        );
        return Failure::new(Code::GateContentDiffers, message).next(commit);
    }
    let paths = match differs::from_approved(question, manifest) {
        Some(paths) if !paths.is_empty() => format!(" in {}", differs::named(&paths)),
        Some(_) | None => String::new(),
    };
    Failure::new(
        Code::GateContentDiffers,
        format!(
            "head {} differs{paths} from what run {} approved (content {}, not {})",
            question.head.oid, manifest.loop_id, question.content, manifest.identity.content_tree
        ),
    )
    .next(next::review(question, Some(manifest)))
}

/// Whether an approval is of the line that head is on: an older or another state of one branch.
fn is_related(question: &Question<'_>, found: &Found<'_>) -> bool {
    let (git, git_dir) = (question.request.git, &question.request.repository.git_dir);
    let manifest = &found.manifest;
    let head = &question.head.oid;
    let of_branch = manifest.branch.as_ref().is_some_and(|branch| {
        let now = object::commit_of(git, git_dir, branch);
        *branch == question.head.name || now.is_ok_and(|now| now.as_ref() == Some(head))
    });
    // An approval of edits on top of the base alone is an ancestor of everything.
    let approved = &manifest.identity.head;
    let ancestor = *approved != manifest.identity.base
        && object::is_ancestor(git, git_dir, approved, head).unwrap_or(false);
    of_branch || ancestor
}
