//! The events of a run with two slots: a retry, a fallback, hostile text, a void round.

use std::path::Path;

use run_loop::domain::agent::{
    Agent, AgentKind, CommandAgent, Contract, PromptChannel, ReportChannel,
};
use run_loop::domain::code::Code;
use run_loop::domain::digest::Digest;
use run_loop::domain::effect::{Done, Effect, Outcome, ReviewTree};
use run_loop::domain::end::End;
use run_loop::domain::event::{Event, RoundResult, Settlement};
use run_loop::domain::failure::Failure;
use run_loop::domain::finding::{Claim, Disposition, Finding};
use run_loop::domain::id::{EffectId, FindingId, JobId, RoundNumber};
use run_loop::domain::isolation::EvidenceKind;
use run_loop::domain::job::{AttemptReason, Ended, Job, JobOutcome, Reading, Review, Role, Stored};
use run_loop::domain::path::RepoPath;
use run_loop::domain::severity::Severity;
use run_loop::domain::slot::{Slot, SlotName};
use run_loop::domain::spent::Spent;
use run_loop::domain::verdict::{Coverage, PassedBy, Verdict};

use crate::sample::{judged, oid, pin, refused, spec, stamp};

fn agent(name: &str) -> Agent {
    Agent {
        name: name.to_owned(),
        kind: AgentKind::Command(CommandAgent {
            program: "/bin/true".to_owned(),
            args: Vec::new(),
            prompt: PromptChannel::Stdin,
            report: ReportChannel::Stdout,
            env: Vec::new(),
            confine: false,
        }),
        remote: false,
        family: name.to_owned(),
        timeout: None,
        contract: Contract::Json,
        definition: Digest::of(name.as_bytes()),
    }
}

fn job(slot: &str, rank: usize, attempt: u32) -> Job {
    Job {
        id: JobId::mint(&stamp(1), &format!("{slot}{rank}{attempt}")),
        role: Role::Review,
        round: RoundNumber(1),
        slot: SlotName::parse(slot).unwrap(),
        rank,
        reason: AttemptReason::First,
        attempt,
        nonce: "0".repeat(32),
        evidence: EvidenceKind::ReviewTree,
        deadline: stamp(100).at,
        budget: 1800,
        session: run_loop::domain::job::SessionUse::New,
    }
}

fn asked(id: u64, job: &Job) -> Event {
    Event::EffectRequested {
        id: EffectId(id),
        effect: Box::new(Effect::RunJob { job: job.clone() }),
    }
}

fn answered(id: u64, ended: Ended, reading: Reading) -> Event {
    Event::EffectDone {
        stamp: stamp(u8::try_from(id).unwrap()),
        effect: EffectId(id),
        outcome: Box::new(Outcome::JobEnded {
            outcome: JobOutcome {
                ended,
                report: Some(Stored {
                    sha256: Digest::of(b"report"),
                    bytes: 6,
                }),
                prompt: None,
                stderr: None,
                reading,
                spent: Spent::default(),
                confinement: run_loop::domain::confinement::Confinement::None,
                started_at: stamp(1).at,
                ended_at: stamp(62).at,
                outlived: Vec::new(),
            },
        }),
    }
}

pub(crate) const HOSTILE: &str = "::error::\u{1b}[31mred\u{202e}";

pub(crate) fn claim() -> Claim {
    Claim {
        title: HOSTILE.to_owned(),
        severity: Severity::High,
        blocking: true,
        path: Some(RepoPath::new(*b"src/\xff\x1b.rs")),
        line: Some(10),
        end_line: Some(14),
        body: format!("first\n{HOSTILE}\n##[group]x"),
        pre_existing: false,
        blob: None,
    }
}

fn review(verdict: Verdict, findings: Vec<Claim>) -> Reading {
    Reading::Review(Review {
        verdict,
        summary: "read it".to_owned(),
        findings,
        prior: Vec::new(),
        plan: Vec::new(),
        unanswered: Vec::new(),
        coverage: Coverage::Full,
        receipts: 1,
    })
}

/// Round 1: `security` fails, its fallback says NOT PASS; `checks` passes. Round 2 is void.
#[expect(
    clippy::too_many_lines,
    reason = "one run, told from its start to its end"
)]
pub(crate) fn reviewed(number: u8, source: &Path) -> Vec<Event> {
    let mut spec = spec(number, source);
    spec.panel.insert(
        0,
        Slot {
            name: SlotName::parse("security").unwrap(),
            agent: agent("claude"),
            fallback: vec![agent("gemini")],
            instructions: Vec::new(),
        },
    );
    let security = SlotName::parse("security").unwrap();
    let (first, second, checks) = (
        job("security", 0, 1),
        job("security", 1, 2),
        job("checks", 0, 1),
    );
    let round = RoundNumber(1);
    let mut events = judged(number, source, 'd', refused());
    let closed = events.pop().unwrap();
    events[0] = Event::RunStarted {
        stamp: stamp(number),
        spec: Box::new(spec),
    };
    let finding = Finding {
        id: FindingId(1),
        slot: security.clone(),
        job: second.id,
        round,
        claim: claim(),
        blocking: true,
        again: None,
        lowered: None,
        disposition: Disposition::Open,
    };
    events.extend([
        Event::EffectRequested {
            id: EffectId(3),
            effect: Box::new(Effect::OpenTree {
                round,
                slot: security.clone(),
                snapshot: oid('e'),
                tree: oid('c'),
                base: oid('a'),
            }),
        },
        Event::EffectDone {
            stamp: stamp(number + 1),
            effect: EffectId(3),
            outcome: Box::new(Outcome::TreeOpened {
                result: Done::Ok(ReviewTree {
                    path: "/cache/tree".to_owned(),
                }),
            }),
        },
        Event::ReviewOpened { round },
        asked(4, &first),
        asked(5, &checks),
        answered(4, Ended::TimedOut, review(Verdict::Pass, Vec::new())),
        Event::SlotRetried {
            round,
            slot: security.clone(),
            rank: 1,
            reason: AttemptReason::First,
            ending: "its budget was spent".to_owned(),
        },
        asked(6, &second),
        answered(
            5,
            Ended::Exited { code: 0 },
            review(Verdict::Pass, Vec::new()),
        ),
        answered(
            6,
            Ended::Exited { code: 0 },
            review(Verdict::NotPass, vec![claim()]),
        ),
        Event::FindingRaised {
            finding: Box::new(finding),
        },
        Event::SlotSettled {
            round,
            slot: security,
            settlement: Settlement::NotPassed { job: second.id },
        },
        Event::SlotSettled {
            round,
            slot: SlotName::checks(),
            settlement: Settlement::Passed {
                by: PassedBy::Checks,
                job: checks.id,
            },
        },
        closed,
        Event::RoundOpened {
            round: RoundNumber(2),
        },
        Event::EffectRequested {
            id: EffectId(7),
            effect: Box::new(Effect::Pin {
                round: RoundNumber(2),
                work: None,
            }),
        },
        Event::EffectDone {
            stamp: stamp(number + 9),
            effect: EffectId(7),
            outcome: Box::new(Outcome::Pinned {
                result: Done::Ok(pin('9')),
            }),
        },
        Event::RoundClosed {
            round: RoundNumber(2),
            result: RoundResult::Stale {
                moved: vec![RepoPath::from("src/lib.rs")],
                base_moved: false,
                tripped: Vec::new(),
            },
        },
        Event::RunEnded {
            end: End::Failed {
                failure: Failure::new(Code::SourceMoved, format!("moved {HOSTILE}")),
            },
        },
    ]);
    events
}
