//! Moments and spans of time, for people and programs.

use crate::domain::time::Timestamp;

/// A moment in UTC, as RFC 3339 with milliseconds.
#[must_use]
pub fn moment(at: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(at.as_millis()).map_or_else(
        |_| format!("{} ms since 1970", at.as_millis()),
        |time| format!("{time:.3}"),
    )
}

/// Milliseconds between two moments; none where a clock was set back.
#[must_use]
pub fn millis(from: Timestamp, to: Timestamp) -> u64 {
    let millis = to.as_millis().saturating_sub(from.as_millis());
    u64::try_from(millis).unwrap_or_default()
}

/// A span between two moments: `4.2s`, `1m05s`, `2h03m`.
#[must_use]
pub fn span(from: Timestamp, to: Timestamp) -> String {
    let millis = to.as_millis().saturating_sub(from.as_millis()).max(0);
    let seconds = millis / 1000;
    match seconds {
        0..60 => format!("{seconds}.{}s", millis % 1000 / 100),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_moments_read_well() {
        let at = Timestamp::from_millis;
        assert_eq!(span(at(0), at(4_250)), "4.2s");
        assert_eq!(span(at(0), at(65_000)), "1m05s");
        assert_eq!(span(at(0), at(7_384_000)), "2h03m");
        assert_eq!(span(at(5), at(0)), "0.0s", "a clock that was set back");
        assert_eq!([millis(at(5), at(12)), millis(at(5), at(0))], [7, 0]);
        assert_eq!(moment(at(1_796_000_000_123)), "2026-11-30T00:53:20.123Z");
    }
}
