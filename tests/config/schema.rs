//! `run-loop schema config` refuses what the program refuses, as far as a schema can.

use run_loop::config::{agents, load, rules, schema};

use crate::layers::at_base;

/// Whether the schema lets a file through.
fn fits(text: &str) -> bool {
    let schema = jsonschema::validator_for(&schema::config()).unwrap();
    let value: serde_json::Value = serde_yaml::from_str(text).unwrap();
    schema.is_valid(&value)
}

/// Whether the program does.
fn is_taken(text: &str) -> bool {
    load(&at_base(text)).is_ok_and(|config| {
        agents::declared(&config).is_ok()
            && rules::policy(&config).is_ok()
            && rules::reports(&config).is_ok()
            && rules::cache(&config).is_ok()
    })
}

#[test]
fn a_file_that_the_program_takes_fits() {
    for text in [
        "{}",
        "agents: {}",
        "agents: {b.1: {kind: command, command: [a]}, h: {kind: human, remote: false}}",
        "agents: {h: {kind: human, contract: line}, p: {profile: codex, model: x, effort: high}}",
        "agents: {a: {kind: acp, command: [a], model: m}, c: {profile: claude, contract: line}}",
        "roles: {creator: null, reviewers: [a, {agent: b, coverage: none}]}",
        "reports: .agents/reports-2\ncache: [target, a.git/b]",
        "policy: {attest: files, carry: none}\nreview: {fail-on: P1, diff-cap: 200KB}",
    ] {
        let text = format!("version: 1\n{}", text.trim_start_matches("{}"));
        assert!(
            is_taken(&text) && fits(&text),
            "{text}: {:?}",
            load(&at_base(&text))
        );
    }
}

#[test]
fn a_file_that_the_program_refuses_does_not_fit() {
    for text in [
        "agents: {x: {}}",
        "agents: {x: {kind: command}}",
        "agents: {x: {kind: command, command: []}}",
        "agents: {x: {kind: command, profile: codex, command: [a]}}",
        "agents: {x: {kind: human, command: [a]}}",
        "agents: {x: {kind: human, remote: true}}",
        "agents: {x: {kind: human, contract: json}}",
        "agents: {x: {kind: command, command: [a], model: m}}",
        "agents: {x: {profile: codex, remote: true}}",
        "agents: {x: {profile: codex, report: file}}",
        "agents: {'a b': {kind: human}}",
        "agents: {-x: {kind: human}}",
        "roles: {creator: ' '}",
        "reports: /abs",
        "reports: ../x",
        "reports: a/.GIT/x",
        "reports: a//b",
        "reports: a/",
        "cache: ['a/..']",
        "policy: {attest: signed}",
        "policy: {carry: replay}",
    ] {
        let text = format!("version: 1\n{text}\n");
        assert!(!is_taken(&text), "{text} is taken");
        assert!(!fits(&text), "{text} fits");
    }
    // Refused once somebody asks for it: the name is the built-in reviewer's.
    assert!(!fits("version: 1\nagents: {checks: {kind: human}}\n"));
}
