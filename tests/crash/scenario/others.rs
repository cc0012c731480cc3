//! Findings that are sustained or withdrawn, a plan that is refined after two rounds, a creator that reviews
//! itself, money that is spent, and a job alone.

use super::{Scenario, untouchable};
use crate::ledger::{Calls, Ledger};
use crate::support::agents::{ScriptedAgent, finding, quote};
use crate::support::bench::Bench;

const COMPLIED: Calls = &[
    ("writer-implement-1", 1),
    ("ann-review-1", 1),
    ("writer-correct-2", 1),
    ("ann-readjudicate-2", 1),
    ("judge-arbitrate-2", 1),
    ("writer-comply-2", 1),
    ("ann-review-2", 1),
];
const WITHDRAWN: Calls = &[
    ("ann-review-1", 1),
    ("writer-correct-2", 1),
    ("ann-readjudicate-2", 1),
];
const ESCALATED: Calls = &[
    ("writer-implement-1", 1),
    ("ann-review-1", 1),
    ("writer-correct-2", 1),
    ("ann-review-2", 1),
    ("thinker-refine-3", 1),
    ("writer-correct-3", 1),
    ("ann-review-3", 1),
];
const OF_ITSELF: Calls = &[("writer-implement-1", 1), ("writer-review-1", 1)];
const SPENT: Calls = &[("writer-implement-1", 1), ("ann-review-1", 1)];
const ONE_JOB: Calls = &[("helper-delegate-0", 1)];

/// What claude prints of an answer that cost half a dollar.
const COSTLY: &str = r#"read_prompt
grep -q begun src/lib.rs || echo '// begun' >> src/lib.rs
echo '{"type":"system","subtype":"init","session_id":"s-1","model":"m-1"}'
echo '{"type":"result","subtype":"success","is_error":false,"total_cost_usd":0.5,"usage":{"input_tokens":7,"output_tokens":3},"result":"Written."}'"#;

/// A reviewer that passes what has this word, and upholds what it found.
fn looks_for(word: &str) -> ScriptedAgent {
    let high = format!("[{}]", finding("it is not there", "high", "src/lib.rs", 1));
    ScriptedAgent::with_script(format!(
        "read_prompt; case $RUN_LOOP_JOB_ROLE in readjudicate) rulings upheld 'It is.' ;; \
         review) if grep -q {word} \"$RUN_LOOP_JOB_TREE/src/lib.rs\"; \
         then verdict PASS '[]'; else verdict 'NOT PASS' {}; fi ;; esac | deliver",
        quote(&high)
    ))
}

impl Scenario {
    /// What the reviewer finds is refuted, upheld and sustained; the creator mends it, and it passes.
    pub fn is_complied() -> Self {
        let creator = "read_prompt; add() { grep -q $1 src/lib.rs || echo \"// $1\" >> src/lib.rs; }; \
                       case $RUN_LOOP_JOB_ROLE in \
                       implement) add begun; echo Written. | deliver ;; \
                       correct) answers refuted | deliver ;; \
                       comply) add mended; answers fixed | deliver ;; esac";
        let bench = Bench::new();
        let ledger = Ledger::of(&bench);
        let agent =
            |name: &str, script: &str| ledger.agent(name, &ScriptedAgent::with_script(script));
        let ann = ledger.agent("ann", &looks_for("mended"));
        let writer = agent("writer", creator);
        let judge = agent("judge", "read_prompt; rulings sustained 'It is.' | deliver");
        let bench = bench
            .reviewer("ann", &ann)
            .spare("writer", &writer, "")
            .spare("judge", &judge, "")
            .ready();
        let mut scenario = Self::new(bench, ledger, COMPLIED, 0);
        scenario.line = &[
            "--base",
            "main",
            "--creator",
            "writer",
            "--arbiter",
            "judge",
            "mend it",
        ];
        scenario.before = untouchable(&scenario.bench, true);
        scenario.events = 80;
        scenario
    }
    /// What the reviewer finds is refuted, and it takes that back: it passes without another review.
    pub fn is_withdrawn() -> Self {
        let high = format!("[{}]", finding("it is wrong", "high", "src/lib.rs", 1));
        let reader = format!(
            "read_prompt; case $RUN_LOOP_JOB_ROLE in \
             review) verdict 'NOT PASS' {} ;; readjudicate) rulings withdrawn 'I was.' ;; esac | deliver",
            quote(&high)
        );
        let bench = Bench::new();
        let ledger = Ledger::of(&bench);
        let ann = ledger.agent("ann", &ScriptedAgent::with_script(reader));
        let writer = ScriptedAgent::with_script("read_prompt; answers refuted | deliver");
        let writer = ledger.agent("writer", &writer);
        let bench = bench
            .reviewer("ann", &ann)
            .spare("writer", &writer, "")
            .ready();
        let mut scenario = Self::new(bench, ledger, WITHDRAWN, 0);
        scenario.line = &["--base", "main", "--review-only", "--creator", "writer"];
        scenario.before = untouchable(&scenario.bench, true);
        scenario.events = 50;
        scenario
    }
    /// Two rounds fail, the planner refines the plan that was given, and the next correction passes.
    pub fn is_escalated() -> Self {
        let creator = "read_prompt; add() { grep -q $1 src/lib.rs || echo \"// $1\" >> src/lib.rs; }; \
                       case $RUN_LOOP_JOB_ROLE in \
                       implement) add begun; echo Written. | deliver ;; \
                       correct) add corrected-$RUN_LOOP_JOB_ROUND; answers fixed | deliver ;; esac";
        let refines = "read_prompt; printf '# The plan\\n\\n1. It is corrected.\\n' | deliver";
        let bench = Bench::new();
        let ledger = Ledger::of(&bench);
        let agent =
            |name: &str, script: &str| ledger.agent(name, &ScriptedAgent::with_script(script));
        let ann = ledger.agent("ann", &looks_for("corrected-3"));
        let (writer, thinker) = (agent("writer", creator), agent("thinker", refines));
        let bench = bench
            .reviewer("ann", &ann)
            .spare("writer", &writer, "")
            .spare("thinker", &thinker, "")
            .ready();
        std::fs::write(bench.repo.beside("plan.md"), "# The plan\n\n1. A sum.\n").unwrap();
        let mut scenario = Self::new(bench, ledger, ESCALATED, 0);
        scenario.line = &[
            "--base",
            "main",
            "--creator",
            "writer",
            "--planner",
            "thinker",
            "--plan-file",
            "../plan.md",
        ];
        scenario.before = untouchable(&scenario.bench, true);
        scenario.events = 85;
        scenario
    }
    /// The creator reviews what it wrote, beside the checks.
    pub fn reviews_itself() -> Self {
        let creator = "read_prompt; case $RUN_LOOP_JOB_ROLE in \
                       implement) grep -q begun src/lib.rs || echo '// begun' >> src/lib.rs; \
                       echo Written. | deliver ;; \
                       review) verdict PASS '[]' | deliver ;; esac";
        let bench = Bench::new();
        let ledger = Ledger::of(&bench);
        let writer = ledger.agent("writer", &ScriptedAgent::with_script(creator));
        let bench = bench.spare("writer", &writer, "").ready();
        let mut scenario = Self::new(bench, ledger, OF_ITSELF, 0);
        scenario.line = &["--base", "main", "--creator", "writer", "begin it"];
        scenario.before = untouchable(&scenario.bench, true);
        scenario.events = 33;
        scenario
    }
    /// The creator's answer costs more than the run may: it is put aside, and reviewed once it may cost more.
    pub fn is_spent() -> Self {
        let bench = Bench::new();
        let ledger = Ledger::of(&bench);
        let ann = ledger.agent("ann", &looks_for("begun"));
        let writer = ledger.agent("writer", &ScriptedAgent::with_script(COSTLY));
        // Who asks for its version is no call.
        let writer = writer.after("case \"$*\" in *--version*) echo 1.0; exit 0 ;; esac");
        let bench = bench
            .reviewer("ann", &ann)
            .known("writer", "claude", &writer)
            .ready();
        let mut scenario = Self::new(bench, ledger, SPENT, 0);
        scenario.line = &[
            "--base",
            "main",
            "--creator",
            "writer",
            "--max-cost",
            "0.4",
            "begin it",
        ];
        scenario.before = untouchable(&scenario.bench, true);
        (scenario.aside, scenario.more) = (7, &["--max-cost", "2"]);
        scenario.events = 18;
        scenario
    }
    /// A job that somebody asks for where no run goes on: it is all that its run does.
    pub fn is_one_job() -> Self {
        let bench = Bench::new();
        let ledger = Ledger::of(&bench);
        let helper = ScriptedAgent::with_script("cat > /dev/null; echo Two.");
        let helper = ledger.agent("helper", &helper);
        let bench = bench.spare("helper", &helper, "").ready();
        std::fs::write(bench.repo.beside("prompt.md"), "What is one and one?\n").unwrap();
        let mut scenario = Self::new(bench, ledger, ONE_JOB, 0);
        scenario.line = &[
            "job",
            "submit",
            "--agent",
            "helper",
            "--prompt-file",
            "../prompt.md",
        ];
        scenario.before = untouchable(&scenario.bench, true);
        scenario.approves = false;
        scenario.events = 5;
        scenario
    }
}
