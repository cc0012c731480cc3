//! Follows a run's events and tells each as a public event, with what it is about.

use crate::domain::effect::{Done, Effect, MeasurePoint, Outcome};
use crate::domain::end::End;
use crate::domain::event::{Event, RoundResult, Settlement, StopCause};
use crate::domain::evidence::Evidence;
use crate::domain::failure::Failure;
use crate::domain::finding::Finding;
use crate::domain::id::{JobId, LoopId, RoundNumber};
use crate::domain::identity::Pin;
use crate::domain::job::{AttemptReason, Ended, Job, JobOutcome, Reading};
use crate::domain::run_spec::{BaseSpec, RunSpec};
use crate::domain::slot::SlotName;
use crate::domain::summary::Summary;
use crate::domain::time::Timestamp;
use crate::domain::verdict::Verdict;
use crate::report::public::{Kind, PanelSlot, PublicEvent, PublicFinding, UnreviewedFile, VERSION};
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

    fn tell(&self, event: &Event) -> (About, Kind) {
        match event {
            Event::RunStarted { spec, .. } => (About::default(), started(spec)),
            Event::RunResumed { .. } => (About::default(), Kind::RunResumed),
            Event::StopRequested { cause, .. } => {
                let cause = match cause {
                    StopCause::Interrupt => "interrupt",
                    StopCause::Terminate => "terminate",
                };
                (About::default(), Kind::StopRequested { cause })
            }
            Event::EffectDone {
                effect, outcome, ..
            } => {
                let requested = self.summary.open.get(effect);
                let about = requested.map_or_else(About::default, |e| self.about_effect(e));
                (about, done(requested, outcome))
            }
            Event::RoundOpened { round } => (About::round(*round), Kind::RoundOpened),
            Event::ReviewOpened { round } => (About::round(*round), Kind::ReviewOpened),
            Event::EffectRequested { effect, .. } => (self.about_effect(effect), requested(effect)),
            Event::SlotRetried {
                round,
                slot,
                rank,
                reason,
                ending,
            } => {
                let reason = match (rank, reason) {
                    (_, AttemptReason::ReAsk { .. }) => "re_ask",
                    (_, AttemptReason::Fresh) => "fresh",
                    (_, AttemptReason::First) => "fallback",
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
            Event::SlotSettled {
                round,
                slot,
                settlement,
            } => self.settled(*round, slot, settlement),
            Event::RoundClosed { round, result } => (About::round(*round), closed(result)),
            Event::RunClosing { end } => (
                About::default(),
                Kind::RunClosing {
                    exit: end.exit().code(),
                },
            ),
            Event::RunEnded { end } => (About::default(), ended(end)),
        }
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
            Effect::Pin { round }
            | Effect::MakeEvidence { round, .. }
            | Effect::Measure { round, .. }
            | Effect::Promote { round } => About::round(*round),
            Effect::OpenTree { round, slot, .. } => self.about_slot(*round, slot, None),
            Effect::RunJob { job } => self.about_slot(job.round, &job.slot, Some(job.rank)),
            Effect::Release => About::default(),
        }
    }
    fn about_job(&self, round: RoundNumber, slot: &SlotName, id: JobId) -> About {
        let jobs = self.summary.rounds.iter().flat_map(|round| &round.jobs);
        let rank = jobs
            .map(|record| &record.job)
            .find(|job| job.id == id)
            .map(|job| job.rank);
        self.about_slot(round, slot, rank)
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

fn started(spec: &RunSpec) -> Kind {
    let slots = spec.panel.iter().map(|slot| PanelSlot {
        slot: slot.name.clone(),
        agent: slot.agent.name.clone(),
        fallback: slot.fallback.iter().map(|a| a.name.clone()).collect(),
        reader: slot.is_reader(),
    });
    Kind::RunStarted {
        task: spec.task.clone(),
        source: spec.source_root.clone(),
        base_given: match &spec.base {
            BaseSpec::MergeBase { given, .. } => Some(given.clone()),
            BaseSpec::StartHead { .. } => None,
        },
        panel: slots.collect(),
        max_rounds: spec.review.max_rounds,
        engine_version: spec.engine_version.clone(),
    }
}

fn requested(effect: &Effect) -> Kind {
    let step = match effect {
        Effect::Pin { .. } => "pin",
        Effect::MakeEvidence { .. } => "evidence",
        Effect::OpenTree { .. } => "tree",
        Effect::RunJob { job } => {
            return Kind::JobStarted {
                job: job.id,
                role: job.role.as_str(),
                attempt: job.attempt,
                budget: job.budget,
            };
        }
        Effect::Measure { .. } => "measure",
        Effect::Promote { .. } => "promote",
        Effect::Release => "release",
    };
    Kind::StepStarted { step }
}

fn done(requested: Option<&Effect>, outcome: &Outcome) -> Kind {
    match outcome {
        Outcome::Pinned { result } => told("pin", result, pinned),
        Outcome::EvidenceMade { result } => told("evidence", result, evidence),
        Outcome::TreeOpened { result } => told("tree", result, |tree| Kind::TreeOpened {
            path: tree.path.clone(),
        }),
        Outcome::JobEnded { outcome } => {
            let Some(Effect::RunJob { job }) = requested else {
                return unasked("job");
            };
            job_ended(job, outcome)
        }
        Outcome::Measured { result } => {
            let Some(Effect::Measure { point, .. }) = requested else {
                return unasked("measure");
            };
            let point = match point {
                MeasurePoint::Sealed => "sealed",
                MeasurePoint::BeforePromotion => "before_promotion",
            };
            told("measure", result, |again| Kind::Measured {
                point,
                content_tree: again.pin.identity.content_tree.clone(),
                moved: again.moved_paths.clone(),
            })
        }
        Outcome::Promoted { result } => told("promote", result, |promotion| Kind::Promoted {
            manifest: promotion.manifest.clone(),
            manifest_sha256: promotion.manifest_sha256.clone(),
            files: promotion.files.clone(),
        }),
        Outcome::Released { left } => Kind::Released { left: left.clone() },
    }
}

fn told<T>(step: &'static str, result: &Done<T>, tell: impl Fn(&T) -> Kind) -> Kind {
    match result {
        Done::Ok(value) => tell(value),
        Done::Err(failure) => Kind::StepFailed {
            step,
            failure: failure.clone(),
        },
    }
}

/// An outcome of something that was not asked for; a sound journal has none.
fn unasked(step: &'static str) -> Kind {
    Kind::StepFailed {
        step,
        failure: Failure::new(
            crate::domain::code::Code::Internal,
            "an outcome came of something that was not asked for",
        ),
    }
}

fn pinned(pin: &Pin) -> Kind {
    Kind::Pinned {
        base: pin.identity.base.clone(),
        head: pin.identity.head.clone(),
        snapshot: pin.snapshot.clone(),
        content_tree: pin.identity.content_tree.clone(),
        commits: pin.commits,
        behind: pin.behind,
        dirty: pin.dirty,
        notices: pin.notices.clone(),
    }
}

fn evidence(evidence: &Evidence) -> Kind {
    let sum = |pick: fn(&crate::domain::evidence::ChangedFile) -> Option<u64>| {
        evidence.files.iter().filter_map(pick).sum()
    };
    let unreviewed = evidence.unreviewed().map(|(file, kind)| UnreviewedFile {
        path: file.path.clone(),
        why: kind.as_str(),
    });
    Kind::EvidenceMade {
        files: count(evidence.files.len()),
        added: sum(|file| file.added),
        removed: sum(|file| file.removed),
        parts: count(evidence.parts.len()),
        cut: evidence.is_cut(),
        unreviewed: unreviewed.collect(),
        diff_sha256: evidence.diff_sha256.clone(),
    }
}

fn job_ended(job: &Job, outcome: &JobOutcome) -> Kind {
    let (reading, verdict, findings, problems) = match &outcome.reading {
        Reading::Review(review) => (
            "review",
            Some(review.verdict),
            review.findings.len(),
            &[][..],
        ),
        Reading::Invalid {
            problems, claims, ..
        } => ("invalid", None, claims.len(), &problems[..]),
        Reading::Silent => ("silent", None, 0, &[][..]),
    };
    let milliseconds = outcome.ended_at.as_millis() - outcome.started_at.as_millis();
    Kind::JobEnded {
        job: job.id,
        attempt: job.attempt,
        ended: how(&outcome.ended),
        milliseconds: milliseconds.max(0),
        report_sha256: outcome.report.as_ref().map(|stored| stored.sha256.clone()),
        reading,
        // A job that we stopped has no verdict, whatever its report says.
        verdict: verdict.filter(|_| outcome.ended.is_success()),
        findings: count(findings),
        problems: problems.to_vec(),
    }
}

/// How a process ended, in words.
fn how(ended: &Ended) -> String {
    match ended {
        Ended::Exited { code } => format!("exit code {code}"),
        Ended::Signalled { signal } => format!("signal {signal}"),
        Ended::TimedOut => "stopped: its budget was spent".to_owned(),
        Ended::Stopped => "stopped: the run was interrupted".to_owned(),
        Ended::NotStarted { failure } => format!("not started: {failure}"),
        Ended::Lost => "lost: nobody saw its end".to_owned(),
    }
}

fn closed(result: &RoundResult) -> Kind {
    let none = Vec::new;
    let (result, moved, base_moved, reason) = match result {
        RoundResult::Passed => ("passed", none(), false, None),
        RoundResult::NotPassed => ("not_passed", none(), false, None),
        RoundResult::Stale {
            moved,
            base_moved,
            tripped,
        } => {
            let names: Vec<&str> = tripped.iter().map(|trip| trip.as_str()).collect();
            let reason = (!names.is_empty()).then(|| format!("also moved: {}", names.join(", ")));
            ("stale", moved.clone(), *base_moved, reason)
        }
        RoundResult::Inconclusive { reason } => {
            ("inconclusive", none(), false, Some(reason.clone()))
        }
    };
    Kind::RoundClosed {
        result,
        moved,
        base_moved,
        reason,
    }
}

fn ended(end: &End) -> Kind {
    let (readers, failure) = match end {
        End::Approved { readers } => (Some(*readers), None),
        End::Failed { failure } => (None, Some(failure.clone())),
    };
    Kind::RunEnded {
        exit: end.exit().code(),
        approved: failure.is_none(),
        readers,
        failure,
    }
}

impl From<&Finding> for PublicFinding {
    fn from(finding: &Finding) -> Self {
        let claim = &finding.claim;
        Self {
            id: finding.id.to_string(),
            number: finding.id,
            job: finding.job,
            severity: claim.severity,
            blocking: finding.blocking,
            title: claim.title.clone(),
            path: claim.path.clone(),
            line: claim.line,
            end_line: claim.end_line,
            body: claim.body.clone(),
            pre_existing: claim.pre_existing,
            disposition: finding.disposition,
        }
    }
}

fn count(n: usize) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}
