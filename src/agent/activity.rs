//! What an agent program did last, from the end of what it printed so far.

use crate::agent::adapter::{Event, events};
use crate::domain::profile::Stream;

/// No longer than this is told.
const LONGEST: usize = 160;

/// The last thing in an output that tells something, in one line, as `shown` lets it be seen, which is told
/// whether a text lacks its beginning; `None` where nothing does. The last line may be half written: it is
/// no event then. Where the output `is_cut` at its beginning, so may the text be that goes on there.
#[must_use]
pub fn last(
    stream: Stream,
    output: &[u8],
    is_cut: bool,
    shown: impl Fn(&str, bool) -> String,
) -> Option<String> {
    // What is said in pieces is told as a whole: a part of it may be what nobody may see of the whole.
    let mut said = String::new();
    let mut lacks_its_beginning = is_cut;
    let mut last = None;
    for event in events(stream, whole_characters(output)) {
        if let Event::Piece { text, .. }
        | Event::Message {
            text,
            goes_on: true,
        } = &event
        {
            said.push_str(text);
        } else if let Some(told) = told(event, &shown) {
            said.clear();
            lacks_its_beginning = false;
            last = Some(told);
        }
    }
    // A line that is not ended yet may go on: what a key begins with is looked for at its end.
    let is_ended = output.last() == Some(&b'\n');
    if !is_ended && said.ends_with('\n') {
        said.pop();
    }
    // Before it is cut into lines, and those are cut: half a key is found by nobody.
    let told = last_line(&shown(&said, lacks_its_beginning)).or(last)?;
    Some(told.chars().take(LONGEST).collect())
}

/// The output without a character at its end that is half written.
fn whole_characters(output: &[u8]) -> &[u8] {
    let last = (1..=3).filter_map(|back| output.len().checked_sub(back));
    let begins = last.into_iter().find(|at| output[*at] >= 0xc0);
    let half = begins.filter(|at| {
        let read = std::str::from_utf8(&output[*at..]);
        read.is_err_and(|error| error.error_len().is_none())
    });
    &output[..half.unwrap_or(output.len())]
}

fn last_line(text: &str) -> Option<String> {
    let last = text.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(last.trim().to_owned())
}

fn told(event: Event, shown: impl Fn(&str, bool) -> String) -> Option<String> {
    let shown = |text: &str| shown(text, false);
    match event {
        Event::Session { .. } => Some("started".to_owned()),
        Event::Message { text, .. } | Event::Piece { text, .. } => last_line(&shown(&text)),
        Event::ToolStart { name, detail, .. } => {
            let (name, detail) = (shown(&name), shown(&detail));
            let first = detail.lines().next().unwrap_or_default().trim();
            Some(if first.is_empty() {
                format!("uses {name}")
            } else {
                format!("uses {name}: {first}")
            })
        }
        Event::Denied { name } => Some(format!("was denied {}", shown(&name))),
        Event::Error { message, .. } if message.trim().is_empty() => Some("gave up".to_owned()),
        Event::Error { message, .. } => Some(format!("error: {}", shown(&message).trim())),
        Event::Result { .. } => Some("says that it is done".to_owned()),
        Event::ToolEnd { .. }
        | Event::Version { .. }
        | Event::Models { .. }
        | Event::DeniedInAll { .. }
        | Event::Used { .. }
        | Event::Cost { .. }
        | Event::Reset { .. }
        | Event::Thought
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
        let plain = |text: &str, _| text.to_owned();
        let told = |output: &str| last(Stream::Codex, output.as_bytes(), false, plain);
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
            last(Stream::Text, b"one\n\ntwo\n\n", false, plain).as_deref(),
            Some("two")
        );
        assert_eq!(last(Stream::Text, b"", false, plain), None);
        let long = "x".repeat(1000);
        assert_eq!(
            last(Stream::Text, long.as_bytes(), false, plain).map(|text| text.len()),
            Some(LONGEST)
        );
        let gemini = concat!(
            r#"{"type":"message","role":"assistant","content":"one\nt","delta":true}"#,
            "\n",
            r#"{"type":"message","role":"assistant","content":"wo","delta":true}"#,
        );
        let told = last(Stream::Gemini, gemini.as_bytes(), false, plain);
        assert_eq!(told.as_deref(), Some("two"));
    }

    /// Wherever a key stands in a line that is too long, no part of it is shown.
    #[test]
    fn a_key_goes_before_the_text_is_cut() {
        let key = "sk-0123456789";
        let hidden = |text: &str, _| text.replace(key, "[redacted]");
        for before in LONGEST - key.len() - 1..=LONGEST {
            let line = format!("{}{key} and more", "x".repeat(before));
            let told = last(Stream::Text, line.as_bytes(), false, hidden).unwrap();
            assert!(!told.contains("sk-"), "{told}");
        }
    }

    /// A key has lines of its own, or began before what is looked at.
    #[test]
    fn a_key_goes_before_the_text_is_cut_into_lines() {
        let key = "-----BEGIN\nMIIB0123\n-----END";
        let hidden = |text: &str, lacks_its_beginning: bool| {
            let text = text.replace(key, "[redacted]");
            match text.strip_prefix("123456789") {
                Some(rest) if lacks_its_beginning => format!("[redacted]{rest}"),
                Some(_) | None => text,
            }
        };
        let told = |text: &str, is_cut| last(Stream::Text, text.as_bytes(), is_cut, hidden);
        let whole = format!("It is {key}");
        assert_eq!(told(&whole, false).as_deref(), Some("It is [redacted]"));
        let rest = told("123456789, it is", true);
        assert_eq!(rest.as_deref(), Some("[redacted], it is"));
        let whole = told("123456789, it is", false);
        assert_eq!(whole.as_deref(), Some("123456789, it is"));
        // What is told by an event began with it.
        let event = |text: &str| {
            let item = format!(r#"{{"type":"agent_message","text":"{text}"}}"#);
            format!(r#"{{"type":"item.completed","item":{item}}}"#)
        };
        let said = last(Stream::Codex, event("123456789").as_bytes(), true, hidden);
        assert_eq!(said.as_deref(), Some("123456789"));
        let whole = event("-----BEGIN\\nMIIB0123\\n-----END");
        let said = last(Stream::Codex, whole.as_bytes(), true, hidden);
        assert_eq!(said.as_deref(), Some("[redacted]"));
    }

    #[test]
    fn half_a_character_is_not_shown() {
        let plain = |text: &str, _| text.to_owned();
        let text = "so \u{1f600}".as_bytes();
        for end in 3..text.len() {
            let told = last(Stream::Text, &text[..end], false, plain);
            assert_eq!(told.as_deref(), Some("so"), "{end}");
        }
        let told = last(Stream::Text, text, false, plain);
        assert_eq!(told.as_deref(), Some("so \u{1f600}"));
    }
}
