//! What an implementation did is told apart: nothing, elsewhere, another branch (lost edits:
//! `thrown_away.rs`).

use crate::stage::{Stage, adds, by_role, implements, looks_for};
use crate::thrown_away::restored;

pub(crate) fn stage(implement: &str) -> Stage {
    Stage::new()
        .agent("ann", &by_role(&[("implement", implement)]))
        .agent("bob", &by_role(&[("review", &looks_for("sum"))]))
        .ready()
}

pub(crate) const LINE: [&str; 4] = ["--creator", "ann", "--reviewer", "bob"];

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

/// A branch that holds something already is reviewed, and that the job added nothing is said.
#[test]
fn nothing_that_was_added_to_a_change_is_told() {
    let stage = Stage::new()
        .agent(
            "ann",
            &by_role(&[("implement", "echo 'I did a lot.' | deliver")]),
        )
        .agent(
            "bob",
            &by_role(&[("review", "verdict PASS '[]' | deliver")]),
        )
        .ready();
    let ran = stage.run(&LINE);
    ran.ends(0);
    assert!(
        ran.stderr.contains("the content did not change"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_commit_of_ones_own_is_as_good_as_edits() {
    let stage = stage(&format!(
        "{}; git -c user.name=a -c user.email=a@b commit -qam sum; echo Done. | deliver",
        adds("// sum")
    ));
    // What it changed is named.
    let ran = stage.run(&LINE);
    let said = &ran.ends(0).stderr;
    assert!(said.contains("answered; changed src/lib.rs\n"), "{said}");
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

pub(crate) const COMMIT: &str = "git -c user.name=a -c user.email=a@b commit -qam sum";

/// HEAD is where it was: the branch with the work is named all the same, and the command brings it.
#[test]
fn a_commit_on_another_branch_is_told_when_the_job_comes_back() {
    let stage = stage(&format!(
        "git switch -q -c elsewhere; {}; {COMMIT}; git switch -q feature; echo Done. | deliver",
        adds("// sum")
    ));
    let ran = stage.run(&LINE);
    ran.ends(6).with("RL0508").says("elsewhere");
    stage.promoted_nothing();
    let next = ran.next();
    brings_the_work(&stage, &next, "cherry-pick");
}

/// The next command is this one of git's, and the work is there once it was run.
#[track_caller]
fn brings_the_work(stage: &Stage, next: &[String], command: &str) {
    assert_eq!((&*next[0], &*next[3]), ("git", command));
    let repo = &stage.bench().repo;
    let words: Vec<&str> = next[3..].iter().map(String::as_str).collect();
    repo.git(&words);
    let source = std::fs::read_to_string(repo.root().join("src/lib.rs")).unwrap();
    assert!(source.ends_with("// sum\n"), "{source}");
}

/// What is on the branch under review is reviewed; what else was committed is told beside it. A branch
/// that only marks a commit of the change is no work elsewhere.
#[test]
fn a_second_branch_beside_the_change_is_told() {
    let stage = stage(&format!(
        "git branch mark; git switch -q -c elsewhere; {}; {COMMIT}; git switch -q feature; {}; echo Done. | deliver",
        adds("// more"),
        adds("// sum")
    ));
    let ran = stage.run(&LINE);
    ran.ends(0).says("also committed to elsewhere");
    assert!(!ran.stderr.contains("mark"), "{}", ran.stderr);
}

/// Work that no branch holds is named, and the command brings it (issue 5, item 2).
#[test]
fn work_that_no_branch_holds_is_told_with_what_brings_it() {
    let detached = format!(
        "git switch -q --detach; {}; {COMMIT}; git -c user.name=a -c user.email=a@b commit -q --amend -m again; \
         git switch -q feature",
        adds("// sum")
    );
    let stash = format!(
        "{}; git -c user.name=a -c user.email=a@b stash -q",
        adds("// sum")
    );
    // A branch that is gone again leaves its commits to nobody.
    let deleted = format!(
        "git switch -q -c gone; {}; {COMMIT}; git switch -q feature; git branch -q -D gone",
        adds("// sum")
    );
    for (does, said, brings) in [
        (detached, "on no branch", "cherry-pick"),
        (stash, "into the stash", "stash"),
        (deleted, "on no branch", "cherry-pick"),
    ] {
        let stage = stage(&format!("{does}; echo Done. | deliver"));
        let ran = stage.run(&LINE);
        ran.ends(6).with("RL0508").says(said);
        stage.promoted_nothing();
        let next = ran.next();
        brings_the_work(&stage, &next, brings);
    }
}

/// An entry of the stash that the job took away is put back by the command that is told; what is
/// amended, rebased or reset on one's own branch is nothing of the kind.
#[test]
fn a_stash_that_was_taken_away_can_be_put_back() {
    let stage = stage(&format!(
        "git stash drop -q; {}; {COMMIT}; {}; git -c user.name=a -c user.email=a@b commit -qa --amend -m two; \
         git -c user.name=a -c user.email=a@b rebase -q --force-rebase main; echo Done. | deliver",
        adds("// first"),
        adds("// sum")
    ));
    let repo = &stage.bench().repo;
    repo.write("src/lib.rs", "// hours of work\n");
    repo.git(&["stash"]);
    let kept = repo.git(&["rev-parse", "refs/stash"]);
    let ran = stage.run(&LINE);
    ran.ends(0).says("away from the stash");
    assert!(!ran.stderr.contains("on no branch"), "{}", ran.stderr);
    let line = ran
        .stderr
        .lines()
        .find(|it| it.contains("stash store"))
        .unwrap();
    let command = &line[line.find("git ").unwrap()..];
    let stored = std::process::Command::new("sh")
        .args(["-c", command])
        .current_dir(repo.root())
        .status()
        .unwrap();
    assert!(stored.success(), "{command}");
    assert_eq!(repo.git(&["rev-parse", "refs/stash"]), kept);
}

/// HEAD is left detached: the commit is named.
#[test]
fn a_head_that_is_left_detached_is_told_with_its_commit() {
    let stage = stage(&format!(
        "git switch -q --detach; {}; {COMMIT}; echo Done. | deliver",
        adds("// sum")
    ));
    let ran = stage.run(&LINE);
    let head = stage.bench().repo.git(&["rev-parse", "--short=12", "HEAD"]);
    ran.ends(6)
        .with("RL0508")
        .says("on no branch")
        .says(&head[..7]);
    assert_eq!(ran.next()[3..], ["switch", "feature"]);
}

/// The command ends the operation and takes nothing away.
#[test]
fn an_operation_that_is_left_open_is_told_with_what_ends_it() {
    let merge = format!(
        "git switch -q -c other main; echo '// theirs' > src/other.rs; git add src; {COMMIT}; git switch -q feature; \
         git -c user.name=a -c user.email=a@b merge -q --no-commit --no-ff other"
    );
    let bisect = "git bisect start > /dev/null 2>&1";
    for (opens, ends) in [
        (merge.as_str(), &["merge", "--quit"][..]),
        (bisect, &["bisect", "reset", "HEAD"]),
    ] {
        let stage = stage(&format!(
            "{opens}; {}; echo Done. | deliver",
            adds("// sum")
        ));
        let ran = stage.run(&LINE);
        ran.ends(6).with("RL0509");
        stage.promoted_nothing();
        let next = ran.next();
        assert_eq!(next[3..], *ends, "{opens}");
        let repo = &stage.bench().repo;
        let before = repo.git(&["diff", "HEAD"]);
        assert!(before.contains("+// sum"), "{before}");
        let words: Vec<&str> = next[3..].iter().map(String::as_str).collect();
        repo.git(&words);
        assert_eq!(repo.git(&["diff", "HEAD"]), before);
        let status = repo.git(&["status"]);
        assert!(
            !status.contains("bisecting") && !status.contains("merging"),
            "{status}"
        );
        assert!(!repo.root().join(".git/MERGE_HEAD").exists());
    }
}

/// Issue 5, item 2: where the job left the branch and broke off, both are said, and the next command
/// leads back.
#[test]
fn a_job_that_breaks_off_on_another_branch_says_so() {
    let stage = stage("git switch -q -c elsewhere; exit 3");
    let ran = stage.run(&LINE);
    ran.ends(6).says("exited with 3");
    assert!(ran.stderr.contains("to elsewhere"), "{}", ran.stderr);
    assert!(ran.stderr.contains("switch feature"), "{}", ran.stderr);
    stage.promoted_nothing();
}

/// The command that leads back from a branch without a commit makes none there, and leaves every file.
#[test]
fn a_branch_without_a_commit_is_left_for_the_one_that_was_there() {
    let stage = stage(&format!(
        "git checkout -q --orphan fresh; {}",
        implements("// sum")
    ));
    let ran = stage.run(&LINE);
    ran.ends(6)
        .says("HEAD was switched from feature to fresh, which has no commit");
    let root = stage.bench().repo.root().display().to_string();
    let next = format!("git -C {root} symbolic-ref HEAD refs/heads/feature");
    assert!(ran.stderr.contains(&next), "{}", ran.stderr);
    stage
        .bench()
        .repo
        .git(&["symbolic-ref", "HEAD", "refs/heads/feature"]);
    stage
        .bench()
        .repo
        .git(&["diff", "--quiet", "--", ":(exclude)src/lib.rs"]);
    stage.promoted_nothing();
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

/// A job whose report cannot be kept ran: what it did is measured, and it is not said that it was not
/// started.
#[test]
fn a_report_that_cannot_be_kept_is_of_a_job_that_ran() {
    let stage = stage(
        "git checkout -q -- src/lib.rs; echo Done. | deliver; \
         find .git -type d -name artifacts -exec mkdir -p {}/$(echo Done. | sha256sum | cut -d' ' -f1)/x ';'",
    );
    let repo = &stage.bench().repo;
    repo.write("src/lib.rs", "// hours of work\n");
    let ran = stage.run(&LINE);
    ran.ends(6).says("could not be taken");
    assert!(
        !ran.stderr.contains("could not be started"),
        "{}",
        ran.stderr
    );
    assert_eq!(restored(&stage, &ran, "src/lib.rs"), "// hours of work\n");
    stage.promoted_nothing();
}
