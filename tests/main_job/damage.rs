//! Damage of what lies on disk: never a PASS, and nothing else is spoilt by it.

use std::path::PathBuf;

use run_loop::domain::id::LoopId;
use run_loop::domain::time::{Stamp, Timestamp};
use run_loop::store::StateFolder;

use crate::support::agents::{Point, ScriptedAgent};
use crate::support::bench::Bench;
use crate::support::crash::Engine;

fn approved() -> Bench {
    let bench = Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .ready();
    bench.review().ends(0);
    bench.gate().ends(0);
    bench
}

/// Every regular file below a folder of the state.
fn files(bench: &Bench, below: &str) -> Vec<PathBuf> {
    let root = bench.repo.root().join(".git/run-loop").join(below);
    let output = std::process::Command::new("find")
        .arg(&root)
        .args(["-type", "f"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(PathBuf::from).collect()
}

/// A promoted file that was edited, torn or emptied.
#[test]
fn a_damaged_sidecar_manifest_or_report_is_no_approval() {
    let bench = approved();
    for name in bench.promoted() {
        let path = bench.repo.root().join(".agents/reports").join(&name);
        let whole = std::fs::read(&path).unwrap();
        let mut flipped = whole.clone();
        flipped[whole.len() / 2] ^= 1;
        for damaged in [&whole[..whole.len() / 2], &flipped[..], b""] {
            std::fs::write(&path, damaged).unwrap();
            let ran = bench.gate();
            ran.with("RL09");
            assert!(
                matches!(ran.code, Some(4 | 5)),
                "{name}: {:?}\n{}",
                ran.code,
                ran.stderr
            );
        }
        std::fs::write(&path, whole).unwrap();
    }
    bench.gate().ends(0);
}

/// G02: a damaged journal vouches for nothing, blocks no other run, and is listed as damaged.
#[test]
fn a_damaged_journal_vouches_for_nothing_and_blocks_nothing() {
    let bench = approved();
    let journals: Vec<PathBuf> = files(&bench, "runs")
        .into_iter()
        .filter(|path| path.ends_with("journal.db"))
        .collect();
    let [journal] = journals.as_slice() else {
        unreachable!("{journals:?}")
    };
    let mut bytes = std::fs::read(journal).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..].fill(0x5a);
    std::fs::write(journal, bytes).unwrap();
    let ran = bench.gate();
    ran.with("RL09");
    assert_eq!(ran.code, Some(5), "{}", ran.stderr);
    bench.run(&["list"]).ends(0).says("damaged");
    bench.review().ends(0);
    bench.gate().ends(0);
}

/// Whoever names no run means the newest: an older one is neither resumed nor cancelled in its place, and
/// jobs of a run that cannot be read are not "no jobs".
#[test]
fn nothing_is_done_to_the_run_before_one_that_cannot_be_read() {
    let bench = Bench::new();
    let point = Point::new(&bench.repo.beside("agents"), "ready");
    let bench = bench
        .reviewer("ann", &ScriptedAgent::hangs_at(&point))
        .ready();
    let engine = Engine::start(&bench);
    point.reached();
    engine.kill();
    let state = StateFolder::open(&bench.repo.root().join(".git")).unwrap();
    let [run] = state.run_ids().unwrap()[..] else {
        unreachable!("one run")
    };
    let stamp = Stamp {
        at: Timestamp::from_millis(4_000_000_000_000),
        seed: [7; 32],
    };
    let newer = LoopId::mint(&stamp, "run");
    let folder = state.run_path(newer);
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("journal.db"), b"garbage").unwrap();

    let (run, newer) = (run.to_string(), newer.to_string());
    for command in ["cancel", "resume"] {
        let ran = bench.run(&[command]);
        ran.ends(6).with("RL0501").says(&run).says(&newer);
        ran.says(&format!("next: run-loop {command} {run}"));
    }
    bench.run(&["job", "list"]).ends(0).says(&newer);
    bench.run(&["cancel", &run]).ends(0);
    bench.run(&["status"]).ends(6).says(&newer);
}

/// The projection and the owner's record are information: garbage there costs nothing.
#[test]
fn a_damaged_index_or_lock_record_costs_nothing() {
    let bench = approved();
    let mut garbled = 0;
    for path in files(&bench, "") {
        let text = path.to_str().unwrap();
        if text.contains("index.db") || text.contains("lock") {
            std::fs::write(&path, "garbage, and no database").unwrap();
            garbled += 1;
        }
    }
    assert!(garbled >= 2, "index and lock were to be found");
    bench.run(&["list"]).ends(0).says("PASS");
    bench.run(&["status"]).ends(0);
    bench.review().ends(0);
    bench.gate().ends(0);
}
