//! Secrets that a program told in pieces, each in a line of its own: no line holds one, and whoever
//! reads them together does.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use serde_json::Value;

use crate::agent::adapter;
use crate::agent::redact::{MARK, Secrets};
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
    /// Takes the values out of what a program said in pieces, in the file that holds its output.
    pub(crate) fn taken_out_of_pieces(&self, stream: Stream, path: &Path) {
        if self.values.is_empty() {
            return;
        }
        let Ok(bytes) = fs_err::read(path) else {
            return;
        };
        if let Some(clean) = self.without_pieces(stream, &bytes)
            && fs_err::write(path, clean).is_err()
        {
            // Better no file than one that shows a key.
            drop(fs_err::remove_file(path));
        }
    }

    /// The output without them; `None` where it holds none.
    fn without_pieces(&self, stream: Stream, output: &[u8]) -> Option<Vec<u8>> {
        let lines: Vec<&[u8]> = output.split_inclusive(|byte| *byte == b'\n').collect();
        let mut texts: BTreeMap<String, Vec<Piece>> = BTreeMap::new();
        for (line, bytes) in lines.iter().enumerate() {
            let value = serde_json::from_slice::<Value>(bytes).ok();
            let found = value.and_then(|value| {
                let (of, place) = adapter::piece(stream, &value)?;
                let text = value.pointer(place)?.as_str()?.to_owned();
                Some((of, Piece { line, place, text }))
            });
            if let Some((of, piece)) = found {
                texts.entry(of).or_default().push(piece);
            }
        }
        let mut clean: BTreeMap<usize, (&'static str, String)> = BTreeMap::new();
        for pieces in texts.values() {
            let whole: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
            let secret = self.found_in(whole.as_bytes());
            let mut at = 0;
            for piece in pieces {
                let text = without(piece.text.as_bytes(), at, &secret);
                at += piece.text.len();
                if let Some(text) = text {
                    clean.insert(piece.line, (piece.place, text));
                }
            }
        }
        if clean.is_empty() {
            return None;
        }
        let mut bytes = Vec::with_capacity(output.len());
        for (nth, line) in lines.into_iter().enumerate() {
            match (clean.remove(&nth), serde_json::from_slice::<Value>(line)) {
                (Some((place, text)), Ok(mut value)) => {
                    if let Some(said) = value.pointer_mut(place) {
                        *said = Value::String(text);
                    }
                    bytes.extend_from_slice(format!("{value}\n").as_bytes());
                }
                (_, _) => bytes.extend_from_slice(line),
            }
        }
        Some(bytes)
    }

    /// Where the values stand, in order.
    fn found_in(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        for value in &self.values {
            let starts = text.windows(value.len()).enumerate();
            let starts = starts.filter(|(_, part)| part == value).map(|(at, _)| at);
            found.extend(starts.map(|at| at..at + value.len()));
        }
        found.sort_by_key(|range| range.start);
        found
    }
}

/// A piece that begins at this place of its text, without what is secret; `None` where nothing is. The
/// mark stands where a secret begins.
fn without(piece: &[u8], begins: usize, secret: &[Range<usize>]) -> Option<String> {
    let ends = begins + piece.len();
    let mut kept = Vec::new();
    let mut at = begins;
    let mut is_clean = true;
    for range in secret {
        if range.end <= at || range.start >= ends {
            continue;
        }
        is_clean = false;
        let start = range.start.max(at);
        kept.extend_from_slice(&piece[at - begins..start - begins]);
        if range.start >= begins {
            kept.extend_from_slice(MARK);
        }
        at = range.end.min(ends);
    }
    kept.extend_from_slice(&piece[at - begins..]);
    (!is_clean).then(|| String::from_utf8_lossy(&kept).into_owned())
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
        let clean = secrets().without_pieces(Stream::Acp, output.as_bytes());
        let clean = String::from_utf8(clean.unwrap()).unwrap();
        let said: Vec<&str> = clean.lines().collect();
        let wanted = ["It is [redacted]", "", ", and [redacted][redacted]", "."];
        let wanted = wanted.map(|text| acp(text, "a"));
        let wanted = [
            &wanted[0], &other, &none, &wanted[1], &wanted[2], &wanted[3],
        ];
        assert_eq!(said, wanted);
        let lines = texts.map(gemini).join("\n");
        let clean = secrets().without_pieces(Stream::Gemini, lines.as_bytes());
        let clean = String::from_utf8(clean.unwrap()).unwrap();
        assert!(
            !clean.contains("6789") && clean.contains(", and "),
            "{clean}"
        );
        // What holds none stays as it is.
        assert_eq!(
            secrets().without_pieces(Stream::Acp, other.as_bytes()),
            None
        );
    }
}
