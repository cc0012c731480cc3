//! Secrets that a program told in pieces, each in a line of its own: no line holds one, and whoever
//! reads them together does.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use serde_json::Value;

use crate::agent::adapter;
use crate::agent::redact::{MARK, PIECE, Secrets, apart, without};
use crate::domain::profile::Stream;

/// A piece of a text.
struct Piece {
    /// In which line.
    line: usize,
    /// Where in its value.
    place: &'static str,
    text: String,
}

impl Secrets {
    /// The output without the values that a program said in pieces; `None` where it holds none. Where it
    /// begins or ends it may do so within a value.
    pub(super) fn without_pieces(
        &self,
        stream: Stream,
        output: &[u8],
        begins: bool,
        ends: bool,
    ) -> Option<Vec<u8>> {
        let lines: Vec<&[u8]> = output.split_inclusive(|byte| *byte == b'\n').collect();
        let texts = texts(stream, &lines);
        let mut clean: BTreeMap<usize, Vec<u8>> = BTreeMap::new();
        for pieces in texts.values() {
            let whole: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
            let secret = self.found_in_part(whole.as_bytes(), begins, ends);
            let mut at = 0;
            for piece in pieces {
                let text = piece.text.as_bytes();
                let kept = without(text, at, &secret);
                at += text.len();
                if kept != text {
                    let kept = String::from_utf8_lossy(&kept).into_owned();
                    clean.insert(piece.line, piece.saying(lines[piece.line], kept));
                }
            }
        }
        // What is left of the lines at which it begins and ends may hold more of the same texts.
        let edges = [
            (begins, lines.first(), 0),
            (ends, lines.last(), lines.len()),
        ];
        for (is_edge, line, nth) in edges {
            let line = line.filter(|line| is_edge && !texts.is_empty() && parsed(line).is_none());
            if line.is_some_and(|line| self.may_hold_a_part(line)) {
                clean.insert(nth.saturating_sub(1), MARK.to_vec());
            }
        }
        if clean.is_empty() {
            return None;
        }
        let lines = lines.into_iter().enumerate();
        let lines = lines.map(|(nth, line)| clean.remove(&nth).unwrap_or_else(|| line.to_vec()));
        Some(lines.collect::<Vec<_>>().concat())
    }

    /// Where values stand in a text, also such as lack their beginning or their end.
    fn found_in_part(&self, text: &[u8], begins: bool, ends: bool) -> Vec<Range<usize>> {
        let mut found = self.found_in(text);
        let left = self.left_of_one(text).filter(|_| begins);
        let begun = self.begun(text).filter(|_| ends);
        found.extend(left.map(|left| 0..left));
        found.extend(begun.map(|begun| text.len() - begun..text.len()));
        apart(found)
    }

    /// Whether a line may hold a part of a value, of which others hold the rest.
    fn may_hold_a_part(&self, line: &[u8]) -> bool {
        let parts = self.values.iter().flat_map(|value| value.windows(PIECE));
        let parts: BTreeSet<&[u8]> = parts.collect();
        line.windows(PIECE).any(|part| parts.contains(part))
    }
}

/// The texts that were said in pieces, by whatever tells them apart.
fn texts(stream: Stream, lines: &[&[u8]]) -> BTreeMap<String, Vec<Piece>> {
    let mut texts: BTreeMap<String, Vec<Piece>> = BTreeMap::new();
    for (line, bytes) in lines.iter().enumerate() {
        let found = parsed(bytes).and_then(|value| {
            let (of, place) = adapter::piece(stream, &value)?;
            let text = value.pointer(place)?.as_str()?.to_owned();
            Some((of, Piece { line, place, text }))
        });
        if let Some((of, piece)) = found {
            texts.entry(of).or_default().push(piece);
        }
    }
    texts
}

impl Piece {
    /// Its line, with another text.
    fn saying(&self, line: &[u8], text: String) -> Vec<u8> {
        let Some(mut value) = parsed(line) else {
            return MARK.to_vec();
        };
        if let Some(said) = value.pointer_mut(self.place) {
            *said = Value::String(text);
        }
        let end = if line.ends_with(b"\n") { "\n" } else { "" };
        format!("{value}{end}").into_bytes()
    }
}

/// A line as whoever reads the output reads it, also where a part of it cannot be read.
fn parsed(line: &[u8]) -> Option<Value> {
    adapter::parsed(&String::from_utf8_lossy(line))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agent::environment::Variables;

    fn secrets() -> Secrets {
        let ours: Variables = [("KEY", "sk-0123456789")]
            .map(|(name, value)| (name.into(), value.into()))
            .into();
        Secrets::named(&["KEY".to_owned()], &ours)
    }

    fn acp(text: &str, of: &str) -> String {
        let update = json!({"sessionUpdate": "agent_message_chunk", "messageId": of,
                            "content": {"type": "text", "text": text}});
        json!({"agent": {"method": "session/update", "params": {"update": update}}}).to_string()
    }

    /// However it is cut, and whatever is said between: by the protocol, and by gemini's own events.
    #[test]
    fn a_secret_in_pieces_goes_and_nothing_else() {
        let gemini = |text: &str| {
            json!({"type": "message", "role": "assistant", "content": text, "delta": true})
                .to_string()
        };
        let texts = [
            "It is sk-01",
            "2345",
            "6789, and sk-0123456789sk-0",
            "123456789.",
        ];
        let other = acp("another sk-01", "b");
        let none = "no JSON".to_owned();
        let lines = texts.map(|text| acp(text, "a"));
        let output = [&lines[0], &other, &none, &lines[1], &lines[2], &lines[3]];
        let output = output.map(String::as_str).join("\n") + "\n";
        let clean = secrets().without_pieces(Stream::Acp, output.as_bytes(), false, false);
        let clean = String::from_utf8(clean.unwrap()).unwrap();
        let said: Vec<&str> = clean.lines().collect();
        let wanted = ["It is [redacted]", "", ", and [redacted][redacted]", "."];
        let wanted = wanted.map(|text| acp(text, "a"));
        let wanted = [
            &wanted[0], &other, &none, &wanted[1], &wanted[2], &wanted[3],
        ];
        assert_eq!(said, wanted);
        let lines = texts.map(gemini).join("\n");
        let clean = secrets().without_pieces(Stream::Gemini, lines.as_bytes(), false, false);
        let clean = String::from_utf8(clean.unwrap()).unwrap();
        assert!(
            !clean.contains("6789") && clean.contains(", and "),
            "{clean}"
        );
        // What another agent says between them, or copilot itself, is no part of it.
        let by_another = acp(" then ", "a").replace(
            "{\"content\"",
            "{\"_meta\":{\"parentToolCallId\":\"t\"},\"content\"",
        );
        assert_ne!(by_another, acp(" then ", "a"));
        let info = acp("Info: Disabled tools: bash", "a");
        for between in [by_another, info] {
            let output = [&acp("sk-0123", "a"), &between, &acp("456789", "a")];
            let output = output.map(String::as_str).join("\n");
            let clean = secrets().without_pieces(Stream::Acp, output.as_bytes(), false, false);
            let clean = String::from_utf8(clean.expect(&between)).unwrap();
            let wanted = [&acp("[redacted]", "a"), &between, &acp("", "a")];
            assert_eq!(clean, wanted.map(String::as_str).join("\n"));
        }
        // What holds none stays as it is.
        assert_eq!(
            secrets().without_pieces(Stream::Acp, other.as_bytes(), false, false),
            None
        );
    }
}
