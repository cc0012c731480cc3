//! SIGKILL at the N-th event and a while after it.

use std::time::{Duration, Instant};

use crate::scenario::Scenario;
use crate::support::crash::{Engine, calls};

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
        Engine::start(bench),
        usize::try_from(dice.below(34)).unwrap(),
        dice.below(20_000),
    );
    scenario.after_the_kill(&seen, why);
    for _ in 1..kills {
        let settled = scenario.settled_calls(&seen);
        let engine = Engine::start_with(bench, &["resume", "--format", "ndjson"]);
        let more = killed(
            engine,
            usize::try_from(dice.below(20)).unwrap(),
            dice.below(20_000),
        );
        seen.extend(more);
        scenario.after_the_kill(&seen, why);
        for (name, before) in settled {
            let log = || bench.run(&["log"]).stdout;
            let now = calls(bench, name);
            assert_eq!(now, before, "{why}: {name} was asked again\n{}", log());
        }
    }
    let settled = scenario.settled_calls(&seen);
    let resumed = bench.run(&["resume"]);
    match resumed.code {
        // It had ended before the kill, or had not begun.
        Some(3) if resumed.stderr.contains("RL0140") => {}
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
    for (name, before) in settled {
        let log = || bench.run(&["log"]).stdout;
        let now = calls(bench, name);
        assert_eq!(now, before, "{why}: {name} was asked again\n{}", log());
    }
    scenario.at_the_end(why);
    // The next run is not blocked by anything that the dead ones left.
    if resumed.code != Some(scenario.exit) {
        bench.review().ends(scenario.exit);
    }
    if scenario.exit == 0 {
        bench.gate().ends(0);
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
    rounds("passes", Scenario::passes, 8);
}

/// Issue 4: no crash turns NOT PASS into anything else.
#[test]
fn a_run_that_does_not_pass_survives_kills() {
    rounds("does not pass", Scenario::does_not_pass, 6);
}

/// Issue 4: a killed run can be cancelled at every point, and leaves nothing.
#[test]
fn a_killed_run_can_be_cancelled() {
    let rounds = number("RUN_LOOP_CRASH_ROUNDS").unwrap_or(4);
    let first = number("RUN_LOOP_CRASH_SEED").unwrap_or(1);
    for seed in first..first + rounds {
        let mut dice = Dice(seed.wrapping_mul(0xd134_2543_de82_ef95));
        let scenario = Scenario::passes();
        let why = format!("cancel, RUN_LOOP_CRASH_SEED={seed}");
        let point = usize::try_from(1 + dice.below(30)).unwrap();
        let seen = killed(Engine::start(&scenario.bench), point, dice.below(20_000));
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
