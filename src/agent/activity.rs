//! What an agent program did last, from the end of what it printed so far.

use crate::agent::adapter::{Event, line};
use crate::domain::profile::Stream;

/// No longer than this is told.
const LONGEST: usize = 160;

/// The last thing in an output that tells something, in one line; `None` where nothing does. The
/// first line may be cut, and the last one may be half written: neither is an event then.
#[must_use]
pub fn last(stream: Stream, output: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(output);
    text.lines()
        .rev()
        .find_map(|text| line(stream, text).into_iter().rev().find_map(told))
        .map(|text| text.chars().take(LONGEST).collect())
}

fn told(event: Event) -> Option<String> {
    match event {
        Event::Session { .. } => Some("started".to_owned()),
        Event::Message { text, .. } | Event::Piece { text, .. } => {
            let last = text.lines().rev().find(|line| !line.trim().is_empty())?;
            Some(last.trim().to_owned())
        }
        Event::ToolStart { name, detail } => {
            let first = detail.lines().next().unwrap_or_default().trim();
            Some(if first.is_empty() {
                format!("uses {name}")
            } else {
                format!("uses {name}: {first}")
            })
        }
        Event::Denied { name } => Some(format!("was denied {name}")),
        Event::Error { message, .. } if message.trim().is_empty() => Some("gave up".to_owned()),
        Event::Error { message, .. } => Some(format!("error: {}", message.trim())),
        Event::Result { .. } => Some("says that it is done".to_owned()),
        Event::ToolEnd { .. }
        | Event::Version { .. }
        | Event::Models { .. }
        | Event::Used { .. }
        | Event::Cost { .. }
        | Event::Reset { .. }
        | Event::Asked
        | Event::Raw { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_event_that_tells_something_is_told() {
        let codex = concat!(
            r#"{"type":"thread.started","thread_id":"t"}"#,
            "\n",
            r#"{"type":"item.started","item":{"type":"command_execution","command":"cargo test\nx"}}"#,
            "\n",
        );
        let told = |output: &str| last(Stream::Codex, output.as_bytes());
        assert_eq!(
            told(codex).as_deref(),
            Some("uses command_execution: cargo test")
        );
        let half = format!("{codex}{}", r#"{"type":"item.compl"#);
        assert_eq!(
            told(&half),
            told(codex),
            "a half written line tells nothing"
        );
        let cut = r#"ead_id":"t"}"#;
        assert_eq!(told(cut), None);
        assert_eq!(
            last(Stream::Text, b"one\n\ntwo\n\n").as_deref(),
            Some("two")
        );
        assert_eq!(last(Stream::Text, b""), None);
        let long = "x".repeat(1000);
        assert_eq!(
            last(Stream::Text, long.as_bytes()).map(|text| text.len()),
            Some(LONGEST)
        );
    }
}
