//! How a step of work stands, and what it is about.

use std::sync::Arc;

use crate::domain::agent::Agent;
use crate::domain::effect::{Done, ReviewTree};
use crate::domain::failure::Failure;
use crate::domain::finding::{Disposition, Finding};
use crate::domain::id::{JobId, RoundNumber};
use crate::domain::identity::{Pin, Remeasured};
use crate::domain::job::{AttemptReason, Job, Reply, Role};
use crate::domain::lowered::Lowered;
use crate::domain::run_spec::{PlanSource, RunSpec};
use crate::domain::slot::SlotName;
use crate::domain::time::Timestamp;
use crate::domain::work::Work;
use crate::engine::state::{JobRecord, Phase, State};

/// How far a step of work came: the source is pinned, a reading job gets a detached tree, the job
/// runs, the source is measured.
#[derive(Debug, Clone)]
pub enum WorkStage {
    /// Nothing was asked for yet, or a job that only reads is to be asked again after the run lay aside: it
    /// has written nothing, and reads the source as it is now.
    Opened {
        /// Why it is asked again, and on what it was before.
        again: Option<Asked>,
    },
    /// The pin was requested.
    Pinning {
        /// As before.
        again: Option<Asked>,
    },
    /// The source could not be pinned.
    Unpinned {
        /// As before.
        again: Option<Asked>,
        /// Why.
        failure: Failure,
    },
    /// The job is to be dispatched, a reading one after its tree is open.
    Ready {
        /// The source before the job, and why it is asked.
        asked: Asked,
    },
    /// The detached tree of a reading job was requested.
    Opening {
        /// The source before the job, and why it is asked.
        asked: Asked,
    },
    /// The tree is there, or not.
    Open {
        /// The source before the job, and why it is asked.
        asked: Asked,
        /// Which.
        result: Done<ReviewTree>,
    },
    /// The job runs.
    Running {
        /// The source before the job, and why it is asked.
        asked: Asked,
        /// The job.
        job: JobId,
    },
    /// The job ended and is to be judged.
    Answered {
        /// The source before the job, and why it was asked.
        asked: Asked,
        /// The job.
        job: JobId,
    },
    /// The measurement after the job was requested.
    Measuring {
        /// The source before the job, and why it was asked.
        asked: Asked,
        /// The job.
        job: JobId,
        /// Whether it is measured since the run is being ended or put aside, and not since its answer
        /// was judged.
        aside: bool,
    },
    /// The measurement is there, or not.
    Measured {
        /// The source before the job, and why it was asked.
        asked: Asked,
        /// The job.
        job: JobId,
        /// Which.
        result: Box<Done<Remeasured>>,
    },
}

/// What a step of work is asked on.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The source before the step's first job: what is lost since was lost by the step.
    pub pin: Box<Pin>,
    /// Why it is asked, this time.
    pub reason: AttemptReason,
    /// Which attempt of the step, from 1.
    pub attempt: u32,
    /// Whether a job that only reads was asked before the run lay aside: it reads the source as it is by then.
    pub outdated: bool,
    /// Whether it was asked to mend the form of its answer: once is enough.
    pub re_asked: bool,
    /// Whether it had its fresh attempt after a failure on the way.
    pub refreshed: bool,
    /// How often a limit of its provider ended it.
    pub limited: u32,
    /// When such a limit is lifted.
    pub limited_until: Option<Timestamp>,
    /// What is asked of it since the run was taken up.
    pub taken_up: TakenUp,
}

/// What is asked of a step since its run was taken up.
#[derive(Debug, Clone, Copy, Default)]
pub struct TakenUp {
    /// The first such attempt, where the run was.
    pub since: Option<u32>,
    /// Whether such an attempt was asked after others: the source was kept right before it.
    pub anew: bool,
}

impl Asked {
    /// Whether an attempt is the first one since the run was taken up, and not the step's first: people edit
    /// while it lies aside, and within one engine's life an earlier attempt is what edits the source.
    pub(in crate::engine) fn is_anew(&self, attempt: u32) -> bool {
        attempt > 1 && self.taken_up.since == Some(attempt)
    }
    /// Where its next attempt stands.
    pub(in crate::engine) fn next(self) -> WorkStage {
        if self.outdated {
            WorkStage::Opened {
                again: Some(Self {
                    outdated: false,
                    ..self
                }),
            }
        } else {
            WorkStage::Ready { asked: self }
        }
    }
    /// The first attempt of a step, on this.
    pub(in crate::engine) fn first(pin: Box<Pin>) -> Self {
        Self {
            pin,
            reason: AttemptReason::First,
            attempt: 1,
            outdated: false,
            re_asked: false,
            refreshed: false,
            limited: 0,
            limited_until: None,
            taken_up: TakenUp::default(),
        }
    }
}

/// A step of work that is over.
#[derive(Debug, Clone)]
pub struct ClosedWork {
    /// Which.
    pub work: Work,
    /// Its job.
    pub job: JobId,
    /// What it handed over; `None` where it gave no answer that counts.
    pub reply: Option<Reply>,
    /// Whether the content is another one since.
    pub changed: bool,
}

impl State {
    /// The step of work under way, with the source before it, once it is pinned.
    #[must_use]
    pub fn work(&self) -> Option<(&Work, &Pin)> {
        let Phase::Work { work, .. } = &self.phase else {
            return None;
        };
        self.asked_now().map(|asked| (work, &*asked.pin))
    }
    /// Whether a step is under way whose jobs may write.
    pub(in crate::engine) fn is_in_writing_step(&self) -> bool {
        matches!(&self.phase, Phase::Work { work, .. } if work.role.writes())
    }
    /// Whether a job of the step under way is the first that is asked since the run was taken up, after others.
    #[must_use]
    pub fn asks_anew(&self, job: &Job) -> bool {
        self.asked_now()
            .is_some_and(|asked| asked.is_anew(job.attempt))
    }
    /// Whether one was, so that the source was kept right before it.
    #[must_use]
    pub fn was_asked_anew(&self) -> bool {
        self.asked_now().is_some_and(|asked| asked.taken_up.anew)
    }
    fn asked_now(&self) -> Option<&Asked> {
        let Phase::Work { stage, .. } = &self.phase else {
            return None;
        };
        match &**stage {
            WorkStage::Ready { asked }
            | WorkStage::Opening { asked }
            | WorkStage::Open { asked, .. }
            | WorkStage::Running { asked, .. }
            | WorkStage::Answered { asked, .. }
            | WorkStage::Measuring { asked, .. }
            | WorkStage::Measured { asked, .. } => Some(asked),
            WorkStage::Opened { .. } | WorkStage::Pinning { .. } | WorkStage::Unpinned { .. } => {
                None
            }
        }
    }
    /// The run's newest job, of whatever role: the next one's id sorts behind it.
    pub(in crate::engine) fn newest_job(&self) -> Option<JobId> {
        self.jobs.last_key_value().map(|(id, _)| *id)
    }
    /// The newest job of the step of work under way.
    pub(in crate::engine) fn newest_of_step(&self) -> Option<JobId> {
        let Phase::Work { work, .. } = &self.phase else {
            return None;
        };
        let jobs = self.attempts(work.role, &work.slot, work.round());
        let mut jobs = jobs.filter(|record| record.job.rank == work.rank);
        jobs.next_back().map(|record| record.job.id)
    }
    /// The jobs that were asked the same for the same round, oldest first.
    pub(in crate::engine) fn attempts(
        &self,
        role: Role,
        slot: &SlotName,
        round: RoundNumber,
    ) -> impl DoubleEndedIterator<Item = &JobRecord> {
        let jobs = self.jobs.values();
        jobs.filter(move |JobRecord { job, .. }| {
            job.role == role && job.slot == *slot && job.round == round
        })
    }
    /// What the creator objects to the plan, where the plan is refined by that.
    #[must_use]
    pub fn objections(&self, work: &Work) -> &[String] {
        if work.after.is_some() {
            return &[];
        }
        let challenge = self
            .works
            .iter()
            .rev()
            .find_map(|closed| match &closed.reply {
                Some(Reply::Challenge { objections }) => Some(objections),
                Some(Reply::Text | Reply::Answers { .. } | Reply::Rulings { .. }) | None => None,
            });
        challenge.map_or(&[], Vec::as_slice)
    }
    /// Who does a job.
    #[must_use]
    pub fn agent_of(&self, job: &Job) -> Option<&Agent> {
        self.run.as_ref()?.agent_of(job)
    }
    /// The command that shows whether an agent has a login, where these jobs' last one had none.
    pub(in crate::engine) fn login<'a>(
        &self,
        mut jobs: impl DoubleEndedIterator<Item = &'a JobRecord>,
    ) -> Option<[String; 4]> {
        let JobRecord { job, outcome } = jobs.next_back()?;
        let is_refused = outcome.as_ref()?.ended.is_refused();
        let agent = self.agent_of(job).filter(|_| is_refused)?;
        Some(doctor(&agent.name))
    }
    /// Whether there is a plan in hand: a file's, or the planner's.
    #[must_use]
    pub fn has_plan(&self) -> bool {
        let from_file = |run: &Arc<RunSpec>| matches!(run.plan, PlanSource::File { .. });
        self.plan.is_some() || self.run.as_ref().is_some_and(from_file)
    }
    /// Which of its slot's agents raised a finding.
    #[must_use]
    pub fn raised_by_rank(&self, finding: &Finding) -> Option<usize> {
        let record = self.jobs.get(&finding.job)?;
        Some(record.job.rank)
    }
    /// Whether a finding blocks and nobody rules on it: who raised it takes nothing back when asked, so
    /// that no word of the creator's against it helps.
    #[must_use]
    pub fn is_unruled(&self, finding: &Finding) -> bool {
        let panel = self.run.as_ref().map_or(&[][..], |run| &run.panel);
        let slot = panel.iter().find(|slot| slot.name == finding.slot);
        let by = slot.and_then(|slot| slot.agent_at(self.raised_by_rank(finding)?));
        finding.blocking && !by.is_some_and(Agent::can_rule)
    }
    /// The findings that a step of work is asked about: a reviewer about its own, which are those of
    /// the very agent that is asked (row M-010).
    #[must_use]
    pub fn asked_about(&self, role: Role, slot: &SlotName, rank: usize) -> Vec<Finding> {
        let fits = |finding: &&Finding| match role {
            // What was dismissed before is settled.
            Role::Correct => {
                let settled = matches!(finding.lowered, Some(Lowered::Dismissed { .. }));
                // What was left for later blocks as before.
                let open = match finding.disposition {
                    Disposition::Open => true,
                    Disposition::Deferred => finding.blocking,
                    Disposition::Fixed
                    | Disposition::Refuted
                    | Disposition::Withdrawn
                    | Disposition::Upheld
                    | Disposition::Sustained
                    | Disposition::Overruled => false,
                };
                open && !settled
            }
            // Nobody disputes what does not block.
            Role::Readjudicate => {
                let refuted = finding.disposition == Disposition::Refuted;
                let own = finding.slot == *slot && self.raised_by_rank(finding) == Some(rank);
                finding.blocking && refuted && own
            }
            Role::Arbitrate => finding.blocking && finding.disposition == Disposition::Upheld,
            Role::Comply => finding.blocking && finding.disposition == Disposition::Sustained,
            // The planner refines by what stands.
            Role::Refine => finding.blocking && finding.disposition == Disposition::Open,
            Role::Plan | Role::Challenge | Role::Implement | Role::Review => false,
        };
        self.findings.iter().filter(fits).cloned().collect()
    }
}

/// The command that asks an agent one question.
pub(in crate::engine) fn doctor(agent: &str) -> [String; 4] {
    ["run-loop", "doctor", "--agent", agent].map(str::to_owned)
}
