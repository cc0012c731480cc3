//! What is run until it is killed, and what must be true whatever happened.

#[path = "scenario/others.rs"]
mod others;

use std::time::{Duration, Instant};

use crate::ledger::{Calls, Ledger};
use crate::processes;
use crate::support::agents::{ScriptedAgent, finding, quote};
use crate::support::bench::{Bench, Ran};
use crate::support::crash::Engine;
use crate::truth::{self, Stands};

const CORRECTED: Calls = &[
    ("writer-implement-1", 1),
    ("ann-review-1", 1),
    ("writer-correct-2", 1),
    ("ann-review-2", 1),
];
const DELEGATED: Calls = &[("ann-review-1", 1), ("helper-delegate-0", 1)];
const PASSED_ON: Calls = &[
    ("writer-implement-1", 1),
    ("helper-delegate-0", 1),
    ("ann-review-1", 1),
];
const PLANNED: Calls = &[
    ("thinker-plan-1", 1),
    ("writer-challenge-1", 1),
    ("thinker-refine-1", 1),
    ("writer-implement-1", 1),
    ("ann-review-1", 1),
];
const ARBITRATED: Calls = &[
    ("ann-review-1", 1),
    ("writer-correct-2", 1),
    ("ann-readjudicate-2", 1),
    ("judge-arbitrate-2", 1),
];

/// The command line of a scenario in which nobody writes.
const REVIEW: &[&str] = &["--base", "main", "--review-only"];

/// A bench, its agents, and the exit code that an undisturbed run ends with.
pub struct Scenario {
    pub bench: Bench,
    pub ledger: Ledger,
    /// What an undisturbed run asks.
    calls: Calls,
    pub exit: i32,
    /// Whether it ends with an approval.
    pub approves: bool,
    /// What an undisturbed run that is put aside ends with, and what it is taken up with then.
    aside: i32,
    pub more: &'static [&'static str],
    /// About how many events an undisturbed run has.
    pub events: u64,
    line: &'static [&'static str],
    before: Vec<String>,
}

impl Scenario {
    fn new(bench: Bench, ledger: Ledger, calls: Calls, exit: i32) -> Self {
        Self {
            before: untouchable(&bench, false),
            bench,
            ledger,
            calls,
            exit,
            approves: exit == 0,
            aside: 75,
            more: &[],
            events: 34,
            line: REVIEW,
        }
    }
    /// Whether a command that ended so put the run aside.
    pub fn is_aside(&self, ran: &Ran) -> bool {
        ran.code == Some(self.aside) && self.aside != self.exit
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
        let ledger = Ledger::of(&bench);
        let ann = ledger.agent("ann", &ScriptedAgent::passing());
        // No verdict at first; one that was cut is asked the same again.
        let bob = "read_prompt; if [ $ENDED = 0 ]; then echo 'VERDICT: PASS'; \
                   else verdict PASS '[]'; fi | deliver";
        let bob = ledger.agent("bob", &ScriptedAgent::with_script(bob));
        let bench = bench
            .reviewer("ann", &ann)
            .reviewer_with("bob", &bob, "report: file")
            .also("checks")
            .config("checks: [{name: lines, run: 'test -s src/lib.rs', timeout: 60}]")
            .ready();
        Self::new(
            bench,
            ledger,
            &[("ann-review-1", 1), ("bob-review-1", 2)],
            0,
        )
    }
    /// One says NOT PASS, one PASS.
    pub fn does_not_pass() -> Self {
        let bench = Bench::new();
        let high = format!("[{}]", finding("it is wrong", "high", "src/lib.rs", 5));
        let ledger = Ledger::of(&bench);
        let ann = ledger.agent("ann", &ScriptedAgent::not_passing(&high));
        let bob = ledger.agent("bob", &ScriptedAgent::passing());
        let bench = bench.reviewer("ann", &ann).reviewer("bob", &bob).ready();
        Self::new(
            bench,
            ledger,
            &[("ann-review-1", 1), ("bob-review-1", 1)],
            1,
        )
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
        let ledger = Ledger::of(&bench);
        let agent =
            |name: &str, script: String| ledger.agent(name, &ScriptedAgent::with_script(script));
        let (ann, writer) = (agent("ann", reader), agent("writer", creator));
        let bench = bench
            .reviewer("ann", &ann)
            .spare("writer", &writer, "")
            .ready();
        let mut scenario = Self::new(bench, ledger, CORRECTED, 0);
        scenario.line = &["--base", "main", "--creator", "writer", "mend it"];
        scenario.before = untouchable(&scenario.bench, true);
        scenario.events = 60;
        scenario
    }
    /// The reviewer passes a part of its work on, and waits for it.
    pub fn delegates() -> Self {
        let bench = Bench::new();
        let reader = format!(
            "read_prompt; echo \"$CALL\" > \"$TMPDIR/prompt\"; RL={}; \
             id=$(\"$RL\" job submit --agent helper --prompt-file \"$TMPDIR/prompt\") || exit 9; \
             \"$RL\" job wait \"$id\" >&2 || exit 8; verdict PASS '[]' | deliver",
            env!("CARGO_BIN_EXE_run-loop")
        );
        let ledger = Ledger::of(&bench);
        let ann = ledger.agent("ann", &ScriptedAgent::with_script(reader));
        let helper = ScriptedAgent::with_script("cat > /dev/null; echo Two.");
        let helper = ledger.asked_by_a_call("helper", &helper);
        let bench = bench.reviewer("ann", &ann).spare("helper", &helper, "");
        let mut scenario = Self::new(bench.ready(), ledger, DELEGATED, 0);
        scenario.events = 30;
        scenario
    }
    /// The creator leaves its work to another agent and ends at once: what that one writes is reviewed.
    pub fn creator_delegates() -> Self {
        let bench = Bench::new();
        let creator = format!(
            "read_prompt; echo \"$CALL\" > \"$TMPDIR/prompt\"; \
             {} job submit --agent helper --prompt-file \"$TMPDIR/prompt\" >&2 || exit 9; \
             echo Passed on. | deliver",
            env!("CARGO_BIN_EXE_run-loop")
        );
        let helper = "cat > /dev/null; grep -q helped src/lib.rs || echo '// helped' >> src/lib.rs; \
                      echo Done.";
        let reader = "read_prompt; if grep -q helped \"$RUN_LOOP_JOB_TREE/src/lib.rs\"; \
                      then verdict PASS '[]'; else verdict 'NOT PASS' '[]'; fi | deliver";
        let ledger = Ledger::of(&bench);
        let agent =
            |name: &str, script: &str| ledger.agent(name, &ScriptedAgent::with_script(script));
        let ann = agent("ann", reader);
        let writer = agent("writer", &creator);
        let helper = ledger.asked_by_a_call("helper", &ScriptedAgent::with_script(helper));
        let bench = bench
            .reviewer("ann", &ann)
            .spare("writer", &writer, "")
            .spare("helper", &helper, "")
            .ready();
        let mut scenario = Self::new(bench, ledger, PASSED_ON, 0);
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
        let ledger = Ledger::of(&bench);
        let agent =
            |name: &str, script: &str| ledger.agent(name, &ScriptedAgent::with_script(script));
        let (ann, writer) = (agent("ann", reader), agent("writer", creator));
        let thinker = agent("thinker", planner);
        let bench = bench
            .reviewer("ann", &ann)
            .spare("writer", &writer, "")
            .spare("thinker", &thinker, "")
            .ready();
        let mut scenario = Self::new(bench, ledger, PLANNED, 0);
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
        let ledger = Ledger::of(&bench);
        let agent =
            |name: &str, script: &str| ledger.agent(name, &ScriptedAgent::with_script(script));
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
        let mut scenario = Self::new(bench, ledger, ARBITRATED, 0);
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
        let ledger = Ledger::of(&bench);
        let ann = ledger.agent("ann", &ann);
        let bob = ledger.agent("bob", &ScriptedAgent::passing());
        let bench = bench.reviewer("ann", &ann).reviewer("bob", &bob).ready();
        Self::new(
            bench,
            ledger,
            &[("ann-review-1", 1), ("bob-review-1", 1)],
            0,
        )
    }

    /// Runs on until the `point`-th line and some time after it, and kills the engine; what it printed.
    pub fn killed(&self, mut engine: Engine, point: usize, micros: u64) -> Vec<String> {
        while engine.seen.len() < point && engine.next() {}
        wait(micros);
        self.ledger.before_the_kill();
        let seen = engine.kill();
        self.ledger.after_the_kill();
        seen
    }
    /// Right after the kill: `status` says so at once, or how the run had ended before, and nobody is told
    /// PASS who has none.
    pub fn after_the_kill(&self, seen: &[String], why: &str) {
        let status = self.bench.run(&["status", "--format", "json"]);
        let stands = truth::stands(&self.bench);
        if seen.iter().any(|line| line.contains("\"run_ended\"")) {
            assert_eq!(
                stands,
                Stands::Ended,
                "{why}: it was told before it was durable"
            );
        }
        let told: serde_json::Value = serde_json::from_str(&status.stdout).unwrap_or_default();
        let expected = match stands {
            Stands::Nowhere => {
                let nothing =
                    status.stderr.contains("RL0018") || status.stderr.contains("never began");
                assert!(nothing && seen.is_empty(), "{why}: {seen:?}\n{status:?}");
                return;
            }
            Stands::Open => ("interrupted", None),
            Stands::Aside => ("interrupted", Some(i64::from(self.aside))),
            Stands::Ended => ("ended", Some(i64::from(self.exit))),
        };
        let told = (
            told["state"].as_str().unwrap_or_default(),
            told["exit"].as_i64(),
        );
        assert_eq!(told, expected, "{why}: {status:?}");
        self.no_unearned_pass(why);
    }
    /// The gate believes in nothing that no journal tells.
    fn no_unearned_pass(&self, why: &str) {
        let gate = self.bench.gate();
        let is_earned = self.approves && truth::is_promoted(&self.bench);
        assert!(
            gate.code != Some(0) || is_earned,
            "{why}: the gate passed what was not approved\n{}{}",
            gate.stdout,
            gate.stderr
        );
    }
    /// At once after a command that must leave nothing of the run alive.
    #[track_caller]
    pub fn nobody_lives(&self, why: &str) {
        let left = processes::of(&self.bench.repo.beside(""));
        assert_eq!(left, Vec::<String>::new(), "{why}");
    }
    /// After `resume` or `cancel`: nothing lives, nothing lies about, nothing of the user's moved.
    pub fn at_the_end(&self, is_whole: bool, why: &str) {
        let left = self.bench.left_in_cache(&["trees", "jobs", "evidence"]);
        assert_eq!(left, Vec::<String>::new(), "{why}");
        let untouched = untouchable(&self.bench, self.writes());
        assert_eq!(untouched, self.before, "{why}");
        self.ledger.is_right(self.calls, is_whole, why);
        if !self.approves {
            assert_eq!(self.bench.promoted(), Vec::<String>::new(), "{why}");
            self.no_unearned_pass(why);
        }
    }
}

/// A while that is not slept away: the kill is to hit whatever happens then.
fn wait(micros: u64) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_micros(micros) {
        std::hint::spin_loop();
    }
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
