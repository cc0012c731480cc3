//! Asking the slots: who is asked next, and what follows from an answer.

use crate::domain::effect::{Done, Effect};
use crate::domain::event::{Event, Settlement};
use crate::domain::finding::Disposition;
use crate::domain::id::{FindingId, JobId, RoundNumber};
use crate::domain::isolation::{EvidenceKind, Isolation};
use crate::domain::job::{AttemptReason, Ended, Job, JobOutcome, Reading, Role, SessionUse};
use crate::domain::lowered::{said_settled, says_mended};
use crate::domain::ruled::Ledger as _;
use crate::domain::run_spec::RunSpec;
use crate::domain::slot::{Slot, SlotName};
use crate::domain::verdict::{PassedBy, Verdict};
use crate::engine::advance::{answer, budget, limit, request, verdict};
use crate::engine::budget::Paid;
use crate::engine::review::{SlotProgress, SlotReview};
use crate::engine::session;
use crate::engine::state::{Review, State};

/// The next event that a slot is due, in the panel's order.
pub(super) fn next(state: &State, round: RoundNumber, review: &Review) -> Option<Event> {
    let run = state.run.as_ref()?;
    run.panel.iter().find_map(|slot| {
        let place = review.slots.get(&slot.name)?;
        match &place.progress {
            SlotProgress::Waiting => match resolved(state, review, slot, place) {
                Some((by, job)) => Some(pass(state, round, review, slot, by, job)),
                None if state.is_in_force(place.limited_until()) => None,
                None => (may_be_asked(run, review, slot) && affordable(state, slot, place))
                    .then(|| ask(state, run, round, review, slot, place)),
            },
            SlotProgress::Open { result } => Some(match result {
                Done::Ok(_) if !affordable(state, slot, place) => return None,
                Done::Ok(_) => dispatch(state, run, round, slot, place)?,
                // Isolation is never lowered: without its tree the round is refused (row M-071), once nobody
                // else is at work in it.
                Done::Err(_) => return None,
            }),
            // Nobody was asked: it is asked the same once the run was put aside.
            SlotProgress::Answered { outcome, .. } if outcome.ended.held_up().is_some() => None,
            // What was delegated inside the job is ended first: it works in the same tree.
            SlotProgress::Answered { job, .. } if state.has_open_descendants(*job) => None,
            SlotProgress::Answered { job, outcome } => {
                Some(judge(state, run, round, review, slot, place, *job, outcome))
            }
            // They wait: for an effect, or for nothing any more.
            SlotProgress::Opening | SlotProgress::Running { .. } | SlotProgress::Settled { .. } => {
                None
            }
        }
    })
}

/// How a slot that did not pass on this very identity passes after all: every blocking finding of
/// its report was taken back or overruled, it had read everything, and nothing that it raised on other
/// content waits for its word.
fn resolved(
    state: &State,
    review: &Review,
    slot: &Slot,
    place: &SlotReview,
) -> Option<(PassedBy, JobId)> {
    if place.attempts > 0 {
        return None;
    }
    let last = state.same_as_last(&review.pin)?.slots.get(&slot.name)?;
    let Some(Settlement::NotPassed { job }) = last.settlement() else {
        return None;
    };
    let outcome = state.jobs.get(job)?.outcome.as_ref()?;
    let covered = match &outcome.reading {
        Reading::Review(said) => {
            let refused = said.verdict == Verdict::NotPass && said.is_whole();
            refused && outcome.ended.is_success()
        }
        Reading::Reply { .. } | Reading::Invalid { .. } | Reading::Silent => false,
    };
    if !covered
        || !state.is_resolved(*job)
        || state.is_barred(&review.pin, Some(&slot.name)).is_some()
        || state.spoke_besides(*job)
        || leaves_standing(state, review, slot, outcome)
        || is_outdone(state, review, slot, *job)
    {
        return None;
    }
    Some((state.ground(*job), *job))
}

/// The slot passes. What its reviewer raised on other content it has answered by that, unless another
/// slot found it there in this round, and that goes into the ledger first.
fn pass(
    state: &State,
    round: RoundNumber,
    review: &Review,
    slot: &Slot,
    by: PassedBy,
    job: JobId,
) -> Event {
    let asked_in = state.jobs.get(&job).map_or(round, |it| it.job.round);
    let mut outdated = state.outdated(&review.pin, &slot.name);
    match outdated.find(|finding| state.last_found(finding) < asked_in) {
        Some(finding) => {
            let (disposition, note) = said_at_last(state, job, finding.id);
            Event::FindingDisposed {
                finding: finding.id,
                disposition,
                job,
                note,
            }
        }
        None => settle(round, slot, Settlement::Passed { by, job }),
    }
}

/// What a passing report says became of an earlier finding, and why, in its own words: that it was wrong or is
/// mended. The second it says by its silence, too.
fn said_at_last(state: &State, job: JobId, finding: FindingId) -> (Disposition, String) {
    let outcome = state.jobs.get(&job).and_then(|it| it.outcome.as_ref());
    let said = outcome.and_then(|outcome| match &outcome.reading {
        Reading::Review(said) => Some(said),
        Reading::Reply { .. } | Reading::Invalid { .. } | Reading::Silent => None,
    });
    let became = said.and_then(|said| said_settled(finding, said));
    let mut words = said.iter().flat_map(|said| &said.prior);
    let why = words.find(|prior| prior.finding == finding && !prior.note.trim().is_empty());
    let why = why.map(|prior| prior.note.clone());
    (
        became.unwrap_or(Disposition::Fixed),
        why.unwrap_or_else(|| "its reviewer passes the content as it is now".to_owned()),
    )
}

/// Whether a waiting slot's turn has come. `checks` runs the project's commands, so it comes after
/// every other report of the round is sealed.
fn may_be_asked(run: &RunSpec, review: &Review, slot: &Slot) -> bool {
    let busy = review
        .slots
        .values()
        .filter(|place| place.is_busy())
        .count();
    let free = busy < usize::try_from(run.review.max_parallel.max(1)).unwrap_or(usize::MAX);
    let others_sealed = || {
        run.panel
            .iter()
            .filter(|other| other.is_reader())
            .all(|other| {
                review
                    .slots
                    .get(&other.name)
                    .is_some_and(|place| place.settlement().is_some())
            })
    };
    free && (slot.is_reader() || others_sealed())
}

/// Whether the run may spend more on the agent whose turn it is.
///
/// Nobody is asked in a round of which it is known that it is void.
fn affordable(state: &State, slot: &Slot, place: &SlotReview) -> bool {
    state.voided.is_none()
        && budget::allows(state, Paid::Own(Role::Review), slot.agent_at(place.rank))
}

/// What the slot judges by, with the agent of this rank.
fn evidence_kind(run: &RunSpec, slot: &Slot, rank: usize) -> EvidenceKind {
    let Some(agent) = slot.agent_at(rank) else {
        return EvidenceKind::ReviewTree;
    };
    if agent.remote {
        return EvidenceKind::DiffOnly;
    }
    match run.review.isolation {
        // `checks` executes reviewed code: it has its own tree in every mode.
        Isolation::Env if !agent.is_checks() => EvidenceKind::SourceTree,
        Isolation::Env | Isolation::Worktree => EvidenceKind::ReviewTree,
    }
}

fn ask(
    state: &State,
    run: &RunSpec,
    round: RoundNumber,
    review: &Review,
    slot: &Slot,
    place: &SlotReview,
) -> Event {
    if evidence_kind(run, slot, place.rank) == EvidenceKind::ReviewTree {
        let identity = &review.pin.identity;
        return request(
            state,
            Effect::OpenTree {
                round,
                slot: slot.name.clone(),
                snapshot: review.pin.snapshot.clone(),
                tree: identity.tree.clone(),
                base: identity.base.clone(),
            },
        );
    }
    dispatch(state, run, round, slot, place).unwrap_or_else(|| {
        settle(
            round,
            slot,
            Settlement::NoVerdict {
                reason: "it has no agent".to_owned(),
            },
        )
    })
}

fn dispatch(
    state: &State,
    run: &RunSpec,
    round: RoundNumber,
    slot: &Slot,
    place: &SlotReview,
) -> Option<Event> {
    let (stamp, agent) = (state.stamp?, slot.agent_at(place.rank)?);
    let budget = if agent.is_checks() {
        // Each command has its own limit; the job's covers all of them and the rules.
        run.checks.iter().fold(run.job_timeout, |sum, check| {
            sum.saturating_add(check.timeout)
        })
    } else {
        let stated = agent.timeout.unwrap_or(run.job_timeout);
        run.limits.budget(Role::Review, stated)
    };
    let salt = format!("job {}", state.requested + 1);
    let mut job = Job {
        id: JobId::mint_after(state.newest_job(), &stamp, &salt),
        role: Role::Review,
        round,
        slot: slot.name.clone(),
        rank: place.rank,
        reason: place.reason.clone(),
        attempt: place.attempts + 1,
        nonce: stamp.derive_hex(&format!("nonce of {salt}")),
        evidence: evidence_kind(run, slot, place.rank),
        deadline: stamp.at.plus_seconds(budget),
        budget,
        session: SessionUse::New,
    };
    job.session = state.session_for(&job);
    Some(request(state, Effect::RunJob { job }))
}

#[expect(
    clippy::too_many_arguments,
    reason = "one place where all of an answer comes together"
)]
fn judge(
    state: &State,
    run: &RunSpec,
    round: RoundNumber,
    review: &Review,
    slot: &Slot,
    place: &SlotReview,
    job: JobId,
    outcome: &JobOutcome,
) -> Event {
    if let Some(finding) =
        answer::unrecorded(state, run, round, review, slot, job, &outcome.reading)
    {
        return Event::FindingRaised {
            finding: Box::new(finding),
        };
    }
    if let Some(event) = answer::said_of_earlier(state, review, job, outcome) {
        return event;
    }
    let agent = slot.agent_at(place.rank);
    let content = &review.pin.identity.content_tree;
    let asked = state.jobs.get(&job).map(|record| &record.job);
    let kept = asked.map(|it| state.kept_open(it, &outcome.reading, content));
    let keeps_open = kept.is_some_and(|kept| !kept.is_empty());
    match verdict::of(state, job, outcome, agent, run.review.fail_on) {
        // A PASS beside the word that an earlier finding still holds is none.
        verdict::Judged::Pass(_) if keeps_open => {
            settle(round, slot, Settlement::NotPassed { job })
        }
        // Neither does a NOT PASS close by silence what was found before.
        verdict::Judged::Pass(_) if leaves_standing(state, review, slot, outcome) => {
            settle(round, slot, Settlement::NotPassed { job })
        }
        // Nor does an agent close by silence what another one of its slot is in dispute about.
        verdict::Judged::Pass(_)
            if passes_over(state, round, review, slot, place.rank, outcome) =>
        {
            settle(round, slot, Settlement::NotPassed { job })
        }
        verdict::Judged::Pass(by) => match state.is_barred(&review.pin, Some(&slot.name)) {
            // A re-ask mends form: it cannot turn a NOT PASS into a PASS.
            Some(bar) => settle(round, slot, Settlement::NotPassed { job: bar.job }),
            None if slot.name == SlotName::self_review() => {
                pass(state, round, review, slot, PassedBy::SelfReview, job)
            }
            None => pass(state, round, review, slot, by, job),
        },
        verdict::Judged::NotPass => settle(round, slot, Settlement::NotPassed { job }),
        verdict::Judged::None => {
            let lost = asked.is_some_and(|job| session::is_lost(job, outcome));
            retry(round, slot, place, outcome, lost)
        }
    }
}

/// Whether a PASS is silent about a finding of another agent of its slot that nobody said to be mended
/// before this round, not even the creator.
fn passes_over(
    state: &State,
    round: RoundNumber,
    review: &Review,
    slot: &Slot,
    rank: usize,
    outcome: &JobOutcome,
) -> bool {
    let Reading::Review(said) = &outcome.reading else {
        return false;
    };
    let mut standing = state.outdated(&review.pin, &slot.name);
    standing.any(|finding| {
        let own = state.raised_by_rank(finding) == Some(rank);
        !own && state.held_before(finding, round) && !says_mended(finding.id, said)
    })
}

/// Whether a report that ends with NOT PASS, and passes since nothing of it blocks, says nothing of a
/// finding that its slot raised on other content: the creator's word that it is mended is none.
fn leaves_standing(state: &State, review: &Review, slot: &Slot, outcome: &JobOutcome) -> bool {
    let Reading::Review(said) = &outcome.reading else {
        return false;
    };
    let mut standing = state.outdated(&review.pin, &slot.name);
    said.verdict == Verdict::NotPass && standing.any(|finding| !says_mended(finding.id, said))
}

/// Whether somebody found something of the slot's again in the round of a report, or since: that report's word
/// that it is mended is not the last one.
fn is_outdone(state: &State, review: &Review, slot: &Slot, job: JobId) -> bool {
    let Some(record) = state.jobs.get(&job) else {
        return true;
    };
    let mut standing = state.outdated(&review.pin, &slot.name);
    standing.any(|finding| state.last_found(finding) >= record.job.round)
}

/// An attempt gave no verdict: one re-ask for an invalid report, one fresh attempt for a failure
/// on the way (a spent budget is none), then each fallback once.
fn retry(
    round: RoundNumber,
    slot: &Slot,
    place: &SlotReview,
    outcome: &JobOutcome,
    session_lost: bool,
) -> Event {
    let ending = describe(outcome);
    let again = |rank, reason| Event::SlotRetried {
        round,
        slot: slot.name.clone(),
        rank,
        reason,
        ending: ending.clone(),
    };
    if session_lost {
        // The same in a new session, and nothing is spent: that one is never continued again.
        return again(place.rank, place.reason.clone());
    }
    match (&outcome.ended, &outcome.reading) {
        // Nobody's failure: it is asked the same again, and nothing is spent.
        (Ended::Interrupted, _) => return again(place.rank, place.reason.clone()),
        // Nobody's failure either, but it does not help to ask again at once.
        (ended, _) if ended.is_limit() => return limit::slot(round, slot, place, outcome),
        (Ended::Exited { code: 0 }, Reading::Invalid { problems, .. }) if !place.re_asked => {
            return again(
                place.rank,
                AttemptReason::ReAsk {
                    problems: problems.clone(),
                },
            );
        }
        // A valid or invalid report of a clean exit is not a failure on the way, and neither is a
        // spent budget.
        (Ended::Exited { code: 0 }, Reading::Invalid { .. } | Reading::Review(_))
        | (Ended::TimedOut, _) => {}
        // What is wrong with a key or a request is still wrong at the next attempt.
        (Ended::Failed { trouble, .. }, _) if !trouble.may_pass() => {}
        (
            Ended::Exited { .. }
            | Ended::Failed { .. }
            | Ended::Signalled { .. }
            | Ended::NotStarted { .. }
            | Ended::Stopped
            | Ended::Lost,
            _,
        ) => {
            if !place.refreshed {
                return again(place.rank, AttemptReason::Fresh);
            }
        }
    }
    if slot.agent_at(place.top + 1).is_some() {
        return again(place.top + 1, AttemptReason::First);
    }
    if let Some((rank, reason)) = place.kept_waiting() {
        return again(rank, reason);
    }
    let mut endings = place.endings.clone();
    endings.push(ending);
    settle(
        round,
        slot,
        Settlement::NoVerdict {
            reason: endings.join(", then "),
        },
    )
}

fn settle(round: RoundNumber, slot: &Slot, settlement: Settlement) -> Event {
    Event::SlotSettled {
        round,
        slot: slot.name.clone(),
        settlement,
    }
}

/// How an attempt without a verdict ended, in a few words.
pub(super) fn describe(outcome: &JobOutcome) -> String {
    match (&outcome.ended, &outcome.reading) {
        (Ended::Exited { code: 0 }, Reading::Invalid { problems, .. }) => {
            format!(
                "invalid report ({})",
                problems.first().map_or("unknown", String::as_str)
            )
        }
        (ended, _) => describe_ended(ended),
    }
}

/// How an agent ended that gave nothing.
pub(super) fn describe_ended(ended: &Ended) -> String {
    if ended.is_success() {
        "no report".to_owned()
    } else {
        ended.how()
    }
}
