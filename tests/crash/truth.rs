//! Where a run stands, read from its journal's rows and not by the product.

use rusqlite::Connection;
use serde_json::Value;

use crate::support::bench::Bench;

/// Where the newest run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stands {
    /// There is none, or it has no event.
    Nowhere,
    /// It goes on, or would.
    Open,
    /// It is put aside.
    Aside,
    /// It ended.
    Ended,
}

/// The events of the newest run, read from a copy: nobody finds anything changed.
fn events(bench: &Bench) -> Vec<Value> {
    let runs = std::fs::read_dir(bench.repo.root().join(".git/run-loop/runs"));
    let newest = runs.ok().and_then(|runs| {
        let mut paths: Vec<_> = runs.map(|run| run.unwrap().path()).collect();
        // One that was being made is none yet.
        paths.retain(|path| {
            !path
                .file_name()
                .unwrap()
                .as_encoded_bytes()
                .starts_with(b".")
        });
        paths.sort();
        paths.pop()
    });
    let Some(run) = newest else {
        return Vec::new();
    };
    let folder = tempfile::tempdir().unwrap();
    for name in ["journal.db", "journal.db-wal"] {
        if run.join(name).exists() {
            std::fs::copy(run.join(name), folder.path().join(name)).unwrap();
        }
    }
    let copy = Connection::open(folder.path().join("journal.db")).unwrap();
    let query = copy.prepare("SELECT json FROM event ORDER BY seq");
    let mut query = query.unwrap();
    let rows = query.query_map([], |row| row.get::<_, String>(0)).unwrap();
    rows.map(|json| serde_json::from_str(&json.unwrap()).unwrap())
        .collect()
}

/// Where the newest run stands.
pub fn stands(bench: &Bench) -> Stands {
    let events = events(bench);
    match events.last().map(|last| last["event"].as_str().unwrap()) {
        None => Stands::Nowhere,
        Some("run_ended") => Stands::Ended,
        Some("run_suspended") => Stands::Aside,
        Some(_) => Stands::Open,
    }
}

/// Whether the newest run's journal tells of a promotion that was made.
pub fn is_promoted(bench: &Bench) -> bool {
    events(bench).iter().any(|event| {
        let (of, result) = (&event["outcome"]["of"], &event["outcome"]["result"]);
        event["event"] == "effect_done" && *of == "promoted" && result["ok"].is_object()
    })
}
