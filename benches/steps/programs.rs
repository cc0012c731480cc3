//! Commands that people wait for.

use std::path::Path;
use std::process::Command;

use crate::corpus::{Corpus, State};
use crate::git;
use crate::sample::{Technique, Watch, round_robin};
use crate::table::Table;

/// The program, as it was built for this.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_run-loop");

pub fn measure(corpus: &Corpus, samples: usize, table: &mut Table) {
    corpus.enter(State::A);
    let root = corpus.root();
    let cache = corpus.scratch().join("programs");
    // There is something to tell: what a run of `checks` alone comes to is the same to us.
    drop(std::fs::remove_dir_all(root.join(".git/run-loop")));
    let run = command(&root, &cache)
        .args(["--base", "main", "--review-only"])
        .output();
    let code = run.expect("the program starts").status.code();
    assert!(matches!(code, Some(0 | 1)), "a run ends with {code:?}");
    // They take a few milliseconds: more samples cost nothing.
    let samples = samples * 5;
    let techniques = vec![
        Technique::new("git --version", |watch: &mut Watch| {
            watch.time(|| git::run(&root, &["--version"]));
        }),
        Technique::new("run-loop --version", |watch: &mut Watch| {
            watch.time(|| own(&root, &cache, "--version"));
        }),
        Technique::new("git status", |watch: &mut Watch| {
            watch.time(|| git::run(&root, &["status"]));
        }),
        Technique::new("run-loop status", |watch: &mut Watch| {
            watch.time(|| own(&root, &cache, "status"));
        }),
    ];
    let taken = round_robin(samples, techniques, || {});
    table.row("run-loop --version", &taken[1], &taken[0], 1.0, Some(2.0));
    table.row("run-loop status", &taken[3], &taken[2], 1.0, Some(2.0));
}

fn own(root: &Path, cache: &Path, word: &str) {
    let output = command(root, cache).arg(word).output();
    let output = output.expect("the program starts");
    assert!(output.status.success(), "run-loop {word}: {output:?}");
}

fn command(root: &Path, cache: &Path) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .current_dir(root)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").expect("a PATH"))
        .env("HOME", cache)
        .env("GIT_CONFIG_NOSYSTEM", "1");
    command
}
