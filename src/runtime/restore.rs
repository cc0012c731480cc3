//! Bringing back what a run keeps outside of its journal, before it goes on.

use crate::contract::acceptance;
use crate::domain::code::Code;
use crate::domain::delegation::JobRequest;
use crate::domain::effect::{Done, Effect, Outcome};
use crate::domain::end::End;
use crate::domain::event::Event;
use crate::domain::evidence::Evidence;
use crate::domain::failure::Failure;
use crate::domain::id::RoundNumber;
use crate::domain::identity::{Pin, Remeasured, named};
use crate::domain::job::Stored;
use crate::domain::restoring::Restoring;
use crate::domain::run_spec::RunSpec;
use crate::domain::work::Work;
use crate::engine::{Cost, Phase, Review, State};
use crate::git::{evidence, object, snapshot};
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
    waits_at_the_end(after, events, observer);
    written_plan(rim, after, events, observer);
}

/// Tells what moved since the run was looked at last, as whoever takes it up found it, and why its round
/// cannot go on where that is so.
fn moved_aside(before: &State, events: &[Event], observer: &mut dyn Observer) {
    for event in events {
        let Event::RunResumed { found, gone, .. } = event else {
            continue;
        };
        let moved = found.as_deref().map(|found| before.moved_aside(found));
        let moved = moved.filter(|moved| !moved.is_empty());
        if let Some(what) = moved.as_deref().map(named) {
            match &before.aside {
                Some(aside) if aside.moved.is_empty() => observer.note(&format!(
                    "{what} moved while the run lay aside: it goes on with that as it is now"
                )),
                Some(_) => observer.note(&format!("{what} moved while the run lay aside")),
                None => {
                    // What the round ends by may not name it.
                    let follows = match before.cost_aside() {
                        Cost::Passes => "what passed in the round under way is void",
                        Cost::Pin | Cost::Nothing => "it goes on with that as it is now",
                    };
                    observer.note(&format!(
                        "{what} moved since the run was last looked at, and whether its jobs did that is not known: {follows}"
                    ));
                }
            }
        }
        if let Some(why) = gone {
            let follows = match before.cost_aside() {
                Cost::Passes => "the round is void",
                Cost::Pin | Cost::Nothing => "the round begins with what is there now",
            };
            observer.note(&format!("{}: {follows}", why.message));
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

/// Tells what a run that is decided waits for before it ends.
fn waits_at_the_end(state: &State, events: &[Event], observer: &mut dyn Observer) {
    for event in events {
        if let Event::EffectRequested { effect, .. } = event
            && let Effect::AwaitJobs { jobs, until } = &**effect
            && jobs.iter().any(|job| !state.is_waited_for(*job))
        {
            let jobs: Vec<String> = jobs.iter().map(ToString::to_string).collect();
            observer.note(&format!(
                "how the run ends is decided; before that it waits, until {until}, for what was submitted beside it: {}",
                jobs.join(", ")
            ));
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
/// may be gone, or written to. It must be the same to the byte. Gives why nobody can be shown any more what
/// the round is about, where that is so.
///
/// # Errors
/// When it cannot be told, or not be made for now.
pub fn evidence(rim: &Rim, state: &State, entries: &[Entry]) -> Result<Option<Failure>, Failure> {
    let (Some(run), Phase::Round { number, .. }) = (&state.run, &state.phase) else {
        return Ok(None);
    };
    // What is published shows nobody anything any more.
    let Some(pin) = state.under_way().filter(|_| state.promotion.is_none()) else {
        return Ok(None);
    };
    // Evidence is made from trees, which the source may hold as well: no review tree opens without the commit.
    let held = object::commit_of(&rim.git, rim.store.git_dir(), pin.snapshot.as_str())?;
    let is_asked = |review: &Review| {
        let mut slots = review.slots.values();
        slots.any(|slot| slot.settlement().is_none())
    };
    if held.is_none()
        && state.review().is_none_or(is_asked)
        && let Err(gone) = is_again(rim, run, pin, *number)?
    {
        return Ok(Some(gone));
    }
    let Some((seed, recorded)) = recorded(entries, *number) else {
        return Ok(None);
    };
    let folder = rim.evidence_folder(run.loop_id, *number);
    let make = || evidence::make(&rim.git, &rim.store, pin, &run.review, seed, &folder);
    let mut made = match make() {
        Ok(made) => made,
        // The review store may have lost the snapshot; the source may still hold its content.
        Err(_) => match is_again(rim, run, pin, *number)? {
            Ok(()) => make()?,
            Err(gone) => return Ok(Some(gone)),
        },
    };
    // No file: what was known of the lines of earlier trees is in the journal.
    made.since.clone_from(&recorded.since);
    let message =
        format!("what reviewers would be shown of round {number} is not what it was before");
    Ok((made != *recorded).then(|| Failure::new(Code::EvidenceFailed, message)))
}

/// Whether the source is still what a round is about: then the review store holds that again. Otherwise it is
/// nowhere any more, and this says what is there.
fn is_again(
    rim: &Rim,
    run: &RunSpec,
    pin: &Pin,
    round: RoundNumber,
) -> Result<Result<(), Failure>, Failure> {
    // Under a name of its own: whatever is left of the round's snapshot stays.
    let name = format!("{round}-again");
    let again = snapshot::before_job(&rim.git, &rim.repository, &rim.store, run, &name)?;
    let (was, is) = (&pin.identity, &again.identity);
    if was == is && again.snapshot == pin.snapshot {
        return Ok(Ok(()));
    }
    let (code, found) = if was.content_tree != is.content_tree {
        (Code::SourceMoved, "the source holds other content")
    } else if was.base != is.base {
        (Code::BaseMoved, "the base moved")
    } else {
        let found = "the source holds the same content in another commit";
        (Code::EvidenceFailed, found)
    };
    let message = format!("the snapshot of round {round} cannot be shown any more, and {found}");
    Ok(Err(Failure::new(code, message)))
}

/// The seed and the evidence of a round, as its events tell them last.
fn recorded(entries: &[Entry], wanted: RoundNumber) -> Option<(&str, &Evidence)> {
    let (mut asked, mut made) = (None, None);
    for entry in entries {
        match &entry.event {
            Event::EffectRequested { id, effect } => {
                if let Effect::MakeEvidence {
                    round,
                    receipt_seed,
                    ..
                } = &**effect
                    && *round == wanted
                {
                    (asked, made) = (Some((*id, receipt_seed.as_str())), None);
                }
            }
            Event::EffectDone {
                effect, outcome, ..
            } => {
                if let Outcome::EvidenceMade {
                    result: Done::Ok(evidence),
                } = &**outcome
                    && let Some((id, seed)) = asked
                    && id == *effect
                {
                    made = Some((seed, evidence));
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
    made
}
