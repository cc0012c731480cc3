//! Which manifest is judged: the newest by the journals, never by a file's time (scenario S24).

mod by_files;
mod by_journal;
mod none;
mod vouched;

use std::path::Path;

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::domain::policy::Attest;
use crate::gate::approval::Attested;
use crate::gate::choose::by_files::by_files;
use crate::gate::choose::by_journal::by_journal;
use crate::gate::files::{Found, Place};
use crate::gate::question::Question;
use crate::gate::{attest, next};
use crate::store::Attestations;

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

fn ambiguous(question: &Question<'_>, count: usize) -> Failure {
    Failure::new(
        Code::GateAmbiguous,
        format!("{count} approvals name this content, and nothing says which is newer"),
    )
    .next(next::review(question, None))
}
