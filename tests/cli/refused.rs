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
    let named = "the variable RUN_LOOP_WORKTREE names the working tree: --worktree /";
    let next = machine.refuses(&REVIEW, 3, "RL0103", named);
    assert_eq!(next, "env -u RUN_LOOP_WORKTREE run-loop doctor");
    // The gate judges what stands here, whatever was left in the environment.
    machine.refuses(&["gate", "--base", "main"], 5, "RL0901", "");
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
    let next = machine.refuses(
        &[&by("checks")[..], &["--reviewer", "checks"]].concat(),
        2,
        "RL0016",
        "checks",
    );
    assert_eq!(next, "run-loop --base main --review-only --reviewer checks");
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
    let root = machine.repo.root().to_str().unwrap().to_owned();
    for (path, what, listed) in [
        ("none.md", "none.md: No such file", ""),
        ("no/such/file", "file: No such file", ""),
        ("src", "no regular file", "/src"),
        ("blank.md", "blank", "/blank.md"),
    ] {
        let args = [&REVIEW[..], &["--task-file", path]].concat();
        let next = machine.refuses(&args, 2, "RL0013", what);
        // What is not there cannot be listed.
        assert_eq!(next, format!("ls -l -- {root}{listed}"));
    }
    // It is found from the control root, and lies where the command was started.
    machine.repo.write("src/task.md", "Make it faster.\n");
    let src = machine.repo.root().join("src");
    let args = [&REVIEW[..], &["--task-file=task.md"]].concat();
    let next = machine.refuses_in(&src, &args, 2, "RL0013", "there is one at");
    let line = "run-loop --base main --review-only --task-file";
    assert_eq!(next, format!("{line}={root}/src/task.md"));
}

/// What the gate refuses of the base's configuration would be reviewed for nothing.
#[test]
fn an_agent_that_nobody_uses_is_refused_as_the_gate_does() {
    for agent in ["{profile: clod}", "{}", "{kind: human, command: [sh]}"] {
        let config = format!("version: 1\nagents: {{old: {agent}}}\n");
        let machine = Machine::new().at_base("run-loop.yaml", &config);
        machine.refuses(
            &[&REVIEW[..], &["--reviewer", "checks"]].concat(),
            2,
            "RL0009",
            "old",
        );
        machine.refuses(&["gate", "--base", "main"], 2, "RL0009", "old");
        assert_eq!(machine.run(&["doctor", "--base", "main"]).code, 2);
    }
}

/// Ours is the one output that moves the content in every round.
#[test]
fn output_that_goes_into_the_source_is_refused() {
    let machine = Machine::new();
    machine.repo.write(".git/info/exclude", "*.log\n");
    let outside = machine.repo.beside("log");
    let redirected = |file: &std::path::Path, stderr: bool| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_run-loop"));
        command.args(REVIEW).current_dir(machine.repo.root());
        machine.prepare(&mut command);
        let to = std::fs::File::create(file).unwrap();
        if stderr {
            command.stderr(to);
        } else {
            command.stdout(to);
        }
        let ended = command.output().unwrap();
        let said = std::fs::read_to_string(file).unwrap();
        let said = said + &String::from_utf8_lossy(&ended.stderr);
        std::fs::remove_file(file).unwrap();
        (ended.status.code().unwrap(), said)
    };
    for stderr in [false, true] {
        let log = machine.repo.root().join("log");
        let (code, said) = redirected(&log, stderr);
        assert_eq!(code, 3, "{said}");
        let named = format!(
            "error RL0134: standard {} goes into",
            ["output", "error"][usize::from(stderr)]
        );
        assert!(said.contains(&named), "{said}");
        assert!(
            said.contains("next: run-loop --base main --review-only\n"),
            "{said}"
        );
    }
    assert!(
        !machine.repo.root().join(".git/run-loop").exists(),
        "nothing was started"
    );
    for file in [&outside, &machine.repo.root().join("a.log")] {
        let (code, said) = redirected(file, false);
        assert_eq!(code, 0, "{said}");
    }
}

/// Who adds reviewers on main reviews older branches without them, and has to be told.
#[test]
fn rules_that_the_base_got_later_are_named() {
    let machine = Machine::new();
    machine.repo.git(&["switch", "-q", "main"]);
    let config = "version: 1\nagents: {bot: {kind: command, command: [sh, -c, 'exit 1']}}\n";
    machine.repo.write("run-loop.yaml", config);
    machine.repo.commit("configure");
    machine.repo.git(&["switch", "-q", "feature"]);
    let root = machine.repo.root().to_str().unwrap().to_owned();
    let merge = format!("git -C {root} merge main");
    let later = "is another one than the one that counts, at the merge base";
    let args = [&REVIEW[..], &["--reviewer", "bot"]].concat();
    assert_eq!(machine.refuses(&args, 2, "RL0005", later), merge);
    let told = machine.run(&REVIEW).stderr;
    assert!(told.contains(later) && told.contains(&merge), "{told}");
    let doctor = machine.run(&["doctor", "--base", "main"]).stdout;
    assert!(
        doctor.contains(later) && doctor.contains(&merge),
        "{doctor}"
    );
    machine.repo.git(&["rebase", "-q", "main"]);
    let told = machine.run(&REVIEW).stderr;
    assert!(!told.contains(later), "{told}");
}

/// Evidence that cannot be published is not paid for.
#[test]
fn a_reports_folder_that_is_none_is_refused_before_anything_starts() {
    for (path, is_link) in [
        (".agents", true),
        (".agents/reports", false),
        (".agents/reports", true),
        (".agents/reports/approvals", true),
    ] {
        let machine = Machine::new();
        let place = machine.repo.root().join(path);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        let what = if is_link {
            std::os::unix::fs::symlink(machine.repo.beside("elsewhere"), &place).unwrap();
            "it is a link"
        } else {
            machine.repo.write(path, "x");
            "it is no folder"
        };
        let next = machine.refuses(&REVIEW, 3, "RL0123", what);
        assert_eq!(next, format!("ls -ld -- {}", place.display()));
        let doctor = machine.run(&["doctor"]);
        assert!(
            doctor.code == 3 && doctor.stderr.contains("RL0123"),
            "{doctor:?}"
        );
    }
}

/// The list of agents is what such a file breaks.
#[test]
fn a_profile_that_is_none_is_told_with_a_command_that_works() {
    let machine = Machine::new();
    let folder = machine.home().join("config/run-loop/profiles");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("claude.yaml"), "just text\n").unwrap();
    let next = machine.refuses(&["agents"], 2, "RL0009", "expected the keys of a profile");
    assert_eq!(next, "run-loop schema profile");
}

#[test]
fn a_demo_that_has_no_place_or_no_git_is_no_fault_of_ours() {
    let machine = Machine::new().variable("TMPDIR", "/nonexistent");
    machine.refuses(
        &["demo"],
        3,
        "RL0121",
        "the demo's folder could not be made",
    );
    let machine = Machine::new().variable("PATH", "/nonexistent");
    machine.refuses(&["demo"], 3, "RL0119", "git");
}

#[test]
fn git_that_is_missing_is_refused() {
    let machine = Machine::new().variable("PATH", "/nonexistent");
    machine.refuses(&REVIEW, 3, "RL0119", "git");
}
