//! SIGKILL at the N-th event and a while after it.

use crate::scenario::Scenario;
use crate::support::crash::Engine;
use crate::truth::{Stands, stands};

/// A small generator of numbers from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit.max(1)
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// One round: up to three kills of the run and of those that take it up, then to the end.
fn round(scenario: &Scenario, kills: u64, dice: &mut Dice, why: &str) {
    let bench = &scenario.bench;
    let mut seen = scenario.killed(
        scenario.start(),
        usize::try_from(dice.below(scenario.events)).unwrap(),
        dice.below(20_000),
    );
    scenario.after_the_kill(&seen, why);
    for _ in 1..kills {
        let engine = Engine::start_with(bench, &["resume", "--format", "ndjson"]);
        let more = scenario.killed(
            engine,
            usize::try_from(dice.below(scenario.events * 3 / 5)).unwrap(),
            dice.below(20_000),
        );
        seen.extend(more);
        scenario.after_the_kill(&seen, why);
    }
    to_the_end(scenario, why);
}

/// Takes a killed run up, to its end.
fn to_the_end(scenario: &Scenario, why: &str) {
    let stood = stands(&scenario.bench);
    let resume = |more: &[&str]| {
        let resumed = scenario.bench.run(&[&["resume"], more].concat());
        scenario.nobody_lives(&format!(
            "{why}, resumed: {:?} {}",
            resumed.code, resumed.stderr
        ));
        resumed
    };
    let mut resumed = resume(&[]);
    while scenario.is_aside(&resumed) {
        resumed = resume(scenario.more);
    }
    let why = &format!("{why}, resumed: {:?} {}", resumed.code, resumed.stderr);
    let (code, reason) = match stood {
        Stands::Ended => (3, "RL0140"),
        Stands::Nowhere if resumed.code == Some(2) => (2, "RL0018"),
        Stands::Nowhere => (6, "never began"),
        Stands::Open | Stands::Aside => (scenario.exit, ""),
    };
    assert_eq!(resumed.code, Some(code), "{why}\n{}", resumed.stdout);
    assert!(resumed.stderr.contains(reason), "{why}");
    if stood == Stands::Nowhere {
        // Nothing of it is in the way of a new one.
        let mut again = scenario.run();
        while scenario.is_aside(&again) {
            again = resume(scenario.more);
        }
        again.ends(scenario.exit);
    }
    scenario.nobody_lives(why);
    scenario.at_the_end(true, why);
    if scenario.approves {
        scenario.gate().ends(0);
    }
}

fn rounds(name: &str, make: fn() -> Scenario, usual: u64) {
    let rounds = number("RUN_LOOP_CRASH_ROUNDS").unwrap_or(usual);
    let first = number("RUN_LOOP_CRASH_SEED").unwrap_or(1);
    for seed in first..first + rounds {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let kills = 1 + dice.below(3);
        let why = format!("{name}, RUN_LOOP_CRASH_SEED={seed}, {kills} kills");
        round(&make(), kills, &mut dice, &why);
    }
}

/// Issue 4: killed anywhere, resumed, a run that passes passes, and nothing is bought twice.
#[test]
fn a_run_that_passes_survives_kills() {
    rounds("passes", Scenario::passes, 4);
}

/// Issue 4: no crash turns NOT PASS into anything else.
#[test]
fn a_run_that_does_not_pass_survives_kills() {
    rounds("does not pass", Scenario::does_not_pass, 3);
}

/// Issue 4: neither does one whose creator was asked for a correction.
#[test]
fn a_run_that_is_corrected_survives_kills() {
    rounds("is corrected", Scenario::is_corrected, 2);
}

/// Issue 4: nor one with a delegated job.
#[test]
fn a_run_that_delegates_survives_kills() {
    rounds("delegates", Scenario::delegates, 2);
}

/// M-130: nor one whose creator leaves its work to another agent and ends.
#[test]
fn a_run_whose_creator_delegates_survives_kills() {
    rounds("its creator delegates", Scenario::creator_delegates, 2);
}

/// Issue 4: nor one with a plan, which is bound to the run.
#[test]
fn a_run_with_a_plan_survives_kills() {
    rounds("is planned", Scenario::is_planned, 2);
}

/// Issue 4: nor one whose finding is disputed: rulings are not asked for twice.
#[test]
fn a_run_that_is_arbitrated_survives_kills() {
    rounds("is arbitrated", Scenario::is_arbitrated, 2);
}

/// Issue 4.7: nor one that is parked at a limit (75), and taken up.
#[test]
fn a_run_that_is_parked_survives_kills() {
    rounds("is parked", Scenario::is_parked, 2);
}

/// Issue 4: nor one whose finding is sustained and mended after the ruling.
#[test]
fn a_run_that_complies_survives_kills() {
    rounds("complied", Scenario::is_complied, 1);
}

/// Issue 4: nor one whose finding is taken back by whoever raised it.
#[test]
fn a_run_whose_finding_is_withdrawn_survives_kills() {
    rounds("is withdrawn", Scenario::is_withdrawn, 1);
}

/// Issue 4: nor one whose plan is refined after two rounds.
#[test]
fn a_run_whose_plan_is_refined_survives_kills() {
    rounds("is escalated", Scenario::is_escalated, 1);
}

/// M-012: nor one whose creator reviews itself.
#[test]
fn a_creator_that_reviews_itself_survives_kills() {
    rounds("reviews itself", Scenario::reviews_itself, 1);
}

/// Issue 4.8: nor one that is put aside where its money is spent, and taken up with more.
#[test]
fn a_run_whose_money_is_spent_survives_kills() {
    rounds("its money is spent", Scenario::is_spent, 1);
}

/// Issue 4.4: nor a job that is all that its run does; it approves nothing.
#[test]
fn a_job_of_its_own_survives_kills() {
    rounds("a job of its own", Scenario::is_one_job, 1);
}

/// Issue 4: after a kill `cleanup` leaves no process and nothing that can be made again, and the run
/// goes on as if it had not been there.
#[test]
fn a_killed_run_is_cleaned_up_and_goes_on() {
    let rounds = number("RUN_LOOP_CRASH_ROUNDS").unwrap_or(3);
    let first = number("RUN_LOOP_CRASH_SEED").unwrap_or(1);
    let makes = [
        Scenario::passes,
        Scenario::is_corrected,
        Scenario::delegates,
        Scenario::is_planned,
    ];
    for seed in first..first + rounds {
        let mut dice = Dice(seed.wrapping_mul(0xa076_1d64_78bd_642f));
        let which = usize::try_from(seed).unwrap() % makes.len();
        let scenario = makes[which]();
        let bench = &scenario.bench;
        let why = format!("clean-up of {which}, RUN_LOOP_CRASH_SEED={seed}");
        let point = usize::try_from(1 + dice.below(scenario.events)).unwrap();
        let seen = scenario.killed(scenario.start(), point, dice.below(20_000));
        scenario.after_the_kill(&seen, &why);
        let cleaned = bench.run(&["cleanup"]);
        scenario.nobody_lives(&format!("{why}: {cleaned:?}"));
        cleaned.ends(0);
        let left = bench.left_in_cache(&["trees", "evidence"]);
        // What a step of work is compared with cannot be made again.
        let needed = |path: &String| {
            let kind = path.rsplit_once('.').map(|(_, kind)| kind);
            matches!(kind, Some("branches" | "unheld" | "staged"))
        };
        assert!(left.iter().all(needed), "{why}: {left:?}\n{cleaned:?}");
        to_the_end(&scenario, &why);
    }
}

/// Issue 4: a killed run can be cancelled at every point, and leaves nothing.
#[test]
fn a_killed_run_can_be_cancelled() {
    let rounds = number("RUN_LOOP_CRASH_ROUNDS").unwrap_or(3);
    let first = number("RUN_LOOP_CRASH_SEED").unwrap_or(1);
    for seed in first..first + rounds {
        let mut dice = Dice(seed.wrapping_mul(0xd134_2543_de82_ef95));
        let scenario = Scenario::passes();
        let why = format!("cancel, RUN_LOOP_CRASH_SEED={seed}");
        let point = usize::try_from(1 + dice.below(30)).unwrap();
        let seen = scenario.killed(scenario.start(), point, dice.below(20_000));
        scenario.after_the_kill(&seen, &why);
        let over = stands(&scenario.bench) == Stands::Ended;
        let cancelled = scenario.bench.run(&["cancel"]);
        scenario.nobody_lives(&format!("{why}: {cancelled:?}"));
        let expected = if over { 3 } else { 0 };
        assert_eq!(cancelled.code, Some(expected), "{why}: {cancelled:?}");
        assert_eq!(
            cancelled.stderr.contains("RL0140"),
            over,
            "{why}: {cancelled:?}"
        );
        scenario.at_the_end(over, &why);
        if !over {
            assert_eq!(scenario.bench.run(&["cancel"]).code, Some(0), "{why}");
            assert_ne!(scenario.bench.gate().code, Some(0), "{why}");
            assert_eq!(scenario.bench.promoted(), Vec::<String>::new(), "{why}");
        }
    }
}
