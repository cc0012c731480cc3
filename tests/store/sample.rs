//! A state folder in a temporary place, and the events of a small run.

use std::path::Path;

use run_loop::domain::agent::{Agent, AgentKind, Contract};
use run_loop::domain::digest::Digest;
use run_loop::domain::effect::{Done, Effect, Outcome, Promotion};
use run_loop::domain::end::End;
use run_loop::domain::event::{Event, RoundResult};
use run_loop::domain::id::{EffectId, LoopId, RoundNumber};
use run_loop::domain::identity::{Identity, Pin, Tripwire};
use run_loop::domain::isolation::Isolation;
use run_loop::domain::oid::Oid;
use run_loop::domain::path::RepoPath;
use run_loop::domain::policy::Policy;
use run_loop::domain::run_spec::{BaseSpec, Quorum, ReviewSpec, RunSpec};
use run_loop::domain::severity::Severity;
use run_loop::domain::slot::{Slot, SlotName};
use run_loop::domain::time::{Stamp, Timestamp};
use run_loop::store::{Journal, StateFolder};

/// A state folder that goes with the test.
pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) state: StateFolder,
}

impl Place {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::open(folder.path()).unwrap();
        Self { folder, state }
    }
    /// Writes a whole run and closes its journal.
    pub(crate) fn run(&self, number: u8, events: &[Event]) -> LoopId {
        let id = run_id(number);
        let mut journal = Journal::create(&self.state, id).unwrap();
        journal.append(events).unwrap();
        id
    }
    pub(crate) fn database(&self, run: LoopId) -> std::path::PathBuf {
        self.state.run_path(run).join("journal.db")
    }
}

pub(crate) fn stamp(number: u8) -> Stamp {
    Stamp {
        at: Timestamp::from_millis(1_796_000_000_000 + i64::from(number) * 1000),
        seed: [number; 32],
    }
}

pub(crate) fn run_id(number: u8) -> LoopId {
    LoopId::mint(&stamp(number), "run")
}

pub(crate) fn oid(digit: char) -> Oid {
    Oid::parse(&digit.to_string().repeat(40)).unwrap()
}

pub(crate) fn spec(number: u8, source: &Path) -> RunSpec {
    RunSpec {
        loop_id: run_id(number),
        command: vec!["run-loop".to_owned(), "--review-only".to_owned()],
        task: Some("mend the lexer".to_owned()),
        source_root: source.display().to_string(),
        control_root: source.display().to_string(),
        common_dir: source.join(".git").display().to_string(),
        base: BaseSpec::StartHead { head: oid('a') },
        creator: None,
        planner: None,
        arbiter: None,
        review_only: true,
        plan: run_loop::domain::run_spec::PlanSource::Nobody,
        panel: vec![Slot {
            name: SlotName::checks(),
            agent: Agent {
                name: "checks".to_owned(),
                kind: AgentKind::Checks,
                remote: false,
                family: "checks".to_owned(),
                timeout: None,
                contract: Contract::Json,
                definition: Digest::of(b"checks"),
            },
            fallback: Vec::new(),
            instructions: Vec::new(),
        }],
        review: ReviewSpec {
            max_rounds: 5,
            rounds_scale: false,
            fail_on: Severity::Medium,
            fail_on_at_base: None,
            quorum: Quorum::All,
            isolation: Isolation::Worktree,
            isolation_at_base: Isolation::Worktree,
            remote_diff_only: false,
            max_parallel: 4,
            diff_cap: 200_000,
            exclude: Vec::new(),
        },
        checks: Vec::new(),
        setup: Vec::new(),
        cache: Vec::new(),
        job_timeout: 3600,
        limits: run_loop::domain::limits::Limits::default(),
        policy: Policy::default(),
        reports: ".agents/reports".to_owned(),
        allow_filters: Vec::new(),
        allow_in_progress: false,
        keep_snapshots: false,
        templates: Vec::new(),
        roster: Vec::new(),
        unfit: Vec::new(),
        wait_open_jobs: false,
        single: None,
        config_sha256: Digest::of(b"configuration"),
        engine_version: "0.1.0".to_owned(),
    }
}

pub(crate) fn pin(content: char) -> Pin {
    Pin {
        identity: Identity {
            base: oid('a'),
            head: oid('b'),
            tree: oid('c'),
            content_tree: oid(content),
        },
        snapshot: oid('e'),
        base_tip: None,
        base_content_tree: oid('f'),
        branch: Some("refs/heads/feature".to_owned()),
        commits: 1,
        behind: 0,
        dirty: false,
        only_evidence: false,
        alone: None,
        tripwire: Tripwire {
            head_ref: "refs/heads/feature".to_owned(),
            branch_tip: oid('b'),
            config: Digest::of(b"1"),
            hooks: Digest::of(b"2"),
            info: Digest::of(b"3"),
            index: Digest::of(b"4"),
            manifests: Digest::of(b"5"),
            parts: Box::default(),
        },
        notices: Vec::new(),
    }
}

/// The result of a round that somebody refused, and in which nothing was touched.
pub(crate) fn refused() -> RoundResult {
    RoundResult::NotPassed {
        tripped: Vec::new(),
    }
}

/// Start, one round measured and closed.
pub(crate) fn judged(number: u8, source: &Path, content: char, result: RoundResult) -> Vec<Event> {
    let round = RoundNumber(1);
    vec![
        Event::RunStarted {
            stamp: stamp(number),
            spec: Box::new(spec(number, source)),
        },
        Event::RoundOpened { round },
        Event::EffectRequested {
            id: EffectId(1),
            effect: Box::new(Effect::Pin { round, work: None }),
        },
        Event::EffectDone {
            stamp: stamp(number + 1),
            effect: EffectId(1),
            outcome: Box::new(Outcome::Pinned {
                result: Done::Ok(pin(content)),
            }),
        },
        Event::RoundClosed { round, result },
    ]
}

/// A run that was approved and promoted.
pub(crate) fn approved(number: u8, source: &Path, content: char) -> Vec<Event> {
    let mut events = judged(number, source, content, RoundResult::Passed);
    events.extend([
        Event::EffectRequested {
            id: EffectId(2),
            effect: Box::new(Effect::Promote {
                round: RoundNumber(1),
            }),
        },
        Event::EffectDone {
            stamp: stamp(number + 2),
            effect: EffectId(2),
            outcome: Box::new(Outcome::Promoted {
                result: Done::Ok(Promotion {
                    manifest: RepoPath::from(".agents/reports/approvals/x.json"),
                    manifest_sha256: Digest::of(&[number]),
                    files: vec![RepoPath::from(".agents/reports/approvals/x.json")],
                }),
            }),
        },
        Event::RunEnded {
            end: End::Approved { readers: 1 },
        },
    ]);
    events
}

/// An effect with its outcome: what an engine makes durable again and again.
pub(crate) fn measured(id: EffectId) -> [Event; 2] {
    [
        Event::EffectRequested {
            id,
            effect: Box::new(Effect::Pin {
                round: RoundNumber(1),
                work: None,
            }),
        },
        Event::EffectDone {
            stamp: stamp(1),
            effect: id,
            outcome: Box::new(Outcome::Pinned {
                result: Done::Ok(pin('d')),
            }),
        },
    ]
}
