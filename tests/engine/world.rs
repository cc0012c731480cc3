//! A world that answers effects from a script, the same however often and in whatever order it is
//! asked. It knows nothing of the engine's decisions.

use proptest::prelude::*;
use run_loop::domain::agent::{
    Agent, AgentKind, CommandAgent, Contract, PromptChannel, ReportChannel,
};
use run_loop::domain::code::Code;
use run_loop::domain::delegation::DispatchOutcome;
use run_loop::domain::digest::Digest;
use run_loop::domain::effect::{Done, Effect, MeasurePoint, Outcome, Promotion, ReviewTree};
use run_loop::domain::evidence::Evidence;
use run_loop::domain::failure::Failure;
use run_loop::domain::finding::{Claim, Disposition, Finding};
use run_loop::domain::id::{FindingId, LoopId, RoundNumber};
use run_loop::domain::identity::{Elsewhere, Identity, Pin, Remeasured, Tripwire};
use run_loop::domain::isolation::Isolation;
use run_loop::domain::job::{
    AnswerAction, Ended, Job, JobOutcome, Prior, Reading, Reply, Review, Role, Ruling, RulingKind,
    Stored,
};
use run_loop::domain::limits::Limits;
use run_loop::domain::lines::{FileSince, Region, Since};
use run_loop::domain::oid::Oid;
use run_loop::domain::path::RepoPath;
use run_loop::domain::policy::Policy;
use run_loop::domain::run_spec::{BaseSpec, PlanSource, Quorum, ReviewSpec, RunSpec};
use run_loop::domain::severity::Severity;
use run_loop::domain::slot::{Slot, SlotName};
use run_loop::domain::spent::Spent;
use run_loop::domain::time::{Stamp, Timestamp};
use run_loop::domain::trouble::Trouble;
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
    /// NOT PASS with one medium finding on line 1, never raised before, and the word that everything
    /// of before is done.
    NotPassNew,
    /// The same without a word about what was before.
    NotPassNewAlone,
    /// NOT PASS with the one finding that its slot always has, on line 1.
    NotPassAgain,
    /// PASS, and the word that everything of before is still there.
    PassButOpen,
    Invalid,
    InvalidNotPass,
    Silent,
    ExitsWithPerfectPass,
    KilledWithNotPass,
    TimesOutWithPass,
    TimesOutWithNotPass,
    CannotStart,
    /// A limit of its provider, beside a perfect PASS.
    Limited,
}

/// What a later measurement finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Motion {
    Still,
    /// The content became this one; 0 is the base's own content.
    Content(u8),
    Base,
    Tripped,
    /// HEAD is on another branch.
    Switched,
    /// Another branch holds new commits.
    Elsewhere,
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

/// What an agent does that plans, writes or rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// It ends well and answers what it likes; see [`World::says`].
    Answers,
    Invalid,
    Silent,
    Exits,
    TimesOut,
    CannotStart,
    Limited,
}

/// Where the plan comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planned {
    Nobody,
    Planner,
    File,
}

/// Who may arbitrate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arbiter {
    Nobody,
    Impartial,
    /// The agent that creates.
    Creator,
    /// The agent that every slot asks first.
    Reviewer,
}

/// Everybody who works besides the panel.
#[derive(Debug, Clone)]
pub struct Crew {
    pub review_only: bool,
    pub planner: bool,
    pub planned: Planned,
    pub objects: bool,
    pub arbiter: Arbiter,
    /// Cycled through, over rounds, roles and attempts.
    pub deeds: Vec<Deed>,
    /// What a writing job leaves as content; cycled through over rounds and roles.
    pub writes: Vec<Option<u8>>,
    /// What is found after a job; per round that the work comes before.
    pub motions: Vec<Motion>,
    /// Decides what is said of each finding.
    pub mood: u64,
}

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
}

#[expect(clippy::too_many_lines, reason = "one place for all parts of a world")]
pub fn worlds() -> impl Strategy<Value = World> {
    let answer = prop_oneof![
        6 => Just(Answer::Pass),
        1 => Just(Answer::PassUncovered),
        1 => Just(Answer::PassWithBlocker),
        1 => Just(Answer::NotPass),
        1 => Just(Answer::NotPassUnexplained),
        1 => Just(Answer::NotPassLow),
        2 => Just(Answer::NotPassNew),
        1 => Just(Answer::NotPassNewAlone),
        2 => Just(Answer::NotPassAgain),
        1 => Just(Answer::PassButOpen),
        2 => Just(Answer::Invalid),
        1 => Just(Answer::InvalidNotPass),
        1 => Just(Answer::Silent),
        1 => Just(Answer::ExitsWithPerfectPass),
        1 => Just(Answer::KilledWithNotPass),
        1 => Just(Answer::TimesOutWithPass),
        1 => Just(Answer::TimesOutWithNotPass),
        1 => Just(Answer::CannotStart),
        2 => Just(Answer::Limited),
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
        .prop_map(|(checks, fallbacks, mut answers, tree_fails_in)| {
            // `checks` asks no provider, and every limit is lifted some time.
            answers.retain(|answer| !checks || *answer != Answer::Limited);
            if answers.iter().all(|answer| *answer == Answer::Limited) {
                answers.push(Answer::Pass);
            }
            SlotScript {
                checks,
                fallbacks: if checks { 0 } else { fallbacks },
                answers,
                tree_fails_in,
            }
        });
    (
        (
            prop::collection::vec(slot, 1..5),
            prop::option::weighted(0.6, crews()),
        ),
        1_u32..5,
        1_u32..5,
        prop::option::weighted(0.3, 0_u32..4),
        prop::collection::vec((motion(), motion()), 4),
        prop_oneof![1 => Just(0_u8), 12 => 1_u8..4],
        prop::option::weighted(0.06, 1_u32..4),
        prop::option::weighted(0.06, 1_u32..4),
        (prop::bool::weighted(0.05), any::<bool>()),
    )
        .prop_map(
            |(
                (mut slots, crew),
                max_rounds,
                max_parallel,
                quorum,
                motions,
                first_content,
                pin,
                evidence,
                (promotion, wait),
            )| {
                // Which of a slot's agents is asked depends on when limits are lifted, and there
                // it matters who raised a finding.
                if crew
                    .as_ref()
                    .is_some_and(|crew| crew.arbiter == Arbiter::Reviewer)
                {
                    let answers = slots.iter_mut().flat_map(|slot| &mut slot.answers);
                    for answer in answers.filter(|answer| **answer == Answer::Limited) {
                        *answer = Answer::Pass;
                    }
                }
                World {
                    slots,
                    crew,
                    max_rounds,
                    max_parallel,
                    quorum,
                    motions,
                    first_content,
                    pin_fails_in: pin,
                    evidence_fails_in: evidence,
                    promotion_fails: promotion,
                    limits: Limits {
                        wait,
                        ..Limits::default()
                    },
                    cost: None,
                }
            },
        )
}

fn crews() -> impl Strategy<Value = Crew> {
    let deed = prop_oneof![
        30 => Just(Deed::Answers),
        2 => Just(Deed::Invalid),
        1 => Just(Deed::Silent),
        1 => Just(Deed::Exits),
        1 => Just(Deed::TimesOut),
        1 => Just(Deed::CannotStart),
        2 => Just(Deed::Limited),
    ];
    let planned = prop_oneof![
        3 => Just(Planned::Nobody),
        1 => Just(Planned::Planner),
        1 => Just(Planned::File),
    ];
    let arbiter = prop_oneof![
        1 => Just(Arbiter::Nobody),
        6 => Just(Arbiter::Impartial),
        1 => Just(Arbiter::Creator),
        1 => Just(Arbiter::Reviewer),
    ];
    let motion = prop_oneof![
        14 => Just(Motion::Still),
        1 => (0_u8..4).prop_map(Motion::Content),
        1 => Just(Motion::Base),
        1 => Just(Motion::Unholdable),
        1 => Just(Motion::Tripped),
        1 => Just(Motion::Switched),
        1 => Just(Motion::Elsewhere),
        1 => Just(Motion::GitFails),
    ];
    (
        any::<bool>(),
        any::<bool>(),
        planned,
        any::<bool>(),
        arbiter,
        prop::collection::vec(deed, 1..9),
        prop::collection::vec(prop::option::weighted(0.5, 0_u8..5), 1..6),
        prop::collection::vec(motion, 5),
        any::<u64>(),
    )
        .prop_map(
            |(
                review_only,
                planner,
                planned,
                objects,
                arbiter,
                mut deeds,
                writes,
                motions,
                mood,
            )| {
                if deeds.iter().all(|deed| *deed == Deed::Limited) {
                    deeds.push(Deed::Answers);
                }
                Crew {
                    review_only,
                    planner: planner || planned == Planned::Planner,
                    planned,
                    objects,
                    arbiter,
                    deeds,
                    writes,
                    motions,
                    mood,
                }
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
            AgentKind::Command(CommandAgent {
                program: "/agent".to_owned(),
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
            limits: self.limits.clone(),
            policy: Policy::default(),
            reports: ".agents/reports".to_owned(),
            allow_filters: Vec::new(),
            allow_in_progress: false,
            keep_snapshots: false,
            templates: Vec::new(),
            roster: Vec::new(),
            wait_open_jobs: false,
            single: None,
            config_sha256: Digest::of(b""),
            engine_version: "0".to_owned(),
        }
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

    /// What an agent does when it is asked the `nth` time for this work.
    pub fn deed(&self, role: Role, round: u32, nth: u32) -> Deed {
        let deeds = &self.crew.as_ref().unwrap().deeds;
        deeds[(round * 5 + role as u32 * 3 + nth) as usize % deeds.len()]
    }
    /// What a writing job leaves as content, where it leaves another one.
    pub fn writes(&self, role: Role, round: u32) -> Option<u8> {
        let writes = &self.crew.as_ref().unwrap().writes;
        writes[(round * 3 + role as u32) as usize % writes.len()]
    }
    /// What is said of a finding: 0 to 3, or nothing. An agent may say what its role may not, and
    /// speaks of every finding there is, asked or not.
    pub fn says(&self, role: Role, round: u32, finding: &str) -> u64 {
        let mood = self.crew.as_ref().unwrap().mood;
        let key = format!("{mood} {role:?} {round} {finding}");
        let digest = Digest::of(key.as_bytes());
        u64::from_str_radix(&digest.as_str()[..8], 16).unwrap() % 6
    }
    fn reply(&self, job: &Job, findings: &[Finding]) -> Reply {
        let said = |finding: &Finding| self.says(job.role, job.round.0, &finding.claim.title);
        let note = || "as scripted".to_owned();
        match job.role {
            Role::Plan | Role::Refine | Role::Implement | Role::Review => Reply::Text,
            Role::Challenge => Reply::Challenge {
                objections: if self.crew.as_ref().unwrap().objects {
                    vec![note()]
                } else {
                    Vec::new()
                },
            },
            Role::Correct | Role::Comply => Reply::Answers {
                answers: findings
                    .iter()
                    .filter_map(|finding| {
                        let action = match said(finding) {
                            0 => AnswerAction::Fixed,
                            1 | 2 => AnswerAction::Refuted,
                            3 => AnswerAction::Deferred,
                            _ => return None,
                        };
                        Some(run_loop::domain::job::Answer {
                            finding: finding.id,
                            action,
                            note: note(),
                        })
                    })
                    .collect(),
            },
            Role::Readjudicate | Role::Arbitrate => Reply::Rulings {
                rulings: findings
                    .iter()
                    .filter_map(|finding| {
                        let ruling = match said(finding) {
                            0 => RulingKind::Withdrawn,
                            1 => RulingKind::Upheld,
                            2 => RulingKind::Sustained,
                            3 => RulingKind::Overruled,
                            _ => return None,
                        };
                        Some(Ruling {
                            finding: finding.id,
                            ruling,
                            note: note(),
                        })
                    })
                    .collect(),
            },
        }
    }
    /// A job that plans, writes or rules.
    fn work(&self, job: &Job, nth: u32, findings: &[Finding], content: &mut u8) -> JobOutcome {
        let deed = self.deed(job.role, job.round.0, nth);
        if job.role.writes()
            && deed != Deed::CannotStart
            && let Some(next) = self.writes(job.role, job.round.0)
        {
            *content = next;
        }
        let reply = || Reading::Reply {
            reply: self.reply(job, findings),
        };
        let exited = |code| Ended::Exited { code };
        let (ended, reading) = match deed {
            Deed::Answers => (exited(0), reply()),
            Deed::Invalid => {
                let problems = vec!["as scripted".to_owned()];
                let (claimed, claims) = (None, Vec::new());
                (
                    exited(0),
                    Reading::Invalid {
                        problems,
                        claimed,
                        claims,
                    },
                )
            }
            Deed::Silent => (exited(0), Reading::Silent),
            // What a job says that failed or was stopped is not heard.
            Deed::Exits => (exited(1), reply()),
            Deed::TimesOut => (Ended::TimedOut, reply()),
            Deed::Limited => (limited(), reply()),
            Deed::CannotStart => {
                let failure = Failure::new(Code::AgentNotRunnable, "as scripted");
                (Ended::NotStarted { failure }, Reading::Silent)
            }
        };
        ended_with(ended, reading)
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
                result: if index(slot)
                    .is_some_and(|slot| self.slots[slot].tree_fails_in == Some(round.0))
                {
                    Done::Err(failed(Code::ReviewTreeFailed))
                } else {
                    Done::Ok(ReviewTree {
                        path: format!("/trees/{slot}"),
                    })
                },
            },
            Effect::RunJob { job } => self.job(job, job.attempt, content, findings),
            Effect::AwaitJobs { .. } => Outcome::JobsAwaited,
            Effect::Timer { .. } => Outcome::TimerEnded { elapsed: true },
            Effect::Delegate { .. } => delegated(Ended::Exited { code: 0 }, true),
            Effect::Measure {
                round,
                point,
                pinned,
            } => {
                let motion = self.motion(round.0, *point);
                let same = match point {
                    // A job may have left another content.
                    MeasurePoint::AfterWork => pin(*content, 0),
                    MeasurePoint::Sealed | MeasurePoint::BeforePromotion => pinned.clone(),
                };
                Outcome::Measured {
                    result: measure(motion, same, content),
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

    /// A job hands over the `nth` answer of its slot and role in the round.
    pub fn job(&self, job: &Job, nth: u32, content: &mut u8, findings: &[Finding]) -> Outcome {
        assert!(job.round >= RoundNumber(1));
        let mut outcome = if job.role == Role::Review {
            let slot = index(&job.slot).unwrap();
            let answer = self.answer(slot, job.round.0, nth);
            let own = findings.iter().filter(|finding| finding.slot == job.slot);
            let before = own.map(|finding| finding.id).collect();
            let said = Said {
                key: key(slot, job.round.0, nth),
                slot,
                content: *content,
                before,
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

/// What a finding is called in every order of events: who raised it, when, at which attempt.
pub fn key(slot: usize, round: u32, nth: u32) -> String {
    format!("{slot}-{round}-{nth}")
}

fn index(slot: &SlotName) -> Option<usize> {
    slot.as_str().strip_prefix("slot-")?.parse().ok()
}

pub fn interrupted() -> Outcome {
    let mut outcome = ended_with(Ended::Interrupted, Reading::Silent);
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

fn measure(motion: Motion, mut now: Pin, content: &mut u8) -> Done<Remeasured> {
    let mut elsewhere = Vec::new();
    match motion {
        Motion::Still => {}
        Motion::Elsewhere => elsewhere.push(Elsewhere {
            site: run_loop::domain::identity::Site::Branch,
            branch: "elsewhere".to_owned(),
            from: None,
            to: oid(203),
        }),
        Motion::Content(next) => {
            *content = next;
            now = pin(next, 0);
        }
        Motion::Base => now.identity.base = oid(202),
        Motion::Switched => {
            "refs/heads/elsewhere".clone_into(&mut now.tripwire.head_ref);
        }
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
        unstaged: Vec::new(),
        kept: None,
        elsewhere,
    })
}

/// Line 1 of the one file differs between an odd content and an even one.
pub fn is_same_line(one: u8, other: u8) -> bool {
    one % 2 == other % 2
}

fn evidence(now: &Oid, since: &[Oid]) -> Evidence {
    let content = |tree: &Oid| {
        (0..=u8::MAX)
            .find(|content| oid(*content) == *tree)
            .unwrap()
    };
    let region = Region {
        old: 1,
        old_count: 1,
        new: 1,
        new_count: 1,
    };
    let of = |tree: &Oid| {
        let same = is_same_line(content(tree), content(now));
        Since {
            tree: tree.clone(),
            files: vec![FileSince {
                old: Some("src".into()),
                new: Some("src".into()),
                changed: Some(if same { Vec::new() } else { vec![region] }),
            }],
        }
    };
    Evidence {
        files: Vec::new(),
        parts: Vec::new(),
        diff_sha256: Digest::of(b""),
        files_sha256: Digest::of(b""),
        since: since.iter().map(of).collect(),
        folder: "/evidence".to_owned(),
    }
}

fn claim(severity: Severity, key: &str) -> Claim {
    Claim {
        title: format!("{key} {severity}"),
        severity,
        blocking: false,
        path: None,
        line: None,
        end_line: None,
        body: String::new(),
        pre_existing: false,
        blob: None,
    }
}

/// What a reviewer speaks about.
struct Said {
    key: String,
    slot: usize,
    content: u8,
    /// What its slot found before.
    before: Vec<FindingId>,
}

impl Said {
    fn prior(&self, disposition: Disposition) -> Vec<Prior> {
        let all = self.before.iter();
        all.map(|finding| Prior {
            finding: *finding,
            disposition,
            note: "as scripted".to_owned(),
        })
        .collect()
    }
    /// A claim on line 1 of the one file.
    fn placed(&self, severity: Severity, title: String) -> Claim {
        Claim {
            title,
            path: Some("src".into()),
            line: Some(1),
            blob: Some(oid(self.content)),
            ..claim(severity, "")
        }
    }
}

fn review(verdict: Verdict, coverage: Coverage, findings: Vec<Claim>) -> Reading {
    reviewed(verdict, coverage, findings, Vec::new())
}

fn reviewed(
    verdict: Verdict,
    coverage: Coverage,
    findings: Vec<Claim>,
    prior: Vec<Prior>,
) -> Reading {
    Reading::Review(Review {
        verdict,
        summary: String::new(),
        findings,
        prior,
        plan: Vec::new(),
        coverage,
        receipts: 0,
    })
}

fn ended_with(ended: Ended, reading: Reading) -> JobOutcome {
    JobOutcome {
        ended,
        report: None,
        prompt: None,
        reading,
        spent: Spent::default(),
        confinement: run_loop::domain::confinement::Confinement::None,
        started_at: Timestamp::from_millis(0),
        ended_at: Timestamp::from_millis(1),
    }
}

/// What an agent answers that speaks of no earlier finding.
pub fn answered(answer: Answer, key: &str) -> JobOutcome {
    let said = Said {
        key: key.to_owned(),
        slot: 0,
        content: 1,
        before: Vec::new(),
    };
    outcome(answer, &said)
}

fn limited() -> Ended {
    Ended::Failed {
        code: 1,
        trouble: Trouble::RateLimit,
        message: "as scripted".to_owned(),
    }
}

fn outcome(answer: Answer, said: &Said) -> JobOutcome {
    use Verdict::{NotPass, Pass};
    let key = said.key.as_str();
    let new = |prior| {
        let title = format!("{key} {}", Severity::Medium);
        let claims = vec![said.placed(Severity::Medium, title)];
        reviewed(NotPass, Coverage::Full, claims, prior)
    };
    let pass = || review(Pass, Coverage::Full, Vec::new());
    let blocker = || vec![claim(Severity::Low, key), claim(Severity::High, key)];
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
            review(NotPass, Coverage::Full, vec![claim(Severity::Low, key)]),
        ),
        Answer::NotPassNew => (exited(0), new(said.prior(Disposition::Fixed))),
        Answer::NotPassNewAlone => (exited(0), new(Vec::new())),
        Answer::NotPassAgain => {
            let claim = said.placed(Severity::High, format!("{} again", said.slot));
            (exited(0), review(NotPass, Coverage::Full, vec![claim]))
        }
        Answer::PassButOpen => {
            let prior = said.prior(Disposition::Open);
            (exited(0), reviewed(Pass, Coverage::Full, Vec::new(), prior))
        }
        Answer::Invalid => (exited(0), invalid(Some(Pass))),
        Answer::InvalidNotPass => (exited(0), invalid(Some(NotPass))),
        Answer::Silent => (exited(0), Reading::Silent),
        Answer::ExitsWithPerfectPass => (exited(1), pass()),
        Answer::KilledWithNotPass => (Ended::Signalled { signal: 9 }, not_pass()),
        Answer::TimesOutWithPass => (Ended::TimedOut, pass()),
        Answer::TimesOutWithNotPass => (Ended::TimedOut, not_pass()),
        Answer::Limited => (limited(), pass()),
        Answer::CannotStart => {
            let failure = Failure::new(Code::AgentNotRunnable, "as scripted");
            (Ended::NotStarted { failure }, Reading::Silent)
        }
    };
    ended_with(ended, reading)
}
