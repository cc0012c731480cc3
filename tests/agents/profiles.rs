//! Profiles as data: each says all that is needed, and nothing that could widen what a job may do.

use std::collections::BTreeSet;

use run_loop::agent::environment::is_passable;
use run_loop::config::profiles;
use run_loop::config::sources::File;
use run_loop::domain::agent::{AgentKind, ProfileAgent, PromptChannel};
use run_loop::domain::code::Code;
use run_loop::domain::profile::WorksIn;

use crate::recorded::profile;

#[test]
fn every_embedded_profile_reads() {
    let names: Vec<&str> = profiles::names().collect();
    assert_eq!(
        names,
        [
            "claude",
            "codex",
            "gemini",
            "opencode",
            "qwen",
            "copilot",
            "aider",
            "claude-acp",
            "codex-acp",
            "gemini-acp",
            "opencode-acp",
            "qwen-acp",
            "copilot-acp",
            "acp",
            "generic"
        ]
    );
    for name in names {
        let profile = profile(name);
        assert_eq!(profile.name, name);
        let variables: Vec<&String> = profile.env.iter().chain(&profile.keys).collect();
        assert!(
            variables.iter().all(|variable| is_passable(variable)),
            "{name}"
        );
        let of_providers: Vec<&String> = profile.providers.values().flatten().collect();
        assert!(
            of_providers.iter().all(|key| profile.keys.contains(key)),
            "{name}"
        );
        let once: BTreeSet<&&String> = variables.iter().collect();
        assert_eq!(once.len(), variables.len(), "{name} names a variable twice");
        let known = [
            "{model}",
            "{effort}",
            "{tree}",
            "{evidence}",
            "{prompt}",
            "{files}",
        ];
        for start in [&profile.always, &profile.reader, &profile.writer] {
            for argument in &start.args {
                let odd =
                    argument.contains('{') && !known.iter().any(|known| argument.contains(known));
                assert!(!odd, "{name}: {argument}");
            }
            assert!(
                start.files.keys().all(|file| !file.contains("..")),
                "{name}"
            );
            assert!(
                start.env.keys().all(|variable| is_passable(variable)),
                "{name}"
            );
        }
        let by_argument = profile.prompt == PromptChannel::File;
        let names_it = profile.always.args.iter().any(|arg| arg == "{prompt}");
        assert_eq!(by_argument, names_it, "{name}");
    }
}

/// A run's journal holds the profiles that it was started with, and resume reads them back.
#[test]
fn every_profile_survives_the_journal() {
    for name in profiles::names() {
        let kind = AgentKind::Profile(Box::new(ProfileAgent {
            confine: false,
            profile: profile(name),
            program: "/bin/program".to_owned(),
            args: Vec::new(),
            model: None,
            effort: Some("high".to_owned()),
            env: Vec::new(),
        }));
        let text = serde_json::to_string(&kind).unwrap();
        assert_eq!(
            serde_json::from_str::<AgentKind>(&text).unwrap(),
            kind,
            "{name}"
        );
    }
}

/// What lets a program do anything unasked stands in no reader's arguments.
#[test]
fn no_reader_may_write() {
    let wide = [
        "acceptEdits",
        "bypassPermissions",
        "--dangerously-skip-permissions",
        "--yolo",
        "yolo",
        "auto_edit",
        "--auto",
        "--allow-all-tools",
        "--yes-always",
        "workspace-write",
        "danger-full-access",
        "--dangerously-bypass-approvals-and-sandbox",
        "agent",
        "agent-full-access",
        "auto",
        "build",
        "Bash",
        "Edit",
        "Write",
    ];
    for name in profiles::names() {
        let profile = profile(name);
        let mode = profile.acp.reader_mode.iter();
        let words = profile.always.args.iter().chain(&profile.reader.args);
        // What is taken away may have any name.
        let words = words.filter(|word| !word.starts_with("--exclude-tools="));
        for argument in words.chain(mode) {
            let words: Vec<&str> = argument.split([',', '=']).collect();
            assert!(
                !wide.iter().any(|wide| words.contains(wide)),
                "{name}: {argument}"
            );
        }
    }
}

/// Whoever is started in the reviewed tree obeys what lies there, unless somebody saw that it does not:
/// that is `tests/real_agents/hostile.rs`, with the real program.
#[test]
fn readers_work_in_the_tree_only_where_a_hostile_one_was_driven() {
    let last: serde_json::Value =
        serde_json::from_str(include_str!("../real_agents/last-run.json")).unwrap();
    for name in profiles::names() {
        let profile = profile(name);
        // Of the user's own programs nobody knows anything, which they say.
        let is_known = !profile.programs.is_empty();
        if is_known && profile.reader_works_in == WorksIn::Tree {
            let cases = last["programs"][name]["cases"].as_array();
            let obeys_nothing =
                cases.is_some_and(|cases| cases.iter().any(|case| case == "nothing is obeyed"));
            assert!(obeys_nothing, "{name}");
        }
    }
}

/// aider asks for the git working tree around it before it reads its options, and loads that one's `.env`:
/// its folder is one, so that none around the cache counts.
#[test]
fn a_reading_aider_finds_no_repository_around_its_folder() {
    let files = profile("aider").reader.files;
    for path in [".git/HEAD", ".git/objects/", ".git/refs/"] {
        assert!(files.keys().any(|file| file.starts_with(path)), "{path}");
    }
    assert!(!files.contains_key(".env"));
}

/// A profile of the user's that does not read is named with its file.
#[test]
fn a_wrong_profile_is_refused_by_name() {
    let file = |text: &str| File {
        name: "/home/dev/profiles/claude.yaml".to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    for text in [
        "",
        "name: claude\n",
        "name: claude\nwhat: 1\n",
        "\u{0}",
        "- a\n",
    ] {
        let failure = profiles::read(&file(text)).unwrap_err();
        assert_eq!(failure.code, Code::ConfigInvalid);
        assert!(
            failure
                .message
                .starts_with("/home/dev/profiles/claude.yaml: "),
            "{failure}"
        );
    }
    let own = "name: claude\ntitle: mine\nfamily: null\nprograms: [claude]\nversion: [--version]\n\
               tested: null\nstream: text\n";
    assert_eq!(profiles::read(&file(own)).unwrap().title, "mine");
}

/// A program that asks many providers gets the key of the one that its model names.
#[test]
fn a_key_goes_to_the_provider_of_the_model_alone() {
    let keys = |name: &str, model: Option<&str>| {
        let profile = profile(name);
        let keys = profile.keys_for(model).cloned();
        keys.collect::<Vec<_>>()
    };
    for name in ["opencode", "opencode-acp", "aider"] {
        let all = profile(name).keys;
        assert_eq!(keys(name, Some("anthropic/m/x")), ["ANTHROPIC_API_KEY"]);
        assert_eq!(keys(name, Some("openai/m")), ["OPENAI_API_KEY"]);
        assert_eq!(keys(name, Some("own/m")), [""; 0]);
        assert_eq!(keys(name, Some("m")), all);
        assert_eq!(keys(name, None), all);
    }
    assert_eq!(keys("claude", Some("own/m")), profile("claude").keys);
}

/// aider commits by itself what it writes, and what lay there before, unless it is told not to.
#[test]
fn a_writing_aider_commits_nothing() {
    let profile = profile("aider");
    for option in ["--no-auto-commits", "--no-dirty-commits"] {
        let mut args = profile.always.args.iter();
        assert!(args.any(|arg| arg == option), "{option}");
    }
}

/// aider takes the end of its standard input for a yes: nothing that it asks about may be asked for.
#[test]
fn a_reading_aider_runs_and_fetches_nothing() {
    let profile = profile("aider");
    for option in ["--no-suggest-shell-commands", "--no-detect-urls"] {
        assert!(
            profile.always.args.iter().any(|arg| arg == option),
            "{option}"
        );
    }
    assert!(!profile.reader.args.iter().any(|arg| arg == "--yes-always"));
    // Without a terminal it breaks lines, and where it looks for edits it takes a report for one.
    assert_eq!(profile.always.env["COLUMNS"], "1000000");
    assert_eq!(profile.reader.args[..2], ["--chat-mode", "ask"]);
}
