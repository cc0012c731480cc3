//! What a run's events say, in the shape that readers ask for: people, the index, the gate.
//!
//! The engine's state decides; this only tells. It keeps what the state may forget.

mod refused;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::agent::Agent;
use crate::domain::delegation::{DispatchOutcome, JobRequest, job_of};
use crate::domain::effect::{Done, Effect, MeasurePoint, Outcome, Promotion};
use crate::domain::end::End;
use crate::domain::event::{Event, RoundResult, Settlement, StopCause};
use crate::domain::evidence::Evidence;
use crate::domain::failure::{Failure, NextCommand};
use crate::domain::finding::{Disposition, Finding};
use crate::domain::id::{EffectId, FindingId, JobId, MessageId, RoundNumber};
use crate::domain::identity::{Pin, Remeasured};
use crate::domain::job::{Job, JobOutcome, Role};
use crate::domain::oid::Oid;
use crate::domain::path::RepoPath;
use crate::domain::restoring::{LeftByWork, Restoring};
use crate::domain::run_spec::RunSpec;
use crate::domain::slot::SlotName;
use crate::domain::time::{Stamp, Timestamp};
use crate::domain::work::Work;

/// A run, as far as its events tell.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// What it is bound to; `None` before its first event.
    pub spec: Option<Box<RunSpec>>,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When the newest input was taken.
    pub at: Option<Timestamp>,
    /// Its rounds, in order.
    pub rounds: Vec<Round>,
    /// Its jobs that are no reviews: they run between rounds, and carry the number of the next.
    pub works: Vec<JobRecord>,
    /// The step of work that opened last.
    pub work: Option<Work>,
    /// What steps of work threw away or left elsewhere.
    pub left_by_work: Vec<LeftByWork>,
    /// The command that prints what lay there before a step that took away what earlier jobs had written.
    of_own: Option<NextCommand>,
    /// What jobs threw away that were a run of their own.
    pub lost_by_jobs: Vec<Restoring>,
    /// What is to be known of steps of work that gave no answer.
    pub warnings: Vec<(Work, &'static str)>,
    /// Every finding.
    pub findings: Vec<Finding>,
    /// What reviews of the round under way settled, in which job, and how it stood before: void with the round.
    settled: Vec<(FindingId, JobId, Disposition)>,
    /// The words on findings, in their order: each with its job, and whether that was a review.
    words: Vec<(FindingId, JobId, bool)>,
    /// The content that each job was asked on.
    contents: BTreeMap<JobId, Oid>,
    /// The content that the step of work under way is asked on.
    of_step: Option<Oid>,
    /// Whether the newest measurement of the round under way found that something was touched that no job may
    /// touch, or there is none.
    touched: bool,
    /// Paths whose content moved during the step of work that was measured last.
    pub moved_by_work: Vec<RepoPath>,
    /// What was published.
    pub promotion: Option<Promotion>,
    /// What could not be given back at the end.
    pub left: Vec<String>,
    /// How it will end, once that is known.
    pub closing: Option<End>,
    /// Why it is put aside, while it is.
    pub suspended: Option<Failure>,
    /// Until when it is parked, where that is known.
    pub parked_until: Option<Timestamp>,
    /// Whether it is on its way to be put aside or to end, and ends what is under way.
    pub is_winding_up: bool,
    /// How it ended; `None` while it goes on, is put aside, or when its engine died.
    pub end: Option<End>,
    /// Effects without an outcome.
    pub open: BTreeMap<EffectId, Effect>,
    /// Who the delegated jobs were given to.
    pub delegates: BTreeMap<JobId, Agent>,
    /// The dispatches of delegated jobs that ended, each with its job where that is known.
    pub delegated: Vec<(Option<JobId>, Box<DispatchOutcome>)>,
}

/// A round.
#[derive(Debug, Clone)]
pub struct Round {
    /// Its number.
    pub number: RoundNumber,
    /// What is under review, once it was measured.
    pub pin: Option<Pin>,
    /// What the slots are shown, once it was made.
    pub evidence: Option<Box<Evidence>>,
    /// Its jobs, in the order of their dispatch.
    pub jobs: Vec<JobRecord>,
    /// How each slot stands, once it will not be asked again.
    pub slots: BTreeMap<SlotName, Settlement>,
    /// Its result, once it closed.
    pub result: Option<RoundResult>,
    /// When it closed.
    pub closed_at: Option<Timestamp>,
}

/// A job with what came back.
#[derive(Debug, Clone)]
pub struct JobRecord {
    /// The job.
    pub job: Job,
    /// When it was requested.
    pub requested_at: Option<Timestamp>,
    /// What came back; `None` while it runs.
    pub outcome: Option<Box<JobOutcome>>,
}

/// Whether a run goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Its engine is alive.
    Running,
    /// It was interrupted, or its engine died before the run ended (scenario H09).
    Interrupted,
    /// It ended.
    Ended,
}

impl RunState {
    /// The state of a run whose engine is alive or not.
    #[must_use]
    pub fn of(summary: &Summary, driven: bool) -> Self {
        match (&summary.end, driven) {
            (Some(_), _) => Self::Ended,
            (None, true) => Self::Running,
            (None, false) => Self::Interrupted,
        }
    }
    /// The word for people and programs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Ended => "ended",
        }
    }
}

impl Summary {
    /// The summary of these events, each with its time.
    #[must_use]
    pub fn of<'a>(events: impl IntoIterator<Item = (Timestamp, &'a Event)>) -> Self {
        let mut summary = Self::default();
        for (at, event) in events {
            summary.add(at, event);
        }
        summary
    }
    /// Takes one event in.
    pub fn add(&mut self, at: Timestamp, event: &Event) {
        self.at = Some(at);
        match event {
            Event::RunStarted { spec, stamp, .. } => self.started(at, stamp, spec),
            Event::RunResumed { .. } => self.resumed(),
            Event::JobRequested {
                stamp,
                message,
                request,
                ..
            } => self.asked(stamp, *message, request),
            // That somebody asked shows in the end; a retry shows as one more job. Delegated
            // jobs are told by the engine's state, but for who does them and what they cost.
            Event::JobClosed { .. }
            | Event::JobSilent { .. }
            | Event::JobHeard { .. }
            | Event::CostUntold { .. }
            | Event::SlotLimited { .. }
            | Event::WorkLimited { .. }
            | Event::ReviewOpened { .. }
            | Event::WorkRetried { .. }
            | Event::SlotRetried { .. } => {}
            Event::StopRequested { cause, .. } => self.stop_requested(*cause),
            Event::RunParking { .. } => self.is_winding_up = true,
            Event::WaitEnded { effect, .. } => drop(self.open.remove(effect)),
            Event::WorkOpened { work } => self.work = Some(work.clone()),
            Event::WorkClosed { reply, .. } => self.work_closed(reply.is_some()),
            Event::RoundOpened { round } => {
                self.touched = true;
                self.rounds.push(Round::new(*round));
            }
            Event::EffectRequested { id, effect } => self.requested(at, *id, effect),
            Event::EffectDone {
                effect, outcome, ..
            } => {
                let requested = self.open.remove(effect);
                self.done(requested.as_ref(), outcome);
            }
            Event::FindingRaised { finding } => self.findings.push((**finding).clone()),
            Event::FindingDisposed {
                finding,
                disposition,
                job,
                ..
            } => {
                self.disposed(*finding, *disposition, *job);
            }
            Event::SlotSettled {
                round,
                slot,
                settlement,
            } => {
                if let Some(round) = self.round_mut(*round) {
                    round.slots.insert(slot.clone(), settlement.clone());
                }
            }
            Event::RoundClosed { round, result } => {
                if let Some(round) = self.round_mut(*round) {
                    round.result = Some(result.clone());
                    round.closed_at = Some(at);
                }
                self.round_closed(result);
            }
            Event::RunClosing { end } => {
                self.closing = Some(end.clone());
                self.is_winding_up = true;
            }
            Event::RunSuspended { failure, until } => {
                self.suspended = Some(failure.clone());
                self.parked_until = *until;
            }
            Event::RunEnded { end } => self.end = Some(end.clone()),
        }
    }

    fn work_closed(&mut self, answered: bool) {
        let work = self.work.as_ref();
        let warned = work.and_then(|work| Some((work.clone(), work.warning(answered)?)));
        self.warnings.extend(warned);
    }

    fn disposed(&mut self, finding: FindingId, disposition: Disposition, job: JobId) {
        let mut reviews = self.rounds.iter().flat_map(|round| &round.jobs);
        let of_review = reviews.any(|record| record.job.id == job);
        let Some(known) = self.findings.iter_mut().find(|known| known.id == finding) else {
            return;
        };
        if of_review && !disposition.holds() {
            self.settled.push((finding, job, known.disposition));
        }
        known.disposition = disposition;
        self.words.push((finding, job, of_review));
    }

    /// As the engine does: what passed in a void round is void, and so is what it settled.
    fn round_closed(&mut self, result: &RoundResult) {
        let settled = std::mem::take(&mut self.settled);
        if !(result.is_void() || (result.is_refused() && self.touched)) {
            return;
        }
        for (finding, job, before) in settled.into_iter().rev() {
            self.words.retain(|word| *word != (finding, job, true));
            let mut findings = self.findings.iter_mut();
            let known = findings.find(|it| it.id == finding && !it.disposition.holds());
            if let Some(known) = known {
                known.disposition = before;
            }
        }
    }

    fn stop_requested(&mut self, cause: StopCause) {
        self.is_winding_up = true;
        if cause == StopCause::Cancel {
            self.suspended = None;
            self.parked_until = None;
        }
    }

    fn resumed(&mut self) {
        self.suspended = None;
        self.parked_until = None;
        self.is_winding_up = self.closing.is_some();
        // As the engine does: what was open is not done on an old measurement.
        if self.closing.is_none() {
            self.open.retain(|_, effect| effect.outlives_its_engine());
        }
    }

    fn started(&mut self, at: Timestamp, stamp: &Stamp, spec: &RunSpec) {
        if let Some(submission) = &spec.single {
            let agent = submission.agent.clone();
            self.delegates.insert(job_of(stamp, None), agent);
        }
        self.spec = Some(Box::new(spec.clone()));
        self.started_at = Some(at);
    }

    fn asked(&mut self, stamp: &Stamp, message: MessageId, request: &JobRequest) {
        if let JobRequest::Submit { submission } = request {
            let agent = submission.agent.clone();
            self.delegates.insert(job_of(stamp, Some(message)), agent);
        }
    }

    fn requested(&mut self, at: Timestamp, id: EffectId, effect: &Effect) {
        if let Effect::RunJob { job } = effect {
            let of_round = self.round_mut(job.round).and_then(|it| it.pin.as_ref());
            let of_round = of_round.map(|pin| pin.identity.content_tree.clone());
            let asked_on = if job.role == Role::Review {
                of_round
            } else {
                self.of_step.clone()
            };
            self.contents.extend(asked_on.map(|it| (job.id, it)));
        }
        if let Effect::RunJob { job } = effect
            && let Some(jobs) = self.jobs_beside(job)
        {
            jobs.push(JobRecord {
                job: job.clone(),
                requested_at: Some(at),
                outcome: None,
            });
        }
        self.open.insert(id, effect.clone());
    }

    fn done(&mut self, requested: Option<&Effect>, outcome: &Outcome) {
        match outcome {
            Outcome::Pinned {
                result: Done::Ok(pin),
            } => self.pinned(requested, pin),
            Outcome::EvidenceMade {
                result: Done::Ok(evidence),
            } => {
                if let Some(Effect::MakeEvidence { round, .. }) = requested
                    && let Some(round) = self.round_mut(*round)
                {
                    round.evidence = Some(Box::new(evidence.clone()));
                }
            }
            Outcome::JobEnded { outcome } => {
                if let Some(Effect::RunJob { job }) = requested
                    && let Some(jobs) = self.jobs_beside(job)
                    && let Some(record) = jobs.iter_mut().find(|r| r.job.id == job.id)
                {
                    record.outcome = Some(Box::new(outcome.clone()));
                }
            }
            Outcome::Delegated { outcome } => {
                let job = match requested {
                    Some(Effect::Delegate { dispatch }) => Some(dispatch.job),
                    Some(_) | None => None,
                };
                self.delegated.push((job, Box::new(outcome.clone())));
                let lost = outcome
                    .lost
                    .as_deref()
                    .into_iter()
                    .flat_map(Restoring::all_of);
                self.lost_by_jobs.extend(lost);
            }
            Outcome::Promoted {
                result: Done::Ok(promotion),
            } => self.promotion = Some(promotion.clone()),
            Outcome::Released { left, .. } => self.left.clone_from(left),
            // What failed, and what a measurement says, shows in the round's result.
            Outcome::Pinned {
                result: Done::Err(_),
            }
            | Outcome::EvidenceMade {
                result: Done::Err(_),
            }
            | Outcome::Promoted {
                result: Done::Err(_),
            }
            | Outcome::TreeOpened { .. }
            | Outcome::JobsAwaited
            | Outcome::TimerEnded { .. }
            | Outcome::Measured {
                result: Done::Err(_),
            } => {}
            Outcome::Measured {
                result: Done::Ok(measured),
            } => self.measured(requested, measured),
        }
    }

    fn pinned(&mut self, requested: Option<&Effect>, pin: &Pin) {
        match requested {
            Some(Effect::Pin { round, work: None }) => {
                if let Some(round) = self.round_mut(*round) {
                    round.pin = Some(pin.clone());
                }
            }
            Some(Effect::Pin { work: Some(_), .. }) => {
                self.of_step = Some(pin.identity.content_tree.clone());
            }
            Some(_) | None => {}
        }
    }

    /// What the step of work under way left. A measurement that is made again counts alone.
    fn measured(&mut self, requested: Option<&Effect>, measured: &Remeasured) {
        let Some(Effect::Measure {
            round,
            point,
            pinned,
        }) = requested
        else {
            return;
        };
        if *point != MeasurePoint::AfterWork {
            self.touched = !measured.drift_from(pinned).trips.is_empty();
            return;
        }
        self.moved_by_work.clone_from(&measured.moved_paths);
        let (Some(spec), Some(work)) = (&self.spec, &self.work) else {
            return;
        };
        let of_step = |left: &LeftByWork| {
            left.round == *round && left.role == work.role && left.slot == work.slot
        };
        self.left_by_work.retain(|left| !of_step(left));
        if let Some(command) = measured.prints_own(pinned) {
            self.of_own = Some(command);
        }
        let all = Restoring::all(measured, &spec.source_root);
        self.left_by_work
            .extend(all.into_iter().map(|restoring| LeftByWork {
                round: *round,
                role: work.role,
                slot: work.slot.clone(),
                restoring,
                gone: false,
            }));
    }

    /// The newest round.
    #[must_use]
    pub fn last_round(&self) -> Option<&Round> {
        self.rounds.last()
    }
    /// The jobs that are running, as far as the events tell.
    pub fn running(&self) -> impl Iterator<Item = &JobRecord> {
        self.jobs().filter(|record| record.outcome.is_none())
    }
    /// Every job of the run itself: reviews by round, then the others.
    pub fn jobs(&self) -> impl Iterator<Item = &JobRecord> {
        let reviews = self.rounds.iter().flat_map(|round| &round.jobs);
        reviews.chain(&self.works)
    }
    /// The finding of this number.
    #[must_use]
    pub fn finding(&self, id: FindingId) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.id == id)
    }
    /// The command that prints, from a review store, what jobs of the run took away: the store may hold the
    /// only copy of it, also when the run is over.
    #[must_use]
    pub fn kept_in_store(&self) -> Option<&NextCommand> {
        let of_work = self.left_by_work.iter().map(|left| &left.restoring);
        let mut all = of_work.chain(&self.lost_by_jobs);
        let in_store = all.find(|it| it.store.is_some() && it.commit.is_some());
        in_store
            .map(|restoring| &restoring.command)
            .or(self.of_own.as_ref())
    }
    /// The jobs among which this one is.
    fn jobs_beside(&mut self, job: &Job) -> Option<&mut Vec<JobRecord>> {
        if job.role == Role::Review {
            self.round_mut(job.round).map(|round| &mut round.jobs)
        } else {
            Some(&mut self.works)
        }
    }
    fn round_mut(&mut self, number: RoundNumber) -> Option<&mut Round> {
        self.rounds.iter_mut().find(|round| round.number == number)
    }
}

impl Round {
    fn new(number: RoundNumber) -> Self {
        Self {
            number,
            pin: None,
            evidence: None,
            jobs: Vec::new(),
            slots: BTreeMap::new(),
            result: None,
            closed_at: None,
        }
    }
}
