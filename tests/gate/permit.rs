//! What a permit is not granted for.

use run_loop::domain::code::Code;
use run_loop::domain::digest::Digest;
use run_loop::domain::event::Settlement;
use run_loop::domain::evidence::UnreviewedKind;
use run_loop::domain::failure::Failure;
use run_loop::domain::finding::{Claim, Disposition, Finding, Word};
use run_loop::domain::id::{FindingId, JobId, LoopId, RoundNumber};
use run_loop::domain::isolation::{EvidenceKind, Isolation};
use run_loop::domain::job::{
    Answer, AnswerAction, Ended, JobOutcome, Prior, Reading, Reply, Review, Role,
};
use run_loop::domain::oid::Oid;
use run_loop::domain::path::RepoPath;
use run_loop::domain::policy::AllowUnreviewed;
use run_loop::domain::run_spec::Quorum;
use run_loop::domain::severity::Severity;
use run_loop::domain::verdict::{Coverage, PassedBy, Verdict};
use run_loop::promote::{ApprovedRound, Permit};

use crate::sample::{oid, reader, slot_name};
use crate::world::{World, refused};

/// The code that a permit is refused with after a change of the facts.
#[track_caller]
fn refusal(change: impl FnOnce(&mut ApprovedRound)) -> Code {
    let world = World::new();
    let mut round = world.round();
    change(&mut round);
    let lock = world.lock(round.spec.loop_id);
    refused(Permit::grant(round, lock.proof()))
}

fn outcome(round: &mut ApprovedRound) -> &mut JobOutcome {
    &mut round.slots[0].jobs[0].outcome
}

fn review(round: &mut ApprovedRound) -> &mut Review {
    match &mut outcome(round).reading {
        Reading::Review(review) => review,
        Reading::Invalid { .. } | Reading::Reply { .. } | Reading::Silent => {
            unreachable!("the fixture's is a review")
        }
    }
}

fn claim(severity: Severity) -> Claim {
    Claim {
        title: "an off-by-one".to_owned(),
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

#[test]
fn a_round_that_passed_gets_its_permit() {
    let world = World::new();
    let round = world.round();
    let lock = world.lock(round.spec.loop_id);
    Permit::grant(round, lock.proof()).map(drop).unwrap();
}

#[test]
fn t_010_m_083_what_moved_between_verdict_and_promotion_is_not_promoted() {
    let other = Digest::of(b"other");
    let tree = Oid::parse(&"0".repeat(40)).unwrap();
    for (change, code) in [
        (
            Box::new(|round: &mut ApprovedRound| {
                round.before_promotion.pin.identity.content_tree = tree.clone();
            }) as Box<dyn FnOnce(&mut ApprovedRound)>,
            Code::SourceMoved,
        ),
        (
            Box::new(|round| round.sealed.pin.identity.content_tree = tree.clone()),
            Code::SourceMoved,
        ),
        (
            Box::new(|round| round.before_promotion.pin.identity.base = tree.clone()),
            Code::BaseMoved,
        ),
        (
            Box::new(|round| round.sealed.base_rewound = true),
            Code::BaseMoved,
        ),
        (
            Box::new(|round| round.before_promotion.pin.tripwire.hooks = other.clone()),
            Code::TripwireMoved,
        ),
        (
            Box::new(|round| {
                round.pinned.base_content_tree = round.pinned.identity.content_tree.clone();
            }),
            Code::ChangeSetBecameEmpty,
        ),
    ] {
        assert_eq!(refusal(change), code);
    }
}

#[test]
fn t_009_s31_a_pass_of_an_older_round_satisfies_nothing() {
    assert_eq!(
        refusal(|round| round.round = RoundNumber(2)),
        Code::Internal
    );
    assert_eq!(refusal(|round| round.slots[0].jobs.clear()), Code::Internal);
    let of_another_slot = refusal(|round| {
        let job = round.slots[1].jobs[0].clone();
        round.slots[0].settlement = Settlement::Passed {
            by: PassedBy::Reviewer,
            job: job.job.id,
        };
        round.slots[0].jobs = vec![job];
    });
    assert_eq!(of_another_slot, Code::Internal);
}

#[test]
fn only_a_job_that_ended_well_with_a_valid_report_passes_a_slot() {
    for ended in [
        Ended::Exited { code: 1 },
        Ended::Signalled { signal: 15 },
        Ended::TimedOut,
        Ended::Stopped,
        Ended::Lost,
    ] {
        assert_eq!(
            refusal(|round| outcome(round).ended = ended),
            Code::Internal
        );
    }
    assert_eq!(
        refusal(|round| outcome(round).report = None),
        Code::Internal
    );
    assert_eq!(
        refusal(|round| outcome(round).prompt = None),
        Code::Internal
    );
    assert_eq!(
        refusal(|round| outcome(round).reading = Reading::Silent),
        Code::Internal
    );
    assert_eq!(
        refusal(|round| review(round).coverage = Coverage::None),
        Code::Internal
    );
    assert_eq!(
        refusal(|round| {
            round.slots[0].settlement = Settlement::Passed {
                by: PassedBy::Threshold,
                job: round.slots[0].jobs[0].job.id,
            };
        }),
        Code::Internal
    );
}

#[test]
fn a_claim_against_the_identity_bars_it_whoever_made_it() {
    let not_pass = refusal(|round| review(round).verdict = Verdict::NotPass);
    assert_eq!(not_pass, Code::NotPassUnexplained);
    let blocking = refusal(|round| review(round).findings.push(claim(Severity::High)));
    assert_eq!(blocking, Code::NotPassUnexplained);
    let earlier_attempt = refusal(|round| {
        let mut invalid = round.slots[0].jobs[0].clone();
        invalid.outcome.ended = Ended::TimedOut;
        invalid.outcome.reading = Reading::Invalid {
            problems: vec!["no receipt".to_owned()],
            claimed: Some(Verdict::NotPass),
            claims: Vec::new(),
            open: Vec::new(),
        };
        round.slots[0].jobs.insert(0, invalid);
    });
    // The job's own id is not what is asked: another attempt of any job claims it.
    assert_eq!(earlier_attempt, Code::NotPassUnexplained);
    let ledger = refusal(|round| {
        round.findings.push(Finding {
            id: FindingId(1),
            slot: slot_name("security"),
            job: round.slots[0].jobs[0].job.id,
            round: round.round,
            claim: claim(Severity::High),
            blocking: true,
            again: None,
            lowered: None,
            disposition: Disposition::Open,
        });
    });
    assert_eq!(ledger, Code::FindingsStand);
}

/// A finding of `security` that is called mended, of a round before this one.
fn mended(round: &mut ApprovedRound) {
    let mut earlier = round.slots[0].jobs[0].job.clone();
    earlier.id = JobId::mint(&World::new().stamp(), "earlier");
    round.ledger.push(Finding {
        id: FindingId(1),
        slot: slot_name("security"),
        job: earlier.id,
        round: RoundNumber(1),
        claim: claim(Severity::High),
        blocking: true,
        again: None,
        lowered: None,
        disposition: Disposition::Fixed,
    });
}

/// A quorum forgives silence where the slot said before that what it found is mended: in a round that is not
/// void, and without a refusal since that names nothing.
#[test]
fn a_quorum_forgives_whoever_had_nothing_left_to_say() {
    let grant = |void: &[u32], says: Verdict| {
        let world = World::new();
        let mut round = world.round();
        mended(&mut round);
        let style = reader("style");
        let stamp = world.stamp();
        round
            .slots
            .push(world.settled(&style, &stamp, PassedBy::Reviewer));
        round.spec.panel.push(style);
        round.spec.review.quorum = Quorum::AtLeast(1);
        let said = round.slots[0].jobs.remove(0);
        round.slots[0].settlement = Settlement::NoVerdict {
            reason: "no report".to_owned(),
        };
        round.round = RoundNumber(4);
        for slot in &mut round.slots {
            slot.jobs
                .iter_mut()
                .for_each(|it| it.job.round = round.round);
        }
        for (number, verdict) in [(2, Verdict::Pass), (3, says)] {
            let mut said = said.clone();
            said.job.id = JobId::mint(&world.stamp(), &number.to_string());
            said.job.round = RoundNumber(number);
            // On the content now a NOT PASS bars, whatever became of what it found.
            said.content = Some(oid('7'));
            if let Reading::Review(review) = &mut said.outcome.reading {
                review.verdict = verdict;
            }
            if !void.contains(&number) {
                round.passed.insert(said.job.id);
            }
            round.reviews.push(said);
        }
        let lock = world.lock(round.spec.loop_id);
        Permit::grant(round, lock.proof()).map(drop)
    };
    grant(&[], Verdict::Pass).unwrap();
    grant(&[3], Verdict::Pass).unwrap();
    for (void, says) in [
        (&[2, 3][..], Verdict::Pass),
        (&[], Verdict::NotPass),
        (&[3], Verdict::NotPass),
    ] {
        let refused = grant(void, says).unwrap_err();
        assert_eq!(refused.code, Code::NoVerdict, "{}", refused.message);
    }
}

/// What a job says on this very content still holds, whatever else it says and whatever the ledger does.
#[test]
fn what_a_report_keeps_open_bars_the_identity() {
    let says = |disposition: Disposition| {
        let world = World::new();
        let mut round = world.round();
        mended(&mut round);
        review(&mut round).prior.push(Prior {
            finding: FindingId(1),
            disposition,
            note: String::new(),
            blob: None,
        });
        let lock = world.lock(round.spec.loop_id);
        Permit::grant(round, lock.proof()).map(drop)
    };
    for kept in [Disposition::Open, Disposition::Upheld] {
        assert_eq!(says(kept).unwrap_err().code, Code::FindingsStand);
    }
    says(Disposition::Fixed).unwrap();
    let invalid = refusal(|round| {
        mended(round);
        let mut invalid = round.slots[0].jobs[0].clone();
        invalid.outcome.reading = Reading::Invalid {
            problems: vec!["no receipt".to_owned()],
            claimed: None,
            claims: Vec::new(),
            open: vec![FindingId(1)],
        };
        round.slots[0].jobs.insert(0, invalid);
    });
    assert_eq!(invalid, Code::FindingsStand);
}

/// The same claim in an earlier round on this content, whatever base the round had: nothing can have mended it.
#[test]
fn what_was_refused_on_this_content_in_another_round_bars_it() {
    let claimed = |content: Option<Oid>| {
        let world = World::new();
        let mut round = world.round();
        let mut invalid = round.slots[0].jobs[0].clone();
        invalid.job.id = JobId::mint(&world.stamp(), "earlier");
        invalid.content = content;
        invalid.outcome.reading = Reading::Invalid {
            problems: vec!["no receipt".to_owned()],
            claimed: Some(Verdict::NotPass),
            claims: Vec::new(),
            open: Vec::new(),
        };
        round.reviews.push(invalid);
        let mut earlier = round.pinned.clone();
        earlier.identity.base = Oid::parse(&"0".repeat(40)).unwrap();
        round.rounds.push((RoundNumber(1), earlier));
        round.rounds.push((RoundNumber(2), round.pinned.clone()));
        round.round = RoundNumber(2);
        for slot in &mut round.slots {
            slot.jobs[0].job.round = RoundNumber(2);
        }
        let lock = world.lock(round.spec.loop_id);
        Permit::grant(round, lock.proof()).map(drop)
    };
    let here = World::new().round().pinned.identity.content_tree;
    // What it was asked on is not always known.
    for content in [Some(here), None] {
        let refused = claimed(content).unwrap_err();
        assert_eq!(
            refused.code,
            Code::NotPassUnexplained,
            "{}",
            refused.message
        );
    }
    claimed(Some(Oid::parse(&"0".repeat(40)).unwrap())).unwrap();
}

/// What the last word on a finding was of which a fallback's PASS says nothing.
fn passed_over(change: impl FnOnce(&mut ApprovedRound)) -> Result<(), Failure> {
    let world = World::new();
    let mut round = world.round();
    mended(&mut round);
    // Its own agent found it in round 1, and the fallback passes the slot in round 2.
    let fallback = reader("other").agent;
    round.spec.panel[0].fallback.push(fallback);
    let mut found = round.slots[0].jobs[0].clone();
    found.job.id = round.ledger[0].job;
    found.content = Some(Oid::parse(&"0".repeat(40)).unwrap());
    found.outcome.reading = Reading::Review(Review {
        verdict: Verdict::NotPass,
        findings: vec![claim(Severity::High)],
        ..review(&mut round).clone()
    });
    round.reviews.push(found);
    let mut fixed = round.slots[0].jobs[0].clone();
    fixed.job.id = JobId::mint(&world.stamp(), "answers");
    fixed.job.role = Role::Correct;
    fixed.job.round = RoundNumber(2);
    fixed.outcome.reading = Reading::Reply {
        reply: Reply::Answers {
            answers: vec![Answer {
                finding: FindingId(1),
                action: AnswerAction::Fixed,
                note: String::new(),
            }],
        },
    };
    let word = Word {
        job: fixed.job.id,
        role: Role::Correct,
        disposition: Disposition::Fixed,
        note: String::new(),
    };
    round.words.insert(FindingId(1), vec![word]);
    round.answers.push(fixed);
    round.round = RoundNumber(2);
    for slot in &mut round.slots {
        slot.jobs[0].job.round = RoundNumber(2);
    }
    round.slots[0].jobs[0].job.rank = 1;
    let said = round.slots[0].jobs[0].clone();
    round.reviews.push(said);
    change(&mut round);
    let lock = world.lock(round.spec.loop_id);
    Permit::grant(round, lock.proof()).map(drop)
}

/// One agent's silence closes no dispute of another one of its slot: somebody has to have said before that it
/// is mended, the creator at least, and in a report.
#[test]
fn a_fallbacks_silence_closes_nothing_that_nobody_called_mended() {
    passed_over(|_| ()).unwrap();
    // Its own agent's silence is its word.
    passed_over(|round| {
        round.slots[0].jobs[0].job.rank = 0;
        round.words.clear();
    })
    .unwrap();
    passed_over(|round| {
        round.words.clear();
        review(round).prior.push(Prior {
            finding: FindingId(1),
            disposition: Disposition::Fixed,
            note: String::new(),
            blob: None,
        });
    })
    .unwrap();
    let word = |round: &mut ApprovedRound, disposition| {
        let mut last = round.words[&FindingId(1)][0].clone();
        last.disposition = disposition;
        round.words.get_mut(&FindingId(1)).unwrap().push(last);
    };
    let changes: [&dyn Fn(&mut ApprovedRound); 6] = [
        &|round| round.words.clear(),
        &|round| round.answers.clear(),
        &|round| round.answers[0].outcome.ended = Ended::TimedOut,
        &|round| word(round, Disposition::Refuted),
        &|round| word(round, Disposition::Sustained),
        // It is said afterwards.
        &|round| round.answers[0].job.round = RoundNumber(3),
    ];
    for (nth, change) in changes.iter().enumerate() {
        let refused = passed_over(change).unwrap_err();
        assert_eq!(refused.code, Code::Internal, "change {nth}");
        assert!(refused.message.contains("F-1"), "{}", refused.message);
    }
}

/// An acceptance item that nothing is said of is not known to hold.
#[test]
fn a_report_that_leaves_an_item_out_passes_nothing() {
    let code = refusal(|round| review(round).unanswered = vec![2]);
    assert_eq!(code, Code::Internal);
}

#[test]
fn every_slot_that_must_pass_did() {
    let no_verdict = |round: &mut ApprovedRound| {
        round.slots[0].settlement = Settlement::NoVerdict {
            reason: "it timed out".to_owned(),
        };
    };
    assert_eq!(refusal(no_verdict), Code::NoVerdict);
    let not_passed = refusal(|round| {
        let job = round.slots[0].jobs[0].job.id;
        round.slots[0].settlement = Settlement::NotPassed { job };
    });
    assert_eq!(not_passed, Code::FindingsStand);
    let forgiven_but_required = refusal(|round| {
        no_verdict(round);
        round.spec.review.quorum = Quorum::AtLeast(1);
        round.spec.policy.require = vec![slot_name("security")];
    });
    assert_eq!(forgiven_but_required, Code::NoVerdict);
    let nobody_of_the_readers_left = refusal(|round| {
        no_verdict(round);
        round.spec.review.quorum = Quorum::AtLeast(1);
    });
    assert_eq!(nobody_of_the_readers_left, Code::NoVerdict);
    assert_eq!(
        refusal(|round| round.spec.policy.families = 2),
        Code::NoVerdict
    );
    assert_eq!(refusal(|round| drop(round.slots.pop())), Code::Internal);
    assert_eq!(
        refusal(|round| round.spec.panel.push(reader("second"))),
        Code::Internal
    );
}

#[test]
fn t_019_isolation_is_not_lowered_silently() {
    let as_seen = |kind, isolation, remote, diff_only| {
        let world = World::new();
        let mut round = world.round();
        round.slots[0].jobs[0].job.evidence = kind;
        round.spec.review.isolation = isolation;
        round.spec.panel[0].agent.remote = remote;
        round.spec.review.remote_diff_only = diff_only;
        let lock = world.lock(round.spec.loop_id);
        Permit::grant(round, lock.proof()).is_ok()
    };
    assert!(!as_seen(
        EvidenceKind::SourceTree,
        Isolation::Worktree,
        false,
        false
    ));
    assert!(as_seen(
        EvidenceKind::SourceTree,
        Isolation::Env,
        false,
        false
    ));
    assert!(!as_seen(
        EvidenceKind::DiffOnly,
        Isolation::Worktree,
        false,
        true
    ));
    assert!(!as_seen(
        EvidenceKind::DiffOnly,
        Isolation::Worktree,
        true,
        false
    ));
    assert!(as_seen(
        EvidenceKind::DiffOnly,
        Isolation::Worktree,
        true,
        true
    ));
}

#[test]
fn files_that_nobody_was_shown_need_the_bases_word() {
    let hide = |round: &mut ApprovedRound, glob: &str| {
        round.evidence.files[0].unreviewed = Some(UnreviewedKind::Binary);
        round.evidence.files[0].path = RepoPath::from("img/logo.png");
        round.spec.policy.allow_unreviewed = vec![AllowUnreviewed {
            kind: UnreviewedKind::Binary,
            paths: glob.to_owned(),
        }];
    };
    assert_eq!(refusal(|round| hide(round, "docs/**")), Code::Unreviewed);
    let world = World::new();
    let mut round = world.round();
    hide(&mut round, "img/**");
    let lock = world.lock(round.spec.loop_id);
    Permit::grant(round, lock.proof()).map(drop).unwrap();
}

#[test]
fn the_lock_of_another_run_permits_nothing() {
    let world = World::new();
    let round = world.round();
    let lock = world.lock(LoopId::mint(&world.stamp(), "other"));
    assert_eq!(refused(Permit::grant(round, lock.proof())), Code::Internal);
}

#[test]
fn a_slot_cannot_write_among_the_manifests() {
    let code = refusal(|round| {
        round.spec.panel[0].name = slot_name("approvals");
        round.slots[0].slot = slot_name("approvals");
    });
    assert_eq!(code, Code::BadSlotName);
}
