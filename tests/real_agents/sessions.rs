//! Jobs that go on in the session of the job before them, and what becomes of them when it is gone.

use serde_json::{Value, json};

use crate::program::{Kind, Program, Trial, each};
use crate::scripted;
use crate::structured;
use crate::support::bench::Bench;

/// Stands in the answer of the first job, and so in every request of a session that goes on.
const WORD: &str = "SAID-IN-THE-FIRST-JOB";

/// What each job cost, with its session.
fn jobs(trial: &Trial) -> Vec<Value> {
    let ran = trial.bench.run(&["show", "--cost", "--format", "json"]);
    let told: Value = serde_json::from_str(&ran.ends(0).stdout).unwrap();
    told["jobs"].as_array().unwrap().clone()
}

/// Invalid, then valid: all that can go on in one session, and may write as little as before. What they
/// count on is told once.
fn a_re_ask(program: Program) {
    let bench = Bench::new().ready();
    let target = bench.repo.root().join("written.txt");
    let replies = json!([
        {"text": format!("{WORD}, and no verdict.")},
        program.writing(target.to_str().unwrap()),
        program.writing("{tree}/written.txt"),
        {"report": "PASS"},
    ]);
    let Some(trial) = Trial::new(program, bench, &replies) else {
        return;
    };
    trial.review(program, 90).ends(0);
    assert!(!target.exists());
    let trees = trial.bench.left_in_cache(&["trees"]);
    assert!(
        !trees.iter().any(|path| path.ends_with("written.txt")),
        "{trees:?}"
    );
    let jobs = jobs(&trial);
    assert_eq!(jobs.len(), 2);
    let goes_on = program.remembers();
    assert_eq!(
        jobs[0]["session"] == jobs[1]["session"],
        goes_on,
        "{jobs:?}"
    );
    assert_eq!(trial.model.requests_with(WORD) > 0, goes_on);
    // One model turn, and three; opencode tells those of the last one alone, which are none then.
    let tokens = |job: &Value| job["usage"]["input"].as_u64();
    let tells = match program.kind() {
        Kind::Opencode => program == Program::Opencode,
        Kind::Copilot => false,
        Kind::Codex | Kind::Claude | Kind::Gemini | Kind::Qwen => true,
    };
    let told = if tells {
        (Some(100), Some(300))
    } else {
        (None, None)
    };
    assert_eq!((tokens(&jobs[0]), tokens(&jobs[1])), told);
    if let (Some(one), Some(three)) = (jobs[0]["cost_usd"].as_f64(), jobs[1]["cost_usd"].as_f64()) {
        // There each job has a title made, which costs, too.
        let titled = program == Program::ClaudeAcp;
        assert!(titled || (three - 3.0 * one).abs() < 1e-5, "{jobs:?}");
    }
}

/// A creator that writes two files, the second one only when it is asked again; with the line that
/// starts it.
fn corrected(program: Program, bench: Bench) -> Option<(Trial, [&'static str; 5])> {
    let replies = json!([
        program.writing("{tree}/first.txt"),
        {"text": WORD},
        program.writing("{tree}/second.txt"),
        {"answers": "fixed"},
    ]);
    let trial = Trial::new(program, bench, &replies)?;
    let (creator, reviewer) = (program.agent(), "bob");
    let line = [
        "--creator",
        creator,
        "--reviewer",
        reviewer,
        "add two files",
    ];
    Some((trial, line))
}

fn a_correction(program: Program) {
    let bench = scripted::reviewer(Bench::new(), "second.txt").ready();
    let Some((trial, line)) = corrected(program, bench) else {
        return;
    };
    trial.run(90, &line).ends(0);
    let jobs = jobs(&trial);
    let of = |role: &str| jobs.iter().find(|job| job["role"] == role).unwrap();
    assert!(of("implement")["session"].is_string());
    // What one does not remember it is told anew.
    let goes_on = program.remembers();
    assert_eq!(
        of("implement")["session"] == of("correct")["session"],
        goes_on,
        "{jobs:?}"
    );
    assert_eq!(
        of("implement")["usage"]["input"],
        of("correct")["usage"]["input"]
    );
    assert_eq!(trial.model.requests_with(WORD) > 0, goes_on);
    let repo = &trial.bench.repo;
    for name in ["first.txt", "second.txt"] {
        let path = repo.root().join(name);
        assert_eq!(std::fs::read_to_string(path).unwrap(), "written\n");
    }
    repo.git(&["add", "first.txt", "second.txt"]);
    repo.git(&["commit", "-q", "-m", "as approved"]);
    trial.bench.gate().ends(0);
}

fn a_session_that_is_gone(program: Program) {
    if !program.remembers() {
        // None of its sessions is ever continued.
        return;
    }
    let forget = "rm -rf \"$HOME\"/.codex/sessions \"$HOME\"/.claude/projects \
                  \"$HOME\"/.gemini/tmp \"$HOME\"/.local/share/opencode \
                  \"$HOME\"/.qwen/projects \"$HOME\"/.copilot/session-state";
    let bench = scripted::reviewer_after(Bench::new(), "second.txt", forget).ready();
    let Some((trial, line)) = corrected(program, bench) else {
        return;
    };
    let ran = trial.run(90, &line);
    ran.ends(0).says("its session cannot be continued");
    let jobs = jobs(&trial);
    let corrections = jobs.iter().filter(|job| job["role"] == "correct");
    assert_eq!(corrections.count(), 2, "{jobs:?}");
    // The new session is told what was reported in the old one.
    assert!(trial.model.requests_with(WORD) > 0, "it does not know");
}

/// A delegated job is asked something more, after its run is over.
fn something_more(program: Program) {
    let bench = structured::with_agents(Bench::new(), program);
    let Some(trial) = Trial::new(
        program,
        bench,
        &json!([{"text": WORD}, {"text": "And more."}]),
    ) else {
        return;
    };
    let prompt = trial.bench.repo.beside("prompt.md");
    std::fs::write(&prompt, "Say something.\n").unwrap();
    let submit = |more: &[&str]| {
        let prompt = prompt.to_str().unwrap();
        let line = [
            "job",
            "submit",
            "--agent",
            "counter",
            "--prompt-file",
            prompt,
        ];
        trial.call(&[&line, &["--timeout", "90"][..], more].concat())
    };
    let first = submit(&[]);
    let job = first.ends(0).stdout.split_whitespace().nth(1).unwrap();
    let asked = trial.model.requests_with(WORD);
    let second = submit(&["--continue", job]);
    if !program.remembers() {
        second.ends(3).says("cannot be continued");
        return;
    }
    second.ends(0).says(&format!("that of job {job}"));
    assert!(trial.model.requests_with(WORD) > asked, "it forgot");
}

each!(
    a_re_ask,
    a_correction,
    a_session_that_is_gone,
    something_more
);
