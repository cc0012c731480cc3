//! What the repository or its configuration shows, before any lock, job or file.

use crate::machine::Machine;
use crate::support::repo::{Repo, git};

const REVIEW: [&str; 3] = ["--base", "main", "--review-only"];

/// T-030, M-020: no such folder, a sub-folder, another repository.
#[test]
fn a_worktree_that_is_none_is_refused() {
    let machine = Machine::new();
    let other = Repo::new();
    let with = |path: &str| {
        let mut args = REVIEW.to_vec();
        args.extend(["--worktree", path]);
        args.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    for (path, code) in [
        ("../nowhere", "RL0103"),
        ("README.md", "RL0103"),
        ("src", "RL0104"),
        (other.root().to_str().unwrap(), "RL0105"),
    ] {
        let args = with(path);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        machine.refuses(&args, 3, code, path);
    }
    let machine = machine.variable("RUN_LOOP_WORKTREE", "../nowhere");
    machine.refuses(&REVIEW, 3, "RL0103", "nowhere");
}

#[test]
fn what_is_no_repository_with_a_commit_is_refused() {
    let machine = Machine::new();
    let outside = machine.repo.beside("outside");
    std::fs::create_dir(&outside).unwrap();
    machine.refuses_in(&outside, &REVIEW, 3, "RL0101", "outside");
    git(&outside, &["init", "-q", "--bare", "bare"]);
    machine.refuses_in(&outside.join("bare"), &REVIEW, 3, "RL0102", "");
    let unborn = Machine::with(Repo::unborn());
    unborn.refuses(&REVIEW, 3, "RL0106", "no commit");
}

/// T-032: a base that cannot be resolved; one that is no ancestor, under `review.base: ancestor`.
#[test]
fn a_base_that_is_none_is_refused() {
    let machine = Machine::new();
    machine.refuses(&["--base", "mian", "--review-only"], 3, "RL0113", "mian");
    let short = machine.repo.git(&["rev-parse", "--short=8", "main"]);
    machine.refuses(&["--base", &short, "--review-only"], 2, "RL0014", &short);
    machine.repo.git(&["tag", "main"]);
    machine.refuses(&REVIEW, 3, "RL0114", "main");
    machine.repo.git(&["tag", "-d", "main"]);

    let machine = machine.at_base("run-loop.yaml", "version: 1\nreview: {base: ancestor}\n");
    machine.repo.git(&["switch", "-q", "main"]);
    machine.repo.write("more", "x");
    machine.repo.commit("main moved on");
    machine.repo.git(&["switch", "-q", "feature"]);
    machine.refuses(&REVIEW, 3, "RL0116", "main");
}

/// A usage error of the repository's configuration, with the commit, line and path of the key.
#[test]
fn a_wrong_configuration_at_the_base_is_refused_and_the_working_copys_does_not_count() {
    let machine = Machine::new().at_base("run-loop.yaml", "version: 1\nreview: {max-round: 3}\n");
    machine.repo.write("run-loop.yaml", "version: 1\n");
    machine.refuses(
        &REVIEW,
        2,
        "RL0009",
        "line 2: unknown key `review.max-round`; did you mean `review.max-rounds`?",
    );
}

#[test]
fn a_panel_that_cannot_run_is_refused() {
    let config = "version: 1\nagents:\n  bot: {kind: command, command: [no-such-bot]}\n  \
        afar: {kind: command, command: [sh], remote: true}\n  inside: {kind: command, command: [tools/bot]}\n\
        roles: {reviewers: [bot]}\n";
    let machine = Machine::new().at_base("run-loop.yaml", config);
    let by = |agent: &'static str| [&REVIEW[..], &["--reviewer", agent]].concat();
    machine.refuses(&REVIEW, 2, "RL0006", "no-such-bot is in no folder of PATH");
    machine.refuses(&by("bto"), 2, "RL0005", "did you mean `bot`?");
    machine.refuses(&by("grok:4"), 2, "RL0012", "kind: command");
    machine.refuses(
        &by("codex:o3"),
        2,
        "RL0006",
        "codex is in no folder of PATH",
    );
    machine.refuses(&by("inside"), 2, "RL0006", "inside the repository");
    machine.refuses(
        &[&by("checks")[..], &["--reviewer", "checks"]].concat(),
        2,
        "RL0016",
        "checks",
    );
    // T-024.
    let next = machine.refuses(&by("afar"), 2, "RL0015", "--remote-review diff-only");
    assert_eq!(
        next,
        "run-loop --remote-review diff-only --base main --review-only --reviewer afar"
    );

    let machine = Machine::new().at_base("run-loop.yaml", "version: 1\nroles: {reviewers: []}\n");
    let next = machine.refuses(&REVIEW, 2, "RL0007", "no reviewer");
    assert_eq!(next, "run-loop --reviewer checks --base main --review-only");

    let machine = Machine::new().at_base(
        "run-loop.yaml",
        "version: 1\npolicy: {require: [security]}\n",
    );
    machine.refuses(&REVIEW, 2, "RL0008", "requires the slot security");
}

#[test]
fn a_program_of_the_reviewed_tree_is_refused_though_path_finds_it() {
    let machine = Machine::new();
    machine.repo.write("bin/git", "#!/bin/sh\necho hostile\n");
    let config =
        "version: 1\nagents: {bot: {kind: command, command: [bot]}}\nroles: {reviewers: [bot]}\n";
    let machine = machine.at_base("run-loop.yaml", config);
    machine.repo.write("tools/bot", "#!/bin/sh\n");
    let tools = machine.repo.root().join("tools");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(tools.join("bot"), mode).unwrap();
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap());
    let machine = machine.variable("PATH", &path);
    machine.refuses(&REVIEW, 2, "RL0006", "lies inside the repository");
}

#[test]
fn a_working_copys_commands_are_refused_until_trusted_and_again_after_an_edit() {
    let machine = Machine::new();
    let config = "version: 1\nagents: {bot: {kind: command, command: [sh, -c, 'exit 1']}}\nroles: {reviewers: [bot]}\n";
    machine.repo.write("run-loop.yaml", config);
    let next = machine.refuses(&REVIEW, 2, "RL0010", "you have not trusted that file");
    let root = machine.repo.root().display();
    assert_eq!(next, format!("run-loop config trust --worktree {root}"));
    let trusted = machine.run(&["config", "trust"]);
    assert_eq!(trusted.code, 0, "{trusted:?}");
    assert!(
        trusted.stdout.contains("bot: [\"sh\",\"-c\",\"exit 1\"]"),
        "{}",
        trusted.stdout
    );
    assert!(!machine.run(&REVIEW).stderr.contains("RL0010"));
    machine
        .repo
        .write("run-loop.yaml", format!("{config}# edited\n"));
    machine.refuses(&REVIEW, 2, "RL0010", "trusted");
}

/// The reviewed tree can put anything at the path of its configuration.
#[test]
fn a_working_copy_that_is_no_plain_file_is_refused() {
    let machine = Machine::new();
    let path = machine.repo.root().join("run-loop.yaml");
    std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
    machine.refuses(&REVIEW, 2, "RL0009", "symbolic link");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    machine.refuses(&REVIEW, 2, "RL0009", "no regular file");
    std::fs::remove_dir(&path).unwrap();
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&path)
            .status()
            .unwrap()
            .success()
    );
    machine.refuses(&REVIEW, 2, "RL0009", "no regular file");
}

#[test]
fn a_link_at_the_base_is_no_configuration() {
    let machine = Machine::new();
    machine.repo.git(&["switch", "-q", "main"]);
    std::os::unix::fs::symlink("README.md", machine.repo.root().join("run-loop.yaml")).unwrap();
    machine.repo.commit("a link");
    machine.repo.git(&["switch", "-q", "feature"]);
    machine.repo.git(&["rebase", "-q", "main"]);
    machine.refuses(&REVIEW, 2, "RL0009", "no regular file");
    machine.refuses(&["gate", "--base", "main"], 2, "RL0009", "no regular file");
}

#[test]
fn the_users_file_is_checked_before_the_repository_is_asked() {
    let machine = Machine::new().user_file("version: 1\npolicy: {families: 2}\n");
    let outside = machine.repo.beside("outside");
    std::fs::create_dir(&outside).unwrap();
    machine.refuses_in(
        &outside,
        &REVIEW,
        2,
        "RL0009",
        "`policy` is not read from the user's file",
    );
}

#[test]
fn a_task_file_that_is_none_is_refused() {
    let machine = Machine::new();
    machine.repo.write("blank.md", " \n");
    for (path, what) in [
        ("none.md", "none.md"),
        ("src", "no regular file"),
        ("blank.md", "blank"),
    ] {
        machine.refuses(
            &[&REVIEW[..], &["--task-file", path]].concat(),
            2,
            "RL0013",
            what,
        );
    }
}

#[test]
fn git_that_is_missing_is_refused() {
    let machine = Machine::new().variable("PATH", "/nonexistent");
    machine.refuses(&REVIEW, 3, "RL0119", "git");
}
