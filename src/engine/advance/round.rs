//! A round from its opening to its close.

use std::sync::Arc;

use crate::domain::code::Code;
use crate::domain::effect::{Done, Effect, MeasurePoint, Promotion};
use crate::domain::event::{Event, RoundResult, Settlement};
use crate::domain::evidence::Evidence;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;
use crate::domain::glob::Glob;
use crate::domain::id::RoundNumber;
use crate::domain::identity::{Identity, Pin, Remeasured, named};
use crate::domain::path::RepoPath;
use crate::domain::run_spec::{BaseSpec, Quorum, RunSpec};
use crate::engine::advance::close::{self, fail};
use crate::engine::advance::work::beside;
use crate::engine::advance::{moved, request, slot};
use crate::engine::aside::Voided;
use crate::engine::review::SlotReview;
use crate::engine::state::{Review, Stage, State};

/// Opens the next round, or ends the run where none is left: a stale last round (T-008).
pub(super) fn next(state: &State, next: RoundNumber) -> Option<Event> {
    let run = state.run.as_ref()?;
    let last = state.rounds.last()?;
    let found = moved::found(state);
    if next.0 <= state.rounds_allowed() && found.is_none() {
        return Some(Event::RoundOpened { round: next });
    }
    let (moved, base_moved) = match &last.result {
        RoundResult::Stale {
            moved, base_moved, ..
        } => (moved, base_moved),
        RoundResult::Void { tripped, reason } => {
            let code = if tripped.is_empty() {
                Code::EvidenceFailed
            } else {
                Code::TripwireMoved
            };
            let failure = Failure::new(code, reason.clone()).next(run.command.clone());
            return Some(fail(void(state, run, failure, found)));
        }
        RoundResult::Passed | RoundResult::NotPassed { .. } | RoundResult::Inconclusive { .. } => {
            return None;
        }
    };
    if let Some(found) = found {
        return Some(fail(touched(last.number, moved, found)));
    }
    let failure = if *base_moved {
        let message = "the base moved during the last allowed round: its approvals are void";
        Failure::new(Code::BaseMoved, message)
    } else {
        let message = format!(
            "the content moved during the last allowed round{}: its approvals are void",
            list(moved)
        );
        Failure::new(Code::SourceMoved, message)
    };
    let failure = close::of_all_rounds(state, run, failure);
    Some(fail(failure.next(run.again())))
}

/// A round that is void, and that no other one follows.
fn void(state: &State, run: &RunSpec, failure: Failure, found: Option<Failure>) -> Failure {
    match found {
        Some(found) if found.code == failure.code => Failure {
            message: failure.message,
            ..found
        },
        Some(found) => beside(failure, found),
        None => close::of_all_rounds(state, run, failure),
    }
}

/// A void round that no other one follows, since more than the content moved.
fn touched(round: RoundNumber, moved: &[RepoPath], found: Failure) -> Failure {
    if found.code == Code::BaseMoved {
        return found;
    }
    let message = format!("the content moved during round {round}{}", list(moved));
    beside(Failure::new(Code::SourceMoved, message), found)
}

/// What follows in a round.
pub(super) fn stage(state: &State, number: RoundNumber, stage: &Stage) -> Option<Event> {
    match stage {
        Stage::Opened => {
            let effect = Effect::Pin {
                round: number,
                work: None,
            };
            Some(request(state, effect))
        }
        // They wait for their effect.
        Stage::Pinning
        | Stage::Gathering { .. }
        | Stage::Measuring { .. }
        | Stage::Promoting { .. } => None,
        Stage::Pinned { result } => pinned(state, number, result),
        Stage::Gathered { result, .. } => gathered(state, number, result),
        Stage::Reviewing { review } => reviewing(state, number, review),
        Stage::Measured {
            review,
            point,
            result,
        } => match result {
            Done::Ok(measured) => judge(state, number, review, *point, measured),
            Done::Err(failure) => Some(unmeasured(state, number, failure)),
        },
        Stage::Promoted { result, .. } => Some(promoted(number, result)),
    }
}

/// A measurement that failed. Where the source moved to something that no snapshot can hold, the
/// round is as void as after any other move, and the next one looks again; what is not known ends
/// the run. On the last round the failure itself says what moved.
fn unmeasured(state: &State, round: RoundNumber, failure: &Failure) -> Event {
    let is_last = round.0 >= state.rounds_allowed();
    if failure.code.exit() != Exit::Stale || is_last {
        return close::unable(state, failure);
    }
    let result = RoundResult::Stale {
        moved: Vec::new(),
        base_moved: failure.code == Code::BaseMoved,
        tripped: Vec::new(),
    };
    Event::RoundClosed { round, result }
}

fn pinned(state: &State, number: RoundNumber, result: &Done<Pin>) -> Option<Event> {
    let pin = match result {
        Done::Ok(pin) => pin,
        Done::Err(failure) => return Some(close::unable(state, failure)),
    };
    if let Some(failure) = moved::found(state) {
        return Some(fail(failure));
    }
    let run = state.run.as_ref()?;
    if pin.is_empty() {
        return Some(fail(empty(run, number, pin)));
    }
    if let Some(failure) = close::refused_again(state, run, number, pin) {
        return Some(fail(failure));
    }
    let receipt_seed = state
        .stamp?
        .derive_hex(&format!("receipts of round {number}"));
    Some(request(
        state,
        Effect::MakeEvidence {
            round: number,
            pin: pin.clone(),
            receipt_seed,
            since: state.traced(number, pin),
        },
    ))
}

fn empty(run: &RunSpec, number: RoundNumber, pin: &Pin) -> Failure {
    let base = match &run.base {
        BaseSpec::MergeBase { given, .. } => format!("{given} ({})", pin.identity.base),
        BaseSpec::StartHead { head } => format!("HEAD ({head})"),
    };
    let Identity {
        base: start, head, ..
    } = &pin.identity;
    let range = format!("{start}..{head}");
    let in_source = ["git", "-C", &run.source_root];
    // On the base itself there is nothing between: the branches say where the work is.
    let asked: &[&str] = if start == head {
        &["branch", "--all", "--verbose"]
    } else {
        &["log", "--oneline", &range]
    };
    let look = in_source.iter().chain(asked).copied();
    if number.0 == 1 {
        let message = format!("nothing differs from {base}: there is nothing to review");
        Failure::new(Code::EmptyChangeSet, message).next(look)
    } else {
        let message = format!("nothing differs from {base} any more: nothing is left to review");
        Failure::new(Code::ChangeSetBecameEmpty, message).next(look)
    }
}

fn gathered(state: &State, number: RoundNumber, result: &Done<Arc<Evidence>>) -> Option<Event> {
    let evidence = match result {
        Done::Ok(evidence) => evidence,
        Done::Err(failure) => return Some(close::unable(state, failure)),
    };
    let run = state.run.as_ref()?;
    if let Some(failure) = unshown(run, evidence).or_else(|| cut_for_remote(run, evidence)) {
        return Some(fail(failure));
    }
    Some(Event::ReviewOpened { round: number })
}

/// Changed paths whose bytes nobody is shown end the run, unless the base's policy allows them.
fn unshown(run: &RunSpec, evidence: &Evidence) -> Option<Failure> {
    let barred: Vec<String> = evidence
        .unreviewed()
        .filter(|(file, kind)| {
            !run.policy.allow_unreviewed.iter().any(|allowed| {
                allowed.kind == *kind
                    && Glob::parse(&allowed.paths)
                        .is_ok_and(|glob| glob.matches(file.path.as_bytes()))
            })
        })
        .map(|(file, kind)| format!("{} ({})", file.path, kind.as_str()))
        .collect();
    if barred.is_empty() {
        return None;
    }
    let message = format!(
        "{} changed file(s) cannot be shown to reviewers: {}; policy.allow-unreviewed at the base may allow a kind and a path",
        barred.len(),
        barred.join(", ")
    );
    Some(Failure::new(Code::Unreviewed, message))
}

/// A reviewer that sees nothing but the diff must see all of it (T-025, row M-091).
fn cut_for_remote(run: &RunSpec, evidence: &Evidence) -> Option<Failure> {
    let remote = run.panel.iter().find(|slot| slot.has_remote_agent())?;
    if !evidence.is_cut() {
        return None;
    }
    let message = format!(
        "the diff is over review.diff-cap ({} bytes) and slot {} would judge by the diff alone",
        run.review.diff_cap, remote.name
    );
    Some(Failure::new(Code::RemoteDiffCut, message))
}

fn reviewing(state: &State, number: RoundNumber, review: &Review) -> Option<Event> {
    if let Some(event) = slot::next(state, number, review) {
        return Some(event);
    }
    // Every report is sealed when every slot is settled.
    let mut slots = review.slots.values();
    let is_gone = state.voided.as_ref().is_some_and(Voided::is_gone);
    if slots.all(|slot| slot.settlement().is_some()) && !is_gone {
        return Some(measure(state, number, review, MeasurePoint::Sealed));
    }
    // What was handed over before is judged first: claims never vanish.
    if review.slots.values().any(SlotReview::is_at_work) {
        return None;
    }
    if let Some(voided) = &state.voided {
        return Some(voided.closes(number));
    }
    let mut held_up = review.slots.values().filter_map(SlotReview::held_up);
    held_up.next().map(|failure| close::unable(state, failure))
}

fn measure(state: &State, round: RoundNumber, review: &Review, point: MeasurePoint) -> Event {
    request(
        state,
        Effect::Measure {
            round,
            point,
            pinned: review.pin.clone(),
        },
    )
}

/// The round's result, from what was measured and how the slots stand. When slots end
/// differently: stale first, then NOT PASS, then no verdict (design, section 2).
fn judge(
    state: &State,
    round: RoundNumber,
    review: &Review,
    point: MeasurePoint,
    measured: &Remeasured,
) -> Option<Event> {
    let run = state.run.as_ref()?;
    let mut drift = measured.drift_from(&review.pin);
    let unknown = measured.named(&review.pin, &drift.trips);
    let voided = state.voided.clone().map(|voided| {
        voided.and(Voided {
            unknown,
            ..Voided::default()
        })
    });
    if let Some(voided) = &voided {
        drift.trips = voided.trips();
    }
    let closed = |result| Some(Event::RoundClosed { round, result });
    if drift.is_stale() {
        return closed(RoundResult::Stale {
            moved: measured.moved_paths.clone(),
            base_moved: drift.base_moved,
            tripped: drift.trips,
        });
    }
    let says_no = |settled: &Settlement| matches!(settled, Settlement::NotPassed { .. });
    let settlements = || review.slots.values().filter_map(|slot| slot.settlement());
    let stands = || state.findings.iter().any(State::stands);
    if settlements().any(says_no) || state.is_barred(&review.pin, None).is_some() || stands() {
        return closed(RoundResult::NotPassed {
            tripped: drift.trips,
        });
    }
    if let Some(reason) = missing_verdicts(state, run, review) {
        return closed(RoundResult::Inconclusive { reason });
    }
    if let Some(voided) = voided {
        return Some(voided.closes(round));
    }
    if !drift.trips.is_empty() {
        let what = named(&measured.named(&review.pin, &drift.trips));
        let reason = format!("{what} moved since the round was pinned: its approvals are void");
        return closed(RoundResult::Inconclusive { reason });
    }
    Some(match point {
        MeasurePoint::Sealed | MeasurePoint::AfterWork => {
            measure(state, round, review, MeasurePoint::BeforePromotion)
        }
        MeasurePoint::BeforePromotion => request(state, Effect::Promote { round }),
    })
}

/// Why too many slots have no verdict, where that is so (scenario V21: shown as N of M).
///
/// A quorum forgives a slot that says nothing, and not one that said NOT PASS before and is not there to
/// say whether its findings are mended: the creator's word alone is none.
fn missing_verdicts(state: &State, run: &RunSpec, review: &Review) -> Option<String> {
    let mut missing = Vec::new();
    let (mut passed, mut readers_passed, mut needed_missing) = (0_u32, 0_u32, false);
    for slot in &run.panel {
        match review
            .slots
            .get(&slot.name)
            .and_then(|slot| slot.settlement())
        {
            Some(Settlement::Passed { .. }) => {
                passed += 1;
                readers_passed += u32::from(slot.is_reader());
            }
            Some(Settlement::NoVerdict { reason }) => {
                needed_missing |= run.policy.require.contains(&slot.name);
                let mut told = format!("{}: {reason}", slot.name);
                if let Some(finding) = state.unconfirmed(&slot.name) {
                    needed_missing = true;
                    let unsaid = format!(", and nobody else can say that {} is mended", finding.id);
                    told.push_str(&unsaid);
                } else if state.refuses(&slot.name) {
                    needed_missing = true;
                    told.push_str(", and its last word was NOT PASS");
                }
                missing.push(told);
            }
            Some(Settlement::NotPassed { .. }) | None => missing.push(slot.name.to_string()),
        }
    }
    let enough = match run.review.quorum {
        Quorum::All => missing.is_empty(),
        Quorum::AtLeast(least) => passed >= least.max(1) && !needed_missing,
    };
    // A panel with readers is not passed by `checks` alone, whatever the quorum.
    if enough && (readers_passed > 0 || run.readers() == 0) {
        return None;
    }
    Some(format!(
        "{passed} of {} slots gave a verdict; without one: {}",
        run.panel.len(),
        missing.join("; ")
    ))
}

fn promoted(round: RoundNumber, result: &Done<Promotion>) -> Event {
    match result {
        Done::Ok(_) => Event::RoundClosed {
            round,
            result: RoundResult::Passed,
        },
        Done::Err(failure) => fail(failure.clone()),
    }
}

/// Up to five paths, for one line, where they are known.
fn list(paths: &[RepoPath]) -> String {
    if paths.is_empty() {
        return String::new();
    }
    let mut names: Vec<String> = paths.iter().take(5).map(ToString::to_string).collect();
    if paths.len() > 5 {
        names.push(format!("and {} more", paths.len() - 5));
    }
    format!(" ({})", names.join(", "))
}
