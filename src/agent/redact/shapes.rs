//! Tokens that tell by their shape what they are, whoever's they are: nobody has to name them.
//!
//! What a job leaves is shown and promoted, so none of them may stand in it. What is under review, and what
//! digests are of, is never touched: a change that adds such a token is reviewed as it is.

use std::ops::Range;

use crate::agent::redact::{PIECE, values};

/// How a kind of token begins, and what follows.
struct Shape {
    /// Its first bytes.
    begins: &'static [u8],
    /// The fewest bytes that follow.
    fewest: usize,
    /// The most.
    most: usize,
    /// Whether a byte may follow.
    holds: fn(u8) -> bool,
    /// Whether what follows looks drawn: letters and digits in a row, many, and both.
    is_drawn: bool,
}

const fn letters(begins: &'static [u8], fewest: usize) -> Shape {
    Shape {
        begins,
        fewest,
        most: 512,
        holds: |byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-',
        is_drawn: true,
    }
}

const fn capitals(begins: &'static [u8]) -> Shape {
    Shape {
        begins,
        fewest: 16,
        most: 16,
        holds: |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        is_drawn: false,
    }
}

/// Those of code hosts, of providers of models, of registries, of payments and of clouds.
const SHAPES: [Shape; 20] = [
    letters(b"ghp_", 30),
    letters(b"gho_", 30),
    letters(b"ghu_", 30),
    letters(b"ghs_", 30),
    letters(b"ghr_", 30),
    letters(b"github_pat_", 40),
    letters(b"glpat-", 20),
    letters(b"sk-", 20),
    letters(b"sk_live_", 20),
    letters(b"sk_test_", 20),
    letters(b"rk_live_", 20),
    letters(b"AIza", 30),
    letters(b"npm_", 30),
    letters(b"hf_", 30),
    letters(b"xoxb-", 20),
    letters(b"xoxp-", 20),
    letters(b"xoxa-", 20),
    letters(b"xapp-", 20),
    capitals(b"AKIA"),
    capitals(b"ASIA"),
];

/// Where tokens stand in a text. Where it ends within one, all that may be so.
pub(super) fn found_in(text: &[u8], ends: bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut in_word = false;
    let mut escaped = 0..0;
    for (start, byte) in text.iter().enumerate() {
        if *byte == b'\\' {
            escaped = start..start + escape(&text[start..]);
        }
        // What stands for a line end is no letter of the word behind it.
        if escaped.contains(&start) {
            in_word = false;
            continue;
        }
        let is_begun = !std::mem::replace(&mut in_word, is_of_a_word(*byte)) && in_word;
        // Large outputs are looked at: most words are none.
        if !is_begun || !b"gsrAnhx".contains(byte) {
            continue;
        }
        let rest = &text[start..];
        let lengths = SHAPES.iter().filter_map(|shape| {
            let after = rest.strip_prefix(shape.begins)?;
            Some(shape.begins.len() + shape.length(after, ends)?)
        });
        found.extend(lengths.max().map(|length| start..start + length));
    }
    found
}

impl Shape {
    /// How much of what follows its beginning is of a token; `None` where that is none.
    fn length(&self, rest: &[u8], ends: bool) -> Option<usize> {
        let run = rest.iter().position(|byte| !(self.holds)(*byte));
        let length = run.unwrap_or(rest.len());
        // Nothing but words so far: what is left of a name.
        let looks_so = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
        let is_begun = ends
            && run.is_none()
            && (PIECE..=self.most).contains(&length)
            && rest.iter().any(looks_so);
        let is_long = (self.fewest..=self.most).contains(&length);
        // More of the same, or another letter behind it: a word of something else.
        let next = rest.get(length).copied();
        let is_whole = is_long
            && !next.is_some_and(|byte| byte.is_ascii_alphanumeric())
            && (!self.is_drawn || values::is_random(&rest[..length]));
        (is_whole || is_begun).then_some(length)
    }
}

/// How long the escape is that a text begins with, as JSON and others write what is no letter.
fn escape(text: &[u8]) -> usize {
    match text.get(1) {
        Some(b'n' | b'r' | b't' | b'b' | b'f') => 2,
        Some(b'u') if is_hex(text.get(2..6)) => 6,
        Some(_) | None => 0,
    }
}

fn is_hex(digits: Option<&[u8]>) -> bool {
    digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

fn is_of_a_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::redact::tests::at;

    fn found(text: &str, ends: bool) -> Vec<&str> {
        at(text, found_in(text.as_bytes(), ends))
    }

    /// In two parts: whoever looks for tokens in this file finds none.
    #[test]
    fn a_token_is_known_by_its_shape() {
        let drawn = "0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R";
        for begins in [
            "ghp_",
            "gho_",
            "ghs_",
            "sk-",
            "sk-ant-api03-",
            "sk-proj-",
            "glpat-",
            "npm_",
            "AIza",
        ] {
            let token = format!("{begins}{drawn}");
            for text in [
                format!("it is {token}."),
                format!("\"{token}\""),
                format!("KEY={token}\n"),
                // As JSON writes what stands before it, once and within another.
                format!(r#"{{"text":"it is\n{token}\nand"}}"#),
                format!(r#"{{"text":"{{\"it\":\"is\\n{token}\"}}"}}"#),
                format!(r"\u000a{token}\u000a"),
            ] {
                assert_eq!(found(&text, false), [token.as_str()], "{text}");
            }
            assert_eq!(found(&format!("x{token}"), false), [""; 0]);
        }
        let aws = format!("{}{}", "AKIA", "IOSFODNN7EXAMPLE");
        assert_eq!(found(&format!("id {aws},"), false), [aws.as_str()]);
        for text in [
            "risk-based-assessment-of-all-the-changes",
            "sk-this-is-a-long-name-of-a-branch-and-no-key",
            "the prefix ghp_ and sk- and AKIA",
            "AKIAIOSFODNN7EXAMPLEX",
            "task-0a1B2c3D4e5F6g7H8i9J0k1L2m3N",
            "sk-0a1B2c",
        ] {
            assert_eq!(found(text, false), [""; 0], "{text}");
        }
        // Half of one, where the text goes on.
        assert_eq!(found("it is sk-0a1B2c", true), ["sk-0a1B2c"]);
        assert_eq!(found("it is sk-", true), [""; 0]);
        assert_eq!(found("the package sk-learn-contrib", true), [""; 0]);
    }
}
