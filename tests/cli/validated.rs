//! What a line that is in order is resolved to.

use std::ffi::OsString;
use std::path::Path;

use clap::Parser as _;
use run_loop::cli::args::Cli;
use run_loop::cli::environment::Environment;
use run_loop::cli::validate::{Validated, validate};
use run_loop::domain::failure::Failure;
use run_loop::domain::isolation::Isolation;
use run_loop::domain::run_spec::BaseSpec;
use run_loop::domain::severity::Severity;
use run_loop::domain::time::{Stamp, Timestamp};

use crate::machine::Machine;
use crate::support::repo::git;

pub(crate) fn read(
    machine: &Machine,
    folder: &Path,
    args: &[&str],
    variables: &[(&str, &str)],
) -> Result<Validated, Failure> {
    let argv: Vec<OsString> = std::iter::once(&"run-loop")
        .chain(args)
        .map(OsString::from)
        .collect();
    let home = machine.home().to_str().unwrap().to_owned();
    let path = std::env::var("PATH").unwrap();
    let all = [("PATH", path.as_str()), ("HOME", home.as_str())];
    let variables = all
        .iter()
        .chain(variables)
        .map(|(name, value)| (name.into(), value.into()));
    let environment = Environment::new(variables, folder.to_owned());
    let stamp = Stamp {
        at: Timestamp::from_millis(1_700_000_000_000),
        seed: [7; 32],
    };
    validate(&Cli::parse_from(&argv).review, &argv, &environment, &stamp)
}

const CONFIG: &str = "version: 1
agents:
  bot: {kind: command, command: [sh, -c, 'exit 1'], timeout: 60, env: [BOT_TOKEN]}
roles: {reviewers: [bot, {agent: bot, name: security, instructions: [docs/security.md]}, checks]}
review: {fail-on: high, exclude: ['*.lock']}
checks: [{name: test, run: make test}]
policy: {require: [security, checks]}
";

#[test]
fn everything_is_resolved_and_frozen() {
    let machine = Machine::new()
        .at_base("docs/security.md", "Look twice.\n")
        .at_base("run-loop.yaml", CONFIG);
    machine.repo.write("docs/security.md", "Do not look.\n");
    let run = read(
        &machine,
        machine.repo.root(),
        &[
            "--base",
            "main",
            "--review-only",
            "--max-rounds",
            "2",
            "make it faster",
        ],
        &[("BOT_TOKEN", "dummy")],
    )
    .unwrap();
    let spec = run.spec;
    let main = machine.repo.git(&["rev-parse", "main"]);
    let BaseSpec::MergeBase {
        given,
        resolved,
        tip,
        must_be_ancestor,
    } = spec.base
    else {
        panic!("a merge base")
    };
    assert_eq!(
        (
            given.as_str(),
            resolved.as_str(),
            tip.as_str(),
            must_be_ancestor
        ),
        ("main", "refs/heads/main", main.as_str(), false)
    );
    assert_eq!(spec.task.as_deref(), Some("make it faster"));
    assert_eq!(spec.source_root, machine.repo.root().to_str().unwrap());
    assert_eq!(spec.control_root, spec.source_root);
    let names: Vec<&str> = spec.panel.iter().map(|slot| slot.name.as_str()).collect();
    assert_eq!(names, ["bot", "security", "checks"]);
    assert_eq!(
        spec.panel[1].instructions[0].text, "Look twice.\n",
        "as it is at the base"
    );
    assert_eq!(
        (
            spec.review.max_rounds,
            spec.review.fail_on,
            spec.review.isolation
        ),
        (2, Severity::High, Isolation::Worktree)
    );
    assert_eq!(spec.review.exclude, ["*.lock"]);
    assert_eq!(
        (spec.checks[0].run.as_str(), spec.checks[0].timeout),
        ("make test", 900)
    );
    assert_eq!(
        spec.command,
        [
            "run-loop",
            "--base",
            "main",
            "--review-only",
            "--max-rounds",
            "2",
            "make it faster"
        ]
    );
    assert!(!run.cache_root.exists(), "nothing is made");
}

/// T-031: a linked worktree of the same repository, named from the main one.
#[test]
fn a_linked_worktree_is_reviewed_and_the_main_one_owns_the_evidence() {
    let machine = Machine::new();
    machine.repo.git(&["switch", "-q", "main"]);
    let linked = machine.repo.beside("linked");
    machine
        .repo
        .git(&["worktree", "add", "-q", linked.to_str().unwrap(), "feature"]);
    let base = ["--base", "main", "--review-only"];
    let named = [&base[..], &["--worktree", "../linked"]].concat();
    let outside = machine.repo.beside("outside");
    std::fs::create_dir(&outside).unwrap();
    for (folder, args, variables) in [
        (machine.repo.root(), &named[..], &[][..]),
        (
            machine.repo.root(),
            &base,
            &[("RUN_LOOP_WORKTREE", "../linked")],
        ),
        (&linked, &base, &[]),
        (&linked.join("src"), &base, &[]),
        (&outside, &named, &[]),
    ] {
        let spec = read(&machine, folder, args, variables).unwrap().spec;
        assert_eq!(Path::new(&spec.source_root), linked, "{folder:?}");
        assert_eq!(
            Path::new(&spec.control_root),
            machine.repo.root(),
            "{folder:?}"
        );
    }
    // M-020: the option beats the variable.
    let spec = read(
        &machine,
        machine.repo.root(),
        &named,
        &[("RUN_LOOP_WORKTREE", "../nowhere")],
    )
    .unwrap()
    .spec;
    assert_eq!(Path::new(&spec.source_root), linked);
    assert_eq!(git(&linked, &["status", "--porcelain"]), "");
}

/// T-035: there is no implementation job that could use a plan.
#[test]
fn a_plan_file_beside_review_only_is_ignored_with_a_notice() {
    let machine = Machine::new();
    let args = ["--base", "main", "--review-only", "--plan-file", "none.md"];
    let run = read(&machine, machine.repo.root(), &args, &[]).unwrap();
    assert!(
        run.notices
            .iter()
            .any(|notice| notice.starts_with("--plan-file is ignored")),
        "{:?}",
        run.notices
    );
    assert_eq!(run.spec.task, None);
}

/// T-033, and the variables that are conveniences.
#[test]
fn variables_are_conveniences_only() {
    let machine = Machine::new();
    machine.repo.git(&["branch", "other", "HEAD"]);
    let variables = [
        ("RUN_LOOP_BASE", "other"),
        ("RUN_LOOP_FAIL_ON", "critical"),
        ("RUN_LOOP_REVIEW_ISOLATION", "env"),
        ("RUN_LOOP_MAX_ROUNDS", "9"),
        ("RUN_LOOP_TIMEOUT", "12"),
        ("RUN_LOOP_JOB_TIMEOUT", "13"),
    ];
    let args = ["--base", "main", "--review-only"];
    let run = read(&machine, machine.repo.root(), &args, &variables).unwrap();
    let BaseSpec::MergeBase { given, .. } = &run.spec.base else {
        panic!("a merge base")
    };
    assert_eq!(given, "main");
    assert_eq!(
        (run.spec.review.fail_on, run.spec.review.isolation),
        (Severity::Medium, Isolation::Worktree)
    );
    assert_eq!((run.spec.review.max_rounds, run.spec.job_timeout), (9, 12));
    for name in [
        "RUN_LOOP_BASE",
        "RUN_LOOP_FAIL_ON",
        "RUN_LOOP_REVIEW_ISOLATION",
    ] {
        assert!(
            run.notices.iter().any(|notice| notice.contains(name)),
            "{name}: {:?}",
            run.notices
        );
    }
}

#[test]
fn a_machine_without_any_configuration_is_reviewed_by_checks() {
    let machine = Machine::new();
    let run = read(
        &machine,
        machine.repo.root(),
        &["--base", "main", "--review-only"],
        &[],
    )
    .unwrap();
    let names: Vec<&str> = run
        .spec
        .panel
        .iter()
        .map(|slot| slot.name.as_str())
        .collect();
    assert_eq!((names, run.spec.readers()), (vec!["checks"], 0));
}

/// By option only: no file lowers how reviewers are kept apart.
#[test]
fn isolation_is_lowered_by_the_option_alone() {
    let machine = Machine::new().at_base("run-loop.yaml", "version: 1\nreview: {isolation: env}\n");
    let args = ["--base", "main", "--review-only"];
    let isolation = |args: &[&str]| {
        read(&machine, machine.repo.root(), args, &[])
            .unwrap()
            .spec
            .review
            .isolation
    };
    assert_eq!(isolation(&args), Isolation::Worktree);
    assert_eq!(
        isolation(&[&args[..], &["--review-isolation", "env"]].concat()),
        Isolation::Env
    );
}

#[test]
fn a_task_file_is_read_from_the_control_root() {
    let machine = Machine::new();
    machine.repo.write("task.md", "Make it faster.\n");
    let args = ["--base", "main", "--review-only", "--task-file", "task.md"];
    let spec = read(&machine, &machine.repo.root().join("src"), &args, &[])
        .unwrap()
        .spec;
    assert_eq!(spec.task.as_deref(), Some("Make it faster.\n"));
}

/// T-038, and both are told: which was read, and that another one was not.
#[test]
fn a_task_file_is_told_with_its_path_and_so_is_another_one_in_the_current_folder() {
    let machine = Machine::new();
    machine.repo.write("task.md", "Make it faster.\n");
    let args = ["--base", "main", "--review-only", "--task-file", "task.md"];
    let src = machine.repo.root().join("src");
    let notices = || read(&machine, &src, &args, &[]).unwrap().notices.join("\n");
    let root = machine.repo.root().display().to_string();
    let told = notices();
    assert!(
        told.contains(&format!("the task is read from {root}/task.md")),
        "{told}"
    );
    assert!(!told.contains("another file"), "{told}");
    machine.repo.write("src/task.md", "Make it slower.\n");
    let told = notices();
    let other = format!("another file of that name, {root}/src/task.md, is not read");
    assert!(told.contains(&other), "{told}");
}

/// What less is mended for is known before it is paid for.
#[test]
fn findings_that_block_at_the_base_and_not_here_are_told() {
    let machine = Machine::new()
        .at_base("run-loop.yaml", CONFIG)
        .at_base("docs/security.md", "Look.\n");
    let told = |severity: &str| {
        let args = ["--base", "main", "--review-only", "--fail-on", severity];
        let run = read(
            &machine,
            machine.repo.root(),
            &args,
            &[("BOT_TOKEN", "dummy")],
        )
        .unwrap();
        run.notices.join("\n").contains("takes no PASS of this run")
    };
    assert_eq!(
        ["critical", "high", "medium"].map(told),
        [true, false, false]
    );
}
