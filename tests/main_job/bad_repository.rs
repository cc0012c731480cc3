//! Repositories that cannot be reviewed as they stand, and what helps.

use crate::support::agents::ScriptedAgent;
use crate::support::bench::{Bench, Ran};
use crate::support::repo::{Repo, git, git_command};

fn bench() -> Bench {
    Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .ready()
}

/// W18: each is named, and nothing of the user's unfinished work is touched.
#[test]
fn a_rebase_and_a_bisect_in_progress() {
    let bench = bench();
    bench.repo.git(&["switch", "-q", "-c", "other", "main"]);
    bench.repo.write("src/lib.rs", "pub fn other() {}\n");
    bench.repo.commit("other");
    let rebase = git_command(bench.repo.root())
        .args(["rebase", "-q", "feature"])
        .output()
        .unwrap();
    assert!(!rebase.status.success(), "the rebase was to conflict");
    bench.review().ends(3).with("RL0107").says("rebase");
    assert!(bench.repo.root().join(".git/rebase-merge").exists());
    bench.repo.git(&["rebase", "--abort"]);
    bench.repo.git(&["switch", "-q", "feature"]);
    bench.repo.git(&["bisect", "start"]);
    bench.review().ends(3).with("RL0107").says("bisect");
    // The way out that the message names.
    bench
        .run(&["--base", "main", "--review-only", "--allow-in-progress"])
        .ends(0);
}

#[test]
fn bare_unborn_and_no_repository() {
    let bench = Bench::around(Repo::unborn());
    bench.review().ends(3).with("RL0106");
    let outside = bench.repo.beside("outside");
    std::fs::create_dir(&outside).unwrap();
    git(&outside, &["init", "-q", "--bare", "bare.git"]);
    for (folder, code) in [
        (outside.clone(), "RL0101"),
        (outside.join("bare.git"), "RL0102"),
    ] {
        let mut command = bench.command(&["--base", "main", "--review-only"]);
        let output = command.current_dir(&folder).output().unwrap();
        Ran::of(&output).ends(3).with(code);
    }
    assert!(!bench.repo.root().join(".git/run-loop").exists());
    assert!(!bench.repo.beside("home").join(".cache").exists());
}

/// G04: without the base, and with a shallow boundary before it; the next command really helps.
#[test]
fn a_shallow_clone_is_told_to_fetch_and_passes_then() {
    let bench = bench();
    let from = format!("file://{}", bench.repo.root().display());
    let clone = bench.repo.beside("clone");
    let clone_text = clone.to_str().unwrap();
    let args = [
        "clone",
        "-q",
        "--depth",
        "1",
        "--no-single-branch",
        "-b",
        "feature",
    ];
    git(
        bench.repo.root(),
        &[&args[..], &[&from, clone_text]].concat(),
    );
    let review = |base: &str| {
        let mut command = bench.command(&["--base", base, "--review-only"]);
        Ran::of(&command.current_dir(&clone).output().unwrap())
    };
    review("main").ends(3).with("RL0113");
    let ran = review("origin/main");
    ran.ends(3).with("RL0115").says("shallow");
    let next = ran.next();
    assert_eq!(next[0], "git");
    let args: Vec<&str> = next[1..].iter().map(String::as_str).collect();
    git(&clone, &args);
    review("origin/main").ends(0);
}

/// S22, T-032: main moved on is told with the number of commits, and so is a local base that is
/// behind its upstream.
#[test]
fn a_base_that_moved_on_or_lags_behind_is_told_with_numbers() {
    let bench = bench();
    let root = bench.repo.root();
    let fork = bench.repo.git(&["rev-parse", "main"]);
    bench.repo.git(&["switch", "-q", "main"]);
    for name in ["one", "two"] {
        bench.repo.write(name, name);
        bench.repo.commit(name);
    }
    bench.repo.git(&["switch", "-q", "feature"]);
    bench.repo.git(&["remote", "add", "origin", "."]);
    bench.repo.git(&["fetch", "-q", "origin"]);
    bench
        .repo
        .git(&["branch", "-q", "-u", "origin/main", "main"]);
    bench.repo.git(&["update-ref", "refs/heads/main", "main~1"]);
    let ran = bench.review();
    ran.ends(0)
        .says("main has 1 commit(s) that HEAD lacks")
        .says("main is behind origin/main by 1 commit(s)");
    // The first line names source, base and head in full.
    let head = bench.repo.git(&["rev-parse", "feature"]);
    let first = ran.stderr.lines().next().unwrap();
    for text in [root.to_str().unwrap(), &fork, &head] {
        assert!(first.contains(text), "no {text} in {first:?}");
    }
}

/// A base that moves forward during the run is a notice, not a stale round.
#[test]
fn a_base_that_moves_forward_during_the_run_is_a_notice() {
    let bench = Bench::new();
    let root = bench.repo.root().display().to_string();
    let forward = format!(
        "git -C '{root}' update-ref refs/heads/main \
         \"$(git -C '{root}' -c user.name=A -c user.email=a@example.org commit-tree -p main -m on 'main^{{tree}}')\""
    );
    let bench = bench
        .reviewer("ann", &ScriptedAgent::passing().after(&forward))
        .ready();
    bench
        .review()
        .ends(0)
        .says("main moved forward during the run");
    assert_eq!(bench.sidecar("ann")["round"], 1);
}
