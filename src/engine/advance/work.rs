//! A step of work: pin, a tree for a job that only reads, the job, the measurement.

mod left;
mod said;

use crate::domain::code::Code;
use crate::domain::effect::{Done, Effect, MeasurePoint};
use crate::domain::event::Event;
use crate::domain::failure::Failure;
use crate::domain::id::JobId;
use crate::domain::identity::{Pin, Remeasured};
use crate::domain::isolation::EvidenceKind;
use crate::domain::job::{AttemptReason, Ended, Job, JobOutcome, Reading, Role, SessionUse};
use crate::domain::trouble::Trouble;
use crate::domain::work::Work;
use crate::engine::advance::close::{fail, unable};
pub(super) use crate::engine::advance::work::left::{misplaced, unmeasured};
use crate::engine::advance::work::said::next_disposition;
use crate::engine::advance::{budget, limit, moved, request};
use crate::engine::budget::Paid;
use crate::engine::session;
use crate::engine::state::{Phase, State};
use crate::engine::work::{Asked, ClosedWork, WorkStage};

/// What follows in a step of work.
pub(super) fn stage(state: &State, work: &Work, stage: &WorkStage) -> Option<Event> {
    match stage {
        WorkStage::Opened { .. } => {
            let effect = Effect::Pin {
                round: work.round(),
                work: Some(work.role),
            };
            Some(request(state, effect))
        }
        // They wait for their effect.
        WorkStage::Pinning { .. }
        | WorkStage::Opening { .. }
        | WorkStage::Running { .. }
        | WorkStage::Measuring { .. } => None,
        WorkStage::Unpinned { failure, .. }
        | WorkStage::Open {
            result: Done::Err(failure),
            ..
        } => Some(unable(state, failure)),
        WorkStage::Ready { asked } if state.is_in_force(asked.limited_until) => None,
        // What moved before the source was pinned for this attempt was moved by no job of it. A job that
        // writes is pinned once: what an earlier attempt of it moved is told when that is measured.
        WorkStage::Ready { asked }
            if (asked.attempt == 1 || !work.role.writes()) && moved::found(state).is_some() =>
        {
            moved::found(state).map(fail)
        }
        WorkStage::Ready { asked } => {
            let job = affordable(state, job(state, work, asked)?)?;
            if job.evidence == EvidenceKind::ReviewTree {
                Some(request(state, open_tree(work, &asked.pin)))
            } else {
                Some(request(state, Effect::RunJob { job }))
            }
        }
        WorkStage::Open {
            asked,
            result: Done::Ok(_),
        } => {
            let job = affordable(state, job(state, work, asked)?)?;
            Some(request(state, Effect::RunJob { job }))
        }
        // What ends with the job is ended first: it works in the same tree. What goes on after a writer
        // is waited for (`hold`).
        WorkStage::Answered { job, .. }
            if state.ends_its_tree(*job) && state.step_has_open_descendants(*job) =>
        {
            None
        }
        WorkStage::Answered { asked, job } => {
            let outcome = state.jobs.get(job)?.outcome.as_ref()?;
            Some(judge(state, work, asked, *job, outcome))
        }
        WorkStage::Measured { asked, job, result } => Some(match &**result {
            Done::Ok(measured) => close(state, work, &asked.pin, *job, measured),
            Done::Err(failure) => {
                let failure = unmeasured(work, failure);
                match broken_off(state, work, *job) {
                    Some(ended) => fail(beside(failed(state, work, ended), failure)),
                    None => unable(state, &failure),
                }
            }
        }),
    }
}

/// The job, where the run may spend more on it.
fn affordable(state: &State, job: Job) -> Option<Job> {
    budget::allows(state, Paid::Own(job.role), state.agent_of(&job)).then_some(job)
}

fn open_tree(work: &Work, pin: &Pin) -> Effect {
    Effect::OpenTree {
        round: work.round(),
        slot: work.slot.clone(),
        snapshot: pin.snapshot.clone(),
        tree: pin.identity.tree.clone(),
        base: pin.identity.base.clone(),
    }
}

/// The step's job; `None` where it has nobody to do it, which no run's setting allows.
fn job(state: &State, work: &Work, asked: &Asked) -> Option<Job> {
    let (run, stamp) = (state.run.as_ref()?, state.stamp?);
    let salt = format!("job {}", state.requested + 1);
    let mut job = Job {
        id: JobId::mint_after(state.newest_job(), &stamp, &salt),
        role: work.role,
        round: work.round(),
        slot: work.slot.clone(),
        rank: work.rank,
        reason: asked.reason.clone(),
        attempt: asked.attempt,
        nonce: stamp.derive_hex(&format!("nonce of {salt}")),
        evidence: EvidenceKind::SourceTree,
        deadline: stamp.at,
        budget: 0,
        session: SessionUse::New,
    };
    let agent = state.agent_of(&job)?;
    let stated = agent.timeout.unwrap_or(run.job_timeout);
    job.budget = run.limits.budget(work.role, stated);
    job.deadline = stamp.at.plus_seconds(job.budget);
    if !work.role.writes() {
        job.evidence = if agent.remote {
            EvidenceKind::DiffOnly
        } else {
            EvidenceKind::ReviewTree
        };
    }
    job.session = state.session_for(&job);
    Some(job)
}

/// What follows from an answer. A failed delegation ends the run (row M-009), once it is known what
/// the job left; one that rules and gives no ruling only leaves the findings as they are.
fn judge(state: &State, work: &Work, asked: &Asked, job: JobId, outcome: &JobOutcome) -> Event {
    if outcome.ended == Ended::Interrupted {
        // Nobody's failure: it is asked the same again, and nothing is spent.
        return Event::WorkRetried {
            reason: asked.reason.clone(),
            ending: "interrupted".to_owned(),
        };
    }
    let job_asked = state.jobs.get(&job).map(|record| &record.job);
    if job_asked.is_some_and(|job| session::is_lost(job, outcome)) {
        // The same in a new session: that one is never continued again.
        return Event::WorkRetried {
            reason: asked.reason.clone(),
            ending: Trouble::Session.said().to_owned(),
        };
    }
    if outcome.ended.is_limit() {
        return limit::work(state, asked.limited, outcome);
    }
    if let Some(failure) = outcome.ended.held_up() {
        return unable(state, failure);
    }
    // Whoever was asked before may have left something.
    let nobody_ran = asked.attempt == 1 || !work.role.writes();
    if nobody_ran && matches!(outcome.ended, Ended::NotStarted { .. }) {
        return fail(failed(state, work, &outcome.ended));
    }
    if work.role.rules() && outcome.ended.failed_on_the_way() && !asked.refreshed {
        // As in a review: what failed on the way may go well another time, and nothing was written.
        return Event::WorkRetried {
            reason: AttemptReason::Fresh,
            ending: outcome.ended.how(),
        };
    }
    if !outcome.ended.is_success() {
        return measure(state, work, &asked.pin);
    }
    match &outcome.reading {
        Reading::Invalid { problems, .. } if !asked.re_asked => Event::WorkRetried {
            reason: AttemptReason::ReAsk {
                problems: problems.clone(),
            },
            ending: problems
                .first()
                .map_or("no answer", String::as_str)
                .to_owned(),
        },
        Reading::Reply { reply } => next_disposition(state, work, job, reply)
            .unwrap_or_else(|| measure(state, work, &asked.pin)),
        // Asked twice, or nothing said: what was answered counts, and that is nothing. An initial
        // plan is the exception (row M-044): nobody plans in the planner's place.
        Reading::Review(_) | Reading::Invalid { .. } | Reading::Silent => {
            if work.role == Role::Plan {
                let message = "the planner's report holds no plan, and nobody plans in its place";
                return fail(Failure::new(Code::DelegationFailed, message).next(log(state)));
            }
            measure(state, work, &asked.pin)
        }
    }
}

/// The measurement of what a job left that may write, where nothing was measured since it was asked.
pub(super) fn unseen(state: &State) -> Option<Event> {
    let Phase::Work { work, stage } = &state.phase else {
        return None;
    };
    let left = match &**stage {
        WorkStage::Answered { asked, .. } => Some(asked),
        // An earlier attempt was asked, and a later one waits to be.
        WorkStage::Ready { asked } if asked.attempt > 1 => Some(asked),
        WorkStage::Opened { .. }
        | WorkStage::Pinning { .. }
        | WorkStage::Unpinned { .. }
        | WorkStage::Ready { .. }
        | WorkStage::Opening { .. }
        | WorkStage::Open { .. }
        | WorkStage::Running { .. }
        | WorkStage::Measuring { .. }
        | WorkStage::Measured { .. } => None,
    };
    left.filter(|_| work.role.writes())
        .map(|asked| measure(state, work, &asked.pin))
}

/// Measures what the step's jobs left.
pub(super) fn measure(state: &State, work: &Work, pin: &Pin) -> Event {
    let effect = Effect::Measure {
        round: work.round(),
        point: MeasurePoint::AfterWork,
        pinned: pin.clone(),
    };
    request(state, effect)
}

fn failed(state: &State, work: &Work, ended: &Ended) -> Failure {
    let how = ended.how();
    let message = format!("the {} job of the {} {how}", work.role.as_str(), work.slot);
    // A reviewer's failure is a missing verdict, in whatever role.
    let code = match work.role {
        Role::Readjudicate | Role::Review => Code::NoVerdict,
        Role::Plan
        | Role::Challenge
        | Role::Refine
        | Role::Implement
        | Role::Correct
        | Role::Arbitrate
        | Role::Comply => Code::DelegationFailed,
    };
    let failure = Failure::new(code, message);
    match state.login(state.attempts(work.role, &work.slot, work.round())) {
        Some(doctor) => failure.next(doctor),
        None => failure.next(log(state)),
    }
}

/// The command that shows how the run's jobs went.
pub(super) fn log(state: &State) -> Vec<String> {
    let id = state.run.as_ref().map(|run| run.loop_id.to_string());
    ["run-loop".to_owned(), "log".to_owned()]
        .into_iter()
        .chain(id)
        .collect()
}

/// How the step's job ended, where that ends the run: it broke off, and it was not one that rules.
fn broken_off<'a>(state: &'a State, work: &Work, job: JobId) -> Option<&'a Ended> {
    let ended = &state.jobs.get(&job)?.outcome.as_ref()?.ended;
    (!work.role.rules() && !ended.is_success()).then_some(ended)
}

/// Why a step gave no ruling, where its job broke off: that ends no run by itself.
pub(super) fn gave_no_ruling(state: &State, closed: &ClosedWork) -> Option<Failure> {
    let ended = &state.jobs.get(&closed.job)?.outcome.as_ref()?.ended;
    let broke_off = closed.work.role.rules() && !ended.is_success();
    broke_off.then(|| failed(state, &closed.work, ended))
}

/// A failure with what was found beside it; what mends that comes first.
pub(super) fn beside(mut first: Failure, found: Failure) -> Failure {
    first.message = format!("{}; {}", first.message, found.message);
    first.next = found.next;
    first
}

/// The step is over, unless its job broke off, or touched what no job may touch.
fn close(state: &State, work: &Work, pin: &Pin, job: JobId, measured: &Remeasured) -> Event {
    let changed = measured.drift_from(pin).content_moved;
    let found = misplaced(state, work, pin, measured);
    if let Some(ended) = broken_off(state, work, job) {
        let failure = failed(state, work, ended);
        return fail(match found {
            Some(found) => beside(failure, found),
            None => failure,
        });
    }
    if let Some(found) = found {
        return fail(found);
    }
    if work.role == Role::Implement && !changed && pin.is_empty() {
        let message = "the creator ended without changing anything: there is nothing to review";
        return fail(Failure::new(Code::NothingImplemented, message).next(log(state)));
    }
    let outcome = state
        .jobs
        .get(&job)
        .and_then(|record| record.outcome.as_ref());
    let reply = outcome.and_then(|outcome| match &outcome.reading {
        Reading::Reply { reply } if outcome.ended.is_success() => Some(reply.clone()),
        Reading::Reply { .. } | Reading::Review(_) | Reading::Invalid { .. } | Reading::Silent => {
            None
        }
    });
    Event::WorkClosed {
        job,
        reply,
        changed,
        lost: measured.lost.clone(),
        elsewhere: measured.elsewhere.clone(),
    }
}
