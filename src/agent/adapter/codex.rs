//! `codex exec --json`.

use serde_json::Value;

use crate::agent::adapter::{Event, number, text, text_or_empty};
use crate::domain::spent::Usage;

/// Reads one line. `error` events and items of type `error` come on runs that succeed: only
/// `turn.failed` is fatal. The tokens of a turn are those of the whole thread.
pub(super) fn read(value: &Value, events: &mut Vec<Event>) {
    match text_or_empty(value, "/type").as_str() {
        "thread.started" => {
            if let Some(id) = text(value, "/thread_id") {
                events.push(Event::Session {
                    id,
                    model: None,
                    version: None,
                    directory: None,
                });
            }
        }
        "turn.started" => events.push(Event::Turn),
        "item.started" => {
            if let Some((name, detail)) = tool(value) {
                events.push(Event::ToolStart {
                    name,
                    detail,
                    by_another: false,
                });
            }
        }
        "item.completed" => item(value, events),
        "turn.completed" => {
            let of = |name: &str| number(value, &format!("/usage/{name}"));
            events.push(Event::Used {
                usage: Usage {
                    input: of("input_tokens"),
                    output: of("output_tokens"),
                    cached: of("cached_input_tokens"),
                    cache_write: of("cache_write_input_tokens"),
                    reasoning: of("reasoning_output_tokens"),
                },
                more: false,
            });
            events.push(Event::Result {
                success: true,
                text: None,
            });
        }
        "turn.failed" => {
            events.push(Event::Error {
                trouble: None,
                message: text_or_empty(value, "/error/message"),
                fatal: true,
            });
            events.push(Event::Result {
                success: false,
                text: None,
            });
        }
        "error" => events.push(Event::Error {
            trouble: None,
            message: text_or_empty(value, "/message"),
            fatal: false,
        }),
        _ => {}
    }
}

fn item(value: &Value, events: &mut Vec<Event>) {
    match text_or_empty(value, "/item/type").as_str() {
        "agent_message" => events.push(Event::Message {
            text: text_or_empty(value, "/item/text"),
            goes_on: false,
        }),
        "reasoning" => events.push(Event::Thought),
        "error" => {
            let message = text_or_empty(value, "/item/message");
            if let Some(names) = rerouted(&message) {
                events.push(Event::Models { names });
            }
            events.push(Event::Error {
                trouble: None,
                message,
                fatal: false,
            });
        }
        _ if tool(value).is_some() => {
            let status = text_or_empty(value, "/item/status");
            if status == "declined" {
                events.push(Event::Denied {
                    name: text_or_empty(value, "/item/type"),
                });
            }
            events.push(Event::ToolEnd {
                failed: status != "completed",
            });
        }
        _ => {}
    }
}

/// The models of `model rerouted: A -> B (why)`: both answered, and no price of one is that of both.
fn rerouted(message: &str) -> Option<String> {
    let (from, to) = message
        .strip_prefix("model rerouted: ")?
        .split_once(" -> ")?;
    let to = to.split_once(" (").map_or(to, |(to, _)| to);
    Some(format!("{from}, {to}"))
}

/// The tool of an item and what it is used for.
fn tool(value: &Value) -> Option<(String, String)> {
    let kind = text(value, "/item/type")?;
    let detail = match kind.as_str() {
        "command_execution" => text_or_empty(value, "/item/command"),
        "file_change" => text_or_empty(value, "/item/changes/0/path"),
        "mcp_tool_call" => text_or_empty(value, "/item/tool"),
        "web_search" => text_or_empty(value, "/item/query"),
        _ => return None,
    };
    Some((kind, detail))
}
