//! Which values are secrets, and in which forms a text may hold one.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use crate::agent::environment::{Variables, passed_on};
use crate::agent::redact::address;
use crate::domain::agent::{Agent, AgentKind};

/// Words of a variable's name, or parts of one, that say that its value is a secret.
const PARTS: &[&str] = &[
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSW",
    "PASSPHRASE",
    "CREDENTIAL",
    "LOGIN",
    "BEARER",
    "COOKIE",
    "PRIVATE",
    "SIGNATURE",
    "WEBHOOK",
];

/// Words that say so by themselves alone: `PATH` and `AUTHOR` do not.
const WORDS: &[&str] = &[
    "PASS",
    "PWD",
    "PAT",
    "PIN",
    "OTP",
    "AUTH",
    "OAUTH",
    "OAUTH2",
    "AUTHORIZATION",
    "SESSION",
    "DSN",
];

/// As many letters and digits in a row, both of them, are no setting.
const RANDOM: usize = 16;

/// The secrets among what an agent is given: what its profile lists as keys, and of what its entry names
/// whatever says by its name or its look that it is one, or an address says of itself.
pub(super) fn given(agent: &Agent, ours: &Variables) -> Vec<Vec<u8>> {
    let (keys, known, named) = match &agent.kind {
        AgentKind::Command(program) => (&[][..], &[][..], &program.env[..]),
        AgentKind::Profile(program) => (
            &program.profile.keys[..],
            &program.profile.env[..],
            &program.env[..],
        ),
        AgentKind::Checks | AgentKind::Human => return Vec::new(),
    };
    let value = |name: &String| ours.get(OsStr::new(name)).map(|value| value.as_bytes());
    let says_so = |name: &&String| {
        is_named_so(name) || value(name).is_some_and(|value| is_random(&without_places(value)))
    };
    let whole = keys.iter().chain(named.iter().filter(says_so));
    let whole = whole.filter_map(value).map(<[u8]>::to_vec);
    // Also of what everybody gets: a proxy's address has a password in it.
    let names: Vec<String> = known.iter().chain(named).cloned().collect();
    let addresses = passed_on(ours, &names);
    let within = addresses
        .values()
        .flat_map(|value| address::passwords(value.as_bytes()));
    whole.chain(within).collect()
}

/// Whether a variable's name says that its value is a secret.
fn is_named_so(name: &str) -> bool {
    let name = name.to_uppercase();
    let is_word = |word: &str| WORDS.contains(&word);
    // The folder that a shell is in.
    name != "PWD"
        && (PARTS.iter().any(|part| name.contains(part))
            || name.split(|c: char| !c.is_alphanumeric()).any(is_word))
}

/// Whether a value looks as if it were drawn: letters and digits in a row, many, and both.
pub(super) fn is_random(value: &[u8]) -> bool {
    let runs = value.split(|byte| !byte.is_ascii_alphanumeric());
    runs.filter(|run| run.len() >= RANDOM)
        .any(|run| run.iter().any(u8::is_ascii_digit) && run.iter().any(u8::is_ascii_alphabetic))
}

/// A value, and where it has several lines each of those that looks drawn: others indent them, or end them
/// otherwise.
pub(super) fn with_its_lines(value: Vec<u8>) -> Vec<Vec<u8>> {
    let lines = value.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let lines = lines.filter(|line| line.len() < value.len() && is_random(line));
    let lines: Vec<Vec<u8>> = lines.map(<[u8]>::to_vec).collect();
    std::iter::once(value).chain(lines).collect()
}

/// A value that is no path and no address: their parts are names.
fn without_places(value: &[u8]) -> Vec<u8> {
    let is_place = value.starts_with(b"/") || value.windows(3).any(|three| three == b"://");
    if is_place { Vec::new() } else { value.to_vec() }
}

/// A value and what it looks like where others write it down: as a text of JSON, once and within another,
/// and in an address.
pub(super) fn forms(value: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = vec![value.to_vec()];
    if let Ok(text) = std::str::from_utf8(value) {
        for once in [json(text), json(text).replace('/', "\\/"), ascii(text)] {
            forms.push(json(&once).into_bytes());
            forms.push(once.into_bytes());
        }
    }
    for upper in [true, false] {
        let encoded = percent(value, upper);
        forms.push(encoded.replace("%20", "+").into_bytes());
        forms.push(encoded.into_bytes());
    }
    forms
}

/// A text as JSON writes it, without its quotes.
fn json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// The same, as those write it that put out nothing but ASCII.
fn ascii(text: &str) -> String {
    let written = |c: char| {
        if c.is_ascii() {
            return c.to_string();
        }
        let mut halves = [0; 2];
        let halves = c.encode_utf16(&mut halves).iter();
        let halves = halves.map(|half| format!("\\u{half:04x}"));
        halves.collect::<Vec<_>>().concat()
    };
    json(text).chars().map(written).collect::<String>()
}

/// A value as it stands in an address.
fn percent(value: &[u8], upper: bool) -> String {
    let written = |byte: &u8| match byte {
        b'-' | b'.' | b'_' | b'~' => char::from(*byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(*byte).to_string(),
        byte if upper => format!("%{byte:02X}"),
        byte => format!("%{byte:02x}"),
    };
    value.iter().map(written).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_told_from_a_setting() {
        for name in [
            "OPENAI_API_KEY",
            "apikey",
            "BOT_TOKEN",
            "DB_PASSWORD",
            "PGPASSWORD",
            "DB_PASS",
            "DB_PWD",
            "HOUSE_LOGIN",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "BOT_AUTH",
            "GH_PAT",
            "SENTRY_DSN",
        ] {
            assert!(is_named_so(name), "{name}");
        }
        for name in [
            "NODE_ENV",
            "RUST_LOG",
            "PATH",
            "PWD",
            "OLDPWD",
            "AUTHOR_NAME",
            "AWS_REGION",
            "COMPASS",
        ] {
            assert!(!is_named_so(name), "{name}");
        }
        for value in ["sk-proj-a1b2c3d4e5f6g7h8", "ghp_0123456789abcdefghij"] {
            assert!(is_random(value.as_bytes()), "{value}");
        }
        for value in [
            "production",
            "us-east-1",
            "gpt-5.1-codex-2026-11-30",
            "12345678901234567890",
            "someverylongwordwithoutanydigit",
            "2c7c1f1e-8f4a-4f0e-9d3a-0f0e1d2c3b4a",
        ] {
            assert!(!is_random(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn a_value_is_known_in_what_others_write() {
        let forms = forms("a\"b/c\\d \u{e9}\n".as_bytes());
        for written in [
            "a\"b/c\\d \u{e9}\n",
            r#"a\"b/c\\d é\n"#,
            r#"a\"b\/c\\d é\n"#,
            r#"a\"b/c\\d \u00e9\n"#,
            r#"a\\\"b/c\\\\d é\\n"#,
            "a%22b%2Fc%5Cd%20%C3%A9%0A",
            "a%22b%2fc%5cd+%c3%a9%0a",
        ] {
            assert!(
                forms.iter().any(|form| form == written.as_bytes()),
                "{written}"
            );
        }
    }
}
