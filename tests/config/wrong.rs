//! Bad configurations: each is refused with file, line, full path and the nearest key (T-044).

use run_loop::config::load;
use run_loop::config::sources::Sources;
use run_loop::domain::code::Code;

use crate::layers::{at_base, copy, file};

#[track_caller]
fn refused(sources: &Sources) -> String {
    let failure = load(sources).unwrap_err();
    assert_eq!(failure.code, Code::ConfigInvalid, "{failure}");
    assert_ne!(failure.next.0, Vec::<String>::new());
    failure.message
}

/// T-044: unknown, misspelt and missing keys are named with path, line and suggestion.
#[test]
fn unknown_keys_are_refused_with_the_nearest_one() {
    for (text, message) in [
        (
            "version: 1\nreview:\n  max-round: 3\n",
            "run-loop.yaml, line 3: unknown key `review.max-round`; did you mean `review.max-rounds`?",
        ),
        (
            "version: 1\nreveiw: {}\n",
            "run-loop.yaml, line 2: unknown key `reveiw`; did you mean `review`?",
        ),
        (
            "version: 1\nfail-on: high\n",
            "run-loop.yaml, line 2: unknown key `fail-on`; did you mean `review.fail-on`?",
        ),
        (
            "version: 1\nreview: {fail_on: high}\n",
            "run-loop.yaml, line 2: unknown key `review.fail_on`; did you mean `review.fail-on`?",
        ),
        (
            "version: 1\nagents:\n  bot: {kind: command, comand: [x]}\n",
            "run-loop.yaml, line 3: unknown key `agents.bot.comand`; did you mean `agents.bot.command`?",
        ),
        (
            "version: 1\nroles:\n  reviewers:\n    - {agent: a}\n    - {agent: b, nmae: x}\n",
            "run-loop.yaml, line 5: unknown key `roles.reviewers[1].nmae`; did you mean `roles.reviewers[1].name`?",
        ),
        (
            "version: 1\nlimits: {banana: 1}\n",
            "run-loop.yaml, line 2: unknown key `limits.banana`; known here: job-timeout, job-wait, max-wall, max-cost, phases",
        ),
        (
            "agents: {}\n",
            "run-loop.yaml, line 1: the key `version` is missing",
        ),
        (
            "[]\n",
            "run-loop.yaml, line 1: the file is a list, not a mapping",
        ),
        (
            "version: 1.0\n",
            "run-loop.yaml, line 1: `version` is the number 1.0, not the number 1",
        ),
        (
            "version: 1\nroles: {creator: \" \"}\n",
            "run-loop.yaml, line 2: `roles.creator` is blank, not text",
        ),
        (
            "version: 1\nchecks:\n  - name: test\n",
            "run-loop.yaml, line 3: the key `checks[0].run` is missing",
        ),
    ] {
        assert_eq!(refused(&at_base(text)), message);
    }
}

#[test]
fn wrong_values_name_what_was_found() {
    for (text, message) in [
        (
            "version: 2\n",
            "`version` is the number 2, not the number 1",
        ),
        (
            "version: 1\nreview: {max-rounds: five}\n",
            "`review.max-rounds` is the text \"five\", not a whole number from 1 to 100",
        ),
        (
            "version: 1\nreview: {max-rounds: 0}\n",
            "`review.max-rounds` is the number 0",
        ),
        (
            "version: 1\nreview: {max-rounds: 2.5}\n",
            "`review.max-rounds` is the number 2.5",
        ),
        (
            "version: 1\nreview: {fail-on: bad}\n",
            "`review.fail-on` is the text \"bad\"",
        ),
        (
            "version: 1\nreview: {isolation: worktre}\n",
            "`review.isolation` is \"worktre\", not `worktree` or `env`; did you mean `worktree`?",
        ),
        (
            "version: 1\nreview: {quorum: some}\n",
            "`review.quorum` is the text \"some\", not `all` or",
        ),
        (
            "version: 1\nreview: {diff-cap: 3 furlongs}\n",
            "`review.diff-cap` is the text \"3 furlongs\"",
        ),
        (
            "version: 1\nreview: null\n",
            "`review` is empty, not a mapping",
        ),
        (
            "version: 1\npolicy: {up-to-date: yes}\n",
            "`policy.up-to-date` is the text \"yes\", not true or false",
        ),
        (
            "version: 1\nchecks: {}\n",
            "`checks` is a mapping, not a list",
        ),
        (
            "version: 1\nroles: {reviewers: bot}\n",
            "`roles.reviewers` is the text \"bot\", not a list",
        ),
        ("- 1\n", "a list"),
        ("", "is empty"),
        (
            "version: 1\nversion: 1\n",
            "the key `version` stands here a second time",
        ),
        (
            "version: 1\nagents: {a: {kind: human}, a: {kind: human}}\n",
            "the key `a` stands here a second time",
        ),
        ("version: 1\n---\nversion: 1\n", "more than one document"),
        ("version: 1\nreports: !x y\n", "run-loop.yaml"),
        ("version: [\n", "run-loop.yaml"),
        (
            "version: 1\nagents: {\"a b\": {kind: human}}\n",
            "the name \"a b\"",
        ),
        (
            "version: 1\nagents: {\"claude:x\": {kind: human}}\n",
            "letters, digits",
        ),
    ] {
        let found = refused(&at_base(text));
        assert!(found.contains(message), "{text:?}: {found}");
        assert!(found.starts_with("run-loop.yaml"), "{text:?}: {found}");
    }
}

/// What an approval means is never read from the user's file, nor silently left out there.
#[test]
fn the_users_file_cannot_hold_what_belongs_to_the_base() {
    for section in [
        "policy: {}",
        "review: {}",
        "checks: []",
        "setup: []",
        "cache: []",
        "templates: null",
        "reports: x",
    ] {
        let sources = Sources {
            user_file: Some(file("u.yaml", &format!("version: 1\n{section}\n"))),
            ..Sources::default()
        };
        let message = refused(&sources);
        assert!(message.starts_with("u.yaml, line 2: "), "{message}");
        assert!(
            message.contains("is not read from the user's file"),
            "{message}"
        );
    }
}

#[test]
fn a_broken_working_copy_is_refused_even_where_it_does_not_count() {
    assert!(
        refused(&copy("version: 1\npolicy: {families: none}\n", false))
            .contains("`policy.families`")
    );
}
