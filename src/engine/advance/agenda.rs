//! What comes next between steps: the order of the phases, in one place.
//!
//! Plan, challenge, refine, implement, then rounds; after a round that did not pass: correction,
//! re-adjudication, arbitration, compliance, and the next round (design, section 4).

use crate::domain::agent::Agent;
use crate::domain::code::Code;
use crate::domain::event::{Event, RoundResult};
use crate::domain::failure::Failure;
use crate::domain::finding::{Disposition, Finding};
use crate::domain::id::RoundNumber;
use crate::domain::job::{Reply, Role};
use crate::domain::run_spec::{PlanSource, RunSpec};
use crate::domain::slot::{Slot, SlotName};
use crate::domain::work::Work;
use crate::engine::advance::close::{after_round, fail, not_passed, of_all_rounds};
use crate::engine::advance::work::beside;
use crate::engine::advance::{delegation, moved, round, work};
use crate::engine::state::{ClosedRound, State};
use crate::engine::work::ClosedWork;

/// The next step, or the end.
pub(super) fn next(state: &State) -> Option<Event> {
    let run = state.run.as_ref()?;
    if run.single.is_some() {
        return delegation::single(state, run);
    }
    let Some(last) = state.rounds.last() else {
        return Some(before_rounds(state, run));
    };
    match &last.result {
        RoundResult::Passed | RoundResult::Inconclusive { .. } => after_round(state),
        RoundResult::Stale { .. } | RoundResult::Void { .. } => round::next(state, following(last)),
        RoundResult::NotPassed { .. } => Some(turn(state, run, last)),
    }
}

fn following(last: &ClosedRound) -> RoundNumber {
    RoundNumber(last.number.0 + 1)
}

fn open(role: Role, slot: SlotName, after: Option<RoundNumber>) -> Event {
    let rank = 0;
    Event::WorkOpened {
        work: Work {
            role,
            slot,
            rank,
            after,
        },
    }
}

fn before_rounds(state: &State, run: &RunSpec) -> Event {
    let done = |role| state.works.iter().find(|closed| closed.work.role == role);
    if run.plan == PlanSource::Planner {
        if done(Role::Plan).is_none() {
            return open(Role::Plan, SlotName::planner(), None);
        }
        let Some(challenge) = done(Role::Challenge) else {
            return open(Role::Challenge, SlotName::creator(), None);
        };
        if objects(challenge) && done(Role::Refine).is_none() {
            return open(Role::Refine, SlotName::planner(), None);
        }
    }
    if !run.review_only && run.creator.is_some() && done(Role::Implement).is_none() {
        return open(Role::Implement, SlotName::creator(), None);
    }
    Event::RoundOpened {
        round: RoundNumber(1),
    }
}

/// Whether a challenge gave anything to refine the plan by.
fn objects(challenge: &ClosedWork) -> bool {
    match &challenge.reply {
        Some(Reply::Challenge { objections }) => !objections.is_empty(),
        Some(Reply::Text | Reply::Answers { .. } | Reply::Rulings { .. }) | None => false,
    }
}

/// What follows a round that did not pass.
fn turn(state: &State, run: &RunSpec, last: &ClosedRound) -> Event {
    let over = |failure| Event::RunClosing {
        end: crate::domain::end::End::Failed { failure },
    };
    // Whoever touched that would be followed by jobs on what it left.
    if let Some(found) = moved::found(state) {
        return over(beside(not_passed(state, run, last), found));
    }
    let Some(creator) = &run.creator else {
        return over(not_passed(state, run, last));
    };
    // After the last allowed round there is no correction (row M-007).
    if last.number.0 >= state.rounds_allowed() {
        let failure = not_passed(state, run, last);
        return over(of_all_rounds(state, run, failure));
    }
    // A creator that reviews its own work does not correct it on its own word (row M-012); what `checks`
    // found beside its PASS is nobody's opinion.
    let own_word = last.slots.get(&SlotName::self_review());
    if own_word.is_some_and(|own| !own.has_passed()) {
        return Event::RoundOpened {
            round: following(last),
        };
    }
    let since: Vec<&ClosedWork> = state
        .works
        .iter()
        .filter(|closed| closed.work.after == Some(last.number))
        .collect();
    let done = |role| since.iter().any(|closed| closed.work.role == role);
    let after = Some(last.number);
    let none = |role| state.asked_about(role, &SlotName::creator(), 0).is_empty();
    if escalates(state, run) && !none(Role::Refine) {
        return open(Role::Refine, SlotName::planner(), after);
    }
    if !done(Role::Correct) && !none(Role::Correct) {
        return open(Role::Correct, SlotName::creator(), after);
    }
    if let Some(work) = readjudication(state, run, last, &since) {
        return Event::WorkOpened { work };
    }
    if !done(Role::Arbitrate) && !none(Role::Arbitrate) {
        return if may_arbitrate(state, run, creator) {
            open(Role::Arbitrate, SlotName::arbiter(), after)
        } else {
            fail(nobody_rules(state, run))
        };
    }
    if !done(Role::Comply) && !none(Role::Comply) {
        return open(Role::Comply, SlotName::creator(), after);
    }
    let changed = since.iter().any(|closed| closed.changed);
    let barred = last
        .pin
        .as_ref()
        .is_none_or(|pin| state.is_barred(pin, None).is_some());
    let unsettled = last.pin.as_ref().map_or_else(Vec::new, |pin| {
        state.unsettled_on(&pin.identity.content_tree)
    });
    if since.is_empty() && barred && unsettled.is_empty() {
        // Nothing was said that anybody could answer.
        return over(not_passed(state, run, last));
    }
    let comes_to_nothing = if barred {
        state.stands_as_before()
    } else {
        // Who spoke in spite of a ruling is asked again, once.
        since.is_empty() && state.turned_before()
    };
    if !changed && comes_to_nothing {
        // Another round and another turn can only say the same.
        let failure = no_progress(run, last, &unsettled);
        let mut broken = since.iter().copied();
        return fail(
            match broken.find_map(|it| work::gave_no_ruling(state, it)) {
                Some(broken) => beside(broken, failure),
                None => failure,
            },
        );
    }
    Event::RoundOpened {
        round: following(last),
    }
}

/// The next agent of a reviewer that rules on what was refuted of its own, where it can. Each agent of a
/// slot speaks for itself.
fn readjudication(
    state: &State,
    run: &RunSpec,
    last: &ClosedRound,
    since: &[&ClosedWork],
) -> Option<Work> {
    let of = |slot: &Slot, rank| Work {
        role: Role::Readjudicate,
        slot: slot.name.clone(),
        rank,
        after: Some(last.number),
    };
    let due = |work: &Work| {
        let refuted = !state
            .asked_about(work.role, &work.slot, work.rank)
            .is_empty();
        refuted && since.iter().all(|closed| closed.work != *work)
    };
    run.panel.iter().find_map(|slot| {
        let agents = std::iter::once(&slot.agent).chain(&slot.fallback);
        let able = agents.enumerate().filter(|(_, agent)| agent.can_rule());
        able.map(|(rank, _)| of(slot, rank)).find(due)
    })
}

/// Two failed rounds in a row send the findings back to the planner (row M-044), once in a run: an
/// approved plan is opened again for one attempt (scenario C13).
fn escalates(state: &State, run: &RunSpec) -> bool {
    let failed = state.rounds.iter().rev().take(2);
    let failed = failed.filter(|round| round.result.is_refused()).count();
    let again =
        |closed: &ClosedWork| closed.work.role == Role::Refine && closed.work.after.is_some();
    let refined = state.works.iter().any(again);
    run.planner.is_some() && state.has_plan() && failed == 2 && !refined
}

/// The arbiter is never the creator, and never the one whose finding is in dispute, under whatever name.
fn may_arbitrate(state: &State, run: &RunSpec, creator: &Agent) -> bool {
    let Some(arbiter) = &run.arbiter else {
        return false;
    };
    let disputes = state.asked_about(Role::Arbitrate, &SlotName::arbiter(), 0);
    let mut raised_by = disputes.iter().map(|finding| {
        let slot = run.panel.iter().find(|slot| slot.name == finding.slot)?;
        slot.agent_at(state.jobs.get(&finding.job)?.job.rank)
    });
    arbiter.definition != creator.definition
        && raised_by.all(|agent| agent.is_some_and(|agent| !agent.is_same(arbiter)))
}

fn nobody_rules(state: &State, run: &RunSpec) -> Failure {
    let disputes = state.asked_about(Role::Arbitrate, &SlotName::arbiter(), 0);
    let ids: Vec<String> = disputes
        .iter()
        .map(|finding| finding.id.to_string())
        .collect();
    let message = format!(
        "the creator refuted and the reviewer upheld {}; no arbiter may rule on it",
        ids.join(", ")
    );
    Failure::new(Code::ArbiterMissing, message).next(show(run))
}

fn no_progress(run: &RunSpec, last: &ClosedRound, unsettled: &[&Finding]) -> Failure {
    let mut message = format!(
        "round {} did not pass, the content now was reviewed already, and its NOT PASS is not resolved",
        last.number
    );
    let why: Vec<String> = unsettled
        .iter()
        .map(|finding| format!("{} {}", finding.id, left_so(finding.disposition)))
        .collect();
    if !why.is_empty() {
        message = format!("{message}: {}", why.join("; "));
    }
    Failure::new(Code::NoProgress, message).next(show(run))
}

/// Why a finding stands on the content that it was raised on.
fn left_so(disposition: Disposition) -> &'static str {
    match disposition {
        Disposition::Open => "was not answered",
        Disposition::Fixed => "is called fixed, and nothing changed",
        Disposition::Deferred => "is left for later, and blocks",
        Disposition::Refuted => "was refuted, and its reviewer did not rule on it",
        Disposition::Upheld => "was upheld, and nobody ruled on it after that",
        Disposition::Sustained => "was sustained, and is not mended",
        Disposition::Withdrawn | Disposition::Overruled => "was ruled on for other content",
    }
}

fn show(run: &RunSpec) -> [String; 3] {
    [
        "run-loop".to_owned(),
        "show".to_owned(),
        run.loop_id.to_string(),
    ]
}
