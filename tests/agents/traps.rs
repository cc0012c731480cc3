//! Each trap that the real programs set, on what they printed.

use run_loop::agent::adapter::account::Account;
use run_loop::agent::adapter::outcome;
use run_loop::agent::environment::Variables;
use run_loop::agent::redact::Secrets;
use run_loop::domain::job::Ended;
use run_loop::domain::profile::Stream;
use run_loop::domain::trouble::Trouble;

use crate::answers::ended;
use crate::recorded::{ended_so, printed, profile, recorded};

fn trouble(program: &str, case: &str) -> Option<Trouble> {
    recorded(program, case).trouble()
}

/// What a provider answered is told apart, whatever way the program has of telling it.
#[test]
fn failures_are_named() {
    let mut wrong = Vec::new();
    for (program, case, wanted) in [
        ("codex", "error401", Trouble::Auth),
        ("codex", "no-key", Trouble::Auth),
        ("codex", "error429", Trouble::RateLimit),
        ("codex", "error429-quota", Trouble::Quota),
        ("codex", "error429-usage-limit", Trouble::Quota),
        ("codex", "error500", Trouble::Server),
        ("codex", "cut-stream", Trouble::Network),
        ("codex", "hang-idle-timeout", Trouble::Network),
        ("codex", "bad-flag", Trouble::Usage),
        ("codex", "untrusted-dir", Trouble::Usage),
        ("claude", "error400", Trouble::Request),
        ("claude", "error401", Trouble::Auth),
        ("claude", "error403", Trouble::Auth),
        ("claude", "error404", Trouble::Model),
        ("claude", "no-key", Trouble::Auth),
        ("claude", "error429-retries2", Trouble::RateLimit),
        ("claude", "error429-retry-after-3600", Trouble::RateLimit),
        ("claude", "error500-retries2", Trouble::Server),
        ("claude", "error529-retries2", Trouble::Overloaded),
        ("claude", "credit-low", Trouble::Quota),
        ("claude", "max-budget", Trouble::Limit),
        ("claude", "max-turns", Trouble::Limit),
        ("claude", "cut-stream-retries2", Trouble::Network),
        ("claude", "bad-flag", Trouble::Usage),
        ("gemini", "error401", Trouble::Auth),
        ("gemini", "error403", Trouble::Auth),
        ("gemini", "error404", Trouble::Model),
        ("gemini", "error429-full", Trouble::RateLimit),
        ("gemini", "error500-attempts2", Trouble::Server),
        ("gemini", "no-key", Trouble::Auth),
        ("gemini", "max-turns", Trouble::Limit),
        ("gemini", "untrusted", Trouble::Usage),
        ("opencode", "error401", Trouble::Auth),
        ("opencode", "error429", Trouble::RateLimit),
        ("opencode", "error500-full", Trouble::Server),
        ("qwen", "error401", Trouble::Auth),
        ("qwen", "max-turns", Trouble::Limit),
        ("copilot", "error401", Trouble::Auth),
        ("copilot", "error429", Trouble::RateLimit),
        ("copilot", "no-auth", Trouble::Auth),
        ("aider", "error401", Trouble::Request),
    ] {
        let told = trouble(program, case);
        if told != Some(wanted) {
            wrong.push(format!("{program} {case}: {told:?}, not {wanted:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// codex tells of errors, as events and as items, on runs that succeed.
#[test]
fn error_events_on_a_run_that_succeeds() {
    let run = recorded("codex", "error429-once");
    assert!(run.ended.is_success());
    assert!(run.account.error().is_some());
    assert_eq!(run.trouble(), None);
}

/// claude: `subtype: success` with `is_error: true`.
#[test]
fn success_that_is_an_error() {
    let run = recorded("claude", "error401");
    let Ended::Failed { code, message, .. } = &run.ended else {
        unreachable!("{:?}", run.ended);
    };
    assert_eq!(*code, 1);
    assert!(message.starts_with("Invalid API key"), "{message}");
    // Also if it had exited with 0.
    let run = ended_so("claude", "error401", Ended::Exited { code: 0 });
    assert_eq!(run.trouble(), Some(Trouble::Auth));
}

/// Exit code 0 after SIGTERM or SIGINT: gemini says nothing, claude and copilot print a result.
#[test]
fn exit_0_after_a_signal() {
    for (program, case, wanted) in [
        ("gemini", "hang-sigterm", Trouble::Unfinished),
        ("gemini", "tool-sigterm", Trouble::Unfinished),
        ("gemini", "tool-sigint", Trouble::Unfinished),
        ("claude", "hang-sigint", Trouble::Aborted),
        ("claude", "tool-sigint", Trouble::Aborted),
        ("copilot", "hang-sigterm", Trouble::Aborted),
        ("copilot", "tool-sigterm", Trouble::Aborted),
    ] {
        assert_eq!(trouble(program, case), Some(wanted), "{program} {case}");
    }
}

/// A program that we ended has not succeeded, also where its output says that it was done.
#[test]
fn what_we_ended_has_not_succeeded() {
    for how in [
        Ended::TimedOut,
        Ended::Stopped,
        Ended::Interrupted,
        Ended::Lost,
    ] {
        for program in ["codex", "claude", "gemini", "opencode", "qwen", "copilot"] {
            let run = ended_so(program, "text", how.clone());
            assert_eq!(run.ended, how, "{program}");
            // What it claims is kept all the same.
            assert!(!run.answer().is_empty(), "{program}");
        }
    }
}

/// gemini exits with the provider's status modulo 256.
#[test]
fn status_modulo_256() {
    for (case, code) in [
        ("error401", 145),
        ("error429-full", 173),
        ("error500-attempts2", 244),
    ] {
        let run = recorded("gemini", case);
        let Ended::Failed { code: told, .. } = run.ended else {
            unreachable!("{case}");
        };
        assert_eq!(told, code);
        let silent = Account::new(Stream::Gemini);
        let exited = Ended::Exited { code };
        let from_code = outcome::ended(&run.profile, exited, &silent, "", &Secrets::default());
        let Ended::Failed { trouble, .. } = from_code else {
            unreachable!("{case}");
        };
        assert_eq!(Some(trouble), recorded("gemini", case).trouble(), "{case}");
    }
}

/// claude prints a second `result` line when a background task ends: both answers are kept, the
/// tokens are those of both turns, and the cost is the last one told.
#[test]
fn a_second_result_line() {
    let run = recorded("claude", "background-bash");
    assert!(run.ended.is_success());
    assert_eq!(run.answer(), "Done.\n\nDone.");
    let spent = run.account.spent();
    assert_eq!(spent.usage.unwrap().input, Some(300));
    assert_eq!(spent.usage.unwrap().output, Some(60));
    assert_eq!(spent.cost_micro_usd, Some(1800));
    // One that failed is not mended by one that did not.
    let failed = r#"{"type":"result","subtype":"success","is_error":true,"result":"no"}"#;
    let well = r#"{"type":"result","subtype":"success","is_error":false,"result":"yes"}"#;
    let both = Account::of(Stream::Claude, format!("{failed}\n{well}\n").as_bytes());
    assert!(!both.is_done());
}

/// Zero tokens are no count: nobody knows what was used.
#[test]
fn zero_usage_is_unknown() {
    for (program, case) in [
        ("claude", "error401"),
        ("claude", "hang-sigterm"),
        ("gemini", "error401"),
        ("qwen", "error401"),
        ("copilot", "text"),
        ("opencode", "hang-sigterm"),
    ] {
        let spent = recorded(program, case).account.spent();
        assert_eq!(
            (spent.usage, spent.cost_micro_usd),
            (None, None),
            "{program} {case}"
        );
    }
}

/// What each program tells of its use, where it tells it.
#[test]
fn usage_and_cost_are_read() {
    for (program, case, input, output, cost) in [
        ("codex", "tool", 200, 40, None),
        ("claude", "tool", 200, 40, Some(1200)),
        ("gemini", "tool", 200, 40, None),
        ("opencode", "tool", 200, 40, Some(1200)),
        ("qwen", "text", 200, 40, None),
        ("aider", "text", 100, 20, None),
    ] {
        let spent = recorded(program, case).account.spent();
        let usage = spent.usage.unwrap();
        assert_eq!(usage.input, Some(input), "{program}");
        assert_eq!(usage.output, Some(output), "{program}");
        assert_eq!(spent.cost_micro_usd, cost, "{program}");
    }
}

/// opencode says that tokens cost nothing where it does not know their price.
#[test]
fn a_cost_of_nothing_beside_tokens_is_unknown() {
    let step = |cost: &str| {
        let line = r#"{"type":"step_finish","part":{"reason":"stop","tokens":{"input":100,"output":20},"cost":COST}}"#;
        Account::of(Stream::Opencode, line.replace("COST", cost).as_bytes()).spent()
    };
    for (cost, told) in [("0", None), ("0.0", None), ("0.0006", Some(600))] {
        let spent = step(cost);
        assert_eq!(spent.usage.unwrap().input, Some(100));
        assert_eq!(spent.cost_micro_usd, told, "{cost}");
    }
}

/// gemini counts what it thought in the total alone, and may ask several models in one job: then the
/// name of the one that it began with is not that of all.
#[test]
fn what_gemini_thought_is_counted_and_several_models_are_no_one_of_them() {
    let spent = |stats: &str| {
        let begun = r#"{"type":"init","session_id":"s","model":"pro"}"#;
        let done = format!(r#"{{"type":"result","status":"success","stats":{{{stats}}}}}"#);
        Account::of(Stream::Gemini, format!("{begun}\n{done}\n").as_bytes()).spent()
    };
    let counted = r#""input_tokens":100,"output_tokens":20,"cached":0"#;
    for (total, output) in [
        ("", 20),
        (",\"total_tokens\":150", 50),
        (",\"total_tokens\":90", 20),
    ] {
        let spent = spent(&format!("{counted}{total}"));
        assert_eq!(spent.usage.unwrap().output, Some(output), "{total}");
        assert_eq!(spent.model.as_deref(), Some("pro"));
    }
    for (models, name) in [
        (r#"{"pro":{"total_tokens":120}}"#, "pro"),
        (
            r#"{"pro":{"total_tokens":120},"flash":{"total_tokens":0}}"#,
            "pro",
        ),
        (
            r#"{"pro":{"total_tokens":60},"flash":{"total_tokens":60}}"#,
            "flash, pro",
        ),
        (r#"{"pro":{},"flash":{}}"#, "flash, pro"),
    ] {
        let spent = spent(&format!("{counted},\"models\":{models}"));
        assert_eq!(spent.model.as_deref(), Some(name), "{models}");
    }
}

/// Denied permissions end with exit code 0. Where the program went on and answered, the denial is
/// counted; where it stopped there, it has not succeeded.
#[test]
fn denied_permissions() {
    for (program, case) in [
        ("claude", "default-mode-write"),
        ("claude", "default-mode-bash"),
        ("copilot", "no-allow"),
    ] {
        let run = recorded(program, case);
        assert!(run.ended.is_success(), "{program} {case}");
        assert_eq!(run.account.spent().denied, 1, "{program} {case}");
    }
    // qwen tells of them in its last line alone.
    let denied = r#"{"type":"result","subtype":"success","is_error":false,"result":"Done.",
        "permission_denials":[{"tool_name":"web_fetch"},{"tool_name":"edit"}]}"#
        .replace('\n', "");
    let account = Account::of(Stream::Claude, denied.as_bytes());
    assert!(account.is_done());
    assert_eq!(account.spent().denied, 2);
    let stopped = recorded("opencode", "ask-no-auto");
    assert_eq!(stopped.account.spent().denied, 1);
    assert_eq!(stopped.trouble(), Some(Trouble::Unfinished));
}

/// aider exits with 0 and tells tokens also where its context was too long for the model, or its answer cut.
#[test]
fn an_answer_that_hit_a_token_limit_is_none() {
    let hit =
        "Model openai/stub-model has hit a token limit!\nToken counts below are approximate.\n";
    for tokens in ["12k sent, 0 received.", "100 sent, 4.1k received."] {
        let output = format!("VERDICT: PASS\n\nTokens: {tokens}\n{hit}");
        let Ended::Failed { trouble, .. } = ended("aider", &output) else {
            panic!("{output}");
        };
        assert_eq!(trouble, Trouble::Request);
    }
    assert!(!ended("aider", "Tokens: 12k sent, 0 received.\n").is_success());
}

/// Where its model library knows the price, it tells the cost of each message.
#[test]
fn aider_tells_its_cost_where_it_knows_the_price() {
    let spent = |output: &str| Account::of(Stream::Aider, output.as_bytes()).spent();
    let first = "Tokens: 1.2k sent, 20 received. Cost: $0.0023 message, $0.0023 session.\n";
    let cached = "Tokens: 1.2k sent, 1k cache write, 1k cache hit, 20 received.\n\
                  Cost: $1.25 message, $1.26 session.\n";
    assert_eq!(spent(first).cost_micro_usd, Some(2_300));
    assert_eq!(
        spent(&format!("{first}{cached}")).cost_micro_usd,
        Some(1_252_300)
    );
    assert_eq!(
        spent("Tokens: 100 sent, 20 received.\n").cost_micro_usd,
        None
    );
}

/// A stream that hangs and is stopped has no answer that counts as done.
#[test]
fn a_stream_that_hangs_is_not_done() {
    for (program, case) in [
        ("codex", "hang-sigterm"),
        ("codex", "hang-default"),
        ("claude", "hang-sigterm"),
        ("claude", "hang-default"),
        ("gemini", "hang-sigterm"),
        ("opencode", "hang-sigterm"),
        ("qwen", "hang-sigterm"),
        ("aider", "hang-sigterm"),
    ] {
        assert!(
            !recorded(program, case).account.is_done(),
            "{program} {case}"
        );
    }
}

/// aider asks again by itself after a 429, and its answer then is one. What it gave up on is none, also
/// after an answer.
#[test]
fn an_answer_after_a_limit_is_an_answer() {
    let limited = printed("aider", "error429");
    let (tries, _) = limited.split_once("Retrying in 0.5").unwrap();
    let answer = "VERDICT: PASS\n\nTokens: 100 sent, 20 received.\n";
    let output = format!("{tries}Retrying in 0.5 seconds...\n\n{answer}");
    assert!(ended("aider", &output).is_success());
    for output in [limited.clone(), format!("{answer}{tries}")] {
        let Ended::Failed { trouble, .. } = ended("aider", &output) else {
            panic!("{output}");
        };
        assert_eq!(trouble, Trouble::RateLimit);
    }
    let refused = printed("aider", "error401");
    for output in [format!("{refused}{answer}"), format!("{answer}{refused}")] {
        assert!(!ended("aider", &output).is_success(), "{output}");
    }
}

/// A key goes before a message is cut: half of one would be found by nobody.
#[test]
fn no_half_of_a_key_stands_where_a_message_is_cut() {
    const KEY: &str = "sk-0123456789";
    let ours: Variables = [("A_KEY".into(), KEY.into())].into();
    let secrets = Secrets::named(&["A_KEY".to_owned()], &ours);
    for before in 280..=305 {
        let words = format!("{}{KEY} was refused", "x".repeat(before));
        let line = format!(
            r#"{{"type":"result","subtype":"success","is_error":true,"result":"{words}"}}"#
        );
        let account = Account::of(Stream::Claude, line.as_bytes());
        let exited = Ended::Exited { code: 1 };
        for (account, stderr) in [
            (&account, ""),
            (&Account::new(Stream::Claude), words.as_str()),
        ] {
            let ended = outcome::ended(
                &profile("claude"),
                exited.clone(),
                account,
                stderr,
                &secrets,
            );
            let Ended::Failed { message, .. } = ended else {
                panic!("{ended:?}");
            };
            assert!(!message.contains("sk-0"), "{before}: {message}");
        }
    }
}

/// aider rounds from a thousand tokens on. A line whose numbers are none of its is a line of an answer.
#[test]
fn thousands_of_aiders_tokens_are_read() {
    let told = |line: &str| {
        let spent = Account::of(Stream::Aider, line.as_bytes()).spent();
        spent.usage.and_then(|usage| usage.input.zip(usage.output))
    };
    for (line, tokens) in [
        ("Tokens: 999 sent, 20 received.", Some((999, 20))),
        ("Tokens: 1.2k sent, 345 received.", Some((1200, 345))),
        (
            "Tokens: 12k sent, 1.0k cache hit, 2.5k received. Cost: $0.01 message, $0.02 session.",
            Some((12_000, 2500)),
        ),
        ("Tokens: 1.25k sent, 345 received.", None),
        ("Tokens: k sent, 345 received.", None),
        ("Tokens: 99999999999999999999k sent, 5 received.", None),
    ] {
        assert_eq!(told(line), tokens, "{line}");
    }
}

/// copilot's own end with another exit code is no missing one.
#[test]
fn an_end_event_that_tells_a_failure_is_told() {
    let line = r#"{"type":"result","sessionId":"s","exitCode":3}"#;
    let Ended::Failed { message, .. } = ended("copilot", line) else {
        panic!("{line}");
    };
    assert_eq!(message, "its result says exit code 3");
}

/// gemini that stopped itself says so in an error, and success then.
#[test]
fn gemini_that_stopped_itself_has_not_succeeded() {
    for (severity, message, wanted) in [
        (
            "warning",
            "Loop detected, stopping execution",
            Trouble::Limit,
        ),
        ("error", "Maximum session turns exceeded", Trouble::Limit),
        ("warning", "Agent execution blocked: no", Trouble::Denied),
        ("error", "Something else", Trouble::Unfinished),
    ] {
        let output = format!(
            "{{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"Half a\"}}\n\
             {{\"type\":\"error\",\"severity\":\"{severity}\",\"message\":\"{message}\"}}\n\
             {{\"type\":\"result\",\"status\":\"success\",\"stats\":{{}}}}\n"
        );
        let Ended::Failed { trouble, .. } = ended("gemini", &output) else {
            panic!("{output}");
        };
        assert_eq!(trouble, wanted);
    }
    let warned = "{\"type\":\"error\",\"severity\":\"warning\",\"message\":\"slow\"}\n\
                  {\"type\":\"message\",\"role\":\"assistant\",\"content\":\"Yes\"}\n\
                  {\"type\":\"result\",\"status\":\"success\",\"stats\":{}}\n";
    assert!(ended("gemini", warned).is_success());
}

/// aider asks again after many errors, and what it then says is an answer; it gives up on its edits without
/// one.
#[test]
fn what_aider_asks_again_after_is_no_end() {
    let answer = "litellm.BadGatewayError: 502\nRetrying in 0.2 seconds...\nYes.\n\
                  Tokens: 100 sent, 20 received.\n";
    assert!(ended("aider", answer).is_success());
    let gave_up = "Tokens: 100 sent, 20 received.\nOnly 3 reflections allowed, stopping.\n";
    assert!(!ended("aider", gave_up).is_success());
}

/// claude tells a success also where its model refused, or its answer was cut.
#[test]
fn a_success_that_was_cut_is_none() {
    for (reason, wanted) in [
        ("\"max_tokens\"", Some(Trouble::Limit)),
        ("\"refusal\"", Some(Trouble::Request)),
        ("\"pause_turn\"", Some(Trouble::Unfinished)),
        ("\"end_turn\"", None),
        ("\"tool_use\"", None),
        ("null", None),
    ] {
        let line = format!(
            "{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\
             \"stop_reason\":{reason},\"result\":\"Half of the answ\"}}"
        );
        let ended = ended("claude", &line);
        let told = match &ended {
            Ended::Failed { trouble, .. } => Some(*trouble),
            Ended::Exited { .. }
            | Ended::Signalled { .. }
            | Ended::TimedOut
            | Ended::Stopped
            | Ended::NotStarted { .. }
            | Ended::Lost
            | Ended::Interrupted => None,
        };
        assert_eq!(told, wanted, "{reason}");
        assert_eq!(ended.is_success(), wanted.is_none());
    }
}
