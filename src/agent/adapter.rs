//! From what an agent program prints to events that are the same for all programs.
//!
//! Owns: which line of which program means what. Never: verdicts, and whether a run succeeded.
//! Tests: `tests/agents.rs`, on output recorded from the real programs.

use std::borrow::Cow;

use serde_json::Value;

use crate::domain::limits::Reset;
use crate::domain::profile::Stream;
use crate::domain::spent::Usage;
use crate::domain::trouble::Trouble;

pub mod account;
pub mod outcome;
pub mod reset;

mod acp;
mod aider;
mod claude;
mod codex;
mod copilot;
mod gemini;
mod json;
mod opencode;
pub(crate) mod words;

pub(crate) use json::{is_piece, parsed};

/// What happened in an agent program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// It told its session.
    Session {
        /// The program's own id of it.
        id: String,
        /// The model that answers.
        model: Option<String>,
        /// The program's version.
        version: Option<String>,
        /// The folder that it says it works in.
        directory: Option<String>,
    },
    /// It told its version by itself.
    Version {
        /// The version.
        version: String,
    },
    /// It told that several models answered.
    Models {
        /// Their names, as one.
        names: String,
    },
    /// The model said something.
    Message {
        /// What.
        text: String,
        /// Whether this goes on where the last message stopped.
        goes_on: bool,
    },
    /// The model thinks: its provider lets it.
    Thought,
    /// What it was asked was said again: all before it belongs to an earlier turn.
    Asked,
    /// A turn began: what was said of the end was that of an earlier one.
    Turn,
    /// A piece of a message that the model said. It goes on where the last piece of the same message
    /// stopped, if no tool began between them.
    Piece {
        /// The message, by the program's own name.
        of: Option<String>,
        /// What.
        text: String,
    },
    /// It began to use a tool.
    ToolStart {
        /// The tool.
        name: String,
        /// What for: a command, a path.
        detail: String,
        /// Whether another agent uses it that this one asked.
        by_another: bool,
    },
    /// The tool ended.
    ToolEnd {
        /// Whether it failed.
        failed: bool,
    },
    /// So many tool calls were denied to it in all; others may have been told as they were.
    DeniedInAll {
        /// How many.
        count: u32,
    },
    /// A tool call was denied to it.
    Denied {
        /// The tool, where it is told.
        name: String,
    },
    /// Tokens used.
    Used {
        /// How many.
        usage: Usage,
        /// Whether they come on top of what was told before.
        more: bool,
    },
    /// Money spent, in millionths of a US dollar.
    Cost {
        /// How much.
        micro_usd: u64,
        /// Whether it comes on top of what was told before.
        more: bool,
    },
    /// Something went wrong, and perhaps it tries again.
    Error {
        /// What kind of failure.
        trouble: Option<Trouble>,
        /// In its own words; none where it gave up on what it told of before.
        message: String,
        /// Whether it gave up.
        fatal: bool,
    },
    /// It told when a limit is lifted.
    Reset {
        /// When.
        reset: Reset,
    },
    /// It says that it is done, or that it gave up.
    Result {
        /// Whether it says that all went well.
        success: bool,
        /// Its final message, where this event holds it.
        text: Option<String>,
    },
    /// A piece of an event: what the event said is lost, and might have been anything.
    Torn,
    /// A line that is none of its events.
    Raw {
        /// The line.
        text: String,
    },
}

/// Reads one line of JSON after the other; an adapter has no other state than what a program's
/// stream needs to be understood.
type Reader = fn(&Value, &mut Vec<Event>);

/// The events of one line.
#[must_use]
pub fn line(stream: Stream, line: &str) -> Vec<Event> {
    let reader: Reader = match stream {
        Stream::Codex => codex::read,
        Stream::Claude => claude::read,
        Stream::Gemini => gemini::read,
        Stream::Opencode => opencode::read,
        Stream::Copilot => copilot::read,
        Stream::Acp => acp::read,
        Stream::Aider => return aider::read(line),
        Stream::Text => {
            return vec![Event::Message {
                text: format!("{line}\n"),
                goes_on: true,
            }];
        }
    };
    if line.trim().is_empty() {
        return Vec::new();
    }
    let mut events = Vec::new();
    match parsed(line) {
        Some(value) if value.is_object() => reader(&value, &mut events),
        // Its events stand alone in their lines.
        Some(Value::Array(items))
            if items.iter().any(|item| item.is_object() || item.is_array()) =>
        {
            events.push(Event::Torn);
        }
        None if is_piece(line) => events.push(Event::Torn),
        Some(_) | None => events.push(Event::Raw {
            text: line.to_owned(),
        }),
    }
    events
}

/// The events of all that was printed. What a line said that is no UTF-8 was something else than what can
/// be read of it.
pub fn events(stream: Stream, output: &[u8]) -> impl Iterator<Item = Event> {
    let lines = output.split_inclusive(|byte| *byte == b'\n');
    lines.flat_map(move |bytes| {
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let text = String::from_utf8_lossy(bytes);
        let mut events = line(stream, &text);
        let says_something = events
            .iter()
            .any(|event| !matches!(event, Event::Raw { .. }));
        if says_something && matches!(text, Cow::Owned(_)) {
            events.push(Event::Torn);
        }
        events
    })
}

/// Where a line holds a piece of a text that other lines go on with, and of which text.
pub(crate) fn piece(stream: Stream, value: &Value) -> Option<(String, &'static str)> {
    match stream {
        Stream::Acp => {
            let place = "/agent/params/update/content/text";
            let of = acp::piece_of(value.pointer("/agent/params/update")?)?;
            Some((of, place))
        }
        Stream::Gemini => {
            let is_message = text_or_empty(value, "/type") == "message";
            is_message.then(|| (text_or_empty(value, "/role"), "/content"))
        }
        Stream::Copilot => {
            let pieces = [
                (
                    "assistant.message_delta",
                    "/data/messageId",
                    "/data/deltaContent",
                ),
                (
                    "assistant.tool_call_delta",
                    "/data/toolCallId",
                    "/data/inputDelta",
                ),
            ];
            let told = text_or_empty(value, "/type");
            let (_, of, place) = pieces.into_iter().find(|(of, ..)| *of == told)?;
            value
                .pointer(place)
                .map(|_| (format!("{told} {}", text_or_empty(value, of)), place))
        }
        // They print whole messages, or a text as it is: what stands in it is found there.
        Stream::Codex | Stream::Claude | Stream::Opencode | Stream::Aider | Stream::Text => None,
    }
}

/// The text at a place.
fn text(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer)?.as_str().map(str::to_owned)
}
/// The text at a place, or nothing.
fn text_or_empty(value: &Value, pointer: &str) -> String {
    text(value, pointer).unwrap_or_default()
}
/// The number at a place.
fn number(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer)?.as_u64()
}
/// Dollars at a place, in millionths.
fn micro_usd(value: &Value, pointer: &str) -> Option<u64> {
    micro(value.pointer(pointer)?.as_f64()?)
}
/// Dollars in millionths.
fn micro(dollars: f64) -> Option<u64> {
    let micro = (dollars * 1e6).round();
    // Beyond a million dollars it is no cost of a job.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bounded by the line above it"
    )]
    (0.0..=1e12).contains(&micro).then_some(micro as u64)
}
