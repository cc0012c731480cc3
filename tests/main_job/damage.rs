//! Damage of what lies on disk: never a PASS, and nothing else is spoilt by it.

use std::path::PathBuf;

use crate::support::agents::ScriptedAgent;
use crate::support::bench::Bench;

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
