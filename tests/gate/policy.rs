//! The gate on the base's policy.

use run_loop::domain::agent::Contract;
use run_loop::domain::code::Code;
use run_loop::domain::digest::Digest;
use run_loop::domain::event::Settlement;
use run_loop::domain::evidence::UnreviewedKind;
use run_loop::domain::isolation::{EvidenceKind, Isolation};
use run_loop::domain::job::Reading;
use run_loop::domain::policy::{AllowFinding, AllowUnreviewed};
use run_loop::domain::run_spec::Quorum;
use run_loop::domain::severity::Severity;
use run_loop::domain::slot::Instruction;
use run_loop::domain::verdict::Coverage;
use run_loop::gate::GatePolicy;
use run_loop::promote::ApprovedRound;

use crate::sample::{reader, rules, slot_name};
use crate::world::{World, refused};

/// Approves with a change of the round, and judges with a change of the rules.
fn answer(
    round: impl FnOnce(&mut ApprovedRound),
    change: impl FnOnce(&mut GatePolicy),
) -> Result<(), Code> {
    let world = World::new();
    world.approve_as(round);
    let mut rules = rules();
    change(&mut rules);
    world
        .gate_by(&rules)
        .map(drop)
        .map_err(|failure| failure.code)
}

const UNMET: Result<(), Code> = Err(Code::GatePolicyUnmet);

#[test]
fn checks_alone_are_not_a_review() {
    let checks_only = |round: &mut ApprovedRound| {
        round.spec.panel.remove(0);
        round.slots.remove(0);
    };
    assert_eq!(answer(checks_only, |_| {}), Err(Code::GateChecksOnly));
    let asked = |rules: &mut GatePolicy| {
        rules.policy.require = vec![slot_name("checks")];
        rules.policy.families = 0;
    };
    assert_eq!(answer(checks_only, asked), Err(Code::GateChecksOnly));
}

#[test]
fn a_required_slot_is_there_and_is_what_the_base_defines() {
    let require = |rules: &mut GatePolicy| {
        rules.policy.require = vec![slot_name("security"), slot_name("checks")];
    };
    assert_eq!(answer(|_| {}, require), Ok(()));
    let without = |round: &mut ApprovedRound| {
        round.spec.panel.pop();
        round.slots.pop();
    };
    assert_eq!(answer(without, require), UNMET);
    // The name is right, the agent is another.
    let impostor = |round: &mut ApprovedRound| {
        round.spec.panel[0].agent.definition = Digest::of(b"a nicer one");
    };
    assert_eq!(answer(impostor, require), UNMET);
    let unknown = |rules: &mut GatePolicy| {
        require(rules);
        rules.panel.clear();
    };
    assert_eq!(answer(|_| {}, unknown), UNMET);
    let fallback = |rules: &mut GatePolicy| {
        require(rules);
        rules.panel[0].fallback = vec![rules.panel[0].agent.clone()];
        rules.panel[0].agent = reader("first").agent;
    };
    assert_eq!(answer(|_| {}, fallback), Ok(()));
    let instructed = |rules: &mut GatePolicy| {
        require(rules);
        rules.panel[0].instructions = vec![Instruction {
            path: "docs/review.md".to_owned(),
            text: "Look twice.".to_owned(),
            sha256: Digest::of(b"Look twice."),
        }];
    };
    assert_eq!(answer(|_| {}, instructed), UNMET);
    let newer_checks = |rules: &mut GatePolicy| {
        require(rules);
        rules.agents[1].definition = Digest::of(b"newer rules");
    };
    assert_eq!(answer(|_| {}, newer_checks), UNMET);
    let other_checks = |rules: &mut GatePolicy| {
        require(rules);
        rules.checks_sha256 = Digest::of(b"cargo test");
    };
    assert_eq!(answer(|_| {}, other_checks), UNMET);
}

#[test]
fn a_weaker_bar_is_refused_and_a_stricter_one_is_not() {
    let bar = |bar| move |round: &mut ApprovedRound| round.spec.review.fail_on = bar;
    assert_eq!(answer(bar(Severity::High), |_| {}), UNMET);
    assert_eq!(answer(bar(Severity::Low), |_| {}), Ok(()));
    let high = |rules: &mut GatePolicy| rules.fail_on = Severity::High;
    assert_eq!(answer(bar(Severity::High), high), Ok(()));
}

#[test]
fn weaker_isolation_is_refused_unless_the_base_asks_no_more() {
    let env = |round: &mut ApprovedRound| {
        round.spec.review.isolation = Isolation::Env;
        round.slots[0].jobs[0].job.evidence = EvidenceKind::SourceTree;
    };
    assert_eq!(answer(env, |_| {}), UNMET);
    assert_eq!(
        answer(env, |rules| rules.isolation = Isolation::Env),
        Ok(())
    );
    let remote = |round: &mut ApprovedRound| {
        round.spec.review.remote_diff_only = true;
        round.spec.panel[0].agent.remote = true;
        round.slots[0].jobs[0].job.evidence = EvidenceKind::DiffOnly;
    };
    assert_eq!(answer(remote, |_| {}), UNMET);
    assert_eq!(
        answer(remote, |rules| rules.panel[0].agent.remote = true),
        Ok(())
    );
}

#[test]
fn weaker_coverage_or_contract_is_refused_unless_the_base_says_so() {
    let line = |round: &mut ApprovedRound| {
        round.spec.panel[0].agent.contract = Contract::Line;
        if let Reading::Review(review) = &mut round.slots[0].jobs[0].outcome.reading {
            review.coverage = Coverage::None;
            review.receipts = 0;
        }
    };
    assert_eq!(answer(line, |_| {}), UNMET);
    let says_so = |rules: &mut GatePolicy| {
        rules.panel[0].agent.contract = Contract::Line;
        rules.agents.clear();
    };
    assert_eq!(answer(line, says_so), Ok(()));
    let requires = |rules: &mut GatePolicy| rules.policy.require = vec![slot_name("security")];
    assert_eq!(answer(line, requires), UNMET);
    let both = |rules: &mut GatePolicy| {
        says_so(rules);
        requires(rules);
    };
    assert_eq!(answer(line, both), Ok(()));
}

#[test]
fn enough_families_have_read_it() {
    assert_eq!(answer(|_| {}, |rules| rules.policy.families = 2), UNMET);
}

#[test]
fn a_missing_verdict_is_forgiven_by_the_bases_quorum_alone() {
    let second = |round: &mut ApprovedRound| {
        let mut settled = round.slots[0].clone();
        settled.slot = slot_name("second");
        settled.settlement = Settlement::NoVerdict {
            reason: "it timed out".to_owned(),
        };
        settled.jobs.clear();
        round.slots.push(settled);
        round.spec.panel.push(reader("second"));
        round.spec.review.quorum = Quorum::AtLeast(2);
    };
    assert_eq!(answer(second, |_| {}), UNMET);
    assert_eq!(
        answer(second, |rules| rules.quorum = Quorum::AtLeast(2)),
        Ok(())
    );
    assert_eq!(
        answer(second, |rules| rules.quorum = Quorum::AtLeast(3)),
        UNMET
    );
    let required = |rules: &mut GatePolicy| {
        rules.quorum = Quorum::AtLeast(2);
        rules.policy.require = vec![slot_name("second")];
    };
    assert_eq!(answer(second, required), UNMET);
}

#[test]
fn what_was_allowed_to_the_run_must_be_allowed_by_the_base() {
    let entry = |paths: &str| AllowUnreviewed {
        kind: UnreviewedKind::Binary,
        paths: paths.to_owned(),
    };
    let binary = |round: &mut ApprovedRound| {
        round.evidence.files[0].unreviewed = Some(UnreviewedKind::Binary);
        round.spec.policy.allow_unreviewed = vec![entry("**")];
    };
    assert_eq!(answer(binary, |_| {}), UNMET);
    let allow = |paths: &'static str| {
        move |rules: &mut GatePolicy| rules.policy.allow_unreviewed = vec![entry(paths)]
    };
    assert_eq!(answer(binary, allow("docs/**")), UNMET);
    assert_eq!(answer(binary, allow("**")), Ok(()));
    let keys = AllowFinding {
        rule: "private-key".to_owned(),
        paths: "**".to_owned(),
    };
    let lenient = |round: &mut ApprovedRound| round.spec.policy.allow_findings = vec![keys.clone()];
    assert_eq!(answer(lenient, |_| {}), UNMET);
    let lenient_base = |rules: &mut GatePolicy| rules.policy.allow_findings = vec![keys.clone()];
    assert_eq!(answer(lenient, lenient_base), Ok(()));
}

#[test]
fn the_policy_is_read_at_the_tip_of_the_base_and_nowhere_else() {
    let world = World::new();
    world.approve();
    let asked = std::cell::RefCell::new(Vec::new());
    let policy_at = |oid: &run_loop::domain::oid::Oid| {
        asked.borrow_mut().push(oid.clone());
        Ok(rules())
    };
    run_loop::gate::judge(&run_loop::gate::GateRequest {
        git: &world.git,
        repository: &world.repository,
        store: None,
        base: Some("main"),
        head: Some("feature"),
        expect_head: None,
        policy_at: &policy_at,
        attestations: &|| run_loop::store::attestations(&world.state),
    })
    .unwrap();
    assert_eq!(*asked.borrow(), [world.rev("main")]);
    assert_eq!(
        refused(world.gate_of(Some("nowhere"), None, None)),
        Code::BaseUnknown
    );
}
