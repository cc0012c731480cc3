//! Which manifest is judged: the newest by the journals, never by a file's time (scenario S24).

use std::path::Path;

use crate::domain::code::Code;
use crate::domain::end::End;
use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::domain::layout;
use crate::domain::oid::Oid;
use crate::domain::policy::Attest;
use crate::domain::time::Timestamp;
use crate::gate::approval::{Attested, Commit};
use crate::gate::attest::{self, Approving};
use crate::gate::files::{self, Found, Manifests, Place};
use crate::gate::request::{GatePolicy, GateRequest};
use crate::gate::{differs, next};
use crate::git::object;
use crate::store::Attestations;

/// What is judged, resolved.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    /// As asked.
    pub(super) request: &'a GateRequest<'a>,
    /// The base's rules.
    pub(super) policy: &'a GatePolicy,
    /// What merges.
    pub(super) head: &'a Commit,
    /// Where the merge starts from.
    pub(super) base: &'a Oid,
    /// Head's content tree.
    pub(super) content: &'a Oid,
}

impl Question<'_> {
    /// A failure of the evidence or of the policy, with the command that helps here.
    pub(super) fn helped(&self, failure: Failure) -> Failure {
        if failure.code == Code::GatePolicyUnmet {
            let base = self.request.base.unwrap_or(self.base.as_str());
            failure.next(["run-loop", "config", "show", "--origin", "--base", base])
        } else if failure.code == Code::GateDamaged {
            failure.next(next::review(self, None))
        } else {
            failure
        }
    }
}

/// The manifest that is judged.
pub(super) struct Chosen<'a> {
    /// The manifest.
    pub(super) found: Found<'a>,
    /// Who vouches for it.
    pub(super) attested: Attested,
    /// Things to tell.
    pub(super) notices: Vec<String>,
}

/// The places, opened once.
pub(super) struct Places<'a> {
    folder: Place<'a>,
    tree: Place<'a>,
    /// The reports folder of the control root in which the newest approving run published, where that is
    /// another one: in a bare repository each working tree is its own.
    elsewhere: Option<Place<'a>>,
}

impl<'a> Places<'a> {
    /// Opens the control root's reports folder, head's tree, and where the journals say that it lies.
    pub(super) fn open(question: &Question<'a>, state: &Attestations) -> Result<Self, Failure> {
        let reports = question.policy.reports.as_str();
        let here = &question.request.repository.control_root;
        let newest = attest::approving(state, question.content).pop();
        let theirs = newest.and_then(|newest| newest.run.control_root.as_deref());
        let theirs = theirs.map(Path::new).filter(|theirs| *theirs != here);
        Ok(Self {
            folder: Place::folder(reports, here)?,
            tree: Place::tree(question, &question.head.oid)?,
            // A working tree that is gone has nothing.
            elsewhere: theirs.and_then(|theirs| Place::folder(reports, theirs).ok()),
        })
    }
}

/// Chooses the manifest.
pub(super) fn manifest<'a>(
    question: &Question<'_>,
    places: &'a Places<'a>,
    state: &Attestations,
) -> Result<Chosen<'a>, Failure> {
    let (folder, tree) = (places.folder.manifests()?, places.tree.manifests()?);
    let mut chosen = match question.policy.policy.attest {
        Attest::Journal => {
            let elsewhere = places.elsewhere.as_ref().map(Place::manifests);
            by_journal(question, state, folder, tree, elsewhere.transpose()?)?
        }
        Attest::Files => by_files(question, state, folder, tree)?,
    };
    let run = chosen.found.manifest.loop_id;
    if let Some(damaged) = attest::doubtful(state, question.content, run) {
        return Err(Failure::new(
            Code::GateUnattested,
            format!(
                "run {} may hold a newer verdict on this content, and its journal cannot be read: \
                 {}",
                damaged.run, damaged.failure.message
            ),
        )
        .next(next::review(question, None)));
    }
    for damaged in state.damaged.iter().filter(|run| !run.is_away) {
        chosen.notices.push(format!(
            "the journal of run {} cannot be read, and it was left out",
            damaged.run
        ));
    }
    Ok(chosen)
}

/// With `policy.attest: journal`: the newest run that approved this content, and no file that its
/// journal does not vouch for.
fn by_journal<'a>(
    question: &Question<'_>,
    state: &Attestations,
    folder: Manifests<'a>,
    tree: Manifests<'a>,
    elsewhere: Option<Manifests<'a>>,
) -> Result<Chosen<'a>, Failure> {
    let approving = attest::approving(state, question.content);
    let Some(newest) = approving.last().copied() else {
        return Err(no_approval(question, state, &folder, &tree));
    };
    let ties = approving
        .iter()
        .filter(|other| other.at == newest.at)
        .count();
    if ties > 1 {
        return Err(ambiguous(question, ties));
    }
    not_revoked(question, state, newest.run.run, newest.at)?;
    let places = [folder, tree].into_iter().chain(elsewhere);
    let found = of_run(newest.run.run, &question.policy.reports, places)?;
    vouched(question, &found, newest)?;
    Ok(Chosen {
        found,
        attested: Attested::Journal,
        notices: Vec::new(),
    })
}

/// Checks that the journal vouches for exactly this manifest.
fn vouched(
    question: &Question<'_>,
    found: &Found<'_>,
    approving: Approving<'_>,
) -> Result<(), Failure> {
    let run = approving.run.run;
    match &approving.run.manifest_sha256 {
        None => Err(unattested(
            question,
            format!("run {run} approved this content, and its journal holds no manifest"),
        )),
        Some(sha256) if *sha256 != found.sha256 => Err(files::damaged(&format!(
            "{} has the hash {}, and the journal of run {run} says {sha256}",
            found.path, found.sha256
        ))),
        Some(_) if found.manifest.identity != approving.round.identity => {
            Err(files::damaged(&format!(
                "{} names another identity than the journal of run {run}",
                found.path
            )))
        }
        Some(_) => Ok(()),
    }
}

/// With `policy.attest: files`: the one manifest that names this content.
fn by_files<'a>(
    question: &Question<'_>,
    state: &Attestations,
    mut folder: Manifests<'a>,
    mut tree: Manifests<'a>,
) -> Result<Chosen<'a>, Failure> {
    let mut found = folder.take_matching(question.content);
    if found.is_empty() {
        found = tree.take_matching(question.content);
    }
    let count = found.len();
    let Some(first) = found.pop() else {
        return Err(no_approval(question, state, &folder, &tree));
    };
    // Without journals nothing says which is newer, and a guess is no answer (scenario S27).
    if count > 1 {
        return Err(ambiguous(question, count));
    }
    let run = first.manifest.loop_id;
    // What is claimed is not believed against the run's own journal, where that is here.
    let own = state.runs.iter().find(|it| it.run == run);
    if own.is_some_and(|own| !matches!(own.end, Some(End::Approved { .. }))) {
        let path = &first.path;
        let message =
            format!("{path} says that run {run} approved this content, and its journal does not");
        return Err(unattested_of(question, state, run, message));
    }
    let known = attest::approving(state, question.content)
        .into_iter()
        .find(|approving| approving.run.run == run);
    match known {
        Some(known) => vouched(question, &first, known)?,
        None if own.is_some() => {
            let path = &first.path;
            let message = format!(
                "{path} says that run {run} approved this content, and its journal says that it was another"
            );
            return Err(unattested(question, message));
        }
        None => {}
    }
    not_revoked(
        question,
        state,
        run,
        known.and_then(|approving| approving.at),
    )?;
    Ok(Chosen {
        found: first,
        attested: Attested::Nobody,
        notices: Vec::new(),
    })
}

impl<'a> Manifests<'a> {
    /// Takes out the manifests that name this content.
    fn take_matching(&mut self, content: &Oid) -> Vec<Found<'a>> {
        let all = std::mem::take(&mut self.found);
        let (matching, others) = all
            .into_iter()
            .partition(|found| found.manifest.identity.content_tree == *content);
        self.found = others;
        matching
    }
}

/// The manifest of a run, in the first place that has it.
fn of_run<'a>(
    run: LoopId,
    reports: &str,
    places: impl IntoIterator<Item = Manifests<'a>>,
) -> Result<Found<'a>, Failure> {
    for place in places {
        if let Some(unreadable) = place.unreadable.iter().find(|it| it.run == run) {
            return Err(files::damaged(&unreadable.reason));
        }
        if let Some(found) = place
            .found
            .into_iter()
            .find(|it| it.manifest.loop_id == run)
        {
            return Ok(found);
        }
    }
    let path = layout::manifest_path(reports, run);
    Err(files::damaged(&format!("{path} is missing")))
}

/// Checks that no verdict against this content is newer than the approval.
fn not_revoked(
    question: &Question<'_>,
    state: &Attestations,
    run: LoopId,
    at: Option<Timestamp>,
) -> Result<(), Failure> {
    let against = attest::against(state, question.content);
    match against
        .iter()
        .find(|against| against.run != run && against.is_since(at))
    {
        Some(against) => Err(Failure::new(
            Code::GateRevoked,
            format!(
                "run {run} approved this content, and the later run {} {} on it",
                against.run, against.how
            ),
        )
        .next(["run-loop", "show", &against.run.to_string()])),
        None => Ok(()),
    }
}

/// Why nothing approves this content.
fn no_approval(
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

fn ambiguous(question: &Question<'_>, count: usize) -> Failure {
    Failure::new(
        Code::GateAmbiguous,
        format!("{count} approvals name this content, and nothing says which is newer"),
    )
    .next(next::review(question, None))
}

/// As [`unattested`]; a run of this repository that did not end is taken up: its engine died while it published.
fn unattested_of(
    question: &Question<'_>,
    state: &Attestations,
    run: LoopId,
    message: String,
) -> Failure {
    let failure = unattested(question, message);
    let own = state.runs.iter().find(|it| it.run == run);
    if own.is_some_and(|own| own.end.is_none()) {
        return failure.next(["run-loop", "resume", &run.to_string()]);
    }
    failure
}

fn unattested(question: &Question<'_>, message: String) -> Failure {
    Failure::new(Code::GateUnattested, message).next(next::review(question, None))
}
