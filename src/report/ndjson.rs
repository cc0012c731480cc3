//! Documents for programs: each one line of JSON, whatever text it holds.

use serde::Serialize;

use crate::domain::code::Code;
use crate::domain::failure::Failure;
use crate::report::public::PublicEvent;
use crate::report::text;

/// A public event as one line, with its line break.
pub fn line(event: &PublicEvent) -> Result<String, Failure> {
    document(event)
}

/// Any document as one line, with its line break: JSON escapes control
/// characters, and what a CI system would obey is written otherwise.
pub fn document(value: &impl Serialize) -> Result<String, Failure> {
    let json = serde_json::to_string(value);
    json.map(|json| text::json(&json) + "\n")
        .map_err(|error| Failure::new(Code::Internal, format!("no JSON form: {error}")))
}
