//! What rounds made by hand consist of.

use run_loop::domain::agent::{
    Agent, AgentKind, CommandAgent, Contract, PromptChannel, ReportChannel,
};
use run_loop::domain::digest::Digest;
use run_loop::domain::evidence::{ChangedFile, DiffPart, Evidence, FileStatus};
use run_loop::domain::id::LoopId;
use run_loop::domain::isolation::Isolation;
use run_loop::domain::oid::Oid;
use run_loop::domain::path::RepoPath;
use run_loop::domain::policy::Policy;
use run_loop::domain::run_spec::{BaseSpec, Quorum, ReviewSpec, RunSpec};
use run_loop::domain::severity::Severity;
use run_loop::domain::slot::{Slot, SlotName};
use run_loop::gate::GatePolicy;
use run_loop::promote::manifest::checks_digest;

use crate::world::CANARY;

/// An object's name of one digit.
pub(crate) fn oid(digit: char) -> Oid {
    Oid::parse(&digit.to_string().repeat(40)).unwrap()
}

pub(crate) fn slot_name(name: &str) -> SlotName {
    SlotName::parse(name).unwrap()
}

/// A reviewer that reads; its program and arguments are of this machine.
pub(crate) fn reader(name: &str) -> Slot {
    Slot {
        name: slot_name(name),
        agent: Agent {
            name: format!("{name}-bot"),
            kind: AgentKind::Command(CommandAgent {
                program: format!("/opt/{CANARY}/{name}"),
                args: vec![format!("--token={CANARY}")],
                prompt: PromptChannel::Stdin,
                report: ReportChannel::Stdout,
                env: vec![CANARY.to_owned()],
                confine: false,
            }),
            remote: false,
            family: name.to_owned(),
            timeout: None,
            contract: Contract::Json,
            definition: Digest::of(name.as_bytes()),
        },
        fallback: Vec::new(),
        instructions: Vec::new(),
    }
}

pub(crate) fn checks() -> Slot {
    Slot {
        name: SlotName::checks(),
        agent: Agent {
            name: "checks".to_owned(),
            kind: AgentKind::Checks,
            family: "checks".to_owned(),
            definition: Digest::of(b"checks"),
            ..reader("checks").agent
        },
        fallback: Vec::new(),
        instructions: Vec::new(),
    }
}

pub(crate) fn spec(loop_id: LoopId, tip: &Oid, panel: Vec<Slot>) -> RunSpec {
    RunSpec {
        loop_id,
        command: vec![format!("/home/{CANARY}/bin/run-loop")],
        task: Some(CANARY.to_owned()),
        source_root: format!("/home/{CANARY}/source"),
        control_root: format!("/home/{CANARY}/control"),
        common_dir: format!("/home/{CANARY}/control/.git"),
        base: BaseSpec::MergeBase {
            given: "main".to_owned(),
            resolved: "refs/heads/main".to_owned(),
            tip: tip.clone(),
            must_be_ancestor: false,
        },
        creator: None,
        planner: None,
        arbiter: None,
        review_only: true,
        plan: run_loop::domain::run_spec::PlanSource::Nobody,
        panel,
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

pub(crate) fn evidence() -> Evidence {
    Evidence {
        files: vec![ChangedFile {
            path: RepoPath::from("src/lib.rs"),
            status: FileStatus::Modified,
            old_path: None,
            old_mode: "100644".to_owned(),
            new_mode: "100644".to_owned(),
            size: Some(31),
            added: Some(1),
            removed: Some(1),
            unreviewed: None,
            changed_lines: vec![(2, 2)],
        }],
        parts: vec![DiffPart {
            name: "001".to_owned(),
            receipt: CANARY.to_owned(),
            bytes: 300,
            in_prompt: true,
        }],
        diff_sha256: Digest::of(b"diff"),
        files_sha256: Digest::of(b"files"),
        since: Vec::new(),
        folder: format!("/home/{CANARY}/.cache/run-loop/evidence"),
    }
}

/// What a base without configuration asks.
pub(crate) fn rules() -> GatePolicy {
    GatePolicy {
        policy: Policy::default(),
        reports: ".agents/reports".to_owned(),
        fail_on: Severity::Medium,
        isolation: Isolation::Worktree,
        quorum: Quorum::All,
        checks_sha256: checks_digest(&[], &[]).unwrap(),
        panel: vec![reader("security"), checks()],
        agents: vec![reader("security").agent, checks().agent],
    }
}
