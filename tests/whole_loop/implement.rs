//! What an implementation did is told apart: nothing, elsewhere, another branch, lost edits.

use crate::stage::{Stage, adds, by_role, implements, looks_for};

fn stage(implement: &str) -> Stage {
    Stage::new()
        .agent("ann", &by_role(&[("implement", implement)]))
        .agent("bob", &by_role(&[("review", &looks_for("sum"))]))
        .ready()
}

const LINE: [&str; 4] = ["--creator", "ann", "--reviewer", "bob"];

#[test]
fn nothing_that_changed_is_no_implementation() {
    let stage = stage("echo 'I did a lot.' | deliver");
    let bench = stage.bench();
    bench.repo.git(&["switch", "-q", "main"]);
    bench
        .run(&["add a sum", "--creator", "ann", "--reviewer", "bob"])
        .ends(6)
        .says("without changing anything");
    stage.promoted_nothing();
}

#[test]
fn a_commit_of_ones_own_is_as_good_as_edits() {
    let stage = stage(&format!(
        "{}; git -c user.name=a -c user.email=a@b commit -qam sum; echo Done. | deliver",
        adds("// sum")
    ));
    stage.run(&LINE).ends(0);
    stage.bench().gate().ends(0);
}

#[test]
fn another_branch_is_told_with_the_way_back() {
    let stage = stage(&format!(
        "git switch -q -c elsewhere; {}; git -c user.name=a -c user.email=a@b commit -qam sum; echo Done. | deliver",
        adds("// sum")
    ));
    let ran = stage.run(&LINE);
    ran.ends(6).says("elsewhere");
    let next = ran.next();
    assert_eq!(next[0], "git");
    assert_eq!(next[3..], ["switch", "feature"]);
    stage.promoted_nothing();
}

#[test]
fn an_operation_that_is_left_open_is_told() {
    let stage = stage(&format!(
        "{}; git -c user.name=a -c user.email=a@b commit -qam sum; git merge -q --no-commit --no-ff main~0 2>/dev/null; \
         git rev-parse HEAD > .git/MERGE_HEAD; echo Done. | deliver",
        adds("// sum")
    ));
    let ran = stage.run(&LINE);
    assert_ne!(ran.code, Some(0));
    stage.promoted_nothing();
}

/// Uncommitted work that the job threw away is named with what brings it back.
#[test]
fn lost_edits_are_named_with_the_restoring_command() {
    let stage = stage(&format!(
        "git checkout -q -- src/lib.rs; rm -f notes.txt; {}; echo Done. | deliver",
        adds("// sum")
    ));
    let repo = &stage.bench().repo;
    repo.write("src/lib.rs", "// hours of work\n");
    repo.write("notes.txt", "thoughts\n");
    let ran = stage.run(&LINE);
    ran.ends(0);
    let command = ran
        .stderr
        .lines()
        .find(|line| line.contains("notes.txt") && line.contains("git"))
        .unwrap_or_else(|| unreachable!("no restoring command in:\n{}", ran.stderr))
        .to_owned();
    let command = &command[command.find("git ").unwrap()..];
    let shown = std::process::Command::new("sh")
        .args(["-c", command])
        .current_dir(repo.root())
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&shown.stdout),
        "thoughts\n",
        "{command}"
    );
}

/// Promoted evidence, the configuration and hooks are no part of what a creator may write.
#[test]
fn a_creator_that_rewires_the_repository_ends_the_run() {
    let stage = stage(&format!(
        "git config alias.x '!true'; {}",
        implements("// sum")
    ));
    let ran = stage.run(&LINE);
    ran.ends(5).with("RL0305");
    stage.promoted_nothing();
}
