//! When a limit is lifted, from a program's own words about it.
//!
//! Only what the program told as its error is read, never what it printed of files: a text under
//! review may speak of limits as well (scenario H14).

mod clock;

use crate::domain::job::Ended;
use crate::domain::limits::Reset;
use crate::domain::time::Timestamp;

/// Words that stand right before a span of time.
const SPANS: [&str; 5] = [
    "try again in ",
    "retry after ",
    "retry-after: ",
    "retry in ",
    "resets in ",
];
/// Words that stand right before a moment, or a time of the day.
const MOMENTS: [&str; 5] = [
    "limit reached|",
    "resets at ",
    "reset at ",
    "resets ",
    "try again at ",
];

/// When the limit is lifted that ended a job, about `now`: as its program's events told, else as its
/// words do.
#[must_use]
pub fn of(ended: &Ended, told: Option<Reset>, now: Timestamp) -> Option<Reset> {
    let Ended::Failed {
        trouble, message, ..
    } = ended
    else {
        return None;
    };
    if trouble.is_limit() {
        told.or_else(|| said(message, now))
    } else {
        None
    }
}

/// What a message of `now` says of when the limit is lifted.
#[must_use]
pub fn said(message: &str, now: Timestamp) -> Option<Reset> {
    if let Some(at) = dated(message) {
        return Some(Reset::At { at });
    }
    let header = header(message);
    let message = message.to_lowercase();
    let after = |words: &&str| message.split_once(*words).map(|(_, rest)| rest);
    let moments = || MOMENTS.iter().filter_map(after);
    let at = moments()
        .find_map(moment)
        .or_else(|| moments().find_map(|text| clock::next(text, now)));
    if let Some(at) = at {
        return Some(Reset::At { at });
    }
    let named = |name: &str| header.split_once(name).map(|(_, rest)| rest);
    let mut spans = SPANS.iter().filter_map(after);
    let within = named("retry-after-ms:")
        .and_then(rounded)
        .or_else(|| spans.find_map(span))
        .or_else(|| span(named("retry-after:")?));
    within.map(|seconds| Reset::In { seconds })
}

/// `Retry-After: Wed, 21 Oct 2026 07:28:00 GMT`, the other form that the header has.
fn dated(message: &str) -> Option<Timestamp> {
    const NAME: &str = "retry-after";
    // Every character stays as long as it is.
    let plain = message.to_ascii_lowercase().replace('_', "-");
    let rest = &message[plain.find(NAME)? + NAME.len()..];
    let value = rest.trim_start_matches(['"', '\'', '\\', ':', ' ']);
    let (date, _) = value.split_once(" GMT")?;
    let at = jiff::fmt::rfc2822::parse(&format!("{date} GMT")).ok()?;
    Some(Timestamp::from_millis(at.timestamp().as_millisecond()))
}

/// A message with its names and values as headers have them, also where they are those of JSON.
fn header(message: &str) -> String {
    let message = message.to_lowercase().replace('_', "-");
    message.replace(['"', '\'', '\\', ' '], "")
}

/// A number of milliseconds, rounded up to seconds.
fn rounded(text: &str) -> Option<u64> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    seconds(text[..digits].parse().ok()?)
}

/// Milliseconds as seconds, rounded up; beyond a year it is no span that anybody waits for.
fn seconds(millis: f64) -> Option<u64> {
    let seconds = (millis / 1_000.0).ceil();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bounded by the line below it"
    )]
    let whole = seconds as u64;
    (0.0..=31_536_000.0).contains(&seconds).then_some(whole)
}

/// Seconds or milliseconds since 1970, or a moment of RFC 3339.
fn moment(text: &str) -> Option<Timestamp> {
    let word = text.split([' ', ',', ';', ')', '"']).next()?;
    let word = word.trim_end_matches('.');
    if let Ok(number) = word.parse::<i64>() {
        return epoch(number);
    }
    let at: jiff::Timestamp = word.to_uppercase().parse().ok()?;
    Some(Timestamp::from_millis(at.as_millisecond()))
}

/// A moment as a number; one that is no moment of this century is none.
#[must_use]
pub fn epoch(number: i64) -> Option<Timestamp> {
    let seconds = 1_000_000_000..5_000_000_000;
    if seconds.contains(&number) {
        return Some(Timestamp::from_millis(number * 1000));
    }
    let millis = 1_000_000_000_000..5_000_000_000_000;
    millis
        .contains(&number)
        .then_some(Timestamp::from_millis(number))
}

/// `3 days 4 hours 12 minutes`, `1h 30m`, `34.07s`, `500ms`, `30`; rounded up to seconds.
fn span(text: &str) -> Option<u64> {
    let mut rest = text;
    let (mut millis, mut any) = (0_f64, false);
    loop {
        rest = rest.trim_start_matches([' ', ',']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let Ok(number) = rest[..digits].trim_end_matches('.').parse::<f64>() else {
            break;
        };
        let unit = rest[digits..].trim_start_matches(' ');
        let letters = unit
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(unit.len());
        let each = match &unit[..letters] {
            "ms" | "millisecond" | "milliseconds" => 1.0,
            "s" | "sec" | "secs" | "second" | "seconds" => 1_000.0,
            "m" | "min" | "mins" | "minute" | "minutes" => 60_000.0,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3_600_000.0,
            "d" | "day" | "days" => 86_400_000.0,
            // A number alone counts seconds; behind a span it belongs to what follows.
            _ if !any => {
                millis = number * 1_000.0;
                any = true;
                break;
            }
            _ => break,
        };
        millis += number * each;
        any = true;
        rest = &unit[letters..];
    }
    if any { seconds(millis) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_say_of_their_limits_is_read() {
        let at = |seconds: i64| Reset::At {
            at: Timestamp::from_millis(seconds * 1000),
        };
        // 2025-11-29 20:00 in UTC, a Saturday; 21:00 in Berlin and noon in Los Angeles.
        let now = Timestamp::from_millis(1_764_446_400_000);
        let within = |seconds| Reset::In { seconds };
        let hours = |hours: i64| Some(at(1_764_446_400 + hours * 3600));
        for (said_so, wanted) in [
            (
                "Claude AI usage limit reached|1764446400",
                Some(at(1_764_446_400)),
            ),
            (
                "limit reached; resets at 2025-11-29T20:00:00Z.",
                Some(at(1_764_446_400)),
            ),
            (
                "You've hit your usage limit. Try again in 3 days 4 hours 12 minutes.",
                Some(within(274_320)),
            ),
            ("Please retry in 34.074824224s.", Some(within(35))),
            ("429: retry after 120 s", Some(within(120))),
            ("Retry-After: 30", Some(within(30))),
            // K09: 3 days and 4 hours, in the form in which providers say it.
            ("retry-after-ms: 274579000", Some(within(274_579))),
            ("{\"retry-after-ms\":\"274579001\"}", Some(within(274_580))),
            ("retry_after_ms: 7200000", Some(within(7_200))),
            ("{\"retry_after\": 7200}", Some(within(7_200))),
            ("retry-after-ms: 99999999999999", None),
            (
                "429; Retry-After: Sat, 29 Nov 2025 22:00:00 GMT; busy",
                hours(2),
            ),
            (
                "{\"retry_after\": \"Sat, 29 Nov 2025 21:00:00 GMT\"}",
                hours(1),
            ),
            ("Retry-After: Sat, 31 Nov 2025 22:00:00 GMT", None),
            ("try again in 1h30m", Some(within(5_400))),
            ("try again in 500ms", Some(within(1))),
            ("rate limited, try again in 20 requests", Some(within(20))),
            ("Try again later.", None),
            ("Too many requests", None),
            ("resets at noon", None),
            ("try again in a minute", None),
            ("limit reached|12", None),
            ("session limit \u{b7} resets 11pm (Europe/Berlin)", hours(2)),
            (
                "Your limit will reset at 3pm (America/Los_Angeles).",
                hours(3),
            ),
            ("resets 8pm (Europe/Berlin)", hours(23)),
            // What is right now is over, and means the next day.
            ("resets at 8 PM UTC", hours(24)),
            ("try again at 21:00 UTC.", hours(1)),
            ("resets 12am (UTC)", hours(4)),
            ("resets 12:00pm (UTC)", hours(16)),
            // Whose three o'clock?
            ("resets 3pm", None),
            ("try again at 14:05.", None),
            ("resets 3pm (Middle/Earth)", None),
            ("resets 3pm (PST)", None),
            ("try again at Dec 3rd, 2025 3:15 PM (UTC)", None),
            ("resets 25:00 UTC", None),
            ("resets 13pm (UTC)", None),
            ("resets 0am (UTC)", None),
            ("resets 12:61 UTC", None),
            ("resets 3 (UTC)", None),
        ] {
            assert_eq!(said(said_so, now), wanted, "{said_so}");
        }
    }
}
