//! What a writer delegates, or somebody beside it: the round waits, or the reviewers are told, and
//! what is written late voids the round.

use std::path::PathBuf;

use crate::support::agents::{Point, ScriptedAgent, quote};
use crate::support::bench::{Bench, Ran};
use crate::support::crash::{Engine, until};
use crate::support::repo::Repo;

const LATE: &str = "// written late";

/// A creator, a reviewer that notes its prompts, and a helper that writes when it is let.
struct Stage {
    bench: Bench,
    /// Where the creator waits, told that it is there.
    writing: Point,
    written: Point,
    /// What lets the helper write.
    go: Point,
    /// Where the reviewer waits at its first call, and what lets it judge.
    reviewing: Point,
    judge: Point,
    prompts: PathBuf,
}

impl Stage {
    fn new(delegates: bool, judges_at_once: bool) -> Self {
        let own = "echo '// by the creator' >> src/lib.rs;";
        Self::with_creator(own, delegates, judges_at_once)
    }
    /// Its creator does this before it delegates, if it does.
    fn with_creator(own: &str, delegates: bool, judges_at_once: bool) -> Self {
        let bench = Bench::new();
        let agents = bench.repo.beside("agents");
        let point = |name: &str| Point::new(&agents, name);
        let (writing, written, go) = (point("writing"), point("written"), point("go"));
        let (reviewing, judge) = (point("reviewing"), point("judge"));
        let prompts = bench.repo.beside("prompts");
        let program = env!("CARGO_BIN_EXE_run-loop");
        let delegate = if delegates {
            format!(
                "echo 'Write it.' > \"$TMPDIR/prompt\"; \
                 {program} job submit --agent helper --prompt-file \"$TMPDIR/prompt\" >&2 || exit 9"
            )
        } else {
            format!(
                "echo x > {}; read -r _ < {}",
                writing.path().display(),
                written.path().display()
            )
        };
        let creator = ScriptedAgent::with_script(format!(
            "read_prompt; {own} {delegate}; echo Done. | deliver"
        ));
        let wait = if judges_at_once {
            String::new()
        } else {
            format!(
                "[ \"$RUN_LOOP_JOB_ROUND\" != 1 ] || {{ echo x > {}; read -r _ < {}; }};",
                reviewing.path().display(),
                judge.path().display()
            )
        };
        let reviewer = ScriptedAgent::with_script(format!(
            "read_prompt; printf '%s' \"$PROMPT\" > {0}.\"$RUN_LOOP_JOB_ROUND\"; \
             cat \"$RUN_LOOP_JOB_TREE/src/lib.rs\" > {0}.tree.\"$RUN_LOOP_JOB_ROUND\"; \
             {wait} verdict PASS '[]' | deliver",
            quote(prompts.to_str().unwrap())
        ));
        let helper = ScriptedAgent::with_script(format!(
            "cat > /dev/null; read -r _ < {}; echo '{LATE}' >> src/lib.rs; echo Written.",
            go.path().display()
        ));
        let bench = bench
            .reviewer("reader", &reviewer)
            .spare("writer", &creator, "")
            .spare("helper", &helper, "")
            .ready();
        Self {
            bench,
            writing,
            written,
            go,
            reviewing,
            judge,
            prompts,
        }
    }
    fn start(&self, more: &[&str]) -> Engine {
        let line = [
            "--base",
            "main",
            "--creator",
            "writer",
            "--format",
            "ndjson",
            "add a line",
        ];
        Engine::start_with(&self.bench, &[&line, more].concat())
    }
    /// A person delegates a job beside the run; its id.
    fn submit(&self) -> String {
        let file = self.bench.repo.beside("prompt.md");
        std::fs::write(&file, "Write it.\n").unwrap();
        let file = file.to_str().unwrap();
        let ran: Ran =
            self.bench
                .run(&["job", "submit", "--agent", "helper", "--prompt-file", file]);
        ran.ends(0).stdout.trim().to_owned()
    }
    fn prompt(&self, round: u32) -> String {
        std::fs::read_to_string(format!("{}.{round}", self.prompts.display())).unwrap()
    }
    fn tree(&self, round: u32) -> String {
        std::fs::read_to_string(format!("{}.tree.{round}", self.prompts.display())).unwrap()
    }
    fn is_written(&self) -> bool {
        let source = std::fs::read_to_string(self.bench.repo.root().join("src/lib.rs"));
        source.unwrap().contains(LATE)
    }
}

/// T-110, M-130, M-131: a round is not opened before what the creator delegated is over, and the
/// reviewers see the table; `status` and `show` list the job, while it runs and afterwards.
#[test]
fn a_round_waits_for_what_the_creator_delegated() {
    let stage = Stage::new(true, true);
    let mut engine = stage.start(&[]);
    engine.line_with(&["step_started", "\"wait\""]);
    stage
        .bench
        .run(&["status"])
        .ends(0)
        .says("delegated")
        .says("helper")
        .says("running");
    assert!(!stage.is_written());
    stage.go.release();
    engine.ended().ends(0);
    assert!(stage.tree(1).contains(LATE), "{}", stage.tree(1));
    let prompt = stage.prompt(1);
    let row = prompt.lines().find(|line| line.contains("| helper |"));
    assert!(row.unwrap().contains("| completed |"), "{prompt}");
    stage
        .bench
        .run(&["show"])
        .ends(0)
        .says("delegated")
        .says("completed");
    let shown = stage.bench.run(&["status", "--format", "json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(shown["jobs"][0]["status"], "completed");
}

/// M-130: who leaves all the work to another agent and ends has changed something: what it left is
/// measured when the work is done.
#[test]
fn a_creator_may_leave_all_the_work_to_others() {
    let stage = Stage::with_creator("", true, true);
    let line = ["--creator", "writer", "--format", "ndjson", "add a line"];
    let mut engine = Engine::start_with(&stage.bench, &line);
    engine.line_with(&["step_started", "\"wait\""]);
    assert!(!engine.seen.concat().contains("work_closed"));
    stage.go.release();
    engine.ended().ends(0);
    assert!(stage.tree(1).contains(LATE), "{}", stage.tree(1));
}

/// M-130: a run that is stopped while it waits says so, and not that somebody is told.
#[test]
fn a_wait_that_is_broken_off_tells_nobody() {
    let stage = Stage::with_creator("", true, true);
    let line = ["--creator", "writer", "--format", "ndjson", "add a line"];
    let mut engine = Engine::start_with(&stage.bench, &line);
    engine.line_with(&["step_started", "\"wait\""]);
    stage.bench.run(&["cancel"]).ends(0);
    engine.line_with(&["wait_ended", "\"stopped\":true"]);
    let ended = engine.ended();
    assert_ne!(ended.code, Some(0), "{ended:?}");
}

/// T-101, T-110: a cap of its own wins, and reviewers are told of what is open then.
#[test]
fn the_wait_may_have_a_cap_of_its_own() {
    let stage = Stage::new(true, true);
    let mut engine = stage.start(&["--job-wait", "1"]);
    engine.line_with(&["wait_ended", "\"in_time\":false"]);
    engine.ended().ends(0);
    let prompt = stage.prompt(1);
    let row = prompt.lines().find(|line| line.contains("| helper |"));
    assert!(row.unwrap().contains("| OPEN |"), "{prompt}");
    assert!(!stage.is_written());
}

/// T-117: with `--wait-open-jobs` a job that nobody is named as the parent of is waited for, too.
#[test]
fn open_jobs_of_nobody_are_waited_for_when_asked() {
    let stage = Stage::new(false, true);
    let mut engine = stage.start(&["--wait-open-jobs"]);
    stage.writing.reached();
    stage.submit();
    stage.written.release();
    engine.line_with(&["step_started", "\"wait\""]);
    stage.go.release();
    engine.ended().ends(0);
    assert!(stage.tree(1).contains(LATE), "{}", stage.tree(1));
    assert!(!stage.prompt(1).contains("nobody is named"));
}

/// T-116, T-017, M-132, M-133: without it the reviewers are told of the job and of the rule for it; what it
/// writes after they saw the snapshot voids the round, and the next one reviews it.
#[test]
fn what_an_open_job_writes_late_voids_the_round() {
    let stage = Stage::new(false, false);
    let engine = stage.start(&[]);
    stage.writing.reached();
    let job = stage.submit();
    stage.written.release();
    stage.reviewing.reached();
    let prompt = stage.prompt(1);
    assert!(
        prompt.contains("nobody is named as the parent of"),
        "{prompt}"
    );
    assert!(prompt.contains(&job) && prompt.contains("The rule for them"));
    stage.go.release();
    until("the job has written", || stage.is_written());
    stage.judge.release();
    let ran = engine.ended();
    ran.ends(0).says("stale");
    assert!(!stage.tree(1).contains(LATE) && stage.tree(2).contains(LATE));
}

/// A finished report is never bought again: what the creator delegated ends while the engine stands
/// still, and then that is killed. The round sees what was written, once.
#[test]
fn what_a_creators_job_finished_unseen_is_used() {
    let stage = Stage::new(true, true);
    let mut engine = stage.start(&[]);
    engine.line_with(&["step_started", "\"wait\""]);
    engine.signal("STOP");
    let outcomes = || {
        let left = stage.bench.left_in_cache(&["jobs"]);
        left.iter()
            .filter(|path| path.ends_with("/outcome.json"))
            .count()
    };
    // The creator's is there.
    let before = outcomes();
    stage.go.release();
    until("the guard has written the outcome", || outcomes() > before);
    engine.kill();
    stage.bench.run(&["resume"]).ends(0);
    assert_eq!(stage.tree(1).matches(LATE).count(), 1, "{}", stage.tree(1));
    let prompt = stage.prompt(1);
    let row = prompt.lines().find(|line| line.contains("| helper |"));
    assert!(row.unwrap().contains("| completed |"), "{prompt}");
}

/// A job alone that does this where `src/lib.rs` has uncommitted edits.
fn alone(does: &str, before: impl FnOnce(&Repo)) -> (Bench, Ran) {
    let agent = ScriptedAgent::with_script(format!("cat > /dev/null; {does}; echo done"));
    let bench = Bench::new().spare("helper", &agent, "").ready();
    bench.repo.write("src/lib.rs", "// not committed\n");
    before(&bench.repo);
    let file = bench.repo.beside("prompt.md");
    std::fs::write(&file, "Tidy up.\n").unwrap();
    let file = file.to_str().unwrap();
    let ran = bench.run(&["job", "submit", "--agent", "helper", "--prompt-file", file]);
    ran.ends(0);
    (bench, ran)
}

const LOSES: &str = "git checkout -q -- src/lib.rs";

/// Issue 5, item 2: a job of its own, outside of any loop, that throws uncommitted edits away says so, also where it
/// leaves an operation open.
#[test]
fn what_a_single_job_threw_away_is_told() {
    let merges = "git rev-parse HEAD > .git/MERGE_HEAD";
    for does in [LOSES.to_owned(), format!("{LOSES}; {merges}")] {
        let (bench, ran) = alone(&does, |_| ());
        let mut lines = ran.stderr.lines();
        let line = lines.find(|line| line.contains("lost the uncommitted edits of src/lib.rs"));
        let line = line.unwrap_or_else(|| unreachable!("{}", ran.stderr));
        let command = &line[line.find("git ").unwrap()..];
        // W07: what exists nowhere else is kept, though the run is over.
        bench.run(&["cleanup", "--store-budget", "0"]).ends(0);
        let shown = std::process::Command::new("sh")
            .args(["-c", command])
            .output();
        assert_eq!(shown.unwrap().stdout, b"// not committed\n");
    }
}

/// Where the source cannot be captured before such a job, or measured after it, that is told.
#[test]
fn what_a_single_job_may_have_thrown_away_is_told() {
    let doubt = "the job may have thrown away uncommitted edits that were there right before it, which is not known";
    let (_, ran) = alone(LOSES, |repo| drop(repo.git(&["init", "-q", "nested"])));
    ran.says(doubt).says("nested");
    let (_bench, ran) = alone(&format!("{LOSES}; git init -q nested"), |_| ());
    ran.says(doubt).says("nested");
    let line = ran
        .stderr
        .lines()
        .find(|line| line.contains(doubt))
        .unwrap();
    let command = &line[line.find("printed by: ").unwrap() + 12..line.rfind(");").unwrap()];
    let shown = std::process::Command::new("sh")
        .args(["-c", command])
        .output();
    let shown = String::from_utf8(shown.unwrap().stdout).unwrap();
    assert!(shown.contains("+// not committed"), "{command}: {shown}");
}
