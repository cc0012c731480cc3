//! Times of the day as programs tell them: `3pm (Europe/Berlin)`, `14:05 UTC`.

use jiff::ToSpan as _;
use jiff::civil::Time;
use jiff::tz::TimeZone;

use crate::domain::time::Timestamp;

/// The next time after `now` that a clock shows what the text begins with, which is in lower case.
/// Where it does not say whose clock, nothing is guessed.
pub(super) fn next(text: &str, now: Timestamp) -> Option<Timestamp> {
    let (time, rest) = time(text)?;
    let zone = zone(rest)?;
    let now = jiff::Timestamp::from_millisecond(now.as_millis()).ok()?;
    let today = now.to_zoned_datetime(zone.clone()).date();
    let at = |date: jiff::civil::Date| date.to_datetime(time).to_zoned_datetime(zone.clone()).ok();
    let later = |at: &jiff::ZonedDateTime| at.timestamp() > now;
    let at = at(today)
        .filter(later)
        .or_else(|| at(today.checked_add(1.day()).ok()?).filter(later))?;
    Some(Timestamp::from_millis(at.timestamp().as_millisecond()))
}

/// `3pm`, `3:15 pm`, `14:05`, and what follows. A number alone is no time.
fn time(text: &str) -> Option<(Time, &str)> {
    let (hour, rest) = digits(text)?;
    let (minute, rest) = match rest.strip_prefix(':').map(digits) {
        Some(Some((minute, rest))) => (Some(minute), rest),
        Some(None) => return None,
        None => (None, rest),
    };
    let half = rest.trim_start();
    let (hour, rest) = if let Some(rest) = half.strip_prefix("am") {
        (twelve(hour)?, rest)
    } else if let Some(rest) = half.strip_prefix("pm") {
        (twelve(hour)? + 12, rest)
    } else {
        minute?;
        (hour, rest)
    };
    if rest.starts_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let time = Time::new(hour, minute.unwrap_or(0), 0, 0).ok()?;
    Some((time, rest))
}

/// The hour of a clock with twelve of them, from midnight or noon.
fn twelve(hour: i8) -> Option<i8> {
    (1..=12).contains(&hour).then_some(hour % 12)
}

/// One or two digits.
fn digits(text: &str) -> Option<(i8, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let number = text[..end].parse().ok().filter(|_| end <= 2)?;
    Some((number, &text[end..]))
}

/// The zone that is named right after a time.
fn zone(text: &str) -> Option<TimeZone> {
    let text = text.trim_start();
    let text = text.strip_prefix('(').unwrap_or(text);
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '_' | '+' | '-');
    let end = text.find(|c: char| !part(c)).unwrap_or(text.len());
    match &text[..end] {
        "utc" | "gmt" | "z" => Some(TimeZone::UTC),
        "local" => TimeZone::try_system().ok(),
        // A name of a city: abbreviations mean several zones.
        name if name.contains('/') => TimeZone::get(name).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On the night when the clock is put forward, half past two does not exist; the time meant is
    /// the one after the gap, and never in the past.
    #[test]
    fn a_time_that_does_not_exist_that_night_is_later() {
        let at = |text: &str| {
            let moment: jiff::Timestamp = text.parse().unwrap();
            Timestamp::from_millis(moment.as_millisecond())
        };
        let now = at("2026-03-29T00:30:00Z");
        assert_eq!(
            next("2:30am (europe/berlin)", now),
            Some(at("2026-03-29T01:30:00Z"))
        );
    }

    #[test]
    fn the_machines_own_clock_counts_where_it_is_named() {
        let now = Timestamp::from_millis(1_764_446_400_000);
        let next = next("3pm local time", now).unwrap();
        let ahead = next.as_millis() - now.as_millis();
        assert!(ahead > 0 && ahead <= 25 * 3_600_000, "{ahead}");
    }
}
