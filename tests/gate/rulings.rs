//! Approvals that more than a reviewer's own PASS makes: rulings, earlier rounds, self-review, and
//! the plan that is published with them.

use run_loop::domain::agent::Contract;
use run_loop::domain::code::Code;
use run_loop::domain::digest::Digest;
use run_loop::domain::event::Settlement;
use run_loop::domain::finding::{Claim, Disposition, Finding, Word};
use run_loop::domain::id::{FindingId, JobId, RoundNumber};
use run_loop::domain::job::{Ended, JobOutcome, Prior, Reading, Reply, Role, Ruling, RulingKind};
use run_loop::domain::oid::Oid;
use run_loop::domain::run_spec::{PlanSource, Quorum};
use run_loop::domain::severity::Severity;
use run_loop::domain::slot::SlotName;
use run_loop::domain::verdict::{Coverage, PassedBy, Verdict};
use run_loop::promote::{ApprovedRound, EndedJob, Permit};
use serde_json::Value;

use crate::sample::{oid, reader, rules};
use crate::world::{World, refused};

fn claim(title: &str) -> Claim {
    Claim {
        title: title.to_owned(),
        severity: Severity::High,
        blocking: true,
        path: None,
        line: None,
        end_line: None,
        body: String::new(),
        pre_existing: false,
        blob: None,
    }
}

/// A job that ruled on finding `id`.
fn rules_on(world: &World, role: Role, slot: SlotName, id: u32, ruling: RulingKind) -> EndedJob {
    let mut ended = world
        .settled(&reader("security"), &world.stamp(), PassedBy::Reviewer)
        .jobs
        .remove(0);
    ended.job.role = role;
    ended.job.slot = slot;
    ended.outcome.reading = Reading::Reply {
        reply: Reply::Rulings {
            rulings: vec![Ruling {
                finding: FindingId(id),
                ruling,
                note: format!("because of {id}"),
            }],
        },
    };
    ended
}

fn security() -> SlotName {
    reader("security").name
}

/// Makes the reader's report a NOT PASS with these findings, in that disposition, on which the
/// arbiter `judge` and the reader itself ruled accordingly.
fn disputed(
    world: &World,
    round: &mut ApprovedRound,
    titles: &[(&str, Disposition)],
    by: PassedBy,
) {
    round.spec.review_only = false;
    round.spec.creator = Some(reader("author").agent);
    round.spec.arbiter = Some(reader("judge").agent);
    let ended = &mut round.slots[0].jobs[0];
    let job = ended.job.id;
    let Reading::Review(review) = &mut ended.outcome.reading else {
        unreachable!("a review")
    };
    review.verdict = Verdict::NotPass;
    for (number, (title, disposition)) in (1..).zip(titles) {
        review.findings.push(claim(title));
        round.findings.push(Finding {
            id: FindingId(number),
            slot: security(),
            job,
            round: round.round,
            claim: claim(title),
            blocking: true,
            again: None,
            lowered: None,
            disposition: *disposition,
        });
        let upheld = rules_on(
            world,
            Role::Readjudicate,
            security(),
            number,
            RulingKind::Upheld,
        );
        let (role, slot, ruling) = match disposition {
            Disposition::Withdrawn => (Role::Readjudicate, security(), RulingKind::Withdrawn),
            Disposition::Overruled => (Role::Arbitrate, SlotName::arbiter(), RulingKind::Overruled),
            other @ (Disposition::Open
            | Disposition::Fixed
            | Disposition::Refuted
            | Disposition::Upheld
            | Disposition::Sustained
            | Disposition::Deferred) => unreachable!("{other:?} settles nothing"),
        };
        round.rulings.push(upheld);
        round
            .rulings
            .push(rules_on(world, role, slot, number, ruling));
    }
    round.slots[0].settlement = Settlement::Passed { by, job };
}

fn withdrawn(world: &World, round: &mut ApprovedRound) {
    disputed(
        world,
        round,
        &[("a leak", Disposition::Withdrawn)],
        PassedBy::Withdrawal,
    );
}

fn overruled(world: &World, round: &mut ApprovedRound) {
    let titles = [
        ("a leak", Disposition::Withdrawn),
        ("a race", Disposition::Overruled),
    ];
    disputed(world, round, &titles, PassedBy::Arbitration);
}

/// The code that a permit is refused with after a change of an approved dispute.
#[track_caller]
fn refusal(change: impl FnOnce(&World, &mut ApprovedRound)) -> Code {
    let world = World::new();
    let mut round = world.round();
    overruled(&world, &mut round);
    change(&world, &mut round);
    let lock = world.lock(round.spec.loop_id);
    refused(Permit::grant(round, lock.proof()))
}

fn sidecar(world: &World, round: &ApprovedRound) -> Value {
    let (slot, job) = (&round.slots[0].slot, round.slots[0].jobs[0].job.id);
    let path = world.reports(&format!("{slot}/report-{job}.identity.json"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_withdrawn_finding_passes_its_slot_and_the_gate_knows() {
    let world = World::new();
    let round = world.approve_as(|round| withdrawn(&world, round));
    let sidecar = sidecar(&world, &round);
    assert_eq!(sidecar["by"], "withdrawal");
    assert_eq!(sidecar["verdict"], "NOT PASS");
    assert_eq!(sidecar["rulings"][0]["ruling"], "withdrawn");
    let approval = world.gate().unwrap();
    assert_eq!(approval.slots[0].by, PassedBy::Withdrawal);
    assert!(run_loop::gate::human(&approval).contains("PASS by withdrawal"));
}

#[test]
fn an_overruled_finding_is_listed_with_its_reasons() {
    let world = World::new();
    let round = world.approve_as(|round| overruled(&world, round));
    let sidecar = sidecar(&world, &round);
    assert_eq!(sidecar["by"], "arbitration");
    let listed = sidecar["rulings"].as_array().unwrap();
    let listed: Vec<_> = listed
        .iter()
        .map(|ruling| {
            ["finding", "title", "ruling", "note"]
                .map(|key| ruling[key].as_str().unwrap().to_owned())
        })
        .collect();
    assert_eq!(
        listed,
        [
            ["F-1", "a leak", "withdrawn", "because of 1"],
            ["F-2", "a race", "overruled", "because of 2"],
        ]
    );
    assert_eq!(world.gate().unwrap().slots[0].by, PassedBy::Arbitration);
}

/// Section 6: a claim stands until it went through the ledger, and the ledger alone is not believed.
#[test]
fn a_disposition_that_no_ruling_proves_settles_nothing() {
    let without = refusal(|_, round| round.rulings.clear());
    assert_eq!(without, Code::FindingsStand);
    for disposition in [
        Disposition::Open,
        Disposition::Fixed,
        Disposition::Refuted,
        Disposition::Upheld,
        Disposition::Sustained,
        Disposition::Deferred,
        Disposition::Withdrawn,
    ] {
        let other = refusal(|_, round| round.findings[1].disposition = disposition);
        assert_eq!(other, Code::FindingsStand, "{disposition:?}");
    }
    let of_another_slot = refusal(|_, round| round.rulings[1].job.slot = SlotName::checks());
    assert_eq!(of_another_slot, Code::FindingsStand);
    let by_the_creator = refusal(|_, round| {
        round.rulings[3].job.role = Role::Correct;
        round.rulings[3].job.slot = SlotName::creator();
    });
    assert_eq!(by_the_creator, Code::FindingsStand);
    let crashed = refusal(|_, round| {
        let outcome: &mut JobOutcome = &mut round.rulings[3].outcome;
        outcome.ended = Ended::TimedOut;
    });
    assert_eq!(crashed, Code::FindingsStand);
    let sustained_since = refusal(|world, round| {
        let later = rules_on(
            world,
            Role::Arbitrate,
            SlotName::arbiter(),
            2,
            RulingKind::Sustained,
        );
        round.rulings.push(later);
    });
    assert_eq!(sustained_since, Code::FindingsStand);
    let unlisted = refusal(|_, round| drop(round.findings.pop()));
    assert_eq!(unlisted, Code::NotPassUnexplained);
}

#[test]
fn the_arbiter_is_neither_the_creator_nor_the_one_in_dispute() {
    for arbiter in [None, Some("author"), Some("security")] {
        let code = refusal(|_, round| {
            round.spec.arbiter = arbiter.map(|name| reader(name).agent);
        });
        assert_eq!(code, Code::FindingsStand, "{arbiter:?}");
    }
}

#[test]
fn rulings_do_not_replace_reading_nor_another_ground() {
    let uncovered = refusal(|_, round| {
        let Reading::Review(review) = &mut round.slots[0].jobs[0].outcome.reading else {
            unreachable!("a review")
        };
        review.coverage = Coverage::None;
        round.spec.panel[0].agent.contract = Contract::Line;
    });
    assert_eq!(uncovered, Code::Internal);
    let by_another_name = refusal(|_, round| {
        round.slots[0].settlement = Settlement::Passed {
            by: PassedBy::Withdrawal,
            job: round.slots[0].jobs[0].job.id,
        };
    });
    assert_eq!(by_another_name, Code::Internal);
}

/// Section 4: where the content did not change, no new round is bought.
#[test]
fn a_verdict_of_an_earlier_round_counts_on_the_same_identity_alone() {
    let earlier = |round: &mut ApprovedRound| {
        round.round = RoundNumber(2);
        let mut pin = round.pinned.clone();
        round.rounds = vec![(RoundNumber(1), pin.clone())];
        // Another commit of the same content.
        pin.identity.head = pin.identity.base.clone();
        round.rounds.push((RoundNumber(2), pin));
        round.slots[1].jobs[0].job.round = RoundNumber(2);
    };
    let world = World::new();
    let round = world.approve_as(|round| {
        overruled(&world, round);
        earlier(round);
    });
    let sidecar = sidecar(&world, &round);
    assert_eq!(
        (&sidecar["round"], &sidecar["job_round"]),
        (&Value::from(2), &Value::from(1))
    );
    assert!(world.gate().is_ok());
    let other = Oid::parse(&"1".repeat(40)).unwrap();
    let content = refusal(|_, round| {
        earlier(round);
        round.rounds[0].1.identity.content_tree = other.clone();
    });
    assert_eq!(content, Code::Internal);
    let base = refusal(|_, round| {
        earlier(round);
        round.rounds[0].1.identity.base = other.clone();
    });
    assert_eq!(base, Code::Internal);
    let unknown = refusal(|_, round| {
        earlier(round);
        round.rounds.remove(0);
    });
    assert_eq!(unknown, Code::Internal);
}

/// M-012, M-086: a creator's review of its own work is a report like any other, and says so.
#[test]
fn a_self_review_says_so_and_is_one_family() {
    let own = |round: &mut ApprovedRound| {
        round.spec.panel[0].name = SlotName::self_review();
        round.slots[0].slot = SlotName::self_review();
        round.slots[0].jobs[0].job.slot = SlotName::self_review();
        round.slots[0].settlement = Settlement::Passed {
            by: PassedBy::SelfReview,
            job: round.slots[0].jobs[0].job.id,
        };
    };
    let world = World::new();
    let round = world.approve_as(own);
    assert_eq!(sidecar(&world, &round)["by"], "self-review");
    let approval = world.gate().unwrap();
    assert_eq!(
        (approval.readers, approval.slots[0].by),
        (1, PassedBy::SelfReview)
    );
    let mut two = rules();
    two.policy.families = 2;
    assert_eq!(refused(world.gate_by(&two)), Code::GatePolicyUnmet);
    // Neither a self-review as somebody else's, nor the other way round.
    let world = World::new();
    let mut round = world.round();
    own(&mut round);
    round.slots[0].settlement = Settlement::Passed {
        by: PassedBy::Reviewer,
        job: round.slots[0].jobs[0].job.id,
    };
    assert_eq!(refused(world.publish(&round)), Code::Internal);
    let mut round = world.round();
    round.slots[0].settlement = Settlement::Passed {
        by: PassedBy::SelfReview,
        job: round.slots[0].jobs[0].job.id,
    };
    assert_eq!(refused(world.publish(&round)), Code::Internal);
}

/// M-047: the plan is promoted with the reports, and the manifest names it.
#[test]
fn the_plan_is_promoted_and_proved() {
    let planned = |round: &mut ApprovedRound| {
        let text = "# Plan\n\n1. Do it.  \n";
        round.spec.plan = PlanSource::Planner;
        round.plan = Some((text.to_owned(), Digest::of(text.as_bytes())));
    };
    let world = World::new();
    let round = world.approve_as(planned);
    let run = round.spec.loop_id;
    let path = world.reports(&format!("planner/plan-{run}.md"));
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        "# Plan\n\n1. Do it.\n"
    );
    let manifest = std::fs::read(world.reports(&format!("approvals/{run}.json"))).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let last = manifest["files"].as_array().unwrap().last().unwrap();
    assert_eq!(
        last["path"],
        format!(".agents/reports/planner/plan-{run}.md")
    );
    // The file is what its hash says, and so is the plan that was worked by.
    assert_eq!(manifest["plan_sha256"], last["sha256"]);
    let received = Digest::of(b"# Plan\n\n1. Do it.  \n").to_string();
    assert_eq!(manifest["plan_received_sha256"], received);
    // The evidence is no content, committed or not.
    assert!(world.gate().is_ok());
    world.repo.commit("evidence");
    assert!(world.gate().is_ok());
    std::fs::write(&path, "# Another\n").unwrap();
    assert_eq!(refused(world.gate()), Code::GateDamaged);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(refused(world.gate()), Code::GateDamaged);

    // A plan that is promoted as it is has one hash, and a manifest that names another one is damaged.
    let world = World::new();
    let round = world.approve_as(|round| {
        let text = "# Plan\n";
        round.spec.plan = PlanSource::Planner;
        round.plan = Some((text.to_owned(), Digest::of(text.as_bytes())));
    });
    let path = world.reports(&format!("approvals/{}.json", round.spec.loop_id));
    let text = std::fs::read_to_string(&path).unwrap();
    let manifest: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(manifest.get("plan_received_sha256"), None);
    let named = manifest["plan_sha256"].as_str().unwrap();
    assert_eq!(named, Digest::of(b"# Plan\n").as_str());
    let other = Digest::of(b"# Another\n").to_string();
    let forged = text.replacen(named, &other, 1);
    std::fs::write(&path, forged).unwrap();
    let mut by_files = rules();
    by_files.policy.attest = run_loop::domain::policy::Attest::Files;
    assert_eq!(refused(world.gate_by(&by_files)), Code::GateDamaged);

    let world = World::new();
    let mut round = world.round();
    planned(&mut round);
    round.plan = Some(("# Another\n".to_owned(), round.plan.unwrap().1));
    assert_eq!(refused(world.publish(&round)), Code::Internal);
    round.plan = None;
    assert_eq!(refused(world.publish(&round)), Code::Internal);
}

#[test]
fn a_forged_ground_is_no_pass() {
    let mut by_files = rules();
    by_files.policy.attest = run_loop::domain::policy::Attest::Files;
    let world = World::new();
    let round = world.approve_as(|round| overruled(&world, round));
    let run = round.spec.loop_id;
    let manifest = world.reports(&format!("approvals/{run}.json"));
    let job = round.slots[0].jobs[0].job.id;
    let sidecar = world.reports(&format!("security/report-{job}.identity.json"));
    let honest = std::fs::read_to_string(&sidecar).unwrap();
    let listed = std::fs::read_to_string(&manifest).unwrap();
    assert!(world.gate_by(&by_files).is_ok());
    let from = honest.find("  \"rulings\": [").unwrap();
    let to = honest.find("  \"fail_on\"").unwrap();
    let forged = format!("{}  \"rulings\": [],\n{}", &honest[..from], &honest[to..]);
    let hash = |text: &str| Digest::of(text.as_bytes()).to_string();
    std::fs::write(&sidecar, &forged).unwrap();
    std::fs::write(&manifest, listed.replace(&hash(&honest), &hash(&forged))).unwrap();
    assert_eq!(refused(world.gate_by(&by_files)), Code::GateDamaged);
    // Where nothing but the files is there, they speak for themselves.
    std::fs::remove_dir_all(world.repository.common_dir.join("run-loop/runs")).unwrap();
    assert_eq!(refused(world.gate_by(&by_files)), Code::GateNotPass);
}

/// What a review says of a finding later, on whatever content, takes the place of a ruling and is none.
#[test]
fn a_later_word_of_a_review_is_no_ruling() {
    let last_word = |is_the_rulings: bool| {
        let world = World::new();
        let mut round = world.round();
        overruled(&world, &mut round);
        let job = if is_the_rulings {
            round.rulings[3].job.id
        } else {
            JobId::mint(&world.stamp(), "later")
        };
        let word = Word {
            job,
            role: Role::Review,
            disposition: Disposition::Overruled,
            note: String::new(),
        };
        round.words.insert(FindingId(2), vec![word]);
        let lock = world.lock(round.spec.loop_id);
        Permit::grant(round, lock.proof()).map(drop)
    };
    last_word(true).unwrap();
    assert_eq!(last_word(false).unwrap_err().code, Code::FindingsStand);
}

/// What a whole NOT PASS says in so many words of what its slot found on other content is believed, as a PASS
/// is: a quorum forgives the slot's silence then. Not where its round is void, nor of the content itself.
#[test]
fn a_not_pass_says_in_words_that_something_is_mended() {
    let grant = |says: Option<Disposition>, raised_on: char, void: &[u32]| {
        let world = World::new();
        let mut round = world.round();
        withdrawn(&world, &mut round);
        let style = reader("style");
        let settled = world.settled(&style, &world.stamp(), PassedBy::Reviewer);
        round.slots.push(settled);
        round.spec.panel.push(style);
        round.spec.review.quorum = Quorum::AtLeast(1);
        // In round 1 it finds F-2; in round 2 it finds F-1, which it takes back; in round 3 it is silent.
        let mut second = round.slots[0].jobs.remove(0);
        round.slots[0].settlement = Settlement::NoVerdict {
            reason: "no report".to_owned(),
        };
        round.round = RoundNumber(3);
        for slot in &mut round.slots {
            slot.jobs
                .iter_mut()
                .for_each(|it| it.job.round = round.round);
        }
        let mut first = second.clone();
        first.job.id = JobId::mint(&world.stamp(), "first");
        (first.job.round, second.job.round) = (RoundNumber(1), RoundNumber(2));
        (first.content, second.content) = (Some(oid(raised_on)), Some(oid('7')));
        let Reading::Review(review) = &mut second.outcome.reading else {
            unreachable!("a review")
        };
        review.prior.extend(says.map(|disposition| Prior {
            finding: FindingId(2),
            disposition,
            note: "I looked.".to_owned(),
            blob: None,
        }));
        let mut mended = round.findings[0].clone();
        round.findings[0].round = RoundNumber(2);
        (mended.id, mended.job, mended.round) = (FindingId(2), first.job.id, RoundNumber(1));
        mended.disposition = Disposition::Fixed;
        round.ledger = vec![round.findings.remove(0), mended];
        round.void = void.iter().copied().map(RoundNumber).collect();
        round.reviews = vec![first, second];
        let lock = world.lock(round.spec.loop_id);
        Permit::grant(round, lock.proof()).map(drop)
    };
    grant(Some(Disposition::Fixed), '6', &[]).unwrap();
    for (says, raised_on, void) in [
        (None, '6', &[][..]),
        (Some(Disposition::Open), '6', &[]),
        (Some(Disposition::Fixed), '7', &[]),
        (Some(Disposition::Fixed), '6', &[2]),
    ] {
        let refused = grant(says, raised_on, void).unwrap_err();
        assert_eq!(refused.code, Code::NoVerdict, "{}", refused.message);
    }
}
