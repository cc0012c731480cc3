//! A world that answers effects from a script, the same however often and in whatever order it is
//! asked. It knows nothing of the engine's decisions.

#[path = "world/draw.rs"]
mod draw;
#[path = "world/helpers.rs"]
mod helpers;
#[path = "world/review.rs"]
mod review;
#[path = "world/script.rs"]
mod script;
#[path = "world/source.rs"]
mod source;
#[path = "world/work.rs"]
mod work;

use run_loop::domain::agent::{
    Agent, AgentKind, CommandAgent, Contract, PromptChannel, ReportChannel,
};
use run_loop::domain::code::Code;
use run_loop::domain::delegation::DispatchOutcome;
use run_loop::domain::digest::Digest;
use run_loop::domain::effect::{Done, Effect, MeasurePoint, Outcome, Promotion, ReviewTree};
use run_loop::domain::failure::Failure;
use run_loop::domain::finding::Finding;
use run_loop::domain::id::{LoopId, RoundNumber};
use run_loop::domain::isolation::Isolation;
use run_loop::domain::job::{Ended, Job, Reading, Role, Stored};
use run_loop::domain::limits::Limits;
use run_loop::domain::oid::Oid;
use run_loop::domain::path::RepoPath;
use run_loop::domain::policy::Policy;
use run_loop::domain::run_spec::{BaseSpec, PlanSource, Quorum, ReviewSpec, RunSpec};
use run_loop::domain::severity::Severity;
use run_loop::domain::slot::{Slot, SlotName};
use run_loop::domain::spent::Spent;
use run_loop::domain::time::{Stamp, Timestamp};

pub use draw::{any_worlds, late, little, worlds};
pub use helpers::{Delegating, Fate, Helper, Then};
use review::{Said, outcome};
pub use review::{answered, claim, ended_with, reviewed};
pub use script::{Answer, Arbiter, Crew, Deed, Motion, Planned, SlotScript};
use source::{evidence, measure, pin};
pub use source::{is_same_line, look};

#[derive(Debug, Clone)]
pub struct World {
    pub slots: Vec<SlotScript>,
    /// Who creates, if anybody.
    pub crew: Option<Crew>,
    pub max_rounds: u32,
    pub max_parallel: u32,
    pub quorum: Option<u32>,
    /// Per round: what is found when sealed, and before promotion.
    pub motions: Vec<(Motion, Motion)>,
    pub first_content: u8,
    pub pin_fails_in: Option<u32>,
    pub evidence_fails_in: Option<u32>,
    pub promotion_fails: bool,
    pub limits: Limits,
    /// What each job costs; `None` is not told.
    pub cost: Option<u64>,
    pub delegating: Delegating,
}

pub fn oid(content: u8) -> Oid {
    Oid::parse(&format!("{content:040x}")).unwrap()
}

pub fn stamp(n: u64) -> Stamp {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&n.to_be_bytes());
    Stamp {
        at: Timestamp::from_millis(i64::try_from(n).unwrap()),
        seed,
    }
}

fn slot_name(index: usize) -> SlotName {
    SlotName::parse(&format!("slot-{index}")).unwrap()
}

fn agent(name: &str, checks: bool) -> Agent {
    Agent {
        name: name.to_owned(),
        kind: if checks {
            AgentKind::Checks
        } else {
            AgentKind::Command(CommandAgent {
                program: format!("/{name}"),
                args: Vec::new(),
                prompt: PromptChannel::Stdin,
                report: ReportChannel::Stdout,
                env: Vec::new(),
                confine: false,
            })
        },
        remote: false,
        family: name.to_owned(),
        timeout: None,
        contract: Contract::Json,
        definition: Digest::of(name.as_bytes()),
    }
}

impl World {
    pub fn spec(&self) -> RunSpec {
        let crew = self.crew.as_ref();
        let own_work = self.reviews_own_work();
        let panel = self.slots.iter().enumerate().map(|(index, script)| Slot {
            name: if own_work && index == 0 {
                SlotName::self_review()
            } else {
                slot_name(index)
            },
            agent: agent(if own_work { "creator" } else { "own" }, script.checks),
            fallback: (0..script.fallbacks)
                .map(|_| agent("fallback", false))
                .collect(),
            instructions: Vec::new(),
        });
        RunSpec {
            loop_id: LoopId::mint(&stamp(0), "loop"),
            command: vec!["run-loop".to_owned()],
            task: None,
            source_root: "/source".to_owned(),
            control_root: "/source".to_owned(),
            common_dir: "/source/.git".to_owned(),
            base: BaseSpec::StartHead { head: oid(200) },
            creator: crew.map(|_| agent("creator", false)),
            planner: crew
                .filter(|crew| crew.planner)
                .map(|_| agent("planner", false)),
            arbiter: crew.and_then(|crew| match crew.arbiter {
                Arbiter::Nobody => None,
                Arbiter::Impartial => Some(agent("arbiter", false)),
                Arbiter::Creator => Some(agent("creator", false)),
                Arbiter::Reviewer => Some(agent("own", false)),
            }),
            review_only: crew.is_none_or(|crew| crew.review_only),
            plan: match crew.map(|crew| crew.planned) {
                None | Some(Planned::Nobody) => PlanSource::Nobody,
                Some(Planned::Planner) => PlanSource::Planner,
                Some(Planned::File) => PlanSource::File {
                    path: "plan.md".to_owned(),
                    text: "1. do it".to_owned(),
                    sha256: Digest::of(b"1. do it"),
                },
            },
            panel: panel.collect(),
            review: ReviewSpec {
                max_rounds: self.max_rounds,
                rounds_scale: false,
                fail_on: Severity::Medium,
                fail_on_at_base: None,
                quorum: self.quorum.map_or(Quorum::All, Quorum::AtLeast),
                isolation: Isolation::Worktree,
                isolation_at_base: Isolation::Worktree,
                remote_diff_only: false,
                max_parallel: self.max_parallel,
                diff_cap: 1000,
                exclude: Vec::new(),
            },
            checks: Vec::new(),
            setup: Vec::new(),
            cache: Vec::new(),
            job_timeout: 60,
            limits: self.limits.clone(),
            policy: Policy::default(),
            reports: ".agents/reports".to_owned(),
            allow_filters: Vec::new(),
            allow_in_progress: false,
            keep_snapshots: false,
            templates: Vec::new(),
            roster: Vec::new(),
            unfit: Vec::new(),
            wait_open_jobs: self.delegating.wait_open_jobs,
            single: None,
            config_sha256: Digest::of(b""),
            engine_version: "0".to_owned(),
        }
    }

    pub fn reviews_own_work(&self) -> bool {
        self.crew.as_ref().is_some_and(|crew| crew.own_work)
    }

    /// Whether uncommitted edits are gone after a job of work before this round.
    pub fn loses(&self, round: u32) -> bool {
        let loses = self.crew.as_ref().map(|crew| &crew.loses);
        loses.and_then(|loses| loses.get(round as usize - 1).copied()) == Some(true)
    }

    pub fn motion(&self, round: u32, point: MeasurePoint) -> Motion {
        if point == MeasurePoint::AfterWork {
            let motions = self.crew.as_ref().map(|crew| &crew.motions);
            let motion = motions.and_then(|motions| motions.get(round as usize - 1));
            return motion.copied().unwrap_or(Motion::Still);
        }
        let Some((sealed, before)) = self.motions.get(round as usize - 1) else {
            return Motion::Still;
        };
        match point {
            MeasurePoint::AfterWork => Motion::Still,
            MeasurePoint::Sealed => *sealed,
            MeasurePoint::BeforePromotion => *before,
        }
    }

    /// What an agent answers in a round.
    pub fn answer(&self, slot: usize, round: u32, attempt: u32) -> Answer {
        let answers = &self.slots[slot].answers;
        answers[((round - 1) * 7 + attempt - 1) as usize % answers.len()]
    }

    /// Performs an effect. `content` is what the source holds, which only this changes; `findings`
    /// is what is known so far.
    pub fn perform(&self, effect: &Effect, content: &mut u8, findings: &[Finding]) -> Outcome {
        let failed = |code| Failure::new(code, "as scripted");
        match effect {
            Effect::Pin { round, .. } => Outcome::Pinned {
                result: if self.pin_fails_in == Some(round.0) {
                    Done::Err(failed(Code::NestedRepository))
                } else {
                    Done::Ok(pin(*content, 0))
                },
            },
            Effect::MakeEvidence {
                round, pin, since, ..
            } => Outcome::EvidenceMade {
                result: if self.evidence_fails_in == Some(round.0) {
                    Done::Err(failed(Code::EvidenceFailed))
                } else {
                    Done::Ok(evidence(&pin.identity.tree, since))
                },
            },
            Effect::OpenTree { round, slot, .. } => Outcome::TreeOpened {
                result: if slot_index(slot)
                    .is_some_and(|slot| self.slots[slot].tree_fails_in == Some(round.0))
                {
                    Done::Err(failed(Code::ReviewTreeFailed))
                } else {
                    return opened(slot);
                },
            },
            Effect::RunJob { job } => self.job(job, job.attempt, content, findings),
            Effect::AwaitJobs { .. } => Outcome::JobsAwaited,
            Effect::Timer { .. } => Outcome::TimerEnded { elapsed: true },
            Effect::Delegate { .. } => delegated(Ended::Exited { code: 0 }, true),
            Effect::Measure { round, point, .. } => {
                let motion = self.motion(round.0, *point);
                let loses = *point == MeasurePoint::AfterWork && self.loses(round.0);
                // A job may have left another content.
                let now = pin(*content, 0);
                Outcome::Measured {
                    result: measure(motion, loses, now, content),
                }
            }
            Effect::Promote { .. } => Outcome::Promoted {
                result: if self.promotion_fails {
                    Done::Err(failed(Code::PromotionFailed))
                } else {
                    Done::Ok(Promotion {
                        manifest: RepoPath::from("manifest"),
                        manifest_sha256: Digest::of(b"manifest"),
                        files: Vec::new(),
                    })
                },
            },
            Effect::Release => Outcome::Released {
                left: Vec::new(),
                found: None,
            },
        }
    }

    /// A job hands over the `nth` answer of its slot and role in the round.
    pub fn job(&self, job: &Job, nth: u32, content: &mut u8, findings: &[Finding]) -> Outcome {
        assert!(job.round >= RoundNumber(1));
        let mut outcome = if job.role == Role::Review {
            let slot = slot_index(&job.slot).unwrap();
            let answer = self.answer(slot, job.round.0, nth);
            let told = |finding: &Finding| (finding.id, finding.claim.blob.is_some());
            let own = |finding: &&Finding| finding.slot == job.slot;
            let before = findings.iter().filter(own).map(told).collect();
            // Reviewers of one round are blind to each other.
            let theirs = findings
                .iter()
                .filter(|it| !own(it) && it.round < job.round);
            let theirs = theirs.map(told).collect();
            let said = Said {
                key: key(slot, job.round.0, nth),
                slot,
                content: *content,
                before,
                theirs,
            };
            outcome(answer, &said)
        } else {
            self.work(job, nth, findings, content)
        };
        // Who was never started is not paid.
        let started = !matches!(outcome.ended, Ended::NotStarted { .. });
        outcome.spent.cost_micro_usd = self.cost.filter(|_| started);
        Outcome::JobEnded { outcome }
    }
}

/// A slot's tree is there.
pub fn opened(slot: &SlotName) -> Outcome {
    let path = format!("/trees/{slot}");
    Outcome::TreeOpened {
        result: Done::Ok(ReviewTree { path }),
    }
}

/// What comes back from a dispatch of a delegated job.
pub fn delegated(ended: Ended, with_report: bool) -> Outcome {
    let report = with_report.then(|| stored("report"));
    Outcome::Delegated {
        outcome: DispatchOutcome {
            ended,
            gone: true,
            report,
            spent: Spent::default(),
            unusable: None,
            misfit: None,
            lost: None,
            doubt: None,
            started_at: Timestamp::from_millis(0),
            ended_at: Timestamp::from_millis(1),
            outlived: Vec::new(),
        },
    }
}

pub fn stored(text: &str) -> Stored {
    Stored {
        sha256: Digest::of(text.as_bytes()),
        bytes: text.len() as u64,
    }
}

/// An agent that can be delegated to, as far as the engine looks at it.
pub fn helper() -> Agent {
    agent("helper", false)
}

/// What a finding is called in every order of events: who raised it, when, at which attempt.
pub fn key(slot: usize, round: u32, nth: u32) -> String {
    format!("{slot}-{round}-{nth}")
}

pub fn slot_index(slot: &SlotName) -> Option<usize> {
    if *slot == SlotName::self_review() {
        return Some(0);
    }
    slot.as_str().strip_prefix("slot-")?.parse().ok()
}

pub fn interrupted() -> Outcome {
    let mut outcome = ended_with(Ended::Interrupted, Reading::Silent);
    outcome.ended = Ended::Interrupted;
    Outcome::JobEnded { outcome }
}
