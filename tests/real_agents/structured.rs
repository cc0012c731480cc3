//! An answer in a form that was asked for (issue 6, 7).

use serde_json::{Value, json};

use crate::program::{Program, Trial, each};
use crate::support::bench::Bench;

const SCHEMA: &str = r#"{"type": "object", "properties": {"how_many_files": {"type": "integer"}},
    "required": ["how_many_files"], "additionalProperties": false}"#;

fn answer(program: Program, count: &Value) -> Value {
    let value = json!({"how_many_files": count});
    // A tool of its own: it calls none of ours.
    let tool = match program {
        Program::Claude => Some("StructuredOutput"),
        Program::Qwen => Some("structured_output"),
        Program::Codex
        | Program::Gemini
        | Program::Opencode
        | Program::GeminiAcp
        | Program::OpencodeAcp
        | Program::Copilot
        | Program::QwenAcp
        | Program::CopilotAcp
        | Program::ClaudeAcp
        | Program::CodexAcp => None,
    };
    if let Some(name) = tool {
        return json!({"tool": {"name": name, "args": value}});
    }
    json!({"text": value.to_string()})
}

fn submit(trial: &Trial) -> crate::support::bench::Ran {
    let beside = |name: &str, text: &str| {
        let path = trial.bench.repo.beside(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let (prompt, schema) = (
        beside("prompt.md", "Count the files.\n"),
        beside("schema.json", SCHEMA),
    );
    trial.call(&[
        "job",
        "submit",
        "--agent",
        "counter",
        "--prompt-file",
        &prompt,
        "--schema",
        &schema,
        "--timeout",
        "90",
    ])
}

/// What fits is the report; who can be told the schema was told it.
fn an_answer_in_a_form(program: Program) {
    let bench = with_agents(Bench::new(), program);
    let Some(trial) = Trial::new(program, bench, &json!([answer(program, &json!(3))])) else {
        return;
    };
    let ran = submit(&trial);
    ran.ends(0);
    let job = ran.stdout.split_whitespace().nth(1).unwrap();
    let report = trial.call(&["job", "show", job, "--report"]);
    let report: Value = serde_json::from_str(&report.ends(0).stdout).unwrap();
    assert_eq!(report, json!({"how_many_files": 3}));
    let of_its_own = [
        (Program::Codex, "json_schema"),
        (Program::Claude, "StructuredOutput"),
        (Program::Qwen, "structured_output"),
    ];
    for (_, told) in of_its_own.iter().filter(|(of, _)| *of == program) {
        assert!(trial.model.requests_with(told) > 0, "it was not told");
    }
}

/// The jobs of a run of one job may go to whom the configuration names.
pub(crate) fn with_agents(bench: Bench, program: Program) -> Bench {
    let name = program.agent();
    let profile = name.split(':').next().unwrap_or(name);
    let model = match name.split_once(':') {
        Some((_, model)) => format!(", model: {model}"),
        None => String::new(),
    };
    bench
        .config(&format!(
            "agents: {{counter: {{profile: {profile}{model}}}}}"
        ))
        .ready()
}

each!(an_answer_in_a_form);
