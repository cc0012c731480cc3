//! Which of all recorded runs succeeded: these, and no other.

use std::collections::BTreeSet;

use crate::recorded::{ends, programs, recorded};

const SUCCEEDED: &[(&str, &str)] = &[
    (
        "codex",
        "argv-120k argv-stdin-closed argv-stdin-null builtin-provider env-seen error429-once \
         fail-full fail-ww fail-ww-slow full-background output-schema prompt-at-file prompt-slash \
         readonly-write session-first session-resume stdin-300k stdin-no-dash text tool \
         ww-background ww-write-outside",
    ),
    (
        "claude",
        "background-bash background-nohup bare default-mode-bash default-mode-write dontask-bash \
         env-seen error429-once error429-retry-after-20 json-output json-schema prompt-at-file \
         prompt-slash session-first session-resume \
         skip-permissions-root-sandbox stdin-300k stdin-closed-argv stdin-open-argv text tool \
         unknown-model",
    ),
    (
        "gemini",
        "background-nohup env-seen error429-once prompt-at-file prompt-flag-and-stdin prompt-slash \
         prompt-slash-known session-id session-resume session-resume-latest stdin-300k \
         stdin-closed-argv stdin-null-argv stdin-open-argv text tool",
    ),
    (
        "opencode",
        "anthropic-provider argv-and-stdin argv-stdin-closed argv-stdin-null ask-auto \
         background-nohup env-seen error429-once prompt-at-file prompt-slash session-first \
         session-resume stdin-300k text tool",
    ),
    ("qwen", "env-seen session-id stdin-300k text tool"),
    (
        "copilot",
        "env-seen no-allow session-id stdin-300k stdin-text text tool",
    ),
    ("claude-acp", "reject tool"),
    ("codex-acp", "permission permission-read-only reject tool"),
    ("gemini-acp", "experimental-flag reject tool"),
    ("opencode-acp", "permission reject tool"),
    ("qwen-acp", "reject tool"),
    ("copilot-acp", "reject tool"),
    ("aider", "edit message-file text"),
];

/// Exit code 0 is not enough (gemini after SIGTERM, claude after SIGINT, copilot with a `result`
/// of exit code 0, aider after a 401), and events of errors do not make a failure (codex). What a program
/// prints in another form than it is asked for does not say that it is done, but for claude's `result` in one
/// line.
#[test]
fn exactly_the_runs_that_were_finished_succeed() {
    for (program, wanted) in SUCCEEDED {
        let wanted: BTreeSet<String> = wanted.split_whitespace().map(str::to_owned).collect();
        let succeeded: BTreeSet<String> = ends(program)
            .into_keys()
            .filter(|case| recorded(program, case).ended.is_success())
            .collect();
        assert_eq!(succeeded, wanted, "{program}");
    }
}

/// No program whose output was recorded is left out.
#[test]
fn every_recorded_program_is_read() {
    let known: BTreeSet<String> = SUCCEEDED.iter().map(|of| of.0.to_owned()).collect();
    assert_eq!(known, programs());
}

/// What succeeded has an answer, and tells its session.
#[test]
fn what_succeeded_has_an_answer_and_a_session() {
    for (program, cases) in SUCCEEDED {
        for case in cases.split_whitespace() {
            let run = recorded(program, case);
            // Two end their turn where a tool was refused, and say nothing more.
            let is_silent = case == "reject" && ["qwen-acp", "copilot-acp"].contains(program);
            assert_eq!(
                run.answer().trim().is_empty(),
                is_silent,
                "{program} {case}"
            );
            let session = run.account.spent().session;
            // The one line of JSON is a result, and no beginning told of the session.
            let untold = *program == "aider" || case == "json-output";
            assert_eq!(session.is_none(), untold, "{program} {case}");
        }
    }
}
