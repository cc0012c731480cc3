//! What our client of the Agent Client Protocol takes down (`agent::acp`): each message of the agent as
//! it came, and what the client itself did.

use serde_json::Value;

use crate::agent::adapter::{Event, claude, micro_usd, number, text, text_or_empty};
use crate::domain::spent::Usage;
use crate::domain::trouble::Trouble;

/// Reads one line.
pub(super) fn read(value: &Value, events: &mut Vec<Event>) {
    if let Some(message) = value.get("agent") {
        said(message, events);
    }
    if let Some(id) = text(value, "/session/id") {
        events.push(session(id, None));
    }
    if let Some(answer) = text(value, "/permission/answer") {
        let name = text_or_empty(value, "/permission/title");
        // It may be the first that is told of the tool.
        events.push(Event::ToolStart {
            name: name.clone(),
            detail: String::new(),
            by_another: false,
        });
        if !answer.starts_with("allow") {
            events.push(Event::Denied { name });
        }
    }
    if let Some(failed) = value.get("failed") {
        let trouble = failed.get("trouble").cloned().unwrap_or_default();
        events.push(Event::Error {
            trouble: serde_json::from_value(trouble).ok(),
            message: text(failed, "/message").unwrap_or_else(|| "it failed".to_owned()),
            fatal: true,
        });
    }
}

/// What the agent said: the answer to a request of the client's, or what happens in the session.
fn said(message: &Value, events: &mut Vec<Event>) {
    if text_or_empty(message, "/method") == "session/update"
        && let Some(update) = message.pointer("/params/update")
    {
        happened(update, events);
    }
    // What its claude says, as far as its profile asks for it.
    if text_or_empty(message, "/method") == "_claude/sdkMessage"
        && let Some(said) = message.pointer("/params/message")
        && text_or_empty(said, "/subtype") == "api_retry"
    {
        events.push(claude::tries_again(said));
    }
    if let Some(error) = message.get("error").filter(|error| !error.is_null()) {
        events.push(Event::Error {
            trouble: trouble_of(error),
            message: words_of(error),
            fatal: true,
        });
    }
    let Some(result) = message.get("result") else {
        return;
    };
    if let Some(version) = text(result, "/agentInfo/version") {
        events.push(Event::Version { version });
    }
    if let Some(id) = text(result, "/sessionId") {
        events.push(session(id, model_of(result)));
    }
    if let Some(reason) = text(result, "/stopReason") {
        ended(&reason, result, events);
    }
}

fn session(id: String, model: Option<String>) -> Event {
    Event::Session {
        id,
        model,
        version: None,
        directory: None,
    }
}

/// The model of a new session.
fn model_of(result: &Value) -> Option<String> {
    let options = result.get("configOptions").and_then(Value::as_array);
    let chosen = options.into_iter().flatten().find_map(|option| {
        let is_model = text_or_empty(option, "/id") == "model";
        text(option, "/currentValue").filter(|_| is_model)
    });
    chosen.or_else(|| text(result, "/models/currentModelId"))
}

/// The end of the turn. What is no end is none: a turn that was refused, cut off or cancelled has no
/// answer, whatever was said in it.
fn ended(reason: &str, result: &Value, events: &mut Vec<Event>) {
    if let Some(usage) = used(result) {
        events.push(Event::Used { usage, more: false });
    }
    let models = result.pointer("/_meta/quota/model_usage");
    let models = models.and_then(Value::as_array).into_iter().flatten();
    let names: Vec<String> = models.filter_map(|one| text(one, "/model")).collect();
    if !names.is_empty() {
        events.push(Event::Models {
            names: names.join(", "),
        });
    }
    let trouble = match reason {
        "end_turn" => None,
        "cancelled" => Some(Trouble::Aborted),
        "refusal" => Some(Trouble::Request),
        "max_tokens" | "max_turn_requests" => Some(Trouble::Limit),
        _ => Some(Trouble::Unfinished),
    };
    if trouble.is_some() {
        events.push(Event::Error {
            trouble,
            message: format!("its turn ended with {reason}"),
            fatal: true,
        });
    }
    events.push(Event::Result {
        success: trouble.is_none(),
        text: None,
    });
}

/// The tokens of the turn. The protocol's own count is of the turn with one agent, of its last step
/// with another and of the session by its text: only what an agent tells beside it is believed.
fn used(result: &Value) -> Option<Usage> {
    result.pointer("/_meta/quota/token_count").map(counted)
}

/// A count, by the names that agents have for it.
fn counted(count: &Value) -> Usage {
    let of = |names: &[&str]| {
        let mut names = names.iter();
        names.find_map(|name| number(count, &format!("/{name}")))
    };
    Usage {
        input: of(&["inputTokens", "input_tokens"]),
        output: of(&["outputTokens", "output_tokens"]),
        cached: of(&[
            "cachedInputTokens",
            "cached_input_tokens",
            "cachedReadTokens",
        ]),
        cache_write: of(&["cachedWriteTokens", "cacheWriteInputTokens"]),
        reasoning: of(&["reasoningOutputTokens", "thoughtTokens"]),
    }
}

fn happened(update: &Value, events: &mut Vec<Event>) {
    match text_or_empty(update, "/sessionUpdate").as_str() {
        // An old turn that is told again, perhaps while the new one runs.
        "user_message_chunk" => events.push(Event::Asked),
        "agent_message_chunk" => {
            // qwen tells the tokens of each step, those of agents that it asked among them.
            if let Some(count) = update.pointer("/_meta/usage") {
                let usage = counted(count);
                events.push(Event::Used { usage, more: true });
            }
            // The message of another is no answer of this one's.
            let said = text(update, "/content/text").filter(|_| !is_of_another(update));
            if let Some(said) = said {
                events.push(if is_of_copilot(&said) {
                    Event::Raw { text: said }
                } else {
                    Event::Piece {
                        of: text(update, "/messageId"),
                        text: said,
                    }
                });
            }
        }
        "agent_thought_chunk" => events.push(Event::Thought),
        "tool_call" => {
            let detail = ["command", "file_path", "filePath", "path", "pattern"]
                .iter()
                .find_map(|key| text(update, &format!("/rawInput/{key}")));
            events.push(Event::ToolStart {
                name: text_or_empty(update, "/title"),
                detail: detail.unwrap_or_default(),
                by_another: is_of_another(update),
            });
        }
        "tool_call_update" => match text_or_empty(update, "/status").as_str() {
            "completed" => events.push(Event::ToolEnd { failed: false }),
            "failed" => events.push(Event::ToolEnd { failed: true }),
            _ => {}
        },
        "usage_update" if text_or_empty(update, "/cost/currency") == "USD" => {
            if let Some(micro_usd) = micro_usd(update, "/cost/amount") {
                events.push(Event::Cost {
                    micro_usd,
                    more: false,
                });
            }
        }
        "session_info_update" => codex(update, events),
        _ => {}
    }
}

/// Which text a piece belongs to, where this is one: those are told apart as they are read, since whoever
/// reads them leaves out what another one says between them.
pub(super) fn piece_of(update: &Value) -> Option<String> {
    let said = text(update, "/content/text")?;
    let by = if is_of_copilot(&said) {
        "copilot".to_owned()
    } else {
        ASKED_BY.map(|place| text_or_empty(update, place)).concat()
    };
    let named = ["/sessionUpdate", "/messageId"].map(|name| text_or_empty(update, name));
    Some(format!("{} {by}", named.join(" ")))
}

/// Where claude-agent-acp and qwen tell of which tool an agent is at work.
const ASKED_BY: [&str; 2] = [
    "/_meta/claudeCode/parentToolUseId",
    "/_meta/parentToolCallId",
];

/// Whether an agent says or does it that the agent asked.
fn is_of_another(update: &Value) -> bool {
    let told = |place: &&str| update.pointer(place).is_some_and(|asked| !asked.is_null());
    ASKED_BY.iter().any(told)
}

/// Whether this is what copilot says itself as if its model did, in a piece of its own. No claim has room in
/// it, should a model ever say it.
fn is_of_copilot(said: &str) -> bool {
    let is_name = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-, ".contains(&b);
    let tools = said.strip_prefix("Info: Disabled tools: ");
    tools.is_some_and(|tools| tools.bytes().all(is_name))
        || said == "Info: Request failed due to a transient API error. Retrying..."
        // A tool was refused to it, and its turn is over.
        || said == "Info: Operation cancelled by user"
}

/// What codex-acp tells beside the protocol: a turn that gave up ends as if it were done, with the
/// error as the agent's message.
fn codex(update: &Value, events: &mut Vec<Event>) {
    if let Some(error) = update.pointer("/_meta/codex/error") {
        let info = error.get("codexErrorInfo").and_then(Value::as_object);
        let status =
            info.and_then(|info| info.values().find_map(|one| number(one, "/httpStatusCode")));
        let words = ["/message", "/additionalDetails"].map(|place| text(error, place));
        let words: Vec<String> = words.into_iter().flatten().collect();
        let tries_again = error.get("willRetry").and_then(Value::as_bool);
        events.push(Event::Error {
            trouble: status.map(Trouble::of_status),
            message: words.join(": "),
            fatal: tries_again != Some(true),
        });
    }
    if text_or_empty(update, "/_meta/codex/threadStatus/type") == "systemError" {
        events.push(Event::Error {
            trouble: None,
            message: String::new(),
            fatal: true,
        });
    }
}

/// What an error says: of some agents the words are details of an internal error.
fn words_of(error: &Value) -> String {
    let details = text(error, "/data/details");
    match (text(error, "/message"), details) {
        (Some(message), Some(details)) => format!("{message}: {details}"),
        (Some(words), None) | (None, Some(words)) => words,
        (None, None) => error.to_string(),
    }
}

/// The status of a provider that details begin with: `401 Incorrect API key`.
fn status_of(details: &str) -> Option<Trouble> {
    let (status, _) = details.split_once(|c: char| !c.is_ascii_digit())?;
    let status = status
        .parse()
        .ok()
        .filter(|status| (400..=599).contains(status))?;
    Some(Trouble::of_status(status))
}

/// What an error of JSON-RPC means: some agents put the status of their provider into its code.
fn trouble_of(error: &Value) -> Option<Trouble> {
    let kind = text_or_empty(error, "/data/errorKind");
    match error.get("code").and_then(Value::as_i64)? {
        status @ 400..=599 => u64::try_from(status).ok().map(Trouble::of_status),
        -32000 => Some(Trouble::Auth),
        -32002 => Some(Trouble::Session),
        -32602..=-32600 => Some(Trouble::Usage),
        _ => match kind.as_str() {
            "rate_limit" => Some(Trouble::RateLimit),
            "authentication_failed" => Some(Trouble::Auth),
            "billing_error" => Some(Trouble::Quota),
            "overloaded" => Some(Trouble::Overloaded),
            "server_error" => Some(Trouble::Server),
            _ => status_of(&text_or_empty(error, "/data/details")),
        },
    }
}
