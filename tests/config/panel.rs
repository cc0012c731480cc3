//! Slots from roles: names, agents, trust, and whether the policy can be reached.

use std::path::{Path, PathBuf};

use run_loop::config::layer::Layer;
use run_loop::config::sources::{Override, Sources};
use run_loop::config::world::{Programs, World};
use run_loop::config::{agents, load, panel, rules};
use run_loop::domain::agent::{AgentKind, Contract};
use run_loop::domain::code::Code;
use run_loop::domain::failure::Failure;
use run_loop::domain::slot::Slot;
use serde_json::json;

use crate::layers::{at_base, copy};

/// A machine with `bot` and `other` installed, and one file at the base.
fn slots(sources: &Sources) -> Result<Vec<Slot>, Failure> {
    let read_base =
        |path: &str| Ok((path == "docs/security.md").then(|| b"Look twice.\n".to_vec()));
    let find = |program: &str| match program {
        "bot" | "other" => Ok(PathBuf::from("/bin/sh")),
        _ => Err(Failure::new(
            Code::AgentNotRunnable,
            format!("{program} is in no folder of PATH"),
        )),
    };
    let world = World {
        repository: &[PathBuf::from("/nowhere/repo")],
        read_base: &read_base,
        programs: Programs::Found(&find),
    };
    panel::slots(&load(sources).unwrap(), &world)
}

fn reviewers(list: &str) -> Sources {
    at_base(&format!(
        "version: 1\nagents:\n  bot: {{kind: command, command: [bot, --review], family: b}}\n  \
         other: {{kind: command, command: [other], contract: line}}\n  Big.Bot: {{kind: command, command: [bot]}}\n  \
         afar: {{kind: command, command: [bot], remote: true}}\n  pat: {{kind: human}}\n  \
         gone: {{kind: command, command: [gone]}}\n  inside: {{kind: command, command: [./bot]}}\n  \
         deep: {{profile: codex}}\n  far: {{kind: acp, command: [x]}}\nroles: {{reviewers: {list}}}\n"
    ))
}

fn names(slots: &[Slot]) -> Vec<&str> {
    slots.iter().map(|slot| slot.name.as_str()).collect()
}

#[track_caller]
fn refused(list: &str, code: Code, message: &str) {
    let failure = slots(&reviewers(list)).unwrap_err();
    assert_eq!(failure.code, code, "{list}: {failure}");
    assert!(failure.message.contains(message), "{list}: {failure}");
}

#[test]
fn with_nothing_configured_checks_reviews_alone() {
    for sources in [
        Sources::default(),
        at_base("version: 1\nchecks: [{name: t, run: 'true'}]\n"),
    ] {
        let slots = slots(&sources).unwrap();
        assert_eq!(names(&slots), ["checks"]);
        assert!(!slots[0].is_reader());
    }
}

#[test]
fn an_empty_panel_is_refused_once_anything_is_configured() {
    refused("[]", Code::EmptyPanel, "`roles.reviewers` is an empty list");
    refused("null", Code::EmptyPanel, "nothing says who reviews");
    let sources = at_base("version: 1\nroles: {creator: ann}\n");
    assert_eq!(slots(&sources).unwrap_err().code, Code::EmptyPanel);
}

#[test]
fn slots_are_named_after_their_agents_made_valid() {
    let slots = slots(&reviewers(
        "[bot, Big.Bot, checks, {agent: bot, name: security, instructions: [docs/security.md], fallback: [Big.Bot]}]",
    ))
    .unwrap();
    assert_eq!(names(&slots), ["bot", "big.bot", "checks", "security"]);
    let AgentKind::Command(command) = &slots[0].agent.kind else {
        panic!("a command")
    };
    assert_eq!(
        (command.program.as_str(), command.args.as_slice()),
        ("/bin/sh", &["--review".to_owned()][..])
    );
    assert_eq!(slots[0].agent.family, "b");
    assert_eq!(slots[1].agent.family, "Big.Bot", "a family of its own");
    assert_eq!(slots[3].instructions[0].text, "Look twice.\n");
    assert_eq!(slots[3].fallback[0].name, "Big.Bot");
    assert_eq!(slots[0].agent.definition, slots[3].agent.definition);
    assert_ne!(slots[0].agent.definition, slots[1].agent.definition);
}

#[test]
fn names_that_are_taken_reserved_or_no_names_are_refused_with_another() {
    refused("[bot, bot]", Code::BadSlotName, "{agent: bot, name: bot-2}");
    refused(
        "[bot, {agent: Big.Bot, name: Bot}]",
        Code::BadSlotName,
        "use \"bot\"",
    );
    // No other name helps: there is one slot of it.
    refused(
        "[checks, checks]",
        Code::BadSlotName,
        "in the panel twice; leave one out",
    );
    refused("[Checks]", Code::UnknownAgent, "did you mean `checks`?");
    for name in ["approvals", "creator", "checks", "self-review"] {
        refused(
            &format!("[{{agent: bot, name: {name}}}]"),
            Code::BadSlotName,
            "reserved",
        );
    }
    refused(
        "[{agent: checks, name: house}]",
        Code::BadSlotName,
        "use \"checks\"",
    );
    refused(
        "[{agent: bot, name: ../x}]",
        Code::BadSlotName,
        "does not match",
    );
}

#[test]
fn agents_that_cannot_run_are_found_before_anything_starts() {
    refused("[bto]", Code::UnknownAgent, "did you mean `bot`?");
    refused(
        "[{agent: bot, fallback: [nobody]}]",
        Code::UnknownAgent,
        "\"nobody\"",
    );
    refused(
        "[gone]",
        Code::AgentNotRunnable,
        "gone is in no folder of PATH",
    );
    refused(
        "[inside]",
        Code::AgentNotRunnable,
        "\"./bot\", a program inside the repository",
    );
    for what in ["grok:4", "what works is `kind: command`"] {
        refused("[\"grok:4\"]", Code::NotBuilt, what);
    }
    // A profile's program is looked for as any other.
    for (agent, program) in [
        ("deep", "codex"),
        ("claude:opus", "claude"),
        ("gemini-acp", "gemini"),
        ("far", "x"),
    ] {
        let message = format!("{program} is in no folder of PATH");
        refused(&format!("[{agent}]"), Code::AgentNotRunnable, &message);
    }
    refused("[\"claude:\"]", Code::UnknownAgent, "\"claude:\"");
    refused("[claud]", Code::UnknownAgent, "did you mean `claude`?");
    refused(
        "[{agent: bot, fallback: [checks]}]",
        Code::ConfigInvalid,
        "nobody's fallback",
    );
    refused(
        "[{agent: bot, fallback: [bot]}]",
        Code::ConfigInvalid,
        "already",
    );
    refused(
        "[{agent: bot, instructions: [docs/none.md]}]",
        Code::ConfigInvalid,
        "not at the base",
    );
}

/// A program in the reviewed tree would let a change alter its own reviewer, however it is named.
#[test]
fn a_program_inside_the_repository_is_refused_however_it_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("repo")).unwrap();
    std::fs::write(root.join("repo/bot"), "").unwrap();
    std::os::unix::fs::symlink(root.join("repo/bot"), root.join("link")).unwrap();
    for found in [root.join("repo/bot"), root.join("link")] {
        let find = |_: &str| Ok(found.clone());
        let world = World {
            repository: &[root.join("repo")],
            read_base: &|_| Ok(None),
            programs: Programs::Found(&find),
        };
        let failure = world.program("bot", "bot").unwrap_err();
        assert_eq!(failure.code, Code::AgentNotRunnable);
        assert!(
            failure.message.contains("lies inside the repository"),
            "{failure}"
        );
    }
    assert!(Path::new("/bin/sh").exists());
}

#[test]
fn a_working_copys_command_runs_only_if_this_user_trusts_the_file() {
    let text = "version: 1\nagents: {bot: {kind: command, command: [bot]}, pat: {kind: human}}\n\
                roles: {reviewers: [bot]}\n";
    let failure = slots(&copy(text, false)).unwrap_err();
    assert_eq!(failure.code, Code::ConfigUntrusted);
    assert!(
        failure.message.contains("working-copy run-loop.yaml:2"),
        "{failure}"
    );
    assert_eq!(failure.next.0, ["run-loop", "config", "trust"]);
    assert_eq!(names(&slots(&copy(text, true)).unwrap()), ["bot"]);
}

/// `contract: line` and people show no coverage: only on a slot that says so.
#[test]
fn reports_without_coverage_need_a_slot_that_says_so() {
    for agent in ["other", "pat"] {
        refused(
            &format!("[{agent}]"),
            Code::PanelBelowPolicy,
            "coverage: none",
        );
        refused(
            &format!("[{{agent: bot, fallback: [{agent}]}}]"),
            Code::PanelBelowPolicy,
            "coverage",
        );
        let slots = slots(&reviewers(&format!("[{{agent: {agent}, coverage: none}}]"))).unwrap();
        assert_eq!(slots[0].agent.contract, Contract::Line);
    }
}

#[test]
fn a_panel_that_cannot_reach_its_policy_is_refused() {
    let reaches = |list: &str, policy: &str| {
        let mut sources = reviewers(list);
        let file = sources.base_file.as_mut().unwrap();
        file.bytes.extend_from_slice(policy.as_bytes());
        let config = load(&sources).unwrap();
        let at_base = panel::declared(&config, &|_| Ok(None)).unwrap();
        panel::reaches(
            &slots(&sources)?,
            &rules::policy(&config)?,
            config.settings.review.quorum,
            &at_base,
        )
    };
    let below = |list: &str, policy: &str, message: &str| {
        let failure = reaches(list, policy).unwrap_err();
        assert_eq!(failure.code, Code::PanelBelowPolicy, "{failure}");
        assert!(failure.message.contains(message), "{failure}");
    };
    reaches("[bot, checks]", "policy: {require: [bot, checks]}\n").unwrap();
    below(
        "[bot]",
        "policy: {require: [bot, checks]}\n",
        "requires the slot checks, and the panel is bot",
    );
    below(
        "[bot, checks]",
        "policy: {families: 2}\n",
        "2 families, and the panel has 1",
    );
    reaches("[bot, Big.Bot]", "policy: {families: 2}\n").unwrap();
    below(
        "[bot]",
        "review: {quorum: 2}\n",
        "the quorum is 2, and the panel has 1 slots",
    );
    reaches("[checks]", "").unwrap();
    below("[checks]", "policy: {families: 2}\n", "the panel has 0");
    let sources = at_base(
        "version: 1\nagents: {deep: {profile: codex}, pat: {kind: human}}\nroles: {reviewers: [deep, {agent: pat, coverage: none}, {agent: pat, name: p}]}\n",
    );
    let config = load(&sources).unwrap();
    let declared = panel::declared(&config, &|_| Ok(None)).unwrap();
    assert_eq!(
        names(&declared),
        ["deep", "pat"],
        "slots that no run could open are left out"
    );
    assert_eq!(agents::declared(&config).unwrap().len(), 2);
}

/// A required slot counts by its definition, not by its name alone.
#[test]
fn a_required_slot_filled_with_another_agent_is_refused() {
    let sources = reviewers("[{agent: bot, name: security}]");
    let base = load(&sources).unwrap();
    let mut other = sources;
    other.overrides.push(Override {
        layer: Layer::Flag,
        name: "--reviewer",
        section: "roles",
        key: "reviewers",
        value: json!([{"agent": "Big.Bot", "name": "security"}]),
    });
    let panel = slots(&other).unwrap();
    let mut policy = rules::policy(&base).unwrap();
    policy.require = vec![panel[0].name.clone()];
    let failure = panel::reaches(
        &panel,
        &policy,
        run_loop::domain::run_spec::Quorum::All,
        &panel::declared(&base, &|_| Ok(None)).unwrap(),
    )
    .unwrap_err();
    assert!(
        failure.message.contains("not one that the base gives it"),
        "{failure}"
    );
}

/// T-024, M-090: refused before anything is delegated.
#[test]
fn a_remote_agent_needs_the_option() {
    let argv = ["run-loop", "--base", "main", "--review-only", "--", "word"].map(str::to_owned);
    for list in ["[bot, afar]", "[{agent: bot, fallback: [afar]}]"] {
        let panel = slots(&reviewers(list)).unwrap();
        let failure = panel::admits_remote(&panel, false, &argv).unwrap_err();
        assert_eq!(failure.code, Code::RemoteNeedsOption);
        assert_eq!(
            failure.next.to_string(),
            "run-loop --remote-review diff-only --base main --review-only -- word"
        );
        panel::admits_remote(&panel, true, &argv).unwrap();
    }
}

#[test]
fn what_is_not_built_is_refused_by_name() {
    for text in ["policy: {attest: signed}\n", "policy: {carry: replay}\n"] {
        let config = load(&at_base(&format!("version: 1\n{text}"))).unwrap();
        assert_eq!(rules::policy(&config).unwrap_err().code, Code::NotBuilt);
    }
}

#[test]
fn folders_of_the_configuration_stay_in_the_repository() {
    for text in [
        "reports: ../x",
        "reports: /x",
        "reports: .git/x",
        "reports: a//b",
        "cache: [../x]",
        "cache: [a/.GIT]",
    ] {
        let config = load(&at_base(&format!("version: 1\n{text}\n"))).unwrap();
        let failure = match rules::reports(&config) {
            Ok(_) => rules::cache(&config).unwrap_err(),
            Err(failure) => failure,
        };
        assert_eq!(failure.code, Code::ConfigInvalid, "{text}");
    }
}
