//! `run-loop job submit` where no run goes on: a run of one job.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

use run_loop::domain::id::LoopId;
use run_loop::domain::time::{Stamp, Timestamp};
use run_loop::store::{RunLock, StateFolder};

use crate::support::agents::{Point, ScriptedAgent, quote, within};
use crate::support::bench::{Bench, Ran};
use crate::support::crash::Engine;

/// A bench whose one agent can be delegated to and reviews nothing.
fn bench(agent: &ScriptedAgent) -> Bench {
    Bench::new().spare("helper", agent, "").ready()
}

fn submit(bench: &Bench, prompt: &str, more: &[&str]) -> Ran {
    let file = bench.repo.beside("prompt.md");
    std::fs::write(&file, prompt).unwrap();
    let file = file.to_str().unwrap().to_owned();
    let args = ["job", "submit", "--agent", "helper", "--prompt-file", &file];
    bench.run(&[&args, more].concat())
}

/// The value of a line `NAME  VALUE` of what was printed.
pub(crate) fn row(text: &str, name: &str) -> String {
    let mut lines = text.lines().map(str::trim);
    let line = lines.find_map(|line| line.strip_prefix(&format!("{name} ")));
    line.unwrap_or_else(|| unreachable!("no {name} in:\n{text}"))
        .trim()
        .to_owned()
}

/// M-100, M-102: a job that completes: its id on standard output, its report kept, nothing of it left.
#[test]
fn a_job_is_a_run_of_its_own() {
    let bench = bench(&ScriptedAgent::with_script(
        "cat > /dev/null; echo \"$RUN_LOOP_JOB_ROLE in $(pwd)\"",
    ));
    let ran = submit(&bench, "Say where you are.\n", &[]);
    ran.ends(0);
    assert_eq!(
        row(&ran.stdout, "status"),
        "completed (attempt 1, budget 3600 s)"
    );
    let job = row(&ran.stdout, "job");
    let report = bench.run(&["job", "show", &job, "--report"]);
    let root = std::fs::canonicalize(bench.repo.root()).unwrap();
    assert_eq!(
        report.ends(0).stdout.trim(),
        format!("delegate in {}", root.display())
    );
    let listed = bench.run(&["job", "list"]);
    assert!(listed.ends(0).stdout.contains(&job), "{}", listed.stdout);
    bench.run(&["job", "wait", &job]).ends(0);
    assert_eq!(bench.left_in_cache(&["jobs"]), [""; 0]);
    // It approves nothing.
    bench.gate().ends(5);
    assert_eq!(bench.promoted(), [""; 0]);
    bench.run(&["list"]).ends(0).says("completed, exit 0");
    bench.run(&["status"]).ends(0).says("completed");
}

/// Issue 6.9: who follows a run of one job is told what that does.
#[test]
fn what_a_delegated_job_does_is_told() {
    let bench = Bench::new();
    let agents = bench.repo.beside("agents");
    let (started, go) = (Point::new(&agents, "started"), Point::new(&agents, "go"));
    let script = format!(
        "cat > /dev/null; echo 'I look at it'; echo $$ > {}; read -r _ < {}; echo done",
        started.path().display(),
        go.path().display()
    );
    let helper = ScriptedAgent::with_script(script);
    let bench = bench.spare("helper", &helper, "").ready();
    let file = bench.repo.beside("prompt.md");
    std::fs::write(&file, "Do it.\n").unwrap();
    let file = file.to_str().unwrap();
    let job = bench.spawn(&["job", "submit", "--agent", "helper", "--prompt-file", file]);
    started.reached();
    let mut log = bench.spawn(&["log", "-f"]);
    let out = log.stdout.take().unwrap();
    let told = within("the activity to be told", move || {
        let mut lines = BufReader::new(out).lines();
        lines.find_map(|line| line.ok().filter(|line| line.contains("I look at it")))
    });
    go.release();
    Ran::of(&job.wait_with_output().unwrap()).ends(0);
    log.wait().unwrap();
    let told = told.unwrap();
    assert!(told.contains("  job "), "{told}");
}

/// Issue 4.7: a limit is no error of the job; the run of it is parked, and `resume` asks again.
#[test]
fn a_job_that_meets_a_limit_is_parked() {
    let bench = Bench::new();
    let met = quote(bench.repo.beside("met").to_str().unwrap()).clone();
    let script = format!(
        "cat > /dev/null; if [ ! -e {met} ]; then : > {met}; \
         echo '429: retry after 7200 s' >&2; exit 75; fi; echo done"
    );
    let bench = bench
        .spare("helper", &ScriptedAgent::with_script(script), "")
        .ready();
    let ran = submit(&bench, "Do it.\n", &[]);
    ran.ends(75).with("RL0720").says("the delegated job");
    let next = ran.next();
    let next: Vec<&str> = next[1..].iter().map(String::as_str).collect();
    assert_eq!(next[0], "resume");
    // Put aside in good order: nothing broke off.
    let log = bench.run(&["log"]);
    log.ends(0).says("is parked until");
    assert!(!log.stdout.contains("interrupted"), "{}", log.stdout);
    let ran = bench.run(&next);
    ran.ends(0);
    assert_eq!(
        row(&ran.stdout, "status"),
        "completed (attempt 2, budget 3600 s)"
    );
}

/// Issue 4.8: who waits for a job of a run that is parked is told so; ended for good, nobody is said to have
/// been asked again.
#[test]
fn a_parked_job_is_waited_for_and_cancelled_truly() {
    let script = "cat > /dev/null; echo '429: retry after 7200 s' >&2; exit 75";
    let bench = bench(&ScriptedAgent::with_script(script));
    submit(&bench, "Do it.\n", &[]).ends(75);
    let listed = bench.run(&["job", "list", "--format", "json"]);
    let listed: serde_json::Value = serde_json::from_str(&listed.ends(0).stdout).unwrap();
    let job = listed["jobs"][0]["job"].as_str().unwrap().to_owned();
    let waited = bench.run(&["job", "wait", &job]);
    waited.ends(75).with("RL0720");
    assert_eq!(waited.next()[1], "resume");
    let cancelled = bench.run(&["cancel"]);
    cancelled.ends(0);
    for word in ["goes on", "started"] {
        let all = format!("{}{}", cancelled.stdout, cancelled.stderr);
        assert!(!all.contains(word), "{all}");
    }
    let again = bench.run(&["job", "wait", &job]);
    let again = again.next();
    assert!(again.contains(&"--timeout".to_owned()), "{again:?}");
}

/// The same job again is for the same working tree, with the same files, wherever that is read.
#[test]
fn the_command_of_a_job_can_be_pasted_anywhere() {
    let script = "cat > /dev/null; echo '429: retry after 7200 s' >&2; exit 75";
    let bench = bench(&ScriptedAgent::with_script(script));
    let folder = bench.repo.root().join("src");
    let prompt = bench.repo.beside("prompt.md");
    std::fs::write(&prompt, "Do it.").unwrap();
    let args = ["job", "submit", "--agent", "helper", "--prompt-file"];
    let mut submit = bench.command(&args);
    submit.arg("../../prompt.md").current_dir(&folder);
    Ran::of(&submit.output().unwrap()).ends(75);
    bench.run(&["cancel"]).ends(0);
    let told = bench.run(&["status", "--format", "json"]);
    let told: serde_json::Value = serde_json::from_str(&told.ends(0).stdout).unwrap();
    let next: Vec<String> = serde_json::from_value(told["failure"]["next"].clone()).unwrap();
    let root = std::fs::canonicalize(bench.repo.root()).unwrap();
    let named = |option: &str| {
        let at = next.iter().position(|word| word == option).unwrap();
        std::path::Path::new(&next[at + 1])
    };
    assert!(named("--prompt-file").is_absolute(), "{next:?}");
    assert_eq!(
        std::fs::canonicalize(named("--prompt-file")).unwrap(),
        std::fs::canonicalize(&prompt).unwrap()
    );
    assert_eq!(named("--worktree"), root);
    let mut again = bench.command(&[]);
    again.args(&next[1..]).current_dir("/");
    Ran::of(&again.output().unwrap()).ends(75);
}

/// What no agent may show is in no record of a single job, as in none of what a job submits.
#[test]
fn a_key_in_a_prompt_is_not_kept() {
    let bench = Bench::new();
    let helper = ScriptedAgent::with_script("cat > /dev/null; echo Done.");
    let bench = bench.spare("helper", &helper, "env: [HOUSE_LOGIN]").ready();
    let canary = "prompt-canary-5d2f";
    let file = bench.repo.beside("prompt.md");
    std::fs::write(&file, format!("Log in with {canary}.\n")).unwrap();
    let file = file.to_str().unwrap();
    let mut submit = bench.command(&["job", "submit", "--agent", "helper", "--prompt-file", file]);
    Ran::of(&submit.env("HOUSE_LOGIN", canary).output().unwrap()).ends(0);
    let runs = bench.repo.root().join(".git/run-loop");
    let found = Command::new("grep")
        .arg("-r")
        .arg(canary)
        .arg(&runs)
        .output();
    assert_eq!(String::from_utf8_lossy(&found.unwrap().stdout), "");
}

/// T-050, M-054: a prompt above one argument's 131,072 bytes arrives whole, and ends with the
/// sentence that says how to delegate.
#[test]
fn a_large_prompt_arrives_whole_with_the_sentence() {
    let bench = bench(&ScriptedAgent::with_script("cat"));
    let prompt = format!("Start.\n{}\nEnd.\n", "0123456789abcde\n".repeat(9_400));
    let ran = submit(&bench, &prompt, &[]);
    let job = row(&ran.ends(0).stdout, "job");
    let report = bench.run(&["job", "show", &job, "--report"]);
    let said = report.ends(0).stdout.clone();
    let (whole, sentence) = said.split_at(prompt.len());
    assert_eq!(whole, prompt);
    assert!(
        sentence.contains("run-loop job submit --agent"),
        "{sentence}"
    );
    assert!(sentence.contains(&job), "{sentence}");
}

/// T-052, T-053, T-058, T-107: what is wrong shows before anything is made, on standard error.
#[test]
fn what_is_wrong_is_refused_before_a_job_is_made() {
    let bench = bench(&ScriptedAgent::with_script("cat"));
    for empty in ["", " \n\t\n"] {
        let ran = submit(&bench, empty, &[]);
        ran.ends(2).with("RL0013").says("it is empty");
        assert_eq!(ran.stdout, "");
    }
    submit(&bench, "x", &["--timeout", "0"])
        .ends(2)
        .with("RL0013");
    submit(&bench, "x", &["--timeout", "0x10"])
        .ends(2)
        .with("RL0013");
    submit(&bench, "x", &["--parent-job", "0123"])
        .ends(2)
        .with("RL0022");
    let args = ["job", "submit", "--prompt-file", "/none", "--agent"];
    bench
        .run(&[&args[..], &["helper"]].concat())
        .ends(2)
        .with("RL0013");
    let file = bench.repo.beside("prompt.md");
    std::fs::write(&file, "x").unwrap();
    let args = [
        "job",
        "submit",
        "--prompt-file",
        file.to_str().unwrap(),
        "--agent",
    ];
    bench
        .run(&[&args[..], &["nobody"]].concat())
        .ends(2)
        .with("RL0005");
    bench.run(&["job", "show", "0123"]).ends(2).with("RL0022");
    bench.run(&["job", "list"]).ends(0).says("no jobs");
    bench.run(&["list"]).ends(0).says("no runs");
}

/// T-052, T-058: an agent that is configured and cannot be asked is told as that, with the cause, alone and
/// beside a run.
#[test]
fn an_agent_whose_program_is_gone_is_not_unknown() {
    let helper = ScriptedAgent::with_script("cat");
    let bench = Bench::new().spare("helper", &helper, "");
    let held = Point::new(&bench.repo.beside("tmp"), "held");
    let bench = bench
        .reviewer("ann", &ScriptedAgent::hangs_at(&held))
        .ready();
    let program = bench.repo.beside("agents").join("helper");
    std::fs::rename(&program, bench.repo.beside("helper")).unwrap();
    let refused = || {
        let ran = submit(&bench, "x", &[]);
        ran.ends(2).with("RL0006").says(program.to_str().unwrap());
    };
    refused();
    bench.run(&["list"]).ends(0).says("no runs");
    let engine = Engine::start(&bench);
    held.reached();
    refused();
    engine.kill();
}

/// T-100, T-107, M-120, M-121: option, then variable, then 3600; digits are decimal.
#[test]
fn the_budget_is_the_options_then_the_variables_then_the_default() {
    let bench = bench(&ScriptedAgent::with_script("cat"));
    let file = bench.repo.beside("prompt.md");
    std::fs::write(&file, "x").unwrap();
    let file = file.to_str().unwrap().to_owned();
    let budget = |variable: Option<&str>, option: &[&str]| {
        let args = ["job", "submit", "--agent", "helper", "--prompt-file", &file];
        let mut command = bench.command(&[&args, option].concat());
        command.envs(variable.map(|value| ("RUN_LOOP_TIMEOUT", value)));
        let ran = Ran::of(&command.output().unwrap());
        row(&ran.ends(0).stdout, "status")
    };
    assert!(budget(None, &[]).contains("3600 s"));
    assert!(budget(Some("120"), &[]).contains("120 s"));
    assert!(budget(Some("120"), &["--timeout", "0090"]).contains("90 s"));
    assert!(budget(Some("0120"), &[]).contains("120 s"));
    for garbage in ["soon", "0x10", "-5", "0", "1.5", "99999999999999999999"] {
        let args = ["job", "submit", "--agent", "helper", "--prompt-file", &file];
        let mut command = bench.command(&args);
        command.env("RUN_LOOP_TIMEOUT", garbage);
        let ran = Ran::of(&command.output().unwrap());
        let status = row(&ran.ends(0).says("RUN_LOOP_TIMEOUT").stdout, "status");
        assert!(status.contains("3600 s"), "{garbage:?}: {status}");
    }
}

/// M-111: a run that is over dispatches nothing, and says so with what can be done.
#[test]
fn a_job_of_a_run_that_is_over_is_not_dispatched_again() {
    let bench = bench(&ScriptedAgent::with_script("cat"));
    let job = row(&submit(&bench, "x", &[]).ends(0).stdout, "job");
    for command in ["redispatch", "cancel"] {
        let ran = bench.run(&["job", command, &job]);
        ran.ends(3)
            .with("RL0140")
            .says("is over")
            .says(&format!("run-loop job show {job}"));
    }
    bench.run(&["job", "show", &job]).ends(0);
    // From what the index remembers, and from the journals once it is gone.
    let list = || {
        bench
            .run(&["job", "list", "--format", "json"])
            .ends(0)
            .stdout
            .clone()
    };
    let listed = list();
    std::fs::remove_file(bench.repo.root().join(".git/run-loop/index.db")).unwrap();
    assert_eq!(list(), listed);
    assert!(listed.contains(&job), "{listed}");
}

/// T-084, T-106, M-124, M-129: how a job ends that does not complete, and one whose agent dies: our codes
/// by their numbers, which callers compare with, and the report of no failure counts.
#[test]
fn a_job_that_does_not_complete_says_why() {
    for (script, code, reason, word) in [
        (
            "cat > /dev/null; echo report; exit 3",
            6,
            "RL0507",
            "exited with 3",
        ),
        ("cat > /dev/null", 6, "RL0507", "no_report"),
        (
            "cat > /dev/null; echo report; kill -SEGV $$",
            6,
            "RL0507",
            "signal 11",
        ),
    ] {
        let bench = bench(&ScriptedAgent::with_script(script));
        let ran = submit(&bench, "x", &[]);
        ran.ends(code).with(reason).says(word);
        let job = row(&ran.stdout, "job");
        bench.run(&["job", "wait", &job]).ends(code).with(reason);
        // The run is over: nothing can follow.
        bench
            .run(&["job", "redispatch", &job])
            .ends(3)
            .with("RL0140");
    }
}

/// T-102, T-109, T-111, M-125, M-126: a spent budget closes the job and ends everything of it; the label says
/// so.
#[test]
fn a_spent_budget_closes_the_job() {
    let bench = bench(&ScriptedAgent::with_script(
        "cat > /dev/null; echo all; forever",
    ));
    let ran = submit(&bench, "x", &["--timeout", "1"]);
    ran.ends(7).with("RL0701").says("wall_clock_timeout");
    assert_eq!(bench.left_in_cache(&["jobs"]), [""; 0]);
}

/// A program that the kernel refuses is a job that could not be started: 126 (T-052).
#[test]
fn a_program_that_cannot_be_started_ends_126() {
    let bench = bench(&ScriptedAgent::with_script("cat"));
    let program = bench.repo.beside("agents").join("helper");
    let broken = Command::new("/bin/sh")
        .args(["-c", "printf '\\177ELF not a program' > \"$1\"", "sh"])
        .arg(&program)
        .status();
    assert!(broken.unwrap().success());
    let ran = submit(&bench, "x", &[]);
    ran.ends(126).with("RL0601").says("not_started");
}

/// T-051, M-103, M-107: a prompt that cannot be written ends 126 with one line, and nothing of it
/// stays on the disk.
#[test]
fn a_prompt_that_cannot_be_written_ends_126() {
    let bench = bench(&ScriptedAgent::with_script("cat"));
    let file = bench.repo.beside("prompt.md");
    std::fs::write(&file, "0123456789abcde\n".repeat(300_000)).unwrap();
    let line = format!(
        "ulimit -f 4096; exec {} job submit --agent helper --prompt-file {}",
        env!("CARGO_BIN_EXE_run-loop"),
        quote(file.to_str().unwrap())
    );
    let mut command = Command::new("/bin/bash");
    command
        .args(["-c", &line])
        .current_dir(bench.repo.root())
        .env_clear();
    command.envs(bench.environment());
    let ran = Ran::of(&command.output().unwrap());
    ran.ends(126).with("RL0601");
    assert_eq!(bench.left_in_cache(&["jobs"]), [""; 0]);
    bench.run(&["list"]).ends(0);
}

/// T-189: an interrupted job is put aside and resumed as a new attempt; `cancel` ends it.
#[test]
fn an_interrupted_job_is_resumed() {
    let repo = crate::support::repo::Repo::new();
    let bench = Bench::around(repo);
    let point = Point::new(&bench.repo.beside("tmp"), "running");
    let path = point.path().display().to_string();
    let counter = bench.repo.beside("counter");
    let bench = bench
        .spare(
            "helper",
            &ScriptedAgent::in_turn(
                &counter,
                &[
                    ScriptedAgent::with_script(format!(
                        "cat > /dev/null; echo $$ > {path}; forever"
                    )),
                    ScriptedAgent::with_script("cat > /dev/null; echo second"),
                ],
            ),
            "",
        )
        .ready();
    let file = bench.repo.beside("prompt.md");
    std::fs::write(&file, "x").unwrap();
    let args = ["job", "submit", "--agent", "helper", "--prompt-file"];
    let child = bench.spawn(&[&args[..], &[file.to_str().unwrap()]].concat());
    point.reached();
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let ran = Ran::of(&child.wait_with_output().unwrap());
    ran.ends(143).with("RL0802");
    let ran = bench.run(&["resume"]);
    ran.ends(0);
    assert!(
        row(&ran.stdout, "status").contains("attempt 2"),
        "{}",
        ran.stdout
    );
    let job = row(&ran.stdout, "job");
    let report = bench.run(&["job", "show", &job, "--report"]);
    assert_eq!(report.ends(0).stdout, "second\n");
}

const SCHEMA: &str =
    r#"{"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}"#;

fn submit_with(bench: &Bench, schema: &str) -> Ran {
    let file = bench.repo.beside("schema.json");
    std::fs::write(&file, schema).unwrap();
    submit(bench, "Count.\n", &["--schema", file.to_str().unwrap()])
}

/// Issue 6, 7 (A-034, T-184): what fits is the report, and nothing else of the answer is.
#[test]
fn an_answer_that_fits_its_schema_is_the_report() {
    let script = "grep -q '\"count\"' || exit 9\necho '```json'; echo '{\"count\": 3}'; echo '```'";
    let bench = bench(&ScriptedAgent::with_script(script));
    let ran = submit_with(&bench, SCHEMA);
    let job = row(&ran.ends(0).stdout, "job");
    let report = bench.run(&["job", "show", &job, "--report"]);
    assert_eq!(report.ends(0).stdout, "{\"count\": 3}\n");
}

/// A-057, T-183: one that does not fit is asked for once more and told why; then the job has failed,
/// with the reason and without filler.
#[test]
fn an_answer_that_does_not_fit_is_no_answer() {
    let asked = |turns: [&str; 2]| {
        let folder = tempfile::tempdir().unwrap();
        let turns = turns.map(ScriptedAgent::with_script);
        let bench = bench(&ScriptedAgent::in_turn(&folder.path().join("turn"), &turns));
        let ran = submit_with(&bench, SCHEMA);
        (ran, bench, folder)
    };
    let misfit = "cat > /dev/null; echo '{\"count\": \"three\"}'";
    let fits = "grep -q 'three' && echo '{\"count\": 3}'";
    let (ran, ..) = asked([misfit, fits]);
    assert_eq!(
        row(&ran.ends(0).stdout, "status"),
        "completed (attempt 2, budget 3600 s)"
    );
    for second in [misfit, "cat > /dev/null", "cat > /dev/null; echo Done."] {
        let (ran, bench, _folder) = asked([misfit, second]);
        ran.ends(6).with("RL0507").says("output_invalid");
        bench.run(&["job", "list"]).ends(0).says("error");
    }
    // One that failed is not asked for its form.
    let (ran, ..) = asked(["cat > /dev/null; exit 3", fits]);
    ran.ends(6).says("exited with 3");
}

/// A schema that is gone by the time of the answer is no fault of the answer: nobody is asked again.
#[test]
fn a_schema_that_cannot_be_read_is_no_misfit() {
    let bench = bench(&ScriptedAgent::with_script(
        "cat > /dev/null; rm .git/run-loop/runs/*/artifacts/*; echo '{\"count\": 3}'",
    ));
    let ran = submit_with(&bench, SCHEMA);
    ran.ends(6).says("is missing");
    let status = row(&ran.stdout, "status");
    assert!(status.contains("attempt 1"), "{status}");
}

/// What is no schema shows before anybody is asked.
#[test]
fn what_is_no_schema_is_refused() {
    let bench = bench(&ScriptedAgent::with_script("touch \"$HOME/asked\""));
    for (schema, says) in [
        ("", "EOF"),
        ("[]", "an object"),
        (r#"{"type": "objekt"}"#, "objekt"),
        (r##"{"allOf": [{"$ref": "#"}]}"##, "back to itself"),
    ] {
        submit_with(&bench, schema).ends(2).says(says);
    }
    assert!(!bench.repo.beside("home").join("asked").exists());
    bench.run(&["job", "list"]).ends(0).says("no");
}

/// A job whose answer cannot be kept ran: it is not told as one that was not started.
#[test]
fn an_answer_that_cannot_be_kept_is_of_a_job_that_ran() {
    let bench = bench(&ScriptedAgent::with_script(
        "cat > /dev/null; echo Done.; sum=$(echo Done. | sha256sum | cut -d' ' -f1); \
         find .git -type d -name artifacts -exec mkdir -p {}/$sum/x ';'",
    ));
    let ran = submit(&bench, "Do it.\n", &[]);
    assert_ne!(ran.code, Some(0), "{}", ran.stderr);
    let job = row(&ran.stdout, "job");
    let shown = bench.run(&["job", "show", &job]);
    assert!(
        shown.stdout.contains("could not be taken"),
        "{}",
        shown.stdout
    );
}

/// Who submits while another run is about to begin here waits for it: a lock whose holder has no journal yet
/// is nobody's failure.
#[test]
fn a_job_waits_for_a_run_that_is_about_to_begin() {
    let bench = bench(&ScriptedAgent::with_script("cat > /dev/null; echo done"));
    let file = bench.repo.beside("prompt.md");
    std::fs::write(&file, "Do it.\n").unwrap();
    let state = StateFolder::open(&bench.repo.root().join(".git")).unwrap();
    let stamp = Stamp {
        at: Timestamp::from_millis(1),
        seed: [7; 32],
    };
    let root = bench.repo.root().canonicalize().unwrap();
    let begins = RunLock::acquire(&state, &root, LoopId::mint(&stamp, "loop")).unwrap();
    let args = ["job", "submit", "--agent", "helper", "--prompt-file"];
    let mut command = bench.command(&args);
    command.arg(&file).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert!(line.contains("another run begins here"), "{line}");
    // It came to nothing.
    drop(begins);
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert!(child.wait().unwrap().success(), "{rest}");
}
