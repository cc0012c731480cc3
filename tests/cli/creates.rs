//! A run that writes: who works, by which plan, from where.

use std::path::Path;

use run_loop::cli::validate::Validated;
use run_loop::domain::agent::Agent;
use run_loop::domain::code::Code;
use run_loop::domain::failure::Failure;
use run_loop::domain::run_spec::{BaseSpec, PlanSource};

use crate::machine::Machine;
use crate::validated;

const CONFIG: &str = "version: 1
agents:
  ann: {kind: command, command: [sh, -c, 'exit 1']}
  twin: {kind: command, command: [sh, -c, 'exit 1']}
  bob: {kind: command, command: [sh, -c, 'exit 2']}
  line: {kind: command, command: [sh, -c, 'exit 3'], contract: line}
  afar: {kind: command, command: [sh, -c, 'exit 4'], remote: true}
  pat: {kind: human}
";

fn machine(roles: &str) -> Machine {
    Machine::new().at_base("run-loop.yaml", &format!("{CONFIG}{roles}"))
}

fn read(machine: &Machine, args: &[&str]) -> Result<Validated, Failure> {
    validated::read(machine, machine.repo.root(), args, &[])
}

#[track_caller]
fn refused(machine: &Machine, args: &[&str], code: Code, message: &str) {
    let failure = read(machine, args).unwrap_err();
    assert_eq!(failure.code, code, "{args:?}: {failure}");
    assert!(failure.message.contains(message), "{args:?}: {failure}");
}

fn name(agent: Option<&Agent>) -> &str {
    agent.map_or("-", |agent| agent.name.as_str())
}

/// The creator, the planner and the arbiter of a line.
fn cast(machine: &Machine, args: &[&str]) -> String {
    let spec = read(machine, args).unwrap().spec;
    [&spec.creator, &spec.planner, &spec.arbiter]
        .map(|agent| name(agent.as_ref()))
        .join(" ")
}

fn panel(machine: &Machine, args: &[&str]) -> Vec<(String, String)> {
    let spec = read(machine, args).unwrap().spec;
    let slots = spec.panel.iter();
    slots
        .map(|slot| (slot.name.to_string(), slot.agent.name.clone()))
        .collect()
}

#[test]
fn options_beat_the_configuration_and_the_planner_arbitrates() {
    let roles = "roles: {creator: ann, planner: bob, reviewers: [line]}\n\
                 review: {coverage: none}\n";
    let machine = machine(roles);
    assert_eq!(cast(&machine, &["a task"]), "ann bob bob");
    assert_eq!(
        cast(&machine, &["a task", "--creator", "line"]),
        "line bob bob"
    );
    assert_eq!(
        cast(
            &machine,
            &["a task", "--planner", "twin", "--creator", "line"]
        ),
        "line twin twin"
    );
    assert_eq!(
        cast(
            &machine,
            &["a task", "--creator", "line", "--arbiter", "ann"]
        ),
        "line bob ann"
    );
    // No word of the command line, no creator: a review answers to nobody's configuration.
    let review = ["--base", "main", "--review-only"];
    assert_eq!(cast(&machine, &review), "- - -");
    let mends = [&review[..], &["--creator", "ann"]].concat();
    assert_eq!(cast(&machine, &mends), "ann bob bob");
}

#[test]
fn a_run_that_writes_names_who_writes_and_what() {
    let machine = machine("");
    machine.refuses(&["a task"], 2, "RL0019", "configured are afar, ann");
    let next = Machine::new().refuses(&["a task"], 2, "RL0019", "no agent is configured");
    assert_eq!(next, "run-loop agents", "who can be named without one");
    machine.refuses(&["--creator", "ann"], 2, "RL0001", "nothing to do");
    machine.refuses(
        &["--creator", "ann", "--plan"],
        2,
        "RL0001",
        "--plan needs a task",
    );
    machine.refuses(
        &["a task", "--creator", "ann", "--plan"],
        2,
        "RL0020",
        "--planner",
    );
    machine.refuses(
        &["a task", "--creator", "anne"],
        2,
        "RL0005",
        "did you mean `ann`",
    );
    let review = ["--base", "main", "--review-only"];
    let next = machine.refuses(
        &[&review[..], &["--arbiter", "bob"]].concat(),
        2,
        "RL0004",
        "without --creator",
    );
    assert_eq!(next, "run-loop --base main --review-only");
}

#[test]
fn a_role_takes_only_an_agent_that_can_fill_it() {
    let machine = machine("");
    for (creator, reason) in [
        ("afar", "is remote"),
        ("pat", "is a person"),
        ("checks", "is `checks`"),
    ] {
        refused(
            &machine,
            &["a task", "--creator", creator],
            Code::AgentUnfit,
            reason,
        );
        for role in ["--planner", "--arbiter"] {
            let args = ["a task", "--creator", "ann", role, creator];
            refused(&machine, &args, Code::AgentUnfit, reason);
        }
    }
    let args = ["a task", "--creator", "ann", "--arbiter", "line"];
    refused(&machine, &args, Code::AgentUnfit, "rulings are JSON");
}

/// Design, section 4: the arbiter is never the creator.
#[test]
fn the_arbiter_is_another_agent_than_the_creator() {
    let plain = machine("");
    let args = ["a task", "--creator", "ann", "--arbiter", "ann"];
    refused(&plain, &args, Code::AgentUnfit, "which is the creator");
    // Another name of the same program: only where the command line says so.
    let args = ["a task", "--creator", "ann", "--arbiter", "twin"];
    assert_eq!(cast(&plain, &args), "ann - twin");
    let configured = machine("roles: {arbiter: twin}\n");
    let args = ["a task", "--creator", "ann"];
    refused(&configured, &args, Code::AgentUnfit, "the same program");
    // Nobody asked for this planner to arbitrate, so it does not, and that is said.
    for planner in ["ann", "twin"] {
        let args = ["a task", "--creator", "ann", "--planner", planner];
        let run = read(&plain, &args).unwrap();
        assert_eq!(name(run.spec.arbiter.as_ref()), "-");
        let told = run
            .notices
            .iter()
            .any(|notice| notice.starts_with("there is no arbiter"));
        assert!(told, "{:?}", run.notices);
    }
}

/// An arbiter that reviews, too, rules on no finding of its own, and that is said before anybody is paid.
#[test]
fn who_reviews_and_arbitrates_is_told_before_the_run() {
    let plain = machine("");
    let told = |reviewer: &str, planner: &str| {
        let args = [
            "a task",
            "--creator",
            "ann",
            "--planner",
            planner,
            "--reviewer",
            reviewer,
        ];
        let run = read(&plain, &args).unwrap();
        let mut notices = run.notices.iter();
        notices.any(|it| it.contains("may not rule on what it finds itself as"))
    };
    assert!(told("bob", "bob"));
    assert!(!told("twin", "bob"));
}

/// M-012: a creator and no reviewer.
#[test]
fn without_a_reviewer_the_creator_reviews_its_own_work_joined_by_checks() {
    let plain = machine("");
    let own = [("self-review", "ann"), ("checks", "checks")]
        .map(|(slot, agent)| (slot.to_owned(), agent.to_owned()));
    assert_eq!(panel(&plain, &["a task", "--creator", "ann"]), own);
    let with = ["a task", "--creator", "ann", "--reviewer", "bob"];
    assert_eq!(panel(&plain, &with), [("bob".to_owned(), "bob".to_owned())]);
    let configured = machine("roles: {creator: ann}\n");
    assert_eq!(panel(&configured, &["a task"]), own);
    let review = ["--base", "main", "--review-only"];
    refused(&configured, &review, Code::EmptyPanel, "no reviewer");
    let required = machine("policy: {require: [security]}\n");
    let args = ["a task", "--creator", "ann"];
    refused(&required, &args, Code::PanelBelowPolicy, "security");
}

/// M-040, M-045, T-036: nothing is loaded that was not named, and that is said.
#[test]
fn a_plan_that_nobody_named_is_not_loaded() {
    let machine = machine("");
    machine
        .repo
        .write(".agents/reports/planner/plan-1.md", "Another plan.\n");
    let run = read(&machine, &["a task", "--creator", "ann"]).unwrap();
    assert_eq!(run.spec.plan, PlanSource::Nobody);
    assert!(
        run.notices
            .iter()
            .any(|notice| notice.starts_with("no plan is loaded"))
    );
    let args = ["a task", "--creator", "ann", "--plan", "--planner", "bob"];
    let run = read(&machine, &args).unwrap();
    assert_eq!(run.spec.plan, PlanSource::Planner);
    assert!(
        run.notices
            .iter()
            .any(|notice| notice.contains("planner bob writes"))
    );
}

/// M-041, M-042, T-037: checked before any job.
#[test]
fn a_plan_file_that_holds_no_plan_is_refused() {
    let machine = machine("");
    machine.repo.write("blank.md", " \n\t\n");
    std::fs::write(machine.repo.root().join("latin.md"), b"caf\xe9").unwrap();
    crate::support::repo::pipe(&machine.repo.root().join("fifo"));
    std::os::unix::fs::symlink("loop.md", machine.repo.root().join("loop.md")).unwrap();
    machine.repo.write("locked.md", "The plan.\n");
    let locked = machine.repo.root().join("locked.md");
    std::fs::set_permissions(&locked, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
    // Root reads everything.
    if std::fs::read(&locked).is_err() {
        let args = ["a task", "--creator", "ann", "--plan-file", "locked.md"];
        machine.refuses(&args, 2, "RL0013", "Permission denied");
    }
    for (file, why) in [
        ("none.md", "No such file"),
        ("loop.md", "Too many levels of symbolic links"),
        ("src", "no regular file"),
        ("fifo", "no regular file"),
        ("blank.md", "it is blank"),
        ("latin.md", "not UTF-8"),
    ] {
        let args = ["a task", "--creator", "ann", "--plan-file", file];
        machine.refuses(&args, 2, "RL0013", why);
    }
}

/// M-043, T-038: the control root's file, never one of that name in the current folder.
#[test]
fn a_plan_file_is_found_from_the_control_root() {
    let machine = machine("");
    machine.repo.write("plan.md", "The plan.\n");
    machine.repo.write("src/plan.md", "Another plan.\n");
    machine
        .repo
        .write("src/~/plan.md", "A plan in a folder named so.\n");
    let inside = machine.repo.root().join("src");
    let plan = |file: &str| {
        let args = ["--creator", "ann", "--plan-file", file];
        let run = validated::read(&machine, &inside, &args, &[]).unwrap();
        let PlanSource::File { path, text, .. } = run.spec.plan else {
            panic!("a file")
        };
        let told = run.notices.iter().any(|notice| notice.contains(&path));
        assert!(told, "{:?}", run.notices);
        assert!(Path::new(&path).is_absolute());
        text
    };
    assert_eq!(plan("plan.md"), "The plan.\n");
    let absolute = inside.join("plan.md");
    assert_eq!(plan(absolute.to_str().unwrap()), "Another plan.\n");
    assert_eq!(plan("~/plan.md"), "A plan in a folder named so.\n");
}

/// Design, section 2: without `--base` earlier uncommitted edits are in the range, and named.
#[test]
fn without_a_base_the_range_starts_at_head_and_names_what_is_in_it() {
    let machine = machine("");
    let args = ["a task", "--creator", "ann"];
    let range = || {
        let run = read(&machine, &args).unwrap();
        let head = machine.repo.git(&["rev-parse", "HEAD"]);
        assert_eq!(
            run.spec.base,
            BaseSpec::StartHead {
                head: run_loop::domain::oid::Oid::parse(&head).unwrap()
            }
        );
        let mut notices = run.notices.into_iter();
        notices
            .find(|notice| notice.starts_with("without --base"))
            .unwrap()
    };
    assert!(range().ends_with("there are no uncommitted edits"));
    machine.repo.write("src/lib.rs", "// edited\n");
    machine.repo.write("new file", "x");
    let told = range();
    assert!(
        told.ends_with("already in it: src/lib.rs, new file"),
        "{told}"
    );
    // A filter that would have to run is not run for a notice.
    machine.repo.write(".gitattributes", "* filter=evil\n");
    let trap = machine.repo.beside("trap");
    let run = format!("touch '{}'; cat", trap.display());
    machine.repo.git(&["config", "filter.evil.clean", &run]);
    assert!(range().ends_with("if any, are in it"));
    assert!(!trap.exists());
    let based = [&["--base", "main"][..], &args].concat();
    let notices = read(&machine, &based).unwrap().notices;
    assert!(
        !notices
            .iter()
            .any(|notice| notice.starts_with("without --base"))
    );
}
