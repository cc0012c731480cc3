//! `opencode run --format json`.

use serde_json::Value;

use crate::agent::adapter::{Event, micro_usd, number, text, text_or_empty};
use crate::domain::limits::Reset;
use crate::domain::spent::Usage;
use crate::domain::trouble::Trouble;

/// Reads one line. A step that ends with anything else than `stop` is not the end: so ends a run
/// whose tool was denied, with exit code 0.
pub(super) fn read(value: &Value, events: &mut Vec<Event>) {
    if let Some(id) = text(value, "/sessionID") {
        events.push(Event::Session {
            id,
            model: None,
            version: None,
            directory: None,
        });
    }
    match text_or_empty(value, "/type").as_str() {
        "text" => events.push(Event::Message {
            text: text_or_empty(value, "/part/text"),
            goes_on: false,
        }),
        "step_start" => events.push(Event::Turn),
        "tool_use" => tool(value, events),
        "step_finish" => {
            let of = |name: &str| number(value, &format!("/part/tokens/{name}"));
            // What it thought it counts apart, and is paid like what it said.
            let thought = of("reasoning").unwrap_or(0);
            let usage = Usage {
                input: of("input"),
                output: of("output").map(|output| output.saturating_add(thought)),
                cached: of("cache/read"),
                cache_write: of("cache/write"),
                reasoning: of("reasoning"),
            };
            events.push(Event::Used { usage, more: true });
            // Of a model whose prices it does not know it says that tokens cost nothing.
            let told = micro_usd(value, "/part/cost");
            if let Some(micro_usd) = told.filter(|cost| *cost > 0 || usage.is_unknown()) {
                events.push(Event::Cost {
                    micro_usd,
                    more: true,
                });
            }
            events.push(Event::Result {
                success: text_or_empty(value, "/part/reason") == "stop",
                text: None,
            });
        }
        "error" => {
            let name = text_or_empty(value, "/error/name");
            let message = text(value, "/error/data/message").unwrap_or_else(|| name.clone());
            let status = number(value, "/error/data/statusCode").map(Trouble::of_status);
            events.push(Event::Error {
                trouble: status.or_else(|| named(&name)),
                message,
                fatal: true,
            });
            let told = |name: &str| {
                let told = text(value, &format!("/error/data/responseHeaders/{name}"))?;
                told.parse::<u64>().ok()
            };
            let in_millis = told("retry-after-ms").map(|millis| millis.div_ceil(1000));
            if let Some(seconds) = in_millis.or_else(|| told("retry-after")) {
                let reset = Reset::In { seconds };
                events.push(Event::Reset { reset });
            }
        }
        _ => {}
    }
}

fn tool(value: &Value, events: &mut Vec<Event>) {
    let detail = ["command", "filePath", "path", "pattern", "url"]
        .iter()
        .find_map(|key| text(value, &format!("/part/state/input/{key}")));
    let name = text_or_empty(value, "/part/tool");
    events.push(Event::ToolStart {
        name: name.clone(),
        detail: detail.unwrap_or_default(),
        by_another: false,
    });
    let failed = text_or_empty(value, "/part/state/status") != "completed";
    let error = text_or_empty(value, "/part/state/error");
    if error.contains("rejected permission") || error.contains("prevents you from using") {
        events.push(Event::Denied { name });
    }
    events.push(Event::ToolEnd { failed });
}

fn named(name: &str) -> Option<Trouble> {
    Some(match name {
        "ProviderAuthError" => Trouble::Auth,
        "MessageAbortedError" => Trouble::Aborted,
        "MessageOutputLengthError" | "ContextOverflowError" => Trouble::Request,
        _ => return None,
    })
}
