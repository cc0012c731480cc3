//! Addresses with somebody's password or token in them: `https://user:token@host`.

use std::ops::Range;

use crate::agent::redact::{PIECE, SHORTEST, values};

/// What ends the part of an address that names user and host, but for white space.
const ENDS: &[u8] = br#"/"'`<>\?#"#;

/// What a word begins with that stands for a password: `$TOKEN`, `{{token}}`, and our own mark.
const STANDS_FOR_ONE: &[u8] = b"$<{[*%";

/// Where something secret stands in addresses: who and by what, together. Where a text ends within one, all
/// that may be so.
pub(super) fn found_in(text: &[u8], ends: bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for start in starts(text) {
        let is_end = |byte: &u8| ENDS.contains(byte) || *byte <= b' ';
        let rest = &text[start..];
        let length = rest.iter().position(is_end).unwrap_or(rest.len());
        // What is no part of a host may be one of a password.
        let at = rest[..length].iter().rposition(|byte| *byte == b'@');
        let goes_on = ends && length == rest.len();
        let before = &rest[..at.unwrap_or(length)];
        let is_secret = match at {
            Some(_) => is_secret(before),
            None => goes_on && may_be_begun(before),
        };
        if is_secret {
            found.push(start..start + before.len());
        }
    }
    found
}

/// Where the parts of addresses behind `://` begin; its `/` may be escaped, as JSON allows.
fn starts(text: &[u8]) -> impl Iterator<Item = usize> {
    let colons = text.iter().enumerate().filter(|(_, byte)| **byte == b':');
    colons.filter_map(|(at, _)| {
        let is_scheme = at > 0 && text[at - 1].is_ascii_alphanumeric();
        let rest = &text[at + 1..];
        let marks = [&b"//"[..], br"\/\/"].into_iter();
        let mut marks = marks.filter(|mark| is_scheme && rest.starts_with(mark));
        marks.next().map(|mark| at + 1 + mark.len())
    })
}

/// The passwords and tokens in the addresses of a text.
pub(super) fn passwords(text: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for range in found_in(text, false) {
        let before = &text[range];
        let (user, password) = parted(before).unwrap_or((before, b""));
        // A token may stand in the place of either.
        let user = Some(user).filter(|user| values::is_random(user));
        let password = Some(password).filter(|password| !password.is_empty());
        found.extend([user, password].into_iter().flatten().map(<[u8]>::to_vec));
    }
    found
}

/// User and password.
fn parted(before: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = before.iter().position(|byte| *byte == b':')?;
    Some((&before[..colon], &before[colon + 1..]))
}

/// Whether it is more than a name, and no word that stands for something: `user:$PASSWORD`.
fn is_secret(before: &[u8]) -> bool {
    match parted(before) {
        Some((_, password)) => before.len() >= SHORTEST && !stands_for_one(password),
        None => values::is_random(before),
    }
}

/// The same of one whose end is not there: a port is none.
fn may_be_begun(before: &[u8]) -> bool {
    match parted(before) {
        Some((_, password)) => {
            let is_port = password.iter().all(u8::is_ascii_digit);
            password.len() >= PIECE && !is_port && !stands_for_one(password)
        }
        None => values::is_random(before),
    }
}

fn stands_for_one(password: &[u8]) -> bool {
    let first = password.first();
    first.is_some_and(|first| STANDS_FOR_ONE.contains(first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::redact::tests::at;

    fn found(text: &str, ends: bool) -> Vec<&str> {
        at(text, found_in(text.as_bytes(), ends))
    }

    #[test]
    fn a_password_in_an_address_is_found() {
        for (text, secret) in [
            ("see https://bot:tok-123@host/x and", "bot:tok-123"),
            (r"https:\/\/bot:tok-123@host", "bot:tok-123"),
            ("https://a:b@h,https://bot:tok-123@i", "bot:tok-123"),
            ("HTTPS://bot:t@k-123@host:80/", "bot:t@k-123"),
            ("git+ssh://a:tok-1234@h", "a:tok-1234"),
            ("https://0123456789abcdefghij:@h", "0123456789abcdefghij:"),
            ("https://ghp_0123456789abcdefgh@h", "ghp_0123456789abcdefgh"),
        ] {
            assert_eq!(found(text, false), [secret], "{text}");
        }
        for text in [
            "http://localhost:8080/a@b",
            "ssh://git@example.org:22/x",
            "https://someone@example.org",
            "https://u:$TOKEN@example.org",
            "https://user:<token>@example.org",
            "https://bot:[redacted]@h",
            "a:b-345678@c",
            "https://example.org, bot:tok-123@x",
            "https://[redacted]@h",
        ] {
            assert_eq!(found(text, false), [""; 0], "{text}");
        }
        // Half of one, where the text goes on.
        assert_eq!(found("https://bot:tok-1", true), ["bot:tok-1"]);
        assert_eq!(found("https://bot:tok-1", false), [""; 0]);
        assert_eq!(found("http://localhost:8080", true), [""; 0]);
        assert_eq!(passwords(b"http://me:tok-1234@proxy:3128"), [b"tok-1234"]);
        let token = b"0123456789abcdefghij";
        assert_eq!(passwords(b"https://0123456789abcdefghij:@h"), [token]);
    }
}
