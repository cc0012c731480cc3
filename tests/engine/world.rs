//! A world that answers effects from a script, the same however often and in whatever order it is
//! asked. It knows nothing of the engine's decisions.

use proptest::prelude::*;
use run_loop::domain::agent::{Agent, AgentKind, Contract};
use run_loop::domain::code::Code;
use run_loop::domain::delegation::DispatchOutcome;
use run_loop::domain::digest::Digest;
use run_loop::domain::effect::{Done, Effect, MeasurePoint, Outcome, Promotion, ReviewTree};
use run_loop::domain::evidence::Evidence;
use run_loop::domain::failure::Failure;
use run_loop::domain::finding::Claim;
use run_loop::domain::id::{LoopId, RoundNumber};
use run_loop::domain::identity::{Identity, Pin, Remeasured, Tripwire};
use run_loop::domain::isolation::Isolation;
use run_loop::domain::job::{Ended, Job, JobOutcome, Reading, Review, Stored};
use run_loop::domain::oid::Oid;
use run_loop::domain::path::RepoPath;
use run_loop::domain::policy::Policy;
use run_loop::domain::run_spec::{BaseSpec, Quorum, ReviewSpec, RunSpec};
use run_loop::domain::severity::Severity;
use run_loop::domain::slot::{Slot, SlotName};
use run_loop::domain::spent::Spent;
use run_loop::domain::time::{Stamp, Timestamp};
use run_loop::domain::verdict::{Coverage, Verdict};

/// What an agent does when it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Pass,
    PassUncovered,
    PassWithBlocker,
    NotPass,
    NotPassUnexplained,
    NotPassLow,
    Invalid,
    InvalidNotPass,
    Silent,
    ExitsWithPerfectPass,
    KilledWithNotPass,
    TimesOutWithPass,
    TimesOutWithNotPass,
    CannotStart,
}

/// What a later measurement finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Motion {
    Still,
    /// The content became this one; 0 is the base's own content.
    Content(u8),
    Base,
    Tripped,
    /// The source holds something that no snapshot can hold.
    Unholdable,
    GitFails,
}

#[derive(Debug, Clone)]
pub struct SlotScript {
    pub checks: bool,
    pub fallbacks: usize,
    /// Cycled through, over rounds and attempts.
    pub answers: Vec<Answer>,
    /// In which round its review tree cannot be opened.
    pub tree_fails_in: Option<u32>,
}

#[derive(Debug, Clone)]
pub struct World {
    pub slots: Vec<SlotScript>,
    pub max_rounds: u32,
    pub max_parallel: u32,
    pub quorum: Option<u32>,
    /// Per round: what is found when sealed, and before promotion.
    pub motions: Vec<(Motion, Motion)>,
    pub first_content: u8,
    pub pin_fails_in: Option<u32>,
    pub evidence_fails_in: Option<u32>,
    pub promotion_fails: bool,
}

pub fn worlds() -> impl Strategy<Value = World> {
    let answer = prop_oneof![
        6 => Just(Answer::Pass),
        1 => Just(Answer::PassUncovered),
        1 => Just(Answer::PassWithBlocker),
        1 => Just(Answer::NotPass),
        1 => Just(Answer::NotPassUnexplained),
        1 => Just(Answer::NotPassLow),
        2 => Just(Answer::Invalid),
        1 => Just(Answer::InvalidNotPass),
        1 => Just(Answer::Silent),
        1 => Just(Answer::ExitsWithPerfectPass),
        1 => Just(Answer::KilledWithNotPass),
        1 => Just(Answer::TimesOutWithPass),
        1 => Just(Answer::TimesOutWithNotPass),
        1 => Just(Answer::CannotStart),
    ];
    let motion = || {
        prop_oneof![
            8 => Just(Motion::Still),
            3 => (0_u8..4).prop_map(Motion::Content),
            1 => Just(Motion::Base),
            1 => Just(Motion::Unholdable),
            1 => Just(Motion::Tripped),
            1 => Just(Motion::GitFails),
        ]
    };
    let slot = (
        prop::bool::weighted(0.2),
        0_usize..3,
        prop::collection::vec(answer, 1..6),
        prop::option::weighted(0.04, 1_u32..4),
    )
        .prop_map(|(checks, fallbacks, answers, tree_fails_in)| SlotScript {
            checks,
            fallbacks: if checks { 0 } else { fallbacks },
            answers,
            tree_fails_in,
        });
    (
        prop::collection::vec(slot, 1..5),
        1_u32..5,
        1_u32..5,
        prop::option::weighted(0.3, 0_u32..4),
        prop::collection::vec((motion(), motion()), 4),
        prop_oneof![1 => Just(0_u8), 12 => 1_u8..4],
        prop::option::weighted(0.06, 1_u32..4),
        prop::option::weighted(0.06, 1_u32..4),
        prop::bool::weighted(0.05),
    )
        .prop_map(
            |(
                slots,
                max_rounds,
                max_parallel,
                quorum,
                motions,
                first_content,
                pin,
                evidence,
                promotion,
            )| World {
                slots,
                max_rounds,
                max_parallel,
                quorum,
                motions,
                first_content,
                pin_fails_in: pin,
                evidence_fails_in: evidence,
                promotion_fails: promotion,
            },
        )
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
            AgentKind::Human
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
        let panel = self.slots.iter().enumerate().map(|(index, script)| Slot {
            name: slot_name(index),
            agent: agent("own", script.checks),
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
            creator: None,
            planner: None,
            arbiter: None,
            review_only: true,
            plan: run_loop::domain::run_spec::PlanSource::Nobody,
            panel: panel.collect(),
            review: ReviewSpec {
                max_rounds: self.max_rounds,
                fail_on: Severity::Medium,
                quorum: self.quorum.map_or(Quorum::All, Quorum::AtLeast),
                isolation: Isolation::Worktree,
                remote_diff_only: false,
                max_parallel: self.max_parallel,
                diff_cap: 1000,
                exclude: Vec::new(),
            },
            checks: Vec::new(),
            setup: Vec::new(),
            cache: Vec::new(),
            job_timeout: 60,
            policy: Policy::default(),
            reports: ".agents/reports".to_owned(),
            allow_filters: Vec::new(),
            allow_in_progress: false,
            keep_snapshots: false,
            roster: Vec::new(),
            wait_open_jobs: false,
            single: None,
            config_sha256: Digest::of(b""),
            engine_version: "0".to_owned(),
        }
    }

    pub fn motion(&self, round: u32, point: MeasurePoint) -> Motion {
        let Some((sealed, before)) = self.motions.get(round as usize - 1) else {
            return Motion::Still;
        };
        match point {
            MeasurePoint::Sealed => *sealed,
            MeasurePoint::BeforePromotion => *before,
        }
    }

    /// What an agent answers in a round.
    pub fn answer(&self, slot: usize, round: u32, attempt: u32) -> Answer {
        let answers = &self.slots[slot].answers;
        answers[((round - 1) * 7 + attempt - 1) as usize % answers.len()]
    }

    /// Performs an effect. `content` is what the source holds, which only this changes.
    pub fn perform(&self, effect: &Effect, content: &mut u8) -> Outcome {
        let failed = |code| Failure::new(code, "as scripted");
        match effect {
            Effect::Pin { round } => Outcome::Pinned {
                result: if self.pin_fails_in == Some(round.0) {
                    Done::Err(failed(Code::NestedRepository))
                } else {
                    Done::Ok(pin(*content, 0))
                },
            },
            Effect::MakeEvidence { round, .. } => Outcome::EvidenceMade {
                result: if self.evidence_fails_in == Some(round.0) {
                    Done::Err(failed(Code::EvidenceFailed))
                } else {
                    Done::Ok(evidence())
                },
            },
            Effect::OpenTree { round, slot, .. } => Outcome::TreeOpened {
                result: if self.slots[index(slot)].tree_fails_in == Some(round.0) {
                    Done::Err(failed(Code::ReviewTreeFailed))
                } else {
                    Done::Ok(ReviewTree {
                        path: format!("/trees/{slot}"),
                    })
                },
            },
            Effect::RunJob { job } => self.job(job, job.attempt),
            Effect::AwaitJobs { .. } => Outcome::JobsAwaited,
            Effect::Delegate { .. } => delegated(Ended::Exited { code: 0 }, true),
            Effect::Measure {
                round,
                point,
                pinned,
            } => {
                let motion = self.motion(round.0, *point);
                Outcome::Measured {
                    result: measure(motion, pinned, content),
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
            Effect::Release => Outcome::Released { left: Vec::new() },
        }
    }

    /// A job hands over the slot's `nth` answer of the round.
    pub fn job(&self, job: &Job, nth: u32) -> Outcome {
        assert!(job.round >= RoundNumber(1));
        let answer = self.answer(index(&job.slot), job.round.0, nth);
        Outcome::JobEnded {
            outcome: outcome(answer),
        }
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
            unusable: None,
            started_at: Timestamp::from_millis(0),
            ended_at: Timestamp::from_millis(1),
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

pub fn index(slot: &SlotName) -> usize {
    slot.as_str().trim_start_matches("slot-").parse().unwrap()
}

pub fn interrupted() -> Outcome {
    let mut outcome = outcome(Answer::Silent);
    outcome.ended = Ended::Interrupted;
    Outcome::JobEnded { outcome }
}

fn pin(content: u8, trip: u8) -> Pin {
    let digest = Digest::of(&[trip]);
    Pin {
        identity: Identity {
            base: oid(200),
            head: oid(201),
            tree: oid(content),
            content_tree: oid(content),
        },
        snapshot: oid(content),
        base_tip: None,
        base_content_tree: oid(0),
        branch: None,
        commits: 1,
        behind: 0,
        dirty: false,
        tripwire: Tripwire {
            head_ref: "refs/heads/feature".to_owned(),
            branch_tip: oid(201),
            config: digest,
            hooks: Digest::of(b""),
            info: Digest::of(b""),
            index: Digest::of(b""),
            manifests: Digest::of(b""),
        },
        notices: Vec::new(),
    }
}

fn measure(motion: Motion, pinned: &Pin, content: &mut u8) -> Done<Remeasured> {
    let mut now = pinned.clone();
    match motion {
        Motion::Still => {}
        Motion::Content(next) => {
            *content = next;
            now = pin(next, 0);
        }
        Motion::Base => now.identity.base = oid(202),
        Motion::Tripped => now.tripwire.hooks = Digest::of(b"a new hook"),
        Motion::Unholdable => {
            return Done::Err(Failure::new(Code::SourceMoved, "as scripted"));
        }
        Motion::GitFails => return Done::Err(Failure::new(Code::MeasureFailed, "as scripted")),
    }
    Done::Ok(Remeasured {
        pin: now,
        moved_paths: Vec::new(),
        base_rewound: false,
        head_descends: true,
        lost: Vec::new(),
    })
}

fn evidence() -> Evidence {
    Evidence {
        files: Vec::new(),
        parts: Vec::new(),
        diff_sha256: Digest::of(b""),
        files_sha256: Digest::of(b""),
        folder: "/evidence".to_owned(),
    }
}

fn claim(severity: Severity) -> Claim {
    Claim {
        title: "a claim".to_owned(),
        severity,
        blocking: false,
        path: None,
        line: None,
        end_line: None,
        body: String::new(),
        pre_existing: false,
    }
}

fn review(verdict: Verdict, coverage: Coverage, findings: Vec<Claim>) -> Reading {
    Reading::Review(Review {
        verdict,
        summary: String::new(),
        findings,
        coverage,
        receipts: 0,
    })
}

fn outcome(answer: Answer) -> JobOutcome {
    use Verdict::{NotPass, Pass};
    let pass = || review(Pass, Coverage::Full, Vec::new());
    let blocker = || vec![claim(Severity::Low), claim(Severity::High)];
    let not_pass = || review(NotPass, Coverage::Full, blocker());
    let invalid = |claimed| Reading::Invalid {
        problems: vec!["as scripted".to_owned()],
        claimed,
        claims: Vec::new(),
    };
    let exited = |code| Ended::Exited { code };
    let (ended, reading) = match answer {
        Answer::Pass => (exited(0), pass()),
        Answer::PassUncovered => (exited(0), review(Pass, Coverage::None, Vec::new())),
        Answer::PassWithBlocker => (exited(0), review(Pass, Coverage::Full, blocker())),
        Answer::NotPass => (exited(0), not_pass()),
        Answer::NotPassUnexplained => (exited(0), review(NotPass, Coverage::Full, Vec::new())),
        Answer::NotPassLow => (
            exited(0),
            review(NotPass, Coverage::Full, vec![claim(Severity::Low)]),
        ),
        Answer::Invalid => (exited(0), invalid(Some(Pass))),
        Answer::InvalidNotPass => (exited(0), invalid(Some(NotPass))),
        Answer::Silent => (exited(0), Reading::Silent),
        Answer::ExitsWithPerfectPass => (exited(1), pass()),
        Answer::KilledWithNotPass => (Ended::Signalled { signal: 9 }, not_pass()),
        Answer::TimesOutWithPass => (Ended::TimedOut, pass()),
        Answer::TimesOutWithNotPass => (Ended::TimedOut, not_pass()),
        Answer::CannotStart => {
            let failure = Failure::new(Code::AgentNotRunnable, "as scripted");
            (Ended::NotStarted { failure }, Reading::Silent)
        }
    };
    JobOutcome {
        ended,
        report: None,
        prompt: None,
        reading,
        spent: Spent::default(),
        started_at: Timestamp::from_millis(0),
        ended_at: Timestamp::from_millis(1),
    }
}
