//! Which layer wins, and where each value is said to come from.

use run_loop::config::layer::Layer;
use run_loop::config::sources::{File, Override, Sources, WorkingCopy};
use run_loop::config::{Config, load};
use run_loop::domain::severity::Severity;
use serde_json::json;

/// The example of the design, section 10, to the letter.
pub(crate) const EXAMPLE: &str = "\
version: 1
agents:                                  # names for --planner, --creator, --reviewer, --arbiter
  codex-deep: {profile: codex, model: gpt-5.1-codex, timeout: 1800}
  house-bot:  {kind: command, command: [./tools/bot, --review], prompt: stdin, output: text, report: stdout, contract: json, env: [BOT_TOKEN]}
  afar:       {kind: command, command: [ssh, build1, bot], remote: true}
  pat:        {kind: human}
roles:
  planner: claude
  creator: codex-deep
  reviewers: [codex-deep, {agent: claude:opus, name: security, instructions: [docs/review/security.md], fallback: [gemini]}, checks]
  arbiter: claude
review:  {max-rounds: 5, fail-on: medium, base: merge-base, coverage: strict, quorum: all, isolation: worktree, max-parallel: 4, diff-cap: 200KB, exclude: []}
checks:                                  # commands of the checks reviewer
  - {name: test, run: cargo test --workspace, timeout: 900}
setup: []
cache: [target]
templates: null                          # a folder, read from the base
limits:  {job-timeout: 3600, max-wall: null, max-cost: null}
policy:  {require: [security, checks], attest: journal, carry: identity, up-to-date: true, families: 1, allow-unreviewed: []}
reports: .agents/reports
";

pub(crate) fn file(name: &str, text: &str) -> File {
    File {
        name: name.to_owned(),
        bytes: text.as_bytes().to_vec(),
    }
}

pub(crate) fn at_base(text: &str) -> Sources {
    Sources {
        base_file: Some(file("run-loop.yaml", text)),
        ..Sources::default()
    }
}

pub(crate) fn copy(text: &str, trusted: bool) -> Sources {
    Sources {
        working_copy: Some(WorkingCopy {
            file: file("run-loop.yaml", text),
            trusted,
        }),
        ..Sources::default()
    }
}

fn origin(config: &Config, path: &[&str]) -> String {
    config.origin(path).unwrap().to_string()
}

#[test]
fn the_documented_example_parses_and_its_values_are_the_defaults() {
    let example = load(&at_base(EXAMPLE)).unwrap().settings;
    let defaults = load(&Sources::default()).unwrap().settings;
    assert_eq!(example.review, defaults.review);
    assert_eq!(example.limits, defaults.limits);
    assert_eq!(example.reports, defaults.reports);
    assert_eq!(example.policy.require, ["security", "checks"]);
    let mut policy = example.policy;
    policy.require = Vec::new();
    assert_eq!(policy, defaults.policy, "all but `require`");
    assert_eq!(defaults.review.diff_cap, 200_000);
    assert_eq!(defaults.roles.reviewers, None);
}

#[test]
fn flags_beat_the_environment_beats_the_repository_beats_the_user_beats_defaults() {
    let mut sources = at_base("version: 1\nlimits:\n  job-timeout: 30\n");
    sources.user_file = Some(file(
        "/home/ann/config.yaml",
        "version: 1\nroles: {creator: ann}\nlimits: {job-timeout: 20}\n",
    ));
    let job_timeout = |sources: &Sources| load(sources).unwrap().settings.limits.job_timeout;
    assert_eq!(job_timeout(&Sources::default()), 3600);
    assert_eq!(job_timeout(&sources), 30);
    let config = load(&sources).unwrap();
    assert_eq!(
        origin(&config, &["limits", "job-timeout"]),
        "repository run-loop.yaml:3"
    );
    assert_eq!(
        origin(&config, &["roles", "creator"]),
        "user /home/ann/config.yaml:2"
    );
    assert_eq!(origin(&config, &["review", "max-rounds"]), "default");

    let set = |layer, name, value| Override {
        layer,
        name,
        section: "limits",
        key: "job-timeout",
        value,
    };
    sources
        .overrides
        .push(set(Layer::Environment, "RUN_LOOP_TIMEOUT", json!(40)));
    assert_eq!(job_timeout(&sources), 40);
    sources
        .overrides
        .push(set(Layer::Flag, "--job-timeout", json!(50)));
    let config = load(&sources).unwrap();
    assert_eq!(config.settings.limits.job_timeout, 50);
    assert_eq!(
        origin(&config, &["limits", "job-timeout"]),
        "flag --job-timeout"
    );
    let row = config
        .rows()
        .into_iter()
        .find(|row| row.key == "limits.job-timeout")
        .unwrap();
    assert_eq!(row.value, json!(50));
}

#[test]
fn an_agent_is_defined_in_one_place_and_sections_are_merged_by_key() {
    let mut sources = at_base(
        "version: 1\nagents: {bot: {kind: command, command: [bot]}}\nroles: {reviewers: [bot]}\n",
    );
    sources.user_file = Some(file(
        "u",
        "version: 1\nagents: {bot: {kind: human, family: x}, ann: {kind: human}}\nroles: {arbiter: ann}\n",
    ));
    let settings = load(&sources).unwrap().settings;
    assert_eq!(settings.agents["bot"].family, None);
    assert!(settings.agents.contains_key("ann"));
    assert_eq!(settings.roles.arbiter.as_deref(), Some("ann"));
}

#[test]
fn a_working_copy_supplies_agents_and_no_policy() {
    let text = "version: 1\nagents: {ann: {kind: human}}\nreview: {fail-on: critical}\npolicy: {families: 9}\n";
    let config = load(&copy(text, true)).unwrap();
    assert!(config.settings.agents.contains_key("ann"));
    assert_eq!(config.settings.review.fail_on, Severity::Medium);
    assert_eq!(config.settings.policy.families, 1);
    assert_eq!(
        config.notices,
        [
            "run-loop.yaml is not at the base yet: its `review`, `policy` do not count before it is there"
        ]
    );
}

/// Prices bound what a run may cost: the tree under review must not set them to nothing.
#[test]
fn a_working_copy_supplies_no_prices() {
    let text = "version: 1\nprices: [{model: m, input: \"0\", output: \"0\"}]\n";
    let config = load(&copy(text, true)).unwrap();
    assert!(config.settings.prices.is_empty());
    assert_eq!(
        config.notices,
        ["run-loop.yaml is not at the base yet: its `prices` do not count before it is there"]
    );
    let of_user = Sources {
        user_file: Some(file("u", text)),
        ..Sources::default()
    };
    for sources in [of_user, at_base(text)] {
        assert_eq!(load(&sources).unwrap().settings.prices.len(), 1);
    }
}

#[test]
fn a_working_copy_counts_for_nothing_beside_a_file_at_the_base() {
    let mut sources = at_base("version: 1\n");
    sources.working_copy = copy("version: 1\nagents: {ann: {kind: human}}\n", true).working_copy;
    let config = load(&sources).unwrap();
    assert!(config.settings.agents.is_empty());
    assert_eq!(config.notices.len(), 1, "and that is said");
}

#[test]
fn a_size_is_written_as_people_write_it() {
    for (text, bytes) in [
        ("200KB", 200_000),
        ("1MB", 1_000_000),
        ("1KiB", 1024),
        ("\"2 MiB\"", 2 << 20),
        ("77", 77),
    ] {
        let text = format!("version: 1\nreview: {{diff-cap: {text}}}\n");
        assert_eq!(
            load(&at_base(&text)).unwrap().settings.review.diff_cap,
            bytes,
            "{text}"
        );
    }
}
