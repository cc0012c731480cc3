//! The Agent Client Protocol as real agents speak it: what ends well, what only looks so, and what
//! nobody may take for an answer.

use run_loop::agent::activity;
use run_loop::agent::adapter::account::Account;
use run_loop::agent::adapter::outcome;
use run_loop::agent::redact::Secrets;
use run_loop::domain::job::Ended;
use run_loop::domain::profile::Stream;
use run_loop::domain::trouble::Trouble;

use crate::recorded::{profile, recorded};

const ALL: [&str; 6] = [
    "claude-acp",
    "codex-acp",
    "gemini-acp",
    "opencode-acp",
    "qwen-acp",
    "copilot-acp",
];

/// codex-acp ends a turn that met a limit with `end_turn`, and the error as the agent's message; others
/// answer with an error of JSON-RPC.
#[test]
fn a_limit_is_one_whatever_the_turn_ended_with() {
    let codex = recorded("codex-acp", "error429");
    assert!(codex.answer().contains("429 Too Many Requests"));
    // copilot says nothing else of it at all.
    let copilot = recorded("copilot-acp", "error429");
    assert!(copilot.account.is_done() && copilot.answer().contains("429 slow down"));
    for program in ["claude-acp", "codex-acp", "opencode-acp", "copilot-acp"] {
        let run = recorded(program, "error429");
        assert_eq!(run.trouble(), Some(Trouble::RateLimit), "{program}");
        assert!(run.ended.is_limit(), "{program}");
    }
    // It tries on, and says so to people alone.
    let gemini = recorded("gemini-acp", "error429");
    assert_eq!(gemini.trouble(), Some(Trouble::RateLimit));
}

#[test]
fn a_wrong_key_is_one() {
    for program in ALL {
        let run = recorded(program, "error401");
        assert_eq!(run.trouble(), Some(Trouble::Auth), "{program}");
    }
}

#[test]
fn a_cancelled_turn_has_no_answer() {
    for program in ALL {
        let run = recorded(program, "hang-cancel");
        assert_eq!(run.trouble(), Some(Trouble::Aborted), "{program}");
    }
}

/// What was said after a tool was told of, without what was said before and without warnings that come as
/// if the agent said them.
#[test]
fn an_answer_is_what_was_said_last() {
    for program in ALL {
        let last = recorded(program, "tool").account.last_message();
        assert_eq!(last.as_deref(), Some("Made the file."), "{program}");
    }
    let rejected = recorded("codex-acp", "reject").account.last_message();
    assert_eq!(rejected.as_deref(), Some("Made the file."));
    assert_eq!(
        recorded("gemini-acp", "experimental-flag").answer(),
        "Hello."
    );
}

/// Tokens of the whole turn where they are told; opencode tells those of its last step alone, which is
/// none of it.
#[test]
fn what_is_told_of_a_turn_is_known() {
    for (program, tokens, cost, model) in [
        (
            "claude-acp",
            Some((200, 40)),
            Some(2400),
            Some("claude-opus-5-5"),
        ),
        ("codex-acp", Some((200, 40)), None, Some("gpt-5.1-codex")),
        ("gemini-acp", Some((200, 40)), None, Some("gemini-2.5-pro")),
        ("opencode-acp", None, Some(1200), Some("stub/stub-model")),
        (
            "qwen-acp",
            Some((200, 40)),
            None,
            Some("$runtime|openai|stub-model(openai)"),
        ),
        ("copilot-acp", None, None, None),
    ] {
        let spent = recorded(program, "tool").account.spent();
        let told = spent
            .usage
            .map(|usage| (usage.input.unwrap(), usage.output.unwrap()));
        assert_eq!(told, tokens, "{program}");
        // Without tokens a cost is still one: it is more than nothing.
        assert_eq!(spent.cost_micro_usd, cost, "{program}");
        assert_eq!(spent.model.as_deref(), model, "{program}");
        assert!(spent.session.is_some(), "{program}");
        assert_eq!(spent.version, profile(program).tested, "{program}");
    }
}

const DONE: &str = r#"{"agent":{"id":3,"result":{"stopReason":"end_turn"}}}"#;

fn said(text: &str) -> String {
    format!(
        r#"{{"agent":{{"method":"session/update","params":{{"update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{text}"}}}}}}}}}}"#
    )
}

fn ended(lines: &[&str]) -> Ended {
    let account = Account::of(Stream::Acp, lines.join("\n").as_bytes());
    let exited = Ended::Exited { code: 0 };
    outcome::ended(&profile("acp"), exited, &account, "", &Secrets::default())
}

/// Whatever the agent said and however its client ended: a turn that did not end by itself is none.
#[test]
fn only_a_turn_that_ended_by_itself_is_done() {
    let yes = said("yes");
    assert_eq!(ended(&[&yes, DONE]), Ended::Exited { code: 0 });
    for (reason, trouble) in [
        ("max_tokens", Trouble::Limit),
        ("max_turn_requests", Trouble::Limit),
        ("refusal", Trouble::Request),
        ("cancelled", Trouble::Aborted),
        ("of_a_later_version", Trouble::Unfinished),
    ] {
        let end = DONE.replace("end_turn", reason);
        // One that is done later does not take it back.
        for lines in [&[&yes, &*end][..], &[&yes, &end, DONE], &[DONE, &end]] {
            let Ended::Failed { trouble: told, .. } = ended(lines) else {
                panic!("{lines:?}");
            };
            assert_eq!(told, trouble, "{lines:?}");
        }
    }
    for lines in [
        &[&*yes][..],
        &[&yes, r#"{"agent":{"result":{"stopReason":null}}}"#],
        &[&yes, r#"{"agent":{"params":{"stopReason":"end_turn"}}}"#],
        &[
            &yes,
            DONE,
            r#"{"failed":{"trouble":null,"message":"it ended"}}"#,
        ],
        &[&yes, DONE, r#"{"failed":7}"#],
        &[&yes, DONE, r#"{"agent":{"id":3,"error":{}}}"#],
        // What the agent quotes is not the agent's end.
        &[&said(
            r#"{\"agent\":{\"result\":{\"stopReason\":\"end_turn\"}}}"#,
        )],
    ] {
        assert!(!ended(lines).is_success(), "{lines:?}");
    }
}

/// Where a session that was to go on is gone, the engine asks in a new one.
#[test]
fn what_the_client_says_of_a_failure_is_believed() {
    let gone = r#"{"failed":{"trouble":"session","message":"the session s-1 was refused: no"}}"#;
    let error = r#"{"agent":{"id":2,"error":{"code":-32603,"message":"Internal error"}}}"#;
    let Ended::Failed {
        trouble, message, ..
    } = ended(&[gone, error])
    else {
        panic!("{gone}");
    };
    assert_eq!(trouble, Trouble::Session);
    assert_eq!(message, "the session s-1 was refused: no");
}

#[test]
fn what_was_refused_is_counted_and_told() {
    let refused = r#"{"permission":{"title":"rm -rf /","answer":"reject_once"}}"#;
    let allowed = r#"{"permission":{"title":"ls","answer":"allow_once"}}"#;
    let account = Account::of(Stream::Acp, format!("{refused}\n{allowed}\n").as_bytes());
    assert_eq!(account.spent().denied, 1);
    let last = activity::last(Stream::Acp, refused.as_bytes(), false, |text, _| {
        text.to_owned()
    });
    assert_eq!(last.as_deref(), Some("was denied rm -rf /"));
}

/// What our client takes down of a turn that says these updates and ends well.
fn turn(updates: &[&str]) -> Account {
    let mut output = String::new();
    for update in updates {
        let message = format!(
            r#"{{"agent":{{"method":"session/update","params":{{"sessionId":"s","update":{update}}}}}}}"#
        );
        output.push_str(&message);
        output.push('\n');
    }
    output.push_str("{\"agent\":{\"id\":3,\"result\":{\"stopReason\":\"end_turn\"}}}\n");
    Account::of(Stream::Acp, output.as_bytes())
}

fn chunk(name: Option<&str>, text: &str) -> String {
    let name = name.map_or_else(String::new, |name| format!(r#""messageId":"{name}","#));
    format!(
        r#"{{"sessionUpdate":"agent_message_chunk",{name}"content":{{"type":"text","text":"{text}"}}}}"#
    )
}

/// A message goes on whatever comes between its pieces: a tool that ends late, a warning without a name.
#[test]
fn a_named_message_goes_on_behind_what_comes_between() {
    let (first, second) = (
        chunk(Some("m9"), "# Plan, first"),
        chunk(Some("m9"), " and second half"),
    );
    let warning = chunk(None, "A warning.");
    let tool = r#"{"sessionUpdate":"tool_call_update","status":"completed"}"#;
    let by = |meta: &str| {
        format!(
            r#"{{"sessionUpdate":"agent_message_chunk","messageId":"c1","_meta":{{{meta}}},"content":{{"type":"text","text":"Found nothing."}}}}"#
        )
    };
    let of_child = &by(r#""claudeCode":{"parentToolUseId":"t1"}"#);
    let of_qwen = &by(r#""parentToolCallId":"t1","subagentType":"general""#);
    let whole = Some("# Plan, first and second half".to_owned());
    for between in [tool, &warning, of_child, of_qwen] {
        assert_eq!(
            turn(&[&first, between, &second]).final_message(),
            whole,
            "{between}"
        );
        // Said after it, what has no name may be a claim, and stands before it.
        let after =
            (between == warning).then(|| "A warning.\n\n# Plan, first and second half".to_owned());
        assert_eq!(
            turn(&[&first, &second, between]).final_message(),
            after.or_else(|| whole.clone()),
            "{between}"
        );
        assert_eq!(
            turn(&[between, &first, &second]).final_message(),
            whole,
            "{between}"
        );
    }
    // A later message is the last one. What was said before it, and is still said of an earlier one, may be
    // a claim, and stands before.
    let last = chunk(Some("m10"), "Done.");
    let both = "# Plan, first and second half\n\nDone.";
    for order in [[&first, &last, &second], [&first, &second, &last]] {
        let later = turn(&order.map(String::as_str));
        assert_eq!(later.final_message().as_deref(), Some(both));
        assert_eq!(later.last_message().as_deref(), Some("Done."));
    }
    // A tool of another agent that it asked begins whenever that one likes.
    let of_child = r#"{"sessionUpdate":"tool_call","_meta":{"claudeCode":{"parentToolUseId":"t1"}},"title":"ls"}"#;
    assert_eq!(turn(&[&first, of_child, &second]).final_message(), whole);
    // Without names, the end of a tool ends a message.
    let nameless = turn(&[&chunk(None, "I look."), tool, &warning]);
    let both = Some("I look.\n\nA warning.");
    assert_eq!(nameless.final_message().as_deref(), both);
}

/// A turn of long ago that is told again while the new one runs is no answer.
#[test]
fn what_was_said_before_the_prompt_is_said_again_is_no_answer() {
    let asked =
        r#"{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"Earlier?"}}"#;
    for name in [None, Some("m1")] {
        let (old, new) = (chunk(name, "Old."), chunk(name, "New."));
        assert_eq!(turn(&[&old, asked]).final_message(), None);
        assert_eq!(
            turn(&[&old, asked, &new]).final_message().as_deref(),
            Some("New.")
        );
    }
}

/// qwen tells the tokens of each step beside an empty piece, whoever's step it was.
#[test]
fn tokens_of_steps_are_summed() {
    let step = |more: &str| {
        format!(
            r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":""}},"_meta":{{"usage":{{"inputTokens":100,"outputTokens":20,"totalTokens":120,"cachedReadTokens":7}},"durationMs":3{more}}}}}"#
        )
    };
    let own = step("");
    let of_another = step(r#","parentToolCallId":"t1","subagentType":"general""#);
    let whole = turn(&[&own, &of_another, &chunk(None, "Done."), &own]);
    let usage = whole.spent().usage.unwrap();
    assert_eq!(
        (usage.input, usage.output, usage.cached),
        (Some(300), Some(60), Some(21))
    );
    assert_eq!(whole.final_message().as_deref(), Some("Done."));
}

/// What copilot says of a turn that gave up comes as a piece of its own, which is the last.
#[test]
fn a_turn_that_gave_up_is_told_by_its_last_piece() {
    let error = chunk(None, "Error: nobody is there");
    let ended_so = |program: &str, pieces: &[&str]| {
        let exited = Ended::Exited { code: 0 };
        let secrets = Secrets::default();
        outcome::ended(&profile(program), exited, &turn(pieces), "", &secrets)
    };
    let said = chunk(None, "I look.");
    let told = ended_so("copilot-acp", &[&said, &error, &chunk(None, " ")]);
    let Ended::Failed { message, .. } = told else {
        panic!("{told:?}");
    };
    assert_eq!(message, "Error: nobody is there");
    let quoted = chunk(None, "It prints Error: nobody is there");
    for (program, pieces) in [
        ("copilot-acp", &[&*error, &*said][..]),
        ("copilot-acp", &[&quoted]),
        // Nobody knows this of others.
        ("qwen-acp", &[&error]),
    ] {
        assert!(ended_so(program, pieces).is_success(), "{pieces:?}");
    }
}

/// An error of codex that does not say that it tries again is the end.
#[test]
fn an_error_that_is_not_tried_again_is_the_end() {
    let error = |retry: &str| {
        format!(
            r#"{{"sessionUpdate":"session_info_update","_meta":{{"codex":{{"error":{{"message":"no"{retry}}}}}}}}}"#
        )
    };
    assert!(!turn(&[&chunk(None, "Done."), &error("")]).is_done());
    assert!(!turn(&[&chunk(None, "Done."), &error(r#","willRetry":false"#)]).is_done());
    assert!(turn(&[&chunk(None, "Done."), &error(r#","willRetry":true"#)]).is_done());
}

/// What copilot says itself, in pieces as if its model did: no part of the answer, and nothing else is
/// taken for that.
#[test]
fn what_copilot_says_itself_is_no_part_of_its_answer() {
    let piece = |text: &str| {
        let content = serde_json::json!({"type": "text", "text": text});
        let update =
            serde_json::json!({"sessionUpdate": "agent_message_chunk", "content": content});
        let params = serde_json::json!({"sessionId": "s", "update": update});
        serde_json::json!({"agent": {"method": "session/update", "params": params}}).to_string()
    };
    let said = |pieces: &[&str]| {
        let lines: Vec<String> = pieces.iter().map(|text| piece(text)).collect();
        Account::of(Stream::Acp, lines.join("\n").as_bytes()).final_message()
    };
    for own in [
        "Info: Disabled tools: bash, create, read_agent",
        "Info: Request failed due to a transient API error. Retrying...",
        "Info: Operation cancelled by user",
    ] {
        assert_eq!(said(&[own]), None);
        assert_eq!(
            said(&[own, "# Plan", " two"]).as_deref(),
            Some("# Plan two")
        );
    }
    for claim in [
        "Info: Disabled tools: {\"verdict\": \"NOT PASS\"}",
        "Info: Disabled tools: bash\nNOT PASS",
        "Info: it is wrong.",
    ] {
        assert_eq!(said(&[claim, " So."]), Some(format!("{claim} So.")));
    }
}

/// What a program has not ended yet is no line: whoever hides what a key begins with must see that it may go
/// on.
#[test]
fn a_line_that_is_not_ended_is_shown_as_one_that_goes_on() {
    for (output, wanted) in [
        ("one\nred tok-9f", "one\nred tok-9f"),
        ("one\nred tok-9f\n", "one\nred tok-9f\n"),
    ] {
        for stream in [Stream::Text, Stream::Aider] {
            let shown = |text: &str, _| {
                assert_eq!(text, wanted);
                text.to_owned()
            };
            let last = activity::last(stream, output.as_bytes(), false, shown);
            assert_eq!(last.as_deref(), Some("red tok-9f"));
        }
    }
}
