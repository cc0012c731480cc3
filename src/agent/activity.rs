//! What an agent program did last, from the end of what it printed so far.

use crate::agent::adapter::{Event, line};
use crate::domain::profile::Stream;

/// No longer than this is told.
const LONGEST: usize = 160;

/// The last thing in an output that tells something, in one line, as `shown` lets it be seen; `None` where
/// nothing does. The last line may be half written: it is no event then.
#[must_use]
pub fn last(stream: Stream, output: &[u8], shown: impl Fn(&str) -> String) -> Option<String> {
    let output = String::from_utf8_lossy(output);
    // What is said in pieces is told as a whole: a part of it may be what nobody may see of the whole.
    let mut said = String::new();
    let mut last = None;
    for event in output.lines().flat_map(|text| line(stream, text)) {
        if let Event::Piece { text, .. }
        | Event::Message {
            text,
            goes_on: true,
        } = &event
        {
            said.push_str(text);
        } else if let Some(told) = told(event) {
            said.clear();
            last = Some(told);
        }
    }
    // Before it is cut: half a key is found by nobody.
    let told = last_line(&said).or(last)?;
    Some(shown(&told).chars().take(LONGEST).collect())
}

fn last_line(text: &str) -> Option<String> {
    let last = text.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(last.trim().to_owned())
}

fn told(event: Event) -> Option<String> {
    match event {
        Event::Session { .. } => Some("started".to_owned()),
        Event::Message { text, .. } | Event::Piece { text, .. } => last_line(&text),
        Event::ToolStart { name, detail, .. } => {
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
        | Event::Turn
        | Event::Torn
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
        let plain = str::to_owned;
        let told = |output: &str| last(Stream::Codex, output.as_bytes(), plain);
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
            last(Stream::Text, b"one\n\ntwo\n\n", plain).as_deref(),
            Some("two")
        );
        assert_eq!(last(Stream::Text, b"", plain), None);
        let long = "x".repeat(1000);
        assert_eq!(
            last(Stream::Text, long.as_bytes(), plain).map(|text| text.len()),
            Some(LONGEST)
        );
        let gemini = concat!(
            r#"{"type":"message","role":"assistant","content":"one\nt","delta":true}"#,
            "\n",
            r#"{"type":"message","role":"assistant","content":"wo","delta":true}"#,
        );
        let told = last(Stream::Gemini, gemini.as_bytes(), plain);
        assert_eq!(told.as_deref(), Some("two"));
    }

    /// Wherever a key stands in a line that is too long, no part of it is shown.
    #[test]
    fn a_key_goes_before_the_text_is_cut() {
        let key = "sk-0123456789";
        let hidden = |text: &str| text.replace(key, "[redacted]");
        for before in LONGEST - key.len() - 1..=LONGEST {
            let line = format!("{}{key} and more", "x".repeat(before));
            let told = last(Stream::Text, line.as_bytes(), hidden).unwrap();
            assert!(!told.contains("sk-"), "{told}");
        }
    }
}
