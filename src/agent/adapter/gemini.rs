//! `gemini --output-format stream-json`.

use serde_json::Value;

use crate::agent::adapter::{Event, number, text, text_or_empty};
use crate::domain::spent::Usage;
use crate::domain::trouble::Trouble;

/// Reads one line. The answer comes in pieces; what was said before a tool is none.
pub(super) fn read(value: &Value, events: &mut Vec<Event>) {
    match text_or_empty(value, "/type").as_str() {
        "init" => {
            if let Some(id) = text(value, "/session_id") {
                events.push(Event::Session {
                    id,
                    model: text(value, "/model"),
                    version: None,
                    directory: None,
                });
            }
        }
        "message" if text_or_empty(value, "/role") == "assistant" => {
            let delta = value.pointer("/delta").and_then(Value::as_bool);
            events.push(Event::Message {
                text: text_or_empty(value, "/content"),
                goes_on: delta.unwrap_or(false),
            });
        }
        "tool_use" => {
            let detail = ["command", "file_path", "path", "pattern", "dir_path"]
                .iter()
                .find_map(|key| text(value, &format!("/parameters/{key}")));
            events.push(Event::ToolStart {
                name: text_or_empty(value, "/tool_name"),
                detail: detail.unwrap_or_default(),
                by_another: false,
            });
        }
        "tool_result" => {
            let error = text_or_empty(value, "/error/type");
            if error.contains("denied") || error == "policy_violation" {
                events.push(Event::Denied {
                    name: text_or_empty(value, "/tool_id"),
                });
            }
            events.push(Event::ToolEnd {
                failed: text_or_empty(value, "/status") != "success",
            });
        }
        "error" => {
            let message = text_or_empty(value, "/message");
            let trouble = gave_up(&message);
            // After these it says success all the same.
            let fatal = trouble.is_some() || text_or_empty(value, "/severity") == "error";
            events.push(Event::Error {
                trouble,
                message,
                fatal,
            });
        }
        "result" => result(value, events),
        _ => {}
    }
}

fn result(value: &Value, events: &mut Vec<Event>) {
    let of = |name: &str| number(value, &format!("/stats/{name}"));
    let (input, output) = (of("input_tokens"), of("output_tokens"));
    // What it thought is counted in the total alone.
    let thought = of("total_tokens")
        .zip(input)
        .map(|(total, input)| total.saturating_sub(input));
    if let Some(names) = models(value) {
        events.push(Event::Models { names });
    }
    events.push(Event::Used {
        usage: Usage {
            input,
            output: output.max(thought),
            cached: of("cached"),
            cache_write: None,
            reasoning: None,
        },
        more: false,
    });
    let success = text_or_empty(value, "/status") == "success";
    if !success {
        let message = text_or_empty(value, "/error/message");
        events.push(Event::Error {
            trouble: status_in(&message).map(Trouble::of_status),
            message,
            fatal: true,
        });
    }
    events.push(Event::Result {
        success,
        text: None,
    });
}

/// What it stopped itself for.
fn gave_up(message: &str) -> Option<Trouble> {
    let begins = |words: &str| message.starts_with(words);
    if begins("Loop detected") || begins("Maximum session turns exceeded") {
        Some(Trouble::Limit)
    } else {
        begins("Agent execution blocked").then_some(Trouble::Denied)
    }
}

/// The models that used tokens, where they are several: no price of one of them is that of all.
fn models(value: &Value) -> Option<String> {
    let models = value.pointer("/stats/models")?.as_object()?;
    let used = models
        .iter()
        .filter(|(_, stats)| number(stats, "/total_tokens") != Some(0));
    let names: Vec<&str> = used.map(|(name, _)| name.as_str()).collect();
    (names.len() > 1).then(|| names.join(", "))
}

/// The status within `[API Error: {"error":{"code":401,…}}]`; the error's own type says nothing.
fn status_in(message: &str) -> Option<u64> {
    let (_, rest) = message.split_once("\"code\":")?;
    let digits: String = rest
        .trim_start()
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    digits.parse().ok()
}
