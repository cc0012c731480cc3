//! What a program was at when our clock ended it: refused by its provider until then, or something else.

use run_loop::domain::job::Ended;
use run_loop::domain::trouble::Trouble;

use crate::recorded::{printed, read_so};

/// What our client takes down when it is told to stop: the turn is cancelled, its agent goes, or what it
/// said was torn.
const CANCELLED: &str = r#"{"agent":{"id":3,"result":{"stopReason":"cancelled"}}}
{"failed":{"message":"it was told to stop","trouble":"aborted"}}
"#;
const GONE: &str = r#"{"failed":{"message":"it ended before its turn did","trouble":"unfinished"}}
"#;

/// How copilot ends where it is told to.
const ABORTED: &str = r#"{"type":"abort","data":{"reason":"user_abort"}}
{"type":"assistant.idle","data":{"aborted":true}}
"#;

/// A 401 or a 429 that is tried again for minutes ends by our clock, and is told as what it is.
#[test]
fn what_is_tried_again_until_the_clock_ends_it_is_told() {
    let (auth, limit) = (Some(Trouble::Auth), Some(Trouble::RateLimit));
    for (program, case, before, wanted) in [
        ("claude", "error401", "\"assistant\"", auth),
        ("claude", "error429-retries2", "\"assistant\"", limit),
        ("codex", "error401", "turn.failed", auth),
        ("codex", "error429", "turn.failed", limit),
        // These say it to people alone.
        ("qwen", "error429", "", limit),
        ("gemini", "error429", "", limit),
        ("gemini-acp", "error429", "", limit),
        ("aider", "error429", "", limit),
        // Who failed is another matter: with more time it might have gone well.
        ("claude", "error500-retries2", "\"assistant\"", None),
        ("copilot", "error401", "session.error", auth),
        ("copilot", "error429", "session.error", limit),
        ("codex-acp", "error429", "systemError", limit),
        ("claude", "hang-sigterm", "", None),
        ("gemini", "hang-sigterm", "", None),
        ("qwen", "hang-sigterm", "", None),
    ] {
        let whole = printed(program, case);
        let cut = if before.is_empty() {
            &*whole
        } else {
            whole.split_once(before).unwrap().0
        };
        let cut = cut.rsplit_once('\n').map_or("", |(lines, _)| lines);
        let ends: &[&str] = match program {
            "copilot" => &["", ABORTED],
            "codex-acp" | "gemini-acp" => &["", CANCELLED, GONE],
            _ => &[""],
        };
        // Ended in the middle of a line, too.
        for end in ends.iter().chain([&"{\"half a li"]) {
            let printed = format!("{cut}\n{end}");
            let run = read_so(program, case, &printed, Ended::TimedOut);
            assert_eq!(run.trouble(), wanted, "{program} {case}: {:?}", run.ended);
            if wanted.is_none() {
                assert_eq!(run.ended, Ended::TimedOut);
            } else if let Ended::Failed { code, message, .. } = run.ended {
                assert!(code == 143 && message.ends_with("until its budget was spent"));
            }
        }
    }
    // claude-acp hands on what its claude says of it, since its profile asks for that.
    for (status, name, wanted) in [
        (401, "authentication_failed", auth),
        (429, "rate_limit", limit),
        (529, "overloaded", None),
    ] {
        let told = format!(
            r#"{{"agent":{{"method":"_claude/sdkMessage","params":{{"sessionId":"s","message":{{"type":"system","subtype":"api_retry","attempt":3,"error_status":{status},"error":"{name}"}}}}}}}}"#
        );
        for end in ["", CANCELLED, GONE] {
            let run = read_so(
                "claude-acp",
                "tool",
                &format!("{told}\n{end}"),
                Ended::TimedOut,
            );
            assert_eq!(run.trouble(), wanted, "{status}: {:?}", run.ended);
        }
    }
    // After an answer nobody knows what was said to people when.
    let answered = format!("{}{}", printed("qwen", "text"), printed("qwen", "error429"));
    let run = read_so("qwen", "error429", &answered, Ended::TimedOut);
    assert_eq!(run.ended, Ended::TimedOut);
    // A limit that it got over is none.
    let over = printed("claude", "error429-once");
    let run = read_so("claude", "error429-once", &over, Ended::TimedOut);
    assert_eq!(run.ended, Ended::TimedOut);
}

/// A model that thinks is refused no more, though it says nothing yet: more time may have been enough.
#[test]
fn a_model_that_thinks_is_not_refused() {
    let update = |update: &str| {
        format!(r#"{{"agent":{{"method":"session/update","params":{{"update":{update}}}}}}}"#)
    };
    let thought =
        r#"{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"So."}}"#;
    for (program, case, before, thinks) in [
        (
            "claude",
            "error429-retries2",
            "\"assistant\"",
            r#"{"type":"system","subtype":"thinking_tokens","estimated_tokens":9}"#.to_owned(),
        ),
        (
            "claude",
            "error429-retries2",
            "\"assistant\"",
            r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"So."}]}}"#
                .to_owned(),
        ),
        (
            "codex",
            "error429",
            "turn.failed",
            r#"{"type":"item.completed","item":{"type":"reasoning","text":"So."}}"#.to_owned(),
        ),
        (
            "copilot",
            "error429",
            "session.error",
            r#"{"type":"assistant.reasoning","data":{"content":"So."}}"#.to_owned(),
        ),
        ("codex-acp", "error429", "systemError", update(thought)),
        // It says to people alone that it was refused, and not when.
        ("gemini-acp", "error429", "", update(thought)),
    ] {
        let whole = printed(program, case);
        let cut = if before.is_empty() {
            &*whole
        } else {
            whole.split_once(before).unwrap().0
        };
        let cut = cut.rsplit_once('\n').map_or("", |(lines, _)| lines);
        let refused = read_so(program, case, cut, Ended::TimedOut);
        assert_eq!(refused.trouble(), Some(Trouble::RateLimit), "{program}");
        let run = read_so(
            program,
            case,
            &format!("{cut}\n{thinks}\n"),
            Ended::TimedOut,
        );
        assert_eq!(run.ended, Ended::TimedOut, "{program}: {thinks}");
        // A thought is no part of an answer.
        assert_eq!(run.answer(), refused.answer(), "{program}");
    }
}
