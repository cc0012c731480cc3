//! Public events as NDJSON: one document per line, while things happen.

use crate::report::public::PublicEvent;

/// The event as one line, with its line break.
///
/// # Errors
/// When an event has no JSON form, which no event should.
pub fn line(event: &PublicEvent) -> Result<String, serde_json::Error> {
    // JSON escapes control characters; what stays is one line whatever the text holds.
    serde_json::to_string(event).map(|json| json + "\n")
}
