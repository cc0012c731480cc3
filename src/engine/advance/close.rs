//! How a run ends: forced, after its last round, and winding up.

use crate::domain::code::Code;
use crate::domain::delegation::Closed;
use crate::domain::effect::Effect;
use crate::domain::end::End;
use crate::domain::event::{Event, RoundResult, Settlement, StopCause};
use crate::domain::failure::{Failure, NextCommand};
use crate::domain::id::RoundNumber;
use crate::domain::identity::{Pin, named};
use crate::domain::job::Role;
use crate::domain::run_spec::RunSpec;
use crate::domain::slot::SlotName;
use crate::engine::advance::{request, work};
use crate::engine::state::{ClosedRound, Parking, Phase, State};

/// The event that starts winding up with this failure.
pub(in crate::engine) fn fail(failure: Failure) -> Event {
    Event::RunClosing {
        end: End::Failed { failure },
    }
}

/// A fault ends the run whatever its phase.
pub(super) fn forced(state: &State) -> Option<Event> {
    match &state.phase {
        Phase::Unstarted | Phase::Closing { .. } | Phase::Ended { .. } => None,
        Phase::Between | Phase::Work { .. } | Phase::Round { .. } => state.fault.clone().map(fail),
    }
}

/// An interrupted run, or one that spent what it may spend: waits for everything under way, gives back
/// what is held, and is put aside with all that it knows, to be resumed.
pub(super) fn put_aside(state: &State) -> Option<Event> {
    if state.suspended.is_some() || !state.open.is_empty() {
        return None;
    }
    // What a job threw away is told now: nobody may ever take the run up again.
    if let Some(event) = work::unseen(state) {
        return Some(event);
    }
    if !state.given_back {
        return Some(request(state, Effect::Release));
    }
    let run = state.run.as_ref()?;
    let Some(stop) = state.stop else {
        let Parking { failure, until } = state.parking.clone()?;
        let failure = with_what_moved(state, failure);
        return Some(Event::RunSuspended { failure, until });
    };
    let (code, word) = match stop {
        StopCause::Interrupt => (Code::Interrupted, "interrupted"),
        StopCause::Terminate => (Code::Terminated, "terminated"),
        StopCause::Cancel => return None,
    };
    let message = format!("run {} was {word}; it can be resumed", run.loop_id);
    let resume = ["run-loop", "resume", &run.loop_id.to_string()].map(str::to_owned);
    let failure = Failure::new(code, message).next(resume);
    Some(Event::RunSuspended {
        failure: with_what_moved(state, failure),
        until: None,
    })
}

/// What follows from what our own tools could not do. Want of room, or of a folder, may have passed by the next
/// minute: where somebody was asked already, the run is put aside with all that was said, and that is tried
/// again when it is taken up.
pub(super) fn unable(state: &State, failure: &Failure) -> Event {
    let may_pass = matches!(failure.code, Code::ReviewTreeFailed | Code::StateUnwritable);
    let (true, false, Some(run)) = (may_pass, state.jobs.is_empty(), &state.run) else {
        return fail(failure.clone());
    };
    let run = run.loop_id;
    let message = format!(
        "run {run} is put aside, and can be resumed, or ended by run-loop cancel {run}: {}",
        failure.message
    );
    let held_up = Failure::new(Code::HeldUp, message);
    let failure = if failure.next == NextCommand::explain(failure.code) {
        held_up.next(["run-loop", "resume", &run.to_string()])
    } else {
        Failure {
            next: failure.next.clone(),
            ..held_up
        }
    };
    let until = None;
    Event::RunParking { failure, until }
}

/// Says what moved while jobs ran, as long as whoever was there can be asked about it: also what was put back
/// since, as far as the run ends by it.
fn with_what_moved(state: &State, mut failure: Failure) -> Failure {
    let mut moved = state
        .aside
        .as_ref()
        .map_or_else(Vec::new, |it| it.moved.clone());
    for known in &state.tampered {
        if moved.iter().all(|it| it.trip != known.trip) {
            moved.push(known.clone());
        }
    }
    if moved.is_empty() {
        return failure;
    }
    let mut said = format!("; {} moved while jobs ran", named(&moved));
    let rewired = moved.iter().any(|it| it.trip.outlasts_its_round());
    let voids = state.review().is_some();
    if voids {
        said.push_str(": what passed in the round under way is void");
    }
    let is_last = voids && state.rounds_opened() >= state.rounds_allowed();
    if is_last && !rewired {
        said.push_str(", and it is the last one that is allowed");
    }
    if rewired || is_last {
        said.push_str("; whoever resumes it is told what was said until then, and it ends by that");
    }
    failure.message.push_str(&said);
    failure
}

/// The run's end after a round that nothing follows.
pub(super) fn after_round(state: &State) -> Option<Event> {
    let (run, round) = (state.run.as_ref()?, state.rounds.last()?);
    let end = match &round.result {
        RoundResult::Passed => End::Approved {
            readers: u32::try_from(run.readers()).unwrap_or(u32::MAX),
        },
        RoundResult::Inconclusive { reason } => End::Failed {
            failure: inconclusive(state, run, round, reason),
        },
        // The agenda says what follows them.
        RoundResult::NotPassed { .. } | RoundResult::Stale { .. } | RoundResult::Void { .. } => {
            return None;
        }
    };
    Some(Event::RunClosing { end })
}

pub(super) fn not_passed(state: &State, run: &RunSpec, round: &ClosedRound) -> Failure {
    let open = state
        .findings
        .iter()
        .filter(|finding| State::stands(finding));
    let titles: Vec<String> = open
        .map(|finding| match &finding.claim.path {
            Some(path) => format!("{} {} ({path})", finding.id, finding.claim.title),
            None => format!("{} {}", finding.id, finding.claim.title),
        })
        .collect();
    let show = [
        "run-loop".to_owned(),
        "show".to_owned(),
        run.loop_id.to_string(),
    ];
    let content = round.pin.as_ref().map(|pin| &pin.identity.content_tree);
    let unsettled = content.map_or_else(Vec::new, |content| state.unsettled_on(content));
    if titles.is_empty() && !unsettled.is_empty() {
        let called: Vec<String> = unsettled.iter().map(|it| it.id.to_string()).collect();
        let message = format!(
            "nothing changed since {} was found, whatever was said of it",
            called.join(", ")
        );
        return Failure::new(Code::FindingsStand, message).next(show);
    }
    if titles.is_empty() {
        let slots: Vec<&str> = round
            .slots
            .iter()
            .filter(|(_, slot)| matches!(slot.settlement(), Some(Settlement::NotPassed { .. })))
            .map(|(name, _)| name.as_str())
            .collect();
        let mut message = format!(
            "NOT PASS without a blocking finding, from {}",
            slots.join(", ")
        );
        let unsaid = round
            .slots
            .keys()
            .filter_map(|slot| state.unconfirmed(slot));
        let unsaid: Vec<String> = unsaid.map(|finding| finding.id.to_string()).collect();
        if !unsaid.is_empty() {
            let unsaid = format!("; it is not said whether {} is mended", unsaid.join(", "));
            message.push_str(&unsaid);
        }
        return Failure::new(Code::NotPassUnexplained, message).next(show);
    }
    let message = format!(
        "{} blocking finding(s) stand: {}",
        titles.len(),
        titles.join("; ")
    );
    Failure::new(Code::FindingsStand, message).next(show)
}

/// The failure of a last allowed round, which says where fewer are allowed than at most.
pub(super) fn of_all_rounds(state: &State, run: &RunSpec, mut failure: Failure) -> Failure {
    let allowed = state.rounds_allowed();
    if allowed < run.review.max_rounds {
        let said = format!(
            "; {allowed} rounds are all that so small a change gets unless --max-rounds says otherwise"
        );
        failure.message.push_str(&said);
    }
    failure
}

/// Content that did not pass before, and that its claims still bar: another round on it can only
/// say the same. Without a creator nobody works towards anything, and a self-review looks again.
pub(super) fn refused_again(
    state: &State,
    run: &RunSpec,
    number: RoundNumber,
    pin: &Pin,
) -> Option<Failure> {
    let works = run.creator.is_some();
    let itself = run
        .panel
        .iter()
        .any(|slot| slot.name == SlotName::self_review());
    let before = state.refused_before(pin)?;
    state.is_barred(pin, None)?;
    // On the very content of the last round something may have been said since, which is no progress once it
    // was said before.
    let last = state.rounds.last().filter(|last| last.is_on(pin));
    if last.is_some() && !state.stands_as_before() {
        return None;
    }
    let message = format!(
        "round {number} would review the content of round {} again, whose findings stand",
        before.number
    );
    let show = ["run-loop", "show", &run.loop_id.to_string()].map(str::to_owned);
    (works && !itself).then(|| Failure::new(Code::NoProgress, message).next(show))
}

fn inconclusive(state: &State, run: &RunSpec, round: &ClosedRound, reason: &str) -> Failure {
    let silent = round
        .slots
        .iter()
        .filter(|(_, slot)| matches!(slot.settlement(), Some(Settlement::NoVerdict { .. })));
    let mut silent = silent.map(|(name, _)| name).peekable();
    let missing = silent.peek().is_some();
    // A login comes before everything else.
    let login =
        silent.find_map(|name| state.login(state.attempts(Role::Review, name, round.number)));
    let code = if missing {
        Code::NoVerdict
    } else {
        Code::TripwireMoved
    };
    let log = [
        "run-loop".to_owned(),
        "log".to_owned(),
        run.loop_id.to_string(),
    ];
    let failure = Failure::new(code, reason);
    match login {
        Some(doctor) => failure.next(doctor),
        None => failure.next(log),
    }
}

/// Waits for everything under way, closes what jobs are left, gives back what is held, ends.
pub(super) fn closing(state: &State, end: &End, released: bool) -> Option<Event> {
    if !state.open.is_empty() {
        return None;
    }
    // Nothing of a run goes on after it, and nobody dispatches again what was left.
    if let Some(job) = state.delegations.values().find(|it| it.closed.is_none()) {
        return Some(Event::JobClosed {
            job: job.id,
            closed: Closed::with_its_run(),
        });
    }
    if !released {
        return Some(request(state, Effect::Release));
    }
    Some(Event::RunEnded { end: end.clone() })
}
