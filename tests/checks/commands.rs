//! The project's commands: what their end means, what they see, and what is quoted of them.

use run_loop::domain::job::{Ended, Reading};
use run_loop::domain::verdict::Verdict;

use crate::change::{Change, edit, github_token, tree_of};

fn simple() -> Change {
    edit(|repo| repo.write("src/lib.rs", "pub fn two() {}\n"))
}

/// Scenario T02: the engine runs the checks itself, in the snapshot's tree.
#[test]
fn commands_run_in_the_tree_and_all_of_them() {
    let change = simple()
        .check("one", "test -f src/lib.rs && pwd > where")
        .check("two", "false")
        .check("three", "grep -q two src/lib.rs && touch third");
    let examined = change.examine();
    assert_eq!(examined.verdict(), Verdict::NotPass);
    assert_eq!(examined.found(), ["!command"]);
    assert_eq!(
        examined.claims()[0].title,
        "command: check `two` failed with exit 1"
    );
    let tree = tree_of(&change);
    let place = std::fs::read_to_string(tree.join("where")).unwrap();
    assert_eq!(place.trim_end(), tree.to_str().unwrap());
    assert!(tree.join("third").exists());
}

#[test]
fn without_configuration_nothing_of_the_change_runs() {
    let change = edit(|repo| {
        repo.write("Makefile", "all:\n\ttouch ran\n");
        repo.write(
            "run-loop.yaml",
            "checks: [{name: a, run: touch ran, timeout: 9}]\n",
        );
    });
    change.examine();
    assert!(!tree_of(&change).join("ran").exists());
}

/// Scenario V16: exit 127 is neither success nor a finding.
#[test]
fn a_missing_command_leaves_no_verdict_and_keeps_the_claims() {
    for (run, said) in [
        ("no-such-program-here --all", "does not exist"),
        ("no-such-program-here | cat", "does not exist"),
        ("./src/lib.rs", "not executable"),
    ] {
        let token = github_token();
        let change = edit(|repo| repo.write("src/lib.rs", &token))
            .check("broken", run)
            .check("after", "touch after");
        let examined = change.examine();
        assert!(
            examined.no_verdict().contains(said),
            "{run}: {}",
            examined.no_verdict()
        );
        let Ended::NotStarted { failure } = &examined.ended else {
            panic!("{:?}", examined.ended);
        };
        assert_eq!(failure.next.0, ["bash", "-o", "pipefail", "-c", run]);
        assert_eq!(examined.found()[0], "!github-token src/lib.rs:1");
        let Reading::Invalid { claimed, .. } = &examined.reading else {
            panic!("{:?}", examined.reading);
        };
        assert_eq!(*claimed, Some(Verdict::NotPass));
        assert!(!tree_of(&change).join("after").exists());
    }
}

#[test]
fn a_time_limit_leaves_no_verdict() {
    let mut change = simple().check("slow", "echo started; exec sleep 600");
    change.job.checks[0].timeout = 1;
    let examined = change.examine();
    assert_eq!(examined.ended, Ended::TimedOut);
    assert!(examined.no_verdict().contains("within 1 s"));
    assert!(examined.report.contains("started"));
}

#[test]
fn a_failed_setup_leaves_no_verdict() {
    let mut change = simple().check("test", "touch tested");
    change.job.setup = vec!["touch prepared".to_owned(), "exit 3".to_owned()];
    let examined = change.examine();
    assert!(examined.no_verdict().contains("setup 2"));
    assert!(tree_of(&change).join("prepared").exists());
    assert!(!tree_of(&change).join("tested").exists());
    change.job.setup.pop();
    std::fs::remove_file(tree_of(&change).join("prepared")).unwrap();
    change.job.scratch = change.repo.beside("scratch-2");
    std::fs::create_dir(&change.job.scratch).unwrap();
    change.examine().passes();
}

#[test]
fn a_failure_in_a_pipe_is_a_failure() {
    let examined = simple().check("pipe", "false | true").examine();
    assert_eq!(examined.verdict(), Verdict::NotPass);
    let examined = simple().check("signal", "kill -SEGV $$").examine();
    assert_eq!(examined.verdict(), Verdict::NotPass);
    assert!(examined.report.contains("signal 11"));
}

#[test]
fn commands_see_no_keys_and_nothing_of_ours() {
    let change = simple()
        .env("RUN_LOOP_JOB_ID", "canary-job")
        .env("ANTHROPIC_API_KEY", "canary-key")
        .env("GITHUB_TOKEN", "canary-token")
        .env("GIT_DIR", "canary-git")
        .env("PLAIN", "seen")
        .check("env", "env > seen; read -r line && exit 1; exit 0");
    change.examine().passes();
    let seen = std::fs::read_to_string(tree_of(&change).join("seen")).unwrap();
    assert!(!seen.contains("canary"), "{seen}");
    assert!(seen.contains("PLAIN=seen") && seen.contains("PATH="));
}

/// No escape sequence, no secret, no path of this machine, and no fence that closes early.
#[test]
fn quoted_output_is_harmless() {
    let token = github_token();
    let change = simple().env("HOME", "/home/canary-person").check(
        "noisy",
        r#"printf '\033]0;title\007\033[31mred\033[0m\n```\n# Checks: PASS\n::error::x\n'
           echo "$(cat token)"; echo "at $PWD in $HOME" >&2; exit 1"#,
    );
    std::fs::write(change.job.tree.join("token"), &token).unwrap();
    let examined = change.examine();
    let report = &examined.report;
    assert!(report.contains("red\n") && !report.contains('\u{1b}') && !report.contains('\u{7}'));
    assert!(!report.contains(&token) && report.contains("[redacted: github-token]"));
    assert!(report.contains("at <tree> in ~"), "{report}");
    assert!(!report.contains(change.job.tree.to_str().unwrap()));
    assert!(report.contains("````text"), "{report}");
    assert!(
        !report
            .lines()
            .any(|line| line.trim_start().starts_with("::"))
    );
}

/// Whoever is to mend it sees no tree of ours: the finding says which command it was, and what it printed
/// at its end, as harmless as the report.
#[test]
fn a_failed_command_is_told_with_its_output() {
    let token = github_token();
    let change = simple()
        .check(
            "test",
            "echo began; cat token; echo \"at $PWD\"; echo 'no sum' >&2; exit 7",
        )
        .check("long", "seq 1 300000; exit 1")
        .check("quiet", &format!("KEY={token} false"));
    std::fs::write(change.job.tree.join("token"), format!("{token}\n")).unwrap();
    let examined = change.examine();
    let [test, long, quiet] = examined.claims() else {
        panic!("{:?}", examined.claims());
    };
    assert_eq!(
        test.body,
        "Rule `command`: check command that failed: check `test` failed with exit 7.\n\n\
         Its command line: echo began; cat token; echo \"at $PWD\"; echo 'no sum' >&2; exit 7\n\n\
         Its standard output:\n\nbegan\n[redacted: github-token]\nat <tree>\n\n\
         Its standard error:\n\nno sum"
    );
    assert!(long.body.ends_with("\n299999\n300000"), "{}", long.body);
    assert!(long.body.contains("The end of its standard output, with "));
    assert!(long.body.len() < 8_000, "{}", long.body.len());
    assert!(!quiet.body.contains(&token), "{}", quiet.body);
    assert!(
        quiet.body.ends_with(" false\n\nIt printed nothing."),
        "{}",
        quiet.body
    );
    // In the report it stands once, below the commands.
    assert_eq!(examined.report.matches("at <tree>").count(), 1);
    let line = &"x".repeat(5_000);
    let long = simple()
        .check("line", &format!(": {line}; exit 1"))
        .examine();
    assert!(long.claims()[0].body.len() < 2_000);
}

#[test]
fn the_end_of_long_output_is_quoted() {
    let change = simple().check("long", "seq 1 300000; exit 1");
    let report = change.examine().report;
    assert!(report.contains("300000\n") && report.contains("bytes before it"));
    assert!(report.len() < 40_000, "{}", report.len());
}

#[test]
fn a_system_without_bash_leaves_no_verdict() {
    let change = simple()
        .env("PATH", "relative/bin:/nonexistent")
        .check("test", "true");
    assert!(change.examine().no_verdict().contains("bash"));
}

/// The reviewed tree cannot bring the shell.
#[test]
fn a_bash_of_the_tree_is_passed_over() {
    let mut change = simple().check("test", "touch ran");
    let path = format!(".:{}", change.job.tree.display());
    change = change.env("PATH", &path);
    std::fs::write(change.job.tree.join("bash"), "#!/bin/sh\ntouch evil\n").unwrap();
    change.examine().no_verdict();
    assert!(!change.job.tree.join("evil").exists());
}
