//! Bringing back what a run keeps outside of its journal, before it goes on.

use crate::contract::acceptance;
use crate::domain::code::Code;
use crate::domain::delegation::JobRequest;
use crate::domain::effect::{Done, Effect, Outcome};
use crate::domain::end::End;
use crate::domain::event::Event;
use crate::domain::failure::Failure;
use crate::domain::id::RoundNumber;
use crate::domain::identity::{Pin, Remeasured, named};
use crate::domain::job::Stored;
use crate::domain::restoring::Restoring;
use crate::domain::work::Work;
use crate::engine::{Phase, State};
use crate::git::{evidence, snapshot};
use crate::runtime::drive::Observer;
use crate::runtime::perform::{measure, plan};
use crate::runtime::rim::Rim;
use crate::store::{Artifacts, Entry};

/// Checks that every artifact which events name is there, with its bytes.
///
/// # Errors
/// Names the first that is missing or damaged.
pub fn artifacts(artifacts: &Artifacts, entries: &[Entry]) -> Result<(), Failure> {
    for entry in entries {
        for stored in named_by(&entry.event) {
            artifacts.get(&stored.sha256)?;
        }
    }
    Ok(())
}

/// The artifacts that an event names.
fn named_by(event: &Event) -> Vec<&Stored> {
    match event {
        Event::RunStarted { spec, .. } => spec.single.iter().map(|job| &job.prompt).collect(),
        Event::JobRequested { request, .. } => match &**request {
            JobRequest::Submit { submission } => vec![&submission.prompt],
            JobRequest::Signal { .. }
            | JobRequest::Cancel { .. }
            | JobRequest::Redispatch { .. } => Vec::new(),
        },
        Event::EffectDone { outcome, .. } => match &**outcome {
            Outcome::JobEnded { outcome } => outcome.report.iter().chain(&outcome.prompt).collect(),
            Outcome::Delegated { outcome } => outcome.report.iter().collect(),
            Outcome::Pinned { .. }
            | Outcome::EvidenceMade { .. }
            | Outcome::TreeOpened { .. }
            | Outcome::JobsAwaited
            | Outcome::TimerEnded { .. }
            | Outcome::Measured { .. }
            | Outcome::Promoted { .. }
            | Outcome::Released { .. } => Vec::new(),
        },
        Event::RunResumed { .. }
        | Event::StopRequested { .. }
        | Event::JobClosed { .. }
        | Event::JobSilent { .. }
        | Event::JobHeard { .. }
        | Event::WaitEnded { .. }
        | Event::RoundOpened { .. }
        | Event::EffectRequested { .. }
        | Event::ReviewOpened { .. }
        | Event::FindingRaised { .. }
        | Event::SlotRetried { .. }
        | Event::WorkOpened { .. }
        | Event::WorkRetried { .. }
        | Event::FindingDisposed { .. }
        | Event::WorkClosed { .. }
        | Event::SlotSettled { .. }
        | Event::RoundClosed { .. }
        | Event::RunClosing { .. }
        | Event::CostUntold { .. }
        | Event::RunParking { .. }
        | Event::SlotLimited { .. }
        | Event::WorkLimited { .. }
        | Event::RunSuspended { .. }
        | Event::RunEnded { .. } => Vec::new(),
    }
}

/// Tells what a step of work lost and what it left elsewhere, each with the command that brings it,
/// however the step ends. What the run ends by names its own entry. A refinement that gave no plan is
/// told too (row M-044), and what changed while a job ran that may only read.
fn left_by_work(before: &State, events: &[Event], observer: &mut dyn Observer) {
    let (Some((work, _)), Some(run)) = (before.work(), &before.run) else {
        return;
    };
    let role = work.role.as_str();
    let ending = events.iter().find_map(|event| {
        if let Event::RunClosing {
            end: End::Failed { failure },
        } = event
        {
            Some(&failure.next)
        } else {
            None
        }
    });
    for event in events {
        if let Event::EffectDone { outcome, .. } = event
            && let Outcome::Measured {
                result: Done::Ok(measured),
            } = &**outcome
        {
            if let Some(said) = changed_beside_reading(work, measured) {
                observer.note(&said);
            }
            for Restoring { said, command, .. } in Restoring::all(measured, &run.source_root) {
                if ending != Some(&command) {
                    observer.note(&format!("the {role} job {said}: {command}"));
                }
            }
        }
        if let Event::WorkClosed { reply, .. } = event
            && let Some(warning) = work.warning(reply.is_some())
        {
            observer.note(warning);
        }
    }
}

/// Tells what is to be known of events and is none, of a state and the one after them.
pub(super) fn told_beside(
    rim: &Rim,
    (before, after): (&State, &State),
    events: &[Event],
    observer: &mut dyn Observer,
) {
    moved_aside(before, events, observer);
    left_by_work(before, events, observer);
    lost_by_job(after, events, observer);
    written_plan(rim, after, events, observer);
}

/// Tells what people did to git while the run lay aside, as whoever takes it up found it.
fn moved_aside(before: &State, events: &[Event], observer: &mut dyn Observer) {
    for event in events {
        if let Event::RunResumed {
            found: Some(found), ..
        } = event
        {
            let moved = before.moved_aside(found);
            if !moved.is_empty() {
                let what = named(&moved);
                let is_clean = before.aside.as_ref().is_some_and(|it| it.moved.is_empty());
                let goes_on = if is_clean {
                    ": it goes on with that as it is now"
                } else {
                    ""
                };
                observer.note(&format!("{what} moved while the run lay aside{goes_on}"));
            }
        }
    }
}

/// What the source is found to be when the run is taken up again, before anybody is asked.
#[must_use]
pub fn look(rim: &Rim, state: &State) -> Option<Box<Remeasured>> {
    measure::aside(rim, state).map(Box::new)
}

/// Tells what a job of its own run threw away.
fn lost_by_job(state: &State, events: &[Event], observer: &mut dyn Observer) {
    for event in events {
        if let Event::EffectDone { outcome, .. } = event
            && let Outcome::Delegated { outcome } = &**outcome
        {
            let root = state.run.as_ref().map_or(".", |run| &run.source_root);
            let lost = outcome.lost.as_deref().into_iter();
            let doubt = outcome.doubt.as_deref().into_iter();
            let unknown = doubt.map(|doubt| Restoring::unknown(doubt, root));
            for Restoring { said, command, .. } in lost.flat_map(Restoring::all_of).chain(unknown) {
                observer.note(&format!("the job {said}: {command}"));
            }
        }
    }
}

/// What moved while a job ran that may only read: it or somebody else wrote, and it is reviewed as it lies.
fn changed_beside_reading(work: &Work, measured: &Remeasured) -> Option<String> {
    let paths = &measured.moved_paths;
    if work.role.writes() || paths.is_empty() {
        return None;
    }
    let shown: Vec<String> = paths.iter().take(20).map(ToString::to_string).collect();
    let more = match paths.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "the source changed while the {} job of the {} ran, which may only read: {}{more}",
        work.role.as_str(),
        work.slot,
        shown.join(", ")
    ))
}

/// Tells of a plan that was just written what is to be known of it.
fn written_plan(rim: &Rim, state: &State, events: &[Event], observer: &mut dyn Observer) {
    let is_written = events.iter().any(|event| {
        if let Event::WorkClosed { job, reply, .. } = event {
            reply.is_some() && state.plan == Some(*job)
        } else {
            false
        }
    });
    // A plan that cannot be read fails whoever is asked by it.
    if is_written
        && let Ok(Some(text)) = plan::text(&rim.artifacts, state)
        && let Some(said) = acceptance::notice(&text)
    {
        observer.note(&said);
    }
}

/// Makes the evidence of the round under way again, from the recorded pin and seed: the folder
/// may be gone, or written to. It must be the same to the byte.
///
/// # Errors
/// When it cannot be made, or comes out as something else: then nobody may be asked by it.
pub fn evidence(rim: &Rim, state: &State, entries: &[Entry]) -> Result<(), Failure> {
    let (Some(run), Phase::Round { number, .. }) = (&state.run, &state.phase) else {
        return Ok(());
    };
    let Some((pin, seed, recorded)) = recorded(entries, *number) else {
        return Ok(());
    };
    let folder = rim.evidence_folder(run.loop_id, *number);
    let make = || evidence::make(&rim.git, &rim.store, pin, &run.review, seed, &folder);
    let mut made = make().or_else(|failure| {
        // The review store may have lost the snapshot; the source may still hold its content.
        let again = snapshot::pin(&rim.git, &rim.repository, &rim.store, run, *number, None)?;
        if again.identity == pin.identity && again.snapshot == pin.snapshot {
            make()
        } else {
            Err(failure)
        }
    })?;
    // No file: what was known of the lines of earlier trees is in the journal.
    made.since.clone_from(&recorded.since);
    if made == *recorded {
        return Ok(());
    }
    let message = format!("the evidence of round {number} is not what it was before");
    Err(Failure::new(Code::EvidenceFailed, message))
}

/// The pin, seed and evidence of a round, as its events tell them.
fn recorded(
    entries: &[Entry],
    wanted: RoundNumber,
) -> Option<(&Pin, &str, &crate::domain::evidence::Evidence)> {
    let mut asked = None;
    for entry in entries {
        match &entry.event {
            Event::EffectRequested { id, effect } => {
                if let Effect::MakeEvidence {
                    round,
                    pin,
                    receipt_seed,
                    ..
                } = &**effect
                    && *round == wanted
                {
                    asked = Some((*id, pin, receipt_seed.as_str()));
                }
            }
            Event::EffectDone {
                effect, outcome, ..
            } => {
                if let Outcome::EvidenceMade {
                    result: Done::Ok(evidence),
                } = &**outcome
                    && let Some((id, pin, seed)) = asked
                    && id == *effect
                {
                    return Some((pin, seed, evidence));
                }
            }
            Event::RunStarted { .. }
            | Event::RunResumed { .. }
            | Event::StopRequested { .. }
            | Event::JobRequested { .. }
            | Event::JobClosed { .. }
            | Event::JobSilent { .. }
            | Event::JobHeard { .. }
            | Event::WaitEnded { .. }
            | Event::RoundOpened { .. }
            | Event::ReviewOpened { .. }
            | Event::FindingRaised { .. }
            | Event::SlotRetried { .. }
            | Event::WorkOpened { .. }
            | Event::WorkRetried { .. }
            | Event::FindingDisposed { .. }
            | Event::WorkClosed { .. }
            | Event::SlotSettled { .. }
            | Event::RoundClosed { .. }
            | Event::RunClosing { .. }
            | Event::CostUntold { .. }
            | Event::RunParking { .. }
            | Event::SlotLimited { .. }
            | Event::WorkLimited { .. }
            | Event::RunSuspended { .. }
            | Event::RunEnded { .. } => {}
        }
    }
    None
}
