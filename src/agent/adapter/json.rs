//! One line of JSON of a program's stream.

use serde_json::Value;

/// Reads a line. Programs cut texts between the two halves of a pair of surrogates; half a pair is read
/// as the character that stands for what cannot be read.
pub(crate) fn parsed(line: &str) -> Option<Value> {
    let read = |line: &str| serde_json::from_str(line).ok();
    read(line).or_else(|| read(&without_half_pairs(line)?))
}

/// Whether a line that cannot be read looks like a piece of an event, or has one within it: what the
/// event said is lost. Other lines are warnings of the program, or of what it runs. Where a head or an
/// end of an event is lost, or words of somebody else stand on both sides of one, its middle tells.
pub(crate) fn is_piece(line: &str) -> bool {
    let line = line.trim();
    let marks = ["{\"", "\"}", "\",\""];
    line.starts_with('{')
        || line.ends_with('}')
        || marks.iter().any(|mark| line.contains(mark))
        || has_member(line)
}

/// Whether a name and the beginning of its value stand there. People write quotes and colons, too.
fn has_member(line: &str) -> bool {
    line.match_indices("\":").any(|(at, name)| {
        let value = line[at + name.len()..].trim_start();
        value.is_empty()
            || value.starts_with(['"', '{', '[', '-'])
            || value.starts_with(|c: char| c.is_ascii_digit())
            || ["true", "false", "null"]
                .iter()
                .any(|word| value.starts_with(word))
    })
}

/// The line without halves of pairs; `None` where it has none.
fn without_half_pairs(line: &str) -> Option<String> {
    let mut mended = String::with_capacity(line.len());
    let mut any = false;
    let mut rest = line;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let is_pair = || {
            let second = escape.get(6..).and_then(half);
            second.is_some_and(|second| second >= 0xdc00)
        };
        let taken = match half(escape) {
            Some(first) if first < 0xdc00 && is_pair() => 12,
            Some(_) => {
                any = true;
                mended.push_str("\\ufffd");
                rest = &escape[6..];
                continue;
            }
            // What is escaped may be a backslash.
            None => 1 + escape[1..].chars().next().map_or(0, char::len_utf8),
        };
        mended.push_str(&escape[..taken]);
        rest = &escape[taken..];
    }
    mended.push_str(rest);
    any.then_some(mended)
}

/// The half of a pair that a text begins with, as JSON writes it.
fn half(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let code = u32::from_str_radix(digits, 16).ok()?;
    (0xd800..=0xdfff).contains(&code).then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_pair_is_one_character_that_cannot_be_read() {
        for (line, text) in [
            (r#"{"a":"x\ud83d"}"#, "x\u{fffd}"),
            (r#"{"a":"x\ude00y"}"#, "x\u{fffd}y"),
            (r#"{"a":"\ud83d\ud83d\ude00"}"#, "\u{fffd}\u{1f600}"),
            (r#"{"a":"\\ud83d \ud83d"}"#, "\\ud83d \u{fffd}"),
            (r#"{"a":"\ud83d\n"}"#, "\u{fffd}\n"),
            (r#"{"a":"\ud83d\ude00"}"#, "\u{1f600}"),
        ] {
            assert_eq!(parsed(line).unwrap()["a"], text, "{line}");
        }
        for line in [r#"{"a":"x\ud83d"#, r#"{"a":"\ud83"#, "{\"a\":\"\\", "x"] {
            assert_eq!(parsed(line), None, "{line}");
        }
    }

    #[test]
    fn a_piece_of_an_event_is_no_warning() {
        for line in [
            r#"{"type":"mess"#,
            r#"  {"type""#,
            r#"ge","content":"NOT PASS"}"#,
            // Without its head, and without both ends.
            r#"NOT PASS"}"#,
            r#"SS"}}"#,
            "}",
            "e}",
            r#"ge","content":"NOT"#,
            r#"tent": "NOT"#,
            r#""delta":true"#,
            // With words of others before it, behind it, and on both sides.
            r#"Warning: late.{"type":"message","content":"NOT PASS"}"#,
            r#"{"type":"message","content":"NOT PASS"} is late"#,
            r#"Warning: {"type":"message","content":"NOT PASS"} is late"#,
        ] {
            assert!(is_piece(line), "{line}");
        }
        for line in [
            "Warning: {} is odd",
            "",
            "[1, 2]",
            r#"Unknown option "x", ignored"#,
            r#"The key "x": deprecated"#,
            r#"Loaded "settings.json""#,
        ] {
            assert!(!is_piece(line), "{line}");
        }
    }
}
