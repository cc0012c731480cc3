//! What is run until it is killed, and what must be true whatever happened.

use crate::support::agents::{ScriptedAgent, finding, quote};
use crate::support::bench::{Bench, Ran};
use crate::support::crash::{Engine, calls_in, counted, processes, there_is, until};

/// The command line of a scenario in which nobody writes.
const REVIEW: &[&str] = &["--base", "main", "--review-only"];

/// A bench, its agents, and the exit code that an undisturbed run ends with.
pub struct Scenario {
    pub bench: Bench,
    pub agents: &'static [&'static str],
    pub exit: i32,
    /// About how many events an undisturbed run has.
    pub events: u64,
    line: &'static [&'static str],
    before: Vec<String>,
}

impl Scenario {
    fn new(bench: Bench, agents: &'static [&'static str], exit: i32) -> Self {
        Self {
            before: untouchable(&bench, false),
            bench,
            agents,
            exit,
            events: 34,
            line: REVIEW,
        }
    }
    fn writes(&self) -> bool {
        self.line != REVIEW
    }
    pub fn start(&self) -> Engine {
        Engine::start_with(&self.bench, &[self.line, &["--format", "ndjson"]].concat())
    }
    pub fn run(&self) -> Ran {
        self.bench.run(self.line)
    }
    /// The gate, once the user has committed what was approved.
    pub fn gate(&self) -> Ran {
        if self.writes() {
            let repo = &self.bench.repo;
            repo.git(&["add", "src"]);
            repo.git(&["commit", "-q", "-m", "as approved", "--allow-empty"]);
        }
        self.bench.gate()
    }
    /// Two reviewers, one of whom is asked once more, and a check: PASS.
    pub fn passes() -> Self {
        let bench = Bench::new();
        let ann = counted(&bench, "ann", &ScriptedAgent::passing());
        let turns = [ScriptedAgent::plain_pass(), ScriptedAgent::passing()];
        let bob = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns);
        let bob = counted(&bench, "bob", &bob);
        let bench = bench
            .reviewer("ann", &ann)
            .reviewer_with("bob", &bob, "report: file")
            .also("checks")
            .config("checks: [{name: lines, run: 'test -s src/lib.rs', timeout: 60}]")
            .ready();
        Self::new(bench, &["ann", "bob"], 0)
    }
    /// One says NOT PASS, one PASS.
    pub fn does_not_pass() -> Self {
        let bench = Bench::new();
        let high = format!("[{}]", finding("it is wrong", "high", "src/lib.rs", 5));
        let ann = counted(&bench, "ann", &ScriptedAgent::not_passing(&high));
        let bob = counted(&bench, "bob", &ScriptedAgent::passing());
        let bench = bench.reviewer("ann", &ann).reviewer("bob", &bob).ready();
        Self::new(bench, &["ann", "bob"], 1)
    }
    /// A creator writes, the reviewer does not pass it, the creator corrects it, and it passes. Asked
    /// again after a crash, the creator finds what it wrote.
    pub fn is_corrected() -> Self {
        let adds =
            |word: &str| format!("grep -q {word} src/lib.rs || echo '// {word}' >> src/lib.rs");
        let creator = format!(
            "read_prompt; case $RUN_LOOP_JOB_ROLE in \
             implement) {}; echo Written. | deliver ;; \
             correct) {}; answers fixed | deliver ;; esac",
            adds("begun"),
            adds("mended")
        );
        let high = format!("[{}]", finding("it is not mended", "high", "src/lib.rs", 1));
        let reader = format!(
            "read_prompt; if grep -q mended \"$RUN_LOOP_JOB_TREE/src/lib.rs\"; \
             then verdict PASS '[]'; else verdict 'NOT PASS' {}; fi | deliver",
            quote(&high)
        );
        let bench = Bench::new();
        let agent =
            |name: &str, script: String| counted(&bench, name, &ScriptedAgent::with_script(script));
        let (ann, writer) = (agent("ann", reader), agent("writer", creator));
        let bench = bench
            .reviewer("ann", &ann)
            .spare("writer", &writer, "")
            .ready();
        let mut scenario = Self::new(bench, &["ann", "writer"], 0);
        scenario.line = &["--base", "main", "--creator", "writer", "mend it"];
        scenario.before = untouchable(&scenario.bench, true);
        scenario.events = 60;
        scenario
    }
    /// The reviewer passes a part of its work on, and waits for it.
    pub fn delegates() -> Self {
        let bench = Bench::new();
        let reader = format!(
            "read_prompt; echo 'Count.' > \"$TMPDIR/prompt\"; RL={}; \
             id=$(\"$RL\" job submit --agent helper --prompt-file \"$TMPDIR/prompt\") || exit 9; \
             \"$RL\" job wait \"$id\" >&2 || exit 8; verdict PASS '[]' | deliver",
            env!("CARGO_BIN_EXE_run-loop")
        );
        let ann = counted(&bench, "ann", &ScriptedAgent::with_script(reader));
        let helper = ScriptedAgent::with_script("cat > /dev/null; echo Two.");
        let helper = counted(&bench, "helper", &helper);
        let bench = bench.reviewer("ann", &ann).spare("helper", &helper, "");
        let mut scenario = Self::new(bench.ready(), &["ann", "helper"], 0);
        scenario.events = 30;
        scenario
    }
    /// The creator leaves its work to another agent and ends at once: what that one writes is reviewed.
    pub fn creator_delegates() -> Self {
        let bench = Bench::new();
        let creator = format!(
            "read_prompt; echo 'Write it.' > \"$TMPDIR/prompt\"; \
             {} job submit --agent helper --prompt-file \"$TMPDIR/prompt\" >&2 || exit 9; \
             echo Passed on. | deliver",
            env!("CARGO_BIN_EXE_run-loop")
        );
        let helper = "cat > /dev/null; grep -q helped src/lib.rs || echo '// helped' >> src/lib.rs; \
                      echo Done.";
        let reader = "read_prompt; if grep -q helped \"$RUN_LOOP_JOB_TREE/src/lib.rs\"; \
                      then verdict PASS '[]'; else verdict 'NOT PASS' '[]'; fi | deliver";
        let agent =
            |name: &str, script: &str| counted(&bench, name, &ScriptedAgent::with_script(script));
        let ann = agent("ann", reader);
        let (writer, helper) = (agent("writer", &creator), agent("helper", helper));
        let bench = bench
            .reviewer("ann", &ann)
            .spare("writer", &writer, "")
            .spare("helper", &helper, "")
            .ready();
        let mut scenario = Self::new(bench, &["ann", "writer", "helper"], 0);
        scenario.line = &["--base", "main", "--creator", "writer", "pass it on"];
        scenario.before = untouchable(&scenario.bench, true);
        scenario.events = 45;
        scenario
    }

    /// A planner plans, the creator objects, the planner refines, and the creator implements it.
    pub fn is_planned() -> Self {
        let planner = "read_prompt; case $RUN_LOOP_JOB_ROLE in plan) echo '1. Write begun.' ;; \
                       refine) echo '1. Write begun at the end.' ;; esac | deliver";
        let creator = "read_prompt; case $RUN_LOOP_JOB_ROLE in \
             challenge) objections '[\"Where?\"]' | deliver ;; \
             implement) grep -q begun src/lib.rs || echo '// begun' >> src/lib.rs; \
             echo Written. | deliver ;; esac";
        let reader = "read_prompt; if grep -q begun \"$RUN_LOOP_JOB_TREE/src/lib.rs\"; \
             then verdict PASS '[]'; else verdict 'NOT PASS' '[]'; fi | deliver";
        let bench = Bench::new();
        let agent =
            |name: &str, script: &str| counted(&bench, name, &ScriptedAgent::with_script(script));
        let (ann, writer) = (agent("ann", reader), agent("writer", creator));
        let thinker = agent("thinker", planner);
        let bench = bench
            .reviewer("ann", &ann)
            .spare("writer", &writer, "")
            .spare("thinker", &thinker, "")
            .ready();
        let mut scenario = Self::new(bench, &["ann", "writer", "thinker"], 0);
        scenario.line = &[
            "--base",
            "main",
            "--plan",
            "--planner",
            "thinker",
            "--creator",
            "writer",
            "begin it",
        ];
        scenario.before = untouchable(&scenario.bench, true);
        scenario.events = 80;
        scenario
    }
    /// What the reviewer finds is refuted, upheld, and overruled by the arbiter: it passes without
    /// another review.
    pub fn is_arbitrated() -> Self {
        let high = format!("[{}]", finding("it is wrong", "high", "src/lib.rs", 1));
        let reader = format!(
            "read_prompt; case $RUN_LOOP_JOB_ROLE in \
             review) verdict 'NOT PASS' {} ;; readjudicate) rulings upheld 'It is.' ;; esac | deliver",
            quote(&high)
        );
        let bench = Bench::new();
        let agent =
            |name: &str, script: &str| counted(&bench, name, &ScriptedAgent::with_script(script));
        let ann = agent("ann", &reader);
        let writer = agent("writer", "read_prompt; answers refuted | deliver");
        let judge = agent(
            "judge",
            "read_prompt; rulings overruled 'It is not.' | deliver",
        );
        let bench = bench
            .reviewer("ann", &ann)
            .spare("writer", &writer, "")
            .spare("judge", &judge, "")
            .ready();
        let mut scenario = Self::new(bench, &["ann", "writer", "judge"], 0);
        scenario.line = &[
            "--base",
            "main",
            "--review-only",
            "--creator",
            "writer",
            "--arbiter",
            "judge",
        ];
        scenario.before = untouchable(&scenario.bench, true);
        scenario.events = 75;
        scenario
    }
    /// The reviewer meets a limit of its provider the first two times it is asked.
    pub fn is_parked() -> Self {
        let limited =
            ScriptedAgent::with_script("read_prompt; echo '429: retry after 7200 s' >&2; exit 75");
        let bench = Bench::new();
        let turns = [limited.clone(), limited, ScriptedAgent::passing()];
        let ann = ScriptedAgent::in_turn(&bench.repo.beside("turn"), &turns);
        let ann = counted(&bench, "ann", &ann);
        let bob = counted(&bench, "bob", &ScriptedAgent::passing());
        let bench = bench.reviewer("ann", &ann).reviewer("bob", &bob).ready();
        Self::new(bench, &["ann", "bob"], 0)
    }

    /// What the newest run ended with.
    pub fn recorded_exit(&self) -> Option<i32> {
        let log = self.bench.run(&["log", "--format", "ndjson"]).stdout;
        let last: serde_json::Value = serde_json::from_str(log.lines().last()?).ok()?;
        i32::try_from(last["event"]["exit"].as_i64()?).ok()
    }
    /// Right after the kill: `status` knows at once, and nobody is told PASS who has none.
    pub fn after_the_kill(&self, seen: &[String], why: &str) {
        let over = seen.iter().any(|line| line.contains("\"run_ended\""));
        let status = self.bench.run(&["status"]);
        if seen.is_empty() {
            // It may have died before its first event, or before it was told.
        } else if !over {
            let words = ["interrupted", "parked", "PASS", "NOT PASS"];
            let said = format!("{}{}", status.stdout, status.stderr);
            assert!(
                words.iter().any(|word| said.contains(word)),
                "{why}: {said}"
            );
            assert!(!said.contains("running"), "{why}: {said}");
        }
        self.no_unearned_pass(why);
    }
    /// The gate believes in nothing that no journal tells.
    fn no_unearned_pass(&self, why: &str) {
        let log = self.bench.run(&["log", "--format", "ndjson"]).stdout;
        let promoted = log.lines().any(|line| line.contains("\"promoted\""));
        let gate = self.bench.gate();
        assert!(
            gate.code != Some(0) || (promoted && self.exit == 0),
            "{why}: the gate passed what was not approved\n{}{}\n{log}",
            gate.stdout,
            gate.stderr
        );
    }
    /// After `resume` or `cancel`: nothing lives, nothing lies about, nothing of the user's moved.
    pub fn at_the_end(&self, why: &str) {
        let folder = self.bench.repo.beside("agents");
        let pids = self
            .agents
            .iter()
            .flat_map(|name| processes(&self.bench, name));
        for pid in pids {
            until(&format!("{why}: agent {pid} is gone"), || {
                !there_is(&pid, &folder)
            });
        }
        let left = self.bench.left_in_cache(&["trees", "jobs", "evidence"]);
        assert_eq!(left, Vec::<String>::new(), "{why}");
        let untouched = untouchable(&self.bench, self.writes());
        assert_eq!(untouched, self.before, "{why}");
        if self.exit != 0 {
            assert_eq!(self.bench.promoted(), Vec::<String>::new(), "{why}");
            self.no_unearned_pass(why);
        }
    }
    /// A report that was recorded is never bought again: the calls of each agent in each round in
    /// which its slot was settled, or its work was done, before the kill.
    pub fn settled_calls(&self, seen: &[String]) -> Vec<Settled> {
        let events = seen.iter().filter(|line| line.ends_with('\n'));
        let events = events.map(|line| serde_json::from_str(line).unwrap());
        let settled = events.filter(|event: &serde_json::Value| {
            let kind = event["event"]["kind"].as_str();
            matches!(kind, Some("slot_settled" | "work_closed")) && event["slot"].is_string()
        });
        settled
            .filter_map(|event| {
                let name = *self.agents.iter().find(|name| event["slot"] == **name)?;
                let round = event["round"].as_u64().unwrap();
                let calls = calls_in(&self.bench, name, round);
                Some(Settled { name, round, calls })
            })
            .collect()
    }
    /// Nobody of them was asked again.
    pub fn nothing_bought_again(&self, settled: Vec<Settled>, why: &str) {
        for Settled { name, round, calls } in settled {
            let now = calls_in(&self.bench, name, round);
            let log = || self.bench.run(&["log"]).stdout;
            assert_eq!(now, calls, "{why}: {name} was asked again\n{}", log());
        }
    }
}

/// How often an agent was called in a round that it settled.
pub struct Settled {
    name: &'static str,
    round: u64,
    calls: usize,
}

/// What no crash may touch: refs, objects, index, configuration, hooks, and files where nobody writes.
fn untouchable(bench: &Bench, written: bool) -> Vec<String> {
    let root = bench.repo.root();
    let find = std::process::Command::new("find")
        .args([
            ".git/objects",
            ".git/refs",
            ".git/hooks",
            ".git/info",
            "-type",
            "f",
        ])
        .current_dir(root)
        .output()
        .unwrap();
    let mut objects: Vec<_> = find.stdout.split(|byte| *byte == b'\n').collect();
    objects.sort_unstable();
    let git = |args: &[&str]| bench.repo.git(args);
    let files = if written {
        String::new()
    } else {
        git(&["status", "--porcelain=v2", "-uall", "--", ":!.agents"])
    };
    vec![
        String::from_utf8(objects.join(&b'\n')).unwrap(),
        git(&["for-each-ref"]),
        git(&["config", "--local", "--list"]),
        git(&["worktree", "list", "--porcelain"]),
        git(&["ls-files", "--stage", "--debug"]),
        files,
    ]
}
