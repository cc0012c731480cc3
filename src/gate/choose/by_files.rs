//! `policy.attest: files`: the files say which run approved the content, and no journal that is here may say
//! otherwise.

use crate::domain::end::End;
use crate::domain::failure::Failure;
use crate::domain::oid::Oid;
use crate::gate::approval::Attested;
use crate::gate::attest;
use crate::gate::choose::none::no_approval;
use crate::gate::choose::vouched::{not_revoked, unattested, unattested_of, vouched};
use crate::gate::choose::{Chosen, ambiguous};
use crate::gate::files::{Found, Manifests};
use crate::gate::question::Question;
use crate::store::Attestations;

/// With `policy.attest: files`: the one manifest that names this content.
pub(super) fn by_files<'a>(
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
