//! SIGKILL between two files of a promotion.

use std::path::Path;

use crate::support::agents::ScriptedAgent;
use crate::support::bench::Bench;
use crate::support::crash::Engine;

const SLOTS: [&str; 5] = ["ann", "bob", "cid", "dan", "eve"];
/// How often the kill is tried until it hits between two files: all of them are there within
/// milliseconds.
const TRIES: usize = 40;

/// Reports that are long, so that writing all of them takes a while.
fn bench() -> Bench {
    let script = "read_prompt\n\
                  { yes 'A line of a report, as long as reports have lines.' | head -n 18000; \
                  verdict PASS '[]'; } | deliver";
    let agent = ScriptedAgent::with_script(script);
    let bench = SLOTS
        .iter()
        .fold(Bench::new(), |bench, slot| bench.reviewer(slot, &agent));
    bench.ready()
}

fn holds_files(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some())
}

/// Issue 4.3: some files of the approval are there, and the one that makes them count is not. Nothing
/// is approved by them, and `resume` ends with the same PASS and every report whole.
#[test]
fn a_kill_between_two_files_of_a_promotion_approves_nothing() {
    let hit = (0..TRIES).any(|_| {
        let bench = bench();
        let reports = bench.repo.root().join(".agents/reports");
        let engine = Engine::start(&bench);
        let first = reports.join(SLOTS[0]);
        while !holds_files(&first) {
            std::hint::spin_loop();
        }
        engine.kill();
        if holds_files(&reports.join("approvals")) {
            return false;
        }
        assert_ne!(bench.gate().code, Some(0), "approved by half of its files");
        bench.run(&["resume"]).ends(0);
        let promoted = bench.promoted();
        for slot in SLOTS {
            let folder = format!("{slot}/");
            let files = promoted.iter().filter(|path| path.starts_with(&folder));
            for (nth, path) in files.clone().enumerate() {
                let bytes = std::fs::read(reports.join(path)).unwrap();
                let whole = if Path::new(path).extension().is_some_and(|it| it == "md") {
                    bytes.len() > 18_000 * 50
                } else {
                    serde_json::from_slice::<serde_json::Value>(&bytes).is_ok()
                };
                assert!(whole, "file {nth} of {slot}, {path}, is not whole");
            }
            assert_eq!(files.count(), 2, "{promoted:?}");
        }
        bench.gate().ends(0);
        true
    });
    assert!(hit, "no kill of {TRIES} came between two files");
}
