//! Made-up values for trying templates: as little and as much as a prompt can have.

use std::collections::{BTreeMap, BTreeSet};

use crate::contract::prompt::{ReviewPrompt, WorkPrompt};
use crate::domain::agent::{
    Agent, AgentKind, CommandAgent, Contract, PromptChannel, ReportChannel,
};
use crate::domain::digest::Digest;
use crate::domain::evidence::{ChangedFile, DiffPart, Evidence, FileStatus};
use crate::domain::finding::{Claim, Disposition, Finding, Word};
use crate::domain::id::{FindingId, JobId, RoundNumber};
use crate::domain::identity::{Identity, Pin, Tripwire};
use crate::domain::isolation::EvidenceKind;
use crate::domain::job::{AttemptReason, Job, Role};
use crate::domain::lines::Place;
use crate::domain::oid::Oid;
use crate::domain::run_spec::RunSpec;
use crate::domain::seen::{Change, Seen, SeenPart};
use crate::domain::severity::Severity;
use crate::domain::slot::{Instruction, Slot, SlotName};
use crate::domain::sub_jobs::{SubJob, SubJobs};
use crate::domain::time::{Stamp, Timestamp};

/// The roles of the prompts that are no reviews.
pub(super) const ROLES: [Role; 8] = [
    Role::Plan,
    Role::Challenge,
    Role::Refine,
    Role::Implement,
    Role::Correct,
    Role::Readjudicate,
    Role::Arbitrate,
    Role::Comply,
];

const TEXT: &str = "A text of somebody.\n\nIt has a second paragraph.";
const TREE: &str = "/trees/sample";

/// Everything that a review's prompt is made from.
pub(super) struct Reviewed {
    run: RunSpec,
    pub(super) pin: Pin,
    pub(super) evidence: Evidence,
    slot: Slot,
    pub(super) job: Job,
    tree: Option<&'static str>,
    parts: Vec<(String, Vec<u8>)>,
    plan: Option<&'static str>,
    prior: Vec<Finding>,
    seen: Vec<Seen>,
}

impl Reviewed {
    pub(super) fn prompt(&self) -> ReviewPrompt<'_> {
        ReviewPrompt {
            run: &self.run,
            pin: &self.pin,
            evidence: &self.evidence,
            slot: &self.slot,
            job: &self.job,
            tree: self.tree,
            parts: &self.parts,
            plan: self.plan,
            prior: &self.prior,
            notes: &NOTES,
            places: &PLACES,
            seen: &self.seen,
            late: self.plan.is_some(),
        }
    }
}

static NOTES: BTreeMap<FindingId, Vec<Word>> = BTreeMap::new();
static PLACES: BTreeMap<FindingId, Place> = BTreeMap::new();

pub(super) fn review(
    run: &RunSpec,
    contract: Contract,
    evidence: EvidenceKind,
    full: bool,
) -> Reviewed {
    let mut run = run.clone();
    run.task = full.then(|| TEXT.to_owned());
    let instruction = Instruction {
        path: "docs/review.md".to_owned(),
        text: TEXT.to_owned(),
        sha256: Digest::of(TEXT.as_bytes()),
    };
    let remote = evidence == EvidenceKind::DiffOnly;
    let slot = Slot {
        name: SlotName::creator(),
        agent: agent(contract, remote),
        fallback: Vec::new(),
        instructions: if full { vec![instruction] } else { Vec::new() },
    };
    let tree = match evidence {
        EvidenceKind::ReviewTree | EvidenceKind::SourceTree => Some(TREE),
        EvidenceKind::DiffOnly => None,
    };
    let prior = if full {
        vec![
            finding(1, Disposition::Open),
            finding(2, Disposition::Overruled),
        ]
    } else {
        Vec::new()
    };
    Reviewed {
        pin: pin(full),
        evidence: shown(full),
        job: job(Role::Review, evidence, full),
        slot,
        run,
        tree,
        parts: vec![("001".to_owned(), b"diff --git a/a b/a\n+line\n".to_vec())],
        plan: full.then_some(TEXT),
        prior,
        seen: seen(full),
    }
}

/// Everything that another prompt is made from.
pub(super) struct Worked {
    run: RunSpec,
    pin: Pin,
    pub(super) job: Job,
    agent: Agent,
    tree: String,
    plan: Option<&'static str>,
    objections: Vec<String>,
    pub(super) findings: Vec<Finding>,
    notes: BTreeMap<FindingId, Vec<Word>>,
    pub(super) unruled: BTreeSet<FindingId>,
    seen: Vec<Seen>,
    round_failed: Option<u32>,
}

impl Worked {
    pub(super) fn prompt(&self) -> WorkPrompt<'_> {
        WorkPrompt {
            run: &self.run,
            pin: &self.pin,
            job: &self.job,
            agent: &self.agent,
            tree: Some(&self.tree),
            plan: self.plan,
            earlier: self.plan.map(|_| "I did it."),
            objections: &self.objections,
            findings: &self.findings,
            notes: &self.notes,
            places: &PLACES,
            unruled: &self.unruled,
            seen: &self.seen,
            evidence: Some("$RUN_LOOP_JOB_EVIDENCE"),
            round_failed: self.round_failed,
        }
    }
}

pub(super) fn work(run: &RunSpec, role: Role, full: bool) -> Worked {
    let mut run = run.clone();
    run.task = Some(TEXT.to_owned());
    let asked = matches!(
        role,
        Role::Correct | Role::Readjudicate | Role::Arbitrate | Role::Comply
    );
    let planned = matches!(role, Role::Challenge | Role::Refine);
    let findings = if full && role == Role::Correct {
        vec![finding(1, Disposition::Open), finding(2, Disposition::Open)]
    } else if asked || (full && role == Role::Refine) {
        vec![finding(1, Disposition::Open)]
    } else {
        Vec::new()
    };
    let word = |role, disposition| Word {
        job: job_id(),
        role,
        disposition,
        note: TEXT.to_owned(),
    };
    let said = vec![
        word(Role::Correct, Disposition::Refuted),
        word(Role::Readjudicate, Disposition::Upheld),
    ];
    let noted = full || matches!(role, Role::Readjudicate | Role::Arbitrate);
    let (evidence, tree) = if role.writes() {
        (EvidenceKind::SourceTree, run.source_root.clone())
    } else {
        (EvidenceKind::ReviewTree, TREE.to_owned())
    };
    Worked {
        pin: pin(full),
        job: job(role, evidence, full),
        agent: agent(Contract::Json, false),
        run,
        tree,
        plan: (planned || (full && role != Role::Plan)).then_some(TEXT),
        objections: if full && role == Role::Refine {
            vec![TEXT.to_owned()]
        } else {
            Vec::new()
        },
        findings,
        notes: noted.then_some((FindingId(1), said)).into_iter().collect(),
        unruled: (full && role == Role::Correct)
            .then_some(FindingId(2))
            .into_iter()
            .collect(),
        seen: seen(full && asked),
        round_failed: full.then_some(2),
    }
}

fn seen(full: bool) -> Vec<Seen> {
    let part = |name: &str, in_prompt| SeenPart {
        name: name.to_owned(),
        bytes: b"diff --git a/a b/a\n+line\n".to_vec(),
        in_prompt,
    };
    let one = Seen {
        round: RoundNumber(1),
        by: vec![SlotName::creator()],
        change: Change::Differs {
            parts: vec![part("001", true), part("002", false)],
            hidden: 1,
            left_out: 1,
        },
    };
    if full { vec![one] } else { Vec::new() }
}

/// Tables of delegated jobs: with nothing to tell but one, and with everything.
pub(super) fn sub_jobs() -> [SubJobs; 2] {
    let row = SubJob {
        job: job_id(),
        parent: Some(job_id()),
        agent: "helper".to_owned(),
        state: "completed",
        reason: String::new(),
    };
    [
        SubJobs {
            rows: vec![row.clone()],
            unconfirmed: 0,
            unattributed: Vec::new(),
        },
        SubJobs {
            rows: vec![row],
            unconfirmed: 1,
            unattributed: vec![job_id()],
        },
    ]
}

pub(super) fn job_id() -> JobId {
    let stamp = Stamp {
        at: Timestamp::from_millis(0),
        seed: [7; 32],
    };
    JobId::mint(&stamp, "sample")
}

fn job(role: Role, evidence: EvidenceKind, full: bool) -> Job {
    Job {
        id: job_id(),
        role,
        round: RoundNumber(2),
        slot: SlotName::creator(),
        rank: 0,
        reason: if full {
            AttemptReason::ReAsk {
                problems: vec!["there is no block".to_owned()],
            }
        } else {
            AttemptReason::First
        },
        attempt: 1,
        nonce: "0123456789abcdef".repeat(2),
        evidence,
        deadline: Timestamp::from_millis(0),
        budget: 1,
        session: crate::domain::job::SessionUse::New,
    }
}

fn agent(contract: Contract, remote: bool) -> Agent {
    Agent {
        name: "sample".to_owned(),
        kind: AgentKind::Command(CommandAgent {
            program: "/sample".to_owned(),
            args: Vec::new(),
            prompt: PromptChannel::Stdin,
            report: ReportChannel::Stdout,
            env: Vec::new(),
            confine: false,
        }),
        remote,
        family: "sample".to_owned(),
        timeout: None,
        contract,
        definition: Digest::of(b"sample"),
    }
}

fn pin(full: bool) -> Pin {
    let digest = || Digest::of(b"sample");
    let [base, head, tree, snapshot] = ["1", "2", "3", "4"].map(oid);
    Pin {
        snapshot: if full { snapshot } else { head.clone() },
        base_tip: None,
        base_content_tree: base.clone(),
        branch: full.then(|| "refs/heads/sample".to_owned()),
        commits: 1,
        behind: u32::from(full),
        dirty: full,
        only_evidence: false,
        alone: None,
        tripwire: Tripwire {
            head_ref: "refs/heads/sample".to_owned(),
            branch_tip: head.clone(),
            config: digest(),
            hooks: digest(),
            info: digest(),
            index: digest(),
            manifests: digest(),
            parts: Box::default(),
        },
        notices: Vec::new(),
        identity: Identity {
            base,
            head,
            content_tree: tree.clone(),
            tree,
        },
    }
}

fn oid(name: &str) -> Oid {
    Oid::from(Digest::of(name.as_bytes()))
}

fn shown(full: bool) -> Evidence {
    let file = |number: usize| ChangedFile {
        path: format!("src/{number}.rs").as_str().into(),
        status: FileStatus::Modified,
        old_path: None,
        old_mode: "100644".to_owned(),
        new_mode: "100644".to_owned(),
        size: Some(10),
        added: Some(1),
        removed: Some(0),
        unreviewed: None,
        changed_lines: vec![(1, 1)],
    };
    Evidence {
        // More than are named one by one.
        files: (0..if full { 300 } else { 1 }).map(file).collect(),
        parts: vec![DiffPart {
            name: "001".to_owned(),
            receipt: "00".repeat(8),
            bytes: 10,
            in_prompt: true,
        }],
        diff_sha256: Digest::of(b"diff"),
        files_sha256: Digest::of(b"files"),
        since: Vec::new(),
        folder: "/evidence/sample".to_owned(),
    }
}

fn finding(number: u32, disposition: Disposition) -> Finding {
    Finding {
        id: FindingId(number),
        slot: SlotName::creator(),
        job: job_id(),
        round: RoundNumber(1),
        claim: Claim {
            title: "A line of somebody".to_owned(),
            severity: Severity::High,
            blocking: true,
            path: Some("src/0.rs".into()),
            line: Some(1),
            end_line: None,
            body: TEXT.to_owned(),
            pre_existing: false,
            blob: None,
        },
        blocking: true,
        again: None,
        lowered: None,
        disposition,
    }
}
