//! Which of what the programs print is an answer: the last message, if it is whole.

use run_loop::agent::adapter::account::Account;
use run_loop::agent::adapter::outcome;
use run_loop::agent::redact::Secrets;
use run_loop::domain::job::Ended;
use run_loop::domain::profile::Stream;

use crate::recorded::{printed, profile, recorded};

/// How a program of this profile ended that printed this and exited with 0.
pub(crate) fn ended(program: &str, output: &str) -> Ended {
    let profile = profile(program);
    let account = Account::of(profile.stream, output.as_bytes());
    let exited = Ended::Exited { code: 0 };
    outcome::ended(&profile, exited, &account, "", &Secrets::default())
}

/// The final message is the last one, without what was said before a tool was used.
#[test]
fn the_final_message_is_the_last() {
    for program in ["codex", "claude", "gemini", "opencode", "qwen", "copilot"] {
        let answer = recorded(program, "tool").answer();
        assert_eq!(answer, "Made the file.", "{program}");
    }
}

/// Output that stops within a line, or is no JSON at all, is no success.
#[test]
fn damaged_output_is_no_success() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/agents/transcripts");
    for (program, stream) in [
        ("codex", Stream::Codex),
        ("claude", Stream::Claude),
        ("gemini", Stream::Gemini),
        ("opencode", Stream::Opencode),
        ("copilot", Stream::Copilot),
    ] {
        let bytes = std::fs::read(root.join(program).join("text.stdout")).unwrap();
        assert!(Account::of(stream, &bytes).is_done(), "{program}");
        let end = bytes.trim_ascii_end().len();
        for cut in [0, end / 2, end - 1] {
            assert!(
                !Account::of(stream, &bytes[..cut]).is_done(),
                "{program} {cut}"
            );
        }
        assert!(!Account::of(stream, b"[]\nnull\n\"done\"\n{}\n\xff\xfe").is_done());
    }
}

/// What a torn event said might have been anything: nothing is believed then.
#[test]
fn a_torn_line_is_no_success() {
    for program in [
        "codex",
        "claude",
        "gemini",
        "opencode",
        "qwen",
        "copilot",
        "claude-acp",
        "codex-acp",
        "gemini-acp",
        "opencode-acp",
    ] {
        let output = printed(program, "tool");
        let lines: Vec<&str> = output.lines().collect();
        let whole = Ended::Exited { code: 0 };
        assert_eq!(ended(program, &output), whole, "{program}");
        for (at, line) in lines.iter().enumerate() {
            let mut middle = (0..=line.len() / 2).rev();
            let middle = middle.find(|at| line.is_char_boundary(*at)).unwrap();
            let (head, tail) = line.split_at(middle);
            for torn in [
                head.to_owned(),
                line[..line.len() - 1].to_owned(),
                format!("{head}\n{tail}"),
                format!("{line}{line}"),
            ] {
                let mut lines = lines.clone();
                lines[at] = &torn;
                let ended = ended(program, &lines.join("\n"));
                assert!(!ended.is_success(), "{program}: {torn}");
            }
        }
    }
    // gemini's answer comes in pieces, and this one held the `NOT `.
    let piece = |text: &str| {
        format!(r#"{{"type":"message","role":"assistant","content":"{text}","delta":true}}"#)
    };
    let done = r#"{"type":"result","status":"success"}"#;
    let (said, not, pass) = (piece("VERDICT: "), piece("NOT "), piece("PASS"));
    for torn in [&not[..not.len() - 2], &not[10..]] {
        let output = [&*said, torn, &pass, done].join("\n");
        assert!(!ended("gemini", &output).is_success(), "{torn}");
    }
    // A warning is none, and neither is text that was cut within a character.
    let half = piece("x\\ud83d");
    let output = ["Warning: it is late", &*said, &half, &pass, done].join("\n");
    assert!(ended("gemini", &output).is_success());
}

/// What was said before a tool is no answer of gemini's, and none of an agent that names no messages,
/// also where nothing is said after it.
#[test]
fn what_was_said_before_a_tool_is_no_answer() {
    let gemini = [
        r#"{"type":"message","role":"assistant","content":"VERDICT: PASS","delta":true}"#,
        r#"{"type":"tool_use","tool_name":"read_file","tool_id":"1","parameters":{}}"#,
        r#"{"type":"tool_result","tool_id":"1","status":"success"}"#,
        r#"{"type":"message","role":"assistant","content":"after","delta":true}"#,
        r#"{"type":"result","status":"success"}"#,
    ];
    let acp = [
        r#"{"agent":{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"VERDICT: PASS"}}}}}"#,
        r#"{"agent":{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call","toolCallId":"1","title":"read"}}}}"#,
        r#"{"agent":{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"}}}}"#,
        r#"{"agent":{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"after"}}}}}"#,
        r#"{"agent":{"id":3,"result":{"stopReason":"end_turn"}}}"#,
    ];
    for (stream, lines) in [(Stream::Gemini, gemini), (Stream::Acp, acp)] {
        let said = |lines: &[&str]| {
            let account = Account::of(stream, lines.join("\n").as_bytes());
            assert!(account.is_done());
            account.final_message()
        };
        assert_eq!(said(&lines).as_deref(), Some("after"), "{stream:?}");
        let [before, begun, over, _, done] = lines;
        assert_eq!(said(&[before, begun, over, done]), None, "{stream:?}");
        assert_eq!(said(&[before, begun, done]), None, "{stream:?}");
        let alone = said(&[before, done]);
        assert_eq!(alone.as_deref(), Some("VERDICT: PASS"), "{stream:?}");
    }
    // gemini tells of the end alone where the tool was refused.
    let refused = [gemini[0], gemini[2], gemini[4]].join("\n");
    let account = Account::of(Stream::Gemini, refused.as_bytes());
    assert_eq!(account.final_message(), None);
}

/// A turn that began and did not end is not done, whatever an earlier one said.
#[test]
fn a_later_turn_that_does_not_end_is_not_done() {
    for (program, begins) in [
        ("opencode", r#"{"type":"step_start","sessionID":"s"}"#),
        ("codex", r#"{"type":"turn.started"}"#),
        (
            "claude",
            r#"{"type":"system","subtype":"init","session_id":"s"}"#,
        ),
        (
            "qwen",
            r#"{"type":"system","subtype":"init","session_id":"s"}"#,
        ),
    ] {
        let output = printed(program, "text");
        assert!(ended(program, &output).is_success(), "{program}");
        let output = format!("{}\n{begins}\n", output.trim_end());
        assert!(!ended(program, &output).is_success(), "{program}");
    }
    // claude's second turn of a background task, without its result.
    let output = printed("claude", "background-bash");
    let (first, _) = output.trim_end().rsplit_once('\n').unwrap();
    assert!(!ended("claude", first).is_success());
}

/// A message, the use of a tool and the end of a turn, as a program prints them.
struct Turn {
    stream: Stream,
    begun: &'static str,
    said: &'static str,
    tool: &'static str,
    done: &'static str,
}

const TURNS: [Turn; 5] = [
    Turn {
        stream: Stream::Codex,
        begun: r#"{"type":"turn.started"}"#,
        said: r#"{"type":"item.completed","item":{"type":"agent_message","text":"SAID"}}"#,
        tool: r#"{"type":"item.started","item":{"type":"command_execution","command":"ls"}}"#,
        done: r#"{"type":"turn.completed"}"#,
    },
    Turn {
        stream: Stream::Opencode,
        begun: r#"{"type":"step_start"}"#,
        said: r#"{"type":"text","part":{"text":"SAID"}}"#,
        tool: r#"{"type":"tool_use","part":{"tool":"bash","state":{"status":"completed"}}}"#,
        done: r#"{"type":"step_finish","part":{"reason":"stop"}}"#,
    },
    Turn {
        stream: Stream::Copilot,
        begun: r#"{"type":"assistant.turn_start"}"#,
        said: r#"{"type":"assistant.message","data":{"content":"SAID"}}"#,
        tool: r#"{"type":"tool.execution_start","data":{"toolName":"bash"}}"#,
        done: r#"{"type":"result","exitCode":0}"#,
    },
    // Of a program that names its messages, and of one that does not.
    Turn {
        stream: Stream::Acp,
        begun: r#"{"session":{"id":"s"}}"#,
        said: r#"{"agent":{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","messageId":"NAME","content":{"text":"SAID"}}}}}"#,
        tool: r#"{"agent":{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call","title":"ls"}}}}"#,
        done: r#"{"agent":{"result":{"stopReason":"end_turn"}}}"#,
    },
    Turn {
        stream: Stream::Acp,
        begun: r#"{"session":{"id":"s"}}"#,
        said: r#"{"agent":{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"text":"SAID"}}}}}"#,
        // Some tools are told of first when the agent asks whether it may use them.
        tool: r#"{"permission":{"title":"ls","answer":"reject_once"}}"#,
        done: r#"{"agent":{"result":{"stopReason":"end_turn"}}}"#,
    },
];

impl Turn {
    /// The answer of a turn with these messages, each a name and a text, and tools where there is none.
    fn answer(&self, what: &[Option<(&str, &str)>]) -> Option<String> {
        let mut lines = vec![self.begun.to_owned()];
        lines.extend(what.iter().map(|what| match what {
            Some((name, text)) => self.said.replace("NAME", name).replace("SAID", text),
            None => self.tool.to_owned(),
        }));
        lines.push(self.done.to_owned());
        let account = Account::of(self.stream, lines.join("\n").as_bytes());
        assert!(account.is_done(), "{lines:?}");
        account.final_message()
    }
}

/// What was said before the last tool is no answer, whatever its name and whether anything follows; what
/// was said after it is one.
#[test]
fn an_answer_is_what_was_said_after_the_last_tool() {
    let (first, second, tool) = (Some(("m1", "PASS")), Some(("m2", "NOT PASS")), None);
    let on = Some(("m1", "NOT PASS"));
    for turn in TURNS {
        let what = (turn.stream, turn.tool);
        let answer = |what: &[_]| turn.answer(what);
        assert_eq!(answer(&[first]).as_deref(), Some("PASS"), "{what:?}");
        assert_eq!(answer(&[first, tool]), None, "{what:?}");
        assert_eq!(answer(&[first, second, tool, tool]), None, "{what:?}");
        for after in [second, on] {
            let after = [tool, first, tool, after];
            assert_eq!(answer(&after).as_deref(), Some("NOT PASS"), "{what:?}");
        }
    }
}

/// What was said after the last tool is the answer, all of it: a first verdict does not vanish behind a
/// second one. Of an answer in a form the last message is all.
#[test]
fn a_claim_does_not_vanish_behind_a_later_message() {
    let (not, pass) = ("VERDICT: NOT PASS", "VERDICT: PASS");
    for turn in &TURNS[..4] {
        let said = |name: &str, text: &str| turn.said.replace("NAME", name).replace("SAID", text);
        let lines = [
            turn.begun,
            turn.tool,
            &said("m1", not),
            &said("m2", pass),
            turn.done,
        ];
        let account = Account::of(turn.stream, lines.join("\n").as_bytes());
        assert!(account.is_done(), "{lines:?}");
        let both = format!("{not}\n\n{pass}");
        assert_eq!(account.final_message(), Some(both), "{lines:?}");
        assert_eq!(account.last_message().as_deref(), Some(pass), "{lines:?}");
    }
}

/// What claude says beside its result is a part of the answer, and once; what it says or does after that
/// takes the end back.
#[test]
fn what_claude_says_beside_its_result_counts() {
    let said = |text: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    };
    let tool = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Read","input":{}}]}}"#;
    let result = r#"{"type":"result","subtype":"success","is_error":false,"result":"PASS"}"#;
    let account = |lines: &[&str]| Account::of(Stream::Claude, lines.join("\n").as_bytes());
    let (not, pass) = (said("NOT A PASS"), said("PASS"));
    for (lines, answer) in [
        (&[&*not, tool, &pass, result][..], "PASS"),
        (&[&not, &pass, result], "NOT A PASS\n\nPASS"),
        (&[&not, result], "NOT A PASS\n\nPASS"),
    ] {
        let account = account(lines);
        assert!(account.is_done(), "{lines:?}");
        assert_eq!(
            account.final_message().as_deref(),
            Some(answer),
            "{lines:?}"
        );
        assert_eq!(account.last_message().as_deref(), Some("PASS"), "{lines:?}");
    }
    for after in [&*not, tool] {
        assert!(!account(&[&pass, result, after]).is_done(), "{after}");
        assert!(
            account(&[&pass, result, after, result]).is_done(),
            "{after}"
        );
    }
    let unmoved = account(&[&pass, result, &not]);
    assert_eq!(
        unmoved.final_message().as_deref(),
        Some("PASS\n\nNOT A PASS")
    );
}

/// A result that says that all went well and names a failure is none, and neither is an event in a list.
#[test]
fn a_failure_beside_a_success_is_a_failure() {
    let result = |more: &str| {
        format!(r#"{{"type":"result","subtype":"success","is_error":false,"result":"PASS"{more}}}"#)
    };
    for more in [
        r#","terminal_reason":"api_error""#,
        r#","api_error_status":429"#,
        r#","terminal_reason":"max_turns""#,
    ] {
        assert!(!ended("claude", &result(more)).is_success(), "{more}");
    }
    for more in [
        "",
        r#","terminal_reason":"completed","api_error_status":null"#,
    ] {
        assert!(ended("claude", &result(more)).is_success(), "{more}");
    }
    let output = printed("codex", "text");
    let failed = r#"[{"type":"turn.failed","error":{"message":"no"}}]"#;
    let output = format!("{failed}\n{output}");
    assert!(!ended("codex", &output).is_success());
}

/// Of some tools codex tells the end alone. The end of one that it told of may come late.
#[test]
fn the_end_of_a_tool_that_was_told_of_takes_no_answer_back() {
    let [codex, ..] = &TURNS;
    let end = r#"{"type":"item.completed","item":{"type":"file_change","changes":[{"path":"a"}],"status":"completed"}}"#;
    let said = codex.said.replace("SAID", "Done.");
    for (lines, answer) in [
        ([codex.begun, &said, end, codex.done], None),
        ([codex.tool, &said, end, codex.done], Some("Done.")),
    ] {
        let account = Account::of(Stream::Codex, lines.join("\n").as_bytes());
        assert_eq!(account.final_message().as_deref(), answer, "{lines:?}");
    }
}

/// What is no UTF-8 said something else than what can be read of it.
#[test]
fn an_answer_that_cannot_be_read_is_no_success() {
    for turn in &TURNS {
        let said = turn.said.replace("SAID", "v\u{e9}rdict");
        let whole = [turn.begun, &said, turn.done].join("\n").into_bytes();
        let at = whole.windows(2).position(|two| two == [0xc3, 0xa9]);
        let mut damaged = whole.clone();
        damaged.remove(at.unwrap());
        assert!(Account::of(turn.stream, &whole).is_done());
        assert!(!Account::of(turn.stream, &damaged).is_done());
        // A warning of something else is none of its events.
        let warned = [&b"caf\xe9\n"[..], &whole].concat();
        assert!(Account::of(turn.stream, &warned).is_done());
    }
    for stream in [Stream::Text, Stream::Aider] {
        let printed = b"Tokens: 1 sent, 1 received.\nPASS \xe9\n";
        assert!(!Account::of(stream, printed).is_done(), "{stream:?}");
    }
}

/// What an agent says that copilot's own agent asked is no answer of that one, and its tools take none back.
#[test]
fn copilots_other_agents_give_no_answer() {
    let [_, _, copilot, ..] = &TURNS;
    assert_eq!(copilot.stream, Stream::Copilot);
    let of_another = |line: &str, newer: bool| {
        let mark = if newer { r#"{"agentId":"a1","# } else { "{" };
        let line = line.replacen('{', mark, 1);
        let within = if newer {
            ""
        } else {
            r#""parentToolCallId":"t1","#
        };
        line.replace(r#""data":{"#, &format!(r#""data":{{{within}"#))
    };
    let own = copilot.said.replace("SAID", "NOT PASS");
    for newer in [true, false] {
        let other = of_another(&copilot.said.replace("SAID", "PASS"), newer);
        let tool = of_another(copilot.tool, newer);
        for (lines, answer) in [
            (&[copilot.tool, &other][..], None),
            (&[copilot.tool, &other, &own], Some("NOT PASS")),
            (&[copilot.tool, &own, &tool, &other], Some("NOT PASS")),
        ] {
            let output = [&[copilot.begun], lines, &[copilot.done]]
                .concat()
                .join("\n");
            let account = Account::of(Stream::Copilot, output.as_bytes());
            assert!(account.is_done());
            assert_eq!(account.final_message().as_deref(), answer, "{output}");
        }
    }
}
