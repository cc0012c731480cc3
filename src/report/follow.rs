//! Follows a run's events and tells each as a public event, with what it is about.

mod kind;

use crate::domain::effect::{Done, Effect, Outcome};
use crate::domain::event::{Event, Settlement, StopCause};
use crate::domain::id::{JobId, LoopId, RoundNumber};
use crate::domain::job::AttemptReason;
use crate::domain::restoring::Restoring;
use crate::domain::slot::SlotName;
use crate::domain::summary::Summary;
use crate::domain::time::Timestamp;
use crate::domain::verdict::Verdict;
use crate::report::public::{Kind, PublicEvent, PublicFinding, VERSION};
use crate::report::time;

/// Follows one run from its first event on.
#[derive(Debug, Clone)]
pub struct Follower {
    run: LoopId,
    seq: u64,
    summary: Summary,
}

/// What an event is about.
#[derive(Debug, Clone, Default)]
struct About {
    round: Option<RoundNumber>,
    slot: Option<SlotName>,
    agent: Option<String>,
}

impl Follower {
    /// A follower that has seen nothing of the run yet.
    #[must_use]
    pub fn new(run: LoopId) -> Self {
        Self {
            run,
            seq: 0,
            summary: Summary::default(),
        }
    }
    /// What the run's events said so far.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }
    /// Takes the run's next event, and tells it.
    pub fn next(&mut self, at: Timestamp, event: &Event) -> PublicEvent {
        self.seq = self.seq.saturating_add(1);
        let (about, kind) = self.tell(event);
        self.summary.add(at, event);
        // After: the event that brings a round's pin is about its tree already.
        let tree = about.round.and_then(|number| {
            let round = self.summary.rounds.iter().find(|r| r.number == number)?;
            Some(round.pin.as_ref()?.identity.tree.clone())
        });
        PublicEvent {
            version: VERSION,
            run: self.run,
            seq: self.seq,
            at: time::moment(at),
            round: about.round.map(|round| round.0),
            slot: about.slot,
            agent: about.agent,
            tree,
            event: kind,
        }
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each kind of event")]
    fn tell(&self, event: &Event) -> (About, Kind) {
        match event {
            Event::RunStarted { spec, .. } => (About::default(), kind::started(spec)),
            Event::RunResumed { .. } => (About::default(), Kind::RunResumed),
            Event::StopRequested { cause, .. } => {
                let cause = match cause {
                    StopCause::Interrupt => "interrupt",
                    StopCause::Terminate => "terminate",
                    StopCause::Cancel => "cancel",
                };
                (About::default(), Kind::StopRequested { cause })
            }
            Event::JobRequested { request, .. } => (About::default(), kind::asked(request)),
            Event::JobSilent { job, attempt, .. } => (
                About::default(),
                Kind::JobStalled {
                    job: *job,
                    attempt: *attempt,
                    stalled: "idle",
                },
            ),
            Event::JobHeard { job, attempt, .. } => (
                About::default(),
                Kind::JobResumed {
                    job: *job,
                    attempt: *attempt,
                },
            ),
            Event::WaitEnded { again, .. } => {
                let (in_time, again, stopped) = (!again, *again, false);
                let ended = Kind::WaitEnded {
                    in_time,
                    again,
                    stopped,
                };
                (About::default(), ended)
            }
            Event::JobClosed { job, closed } => (
                About::default(),
                Kind::JobClosed {
                    job: *job,
                    status: closed.as_str(),
                    detail: closed.detail().to_owned(),
                },
            ),
            Event::EffectDone {
                effect, outcome, ..
            } => {
                let requested = self.summary.open.get(effect);
                let about = requested.map_or_else(About::default, |e| self.about_effect(e));
                let of = kind::Told {
                    root: self.root(),
                    stops: self.summary.is_winding_up,
                    fewer_rounds: self.fewer_rounds(outcome),
                };
                (about, kind::done(requested, outcome, of))
            }
            Event::RoundOpened { round } => (About::round(*round), Kind::RoundOpened),
            Event::ReviewOpened { round } => (About::round(*round), Kind::ReviewOpened),
            Event::EffectRequested { effect, .. } => {
                (self.about_effect(effect), kind::requested(effect))
            }
            Event::SlotRetried {
                round,
                slot,
                rank,
                reason,
                ending,
            } => {
                let reason = match (self.is_asked_again(*round, slot, *rank), reason) {
                    (_, AttemptReason::ReAsk { .. }) => "re_ask",
                    (_, AttemptReason::Fresh) => "fresh",
                    (true, AttemptReason::First) => "again",
                    (false, AttemptReason::First) => "fallback",
                };
                let ending = ending.clone();
                let about = self.about_slot(*round, slot, Some(*rank));
                (about, Kind::SlotRetried { reason, ending })
            }
            Event::FindingRaised { finding } => (
                self.about_job(finding.round, &finding.slot, finding.job),
                Kind::FindingRaised {
                    finding: PublicFinding::from(&**finding),
                },
            ),
            Event::WorkOpened { work } => {
                let about = About {
                    slot: Some(work.slot.clone()),
                    ..About::default()
                };
                (
                    about,
                    Kind::WorkOpened {
                        role: work.role.as_str(),
                    },
                )
            }
            Event::WorkRetried { reason, ending } => {
                let reason = match reason {
                    AttemptReason::ReAsk { .. } => "re_ask",
                    AttemptReason::Fresh | AttemptReason::First => "again",
                };
                let ending = ending.clone();
                (About::default(), Kind::WorkRetried { reason, ending })
            }
            Event::FindingDisposed {
                finding,
                disposition,
                note,
                ..
            } => (
                About::default(),
                Kind::FindingDisposed {
                    finding: *finding,
                    disposition: *disposition,
                    note: note.clone(),
                },
            ),
            Event::WorkClosed {
                reply,
                changed,
                lost,
                elsewhere,
                ..
            } => (
                About::default(),
                Kind::WorkClosed {
                    answered: reply.is_some(),
                    warning: (self.summary.work.as_ref())
                        .and_then(|work| work.warning(reply.is_some())),
                    changed: *changed,
                    moved: if *changed {
                        self.summary.moved_by_work.clone()
                    } else {
                        Vec::new()
                    },
                    lost: lost.clone(),
                    elsewhere: (elsewhere.iter())
                        .map(|moved| Restoring::elsewhere(moved, self.root()))
                        .collect(),
                },
            ),
            Event::SlotSettled {
                round,
                slot,
                settlement,
            } => self.settled(*round, slot, settlement),
            Event::RoundClosed { round, result } => (About::round(*round), kind::closed(result)),
            Event::RunClosing { end } => (
                About::default(),
                Kind::RunClosing {
                    exit: end.exit().code(),
                },
            ),
            Event::CostUntold { job } => (About::default(), Kind::CostUntold { job: *job }),
            Event::SlotLimited {
                round,
                slot,
                until,
                told,
                ending,
                ..
            } => {
                let limited = kind::limited(None, *until, *told, ending);
                (self.about_slot(*round, slot, None), limited)
            }
            Event::WorkLimited {
                job,
                until,
                told,
                ending,
            } => {
                let limited = kind::limited(*job, *until, *told, ending);
                (About::default(), limited)
            }
            Event::RunParking { failure, until } => (
                About::default(),
                Kind::RunParking {
                    failure: failure.clone(),
                    until: until.map(time::moment),
                },
            ),
            Event::RunSuspended { failure, until } => (
                About::default(),
                Kind::RunSuspended {
                    failure: failure.clone(),
                    until: until.map(time::moment),
                },
            ),
            Event::RunEnded { end } => (About::default(), kind::ended(end)),
        }
    }

    /// How many rounds the run may have with this evidence, where these are fewer than at most.
    fn fewer_rounds(&self, outcome: &Outcome) -> Option<u32> {
        let Outcome::EvidenceMade {
            result: Done::Ok(evidence),
        } = outcome
        else {
            return None;
        };
        let spec = self.summary.spec.as_deref()?;
        // Without one no round is used up by findings.
        spec.creator.as_ref()?;
        let review = &spec.review;
        let before = self.summary.rounds.iter();
        let before = before.filter_map(|round| round.evidence.as_deref());
        let rounds = review.rounds(before.chain([evidence]));
        (rounds < review.max_rounds).then_some(rounds)
    }
    fn root(&self) -> &str {
        let spec = self.summary.spec.as_deref();
        spec.map_or(".", |spec| spec.source_root.as_str())
    }

    fn settled(
        &self,
        round: RoundNumber,
        slot: &SlotName,
        settlement: &Settlement,
    ) -> (About, Kind) {
        let (about, verdict, by, job, reason) = match settlement {
            Settlement::Passed { by, job } => (
                self.about_job(round, slot, *job),
                Some(Verdict::Pass),
                Some(*by),
                Some(*job),
                None,
            ),
            Settlement::NotPassed { job } => (
                self.about_job(round, slot, *job),
                Some(Verdict::NotPass),
                None,
                Some(*job),
                None,
            ),
            Settlement::NoVerdict { reason } => (
                self.about_slot(round, slot, None),
                None,
                None,
                None,
                Some(reason.clone()),
            ),
        };
        let kind = Kind::SlotSettled {
            verdict,
            by,
            job,
            reason,
        };
        (about, kind)
    }

    fn about_effect(&self, effect: &Effect) -> About {
        match effect {
            Effect::Pin { round, .. }
            | Effect::MakeEvidence { round, .. }
            | Effect::Measure { round, .. }
            | Effect::Promote { round } => About::round(*round),
            Effect::OpenTree { round, slot, .. } => self.about_slot(*round, slot, None),
            Effect::RunJob { job } => self.about_slot(job.round, &job.slot, Some(job.rank)),
            Effect::Delegate { .. }
            | Effect::AwaitJobs { .. }
            | Effect::Timer { .. }
            | Effect::Release => About::default(),
        }
    }
    fn about_job(&self, round: RoundNumber, slot: &SlotName, id: JobId) -> About {
        let rank = self
            .summary
            .jobs()
            .map(|record| &record.job)
            .find(|job| job.id == id)
            .map(|job| job.rank);
        self.about_slot(round, slot, rank)
    }
    /// Whether the slot's last job was for the agent of this rank.
    fn is_asked_again(&self, round: RoundNumber, slot: &SlotName, rank: usize) -> bool {
        let round = self.summary.rounds.iter().find(|r| r.number == round);
        let jobs = round.into_iter().flat_map(|round| round.jobs.iter().rev());
        let mut ranks = jobs.filter(|record| record.job.slot == *slot);
        ranks.next().is_some_and(|record| record.job.rank == rank)
    }
    /// The agent of the given rank, or the one that was asked last in the slot, or its first.
    fn about_slot(&self, round: RoundNumber, slot: &SlotName, rank: Option<usize>) -> About {
        let asked = || {
            let round = self.summary.rounds.iter().find(|r| r.number == round)?;
            let mut jobs = round.jobs.iter().rev().map(|record| &record.job);
            Some(jobs.find(|job| job.slot == *slot)?.rank)
        };
        let rank = rank.or_else(asked).unwrap_or(0);
        let spec = self.summary.spec.as_deref();
        let agent = spec.and_then(|spec| {
            let slot = spec.panel.iter().find(|known| known.name == *slot)?;
            Some(slot.agent_at(rank)?.name.clone())
        });
        About {
            round: Some(round),
            slot: Some(slot.clone()),
            agent,
        }
    }
}

impl About {
    fn round(round: RoundNumber) -> Self {
        Self {
            round: Some(round),
            ..Self::default()
        }
    }
}
