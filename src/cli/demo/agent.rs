//! `run-loop __demo-agent`: the scripted agent of the demo, started by the engine like any other.
//!
//! It reads its prompt on standard input and the evidence that its environment names, and answers
//! by the report contract. It has one opinion: an average of nothing must not divide by zero.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::cli::environment::Environment;
use crate::cli::output;
use crate::domain::code::Code;
use crate::domain::exit::Exit;
use crate::domain::failure::Failure;

/// What somebody saves while the review goes on.
pub(super) const NOTE: &str = "The average of nothing is None.\n";

/// Answers one job.
///
/// # Errors
/// When it was not started as a job.
pub(crate) fn run(environment: &Environment, edits: Option<&Path>) -> Result<Exit, Failure> {
    let mut prompt = String::new();
    std::io::stdin()
        .read_to_string(&mut prompt)
        .map_err(|error| no_job(&format!("the prompt: {error}")))?;
    let evidence = environment
        .get("RUN_LOOP_JOB_EVIDENCE")
        .map(PathBuf::from)
        .ok_or_else(|| no_job("RUN_LOOP_JOB_EVIDENCE is not set"))?;
    if let Some(path) = edits {
        fs_err::write(path, NOTE).map_err(|error| no_job(&error.to_string()))?;
    }
    output::data(&report(&prompt, &evidence).map_err(|error| no_job(&error))?);
    Ok(Exit::Approved)
}

fn report(prompt: &str, evidence: &Path) -> Result<String, String> {
    let line = |name: &str| {
        let found = prompt.lines().find_map(|line| line.strip_prefix(name));
        found
            .map(str::to_owned)
            .ok_or_else(|| format!("the prompt has no line {name}"))
    };
    let files = fs_err::read(evidence.join("files.json")).map_err(|error| error.to_string())?;
    let files: Value = serde_json::from_slice(&files).map_err(|error| error.to_string())?;
    let coverage: Vec<Value> = files["files"]
        .as_array()
        .ok_or("files.json has no list")?
        .iter()
        .map(|file| json!({"path": file["path"], "how": "read"}))
        .collect();
    let (diff, receipts) = parts(&evidence.join("parts"))?;
    let finding = flaw(&diff);
    let verdict = if finding.is_some() {
        "NOT PASS"
    } else {
        "PASS"
    };
    let block = json!({
        "version": 1,
        "nonce": line("Nonce: ")?,
        "tree": line("Tree: ")?,
        "verdict": verdict,
        "summary": "Read every part of the change.",
        "receipts": receipts,
        "coverage": coverage,
        "findings": finding.into_iter().collect::<Vec<Value>>(),
    });
    Ok(format!(
        "I read the change.\n\n```run-loop-verdict\n{block:#}\n```\n"
    ))
}

/// The whole diff, and each part's receipt by the part's name.
fn parts(folder: &Path) -> Result<(String, Value), String> {
    let mut names: Vec<PathBuf> = fs_err::read_dir(folder)
        .map_err(|error| error.to_string())?
        .map(|entry| {
            entry
                .map(|entry| entry.path())
                .map_err(|error| error.to_string())
        })
        .collect::<Result<_, _>>()?;
    names.sort();
    let (mut diff, mut receipts) = (String::new(), serde_json::Map::new());
    for path in names {
        let text = fs_err::read_to_string(&path).map_err(|error| error.to_string())?;
        let last = text.lines().last().unwrap_or_default();
        let mut words = last.split(' ').skip(1);
        if let (Some(name), Some(receipt)) = (words.next(), words.next()) {
            receipts.insert(name.to_owned(), receipt.into());
        }
        diff.push_str(&text);
    }
    Ok((diff, receipts.into()))
}

/// The one thing it looks for, in the lines that the change adds.
fn flaw(diff: &str) -> Option<Value> {
    let added = || diff.lines().filter(|line| line.starts_with('+'));
    let divides = added().any(|line| line.contains("/ len(values)"));
    let guarded = added().any(|line| line.contains("if not values"));
    (divides && !guarded).then(|| {
        json!({
            "title": "the average of an empty list divides by zero",
            "severity": "high",
            "path": "stats.py",
            "line": 2,
            "body": "`average([])` raises ZeroDivisionError; say what the average of nothing is.",
        })
    })
}

fn no_job(message: &str) -> Failure {
    Failure::new(
        Code::Internal,
        format!("the demo's agent was not started as a job: {message}"),
    )
    .next(["run-loop", "demo"])
}
