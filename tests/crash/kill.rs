//! SIGKILL at the N-th event and a while after it.

use std::time::{Duration, Instant};

use crate::scenario::Scenario;
use crate::support::crash::{Engine, processes, there_is, until};

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

/// A while that is not slept away: the kill is to hit whatever happens then.
fn wait(micros: u64) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_micros(micros) {
        std::hint::spin_loop();
    }
}

/// Runs until the `point`-th line and some time after it, and kills the engine; what it printed.
fn killed(mut engine: Engine, point: usize, micros: u64) -> Vec<String> {
    while engine.seen.len() < point && engine.next() {}
    wait(micros);
    engine.kill()
}

/// One round: up to three kills of the run and of those that take it up, then to the end.
fn round(scenario: &Scenario, kills: u64, dice: &mut Dice, why: &str) {
    let bench = &scenario.bench;
    let mut seen = killed(
        scenario.start(),
        usize::try_from(dice.below(scenario.events)).unwrap(),
        dice.below(20_000),
    );
    scenario.after_the_kill(&seen, why);
    for _ in 1..kills {
        let settled = scenario.settled_calls(&seen);
        let engine = Engine::start_with(bench, &["resume", "--format", "ndjson"]);
        let more = killed(
            engine,
            usize::try_from(dice.below(scenario.events * 3 / 5)).unwrap(),
            dice.below(20_000),
        );
        seen.extend(more);
        scenario.after_the_kill(&seen, why);
        scenario.nothing_bought_again(settled, why);
    }
    to_the_end(scenario, &seen, why);
}

/// Takes a killed run up, to its end.
fn to_the_end(scenario: &Scenario, seen: &[String], why: &str) {
    let settled = scenario.settled_calls(seen);
    let mut resumed = scenario.bench.run(&["resume"]);
    while resumed.code == Some(75) {
        resumed = scenario.bench.run(&["resume"]);
    }
    match resumed.code {
        // It had ended before the kill, as it must, or had not begun.
        Some(3) if resumed.stderr.contains("RL0140") => {
            assert_eq!(scenario.recorded_exit(), Some(scenario.exit), "{why}");
        }
        Some(2) if resumed.stderr.contains("RL0018") => {}
        Some(6) if resumed.stderr.contains("never began") => {}
        code => assert_eq!(
            code,
            Some(scenario.exit),
            "{why}\n{}\n{}",
            resumed.stdout,
            resumed.stderr
        ),
    }
    scenario.nothing_bought_again(settled, why);
    let why = &format!("{why}, resumed: {:?} {}", resumed.code, resumed.stderr);
    scenario.at_the_end(why);
    // The next run is not blocked by anything that the dead ones left.
    if resumed.code != Some(scenario.exit) {
        let mut again = scenario.run();
        while again.code == Some(75) {
            again = scenario.bench.run(&["resume"]);
        }
        again.ends(scenario.exit);
    }
    if scenario.exit == 0 {
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
        let seen = killed(scenario.start(), point, dice.below(20_000));
        scenario.after_the_kill(&seen, &why);
        // As long as a guard lives the run is in use.
        until(&format!("{why}: nothing is left"), || {
            bench.run(&["cleanup"]).ends(0);
            let left = bench.left_in_cache(&["trees", "evidence"]);
            // What a step of work is compared with cannot be made again.
            let needed = |path: &String| {
                let kind = path.rsplit_once('.').map(|(_, kind)| kind);
                matches!(kind, Some("branches" | "unheld" | "staged"))
            };
            left.iter().all(needed)
        });
        let folder = bench.repo.beside("agents");
        for name in scenario.agents {
            for pid in processes(bench, name) {
                assert!(!there_is(&pid, &folder), "{why}: {name} lives");
            }
        }
        to_the_end(&scenario, &seen, &why);
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
        let seen = killed(scenario.start(), point, dice.below(20_000));
        scenario.after_the_kill(&seen, &why);
        let cancelled = scenario.bench.run(&["cancel"]);
        let over = cancelled.stderr.contains("RL0140");
        assert!(
            cancelled.code == Some(0) || (cancelled.code == Some(3) && over),
            "{why}: {cancelled:?}"
        );
        scenario.at_the_end(&why);
        if !over {
            assert_eq!(scenario.bench.run(&["cancel"]).code, Some(0), "{why}");
            assert_ne!(scenario.bench.gate().code, Some(0), "{why}");
        }
    }
}
