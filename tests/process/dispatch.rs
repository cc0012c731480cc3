//! Dispatch of agents of kind `command`: what they get, and what is taken back.

use std::collections::BTreeMap;
use std::time::Duration;

use run_loop::domain::code::Code;
use run_loop::domain::failure::Failure;
use run_loop::domain::job::Ended;
use tokio_util::sync::CancellationToken;

use crate::job::{JOB, NONCE, TREE, World, report};
use crate::support::agents::{Point, ScriptedAgent, quote};

/// The JSON of the one verdict block of a report.
#[track_caller]
fn block(report: &str) -> serde_json::Value {
    let (_, rest) = report.split_once("```run-loop-verdict\n").unwrap();
    serde_json::from_str(rest.split_once("\n```").unwrap().0).unwrap()
}

fn expected() -> serde_json::Value {
    serde_json::json!({
        "version": 1, "nonce": NONCE, "tree": TREE, "verdict": "PASS",
        "summary": "Read every part.", "receipts": {"001": "abcd"},
        "coverage": [{"path": "src/a.rs", "how": "read"}], "findings": []
    })
}

#[track_caller]
fn not_started(ended: Ended) -> Failure {
    match ended {
        Ended::NotStarted { failure } => failure,
        Ended::Exited { .. }
        | Ended::Failed { .. }
        | Ended::Signalled { .. }
        | Ended::TimedOut
        | Ended::Stopped
        | Ended::Interrupted
        | Ended::Lost => unreachable!("it started: {ended:?}"),
    }
}

#[tokio::test]
async fn a_scripted_agent_answers_on_each_channel() {
    for world in [
        World::new(&ScriptedAgent::passing()),
        World::new(&ScriptedAgent::passing()).report_is_a_file(),
        World::new(&ScriptedAgent::passing()).prompt_is_a_file(),
    ] {
        let done = world.dispatch().await;
        assert_eq!(block(&report(&done)), expected());
    }
}

/// T-050: prompts above the 131,072 bytes of one argument arrive whole, and are gone afterwards.
#[tokio::test]
async fn large_prompts_arrive_whole_and_are_gone_afterwards() {
    for size in [140_000, 150_000] {
        for world in [
            World::new(&ScriptedAgent::echo_prompt()),
            World::new(&ScriptedAgent::echo_prompt()).prompt_is_a_file(),
        ] {
            let mut world = world;
            world.prompt = "0123456789abcde\n".repeat(size).into_bytes();
            world.prompt.truncate(size - 1);
            world.prompt.push(b'x');
            let folder = world.job_folder();
            assert_eq!(std::fs::read(folder.prompt()).unwrap(), world.prompt);
            let done = world.dispatch_in(&folder, CancellationToken::new()).await;
            assert_eq!(report(&done).into_bytes(), world.prompt);
            assert!(!folder.prompt().exists());
        }
    }
}

/// Section 8: the environment is picked, not inherited; no key, no other repository, no nonce.
#[tokio::test]
async fn the_environment_is_picked() {
    let mut world = World::script("/usr/bin/env -0 | tr '\\n\\0' '\\1\\n'");
    for (name, value) in [
        ("CANARY_TOKEN", "canary"),
        ("BOT_TOKEN", "given"),
        ("GIT_DIR", "/elsewhere/.git"),
        ("GIT_INDEX_FILE", "/elsewhere/index"),
        ("RUN_LOOP_FORMAT", "json"),
        ("RUN_LOOP_JOB_NONCE", "old"),
        ("LC_ALL", "C.UTF-8"),
        ("TMPDIR", "/elsewhere/tmp"),
    ] {
        world.environment.insert(name.into(), value.into());
    }
    world.command.env = vec!["BOT_TOKEN".to_owned()];
    let folder = world.job_folder();
    let done = world.dispatch_in(&folder, CancellationToken::new()).await;
    let output = report(&done);
    let variables: BTreeMap<_, _> = output
        .lines()
        .filter_map(|line| line.split_once('='))
        .collect();
    let (evidence, inbox, tree) = (folder.evidence(), folder.inbox(), world.tree());
    let (temporary, wrap_up) = (folder.temporary(), folder.wrap_up());
    let expected: BTreeMap<_, _> = [
        ("BOT_TOKEN", "given"),
        ("HOME", "/nonexistent"),
        ("LC_ALL", "C.UTF-8"),
        ("PATH", "/usr/bin:/bin"),
        ("RUN_LOOP_JOB_EVIDENCE", evidence.to_str().unwrap()),
        ("RUN_LOOP_JOB_ID", JOB),
        ("RUN_LOOP_JOB_INBOX", inbox.to_str().unwrap()),
        ("RUN_LOOP_JOB_ROLE", "review"),
        ("RUN_LOOP_JOB_ROUND", "2"),
        ("RUN_LOOP_JOB_TREE", tree.to_str().unwrap()),
        ("RUN_LOOP_JOB_WRAP_UP", wrap_up.to_str().unwrap()),
        ("TMPDIR", temporary.to_str().unwrap()),
        // Bash's own.
        ("PWD", tree.to_str().unwrap()),
        ("SHLVL", "1"),
        ("_", "/usr/bin/env"),
    ]
    .into();
    assert_eq!(variables, expected);
    assert!(!output.contains(NONCE));
}

#[tokio::test]
async fn channel_variables_stand_only_for_their_channel() {
    let told = "echo \"${RUN_LOOP_JOB_REPORT-none} ${RUN_LOOP_JOB_PROMPT-none}\" | deliver";
    assert_eq!(report(&World::script(told).dispatch().await), "none none\n");
    let world = World::script(told).report_is_a_file().prompt_is_a_file();
    let folder = world.job_folder();
    let done = world.dispatch_in(&folder, CancellationToken::new()).await;
    let paths = format!(
        "{} {}\n",
        folder.report().display(),
        folder.prompt().display()
    );
    assert_eq!(report(&done), paths);
}

/// Design, section 6: a remote agent is told no path of this machine.
#[tokio::test]
async fn a_remote_agent_is_told_no_path() {
    let mut world = World::script("pwd; ls -A; /usr/bin/env | grep RUN_LOOP | sort");
    world.agent.remote = true;
    let folder = world.job_folder();
    let done = world.dispatch_in(&folder, CancellationToken::new()).await;
    assert_eq!(
        report(&done),
        format!(
            "{}\nRUN_LOOP_JOB_ID={JOB}\nRUN_LOOP_JOB_ROLE=review\nRUN_LOOP_JOB_ROUND=2\n",
            folder.empty().display()
        )
    );
    assert_eq!(std::fs::read_dir(folder.evidence()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_remote_agent_that_asks_for_paths_is_refused() {
    let remote = || {
        let mut world = World::new(&ScriptedAgent::passing());
        world.agent.remote = true;
        world
    };
    let mut by_placeholder = remote();
    by_placeholder.command.args = vec!["--tree={tree}".to_owned()];
    for world in [
        remote().report_is_a_file(),
        remote().prompt_is_a_file(),
        by_placeholder,
    ] {
        let failure = not_started(world.dispatch().await.ended);
        assert_eq!(failure.code, Code::ConfigInvalid, "{failure}");
        assert!(failure.message.contains("agent bot is remote"), "{failure}");
    }
}

/// T-062: a credential that is missing is named before anything starts.
#[tokio::test]
async fn a_missing_credential_is_named() {
    let mut world = World::script("touch \"$RUN_LOOP_JOB_TREE/started\"");
    world.command.env = vec!["BOT_TOKEN".to_owned()];
    let failure = not_started(world.dispatch().await.ended);
    assert_eq!(failure.code, Code::AgentNotRunnable);
    assert_eq!(
        failure.message,
        "agent bot needs the variable BOT_TOKEN, which is not set"
    );
    assert!(!world.tree().join("started").exists());
}

#[tokio::test]
async fn arguments_are_filled_and_the_tree_is_the_working_directory() {
    let mut world = World::script("pwd; printf '%s\\n' \"$@\"").prompt_is_a_file();
    world.command.args = ["{prompt}", "-e={evidence}", "{tree}", "{other}", "a b"]
        .map(str::to_owned)
        .to_vec();
    let folder = world.job_folder();
    let done = world.dispatch_in(&folder, CancellationToken::new()).await;
    let tree = world.tree();
    let lines = format!(
        "{tree}\n{}\n-e={}\n{tree}\n{{other}}\na b\n",
        folder.prompt().display(),
        folder.evidence().display(),
        tree = tree.display()
    );
    assert_eq!(report(&done), lines);
}

/// The agent that exits non-zero with a perfect report: both are handed on, nothing is judged.
#[tokio::test]
async fn a_failing_agent_with_a_perfect_report_is_told_as_it_is() {
    let done = World::new(&ScriptedAgent::exits(7)).dispatch().await;
    assert_eq!(done.ended, Ended::Exited { code: 7 });
    assert!(done.report.is_some(), "claims never vanish");
    let done = World::new(&ScriptedAgent::dies_of("KILL")).dispatch().await;
    assert_eq!(done.ended, Ended::Signalled { signal: 9 });
}

#[tokio::test]
async fn a_silent_agent_has_no_report() {
    for world in [
        World::new(&ScriptedAgent::silent()),
        World::new(&ScriptedAgent::silent()).report_is_a_file(),
    ] {
        let done = world.dispatch().await;
        assert_eq!(done.ended, Ended::Exited { code: 0 });
        assert_eq!((done.report, done.unusable), (None, None));
    }
}

/// T-109, V14: a job whose budget is spent has no verdict, though a perfect report lies there.
#[tokio::test]
async fn a_spent_budget_is_told_though_a_report_lies_there() {
    let mut world = World::new(&ScriptedAgent::hangs()).report_is_a_file();
    world.budget = Duration::from_secs(4);
    let done = world.dispatch().await;
    assert_eq!(done.ended, Ended::TimedOut);
    assert!(!done.ended.is_success());
    assert!(done.report.is_some(), "its findings stay claims");
}

#[tokio::test]
async fn a_stopped_agent_that_exits_zero_was_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let point = Point::new(folder.path(), "ready");
    let world = World::new(&ScriptedAgent::exits_zero_on_term(&point));
    let stop = CancellationToken::new();
    let asked = tokio::task::spawn_blocking({
        let stop = stop.clone();
        move || {
            point.reached();
            stop.cancel();
        }
    });
    let done = world.dispatch_in(&world.job_folder(), stop).await;
    asked.await.unwrap();
    assert_eq!(done.ended, Ended::Stopped);
}

/// A cut output is never parsed in part, wherever the verdict stands in it.
#[tokio::test]
async fn a_flood_on_the_report_channel_is_no_report() {
    for bytes in [2_000_000, 20_000_000] {
        let done = World::new(&ScriptedAgent::floods(bytes)).dispatch().await;
        assert_eq!(done.ended, Ended::Exited { code: 0 });
        assert_eq!(done.report, None);
        let reason = done.unusable.unwrap();
        assert!(reason.contains("a report may have 1048576"), "{reason}");
    }
}

/// On the other channel a flood does no harm.
#[tokio::test]
async fn a_flood_beside_the_report_file_is_only_cut() {
    let world = World::new(&ScriptedAgent::floods(20_000_000)).report_is_a_file();
    let done = world.dispatch().await;
    assert_eq!(block(&report(&done)), expected());
    assert!(done.stdout.unwrap().is_cut());
    assert_eq!(done.stderr_tail, "y".repeat(4096));
}

#[tokio::test]
async fn the_end_of_stderr_has_no_terminal_escapes() {
    let done = World::script("printf 'one\\ntwo \\e[31mred\\007\\n' >&2; exit 1")
        .dispatch()
        .await;
    assert_eq!(done.stderr_tail, "one\ntwo [31mred\n");
}

/// S11, V18: a report that lies there before the job is never taken for the job's.
#[tokio::test]
async fn a_stale_report_starts_nothing() {
    let world = World::new(&ScriptedAgent::passing()).report_is_a_file();
    let folder = world.job_folder();
    std::fs::write(folder.report(), "stale").unwrap();
    let done = world.dispatch_in(&folder, CancellationToken::new()).await;
    let failure = not_started(done.ended);
    assert!(
        failure.message.contains("exists before the job has run"),
        "{failure}"
    );
    assert_eq!(done.report, None);
}

/// One folder serves one dispatch.
#[tokio::test]
async fn a_folder_is_not_used_twice() {
    let world = World::new(&ScriptedAgent::passing());
    let folder = world.job_folder();
    report(&world.dispatch_in(&folder, CancellationToken::new()).await);
    let again = world.dispatch_in(&folder, CancellationToken::new()).await;
    assert_eq!(not_started(again.ended).code, Code::StateUnwritable);
    assert_eq!(again.report, None);
}

/// T-052: the cause is told, and nothing lies there as a report.
#[tokio::test]
async fn a_program_that_vanished_after_validation_is_told() {
    let world = World::new(&ScriptedAgent::passing());
    std::fs::remove_file(&world.command.program).unwrap();
    let failure = not_started(world.dispatch().await.ended);
    assert_eq!(failure.code, Code::AgentNotRunnable);
    assert_eq!(
        failure.message,
        format!("{} does not exist", world.command.program)
    );
}

/// H02: a child that still writes when the agent has exited is waited for within the grace, and
/// only then is the report read, once and whole.
#[tokio::test]
async fn the_report_is_read_when_the_processes_are_gone() {
    let world = World::script(
        "mkfifo up; (trap '' TERM; echo up > up; sleep 0.3; echo late > \"$RUN_LOOP_JOB_REPORT\") & \
         read -r _ < up; exit 0",
    )
    .report_is_a_file();
    assert_eq!(report(&world.dispatch().await), "late\n");
}

#[tokio::test]
async fn what_an_agent_writes_into_its_tree_is_its_own_affair() {
    let agent = ScriptedAgent::writes_into(&quote("made-by-agent"));
    let world = World::new(&agent);
    report(&world.dispatch().await);
    assert!(world.tree().join("made-by-agent").exists());
}

/// The run's time may be over before the job's own: the program is told of what comes first.
#[tokio::test]
async fn the_end_of_the_run_is_told_where_it_comes_first() {
    let mut world = World::script(
        "until grep -q 'wrap up' \"$RUN_LOOP_JOB_WRAP_UP\" 2> /dev/null; do sleep 0.05; done; \
         cat \"$RUN_LOOP_JOB_WRAP_UP\"",
    );
    world.budget = Duration::from_mins(1);
    world.run_left = Some(Duration::from_secs(2));
    let done = world.dispatch().await;
    assert!(report(&done).starts_with("1 s are left"), "{done:?}");
}
