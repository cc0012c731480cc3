//! What an implementation did is told apart: nothing, elsewhere, another branch, lost edits.

use crate::stage::{Stage, adds, by_role, implements, looks_for};
use crate::support::agents::quote;
use crate::support::bench::Ran;

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

const COMMIT: &str = "git -c user.name=a -c user.email=a@b commit -qam sum";

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

/// What the command prints that is told for lost edits of a path.
fn restored(stage: &Stage, ran: &Ran, path: &str) -> String {
    let command = ran
        .stderr
        .lines()
        .find(|line| line.contains(&format!("lost the uncommitted edits of {path}")))
        .unwrap_or_else(|| unreachable!("no restoring command in:\n{}", ran.stderr));
    let command = &command[command.find("git ").unwrap()..];
    let shown = std::process::Command::new("sh")
        .args(["-c", command])
        .current_dir(stage.bench().repo.root())
        .output()
        .unwrap();
    String::from_utf8(shown.stdout).unwrap()
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
    assert_eq!(restored(&stage, &ran, "notes.txt"), "thoughts\n");
    // The review store makes room in the end: no command is shown that finds nothing.
    let shows = |stage: &Stage, args: &[&str]| stage.bench().run(args).ends(0).stdout.clone();
    assert!(shows(&stage, &["show"]).contains("they are printed by: git --git-dir="));
    let stores = repo.beside("home/.cache/run-loop/stores");
    for entry in std::fs::read_dir(stores).unwrap() {
        let held = entry.unwrap().path().join("refs/run-loop");
        if held.exists() {
            std::fs::remove_dir_all(held).unwrap();
        }
    }
    let shown = shows(&stage, &["show"]);
    assert!(
        shown.contains("lost the uncommitted edits of notes.txt; nothing holds"),
        "{shown}"
    );
    assert!(!shown.contains("--git-dir="), "{shown}");
    let shown = shows(&stage, &["show", "--format", "json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["left_by_work"][0]["gone"], true);
}

/// Issue 5, item 2: a job that fails may have thrown away more than one that does not.
#[test]
fn a_job_that_breaks_off_is_measured_too() {
    let stage = stage("git checkout -q -- src/lib.rs; rm -f notes.txt; exit 3");
    let repo = &stage.bench().repo;
    repo.write("src/lib.rs", "// hours of work\n");
    repo.write("notes.txt", "thoughts\n");
    let ran = stage.run(&LINE);
    ran.ends(6).says("exited with 3");
    assert_eq!(restored(&stage, &ran, "notes.txt"), "thoughts\n");
    assert_eq!(restored(&stage, &ran, "src/lib.rs"), "// hours of work\n");
    stage.promoted_nothing();
}

/// The command of a line that says this.
fn told(ran: &Ran, what: &str) -> String {
    let lines: Vec<&str> = ran.stderr.lines().filter(|it| it.contains(what)).collect();
    let [line] = lines.as_slice() else {
        unreachable!("not one line with {what:?} in:\n{}", ran.stderr)
    };
    line[line.rfind(": git -").unwrap() + 2..].to_owned()
}

/// Issue 5, item 2: what it committed on no branch and took away from the stash is told however the
/// run ends.
#[test]
fn what_a_job_left_elsewhere_is_told_when_it_breaks_off() {
    let commits = format!(
        "git switch -q --detach; {}; {COMMIT}; git switch -q feature; {}",
        adds("// sum"),
        adds("// more")
    );
    let rewires = "git config alias.x '!true'; echo Done. | deliver";
    for (ends, code, says) in [("exit 3", 6, "exited with 3"), (rewires, 5, "RL0305")] {
        let stage = stage(&format!("{commits}; git stash drop -q; {ends}"));
        let repo = &stage.bench().repo;
        repo.write("README.md", "hours of work\n");
        repo.git(&["stash"]);
        let kept = repo.git(&["rev-parse", "refs/stash"]);
        let ran = stage.run(&LINE);
        ran.ends(code).says(says);
        let put_back = told(&ran, "away from the stash");
        assert!(put_back.ends_with(&kept), "{put_back}");
        told(&ran, "on no branch");
        stage.promoted_nothing();
    }
}

/// Issue 5, item 2: what was only staged, and where else things lie, stands with its command in `show`
/// and in the events too.
#[test]
fn what_a_job_threw_away_is_shown_with_its_command() {
    let stage = stage(&format!(
        "rm notes.txt; git stash drop -q; {}; git add -A; echo Done. | deliver",
        adds("// sum")
    ));
    let repo = &stage.bench().repo;
    repo.write("README.md", "before\n");
    repo.git(&["stash"]);
    repo.write("src/lib.rs", "// staged\n");
    repo.git(&["add", "src/lib.rs"]);
    repo.write("src/lib.rs", "// worked\n");
    repo.write("notes.txt", "thoughts\n");
    let ran = stage.run(&LINE);
    ran.ends(0);
    let words = [
        "notes.txt; they are printed",
        "only staged of src/lib.rs",
        "away from the stash",
    ];
    for said in words {
        let command = told(&ran, said);
        let run = std::process::Command::new("sh")
            .args(["-c", &command])
            .output()
            .unwrap();
        let prints = String::from_utf8(run.stdout).unwrap();
        let expected =
            ["thoughts\n", "// staged\n", ""][words.iter().position(|it| *it == said).unwrap()];
        assert_eq!(
            (run.status.success(), &*prints),
            (true, expected),
            "{command}"
        );
        let shown = stage.bench().run(&["show"]);
        assert!(shown.ends(0).stdout.contains(&command), "{}", shown.stdout);
    }
    let json = |args: &[&str]| -> serde_json::Value {
        serde_json::from_str(&stage.bench().run(args).ends(0).stdout).unwrap()
    };
    let shown = json(&["show", "--format", "json"]);
    let left = shown["left_by_work"].as_array().unwrap();
    let kinds: Vec<_> = left.iter().map(|it| it["what"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["lost_edits", "lost_staged", "dropped"]);
    assert_eq!(
        (&left[1]["path"], &left[1]["role"]),
        (&"src/lib.rs".into(), &"implement".into())
    );
    assert_eq!(left[0]["command"][0], "git");
    let events = stage.bench().run(&["events"]);
    let events: Vec<serde_json::Value> = events
        .ends(0)
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |key: &str| {
        let mut events = events.iter().map(|event| &event["event"]);
        events.find(|event| event.get(key).is_some()).unwrap()[key].clone()
    };
    assert_eq!(of("restoring").as_array().unwrap().len(), 3);
    assert_eq!(of("elsewhere")[0]["what"], "dropped");
}

/// Where nothing is left to compare with, it is not known whether anything was thrown away, which is told
/// and shown with what lists it: never as if nothing had been.
#[test]
fn what_cannot_be_compared_is_told_as_not_known() {
    let bench = Stage::new();
    let cache = bench.bench().repo.beside("home/.cache/run-loop/evidence");
    let wipes = format!(
        "find {} -name '1-implement.*' -delete; {}",
        quote(cache.to_str().unwrap()),
        implements("// sum")
    );
    let stage = bench
        .agent("ann", &by_role(&[("implement", &wipes)]))
        .agent("bob", &by_role(&[("review", &looks_for("sum"))]))
        .ready();
    let ran = stage.run(&LINE);
    ran.ends(0);
    for may in [
        "may have committed to other branches",
        "may have committed on no branch",
        "may have put something into the stash",
        "may have thrown away what was in the index alone",
    ] {
        let command = told(&ran, may);
        let run = std::process::Command::new("sh")
            .args(["-c", &command])
            .output()
            .unwrap();
        assert!(run.status.success(), "{command}: {run:?}");
    }
    let shown = stage.bench().run(&["show", "--format", "json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown.ends(0).stdout).unwrap();
    let left = shown["left_by_work"].as_array().unwrap();
    let unknown = left.iter().filter(|it| it["what"] == "unknown").count();
    assert_eq!(unknown, 4, "{left:?}");
}

/// What the run ends by is not told beside it again.
#[test]
fn what_the_failure_names_is_told_once() {
    let stage = stage(&format!(
        "{}; git -c user.name=a -c user.email=a@b stash -q; echo Done. | deliver",
        adds("// sum")
    ));
    let ran = stage.run(&LINE);
    ran.ends(6).with("RL0508").says("into the stash");
    assert_eq!(
        ran.stderr.matches("into the stash").count(),
        1,
        "{}",
        ran.stderr
    );
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

/// Issue 5, item 2: edits that went with a switch of branches are told beside the switch.
#[test]
fn edits_that_a_switch_threw_away_are_named() {
    let stage = stage(&format!(
        "git switch -q -f -c elsewhere HEAD~0; git checkout -q -- .; {}",
        implements("// sum")
    ));
    stage.bench().repo.write("README.md", "hours of work\n");
    let ran = stage.run(&LINE);
    ran.ends(6).with("RL0508");
    assert!(ran.stderr.contains("to elsewhere"), "{}", ran.stderr);
    assert_eq!(restored(&stage, &ran, "README.md"), "hours of work\n");
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

/// Where the source cannot be measured, all that can be known all the same is told with its command.
#[test]
fn what_was_thrown_away_is_told_beside_an_open_operation() {
    let stage = stage(&format!(
        "git checkout -q -- src/lib.rs; git stash drop -q; git switch -q -c other main; \
         echo '// theirs' > src/other.rs; git add src; {COMMIT}; git switch -q feature; \
         git -c user.name=a -c user.email=a@b merge -q --no-commit --no-ff other; echo Done. | deliver"
    ));
    let repo = &stage.bench().repo;
    repo.write("README.md", "before\n");
    repo.git(&["stash"]);
    let kept = repo.git(&["rev-parse", "refs/stash"]);
    repo.write("src/lib.rs", "// hours of work\n");
    let ran = stage.run(&LINE);
    ran.ends(6).with("RL0509");
    assert_eq!(ran.next()[3..], ["merge", "--quit"]);
    let put_back = told(&ran, "away from the stash");
    assert!(put_back.ends_with(&kept), "{put_back}");
    told(&ran, "committed to other");
    // Path by path, as beside no operation.
    let lost = told(&ran, "lost the uncommitted edits of src/lib.rs");
    assert!(lost.ends_with(":src/lib.rs"), "{lost}");
    let prints = told(&ran, "all that was uncommitted");
    let run = std::process::Command::new("sh")
        .args(["-c", &prints])
        .output()
        .unwrap();
    let patch = String::from_utf8(run.stdout).unwrap();
    assert!(patch.contains("\n+// hours of work\n"), "{prints}: {patch}");
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
