//! `claude -p --output-format stream-json --verbose`, and qwen-code, which prints the same.

use serde_json::Value;

use crate::agent::adapter::{Event, micro_usd, number, reset, text, text_or_empty};
use crate::domain::limits::Reset;
use crate::domain::spent::Usage;
use crate::domain::trouble::Trouble;

/// Reads one line. A failed run has `subtype: success` too: `is_error` decides. There may be
/// several `result` lines, each with the tokens of its own turn and the cost of the whole session.
pub(super) fn read(value: &Value, events: &mut Vec<Event>) {
    match text_or_empty(value, "/type").as_str() {
        "system" => system(value, events),
        "assistant" => assistant(value, events),
        "user" => {
            let blocks = value.pointer("/message/content").and_then(Value::as_array);
            for block in blocks.into_iter().flatten() {
                if text_or_empty(block, "/type") == "tool_result" {
                    let failed = block.pointer("/is_error").and_then(Value::as_bool);
                    events.push(Event::ToolEnd {
                        failed: failed.unwrap_or(false),
                    });
                }
            }
        }
        "result" => result(value, events),
        // Told at every change of what is left; only a rejection is a limit.
        "rate_limit_event" => {
            let status = text_or_empty(value, "/rate_limit_info/status");
            let at = value
                .pointer("/rate_limit_info/resetsAt")
                .and_then(Value::as_i64)
                .and_then(reset::epoch);
            if let Some(at) = at.filter(|_| status == "rejected") {
                let reset = Reset::At { at };
                events.push(Event::Reset { reset });
            }
        }
        _ => {}
    }
}

fn system(value: &Value, events: &mut Vec<Event>) {
    match text_or_empty(value, "/subtype").as_str() {
        // Again at each turn that a background task begins.
        "init" => {
            events.push(Event::Turn);
            if let Some(id) = text(value, "/session_id") {
                let version = text(value, "/claude_code_version");
                events.push(Event::Session {
                    id,
                    model: text(value, "/model"),
                    version: version.or_else(|| text(value, "/qwen_code_version")),
                    directory: text(value, "/cwd"),
                });
            }
        }
        "api_retry" => events.push(tries_again(value)),
        "thinking_tokens" => events.push(Event::Thought),
        "permission_denied" => events.push(Event::Denied {
            name: text_or_empty(value, "/tool_name"),
        }),
        _ => {}
    }
}

/// That its provider refused it, and that it asks again.
pub(super) fn tries_again(value: &Value) -> Event {
    let name = text_or_empty(value, "/error");
    let status = number(value, "/error_status");
    Event::Error {
        trouble: named(&name).or_else(|| status.map(Trouble::of_status)),
        message: match status {
            Some(status) => format!("{name} ({status}), it tries again"),
            None => format!("{name}, it tries again"),
        },
        fatal: false,
    }
}

fn assistant(value: &Value, events: &mut Vec<Event>) {
    // Of a sub-agent: its messages are no answer of the agent itself.
    let of_another = text(value, "/parent_tool_use_id").is_some();
    let blocks = value.pointer("/message/content").and_then(Value::as_array);
    for block in blocks.into_iter().flatten() {
        match text_or_empty(block, "/type").as_str() {
            "text" if !of_another => events.push(Event::Message {
                text: text_or_empty(block, "/text"),
                goes_on: false,
            }),
            "thinking" | "redacted_thinking" => events.push(Event::Thought),
            "tool_use" => {
                let detail = ["command", "file_path", "path", "pattern", "url"]
                    .iter()
                    .find_map(|key| text(block, &format!("/input/{key}")));
                events.push(Event::ToolStart {
                    name: text_or_empty(block, "/name"),
                    detail: detail.unwrap_or_default(),
                    by_another: of_another,
                });
            }
            _ => {}
        }
    }
    if let Some(name) = text(value, "/error") {
        events.push(Event::Error {
            trouble: named(&name),
            message: text(value, "/message/content/0/text").unwrap_or(name),
            fatal: false,
        });
    }
}

fn result(value: &Value, events: &mut Vec<Event>) {
    let of = |name: &str| number(value, &format!("/usage/{name}"));
    events.push(Event::Used {
        usage: Usage {
            input: of("input_tokens"),
            output: of("output_tokens"),
            cached: of("cache_read_input_tokens"),
            cache_write: of("cache_creation_input_tokens"),
            reasoning: number(value, "/usage/output_tokens_details/thinking_tokens"),
        },
        more: true,
    });
    // Where qwen tells it, and claude once more.
    let denied = value
        .pointer("/permission_denials")
        .and_then(Value::as_array);
    if let Some(count) = denied.and_then(|denied| u32::try_from(denied.len()).ok()) {
        events.push(Event::DeniedInAll { count });
    }
    if let Some(micro_usd) = micro_usd(value, "/total_cost_usd") {
        events.push(Event::Cost {
            micro_usd,
            more: false,
        });
    }
    // Both must say so: a line that lacks one of them is not known to be a success.
    let no_error = value.pointer("/is_error").and_then(Value::as_bool) == Some(false);
    let well = no_error && text_or_empty(value, "/subtype") == "success";
    // Nor is one that names a failure besides.
    let cut = cut_short(value);
    // A command of its own that it carried out: no model answered.
    let is_its_own = number(value, "/num_turns") == Some(0);
    let success = well
        && !is_its_own
        && cut.is_none()
        && why(value).is_none()
        && text_or_empty(value, "/terminal_reason") != "api_error";
    let said = text(value, "/result");
    if !success {
        let is_its_own = is_its_own && well;
        events.push(Event::Error {
            trouble: why(value)
                .or(cut)
                .or_else(|| is_its_own.then_some(Trouble::Unfinished)),
            message: is_its_own
                .then(|| {
                    "no model answered: it took the prompt for a command of its own".to_owned()
                })
                .or_else(|| said.clone())
                .or_else(|| text(value, "/errors/0"))
                .or_else(|| text(value, "/error/message"))
                .unwrap_or_else(|| text_or_empty(value, "/subtype")),
            fatal: true,
        });
    }
    events.push(Event::Result {
        success,
        text: said,
    });
}

/// What a model's last message was cut by, or that it refused: told beside a success.
fn cut_short(value: &Value) -> Option<Trouble> {
    match text(value, "/stop_reason")?.as_str() {
        "end_turn" | "stop_sequence" | "tool_use" => None,
        "max_tokens" | "model_context_window_exceeded" => Some(Trouble::Limit),
        "refusal" => Some(Trouble::Request),
        _ => Some(Trouble::Unfinished),
    }
}

/// Why a result is none.
fn why(value: &Value) -> Option<Trouble> {
    match text_or_empty(value, "/terminal_reason").as_str() {
        // Both are the program's own: they would be used up again.
        "max_turns" | "budget_exhausted" => return Some(Trouble::Limit),
        "prompt_too_long" => return Some(Trouble::Request),
        "aborted_streaming" | "aborted_tools" => return Some(Trouble::Aborted),
        _ => {}
    }
    if text(value, "/api_error").as_deref() == Some("connection_failed") {
        return Some(Trouble::Network);
    }
    number(value, "/api_error_status").map(Trouble::of_status)
}

/// The names that claude has for what went wrong.
fn named(name: &str) -> Option<Trouble> {
    Some(match name {
        "authentication_failed" => Trouble::Auth,
        "rate_limit" => Trouble::RateLimit,
        "overloaded" => Trouble::Overloaded,
        "server_error" => Trouble::Server,
        "billing_error" => Trouble::Quota,
        "invalid_request" => Trouble::Request,
        _ => return None,
    })
}
