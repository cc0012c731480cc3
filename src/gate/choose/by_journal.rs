//! `policy.attest: journal`: the journals say which run approved the content, and its manifest is looked for.

use crate::domain::failure::Failure;
use crate::domain::id::LoopId;
use crate::domain::layout;
use crate::gate::approval::Attested;
use crate::gate::attest;
use crate::gate::choose::none::no_approval;
use crate::gate::choose::vouched::{not_revoked, vouched};
use crate::gate::choose::{Chosen, ambiguous};
use crate::gate::files::{self, Found, Manifests};
use crate::gate::question::Question;
use crate::store::Attestations;

/// With `policy.attest: journal`: the newest run that approved this content, and no file that its
/// journal does not vouch for.
pub(super) fn by_journal<'a>(
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
