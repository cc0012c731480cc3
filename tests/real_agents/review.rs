//! What a reviewer is for: a verdict, from a prompt of any size, without writing anything.

use std::os::unix::fs::DirBuilderExt as _;

use run_loop::process::confine::landlock_version;
use serde_json::json;

use crate::program::{Kind, Program, Trial, each};
use crate::support::bench::Bench;
use crate::support::skipped;

fn passes(program: Program) {
    let bench = Bench::new().ready();
    let Some(trial) = Trial::new(program, bench, &json!([{"report": "PASS"}])) else {
        return;
    };
    trial.review(program, 90).ends(0);
    let sidecar = trial.bench.sidecar(&program.slot());
    assert_eq!(sidecar["verdict"], "PASS");
    assert_eq!(sidecar["agent"]["version"], program.version());
    let confined = match landlock_version() {
        Some(_) if program.kind() != Kind::Codex => "landlock",
        Some(_) | None => "none",
    };
    assert_eq!(sidecar["confinement"], confined);
    assert_eq!(trial.bench.gate().code, Some(0));
    // The model was asked, and by nobody who could have answered itself.
    assert!(!trial.model.log().is_empty());
}

fn refuses(program: Program) {
    let bench = Bench::new().ready();
    let Some(trial) = Trial::new(program, bench, &json!([{"report": "NOT PASS"}])) else {
        return;
    };
    trial.review(program, 90).ends(1).with("RL0");
    assert_eq!(trial.bench.promoted(), Vec::<String>::new());
}

/// 300 KB: more than twice what one argument may have.
fn takes_a_large_prompt(program: Program) {
    let bench = Bench::new().config("review: {diff-cap: 600KB}").ready();
    let line = "let some_value_of_this_line = another_value_of_this_line + 1;\n";
    bench
        .repo
        .write("src/large.rs", line.repeat(310_000 / line.len()));
    bench.repo.commit("large");
    let Some(trial) = Trial::new(program, bench, &json!([{"report": "PASS"}])) else {
        return;
    };
    trial.review(program, 120).ends(0);
    let largest = trial
        .model
        .log()
        .iter()
        .filter_map(|line| line["bytes"].as_u64())
        .max();
    assert!(largest > Some(300_000), "{largest:?}");
}

/// A model that tells its program to write is told that it may not, and the review goes on.
fn may_not_write(program: Program) {
    let bench = Bench::new().ready();
    let target = bench.repo.root().join("written.txt");
    let beside = bench.repo.beside("home").join("written.txt");
    let replies = [
        program.writing(target.to_str().unwrap()),
        program.writing(beside.to_str().unwrap()),
        program.writing("{tree}/written.txt"),
        json!({"report": "PASS"}),
    ];
    let Some(trial) = Trial::new(program, bench, &json!(replies)) else {
        return;
    };
    let ran = trial.review(program, 120);
    assert!(!target.exists() && !beside.exists(), "{ran:?}");
    let trees = trial.bench.left_in_cache(&["trees"]);
    assert!(
        !trees.iter().any(|path| path.ends_with("written.txt")),
        "{trees:?}"
    );
    // Denials are no failure: either it went on and answered, or it gave no verdict.
    assert!(matches!(ran.code, Some(0 | 5)), "{ran:?}");
    assert_eq!(ran.code == Some(0), !trial.bench.promoted().is_empty());
}

/// What stands in another job's folder.
const SECRET: &str = "what-another-job-was-told";

/// A model that tells its program to read what another job was given does not get it; what it is to
/// review it gets.
fn reads_no_other_job(program: Program) {
    if program.kind() == Kind::Codex {
        // Its own sandbox lets its commands read everything, and does not start in ours.
        return;
    }
    let bench = Bench::new().ready();
    if landlock_version().is_none() {
        return skipped("the kernel has no Landlock");
    }
    let other = bench.repo.beside("home").join(".cache/run-loop/jobs/other");
    let mut made = std::fs::DirBuilder::new();
    made.recursive(true).mode(0o700).create(&other).unwrap();
    std::fs::write(other.join("prompt.md"), SECRET).unwrap();
    let replies = [
        program.reading(other.join("prompt.md").to_str().unwrap()),
        program.reading("{tree}/src/lib.rs"),
        json!({"report": "PASS"}),
    ];
    let Some(trial) = Trial::new(program, bench, &json!(replies)) else {
        return;
    };
    trial.review(program, 90).ends(0);
    let told = trial.model.texts_beside_prompts();
    assert!(told.iter().any(|text| text.contains("pub fn two()")));
    assert!(!told.iter().any(|text| text.contains(SECRET)), "{told:?}");
}

each!(
    passes,
    refuses,
    takes_a_large_prompt,
    may_not_write,
    reads_no_other_job
);
