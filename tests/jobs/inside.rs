//! Sub-jobs: an agent inside a job delegates, waits, and reads what came back.

use crate::support::agents::{Point, ScriptedAgent};
use crate::support::bench::{Bench, Ran};
use crate::support::crash::Engine;

/// Functions for scripts that delegate.
fn library() -> String {
    format!(
        "RL={}\nsubmit() {{ printf '%s\\n' \"$2\" > \"$TMPDIR/prompt\"; \
         \"$RL\" job submit --agent \"$1\" --prompt-file \"$TMPDIR/prompt\" \"${{@:3}}\"; }}\n",
        env!("CARGO_BIN_EXE_run-loop")
    )
}

/// A reviewer that runs these lines, with its standard output on the side, and then approves.
fn reviewer(lines: &str) -> ScriptedAgent {
    ScriptedAgent::with_script(format!(
        "{}read_prompt\nlog=$OUT\nexec 3>&1\n{{\n{lines}\n}} >\"$log\" 2>&1\nverdict PASS '[]' >&3\n",
        library()
    ))
}

struct Stage {
    bench: Bench,
    log: std::path::PathBuf,
}

impl Stage {
    fn new(lines: &str, helper: &ScriptedAgent) -> Self {
        let bench = Bench::new();
        let log = bench.repo.beside("tmp").join("log");
        let agent = reviewer(lines).after(&format!("OUT='{}'", log.display()));
        let bench = bench
            .reviewer("reader", &agent)
            .spare("helper", helper, "")
            .ready();
        Self { bench, log }
    }
    fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }
}

fn echo() -> ScriptedAgent {
    ScriptedAgent::with_script(
        "head -n 1; echo \"parentless: ${RUN_LOOP_JOB_ROUND:-none}, role $RUN_LOOP_JOB_ROLE\"; pwd",
    )
}

/// What was delegated is paid for, too: whoever adds up what a run cost and leaves it out claims a whole.
#[test]
fn what_was_delegated_stands_in_what_a_run_cost() {
    let lines = "id=$(submit helper 'What is two?') || exit 9\n\"$RL\" job wait \"$id\" || exit 8";
    let stage = Stage::new(lines, &echo());
    stage.bench.review().ends(0);
    let told = stage.bench.run(&["show", "--cost", "--format", "json"]);
    let told: serde_json::Value = serde_json::from_str(&told.ends(0).stdout).unwrap();
    assert_eq!(told["total"]["jobs"], 2, "{told}");
    assert_eq!(told["phases"]["delegate"]["without_cost"], 1, "{told}");
    assert_eq!(told["agents"]["helper"]["jobs"], 1, "{told}");
    assert_eq!(told["jobs"][1]["round"], serde_json::Value::Null, "{told}");
}

/// The whole way: submit, wait, show, the report, and the parent in the list.
#[test]
fn a_reviewer_delegates_and_reads_the_report() {
    let stage = Stage::new(
        "id=$(submit helper 'What is two?') || exit 9\n\
         \"$RL\" job wait \"$id\" || exit 8\n\
         \"$RL\" job show \"$id\" --report\n\
         \"$RL\" job list\n\
         \"$RL\" job show \"$id\" --format json\n\
         echo \"me $RUN_LOOP_JOB_ID in $(pwd)\"",
        &echo(),
    );
    let ran = stage.bench.review();
    let log = stage.log();
    ran.ends(0);
    assert!(log.contains("What is two?"), "{log}");
    assert!(log.contains("parentless: none, role delegate"), "{log}");
    // It worked where its parent works: not in the source.
    let me = log.lines().find(|line| line.starts_with("me ")).unwrap();
    let (mine, tree) = me.strip_prefix("me ").unwrap().split_once(" in ").unwrap();
    assert!(log.lines().any(|line| line == tree), "{log}");
    assert_ne!(tree, stage.bench.repo.root().to_str().unwrap());
    let below = stage.bench.run(&["job", "list", "--parent", mine]);
    assert!(
        below.ends(0).stdout.contains("completed"),
        "{}",
        below.stdout
    );
    assert_eq!(stage.bench.left_in_cache(&["jobs"]), [""; 0]);
    stage.bench.gate().ends(0);
}

/// A process that outlives its job is told so at once: nobody reads that mailbox any more.
#[test]
fn who_outlives_its_job_asks_nobody() {
    let bench = Bench::new();
    let tmp = bench.repo.beside("tmp");
    let (held, told) = (Point::new(&tmp, "held"), tmp.join("told"));
    let tells = format!(
        "printf '%s\\n%s' \"$RUN_LOOP_JOB_ID\" \"$RUN_LOOP_JOB_INBOX\" > '{}'",
        told.display()
    );
    let bench = bench
        .reviewer("ann", &ScriptedAgent::passing().after(&tells))
        .reviewer("bob", &ScriptedAgent::hangs_at(&held))
        .spare("helper", &echo(), "")
        .ready();
    let mut engine = Engine::start(&bench);
    engine.line_with(&["\"job_ended\"", "\"PASS\""]);
    held.reached();
    let told = std::fs::read_to_string(&told).unwrap();
    let (job, inbox) = told.split_once('\n').unwrap();
    let file = bench.repo.beside("prompt.md");
    std::fs::write(&file, "x").unwrap();
    let mut submit = bench.command(&["job", "submit", "--agent", "helper", "--prompt-file"]);
    submit
        .arg(&file)
        .env("RUN_LOOP_JOB_ID", job)
        .env("RUN_LOOP_JOB_INBOX", inbox);
    let ran = Ran::of(&submit.output().unwrap());
    ran.ends(3).with("RL0141").says(job).says("has ended");
    engine.kill();
}

/// Nothing is never said of a parent that nobody knows, and an id is one in whatever case it is written.
#[test]
fn an_unknown_parent_is_no_empty_list_inside_a_job() {
    let stage = Stage::new(
        "id=$(submit helper 'Hello.') || exit 9; \"$RL\" job wait \"$id\"\n\
         for parent in \"${RUN_LOOP_JOB_ID^^}\" \"$id\" 0123; do\n\
         out=$(\"$RL\" job list --parent \"$parent\" 2>&1); echo \"listed $? $(grep -c \"${id:0:8}\" <<<\"$out\")\"\n\
         done",
        &echo(),
    );
    stage.bench.review().ends(0);
    let log = stage.log();
    let listed: Vec<&str> = log.lines().filter(|it| it.starts_with("listed ")).collect();
    assert_eq!(listed, ["listed 0 1", "listed 0 0", "listed 2 0"], "{log}");
}

/// T-115, M-106, M-108, T-058: an unknown agent or parent is refused on standard error alone.
#[test]
fn what_is_not_granted_is_said_to_the_job() {
    let stage = Stage::new(
        "out=$(submit nobody x 2>/dev/null); echo \"agent $? [$out]\"\n\
         out=$(submit helper x --parent-job 01900000 2>/dev/null); echo \"parent $? [$out]\"\n\
         out=$(submit helper '' 2>/dev/null); echo \"empty $? [$out]\"\n\
         \"$RL\" job event completed 2>/dev/null; echo \"own $?\"\n\
         \"$RL\" job event progress >/dev/null 2>&1; echo \"progress $?\"\n\
         \"$RL\" --base main --review-only >/dev/null 2>&1; echo \"loop $?\"\n\
         RUN_LOOP_JOB_ID=elsewhere \"$RL\" job list 2>&1",
        &echo(),
    );
    stage.bench.review().ends(0);
    let log = stage.log();
    for line in [
        "agent 2 []",
        "parent 2 []",
        "empty 2 []",
        "own 3",
        "progress 0",
        "loop 2",
    ] {
        assert!(
            log.lines().any(|said| said == line),
            "no {line:?} in:\n{log}"
        );
    }
    // An id of another registry: dropped, with a warning.
    assert!(log.contains("no parent"), "{log}");
}

/// An inbox that cannot be read is told, once: nobody's messages arrive.
#[test]
fn an_inbox_that_cannot_be_read_is_told() {
    let stage = Stage::new(
        "rm -r \"$RUN_LOOP_JOB_INBOX\" && echo x > \"$RUN_LOOP_JOB_INBOX\"",
        &echo(),
    );
    let ran = stage.bench.review();
    ran.ends(0);
    let told = ran.stderr.matches("nobody's messages arrive").count();
    assert_eq!(told, 1, "{}", ran.stderr);
}

/// T-070, T-185: over the wire, too, a stale or forged token counts for nothing, and the first
/// end wins.
#[test]
fn tokens_fence_what_agents_say() {
    let helper = ScriptedAgent::with_script(format!(
        "RL={}\ncat > /dev/null\n\
         say() {{ \"$RL\" job event \"$@\" >/dev/null 2>&1; echo \"$1 $?\"; }}\n\
         say progress\n\
         say completed --detail x --job \"$RUN_LOOP_JOB_ID\" --attempt 1 --token 0123\n\
         say completed --detail done\n\
         say completed --detail done\n\
         say error --detail done\n\
         say progress\n",
        env!("CARGO_BIN_EXE_run-loop")
    ));
    let stage = Stage::new(
        "id=$(submit helper x); \"$RL\" job wait \"$id\"; \"$RL\" job show \"$id\" --report",
        &helper,
    );
    stage.bench.review().ends(0);
    let log = stage.log();
    let said: Vec<&str> = log
        .lines()
        .filter(|line| {
            line.starts_with("progress ")
                || line.starts_with("completed ")
                || line.starts_with("error ")
        })
        .collect();
    let expected = [
        "progress 0",
        "completed 3",
        "completed 0",
        "completed 0",
        "error 3",
        "progress 3",
    ];
    assert_eq!(said, expected, "{log}");
    assert!(log.contains("detail"), "{log}");
}

/// What is left of a reviewer's tree ends with the reviewer; it is named in the list.
#[test]
fn an_open_sub_job_ends_with_its_reviewer() {
    let bench = Bench::new();
    let point = Point::new(&bench.repo.beside("tmp"), "sub");
    let helper = ScriptedAgent::with_script(format!(
        "cat > /dev/null; echo $$ > '{}'; forever",
        point.path().display()
    ));
    let log = bench.repo.beside("tmp").join("log");
    let lines = format!(
        "submit helper x; read -r pid < '{}'; echo \"pid $pid\"",
        point.path().display()
    );
    let agent = reviewer(&lines).after(&format!("OUT='{}'", log.display()));
    let bench = bench
        .reviewer("reader", &agent)
        .spare("helper", &helper, "")
        .ready();
    bench.review().ends(0);
    let log = std::fs::read_to_string(&log).unwrap();
    let pid = log
        .lines()
        .find_map(|line| line.strip_prefix("pid "))
        .unwrap();
    assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
    bench.run(&["job", "list"]).ends(0).says("parent_ended");
}

/// Beside a run that goes on, a person's job is one of that run, without a parent; it can be
/// shown, cancelled once, and dispatched again as a new attempt.
#[test]
fn a_persons_job_joins_the_run_that_goes_on() {
    let bench = Bench::new();
    let (held, sub) = (
        Point::new(&bench.repo.beside("tmp"), "held"),
        Point::new(&bench.repo.beside("tmp"), "sub"),
    );
    let agent =
        ScriptedAgent::passing().after(&format!("read -r go < '{}'", held.path().display()));
    let helper = ScriptedAgent::with_script(format!(
        "cat > /dev/null; echo $$ > '{}'; forever",
        sub.path().display()
    ));
    let bench = bench
        .reviewer("reader", &agent)
        .spare("helper", &helper, "")
        .ready();
    let child = bench.spawn(&["--base", "main", "--review-only"]);
    let file = bench.repo.beside("prompt.md");
    std::fs::write(&file, "x").unwrap();
    // Its run is found once its first event is there.
    let submit = || {
        let args = ["job", "submit", "--agent", "helper", "--prompt-file"];
        bench.run(&[&args[..], &[file.to_str().unwrap()]].concat())
    };
    while !bench.run(&["list"]).stdout.contains("running") {
        std::thread::yield_now();
    }
    let ran = submit();
    let job = ran.ends(0).stdout.trim().to_owned();
    sub.reached();
    bench
        .run(&["job", "show", &job])
        .ends(0)
        .says("yes: its guard holds it");
    bench
        .run(&["job", "wait", &job, "--timeout", "1"])
        .ends(7)
        .with("RL0702");
    bench
        .run(&["job", "redispatch", &job])
        .ends(3)
        .with("RL0141");
    bench
        .run(&["job", "cancel", &job, "--reason", "session_busy: later"])
        .ends(0);
    bench.run(&["job", "cancel", &job]).ends(0);
    bench
        .run(&["job", "wait", &job])
        .ends(143)
        .says("session_busy");
    bench.run(&["job", "redispatch", &job]).ends(0);
    sub.reached();
    bench.run(&["job", "show", &job]).ends(0).says("attempt 2");
    bench.run(&["job", "cancel", &job]).ends(0);
    held.release();
    Ran::of(&child.wait_with_output().unwrap()).ends(0);
}

/// Issue 4.6, M-159: a permission question is told while the job runs, once; another one is told as well, and
/// neither is progress. Who says to make progress does, in the same words, too.
#[test]
fn what_is_asked_twice_is_told_once_and_is_no_progress() {
    let stage = Stage::new(
        "say() { \"$RL\" job event \"$@\" >/dev/null 2>&1 || echo \"refused $*\"; \
         find \"$HOME/.cache/run-loop/jobs\" -name activity -printf '%T@ %i\\n'; }\n\
         say progress --detail a; say progress --detail a; say progress --detail b\n\
         say permission-required --detail 'may I?'\n\
         say permission-required --detail 'may I?'\n\
         say permission-required --detail 'may I now?'",
        &echo(),
    );
    let ran = stage.bench.review();
    let log = stage.log();
    ran.ends(0);
    let marks: Vec<&str> = log.lines().collect();
    assert_eq!(marks.len(), 6, "{log}");
    assert_ne!(marks[0], marks[1]);
    assert_ne!(marks[1], marks[2]);
    assert_eq!(marks[2..], [marks[2]; 4]);
    let told = |question: &str| {
        let line = format!("stalled:blocked: it waits for a permission: {question}\n");
        ran.stderr.matches(&line).count()
    };
    assert_eq!(
        (told("may I?"), told("may I now?")),
        (1, 1),
        "{}",
        ran.stderr
    );
}

/// A delegated program too is told that the run's time is nearly over.
#[test]
fn a_delegated_program_is_told_that_the_time_of_the_run_is_nearly_over() {
    let stage = Stage::new(
        "id=$(submit helper 'Wait.') || exit 9; \"$RL\" job wait \"$id\"",
        &ScriptedAgent::with_script(
            "until grep -q 'wrap up' \"$RUN_LOOP_JOB_WRAP_UP\" 2> /dev/null; do sleep 0.05; done; echo Done.",
        ),
    );
    let line = ["--base", "main", "--review-only", "--max-wall", "10"];
    stage.bench.run(&line).ends(0);
}
