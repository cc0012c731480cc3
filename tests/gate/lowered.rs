//! A NOT PASS that passes since what it found came late or was dismissed before: a permit believes
//! neither the ledger nor the engine, and works it out from the reports.

use run_loop::domain::code::Code;
use run_loop::domain::event::Settlement;
use run_loop::domain::finding::{Claim, Disposition, Finding};
use run_loop::domain::id::{FindingId, JobId, RoundNumber};
use run_loop::domain::job::{Ended, Prior, Reading, Reply, Review, Role, Ruling, RulingKind};
use run_loop::domain::lines::{FileSince, Region, Since};
use run_loop::domain::lowered::Lowered;
use run_loop::domain::severity::Severity;
use run_loop::domain::slot::SlotName;
use run_loop::domain::verdict::{Coverage, PassedBy, Verdict};
use run_loop::promote::{ApprovedRound, Permit};
use serde_json::Value;

use crate::sample::{oid, reader};
use crate::world::{World, refused};

fn claim(title: &str, severity: Severity) -> Claim {
    Claim {
        title: title.to_owned(),
        severity,
        blocking: false,
        path: Some("src/lib.rs".into()),
        line: Some(7),
        end_line: Some(9),
        body: String::new(),
        pre_existing: false,
        blob: Some(oid('b')),
    }
}

fn review(round: &mut ApprovedRound) -> &mut Review {
    let Reading::Review(review) = &mut round.slots[0].jobs[0].outcome.reading else {
        unreachable!("a review")
    };
    review
}

/// Rounds 1 and 2 were on other content, each with a completed report of the reader; in round 3 it
/// says NOT PASS with this finding.
fn third(round: &mut ApprovedRound, found: Claim, lowered: Lowered, by: PassedBy) {
    round.round = RoundNumber(3);
    for slot in &mut round.slots {
        slot.jobs[0].job.round = RoundNumber(3);
    }
    let mut earlier = round.pinned.clone();
    for (number, digit) in [(1, '1'), (2, '2')] {
        earlier.identity.tree = oid(digit);
        earlier.identity.content_tree = oid(digit);
        round.rounds.push((RoundNumber(number), earlier.clone()));
        let mut report = round.slots[0].jobs[0].clone();
        report.job.id = job(number);
        report.job.round = RoundNumber(number);
        round.reviews.push(report);
    }
    round.rounds.push((RoundNumber(3), round.pinned.clone()));
    review(round).verdict = Verdict::NotPass;
    review(round).findings.push(found.clone());
    review(round).prior.push(Prior {
        finding: FindingId(1),
        disposition: Disposition::Fixed,
        note: String::new(),
        blob: None,
    });
    let finding = |number, job, found, blocking, lowered, disposition| Finding {
        id: FindingId(number),
        slot: reader("security").name,
        job,
        round: RoundNumber(if number == 1 { 1 } else { 3 }),
        claim: found,
        blocking,
        again: None,
        lowered,
        disposition,
    };
    let before = finding(
        1,
        job(1),
        claim("a leak", Severity::High),
        true,
        None,
        Disposition::Fixed,
    );
    let now = round.slots[0].jobs[0].job.id;
    let open = Disposition::Open;
    let finding = finding(2, now, found, false, Some(lowered), open);
    round.findings.push(finding.clone());
    round.ledger.extend([before, finding]);
    round.evidence.since.push(Since {
        tree: oid('2'),
        files: vec![FileSince {
            old: Some("src/lib.rs".into()),
            new: Some("src/lib.rs".into()),
            changed: Some(vec![Region {
                old: 10,
                old_count: 1,
                new: 10,
                new_count: 3,
            }]),
        }],
    });
    round.slots[0].settlement = Settlement::Passed { by, job: now };
}

fn job(number: u32) -> JobId {
    JobId::parse(&format!("01940000-0000-7000-8000-00000000000{number}")).unwrap()
}

fn late(round: &mut ApprovedRound) {
    let found = claim("a wish", Severity::Medium);
    third(round, found, Lowered::Late, PassedBy::Threshold);
}

/// The finding repeats one that the arbiter overruled in an earlier round.
fn dismissed(world: &World, round: &mut ApprovedRound) {
    round.spec.review_only = false;
    round.spec.creator = Some(reader("author").agent);
    round.spec.arbiter = Some(reader("judge").agent);
    let lowered = Lowered::Dismissed {
        finding: FindingId(1),
    };
    let found = claim("A leak!", Severity::High);
    third(round, found, lowered, PassedBy::Arbitration);
    round.ledger[0].disposition = Disposition::Overruled;
    let mut ruling = world
        .settled(&reader("security"), &world.stamp(), PassedBy::Reviewer)
        .jobs
        .remove(0);
    ruling.job.role = Role::Arbitrate;
    ruling.job.slot = SlotName::arbiter();
    ruling.outcome.reading = Reading::Reply {
        reply: Reply::Rulings {
            rulings: vec![Ruling {
                finding: FindingId(1),
                ruling: RulingKind::Overruled,
                note: "it is none".to_owned(),
            }],
        },
    };
    round.rulings.push(ruling);
}

fn sidecar(world: &World, round: &ApprovedRound) -> Value {
    let (slot, job) = (&round.slots[0].slot, round.slots[0].jobs[0].job.id);
    let path = world.reports(&format!("{slot}/report-{job}.identity.json"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_late_finding_is_listed_and_the_gate_knows() {
    let world = World::new();
    let round = world.approve_as(late);
    let sidecar = sidecar(&world, &round);
    assert_eq!(sidecar["by"], "threshold");
    assert_eq!(sidecar["advisory"][0]["finding"], "F-2");
    assert_eq!(sidecar["advisory"][0]["title"], "a wish");
    assert_eq!(world.gate().unwrap().slots[0].by, PassedBy::Threshold);
}

#[test]
fn a_finding_that_was_dismissed_is_listed_with_its_ruling() {
    let world = World::new();
    let round = world.approve_as(|round| dismissed(&world, round));
    let sidecar = sidecar(&world, &round);
    assert_eq!(sidecar["by"], "arbitration");
    assert_eq!(sidecar["rulings"][0]["finding"], "F-2");
    assert_eq!(sidecar["rulings"][0]["note"], "it is none");
    assert_eq!(world.gate().unwrap().slots[0].by, PassedBy::Arbitration);
}

/// A dismissal holds on the path that it was made on: somebody may have moved the same bytes to where
/// they are a fault, and the whole way of the rename is told.
#[test]
fn a_rename_carries_no_dismissal() {
    let world = World::new();
    let mut round = world.round();
    dismissed(&world, &mut round);
    round.ledger[0].claim.path = Some("tests/key.rs".into());
    let since = Since {
        tree: oid('1'),
        files: vec![FileSince {
            old: Some("tests/key.rs".into()),
            new: Some("src/lib.rs".into()),
            changed: Some(Vec::new()),
        }],
    };
    round.since.push((RoundNumber(2), vec![since]));
    let lock = world.lock(round.spec.loop_id);
    let code = refused(Permit::grant(round, lock.proof()));
    assert_eq!(code, Code::NotPassUnexplained);
}

/// Every fact that a late finding rests on, taken away.
#[test]
fn a_late_finding_that_nothing_proves_stands() {
    let both = |round: &mut ApprovedRound, change: &dyn Fn(&mut Claim)| {
        change(&mut review(round).findings[0]);
        change(&mut round.findings[0].claim);
        change(&mut round.ledger[1].claim);
    };
    let changes: [&dyn Fn(&mut ApprovedRound); 14] = [
        &|round| drop(round.reviews.pop()),
        &|round| round.reviews[0].outcome.ended = Ended::TimedOut,
        &|round| {
            if let Reading::Review(review) = &mut round.reviews[1].outcome.reading {
                review.coverage = Coverage::None;
            }
        },
        &|round| round.reviews[0].job.round = RoundNumber(3),
        &|round| drop(round.rounds.remove(0)),
        &|round| round.evidence.since.clear(),
        &|round| round.evidence.since[0].tree = oid('1'),
        &|round| round.evidence.since[0].files[0].changed = None,
        &|round| both(round, &|claim| claim.end_line = Some(10)),
        &|round| both(round, &|claim| claim.blob = None),
        &|round| both(round, &|claim| claim.severity = Severity::High),
        &|round| both(round, &|claim| "A LEAK".clone_into(&mut claim.title)),
        &|round| both(round, &|claim| claim.blocking = true),
        &|round| review(round).prior.clear(),
    ];
    for (nth, change) in changes.iter().enumerate() {
        let world = World::new();
        let mut round = world.round();
        late(&mut round);
        change(&mut round);
        let lock = world.lock(round.spec.loop_id);
        let code = refused(Permit::grant(round, lock.proof()));
        assert_eq!(code, Code::NotPassUnexplained, "change {nth}");
    }
}

/// Every fact that a dismissal rests on, taken away.
#[test]
fn a_dismissal_that_nothing_proves_settles_nothing() {
    let changes: [&dyn Fn(&mut ApprovedRound); 8] = [
        &|round| round.rulings.clear(),
        // On content that had been mended; that this very claim is marked as dismissed proves nothing.
        &|round| round.rulings[0].content = Some(oid('7')),
        &|round| round.ledger[0].disposition = Disposition::Sustained,
        &|round| round.ledger[0].claim.blob = Some(oid('c')),
        &|round| round.ledger[0].claim.line = Some(6),
        &|round| round.ledger[0].claim.path = Some("src/other.rs".into()),
        &|round| round.ledger[0].slot = SlotName::checks(),
        &|round| round.spec.arbiter = round.spec.creator.clone(),
    ];
    for (nth, change) in changes.iter().enumerate() {
        let world = World::new();
        let mut round = world.round();
        dismissed(&world, &mut round);
        change(&mut round);
        let lock = world.lock(round.spec.loop_id);
        let code = refused(Permit::grant(round, lock.proof()));
        assert_eq!(code, Code::NotPassUnexplained, "change {nth}");
    }
}
