//! `copilot --output-format json`.

use serde_json::Value;

use crate::agent::adapter::{Event, number, text, text_or_empty};
use crate::domain::trouble::Trouble;

/// Reads one line. After SIGTERM it prints a `result` with exit code 0: an `abort` before it, or
/// an idle event that says `aborted`, tells the truth.
pub(super) fn read(value: &Value, events: &mut Vec<Event>) {
    match text_or_empty(value, "/type").as_str() {
        "assistant.turn_start" => events.push(Event::Turn),
        // Its message is no answer of this one's.
        "assistant.message" if is_of_another(value) => {}
        "assistant.message" => {
            let text = text_or_empty(value, "/data/content");
            if !text.is_empty() {
                events.push(Event::Message {
                    text,
                    goes_on: false,
                });
            }
        }
        "tool.execution_start" => {
            let detail = ["command", "path", "pattern"]
                .iter()
                .find_map(|key| text(value, &format!("/data/arguments/{key}")));
            events.push(Event::ToolStart {
                name: text_or_empty(value, "/data/toolName"),
                detail: detail.unwrap_or_default(),
                by_another: is_of_another(value),
            });
        }
        "tool.execution_complete" => {
            let success = value.pointer("/data/success").and_then(Value::as_bool);
            if text_or_empty(value, "/data/error/code") == "denied" {
                events.push(Event::Denied {
                    name: text_or_empty(value, "/data/toolName"),
                });
            }
            events.push(Event::ToolEnd {
                failed: success != Some(true),
            });
        }
        "assistant.reasoning" | "assistant.reasoning_delta" => events.push(Event::Thought),
        // It tries again, up to some time; it tells when it gives up.
        "model.call_failure" => {
            let status = number(value, "/data/statusCode");
            events.push(Event::Error {
                trouble: status.map(Trouble::of_status),
                message: text_or_empty(value, "/data/errorMessage"),
                fatal: false,
            });
        }
        "session.error" => {
            let status = number(value, "/data/statusCode").map(Trouble::of_status);
            events.push(Event::Error {
                trouble: status.or_else(|| named(&text_or_empty(value, "/data/errorType"))),
                message: text_or_empty(value, "/data/message"),
                fatal: true,
            });
        }
        "abort" => aborted(events),
        "assistant.idle"
            if value.pointer("/data/aborted").and_then(Value::as_bool) == Some(true) =>
        {
            aborted(events);
        }
        "result" => {
            if let Some(id) = text(value, "/sessionId") {
                events.push(Event::Session {
                    id,
                    model: None,
                    version: None,
                    directory: None,
                });
            }
            let code = value.pointer("/exitCode").and_then(Value::as_i64);
            if let Some(code) = code.filter(|code| *code != 0) {
                events.push(Event::Error {
                    trouble: None,
                    message: format!("its result says exit code {code}"),
                    fatal: true,
                });
            }
            events.push(Event::Result {
                success: code == Some(0),
                text: None,
            });
        }
        _ => {}
    }
}

/// Whether an agent says or does it that the agent asked, as newer and older versions tell.
fn is_of_another(value: &Value) -> bool {
    let told = ["/agentId", "/data/parentToolCallId"].map(|place| value.pointer(place));
    told.into_iter().flatten().any(|told| !told.is_null())
}

fn aborted(events: &mut Vec<Event>) {
    events.push(Event::Error {
        trouble: Some(Trouble::Aborted),
        message: "the turn was aborted".to_owned(),
        fatal: true,
    });
}

fn named(name: &str) -> Option<Trouble> {
    Some(match name {
        "authentication" => Trouble::Auth,
        "rate_limit" => Trouble::RateLimit,
        "quota" => Trouble::Quota,
        _ => return None,
    })
}
