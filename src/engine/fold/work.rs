//! Folding a step of work.

use crate::domain::effect::{Done, Effect, Outcome};
use crate::domain::finding::{Disposition, Word};
use crate::domain::id::{EffectId, FindingId, JobId};
use crate::domain::job::{AttemptReason, Reply, Role};
use crate::domain::time::Timestamp;
use crate::engine::fold::fault;
use crate::engine::state::{JobRecord, Phase, State, Undo};
use crate::engine::work::{Asked, ClosedWork, WorkStage};

/// An effect of the step was requested.
pub(super) fn requested(state: &mut State, effect: &Effect) {
    let newest = state.newest_of_step();
    let aside = state.is_winding_up();
    let Some(stage) = taken(state) else { return };
    let next = match (stage, effect) {
        (WorkStage::Opened { again }, Effect::Pin { .. }) => WorkStage::Pinning { again },
        (WorkStage::Ready { asked }, Effect::OpenTree { .. }) => WorkStage::Opening { asked },
        (
            WorkStage::Ready { asked }
            | WorkStage::Open {
                asked,
                result: Done::Ok(_),
            },
            Effect::RunJob { job },
        ) => {
            let record = JobRecord {
                job: job.clone(),
                outcome: None,
            };
            state.jobs.insert(job.id, record);
            let content = asked.pin.identity.content_tree.clone();
            state.contents.insert(job.id, content);
            let mut asked = asked;
            asked.taken_up.anew |= asked.is_anew(job.attempt);
            let job = job.id;
            WorkStage::Running { asked, job }
        }
        (WorkStage::Answered { asked, job }, Effect::Measure { .. }) => {
            WorkStage::Measuring { asked, job, aside }
        }
        // The run is cancelled or put aside before it is asked again.
        (WorkStage::Ready { asked }, Effect::Measure { .. }) if asked.attempt > 1 => {
            let Some(job) = newest else {
                return fault(
                    state,
                    "a step of work is measured that nobody was asked for",
                );
            };
            WorkStage::Measuring { asked, job, aside }
        }
        (other, _) => {
            put(state, other);
            return fault(state, "a step of work requested what does not follow");
        }
    };
    put(state, next);
}

/// An effect of the step was performed.
pub(super) fn done(state: &mut State, id: EffectId, effect: &Effect, outcome: &Outcome) {
    if let (Effect::RunJob { job }, Outcome::JobEnded { outcome }) = (effect, outcome)
        && let Some(record) = state.jobs.get_mut(&job.id)
    {
        record.outcome = Some(outcome.clone());
    }
    let Some(stage) = taken(state) else { return };
    let next = match (stage, outcome) {
        (WorkStage::Pinning { again }, Outcome::Pinned { result }) => match result {
            Done::Ok(pin) => {
                let pin = Box::new(pin.clone());
                let asked = match again {
                    Some(asked) => Asked { pin, ..asked },
                    None => Asked::first(pin),
                };
                WorkStage::Ready { asked }
            }
            Done::Err(failure) => WorkStage::Unpinned {
                again,
                failure: failure.clone(),
            },
        },
        (WorkStage::Opening { asked }, Outcome::TreeOpened { result }) => {
            if let (Effect::OpenTree { slot, .. }, Done::Ok(tree)) = (effect, result) {
                state.trees.insert(slot.clone(), tree.clone());
            }
            let result = result.clone();
            WorkStage::Open { asked, result }
        }
        (WorkStage::Running { asked, job }, Outcome::JobEnded { .. }) => {
            WorkStage::Answered { asked, job }
        }
        // Somebody took the run up again meanwhile: it goes on where it stood.
        (
            WorkStage::Measuring {
                asked,
                job,
                aside: true,
            },
            Outcome::Measured { .. },
        ) if !state.is_winding_up() => stood(state, asked, job),
        (WorkStage::Measuring { asked, job, .. }, Outcome::Measured { result }) => {
            let result = Box::new(result.clone());
            WorkStage::Measured { asked, job, result }
        }
        (other, _) => {
            put(state, other);
            return fault(
                state,
                format!("effect {} came back as something else", id.0),
            );
        }
    };
    put(state, next);
}

/// Where a step stood that was measured while the run was being ended or put aside: its job is to be
/// judged, or was, and the next attempt waits.
fn stood(state: &State, asked: Asked, job: JobId) -> WorkStage {
    let record = state.jobs.get(&job);
    if record.is_some_and(|record| record.job.attempt < asked.attempt) {
        WorkStage::Ready { asked }
    } else {
        WorkStage::Answered { asked, job }
    }
}

/// The step is asked again.
pub(super) fn retried(state: &mut State, reason: &AttemptReason) {
    match taken(state) {
        Some(WorkStage::Answered { asked, .. }) => {
            let asked = Asked {
                reason: reason.clone(),
                attempt: asked.attempt + 1,
                re_asked: asked.re_asked || matches!(reason, AttemptReason::ReAsk { .. }),
                refreshed: asked.refreshed || matches!(reason, AttemptReason::Fresh),
                limited_until: None,
                ..asked
            };
            put(state, asked.next());
        }
        Some(other) => {
            put(state, other);
            fault(state, "work was asked again without an answer");
        }
        None => fault(state, "work was asked again outside of a step"),
    }
}

/// Who does the step is at a limit: it is asked the same later.
pub(super) fn limited(state: &mut State, until: Timestamp) {
    match taken(state) {
        Some(WorkStage::Answered { asked, .. }) => {
            let asked = Asked {
                attempt: asked.attempt + 1,
                limited: asked.limited + 1,
                limited_until: Some(until),
                ..asked
            };
            put(state, asked.next());
        }
        Some(other) => {
            put(state, other);
            fault(state, "work met a limit without an answer");
        }
        None => fault(state, "work met a limit outside of a step"),
    }
}

/// An engine takes the run up again: a tree is opened again, and what rests on a measurement is
/// measured again. What nobody was asked on yet is pinned again, and so is what is only read: what a job
/// that writes was asked on tells what it may have lost.
pub(super) fn resumed(state: &mut State, tries: bool) {
    let writes = state.is_in_writing_step();
    let newest = state.newest_of_step().and_then(|job| state.jobs.get(&job));
    let since = newest.map(|record| record.job.attempt + 1);
    let outcome = newest.and_then(|record| record.outcome.as_ref());
    let nobody_ran = outcome.is_some_and(|outcome| outcome.ended.held_up().is_some());
    let Some(stage) = taken(state) else { return };
    let stage = if let WorkStage::Measured { asked, job, .. } = stage {
        stood(state, asked, job)
    } else {
        stage
    };
    let again = |mut asked: Asked| {
        (asked.limited, asked.taken_up.since) = (0, since);
        if tries {
            asked.limited_until = None;
        }
        if asked.attempt == 1 {
            WorkStage::Opened { again: None }
        } else {
            asked.outdated = !writes;
            asked.next()
        }
    };
    let next = match stage {
        WorkStage::Ready { asked } | WorkStage::Open { asked, .. } => again(asked),
        // Nobody was asked: it is asked the same again.
        WorkStage::Answered { mut asked, .. } if nobody_ran => {
            asked.attempt += u32::from(asked.attempt > 1);
            again(asked)
        }
        WorkStage::Measuring {
            mut asked,
            job,
            aside,
        } => {
            if aside && tries {
                asked.limited_until = None;
            }
            asked.taken_up.since = since;
            WorkStage::Measuring { asked, job, aside }
        }
        WorkStage::Running { mut asked, job } => {
            (asked.outdated, asked.taken_up.since) = (!writes, since);
            WorkStage::Running { asked, job }
        }
        WorkStage::Answered { mut asked, job } => {
            (asked.outdated, asked.taken_up.since) = (!writes, since);
            WorkStage::Answered { asked, job }
        }
        WorkStage::Unpinned { again, .. } => WorkStage::Opened { again },
        same @ (WorkStage::Opened { .. }
        | WorkStage::Pinning { .. }
        | WorkStage::Opening { .. }
        | WorkStage::Measured { .. }) => same,
    };
    put(state, next);
}

/// A finding was answered or ruled on.
pub(super) fn disposed(
    state: &mut State,
    job: JobId,
    id: FindingId,
    disposition: Disposition,
    note: &str,
) {
    let Some(role) = state.jobs.get(&job).map(|record| record.job.role) else {
        return fault(
            state,
            format!("{id} was disposed of by a job that nobody was asked for"),
        );
    };
    // They are numbered as they are raised: nobody looks through all of them for each word.
    let place = state
        .findings
        .binary_search_by_key(&id, |finding| finding.id);
    if let Some(finding) = place.ok().and_then(|place| state.findings.get_mut(place)) {
        if role == Role::Review && !disposition.holds() {
            state.settled.push(Undo {
                finding: id,
                before: finding.disposition,
                job,
            });
        }
        finding.disposition = disposition;
        state.notes.entry(id).or_default().push(Word {
            job,
            role,
            disposition,
            note: note.to_owned(),
        });
    } else {
        fault(state, format!("{id} was disposed of and never raised"));
    }
}

/// The step is over.
pub(super) fn closed(state: &mut State, job: JobId, reply: Option<&Reply>, changed: bool) {
    let Phase::Work { work, .. } = &state.phase else {
        return fault(state, "work closed outside of a step");
    };
    let work = work.clone();
    let plans = matches!(work.role, Role::Plan | Role::Refine);
    if plans && matches!(reply, Some(Reply::Text)) {
        state.plan = Some(job);
    }
    state.works.push(ClosedWork {
        work,
        job,
        reply: reply.cloned(),
        changed,
    });
    state.phase = Phase::Between;
}

/// The stage, taken out to be replaced.
fn taken(state: &mut State) -> Option<WorkStage> {
    match &mut state.phase {
        Phase::Work { stage, .. } => Some(std::mem::replace(
            &mut **stage,
            WorkStage::Opened { again: None },
        )),
        Phase::Unstarted
        | Phase::Between
        | Phase::Round { .. }
        | Phase::Closing { .. }
        | Phase::Ended { .. } => None,
    }
}

fn put(state: &mut State, next: WorkStage) {
    if let Phase::Work { stage, .. } = &mut state.phase {
        **stage = next;
    }
}
