//! Refused before anything is asked: code, one next command, no promotion.

use crate::support::agents::ScriptedAgent;
use crate::support::bench::Bench;
use crate::support::repo::git;

fn bench() -> Bench {
    Bench::new()
        .reviewer("ann", &ScriptedAgent::passing())
        .ready()
}

/// T-004, T-201.
#[test]
fn a_nested_repository_with_and_without_commits() {
    for commit in [true, false] {
        let bench = bench();
        let nested = bench.repo.root().join("nested");
        std::fs::create_dir(&nested).unwrap();
        git(&nested, &["init", "-q"]);
        std::fs::write(nested.join("a"), "a").unwrap();
        if commit {
            git(&nested, &["add", "a"]);
            git(&nested, &["commit", "-q", "-m", "a"]);
        }
        bench.review().ends(3).with("RL0108").says("nested");
        assert_eq!(bench.promoted(), Vec::<String>::new());
    }
}

/// W18.
#[test]
fn an_operation_in_progress() {
    let bench = bench();
    bench.repo.git(&["switch", "-q", "-c", "other", "main"]);
    bench.repo.write("src/lib.rs", "pub fn other() {}\n");
    bench.repo.commit("other");
    let merge = std::process::Command::new("git")
        .args([
            "-c",
            "user.name=A",
            "-c",
            "user.email=a@example.org",
            "merge",
            "-q",
            "feature",
        ])
        .current_dir(bench.repo.root())
        .output()
        .unwrap();
    assert!(!merge.status.success(), "the merge was to conflict");
    bench.review().ends(3).with("RL0107");
}

#[test]
fn an_agent_that_is_missing_or_not_executable() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = bench();
    let program = bench.repo.beside("agents").join("ann");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o644)).unwrap();
    bench.review().ends(2).with("RL0006").says("ann");
    std::fs::remove_file(&program).unwrap();
    bench.review().ends(2).with("RL0006").says("ann");
    assert!(
        !bench.repo.root().join(".git/run-loop").exists(),
        "validation comes before any file"
    );
}

/// T-012: the review tree cannot be opened; no reviewer sees the source.
#[test]
fn a_cache_folder_that_is_a_link_is_refused() {
    let bench = bench();
    let elsewhere = bench.repo.beside("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let home = bench.repo.beside("home");
    std::fs::create_dir_all(home.join(".cache")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, home.join(".cache/run-loop")).unwrap();
    bench.review().ends(3);
    assert_eq!(
        std::fs::read_dir(&elsewhere).unwrap().count(),
        0,
        "a link was followed"
    );
    assert_eq!(bench.promoted(), Vec::<String>::new());
}

/// The first lines name source and base in full.
#[test]
fn source_and_base_are_named_in_full() {
    let bench = bench();
    let ran = bench.review();
    ran.ends(0).says(&bench.repo.git(&["rev-parse", "main"]));
    ran.says(bench.repo.root().to_str().unwrap());
}

/// W23: from a subdirectory, and on a linked worktree by `--worktree`; evidence goes to the main
/// working tree (row M-003).
#[test]
fn a_linked_worktree_is_reviewed_from_the_main_one() {
    let bench = bench();
    bench.repo.git(&["switch", "-q", "main"]);
    let linked = bench.repo.beside("linked");
    bench
        .repo
        .git(&["worktree", "add", "-q", linked.to_str().unwrap(), "feature"]);
    std::fs::write(linked.join("more.txt"), "more\n").unwrap();
    let ran = bench.run(&["--worktree", "../linked", "--base", "main", "--review-only"]);
    ran.ends(0).says(linked.to_str().unwrap());
    assert_eq!(bench.promoted().len(), 3);
    assert!(!linked.join(".agents").exists());
}
