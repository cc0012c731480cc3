//! The weakest rule about secrets: a random-looking value assigned to a name like a secret's.
//!
//! It guesses, so its findings are `low`; it looks at one changed line of text at a time.

use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::Regex;

use crate::checks::secret::is_placeholder;

/// Bits per byte that a random value of letters and digits reaches and words do not.
const ENTROPY: f64 = 3.5;
/// Longer lines are generated text; the rules with a known form look there all the same.
const LONGEST_LINE: usize = 4096;

const PATTERN: &str = r#"(?i-u)(?:api[_-]?key|secret|token|passw(?:or)?d|passphrase|credential|private[_-]?key|access[_-]?key|auth[_-]?key)[a-z0-9_.-]{0,24}["']?\]?\s{0,4}(?:=>|:=|=|:)\s{0,4}(?:"([^"\s]{16,256})"|'([^'\s]{16,256})'|`([^`\s]{16,256})`|([a-z0-9+/_=-]{16,256})\s*$)"#;

/// Where the value stands, if the line assigns one that looks random.
pub(crate) fn find(line: &[u8]) -> Option<Range<usize>> {
    if line.len() > LONGEST_LINE {
        return None;
    }
    let captures = pattern()?.captures(line)?;
    let value = (1..=4).find_map(|group| captures.get(group))?;
    looks_random(value.as_bytes()).then(|| value.range())
}

/// The line with every value that looks like a secret hidden.
pub(crate) fn redact(line: &str) -> String {
    match find(line.as_bytes()) {
        Some(range) if line.is_char_boundary(range.start) && line.is_char_boundary(range.end) => {
            format!(
                "{}[redacted: assigned-secret]{}",
                &line[..range.start],
                &line[range.end..]
            )
        }
        Some(_) => "[redacted: assigned-secret]".to_owned(),
        None => line.to_owned(),
    }
}

fn pattern() -> Option<&'static Regex> {
    static PATTERN_COMPILED: OnceLock<Option<Regex>> = OnceLock::new();
    PATTERN_COMPILED
        .get_or_init(|| Regex::new(PATTERN).ok())
        .as_ref()
}

fn looks_random(value: &[u8]) -> bool {
    let digits = value.iter().any(u8::is_ascii_digit);
    let letters = value.iter().any(u8::is_ascii_alphabetic);
    let reference = value.iter().any(|byte| b"${}<>()[] %".contains(byte));
    digits && letters && !reference && !is_placeholder(value) && entropy(value) >= ENTROPY
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of at most 256 bytes are exact in a double"
)]
fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_usize; 256];
    for byte in value {
        counts[usize::from(*byte)] += 1;
    }
    let total = value.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = *count as f64 / total;
            -share * share.log2()
        })
        .sum()
}
